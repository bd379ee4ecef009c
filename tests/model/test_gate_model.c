/*
 * The protocol of a set's gate, checked in all states that up to four threads can come to. The real code is elsewhere;
 * `step` below is the protocol once more, a step for each access to memory, short enough to be compared by eye.
 *
 * Each thread announces itself in a slot of its own with a plain store and looks whether the gate is closed. Whoever
 * needs the set alone closes the gate, has every thread pass a barrier (membarrier), and waits until all slots are
 * empty. As long as one thread alone uses the set, it is its solo owner and takes no other lock; the first other thread
 * ends that, behind a closed gate.
 *
 * A store may stay in its thread's buffer as long as the processor likes. Then it is seen by its own thread only. Buffers
 * are emptied in order (as on x86), or, in a second run, in any order of different variables (as on arm64), but for
 * stores with release order, which come after all before them. What a thread reads after its store may therefore be
 * older than the store; reads are made in order (with acquire order on arm64). A membarrier empties all buffers; so does
 * a read-modify-write or a call of futex with the caller's own.
 *
 * In every state: who is alone in the set is alone, a solo owner is never in it beside another thread, and if nobody
 * can go on, all have ended: so no wake-up is lost. The planted faults show that the search would notice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { THREADS = 4, NOBODY = THREADS, BUFFER = 3, ACTIONS = 4 };

/* Variables: the slots come first, slot t is that of thread t. */
enum { CLOSED = THREADS, SOLO, VARIABLES };

typedef enum place {
    NEXT, /* between two actions */
    /* Using the set, together with others. */
    ANNOUNCE,
    LOOK_CLOSED,
    LOOK_SOLO,
    INSIDE,
    INSIDE_SOLO,
    LEAVE,
    LEAVE_LOOK,
    LEAVE_WAKE,
    /* The gate was closed. */
    BACK_OUT,
    BACK_WAKE,
    BACK_WAIT,
    ASLEEP_OUTSIDE,
    /* The set has another thread as its solo owner. */
    BACK_SOLO,
    BACK_SOLO_LOOK,
    BACK_SOLO_WAKE,
    /* Using the set alone. */
    LOCK,
    CLOSE,
    BARRIER,
    COUNT_WAKES,
    LOOK_SLOT,
    ASLEEP_CLOSER,
    ALONE,
    END_SOLO,
    OPEN,
    OPEN_WAKE,
    UNLOCK,
    ENDED
} place;

typedef enum fault {
    NO_FAULT,
    NO_BARRIER,
    OPENED_TOO_EARLY,     /* before the work is done */
    SLOTS_BEFORE_CLOSING, /* looks at the slots, and closes the gate then */
    LOOKED_TOO_EARLY,     /* a thread looks at the gate before it announces itself */
    LEFT_TOO_EARLY,       /* a slot is emptied while its thread is inside */
    NO_LOCK,              /* two close the gate at once */
    ONE_SLOT_MISSED,
    LEAVES_SILENTLY,    /* without waking the closer */
    BACKS_OUT_SILENTLY, /* the same, after finding the gate closed */
    OPENS_SILENTLY,
    SOLO_IGNORED,         /* goes in beside a solo owner */
    SOLO_ENDED_TOO_EARLY, /* before the owner has left */
    SOLO_ENDED_TOO_LATE,  /* after the gate was opened */
    FAULTS
} fault;

static const char *const fault_names[FAULTS] = {
    [NO_FAULT] = "none",
    [NO_BARRIER] = "no barrier",
    [OPENED_TOO_EARLY] = "opened too early",
    [SLOTS_BEFORE_CLOSING] = "slots before closing",
    [LOOKED_TOO_EARLY] = "looked too early",
    [LEFT_TOO_EARLY] = "left too early",
    [NO_LOCK] = "no lock",
    [ONE_SLOT_MISSED] = "one slot missed",
    [LEAVES_SILENTLY] = "leaves silently",
    [BACKS_OUT_SILENTLY] = "backs out silently",
    [OPENS_SILENTLY] = "opens silently",
    [SOLO_IGNORED] = "solo ignored",
    [SOLO_ENDED_TOO_EARLY] = "solo ended too early",
    [SOLO_ENDED_TOO_LATE] = "solo ended too late",
};

