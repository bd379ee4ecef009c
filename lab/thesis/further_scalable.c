/*
 * The temporal strategy with a scalable filter (the thesis, section 7.2.1): whether new salts gain as much if the
 * number of URLs is unknown.
 *
 * Two crawls insert n URLs and look up n others. A classic filter is made for n, for half of n or for a tenth; a
 * scalable one for half or for a tenth, and grows. K and M give an error rate of 5.6 % for the right number, which is
 * also the rate that the scalable filter has to keep.
 *
 * Theory of the scalable filter: stage_theory.h. The fill of a stage varies like that of a filter with as many URLs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/engine/run_memory.h"
#include "lab/judge/stage_theory.h"
#include "lab/thesis/further.h"

enum { K = 4, CRAWLS = 2, PART = 4 };
#define M 1.5

typedef struct setup {
    bool scalable;
    unsigned divisor; /* made for n / divisor URLs */
} setup;

static const setup setups[] = {{false, 1}, {false, 2}, {false, 10}, {true, 2}, {true, 10}};
static const char *const scalable_rows[] = {"classic, for n URLs",          "classic, for half of n",
                                            "classic, for a tenth of n",    "scalable, first stage half of n",
                                            "scalable, first stage n / 10", NULL};
static const char *const scalable_columns[] = {"first crawl", "both crawls", NULL};
static const char *const scalable_memory_columns[] = {"bits per URL", NULL};
enum { SETUPS = sizeof setups / sizeof *setups };

static uint64_t capacity_of(const setup *setup, uint64_t n)
{
    return n / setup->divisor > 0 ? n / setup->divisor : 1;
}

/* The error rate that K and M give for the right number of URLs. */
static double rate_asked_for(uint64_t n)
{
    return lab_filter_theory(n, lab_bits((double)n, K, M), K, 1).mean / (double)n;
}

static int make(vidi_set **set, const setup *setup, const lab_settings *settings, uint64_t run, uint64_t n)
{
    char params[80];
    if (setup->scalable)
        snprintf(params, sizeof params, "error=%.17g", rate_asked_for(n));
    else
        snprintf(params, sizeof params, "k=%d,M=%.17g", K, M);
    return lab_set_make(set, settings, run, setup->scalable ? "scalable" : "classic", params, capacity_of(setup, n));
}

static int next_crawl(vidi_set *set, uint64_t capacity)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    next.capacity = capacity;
    return vidi_rotate(set, &next);
}

/* numbers[0]: URLs falsely seen in the first crawl; numbers[1]: in both. hits: n zero bytes. */
static int crawl_twice(vidi_set *set, uint64_t capacity, const lab_texts *texts, unsigned char *hits, double *numbers)
{
    uint64_t n = texts->count / 2;
    for (unsigned crawl = 0; crawl < CRAWLS; crawl++) {
        if (crawl > 0)
            LAB_TRY(next_crawl(set, capacity));
        int64_t seen;
        LAB_TRY(lab_texts_add(set, texts->urls, n, NULL));
        LAB_TRY(seen = lab_texts_ask(set, texts->urls + n, n, hits));
        if (crawl == 0)
            numbers[0] = (double)seen;
    }
    numbers[1] = 0;
    for (uint64_t i = 0; i < n; i++)
        numbers[1] += hits[i] == CRAWLS;
    return VIDI_OK;
}

static int measure_setup(const setup *setup, const lab_settings *settings, uint64_t run, const lab_texts *texts,
                         double *numbers)
{
    uint64_t n = texts->count / 2;
    unsigned char *hits;
    LAB_BLOCK;
    LAB_OWN(lab_close) vidi_set *set = NULL;
    LAB_TRY(make(&set, setup, settings, run, n));
    LAB_TRY(LAB_NEW(hits, n));
    return crawl_twice(set, capacity_of(setup, n), texts, hits, numbers);
}

static int measure_scalable(const lab_settings *settings, uint64_t run, double *numbers)
{
    lab_texts texts;
    uint64_t n = lab_further_urls(settings, PART);
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, 2 * n));
    for (size_t i = 0; i < SETUPS; i++)
        LAB_TRY(measure_setup(&setups[i], settings, run, &texts, numbers + 2 * i));
    return VIDI_OK;
}

static int measure_memory(const setup *setup, const lab_settings *settings, uint64_t run, const lab_texts *texts,
                          double *bits)
{
    vidi_stats stats = {.size = sizeof stats};
    LAB_OWN(lab_close) vidi_set *set = NULL;
    LAB_TRY(make(&set, setup, settings, run, texts->count));
    LAB_TRY(lab_texts_add(set, texts->urls, texts->count, NULL));
    LAB_TRY(vidi_stat(set, &stats));
    *bits = 8 * (double)stats.bytes / (double)texts->count;
    return VIDI_OK;
}

static int measure_scalable_memory(const lab_settings *settings, uint64_t run, double *numbers)
{
    lab_texts texts;
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, lab_further_urls(settings, PART)));
    for (size_t i = 0; i < SETUPS; i++)
        LAB_TRY(measure_memory(&setups[i], settings, run, &texts, &numbers[i]));
    return VIDI_OK;
}

/* ---- theory ---- */

static void judge_scalable(const lab_cell *cell, lab_entry *entry)
{
    uint64_t n = lab_further_urls(cell->settings, PART), capacity = capacity_of(&setups[cell->row], n);
    double asked = (double)n;
    lab_chance one = setups[cell->row].scalable ? lab_series_chance((lab_series){capacity, rate_asked_for(n)}, n)
                                                : lab_chance_of(n, lab_bits((double)capacity, K, M), K);
    lab_chance all = one;
    if (cell->column == 1)
        all = (lab_chance){one.mean * one.mean, 2 * one.mean * one.mean * one.variance + one.variance * one.variance};
    double variance = asked * all.mean * (1 - all.mean) + asked * (asked - 1) * all.variance;
    lab_entry_count(entry, cell->numbers, (lab_theory){asked * all.mean, variance, asked}, 100);
}

LAB_STUDY(further_scalable, "further-scalable", "Temporal strategy with a filter that grows, non-incremental",
          "the thesis, section 7.2.1",
          "n is a quarter of the URLs. classic: k = 4, M = 1.5, which is 5.6 % for n URLs; scalable: made to keep "
          "5.6 %.",
          "%", scalable_rows, scalable_columns, .measure = measure_scalable, .judge = judge_scalable);

LAB_STUDY(further_scalable_memory, "further-scalable-memory", "Temporal strategy with a filter that grows: memory",
          "the thesis, section 7.2.1",
          "The sets of further-scalable after n URLs, including room that the last stage still has.", "bits per URL",
          scalable_rows, scalable_memory_columns, .runs_most = 1, .measure = measure_scalable_memory);
