/*
 * eigen-growth: "if the amount of data collected is large, the advantage [...] will be more obvious" (the eigenvalue
 * paper, section 3). A quarter, a half and all of n URLs are inserted, ten pages of each site: into filters of one
 * size, which fill up, or into filters in proportion to the URLs. Further pages of the same sites and pages of other
 * sites are looked up.
 *
 * Features do nothing for pages of known sites. For those of other sites they help until their letters are known too:
 * three letters make 17,576 features, and the more sites there are, the more of them are known.
 */
#include "lab/eigen/eigen.h"

#include <stdlib.h>
#include <string.h>

enum { CLASSIC_SAME, LABELS_SAME, CLASSIC_OTHER, LABELS_OTHER, TAIL_OTHER, COLUMNS };
enum { CLASSIC, LABELS, TAIL, FILTERS, DEPTH = 10, BATCH = 256, PART = 20, URLS_LEAST = 1000 };
enum { ROOM_PART = 16 }; /* fewer URLs than this would leave the smallest filter without room */

static const lab_eigen_filter filters[FILTERS] = {
    {"classic", NULL, LAB_EIGEN_K, 0, false},
    {"labels", "labels", LAB_EIGEN_K, LAB_EIGEN_D, true},
    {"tail", "tail", LAB_EIGEN_K, LAB_EIGEN_D, true},
};
static const size_t filter_of[COLUMNS] = {CLASSIC, LABELS, CLASSIC, LABELS, TAIL};

static const char *const growth_columns[] = {"classic, same sites", "labels, same sites", "classic, other sites",
                                             "labels, other sites", "tail, other sites",  NULL};

/* Quarters of n that are inserted, and that the filters are made for. */
typedef struct amount {
    unsigned inserted, room;
} amount;

static const amount amounts[] = {{1, 4}, {2, 4}, {4, 4}, {1, 1}, {2, 2}};
static const char *const growth_rows[] = {"n/4 in one filter", "n/2 in one filter", "n in one filter",
                                          "n/4 in proportion", "n/2 in proportion", NULL};

static uint64_t urls(const lab_settings *settings)
{
    uint64_t part = lab_urls_part(settings, PART, URLS_LEAST);
    return part < ROOM_PART ? ROOM_PART : part / 4 * 4;
}

static uint64_t asked(const lab_settings *settings)
{
    return 2 * urls(settings);
}

/* A filter of 32 bits per URL for a quarter has 8 bits per URL if all are inserted, and enough to count is lost. */
static uint64_t room(const lab_settings *settings, const amount *amount)
{
    return urls(settings) * amount->room / ROOM_PART;
}

/* ---- URLs ---- */

/* The site of lookup i: one of those that were inserted, or another. */
static uint64_t site_of(uint64_t n, uint64_t i, bool other)
{
    uint64_t sites = (n + DEPTH - 1) / DEPTH;
    return other ? sites + i / DEPTH : i % sites;
}

typedef struct bench {
    const lab_settings *settings;
    uint64_t run, n;
    vidi_set *sets[FILTERS];
    char bytes[BATCH][LAB_URL_ROOM];
    vidi_str batch[BATCH];
    uint8_t verdicts[BATCH];
} bench;

static void make_url(bench *bench, size_t at, uint64_t site, uint64_t number)
{
    bench->batch[at] =
        (vidi_str){bench->bytes[at], lab_deep_url(bench->bytes[at], bench->settings, bench->run, site, number)};
}

static int insert(bench *bench)
{
    for (uint64_t first = 0; first < bench->n; first += BATCH) {
        size_t count = (size_t)(bench->n - first < BATCH ? bench->n - first : BATCH);
        for (size_t i = 0; i < count; i++)
            make_url(bench, i, (first + i) / DEPTH, first + i);
        for (size_t f = 0; f < FILTERS; f++)
            LAB_TRY(vidi_add_batch(bench->sets[f], bench->batch, count, bench->verdicts, NULL));
    }
    return VIDI_OK;
}

static int ask_batch(bench *bench, size_t count, size_t first_column, size_t last_column, double *numbers)
{
    for (size_t c = first_column; c <= last_column; c++) {
        LAB_TRY(vidi_has_batch(bench->sets[filter_of[c]], bench->batch, count, bench->verdicts));
        for (size_t i = 0; i < count; i++)
            numbers[c] += bench->verdicts[i] == VIDI_SEEN;
    }
    return VIDI_OK;
}

