/*
 * A lock of one word: free, held, or held and awaited. All bytes zero is a free lock, so there is nothing to create or
 * destroy, and a child of fork() can use a lock that was free. It is for short sections; which of the waiting threads
 * comes next is chance.
 */
#ifndef VIDI_BASE_MUTEX_H
#define VIDI_BASE_MUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

typedef struct vidi__mutex {
    _Atomic uint32_t state; /* 0: free; 1: held; 2: held, and somebody may sleep until it is free */
} vidi__mutex;

/* The slow halves of lock and unlock. */
void vidi__mutex_wait(vidi__mutex *mutex);
void vidi__mutex_wake(vidi__mutex *mutex);

/* Sleeps unless the word has changed. May also wake up for no reason, so callers look again. */
void vidi__sleep_while(_Atomic uint32_t *word, uint32_t value);
void vidi__wake_all(_Atomic uint32_t *word);

/* How often a thread looks again before it sleeps: a microsecond or two, longer than most calls hold a lock. */
#define VIDI__SPINS 64

static inline void vidi__pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/*
 * Begins to fetch a cache line that will be written to, so that no other core has it then. By default gcc's own builtin
 * makes this a fetch to read.
 */
static inline void vidi__prefetch_to_write(const void *address)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1);
#endif
}

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

#endif
