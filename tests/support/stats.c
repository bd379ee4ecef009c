#include "support/stats.h"

#include <math.h>

enum form { POISSON, BINOMIAL, NEGATIVE_BINOMIAL };

typedef struct law {
    enum form form;
    double mean; /* of the Poisson distribution */
    double n;    /* number of trials, or of failures in the negative binomial distribution */
    double p;    /* of an event */
} law;

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

static double log_probability(const law *of, double k)
{
    switch (of->form) {
    case POISSON:
        return k * log(of->mean) - of->mean - log_gamma(k + 1);
    case BINOMIAL:
        if (k > of->n) {
            return -INFINITY;
        }
        return log_gamma(of->n + 1) - log_gamma(k + 1) - log_gamma(of->n - k + 1) + k * log(of->p) +
               (of->n - k) * log1p(-of->p);
    case NEGATIVE_BINOMIAL:
        return log_gamma(k + of->n) - log_gamma(k + 1) - log_gamma(of->n) + of->n * log1p(-of->p) + k * log(of->p);
    }
    return NAN;
}

/* Goes outwards from the mean, doubling the distance, until probabilities are negligible (below e^-70 each). */
static double edge(const law *of, double mean, double direction)
{
    double k = floor(mean);
    for (double step = 1; step < 1e18; step *= 2) {
        double next = k + direction * step;
        if (next < 0) {
            return 0;
        }
        if (log_probability(of, next) < -70) {
            return next;
        }
        k = next;
    }
    return k;
}

/* Coming from the edge, the first k whose tail probability exceeds `share`. */
static double quantile(const law *of, double mean, double direction, double share)
{
    double sum = 0;
    double k = edge(of, mean, direction);
    for (;; k -= direction) {
        sum += exp(log_probability(of, k));
        if (sum > share || (direction > 0 && k == 0)) {
            return k;
        }
    }
}

static test_interval interval_of(const law *of, double mean, double alpha)
{
    test_interval interval;
    interval.low = (uint64_t)quantile(of, mean, -1, alpha / 2);
    interval.high = (uint64_t)quantile(of, mean, 1, alpha / 2);
    return interval;
}

test_interval test_poisson_interval(double mean, double alpha)
{
    law of = {POISSON, mean, 0, 0};
    return mean > 0 ? interval_of(&of, mean, alpha) : (test_interval){0, 0};
}

test_interval test_binomial_interval(uint64_t n, double p, double alpha)
{
    law of = {BINOMIAL, 0, (double)n, p};
    if (n == 0 || p <= 0) {
        return (test_interval){0, 0};
    }
    if (p >= 1) {
        return (test_interval){n, n};
    }
    return interval_of(&of, (double)n * p, alpha);
}

test_interval test_lost_interval(double expected, double p_most, double alpha)
{
    law of = {NEGATIVE_BINOMIAL, 0, expected * (1 - p_most) / p_most, p_most};
    if (expected <= 0 || p_most < 1e-6) {
        return test_poisson_interval(expected, alpha);
    }
    if (p_most >= 1) {
        return (test_interval){0, UINT64_MAX};
    }
    return interval_of(&of, expected, alpha);
}

bool test_inside(test_interval interval, uint64_t value)
{
    return interval.low <= value && value <= interval.high;
}
