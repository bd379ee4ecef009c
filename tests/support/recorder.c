#include "support/recorder.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "support/random.h"
#include "vidi/vidi.h"

void recorder_note(recorder_log *log, history_op op)
{
    if (log->n == log->room) {
        log->room = log->room ? 2 * log->room : 1024;
        log->ops = realloc(log->ops, log->room * sizeof *log->ops);
        if (!log->ops)
            abort();
    }
    log->ops[log->n++] = op;
}

enum { PER_URL = 2 }; /* calls until the front moves on */

/* ---- what is called next ---- */

static recorder_way draw_way(const recorder *of, test_random *random)
{
    uint64_t sum = 0;
    for (size_t way = 0; way < RECORDER_WAYS; way++)
        sum += of->weights[way];
    uint64_t at = test_below(random, sum);
    size_t way = 0;
    while (at >= of->weights[way])
        at -= of->weights[way++];
    return (recorder_way)way;
}

static bool is_single(recorder_way way)
{
    return way == RECORDER_ADD || way == RECORDER_HAS || way == RECORDER_REMOVE || way == RECORDER_COUNT;
}

static size_t draw_size(recorder_way way, test_random *random)
{
    return is_single(way) ? 1 : 1 + test_below(random, test_below(random, 10) ? 20 : RECORDER_MOST);
}

/*
 * Most are at the front, where all threads are at the same time: single calls meet at one of two URLs, batches at 16, so
 * that they repeat some. An eighth is hot, a quarter anywhere.
 */
static uint32_t draw_url(const recorder *of, uint64_t front, size_t n, test_random *random)
{
    uint64_t cold = of->urls - of->hot, what = test_below(random, 8);
    if (what == 0)
        return (uint32_t)test_below(random, of->hot);
    if (what <= 2)
        return of->hot + (uint32_t)test_below(random, cold);
    return of->hot + (uint32_t)((front + test_below(random, n == 1 ? 2 : 16)) % cold);
}

uint32_t recorder_front(const recorder *of)
{
    uint64_t front = atomic_load_explicit(&of->begun, memory_order_relaxed) / PER_URL;
    return of->hot + (uint32_t)((front + 2) % (of->urls - of->hot));
}

static history_what what_of(recorder_way way)
{
    switch (way) {
    case RECORDER_REMOVE:
        return HISTORY_REMOVE;
    case RECORDER_COUNT:
        return HISTORY_COUNT;
    case RECORDER_HAS:
    case RECORDER_HAS_BATCH:
    case RECORDER_HAS_DIGESTS:
        return HISTORY_HAS;
    default:
        return HISTORY_ADD;
    }
}

/* ---- threads ---- */

static void fail(recorder *of, int code)
{
    int none = 0;
    if (atomic_compare_exchange_strong(&of->failed, &none, code))
        fprintf(stderr, "# %d: %s\n", code, vidi_message());
}

/*
 * A timer interrupts the threads, wherever they are, and makes them let another one go on. So calls overlap also on a
 * machine that has one core to spare.
 */
enum { JOLT_MICROSECONDS = 40 };

static void let_another(int signal)
{
    (void)signal;
    sched_yield();
}

static void set_jolts(long microseconds)
{
    struct itimerval every = {.it_interval.tv_usec = microseconds, .it_value.tv_usec = microseconds};
    setitimer(ITIMER_REAL, &every, NULL);
}

static void take_jolts(int how)
{
    sigset_t jolt;
    sigemptyset(&jolt);
    sigaddset(&jolt, SIGALRM);
    pthread_sigmask(how, &jolt, NULL);
}

