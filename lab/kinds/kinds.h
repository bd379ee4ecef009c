/*
 * Compares all kinds, the papers' and ours: with equal memory, with an equal error rate, with more URLs than they were
 * made for, and over ten crawls. This header declares what the experiments share; kinds_claims.c draws conclusions.
 */
#ifndef VIDI_LAB_KINDS_KINDS_H
#define VIDI_LAB_KINDS_KINDS_H

#include "lab/engine/study.h"
#include "lab/urls/run_urls.h"

/* ---- kinds_make.c: sets of a given size ---- */

enum { LAB_KINDS = 11, LAB_KIND_LIST = LAB_KINDS - 1 };

/* In the order of `vidi kinds`; the last is `list`, whose lookups take time in proportion to its URLs. */
extern const char *const lab_kind_names[LAB_KINDS + 1];

/* The set of this kind that loses least with `bits` bits per URL; VIDI_OK and *fits false if none is that small. */
int lab_kind_plan(vidi_plan_entry *plan, bool *fits, const char *kind, uint64_t urls, double bits);

/* The set of this kind for an error rate. */
int lab_kind_plan_error(vidi_plan_entry *plan, const char *kind, uint64_t urls, double error);

int lab_kind_make(vidi_set **set, const vidi_plan_entry *plan, const lab_settings *settings, uint64_t run);

/* A number from parameters such as "capacity=1000,m=8000,k=6"; 0 if the name is not there. */
double lab_kind_number(const char *params, const char *name);

/* ---- kinds_expected.c: what each kind should lose and take, derived from how it is made ---- */

/*
 * Mean and variance of the pages lost in one run, while `urls` URLs are inserted. The plan only says how the set is
 * made: its number of bits, functions, rows and so on. What it predicts plays no part. *sort says whether it is the
 * expectation or an upper bound. Returns false if there is no theory: for `blocked` with more URLs than planned.
 */
bool lab_kind_theory(lab_theory *theory, lab_theory_sort *sort, const vidi_plan_entry *plan, uint64_t urls);

/*
 * Bits that a set for `urls` URLs with this error rate takes. For kinds whose memory follows from no formula (tables
 * of hashes or of URLs) *sort becomes LAB_PLANNED, and the number is the library's own.
 */
int lab_kind_memory(double *bits, lab_theory_sort *sort, const char *kind, uint64_t urls, double error);

/* Rows, and lines in each, of the first layer of a set of kind `blocked`. Returns false if it cannot be made. */
bool lab_blocked_shape(const vidi_plan_entry *plan, uint64_t *rows, unsigned *lines);

/* ---- kinds_blocked.c ---- */

/* The probability that a layer of `blocked` falsely sees a URL after `urls` others. */
double lab_blocked_chance(double urls, uint64_t rows, unsigned lines);

/* Pages lost while URLs are inserted into one layer, and the bits of a set for an error rate. */
lab_theory lab_blocked_theory(uint64_t urls, uint64_t rows, unsigned lines);
double lab_blocked_bits(uint64_t urls, double error);

/*
 * kinds_theory.c: the probability that a URL that is new in crawl `from` is lost in `crawls` crawls from then on (at
 * most LAB_LOST_CRAWLS), by a filter with the same salts and a different order each time. A URL has `bits` bits, and
 * each bit is shared, on average, with rates[c] of the URLs that are new in crawl c.
 */
enum { LAB_LOST_CRAWLS = 4 };
double lab_lost_in_all(const double *rates, unsigned bits, unsigned from, unsigned crawls);

/* kinds_delayed.c */
extern const char *const lab_tenth_names[], *const lab_delayed_columns[];

#endif
