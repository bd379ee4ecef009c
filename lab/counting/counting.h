/* The experiments on the counting notes, which counting_experiments.c lists, and what they share. */
#ifndef VIDI_LAB_COUNTING_COUNTING_H
#define VIDI_LAB_COUNTING_COUNTING_H

#include "lab/engine/study.h"

/* The number of URLs to insert: a tenth of settings->urls. */
uint64_t lab_counting_urls(const lab_settings *settings);

/* counting_space.c */
extern const char *const lab_space_rates[], *const lab_space_ways[];
extern const double lab_space_rates_along[];
lab_measure_run lab_space_measure;
lab_judge_entry lab_space_judge;

/* counting_counters.c */
extern const char *const lab_counter_widths[], *const lab_counter_columns[];
lab_measure_run lab_counters_measure;
lab_judge_entry lab_counters_judge;

/* counting_claims.c: the best k is (m/n) ln 2. The eigenvalue paper claims this too. */
lab_claim_judge lab_claim_best_k;

#endif
