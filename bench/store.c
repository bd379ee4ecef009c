/*
 * Compares sets that live in a folder with sets in memory. It measures what an add costs with each sync policy, in
 * batches of several sizes. It also measures how long it takes to open such a set, to verify it, and to write a
 * snapshot, compared with writing and syncing a plain file of the same size.
 *
 * Sets that are added to have their memory reserved and touched beforehand. "add" ends before a snapshot is due (32 MiB
 * of log), so it shows the cost of the log alone. "fill" goes far beyond that and takes more than a second, so it
 * includes syncs and snapshots. Making the URLs is not timed. The set's background threads may work during that time,
 * but their processor time is always counted.
 *
 * All files are in a new folder below --folder, which is removed afterwards.
 */
#include "subjects.h"
#include "urls.h"
#include "common/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOGGED 1000000u /* URLs in the log when a set is opened again */
#define PIECE ((size_t)1 << 20)

typedef struct place {
    char root[512], set[544], file[544];
    url_chunk chunk;
    uint8_t *verdicts;
} place;

/* ---- files ---- */

typedef void each_fn(const char *path, void *context);

static void each_file(const char *folder, each_fn *each, void *context)
{
    DIR *list = opendir(folder);
    const struct dirent *entry;
    while (list && (entry = readdir(list))) { /* NOLINT(concurrency-mt-unsafe): the handle is nobody else's */
        char path[1024];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        each(path, context);
    }
    if (list)
        closedir(list);
}

static void remove_file(const char *path, void *context)
{
    (void)context;
    unlink(path);
}

void bench_remove_set(const char *path)
{
    each_file(path, remove_file, NULL);
    rmdir(path);
}

/* Drops the files from the page cache, so the next opening reads them from disk. */
static void chill(const char *path, void *context)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    (void)context;
    if (file < 0)
        return;
    fsync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
}

static void add_size(const char *path, void *bytes)
{
    struct stat is;
    if (stat(path, &is) == 0)
        *(double *)bytes += (double)is.st_size;
}

static bool write_all(int file, const char *piece, size_t bytes)
{
    for (size_t left = bytes; left;) {
        ssize_t done = write(file, piece, left < PIECE ? left : PIECE);
        if (done <= 0)
            return false;
        left -= (size_t)done;
    }
    return fsync(file) == 0;
}

/* Writes and syncs a file, as `dd bs=1M conv=fsync` does. */
static bool write_plainly(const place *place, size_t bytes)
{
    char *piece = malloc(PIECE);
    int file = open(place->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool fine = piece && file >= 0;
    if (fine) {
        memset(piece, 'v', PIECE);
        fine = write_all(file, piece, bytes);
    }
    if (!fine)
        bench_refuse("%s: %s", place->file, strerror(errno));
    if (file >= 0)
        close(file);
    free(piece);
    return fine;
}

/* ---- rows ---- */

static bench_store *row_of(bench_run *run, const char *name, const char *subject, const char *peer, const char *note)
{
    for (size_t i = 0; i < run->store_count; i++)
        if (strcmp(run->store[i].name, name) == 0 && strcmp(run->store[i].subject, subject) == 0)
            return &run->store[i];
    if (run->store_count == BENCH_STORE_ROWS)
        return NULL;
    bench_store *row = &run->store[run->store_count++];
    *row = (bench_store){.subject = subject, .peer = peer, .note = note};
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

const bench_store *bench_store_find(const bench_run *run, const char *name, const char *subject)
{
    for (size_t i = 0; subject && i < run->store_count; i++)
        if (strcmp(run->store[i].name, name) == 0 && strcmp(run->store[i].subject, subject) == 0)
            return &run->store[i];
    return NULL;
}

static void fail(bench_store *row)
{
    snprintf(row->why, sizeof row->why, "%s", bench_reason());
}

static bool fine(int code)
{
    if (code < 0)
        bench_refuse("%s", vidi_message());
    return code >= 0;
}

/* ---- adding ---- */

static const struct mode {
    const char *name, *peer;
    bool in_folder, commits;
    uint32_t flags, sync;
    const char *note;
} modes[] = {
    {"memory", NULL, false, false, 0, 0, "a set in memory"},
    {"never", "memory", true, false, 0, VIDI_SYNC_NEVER, "VIDI_SYNC_NEVER"},
    {"everysec", "never", true, false, 0, VIDI_SYNC_EVERY_SECOND, "the default: synced once a second"},
    {"manual", "memory", true, true, VIDI_MANUAL_COMMIT, 0, "VIDI_MANUAL_COMMIT, a commit after each batch"},
    {"always", "memory", true, false, 0, VIDI_SYNC_ALWAYS, "VIDI_SYNC_ALWAYS: each batch waits for the disk"},
};

/* URLs to add, and the size of batches. `always` has fewer URLs, because each batch waits for the disk. */
typedef struct load {
    const char *name;
    size_t batch;
    uint64_t n, always;
} load;

static bool make_set(const place *place, const struct mode *mode, uint64_t n, vidi_set **set)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    options.capacity = n;
    options.canon = "none";
    options.access = &access;
    access.allocator = &bench_allocator;
    access.flags = mode->flags;
    access.sync = mode->sync;
    options.path = mode->in_folder ? place->set : NULL;
    return fine(vidi_create(set, &options));
}

static int open_unsynced(vidi_set **set, const place *place, unsigned flags)
{
    vidi_access access = VIDI_ACCESS_INIT;
    access.flags = flags;
    access.sync = VIDI_SYNC_NEVER;
    return vidi_open(set, place->set, &access);
}

static bool add_chunk(vidi_set *set, const struct mode *mode, const place *place, size_t count, size_t batch)
{
    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < batch ? count - done : batch;
        if (!fine(vidi_add_batch(set, place->chunk.urls + done, n, place->verdicts, NULL)) ||
            (mode->commits && !fine(vidi_commit(set))))
            return false;
    }
    return true;
}

