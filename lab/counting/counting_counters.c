/*
 * Counters instead of bits (the counting notes): what they cost, and the limits of insert, delete and lookup. Counters
 * have 2, 3, 4 or 8 bits; k = 3, and half of the counters are in use: kn/m = ln 2.
 *
 *   memory       as a multiple of that of bits
 *   full         the share of counters that are not zero after all n URLs were deleted: a counter that was once full
 *                stays full. The number X of URLs that share a counter is Poisson with mean ln 2, so it is full with
 *                probability P(X >= 2^width - 1).
 *   still seen   URLs that are seen after all were deleted: their k counters are full, each with probability
 *                P(X + 1 >= 2^width - 1), because each counts the URL itself
 *   too large    URLs that were added once and have a count of two or more: they share all k counters with others, with
 *                the probability of a false positive. (Only one URL in 16 is counted, because URLs that share a counter
 *                are wrong together.)
 *   forgotten    URLs that were inserted and are no longer found after n/50 others, which were never inserted, have
 *                been deleted. Only URLs that are falsely seen can be deleted: (1/2)^k of them. Each decrements k
 *                counters, and a counter had the value 1 with probability ln 2: then its only URL is lost.
 */
#include "lab/counting/counting.h"
#include "lab/judge/distributions.h"

#include <math.h>
#include <stdio.h>

static const char *const counter_widths[] = {"2 bits", "3 bits", "4 bits", "8 bits", NULL};
static const char *const counter_columns[] = {"memory", "full", "still seen", "too large", "forgotten", NULL};

static const unsigned widths[] = {2, 3, 4, 8};

enum { WIDTHS = sizeof widths / sizeof *widths, K = 3, SAMPLE = 16, FOREIGN = 50 };
enum { MEMORY, FULL, STILL_SEEN, TOO_LARGE, FORGOTTEN, COLUMNS };

typedef struct bench {
    const lab_settings *settings;
    uint64_t run, n, m;
    char url[LAB_URL_ROOM];
} bench;

static uint64_t places_of(uint64_t n)
{
    return (uint64_t)ceil((double)(K * n) / M_LN2);
}

/* ---- measuring ---- */

static int make_set(vidi_set **set, bench *bench, const char *kind, unsigned width)
{
    char params[64];
    int length = snprintf(params, sizeof params, "m=%llu,k=%d", (unsigned long long)bench->m, K);
    if (width)
        snprintf(params + length, sizeof params - (size_t)length, ",width=%u", width);
    return lab_set_make(set, bench->settings, bench->run, kind, params, bench->n);
}

static vidi_str url_of(bench *bench, uint64_t index)
{
    return lab_url_text(bench->url, bench->settings, bench->run, index);
}

static int add_all(vidi_set *set, bench *bench)
{
    for (uint64_t i = 0; i < bench->n; i++)
        LAB_TRY(vidi_add(set, url_of(bench, i)));
    return VIDI_OK;
}

static int count_too_large(vidi_set *set, bench *bench, double *numbers)
{
    for (uint64_t i = 0; i < bench->n; i += SAMPLE) {
        uint64_t times = 0;
        LAB_TRY(vidi_count(set, url_of(bench, i), &times));
        numbers[TOO_LARGE] += times > 1;
    }
    return VIDI_OK;
}

/* Looks up every step-th URL that is or was inserted, and counts those that are seen. */
static int count_seen(vidi_set *set, bench *bench, uint64_t step, double *seen)
{
    int verdict;
    *seen = 0;
    for (uint64_t i = 0; i < bench->n; i += step) {
        LAB_TRY(verdict = vidi_has(set, url_of(bench, i)));
        *seen += verdict == VIDI_SEEN;
    }
    return VIDI_OK;
}

static int fill_and_empty(vidi_set *set, bench *bench, double *numbers)
{
    vidi_stats stats = {.size = sizeof stats};
    LAB_TRY(add_all(set, bench));
    LAB_TRY(count_too_large(set, bench, numbers));
    for (uint64_t i = 0; i < bench->n; i++)
        LAB_TRY(vidi_remove(set, url_of(bench, i)));
    LAB_TRY(vidi_stat(set, &stats));
    numbers[FULL] = round(stats.fill * (double)bench->m);
    numbers[MEMORY] = (double)stats.bytes;
    return count_seen(set, bench, SAMPLE, &numbers[STILL_SEEN]);
}

static int delete_others(vidi_set *set, bench *bench, double *numbers)
{
    double seen;
    LAB_TRY(add_all(set, bench));
    for (uint64_t i = 0; i < bench->n / FOREIGN; i++) {
        int code = vidi_remove(set, url_of(bench, bench->n + i));
        if (code < 0 && code != VIDI_EABSENT)
            return code;
    }
    LAB_TRY(count_seen(set, bench, 1, &seen));
    numbers[FORGOTTEN] = (double)bench->n - seen;
    return VIDI_OK;
}

typedef int deed(vidi_set *set, bench *bench, double *numbers);

static int with_set(deed *deed, bench *bench, unsigned width, double *numbers)
{
    LAB_OWN(lab_close) vidi_set *set = NULL;
    LAB_TRY(make_set(&set, bench, "counting", width));
    return deed(set, bench, numbers);
}

