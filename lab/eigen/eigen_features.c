/*
 * How many different features URLs have, of which the eigenvalue paper takes n for n URLs: those of its table 1
 * (`labels`), what follows the last slash (`tail`), and the last two characters of every part (`ends`). Only different
 * ones mark bits of the second region, and a feature that is in already keeps no URL apart.
 *
 * Features are told apart by 64 bits of a hash, which confuses any two of a million with a probability of 3e-8.
 */
#include "lab/eigen/eigen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "hash/functions.h"
#include "url/split.h"

const char *const lab_eigen_features[] = {"labels", "tail", "ends", NULL};

enum { LABELS, TAIL, ENDS, FEATURES, ONE_SITE = 1, SITES = 2, LAST_TWO_DIGITS = 100 };

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
    vidi__hash_key key;
    vidi__memory memory;
} bench;

static int take_features(bench *bench, uint64_t i, vidi_str url, vidi__buffer *room)
{
    char feature[LAB_URL_ROOM];
    vidi__url_parts parts;
    LAB_TRY(vidi__url_split(&parts, url, room));
    for (size_t f = 0; f < FEATURES; f++) {
        vidi_str text = vidi__url_feature(lab_eigen_features[f])(&parts, feature);
        bench->values[f * bench->n + i] = vidi__hash(&vidi__hash_sip13, &bench->key, text).lo;
    }
    return VIDI_OK;
}

static int measure_column(bench *bench, size_t column, double *numbers)
{
    char url[LAB_URL_ROOM], parsed[4 * LAB_URL_ROOM];
    vidi__buffer room = vidi__buffer_in(parsed, sizeof parsed, &bench->memory);
    int code = VIDI_OK;
    for (uint64_t i = 0; i < bench->n && code == VIDI_OK; i++) {
        vidi_str text = column == ONE_SITE ? (vidi_str){url, lab_deep_url(url, bench->settings, bench->run, 0, i)}
                                           : lab_url_text(url, bench->settings, bench->run, i);
        code = take_features(bench, i, text, &room);
    }
    vidi__buffer_free(&room);
    for (size_t f = 0; f < FEATURES && code == VIDI_OK; f++)
        numbers[f * SITES + column] = count_different(bench->values + f * bench->n, bench->n);
    return code;
}

int lab_eigen_features_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    bench bench = {.settings = settings, .run = run, .n = lab_eigen_urls(settings)};
    unsigned char bytes[VIDI_KEY_BYTES];
    LAB_TRY(vidi__memory_init(&bench.memory, NULL, 0));
    lab_key(bytes, settings->seed, run);
    vidi__hash_key_init(&bench.key, bytes);
    bench.values = malloc(FEATURES * bench.n * sizeof *bench.values + 1);
    if (!bench.values)
        return lab_fail(VIDI_EMEMORY, "no memory for the features of %llu URLs", (unsigned long long)bench.n);
    int code = VIDI_OK;
    for (size_t column = 0; column < SITES && code == VIDI_OK; column++)
        code = measure_column(&bench, column, numbers);
    free(bench.values);
    return code;
}

/* Pages of one site have its letters, numbers of their own, and a hundred pairs of last digits. */
void lab_eigen_features_judge(const lab_study *study, const lab_settings *settings, size_t row, size_t column,
                              const double *numbers, lab_entry *entry)
{
    double n = (double)lab_eigen_urls(settings), share = 100 / n;
    double of_one_site[FEATURES] = {[LABELS] = 1, [TAIL] = n, [ENDS] = fmin(n, LAST_TWO_DIGITS)};
    (void)study;
    for (uint64_t run = 0; column == ONE_SITE && run < entry->runs; run++)
        if (fabs(numbers[run] - of_one_site[row]) > 0.5) {
            entry->verdict = LAB_FAILS;
            snprintf(entry->remark, sizeof entry->remark, "%.0f different features, not %.0f", numbers[run],
                     of_one_site[row]);
        }
    lab_entry_scale(entry, share);
    if (column == ONE_SITE)
        entry->theory = of_one_site[row] * share;
}