static void make_chunk(place *place, uint64_t from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        place->chunk.numbers[i] = from + i;
    url_chunk_fill(&place->chunk, 1, count);
}

/* Adds n URLs and records the time, without the time to make them. */
static bool add_all(vidi_set *set, const struct mode *mode, place *place, uint64_t from, uint64_t n, size_t batch,
                    bench_series *series)
{
    double start = bench_now(), cpu = bench_cpu_now(), making = 0, making_cpu = 0;
    for (uint64_t done = 0; done < n; done += BENCH_CHUNK) {
        size_t count = n - done < BENCH_CHUNK ? (size_t)(n - done) : BENCH_CHUNK;
        double begun = bench_now(), begun_cpu = (double)clock_read(CLOCK_THREAD_CPUTIME_ID);
        make_chunk(place, from + done, count);
        making += bench_now() - begun;
        making_cpu += (double)clock_read(CLOCK_THREAD_CPUTIME_ID) - begun_cpu;
        if (!add_chunk(set, mode, place, count, batch))
            return false;
    }
    if (series)
        bench_record(series, (bench_now() - start - making) / (double)n,
                     (bench_cpu_now() - cpu - making_cpu) / (double)n);
    return true;
}

static void measure_mode(bench_run *run, place *place, const load *load, const struct mode *mode)
{
    char name[sizeof run->store[0].name];
    snprintf(name, sizeof name, "store %s, batch %zu", load->name, load->batch);
    bench_store *row = row_of(run, name, mode->name, mode->peer, mode->note);
    vidi_set *set = NULL;
    if (!row || row->why[0])
        return;
    row->n = mode->sync == VIDI_SYNC_ALWAYS ? load->always : load->n;
    row->bytes = run->url_bytes;
    if (!make_set(place, mode, row->n, &set) || !add_all(set, mode, place, 0, row->n, load->batch, &row->series))
        fail(row);
    vidi_close(set);
    bench_remove_set(place->set);
}

static bool takes_part(const load *load, const struct mode *mode)
{
    if (mode->commits && load->batch != BENCH_BATCH)
        return false;
    return load->always || mode->sync != VIDI_SYNC_ALWAYS;
}

/* The modes take turns, so that disturbances of machine or disk affect all of them. */
static void measure_adds(bench_run *run, place *place, const load *loads, size_t count, int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < sizeof modes / sizeof modes[0]; j++)
                if (takes_part(&loads[i], &modes[j]))
                    measure_mode(run, place, &loads[i], &modes[j]);
}

/* ---- opening, verifying, snapshots ---- */

static bool build(place *place, uint64_t from, uint64_t n, bool is_new)
{
    static const struct mode mode = {.name = "build", .in_folder = true, .sync = VIDI_SYNC_NEVER};
    vidi_set *set = NULL;
    bool built =
        is_new ? make_set(place, &mode, n, &set) : fine(vidi_open(&set, place->set, NULL)); /* it syncs: indexed */
    built = built && add_all(set, &mode, place, from, n, BENCH_BATCH, NULL) &&
            (is_new ? fine(vidi_snapshot(set)) : fine(vidi_sync(set)));
    vidi_close(set);
    return built;
}

