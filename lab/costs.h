/*
 * What the thesis's URL caches cost: memory (5.10 to 5.13) and time (5.14, 5.15, A.1 to A.6). The rows and columns that
 * its tables share, and the files that measure and judge them; costs.c is the list.
 */
#ifndef VIDI_LAB_COSTS_H
#define VIDI_LAB_COSTS_H

#include "lab/study.h"

enum { LAB_COST_ROWS = 8, LAB_COST_COLUMNS = 6, LAB_COST_K_LEAST = 3, LAB_COST_URLS = 1000000 };

/* Rows are "3 HF" to "10 HF", columns "1.7 M" to "5.0 M". */
extern const char *const lab_cost_rows[LAB_COST_ROWS + 1];
extern const char *const lab_cost_columns[LAB_COST_COLUMNS + 1];
extern const double lab_cost_multipliers[LAB_COST_COLUMNS];

/* "ArrayList" and "HashSet", which are `list` and `hashset` here. */
extern const char *const lab_collections[];

/* costs_memory.c: bytes of filters and of collections, in kilobytes for 1,000,000 URLs. */
int lab_memory_one(const lab_settings *settings, uint64_t run, double *numbers);
int lab_memory_two(const lab_settings *settings, uint64_t run, double *numbers);
int lab_memory_three(const lab_settings *settings, uint64_t run, double *numbers);
int lab_memory_collections(const lab_settings *settings, uint64_t run, double *numbers);
lab_judge_entry lab_judge_memory, lab_judge_memory_collections;

/* costs_time.c: times of the filters as ratios to the row of 3 functions. */
int lab_time_ask_one(const lab_settings *settings, uint64_t run, double *numbers);
int lab_time_ask_two(const lab_settings *settings, uint64_t run, double *numbers);
int lab_time_ask_three(const lab_settings *settings, uint64_t run, double *numbers);
int lab_time_break_one(const lab_settings *settings, uint64_t run, double *numbers);
int lab_time_break_two(const lab_settings *settings, uint64_t run, double *numbers);
int lab_time_break_three(const lab_settings *settings, uint64_t run, double *numbers);
int lab_time_add_one(const lab_settings *settings, uint64_t run, double *numbers);
int lab_time_add_two(const lab_settings *settings, uint64_t run, double *numbers);
int lab_time_add_three(const lab_settings *settings, uint64_t run, double *numbers);
lab_judge_entry lab_judge_time;

/* costs_collections.c: times of `list` and `hashset` as ratios to a filter of 3 functions and M = 2.0. */
int lab_time_add_collections(const lab_settings *settings, uint64_t run, double *numbers);
int lab_time_ask_collections(const lab_settings *settings, uint64_t run, double *numbers);
lab_judge_entry lab_judge_time_collections;

/* costs_members.c: times of two and three filters as ratios to one. */
extern const char *const lab_member_rows[], *const lab_member_columns[];
int lab_time_members(const lab_settings *settings, uint64_t run, double *numbers);
lab_judge_entry lab_judge_members;

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
