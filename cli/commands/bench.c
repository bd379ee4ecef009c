/*
 * vidi bench: how fast this machine is with each kind of set, and how much memory a URL takes. It is a quick look;
 * `make bench` measures with more care, and compares with other programs.
 *
 * The URLs lie in memory before anything is timed. One thread adds and looks up in batches. Each kind has a share of
 * the time: a slow one is measured with the URLs that it gets through.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "pipeline/input/lines.h"
#include "ui/options.h"
#include "ui/output.h"

enum { BATCH = 1024, URLS = 2000000, MOST_URLS = 100000000, TRY_URLS = 65536, KINDS = 32, NAME_BYTES = 24 };

#define TRY_SECONDS 0.05
#define ADD_SECONDS 0.35 /* planned for each kind */
#define MOST_SECONDS 0.8 /* at most, if the plan was wrong */
#define ASK_SECONDS 0.2

typedef struct bench_options {
    const char *kind;
    uint64_t urls;
    bool json;
} bench_options;

/* URLs in one buffer. Their pointers are set when all are there, because the bytes may move until then. */
typedef struct pool {
    char *bytes;
    size_t used, room;
    vidi_str *urls;
    size_t count, urls_room;
    uint64_t most; /* URLs to read */
} pool;

typedef struct result {
    char kind[NAME_BYTES];
    uint64_t added, asked; /* URLs that were passed in */
    double add_seconds, ask_seconds;
    vidi_stats stats;
} result;

/* ---- what is measured with ---- */

static int pool_add(pool *pool, const char *bytes, size_t length)
{
    if (!pool->bytes || pool->room - pool->used < length) {
        size_t room = (pool->room + length) * 2 + BATCH;
        char *more = realloc(pool->bytes, room);
        if (!more)
            return cli_error("out of memory; give fewer --urls");
        pool->bytes = more;
        pool->room = room;
    }
    if (pool->count == pool->urls_room) {
        size_t room = pool->urls_room * 2 + BATCH;
        vidi_str *more = realloc(pool->urls, room * sizeof *more);
        if (!more)
            return cli_error("out of memory; give fewer --urls");
        pool->urls = more;
        pool->urls_room = room;
    }
    memcpy(pool->bytes + pool->used, bytes, length);
    pool->urls[pool->count++].len = length;
    pool->used += length;
    return CLI_OK;
}

static void pool_finish(pool *pool)
{
    size_t at = 0;

    for (size_t i = 0; i < pool->count; i++) {
        pool->urls[i].ptr = pool->bytes + at;
        at += pool->urls[i].len;
    }
}

static char *put_text(char *to, const char *text)
{
    while (*text)
        *to++ = *text++;
    return to;
}

static char *put_number(char *to, uint64_t number)
{
    char digits[20];
    size_t n = 0;

    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        *to++ = digits[--n];
    return to;
}

/* All different, some 65 bytes long, and always the same: SplitMix64 chooses hosts and folders. */
static int make_urls(pool *pool, uint64_t n)
{
    char url[160];

    for (uint64_t i = 0; i < n; i++) {
        uint64_t mixed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
        mixed ^= mixed >> 31;
        char *end = put_text(url, mixed & 7 ? "https://www.host" : "http://host");
        end = put_number(end, mixed >> 8 & 0xffff);
        end = put_text(end, ".example/archive/");
        end = put_number(end, mixed >> 24 & 0xfff);
        end = put_text(end, "/page-");
        end = put_number(end, i);
        end = put_text(end, mixed & 8 ? ".html" : "?from=index&order=asc");
        CLI_TRY(pool_add(pool, url, (size_t)(end - url)));
    }
    return CLI_OK;
}

static int take_lines(void *context, const cli_block *block)
{
    pool *pool = context;

    for (size_t i = 0; i < block->count && pool->count < pool->most; i++)
        CLI_TRY(pool_add(pool, block->lines[i].ptr, block->lines[i].len));
    return pool->count < pool->most ? CLI_OK : CLI_GO_ON; /* the latter ends the reading */
}

/* The first n lines of a file; it may have fewer. */
static int read_urls(pool *pool, cli_words files, uint64_t n)
{
    pool->most = n;
    int status = cli_lines_each(files, take_lines, pool);
    if (status == CLI_OK && pool->count == 0)
        return cli_error("%s has no lines to measure with", files.list[0]);
    return status == CLI_GO_ON ? CLI_OK : status;
}

/* ---- measuring ---- */

