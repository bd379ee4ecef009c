/*
 * The gate, step by step: a few threads do what the test says, in the order in which it says so. Every test runs twice,
 * with membarrier and with atomic exchanges. model/test_gate_model.c checks the protocol in all orders of steps; these
 * tests check the code. In test_threads_crowd.c, threads do all of it at once.
 */
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/gate.h"
#include "support/actor.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/runner.h"

enum { PLAYERS = 4, PAGE = 4096, SCENE_PAGES = 2 };

typedef struct player {
    test_actor actor;
    struct scene *in;
    uint32_t number;
    vidi__slot *slot; /* what it was given when it last tried to go in */
    uint32_t seen;    /* the state of the gate that it saw */
    bool closed;      /* vidi__gate_try_close succeeded */
    unsigned turn;    /* how many were alone before it */
    struct player *other;
    bool kept_message;
} player;

typedef struct scene {
    test_allocator allocator;
    vidi__memory memory;
    player players[PLAYERS];
    unsigned turns;  /* written by whoever is alone */
    bool exchanges;  /* the mode before the test */
    vidi__gate gate; /* at the end, with a page for `own` alone: see begin_and_stop */
} scene;
_Static_assert(offsetof(scene, gate.own) <= PAGE, "a scene has room in its pages");
_Static_assert(offsetof(scene, gate.own) + sizeof(vidi__slot) == sizeof(scene), "`own` is alone in its page");

/* ---- what a player does ---- */

static void take_number(void *context)
{
    player *self = context;
    vidi__thread_take_number();
    self->number = vidi__thread;
}

static void enter(void *context)
{
    player *self = context;
    self->slot = vidi__gate_enter(&self->in->gate);
}

static void enter_alone(void *context)
{
    player *self = context;
    self->slot = vidi__gate_enter_alone(&self->in->gate);
}

static void join(void *context)
{
    player *self = context;
    const char *before = vidi_message();
    char copy[600];
    snprintf(copy, sizeof copy, "%s", before);
    self->slot = vidi__gate_join(&self->in->gate, &self->in->memory);
    self->kept_message = strcmp(copy, vidi_message()) == 0;
}

static void leave(void *context)
{
    player *self = context;
    vidi__gate_leave(&self->in->gate, self->slot);
}

static void close_gate(void *context)
{
    player *self = context;
    vidi__gate_close(&self->in->gate);
    self->turn = self->in->turns++;
}

static void try_to_close(void *context)
{
    player *self = context;
    self->closed = vidi__gate_try_close(&self->in->gate);
}

static void open_gate(void *context)
{
    player *self = context;
    vidi__gate_open(&self->in->gate);
}

static void give_to_other(void *context)
{
    player *self = context;
    vidi__gate_give(&self->in->gate, self->other ? self->other->number : VIDI__GATE_SHARED);
}

/* vidi__gate_enter in four steps, between which the thread may lose its processor. */
static void look(void *context)
{
    player *self = context;
    self->seen = atomic_load(&self->in->gate.state);
    self->slot = vidi__gate_slot(&self->in->gate);
}

static void announce(void *context)
{
    player *self = context;
    vidi__slot_set_inside(self->slot, atomic_load(&self->in->gate.era));
}

static void look_again(void *context)
{
    player *self = context;
    self->seen = atomic_load(&self->in->gate.state);
}

static void does(player *who, test_task *task)
{
    test_actor_do(&who->actor, task, who);
}

static void begins(player *who, test_task *task)
{
    test_actor_begin(&who->actor, task, who);
}

static bool sleeps(player *who)
{
    return test_actor_sleeps(&who->actor);
}

static void ends(player *who)
{
    test_actor_wait(&who->actor);
}

/* Closes the gate, gives it to another player or to SHARED (NULL), and opens it. */
static void gives(player *who, player *to)
{
    does(who, close_gate);
    who->other = to;
    does(who, give_to_other);
    assert_true(who->in->gate.exclusive && !who->in->gate.shared);
    assert_int_equal(atomic_load(&who->in->gate.state), VIDI__GATE_CLOSED | (to ? to->number : VIDI__GATE_SHARED));
    does(who, open_gate);
}

static bool gets_in(player *who)
{
    does(who, enter);
    return who->slot != NULL;
}

static bool may_join(player *who)
{
    does(who, join);
    assert_true(who->kept_message);
    return who->slot != NULL;
}

