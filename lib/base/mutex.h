/*
 * A lock of one word: free, held, or held and awaited. All bytes zero is a free lock, so there is nothing to create or
 * destroy, and a child of fork() can use a lock that was free. It is for short sections; which of the waiting threads
 * comes next is chance.
 *
 * Letting go takes a load and a store, not a locked instruction, which costs as much as the rest of an add to a line in
 * the cache. A thread that falls asleep between the two is not woken: so nobody sleeps for more than a millisecond.
 */
#ifndef VIDI_BASE_MUTEX_H
#define VIDI_BASE_MUTEX_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

typedef struct vidi__mutex {
    _Atomic uint32_t state; /* 0: free; 1: held; 2: held, and somebody may sleep until it is free */
} vidi__mutex;

/*
 * Waits until the word has another value: for a microsecond or two, then asleep until vidi__wake is called with one of
 * these bits.
 */
void vidi__wait_while(_Atomic uint32_t *word, uint32_t value, uint32_t bits);
/* Wakes threads that wait at the word with one of these bits: `most` of them, or INT_MAX for all. */
void vidi__wake(_Atomic uint32_t *word, int most, uint32_t bits);

/* The slow half of lock. */
void vidi__mutex_wait(vidi__mutex *mutex);

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
    bool awaited = atomic_load_explicit(&mutex->state, memory_order_relaxed) == 2;
    atomic_store_explicit(&mutex->state, 0, memory_order_release);
    if (VIDI__UNLIKELY(awaited))
        vidi__wake(&mutex->state, 1, UINT32_MAX);
}

#endif
