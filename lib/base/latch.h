/*
 * Two locks of a few bytes. Taking or releasing one that nobody else wants costs one locked instruction. All bytes zero
 * is a free lock, so there is nothing to create or destroy, and a child of fork() can use a lock that was free.
 *
 * vidi__mutex is one word: free, held, or held and awaited. It is for short sections; which of the threads that wait
 * comes next is chance.
 *
 * vidi__latch is held by one thread alone or shared by many, and everybody has a turn:
 *
 *     state     | holders that share it | RECALLED | LENT | INSISTS | WOKEN | QUEUED | ALONE |
 *
 * A thread that finds it taken tries again for a microsecond or two, then queues up and sleeps. Whoever releases the
 * latch wakes the first in the queue (WOKEN) and does not wait for it: until that thread runs, others may take the
 * latch, which keeps the processor busy meanwhile. If the thread then finds the latch taken again, it insists
 * (INSISTS): nobody else gets the latch before it. It insists at once if the latch is shared, since those that share it
 * may take turns without end. So a stream of lookups cannot keep an add out, nor a stream of adds a lookup.
 *
 * Sharing costs more than being alone, because those inside need further locks. So callers that could share the latch
 * try to have it alone first (vidi__latch_try_alone). That would be bad for threads that could work in parallel: hence
 * the latch remembers that two have met, and refuses the next VIDI__LATCH_REFUSALS attempts.
 *
 * Even locked instructions cost something: nothing after one starts before it is done, so a thread that makes many
 * short calls waits for memory in each of them. Therefore a latch that one thread has had alone VIDI__LATCH_STREAK
 * times in a row is lent to that thread. It then stays taken between the calls (ALONE and LENT), and its borrower goes
 * in and out with plain stores. Another thread that finds the latch lent recalls it:
 *
 *     borrower                                       thread that recalls
 *     inside = 1                                     set RECALLED
 *     not RECALLED? then it is in                    membarrier: every thread passes a full barrier
 *     …                                              inside is 0? then the latch is free
 *     inside = 0                                     otherwise sleep until it is
 *     RECALLED? then wake who sleeps
 *
 * If a borrower has stored before it passes the barrier, the recalling thread sees that; if it stores later, it loads
 * later as well, and sees RECALLED. A recall takes microseconds, which is why lending takes a streak. Where the kernel
 * has no membarrier, nothing is lent.
 *
 * A borrower may stop for long just before it stores, and store when the latch was recalled long ago. So a latch that
 * was lent to a thread is lent to no other before that thread has taken it in the usual way.
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
    VIDI__LATCH_LENT = 16,   /* a borrower has it; only together with ALONE */
    VIDI__LATCH_RECALLED = 32,
    VIDI__LATCH_SHARED = 64 /* one thread that shares it */
};

/* Attempts to have the latch alone that are refused after two threads have met. */
#define VIDI__LATCH_REFUSALS 256

/* How often in a row a thread must have had the latch alone before the latch is lent to it. */
#define VIDI__LATCH_STREAK 1024

typedef struct vidi__latch {
    _Atomic uint32_t state;
    _Atomic uint32_t refusals; /* how many are left; a hint, so threads may overwrite each other's number */
    vidi__mutex queue;         /* guards the queue, and is held while the latch is recalled */
    _Atomic uint32_t inside;   /* 1: the borrower is inside */
    _Atomic uintptr_t
        regular;     /* the thread that had the latch alone `streak` times in a row, or to which it was lent */
    uint32_t streak; /* this and `bound` belong to the thread that has the latch alone */
    bool bound;      /* the latch was lent to `regular`, which has not taken it in the usual way since */
    struct vidi__latch_waiter *first, *last;
} vidi__latch;

/* Prepares the process for lending: before this was called once, no latch is lent. False: the kernel cannot help. */
bool vidi__latch_prepare(void);

/* The slow halves. `want` is VIDI__LATCH_ALONE or VIDI__LATCH_SHARED. */
void vidi__latch_wait(vidi__latch *latch, uint32_t want);
void vidi__latch_wake(vidi__latch *latch);
/* Lends the latch to this thread, which has it alone; false if somebody waits for it, so that it must be released. */
bool vidi__latch_lend(vidi__latch *latch);
/* The borrower of a recalled latch is outside: wakes who recalls it. */
void vidi__latch_return(vidi__latch *latch);

/* A number that no other living thread has; never 0. */
static inline uintptr_t vidi__latch_thread(void)
{
    return (uintptr_t)__builtin_thread_pointer();
}

