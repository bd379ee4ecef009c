/*
 * All kinds, the papers' and ours, side by side: at equal memory, at an equal error rate, when they get more URLs than
 * they were made for, and over ten crawls. The files that measure and judge; kinds_experiments.c is the list, kinds_claims.c what
 * follows.
 */
#ifndef VIDI_LAB_KINDS_KINDS_H
#define VIDI_LAB_KINDS_KINDS_H

#include "lab/engine/study.h"
#include "lab/engine/run_urls.h"

/* ---- kinds_make.c: sets of a given size ---- */

#define LAB_PER_MILLION 1e6 /* the unit of pages lost */

enum { LAB_KINDS = 11, LAB_KIND_LIST = LAB_KINDS - 1 };

/* As `vidi kinds` has them; the last is `list`, whose questions take time in proportion to its URLs. */
extern const char *const lab_kind_names[LAB_KINDS + 1];

/* The set of that kind which loses least in so many bits per URL; VIDI_OK with *fits false if none is so small. */
int lab_kind_plan(vidi_plan_entry *plan, bool *fits, const char *kind, uint64_t urls, double bits);

/* What it needs for that error rate. */
int lab_kind_plan_error(vidi_plan_entry *plan, const char *kind, uint64_t urls, double error);

/*
 * Pages lost of so many URLs, in one run: mean and variance. Of kinds with k positions those of a filter that fills up
 * (theory.c); of the others the plan's mean, which is also the variance, because losses are rare and nearly
 * independent, and false if there are more URLs than it was planned for.
 */
bool lab_kind_theory(lab_theory *theory, const vidi_plan_entry *plan, uint64_t urls);

int lab_kind_make(vidi_set **set, const vidi_plan_entry *plan, const lab_settings *settings, uint64_t run);

/* ---- the experiments: their parts, which kinds_experiments.c puts together ---- */

/* kinds_lost.c */
extern const char *const lab_kind_sizes[];
lab_measure_run lab_kinds_lost_measure, lab_kinds_told_measure;
lab_judge_entry lab_kinds_lost_judge, lab_kinds_told_judge;

/* kinds_needs.c */
extern const char *const lab_kind_errors[], *const lab_kind_times[], *const lab_kind_loads[];
lab_measure_run lab_kinds_needs_measure, lab_kinds_time_measure, lab_kinds_growth_measure,
    lab_kinds_growth_bits_measure;
lab_judge_entry lab_kinds_needs_judge, lab_kinds_growth_judge;

/* kinds_recrawl.c */
extern const char *const lab_strategies[], *const lab_crawls[], *const lab_delays[];
lab_measure_run lab_kinds_recrawl_measure, lab_kinds_recrawl_all_measure, lab_kinds_delay_measure;
lab_judge_entry lab_kinds_recrawl_judge, lab_kinds_recrawl_all_judge, lab_kinds_delay_judge;

/*
 * kinds_theory.c: the probability that a URL which is new in crawl `from` is lost in that and the next ones, `crawls`
 * in all (at most LAB_LOST_CRAWLS), by a filter with the same salts and another order each time. A URL has so many
 * bits; bits have on average rates[c] marks of the URLs that are new in crawl c.
 */
enum { LAB_LOST_CRAWLS = 4 };
double lab_lost_in_all(const double *rates, unsigned bits, unsigned from, unsigned crawls);

/* kinds_which.c */
extern const char *const lab_tenth_names[], *const lab_which_columns[];
lab_measure_run lab_kinds_which_measure;
lab_judge_entry lab_kinds_which_judge;

#endif
