/*
 * See fork.h. The files to close are bits in an array, by descriptor. So a child needs no lock, which another thread
 * might have held at the fork, and no memory. Descriptors beyond the array are not closed.
 */
#include "base/fork.h"

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#define FILES_MAX (1 << 20)

_Atomic unsigned vidi__fork_generation = 1;

static _Atomic uint64_t watched[FILES_MAX / 64];

static void in_child(void)
{
    atomic_fetch_add(&vidi__fork_generation, 1);
    for (int i = 0; i < FILES_MAX / 64; i++)
        for (uint64_t left = atomic_load(&watched[i]); left; left &= left - 1) {
            close(i * 64 + __builtin_ctzll(left));
            atomic_store(&watched[i], 0); /* only where there is something: the rest stays untouched memory */
        }
}

static void install(void)
{
    (void)pthread_atfork(NULL, NULL, in_child); /* fails only without memory; then children keep their copies */
}

void vidi__fork_watch(int file)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    if (file >= 0 && file < FILES_MAX)
        atomic_fetch_or(&watched[file / 64], UINT64_C(1) << (file % 64));
}

void vidi__fork_forget(int file)
{
    if (file >= 0 && file < FILES_MAX)
        atomic_fetch_and(&watched[file / 64], ~(UINT64_C(1) << (file % 64)));
}
