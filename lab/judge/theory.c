/*
 * What probability theory predicts for a cell: mean and variance of the number of URLs falsely seen in one run. The
 * formulas are independent of those that are tested (lib/filters/bloom.c); a test compares the two.
 *
 * After i URLs with k bits each, a share f of the m bits is set. Its mean and variance are those of occupancy:
 *
 *   E f = 1 - (1 - 1/m)^(ki)        Var f = [q1 - q1^2 + (m-1)(q2 - q1^2)] / m,   q1 = (1-1/m)^ki, q2 = (1-2/m)^ki
 *
 * One filter falsely sees a new URL with probability E f^k, which is more than (E f)^k by k(k-1)/2 f^(k-2) Var f. G
 * independent filters all see it with the G-th power of that.
 *
 * Non-incremental: n lookups in filters that do not change. For given filters the count is binomial, but the filters
 * differ from run to run: Var = n E[P(1-P)] + n^2 Var P, where P is the product of the f^k.
 *
 * Incremental: lookup i meets the fill that the earlier URLs have left. URLs that are falsely seen set no new bits, so
 * all later fills are smaller. Let d_i = f_i - E f_i, let a_i be the number of bits that URL i sets newly, and let e_i
 * = a_i - E[a_i | f_i]. Then d_(i+1) = (1 - k/m) d_i + e_i / m. To first order in d, the count minus its mean is a sum
 * of martingale differences h_i + W_i (e_i of the first filter + … + e_i of the G-th). Here h_i is 1 if URL i is
 * falsely seen and 0 otherwise, minus its probability P_i = f_i^(kG); and W_i = (P_n - P_i) / (kG (1 - f_i)) is the
 * later cost of one more bit. As Var e = k f (1-f) and Cov(h, e) = -k (1-f) P,
 *
 *   Var = sum of  P (1-P) - 2 P (P_n - P) + (P_n - P)^2 f / ((1-f) k G).
 *
 * For k = G = 1 the count is n minus the number of set bits, and the formula gives the variance of occupancy, as it
 * must.
 *
 * Incremental with a different order in each crawl: every crawl loses a random set of URLs, and these overlap by
 * chance.
 *
 * Two filters without salts that share s of their k functions, non-incremental: a shared function gives a URL the same
 * place in both, which is set in both with a probability g of more than f^2. Let z be the share of places that are zero
 * in the first filter, y in the second, and x in both; then g = 1 - z - y + x, and both filters see a URL with
 * probability P = g^s (1-z)^(k-s) (1-y)^(k-s). The marks of shared functions fall into both filters, the others into
 * one. A place is zero in U if no mark of those that count for U falls on it, so
 *
 *   E U = (1-1/m)^|U|
 *   Cov(U, V) = [(1-1/m)^|U or V| - E U E V + (m-1) ((1-2/m)^|U and V| (1-1/m)^|U xor V| - E U E V)] / m
 *
 * and Var P = sum of dP/dU dP/dV Cov(U, V).
 */
#include "lab/engine/lab.h"

#include <math.h>

/* Sums of up to SUM_TERMS terms are added up, longer ones integrated over SUM_PIECES pieces. */
enum { SUM_TERMS = 4096, SUM_PIECES = 1024 };

lab_fill lab_fill_after(double marks, double m)
{
    double q1 = exp(marks * log1p(-1 / m));
    double variance =
        -q1 * expm1(marks * log1p(-1 / (m - 1))) / m + q1 * q1 * expm1(marks * log1p(-1 / ((m - 1) * (m - 1))));
    return (lab_fill){-expm1(marks * log1p(-1 / m)), variance > 0 ? variance : 0};
}

/* Exact to second order in the fill's deviation. */
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

/* ---- two filters that share functions ---- */

/* Marks that fall into both filters, into the first alone and into the second alone: as sets, bits 1, 2 and 4. */
enum { MARKS = 3, ZEROS = 3 };

typedef struct sharing {
    double m, marks[MARKS];
} sharing;

static double marks_in(const sharing *sharing, unsigned set)
{
    double sum = 0;
    for (unsigned i = 0; i < MARKS; i++)
        sum += set >> i & 1 ? sharing->marks[i] : 0;
    return sum;
}

static double zero_share(const sharing *sharing, unsigned set)
{
    return exp(marks_in(sharing, set) * log1p(-1 / sharing->m));
}

