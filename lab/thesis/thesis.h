/* What judges of the thesis's claims share: thesis_claims.c, thesis_costs.c and further_claims.c. */
#ifndef VIDI_LAB_THESIS_THESIS_H
#define VIDI_LAB_THESIS_THESIS_H

#include "lab/engine/study.h"

/* How far two measurements are apart, in standard deviations of their difference; positive if a is larger. */
double lab_apart(const lab_entry *a, const lab_entry *b);

/* Is a more than b? Too few URLs or runs may leave it open. */
typedef enum lab_comparison { LAB_NOT_MORE, LAB_MORE, LAB_OPEN } lab_comparison;

lab_comparison lab_compare(const lab_entry *a, const lab_entry *b);

/* How often two groups of cells were held against each other, and the largest distance. */
typedef struct lab_contest {
    unsigned pairs;
    double worst;
} lab_contest;

/* Takes no notice of cells that are not there. */
void lab_contest_add(lab_contest *contest, const lab_entry *a, const lab_entry *b);

static inline bool lab_contest_even(const lab_contest *contest)
{
    return contest->worst <= LAB_Z_MOST;
}

/* Memory and times. */
lab_claim_judge lab_claim_memory, lab_claim_memory_filters, lab_claim_time_functions, lab_claim_time_break,
    lab_claim_time_multiplier, lab_claim_hashset_time, lab_claim_list_time;

/* What came of the further work. */
lab_claim_judge lab_claim_multiplier, lab_claim_delay, lab_claim_scalable, lab_claim_revisit, lab_claim_genetic,
    lab_claim_processes;

#endif
