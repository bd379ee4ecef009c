/*
 * Batches from several threads at once: locks keep them apart, a partition that another thread has is waited for
 * without holding any lock, and threads begin at different ones.
 */
#include <pthread.h>
#include <sched.h>

#include "filters/batch_cases.h"

/* ---- apart ---- */

enum { THREADS = 4, BATCHES = 150, SIZE = 1000 };

/* Plain numbers under the locks: two threads in one partition would lose counts, and the sanitizer would see them. */
typedef struct shared {
    vidi__locks locks;
    uint64_t worked[VIDI__PARTITIONS];
    uint64_t fetched[VIDI__PARTITIONS];
    uint64_t looked[VIDI__PARTITIONS];
} shared;

/* cmocka's checks work in the main thread only, so the others count what is wrong. */
typedef struct worker {
    shared *of;
    pthread_t thread;
    unsigned number;
    unsigned failures; /* batches that an error ended */
    unsigned wrong;
    uint64_t hashes, unworked;
    unsigned steps_left; /* until the next error; 0: none */
} worker;

static void shared_fetch(void *context, const vidi__wave *wave)
{
    worker *me = context;
    me->of->fetched[wave->partition] += wave->count;
}

static void shared_look(void *context, const vidi__wave *wave)
{
    worker *me = context;
    me->of->looked[wave->partition] += wave->count;
}

static int shared_work(void *context, const vidi__wave *wave)
{
    worker *me = context;
    if (me->steps_left && !--me->steps_left)
        return VIDI_ELIMIT;
    me->of->worked[wave->partition] += wave->count;
    me->unworked -= wave->count;
    return VIDI_OK;
}

static void *work_on_batches(void *context)
{
    static const vidi__batch_ops ops = {shared_fetch, shared_work, shared_look};
    worker *me = context;
    test_random random = {me->number};
    vidi__u128 hashes[SIZE];
    for (unsigned i = 0; i < BATCHES; i++) {
        size_t n = 1 + (size_t)test_below(&random, SIZE);
        spread_hashes(hashes, n, i % SPREADS, test_next(&random));
        me->steps_left = i % 5 == 4 ? 1 + (unsigned)test_below(&random, 10) : 0;
        bool may_fail = me->steps_left;
        me->hashes += n;
        me->unworked += n;
        int code = vidi__batch_run(&me->of->locks, hashes, n, &ops, me);
        me->failures += code < 0;
        me->wrong += code != VIDI_OK && (code != VIDI_ELIMIT || !may_fail);
    }
    return NULL;
}

static void no_two_threads_are_in_one_partition(void **state)
{
    static shared of;
    worker workers[THREADS] = {0};
    uint64_t worked = 0, right = 0;
    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){.of = &of, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work_on_batches, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].wrong, 0);
        assert_true(workers[i].failures > 0);
        right += workers[i].hashes - workers[i].unworked;
    }
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++) {
        worked += of.worked[i];
        assert_true(of.fetched[i] >= of.looked[i] && of.looked[i] >= of.worked[i]);
    }
    assert_int_equal(worked, right);
    assert_int_equal(held_locks(&of.locks), 0);
}

/* ---- beginnings ---- */

enum { STARTERS = 8 };

static int note_first(void *context, const vidi__wave *wave)
{
    unsigned *first = context;
    if (*first == VIDI__PARTITIONS)
        *first = wave->partition;
    return VIDI_OK;
}

static void ignore_fetch(void *context, const vidi__wave *wave)
{
    (void)context;
    (void)wave;
}

/* The partition that this thread begins a batch with, if it has something for each. */
static unsigned first_of_thread(const vidi__locks *locks)
{
    static const vidi__batch_ops ops = {ignore_fetch, note_first, NULL};
    vidi__u128 hashes[VIDI__PARTITIONS];
    unsigned first = VIDI__PARTITIONS;
    spread_hashes(hashes, VIDI__PARTITIONS, ONE_EACH, 1);
    vidi__batch_run(locks, hashes, VIDI__PARTITIONS, &ops, &first);
    return first;
}

typedef struct starter {
    vidi__locks *locks;
    unsigned first, again;
} starter;

