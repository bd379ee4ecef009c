/*
 * The original's table (Cen, Xu, Sun 2010, which the multi-layer paper studies): false positives of 1.0 to 3.5 million
 * URLs in filters of a fixed size. Each URL is looked up with a number appended.
 *
 * multilayer-original   with the lab's URLs. The false positives of multilayer depend on the number of different
 * segments in
 *                   each layer, which we count and theory uses.
 * multilayer-quarter    with URLs of which four each share their last segment, so that the layer that matters has n/4
 *                   different segments and nothing has to be counted. The quarter was chosen to fit the published
 *                   counts: one number for six of them. The paper's formula has no such number and is wrong by factors
 *                   of 3 to 190.
 *
 * Counts are converted to the original's number of URLs, for comparison with the published counts as printed.
 */
#include <math.h>
#include <stdio.h>

#include "lab/multilayer/multilayer.h"

/* The number of URLs that stands for "1.0 M". */
static double unit_urls(const lab_settings *settings)
{
    return (double)lab_multilayer_urls(settings, LAB_LAYERS_PART);
}

static double bits(const lab_settings *settings)
{
    return lab_multilayer_bits(unit_urls(settings), LAB_LAYERS_LEAST);
}

static uint64_t urls_at(const lab_settings *settings, size_t size)
{
    return (uint64_t)(unit_urls(settings) * lab_multilayer_size(size) / LAB_LAYERS_LEAST);
}

typedef struct bench {
    const lab_settings *settings;
    uint64_t run;
    vidi_set *classic, *multilayer, *exact;
    lab_multilayer_tally tally;
} bench;

static int make_multilayer(bench *bench)
{
    return lab_set(&bench->multilayer, bench->settings, bench->run, "multilayer", 0, "m=%.0f,k=%d" LAB_LAYERS_PARAMS,
                   bits(bench->settings), LAB_LAYERS_K);
}

static int make(bench *bench)
{
    LAB_TRY(lab_set(&bench->classic, bench->settings, bench->run, "classic", 0, "m=%.0f,k=%d", bits(bench->settings),
                    LAB_LAYERS_K));
    LAB_TRY(lab_set(&bench->exact, bench->settings, bench->run, "hashset", 0, "hash=sip13"));
    return make_multilayer(bench);
}

static int insert(bench *bench, uint64_t first, uint64_t last)
{
    char buffer[LAB_URL_ROOM];
    for (uint64_t i = first; i < last; i++) {
        vidi_str url = lab_multilayer_url(buffer, bench->settings, bench->run, i);
        LAB_TRY(vidi_add(bench->classic, url));
        LAB_TRY(vidi_add(bench->multilayer, url));
        LAB_TRY(vidi_add(bench->exact, url));
        LAB_TRY(lab_multilayer_tally_add(&bench->tally, url));
    }
    return VIDI_OK;
}

/* A URL with its number may happen to equal another URL of the run, which is rightly seen. */
static int ask(bench *bench, uint64_t count, double *classic, double *multilayer)
{
    char buffer[LAB_URL_ROOM], longer[LAB_LAYERS_ROOM];
    *classic = *multilayer = 0;
    for (uint64_t i = 0; i < count; i++) {
        vidi_str url = lab_multilayer_append(longer, lab_multilayer_url(buffer, bench->settings, bench->run, i), i);
        double by_classic = 0, by_multilayer = 0, rightly = 0;
        LAB_TRY(lab_multilayer_ask(bench->classic, url, &by_classic));
        LAB_TRY(lab_multilayer_ask(bench->multilayer, url, &by_multilayer));
        if (by_classic + by_multilayer > 0)
            LAB_TRY(lab_multilayer_ask(bench->exact, url, &rightly));
        *classic += by_classic * (1 - rightly);
        *multilayer += by_multilayer * (1 - rightly);
    }
    return VIDI_OK;
}

/* ---- the lab's URLs ---- */

enum { CLASSIC, LAYERED, EXPECTED, COLUMNS };
static const char *const original_columns[] = {"classic", "multilayer", "multilayer expected", NULL};

static int fill_table(bench *bench, double *numbers)
{
    uint64_t inserted = 0;
    for (size_t size = 0; size < LAB_LAYERS_SIZES; size++, numbers += COLUMNS) {
        uint64_t count = urls_at(bench->settings, size);
        LAB_TRY(insert(bench, inserted, count));
        LAB_TRY(ask(bench, count, &numbers[CLASSIC], &numbers[LAYERED]));
        numbers[EXPECTED] = lab_multilayer_expect_appended(&bench->tally, bits(bench->settings), LAB_LAYERS_K);
        inserted = count;
    }
    return VIDI_OK;
}

static int measure_original(const lab_settings *settings, uint64_t run, double *numbers)
{
    bench bench = {.settings = settings, .run = run};
    LAB_TRY(make(&bench));
    return fill_table(&bench, numbers);
}

/* Compares the published count with theory for the original's own sizes. */
static void judge_published(const lab_study *study, size_t size, lab_theory theory, const char *held, lab_entry *entry)
{
    entry->printed = lab_published_find(lab_published_all, study->id, entry->row, entry->column);
    lab_figure figure = lab_figure_read(entry->printed);
    if (!figure.given)
        return;
    lab_fit fit = lab_fit_of(figure.percent, 1, theory);
    entry->published = figure.percent;
    if (entry->verdict == LAB_FAILS)
        return;
    entry->basis = LAB_BY_CHANCE;
    entry->verdict = fit.fits ? LAB_AGREES : LAB_DIFFERS;
    double ratio = figure.percent / theory.mean;
    if (!fit.fits)
        snprintf(entry->remark, sizeof entry->remark,
                 "the published %s of %.1f million URLs are %.*f times as many as %s", entry->printed,
                 lab_multilayer_size(size) / 1e6, lab_multilayer_decimals(ratio), ratio, held);
}

