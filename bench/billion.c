/*
 * Simulates a crawl of a billion distinct URLs with 40 % repeats on top. All go through vidi_add_batch into a set of
 * the default kind that starts empty. After every five new URLs come two repeats, drawn evenly from all URLs so far.
 * This is harder on caches than a real crawl.
 *
 *     vidi-billion [URLS] [populated]      URLS: distinct URLs, 1e9 by default
 *
 * Progress goes to stderr, and a Markdown table to stdout. With `populated`, the set's memory is touched before the
 * first URL comes. Then the time of a batch does not include the kernel's clearing of pages, and resident memory says
 * nothing.
 *
 * A second thread makes the URLs. Only vidi_add_batch is timed, in elapsed time, which includes interruptions by a busy
 * system, and in processor time of the thread, which does not. Every verdict is checked: a repeat must be SEEN, and a
 * distinct URL that is SEEN is lost. The exit status is 1 if a URL was forgotten, and 2 after an error.
 */
#include "urls.h"
#include "common/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define BATCH 4096
#define SLOTS 16
#define SAMPLES 1000000
#define SEED UINT64_C(20240229)
#define BINS 24 /* bin i of the histogram: below 2^i microseconds */

/* ---- the sequence of URLs ---- */

/* Number of repeats among the first t URLs: two of every seven. */
static uint64_t repeats_before(uint64_t t)
{
    return t / 7 * 2 + t % 7 * 2 / 7;
}

static bool is_repeat(uint64_t t)
{
    return repeats_before(t + 1) > repeats_before(t);
}

static uint64_t below(uint64_t random, uint64_t limit)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)random * limit >> 64);
}

/* The number that URL t is made from: a new one, or that of an earlier URL. */
static uint64_t number_at(uint64_t t)
{
    uint64_t distinct = t - repeats_before(t);
    return is_repeat(t) ? below(url_mix(t), distinct) : distinct;
}

/* ---- the thread that makes the URLs ---- */

typedef struct line {
    url_chunk slots[SLOTS];
    sem_t filled, empty;
    uint64_t total;
} line;

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) < 0 && errno == EINTR)
        continue;
}

static size_t batch_at(const line *line, uint64_t first)
{
    return line->total - first < BATCH ? (size_t)(line->total - first) : BATCH;
}

static void *produce(void *context)
{
    line *line = context;
    for (uint64_t first = 0; first < line->total; first += BATCH) {
        url_chunk *slot = &line->slots[first / BATCH % SLOTS];
        size_t count = batch_at(line, first);
        wait_for(&line->empty);
        for (size_t i = 0; i < count; i++)
            slot->numbers[i] = number_at(first + i);
        url_chunk_fill(slot, SEED, count);
        sem_post(&line->filled);
    }
    return NULL;
}

static int open_line(line *line, uint64_t total)
{
    line->total = total;
    if (sem_init(&line->filled, 0, 0) < 0 || sem_init(&line->empty, 0, SLOTS) < 0)
        return -1;
    for (size_t i = 0; i < SLOTS; i++) {
        if (url_chunk_open(&line->slots[i], BATCH) < 0)
            return -1;
        memset(line->slots[i].bytes, 0, (size_t)BATCH * URL_ROOM); /* resident before the set is weighed */
    }
    return 0;
}

static void close_line(line *line)
{
    for (size_t i = 0; i < SLOTS; i++)
        url_chunk_close(&line->slots[i]);
}

/* ---- records ---- */

/* The most resident bytes a URL, and the size of the set at that moment. */
typedef struct range {
    double from, most, at;
} range;

typedef struct record {
    float *wall, *cpu; /* nanoseconds for each batch */
    size_t batches;
    double wall_sum, cpu_sum;
    double wall_undisturbed; /* the longest batch that was not preempted */
    uint64_t preempted;      /* number of batches */
    uint64_t forgotten, lost;
    uint64_t base, resident; /* bytes before the set was created, and at the end */
    double look_next;
    range ranges[3];
} record;

static double now(clockid_t clock)
{
    return (double)clock_read(clock);
}

