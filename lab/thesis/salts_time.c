/*
 * Times of hash functions: the four of the thesis, which chose Jenkins's because MD5 and SHA-1 are slower (section
 * 5.4.3), and salted values with the salt before and after the URL.
 *
 * Everything takes turns with a fifth of the URLs each, so a slow moment of the machine affects all of it, and the
 * numbers of one run can be compared in pairs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/thesis/salts.h"
#include "lab/urls/mix.h"
#include "lab/urls/run_urls.h"
#include "lib/inside/inside.h"

enum { TURNS = 5, PART = 50, URLS_LEAST = 500, FUNCTIONS = 4, SALTINGS = 2, SHAPES = 4, PLACES = 3, SALTS_MOST = 8 };

static const char *const hash_time_rows[] = {"Jenkins", "MurmurHash", "MD5", "SHA-1", NULL};
static const char *const hash_time_columns[] = {"URL alone", "salt and URL", NULL};
static const char *const names[FUNCTIONS] = {"jenkins", "murmur2", "md5", "sha1"};

static const char *const salt_time_rows[] = {"Jenkins, 3 HF", "Jenkins, 8 HF", "MurmurHash, 3 HF", "MurmurHash, 8 HF",
                                             NULL};
static const char *const salt_time_columns[] = {"salt before", "salt after", "salt after, URL hashed once", NULL};
static const struct shape {
    lab_salted_function function;
    unsigned k;
} shapes[SHAPES] = {{LAB_SALTED_JENKINS, 3}, {LAB_SALTED_JENKINS, 8}, {LAB_SALTED_MURMUR2, 3}, {LAB_SALTED_MURMUR2, 8}};

/* What a study times: cell number `cell` for `count` URLs. */
typedef struct desk {
    unsigned char salts[SALTS_MOST][LAB_SALT_BYTES];
    unsigned char key[VIDI_KEY_BYTES];
    vidi_digest *values; /* one for each URL of a turn */
    uint32_t sum;        /* of values, so that they have to be computed */
} desk;

typedef int time_cell(desk *desk, unsigned cell, const vidi_str *urls, uint64_t count);

static int hash_urls(desk *desk, unsigned cell, const vidi_str *urls, uint64_t count)
{
    bool salted = cell % SALTINGS == 1;
    vidi_str salt = {(const char *)desk->salts[0], salted ? LAB_SALT_BYTES : 0};
    return vidi__inside_hash(names[cell / SALTINGS], desk->key, salt, urls, count, desk->values);
}

static int salt_urls(desk *desk, unsigned cell, const vidi_str *urls, uint64_t count)
{
    const struct shape *shape = &shapes[cell / PLACES];
    uint32_t values[SALTS_MOST];
    for (uint64_t i = 0; i < count; i++) {
        lab_salted_values(shape->function, (lab_salt_place)(cell % PLACES),
                          (const unsigned char(*)[LAB_SALT_BYTES])desk->salts, shape->k, urls[i], values);
        desk->sum += values[shape->k - 1];
    }
    return VIDI_OK;
}

/* Nanoseconds per URL of each cell. */
static int take_times(const lab_settings *settings, uint64_t run, time_cell *work, unsigned cells, double *numbers)
{
    uint64_t n = lab_urls_part(settings, PART, URLS_LEAST), start = lab_mix(lab_run_start(settings->seed, run) + 5);
    desk desk = {.values = NULL};
    lab_texts texts;
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, n));
    LAB_TRY(LAB_NEW(desk.values, n / TURNS + 1));
    lab_key(desk.key, settings->seed, run);
    for (unsigned i = 0; i < sizeof desk.salts; i++)
        desk.salts[i / LAB_SALT_BYTES][i % LAB_SALT_BYTES] = (unsigned char)lab_mix(start + i);
    memset(numbers, 0, cells * sizeof *numbers);
    for (unsigned i = 0; i < TURNS * cells; i++) {
        uint64_t first = n * (i / cells) / TURNS, last = n * (i / cells + 1) / TURNS, before = lab_thread_time();
        LAB_TRY(work(&desk, i % cells, texts.urls + first, last - first));
        numbers[i % cells] += (double)(lab_thread_time() - before) / (double)n;
    }
    return VIDI_OK;
}

static int measure_hash_time(const lab_settings *settings, uint64_t run, double *numbers)
{
    return take_times(settings, run, hash_urls, FUNCTIONS * SALTINGS, numbers);
}

/* Divided by the first column. */
static int measure_salt_time(const lab_settings *settings, uint64_t run, double *numbers)
{
    LAB_TRY(take_times(settings, run, salt_urls, SHAPES * PLACES, numbers));
    for (unsigned i = 0; i < SHAPES * PLACES; i += PLACES)
        for (unsigned place = PLACES; place-- > 0;)
            numbers[i + place] /= fmax(1e-3, numbers[i]);
    return VIDI_OK;
}

/* Counts the bytes that are read: k (L + 24), but L + 24 k if the URL is read once; L is the mean length of a URL. */
static void judge_salt_time(const lab_cell *cell, lab_entry *entry)
{
    enum { URLS = 1000 };
    double k = shapes[cell->row].k, length = 0;
    char url[LAB_URL_ROOM];
    for (uint64_t i = 0; i < URLS; i++)
        length += (double)lab_url_text(url, cell->settings, 0, i).len / URLS;
    entry->theory =
        cell->column == LAB_SALT_AFTER_ONCE ? (length + k * LAB_SALT_BYTES) / (k * (length + LAB_SALT_BYTES)) : 1;
}

LAB_STUDY(thesis_hash_time, "thesis-hash-time", "Time of the four hash functions", "the thesis, sections 5.4 and 5.4.3",
          "A fiftieth of the URLs. The thesis discards MD5 and SHA-1 because they take longer, but prints no times. "
          "Ours are OpenSSL's, which use the processor's instructions for SHA-1 if it has them.",
          "ns per value", hash_time_rows, hash_time_columns, .timed = true, .runs_most = 15,
          .needs = "jenkins+murmur2+md5+sha1", .measure = measure_hash_time);

LAB_STUDY(thesis_salt_place_time, "thesis-salt-place-time", "Salts before and after the URL: time",
          "the thesis, sections 1.5 and 4.1",
          "A fiftieth of the URLs. If salts come after the URL, what was computed of the URL serves for all of "
          "them. Theory counts the bytes that are read, and leaves out what each value costs besides.",
          "times the salt before", salt_time_rows, salt_time_columns, .timed = true, .runs_most = 15,
          .measure = measure_salt_time, .judge = judge_salt_time);