/* ---- a state ---- */

typedef struct store {
    uint8_t variable, value, release;
} store;

/* Bytes only, so that states can be compared as memory. */
typedef struct thread {
    uint8_t at;         /* place */
    uint8_t done;       /* actions */
    uint8_t slot;       /* the closer looks at this one */
    uint8_t wakes;      /* as the closer has read them */
    uint8_t ends_solo;  /* closes the gate for that alone, and then goes on with its action */
    uint8_t saw_closed; /* only for LOOKED_TOO_EARLY */
    uint8_t n_stores;
    store stores[BUFFER]; /* the oldest first */
} thread;

typedef struct state {
    uint8_t memory[VARIABLES];
    uint8_t wakes; /* how often the closer was woken: the word of its futex */
    uint8_t lock;  /* the thread that holds the closers' lock */
    thread threads[THREADS];
} state;

/* What is explored: what each thread does ('u': uses the set, 'a': uses it alone), and the solo owner at the beginning. */
typedef struct world {
    const char *actions[THREADS];
    uint8_t solo;
    bool any_order; /* of stores to different variables */
    fault planted;
} world;

static uint8_t load(const state *of, unsigned t, unsigned variable)
{
    const thread *self = &of->threads[t];
    for (size_t i = self->n_stores; i-- > 0;)
        if (self->stores[i].variable == variable)
            return self->stores[i].value;
    return of->memory[variable];
}

/* The store at `i` of the buffer reaches memory. */
static void empty_one(state *of, unsigned t, size_t i)
{
    thread *self = &of->threads[t];
    of->memory[self->stores[i].variable] = self->stores[i].value;
    self->n_stores--;
    memmove(&self->stores[i], &self->stores[i + 1], (self->n_stores - i) * sizeof *self->stores);
    self->stores[self->n_stores] = (store){0, 0, 0};
}

static void empty_buffer(state *of, unsigned t)
{
    while (of->threads[t].n_stores)
        empty_one(of, t, 0);
}

static void put(state *of, unsigned t, unsigned variable, unsigned value, bool release)
{
    thread *self = &of->threads[t];
    if (self->n_stores == BUFFER)
        empty_one(of, t, 0);
    self->stores[self->n_stores++] = (store){(uint8_t)variable, (uint8_t)value, release};
}

static bool may_be_emptied(const world *in, const thread *self, size_t i)
{
    if (i > 0 && (!in->any_order || self->stores[i].release))
        return false;
    for (size_t k = 0; k < i; k++)
        if (self->stores[k].variable == self->stores[i].variable)
            return false;
    return true;
}

/* ---- the protocol ---- */

static void wake_closer(state *of, unsigned t)
{
    empty_buffer(of, t);
    of->wakes++;
}

static void wake_all_outside(state *of, unsigned t)
{
    empty_buffer(of, t);
    for (unsigned i = 0; i < THREADS; i++)
        if (of->threads[i].at == ASLEEP_OUTSIDE)
            of->threads[i].at = BACK_WAIT;
}

static place first_of(const world *in, const state *of, unsigned t)
{
    const thread *self = &of->threads[t];
    char action = in->actions[t] ? in->actions[t][self->done] : 0;
    return action == 'u' ? in->planted == LOOKED_TOO_EARLY ? LOOK_CLOSED : ANNOUNCE : action == 'a' ? LOCK : ENDED;
}