static double covariance(const sharing *sharing, unsigned u, unsigned v)
{
    double apart = zero_share(sharing, u) * zero_share(sharing, v);
    double two_places = exp(marks_in(sharing, u & v) * log1p(-2 / sharing->m)) * zero_share(sharing, u ^ v);
    return (zero_share(sharing, u | v) - apart + (sharing->m - 1) * (two_places - apart)) / sharing->m;
}

static lab_theory full_and_sharing(double n, double m, double k, double shared)
{
    static const unsigned sets[ZEROS] = {1 | 2, 1 | 4, 1 | 2 | 4}; /* zero in the first, in the second, in both */
    sharing sharing = {m, {shared * n, (k - shared) * n, (k - shared) * n}};
    double fill = 1 - zero_share(&sharing, sets[0]),
           both = 1 - 2 * zero_share(&sharing, sets[0]) + zero_share(&sharing, sets[2]);
    double mean = pow(both, shared) * pow(fill, 2 * (k - shared)), spread = 0;
    double of_both = mean * shared / both, of_one = -of_both - mean * (k - shared) / fill;
    double slopes[ZEROS] = {of_one, of_one, of_both};
    for (unsigned i = 0; i < ZEROS; i++)
        for (unsigned j = 0; j < ZEROS; j++)
            spread += slopes[i] * slopes[j] * covariance(&sharing, sets[i], sets[j]);
    return (lab_theory){n * mean, n * mean * (1 - mean) + n * (n - 1) * spread, n};
}

/* ---- filters that fill up ---- */

typedef struct filling {
    double m, k, filters, last; /* last: P of the URL after the last one that counts */
} filling;

/* Adds the terms of URL i, multiplied by `times`. */
static void add_term(const filling *filling, double i, double times, lab_theory *sum)
{
    lab_fill f = lab_fill_after(filling->k * i, filling->m);
    if (!(f.mean > 0))
        return;
    double p = pow(lab_fill_power(f, filling->k), filling->filters);
    double later = filling->last - p;
    sum->mean += times * p;
    sum->variance +=
        times * (p * (1 - p) - 2 * p * later + later * later * f.mean / ((1 - f.mean) * filling->k * filling->filters));
}

static lab_theory filling_up(double n, double m, double k, double filters)
{
    filling filling = {m, k, filters, pow(lab_fill_after(k * n, m).mean, k * filters)};
    lab_theory sum = {.asked = n};
    if (n <= SUM_TERMS) {
        for (double i = 0; i < n; i++)
            add_term(&filling, i, 1, &sum);
        return sum;
    }
    /* The sum of n terms is nearly the integral from -1/2 to n - 1/2: Gauss's rule with three points in each piece. */
    const double point = 0.774596669241483377, piece = n / SUM_PIECES;
    for (int i = 0; i < SUM_PIECES; i++) {
        double middle = (i + 0.5) * piece - 0.5;
        add_term(&filling, middle - point * piece / 2, piece * 5 / 18, &sum);
        add_term(&filling, middle, piece * 8 / 18, &sum);
        add_term(&filling, middle + point * piece / 2, piece * 5 / 18, &sum);
    }
    return sum;
}

/* For given sizes the intersection is hypergeometric; the sizes vary as well. */
lab_theory lab_meeting_theory(lab_theory a, lab_theory b, double all)
{
    double share_a = a.mean / all, share_b = b.mean / all;
    return (lab_theory){
        .mean = a.mean * share_b,
        .variance = a.mean * share_b * (1 - share_a) * (1 - share_b) * all / (all - 1) +
                    share_b * share_b * a.variance + share_a * share_a * b.variance,
        .asked = a.asked,
    };
}

lab_theory lab_theory_of(const lab_config *config, uint64_t urls)
{
    double n = (double)urls, k = config->k;
    double m = lab_bits(n, k, config->multiplier);
    double filters = (double)config->members * config->epochs;
    unsigned kept = lab_functions_kept(config);
    if (!config->incremental)
        return kept ? full_and_sharing(n, m, k, kept) : full(n, m, k, filters);
    uint64_t counted = urls * config->tenths / LAB_TENTHS;
    double asked = (double)counted;
    if (!config->shuffled)
        return filling_up(asked, m, k, filters);
    lab_theory one = filling_up(asked, m, k, config->members), all = one;
    for (unsigned crawl = 1; crawl < config->epochs; crawl++)
        all = lab_meeting_theory(all, one, asked);
    return all;
}

lab_theory lab_filter_theory(uint64_t urls, double m, unsigned k, unsigned filters)
{
    return full((double)urls, m, k, filters);
}

lab_theory lab_filling_theory(uint64_t urls, double m, unsigned k, unsigned filters)
{
    return filling_up((double)urls, m, k, filters);
}
