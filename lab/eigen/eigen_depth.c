/*
 * False positives against crawl depth, the number of URLs taken from one site in a row (the eigenvalue paper, figure
 * 5). n URLs are inserted, as many from each site as the depth says, and n others are looked up: further pages of the
 * same sites, or pages of other sites.
 *
 * We compare the paper's filter with the features of its table 1 (`labels`) and with the best features possible here
 * (`tail`: the numbers of the pages, which are all different), with a third more bits, as in the paper, and without
 * them; and the classic filter with a fourth function of the URL itself.
 */
#include "lab/eigen/eigen.h"

#include <stdlib.h>
#include <string.h>

static const lab_eigen_filter filters[] = {
    {"classic", NULL, LAB_EIGEN_K, 0, false},
    {"labels", "labels", LAB_EIGEN_K, LAB_EIGEN_D, true},
    {"tail", "tail", LAB_EIGEN_K, LAB_EIGEN_D, true},
    {"4 functions", NULL, LAB_EIGEN_K + LAB_EIGEN_D, 0, true},
    {"labels, equal bits", "labels", LAB_EIGEN_K, LAB_EIGEN_D, false},
    {"tail, equal bits", "tail", LAB_EIGEN_K, LAB_EIGEN_D, false},
    {"4 functions, equal bits", NULL, LAB_EIGEN_K + LAB_EIGEN_D, 0, false},
};

enum { FILTERS = sizeof filters / sizeof *filters, BATCH = 256 };

static const char *const filter_names[] = {
    "classic", "labels", "tail", "4 functions", "labels, equal bits", "tail, equal bits", "4 functions, equal bits",
    NULL};

static const char *const depths[] = {"depth 1", "depth 10", "depth 100", "depth 1000", "depth 10000", NULL};

/* For the paper's hash function, which takes longer, and for other sites. */
static const char *const few_depths[] = {"depth 1", "depth 100", "depth 10000", NULL};

typedef struct crawl {
    uint64_t depth;
    bool other_sites; /* pages of other sites are looked up */
} crawl;

static crawl crawl_of(const lab_study *study, size_t row)
{
    return (crawl){strtoull(study->rows[row] + strlen("depth "), NULL, 10), study == &lab_study_eigen_asked};
}

/* ---- URLs ---- */

/* The site and page of URL i, among those inserted or those looked up. */
typedef struct place {
    uint64_t site, number;
} place;

static place place_of(const crawl *crawl, uint64_t n, uint64_t i, bool asks)
{
    uint64_t depth = crawl->depth < n ? crawl->depth : n, sites = (n + depth - 1) / depth, site = i / depth;
    uint64_t number = site * 2 * depth + i % depth;
    if (!asks)
        return (place){site, number};
    return (place){crawl->other_sites ? sites + site : site, number + depth};
}

/* ---- measuring ---- */

typedef struct bench {
    const lab_settings *settings;
    uint64_t run, n;
    const crawl *crawl;
    vidi_set *sets[FILTERS];
    char bytes[BATCH][LAB_URL_ROOM];
    vidi_str urls[BATCH];
    uint8_t verdicts[BATCH];
} bench;

static void make_urls(bench *bench, uint64_t first, size_t count, bool asks)
{
    for (size_t i = 0; i < count; i++) {
        place place = place_of(bench->crawl, bench->n, first + i, asks);
        bench->urls[i] = (vidi_str){
            bench->bytes[i], lab_deep_url(bench->bytes[i], bench->settings, bench->run, place.site, place.number)};
    }
}

static int add_or_ask(bench *bench, uint64_t first, size_t count, bool asks, double *numbers)
{
    make_urls(bench, first, count, asks);
    for (size_t f = 0; f < FILTERS; f++) {
        if (!asks) {
            LAB_TRY(vidi_add_batch(bench->sets[f], bench->urls, count, bench->verdicts, NULL));
            continue;
        }
        LAB_TRY(vidi_has_batch(bench->sets[f], bench->urls, count, bench->verdicts));
        for (size_t i = 0; i < count; i++)
            numbers[f] += bench->verdicts[i] == VIDI_SEEN;
    }
    return VIDI_OK;
}

static int fill_and_ask(bench *bench, const char *hash, double *numbers)
{
    for (size_t f = 0; f < FILTERS; f++)
        LAB_TRY(lab_eigen_make(&bench->sets[f], &filters[f], hash, bench->settings, bench->run, bench->n));
    for (int asks = 0; asks < 2; asks++)
        for (uint64_t i = 0; i < bench->n; i += BATCH)
            LAB_TRY(add_or_ask(bench, i, (size_t)(bench->n - i < BATCH ? bench->n - i : BATCH), asks, numbers));
    return VIDI_OK;
}

