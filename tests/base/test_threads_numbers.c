/*
 * The numbers of threads: 1,008 of them, each given to one thread until it ends. And a gate that all of those threads
 * use, beside one that got no number. The test's own thread never takes a number.
 */
#include <signal.h>
#include <stdlib.h>

#include "base/gate.h"
#include "support/actor.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/runner.h"

enum { NUMBERS = VIDI__THREADS_MAX };

typedef struct player {
    test_actor actor;
    struct scene *in;
    uint32_t number;
    vidi__slot *slot;
    uint64_t seen;
    bool kept_message;
} player;

typedef struct scene {
    vidi__gate gate;
    test_allocator allocator;
    vidi__memory memory;
    uint64_t data;               /* written by whoever is alone */
    player players[NUMBERS + 1]; /* one more than there are numbers */
} scene;

static void take_number(void *context)
{
    player *self = context;
    vidi__thread_take_number();
    self->number = vidi__thread;
}

static void join(void *context)
{
    player *self = context;
    const char *before = vidi_message();
    self->slot = vidi__gate_join(&self->in->gate, &self->in->memory);
    self->kept_message = vidi_message() == before && !*before;
}

static void enter(void *context)
{
    player *self = context;
    vidi__thread_take_number();
    self->slot = vidi__gate_enter(&self->in->gate);
}

static void leave(void *context)
{
    player *self = context;
    vidi__gate_leave(&self->in->gate, self->slot);
}

static void work_alone(void *context)
{
    player *self = context;
    vidi__gate_close(&self->in->gate);
    self->seen = self->in->data++;
    vidi__gate_open(&self->in->gate);
}

static void share(void *context)
{
    player *self = context;
    vidi__gate_close(&self->in->gate);
    vidi__gate_give(&self->in->gate, VIDI__GATE_SHARED);
    vidi__gate_open(&self->in->gate);
}

static void does(player *who, test_task *task)
{
    test_actor_do(&who->actor, task, who);
}

static void start(scene *of, unsigned i)
{
    of->players[i].in = of;
    if (!test_actor_start(&of->players[i].actor)) {
        print_message("# this system allows %u threads\n", i);
        skip();
    }
}

static scene *begin(unsigned threads)
{
    scene *of =
        aligned_alloc(VIDI__CACHE_LINE, (sizeof *of + VIDI__CACHE_LINE - 1) / VIDI__CACHE_LINE * VIDI__CACHE_LINE);
    assert_non_null(of);
    memset(of, 0, sizeof *of);
    vidi__gate_init(&of->gate);
    test_allocator_init(&of->allocator);
    assert_int_equal(vidi__memory_init(&of->memory, &of->allocator.hook, 0), VIDI_OK);
    for (unsigned i = 0; i < threads; i++)
        start(of, i);
    return of;
}

static void end(scene *of, unsigned threads)
{
    for (unsigned i = 0; i < threads; i++)
        test_actor_end(&of->players[i].actor);
    vidi__gate_free(&of->gate, &of->memory);
    test_allocator_finish(&of->allocator);
    free(of);
}

static void every_number_is_given_to_one_thread(void **state)
{
    scene *of = begin(NUMBERS + 1);
    bool given[NUMBERS + 1] = {false};
    player *last = &of->players[NUMBERS], *ends = &of->players[500];
    (void)state;
    for (unsigned i = 0; i < NUMBERS; i++) {
        does(&of->players[i], take_number);
        uint32_t number = of->players[i].number;
        check(number < NUMBERS && !given[number], "thread %u got number %u", i, (unsigned)number);
        given[number] = true;
    }
    does(last, take_number);
    assert_int_equal(last->number, VIDI__THREADS_MAX);
    does(ends, take_number); /* keeps its number */
    uint32_t left = ends->number;
    test_actor_end(&ends->actor);
    does(last, take_number);
    assert_int_equal(last->number, left);
    start(of, 500);
    does(ends, take_number);
    assert_int_equal(ends->number, VIDI__THREADS_MAX);
    end(of, NUMBERS + 1);
}

static void numbers_are_given_back(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        scene *of = begin(NUMBERS);
        for (unsigned i = 0; i < NUMBERS; i++) {
            does(&of->players[i], take_number);
            assert_true(of->players[i].number < NUMBERS);
        }
        end(of, NUMBERS);
    }
}

static unsigned n_inside(const vidi__gate *gate, unsigned *slots)
{
    unsigned n = 0;
    vidi__slot *slot;
    *slots = 0;
    for (uint32_t at = 0; (slot = vidi__gate_next(gate, &at)) != NULL; ++*slots)
        n += atomic_load(&slot->inside) != 0;
    return n;
}

/* The player is the last one inside: the thread without a number waits for it before it is alone. */
static void check_closing_waits_for(scene *of, player *inside)
{
    player *nameless = &of->players[NUMBERS];
    does(inside, enter);
    assert_non_null(inside->slot);
    test_actor_begin(&nameless->actor, work_alone, nameless);
    assert_true(test_actor_sleeps(&nameless->actor));
    does(inside, leave);
    test_actor_wait(&nameless->actor);
}

/*
 * All threads that have numbers are inside at the same time, each with a slot. The one that has no number can only
 * close the gate.
 */
