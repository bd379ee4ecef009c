/*
 * Latches that are lent (base/latch.h): a thread that comes alone again and again borrows the latch, any other thread
 * gets it back, and nobody meets the borrower inside.
 */
#include <pthread.h>
#include <sched.h>

#include "base/latch.h"
#include "support/check.h"
#include "support/env.h"
#include "support/runner.h"

enum { LENT = VIDI__LATCH_ALONE | VIDI__LATCH_LENT };

/* Plain numbers under the latch: threads that meet lose counts, and the sanitizer sees them. */
typedef struct room {
    vidi__latch latch;
    uint64_t one, two;
    unsigned rounds;
    atomic_bool done, inside, go;
} room;

static void skip_unless_lent(void **state)
{
    (void)state;
    if (!vidi__latch_prepare())
        skip();
}

static void go_in_and_out(vidi__latch *latch, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        vidi__latch_alone(latch);
        vidi__latch_release_alone(latch);
    }
}

static void *run_streak(void *context)
{
    go_in_and_out(context, VIDI__LATCH_STREAK + 1);
    return NULL;
}

static void in_another_thread(void *(*work)(void *), void *context)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work, context), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- lending ---- */

static void a_streak_makes_a_borrower(void **state)
{
    vidi__latch latch = {0};
    skip_unless_lent(state);
    go_in_and_out(&latch, VIDI__LATCH_STREAK);
    assert_int_equal(latch.state, 0);
    go_in_and_out(&latch, 1);
    assert_int_equal(latch.state, LENT);
    assert_true(vidi__latch_try_alone(&latch));
    assert_int_equal(latch.inside, 1);
    assert_false(vidi__latch_try_alone(&latch)); /* it is inside already */
    vidi__latch_release_alone(&latch);
    assert_int_equal(latch.inside, 0);
    assert_int_equal(latch.state, LENT);
}

static void *share_it(void *context)
{
    vidi__latch_shared(context);
    vidi__latch_release_shared(context);
    return NULL;
}

static void *try_it(void *context)
{
    assert_false(vidi__latch_try_alone(context)); /* which recalls nothing: another thread is here often */
    return NULL;
}

static void others_get_it_back(void **state)
{
    vidi__latch latch = {0};
    skip_unless_lent(state);
    run_streak(&latch);
    assert_int_equal(latch.state, LENT);
    in_another_thread(try_it, &latch);
    assert_int_equal(latch.state, LENT);
    in_another_thread(share_it, &latch);
    assert_int_equal(latch.state, 0);
    go_in_and_out(&latch, VIDI__LATCH_STREAK - 1);
    assert_int_equal(latch.state, 0);
    go_in_and_out(&latch, 2);
    assert_int_equal(latch.state, LENT);
}

/* A borrower that was recalled may be about to store, so the latch is not lent to anybody else before it was seen. */
static void it_is_lent_to_one_at_a_time(void **state)
{
    vidi__latch latch = {0};
    skip_unless_lent(state);
    run_streak(&latch);
    assert_int_equal(latch.state, LENT);
    in_another_thread(run_streak, &latch);
    assert_int_equal(latch.state, 0);
    go_in_and_out(&latch, 1);
    in_another_thread(run_streak, &latch);
    assert_int_equal(latch.state, LENT);
    go_in_and_out(&latch, 1);
    assert_int_equal(latch.state, 0);
}

/* ---- recalling ---- */

static void *be_alone_once(void *context)
{
    room *of = context;
    atomic_store(&of->go, true);
    vidi__latch_alone(&of->latch);
    of->one++;
    atomic_store(&of->inside, true);
    vidi__latch_release_alone(&of->latch);
    return NULL;
}

/* If the borrower woke nobody, the other thread would sleep on, and the harness would report it. */
static void a_borrower_lets_others_in_when_it_leaves(void **state)
{
    skip_unless_lent(state);
    for (unsigned i = 0; i < 20; i++) {
        room of = {0};
        pthread_t thread;
        run_streak(&of.latch);
        assert_true(vidi__latch_try_alone(&of.latch));
        assert_int_equal(pthread_create(&thread, NULL, be_alone_once, &of), 0);
        while (!(atomic_load(&of.latch.state) & VIDI__LATCH_RECALLED))
            sched_yield();
        for (unsigned j = 0; j < 100; j++) /* long enough to fall asleep */
            sched_yield();
        assert_false(atomic_load(&of.inside));
        of.one++;
        vidi__latch_release_alone(&of.latch);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(of.one, 2);
        assert_int_equal(of.latch.state, 0);
    }
}

static void *borrow_and_count(void *context)
{
    room *of = context;
    while (!atomic_load(&of->done)) {
        if (!vidi__latch_try_alone(&of->latch))
            vidi__latch_alone(&of->latch);
        of->one++;
        of->two++;
        vidi__latch_release_alone(&of->latch);
    }
    return NULL;
}

/* A borrower that never rests, and a thread that recalls the latch whenever it is lent, alone and shared by turns. */
static void nobody_meets_a_borrower(void **state)
{
    room of = {.rounds = test_sanitized() ? 100 : 2000};
    uint64_t own = 0;
    pthread_t thread;
    skip_unless_lent(state);
    assert_int_equal(pthread_create(&thread, NULL, borrow_and_count, &of), 0);
    for (unsigned i = 0; i < of.rounds; i++) {
        while (!(atomic_load(&of.latch.state) & VIDI__LATCH_LENT))
            sched_yield();
        if (i % 2) {
            vidi__latch_alone(&of.latch);
            own++;
            of.one++;
            assert_int_equal(of.one, of.two + own);
            vidi__latch_release_alone(&of.latch);
        } else {
            vidi__latch_shared(&of.latch);
            assert_int_equal(of.one, of.two + own);
            vidi__latch_release_shared(&of.latch);
        }
    }
    atomic_store(&of.done, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(of.one, of.two + own);
}

int main(int argc, char **argv)
{
    test_add("a streak makes a borrower", a_streak_makes_a_borrower, NULL);
    test_add("others get it back", others_get_it_back, NULL);
    test_add("it is lent to one at a time", it_is_lent_to_one_at_a_time, NULL);
    test_add("a borrower lets others in when it leaves", a_borrower_lets_others_in_when_it_leaves, NULL);
    test_add("nobody meets a borrower", nobody_meets_a_borrower, NULL);
    return test_run("lending", argc, argv);
}
