/*
 * A gate lets any number of threads in without a write to memory that they share, and lets one thread in alone.
 *
 *     state  | CLOSED | number of the only thread, or NOBODY, or SHARED |
 *     own      the slot of the first thread that came
 *     slots    one for each of the others, a cache line each, once the gate is SHARED
 *
 * A thread announces itself in its slot. A thread that must be alone closes the gate and waits for the slots:
 *
 *     thread                                         thread that closes
 *     slot.inside = era                              state |= CLOSED
 *     state unchanged? then it is in                 membarrier: every thread passes a full barrier
 *     …                                              all slots outside? then it is alone
 *     slot.inside = 0                                otherwise it sleeps until they are
 *     CLOSED? then it wakes whoever sleeps
 *
 * If a thread has stored `inside` before it passes the barrier, the closing thread sees that. If it stores later, it
 * loads later as well, and sees CLOSED. So going in and out takes plain stores and no locked instruction. Where the
 * kernel has no membarrier, all access to `inside` is by atomic exchange: whichever comes second knows of the other.
 * A thread may stop just before it stores, and store when the gate has long been another's: so no two share a slot.
 *
 * Most sets are used by one thread. Until another one comes, that thread has the gate to itself: it is alone although
 * it only goes in, and needs no further locks inside. set/lock.c decides when the gate becomes SHARED, or one thread's
 * again. Whoever finds it closed, or must close it, queues up, so everybody has a turn. A thread must not go in twice.
 *
 * Memory that threads inside may still read, although it can no longer be found, is freed when they have left:
 * vidi__gate_retire returns the era in which it was taken away, and vidi__gate_safe_era the eras that are over.
 */
#ifndef VIDI_BASE_GATE_H
#define VIDI_BASE_GATE_H

#include "base/memory.h"
#include "base/mutex.h"
#include "base/thread.h"

typedef struct vidi__slot {
    _Atomic uint32_t inside; /* the era in which the thread went in; 0: it is outside */
    int16_t patience;        /* calls until it asks whether it is alone again */
    bool holds;              /* it holds the set's lock of adds, too (set/lock.c) */
    bool repeats;            /* its last URL was a repeat, as most are in a crawl: the next one may be, too */
    uint64_t others;         /* what the other threads had done when it last asked */
    struct vidi__lane *lane; /* for sets in folders (durable/lanes.c); NULL: it has none yet */
    _Atomic uint64_t fresh, seen, asked, count; /* what the thread has counted since somebody was alone */
    _Atomic double lost;
} vidi__slot;
_Static_assert(sizeof(vidi__slot) == VIDI__CACHE_LINE, "no two threads write to one cache line");

#define VIDI__SLOTS_OF_CHUNK 16
#define VIDI__CHUNKS (VIDI__THREADS_MAX / VIDI__SLOTS_OF_CHUNK)

typedef struct vidi__slots {
    vidi__slot *_Atomic chunks[VIDI__CHUNKS + 1]; /* the last one is always NULL: a thread without a number is there */
} vidi__slots;

enum { VIDI__GATE_SHARED = 0xffff, VIDI__GATE_NOBODY = 0xfffe, VIDI__GATE_CLOSED = 0x10000 };

typedef struct vidi__gate {
    _Atomic uint32_t state;
    _Atomic uint32_t era;           /* odd, so never 0 */
    _Atomic uint32_t next, serving; /* the queue: numbers are drawn from `next` */
    vidi__slots *_Atomic slots;
    _Atomic uint16_t first; /* the thread whose slot is `own`, or NOBODY */
    bool exclusive; /* a thread has closed the gate and is alone; whoever is inside may read this and the next */
    bool shared;    /* other threads may be inside, too */
    _Alignas(VIDI__CACHE_LINE) vidi__slot own;
} vidi__gate;

/* True where the kernel has no membarrier. */
extern _Atomic bool vidi__gate_exchanges;

void vidi__gate_init(vidi__gate *gate);
void vidi__gate_free(vidi__gate *gate, vidi__memory *memory);

/*
 * The slow way in: queues up. NULL if another thread has the gate to itself, or if there is no memory for a slot: then
 * the caller must close the gate.
 */
vidi__slot *vidi__gate_join(vidi__gate *gate, vidi__memory *memory);