static void begin_row(bench_store *row, const place *place, uint64_t n)
{
    row->n = n;
    row->bytes = 0;
    each_file(place->set, add_size, &row->bytes);
}

static void measure_open(bench_run *run, const place *place, const char *name, const char *subject, unsigned flags,
                         bool cold, uint64_t n)
{
    bench_store *row = row_of(run, name, subject, NULL, cold ? "not in the page cache" : "in the page cache");
    vidi_set *set = NULL;
    if (!row || row->why[0])
        return;
    begin_row(row, place, n);
    if (cold)
        each_file(place->set, chill, NULL);
    double cpu = bench_cpu_now(), start = bench_now();
    if (fine(open_unsynced(&set, place, flags)))
        bench_record(&row->series, bench_now() - start, bench_cpu_now() - cpu);
    else
        fail(row);
    vidi_close(set);
}

static void measure_verify(bench_run *run, const place *place, uint64_t n)
{
    bench_store *row = row_of(run, "store verify", "vidi_verify", NULL, "of a mapped set, in the page cache");
    vidi_set *set = NULL;
    if (!row || row->why[0])
        return;
    begin_row(row, place, n);
    bool good = fine(open_unsynced(&set, place, VIDI_READ_ONLY));
    double cpu = bench_cpu_now(), start = bench_now();
    if (good && fine(vidi_verify(set)))
        bench_record(&row->series, bench_now() - start, bench_cpu_now() - cpu);
    else
        fail(row);
    vidi_close(set);
}

/* Runs each operation once a round, one after the other. */
static void measure_snapshot(bench_run *run, const place *place, vidi_set *set, uint64_t n)
{
    bench_store *plain =
        row_of(run, "store snapshot", "write+fsync", NULL, "the same number of bytes, in pieces of 1 MiB");
    bench_store *own = row_of(run, "store snapshot", "vidi_snapshot", "write+fsync", "with its checksums");
    if (!plain || !own || plain->why[0] || own->why[0])
        return;
    begin_row(own, place, n);
    begin_row(plain, place, n);
    double cpu = bench_cpu_now(), start = bench_now();
    if (!write_plainly(place, (size_t)plain->bytes))
        fail(plain);
    else
        bench_record(&plain->series, bench_now() - start, bench_cpu_now() - cpu);
    unlink(place->file);
    cpu = bench_cpu_now();
    start = bench_now();
    if (!fine(vidi_snapshot(set)))
        fail(own);
    else
        bench_record(&own->series, bench_now() - start, bench_cpu_now() - cpu);
}

static void measure_snapshots(bench_run *run, const place *place, uint64_t n, int rounds)
{
    vidi_set *set = NULL;
    for (int round = 0; round < rounds; round++) {
        measure_open(run, place, "store open", "writing", 0, false, n);
        measure_open(run, place, "store open", "writing, cold", 0, true, n);
    }
    if (!fine(open_unsynced(&set, place, 0)))
        return;
    for (int round = 0; round < rounds; round++)
        measure_snapshot(run, place, set, n);
    vidi_close(set);
}

static void measure_whole(bench_run *run, place *place, uint64_t n, int rounds)
{
    if (!build(place, 0, n, true)) {
        fprintf(stderr, "store: %s\n", bench_reason());
        return;
    }
    for (int round = 0; round < rounds; round++) {
        measure_open(run, place, "store open", "reading", VIDI_READ_ONLY, false, n);
        measure_open(run, place, "store open", "reading, cold", VIDI_READ_ONLY, true, n);
        measure_verify(run, place, n);
    }
    measure_snapshots(run, place, n, rounds);
    if (build(place, n, LOGGED, false))
        for (int round = 0; round < rounds; round++) {
            measure_open(run, place, "store open, 1e6 in the log", "reading", VIDI_READ_ONLY, false, n);
            measure_open(run, place, "store open, 1e6 in the log", "writing", 0, false, n);
        }
    uint64_t more = n / 5 > LOGGED ? n / 5 - LOGGED : 0; /* still less than what makes a snapshot due */
    if (more && build(place, n + LOGGED, more, false))
        for (int round = 0; round < rounds; round++)
            measure_open(run, place, "store open, a fifth in the log", "reading", VIDI_READ_ONLY, false, n);
    bench_remove_set(place->set);
}

/* ---- all measurements ---- */