static void all_numbers_have_slots_and_the_thread_without_one_closes(void **state)
{
    scene *of = begin(NUMBERS + 1);
    player *nameless = &of->players[NUMBERS];
    unsigned slots, chunk = VIDI__SLOTS_OF_CHUNK;
    (void)state;
    for (unsigned i = 0; i < NUMBERS; i++)
        does(&of->players[i], take_number);
    does(&of->players[0], join);
    does(&of->players[0], leave);
    does(nameless, share);
    for (unsigned i = NUMBERS; i-- > 0;) { /* so a chunk is made by the last of its threads */
        does(&of->players[i], join);
        assert_non_null(of->players[i].slot);
        assert_true(i == 0 || (uintptr_t)of->players[i].slot % VIDI__CACHE_LINE == 0);
        assert_int_equal(n_inside(&of->gate, &slots), NUMBERS - i); /* so no two share a slot */
    }
    assert_int_equal(slots, NUMBERS + 1);
    assert_ptr_equal(of->players[0].slot, &of->gate.own);
    does(nameless, join);
    assert_true(!nameless->slot && nameless->kept_message);
    does(nameless, enter);
    assert_null(nameless->slot);
    for (unsigned i = 0; i < NUMBERS; i++)
        does(&of->players[i], leave);
    check_closing_waits_for(of, &of->players[0]);
    for (unsigned i = 0; i < NUMBERS; i++) /* both sides of where a chunk ends */
        if (of->players[i].number % chunk == 0 || of->players[i].number % chunk == chunk - 1)
            check_closing_waits_for(of, &of->players[i]);
    assert_int_equal(of->data, nameless->seen + 1);
    assert_int_equal(of->data, 1 + 2 * NUMBERS / chunk);
    end(of, NUMBERS + 1);
}

static void a_thread_without_a_number_never_has_the_gate_to_itself(void **state)
{
    scene *of = begin(NUMBERS + 1);
    player *nameless = &of->players[NUMBERS];
    (void)state;
    for (unsigned i = 0; i < NUMBERS; i++)
        does(&of->players[i], take_number);
    does(nameless, join);
    assert_true(!nameless->slot && nameless->kept_message);
    assert_int_equal(atomic_load(&of->gate.state), VIDI__GATE_NOBODY);
    does(nameless, work_alone);
    assert_int_equal(atomic_load(&of->gate.state), VIDI__GATE_NOBODY);
    does(&of->players[7], join);
    assert_ptr_equal(of->players[7].slot, &of->gate.own);
    test_actor_begin(&nameless->actor, work_alone, nameless);
    assert_true(test_actor_sleeps(&nameless->actor));
    does(&of->players[7], leave);
    test_actor_wait(&nameless->actor);
    assert_int_equal(of->data, 2);
    end(of, NUMBERS + 1);
}

static void write_down(void *context)
{
    player *self = context;
    vidi__thread_take_number();
    self->slot = vidi__gate_enter(&self->in->gate);
    if (!self->slot)
        self->slot = vidi__gate_join(&self->in->gate, &self->in->memory);
    self->seen = (uint64_t)self->slot->patience++;
    vidi__gate_leave(&self->in->gate, self->slot);
}

/* The gate is the only thread's; it ends; the next one with its number finds the gate, and the slot, its own. */
static void the_next_thread_of_a_number_goes_on_with_its_slot(void **state)
{
    scene *of = begin(0);
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        start(of, 0);
        does(&of->players[0], write_down);
        assert_ptr_equal(of->players[0].slot, &of->gate.own);
        assert_int_equal(of->players[0].seen, i);
        test_actor_end(&of->players[0].actor);
    }
    end(of, 0);
}

static void *signals_of_thread(void *context)
{
    pthread_sigmask(SIG_SETMASK, NULL, context);
    return NULL;
}

static void a_started_thread_leaves_signals_to_others(void **state)
{
    sigset_t mine, before;
    pthread_t thread;
    (void)state;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(vidi__thread_start(&thread, signals_of_thread, &mine), VIDI_OK);
    pthread_join(thread, NULL);
    assert_true(sigismember(&mine, SIGINT) && sigismember(&mine, SIGTERM) && !sigismember(&mine, SIGBUS));
    pthread_sigmask(SIG_SETMASK, NULL, &mine);
    for (int i = 1; i < 32; i++)
        assert_int_equal(sigismember(&mine, i), sigismember(&before, i));
}

int main(int argc, char **argv)
{
    test_add("every number is given to one thread", every_number_is_given_to_one_thread, NULL);
    test_add("numbers are given back", numbers_are_given_back, NULL);
    test_add("all numbers have slots, and the thread without one closes",
             all_numbers_have_slots_and_the_thread_without_one_closes, NULL);
    test_add("a thread without a number never has the gate to itself",
             a_thread_without_a_number_never_has_the_gate_to_itself, NULL);
    test_add("the next thread of a number goes on with its slot", the_next_thread_of_a_number_goes_on_with_its_slot,
             NULL);
    test_add("a started thread leaves signals to others", a_started_thread_leaves_signals_to_others, NULL);
    return test_run("numbers of threads", argc, argv);
}
