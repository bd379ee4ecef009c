/* Threads: how the library starts them, and the numbers that all threads have which use a set. */
#ifndef VIDI_BASE_THREAD_H
#define VIDI_BASE_THREAD_H

#include <pthread.h>

#include "base/base.h"

/*
 * Starts a thread that leaves signals to the program's threads, but not SIGBUS: what it reads may be mapped
 * (store/guard.h). VIDI_ESYSTEM if there can be no more threads.
 */
int vidi__thread_start(pthread_t *thread, void *(*run)(void *), void *context);

#define VIDI__THREADS_MAX 1008

/* The number of this thread, below VIDI__THREADS_MAX; VIDI__THREADS_MAX if it has none. */
extern _Thread_local uint32_t vidi__thread __attribute__((tls_model("initial-exec")));

/*
 * Gives this thread a number if one is left. It keeps the number until it ends. Then a new thread may get it, which
 * sees everything that this one has stored.
 */
void vidi__thread_take_number(void);

#endif
