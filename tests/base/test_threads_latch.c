/*
 * The locks of base/latch.h: whoever is inside is there by right, everybody gets in, nobody sleeps on, and who could
 * share a latch gives up having it alone while others come.
 */
#include <pthread.h>
#include <sched.h>

#include "base/latch.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { THREADS = 4 };

/* Plain numbers under a lock: two threads that should not meet lose counts, and the sanitizer sees them. */
typedef struct room {
    vidi__latch latch;
    vidi__mutex mutex;
    uint64_t one, two; /* equal, unless somebody is inside alone */
    unsigned rounds;
    atomic_uint inside; /* threads that share the latch */
    atomic_uint wrong, alone;
    atomic_bool done;
} room;

typedef struct worker {
    room *of;
    unsigned number;
    pthread_t thread;
} worker;

static void run_threads(room *of, void *(*work)(void *), unsigned threads)
{
    worker workers[THREADS + 1];
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (worker){.of = of, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < threads; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
}

static void must_be_free(const vidi__latch *latch)
{
    assert_int_equal(latch->state, 0);
    assert_int_equal(latch->queue.state, 0);
    assert_null(latch->first);
    assert_null(latch->last);
}

/* Some holders leave the processor while they are inside, so that others find the lock taken for long, and queue up. */
static void stay(test_random *random)
{
    if (test_below(random, 50) == 0)
        sched_yield();
}

static void be_alone(room *of, test_random *random)
{
    of->one++;
    stay(random);
    atomic_fetch_add(&of->wrong, atomic_load(&of->inside) != 0);
    of->two++;
    atomic_fetch_add(&of->alone, 1);
}

static void be_together(room *of, test_random *random)
{
    atomic_fetch_add(&of->inside, 1);
    uint64_t before = of->one;
    stay(random);
    atomic_fetch_add(&of->wrong, of->one != before || of->two != before);
    atomic_fetch_sub(&of->inside, 1);
}

/* ---- apart ---- */

static void *come_and_go(void *context)
{
    worker *me = context;
    room *of = me->of;
    test_random random = {me->number};
    for (unsigned i = 0; i < of->rounds; i++) {
        unsigned how = (unsigned)test_below(&random, 4);
        bool alone = how == 0 || (how > 1 && vidi__latch_try_alone(&of->latch));
        if (how == 0)
            vidi__latch_alone(&of->latch);
        else if (!alone)
            vidi__latch_shared(&of->latch);
        if (alone) {
            be_alone(of, &random);
            vidi__latch_release_alone(&of->latch);
        } else {
            be_together(of, &random);
            vidi__latch_release_shared(&of->latch);
        }
    }
    return NULL;
}

static unsigned rounds(unsigned usual)
{
    return test_sanitized() ? usual / 8 : usual;
}

/* A wake-up that is lost would hang here, and the harness would report it. */
static void who_is_alone_meets_nobody(void **state)
{
    room of = {.rounds = rounds(40000)};
    (void)state;
    run_threads(&of, come_and_go, THREADS);
    assert_int_equal(of.wrong, 0);
    assert_int_equal(of.one, of.two);
    assert_int_equal(of.one, of.alone);
    must_be_free(&of.latch);
}

static void *count_in_turn(void *context)
{
    worker *me = context;
    test_random random = {me->number};
    for (unsigned i = 0; i < me->of->rounds; i++) {
        if (i % 3 || !vidi__mutex_try(&me->of->mutex))
            vidi__mutex_lock(&me->of->mutex);
        me->of->one++;
        stay(&random);
        vidi__mutex_unlock(&me->of->mutex);
    }
    return NULL;
}

static void a_mutex_lets_one_in_at_a_time(void **state)
{
    room of = {.rounds = rounds(40000)};
    (void)state;
    run_threads(&of, count_in_turn, THREADS);
    assert_int_equal(of.one, (uint64_t)THREADS * of.rounds);
    assert_int_equal(of.mutex.state, 0);
}

/* ---- in turn ---- */

/* Thread 0 goes in once. The others go in and out until it was there: they share the latch all the time. */
static void *share_until_done(void *context)
{
    worker *me = context;
    room *of = me->of;
    if (me->number == 0) {
        while (!atomic_load(&of->inside))
            sched_yield();
        vidi__latch_alone(&of->latch);
        atomic_store(&of->done, true);
        vidi__latch_release_alone(&of->latch);
        return NULL;
    }
    while (!atomic_load(&of->done)) {
        vidi__latch_shared(&of->latch);
        unsigned inside = atomic_fetch_add(&of->inside, 1) + 1;
        for (unsigned i = 0; i < 100 && inside == atomic_load(&of->inside); i++)
            sched_yield(); /* until another has come or gone, so that the latch is hardly ever free */
        atomic_fetch_sub(&of->inside, 1);
        vidi__latch_release_shared(&of->latch);
    }
    return NULL;
}

static void a_stream_of_lookups_lets_an_add_in(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        room of = {0};
        run_threads(&of, share_until_done, THREADS);
        must_be_free(&of.latch);
    }
}

