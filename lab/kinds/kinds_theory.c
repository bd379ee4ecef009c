/*
 * The pages that crawls with the same salts lose again and again, if each crawl has a different order.
 *
 * In crawl t a URL has a position u in the order, between 0 and 1, and a share u of the other URLs comes before it. It
 * is lost if each of its K bits was set by one of those. With the same salts, the URLs that share a bit with it are the
 * same in every crawl; only the order is drawn again. The number of URLs of a cohort (those that are new in one crawl)
 * that share a given bit is Poisson. The bit is still zero in all crawls of a subset S if all these URLs come later in
 * all of them:
 *
 *   P(zero in S | u) = exp(- sum over cohorts c of rate_c (1 - product over t in S, t >= c of (1 - u_t)))
 *
 * Inclusion and exclusion over the subsets gives the probability g(u) that a bit is set in every crawl. The mean of g^K
 * over all u is the probability that the URL is lost in every crawl. That is an integral with one dimension for each
 * crawl, computed by Gauss's rule, which is why few crawls are possible.
 */
#include <math.h>

#include "lab/judge/gauss.h"
#include "lab/kinds/kinds.h"

enum { POINTS = 12 };

typedef struct rule {
    double at[POINTS], weight[POINTS]; /* for the interval from 0 to 1 */
} rule;

static double unmarked(const double *rates, unsigned from, unsigned crawls, unsigned subset, const double *u)
{
    double exponent = 0;
    for (unsigned cohort = 0; cohort < from + crawls; cohort++) {
        double later = 1;
        for (unsigned i = 0; i < crawls; i++)
            if (subset >> i & 1 && from + i >= cohort)
                later *= 1 - u[i];
        exponent += rates[cohort] * (1 - later);
    }
    return exp(-exponent);
}

static double marked_in_all(const double *rates, unsigned from, unsigned crawls, const double *u)
{
    double g = 0;
    for (unsigned subset = 0; subset < 1u << crawls; subset++)
        g += (__builtin_popcount(subset) & 1 ? -1 : 1) * unmarked(rates, from, crawls, subset, u);
    return fmax(g, 0);
}

double lab_lost_in_all(const double *rates, unsigned bits, unsigned from, unsigned crawls)
{
    rule rule = {.at = {0}};
    unsigned points = 1;
    double sum = 0, u[LAB_LOST_CRAWLS];
    lab_gauss(rule.at, rule.weight, POINTS);
    for (unsigned i = 0; i < crawls; i++)
        points *= POINTS;
    for (unsigned point = 0; point < points; point++) {
        double weight = 1;
        for (unsigned i = 0, rest = point; i < crawls; i++, rest /= POINTS) {
            u[i] = rule.at[rest % POINTS];
            weight *= rule.weight[rest % POINTS];
        }
        sum += weight * pow(marked_in_all(rates, from, crawls, u), bits);
    }
    return sum;
}