static int add_all(vidi_set *set, const pool *pool, uint64_t urls, double time, result *result)
{
    uint8_t verdicts[BATCH];
    double began = clock_seconds();
    int error = VIDI_OK;

    while (error == VIDI_OK && result->added < urls && result->add_seconds < time) {
        size_t n = urls - result->added < BATCH ? urls - result->added : BATCH;
        error = vidi_add_batch(set, pool->urls + result->added, n, verdicts, NULL);
        result->added += n;
        result->add_seconds = clock_seconds() - began;
    }
    return error;
}

/* What was added, in the same order. */
static int ask_all(const vidi_set *set, const pool *pool, result *result)
{
    uint8_t verdicts[BATCH];
    double began = clock_seconds();
    int error = VIDI_OK;

    while (error == VIDI_OK && result->asked < result->added && result->ask_seconds < ASK_SECONDS) {
        size_t n = result->added - result->asked < BATCH ? result->added - result->asked : BATCH;
        error = vidi_has_batch(set, pool->urls + result->asked, n, verdicts);
        result->asked += n;
        result->ask_seconds = clock_seconds() - began;
    }
    return error;
}

/* Fills a set made for `urls` URLs, unless that takes too much time. */
static int fill(const char *kind, const pool *pool, uint64_t urls, double time, vidi_set **set, result *result)
{
    vidi_options options = VIDI_OPTIONS_INIT;

    *result = (struct result){.stats.size = sizeof result->stats};
    snprintf(result->kind, sizeof result->kind, "%s", kind);
    options.kind = kind;
    options.capacity = urls;
    int error = vidi_create(set, &options);
    return error == VIDI_OK ? add_all(*set, pool, urls, time, result) : error;
}

/* How many URLs there is time for, by a first look. */
static int count_affordable(const char *kind, const pool *pool, uint64_t *urls)
{
    vidi_set *set;
    result first;
    int error = fill(kind, pool, pool->count < TRY_URLS ? pool->count : TRY_URLS, TRY_SECONDS, &set, &first);
    int status = cli_library_status(error);

    vidi_close(set);
    double share = first.add_seconds > 0 ? ADD_SECONDS / first.add_seconds : 1;
    double affordable = (double)first.added * (share > 1 ? share : 1);
    *urls = affordable < (double)pool->count ? (uint64_t)affordable : pool->count;
    return status;
}

/* The set is made for the number of URLs it will get: a larger one would seem to need more memory than necessary. */
static int measure(const char *kind, const pool *pool, result *result)
{
    vidi_set *set;
    uint64_t urls;

    CLI_TRY(count_affordable(kind, pool, &urls));
    int error = fill(kind, pool, urls, MOST_SECONDS, &set, result);
    if (error == VIDI_OK)
        error = ask_all(set, pool, result);
    if (error == VIDI_OK)
        error = vidi_stat(set, &result->stats);
    int status = cli_library_status(error);
    vidi_close(set);
    return status;
}

static int measure_kinds(const bench_options *options, const pool *pool, result results[KINDS], size_t *n)
{
    vidi_kind_info info = {.size = sizeof info};

    *n = 0;
    if (options->kind)
        return measure(options->kind, pool, &results[(*n)++]);
    for (size_t i = 0; *n < KINDS && vidi_kind(i, &info) == VIDI_OK; i++)
        CLI_TRY(measure(info.name, pool, &results[(*n)++]));
    return CLI_OK;
}

/* ---- results ---- */

static double per_second(uint64_t urls, double time)
{
    return time > 0 ? (double)urls / time : 0;
}

static double bytes_per_url(const result *result)
{
    return result->stats.count ? (double)result->stats.memory_bytes / (double)result->stats.count : 0;
}

static void print_json(cli_out *out, const pool *pool, const result *results, size_t n)
{
    json_writer json = cli_json_begin(out);

    json_add_string(&json, "version", vidi_version());
    json_add_string(&json, "cpu", vidi_cpu());
    json_add_count(&json, "urls", pool->count);
    json_add_real(&json, "url_bytes", (double)pool->used / (double)pool->count);
    json_open(&json, "kinds", '[');
    for (size_t i = 0; i < n; i++) {
        json_open(&json, NULL, '{');
        json_add_string(&json, "kind", results[i].kind);
        json_add_string(&json, "params", results[i].stats.params);
        json_add_count(&json, "added", results[i].added);
        json_add_real(&json, "adds_per_second", per_second(results[i].added, results[i].add_seconds));
        json_add_count(&json, "asked", results[i].asked);
        json_add_real(&json, "questions_per_second", per_second(results[i].asked, results[i].ask_seconds));
        json_add_count(&json, "count", results[i].stats.count);
        json_add_count(&json, "memory_bytes", results[i].stats.memory_bytes);
        json_add_real(&json, "bytes_per_url", bytes_per_url(&results[i]));
        json_add_real(&json, "expected_lost", results[i].stats.expected_lost);
        json_add_string(&json, "expected_lost_is", cli_meaning_name(results[i].stats.fp_meaning));
        json_close(&json, '}');
    }
    json_close(&json, ']');
    cli_json_end(&json);
}

