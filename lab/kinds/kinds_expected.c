/*
 * What each kind should lose and how much memory it should take, derived from how it is made. The library's planner has
 * formulas of its own for the same numbers, and is one of the things that are tested here: its predictions (error,
 * expected_lost, bytes_per_url) are not used, except where a figure is marked as planned.
 *
 *   classic, counting   a Bloom filter that fills up (theory.c)
 *   spatial             two of them, with independent salts
 *   scalable            Bloom filters in stages (stage_theory.h)
 *   blocked             kinds_blocked.c
 *   fingerprint         a URL is lost if the W bits of its hash equal those of an earlier one: n (n-1) / 2 pairs, each
 *                       with probability 2^-W. Losses are rare and nearly independent, so the variance is the mean
 *   eigen, multilayer   an upper bound: the classic filter inside them, of the URL's own bits or of the XOR layer,
 *                       which sees every URL that they see. Setting bits that are all set changes nothing, so it fills
 *                       as if it were alone
 *   hashset and others  keep the URLs and lose nothing
 *
 * Memory for an error rate: the smallest Bloom filter that keeps the rate; times four for counters of 4 bits; twice the
 * smallest for the square root of the rate for two filters; five of them for four layers and the XOR layer; for eigen
 * one, and d/k more for the d = k/3 bits of the feature.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/judge/stage_theory.h"
#include "lab/kinds/kinds.h"

enum { MEMBERS = 2, COUNTER_BITS = 4, LAYERS = 4, LANES = 8, LINE_BYTES = 64 };

static bool is(const char *kind, const char *name)
{
    return strcmp(kind, name) == 0;
}

/* ---- losses ---- */

/* The rows and lines of a set of kind `blocked` are not in its parameters: the set that is made from them knows. */
bool lab_blocked_shape(const vidi_plan_entry *plan, uint64_t *rows, unsigned *lines)
{
    const lab_settings any = {.seed = 1};
    vidi_stage_stats layer = {.size = sizeof layer};
    vidi_set *set;
    if (lab_kind_make(&set, plan, &any, 0) < 0)
        return false;
    int code = vidi_stage_stat(set, 0, &layer);
    vidi_close(set);
    if (code < 0 || layer.k < LANES)
        return false;
    *lines = layer.k / LANES;
    *rows = layer.bytes / LINE_BYTES / *lines;
    return true;
}

static bool blocked_theory(lab_theory *theory, const vidi_plan_entry *plan, uint64_t urls)
{
    uint64_t rows;
    unsigned lines;
    if (urls > plan->urls || !lab_blocked_shape(plan, &rows, &lines))
        return false;
    *theory = lab_blocked_theory(urls, rows, lines);
    return true;
}

static lab_theory rare(double mean, uint64_t urls)
{
    return (lab_theory){mean, mean, (double)urls};
}

bool lab_kind_theory(lab_theory *theory, lab_theory_sort *sort, const vidi_plan_entry *plan, uint64_t urls)
{
    const char *kind = plan->kind;
    double n = (double)urls, m = lab_kind_number(plan->params, "m");
    unsigned k = (unsigned)lab_kind_number(plan->params, "k");
    *sort = is(kind, "eigen") || is(kind, "multilayer") ? LAB_BOUND : LAB_DERIVED;
    if (is(kind, "blocked"))
        return blocked_theory(theory, plan, urls);
    if (is(kind, "fingerprint"))
        *theory = rare(n * (n - 1) / 2 * exp2(-lab_kind_number(plan->params, "bits")), urls);
    else if (is(kind, "scalable"))
        *theory = lab_series_filling((lab_series){plan->urls, lab_kind_number(plan->params, "error")}, urls);
    else if (is(kind, "eigen"))
        *theory = lab_filling_theory(urls, lab_kind_number(plan->params, "m1"), k, 1);
    else if (m > 0 && k > 0)
        *theory = lab_filling_theory(urls, m, k, is(kind, "spatial") ? MEMBERS : 1);
    else
        *theory = rare(0, urls);
    return true;
}

/* ---- memory ---- */

static double bloom_bits(uint64_t urls, double error)
{
    return lab_smallest_stage(urls, error).m;
}

/* The k that needs least differs from that of a Bloom filter, because d is a whole number. */
static double eigen_bits(uint64_t urls, double error)
{
    double least = INFINITY;
    for (unsigned k = 1; k <= LAB_K_MAX; k++) {
        unsigned d = k < 3 ? 1 : k / 3;
        least = fmin(least, lab_fewest_bits(urls, error, k) * (k + d) / k);
    }
    return least;
}

int lab_kind_memory(double *bits, lab_theory_sort *sort, const char *kind, uint64_t urls, double error)
{
    vidi_plan_entry plan;
    *sort = LAB_DERIVED;
    if (is(kind, "classic"))
        *bits = bloom_bits(urls, error);
    else if (is(kind, "counting"))
        *bits = COUNTER_BITS * bloom_bits(urls, error);
    else if (is(kind, "spatial"))
        *bits = MEMBERS * bloom_bits(urls, sqrt(error));
    else if (is(kind, "multilayer"))
        *bits = (LAYERS + 1) * bloom_bits(urls, error);
    else if (is(kind, "eigen"))
        *bits = eigen_bits(urls, error);
    else if (is(kind, "scalable"))
        *bits = lab_series_start((lab_series){urls, error}).m;
    else if (is(kind, "blocked"))
        *bits = lab_blocked_bits(urls, error);
    else {
        *sort = LAB_PLANNED;
        LAB_TRY(lab_kind_plan_error(&plan, kind, urls, error));
        *bits = 8 * (double)plan.bytes;
    }
    return VIDI_OK;
}