/* ---- the scene ---- */

static uint32_t state_of(scene *of)
{
    return atomic_load(&of->gate.state);
}

static unsigned n_inside(scene *of)
{
    unsigned n = 0;
    vidi__slot *slot;
    for (uint32_t at = 0; (slot = vidi__gate_next(&of->gate, &at)) != NULL;)
        n += atomic_load(&slot->inside) != 0;
    return n;
}

/* *state: whether exchanges take the place of the barrier. */
static scene *begin(void **state)
{
    bool exchanges = *(const bool *)*state;
    char *pages = mmap(NULL, SCENE_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    scene *of = (scene *)(pages + PAGE - offsetof(scene, gate.own));
    vidi__gate_init(&of->gate);
    of->exchanges = atomic_load(&vidi__gate_exchanges);
    if (of->exchanges && !exchanges) /* this kernel has no membarrier */
        skip();
    atomic_store(&vidi__gate_exchanges, exchanges);
    test_allocator_init(&of->allocator);
    assert_int_equal(vidi__memory_init(&of->memory, &of->allocator.hook, 0), VIDI_OK);
    for (unsigned i = 0; i < PLAYERS; i++) {
        of->players[i].in = of;
        assert_true(test_actor_start(&of->players[i].actor));
        does(&of->players[i], take_number);
        assert_true(of->players[i].number < VIDI__THREADS_MAX);
    }
    return of;
}

/* Afterwards nobody is inside, nobody queues, and all memory is given back. */
static void end(scene *of)
{
    assert_int_equal(n_inside(of), 0);
    assert_int_equal(atomic_load(&of->gate.next), atomic_load(&of->gate.serving));
    assert_false(state_of(of) & VIDI__GATE_CLOSED);
    for (unsigned i = 0; i < PLAYERS; i++)
        test_actor_end(&of->players[i].actor);
    vidi__gate_free(&of->gate, &of->memory);
    assert_int_equal(vidi__memory_used(&of->memory), 0);
    test_allocator_finish(&of->allocator);
    atomic_store(&vidi__gate_exchanges, of->exchanges);
    munmap((char *)of + offsetof(scene, gate.own) - PAGE, SCENE_PAGES * PAGE);
}

/* ---- a thread that was stopped just before its store ---- */

/*
 * A goes in as the only thread, and is stopped before it announces itself. Meanwhile B gives the gate to C, which goes
 * in.
 */
static void stop_a_while_c_goes_in(scene *of)
{
    player *a = &of->players[0], *b = &of->players[1], *c = &of->players[2];
    assert_true(may_join(a));
    does(a, leave);
    assert_int_equal(state_of(of), a->number);
    does(a, look);
    assert_int_equal(a->seen, a->number);
    gives(b, c);
    assert_int_equal(state_of(of), c->number);
    assert_true(gets_in(c) || may_join(c));
    assert_ptr_not_equal(c->slot, a->slot);
    assert_int_equal(n_inside(of), 1);
    does(a, announce);
    assert_int_equal(n_inside(of), 2);
    does(a, look_again);
    assert_int_not_equal(a->seen, a->number); /* it was not let in */
}

static void a_late_store_does_not_let_out_the_next_owner(void **state)
{
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1], *c = &of->players[2];
    stop_a_while_c_goes_in(of);
    does(a, leave);
    assert_int_equal(n_inside(of), 1);
    assert_int_not_equal(atomic_load(&c->slot->inside), 0);
    begins(b, close_gate);
    assert_true(sleeps(b)); /* C is inside */
    does(c, leave);
    ends(b);
    does(b, open_gate);
    end(of);
}

static void the_next_owner_does_not_take_back_a_late_store(void **state)
{
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1], *c = &of->players[2];
    stop_a_while_c_goes_in(of);
    does(c, leave);
    assert_int_equal(n_inside(of), 1);
    begins(b, close_gate);
    assert_true(sleeps(b)); /* A has not taken its store back yet */
    does(a, leave);
    ends(b);
    does(b, open_gate);
    end(of);
}

