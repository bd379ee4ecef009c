/*
 * The bounds that a random number of events must keep, so that a test of a probability fails only for a reason.
 *
 * All statistical checks of the test suite together may fail by chance with probability 1e-4: TEST_CHECKS is an upper
 * bound of their number, and each has its share TEST_ALPHA. The seeds are fixed, nothing is tuned and nothing is tried
 * again. The distributions are summed exactly; no normal approximation is involved.
 */
#ifndef TESTS_SUPPORT_STATS_H
#define TESTS_SUPPORT_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define TEST_CHECKS 4096
#define TEST_ALPHA (1e-4 / TEST_CHECKS)

/* Both ends belong to the interval; below low and above high lies a probability of at most alpha / 2 each. */
typedef struct test_interval {
    uint64_t low;
    uint64_t high;
} test_interval;

test_interval test_poisson_interval(double mean, double alpha);
test_interval test_binomial_interval(uint64_t n, double p, double alpha);

/*
 * URLs lost while a set fills up whose losses come between NEW answers as independent geometric numbers of means
 * p/(1-p) that add up to `expected`, with no p above p_most. Of all such sums the one with every p at p_most spreads
 * the most: a negative binomial law, which is Poisson's for small p.
 */
test_interval test_lost_interval(double expected, double p_most, double alpha);

bool test_inside(test_interval interval, uint64_t value);

#endif
