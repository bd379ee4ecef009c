#include "support/stats.h"

#include <math.h>

enum form { POISSON, BINOMIAL, NEGATIVE_BINOMIAL };

typedef struct distribution {
    enum form form;
    double mean; /* of the Poisson distribution */
    double n;    /* number of trials, or of failures in the negative binomial distribution */
    double p;    /* of an event */
} distribution;

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

static double log_probability(const distribution *law, double k)
{
    switch (law->form) {
    case POISSON:
        return k * log(law->mean) - law->mean - log_gamma(k + 1);
    case BINOMIAL:
        if (k > law->n) {
            return -INFINITY;
        }
        return log_gamma(law->n + 1) - log_gamma(k + 1) - log_gamma(law->n - k + 1) + k * log(law->p) +
               (law->n - k) * log1p(-law->p);
    case NEGATIVE_BINOMIAL:
        return log_gamma(k + law->n) - log_gamma(k + 1) - log_gamma(law->n) + law->n * log1p(-law->p) + k * log(law->p);
    }
    return NAN;
}

/* Goes outwards from the mean, doubling the distance, until probabilities are negligible (below e^-70 each). */
static double edge(const distribution *law, double mean, double direction)
{
    double k = floor(mean);
    for (double step = 1; step < 1e18; step *= 2) {
        double next = k + direction * step;
        if (next < 0) {
            return 0;
        }
        if (log_probability(law, next) < -70) {
            return next;
        }
        k = next;
    }
    return k;
}

/* Coming from the edge, the first k whose tail probability exceeds `share`. */
static double quantile(const distribution *law, double mean, double direction, double share)
{
    double sum = 0;
    double k = edge(law, mean, direction);
    for (;; k -= direction) {
        sum += exp(log_probability(law, k));
        if (sum > share || (direction > 0 && k == 0)) {
            return k;
        }
    }
}

static test_interval interval_of(const distribution *law, double mean, double alpha)
{
    test_interval interval;
    interval.low = (uint64_t)quantile(law, mean, -1, alpha / 2);
    interval.high = (uint64_t)quantile(law, mean, 1, alpha / 2);
    return interval;
}

test_interval test_poisson_interval(double mean, double alpha)
{
    distribution law = {POISSON, mean, 0, 0};
    return mean > 0 ? interval_of(&law, mean, alpha) : (test_interval){0, 0};
}

test_interval test_binomial_interval(uint64_t n, double p, double alpha)
{
    distribution law = {BINOMIAL, 0, (double)n, p};
    if (n == 0 || p <= 0) {
        return (test_interval){0, 0};
    }
    if (p >= 1) {
        return (test_interval){n, n};
    }
    return interval_of(&law, (double)n * p, alpha);
}

test_interval test_lost_interval(double expected, double p_most, double alpha)
{
    distribution law = {NEGATIVE_BINOMIAL, 0, expected * (1 - p_most) / p_most, p_most};
    if (expected <= 0 || p_most < 1e-6) {
        return test_poisson_interval(expected, alpha);
    }
    if (p_most >= 1) {
        return (test_interval){0, UINT64_MAX};
    }
    return interval_of(&law, expected, alpha);
}

bool test_inside(test_interval interval, uint64_t value)
{
    return interval.low <= value && value <= interval.high;
}