/* Goes in, works, and comes out. */
static bool use(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    bool early = in->planted == LOOKED_TOO_EARLY;
    uint8_t solo;
    switch ((place)self->at) {
    case ANNOUNCE:
        put(of, t, t, 1, false);
        self->at = early ? LOOK_SOLO : LOOK_CLOSED;
        if (early && self->saw_closed)
            self->at = BACK_OUT;
        break;
    case LOOK_CLOSED:
        self->saw_closed = load(of, t, CLOSED);
        self->at = early ? ANNOUNCE : self->saw_closed ? BACK_OUT : LOOK_SOLO;
        break;
    case LOOK_SOLO:
        solo = load(of, t, SOLO);
        self->at = solo == NOBODY || (solo != t && in->planted == SOLO_IGNORED) ? INSIDE
                   : solo == t                                                  ? INSIDE_SOLO
                                                                                : BACK_SOLO;
        if (in->planted == LEFT_TOO_EARLY && self->at != BACK_SOLO)
            put(of, t, t, 0, true);
        break;
    case INSIDE:
    case INSIDE_SOLO:
        self->at = LEAVE;
        break;
    case LEAVE:
        put(of, t, t, 0, true);
        self->at = LEAVE_LOOK;
        break;
    case LEAVE_LOOK:
        self->at = load(of, t, CLOSED) && in->planted != LEAVES_SILENTLY ? LEAVE_WAKE : NEXT;
        if (self->at == NEXT)
            self->done++;
        break;
    case LEAVE_WAKE:
        wake_closer(of, t);
        self->at = NEXT;
        self->done++;
        break;
    default:
        return false;
    }
    return true;
}

/* Was not let in. */
static bool back_out(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    switch ((place)self->at) {
    case BACK_OUT:
        put(of, t, t, 0, true);
        self->at = in->planted == BACKS_OUT_SILENTLY ? BACK_WAIT : BACK_WAKE;
        break;
    case BACK_WAKE:
        wake_closer(of, t);
        self->at = BACK_WAIT;
        break;
    case BACK_WAIT: /* futex looks at the gate and falls asleep in one step */
        empty_buffer(of, t);
        self->at = of->memory[CLOSED] ? ASLEEP_OUTSIDE : NEXT;
        break;
    case BACK_SOLO:
        put(of, t, t, 0, true);
        self->at = BACK_SOLO_LOOK;
        break;
    case BACK_SOLO_LOOK: /* somebody else may be closing the gate */
        self->at = load(of, t, CLOSED) ? BACK_SOLO_WAKE : LOCK;
        self->ends_solo = true;
        break;
    case BACK_SOLO_WAKE:
        wake_closer(of, t);
        self->at = LOCK;
        break;
    default:
        return false;
    }
    return true;
}

/* Closes the gate, works alone, and opens it again. */
static bool use_alone(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    bool slots_first = in->planted == SLOTS_BEFORE_CLOSING, late = in->planted == SOLO_ENDED_TOO_LATE;
    switch ((place)self->at) {
    case LOCK:
        if (of->lock != NOBODY && in->planted != NO_LOCK)
            return false;
        empty_buffer(of, t);
        of->lock = (uint8_t)t;
        self->at = slots_first ? COUNT_WAKES : CLOSE;
        break;
    case CLOSE:
        put(of, t, CLOSED, 1, false);
        self->at = in->planted == NO_BARRIER ? COUNT_WAKES : slots_first ? ALONE : BARRIER;
        if (in->planted == SOLO_ENDED_TOO_EARLY && self->ends_solo)
            put(of, t, SOLO, NOBODY, true);
        if (slots_first)
            empty_buffer(of, t);
        break;
    case BARRIER:
        for (unsigned i = 0; i < THREADS; i++)
            empty_buffer(of, i);
        self->at = COUNT_WAKES;
        break;
    case COUNT_WAKES:
        self->wakes = of->wakes;
        self->at = LOOK_SLOT;
        break;
    case LOOK_SLOT:
        if (self->slot != t && load(of, t, self->slot) && (in->planted != ONE_SLOT_MISSED || self->slot)) {
            self->at = ASLEEP_CLOSER;
        } else if (++self->slot == THREADS) {
            self->slot = 0;
            self->at = slots_first ? CLOSE : ALONE;
            if (in->planted == OPENED_TOO_EARLY)
                put(of, t, CLOSED, 0, true);
        }
        break;
    case ASLEEP_CLOSER: /* futex returns if it was woken since COUNT_WAKES */
        if (of->wakes == self->wakes)
            return false;
        empty_buffer(of, t);
        self->at = COUNT_WAKES;
        break;
    case ALONE:
        self->wakes = 0;
        self->at = self->ends_solo && !late ? END_SOLO : OPEN;
        break;
    case END_SOLO:
        put(of, t, SOLO, NOBODY, true);
        self->at = late ? UNLOCK : OPEN;
        break;
    case OPEN:
        put(of, t, CLOSED, 0, true);
        self->at = OPEN_WAKE;
        break;
    case OPEN_WAKE:
        empty_buffer(of, t);
        if (in->planted != OPENS_SILENTLY)
            wake_all_outside(of, t);
        self->at = self->ends_solo && late ? END_SOLO : UNLOCK;
        break;
    case UNLOCK:
        empty_buffer(of, t);
        of->lock = NOBODY;
        if (!self->ends_solo)
            self->done++;
        self->ends_solo = false;
        self->at = NEXT;
        break;
    default:
        return false;
    }
    return true;
}