static int measure_row(bench *bench, const crawl *crawl, const char *hash, double *numbers)
{
    LAB_BLOCK;
    bench->crawl = crawl;
    memset(numbers, 0, FILTERS * sizeof *numbers);
    return fill_and_ask(bench, hash, numbers);
}

static int measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    const char *hash = settings->study == &lab_study_eigen_fig_5_oaat ? "oaat" : "sip13";
    bench *bench;
    LAB_TRY(LAB_NEW(bench, 1));
    bench->settings = settings;
    bench->run = run;
    bench->n = lab_eigen_urls(settings);
    for (size_t i = 0; i < lab_study_rows(settings->study); i++) {
        crawl crawl = crawl_of(settings->study, i);
        LAB_TRY(measure_row(bench, &crawl, hash, numbers + i * FILTERS));
    }
    return VIDI_OK;
}

/* ---- judging ---- */

/* With the letters of hosts as features: counts the different ones inserted, and the lookups of URLs that have one. */
static lab_theory theory_of_labels(const lab_eigen_filter *filter, const crawl *crawl, const lab_settings *settings,
                                   uint64_t run)
{
    bool in[LAB_SITE_FEATURES] = {false};
    uint64_t n = lab_eigen_urls(settings), step = crawl->depth < n ? crawl->depth : n, features = 0, known = 0;
    for (uint64_t i = 0; i < n; i += step) {
        size_t letters = lab_site_feature(settings, run, place_of(crawl, n, i, false).site);
        features += !in[letters];
        in[letters] = true;
    }
    for (uint64_t i = 0; i < n; i += step)
        if (in[lab_site_feature(settings, run, place_of(crawl, n, i, true).site)])
            known += n - i < step ? n - i : step;
    return lab_eigen_theory(filter, n, (double)features, (double)known);
}

static lab_theory theory_of(const lab_eigen_filter *filter, const crawl *crawl, const lab_settings *settings,
                            uint64_t run)
{
    uint64_t n = lab_eigen_urls(settings);
    if (filter->feature && strcmp(filter->feature, "labels") == 0)
        return theory_of_labels(filter, crawl, settings, run);
    return lab_eigen_theory(filter, n, (double)n, 0);
}

static void judge(const lab_cell *cell, lab_entry *entry)
{
    crawl crawl = crawl_of(cell->study, cell->row);
    lab_theory all = {0};
    for (uint64_t run = 0; run < entry->runs; run++) {
        lab_theory one = theory_of(&filters[cell->column], &crawl, cell->settings, run);
        all.mean += one.mean / (double)entry->runs;
        all.variance += one.variance / (double)entry->runs;
        all.asked = one.asked;
    }
    lab_entry_count(entry, cell->numbers, all, 100);
}

#define AGAINST_DEPTH                                                                                                  \
    .plot.x = "URLs taken from one site in a row", .plot.y = "falsely seen (%)", .plot.columns = true,                 \
    .plot.log_x = true, .plot.log_y = true
#define SIZES                                                                                                          \
    "A twentieth of the URLs is inserted, m/n = 32, k = 3, d = 1; labels, tail and 4 functions have a third more "     \
    "bits, unless their name says equal bits. "

LAB_STUDY(
    eigen_fig_5, "eigen-fig-5", "False positives against crawl depth", "the eigenvalue paper, figure 5",
    SIZES
    "Further pages of the same sites are looked up. SipHash-1-3. The paper prints the figure without its numbers.",
    "%", depths, filter_names, AGAINST_DEPTH, .measure = measure, .judge = judge);

LAB_STUDY(eigen_fig_5_oaat, "eigen-fig-5-oaat",
          "False positives against crawl depth, with the paper's example of a hash function",
          "the eigenvalue paper, figure 5",
          SIZES "One-at-a-time, salted. The paper prints the figure without its numbers.", "%", few_depths,
          filter_names, .runs_most = 30, AGAINST_DEPTH, .measure = measure, .judge = judge);

LAB_STUDY(eigen_asked, "eigen-asked", "False positives against crawl depth, looking up pages of other sites",
          "the eigenvalue paper, section 2.3",
          SIZES
          "SipHash-1-3. Three letters give 17,576 features: with many sites all of them are known and reject nothing.",
          "%", few_depths, filter_names, .measure = measure, .judge = judge);
