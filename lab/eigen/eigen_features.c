/*
 * The number of different features of URLs: those of the eigenvalue paper's table 1 (`labels`), the text after the last
 * slash (`tail`), and the last two characters of every part (`ends`). The paper assumes n different ones for n URLs.
 * Only different features set new bits in the second region, and a feature that is already known rejects no URL.
 *
 * Features are compared by 64 bits of a hash. The probability that any two of a million are confused is 3e-8.
 */
#include "lab/eigen/eigen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/inside/inside.h"

static const char *const feature_names[] = {"labels", "tail", "ends", NULL};

enum { LABELS, TAIL, ENDS, FEATURES, ONE_SITE = 1, SITES = 2, LAST_TWO_DIGITS = 100, BATCH = 64 };

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double count_different(uint64_t *values, uint64_t n)
{
    double count = n > 0;
    qsort(values, n, sizeof *values, by_size);
    for (uint64_t i = 1; i < n; i++)
        count += values[i] != values[i - 1];
    return count;
}

typedef struct bench {
    const lab_settings *settings;
    uint64_t run, n;
    uint64_t *values; /* [feature * n + URL] */
    unsigned char key[VIDI_KEY_BYTES];
} bench;

static vidi_str make_url(const bench *bench, size_t column, uint64_t i, char *buffer)
{
    if (column == ONE_SITE)
        return (vidi_str){buffer, lab_deep_url(buffer, bench->settings, bench->run, 0, i)};
    return lab_url_text(buffer, bench->settings, bench->run, i);
}

/* Hashes the features of `count` URLs, from URL number `first` on. */
static int take_features(bench *bench, size_t column, uint64_t first, size_t count)
{
    const vidi_str no_salt = {"", 0};
    char urls[BATCH][LAB_URL_ROOM], texts[BATCH][FEATURES * LAB_URL_ROOM];
    vidi_str features[BATCH * FEATURES];
    vidi_digest values[BATCH * FEATURES];
    for (size_t i = 0; i < count; i++) {
        vidi_str url = make_url(bench, column, first + i, urls[i]);
        LAB_TRY(vidi__inside_features(url, feature_names, FEATURES, texts[i], features + i * FEATURES));
    }
    LAB_TRY(vidi__inside_hash("sip13", bench->key, no_salt, features, count * FEATURES, values));
    for (size_t i = 0; i < count; i++)
        for (size_t f = 0; f < FEATURES; f++)
            bench->values[f * bench->n + first + i] = values[i * FEATURES + f].lo;
    return VIDI_OK;
}

static int measure_column(bench *bench, size_t column, double *numbers)
{
    for (uint64_t first = 0; first < bench->n; first += BATCH) {
        uint64_t left = bench->n - first;
        LAB_TRY(take_features(bench, column, first, left < BATCH ? (size_t)left : BATCH));
    }
    for (size_t f = 0; f < FEATURES; f++)
        numbers[f * SITES + column] = count_different(bench->values + f * bench->n, bench->n);
    return VIDI_OK;
}

static int measure_features(const lab_settings *settings, uint64_t run, double *numbers)
{
    bench bench = {.settings = settings, .run = run, .n = lab_eigen_urls(settings)};
    lab_key(bench.key, settings->seed, run);
    LAB_TRY(LAB_NEW(bench.values, FEATURES * bench.n));
    for (size_t column = 0; column < SITES; column++)
        LAB_TRY(measure_column(&bench, column, numbers));
    return VIDI_OK;
}

/* Pages of one site share its letters, have different numbers, and have a hundred pairs of last digits. */
static void judge_features(const lab_cell *cell, lab_entry *entry)
{
    double n = (double)lab_eigen_urls(cell->settings), share = 100 / n;
    double of_one_site[FEATURES] = {[LABELS] = 1, [TAIL] = n, [ENDS] = fmin(n, LAST_TWO_DIGITS)};
    for (uint64_t run = 0; cell->column == ONE_SITE && run < entry->runs; run++)
        if (fabs(cell->numbers[run] - of_one_site[cell->row]) > 0.5) {
            entry->verdict = LAB_FAILS;
            snprintf(entry->remark, sizeof entry->remark, "%.0f different features, not %.0f", cell->numbers[run],
                     of_one_site[cell->row]);
        }
    lab_entry_scale(entry, share);
    if (cell->column == ONE_SITE)
        entry->theory = of_one_site[cell->row] * share;
}

LAB_STUDY(eigen_features, "eigen-features", "Different features of different URLs",
          "the eigenvalue paper, section 3 and table 1",
          "A twentieth of the URLs. Formula (4) assumes as many different features as URLs: 100 %.", "% of the URLs",
          feature_names, lab_eigen_similar, .measure = measure_features, .judge = judge_features);
