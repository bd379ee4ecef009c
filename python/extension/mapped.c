/*
 * Sets that are opened with read_only=True. Such a set is a snapshot, mapped into memory, and beside it what the log
 * has added or removed since. Lookups ask both. But the library cannot write the two as one stream, nor list a set of
 * which the log removes something, and lists a URL twice that was added again in the log. A copy in memory has it all
 * in one place.
 */
#include "extension.h"
#include "vidi/transfer.h"

int vp_run_copied(const vidi_set *set, const vidi_access *access, vp_task *task, void *context)
{
    if (!(access->flags & VIDI_READ_ONLY))
        return task(set, context);
    vidi_access usual = VIDI_ACCESS_INIT;
    vidi_set *copy;
    usual.allocator = vp_allocator();
    int error = vidi_copy(&copy, set, &usual);
    if (error < 0)
        return error;
    int result = task(copy, context);
    vidi_close(copy);
    return result;
}

int vp_run_whole(const vidi_set *set, const vidi_access *access, vp_task *task, void *context)
{
    int result = task(set, context);
    if (result != VIDI_ECANNOT || !(access->flags & VIDI_READ_ONLY))
        return result;
    return vp_run_copied(set, access, task, context);
}
