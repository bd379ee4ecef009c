/*
 * What probability says of a cell: mean and variance of the number of false "seen" in one run. The judge does not use
 * the formulas of the judged (lib/filters/bloom.c); a test holds the two against each other.
 *
 * After i URLs with k marks each, a share f of the m bits is marked. Its mean and variance are those of occupancy:
 *
 *   E f = 1 - (1 - 1/m)^(ki)        Var f = [q1 - q1^2 + (m-1)(q2 - q1^2)] / m,   q1 = (1-1/m)^ki, q2 = (1-2/m)^ki
 *
 * and a new URL is falsely seen by one filter with E f^k, which is more than (E f)^k by k(k-1)/2 f^(k-2) Var f; by G
 * independent ones with its G-th power.
 *
 * Non-incremental: n questions to filters that stay as they are. Given these, the count is binomial; but they differ
 * from run to run: Var = n E[P(1-P)] + n^2 Var P, P being the product of f^k.
 *
 * Incremental: question i meets the fill that the URLs before have left. URLs that are falsely seen mark nothing new,
 * so that all later fills are smaller. With d_i = f_i - E f_i, a_i the number of bits that URL i marks anew, and e_i =
 * a_i - E[a_i | f_i]: d_(i+1) = (1 - k/m) d_i + e_i / m. To first order in d the count less its mean is a sum of
 * martingale differences h_i + W_i (e_i of the first filter + … + e_i of the G-th), where h_i is the 0 or 1 of URL i
 * less its probability P_i = f_i^(kG), and W_i = (P_n - P_i) / (kG (1 - f_i)) is what one more marked bit costs from
 * then on. As Var e = k f (1-f) and Cov(h, e) = -k (1-f) P,
 *
 *   Var = sum of  P (1-P) - 2 P (P_n - P) + (P_n - P)^2 f / ((1-f) k G).
 *
 * For k = G = 1 the count is n less the number of marked bits, and this is the occupancy's variance, as it must be.
 *
 * Incremental and in another order in the second crawl: two random sets of URLs, which meet by chance.
 */
#include "lab/engine/lab.h"

#include <math.h>

/* Sums of up to so many terms are taken as they are, longer ones as integrals over so many pieces. */
enum { SUM_TERMS = 4096, SUM_PIECES = 1024 };

lab_fill lab_fill_after(double marks, double m)
{
    double q1 = exp(marks * log1p(-1 / m));
    double variance =
        -q1 * expm1(marks * log1p(-1 / (m - 1))) / m + q1 * q1 * expm1(marks * log1p(-1 / ((m - 1) * (m - 1))));
    return (lab_fill){-expm1(marks * log1p(-1 / m)), variance > 0 ? variance : 0};
}

/* To second order. */
double lab_fill_power(lab_fill fill, double k)
{
    return pow(fill.mean, k) + k * (k - 1) / 2 * pow(fill.mean, k - 2) * fill.variance;
}

double lab_bits(double urls, double k, double multiplier)
{
    return ceil(urls * k * multiplier - 1e-6);
}

static lab_theory full(double n, double m, double k, double filters)
{
    lab_fill f = lab_fill_after(k * n, m);
    double mean = pow(lab_fill_power(f, k), filters);
    double spread = mean * mean * (pow(1 + k * k * f.variance / (f.mean * f.mean), filters) - 1);
    return (lab_theory){n * mean, n * mean * (1 - mean) + n * (n - 1) * spread, n};
}

typedef struct filling {
    double m, k, filters, last; /* last: P of the first URL that is no longer asked */
} filling;

/* Adds URL i's share, `times` over. */
static void add_term(const filling *of, double i, double times, lab_theory *sum)
{
    lab_fill f = lab_fill_after(of->k * i, of->m);
    if (!(f.mean > 0))
        return;
    double p = pow(lab_fill_power(f, of->k), of->filters);
    double later = of->last - p;
    sum->mean += times * p;
    sum->variance +=
        times * (p * (1 - p) - 2 * p * later + later * later * f.mean / ((1 - f.mean) * of->k * of->filters));
}

static lab_theory filling_up(double n, double m, double k, double filters)
{
    filling of = {m, k, filters, pow(lab_fill_after(k * n, m).mean, k * filters)};
    lab_theory sum = {.asked = n};
    if (n <= SUM_TERMS) {
        for (double i = 0; i < n; i++)
            add_term(&of, i, 1, &sum);
        return sum;
    }
    /* The sum of n terms is the integral from -1/2 to n - 1/2: three points of Gauss's rule in each piece. */
    const double point = 0.774596669241483377, piece = n / SUM_PIECES;
    for (int i = 0; i < SUM_PIECES; i++) {
        double middle = (i + 0.5) * piece - 0.5;
        add_term(&of, middle - point * piece / 2, piece * 5 / 18, &sum);
        add_term(&of, middle, piece * 8 / 18, &sum);
        add_term(&of, middle + point * piece / 2, piece * 5 / 18, &sum);
    }
    return sum;
}

/* Given the sizes the law is hypergeometric; the sizes vary, too. */
lab_theory lab_meeting_theory(lab_theory a, lab_theory b, double of)
{
    double share_a = a.mean / of, share_b = b.mean / of;
    return (lab_theory){
        .mean = a.mean * share_b,
        .variance = a.mean * share_b * (1 - share_a) * (1 - share_b) * of / (of - 1) + share_b * share_b * a.variance +
                    share_a * share_a * b.variance,
        .asked = a.asked,
    };
}

lab_theory lab_theory_of(const lab_config *config, uint64_t urls)
{
    double n = (double)urls, k = config->k;
    double m = lab_bits(n, k, config->multiplier);
    double filters = (double)config->members * config->epochs;
    if (!config->incremental)
        return full(n, m, k, filters);
    uint64_t counted = urls * config->tenths / LAB_TENTHS;
    double asked = (double)counted;
    if (!config->shuffled || config->epochs != 2)
        return filling_up(asked, m, k, filters);
    lab_theory one = filling_up(asked, m, k, config->members);
    return lab_meeting_theory(one, one, asked);
}

lab_theory lab_filter_theory(uint64_t urls, double m, unsigned k, unsigned filters)
{
    return full((double)urls, m, k, filters);
}

lab_theory lab_filling_theory(uint64_t urls, double m, unsigned k, unsigned filters)
{
    return filling_up((double)urls, m, k, filters);
}
