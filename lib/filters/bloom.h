/*
 * The mathematics of filters that set k of m places per URL: the probability of a false "seen", the pages lost while
 * the filter fills, and the shapes (n, m, k) that meet a request. Every kind with positions uses it, and so does the
 * planner.
 */
#ifndef VIDI_FILTERS_BLOOM_H
#define VIDI_FILTERS_BLOOM_H

#include "filters/filter.h"
#include "filters/union.h"

#define VIDI__PLACES_MAX (UINT64_C(1) << 48)

/*
 * Probability that k random places are all set after each of n URLs has set k random places among m.
 *
 * The textbook formula (1 - e^(-kn/m))^k is too small, much too small for small m: it is the k-th power of the mean
 * fill, but what counts is the mean of the k-th power. Up to 1024 places the result is exact, by inclusion and
 * exclusion over the places that a lookup touches. Above, it is the mean plus the second-order term of the variance;
 * the relative error is below 1e-5.
 */
double vidi__bloom_fp(double n, double m, unsigned k);

/*
 * Expected pages lost while n URLs arrive one after the other at `members` empty filters, which must all say "seen". It
 * is the sum of p, where p is vidi__bloom_fp to the power of `members`. (A URL that is falsely seen sets no bit, so the
 * fill depends on the URLs that arrived, not on those answered NEW. Summed over the latter, the terms are p/(1-p).) If
 * p is only a bound, all n may be answered NEW, and the bound is the sum of p/(1-p) over them.
 */
typedef struct vidi__bloom_use {
    unsigned members;
    bool bound;
} vidi__bloom_use;

double vidi__bloom_lost(double n, double m, unsigned k, vidi__bloom_use use);

typedef struct vidi__bloom {
    uint64_t n; /* URLs that it is sized for */
    uint64_t m; /* places */
    unsigned k; /* places per URL */
} vidi__bloom;

/*
 * Determines the shape from the parameters k, M and m, and the options capacity and error (0: not given):
 *
 * - m and k
 * - m and capacity: k = m/n ln 2
 * - capacity, k and M: m = n k M (the thesis, equation 5.1)
 * - capacity and error: the k that needs the least memory, or the k or M that is given
 *
 * An error rate that the other values cannot keep is an error.
 */
int vidi__bloom_read(vidi__bloom *shape, const vidi__config *config);

/* The shape with this m and k. Without a capacity, n is the number of URLs that set half of the places. */
int vidi__bloom_given(vidi__bloom *shape, const vidi__config *config, uint64_t m, unsigned k);

/* Common setup of every kind with positions: reads the scheme for a shape, and fills in the base accordingly. */
int vidi__bloom_setup(vidi__filter *base, const vidi__config *config, const vidi__bloom *shape,
                      vidi__positions *positions);

/* Bits of memory per place. It is not 1 for kinds with counters, layers or regions. */
typedef double vidi__bloom_weight(const void *context, unsigned k);

/* Finds the best shape for a plan request. VIDI_EOPTION if the request says too little or cannot be met. */
int vidi__bloom_plan(const vidi__want *want, vidi__bloom_weight *weight, const void *context, vidi__bloom *shape);

/* Fills in a plan from its shape, except for the bytes. */
void vidi__bloom_planned(const vidi__want *want, const vidi__bloom *shape, vidi__planned *planned);

/* Estimates how many URLs have set this many places. */
uint64_t vidi__bloom_estimate(uint64_t ones, uint64_t m, unsigned k);

/* How many places are set before and after a merge. */
typedef struct vidi__bloom_growth {
    uint64_t before, after;
} vidi__bloom_growth;

/*
 * Sets the count after a merge: the old count plus an estimate of how many URLs have set the places that were added,
 * but at least the larger of the two counts and at most their sum. So merging the same filter again does not change the
 * count.
 */
void vidi__bloom_merged(vidi__filter *into, const vidi__filter *from, vidi__bloom_growth ones, uint64_t m, unsigned k);

/*
 * `unite` and `save_union` (union.h) for filters of m places and k positions per URL, whose contents are one array. The
 * union keeps how many places are set in the first 1, 2, 3 … of them together.
 */
int vidi__bloom_unite(vidi__union *all, vidi__joint joint, uint64_t m, unsigned k);
int vidi__bloom_save_union(const vidi__union *all, vidi__joint joint, vidi__writer *writer);

/* Probability of a false "seen" when `ones` of m places are set and `more` URLs were added after that. */
double vidi__bloom_fp_after(uint64_t ones, uint64_t m, unsigned k, uint64_t more);

#endif
