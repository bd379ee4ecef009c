/*
 * Operations on a whole set, of the default kind: to reserve room for it, copy it, digest what it holds, write it, and
 * open it for writing. The set has as many URLs as the largest size, at most ten million. Times are compared with that
 * of writing it to nowhere, which is little more than making checksums.
 */
#include "subjects.h"
#include "urls.h"
#include "vidi/transfer.h"

#include <stdlib.h>
#include <unistd.h>

enum { SEED = 6, ROUNDS = 5, MOST = 10000000, PIECE = 1 << 20, WRITE = 4 };

typedef struct subject {
    vidi_set *set;
    uint64_t n;
    char root[512], path[544]; /* of a copy in a folder */
    vidi_set *opened;
} subject;

typedef struct operation {
    const char *name;
    int (*run)(subject *self);
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

static int reserve(subject *self)
{
    return reserve_with(self->n, 0);
}

static int reserve_untouched(subject *self)
{
    return reserve_with(self->n, VIDI_TOUCH_LATER);
}

static int copy(subject *self)
{
    vidi_set *other;
    int code = vidi_copy(&other, self->set, NULL);
    if (code >= 0)
        vidi_close(other);
    return code;
}

static int digest(subject *self)
{
    unsigned char result[VIDI_CONTENT_DIGEST_BYTES];
    return vidi_content_digest(self->set, result);
}

static int discard(void *context, const void *data, size_t size)
{
    (void)context;
    (void)data;
    (void)size;
    return 0;
}

static int write_away(subject *self)
{
    return vidi_write(self->set, discard, NULL, 0);
}

static int write_pieces(subject *self)
{
    uint64_t cursor = 0;
    int code;
    do
        code = vidi_piece_write(self->set, &cursor, PIECE, discard, NULL);
    while (code >= 0 && cursor);
    return code;
}

/* It is closed when the time was taken. */
static int open_to_write(subject *self)
{
    vidi_access access = VIDI_ACCESS_INIT;
    access.sync = VIDI_SYNC_NEVER;
    return vidi_open(&self->opened, self->path, &access);
}

static const operation operations[BENCH_WHOLE_ROWS] = {
    {"create and close, room reserved", reserve},      {"the same with VIDI_TOUCH_LATER", reserve_untouched},
    {"vidi_copy, and close the copy", copy},           {"vidi_content_digest", digest},
    [WRITE] = {"vidi_write, to nowhere", write_away},  {"vidi_piece_write, 1 MiB each", write_pieces},
    {"vidi_open to write, page cache", open_to_write},
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

/* Puts a copy of the set into a folder. */
static int put_into_folder(subject *self, const char *folder)
{
    vidi_set *other = NULL;
    snprintf(self->root, sizeof self->root, "%s/vidi-bench-XXXXXX", folder);
    if (!mkdtemp(self->root))
        self->root[0] = 0;
    snprintf(self->path, sizeof self->path, "%s/set", self->root);
    int code = vidi_copy(&other, self->set, NULL);
    if (code >= 0)
        code = vidi_attach(other, self->path, NULL);
    if (code >= 0)
        vidi_close(other);
    return code;
}

static void measure(const operation *operation, subject *self, bench_whole *row)
{
    double cpu = bench_cpu_now(), start = bench_now();
    if (operation->run(self) < 0)
        fprintf(stderr, "Left out: %s: %s\n", operation->name, vidi_message());
    else
        bench_record(&row->series, bench_now() - start, bench_cpu_now() - cpu);
    vidi_close(self->opened);
    self->opened = NULL;
}

void bench_whole_measure(bench_run *run)
{
    subject self = {.n = 0};
    vidi_stats stats = {.size = sizeof stats};
    for (size_t i = 0; i < run->size_count; i++)
        self.n = run->sizes[i] > self.n && run->sizes[i] <= MOST ? run->sizes[i] : self.n;
    self.set = self.n ? fill(self.n) : NULL;
    if (!self.set || vidi_stat(self.set, &stats) < 0 ||
        put_into_folder(&self, run->folder ? run->folder : BENCH_FOLDER) < 0) {
        fprintf(stderr, "Left out: operations on a whole set: %s\n",
                self.n ? vidi_message() : "all sizes are too large");
        return;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < BENCH_WHOLE_ROWS; i++) {
            bench_whole *row = &run->whole[i];
            row->name = operations[i].name;
            row->n = self.n;
            row->bytes = (double)stats.memory_bytes;
            measure(&operations[i], &self, row);
        }
    vidi_close(self.set);
    bench_remove_set(self.path);
    rmdir(self.root);
}

void bench_whole_table(const bench_run *run, FILE *out)
{
    fprintf(out, "\n| %-32s | %8s | %8s | %10s | %10s | %6s | %7s |\n|---|--:|--:|--:|--:|--:|--:|\n", "a whole set",
            "URLs", "MB", "best, ms", "median, ms", "GB/s", "x write");
    for (size_t i = 0; i < BENCH_WHOLE_ROWS; i++) {
        const bench_whole *row = &run->whole[i], *write = &run->whole[WRITE];
        if (row->series.rounds)
            fprintf(out, "| %-32s | %8.3g | %8.1f | %10.2f | %10.2f | %6.2f | %7.2f |\n", row->name, (double)row->n,
                    row->bytes / 1e6, bench_best(&row->series) / 1e6, bench_median(&row->series) / 1e6,
                    row->bytes / bench_best(&row->series),
                    write->series.rounds ? bench_best(&write->series) / bench_best(&row->series) : 0);
    }
}