static void *work(void *context)
{
    recorder_log *log = context;
    recorder *of = log->of;
    test_random random = {of->seed * 100 + log->number};
    uint32_t urls[RECORDER_MOST], answers[RECORDER_MOST];
    pthread_barrier_wait(&of->start);
    take_jolts(SIG_UNBLOCK);
    for (unsigned i = 0; i < of->calls && !atomic_load_explicit(&of->failed, memory_order_relaxed); i++) {
        recorder_way way = draw_way(of, &random);
        size_t n = draw_size(way, &random);
        /* Relaxed: the front must not order what the library forgets to order, or no sanitizer would notice. */
        uint64_t front = atomic_fetch_add_explicit(&of->begun, 1, memory_order_relaxed) / PER_URL;
        for (size_t k = 0; k < n; k++)
            urls[k] = draw_url(of, front, n, &random);
        history_op op = {.what = what_of(way), .begin = history_now()};
        int code = of->call(of->set, log->number, way, urls, n, answers);
        op.end = history_now();
        if (code < 0)
            fail(of, code);
        for (size_t k = 0; k < n && code == VIDI_OK; k++) {
            op.url = urls[k];
            op.answer = answers[k] & 0xffffff;
            recorder_note(log, op);
        }
    }
    return NULL;
}

static void *work_beside(void *context)
{
    recorder_log *log = context;
    pthread_barrier_wait(&log->of->start);
    log->of->beside(log->of, log);
    return NULL;
}

static void start(recorder *of, unsigned number, void *(*function)(void *))
{
    recorder_log *log = &of->logs[number];
    *log = (recorder_log){.of = of, .number = number};
    if (pthread_create(&log->thread, NULL, function, log) != 0)
        abort();
}

void recorder_run(recorder *of)
{
    atomic_init(&of->begun, 0);
    atomic_init(&of->over, false);
    atomic_init(&of->failed, 0);
    of->logs[RECORDER_THREADS] = of->rotations = (recorder_log){.of = of};
    pthread_barrier_init(&of->start, NULL, of->threads + (of->beside ? 1 : 0));
    struct sigaction jolt = {.sa_handler = let_another, .sa_flags = SA_RESTART}, before;
    sigaction(SIGALRM, &jolt, &before);
    take_jolts(SIG_BLOCK);
    for (unsigned i = 0; i < of->threads; i++)
        start(of, i, work);
    if (of->beside)
        start(of, RECORDER_THREADS, work_beside);
    set_jolts(JOLT_MICROSECONDS);
    for (unsigned i = 0; i < of->threads; i++)
        pthread_join(of->logs[i].thread, NULL);
    set_jolts(0);
    atomic_store(&of->over, true);
    if (of->beside)
        pthread_join(of->logs[RECORDER_THREADS].thread, NULL);
    pthread_barrier_destroy(&of->start);
    take_jolts(SIG_UNBLOCK);
    sigaction(SIGALRM, &before, NULL);
}

/* ---- what came of it ---- */

void recorder_ask_all(recorder *of, recorder_way way)
{
    for (uint32_t url = 0; url < of->urls && !atomic_load(&of->failed); url++) {
        history_op op = {.url = url, .what = what_of(way), .begin = history_now()};
        uint32_t answer = 0;
        int code = of->call(of->set, RECORDER_THREADS, way, &url, 1, &answer);
        op.end = history_now();
        op.answer = answer & 0xffffff;
        if (code < 0)
            fail(of, code);
        recorder_note(&of->logs[RECORDER_THREADS], op);
    }
}

bool recorder_check(const recorder *of, char fault[HISTORY_FAULT])
{
    history_lane lanes[RECORDER_THREADS + 1], rotations = {of->rotations.ops, of->rotations.n};
    if (atomic_load(&of->failed)) {
        snprintf(fault, HISTORY_FAULT, "a call fails with %d", atomic_load(&of->failed));
        return false;
    }
    for (unsigned i = 0; i <= of->threads; i++) {
        const recorder_log *log = &of->logs[i < of->threads ? i : RECORDER_THREADS];
        lanes[i] = (history_lane){log->ops, log->n};
    }
    return history_check(lanes, of->threads + 1, &rotations, of->urls, of->every_add, fault);
}

uint64_t recorder_answers(const recorder *of, history_what what, uint32_t answer)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < of->threads; i++)
        for (size_t k = 0; k < of->logs[i].n; k++)
            sum += of->logs[i].ops[k].what == what && (answer == UINT32_MAX || of->logs[i].ops[k].answer == answer);
    return sum;
}

void recorder_free(recorder *of)
{
    for (unsigned i = 0; i <= RECORDER_THREADS; i++) {
        free(of->logs[i].ops);
        of->logs[i] = (recorder_log){0};
    }
    free(of->rotations.ops);
    of->rotations = (recorder_log){0};
}
