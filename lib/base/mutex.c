/* See mutex.h. Sleeping and waking is the kernel's (futex): it compares the word once more before a thread sleeps. */
#include "base/mutex.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void vidi__sleep_while(_Atomic uint32_t *word, uint32_t value)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void vidi__wake_all(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Drepper, Futexes Are Tricky, 2011, "mutex 3" */
void vidi__mutex_wait(vidi__mutex *mutex)
{
    for (unsigned i = 0; i < VIDI__SPINS; i++) {
        vidi__pause();
        if (!atomic_load_explicit(&mutex->state, memory_order_relaxed) && vidi__mutex_try(mutex))
            return;
    }
    while (atomic_exchange_explicit(&mutex->state, 2, memory_order_acquire))
        vidi__sleep_while(&mutex->state, 2);
}

void vidi__mutex_wake(vidi__mutex *mutex)
{
    (void)syscall(SYS_futex, &mutex->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