static long preemptions(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* The value of a line in /proc/self/status, in bytes; 0 if there is no such line. */
static uint64_t memory_line(const char *name)
{
    char text[256];
    uint64_t bytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(text, sizeof text, file))
        if (strncmp(text, name, strlen(name)) == 0)
            bytes = strtoull(text + strlen(name), NULL, 10) * 1024;
    if (file)
        fclose(file);
    return bytes;
}

static uint64_t grown_by(const record *record)
{
    uint64_t resident = memory_line("VmRSS:");
    return resident > record->base ? resident - record->base : 0;
}

static int open_record(record *record, uint64_t total)
{
    size_t room = (size_t)(total / BATCH + 1);
    *record = (struct record){.look_next = 1e6, .ranges = {{1e6, 0, 0}, {1e7, 0, 0}, {1e8, 0, 0}}};
    record->wall = malloc(room * sizeof *record->wall);
    record->cpu = malloc(room * sizeof *record->cpu);
    if (!record->wall || !record->cpu)
        return -1;
    memset(record->wall, 0, room * sizeof *record->wall);
    memset(record->cpu, 0, room * sizeof *record->cpu);
    return 0;
}

/* Records resident memory at every power of 1.1 from a million URLs on. */
static void look(record *record, double distinct)
{
    if (distinct < record->look_next)
        return;
    double each = (double)grown_by(record) / distinct;
    int place = distinct >= 1e8 ? 2 : distinct >= 1e7 ? 1 : 0;
    if (each > record->ranges[place].most) {
        record->ranges[place].most = each;
        record->ranges[place].at = distinct;
    }
    while (record->look_next <= distinct)
        record->look_next *= 1.1;
}

static void check(record *record, const uint8_t *verdicts, uint64_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_repeat(first + i))
            record->forgotten += verdicts[i] != VIDI_SEEN;
        else
            record->lost += verdicts[i] != VIDI_NEW;
    }
}