/* Returns true while the latch is lent and has not been recalled. */
static inline bool vidi__latch_is_lent(const vidi__latch *latch)
{
    return atomic_load_explicit(&latch->state, memory_order_relaxed) == (VIDI__LATCH_ALONE | VIDI__LATCH_LENT);
}

/* The borrower goes out. The fence is for the compiler alone: what keeps the processor in order is explained above. */
static inline void vidi__latch_leave(vidi__latch *latch)
{
    atomic_store_explicit(&latch->inside, 0, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (VIDI__UNLIKELY(!vidi__latch_is_lent(latch)))
        vidi__latch_return(latch);
}

/*
 * Goes in if the latch is lent to this thread. `inside` is loaded in acquire order because this may be a new thread
 * with the number of one that has ended.
 */
static inline bool vidi__latch_enter(vidi__latch *latch)
{
    if (!vidi__latch_is_lent(latch) ||
        atomic_load_explicit(&latch->regular, memory_order_relaxed) != vidi__latch_thread() ||
        VIDI__UNLIKELY(atomic_load_explicit(&latch->inside, memory_order_acquire)))
        return false;
    atomic_store_explicit(&latch->inside, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (VIDI__LIKELY(vidi__latch_is_lent(latch)))
        return true;
    vidi__latch_leave(latch);
    return false;
}

static inline bool vidi__latch_take(vidi__latch *latch)
{
    uint32_t free = 0;
    return atomic_compare_exchange_strong_explicit(&latch->state, &free, VIDI__LATCH_ALONE, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* Takes the latch alone if nobody holds it or waits for it, and no two threads have met here lately. */
static inline bool vidi__latch_try_alone(vidi__latch *latch)
{
    if (VIDI__LIKELY(vidi__latch_enter(latch)))
        return true;
    uint32_t left = atomic_load_explicit(&latch->refusals, memory_order_relaxed);
    if (VIDI__LIKELY(!left) && vidi__latch_take(latch))
        return true;
    atomic_store_explicit(&latch->refusals, left ? left - 1 : VIDI__LATCH_REFUSALS, memory_order_relaxed);
    return false;
}

static inline void vidi__latch_alone(vidi__latch *latch)
{
    if (!vidi__latch_enter(latch) && !vidi__latch_take(latch))
        vidi__latch_wait(latch, VIDI__LATCH_ALONE);
}

static inline void vidi__latch_release_shared(vidi__latch *latch)
{
    uint32_t left = atomic_fetch_sub_explicit(&latch->state, VIDI__LATCH_SHARED, memory_order_release);
    if (VIDI__UNLIKELY(left & VIDI__LATCH_QUEUED) && left < 2 * VIDI__LATCH_SHARED)
        vidi__latch_wake(latch);
}

/* One addition, which is taken back if the latch is not to be shared: it cannot fail because others come and go. */
static inline void vidi__latch_shared(vidi__latch *latch)
{
    uint32_t state = atomic_fetch_add_explicit(&latch->state, VIDI__LATCH_SHARED, memory_order_acquire);
    if (VIDI__LIKELY(!(state & (VIDI__LATCH_ALONE | VIDI__LATCH_INSISTS))))
        return;
    vidi__latch_release_shared(latch);
    vidi__latch_wait(latch, VIDI__LATCH_SHARED);
}

/*
 * Returns true if this thread, which has taken the latch in the usual way, has had it alone often enough in a row.
 */
static inline bool vidi__latch_has_streak(vidi__latch *latch)
{
    uintptr_t me = vidi__latch_thread();
    if (VIDI__LIKELY(atomic_load_explicit(&latch->regular, memory_order_relaxed) == me)) {
        latch->bound = false;
        return ++latch->streak >= VIDI__LATCH_STREAK;
    }
    latch->streak = 0;
    if (!latch->bound)
        atomic_store_explicit(&latch->regular, me, memory_order_relaxed);
    return false;
}

/* A latch that is lent is held by its borrower: it stays lent, recalled or not, as long as the borrower is inside. */
static inline void vidi__latch_release_alone(vidi__latch *latch)
{
    if (VIDI__LIKELY(atomic_load_explicit(&latch->state, memory_order_relaxed) & VIDI__LATCH_LENT)) {
        vidi__latch_leave(latch);
        return;
    }
    if (VIDI__UNLIKELY(vidi__latch_has_streak(latch)) && vidi__latch_lend(latch))
        return;
    uint32_t left = atomic_fetch_sub_explicit(&latch->state, VIDI__LATCH_ALONE, memory_order_release);
    if (VIDI__UNLIKELY(left & VIDI__LATCH_QUEUED))
        vidi__latch_wake(latch);
}

#endif
