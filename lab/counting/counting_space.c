/*
 * When does a Bloom filter take less memory than what it replaces? (The counting notes: "good when m/n << key length in
 * bits + log n".) For several rates of false positives, in bits per URL:
 *
 *   Bloom filter    classic, with the k that needs least memory. Theory: the minimum of -k / ln(1 - p^(1/k)), which is
 *                   about 1.44 log2(1/p)
 *   one hash        a bit for each value of one hash function: k = 1. Theory: -1 / ln(1 - p), which is about 1/p
 *   stored hashes   a list of values of log2(n/p) bits, rounded up: enough to tell n of them apart
 *   fingerprint     the library's table of hashes, which does not store the bits that follow from the place
 *   URLs            the length of a URL in bits plus log2(n): the right side of the notes' condition
 *   hashset         the library's exact set of URLs
 *
 * The first two do not depend on chance: we create the sets, or ask the planner if they would take too much memory.
 */
#include "lab/counting/counting.h"

#include <math.h>
#include <stdio.h>

static const char *const space_rates[] = {"error 1e-2", "error 1e-4", "error 1e-6", "error 1e-9", NULL};
static const char *const space_ways[] = {"Bloom filter", "one hash", "stored hashes", "fingerprint", "URLs",
                                         "hashset",      NULL};

static const double rates[] = {1e-2, 1e-4, 1e-6, 1e-9};

enum { BLOOM, ONE_HASH, STORED_HASHES, FINGERPRINT, URLS, HASHSET, WAYS, RATES = 4 };

/* ---- measuring ---- */

/* Bits per URL of a set with n URLs. */
static int take(double *bits, const char *kind, const char *params, const lab_settings *settings, uint64_t run)
{
    uint64_t n = lab_counting_urls(settings);
    char url[LAB_URL_ROOM];
    vidi_stats stats = {.size = sizeof stats};
    LAB_OWN(lab_close) vidi_set *set = NULL;
    LAB_TRY(lab_set_make(&set, settings, run, kind, params, n));
    for (uint64_t i = 0; i < n; i++)
        LAB_TRY(vidi_add(set, lab_url_text(url, settings, run, i)));
    LAB_TRY(vidi_stat(set, &stats));
    *bits = 8 * (double)stats.bytes / (double)n;
    return VIDI_OK;
}

static int plan(double *bits, double rate, uint64_t n)
{
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    vidi_plan_entry plan;
    size_t count = 1;
    want.kind = "classic";
    want.urls = n;
    want.error = rate;
    want.k = 1;
    LAB_TRY(vidi_plan(&want, &plan, &count));
    *bits = 8 * plan.bytes_per_url;
    return VIDI_OK;
}

static double key_bits(const lab_settings *settings, uint64_t run)
{
    uint64_t n = lab_counting_urls(settings), bytes = 0;
    char url[LAB_URL_ROOM];
    for (uint64_t i = 0; i < n; i++)
        bytes += lab_url(url, settings, run, i);
    return 8 * (double)bytes / (double)n;
}

static int measure_space(const lab_settings *settings, uint64_t run, double *numbers)
{
    double n = (double)lab_counting_urls(settings), keys = key_bits(settings, run) + log2(n), hashset;
    char params[32];
    LAB_TRY(take(&hashset, "hashset", NULL, settings, run));
    for (size_t i = 0; i < RATES; i++) {
        double *row = numbers + i * WAYS;
        snprintf(params, sizeof params, "error=%g", rates[i]);
        LAB_TRY(take(&row[BLOOM], "classic", params, settings, run));
        LAB_TRY(take(&row[FINGERPRINT], "fingerprint", params, settings, run));
        LAB_TRY(plan(&row[ONE_HASH], rates[i], lab_counting_urls(settings)));
        row[STORED_HASHES] = ceil(log2(n / rates[i]));
        row[URLS] = keys;
        row[HASHSET] = hashset;
    }
    return VIDI_OK;
}

/* ---- judging ---- */

static double least_bits(double rate)
{
    double least = INFINITY;
    for (int k = 1; k <= 64; k++)
        least = fmin(least, -k / log1p(-pow(rate, 1.0 / k)));
    return least;
}

/* The set may be larger by a cache line, and by a little more for few URLs, because of the fill's variance. */
static void judge_memory(lab_entry *entry, double theory, double n)
{
    entry->theory = theory;
    if (fabs(entry->measured - theory) <= 0.01 * theory + 1024 / n)
        return;
    entry->verdict = LAB_FAILS;
    snprintf(entry->remark, sizeof entry->remark, "the set takes %.4g bits per URL, not %.4g", entry->measured, theory);
}

static void judge_space(const lab_cell *cell, lab_entry *entry)
{
    double n = (double)lab_counting_urls(cell->settings);
    if (cell->column == BLOOM)
        judge_memory(entry, least_bits(rates[cell->row]), n);
    else if (cell->column == ONE_HASH)
        judge_memory(entry, -1 / log1p(-rates[cell->row]), n);
}

LAB_STUDY(
    counting_space, "counting-space", "Memory of Bloom filters, of hashes and of URLs", "the counting notes",
    "A tenth of the URLs is inserted. Stored hashes and one hash are computed, since the sets would be too large.",
    "bits per URL", space_rates, space_ways, .runs_most = 3,
    .plot =
        {.x = "false positives", .y = "bits per URL", .columns = true, .log_x = true, .log_y = true, .along = rates},
    .measure = measure_space, .judge = judge_space);
