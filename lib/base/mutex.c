/* See mutex.h. Sleeping and waking is the kernel's (futex): it compares the word once more before a thread sleeps. */
#include "base/mutex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How often a thread looks again before it sleeps: longer than most calls hold a lock. */
#define SPINS 64

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *longest, uint32_t bits)
{
    (void)syscall(SYS_futex, word, operation, value, longest, NULL, bits);
}

void vidi__wait_while(_Atomic uint32_t *word, uint32_t value, uint32_t bits)
{
    for (unsigned i = 0; atomic_load_explicit(word, memory_order_acquire) == value; i++) {
        if (i < SPINS)
            pause_briefly();
        else
            futex(word, FUTEX_WAIT_BITSET_PRIVATE, value, NULL, bits);
    }
}

void vidi__wake(_Atomic uint32_t *word, int most, uint32_t bits)
{
    futex(word, FUTEX_WAKE_BITSET_PRIVATE, (uint32_t)most, NULL, bits);
}

/* Drepper, Futexes Are Tricky, 2011, "mutex 3", but for the limit (mutex.h). */
void vidi__mutex_wait(vidi__mutex *mutex)
{
    const struct timespec longest = {.tv_nsec = 1000000};
    for (unsigned i = 0; i < SPINS; i++) {
        pause_briefly();
        if (!atomic_load_explicit(&mutex->state, memory_order_relaxed) && vidi__mutex_try(mutex))
            return;
    }
    while (atomic_exchange_explicit(&mutex->state, 2, memory_order_acquire))
        futex(&mutex->state, FUTEX_WAIT_PRIVATE, 2, &longest, 0);
}
