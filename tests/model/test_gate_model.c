/*
 * The protocol of a gate (base/gate.h), checked in all states that up to four threads can come to. The real code is
 * elsewhere; `step` below is the protocol once more, a step for each access to memory, short enough to be compared by
 * eye. What the threads do in the gate is what set/lock.c does: an add joins and shares the gate, other work closes it
 * if it must, and a thread that has been the only one for a while asks for it.
 *
 * One word says whose gate it is, and whether it is closed. Each thread announces itself in a slot of its own with a
 * plain store, and looks at that word before and after. A thread that must be alone queues up, closes the gate, has
 * every thread pass a barrier (membarrier), and sleeps at each slot until it is empty. The first thread's slot is
 * `own`.
 *
 * A store may stay in its thread's buffer as long as the processor likes. Then it is seen by its own thread only.
 * Buffers are emptied in order (as on x86), or, in a second run, in any order of different variables (as on arm64), but
 * for stores with release order, which come after all before them. What a thread reads after its store may therefore be
 * older than the store; reads are made in order (with acquire order on arm64). A membarrier empties all buffers; so
 * does a read-modify-write or a call of futex with the caller's own, except a relaxed one in the second run. In a third
 * run there is no membarrier, and slots are written by read-modify-writes.
 *
 * In every state: a thread that is alone in the gate is alone, and the only thread is never inside beside another one.
 * If nobody can go on, all have ended and left the gate open: so no wake-up is lost. The planted faults show that the
 * search would notice.
 *
 * Not modelled: eras, and the list of slots, which whoever closes the gate sees because it is served later.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { THREADS = 4, BUFFER = 4 };

/* Variables: slot t is that of thread t, unless it is the first thread, whose slot is OWN. */
enum { OWN = THREADS, STATE, SHARES, VARIABLES };

/* Values of STATE: a thread, NOBODY or SHARED, and a bit. */
enum { NOBODY = THREADS, SHARED, OWNER = 7, CLOSED = 8 };

typedef enum place {
    NEXT, /* between two actions */
    /* vidi__gate_enter */
    LOOK,
    ANNOUNCE,
    LOOK_AGAIN,
    /* Inside. */
    READ_SHARES,
    INSIDE,
    INSIDE_ALONE, /* as the only thread */
    /* vidi__gate_leave */
    LEAVE,
    LEAVE_LOOK,
    LEAVE_WAKE,
    /* The queue. */
    DRAW,
    LOOK_SERVING,
    SLEEP_QUEUE,
    ASLEEP_QUEUE,
    LET_NEXT,
    LET_NEXT_LOOK,
    LET_NEXT_WAKE,
    /* vidi__gate_join, when it is served */
    JOIN,
    JOIN_OWNED,
    JOIN_ANNOUNCE,
    /* vidi__lock_alone, vidi__gate_try_close, vidi__gate_close */
    LOCK_ALONE,
    TRY,
    TRY_DRAW,
    CLOSE,
    BARRIER,
    LOOK_SLOT,
    SLEEP_SLOT,
    ASLEEP_SLOT,
    EXCLUSIVE,
    ALONE,
    /* vidi__gate_give, vidi__gate_open */
    GIVE,
    OPEN,
    ENDED
} place;

typedef enum fault {
    NO_FAULT,
    NO_BARRIER,
    BARRIER_IF_SHARED, /* but none if the gate is one thread's */
    OPENED_TOO_EARLY,  /* before the work is done */
    SLOTS_BEFORE_CLOSING,
    LOOKED_ONCE,    /* before it announced itself, but not after that */
    LEFT_TOO_EARLY, /* a slot is emptied while its thread is inside */
    NO_QUEUE,       /* two are served at once */
    OWN_MISSED,
    OWN_PASSED_ON,      /* `own` is the slot of whoever has the gate to itself */
    LEAVES_SILENTLY,    /* without waking the thread that closes */
    BACKS_OUT_SILENTLY, /* the same, when it was not let in */
    LEAVES_UNAWARE,     /* looks whether the gate is closed before its store, not after it */
    OPENS_SILENTLY,
    OPENS_FOR_ONE,   /* wakes a thread, which may be another than the one that is served */
    SLEEPS_UNASKED,  /* without comparing the word once more */
    JOINED_UNSERVED, /* without queueing up */
    JOINED_TOO_LATE, /* announces itself after it has let the next one */
    JOINED_AN_OWNER, /* goes in beside the only thread */
    TRY_PUSHED_IN,   /* vidi__gate_try_close, although somebody is being served */
    GIVEN_TOO_LATE,  /* after the gate was opened */
    SHARED_TOO_LATE, /* `shared` is stored after the state */
    FAULTS
} fault;