static int print_table(cli_out *out, const pool *pool, const result *results, size_t n)
{
    static const char *const heads[] = {"kind", "URLs", "adds/s", "lookups/s", "bytes/URL", "pages lost"};
    cli_table table = {.layout = "lrrrrr"};
    cli_number number;

    cli_out_format(out, "vidi %s, instructions %s, ", vidi_version(), vidi_cpu());
    cli_out_format(out, "%s URLs of %.0f bytes on average, one thread\n\n", cli_human_count(&number, pool->count),
                   (double)pool->used / (double)pool->count);
    cli_table_heads(&table, heads);
    for (size_t i = 0; i < n; i++) {
        const result *result = &results[i];
        cli_table_cell(&table, "%s", result->kind);
        cli_table_cell(&table, "%s", cli_human_count(&number, result->added));
        cli_table_cell(&table, "%s", cli_human_short(&number, per_second(result->added, result->add_seconds)));
        cli_table_cell(&table, "%s", cli_human_short(&number, per_second(result->asked, result->ask_seconds)));
        cli_table_cell(&table, "%s", cli_human_real(&number, bytes_per_url(result)));
        cli_table_cell(&table, "%s", cli_human_lost(&number, result->stats.expected_lost, result->stats.fp_meaning));
    }
    return cli_table_print(&table, out);
}

static int bench_run(const bench_options *options, cli_words files, pool *pool)
{
    result results[KINDS];
    size_t n;
    cli_out out;
    uint64_t urls = options->urls ? options->urls : URLS;
    int status = files.count > 0 ? read_urls(pool, files, urls) : make_urls(pool, urls);

    pool_finish(pool);
    if (status == CLI_OK)
        status = measure_kinds(options, pool, results, &n);
    if (status != CLI_OK)
        return status;
    cli_out_init(&out, STDOUT_FILENO);
    if (options->json)
        print_json(&out, pool, results, n);
    else
        status = print_table(&out, pool, results, n);
    return cli_out_end(&out, status);
}

static int run(void *values, cli_words words)
{
    pool pool = {0};
    int status = bench_run(values, words, &pool);

    free(pool.bytes);
    free(pool.urls);
    return status;
}

#define FIELD(name) offsetof(bench_options, name)

static const cli_option options_table[] = {
    {"urls", 0, CLI_COUNT, FIELD(urls), "N", "Maximum number of URLs, all in memory [2e6]", NULL, MOST_URLS},
    {"kind", 0, CLI_TEXT, FIELD(kind), "NAME", "This kind only; 'vidi kinds' lists them", NULL, 0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print one JSON object instead of a table", NULL, 0},
    CLI_OPTIONS_END,
};

const cli_command cli_bench = {
    .name = "bench",
    .summary = "Measure how fast each kind of set is on this machine",
    .usage = "vidi bench [OPTION]... [FILE]",
    .about = "Measures each kind of set on this machine: adds and lookups per second, bytes per URL, pages lost.",
    .details = "The URLs are the first lines of FILE ('-' means standard input), or synthetic ones if there is no "
               "FILE. One thread adds them to an empty set in memory and then looks them up. Each kind gets about half "
               "a second, so the whole run takes about ten; the column URLs shows how many were added in that time.\n"
               "The first line names the instruction set that the library uses on this machine. Set VIDI_CPU in the "
               "environment to portable, sse2, avx2, avx512 or neon to allow no more than that.\n"
               "The exit status is 0, or 2 after an error.",
    .examples = "  vidi bench\n"
                "  vidi bench --kind fingerprint --urls 1e7\n"
                "  vidi bench --json urls.txt.gz | jq '.kinds[0]'\n"
                "  VIDI_CPU=portable vidi bench\n",
    .options = options_table,
    .size = sizeof(bench_options),
    .operand = "FILE",
    .most = 1,
    .run = run,
};
