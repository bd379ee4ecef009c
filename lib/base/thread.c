/* See thread.h. */
#include "base/thread.h"

#include <signal.h>
#include <stdatomic.h>

int vidi__thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? vidi__fail(VIDI_ESYSTEM, "cannot start a thread: %s", strerror(failed)) : VIDI_OK;
}

/* ---- numbers ---- */

_Thread_local uint32_t vidi__thread = VIDI__THREADS_MAX;

static _Atomic uint64_t taken[(VIDI__THREADS_MAX + 63) / 64];
static pthread_key_t key;
static bool has_key;

/* A thread ends. */
static void give_number_back(void *number)
{
    uint32_t mine = (uint32_t)(uintptr_t)number - 1;
    vidi__thread = VIDI__THREADS_MAX;
    atomic_fetch_and_explicit(&taken[mine / 64], ~(UINT64_C(1) << mine % 64), memory_order_release);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, give_number_back) == 0;
}

/* The library is being unloaded, while threads go on. */
static __attribute__((destructor)) void drop_key(void)
{
    if (has_key)
        pthread_key_delete(key);
}

/* Without a key the number would never be given back, so the thread gets none. */
void vidi__thread_take_number(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    for (uint32_t i = 0; has_key && vidi__thread == VIDI__THREADS_MAX && i < VIDI__THREADS_MAX; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;
        if (atomic_fetch_or_explicit(&taken[i / 64], bit, memory_order_acquire) & bit)
            continue;
        if (pthread_setspecific(key, (void *)(uintptr_t)(i + 1)) == 0)
            vidi__thread = i;
        else
            atomic_fetch_and_explicit(&taken[i / 64], ~bit, memory_order_release);
    }
}
