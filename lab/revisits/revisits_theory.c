/*
 * Page-crawls missed and pages missed often, by formula.
 *
 * A filter that lasts n crawls. Its first crawl adds N URLs, each later one D = cN more. Of the URLs of cohort a (those
 * that are new in crawl a, from 0) the sum of P_i is lost, where P_i = E f_i^k is the rate when i URLs have come
 * (theory.c). A page survives to the next crawl with probability s = 1 - D/N, so a lost page of cohort a is missed in
 *
 *   w_a = 1 + s + … + s^(n-a-1)
 *
 * crawls on average. The number of page-crawls missed is the sum of w h over all URLs (h: 1 if lost). Its variance is
 * that of theory.c with weights: as a URL that is lost sets no bits, all later rates are smaller. With
 *
 *   S_i = w_a (P_(end of a) - P_i) + sum over later cohorts b of w_b (P_(end of b) - P_(end of b-1))
 *
 *   Var = sum over i of  w_a^2 P (1-P) - 2 w_a P S + S^2 f / ((1-f) k),
 *
 * plus the variance of the number of crawls that lost pages live: of the N pages, a share q of which is
 * lost, D random ones go, and each lost page that stays costs w_(a+1) more crawls: N q (1-q) s (1-s) w^2 for each
 * crawl. Filters with different salts are independent, so R crawls are R/n such filters and a rest. A crawler that
 * empties its filter but keeps the salts misses as much on average, but its crawls are correlated (revisits_salts.c).
 *
 * Pages missed often, without churn. With new salts and a different order, the filters miss a page independently, each
 * with the mean rate p. In the same order a page always meets about the same fill, so its chances are independent only
 * given its place. A filter that is kept, and one that is emptied with the same salts and order, miss the same pages
 * in each crawl.
 */
#include <math.h>

#include "lab/judge/gauss.h"
#include "lab/revisits/revisits.h"

enum { POINTS = 16, PIECES = 16 };

typedef struct rule {
    double at[POINTS], weight[POINTS];
} rule;

/* ---- a filter and its cohorts ---- */

/* The rate and the share of bits that are set when i URLs have come. */
static double rate_after(const lab_revisits *revisits, double i, double *fill)
{
    double k = lab_revisits_k(revisits);
    lab_fill f = lab_fill_after(k * i, lab_revisits_bits(revisits));
    *fill = f.mean;
    return f.mean > 0 ? lab_fill_power(f, k) : 0;
}

/* A cohort: its URLs, the weight of each, what later cohorts add to S, and how many of its URLs are lost. */
typedef struct cohort {
    double from, until, weight, later, lost;
} cohort;

/* w of a page that lives for at most `crawls` crawls. */
static double weight_of(double survival, unsigned crawls)
{
    double weight = 0;
    while (crawls-- > 0)
        weight = 1 + weight * survival;
    return weight;
}

/* Adds the terms of the URLs from `from` to `until` of a cohort. */
static void add_piece(const lab_revisits *revisits, cohort *cohort, const rule *rule, double from, double until,
                      lab_theory *sum)
{
    double fill, end = rate_after(revisits, cohort->until, &fill), w = cohort->weight, k = lab_revisits_k(revisits);
    for (int i = 0; i < POINTS; i++) {
        double p = rate_after(revisits, from + (until - from) * rule->at[i] - 0.5, &fill);
        double times = (until - from) * rule->weight[i], later = w * (end - p) + cohort->later;
        if (!(p > 0))
            continue;
        double spread = fill < 1 ? later * later * fill / ((1 - fill) * k) : 0;
        cohort->lost += times * p;
        sum->mean += times * w * p;
        sum->variance += times * (w * w * p * (1 - p) - 2 * w * p * later + spread);
    }
}

/* Which pages go is chance. */
static double variance_of_lives(const cohort *cohorts, unsigned crawls, double pages, double survival)
{
    double lost = 0, sum = 0;
    for (unsigned a = 0; a + 1 < crawls; a++) {
        lost = lost * survival + cohorts[a].lost;
        double later = cohorts[a + 1].weight;
        sum += lost * fmax(0, 1 - lost / pages) * survival * (1 - survival) * later * later;
    }
    return sum;
}

