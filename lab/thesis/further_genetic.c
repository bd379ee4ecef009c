/*
 * Hash functions bred for the URLs of a site (the thesis, section 7.2.2), compared with functions that know nothing of
 * them.
 *
 * The site is the host with the most URLs in the run (and the next largest, if it has too few). Its first n URLs are
 * the crawl that programs are bred for: the fewer of these pages a Bloom filter with K salts and M loses, the fitter
 * the program. The next CRAWLS times n URLs are the later crawls, each with a new filter and new salts.
 *
 * Theory is that of an ideal function, whose values are random. The bred program is not judged by it. In the crawl it
 * was chosen for, it must lose fewer pages, as the luckiest of some thousand ideal functions would too; in the later
 * crawls it may lose more.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/urls/mix.h"
#include "lab/thesis/further.h"
#include "lab/thesis/genetic.h"
#include "lib/inside/inside.h"

enum {
    K = 3,
    CRAWLS = 4,
    SITE_MOST = 2048,
    SITE_PART = 64,
    READ_MOST = 64,
    POPULATION = 48,
    GENERATIONS = 40,
    SALT_BYTES = 24
};
enum { FIRST, BRED, PROGRAMS }; /* rows: programs, then functions */
#define M 2.0

static const char *const functions[] = {"sip13", "xxh3", "jenkins"};
static const char *const genetic_rows[] = {"best of the first generation", "found", "sip13", "xxh3", "jenkins", NULL};
static const char *const genetic_columns[] = {"training crawl", "next crawls", NULL};
static const char *const genetic_time_columns[] = {"a hash value", NULL};
enum { FUNCTIONS = sizeof functions / sizeof *functions, COLUMNS = 2 };

static uint64_t site_urls(const lab_settings *settings)
{
    uint64_t urls = settings->urls / SITE_PART;
    return urls > SITE_MOST ? SITE_MOST : urls < 4 ? 4 : urls;
}

static uint64_t bits_for(uint64_t urls)
{
    return (uint64_t)lab_bits((double)urls, K, M);
}

/* ---- what is compared ---- */

typedef struct trial {
    lab_texts texts;
    vidi_str *site; /* (CRAWLS + 1) * n URLs */
    uint64_t n, start;
    lab_words words;     /* of the training crawl */
    uint64_t *values;    /* K for each URL of a crawl */
    vidi_digest *hashes; /* one for each URL of a crawl */
    lab_bred bred;
} trial;

static uint64_t salt_of(const trial *trial, unsigned crawl, unsigned number)
{
    return lab_mix(trial->start + 1 + crawl * (uint64_t)K + number);
}

static int trial_make(trial *trial, const lab_settings *settings, uint64_t run)
{
    uint64_t n = site_urls(settings), sites = n * (CRAWLS + 1);
    uint64_t read = n * READ_MOST * 2 < 2 * settings->urls ? n * READ_MOST * 2 : 2 * settings->urls;
    lab_breeding breeding = {.population = POPULATION, .generations = GENERATIONS, .k = K};
    *trial = (struct trial){.n = n, .start = lab_mix(lab_run_start(settings->seed, run) + 7)};
    LAB_TRY(LAB_NEW(trial->site, sites));
    LAB_TRY(LAB_NEW(trial->values, K * n));
    LAB_TRY(LAB_NEW(trial->hashes, n));
    LAB_TRY(lab_texts_make(&trial->texts, settings, run, 0, read < sites ? sites : read));
    LAB_TRY(lab_site_choose(&trial->texts, sites, trial->site));
    LAB_TRY(lab_words_make(&trial->words, trial->site, n));
    breeding.start = lab_mix(trial->start);
    for (unsigned i = 0; i < K; i++)
        breeding.salts[i] = salt_of(trial, 0, i);
    return lab_breed(&trial->bred, &breeding, &trial->words, bits_for(n));
}

/* The pages of a crawl that a program loses, or an error. */
static int64_t program_loses(trial *trial, const lab_program *program, unsigned crawl)
{
    lab_words words;
    LAB_BLOCK;
    LAB_TRY(lab_words_make(&words, trial->site + crawl * trial->n, trial->n));
    for (unsigned i = 0; i < K; i++)
        lab_program_values(program, salt_of(trial, crawl, i), &words, trial->values + i * trial->n);
    return lab_lost(trial->values, trial->n, K, bits_for(trial->n));
}

/* The same for a hash function of the library, with the salt before the URL. Places follow from the upper bits. */
static int64_t function_loses(trial *trial, const char *function, unsigned bits, unsigned crawl)
{
    const vidi_str *urls = trial->site + crawl * trial->n;
    for (unsigned i = 0; i < K; i++) {
        unsigned char salt[SALT_BYTES]; /* its first bytes are also the key */
        for (unsigned j = 0; j < sizeof salt; j++)
            salt[j] = (unsigned char)(lab_mix(salt_of(trial, crawl, i) + j / 8) >> j % 8 * 8);
        vidi_str text = {(const char *)salt, sizeof salt};
        LAB_TRY(vidi__inside_hash(function, salt, text, urls, trial->n, trial->hashes));
        for (uint64_t j = 0; j < trial->n; j++)
            trial->values[i * trial->n + j] = trial->hashes[j].lo << (bits == 32 ? 32 : 0);
    }
    return lab_lost(trial->values, trial->n, K, bits_for(trial->n));
}

