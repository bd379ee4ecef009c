/*
 * One and two threads that fill one set. Each thread makes its next chunk of URLs, and they wait for each other. Then
 * the clock runs until the last thread has added its chunk. So only adding is timed, by all threads at once. The figure
 * is elapsed time divided by the URLs of all threads: with two threads, half of one thread's figure is perfect.
 */
#include "subjects.h"
#include "urls.h"

#include <pthread.h>
#include <stdatomic.h>

#define CHUNK 65536
#define THREADS_MAX 2

typedef struct team {
    vidi_set *set;
    uint64_t n, seed;
    unsigned threads;
    pthread_barrier_t barrier;
    double ns; /* measured by the first thread */
    atomic_bool failed;
} team;

typedef struct worker {
    team *team;
    unsigned number;
    url_chunk chunk;
    pthread_t thread;
} worker;

static bool add_chunk(vidi_set *set, const vidi_str *urls, size_t n)
{
    uint8_t verdicts[BENCH_BATCH];
    for (size_t done = 0, count; done < n; done += count) {
        count = n - done < BENCH_BATCH ? n - done : BENCH_BATCH;
        if (vidi_add_batch(set, urls + done, count, verdicts, NULL) < 0)
            return false;
    }
    return true;
}

static void *work(void *context)
{
    worker *self = context;
    team *team = self->team;
    double start = 0;
    for (uint64_t first = 0; first < team->n; first += (uint64_t)CHUNK * team->threads) {
        uint64_t from = first + (uint64_t)CHUNK * self->number;
        size_t count = from >= team->n ? 0 : team->n - from < CHUNK ? (size_t)(team->n - from) : CHUNK;
        for (size_t i = 0; i < count; i++)
            self->chunk.numbers[i] = from + i;
        url_chunk_fill(&self->chunk, team->seed, count);
        pthread_barrier_wait(&team->barrier);
        if (self->number == 0)
            start = bench_now();
        if (!add_chunk(team->set, self->chunk.urls, count))
            team->failed = true;
        pthread_barrier_wait(&team->barrier);
        if (self->number == 0)
            team->ns += bench_now() - start;
    }
    return NULL;
}

/* The first worker is this thread. If a second cannot start, none works: they would wait for it forever. */
static bool run(team *team)
{
    worker workers[THREADS_MAX] = {{0}};
    bool fine = true;
    for (unsigned i = 0; i < team->threads; i++) {
        workers[i].team = team;
        workers[i].number = i;
        fine = url_chunk_open(&workers[i].chunk, CHUNK) == 0 && fine;
    }
    bool started = fine && team->threads > 1 && pthread_create(&workers[1].thread, NULL, work, &workers[1]) == 0;
    fine = fine && (started || team->threads == 1);
    if (fine)
        work(&workers[0]);
    if (started)
        pthread_join(workers[1].thread, NULL);
    for (unsigned i = 0; i < team->threads; i++)
        url_chunk_close(&workers[i].chunk);
    return fine && !team->failed;
}

double bench_threads(const bench_recipe *recipe, uint64_t n, unsigned threads)
{
    team team = {.n = n, .seed = recipe->seed, .threads = threads};
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *set;
    options.kind = recipe->kind;
    options.capacity = recipe->capacity;
    options.error = recipe->error;
    options.canon = "none"; /* the peers compare bytes too */
    options.access = &access;
    access.allocator = &bench_allocator;
    if (threads > THREADS_MAX || vidi_create(&set, &options) < 0)
        return -1;
    team.set = set;
    bool fine = pthread_barrier_init(&team.barrier, NULL, threads) == 0 && run(&team);
    pthread_barrier_destroy(&team.barrier);
    vidi_close(set);
    return fine ? team.ns / (double)n : -1;
}
