/*
 * The revisit is sized from the last count (the thesis, section 7.2.1): the filter of the first crawl is made for a
 * wrong number of URLs, and that of each later crawl for the number that the previous crawl counted, times some
 * headroom.
 *
 * A crawl counts the URLs that were new to it. It does not count URLs that are falsely seen, so a filter that is too
 * small counts too few, and the next one is too small again, but less so.
 *
 * Theory: crawl e has a filter for c_e URLs, m = c_e K M. Of the n inserted URLs, F_e are falsely seen
 * (lab_filling_theory gives mean and variance), and c_(e+1) = h (n - F_e). The variance of c propagates to everything
 * that follows through the derivatives of F and of the rate.
 */
#include <math.h>
#include <stdio.h>

#include "lab/thesis/further.h"

enum { K = 4, CRAWLS = 4, PART = 8 };
#define M 1.5

typedef struct plan {
    double factor, headroom;
} plan;

static const plan plans[] = {{0.25, 1},    {0.5, 1},    {1, 1},    {2, 1},    {4, 1},
                             {0.25, 1.25}, {0.5, 1.25}, {1, 1.25}, {2, 1.25}, {4, 1.25}};
static const char *const revisit_rows[] = {"first for 0.25 n, headroom 1",
                                           "first for 0.5 n, headroom 1",
                                           "first for n, headroom 1",
                                           "first for 2 n, headroom 1",
                                           "first for 4 n, headroom 1",
                                           "first for 0.25 n, headroom 1.25",
                                           "first for 0.5 n, headroom 1.25",
                                           "first for n, headroom 1.25",
                                           "first for 2 n, headroom 1.25",
                                           "first for 4 n, headroom 1.25",
                                           NULL};
static const char *const revisit_columns[] = {"crawl 1", "crawl 2", "crawl 3", "crawl 4", NULL};
enum { PLANS = sizeof plans / sizeof *plans };

static uint64_t first_capacity(const plan *plan, uint64_t n)
{
    return (uint64_t)ceil(plan->factor * (double)n);
}

static int make(vidi_set **set, const plan *plan, const lab_settings *settings, uint64_t run, uint64_t n)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    char params[64];
    snprintf(params, sizeof params, "k=%d,M=%.17g", K, M);
    options.kind = "classic";
    options.params = params;
    options.capacity = first_capacity(plan, n);
    options.headroom = plan->headroom;
    return lab_set_make_with(set, settings, run, options);
}

static int crawl(vidi_set *set, const lab_texts *texts, double *numbers)
{
    uint64_t n = texts->count / 2;
    int64_t seen;
    for (unsigned i = 0; i < CRAWLS; i++) {
        if (i > 0)
            LAB_TRY(vidi_rotate(set, NULL)); /* sizes the next filter from the count */
        LAB_TRY(lab_texts_add(set, texts->urls, n, NULL));
        LAB_TRY(seen = lab_texts_ask(set, texts->urls + n, n, NULL));
        numbers[i] = (double)seen;
    }
    return VIDI_OK;
}

static int measure_revisit(const lab_settings *settings, uint64_t run, double *numbers)
{
    lab_texts texts;
    uint64_t n = lab_further_urls(settings, PART);
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, 2 * n));
    for (size_t i = 0; i < PLANS; i++) {
        LAB_OWN(lab_close) vidi_set *set = NULL;
        LAB_TRY(make(&set, &plans[i], settings, run, n));
        LAB_TRY(crawl(set, &texts, numbers + CRAWLS * i));
    }
    return VIDI_OK;
}

/* ---- theory ---- */

typedef lab_theory theory_of(uint64_t urls, double m, unsigned k, unsigned filters);

/* Theory for a capacity that varies: the variance for a fixed capacity, plus what the capacity's variance adds. */
static lab_theory with_capacity(theory_of *expect, uint64_t n, double capacity, double variance)
{
    double step = capacity / 100;
    lab_theory theory = expect(n, lab_bits(capacity, K, M), K, 1);
    double more = expect(n, lab_bits(capacity + step, K, M), K, 1).mean;
    double less = expect(n, lab_bits(capacity - step, K, M), K, 1).mean, slope = (more - less) / (2 * step);
    theory.variance += slope * slope * variance;
    return theory;
}

static void judge_revisit(const lab_cell *cell, lab_entry *entry)
{
    uint64_t n = lab_further_urls(cell->settings, PART);
    double headroom = plans[cell->row].headroom, capacity = (double)first_capacity(&plans[cell->row], n), variance = 0;
    for (size_t crawl = 0; crawl < cell->column; crawl++) {
        lab_theory missed = with_capacity(lab_filling_theory, n, capacity, variance);
        capacity = ceil(headroom * ((double)n - missed.mean));
        variance = headroom * headroom * missed.variance;
    }
    lab_theory theory = with_capacity(lab_filter_theory, n, capacity, variance);
    lab_entry_count(entry, cell->numbers, theory, 100);
}

LAB_STUDY(further_revisit, "further-revisit", "Revisits sized from the last count, non-incremental",
          "the thesis, section 7.2.1",
          "n is an eighth of the URLs, k = 4, M = 1.5. Each crawl after the first is sized for the number of URLs "
          "that were new to the previous one, times the headroom.",
          "%", revisit_rows, revisit_columns, .plot = {.x = "crawl", .y = "false positives (%)", .log_y = true},
          .measure = measure_revisit, .judge = judge_revisit);
