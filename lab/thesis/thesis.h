/* Shared by the files that judge the thesis's claims; thesis_claims.c lists them. */
#ifndef VIDI_LAB_THESIS_THESIS_H
#define VIDI_LAB_THESIS_THESIS_H

#include "lab/judge/judging.h"

/* thesis_costs.c: memory and times. */
lab_claim_judge lab_claim_memory, lab_claim_memory_filters, lab_claim_time_functions, lab_claim_time_break,
    lab_claim_time_multiplier, lab_claim_hashset_time, lab_claim_list_time;

/* functions_claims.c: hash functions. */
lab_claim_judge lab_claim_other_functions, lab_claim_other_combination, lab_claim_imperfect, lab_claim_hash_time,
    lab_claim_same_values;

/* filling_claims.c: how filters fill up, and the approaches and strategies compared with each other. */
lab_claim_judge lab_claim_late, lab_claim_worst_case, lab_claim_doubling, lab_claim_only_temporal, lab_claim_early_exit;

/* further_claims.c: the further work. */
lab_claim_judge lab_claim_multiplier, lab_claim_delay, lab_claim_scalable, lab_claim_revisit, lab_claim_genetic,
    lab_claim_processes;

/* For claims that several figures are all larger: LAB_NOT_MORE if one is not, LAB_OPEN if one is open. */
static inline lab_comparison lab_claim_both(lab_comparison a, lab_comparison b)
{
    return a == LAB_NOT_MORE || b == LAB_NOT_MORE ? LAB_NOT_MORE : a == LAB_OPEN || b == LAB_OPEN ? LAB_OPEN : LAB_MORE;
}

/* thesis_claims.c: judges pairs that the claim says are equal; `what` names them in the sentence. */
lab_holding lab_claim_equal(const lab_claim *claim, lab_contest *contest, const char *what, char *sentence,
                            size_t room);

#endif
