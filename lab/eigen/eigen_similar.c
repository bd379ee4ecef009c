/*
 * "The hash function ignores small differences between similar elements" (the eigenvalue paper, section 3): do URLs
 * that differ in a few digits collide more often than others?
 *
 *   eigen-shifts    pairs of URLs with the same 32-bit value, compared with chance: n (n-1) / 2^33
 *   eigen-similar   URLs that a classic filter falsely sees, with several hash functions
 *
 * The paper argues that shifts lose bits. But no shift stands alone in its line: h += h << 10 multiplies by an odd
 * number, and h ^= h >> 6 can be undone from the top bits down. So each step of one-at-a-time is a bijection, and two
 * URLs of the same length that differ in one byte never collide. If several of the last bytes differ, one-at-a-time
 * does collide more often than by chance, because it mixes these poorly; lookup2, which has more shifts, does not. But
 * chance is one pair in 2^32: neither effect shows in a filter.
 *
 * As printed, the function adds `key`, the address, instead of key[i], the byte. So all URLs of the same length that
 * are read from the same buffer collide.
 */
#include "lab/eigen/eigen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/inside/inside.h"

const char *const lab_eigen_similar[] = {"many sites", "one site", NULL};

enum { COLUMNS = 2, ONE_SITE = 1, BATCH = 256 };

static vidi_str url_of(char *buffer, const lab_settings *settings, uint64_t run, uint64_t index, bool one_site)
{
    size_t length = one_site ? lab_deep_url(buffer, settings, run, 0, index) : lab_url(buffer, settings, run, index);
    return (vidi_str){buffer, length};
}

/* ---- collisions of 32 bits ---- */

/* All URLs share one fixed address, so that the result does not depend on where a buffer lies. */
static uint32_t printed_oaat(vidi_str url)
{
    uint32_t h = 0;
    for (size_t i = 0; i < url.len; i++) {
        h += UINT32_C(0x5566a2c0);
        h += h << 10;
        h ^= h >> 6;
    }
    h += h << 3;
    h ^= h >> 11;
    h += h << 15;
    return h;
}

static const char *const function_names[] = {"one-at-a-time, as printed", "one-at-a-time", "Jenkins's lookup2",
                                             "MurmurHash2", NULL};
static const char *const functions[] = {NULL, "oaat", "jenkins", "murmur2"}; /* the library's names */

enum { FUNCTIONS = sizeof functions / sizeof *functions, PRINTED = 0 };

static int hash_urls(size_t function, const vidi_str *urls, size_t count, uint32_t *values)
{
    static const unsigned char no_key[VIDI_KEY_BYTES];
    const vidi_str no_salt = {"", 0};
    vidi_digest hashes[BATCH];
    if (function == PRINTED) {
        for (size_t i = 0; i < count; i++)
            values[i] = printed_oaat(urls[i]);
        return VIDI_OK;
    }
    LAB_TRY(vidi__inside_hash(functions[function], no_key, no_salt, urls, count, hashes));
    for (size_t i = 0; i < count; i++)
        values[i] = (uint32_t)hashes[i].lo;
    return VIDI_OK;
}

/* Radix sort by bytes: after four passes the result is back in `values`. */
static void sort_values(uint32_t *values, uint32_t *room, uint64_t n)
{
    for (unsigned shift = 0; shift < 32; shift += 8) {
        uint64_t starts[257] = {0};
        for (uint64_t i = 0; i < n; i++)
            starts[(values[i] >> shift & 255) + 1]++;
        for (unsigned i = 0; i < 256; i++)
            starts[i + 1] += starts[i];
        for (uint64_t i = 0; i < n; i++)
            room[starts[values[i] >> shift & 255]++] = values[i];
        uint32_t *swap = values;
        values = room;
        room = swap;
    }
}

static double equal_pairs(uint32_t *values, uint32_t *room, uint64_t n)
{
    double pairs = 0, equals = 0;
    sort_values(values, room, n);
    for (uint64_t i = 1; i < n; i++) {
        equals = values[i] == values[i - 1] ? equals + 1 : 0;
        pairs += equals;
    }
    return pairs;
}

/* The expected number of equal pairs among n random 32-bit values. */
static double expected_pairs(double n)
{
    return n * (n - 1) / 2 / exp2(32);
}

/* values[function * n + URL] */
static int hash_column(const lab_settings *settings, uint64_t run, bool one_site, uint32_t *values)
{
    char bytes[BATCH][LAB_URL_ROOM];
    vidi_str urls[BATCH];
    uint64_t n = settings->urls, count;
    for (uint64_t first = 0; first < n; first += count) {
        count = n - first < BATCH ? n - first : BATCH;
        for (uint64_t i = 0; i < count; i++)
            urls[i] = url_of(bytes[i], settings, run, first + i, one_site);
        for (size_t f = 0; f < FUNCTIONS; f++)
            LAB_TRY(hash_urls(f, urls, count, values + f * n + first));
    }
    return VIDI_OK;
}

