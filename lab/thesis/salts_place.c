/*
 * False positives with the salt before and after the URL, non-incremental, for filters with few functions and few bits
 * (3 HF, 2.0 M) and with many (8 HF, 5.0 M).
 *
 * With salts before the URL, every salt is a new chance. With salts after it, two URLs that a function cannot tell
 * apart once it has read them have equal values with every salt: however many functions a filter has, it errs for them,
 * and so do all later crawls. If the state is s bits, a URL meets such a twin among n others with probability n / 2^s:
 *
 *     Jenkins's lookup2   96 bits, so never
 *     MurmurHash2         32 bits, but it reads 4 bytes at a time: URLs can be twins only if their last 0 to 3 bytes,
 *                         which are read together with the salt, are equal and equally many
 *     one-at-a-time       32 bits, byte by byte: any two URLs can be twins
 *
 * So the share that a filter falsely sees is p + (1 - p) t, where p is the usual share and t the probability of a twin.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/thesis/salts.h"
#include "lab/urls/run_urls.h"
#include "lib/inside/inside.h"

enum { PART = 4, SIZES = 2, PLACES = 2, FUNCTIONS = 3, GROUP = 64, K_FEW = 3, K_MANY = 8 };

static const char *const salt_rows[] = {"Jenkins", "MurmurHash", "one-at-a-time", NULL};
static const char *const salt_columns[] = {"3 HF, 2.0 M, salt before", "3 HF, 2.0 M, salt after",
                                           "8 HF, 5.0 M, salt before", "8 HF, 5.0 M, salt after", NULL};

static const char *const names[FUNCTIONS] = {"jenkins", "murmur2", "oaat"};
static const char *const places[PLACES] = {"prefix", "suffix"};
static const unsigned functions_of[SIZES] = {K_FEW, K_MANY};
static const double multipliers[SIZES] = {2.0, 5.0};

/* ---- measuring ---- */

/* Both filters have the same salts: the one with few functions has the first ones. */
typedef struct pair {
    vidi__inside_bloom *few, *many;
    uint64_t values[GROUP * K_MANY];
} pair;

static int make_filter(vidi__inside_bloom **made, const lab_settings *settings, uint64_t run, const char *function,
                       const char *place, unsigned size, uint64_t n)
{
    char params[128];
    unsigned char key[VIDI_KEY_BYTES];
    lab_key(key, settings->seed, run);
    vidi__inside_seed seed = vidi__inside_epoch_seed(key, 0);
    snprintf(params, sizeof params, "hash=%s,mode=salted,salt=%s,k=%u,M=%.17g", function, place, functions_of[size],
             multipliers[size]);
    return vidi__inside_bloom_make(made, params, n, &seed);
}

static void insert(pair *pair, const vidi_str *urls, size_t count)
{
    bool seen[GROUP];
    vidi__inside_bloom_hash(pair->many, urls, count, pair->values);
    vidi__inside_bloom_insert(pair->many, pair->values, count, seen);
    for (size_t i = 0; i < count; i++)
        memmove(pair->values + i * K_FEW, pair->values + i * K_MANY, K_FEW * sizeof *pair->values);
    vidi__inside_bloom_insert(pair->few, pair->values, count, seen);
}

/* Most URLs are settled by the first three bits, so only the others are hashed with all functions. */
static void look_up(pair *pair, const vidi_str *urls, size_t count, double *seen_by_few, double *seen_by_many)
{
    bool seen[GROUP];
    vidi_str left[GROUP];
    size_t left_count = 0;
    vidi__inside_bloom_hash(pair->few, urls, count, pair->values);
    vidi__inside_bloom_lookup(pair->few, pair->values, K_FEW, count, seen);
    for (size_t i = 0; i < count; i++)
        *seen_by_few += seen[i];
    vidi__inside_bloom_lookup(pair->many, pair->values, K_FEW, count, seen);
    for (size_t i = 0; i < count; i++)
        if (seen[i])
            left[left_count++] = urls[i];
    vidi__inside_bloom_hash(pair->many, left, left_count, pair->values);
    vidi__inside_bloom_lookup(pair->many, pair->values, K_MANY, left_count, seen);
    for (size_t i = 0; i < left_count; i++)
        *seen_by_many += seen[i];
}