static const char *const fault_names[FAULTS] = {
    [NO_FAULT] = "none",
    [NO_BARRIER] = "no barrier",
    [BARRIER_IF_SHARED] = "a barrier only if the gate is shared",
    [OPENED_TOO_EARLY] = "opened too early",
    [SLOTS_BEFORE_CLOSING] = "slots before closing",
    [LOOKED_ONCE] = "looked once",
    [LEFT_TOO_EARLY] = "left too early",
    [NO_QUEUE] = "no queue",
    [OWN_MISSED] = "own missed",
    [OWN_PASSED_ON] = "own passed on",
    [LEAVES_SILENTLY] = "leaves silently",
    [BACKS_OUT_SILENTLY] = "backs out silently",
    [LEAVES_UNAWARE] = "leaves unaware",
    [OPENS_SILENTLY] = "opens silently",
    [OPENS_FOR_ONE] = "opens for one",
    [SLEEPS_UNASKED] = "sleeps unasked",
    [JOINED_UNSERVED] = "joined unserved",
    [JOINED_TOO_LATE] = "joined too late",
    [JOINED_AN_OWNER] = "joined an owner",
    [TRY_PUSHED_IN] = "try_close pushed in",
    [GIVEN_TOO_LATE] = "given too late",
    [SHARED_TOO_LATE] = "shared too late",
};

/* ---- a state ---- */

typedef struct store {
    uint8_t variable, value, release;
} store;

/* Bytes only, so that states can be compared as memory. */
typedef struct thread {
    uint8_t at;     /* place */
    uint8_t done;   /* actions */
    uint8_t ticket; /* its number in the queue */
    uint8_t saw;    /* of STATE, or of the number that is served */
    uint8_t slot;   /* its own, or the one that it looks at as it closes the gate */
    uint8_t then;   /* place: when it is served; then, when it has let the next one */
    uint8_t denied; /* it was not let in, and takes its announcement back */
    uint8_t alone;  /* it goes in because the gate is its own */
    uint8_t closed; /* only for planted faults */
    uint8_t n_stores;
    store stores[BUFFER]; /* the oldest first */
} thread;

typedef struct state {
    uint8_t memory[VARIABLES];
    uint8_t next, serving; /* read-modify-writes alone change these */
    uint8_t first;         /* whose slot is OWN; nobody else asks */
    thread threads[THREADS];
} state;

typedef enum order {
    IN_ORDER,
    ANY_ORDER, /* of stores to different variables */
    EXCHANGES, /* in order; there is no membarrier */
    ORDERS
} order;

/*
 * What is explored: what each thread does, and whose gate it is at the beginning. 'u': adds (goes in, and from the
 * first time on shares the gate); 's': goes in for other work; 'a': works alone; 'o': asks for the gate; 'g': gives the
 * gate to the next thread.
 */
typedef struct world {
    const char *actions[THREADS];
    uint8_t begins;
    uint8_t nameless; /* bits of threads that get no slot: they have no number, or there is no memory */
    order order;
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
    if (i > 0 && (in->order != ANY_ORDER || self->stores[i].release))
        return false;
    for (size_t k = 0; k < i; k++)
        if (self->stores[k].variable == self->stores[i].variable)
            return false;
    return true;
}

/* ---- the protocol ---- */

/* What a relaxed read-modify-write, or a store with seq_cst order, does to the stores before it. */
static void empty_on_x86(const world *in, state *of, unsigned t)
{
    if (in->order != ANY_ORDER)
        empty_buffer(of, t);
}

static char action_of(const world *in, const state *of, unsigned t)
{
    return in->actions[t][of->threads[t].done];
}