/* One filter that lasts for `crawls` crawls. */
static lab_theory one_filter(const lab_revisits *revisits, unsigned crawls)
{
    cohort cohorts[LAB_REVISITS_MOST];
    double n = (double)revisits->pages, d = (double)revisits->replaced, later = 0;
    lab_theory sum = {0, 0, n * crawls};
    rule rule = {.at = {0}};
    lab_gauss(rule.at, rule.weight, POINTS);
    for (unsigned a = crawls; a-- > 0;) {
        double fill;
        cohorts[a] = (cohort){.from = a ? n + (a - 1) * d : 0, .until = n + a * d, .later = later};
        cohorts[a].weight = weight_of(1 - d / n, crawls - a);
        later += cohorts[a].weight *
                 (rate_after(revisits, cohorts[a].until, &fill) - rate_after(revisits, cohorts[a].from, &fill));
    }
    for (unsigned a = 0; a < crawls; a++) {
        double piece = (cohorts[a].until - cohorts[a].from) / PIECES;
        for (int i = 0; i < PIECES && piece > 0; i++)
            add_piece(revisits, &cohorts[a], &rule, cohorts[a].from + i * piece, cohorts[a].from + (i + 1) * piece,
                      &sum);
    }
    sum.variance += variance_of_lives(cohorts, crawls, n, 1 - d / n);
    return sum;
}

/*
 * The crawls of a filter that keeps its salts: pages that both of two crawls have, and their sharers, correlate them.
 */
static double covariances(const lab_revisits *revisits, unsigned crawls, double variance)
{
    double kept = 1 - (double)revisits->replaced / (double)revisits->pages, sum = 0;
    if (crawls < 2)
        return 0;
    for (unsigned lag = 1; lag < crawls; lag++)
        sum += 2 * (double)(crawls - lag) * pow(kept, lag);
    return sum * (revisits->policy.same_order ? variance : lab_same_salts_covariance(revisits));
}

lab_theory lab_revisits_missed(const lab_revisits *revisits, unsigned crawls)
{
    unsigned period = lab_revisits_period(revisits, crawls), whole = crawls / period, rest = crawls % period;
    lab_theory one = one_filter(revisits, period);
    lab_theory sum = {whole * one.mean, whole * one.variance, (double)revisits->pages * crawls};
    if (rest) {
        lab_theory last = one_filter(revisits, rest);
        sum.mean += last.mean;
        sum.variance += last.variance;
    }
    if (revisits->policy.same_salts)
        sum.variance += covariances(revisits, crawls, one.variance);
    return sum;
}

/* ---- pages missed often ---- */

double lab_binomial_above(unsigned trials, double chance, unsigned least)
{
    double sum = 0;
    for (unsigned i = least; i <= trials; i++)
        sum += exp(lgamma(trials + 1) - lgamma(i + 1) - lgamma(trials - i + 1)) * pow(chance, i) *
               pow(1 - chance, trials - i);
    return sum;
}

/* Filters of `period` crawls each, the last of fewer: the probability that a page is missed in `least` of them. */
static double above_in_periods(unsigned crawls, unsigned period, double chance, unsigned least)
{
    double missed[LAB_REVISITS_MOST + 1] = {1}, sum = 0; /* [crawls missed so far] */
    for (unsigned done = 0; done < crawls; done += period) {
        unsigned length = crawls - done < period ? crawls - done : period;
        for (unsigned i = done + length + 1; i-- > 0;)
            missed[i] = missed[i] * (1 - chance) + (i >= length ? missed[i - length] * chance : 0);
    }
    for (unsigned i = least; i <= crawls; i++)
        sum += missed[i];
    return sum;
}

/* The mean over all places in an order that is the same each time. */
static double above_in_same_order(const lab_revisits *revisits, unsigned crawls, unsigned least)
{
    double sum = 0, fill;
    rule rule = {.at = {0}};
    lab_gauss(rule.at, rule.weight, POINTS);
    for (int piece = 0; piece < PIECES; piece++)
        for (int i = 0; i < POINTS; i++) {
            double place = (piece + rule.at[i]) / PIECES * (double)revisits->pages;
            sum += rule.weight[i] / PIECES * lab_binomial_above(crawls, rate_after(revisits, place, &fill), least);
        }
    return sum;
}

static double share_often(const lab_revisits *revisits, double once, unsigned crawls, unsigned least)
{
    const lab_policy *policy = &revisits->policy;
    if (policy->same_order)
        return above_in_same_order(revisits, crawls, least);
    if (policy->same_salts)
        return lab_same_salts_often(revisits, crawls, least);
    return above_in_periods(crawls, lab_revisits_period(revisits, crawls), once, least);
}

lab_theory lab_revisits_often(const lab_revisits *revisits, unsigned crawls, unsigned least)
{
    const lab_policy *policy = &revisits->policy;
    double n = (double)revisits->pages;
    lab_theory once = lab_filling_theory(revisits->pages, lab_revisits_bits(revisits), lab_revisits_k(revisits), 1);
    if (crawls == 1 || !policy->every || (policy->same_salts && policy->same_order))
        return once;
    double share = share_often(revisits, once.mean / n, crawls, least);
    return (lab_theory){n * share, n * share * (1 - share), n};
}
