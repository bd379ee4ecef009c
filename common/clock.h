/*
 * The machine's clocks, and waiting by the one that never goes back.
 */
#ifndef VIDI_COMMON_CLOCK_H
#define VIDI_COMMON_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* What a clock shows, in nanoseconds. */
static inline uint64_t clock_read(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Nanoseconds since some moment, for measuring and for deciding when something is due. Never goes back. */
static inline uint64_t clock_now(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

static inline double clock_seconds(void)
{
    return (double)clock_now() / 1e9;
}

/* The moment in `ms` milliseconds, for pthread_cond_timedwait on a condition of clock_condition. */
static inline struct timespec clock_in(int64_t ms)
{
    uint64_t at = clock_now() + (uint64_t)ms * 1000000;
    return (struct timespec){.tv_sec = (time_t)(at / 1000000000), .tv_nsec = (long)(at % 1000000000)};
}

/* Makes a condition whose waits end by this clock. 0 or an error number. */
static inline int clock_condition(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    int error = pthread_condattr_init(&monotonic);
    if (error)
        return error;
    error = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    error = error ? error : pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return error;
}

#endif