static void begin_action(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    switch (action_of(in, of, t)) {
    case 'u':
    case 's':
        self->at = LOOK;
        break;
    case 'a':
        self->at = LOCK_ALONE;
        break;
    case 'g':
        self->at = DRAW;
        self->then = CLOSE;
        break;
    case 'o':
        self->at = TRY;
        break;
    default:
        self->at = ENDED;
    }
}

static void end_action(thread *self)
{
    self->done++;
    self->at = NEXT;
    self->ticket = self->saw = self->slot = self->then = self->denied = self->alone = self->closed = 0;
}

/* Into the queue, for the slow way in or to close the gate. */
static void was_not_let_in(const world *in, thread *self)
{
    bool joins = !self->alone;
    self->at = joins && in->planted == JOINED_UNSERVED ? JOIN : DRAW;
    self->then = joins ? JOIN : CLOSE;
    self->denied = self->alone = self->slot = self->saw = self->closed = 0;
}

static uint8_t slot_of(const world *in, const state *of, unsigned t, unsigned owner)
{
    return in->planted == OWN_PASSED_ON ? (owner == t ? OWN : (uint8_t)t) : of->first == t ? OWN : (uint8_t)t;
}

static bool has_slot(const world *in, unsigned t)
{
    return !(in->nameless >> t & 1);
}

static bool enter(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    switch ((place)self->at) {
    case LOOK:
        self->saw = load(of, t, STATE);
        if ((self->saw != t && self->saw != SHARED) || !has_slot(in, t)) {
            was_not_let_in(in, self);
            break;
        }
        self->slot = slot_of(in, of, t, self->saw);
        self->at = ANNOUNCE;
        break;
    case ANNOUNCE:
        put(of, t, self->slot, 1, true);
        if (in->order == EXCHANGES)
            empty_buffer(of, t);
        self->at = in->planted == LOOKED_ONCE ? READ_SHARES : LOOK_AGAIN;
        break;
    case LOOK_AGAIN:
        self->denied = load(of, t, STATE) != self->saw;
        self->at = !self->denied ? READ_SHARES : in->planted == LEAVES_UNAWARE ? LEAVE_LOOK : LEAVE;
        self->saw = 0;
        break;
    default:
        return false;
    }
    return true;
}

static bool be_inside(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    switch ((place)self->at) {
    case READ_SHARES:
        self->at = load(of, t, SHARES) ? INSIDE : INSIDE_ALONE;
        if (in->planted == LEFT_TOO_EARLY)
            put(of, t, self->slot, 0, true);
        break;
    case INSIDE:
    case INSIDE_ALONE:
        self->at = in->planted == LEAVES_UNAWARE ? LEAVE_LOOK : LEAVE;
        break;
    default:
        return false;
    }
    return true;
}

static void wake_at_slot(state *of, unsigned slot)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (of->threads[i].at == ASLEEP_SLOT && of->threads[i].slot == slot)
            of->threads[i].at = LOOK_SLOT;
}

static void has_left(const world *in, thread *self)
{
    if (self->denied)
        was_not_let_in(in, self);
    else
        end_action(self);
}

static bool leave(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    bool unaware = in->planted == LEAVES_UNAWARE;
    bool silent = in->planted == (self->denied ? BACKS_OUT_SILENTLY : LEAVES_SILENTLY);
    switch ((place)self->at) {
    case LEAVE:
        put(of, t, self->slot, 0, true);
        if (in->order == EXCHANGES)
            empty_buffer(of, t);
        self->at = unaware ? LEAVE_WAKE : LEAVE_LOOK;
        if (unaware && !self->closed)
            has_left(in, self);
        break;
    case LEAVE_LOOK:
        self->closed = load(of, t, STATE) & CLOSED && !silent;
        self->at = unaware ? LEAVE : LEAVE_WAKE;
        if (!unaware && !self->closed)
            has_left(in, self);
        break;
    case LEAVE_WAKE:
        empty_buffer(of, t);
        wake_at_slot(of, self->slot);
        has_left(in, self);
        break;
    default:
        return false;
    }
    return true;
}