static void *start_twice(void *context)
{
    starter *me = context;
    me->first = first_of_thread(me->locks);
    me->again = first_of_thread(me->locks);
    return NULL;
}

/* Eight that come one after the other begin in different eighths, and each at the same place every time. */
static void threads_begin_far_from_each_other(void **state)
{
    static vidi__locks locks;
    unsigned eighths = 0;
    (void)state;
    for (unsigned i = 0; i < STARTERS; i++) {
        pthread_t thread;
        starter me = {.locks = &locks};
        assert_int_equal(pthread_create(&thread, NULL, start_twice, &me), 0);
        pthread_join(thread, NULL);
        assert_true(me.first < VIDI__PARTITIONS);
        assert_int_equal(me.first, me.again);
        eighths |= 1u << me.first * STARTERS / VIDI__PARTITIONS;
    }
    assert_int_equal(eighths, (1u << STARTERS) - 1);
}

/* ---- waiting ---- */

/* One thread works on two partitions, the first that it comes to and the one behind, while another holds the second. */
typedef struct waiting {
    vidi__locks locks;
    pthread_barrier_t ready;
    unsigned partitions[2];
    unsigned early; /* waves of the second that were begun while it was held */
    _Atomic bool held;
    _Atomic unsigned done[2];
} waiting;

static unsigned which_of(const waiting *self, const vidi__wave *wave)
{
    return wave->partition == self->partitions[1];
}

static void waiting_fetch(void *context, const vidi__wave *wave)
{
    waiting *self = context;
    self->early += which_of(self, wave) && atomic_load(&self->held);
}

static int waiting_work(void *context, const vidi__wave *wave)
{
    waiting *self = context;
    atomic_fetch_add(&self->done[which_of(self, wave)], (unsigned)wave->count);
    return VIDI_OK;
}

enum { EACH = 100 };

/*
 * Holds the second partition until the batch has done all of the first and let it go. A batch that kept the first while
 * it waits for the second would hang here, and the harness would report it.
 */
static void *hold_the_second(void *context)
{
    waiting *self = context;
    vidi__locks_take(&self->locks, self->partitions[1]);
    atomic_store(&self->held, true);
    pthread_barrier_wait(&self->ready);
    while (atomic_load(&self->done[0]) < EACH)
        sched_yield();
    vidi__locks_take(&self->locks, self->partitions[0]);
    vidi__locks_release(&self->locks, self->partitions[0]);
    atomic_store(&self->held, false);
    vidi__locks_release(&self->locks, self->partitions[1]);
    return NULL;
}

static void who_waits_for_a_partition_holds_no_other(void **state)
{
    static const vidi__batch_ops ops = {waiting_fetch, waiting_work, NULL};
    static waiting self;
    vidi__u128 hashes[2 * EACH];
    test_random random = {1};
    pthread_t thread;
    (void)state;
    pthread_barrier_init(&self.ready, NULL, 2);
    self.partitions[0] = first_of_thread(&self.locks);
    self.partitions[1] = (self.partitions[0] + 1) % VIDI__PARTITIONS;
    for (unsigned i = 0; i < 2 * EACH; i++)
        hashes[i] = hash_in(self.partitions[i % 2], &random);
    for (unsigned round = 0; round < 20; round++) {
        self.done[0] = self.done[1] = 0;
        assert_int_equal(pthread_create(&thread, NULL, hold_the_second, &self), 0);
        pthread_barrier_wait(&self.ready);
        assert_int_equal(vidi__batch_run(&self.locks, hashes, 2 * EACH, &ops, &self), VIDI_OK);
        pthread_join(thread, NULL);
        assert_int_equal(self.early, 0);
        assert_int_equal(self.done[0], EACH);
        assert_int_equal(self.done[1], EACH);
        assert_int_equal(held_locks(&self.locks), 0);
    }
    pthread_barrier_destroy(&self.ready);
}

int main(int argc, char **argv)
{
    test_add("no two threads are in one partition", no_two_threads_are_in_one_partition, NULL);
    test_add("threads begin far from each other", threads_begin_far_from_each_other, NULL);
    test_add("who waits for a partition holds no other", who_waits_for_a_partition_holds_no_other, NULL);
    return test_run("threads and batches", argc, argv);
}
