/* What theory says about the counts of a configuration. See theory.c. */
#ifndef VIDI_LAB_JUDGE_THEORY_H
#define VIDI_LAB_JUDGE_THEORY_H

#include <stdint.h>

typedef struct lab_config lab_config; /* lab/engine/lab.h */

/* Mean and variance of the number of URLs falsely seen in one run, and how many URLs were looked up. */
typedef struct lab_theory {
    double mean, variance, asked;
} lab_theory;

lab_theory lab_theory_of(const lab_config *config, uint64_t urls);

/* m = n k M in whole bits. Rounds up as the library does, which ignores rounding errors of the product. */
double lab_bits(double urls, double k, double multiplier);

/*
 * Filters with m bits, k hash functions and `urls` URLs each: how many URLs all of them falsely report as seen, among
 * as many others (first function), or among the URLs themselves while they are inserted (second function).
 */
lab_theory lab_filter_theory(uint64_t urls, double m, unsigned k, unsigned filters);
lab_theory lab_filling_theory(uint64_t urls, double m, unsigned k, unsigned filters);

/* The size of the intersection of two random subsets of `all` URLs, whose sizes have these means and variances. */
lab_theory lab_meeting_theory(lab_theory a, lab_theory b, double all);

/* The share of m bits that is set after `marks` random bits were set: mean, variance, and mean of its k-th power. */
typedef struct lab_fill {
    double mean, variance;
} lab_fill;

lab_fill lab_fill_after(double marks, double m);
double lab_fill_power(lab_fill fill, double k);

#endif