static void judge_original(const lab_cell *cell, lab_entry *entry)
{
    double n = (double)urls_at(cell->settings, cell->row), m = bits(cell->settings),
           size = lab_multilayer_size(cell->row);
    lab_theory theory = lab_multilayer_classic(n, n, m, LAB_LAYERS_K),
               published = lab_multilayer_classic(size, size, LAB_LAYERS_M, LAB_LAYERS_K);
    if (cell->column == CLASSIC) {
        lab_entry_count(entry, cell->numbers, theory, size);
        judge_published(cell->study, cell->row, published, "theory predicts", entry);
        return;
    }
    if (cell->column == LAYERED) {
        lab_multilayer_judge_expected(cell->all, cell->row * COLUMNS + EXPECTED, cell->numbers, entry, m, LAB_LAYERS_K,
                                      n, size);
        judge_published(cell->study, cell->row, (lab_theory){entry->theory, entry->theory, size}, "our URLs give",
                        entry);
        return;
    }
    lab_entry_scale(entry, size / n);
}

/* ---- a quarter as many last segments as URLs ---- */

enum { MADE, FORMULA, QUARTER_COLUMNS };
static const char *const quarter_columns[] = {"multilayer", "the paper's formula", NULL};

static vidi_str quarter_url(char *buffer, uint64_t index)
{
    int length = snprintf(buffer, LAB_URL_ROOM, "host%llu/a/b/page%llu.html", (unsigned long long)index,
                          (unsigned long long)(index / 4));
    return (vidi_str){buffer, (size_t)length};
}

/* No URL with a number appended equals another URL. */
static int fill_quarter(vidi_set *set, const lab_settings *settings, double *numbers)
{
    char buffer[LAB_URL_ROOM], longer[LAB_LAYERS_ROOM];
    uint64_t inserted = 0;
    for (size_t size = 0; size < LAB_LAYERS_SIZES; size++, numbers += QUARTER_COLUMNS) {
        double urls = lab_multilayer_size(size);
        for (; inserted < urls_at(settings, size); inserted++)
            LAB_TRY(vidi_add(set, quarter_url(buffer, inserted)));
        numbers[MADE] = 0;
        for (uint64_t i = 0; i < inserted; i++)
            LAB_TRY(lab_multilayer_ask(set, lab_multilayer_append(longer, quarter_url(buffer, i), i), &numbers[MADE]));
        numbers[FORMULA] = urls * pow(1 - exp(-LAB_LAYERS_K * urls / LAB_LAYERS_M), LAB_LAYERS_K * LAB_LAYERS);
    }
    return VIDI_OK;
}

/* All runs have the same URLs and differ only in their keys. */
static int measure_quarter(const lab_settings *settings, uint64_t run, double *numbers)
{
    bench bench = {.settings = settings, .run = run};
    LAB_TRY(make_multilayer(&bench));
    return fill_quarter(bench.multilayer, settings, numbers);
}

static lab_theory quarter_theory(double n, double m)
{
    lab_multilayer_pair pair = {ceil(n / 4), n, 1, 1};
    double mean = n * lab_multilayer_both(pair, m, LAB_LAYERS_K);
    return (lab_theory){mean, mean + LAB_LAYERS_K * LAB_LAYERS_K * mean * mean / m, n};
}

static void judge_quarter(const lab_cell *cell, lab_entry *entry)
{
    double n = (double)urls_at(cell->settings, cell->row), size = lab_multilayer_size(cell->row);
    lab_theory theory = quarter_theory(n, bits(cell->settings)), published = quarter_theory(size, LAB_LAYERS_M);
    if (cell->column == MADE)
        lab_entry_count(entry, cell->numbers, theory, size);
    else
        published = (lab_theory){cell->numbers[0], cell->numbers[0], size};
    judge_published(cell->study, cell->row, published, cell->column == MADE ? "theory predicts" : "the formula gives",
                    entry);
    entry->basis = LAB_REPEATED; /* these are the figures of multilayer-original */
}

LAB_STUDY(multilayer_original, "multilayer-original",
          "False positives as filters of a fixed size fill up: the original's table",
          "the multi-layer paper, figure 3, and the original that it studies",
          "k = 3, L = 4 and the XOR layer; schemes are stripped; each URL is looked up with a number appended. "
          "'1.0 M' is a twentieth of --urls, and m = 16,829,152 per layer scales with it; counts are converted to "
          "the original's number of URLs. The original does not name its hash functions: we use sip13, and the XOR "
          "of hashes, because m is not a power of two.",
          "false positives", lab_multilayer_sizes, original_columns,
          .plot = {.x = "URLs (millions)", .y = "false positives", .columns = true, .log_y = true},
          .measure = measure_original, .judge = judge_original);

LAB_STUDY(multilayer_quarter, "multilayer-quarter",
          "The original's counts, and one unknown segment in a layer with n/4 different ones",
          "the multi-layer paper, analysis, and the original that it studies",
          "As multilayer-original, with URLs host/a/b/page of which four each share their last segment, so that the "
          "layer has a quarter as many different segments as there are URLs. The quarter was chosen to fit, one "
          "number for six published counts, as the original does not give its numbers of segments. The paper's "
          "formula (1-e^(-kn/m))^(kL) is computed, not measured.",
          "false positives", lab_multilayer_sizes, quarter_columns,
          .plot = {.x = "URLs (millions)", .y = "false positives", .columns = true, .log_y = true},
          .measure = measure_quarter, .judge = judge_quarter);