/* C itself closes the gate, as the next owner, while A is stopped. Then A sees that it is closed. */
static void a_late_store_is_taken_back_while_the_gate_is_closed(void **state)
{
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1], *c = &of->players[2];
    assert_true(may_join(a));
    does(a, leave);
    does(a, look);
    gives(b, c);
    does(c, close_gate);
    does(a, announce);
    does(a, look_again);
    assert_int_equal(a->seen, c->number | VIDI__GATE_CLOSED);
    does(a, leave);
    assert_int_equal(n_inside(of), 0);
    does(c, open_gate);
    assert_false(gets_in(a));
    assert_false(may_join(a));
    end(of);
}

/* ---- a thread that goes in or out, stopped just before its store ---- */

/*
 * `own` is at the beginning of a page. While that is read-only, the store is a fault, whose handler waits until the
 * test lets the thread go on. Then the store is made.
 */
static sem_t stopped, goes_on;

static void stop(int number)
{
    (void)number;
    sem_post(&stopped);
    while (sem_wait(&goes_on) != 0)
        continue;
}

static void begin_and_stop(scene *of, player *who, test_task *task, struct sigaction *before)
{
    struct sigaction action = {.sa_handler = stop};
    void *own = &of->gate.own;
    assert_int_equal(sem_init(&stopped, 0, 0) | sem_init(&goes_on, 0, 0), 0);
    assert_int_equal(sigaction(SIGSEGV, &action, before), 0);
    assert_int_equal(mprotect(own, PAGE, PROT_READ), 0);
    begins(who, task);
    while (sem_wait(&stopped) != 0)
        continue;
    assert_int_equal(mprotect(own, PAGE, PROT_READ | PROT_WRITE), 0);
}

static void go_on(player *who, const struct sigaction *before)
{
    sem_post(&goes_on);
    ends(who);
    sigaction(SIGSEGV, before, NULL);
    sem_destroy(&stopped);
    sem_destroy(&goes_on);
}

static void a_thread_that_was_stopped_sees_what_has_changed(void **state)
{
    struct sigaction before;
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1], *c = &of->players[2];
    assert_true(may_join(a));
    does(a, leave);
    begin_and_stop(of, a, enter, &before);
    go_on(a, &before);
    assert_ptr_equal(a->slot, &of->gate.own); /* nothing has changed, so it is in */
    does(a, leave);
    begin_and_stop(of, a, enter, &before);
    gives(b, c);
    assert_true(may_join(c));
    go_on(a, &before);
    assert_null(a->slot);
    assert_int_equal(n_inside(of), 1);
    does(c, leave);
    gives(c, a);
    begin_and_stop(of, a, enter, &before);
    does(b, close_gate);
    go_on(a, &before);
    assert_null(a->slot);
    assert_int_equal(n_inside(of), 0);
    does(b, open_gate);
    end(of);
}

static void nobody_is_alone_among_others(void **state)
{
    struct sigaction before;
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1];
    assert_true(may_join(a));
    does(a, leave);
    does(a, enter_alone);
    assert_ptr_equal(a->slot, &of->gate.own);
    does(a, leave);
    begin_and_stop(of, a, enter_alone, &before);
    gives(b, NULL);
    assert_true(may_join(b));
    go_on(a, &before);
    assert_null(a->slot);
    does(a, enter_alone);
    assert_null(a->slot);
    assert_true(gets_in(a));
    assert_int_equal(n_inside(of), 2);
    does(a, leave);
    does(b, leave);
    end(of);
}

static void a_thread_that_was_stopped_as_it_leaves_wakes_the_one_that_closes(void **state)
{
    struct sigaction before;
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1];
    assert_true(may_join(a));
    begin_and_stop(of, a, leave, &before);
    begins(b, close_gate);
    assert_true(sleeps(b));
    go_on(a, &before);
    ends(b);
    does(b, open_gate);
    end(of);
}

/* ---- in and out ---- */

static void the_first_thread_has_the_gate_to_itself(void **state)
{
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1];
    assert_int_equal(state_of(of), VIDI__GATE_NOBODY);
    assert_false(gets_in(a));
    assert_true(may_join(a));
    assert_int_equal(state_of(of), a->number);
    assert_ptr_equal(a->slot, &of->gate.own);
    assert_false(of->gate.shared);
    does(a, leave);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(gets_in(a));
        assert_ptr_equal(a->slot, &of->gate.own);
        assert_int_equal(n_inside(of), 1);
        assert_false(gets_in(b));
        assert_false(may_join(b));
        does(a, leave);
        assert_int_equal(n_inside(of), 0);
    }
    assert_int_equal(test_allocator_live(&of->allocator), 0); /* one thread needs no memory */
    end(of);
}