/* One step of a thread's program. False if it can make none now. */
static bool step(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    if (self->at == NEXT) {
        self->at = (uint8_t)first_of(in, of, t);
        self->saw_closed = 0;
        return true;
    }
    return use(in, of, t) || back_out(in, of, t) || use_alone(in, of, t);
}

static const char *broken(const state *of)
{
    unsigned alone = 0, solo = 0, together = 0, ended = 0;
    for (unsigned t = 0; t < THREADS; t++) {
        alone += of->threads[t].at == ALONE;
        solo += of->threads[t].at == INSIDE_SOLO;
        together += of->threads[t].at == INSIDE;
        ended += of->threads[t].at == ENDED;
    }
    if (alone && alone + solo + together > 1)
        return "a thread is not alone";
    if (solo && solo + together > 1)
        return "a solo owner is not alone";
    if (ended == THREADS && (of->lock != NOBODY || of->memory[CLOSED]))
        return "the gate stays closed";
    return NULL;
}

/* ---- all states ---- */

typedef struct states {
    state *all; /* in the order in which they were found */
    size_t n, room;
    uint32_t *table; /* places in `all`, plus 1 */
    size_t slots;
} states;

static uint64_t hash_of(const state *which)
{
    uint64_t hash = 1, part;
    const unsigned char *bytes = (const unsigned char *)which;
    for (size_t i = 0; i < sizeof *which; i += sizeof part) {
        size_t n = sizeof *which - i < sizeof part ? sizeof *which - i : sizeof part;
        part = 0;
        memcpy(&part, bytes + i, n);
        hash = test_mix(hash ^ part) * 31;
    }
    return test_mix(hash);
}

static void insert(states *of, size_t which)
{
    size_t i = hash_of(&of->all[which]) & (of->slots - 1);
    while (of->table[i])
        i = (i + 1) & (of->slots - 1);
    of->table[i] = (uint32_t)which + 1;
}

static void make_room(states *of)
{
    of->room = of->room ? 2 * of->room : 1 << 14;
    of->all = realloc(of->all, of->room * sizeof *of->all);
    of->slots = 2 * of->room;
    free(of->table);
    of->table = calloc(of->slots, sizeof *of->table);
    assert_true(of->all && of->table);
    for (size_t i = 0; i < of->n; i++)
        insert(of, i);
}

static void learn(states *of, const state *which)
{
    if (of->n == of->room)
        make_room(of);
    for (size_t i = hash_of(which) & (of->slots - 1); of->table[i]; i = (i + 1) & (of->slots - 1))
        if (memcmp(&of->all[of->table[i] - 1], which, sizeof *which) == 0)
            return;
    of->all[of->n] = *which;
    insert(of, of->n++);
}

