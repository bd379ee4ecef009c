/*
 * Times of the multi-layer paper: figures 4 and 5 (multilayer-query, multilayer-insert: nanoseconds per URL for all
 * kinds), and the original's seconds for multilayer and classic (multilayer-slower). URLs are made in advance. Sets get
 * one URL at a time, as from a crawler.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/multilayer/multilayer.h"
#include "lab/urls/run_urls.h"

/* ---- URLs ---- */

int lab_multilayer_pool_make(lab_multilayer_pool *pool, const lab_settings *settings, uint64_t run,
                             lab_multilayer_choice choice)
{
    char buffer[LAB_URL_ROOM];
    size_t length = 0;
    LAB_TRY(LAB_NEW(pool->bytes, choice.count * LAB_LAYERS_ROOM));
    LAB_TRY(LAB_NEW(pool->urls, choice.count));
    for (uint64_t i = 0; i < choice.count; i++) {
        uint64_t index = choice.first + i * choice.step;
        vidi_str url = lab_multilayer_url(buffer, settings, run, index);
        vidi_str longer = lab_multilayer_append(pool->bytes + length, url, index);
        pool->urls[i] = (vidi_str){longer.ptr, choice.appended ? longer.len : url.len};
        length += pool->urls[i].len;
    }
    pool->count = choice.count;
    return VIDI_OK;
}

/* ---- figures 4 and 5 ---- */

enum { LIST, SORTED, HASHSET, CLASSIC, SEGMENTS, LAYERED, ROWS };
enum { COLUMNS = 4, LIST_URLS = 2000, LIST_ASKED = 100, ASKED = 10000 };

static const char *const times_rows[] = {"linear search",       "binary search", "hash table", "classic",
                                         "classic of segments", "multilayer",    NULL};

static uint64_t urls_at(const lab_settings *settings, size_t column)
{
    return lab_multilayer_urls(settings, LAB_LAYERS_PART) * (column + 1) / COLUMNS;
}

static int make_set(vidi_set **set, const lab_settings *settings, uint64_t run, size_t row)
{
    static const char *const kinds[ROWS] = {"list", "sorted", "hashset", "classic", "classic", "multilayer"};
    static const char *const more[ROWS] = {
        [CLASSIC] = "", [SEGMENTS] = ",of=segments,scheme=strip", [LAYERED] = LAB_LAYERS_PARAMS};
    if (!more[row])
        return lab_set(set, settings, run, kinds[row], 0, "multiset=off");
    return lab_set(set, settings, run, kinds[row], 0, "m=%.0f,k=%d%s",
                   lab_multilayer_bits((double)lab_multilayer_urls(settings, LAB_LAYERS_PART), LAB_LAYERS_MOST),
                   LAB_LAYERS_K, more[row]);
}

/*
 * Times one kind at each number of URLs: the mean of all adds so far, or a lookup. The times of a list are proportional
 * to its length, and are extrapolated from a short one.
 */
static int time_kind(vidi_set *set, size_t row, const lab_multilayer_pool *in, const lab_multilayer_pool *others,
                     bool lookups, const lab_settings *settings, double *numbers)
{
    double adds = 0;
    uint64_t before = 0;
    for (size_t column = 0; column < COLUMNS; column++) {
        uint64_t n = urls_at(settings, column), most = row == LIST && n > LIST_URLS ? LIST_URLS : n;
        uint64_t asked = row == LIST && others->count > LIST_ASKED ? LIST_ASKED : others->count;
        double time = 0;
        LAB_TRY(lab_texts_time_adds(set, in->urls + before, most - before, &adds));
        if (lookups)
            LAB_TRY(lab_texts_time_lookups(set, others->urls, asked, &time));
        numbers[column] = (lookups ? time / (double)asked : adds / (double)most) * (double)n / (double)most;
        before = most;
    }
    return VIDI_OK;
}

static int measure_kinds(const lab_settings *settings, uint64_t run, double *numbers)
{
    bool lookups = settings->study == &lab_study_multilayer_query;
    uint64_t n = lab_multilayer_urls(settings, LAB_LAYERS_PART);
    lab_multilayer_choice some = {n, 1, n < ASKED ? n : ASKED, false};
    lab_multilayer_pool in, others;
    LAB_TRY(lab_multilayer_pool_make(&in, settings, run, (lab_multilayer_choice){0, 1, n, false}));
    LAB_TRY(lab_multilayer_pool_make(&others, settings, run, some));
    for (size_t row = 0; row < ROWS; row++) {
        vidi_set *set;
        LAB_BLOCK;
        LAB_TRY(make_set(&set, settings, run, row));
        LAB_TRY(time_kind(set, row, &in, &others, lookups, settings, numbers + row * COLUMNS));
    }
    return VIDI_OK;
}

/* ---- the original's seconds ---- */

enum { CLASSIC_INSERT, LAYERED_INSERT, CLASSIC_QUERY, LAYERED_QUERY, INSERT_RATIO, QUERY_RATIO, SLOWER_COLUMNS };

const char *const lab_multilayer_slower_columns[] = {"classic inserts",
                                                     "multilayer inserts",
                                                     "classic lookups",
                                                     "multilayer lookups",
                                                     "insert ratio",
                                                     "lookup ratio",
                                                     NULL};

static uint64_t slower_urls(const lab_settings *settings, size_t size)
{
    return (uint64_t)((double)lab_multilayer_urls(settings, LAB_LAYERS_PART) * lab_multilayer_size(size) /
                      LAB_LAYERS_LEAST);
}