static bool open_place(place *place, const char *folder)
{
    snprintf(place->root, sizeof place->root, "%s/vidi-bench-XXXXXX", folder);
    place->verdicts = malloc(BENCH_CHUNK);
    if (!place->verdicts || url_chunk_open(&place->chunk, BENCH_CHUNK) < 0)
        return false;
    if (!mkdtemp(place->root)) {
        fprintf(stderr, "vidi-bench: cannot create a folder in %s: %s\n", folder, strerror(errno));
        return false;
    }
    snprintf(place->set, sizeof place->set, "%s/set", place->root);
    snprintf(place->file, sizeof place->file, "%s/file", place->root);
    return true;
}

void bench_store_measure(bench_run *run)
{
    static const load quick[] = {{"add", 1, 300000, 200}, {"add", 64, 1000000, 12800}, {"add", 4096, 1000000, 409600}};
    static const load loads[] = {{"add", 1, 1000000, 500},
                                 {"add", 64, 2000000, 32000},
                                 {"add", 4096, 2000000, 819200},
                                 {"fill", 4096, 20000000, 0}};
    place place = {.verdicts = NULL};
    int rounds = run->rounds ? run->rounds : run->quick ? 3 : 5;
    uint64_t most = 0;
    for (size_t i = 0; i < run->size_count; i++)
        most = run->sizes[i] > most ? run->sizes[i] : most;
    if (open_place(&place, run->folder ? run->folder : BENCH_FOLDER)) {
        if (run->quick)
            measure_adds(run, &place, quick, sizeof quick / sizeof quick[0], rounds);
        else
            measure_adds(run, &place, loads, sizeof loads / sizeof loads[0], rounds);
        measure_whole(run, &place, most, rounds);
        rmdir(place.root);
    }
    url_chunk_close(&place.chunk);
    free(place.verdicts);
}

/* ---- the table ---- */

static bool is_add(const bench_store *row)
{
    return strncmp(row->name, "store add", 9) == 0 || strncmp(row->name, "store fill", 10) == 0;
}

static double median_ratio(const bench_store *row, const bench_store *peer)
{
    return peer && peer->series.rounds ? bench_median(&row->series) / bench_median(&peer->series) : 0;
}

static void add_row(const bench_run *run, const bench_store *row, FILE *out)
{
    double median = bench_median(&row->series);
    double memory = median_ratio(row, bench_store_find(run, row->name, "memory"));
    double never = median_ratio(row, bench_store_find(run, row->name, "never"));
    fprintf(out, "| %-22s | %-9s | %9.3g | %10.1f | %10.1f | %10.1f | %11.4g | %8.2f | %7.2f |\n", row->name,
            row->subject, (double)row->n, bench_best(&row->series), median, row->series.cpu_ns, 1e9 / median, memory,
            never);
}

static void whole_row(const bench_store *row, FILE *out)
{
    double best = bench_best(&row->series), median = bench_median(&row->series);
    fprintf(out, "| %-26s | %-14s | %7.3g | %8.1f | %10.2f | %10.2f | %8.2f |\n", row->name, row->subject,
            (double)row->n, row->bytes / 1e6, best / 1e6, median / 1e6, row->bytes / median);
}

void bench_store_table(const bench_run *run, FILE *out)
{
    if (!run->store_count)
        return;
    fprintf(out, "\nSets in a folder: adding, ns a URL of %.0f bytes; times are ratios of medians\n\n", run->url_bytes);
    fprintf(out, "| %-22s | %-9s | %9s | %10s | %10s | %10s | %11s | %8s | %7s |\n", "", "", "URLs", "best", "median",
            "cpu", "URLs/s", "x memory", "x never");
    fprintf(out, "|---|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < run->store_count; i++)
        if (is_add(&run->store[i]) && run->store[i].series.rounds)
            add_row(run, &run->store[i], out);
    fprintf(out, "\n| %-26s | %-14s | %7s | %8s | %10s | %10s | %8s |\n|---|---|--:|--:|--:|--:|--:|\n", "", "", "URLs",
            "MB", "best, ms", "median, ms", "GB/s");
    for (size_t i = 0; i < run->store_count; i++)
        if (!is_add(&run->store[i]) && run->store[i].series.rounds)
            whole_row(&run->store[i], out);
    for (size_t i = 0; i < run->store_count; i++)
        if (run->store[i].why[0])
            fprintf(out, "Left out: %s, %s: %s\n", run->store[i].name, run->store[i].subject, run->store[i].why);
}
