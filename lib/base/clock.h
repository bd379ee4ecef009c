/* The time, for work that is limited by it (vidi_step). */
#ifndef VIDI_BASE_CLOCK_H
#define VIDI_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment. Never goes back. */
static inline uint64_t vidi__clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