static bool queue_up(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    switch ((place)self->at) {
    case DRAW:
        empty_on_x86(in, of, t);
        self->ticket = of->next++;
        self->at = LOOK_SERVING;
        break;
    case LOOK_SERVING:
        self->saw = of->serving;
        self->at = SLEEP_QUEUE;
        if (self->saw == self->ticket || in->planted == NO_QUEUE) {
            self->at = self->then;
            self->ticket = self->saw = self->then = 0;
        }
        break;
    case SLEEP_QUEUE: /* futex compares and falls asleep in one step */
        empty_buffer(of, t);
        self->at = of->serving == self->saw || in->planted == SLEEPS_UNASKED ? ASLEEP_QUEUE : LOOK_SERVING;
        self->saw = 0;
        break;
    default:
        return false;
    }
    return true;
}

/* Wakes the thread with this number, if it sleeps. */
static void wake_queue(const world *in, state *of, unsigned ticket)
{
    for (unsigned i = 0, woken = 0; i < THREADS && !woken; i++)
        if (of->threads[i].at == ASLEEP_QUEUE && (of->threads[i].ticket == ticket || in->planted == OPENS_FOR_ONE)) {
            of->threads[i].at = LOOK_SERVING;
            woken++;
        }
}

static void has_let_next(thread *self)
{
    self->at = self->then;
    self->saw = self->then = 0;
    if (self->at == NEXT)
        end_action(self);
}

static bool let_next(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    switch ((place)self->at) {
    case LET_NEXT:
        empty_buffer(of, t);
        self->saw = ++of->serving;
        self->at = LET_NEXT_LOOK;
        break;
    case LET_NEXT_LOOK:
        self->at = LET_NEXT_WAKE;
        if (of->next == self->saw || in->planted == OPENS_SILENTLY)
            has_let_next(self);
        break;
    case LET_NEXT_WAKE:
        empty_buffer(of, t);
        wake_queue(in, of, self->saw);
        has_let_next(self);
        break;
    default:
        return false;
    }
    return true;
}

/* The gate is this thread's, or shared: it gets in. Otherwise it must close the gate. */
static void join_as(const world *in, state *of, unsigned t, unsigned owner)
{
    thread *self = &of->threads[t];
    bool gets_in = has_slot(in, t) && (owner == t || owner == SHARED || in->planted == JOINED_AN_OWNER);
    bool late = in->planted == JOINED_TOO_LATE;
    self->slot = gets_in ? slot_of(in, of, t, owner) : 0;
    self->at = gets_in && !late ? JOIN_ANNOUNCE : LET_NEXT;
    self->then = !gets_in ? LOCK_ALONE : late ? JOIN_ANNOUNCE : READ_SHARES;
    if (in->planted == JOINED_UNSERVED && !gets_in)
        self->at = LOCK_ALONE;
}

static bool join(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    switch ((place)self->at) {
    case JOIN:
        self->saw = load(of, t, STATE);
        if (self->saw == NOBODY && has_slot(in, t))
            self->at = JOIN_OWNED;
        else
            join_as(in, of, t, self->saw);
        self->saw = 0;
        break;
    case JOIN_OWNED:
        of->first = (uint8_t)t;
        put(of, t, STATE, t, false);
        join_as(in, of, t, t);
        break;
    case JOIN_ANNOUNCE:
        put(of, t, self->slot, 1, true);
        empty_on_x86(in, of, t);
        self->at = in->planted == JOINED_TOO_LATE || in->planted == JOINED_UNSERVED ? READ_SHARES : LET_NEXT;
        self->then = self->at == LET_NEXT ? READ_SHARES : 0;
        break;
    default:
        return false;
    }
    return true;
}

static bool ask_to_be_alone(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    switch ((place)self->at) {
    case LOCK_ALONE:
        self->alone = load(of, t, STATE) == t;
        self->at = self->alone ? LOOK : DRAW;
        self->then = self->alone ? 0 : CLOSE;
        break;
    case TRY:
        self->saw = of->serving;
        self->at = TRY_DRAW;
        break;
    case TRY_DRAW:
        empty_on_x86(in, of, t);
        if (of->next == self->saw || in->planted == TRY_PUSHED_IN) {
            of->next++;
            self->at = CLOSE;
            self->saw = 0;
        } else {
            end_action(self);
        }
        break;
    default:
        return false;
    }
    return true;
}

