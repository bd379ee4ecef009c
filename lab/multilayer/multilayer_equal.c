/*
 * multilayer-equal: multilayer compared with classic, which has as many bits as one layer or as all layers. Three sorts
 * of URLs that were not inserted are looked up: URLs with a number appended, as in the original; other URLs of the same
 * sites; and URLs with known segments, which join the path of one URL to the host of another.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/multilayer/multilayer.h"

enum { APPENDED, OTHERS, KNOWN, QUESTIONS };
enum { CLASSIC_M, LAYERED, EXPECTED, CLASSIC_ALL, CLASSIC_BEST, COLUMNS };
enum { RATIOS = 2 };

static const char *const equal_rows[] = {
    "m = 16.8 n, number appended",
    "m = 16.8 n, other URLs",
    "m = 16.8 n, known segments",
    "m = 4.8 n, number appended",
    "m = 4.8 n, other URLs",
    "m = 4.8 n, known segments",
    NULL,
};
static const char *const equal_columns[] = {
    "classic, m", "multilayer, m per layer", "multilayer expected", "classic, 5 m", "classic, 5 m, best k", NULL,
};

static double bits(const lab_settings *settings, size_t ratio)
{
    return lab_multilayer_bits((double)lab_multilayer_urls(settings, LAB_LAYERS_PART),
                               ratio == 0 ? LAB_LAYERS_LEAST : LAB_LAYERS_MOST);
}

static double best_k(double bits_a_url)
{
    return fmin(floor(bits_a_url * log(2) + 0.5), 32);
}

/* Bits and k of a column. */
static void shape_of(const lab_settings *settings, size_t ratio, size_t column, double *m, double *k)
{
    double layer = bits(settings, ratio);
    *m = column == CLASSIC_ALL || column == CLASSIC_BEST ? (LAB_LAYERS + 1) * layer : layer;
    *k = column == CLASSIC_BEST ? best_k(*m / (double)lab_multilayer_urls(settings, LAB_LAYERS_PART)) : LAB_LAYERS_K;
}

typedef struct bench {
    const lab_settings *settings;
    uint64_t run, n;
    vidi_set *sets[COLUMNS]; /* NULL for EXPECTED */
    lab_multilayer_tally tally;
} bench;

static int make(bench *bench, size_t ratio)
{
    for (size_t column = 0; column < COLUMNS; column++) {
        double m, k;
        shape_of(bench->settings, ratio, column, &m, &k);
        if (column == EXPECTED)
            continue;
        bool layered = column == LAYERED;
        LAB_TRY(lab_set(&bench->sets[column], bench->settings, bench->run, layered ? "multilayer" : "classic", 0,
                        "m=%.0f,k=%.0f%s", m, k, layered ? LAB_LAYERS_PARAMS : ""));
    }
    return VIDI_OK;
}

static int insert(bench *bench)
{
    char buffer[LAB_URL_ROOM];
    for (uint64_t i = 0; i < bench->n; i++) {
        vidi_str url = lab_multilayer_url(buffer, bench->settings, bench->run, i);
        LAB_TRY(lab_multilayer_tally_add(&bench->tally, url));
        for (size_t column = 0; column < COLUMNS; column++)
            if (bench->sets[column])
                LAB_TRY(vidi_add(bench->sets[column], url));
    }
    return VIDI_OK;
}

/* The path of URL i after the host of the next URL for which the result was not inserted. */
static vidi_str crossed(const bench *bench, char longer[2 * LAB_URL_ROOM], uint64_t i)
{
    enum { TRIES = 1000 }; /* a corpus with one site has no such URL; then the result is an inserted URL */
    char own[LAB_URL_ROOM], other[LAB_URL_ROOM];
    vidi_str url = lab_multilayer_url(own, bench->settings, bench->run, i), made, parts[2], others[2];
    uint64_t tries = 0;
    lab_multilayer_cut(url, 2, parts);
    size_t host = parts[0].len;
    do {
        lab_multilayer_cut(lab_multilayer_url(other, bench->settings, bench->run, (i + ++tries) % bench->n), 2, others);
        memcpy(longer, others[0].ptr, others[0].len);
        memcpy(longer + others[0].len, url.ptr + host, url.len - host);
        made = (vidi_str){longer, others[0].len + url.len - host};
    } while (tries < TRIES && lab_multilayer_tally_has(&bench->tally, made));
    return made;
}