static int measure_place(const lab_texts *texts, const lab_settings *settings, uint64_t run, unsigned function,
                         unsigned place, double *numbers)
{
    uint64_t n = texts->count / 2;
    pair pair = {.few = NULL};
    int code = make_filter(&pair.few, settings, run, names[function], places[place], 0, n);
    if (code == VIDI_OK)
        code = make_filter(&pair.many, settings, run, names[function], places[place], 1, n);
    for (uint64_t i = 0; i < n && code == VIDI_OK; i += GROUP)
        insert(&pair, texts->urls + i, n - i < GROUP ? n - i : GROUP);
    for (uint64_t i = 0; i < n && code == VIDI_OK; i += GROUP)
        look_up(&pair, texts->urls + n + i, n - i < GROUP ? n - i : GROUP, &numbers[place], &numbers[PLACES + place]);
    vidi__inside_bloom_free(pair.few);
    vidi__inside_bloom_free(pair.many);
    return code;
}

static int measure_salt(const lab_settings *settings, uint64_t run, double *numbers)
{
    lab_texts texts;
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, 2 * lab_urls_part(settings, PART, 1)));
    memset(numbers, 0, FUNCTIONS * SIZES * PLACES * sizeof *numbers);
    for (unsigned i = 0; i < FUNCTIONS * PLACES; i++)
        LAB_TRY(measure_place(&texts, settings, run, i / PLACES, i % PLACES, numbers + i / PLACES * SIZES * PLACES));
    return VIDI_OK;
}

/* ---- theory ---- */

/* The bytes that MurmurHash2 reads together with the salt, and how many they are. */
static uint32_t ending_of(vidi_str url)
{
    uint32_t count = url.len % 4, ending = count << 24;
    for (uint32_t i = 0; i < count; i++)
        ending |= (uint32_t)(unsigned char)url.ptr[url.len - 1 - i] << 8 * i;
    return ending;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* How many pairs of an element of a and an equal one of b there are; both are sorted. */
static double count_equal(const uint32_t *a, const uint32_t *b, uint64_t n)
{
    double pairs = 0;
    for (uint64_t i = 0, from = 0, to = 0; i < n; i++) {
        while (from < n && b[from] < a[i])
            from++;
        while (to < n && b[to] <= a[i])
            to++;
        pairs += (double)(to - from);
    }
    return pairs;
}

/* The share of pairs of an inserted and another URL that have equal endings, in the first run; NAN without memory. */
static double equal_endings(const lab_settings *settings, uint64_t n)
{
    uint32_t *endings = calloc(2 * n + 1, sizeof *endings);
    char url[LAB_URL_ROOM];
    double share = (double)NAN;
    if (endings) {
        for (uint64_t i = 0; i < 2 * n; i++)
            endings[i] = ending_of(lab_url_text(url, settings, 0, i));
        qsort(endings, n, sizeof *endings, by_value);
        qsort(endings + n, n, sizeof *endings, by_value);
        share = count_equal(endings, endings + n, n) / ((double)n * (double)n);
    }
    free(endings);
    return share;
}

/* The probability that one of n URLs is a twin of another URL. */
static double twin_probability(unsigned function, unsigned place, const lab_settings *settings, uint64_t n)
{
    double any = (double)n / 4294967296.0;
    if (place == 0 || function == 0)
        return 0;
    return function == 1 ? any * equal_endings(settings, n) : any;
}

static void judge_salt(const lab_cell *cell, lab_entry *entry)
{
    uint64_t n = lab_urls_part(cell->settings, PART, 1);
    unsigned k = functions_of[cell->column / PLACES];
    lab_theory theory = lab_filter_theory(n, lab_bits((double)n, k, multipliers[cell->column / PLACES]), k, 1);
    double twins =
        twin_probability((unsigned)cell->row, cell->column % PLACES, cell->settings, n) * ((double)n - theory.mean);
    theory.mean += twins;
    theory.variance += twins;
    lab_entry_count(entry, cell->numbers, theory, 100);
}

LAB_STUDY(thesis_salt_place, "thesis-salt-place", "Salts before and after the URL, non-incremental",
          "the thesis, sections 1.5 and 4.1",
          "A quarter of the URLs. Theory: with salts after the URL, URLs with the same 32-bit state collide for "
          "every salt; one-at-a-time, which is not the thesis's, reads byte by byte.",
          "%", salt_rows, salt_columns, .runs_most = 40, .measure = measure_salt, .judge = judge_salt);
