/* Threads that the library starts. */
#ifndef VIDI_BASE_THREAD_H
#define VIDI_BASE_THREAD_H

#include <pthread.h>

#include "base/base.h"

/*
 * Starts a thread that leaves signals to the program's threads, but not SIGBUS: what it reads may be mapped
 * (store/guard.h). VIDI_ESYSTEM if there can be no more threads.
 */
int vidi__thread_start(pthread_t *thread, void *(*run)(void *), void *context);

#endif
