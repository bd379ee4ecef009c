/*
 * The machine's clock: see crawl_clock.h.
 */
#include "crawler/base/crawl_clock.h"

#include <stddef.h>
#include <time.h>

static int64_t milliseconds(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t now(void *context)
{
    (void)context;
    return milliseconds(CLOCK_MONOTONIC);
}

static int64_t date(void *context)
{
    (void)context;
    return milliseconds(CLOCK_REALTIME);
}

const crawl_clock crawl_clock_real = {now, date, NULL, NULL};
