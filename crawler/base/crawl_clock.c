/*
 * The machine's clock: see crawl_clock.h.
 */
#include "crawler/base/crawl_clock.h"

#include <stddef.h>

#include "common/clock.h"

static int64_t now(void *context)
{
    (void)context;
    return (int64_t)(clock_now() / 1000000);
}

static int64_t date(void *context)
{
    (void)context;
    return (int64_t)(clock_read(CLOCK_REALTIME) / 1000000);
}

const crawl_clock crawl_clock_real = {now, date, NULL, NULL};