static int ask(bench *bench, bool other, double *numbers)
{
    uint64_t all = asked(bench->settings), number = urls(bench->settings) + (other ? all : 0);
    for (uint64_t first = 0; first < all; first += BATCH) {
        size_t count = (size_t)(all - first < BATCH ? all - first : BATCH);
        for (size_t i = 0; i < count; i++)
            make_url(bench, i, site_of(bench->n, first + i, other), number + first + i);
        LAB_TRY(
            ask_batch(bench, count, other ? CLASSIC_OTHER : CLASSIC_SAME, other ? TAIL_OTHER : LABELS_SAME, numbers));
    }
    return VIDI_OK;
}

static int measure_amount(bench *bench, const amount *amount, double *numbers)
{
    bench->n = urls(bench->settings) / 4 * amount->inserted;
    for (size_t f = 0; f < FILTERS; f++)
        LAB_TRY(lab_eigen_make(&bench->sets[f], &filters[f], "sip13", bench->settings, bench->run,
                               room(bench->settings, amount)));
    LAB_TRY(insert(bench));
    LAB_TRY(ask(bench, false, numbers));
    return ask(bench, true, numbers);
}

static int measure_growth(const lab_settings *settings, uint64_t run, double *numbers)
{
    bench *bench;
    LAB_TRY(LAB_NEW(bench, 1));
    bench->settings = settings;
    bench->run = run;
    for (size_t row = 0; growth_rows[row]; row++) {
        LAB_BLOCK;
        memset(numbers + row * COLUMNS, 0, COLUMNS * sizeof *numbers);
        LAB_TRY(measure_amount(bench, &amounts[row], numbers + row * COLUMNS));
    }
    return VIDI_OK;
}

/* ---- theory ---- */

/* The number of different features that were inserted, and of lookups of other sites whose feature is one of them. */
static void count_features(const lab_settings *settings, uint64_t run, uint64_t n, double *features, double *known)
{
    bool in[LAB_SITE_FEATURES] = {false};
    *features = *known = 0;
    for (uint64_t site = 0; site < (n + DEPTH - 1) / DEPTH; site++) {
        size_t feature = lab_site_feature(settings, run, site);
        *features += !in[feature];
        in[feature] = true;
    }
    for (uint64_t i = 0; i < asked(settings); i++)
        *known += in[lab_site_feature(settings, run, site_of(n, i, true))];
}

static lab_theory theory_of(const lab_settings *settings, const amount *amount, uint64_t run, size_t column)
{
    const lab_eigen_filter *filter = &filters[filter_of[column]];
    uint64_t n = urls(settings) / 4 * amount->inserted, size = room(settings, amount);
    lab_eigen_load load = {.n = (double)n, .features = (double)n, .unknown = (double)asked(settings)};
    if (filter_of[column] == LABELS) {
        count_features(settings, run, n, &load.features, &load.known);
        load.known = column == LABELS_SAME ? load.unknown : load.known;
        load.unknown -= load.known;
    }
    return lab_eigen_theory_in(filter, (double)lab_eigen_first(filter, size), (double)lab_eigen_second(filter, size),
                               load);
}

static void judge_growth(const lab_cell *cell, lab_entry *entry)
{
    lab_theory all = {.asked = (double)asked(cell->settings)};
    for (uint64_t run = 0; run < entry->runs; run++) {
        lab_theory one = theory_of(cell->settings, &amounts[cell->row], run, cell->column);
        all.mean += one.mean / (double)entry->runs;
        all.variance += one.variance / (double)entry->runs;
    }
    lab_entry_count(entry, cell->numbers, all, 100);
}

LAB_STUDY(eigen_growth, "eigen-growth", "False positives as the number of URLs grows",
          "the eigenvalue paper, section 3",
          "n is a twentieth of the URLs, ten pages a site; twice as many are looked up. In one filter: it is made for "
          "n URLs, with m/n = 8, k = 3, d = 1, and a third more bits for labels and tail. In proportion: the filter "
          "is smaller by as much. SipHash-1-3.",
          "%", growth_rows, growth_columns, .runs_most = 40, .measure = measure_growth, .judge = judge_growth);
