/*
 * Planted in the program vidi, for fleet.py: mistakes in the order in which a crawl of a fleet does things, which the
 * checker must notice. VIDI_FAULT names one, and VIDI_FUSE says at which call the process dies there, in the moment in
 * which the mistake matters.
 *
 *   early    pages are done for the fleet before their links are handed over
 *   done     pages are done for the fleet before they are in the database
 *   (none)   dies where it does with `early`
 *
 * Links may be removed from a stream early: they are claimed by then.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/crawl/storage/storage.h"

int __real_shared_send(storage *storage, size_t from, size_t end);
int __wrap_shared_send(storage *storage, size_t from, size_t end);
int __real_shared_write_untold(storage *storage, bool all);
int __wrap_shared_write_untold(storage *storage, bool all);

static bool has_fault(const char *name)
{
    const char *chosen = getenv("VIDI_FAULT");
    return chosen && strcmp(chosen, name) == 0;
}

static void burn(void)
{
    static long left = -1;
    const char *fuse = getenv("VIDI_FUSE");
    if (left < 0)
        left = fuse ? strtol(fuse, NULL, 10) : 0;
    if (left > 0 && --left == 0)
        raise(SIGKILL);
}

/* How many pages of the batch the fleet takes for done now. */
static size_t call_done(storage *storage)
{
    size_t count = 0;
    for (const message *one = storage->batch.fetch_jobs.first; one; one = one->next)
        if (((const fetch_job *)one)->reason != shared_reason)
            count += fleet_done(storage->crawl->fleet, &((const fetch_job *)one)->url.url, 1) == VIDI_OK;
    return count;
}

int __wrap_shared_send(storage *storage, size_t from, size_t end)
{
    if (has_fault("early"))
        call_done(storage);
    if (!has_fault("done") && end > from)
        burn();
    return __real_shared_send(storage, from, end);
}

int __wrap_shared_write_untold(storage *storage, bool all)
{
    if (has_fault("done") && all && call_done(storage) > 0)
        burn();
    return __real_shared_write_untold(storage, all);
}