/* The memory of a filter with as many bits. */
static int plain_bytes(bench *bench, double *bytes)
{
    vidi_stats stats = {.size = sizeof stats};
    vidi_set *set;
    LAB_TRY(make_set(&set, bench, "classic", 0));
    int code = vidi_stat(set, &stats);
    vidi_close(set);
    *bytes = (double)stats.bytes;
    return code;
}

static int measure_counters(const lab_settings *settings, uint64_t run, double *numbers)
{
    uint64_t n = lab_counting_urls(settings);
    bench bench = {.settings = settings, .run = run, .n = n, .m = places_of(n)};
    double bytes;
    LAB_TRY(plain_bytes(&bench, &bytes));
    for (size_t i = 0; i < WIDTHS; i++) {
        double *row = numbers + i * COLUMNS;
        for (size_t column = 0; column < COLUMNS; column++)
            row[column] = 0;
        LAB_TRY(with_set(fill_and_empty, &bench, widths[i], row));
        LAB_TRY(with_set(delete_others, &bench, widths[i], row));
        row[MEMORY] /= bytes;
    }
    return VIDI_OK;
}

/* ---- judging ---- */

static double at_least(double mean, double count)
{
    return lab_poisson_above(mean, count);
}

static double exactly(double mean, double count)
{
    return exp(count * log(mean) - mean - lgamma(count + 1));
}

/*
 * The number of m counters that reach `limit` after kn increments. Because the total of kn is fixed, the variance is
 * smaller than that of independent counters by the part that depends on the total.
 */
static lab_theory theory_of_full(double n, double m, double limit)
{
    double load = K * n / m, q = at_least(load, limit), edge = exactly(load, limit - 1);
    return (lab_theory){m * q, m * (q * (1 - q) - load * edge * edge), m};
}

static lab_theory theory_of_still_seen(double n, double m, double limit)
{
    double asked = ceil(n / SAMPLE), p = pow(at_least(K * n / m, limit - 1), K);
    return (lab_theory){asked * p, asked * p * (1 - p), asked};
}

/* Two of the URLs share one of their counters with probability k^2/m, which makes them dependent. */
static lab_theory theory_of_too_large(double n, double m)
{
    double asked = ceil(n / SAMPLE), load = K * n / m, f = 1 - exp(-load), p = pow(f, K);
    double fill = exp(-load) * (1 - (1 + load) * exp(-load)) / m, slope = K * pow(f, K - 1);
    double together = K * K / m * (pow(f, 2 * K - 2) - pow(f, 2 * K));
    return (lab_theory){asked * p, asked * p * (1 - p) + asked * asked * (slope * slope * fill + together), asked};
}

/* A sum with one term for each deleted URL; their number is nearly Poisson, each term binomial in k and `ones`. */
static lab_theory theory_of_forgotten(double n, double m)
{
    double load = K * n / m, f = 1 - exp(-load), ones = load * exp(-load) / f;
    double deleted = floor(n / FOREIGN) * pow(f, K);
    return (lab_theory){deleted * K * ones, deleted * (K * ones * (1 - ones) + K * K * ones * ones), n};
}

/*
 * If events come in clusters, the count is not Poisson but nearly a multiple of a Poisson variable: the factor is its
 * variance divided by its mean. After division by that factor it is judged like any count.
 */
static void judge_clustered(lab_entry *entry, const double *numbers, lab_theory theory)
{
    double sum = 0, by = theory.mean > 0 ? theory.variance / theory.mean : 1;
    for (uint64_t i = 0; i < entry->runs; i++)
        sum += numbers[i];
    lab_entry_sum(entry, sum / by, (lab_theory){theory.mean / by, theory.variance / by / by, theory.asked / by}, 100);
}

static void judge_memory(lab_entry *entry, double width, double m)
{
    entry->theory = 64 / floor(64 / width); /* no counter spans two words */
    if (fabs(entry->measured - entry->theory) <= entry->theory * 1024 / m)
        return;
    entry->verdict = LAB_FAILS;
    snprintf(entry->remark, sizeof entry->remark, "it takes %.3f times the memory of bits", entry->measured);
}

static void judge_counters(const lab_cell *cell, lab_entry *entry)
{
    double n = (double)lab_counting_urls(cell->settings), m = (double)places_of((uint64_t)n),
           limit = exp2(widths[cell->row]) - 1;
    lab_theory theory;
    if (cell->column == MEMORY) {
        judge_memory(entry, widths[cell->row], m);
        return;
    }
    if (cell->column == FORGOTTEN) {
        judge_clustered(entry, cell->numbers, theory_of_forgotten(n, m));
        return;
    }
    if (cell->column == FULL)
        theory = theory_of_full(n, m, limit);
    else if (cell->column == STILL_SEEN)
        theory = theory_of_still_seen(n, m, limit);
    else
        theory = theory_of_too_large(n, m);
    lab_entry_count(entry, cell->numbers, theory, 100);
}

LAB_STUDY(counting_counters, "counting-counters", "Counters of several widths: insert, delete and lookup",
          "the counting notes",
          "A tenth of the URLs is inserted, k = 3, kn/m = ln 2. Full and still seen: after all were deleted. "
          "Forgotten: after deleting a fiftieth as many URLs that were never inserted.",
          "%, memory: times that of bits", counter_widths, counter_columns, .measure = measure_counters,
          .judge = judge_counters);
