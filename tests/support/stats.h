/*
 * Bounds for random numbers of events, so that a test of a probability fails only if something is wrong.
 *
 * The probability that any statistical check of the test suite fails by chance is at most 1e-4. TEST_CHECKS is an upper
 * bound of their number, and each has the share TEST_ALPHA. Seeds are fixed, nothing is tuned, and nothing is repeated.
 * The distributions are summed exactly, without a normal approximation.
 */
#ifndef TESTS_SUPPORT_STATS_H
#define TESTS_SUPPORT_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define TEST_CHECKS 4096
#define TEST_ALPHA (1e-4 / TEST_CHECKS)

/* Includes both ends. The probability below low, and that above high, is at most alpha / 2. */
typedef struct test_interval {
    uint64_t low;
    uint64_t high;
} test_interval;

test_interval test_poisson_interval(double mean, double alpha);
test_interval test_binomial_interval(uint64_t n, double p, double alpha);

/*
 * Bounds for the URLs lost while a set fills up. The numbers of losses between NEW answers are independent and
 * geometric, with means p/(1-p) that add up to `expected`, and no p above p_most. The sum has the largest variance if
 * every p equals p_most. Then it has a negative binomial distribution, which is close to Poisson's for small p.
 */
test_interval test_lost_interval(double expected, double p_most, double alpha);

bool test_inside(test_interval interval, uint64_t value);

#endif
