/*
 * The clock of a crawl. Tests replace it by one that stands still while something is going on and jumps ahead when the
 * crawl has nothing to do but wait, so that a crawl of hours takes seconds.
 */
#ifndef VIDI_CRAWLER_BASE_CRAWL_CLOCK_H
#define VIDI_CRAWLER_BASE_CRAWL_CLOCK_H

#include <stdint.h>

typedef struct crawl_clock {
    int64_t (*now)(void *context);  /* milliseconds since some moment; never goes back */
    int64_t (*date)(void *context); /* milliseconds since 1970, UTC */
    /* Called when only the passing of time can change anything before `until` (as `now` counts). NULL: really wait. */
    void (*skip)(void *context, int64_t until);
    void *context;
} crawl_clock;

/* The machine's. */
extern const crawl_clock crawl_clock_real;

#endif