/* Adds all states that follow. True if there is one. */
static bool follow(const world *in, states *of, size_t from)
{
    bool goes_on = false;
    for (unsigned t = 0; t < THREADS; t++) {
        state next = of->all[from];
        if (step(in, &next, t)) {
            learn(of, &next);
            goes_on = true;
        }
        for (size_t i = 0; i < of->all[from].threads[t].n_stores; i++) {
            next = of->all[from];
            if (!may_be_emptied(in, &next.threads[t], i))
                continue;
            empty_one(&next, t, i);
            learn(of, &next);
            goes_on = true;
        }
    }
    return goes_on;
}

/* What is wrong in one of all states, or NULL. */
static const char *explore(const world *in, size_t *n)
{
    states of = {0};
    state begin = {.lock = NOBODY};
    const char *wrong = NULL;
    begin.memory[SOLO] = in->solo;
    learn(&of, &begin);
    for (size_t i = 0; i < of.n && !wrong; i++) {
        wrong = broken(&of.all[i]);
        bool goes_on = follow(in, &of, i), ended = true;
        for (unsigned t = 0; t < THREADS; t++)
            ended = ended && of.all[i].threads[t].at == ENDED;
        if (!goes_on && !ended && !wrong)
            wrong = "nobody can go on";
    }
    *n += of.n;
    free(of.all);
    free(of.table);
    return wrong;
}

/* ---- tests ---- */

/* The smallest first; the last one has ten million states and is left to the long run. */
static const world worlds[] = {
    {{"uuu", "uu", NULL, NULL}, 0, false, NO_FAULT},    {{"ua", "au", NULL, NULL}, 0, false, NO_FAULT},
    {{"uu", "u", "u", NULL}, 0, false, NO_FAULT},       {{"ua", "ua", NULL, NULL}, NOBODY, false, NO_FAULT},
    {{"uu", "uu", "a", NULL}, NOBODY, false, NO_FAULT}, {{"u", "u", "a", "a"}, NOBODY, false, NO_FAULT},
    {{"u", "u", "u", "a"}, NOBODY, false, NO_FAULT},    {{"uu", "u", "a", NULL}, 0, false, NO_FAULT},
    {{"u", "u", "u", "u"}, 0, false, NO_FAULT},
};

static const char *explore_all(fault planted, size_t *n)
{
    const char *wrong = NULL;
    size_t many = sizeof worlds / sizeof *worlds - (test_long() ? 0 : 1);
    for (size_t i = 0; i < 2 * many && !wrong; i++) {
        world in = worlds[i / 2];
        in.any_order = i % 2;
        in.planted = planted;
        wrong = explore(&in, n);
        if (wrong && planted == NO_FAULT)
            print_message("# world %zu: %s\n", i, wrong);
    }
    return wrong;
}

static void the_gate_keeps_its_promises_in_every_state(void **context)
{
    size_t n = 0;
    (void)context;
    const char *wrong = explore_all(NO_FAULT, &n);
    check(!wrong, "%s", wrong ? wrong : "");
    print_message("# %zu states\n", n);
    assert_true(n > 100000);
}

static void planted_faults_are_found(void **context)
{
    (void)context;
    for (fault planted = NO_FAULT + 1; planted < FAULTS; planted++) {
        size_t n = 0;
        const char *wrong = explore_all(planted, &n);
        check(wrong, "%s: not found in %zu states", fault_names[planted], n);
        print_message("# %s: %s, after %zu states\n", fault_names[planted], wrong, n);
    }
}

int main(int argc, char **argv)
{
    test_add_once("the gate keeps its promises in every state", the_gate_keeps_its_promises_in_every_state, NULL);
    test_add("planted faults are found", planted_faults_are_found, NULL);
    return test_run("gate_model", argc, argv);
}
