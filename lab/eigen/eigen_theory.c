/*
 * Sizes and theory of the eigenvalue paper's filter, with the right formulas instead of the paper's.
 *
 * A URL is falsely seen if its k bits in the first region and its d bits in the second are set. The former has
 * probability f1^k, whatever its features are. The latter is certain if a URL with the same features was inserted. So
 * of u URLs with unknown and v with known features, (v + u f2^d) f1^k are expected to be lost. f2 follows from the
 * number of *different* features that were inserted, not from n.
 *
 * Both fills differ from run to run (theory.c tells by how much). To first order, the variance of the count is the
 * binomial variance for the mean fills plus the variance of the mean due to the fills.
 */
#include "lab/eigen/eigen.h"

#include <math.h>

enum { PART = 20, URLS_LEAST = 1000 };

uint64_t lab_eigen_urls(const lab_settings *settings)
{
    return lab_urls_part(settings, PART, URLS_LEAST);
}

uint64_t lab_eigen_first(const lab_eigen_filter *filter, uint64_t n)
{
    uint64_t bits = LAB_EIGEN_BITS * n;
    if (!filter->feature)
        return filter->third_more ? bits + (bits + 2) / 3 : bits;
    return filter->third_more ? bits : bits * filter->k / (filter->k + filter->d);
}

uint64_t lab_eigen_second(const lab_eigen_filter *filter, uint64_t n)
{
    uint64_t bits = LAB_EIGEN_BITS * n;
    if (!filter->feature)
        return 0;
    return filter->third_more ? (bits + 2) / 3 : bits - lab_eigen_first(filter, n);
}

int lab_eigen_make(vidi_set **set, const lab_eigen_filter *filter, const char *hash, const lab_settings *settings,
                   uint64_t run, uint64_t n)
{
    uint64_t first = lab_eigen_first(filter, n), all = first + lab_eigen_second(filter, n);
    if (!filter->feature)
        return lab_set(set, settings, run, "classic", n, "m=%llu,k=%u,hash=%s", (unsigned long long)all, filter->k,
                       hash);
    return lab_set(set, settings, run, "eigen", n, "m=%llu,k=%u,hash=%s,m1=%llu,d=%u,g=%s", (unsigned long long)all,
                   filter->k, hash, (unsigned long long)first, filter->d, filter->feature);
}

/* The variance of f^k. */
static double power_variance(lab_fill fill, double k)
{
    double slope = k * pow(fill.mean, k - 1);
    return slope * slope * fill.variance;
}

lab_theory lab_eigen_theory_in(const lab_eigen_filter *filter, double first, double second, lab_eigen_load load)
{
    lab_fill fill = lab_fill_after((double)filter->k * load.n, first);
    double a = lab_fill_power(fill, filter->k), b = 1, spread = 0;
    if (filter->feature) {
        lab_fill features = lab_fill_after(filter->d * load.features, second);
        b = lab_fill_power(features, filter->d);
        spread = pow(load.unknown * a, 2) * power_variance(features, filter->d);
    }
    double passing = load.known + load.unknown * b;
    spread += pow(passing, 2) * power_variance(fill, filter->k);
    return (lab_theory){passing * a, load.known * a * (1 - a) + load.unknown * a * b * (1 - a * b) + spread,
                        load.known + load.unknown};
}

lab_theory lab_eigen_theory(const lab_eigen_filter *filter, uint64_t n, double features, double known)
{
    lab_eigen_load load = {.n = (double)n, .features = features, .known = known, .unknown = (double)n - known};
    return lab_eigen_theory_in(filter, (double)lab_eigen_first(filter, n), (double)lab_eigen_second(filter, n), load);
}
