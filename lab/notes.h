/* Parts of the experiments on the counting notes, which notes.c puts together. */
#ifndef VIDI_LAB_NOTES_H
#define VIDI_LAB_NOTES_H

#include "lab/study.h"

typedef int lab_notes_measure(const lab_settings *settings, uint64_t run, double *numbers);

/* notes_space.c */
extern const char *const lab_space_rates[], *const lab_space_ways[];
extern const double lab_space_rates_along[];
lab_notes_measure lab_space_measure;
lab_judge_entry lab_space_judge;

/* notes_counters.c */
extern const char *const lab_counter_widths[], *const lab_counter_columns[];
lab_notes_measure lab_counters_measure;
lab_judge_entry lab_counters_judge;

/* notes_claims.c: k = (m/n) ln 2 is the best, which the eigenvalue paper says, too. */
lab_holding lab_best_k_judge(const lab_book *book, char *sentence, size_t room);

#endif
