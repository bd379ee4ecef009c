/* Shared by the files that judge the thesis's claims: thesis_claims.c, thesis_costs.c and further_claims.c. */
#ifndef VIDI_LAB_THESIS_THESIS_H
#define VIDI_LAB_THESIS_THESIS_H

#include "lab/engine/study.h"

/* The difference of two measurements in its standard deviations; positive if a is larger. */
double lab_apart(const lab_entry *a, const lab_entry *b);

/* Whether a is larger than b; with too few URLs or runs that stays open. */
typedef enum lab_comparison { LAB_NOT_MORE, LAB_MORE, LAB_OPEN } lab_comparison;

lab_comparison lab_compare(const lab_entry *a, const lab_entry *b);

/* Comparisons of two groups of cells: how many pairs, and the largest difference. */
typedef struct lab_contest {
    unsigned pairs;
    double worst;
} lab_contest;

/* Compares two cells; does nothing if one of them is NULL. */
void lab_contest_add(lab_contest *contest, const lab_entry *a, const lab_entry *b);

static inline bool lab_contest_even(const lab_contest *contest)
{
    return contest->worst <= LAB_Z_MOST;
}

/* thesis_costs.c: memory and times. */
lab_claim_judge lab_claim_memory, lab_claim_memory_filters, lab_claim_time_functions, lab_claim_time_break,
    lab_claim_time_multiplier, lab_claim_hashset_time, lab_claim_list_time;

/* further_claims.c: the further work. */
lab_claim_judge lab_claim_multiplier, lab_claim_delay, lab_claim_scalable, lab_claim_revisit, lab_claim_genetic,
    lab_claim_processes;

#endif
