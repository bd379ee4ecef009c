/*
 * The mathematics of filters that mark k of m places a URL: how likely a false "seen" is, how many pages that costs
 * while the filter fills, and the shapes (n, m, k) that meet a demand. Used by every kind that derives positions, and
 * by the planner.
 */
#ifndef VIDI_FILTERS_BLOOM_H
#define VIDI_FILTERS_BLOOM_H

#include "filters/filter.h"

#define VIDI__DEFAULT_ERROR 1e-6
#define VIDI__PLACES_MAX (UINT64_C(1) << 48)

/*
 * Probability that k random places are all marked after n URLs marked k random places each among m.
 *
 * The textbook's (1 - e^(-kn/m))^k is too small, by much at small m: it takes the k-th power of the mean of the fill,
 * where the mean of the k-th power is meant. Up to 1024 places this is exact (inclusion and exclusion over the places
 * that the question touches); above, the mean plus the second-order term of its variance, relative error below 1e-5.
 */
double vidi__bloom_fp(double n, double m, unsigned k);

/*
 * Expected pages lost among n URLs that come one after the other into `members` empty filters, which all have to say
 * "seen": the sum of p, which is vidi__bloom_fp to the power of `members`. (A URL that is falsely seen marks nothing
 * new, so that the fill depends on the URLs that came, not on those answered NEW. Summed over the latter, the terms are
 * p/(1-p).) If p is a bound only, all n may come out NEW, and the bound is the sum of p/(1-p) over them.
 */
typedef struct vidi__bloom_use {
    unsigned members;
    bool bound;
} vidi__bloom_use;

double vidi__bloom_lost(double n, double m, unsigned k, vidi__bloom_use use);

typedef struct vidi__bloom {
    uint64_t n; /* URLs that it is sized for */
    uint64_t m; /* places */
    unsigned k; /* places a URL */
} vidi__bloom;

/*
 * The shape that parameters k, M and m ask for, with the capacity and the error rate of the options (0: not given): m
 * and k; m and capacity (k = m/n ln 2); capacity, k and M (m = n k M, equation 5.1 of the thesis); capacity and error,
 * with the k that needs least memory, or the k or M that is given. An error rate that the rest cannot keep is refused.
 */
int vidi__bloom_read(vidi__bloom *shape, const vidi__config *config);

/* The shape that is given outright. Without a capacity n is that at which half of the places are marked. */
int vidi__bloom_given(vidi__bloom *shape, const vidi__config *config, uint64_t m, unsigned k);

/* What every kind with positions starts from: reads the scheme for a shape, and fills in what of the base follows. */
int vidi__bloom_setup(vidi__filter *base, const vidi__config *config, const vidi__bloom *shape, vidi__scheme *scheme);

/* Bits of memory that a place takes, for kinds with counters, layers or members. */
typedef double vidi__bloom_weight(const void *context, unsigned k);

/*
 * Completes a plan request: the best shape for what is wanted, with `error` and `lost` as they will be. VIDI_EOPTION if
 * the request says too little or cannot be met.
 */
int vidi__bloom_plan(const vidi__want *want, vidi__bloom_weight *weight, const void *context, vidi__bloom *shape);

/* Fills in a plan from its shape: all but the bytes. */
void vidi__bloom_planned(const vidi__want *want, const vidi__bloom *shape, vidi__planned *planned);

/* How many URLs make so full a filter. */
uint64_t vidi__bloom_estimate(uint64_t ones, uint64_t m, unsigned k);

/* After a merge: that estimate is the count, but no less than the larger of the two and no more than both together. */
void vidi__bloom_merged(vidi__filter *into, const vidi__filter *from, uint64_t ones, uint64_t m, unsigned k);

#endif
