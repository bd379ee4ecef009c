/*
 * The costs of the thesis's URL caches: memory (5.10 to 5.13) and time (5.14, 5.15, A.1 to A.6). This header declares
 * what its tables share.
 */
#ifndef VIDI_LAB_THESIS_COSTS_H
#define VIDI_LAB_THESIS_COSTS_H

#include "lab/engine/study.h"

enum { LAB_COST_ROWS = 8, LAB_COST_COLUMNS = 6, LAB_COST_K_LEAST = 3, LAB_COST_URLS = 1000000 };

/* Rows are "3 HF" to "10 HF", columns "1.7 M" to "5.0 M". */
extern const char *const lab_cost_rows[LAB_COST_ROWS + 1];
extern const char *const lab_cost_columns[LAB_COST_COLUMNS + 1];
extern const double lab_cost_multipliers[LAB_COST_COLUMNS];

/* "ArrayList" and "HashSet"; we measure `list` and `hashset`. */
extern const char *const lab_collections[];

/* ---- for judging ---- */

/*
 * Compares our ratio with the ratio of two published times, `printed` and `base`. The verdict is `agrees` if they
 * differ by at most `tolerance` of ours (0.2: a fifth), otherwise `differs`. A figure divided by itself gets no
 * verdict.
 */
void lab_cost_compare(lab_entry *entry, const char *printed, const char *base, double tolerance);

/* ---- a list that appends: costs_collections.c ---- */

/* Copies of URLs in an array that grows; nothing is looked up. Begin with {.count = 0}. */
typedef struct lab_appended {
    size_t *ends; /* where each URL ends in `bytes` */
    size_t count, ends_room;
    char *bytes;
    size_t used, bytes_room;
} lab_appended;

int lab_appended_add(lab_appended *list, vidi_str url);
vidi_str lab_appended_at(const lab_appended *list, size_t index);
void lab_appended_free(lab_appended *list);

/* ---- the filters that are timed ---- */

/*
 * Filters with k salted Jenkins functions that compute one hash value after the other, as the thesis describes them.
 * (The library's `classic` hashes with several salts at once and does not stop at the first zero bit, so its times do
 * not grow as those of the thesis do.)
 */
typedef struct lab_timed lab_timed;

typedef enum lab_deed {
    LAB_ADD,
    LAB_ASK_EAGER, /* looks at every bit of every filter */
    LAB_ASK_INNER, /* algorithm 4 as printed: a zero bit ends the loop over one filter's functions alone */
    LAB_ASK_BREAK  /* algorithm 2, and what the text says of algorithm 4: the first zero bit ends the lookup */
} lab_deed;

/*
 * Filters of the same run share their salts: one with fewer functions has the first ones. They belong to the innermost
 * block (run_memory.h).
 */
int lab_timed_make(lab_timed **made, const lab_settings *settings, uint64_t run, unsigned members, unsigned k,
                   double multiplier, uint64_t urls);

/* Adds or looks up each URL; returns how many all members have seen. */
uint64_t lab_timed_do(lab_timed *timed, lab_deed deed, const vidi_str *urls, uint64_t count);

/*
 * Inserts URLs into filters of the same run and number of members, hashing each once. The last filter must have the
 * most functions.
 */
void lab_timed_fill(lab_timed *const *filters, size_t count, const vidi_str *urls, uint64_t url_count);

#endif