/* The same with the others alone, one after the other; thread 0 shares it, or wants to be alone as well. */
static void *be_alone_until_done(void *context)
{
    worker *me = context;
    room *of = me->of;
    if (me->number == 0) {
        while (!atomic_load(&of->alone))
            sched_yield();
        if (of->rounds)
            vidi__latch_shared(&of->latch);
        else
            vidi__latch_alone(&of->latch);
        atomic_store(&of->done, true);
        if (of->rounds)
            vidi__latch_release_shared(&of->latch);
        else
            vidi__latch_release_alone(&of->latch);
        return NULL;
    }
    while (!atomic_load(&of->done)) {
        vidi__latch_alone(&of->latch);
        atomic_fetch_add(&of->alone, 1);
        sched_yield();
        vidi__latch_release_alone(&of->latch);
    }
    return NULL;
}

static void a_stream_of_adds_lets_others_in(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        room of = {.rounds = i % 2};
        run_threads(&of, be_alone_until_done, THREADS);
        must_be_free(&of.latch);
    }
}

/* Who insists is next, even if others could have gone in: somebody who shares the latch holds it, so two have to wait. */
typedef struct queueing {
    vidi__latch latch;
    atomic_bool in, let_go;
} queueing;

static void *insist(void *context)
{
    queueing *of = context;
    vidi__latch_alone(&of->latch);
    atomic_store(&of->in, true);
    while (!atomic_load(&of->let_go))
        sched_yield();
    vidi__latch_release_alone(&of->latch);
    return NULL;
}

static void who_insists_keeps_newcomers_out(void **state)
{
    queueing of = {0};
    pthread_t thread;
    (void)state;
    vidi__latch_shared(&of.latch);
    assert_int_equal(pthread_create(&thread, NULL, insist, &of), 0);
    while (!(atomic_load(&of.latch.state) & VIDI__LATCH_INSISTS))
        sched_yield();
    assert_false(atomic_load(&of.in));
    assert_false(vidi__latch_try_alone(&of.latch));
    vidi__latch_release_shared(&of.latch);
    while (!atomic_load(&of.in))
        sched_yield();
    atomic_store(&of.let_go, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    must_be_free(&of.latch);
}

static void *go_in_once(void *context)
{
    queueing *of = context;
    vidi__latch_alone(&of->latch);
    atomic_store(&of->in, true);
    vidi__latch_release_alone(&of->latch);
    return NULL;
}

/*
 * Takes the latch again at once, when somebody has been woken to take it, until that thread comes too late: then it
 * insists. If it never did, the loop would not end, and the harness would report it.
 */
static void who_comes_too_late_insists(void **state)
{
    bool insisted = false;
    (void)state;
    while (!insisted) {
        queueing of = {0};
        pthread_t thread;
        vidi__latch_alone(&of.latch);
        assert_int_equal(pthread_create(&thread, NULL, go_in_once, &of), 0);
        while (!(atomic_load(&of.latch.state) & VIDI__LATCH_QUEUED))
            sched_yield();
        vidi__latch_release_alone(&of.latch);
        vidi__latch_alone(&of.latch);
        while (!atomic_load(&of.in) && !insisted) {
            insisted = atomic_load(&of.latch.state) & VIDI__LATCH_INSISTS;
            sched_yield();
        }
        vidi__latch_release_alone(&of.latch);
        assert_int_equal(pthread_join(thread, NULL), 0);
        must_be_free(&of.latch);
    }
}

/* All who wait to share the latch go in together: each of them leaves only when the others have come. */
static void *share_together(void *context)
{
    worker *me = context;
    room *of = me->of;
    if (me->number == 0) {
        while (!(atomic_load(&of->latch.state) & VIDI__LATCH_QUEUED))
            sched_yield();
        vidi__latch_release_alone(&of->latch);
        return NULL;
    }
    vidi__latch_shared(&of->latch);
    atomic_fetch_add(&of->inside, 1);
    while (atomic_load(&of->inside) < THREADS)
        sched_yield();
    vidi__latch_release_shared(&of->latch);
    return NULL;
}

static void who_shares_it_goes_in_together(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        room of = {0};
        vidi__latch_alone(&of.latch);
        run_threads(&of, share_together, THREADS + 1);
        must_be_free(&of.latch);
    }
}