static void several_threads_are_inside_a_shared_gate(void **state)
{
    scene *of = begin(state);
    assert_true(may_join(&of->players[0]));
    does(&of->players[0], leave);
    gives(&of->players[1], NULL);
    assert_int_equal(state_of(of), VIDI__GATE_SHARED);
    assert_true(of->gate.shared);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < PLAYERS; i++) {
            player *who = &of->players[i];
            assert_true(gets_in(who) || may_join(who));
            assert_int_equal(n_inside(of), i + 1);
            for (unsigned k = 0; k < i; k++)
                assert_ptr_not_equal(who->slot, of->players[k].slot);
        }
        for (unsigned i = 0; i < PLAYERS; i++)
            does(&of->players[i], leave);
    }
    assert_ptr_equal(of->players[0].slot, &of->gate.own);
    for (unsigned i = 0; i < PLAYERS; i++) { /* all have slots, so all get in at once */
        assert_true(gets_in(&of->players[i]));
        does(&of->players[i], leave);
    }
    end(of);
}

/* The first thread gets the gate back: it is in its slot of old, and the others are kept out. */
static void a_gate_is_given_to_one_thread_and_to_all(void **state)
{
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1];
    assert_true(may_join(a));
    does(a, leave);
    gives(b, NULL);
    assert_true(may_join(b));
    does(b, leave);
    gives(b, b);
    assert_true(gets_in(b));
    assert_ptr_not_equal(b->slot, &of->gate.own);
    assert_false(of->gate.shared);
    assert_false(gets_in(a));
    assert_false(may_join(a));
    does(b, leave);
    gives(b, a);
    assert_true(gets_in(a));
    assert_ptr_equal(a->slot, &of->gate.own);
    assert_false(gets_in(b));
    does(a, leave);
    end(of);
}

static void a_closed_gate_lets_nobody_in(void **state)
{
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1], *c = &of->players[2];
    assert_true(may_join(a));
    does(a, leave);
    does(b, close_gate);
    assert_true(of->gate.exclusive);
    assert_int_equal(state_of(of), a->number | VIDI__GATE_CLOSED);
    assert_false(gets_in(a));
    assert_int_equal(n_inside(of), 0);
    begins(a, join);
    assert_true(sleeps(a));
    begins(c, close_gate);
    assert_true(sleeps(c));
    does(b, open_gate);
    ends(a);
    assert_non_null(a->slot);
    assert_true(sleeps(c)); /* A is inside */
    does(a, leave);
    ends(c);
    assert_true(of->gate.exclusive);
    does(c, open_gate);
    assert_false(of->gate.exclusive);
    end(of);
}

/* The thread that closes sleeps until the last of those inside has left. */
static void closing_waits_for_everybody_inside(void **state)
{
    scene *of = begin(state);
    player *closer = &of->players[PLAYERS - 1];
    assert_true(may_join(&of->players[0]));
    does(&of->players[0], leave);
    gives(closer, NULL);
    for (unsigned last = 0; last < PLAYERS - 1; last++) {
        for (unsigned i = 0; i < PLAYERS - 1; i++)
            assert_true(gets_in(&of->players[i]) || may_join(&of->players[i]));
        begins(closer, close_gate);
        for (unsigned i = 1; i < PLAYERS; i++) {
            assert_true(sleeps(closer));
            does(&of->players[(last + i) % (PLAYERS - 1)], leave);
        }
        ends(closer);
        does(closer, open_gate);
    }
    end(of);
}

static void whoever_queues_up_first_is_served_first(void **state)
{
    scene *of = begin(state);
    does(&of->players[0], close_gate);
    for (unsigned i = 1; i < PLAYERS; i++) {
        begins(&of->players[i], close_gate);
        assert_true(sleeps(&of->players[i]));
        assert_int_equal(atomic_load(&of->gate.next) - atomic_load(&of->gate.serving), i + 1);
    }
    for (unsigned i = 0; i < PLAYERS; i++) {
        if (i)
            ends(&of->players[i]);
        assert_int_equal(of->players[i].turn, i);
        does(&of->players[i], open_gate);
    }
    end(of);
}

/* As a thread does that is stopped between these two steps. */
static void draw_number(void *context)
{
    player *self = context;
    self->seen = atomic_fetch_add(&self->in->gate.next, 1);
}