static vidi_str question(const bench *bench, size_t sort, char longer[2 * LAB_URL_ROOM], uint64_t i)
{
    char buffer[LAB_URL_ROOM];
    if (sort == KNOWN)
        return crossed(bench, longer, i);
    if (sort == APPENDED)
        return lab_multilayer_append(longer, lab_multilayer_url(buffer, bench->settings, bench->run, i), i);
    return lab_multilayer_url(longer, bench->settings, bench->run, bench->n + i);
}

static int ask(const bench *bench, size_t sort, double m, double *numbers)
{
    char longer[2 * LAB_URL_ROOM];
    lab_multilayer_view view = lab_multilayer_view_of(&bench->tally, m, LAB_LAYERS_K);
    memset(numbers, 0, COLUMNS * sizeof *numbers);
    for (uint64_t i = 0; i < bench->n; i++) {
        vidi_str url = question(bench, sort, longer, i);
        if (sort == KNOWN && lab_multilayer_tally_has(&bench->tally, url)) {
            for (size_t column = 0; column < COLUMNS; column++)
                numbers[column] = NAN;
            return VIDI_OK;
        }
        for (size_t column = 0; column < COLUMNS; column++)
            if (bench->sets[column])
                LAB_TRY(lab_multilayer_ask(bench->sets[column], url, &numbers[column]));
        numbers[EXPECTED] += lab_multilayer_expect(&view, url);
    }
    return VIDI_OK;
}

static int measure_equal(const lab_settings *settings, uint64_t run, double *numbers)
{
    for (size_t ratio = 0; ratio < RATIOS; ratio++) {
        bench bench = {.settings = settings, .run = run, .n = lab_multilayer_urls(settings, LAB_LAYERS_PART)};
        LAB_BLOCK;
        LAB_TRY(make(&bench, ratio));
        LAB_TRY(insert(&bench));
        for (size_t sort = 0; sort < QUESTIONS; sort++)
            LAB_TRY(ask(&bench, sort, bits(settings, ratio), numbers + (ratio * QUESTIONS + sort) * COLUMNS));
    }
    return VIDI_OK;
}

static void judge_equal(const lab_cell *cell, lab_entry *entry)
{
    double n = (double)lab_multilayer_urls(cell->settings, LAB_LAYERS_PART), m, k;
    shape_of(cell->settings, cell->row / QUESTIONS, cell->column, &m, &k);
    if (isnan(entry->measured))
        return;
    if (cell->column == LAYERED) {
        lab_multilayer_judge_expected(cell->all, cell->row * COLUMNS + EXPECTED, cell->numbers, entry, m, k, n, 100);
    } else if (cell->column == EXPECTED) {
        lab_entry_scale(entry, 100 / n);
    } else {
        lab_theory theory = lab_multilayer_classic(n, n, m, k);
        lab_entry_count(entry, cell->numbers, theory, 100);
    }
}

LAB_STUDY(multilayer_equal, "multilayer-equal",
          "Multilayer and classic with the bits of one layer, and with those of all",
          "the multi-layer paper, conclusion",
          LAB_LAYERS_SCALED
          "50,000 URLs; k = 3, L = 4: multilayer has 5 m bits in all. Best k: 5 (m/n) ln 2, at most 32. "
          "Known segments: the path of one URL after the host of another.",
          "%", equal_rows, equal_columns, .measure = measure_equal, .judge = judge_equal);
