/*
 * What the thesis's URL caches cost: memory (5.10 to 5.13) and time (5.14, 5.15, A.1 to A.6). The rows and columns that
 * its tables share, and the files that measure and judge them; costs_experiments.c is the list.
 */
#ifndef VIDI_LAB_THESIS_COSTS_H
#define VIDI_LAB_THESIS_COSTS_H

#include "lab/engine/study.h"

enum { LAB_COST_ROWS = 8, LAB_COST_COLUMNS = 6, LAB_COST_K_LEAST = 3, LAB_COST_URLS = 1000000 };

/* Rows are "3 HF" to "10 HF", columns "1.7 M" to "5.0 M". */
extern const char *const lab_cost_rows[LAB_COST_ROWS + 1];
extern const char *const lab_cost_columns[LAB_COST_COLUMNS + 1];
extern const double lab_cost_multipliers[LAB_COST_COLUMNS];

/* "ArrayList" and "HashSet", which are `list` and `hashset` here. */
extern const char *const lab_collections[];

/* costs_memory.c: bytes of filters and of collections, in kilobytes for 1,000,000 URLs. */
lab_measure_run lab_memory_one_measure, lab_memory_two_measure, lab_memory_three_measure,
    lab_memory_collections_measure;
lab_judge_entry lab_memory_judge, lab_memory_collections_judge;

/* costs_time.c: times of the filters as ratios to the row of 3 functions. */
lab_measure_run lab_time_ask_one_measure, lab_time_ask_two_measure, lab_time_ask_three_measure,
    lab_time_break_one_measure, lab_time_break_two_measure, lab_time_break_three_measure, lab_time_add_one_measure,
    lab_time_add_two_measure, lab_time_add_three_measure;
lab_judge_entry lab_time_judge;

/* costs_collections.c: times of `list` and `hashset` as ratios to a filter of 3 functions and M = 2.0. */
lab_measure_run lab_time_add_collections_measure, lab_time_ask_collections_measure;
lab_judge_entry lab_time_collections_judge;

/* costs_members.c: times of two and three filters as ratios to one. */
extern const char *const lab_member_rows[], *const lab_member_columns[];
lab_measure_run lab_time_members_measure;
lab_judge_entry lab_time_members_judge;

/* ---- for judging ---- */

/*
 * A published time as a multiple of another: the verdict is `agrees` if the two are no more than `tolerance` of ours
 * apart (0.2: a fifth), otherwise `differs`. There is none for a figure that is divided by itself.
 */
void lab_cost_compare(lab_entry *entry, const char *printed, const char *base, double tolerance);

/* ---- what the times are taken of ---- */

/*
 * Filters of k salted Jenkins functions as the thesis describes them: one hash value after the other. (The library's
 * `classic` hashes with several salts side by side, and does not stop hashing at the first unmarked bit: its times do
 * not grow as the thesis's do.)
 */
typedef struct lab_timed lab_timed;

typedef enum lab_deed { LAB_ADD, LAB_ASK_EAGER, LAB_ASK_BREAK } lab_deed;

/* Filters of one run have the same salts, as far as they have them. lab_timed_free takes NULL, too. */
int lab_timed_make(lab_timed **made, const lab_settings *settings, uint64_t run, unsigned members, unsigned k,
                   double multiplier, uint64_t urls);
void lab_timed_free(lab_timed *timed);

/* Does it with each: how many were seen by all members. */
uint64_t lab_timed_do(lab_timed *timed, lab_deed deed, const vidi_str *urls, uint64_t count);

/* Puts URLs into filters of one run and number of members, of which the last has the most functions: hashed once. */
void lab_timed_fill(lab_timed *const *filters, size_t count, const vidi_str *urls, uint64_t url_count);

#endif