static void wait_to_be_served(void *context)
{
    player *self = context;
    uint32_t now;
    while ((now = atomic_load(&self->in->gate.serving)) != self->seen)
        vidi__wait_while(&self->in->gate.serving, now, UINT32_C(1) << self->seen % 32);
}

/* The same, but it does not look whether it is served. */
static void wait_to_be_woken(void *context)
{
    player *self = context;
    vidi__wait_while(&self->in->gate.serving, 0, UINT32_C(1) << self->seen % 32);
}

/* If everybody were, a queue of many threads would take the square of as many wake-ups. */
static void whoever_is_not_served_is_not_woken(void **state)
{
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1], *c = &of->players[2];
    does(a, close_gate);
    does(b, draw_number);
    does(c, draw_number);
    begins(c, wait_to_be_woken);
    assert_true(sleeps(c));
    begins(b, wait_to_be_served);
    assert_true(sleeps(b));
    does(a, open_gate);
    ends(b);
    assert_true(sleeps(c));
    does(b, open_gate);
    ends(c);
    does(c, open_gate);
    end(of);
}

/* C falls asleep before B does, but it is B's turn. */
static void whoever_is_served_is_woken(void **state)
{
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1], *c = &of->players[2];
    does(a, close_gate);
    does(b, draw_number);
    begins(c, close_gate);
    assert_true(sleeps(c));
    begins(b, wait_to_be_served);
    assert_true(sleeps(b));
    does(a, open_gate);
    ends(b);
    assert_true(sleeps(c));
    does(b, open_gate);
    ends(c);
    does(c, open_gate);
    end(of);
}

static void try_close_refuses_if_somebody_queues(void **state)
{
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1], *c = &of->players[2];
    does(a, close_gate);
    does(b, try_to_close);
    assert_false(b->closed);
    begins(c, close_gate);
    assert_true(sleeps(c));
    does(b, try_to_close);
    assert_false(b->closed);
    does(a, open_gate);
    ends(c);
    does(b, try_to_close);
    assert_false(b->closed);
    does(c, open_gate);
    does(b, try_to_close);
    assert_true(b->closed && of->gate.exclusive);
    does(a, try_to_close);
    assert_false(a->closed);
    does(b, open_gate);
    end(of);
}

/* Asking to be alone never waits: others may be waiting for whoever asks. */
static void try_close_refuses_if_somebody_is_inside(void **state)
{
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1];
    assert_true(may_join(a));
    does(b, try_to_close);
    assert_false(b->closed);
    assert_int_equal(state_of(of), a->number);
    does(a, leave);
    assert_true(gets_in(a));
    does(a, leave);
    does(b, try_to_close);
    assert_true(b->closed);
    does(b, open_gate);
    end(of);
}

static void check_mine(void *context)
{
    player *self = context;
    self->slot = vidi__gate_mine(&self->in->gate);
}

static void whoever_is_alone_counts_in_own(void **state)
{
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1];
    assert_true(may_join(a));
    does(a, leave);
    gives(b, NULL);
    assert_true(may_join(b));
    vidi__slot *of_b = b->slot;
    does(b, check_mine);
    assert_ptr_equal(b->slot, of_b);
    does(b, leave);
    does(b, close_gate);
    does(b, check_mine);
    assert_ptr_equal(b->slot, &of->gate.own);
    does(b, open_gate);
    end(of);
}

/* ---- eras ---- */

/* From the era that `eras` begins with; the others follow in their order. */
static void check_eras(void **state, uint32_t first, uint32_t second, uint32_t third)
{
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1];
    gives(a, NULL);
    atomic_store(&of->gate.era, first);
    assert_int_equal(vidi__gate_safe_era(&of->gate), first);
    assert_true(may_join(a));
    assert_int_equal(vidi__gate_retire(&of->gate), first);
    assert_int_equal(atomic_load(&of->gate.era), second);
    assert_true(may_join(b));
    assert_int_equal(vidi__gate_safe_era(&of->gate), first); /* A may still read what was retired */
    assert_int_equal(vidi__gate_retire(&of->gate), second);
    does(a, leave);
    assert_int_equal(vidi__gate_safe_era(&of->gate), second);
    assert_true(gets_in(a));
    assert_int_equal(atomic_load(&a->slot->inside), third);
    assert_int_equal(vidi__gate_safe_era(&of->gate), second);
    does(b, leave);
    assert_int_equal(vidi__gate_safe_era(&of->gate), third);
    does(a, leave);
    assert_int_equal(vidi__gate_safe_era(&of->gate), third);
    assert_true(vidi__era_is_before(first, second) && vidi__era_is_before(second, third));
    assert_true(vidi__era_is_before(first, third) && !vidi__era_is_before(third, first));
    assert_false(vidi__era_is_before(second, second));
    end(of);
}

