/*
 * The one clock of the program, for measuring and for deciding when something is due. It never goes back.
 */
#ifndef VIDI_CLI_UI_CLOCK_H
#define VIDI_CLI_UI_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t cli_nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

#endif
