/* The lock of one word: it lets one thread in, wakes those that sleep, and is all zero when it is free. */
#include "base/mutex.h"
#include "base/thread.h"
#include "support/actor.h"
#include "support/check.h"
#include "support/env.h"
#include "support/runner.h"

enum { THREADS = 4 };

typedef struct shared {
    vidi__mutex mutex;
    uint64_t count; /* plain: the mutex protects it */
    unsigned rounds;
    bool got_it;
    _Atomic uint32_t word;
    _Atomic uint32_t arrived;
} shared;

static void count(void *context)
{
    shared *of = context;
    for (unsigned i = 0; i < of->rounds; i++) {
        if (i % 8 || !vidi__mutex_try(&of->mutex)) /* both ways in */
            vidi__mutex_lock(&of->mutex);
        of->count++;
        vidi__mutex_unlock(&of->mutex);
    }
}

static void threads_count_right(void **state)
{
    test_actor actors[THREADS];
    shared of = {.rounds = test_sanitized() ? 20000 : 500000};
    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        assert_true(test_actor_start(&actors[i]));
        test_actor_begin(&actors[i], count, &of);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        test_actor_wait(&actors[i]);
        test_actor_end(&actors[i]);
    }
    assert_int_equal(of.count, (uint64_t)THREADS * of.rounds);
    assert_int_equal(atomic_load(&of.mutex.state), 0);
}

static void lock(void *context)
{
    shared *of = context;
    vidi__mutex_lock(&of->mutex);
    of->count++;
}

static void unlock(void *context)
{
    shared *of = context;
    vidi__mutex_unlock(&of->mutex);
}

static void try(void *context)
{
    shared *of = context;
    of->got_it = vidi__mutex_try(&of->mutex);
}

static void a_held_mutex_lets_nobody_in(void **state)
{
    test_actor actors[THREADS];
    shared of = {0};
    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        assert_true(test_actor_start(&actors[i]));
    test_actor_do(&actors[0], lock, &of);
    test_actor_do(&actors[1], try, &of);
    assert_false(of.got_it);
    assert_int_equal(atomic_load(&of.mutex.state), 1);
    test_actor_do(&actors[0], unlock, &of);
    assert_int_equal(atomic_load(&of.mutex.state), 0);
    test_actor_do(&actors[1], try, &of);
    assert_true(of.got_it);
    test_actor_do(&actors[1], unlock, &of);
    for (unsigned i = 0; i < THREADS; i++)
        test_actor_end(&actors[i]);
}

static void lock_and_unlock(void *context)
{
    lock(context);
    unlock(context);
}

/* Each one that is woken wakes the next. */
static void everybody_that_sleeps_gets_the_mutex(void **state)
{
    test_actor actors[THREADS];
    shared of = {0};
    (void)state;
    vidi__mutex_lock(&of.mutex);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_true(test_actor_start(&actors[i]));
        test_actor_begin(&actors[i], lock_and_unlock, &of);
        assert_true(test_actor_sleeps(&actors[i]));
        assert_int_equal(atomic_load(&of.mutex.state), 2);
    }
    assert_int_equal(of.count, 0);
    vidi__mutex_unlock(&of.mutex);
    for (unsigned i = 0; i < THREADS; i++) {
        test_actor_wait(&actors[i]);
        test_actor_end(&actors[i]);
    }
    assert_int_equal(of.count, THREADS);
    assert_int_equal(atomic_load(&of.mutex.state), 0);
}

static void wait_for_the_word(void *context)
{
    shared *of = context;
    vidi__wait_while(&of->word, 7, 1);
    atomic_fetch_add(&of->arrived, 1);
}

static void a_thread_waits_until_the_word_has_changed(void **state)
{
    test_actor actors[THREADS];
    shared of = {0};
    (void)state;
    vidi__wait_while(&of.word, 7, 1); /* it has another value already */
    atomic_store(&of.word, 7);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_true(test_actor_start(&actors[i]));
        test_actor_begin(&actors[i], wait_for_the_word, &of);
        assert_true(test_actor_sleeps(&actors[i]));
    }
    vidi__wake(&of.word, INT_MAX, 1); /* the word is the same, so all go on waiting */
    for (unsigned i = 0; i < THREADS; i++)
        assert_true(test_actor_sleeps(&actors[i]));
    assert_int_equal(atomic_load(&of.arrived), 0);
    atomic_store(&of.word, 8);
    vidi__wake(&of.word, INT_MAX, 2); /* those who wait for another bit */
    for (unsigned i = 0; i < THREADS; i++)
        assert_true(test_actor_sleeps(&actors[i]));
    vidi__wake(&of.word, INT_MAX, 3);
    for (unsigned i = 0; i < THREADS; i++) {
        test_actor_wait(&actors[i]);
        test_actor_end(&actors[i]);
    }
    assert_int_equal(atomic_load(&of.arrived), THREADS);
}

int main(int argc, char **argv)
{
    test_add("threads count right", threads_count_right, NULL);
    test_add("a held mutex lets nobody in", a_held_mutex_lets_nobody_in, NULL);
    test_add("everybody that sleeps gets the mutex", everybody_that_sleeps_gets_the_mutex, NULL);
    test_add("a thread waits until the word has changed", a_thread_waits_until_the_word_has_changed, NULL);
    return test_run("mutex", argc, argv);
}