/*
 * Closes the gate, so that this thread is alone, and opens it. Meanwhile the gate can be given to a thread by number,
 * or to SHARED.
 */
void vidi__gate_close(vidi__gate *gate);
bool vidi__gate_try_close(vidi__gate *gate); /* false if somebody is inside, or queues up */
void vidi__gate_give(vidi__gate *gate, uint32_t state);
void vidi__gate_open(vidi__gate *gate);

/* Iterates over the slots, also over those that belong to no thread: start with *at = 0. Returns NULL at the end. */
vidi__slot *vidi__gate_next(const vidi__gate *gate, uint32_t *at);

/* Ends an era, which it returns. To be called when something can no longer be found. */
static inline uint32_t vidi__gate_retire(vidi__gate *gate)
{
    return atomic_fetch_add_explicit(&gate->era, 2, memory_order_acq_rel);
}

/* All threads inside have gone in after every era that vidi__era_is_before this one. */
uint32_t vidi__gate_safe_era(const vidi__gate *gate);

static inline bool vidi__era_is_before(uint32_t era, uint32_t other)
{
    return (int32_t)(era - other) < 0;
}

/* The slot of this thread, or NULL. */
static inline vidi__slot *vidi__gate_slot(const vidi__gate *gate)
{
    uint32_t me = vidi__thread;
    if (VIDI__LIKELY(me == atomic_load_explicit(&gate->first, memory_order_relaxed)))
        return (vidi__slot *)&gate->own;
    vidi__slots *slots = atomic_load_explicit(&gate->slots, memory_order_acquire);
    vidi__slot *chunk =
        slots ? atomic_load_explicit(&slots->chunks[me / VIDI__SLOTS_OF_CHUNK], memory_order_acquire) : NULL;
    return chunk ? &chunk[me % VIDI__SLOTS_OF_CHUNK] : NULL;
}

/* Where this thread, which is inside, counts. */
static inline vidi__slot *vidi__gate_mine(const vidi__gate *gate)
{
    return gate->exclusive ? (vidi__slot *)&gate->own : vidi__gate_slot(gate);
}

/*
 * The signal fence is for the compiler: what orders the processor is explained above. The store comes first, because
 * exchanges may become necessary between any two lines here.
 */
static inline void vidi__slot_set_inside(vidi__slot *slot, uint32_t era)
{
    atomic_store_explicit(&slot->inside, era, memory_order_release);
    if (VIDI__UNLIKELY(atomic_load_explicit(&vidi__gate_exchanges, memory_order_relaxed)))
        atomic_exchange_explicit(&slot->inside, era, memory_order_acq_rel);
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void vidi__gate_leave(vidi__gate *gate, vidi__slot *slot)
{
    vidi__slot_set_inside(slot, 0);
    if (VIDI__UNLIKELY(atomic_load_explicit(&gate->state, memory_order_relaxed) & VIDI__GATE_CLOSED))
        vidi__wake(&slot->inside, INT_MAX, UINT32_MAX);
}

/* Goes in if the gate is in this state, and stays so until this thread has announced itself; otherwise NULL. */
static inline vidi__slot *vidi__gate_enter_in(vidi__gate *gate, uint32_t state)
{
    vidi__slot *slot = vidi__gate_slot(gate);
    if (VIDI__UNLIKELY(!slot))
        return NULL;
    vidi__slot_set_inside(slot, atomic_load_explicit(&gate->era, memory_order_acquire));
    if (VIDI__LIKELY(atomic_load_explicit(&gate->state, memory_order_acquire) == state))
        return slot;
    vidi__gate_leave(gate, slot);
    return NULL;
}

/* The fast way in; NULL if it is not open to this thread. */
static inline vidi__slot *vidi__gate_enter(vidi__gate *gate)
{
    uint32_t state = atomic_load_explicit(&gate->state, memory_order_relaxed);
    bool open = state == vidi__thread || state == VIDI__GATE_SHARED;
    return VIDI__LIKELY(open) ? vidi__gate_enter_in(gate, state) : NULL;
}

/* The same if the gate is this thread's own: then it is alone inside. */
static inline vidi__slot *vidi__gate_enter_alone(vidi__gate *gate)
{
    uint32_t state = atomic_load_explicit(&gate->state, memory_order_relaxed);
    return state == vidi__thread ? vidi__gate_enter_in(gate, state) : NULL;
}

#endif
