/*
 * Two locks of a few bytes. Taking or releasing one that nobody else wants costs one locked instruction. All bytes zero
 * is a free lock, so there is nothing to create or destroy, and a child of fork() can use a lock that was free.
 *
 * vidi__mutex is one word: free, held, or held and awaited. It is for short sections; which of the threads that wait
 * comes next is chance.
 *
 * vidi__latch is held by one thread alone or shared by many, and everybody has a turn:
 *
 *     state     | holders that share it | INSISTS | WOKEN | QUEUED | ALONE |
 *
 * A thread that finds it taken tries again for a microsecond or two, then queues up and sleeps. Whoever releases the
 * latch wakes the first in the queue (WOKEN) and does not wait for it: until that thread runs, others may take the
 * latch, which keeps the processor busy meanwhile. If the thread then finds the latch taken again, it insists (INSISTS):
 * nobody else gets the latch before it. It insists at once if the latch is shared, since those that share it may take
 * turns without end. So a stream of lookups cannot keep an add out, nor a stream of adds a lookup.
 *
 * Sharing costs more than being alone, because those inside need further locks. So callers that could share the latch
 * try to have it alone first (vidi__latch_try_alone). That would be bad for threads that could work in parallel: hence
 * the latch remembers that two have met, and refuses the next VIDI__LATCH_REFUSALS attempts.
 */
#ifndef VIDI_BASE_LATCH_H
#define VIDI_BASE_LATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

/* ---- a mutex of one word ---- */

typedef struct vidi__mutex {
    _Atomic uint32_t state; /* 0: free; 1: held; 2: held, and somebody may sleep until it is free */
} vidi__mutex;

/* The slow halves of lock and unlock. */
void vidi__mutex_wait(vidi__mutex *mutex);
void vidi__mutex_wake(vidi__mutex *mutex);

static inline bool vidi__mutex_try(vidi__mutex *mutex)
{
    uint32_t free = 0;
    return atomic_compare_exchange_strong_explicit(&mutex->state, &free, 1, memory_order_acquire, memory_order_relaxed);
}

static inline void vidi__mutex_lock(vidi__mutex *mutex)
{
    if (VIDI__UNLIKELY(!vidi__mutex_try(mutex)))
        vidi__mutex_wait(mutex);
}

static inline void vidi__mutex_unlock(vidi__mutex *mutex)
{
    if (VIDI__UNLIKELY(atomic_exchange_explicit(&mutex->state, 0, memory_order_release) == 2))
        vidi__mutex_wake(mutex);
}

/* ---- a latch ---- */

enum {
    VIDI__LATCH_ALONE = 1,
    VIDI__LATCH_QUEUED = 2,  /* the queue is not empty */
    VIDI__LATCH_WOKEN = 4,   /* the first in the queue was woken and has not looked yet */
    VIDI__LATCH_INSISTS = 8, /* only the first in the queue may take the latch */
    VIDI__LATCH_SHARED = 16  /* one thread that shares it */
};

/* Attempts to have the latch alone that are refused after two threads have met. */
#define VIDI__LATCH_REFUSALS 256

typedef struct vidi__latch {
    _Atomic uint32_t state;
    _Atomic uint32_t refusals; /* how many are left; a hint, so threads may overwrite each other's number */
    vidi__mutex queue;         /* guards the queue */
    struct vidi__latch_waiter *first, *last;
} vidi__latch;

/* The slow halves. `want` is VIDI__LATCH_ALONE or VIDI__LATCH_SHARED. */
void vidi__latch_wait(vidi__latch *latch, uint32_t want);
void vidi__latch_wake(vidi__latch *latch);

static inline bool vidi__latch_take(vidi__latch *latch)
{
    uint32_t free = 0;
    return atomic_compare_exchange_strong_explicit(&latch->state, &free, VIDI__LATCH_ALONE, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* Takes the latch alone if nobody holds it or waits for it, and no two threads have met here lately. */
static inline bool vidi__latch_try_alone(vidi__latch *latch)
{
    uint32_t left = atomic_load_explicit(&latch->refusals, memory_order_relaxed);
    if (VIDI__LIKELY(!left) && vidi__latch_take(latch))
        return true;
    atomic_store_explicit(&latch->refusals, left ? left - 1 : VIDI__LATCH_REFUSALS, memory_order_relaxed);
    return false;
}

static inline void vidi__latch_alone(vidi__latch *latch)
{
    if (VIDI__UNLIKELY(!vidi__latch_take(latch)))
        vidi__latch_wait(latch, VIDI__LATCH_ALONE);
}

static inline void vidi__latch_shared(vidi__latch *latch)
{
    uint32_t state = atomic_load_explicit(&latch->state, memory_order_relaxed);
    if (VIDI__UNLIKELY(state & (VIDI__LATCH_ALONE | VIDI__LATCH_INSISTS)) ||
        !atomic_compare_exchange_strong_explicit(&latch->state, &state, state + VIDI__LATCH_SHARED,
                                                 memory_order_acquire, memory_order_relaxed))
        vidi__latch_wait(latch, VIDI__LATCH_SHARED);
}

static inline void vidi__latch_release_alone(vidi__latch *latch)
{
    uint32_t left = atomic_fetch_sub_explicit(&latch->state, VIDI__LATCH_ALONE, memory_order_release);
    if (VIDI__UNLIKELY(left & VIDI__LATCH_QUEUED))
        vidi__latch_wake(latch);
}

static inline void vidi__latch_release_shared(vidi__latch *latch)
{
    uint32_t left = atomic_fetch_sub_explicit(&latch->state, VIDI__LATCH_SHARED, memory_order_release);
    if (VIDI__UNLIKELY(left & VIDI__LATCH_QUEUED) && left < 2 * VIDI__LATCH_SHARED)
        vidi__latch_wake(latch);
}

#endif