static void an_era_is_over_when_all_its_threads_have_left(void **state)
{
    check_eras(state, 1, 3, 5);
}

static void eras_go_on_after_the_largest_number(void **state)
{
    check_eras(state, UINT32_MAX - 2, UINT32_MAX, 1);
    check_eras(state, UINT32_MAX, 1, 3);
}

/* ---- memory runs out ---- */

static void without_memory_a_thread_closes_the_gate(void **state)
{
    scene *of = begin(state);
    player *a = &of->players[0], *b = &of->players[1];
    test_allocator_fail(&of->allocator, 1, true);
    assert_true(may_join(a)); /* needs none */
    does(a, leave);
    gives(b, NULL);
    for (uint64_t call = 1; call <= 2; call++) { /* the list, a chunk */
        test_allocator_fail(&of->allocator, call, true);
        assert_false(may_join(b));
        assert_true(test_allocator_refused(&of->allocator) > 0);
        assert_false(gets_in(b));
        assert_int_equal(n_inside(of), 0);
        assert_true(gets_in(a));
        begins(b, close_gate);
        assert_true(sleeps(b));
        does(a, leave);
        ends(b);
        does(b, open_gate);
    }
    test_allocator_fail(&of->allocator, 0, false);
    assert_true(may_join(b));
    does(b, leave);
    assert_true(gets_in(b));
    does(b, leave);
    end(of);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *promise;
        CMUnitTestFunction function;
        bool faults; /* which no sanitizer can stand */
    } tests[] = {
        {"a late store doesn't let out the next owner", a_late_store_does_not_let_out_the_next_owner, false},
        {"the next owner doesn't take back a late store", the_next_owner_does_not_take_back_a_late_store, false},
        {"a late store is taken back while the gate is closed", a_late_store_is_taken_back_while_the_gate_is_closed,
         false},
        {"a thread that was stopped sees what has changed", a_thread_that_was_stopped_sees_what_has_changed, true},
        {"nobody is alone among others", nobody_is_alone_among_others, true},
        {"a thread that was stopped as it leaves wakes the one that closes",
         a_thread_that_was_stopped_as_it_leaves_wakes_the_one_that_closes, true},
        {"the first thread has the gate to itself", the_first_thread_has_the_gate_to_itself, false},
        {"several threads are inside a shared gate", several_threads_are_inside_a_shared_gate, false},
        {"a gate is given to one thread and to all", a_gate_is_given_to_one_thread_and_to_all, false},
        {"a closed gate lets nobody in", a_closed_gate_lets_nobody_in, false},
        {"closing waits for everybody inside", closing_waits_for_everybody_inside, false},
        {"whoever queues up first is served first", whoever_queues_up_first_is_served_first, false},
        {"whoever is served is woken", whoever_is_served_is_woken, false},
        {"whoever is not served is not woken", whoever_is_not_served_is_not_woken, false},
        {"try_close refuses if somebody queues", try_close_refuses_if_somebody_queues, false},
        {"try_close refuses if somebody is inside", try_close_refuses_if_somebody_is_inside, false},
        {"whoever is alone counts in own", whoever_is_alone_counts_in_own, false},
        {"an era is over when all its threads have left", an_era_is_over_when_all_its_threads_have_left, false},
        {"eras go on after the largest number", eras_go_on_after_the_largest_number, false},
        {"without memory a thread closes the gate", without_memory_a_thread_closes_the_gate, false},
    };
    static const bool modes[] = {false, true};
    char promise[200];
    for (size_t i = 0; i < VIDI__COUNT(tests); i++)
        for (size_t mode = 0; mode < VIDI__COUNT(modes); mode++) {
            snprintf(promise, sizeof promise, "%s%s", tests[i].promise, modes[mode] ? " (exchanges)" : "");
            (tests[i].faults ? test_add_once : test_add)(promise, tests[i].function, &modes[mode]);
        }
    return test_run("gate", argc, argv);
}
