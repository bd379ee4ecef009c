/*
 * Operations on a whole set in memory, of the default kind: to reserve room for it, copy it, digest what it holds, and
 * write it. The set has as many URLs as the largest size, at most ten million.
 */
#include "subjects.h"
#include "urls.h"
#include "vidi/transfer.h"

enum { SEED = 6, ROUNDS = 5, MOST = 10000000, PIECE = 1 << 20 };

typedef struct operation {
    const char *name;
    int (*run)(const vidi_set *set, uint64_t n);
} operation;

static int reserve_with(uint64_t n, unsigned flags)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *fresh;
    access.flags = flags;
    options.access = &access;
    options.capacity = n;
    int code = vidi_create(&fresh, &options);
    if (code >= 0)
        vidi_close(fresh);
    return code;
}

static int reserve(const vidi_set *set, uint64_t n)
{
    (void)set;
    return reserve_with(n, 0);
}

static int reserve_untouched(const vidi_set *set, uint64_t n)
{
    (void)set;
    return reserve_with(n, VIDI_TOUCH_LATER);
}

static int copy(const vidi_set *set, uint64_t n)
{
    vidi_set *other;
    (void)n;
    int code = vidi_copy(&other, set, NULL);
    if (code >= 0)
        vidi_close(other);
    return code;
}

static int digest(const vidi_set *set, uint64_t n)
{
    unsigned char result[VIDI_CONTENT_DIGEST_BYTES];
    (void)n;
    return vidi_content_digest(set, result);
}

static int discard(void *context, const void *data, size_t size)
{
    (void)context;
    (void)data;
    (void)size;
    return 0;
}

static int write_away(const vidi_set *set, uint64_t n)
{
    (void)n;
    return vidi_write(set, discard, NULL, 0);
}

static int write_pieces(const vidi_set *set, uint64_t n)
{
    uint64_t cursor = 0;
    int code;
    (void)n;
    do
        code = vidi_piece_write(set, &cursor, PIECE, discard, NULL);
    while (code >= 0 && cursor);
    return code;
}

static const operation operations[BENCH_WHOLE_ROWS] = {
    {"create and close, room reserved", reserve}, {"the same with VIDI_TOUCH_LATER", reserve_untouched},
    {"vidi_copy, and close the copy", copy},      {"vidi_content_digest", digest},
    {"vidi_write, to nowhere", write_away},       {"vidi_piece_write, 1 MiB each", write_pieces},
};

static vidi_set *fill(uint64_t n)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    static uint8_t verdicts[BENCH_BATCH];
    vidi_set *set;
    url_chunk chunk;
    options.capacity = n;
    if (url_chunk_open(&chunk, BENCH_BATCH) != 0)
        return NULL;
    int code = vidi_create(&set, &options);
    for (uint64_t done = 0; code >= 0 && done < n; done += BENCH_BATCH) {
        size_t count = n - done < BENCH_BATCH ? (size_t)(n - done) : BENCH_BATCH;
        for (size_t i = 0; i < count; i++)
            chunk.numbers[i] = done + i;
        url_chunk_fill(&chunk, SEED, count);
        code = vidi_add_batch(set, chunk.urls, count, verdicts, NULL);
    }
    url_chunk_close(&chunk);
    return code < 0 ? NULL : set;
}

void bench_whole_measure(bench_run *run)
{
    uint64_t n = 0;
    vidi_stats stats = {.size = sizeof stats};
    for (size_t i = 0; i < run->size_count; i++)
        n = run->sizes[i] > n && run->sizes[i] <= MOST ? run->sizes[i] : n;
    vidi_set *set = n ? fill(n) : NULL;
    if (!set || vidi_stat(set, &stats) < 0) {
        fprintf(stderr, "Left out: operations on a whole set: %s\n", n ? vidi_message() : "all sizes are too large");
        return;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < BENCH_WHOLE_ROWS; i++) {
            bench_whole *row = &run->whole[i];
            double cpu = bench_cpu_now(), start = bench_now();
            row->name = operations[i].name;
            row->n = n;
            row->bytes = (double)stats.memory_bytes;
            if (operations[i].run(set, n) < 0)
                fprintf(stderr, "Left out: %s: %s\n", row->name, vidi_message());
            else
                bench_record(&row->series, bench_now() - start, bench_cpu_now() - cpu);
        }
    vidi_close(set);
}

void bench_whole_table(const bench_run *run, FILE *out)
{
    fprintf(out, "\n| %-32s | %8s | %8s | %10s | %10s | %6s |\n|---|--:|--:|--:|--:|--:|\n", "a whole set in memory",
            "URLs", "MB", "best, ms", "median, ms", "GB/s");
    for (size_t i = 0; i < BENCH_WHOLE_ROWS; i++) {
        const bench_whole *row = &run->whole[i];
        if (row->series.rounds)
            fprintf(out, "| %-32s | %8.3g | %8.1f | %10.2f | %10.2f | %6.2f |\n", row->name, (double)row->n,
                    row->bytes / 1e6, bench_best(&row->series) / 1e6, bench_median(&row->series) / 1e6,
                    row->bytes / bench_best(&row->series));
    }
}