static int measure_shifts(const lab_settings *settings, uint64_t run, double *numbers)
{
    uint64_t n = settings->urls;
    uint32_t *values;
    LAB_TRY(LAB_NEW(values, (FUNCTIONS + 1) * n));
    for (size_t column = 0; column < COLUMNS; column++) {
        LAB_TRY(hash_column(settings, run, column == ONE_SITE, values));
        for (size_t f = 0; f < FUNCTIONS; f++)
            numbers[f * COLUMNS + column] = equal_pairs(values + f * n, values + FUNCTIONS * n, n);
    }
    return VIDI_OK;
}

/*
 * No function promises the rate of chance for URLs that follow a pattern. How far it is from chance depends on the
 * pattern, that is on the site, and is reported as a finding.
 */
static void compare(lab_entry *entry, const double *numbers, double chance)
{
    double least = numbers[0], most = numbers[0];
    for (uint64_t run = 1; run < entry->runs; run++) {
        least = fmin(least, numbers[run]);
        most = fmax(most, numbers[run]);
    }
    double off = fmax(fabs(least - chance), fabs(most - chance));
    entry->theory = 1;
    if (off > LAB_Z_MOST * sqrt(chance) + 1)
        snprintf(entry->remark, sizeof entry->remark, "%.1f to %.1f times chance, depending on the site",
                 least / chance, most / chance);
}

static void judge_shifts(const lab_cell *cell, lab_entry *entry)
{
    double n = (double)cell->settings->urls, chance = expected_pairs(n);
    if (cell->row != PRINTED && cell->column != ONE_SITE) {
        double pairs = n * (n - 1) / 2;
        lab_entry_count(entry, cell->numbers, (lab_theory){chance, chance, pairs}, pairs / chance);
        return;
    }
    lab_entry_scale(entry, 1 / chance);
    entry->low = fmax(0, entry->low);
    if (cell->row != PRINTED)
        compare(entry, cell->numbers, chance);
    else
        snprintf(entry->remark, sizeof entry->remark,
                 "it adds the address of the URL instead of its bytes, so all URLs of the same length collide");
}

/* ---- false positives of a filter ---- */

static const char *const hash_names[] = {"SipHash-1-3", "Jenkins's lookup2", "MurmurHash2", "one-at-a-time", NULL};
static const char *const hashes[] = {"sip13", "jenkins", "murmur2", "oaat"};

enum { HASHES = sizeof hashes / sizeof *hashes };

static const lab_eigen_filter classic = {"classic", NULL, LAB_EIGEN_K, 0, false};

typedef struct bench {
    vidi_set *sets[HASHES];
    char bytes[BATCH][LAB_URL_ROOM];
    vidi_str urls[BATCH];
    uint8_t verdicts[BATCH];
} bench;

/* Inserts URLs 0 to n - 1 and looks up URLs n to 2n - 1. */
static int fill_and_ask(bench *bench, const lab_settings *settings, uint64_t run, size_t column, double *numbers)
{
    uint64_t n = lab_eigen_urls(settings), count;
    for (size_t h = 0; h < HASHES; h++)
        LAB_TRY(lab_eigen_make(&bench->sets[h], &classic, hashes[h], settings, run, n));
    for (uint64_t first = 0; first < 2 * n; first += count) {
        bool asks = first >= n;
        uint64_t left = (asks ? 2 * n : n) - first;
        count = left < BATCH ? left : BATCH;
        for (uint64_t i = 0; i < count; i++)
            bench->urls[i] = url_of(bench->bytes[i], settings, run, first + i, column == ONE_SITE);
        for (size_t h = 0; h < HASHES; h++) {
            LAB_TRY(asks ? vidi_has_batch(bench->sets[h], bench->urls, count, bench->verdicts)
                         : vidi_add_batch(bench->sets[h], bench->urls, count, bench->verdicts, NULL));
            for (uint64_t i = 0; asks && i < count; i++)
                numbers[h * COLUMNS + column] += bench->verdicts[i] == VIDI_SEEN;
        }
    }
    return VIDI_OK;
}

static int measure_similar(const lab_settings *settings, uint64_t run, double *numbers)
{
    bench *bench;
    LAB_TRY(LAB_NEW(bench, 1));
    memset(numbers, 0, HASHES * COLUMNS * sizeof *numbers);
    for (size_t column = 0; column < COLUMNS; column++) {
        LAB_BLOCK;
        LAB_TRY(fill_and_ask(bench, settings, run, column, numbers));
    }
    return VIDI_OK;
}

static void judge_similar(const lab_cell *cell, lab_entry *entry)
{
    uint64_t n = lab_eigen_urls(cell->settings);
    lab_theory theory = lab_eigen_theory(&classic, n, (double)n, 0);
    lab_entry_count(entry, cell->numbers, theory, 100);
}

LAB_STUDY(eigen_shifts, "eigen-shifts", "Pairs of URLs with the same hash value of 32 bits",
          "the eigenvalue paper, section 3", "URLs of one site differ only in the last digits. 1 is chance.",
          "times chance", function_names, lab_eigen_similar, .runs_most = 30, .measure = measure_shifts,
          .judge = judge_shifts);

LAB_STUDY(eigen_similar, "eigen-similar", "False positives of the classic filter, on similar URLs and on others",
          "the eigenvalue paper, section 3",
          "A twentieth of the URLs is inserted, m/n = 32, k = 3. URLs of one site differ only in the last digits.", "%",
          hash_names, lab_eigen_similar, .measure = measure_similar, .judge = judge_similar);
