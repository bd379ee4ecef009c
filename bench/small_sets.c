/*
 * Small sets: a server may keep one for each user. Measures the memory of a set that holds only a few URLs, and the
 * time to create one, add the URLs one at a time, and close it. The sets grow from empty.
 */
#include "subjects.h"
#include "urls.h"

enum {
    SEED = 5,
    ROUNDS = 9,
    URLS_IN_A_ROUND = 20000, /* or one set, if that holds more */
    SETS_MOST = 1000
};

static const uint64_t sizes[BENCH_SMALL_SIZES] = {0, 100, 1000, 10000};
static const char *const kinds[BENCH_SMALL_KINDS] = {"fingerprint", "blocked", "scalable", "hashset"};

/* Creates a set of n URLs, weighs it and closes it. 0, or -1 after an error. */
static int make_one(const char *kind, const vidi_str *urls, uint64_t n, double *bytes)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_stats stats = {.size = sizeof stats};
    vidi_set *set;
    options.kind = kind;
    if (vidi_create(&set, &options) < 0)
        return -1;
    int code = VIDI_OK;
    for (uint64_t i = 0; i < n && code >= 0; i++)
        code = vidi_add(set, urls[i]);
    if (code >= 0)
        code = vidi_stat(set, &stats);
    *bytes = (double)stats.memory_bytes;
    vidi_close(set);
    return code < 0 ? -1 : 0;
}

static int measure(bench_small *row, const vidi_str *urls)
{
    uint64_t sets = row->n * SETS_MOST <= URLS_IN_A_ROUND ? SETS_MOST : URLS_IN_A_ROUND / row->n;
    sets = sets ? sets : 1;
    for (int round = 0; round < ROUNDS; round++) {
        double cpu = bench_cpu_now(), start = bench_now();
        for (uint64_t i = 0; i < sets; i++)
            if (make_one(row->kind, urls, row->n, &row->bytes) < 0)
                return -1;
        bench_record(&row->series, (bench_now() - start) / (double)sets, (bench_cpu_now() - cpu) / (double)sets);
    }
    return 0;
}

void bench_small_measure(bench_run *run)
{
    url_chunk chunk;
    uint64_t most = sizes[BENCH_SMALL_SIZES - 1];
    if (url_chunk_open(&chunk, (size_t)most) != 0)
        return;
    for (uint64_t i = 0; i < most; i++)
        chunk.numbers[i] = i;
    url_chunk_fill(&chunk, SEED, (size_t)most);
    for (size_t kind = 0; kind < BENCH_SMALL_KINDS; kind++)
        for (size_t size = 0; size < BENCH_SMALL_SIZES; size++) {
            bench_small *row = &run->small[kind][size];
            *row = (bench_small){.kind = kinds[kind], .n = sizes[size]};
            if (measure(row, chunk.urls) < 0)
                fprintf(stderr, "Left out: a small %s: %s\n", row->kind, vidi_message());
        }
    url_chunk_close(&chunk);
}

void bench_small_table(const bench_run *run, FILE *out)
{
    fprintf(out, "\n| %-25s |", "a small set, grown");
    for (size_t size = 0; size < BENCH_SMALL_SIZES; size++)
        fprintf(out, " %5g URLs: bytes | a URL | microseconds |", (double)sizes[size]);
    fprintf(out, "\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for (size_t kind = 0; kind < BENCH_SMALL_KINDS; kind++) {
        fprintf(out, "| %-25s |", kinds[kind]);
        for (size_t size = 0; size < BENCH_SMALL_SIZES; size++) {
            const bench_small *row = &run->small[kind][size];
            if (!row->series.rounds)
                fprintf(out, " %17s | %5s | %12s |", "-", "-", "-");
            else if (!row->n)
                fprintf(out, " %17.0f | %5s | %12.1f |", row->bytes, "-", bench_best(&row->series) / 1e3);
            else
                fprintf(out, " %17.0f | %5.1f | %12.1f |", row->bytes, row->bytes / (double)row->n,
                        bench_best(&row->series) / 1e3);
        }
        fprintf(out, "\n");
    }
}
