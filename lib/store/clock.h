/*
 * Time, as the log sees it. Both functions go through a table that a test may replace by a clock that stands still
 * until the test moves it. So a test can check what the log does after a second without waiting for a second.
 */
#ifndef VIDI_STORE_CLOCK_H
#define VIDI_STORE_CLOCK_H

#include <pthread.h>
#include <stdint.h>

/* A time that never comes. */
#define VIDI__NEVER UINT64_MAX

typedef struct vidi__clock {
    /* Nanoseconds since an arbitrary moment; never goes back. */
    uint64_t (*now)(void);
    /*
     * Waits, like pthread_cond_wait, until the condition is signalled or the clock reaches `until`; may also return for
     * no reason. The condition must come from vidi__clock_condition.
     */
    void (*wait)(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until);
} vidi__clock;

/* The operating system's clock, and the one in use, which only tests change, while no log is open. */
extern const vidi__clock vidi__clock_real;
extern const vidi__clock *vidi__clock_now;

/* Creates a condition that a clock can wait for; returns 0 or an error number. */
int vidi__clock_condition(pthread_cond_t *condition);

#endif
