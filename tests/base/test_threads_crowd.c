/*
 * Threads that go through a gate as fast as they can, as adds do (set/lock.c): whoever is alone is alone, nobody's work
 * is lost, and all come to an end. With membarrier and with atomic exchanges.
 */
#include "base/gate.h"
#include "support/actor.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { MOST = 4 };

typedef struct crowd {
    vidi__gate gate;
    test_allocator allocator;
    vidi__memory memory;
    vidi__mutex turns;
    uint64_t done;                                 /* plain: the gate, or `turns` while it is shared, protects it */
    _Alignas(VIDI__CACHE_LINE) _Atomic bool alone; /* somebody says that it is alone */
    _Atomic uint64_t wrong;
    unsigned rounds;
} crowd;

typedef struct member {
    crowd *of;
    test_random random;
    unsigned alone; /* of 256 calls, those for which the thread closes the gate */
    unsigned tries; /* and those after which it asks for the gate */
} member;

static void count_alone(crowd *of)
{
    if (atomic_exchange_explicit(&of->alone, true, memory_order_relaxed))
        atomic_fetch_add(&of->wrong, 1);
    of->done++;
    atomic_store_explicit(&of->alone, false, memory_order_relaxed);
}

static void count_among_others(crowd *of)
{
    if (atomic_load_explicit(&of->alone, memory_order_relaxed))
        atomic_fetch_add(&of->wrong, 1);
    vidi__mutex_lock(&of->turns);
    of->done++;
    vidi__mutex_unlock(&of->turns);
    if (atomic_load_explicit(&of->alone, memory_order_relaxed))
        atomic_fetch_add(&of->wrong, 1);
}

/* As an add does it. */
static void count_once(crowd *of)
{
    vidi__slot *slot = vidi__gate_enter(&of->gate);
    if (!slot && !(slot = vidi__gate_join(&of->gate, &of->memory))) {
        vidi__gate_close(&of->gate);
        count_alone(of);
        vidi__gate_give(&of->gate, VIDI__GATE_SHARED);
        vidi__gate_open(&of->gate);
        return;
    }
    if (of->gate.shared)
        count_among_others(of);
    else
        count_alone(of);
    vidi__gate_leave(&of->gate, slot);
}

static void take_part(void *context)
{
    member *self = context;
    crowd *of = self->of;
    for (unsigned i = 0; i < of->rounds; i++) {
        uint64_t random = test_next(&self->random);
        if ((random & 255) < self->alone) {
            vidi__gate_close(&of->gate);
            count_alone(of);
            vidi__gate_open(&of->gate);
        } else {
            count_once(of);
        }
        if ((random >> 8 & 255) < self->tries && vidi__gate_try_close(&of->gate)) {
            vidi__gate_give(&of->gate, vidi__thread);
            vidi__gate_open(&of->gate);
        }
    }
}

static void go_through(crowd *of, unsigned n, const member *like)
{
    test_actor actors[MOST];
    member members[MOST];
    for (unsigned i = 0; i < n; i++) {
        members[i] = like[i];
        members[i].of = of;
        members[i].random.state = i;
        assert_true(test_actor_start(&actors[i]));
    }
    for (unsigned i = 0; i < n; i++)
        test_actor_begin(&actors[i], take_part, &members[i]);
    for (unsigned i = 0; i < n; i++)
        test_actor_wait(&actors[i]);
    for (unsigned i = 0; i < n; i++)
        test_actor_end(&actors[i]);
}

/* *state: whether exchanges take the place of the barrier. */
static void with_crowd(void **state, bool shared, unsigned n, const member *like, unsigned rounds)
{
    static crowd of;
    vidi__slot *slot;
    bool exchanges = *(const bool *)*state;
    memset(&of, 0, sizeof of);
    vidi__gate_init(&of.gate);
    bool before = atomic_load(&vidi__gate_exchanges);
    if (before && !exchanges) /* this kernel has no membarrier */
        skip();
    atomic_store(&vidi__gate_exchanges, exchanges);
    test_allocator_init(&of.allocator);
    assert_int_equal(vidi__memory_init(&of.memory, &of.allocator.hook, 0), VIDI_OK);
    of.rounds = test_sanitized() ? rounds / 10 : rounds;
    if (shared) {
        vidi__gate_close(&of.gate);
        vidi__gate_give(&of.gate, VIDI__GATE_SHARED);
        vidi__gate_open(&of.gate);
    }
    go_through(&of, n, like);
    atomic_store(&vidi__gate_exchanges, before);
    assert_int_equal(atomic_load(&of.wrong), 0);
    assert_int_equal(of.done, (uint64_t)n * of.rounds);
    assert_int_equal(atomic_load(&of.turns.state), 0);
    assert_int_equal(atomic_load(&of.gate.next), atomic_load(&of.gate.serving));
    for (uint32_t at = 0; (slot = vidi__gate_next(&of.gate, &at)) != NULL;)
        assert_int_equal(atomic_load(&slot->inside), 0);
    vidi__gate_free(&of.gate, &of.memory);
    test_allocator_finish(&of.allocator);
}

static void a_crowd_loses_no_call(void **state)
{
    static const member alike[MOST] = {
        {.alone = 4, .tries = 4}, {.alone = 4, .tries = 4}, {.alone = 4, .tries = 4}, {.alone = 4, .tries = 4}};
    with_crowd(state, false, MOST, alike, 200000);
}

static void the_only_thread_and_one_that_closes_never_meet(void **state)
{
    static const member owner_and_guest[] = {{.alone = 0, .tries = 16}, {.alone = 256, .tries = 0}};
    with_crowd(state, false, 2, owner_and_guest, 200000);
}

static void threads_inside_and_one_that_closes_never_meet(void **state)
{
    static const member sharing[] = {{.alone = 0}, {.alone = 256}};
    with_crowd(state, true, 2, sharing, 500000);
}

int main(int argc, char **argv)
{
    static const bool barrier = false, exchanges = true;
    test_add("a crowd loses no call", a_crowd_loses_no_call, &barrier);
    test_add("a crowd loses no call (exchanges)", a_crowd_loses_no_call, &exchanges);
    test_add("the only thread and one that closes never meet", the_only_thread_and_one_that_closes_never_meet,
             &barrier);
    test_add("the only thread and one that closes never meet (exchanges)",
             the_only_thread_and_one_that_closes_never_meet, &exchanges);
    test_add("threads inside and one that closes never meet", threads_inside_and_one_that_closes_never_meet, &barrier);
    test_add("threads inside and one that closes never meet (exchanges)", threads_inside_and_one_that_closes_never_meet,
             &exchanges);
    return test_run("gate, all at once", argc, argv);
}