/* ---- alone, if possible ---- */

static void alone_is_for_who_finds_nobody(void **state)
{
    vidi__latch latch = {0};
    (void)state;
    assert_true(vidi__latch_try_alone(&latch));
    assert_false(vidi__latch_try_alone(&latch));
    vidi__latch_release_alone(&latch);
    latch.refusals = 0;
    vidi__latch_shared(&latch);
    vidi__latch_shared(&latch);
    assert_false(vidi__latch_try_alone(&latch));
    vidi__latch_release_shared(&latch);
    latch.refusals = 0;
    assert_false(vidi__latch_try_alone(&latch));
    vidi__latch_release_shared(&latch);
    latch.refusals = 0;
    assert_true(vidi__latch_try_alone(&latch));
    vidi__latch_release_alone(&latch);
    must_be_free(&latch);
}

/* Threads that could work in parallel must not be in each other's way at every call. */
static void a_meeting_is_remembered_for_some_calls(void **state)
{
    vidi__latch latch = {0};
    unsigned refused = 0;
    (void)state;
    vidi__latch_shared(&latch);
    assert_false(vidi__latch_try_alone(&latch));
    vidi__latch_release_shared(&latch);
    while (!vidi__latch_try_alone(&latch))
        refused++;
    assert_int_equal(refused, VIDI__LATCH_REFUSALS);
    vidi__latch_release_alone(&latch);
    assert_true(vidi__latch_try_alone(&latch)); /* and then forgotten */
    vidi__latch_release_alone(&latch);
}

static void *wait_for_it(void *context)
{
    vidi__latch *latch = context;
    vidi__latch_shared(latch);
    vidi__latch_release_shared(latch);
    return NULL;
}

/* Also if the one who met somebody could wait for it and get in. */
static void a_wait_is_remembered_too(void **state)
{
    vidi__latch latch = {0};
    pthread_t thread;
    (void)state;
    assert_true(vidi__latch_try_alone(&latch));
    assert_int_equal(pthread_create(&thread, NULL, wait_for_it, &latch), 0);
    while (!(atomic_load(&latch.state) & VIDI__LATCH_QUEUED))
        sched_yield();
    vidi__latch_release_alone(&latch);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(latch.refusals, VIDI__LATCH_REFUSALS);
    must_be_free(&latch);
}

int main(int argc, char **argv)
{
    test_add("who is alone meets nobody", who_is_alone_meets_nobody, NULL);
    test_add("a mutex lets one in at a time", a_mutex_lets_one_in_at_a_time, NULL);
    test_add("a stream of lookups lets an add in", a_stream_of_lookups_lets_an_add_in, NULL);
    test_add("a stream of adds lets others in", a_stream_of_adds_lets_others_in, NULL);
    test_add("who insists keeps newcomers out", who_insists_keeps_newcomers_out, NULL);
    test_add("who comes too late insists", who_comes_too_late_insists, NULL);
    test_add("who shares it goes in together", who_shares_it_goes_in_together, NULL);
    test_add("alone is for who finds nobody", alone_is_for_who_finds_nobody, NULL);
    test_add("a meeting is remembered for some calls", a_meeting_is_remembered_for_some_calls, NULL);
    test_add("a wait is remembered too", a_wait_is_remembered_too, NULL);
    return test_run("latch", argc, argv);
}