static int make_both(vidi_set *sets[2], const lab_settings *settings, uint64_t run)
{
    double m = lab_multilayer_bits((double)lab_multilayer_urls(settings, LAB_LAYERS_PART), LAB_LAYERS_LEAST);
    LAB_TRY(lab_set(&sets[0], settings, run, "classic", 0, "m=%.0f,k=%d", m, LAB_LAYERS_K));
    return lab_set(&sets[1], settings, run, "multilayer", 0, "m=%.0f,k=%d" LAB_LAYERS_PARAMS, m, LAB_LAYERS_K);
}

/* The two take turns, so that a disturbance affects both. Gives seconds for the original's number of URLs. */
static int time_both(vidi_set *sets[2], const lab_settings *settings, uint64_t run, const lab_multilayer_pool *in,
                     double *numbers)
{
    double adds[2] = {0, 0};
    uint64_t before = 0;
    for (size_t size = 0; size < LAB_LAYERS_SIZES; size++, numbers += SLOWER_COLUMNS) {
        uint64_t n = slower_urls(settings, size), step = n / ASKED + 1;
        lab_multilayer_pool asked;
        LAB_BLOCK;
        LAB_TRY(lab_multilayer_pool_make(&asked, settings, run, (lab_multilayer_choice){0, step, n / step, true}));
        for (size_t i = 0; i < 2; i++) {
            double lookups = 0;
            LAB_TRY(lab_texts_time_adds(sets[i], in->urls + before, n - before, &adds[i]));
            LAB_TRY(lab_texts_time_lookups(sets[i], asked.urls, asked.count, &lookups));
            numbers[CLASSIC_INSERT + i] = adds[i] / (double)n * lab_multilayer_size(size) * 1e-9;
            numbers[CLASSIC_QUERY + i] = lookups / (double)asked.count * lab_multilayer_size(size) * 1e-9;
        }
        numbers[INSERT_RATIO] = numbers[LAYERED_INSERT] / numbers[CLASSIC_INSERT];
        numbers[QUERY_RATIO] = numbers[LAYERED_QUERY] / numbers[CLASSIC_QUERY];
        before = n;
    }
    return VIDI_OK;
}

static int measure_slower(const lab_settings *settings, uint64_t run, double *numbers)
{
    vidi_set *sets[2];
    lab_multilayer_pool in;
    LAB_TRY(lab_multilayer_pool_make(
        &in, settings, run, (lab_multilayer_choice){0, 1, slower_urls(settings, LAB_LAYERS_SIZES - 1), false}));
    LAB_TRY(make_both(sets, settings, run));
    return time_both(sets, settings, run, &in, numbers);
}

/* Machines differ, so the published seconds are only shown; a remark compares their ratios. */
void lab_multilayer_slower_judge(const lab_cell *cell, lab_entry *entry)
{
    size_t first = cell->column == QUERY_RATIO ? CLASSIC_QUERY : CLASSIC_INSERT;
    if (cell->column < INSERT_RATIO) {
        entry->printed = lab_published_find(lab_published_all, cell->study->id, entry->row, entry->column);
        entry->published = entry->printed ? lab_figure_read(entry->printed).percent : (double)NAN;
        return;
    }
    lab_figure classic = lab_figure_read(lab_published_find(lab_published_all, cell->study->id,
                                                            cell->study->rows[cell->row], cell->study->columns[first]));
    lab_figure layered = lab_figure_read(lab_published_find(
        lab_published_all, cell->study->id, cell->study->rows[cell->row], cell->study->columns[first + 1]));
    if (classic.given && layered.given)
        snprintf(entry->remark, sizeof entry->remark, "the ratio of the published seconds is %.2f",
                 layered.percent / classic.percent);
}

LAB_STUDY(multilayer_query, "multilayer-query", "Time of a lookup against the number of URLs",
          "the multi-layer paper, figure 4",
          LAB_LAYERS_SCALED
          "The paper prints the plot without its numbers. The URLs looked up were not inserted. Linear search "
          "is extrapolated from 2,000 URLs.",
          "ns per URL", times_rows, lab_multilayer_figure_columns, .timed = true, .runs_most = 9,
          .plot = {.x = "URLs (thousands)", .y = "ns per URL", .log_y = true}, .measure = measure_kinds);

LAB_STUDY(multilayer_insert, "multilayer-insert", "Time of an insertion against the number of URLs",
          "the multi-layer paper, figure 5",
          LAB_LAYERS_SCALED
          "The paper prints the plot without its numbers. The mean over all URLs so far; every kind looks a URL "
          "up before it adds it. Linear search is extrapolated from 2,000 URLs.",
          "ns per URL", times_rows, lab_multilayer_figure_columns, .timed = true, .runs_most = 9,
          .plot = {.x = "URLs (thousands)", .y = "ns per URL", .log_y = true}, .measure = measure_kinds);

LAB_STUDY(multilayer_slower, "multilayer-slower", "Seconds of the original, multilayer and classic",
          "the multi-layer paper, figures 4 and 5, and the original that it studies",
          "'1.0 M' is a twentieth of --urls, and m scales with it; our seconds are extrapolated to the original's "
          "number of URLs. Its machine and language were different, so only ratios can be compared.",
          "s", lab_multilayer_sizes, lab_multilayer_slower_columns, .timed = true, .runs_most = 9,
          .measure = measure_slower, .judge = lab_multilayer_slower_judge);
