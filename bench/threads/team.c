/*
 * Threads that work at the same time. Each makes its next chunk of URLs, and they wait for each other; then all work on
 * their chunks. A thread's time runs from the moment when the last one was ready until it has done its own chunk. The
 * figure is the sum of these times, of the thread where it is largest, divided by the URLs of all threads: with two
 * threads, half of one thread's figure is perfect.
 *
 * So whatever a thread waits for inside a call counts, and so does waiting for a core. It does not count that a thread
 * waits for the others after its chunk, because it would not if it had no URLs to make: each thread grows the set, or
 * is interrupted, at other moments. With more threads than cores this would be wrong: they would work in turn, one chunk
 * each.
 *
 * A chunk is read once and in order, as a crawler reads the links of a page, so the processor fetches it ahead. 16,384
 * URLs take 1.3 MB: small enough to stay in the cache, for the memory belongs to the set that is measured.
 */
#include "bench/threads/threads.h"
#include "bench/urls.h"
#include "common/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SPINS 2000
#define STRIDE UINT64_C(2654435761) /* a prime, so its multiples modulo n visit all n numbers */

/* Where threads wait for each other. They spin, because waking one that sleeps takes as long as thousands of adds. */
typedef struct meeting {
    atomic_uint arrived, turn;
    uint64_t complete; /* when the last one arrived */
    unsigned threads;
} meeting;

enum { WAIT, GO, LEAVE };

typedef struct team {
    const thread_task *task;
    meeting meeting;
    atomic_int start; /* WAIT until all threads exist; LEAVE if one could not be made */
    atomic_bool failed;
} team;

typedef struct worker {
    team *team;
    unsigned number;
    pthread_t thread;
    url_chunk chunk;
    uint8_t *verdicts;
    uint64_t ns, cpu_ns; /* spent on working */
    thread_outcome counts;
} worker;

static void meet(meeting *meeting)
{
    unsigned turn = atomic_load(&meeting->turn);
    if (atomic_fetch_add(&meeting->arrived, 1) + 1 == meeting->threads) {
        atomic_store(&meeting->arrived, 0);
        meeting->complete = clock_now();
        atomic_store(&meeting->turn, turn + 1);
        return;
    }
    for (unsigned spins = 0; atomic_load(&meeting->turn) == turn; spins++)
        if (spins > SPINS)
            sched_yield();
}

unsigned thread_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* Keeps this thread on the number-th core that the process may use. */
static void pin(unsigned number)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) == 0)
        return;
    unsigned skip = number % (unsigned)CPU_COUNT(&all);
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, &all) || skip-- > 0)
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static bool is_present(uint64_t i)
{
    return url_mix(i) & 1;
}

static uint64_t number_of(const thread_task *task, uint64_t i)
{
    if (task->job == THREADS_HOT)
        return 0;
    if (task->job == THREADS_ADD)
        return i;
    return is_present(i) ? i * STRIDE % task->held : URL_ABSENT + i;
}

static void make(worker *self, uint64_t first, size_t count)
{
    const thread_task *task = self->team->task;
    for (size_t i = 0; i < count; i++) {
        self->chunk.numbers[i] = number_of(task, first + i);
        self->verdicts[i] = VIDI_UNTRIED;
    }
    url_chunk_fill(&self->chunk, task->seed, count);
}

static void count_answers(worker *self, uint64_t first, size_t count)
{
    bool looks_up = self->team->task->job == THREADS_HAS;
    for (size_t i = 0; i < count; i++) {
        uint8_t verdict = self->verdicts[i];
        if (looks_up && !is_present(first + i)) {
            self->counts.absent++;
            self->counts.wrong += verdict != VIDI_NEW;
        } else {
            self->counts.fresh += verdict == VIDI_NEW;
            self->counts.seen += verdict == VIDI_SEEN;
        }
    }
}

static void work_on_chunk(worker *self, size_t count)
{
    const thread_task *task = self->team->task;
    uint64_t cpu = clock_read(CLOCK_THREAD_CPUTIME_ID), start = self->team->meeting.complete;
    bool fine = task->job == THREADS_HAS
                    ? task->class->has(task->self, self->chunk.urls, count, task->batch, self->verdicts)
                    : task->class->add(task->self, self->chunk.urls, count, task->batch, self->verdicts);
    self->ns += clock_now() - start;
    self->cpu_ns += clock_read(CLOCK_THREAD_CPUTIME_ID) - cpu;
    if (!fine)
        self->team->failed = true;
}

static void *work(void *context)
{
    worker *self = context;
    team *team = self->team;
    const thread_task *task = team->task;
    while (team->start == WAIT)
        sched_yield();
    if (team->start == LEAVE)
        return NULL;
    if (task->pinned)
        pin(self->number);
    /* All threads have the same share, up to one URL, so that all of them work in the last chunk, too. */
    uint64_t at = task->n * self->number / task->threads, end = task->n * (self->number + 1) / task->threads;
    uint64_t chunks = (task->n / task->threads + task->chunk) / task->chunk;
    for (uint64_t i = 0; i < chunks; i++) {
        size_t count = end - at < task->chunk ? (size_t)(end - at) : task->chunk;
        make(self, at, count);
        meet(&team->meeting);
        work_on_chunk(self, count);
        meet(&team->meeting);
        count_answers(self, at, count);
        at += count;
    }
    return NULL;
}

static bool open_worker(worker *self, team *team, unsigned number)
{
    self->team = team;
    self->number = number;
    self->verdicts = malloc(team->task->chunk);
    return url_chunk_open(&self->chunk, team->task->chunk) == 0 && self->verdicts;
}

static void close_worker(worker *self)
{
    url_chunk_close(&self->chunk);
    free(self->verdicts);
}

static void sum_up(const worker *workers, unsigned threads, thread_outcome *outcome)
{
    *outcome = (thread_outcome){0};
    for (unsigned i = 0; i < threads; i++) {
        outcome->ns = (double)workers[i].ns > outcome->ns ? (double)workers[i].ns : outcome->ns;
        outcome->cpu_ns += (double)workers[i].cpu_ns;
        outcome->fresh += workers[i].counts.fresh;
        outcome->seen += workers[i].counts.seen;
        outcome->absent += workers[i].counts.absent;
        outcome->wrong += workers[i].counts.wrong;
    }
}

bool thread_team_run(const thread_task *task, thread_outcome *outcome)
{
    team team = {.task = task, .meeting = {.threads = task->threads}};
    worker *workers = calloc(task->threads, sizeof *workers);
    bool fine = workers;
    unsigned opened = 0, started = 0;
    for (; fine && opened < task->threads; opened++)
        fine = open_worker(&workers[opened], &team, opened);
    for (; fine && started < task->threads; started += fine)
        fine = pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0;
    team.start = fine ? GO : LEAVE;
    for (unsigned i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    if (fine)
        sum_up(workers, task->threads, outcome);
    else
        fprintf(stderr, "no memory, or no threads, for the measurement itself\n");
    for (unsigned i = 0; i < opened; i++)
        close_worker(&workers[i]);
    free(workers);
    return fine && !team.failed;
}