static int add_timed(record *record, vidi_set *set, const vidi_str *urls, size_t count, uint8_t *verdicts)
{
    long switches = preemptions();
    double cpu = now(CLOCK_THREAD_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
    int code = vidi_add_batch(set, urls, count, verdicts, NULL);
    wall = now(CLOCK_MONOTONIC) - wall;
    cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    record->wall[record->batches] = (float)wall;
    record->cpu[record->batches++] = (float)cpu;
    record->wall_sum += wall;
    record->cpu_sum += cpu;
    if (preemptions() != switches)
        record->preempted++;
    else if (wall > record->wall_undisturbed)
        record->wall_undisturbed = wall;
    return code;
}

static void progress(const record *record, uint64_t done, uint64_t total)
{
    static double shown;
    double time = now(CLOCK_MONOTONIC), distinct = (double)(done - repeats_before(done));
    if (shown == 0)
        shown = time;
    if (time - shown < 5e9)
        return;
    shown = time;
    fprintf(stderr, "%5.1f %%: %.3g distinct, %.1f ns a URL so far, %.2f resident bytes a URL, %" PRIu64 " lost\n",
            100 * (double)done / (double)total, distinct, record->wall_sum / (double)done,
            (double)grown_by(record) / distinct, record->lost);
}

static int fill(record *record, vidi_set *set, line *line)
{
    uint8_t verdicts[BATCH];
    for (uint64_t first = 0; first < line->total; first += BATCH) {
        const url_chunk *slot = &line->slots[first / BATCH % SLOTS];
        size_t count = batch_at(line, first);
        wait_for(&line->filled);
        int code = add_timed(record, set, slot->urls, count, verdicts);
        if (code < 0)
            return code;
        check(record, verdicts, first, count);
        sem_post(&line->empty);
        look(record, (double)(first + count - repeats_before(first + count)));
        progress(record, first + count, line->total);
    }
    return VIDI_OK;
}

/* ---- lookups at the end ---- */

typedef struct sample {
    uint64_t asked, seen;
    double ns;
} sample;

/* Looks up single URLs: from numbers below n, drawn evenly, or URLs that were never added. */
static sample ask(const vidi_set *set, url_chunk *chunk, uint64_t n, bool present)
{
    sample sample = {.asked = n < SAMPLES ? n : SAMPLES};
    for (uint64_t done = 0; done < sample.asked; done += BATCH) {
        size_t count = sample.asked - done < BATCH ? (size_t)(sample.asked - done) : BATCH;
        for (size_t i = 0; i < count; i++)
            chunk->numbers[i] = present ? below(url_mix(~(done + i)), n) : URL_ABSENT + done + i;
        url_chunk_fill(chunk, SEED, count);
        double start = now(CLOCK_MONOTONIC);
        for (size_t i = 0; i < count; i++)
            sample.seen += vidi_has(set, chunk->urls[i]) == VIDI_SEEN;
        sample.ns += now(CLOCK_MONOTONIC) - start;
    }
    return sample;
}

/* ---- the report ---- */

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double quantile(const float *sorted, size_t n, double share)
{
    size_t place = (size_t)ceil(share * (double)n);
    return n ? sorted[place ? place - 1 : 0] / 1e6 : 0;
}

static void histogram(const float *sorted, size_t n)
{
    printf("\n| a batch took up to | batches |\n|--:|--:|\n");
    for (size_t bin = 0, i = 0; bin < BINS && i < n; bin++) {
        size_t before = i;
        double end = ldexp(1000, (int)bin);
        while (i < n && (sorted[i] <= end || bin == BINS - 1))
            i++;
        if (i > before && end < 1e6)
            printf("| %.0f µs | %zu |\n", end / 1e3, i - before);
        else if (i > before)
            printf("| %.1f ms | %zu |\n", end / 1e6, i - before);
    }
}

static void times(record *record)
{
    float *both[2] = {record->wall, record->cpu};
    const char *names[2] = {"wall clock", "processor time of the thread"};
    for (int i = 0; i < 2; i++) {
        qsort(both[i], record->batches, sizeof *both[i], compare);
        printf("| batch of %d, %s: median, 99th, 99.9th percentile, maximum | %.3f, %.3f, %.3f, %.3f ms |\n", BATCH,
               names[i], quantile(both[i], record->batches, 0.5), quantile(both[i], record->batches, 0.99),
               quantile(both[i], record->batches, 0.999), quantile(both[i], record->batches, 1));
    }
    printf("| longest batch (elapsed time) that the system did not interrupt | %.3f ms |\n",
           record->wall_undisturbed / 1e6);
    printf("| batches that were interrupted by the system | %" PRIu64 " of %zu |\n", record->preempted,
           record->batches);
}

static void memory(const record *record, const vidi_stats *stats, double n)
{
    printf("| resident memory at the end, growth of the process | %.2f GiB, %.3f bytes a URL |\n",
           (double)record->resident / (1 << 30), (double)record->resident / n);
    printf("| largest resident memory (VmHWM of the whole process) | %.2f GiB, %.3f bytes a URL |\n",
           (double)memory_line("VmHWM:") / (1 << 30), (double)memory_line("VmHWM:") / n);
    printf("| memory of the set, from vidi_stat | %.3f bytes a URL |\n", (double)stats->memory_bytes / n);
    for (size_t i = 0; i < 3; i++)
        if (record->ranges[i].most > 0)
            printf("| most resident bytes a URL from %g URLs on, sampled at powers of 1.1 | %.2f at %.3g |\n",
                   record->ranges[i].from, record->ranges[i].most, record->ranges[i].at);
}

static void report(record *record, const vidi_stats *stats, uint64_t n, uint64_t total, const sample *present,
                   const sample *absent)
{
    printf("| %g distinct URLs and %g repeats, kind %s (%s) | |\n|---|---|\n", (double)n, (double)(total - n),
           stats->kind, stats->params);
    printf("| URLs a second in vidi_add_batch | %.2f million (%.1f ns a URL; %.1f of processor time) |\n",
           (double)total / record->wall_sum * 1e3, record->wall_sum / (double)total, record->cpu_sum / (double)total);
    printf("| forgotten (repeats answered NEW) | %" PRIu64 " |\n", record->forgotten);
    printf("| lost (distinct URLs answered SEEN), and expected to be lost | %" PRIu64 ", %.3g |\n", record->lost,
           stats->expected_lost);
    printf("| single lookups at the end: present URLs answered SEEN | %" PRIu64 " of %" PRIu64 ", %.0f ns each |\n",
           present->seen, present->asked, present->ns / (double)present->asked);
    printf("| single lookups at the end: absent URLs answered SEEN | %" PRIu64 " of %" PRIu64 ", %.0f ns each |\n",
           absent->seen, absent->asked, absent->ns / (double)absent->asked);
    memory(record, stats, (double)n);
    times(record);
    histogram(record->wall, record->batches);
}

/* ---- memory that is touched beforehand ---- */

#define HUGE_PAGE ((size_t)2 << 20)
#define ROOM_EACH 7.7 /* bytes a URL for large blocks; malloc provides the rest */

static struct {
    pthread_mutex_t lock;
    char *base;
    size_t size, used;
} arena = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int open_arena(uint64_t n)
{
    arena.size = ((size_t)((double)n * ROOM_EACH) / HUGE_PAGE + 8) * HUGE_PAGE;
    void *base = mmap(NULL, arena.size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return -1;
    arena.base = (char *)base + (HUGE_PAGE - (uintptr_t)base % HUGE_PAGE) % HUGE_PAGE;
    madvise(arena.base, arena.size, MADV_HUGEPAGE);
    memset(arena.base, 1, arena.size);
    return 0;
}

static void *allocate(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    void *ptr = NULL;
    pthread_mutex_lock(&arena.lock);
    if (bytes % HUGE_PAGE == 0 && bytes <= arena.size - arena.used) {
        ptr = arena.base + arena.used;
        arena.used += bytes;
    }
    pthread_mutex_unlock(&arena.lock);
    return ptr ? ptr : aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

/* The table keeps its large blocks until the end. */
static void release(void *context, void *ptr, size_t bytes, size_t alignment)
{
    (void)context;
    (void)bytes;
    (void)alignment;
    if ((char *)ptr < arena.base || (char *)ptr >= arena.base + arena.size)
        free(ptr);
}

static int create(vidi_set **set, uint64_t n, bool populated)
{
    static const vidi_allocator allocator = {.size = sizeof allocator, .allocate = allocate, .release = release};
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    options.canon = "none";
    if (populated && open_arena(n) < 0)
        return -1;
    options.access = &access;
    if (populated)
        access.allocator = &allocator;
    return vidi_create(set, &options);
}

static int failed(const char *what)
{
    fprintf(stderr, "vidi-billion: %s\n", what);
    return 2;
}

static int crawl(record *record, line *line, vidi_set *set, uint64_t n)
{
    pthread_t producer;
    vidi_stats stats = {.size = sizeof stats};
    if (pthread_create(&producer, NULL, produce, line) != 0)
        return failed("no thread");
    if (fill(record, set, line) < 0)
        return failed(vidi_message()); /* exits, because the other thread waits for this one */
    pthread_join(producer, NULL);
    record->resident = grown_by(record);
    if (vidi_stat(set, &stats) < 0)
        return failed(vidi_message());
    sample present = ask(set, &line->slots[0], n, true), absent = ask(set, &line->slots[0], n, false);
    report(record, &stats, n, line->total, &present, &absent);
    return record->forgotten || present.seen != present.asked;
}

int main(int argc, char **argv)
{
    char *end = NULL;
    double wanted = argc > 1 ? strtod(argv[1], &end) : 1e9;
    bool populated = argc == 3 && strcmp(argv[2], "populated") == 0;
    if (argc > 3 || (argc == 3 && !populated) || (end && *end) || !(wanted >= 10 && wanted <= 1e11)) {
        fprintf(stderr, "usage: vidi-billion [URLS] [populated]\n");
        return 2;
    }
    static line line;
    static record record;
    vidi_set *set;
    uint64_t n = (uint64_t)wanted / 5 * 5, total = n / 5 * 7;
    if (open_line(&line, total) < 0 || open_record(&record, total) < 0)
        return failed("no memory for the benchmark itself");
    record.base = memory_line("VmRSS:");
    if (create(&set, n, populated) < 0)
        return failed(vidi_message());
    int status = crawl(&record, &line, set, n);
    if (status != 2) {
        vidi_close(set);
        close_line(&line);
    }
    free(record.wall);
    free(record.cpu);
    return status;
}