static bool close_gate(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    bool slots_first = in->planted == SLOTS_BEFORE_CLOSING, needs_none;
    switch ((place)self->at) {
    case CLOSE:
        empty_buffer(of, t);
        if (slots_first && !self->closed) {
            self->closed = true;
            self->at = LOOK_SLOT;
            break;
        }
        needs_none = of->memory[STATE] == NOBODY || in->planted == NO_BARRIER ||
                     (in->planted == BARRIER_IF_SHARED && of->memory[STATE] != SHARED);
        of->memory[STATE] |= CLOSED;
        self->at = slots_first ? EXCLUSIVE : needs_none ? LOOK_SLOT : BARRIER;
        break;
    case BARRIER:
        for (unsigned i = 0; i < THREADS && in->order != EXCHANGES; i++)
            empty_buffer(of, i);
        self->at = LOOK_SLOT;
        break;
    case EXCLUSIVE:
        self->slot = self->closed = 0;
        put(of, t, SHARES, 0, false);
        if (in->planted == OPENED_TOO_EARLY)
            put(of, t, STATE, of->memory[STATE] & OWNER, true);
        self->at = ALONE;
        break;
    default:
        return false;
    }
    return true;
}

static bool wait_for_slots(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    switch ((place)self->at) {
    case LOOK_SLOT:
        if (of->memory[self->slot] && (self->slot != OWN || in->planted != OWN_MISSED))
            self->at = SLEEP_SLOT;
        else if (self->slot++ == OWN)
            self->at = in->planted == SLOTS_BEFORE_CLOSING ? CLOSE : EXCLUSIVE;
        break;
    case SLEEP_SLOT: /* futex compares and falls asleep in one step */
        self->at = of->memory[self->slot] || in->planted == SLEEPS_UNASKED ? ASLEEP_SLOT : LOOK_SLOT;
        break;
    default:
        return false;
    }
    return true;
}

/* To whom the thread gives the gate while it is alone; NOBODY: it does not. */
static uint8_t gift(const world *in, const state *of, unsigned t)
{
    char action = action_of(in, of, t);
    return action == 'u' ? SHARED : action == 'o' ? (uint8_t)t : action == 'g' ? (uint8_t)((t + 1) % THREADS) : NOBODY;
}

static bool open_gate(const world *in, state *of, unsigned t)
{
    thread *self = &of->threads[t];
    bool late = in->planted == GIVEN_TOO_LATE, shared_late = in->planted == SHARED_TOO_LATE;
    uint8_t to = gift(in, of, t), owner;
    switch ((place)self->at) {
    case ALONE:
        self->at = to != NOBODY && !late ? GIVE : OPEN;
        break;
    case GIVE:
        put(of, t, STATE, late ? to : to | CLOSED, false);
        self->at = OPEN;
        if (late)
            end_action(self);
        break;
    case OPEN:
        owner = load(of, t, STATE) & OWNER;
        if (!shared_late)
            put(of, t, SHARES, owner == SHARED, false);
        put(of, t, STATE, owner, true);
        if (shared_late)
            put(of, t, SHARES, owner == SHARED, true);
        self->at = LET_NEXT;
        self->then = late && to != NOBODY ? GIVE : NEXT;
        break;
    default:
        return false;
    }
    return true;
}

/* One step of a thread's program. False if it can make none now. */
static bool step(const world *in, state *of, unsigned t)
{
    if (of->threads[t].at == ENDED)
        return false;
    if (of->threads[t].at == NEXT) {
        begin_action(in, of, t);
        return true;
    }
    return enter(in, of, t) || be_inside(in, of, t) || leave(in, of, t) || queue_up(in, of, t) || let_next(in, of, t) ||
           join(in, of, t) || ask_to_be_alone(in, of, t) || close_gate(in, of, t) || wait_for_slots(in, of, t) ||
           open_gate(in, of, t);
}