/* Adds the pages that a row loses in a crawl; NAN for functions that this build lacks. */
static int row_loses(trial *trial, size_t row, unsigned crawl, double *lost)
{
    int64_t count;
    if (row < PROGRAMS)
        count = program_loses(trial, row == FIRST ? &trial->bred.first : &trial->bred.last, crawl);
    else {
        const char *name = functions[row - PROGRAMS];
        unsigned bits = vidi__inside_hash_bits((vidi_str){name, strlen(name)});
        if (!bits) {
            *lost = NAN;
            return VIDI_OK;
        }
        count = function_loses(trial, name, bits, crawl);
    }
    *lost += (double)count;
    return count < 0 ? (int)count : VIDI_OK;
}

static int measure_genetic(const lab_settings *settings, uint64_t run, double *numbers)
{
    trial trial;
    LAB_TRY(trial_make(&trial, settings, run));
    for (size_t row = 0; row < PROGRAMS + FUNCTIONS; row++) {
        numbers[row * COLUMNS] = numbers[row * COLUMNS + 1] = 0;
        for (unsigned crawl = 0; crawl <= CRAWLS; crawl++)
            LAB_TRY(row_loses(&trial, row, crawl, &numbers[row * COLUMNS + (crawl > 0)]));
    }
    return VIDI_OK;
}

static void judge_genetic(const lab_cell *cell, lab_entry *entry)
{
    uint64_t n = site_urls(cell->settings);
    double crawls = cell->column == 0 ? 1 : CRAWLS;
    if (isnan(entry->measured)) {
        entry->verdict = LAB_NOT_BUILT;
        return;
    }
    lab_theory ideal = lab_filling_theory(n, (double)bits_for(n), K, 1);
    lab_entry_count(entry, cell->numbers,
                    (lab_theory){crawls * ideal.mean, crawls * ideal.variance, crawls * (double)n}, 100);
    if (cell->row >= PROGRAMS)
        return;
    double distance = entry->z;
    entry->verdict = LAB_NO_FIGURE;
    entry->z = NAN;
    snprintf(entry->remark, sizeof entry->remark,
             cell->column == 0
                 ? "chosen because it loses few of these URLs; %+.1f standard deviations from an ideal function"
                 : "%+.1f standard deviations from an ideal function",
             distance);
}

/* ---- time ---- */

static int time_program(trial *trial, const lab_program *program, double *nanoseconds)
{
    lab_words words;
    uint64_t start = lab_thread_time(), *values;
    LAB_BLOCK;
    LAB_TRY(lab_words_make(&words, trial->site, trial->n * (CRAWLS + 1))); /* part of the work */
    LAB_TRY(LAB_NEW(values, words.count));
    lab_program_values(program, trial->start, &words, values);
    *nanoseconds = (double)(lab_thread_time() - start) / (double)(trial->n * (CRAWLS + 1));
    return VIDI_OK;
}

static int time_function(trial *trial, const char *name, double *nanoseconds)
{
    static const unsigned char key[VIDI_KEY_BYTES];
    const vidi_str no_salt = {"", 0};
    size_t count = (size_t)trial->n * (CRAWLS + 1);
    *nanoseconds = NAN;
    if (!vidi__inside_hash_bits((vidi_str){name, strlen(name)}))
        return VIDI_OK;
    uint64_t start = lab_thread_time();
    vidi_digest *hashes;
    LAB_BLOCK;
    LAB_TRY(LAB_NEW(hashes, count));
    LAB_TRY(vidi__inside_hash(name, key, no_salt, trial->site, count, hashes));
    *nanoseconds = (double)(lab_thread_time() - start) / (double)count;
    return VIDI_OK;
}

/* The minimum of several tries. The rows take turns, so that a disturbance affects all of them. */
static int measure_genetic_time(const lab_settings *settings, uint64_t run, double *numbers)
{
    enum { TRIES = 7 };
    trial trial;
    LAB_TRY(trial_make(&trial, settings, run));
    for (size_t row = 0; row < PROGRAMS + FUNCTIONS; row++)
        numbers[row] = INFINITY;
    for (int i = 0; i < TRIES; i++)
        for (size_t row = 0; row < PROGRAMS + FUNCTIONS; row++) {
            double nanoseconds = NAN;
            LAB_TRY(row < PROGRAMS
                        ? time_program(&trial, row == FIRST ? &trial.bred.first : &trial.bred.last, &nanoseconds)
                        : time_function(&trial, functions[row - PROGRAMS], &nanoseconds));
            numbers[row] = isnan(nanoseconds) ? nanoseconds : fmin(numbers[row], nanoseconds);
        }
    return VIDI_OK;
}

LAB_STUDY(further_genetic, "further-genetic", "Hash functions found by genetic search for a site's URLs, incremental",
          "the thesis, section 7.2.2",
          "Crawls of 2,048 URLs of one site (fewer below 131,072 URLs), k = 3 salts, M = 2.0; 40 generations of 48 "
          "programs; then four crawls with other URLs and other salts. Theory is that of an ideal function. The "
          "bred functions have no key: anyone who knows one and a salt can make URLs that collide.",
          "%", genetic_rows, genetic_columns, .runs_most = 20, .measure = measure_genetic, .judge = judge_genetic);

LAB_STUDY(further_genetic_time, "further-genetic-time", "Hash functions found by genetic search: time",
          "the thesis, section 7.2.2",
          "One value for each URL, all URLs in one batch, without a salt. Programs take their steps for many URLs "
          "at once.",
          "ns per URL", genetic_rows, genetic_time_columns, .timed = true, .runs_most = 3,
          .measure = measure_genetic_time);
