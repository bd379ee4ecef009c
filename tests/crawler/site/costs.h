/*
 * What copies of pages cost that change as Poisson processes, for simulations of schedules: see
 * tests/crawler/schedule/test_schedule_simulation.c.
 */
#ifndef TESTS_CRAWLER_SITE_COSTS_H
#define TESTS_CRAWLER_SITE_COSTS_H

#include <math.h>

#include "support/random.h"

enum { COSTS_STEPS = 36 };

/* A number between 0 and 1, and one of the normal distribution. */
static inline double costs_uniform(test_random *random)
{
    return ((double)(test_next(random) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double costs_normal(test_random *random)
{
    double radius = sqrt(-2 * log(costs_uniform(random)));
    return radius * cos(2 * M_PI * costs_uniform(random));
}

/* The integral of (1 - exp(-s))/s from 0 to x: its series, or log(x) + Euler's constant + E1(x) by Lentz's fraction. */
static inline double ein(double x)
{
    double sum = 0, term = 1;
    if (x < 3) {
        for (int k = 1; k < 40 && fabs(term) > 1e-12; k++) {
            term *= -x / k;
            sum -= term / k;
        }
        return sum;
    }
    for (int k = 30; k > 0; k--)
        term = x + k / (1 + k / term);
    return log(x) + 0.57721566490153286 + exp(-x) / term;
}

/* The integral of Ein from 0 to x, and that of 1 - exp(-s). */
static inline double ein_sum(double x)
{
    return x * ein(x) - (x + expm1(-x));
}

static inline double stale_sum(double x)
{
    return x + expm1(-x);
}

/* Mean cost and mean staleness of a page that is visited at fixed intervals, r times a day. */
static inline double fixed_cost(double rate, double visits)
{
    return ein_sum(rate / visits) * visits / rate;
}

static inline double fixed_stale(double rate, double visits)
{
    return stale_sum(rate / visits) * visits / rate;
}

/* ---- the best visits, if rates are known ---- */

static inline double random_best(double rate, double lambda)
{
    return (-rate + sqrt(rate * rate + 4 * rate / lambda)) / 2;
}

/* What one more visit a day saves falls with the visits: the derivative of fixed_cost is to be -lambda. */
static inline double fixed_best(double rate, double lambda)
{
    double near = log2(random_best(rate, lambda)), low = near - 3, high = near + 3;
    for (int i = 0; i < COSTS_STEPS / 2; i++) {
        double visits = exp2((low + high) / 2), x = rate / visits;
        if (ein(x) / visits - ein_sum(x) / rate > lambda)
            low = log2(visits);
        else
            high = log2(visits);
    }
    return exp2(low);
}

#endif