/* What is wrong in a state. */
static const char *broken(const state *of)
{
    unsigned alone = 0, only = 0, together = 0;
    for (unsigned t = 0; t < THREADS; t++) {
        alone += of->threads[t].at == ALONE;
        only += of->threads[t].at == INSIDE_ALONE;
        together += of->threads[t].at == INSIDE;
    }
    if (alone && alone + only + together > 1)
        return "a thread is not alone";
    if (only && only + together > 1)
        return "the only thread is not alone";
    return NULL;
}

/* What is wrong in a state in which nobody can go on. */
static const char *badly_ended(const state *of)
{
    for (unsigned t = 0; t < THREADS; t++)
        if (of->threads[t].at != ENDED)
            return "nobody can go on";
    for (unsigned slot = 0; slot <= OWN; slot++)
        if (of->memory[slot])
            return "a slot stays taken";
    return of->memory[STATE] & CLOSED || of->next != of->serving ? "the gate stays closed" : NULL;
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
    state begin = {.first = in->begins == NOBODY ? NOBODY : 0};
    const char *wrong = NULL;
    begin.memory[STATE] = in->begins;
    begin.memory[SHARES] = in->begins == SHARED;
    for (unsigned t = 0; t < THREADS; t++)
        begin.threads[t].at = in->actions[t] ? NEXT : ENDED;
    learn(&of, &begin);
    for (size_t i = 0; i < of.n && !wrong; i++) {
        wrong = broken(&of.all[i]);
        if (!follow(in, &of, i) && !wrong)
            wrong = badly_ended(&of.all[i]);
    }
    *n += of.n;
    free(of.all);
    free(of.table);
    return wrong;
}

/* ---- tests ---- */

/* The smallest first; the last ones have many millions of states and are left to the long run. */
static const world worlds[] = {
    {{"uuu", "uu"}, NOBODY, 0, IN_ORDER, NO_FAULT},    {{"uau", "ua"}, NOBODY, 0, IN_ORDER, NO_FAULT},
    {{"ua", "us"}, 0, 0, IN_ORDER, NO_FAULT},          {{"uo", "uou"}, SHARED, 0, IN_ORDER, NO_FAULT},
    {{"ua", "uou"}, 0, 0, IN_ORDER, NO_FAULT},         {{"uouo", "uouo"}, NOBODY, 0, IN_ORDER, NO_FAULT},
    {{"u", "u", "a"}, SHARED, 0, IN_ORDER, NO_FAULT},  {{"u", "u", "u"}, NOBODY, 0, IN_ORDER, NO_FAULT},
    {{"us", "u", "s"}, SHARED, 4, IN_ORDER, NO_FAULT}, {{"u", "a", "a"}, 0, 0, IN_ORDER, NO_FAULT},
    {{"s", "s", "o"}, SHARED, 0, IN_ORDER, NO_FAULT},  {{"s", "s", "g"}, 0, 0, IN_ORDER, NO_FAULT},
    {{"a", "uo", "u"}, 0, 0, IN_ORDER, NO_FAULT},      {{"uo", "uo", "u"}, NOBODY, 0, IN_ORDER, NO_FAULT},
    {{"s", "s", "a", "a"}, 0, 0, IN_ORDER, NO_FAULT},  {{"s", "s", "s", "a"}, SHARED, 0, IN_ORDER, NO_FAULT},
    {{"u", "g", "s", "a"}, 0, 0, IN_ORDER, NO_FAULT},  {{"u", "u", "u", "u"}, 0, 0, IN_ORDER, NO_FAULT},
    {{"uo", "u", "a", "s"}, 0, 0, IN_ORDER, NO_FAULT},
};
enum { LARGE = 4 };

static const char *explore_all(fault planted, size_t *n)
{
    const char *wrong = NULL;
    size_t many = sizeof worlds / sizeof *worlds - (test_long() ? 0 : LARGE);
    for (size_t i = 0; i < ORDERS * many && !wrong; i++) {
        world in = worlds[i / ORDERS];
        in.order = (order)(i % ORDERS);
        in.planted = planted;
        wrong = explore(&in, n);
        if (wrong && planted == NO_FAULT)
            print_message("# world %zu, order %zu: %s\n", i / ORDERS, i % ORDERS, wrong);
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
