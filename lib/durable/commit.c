/*
 * Commit and sync: how staged operations become lasting.
 *
 * A commit writes the operations to the log, and to the filter unless that is frozen. What is in the log is on disk
 * after the next sync: at once, within a second, or when the caller asks, as the policy says.
 */
#include "durable/durable.h"

static int check(const vidi_set *set)
{
    return set ? vidi__set_here(set) : vidi__fail(VIDI_EARGUMENT, "set is NULL");
}

uint64_t vidi__durable_mark(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    if (!durable->manual)
        return 0;
    vidi__lock_shared(set);
    pthread_mutex_lock(&durable->staging_lock);
    uint64_t mark = vidi__staging_next(&durable->staging);
    pthread_mutex_unlock(&durable->staging_lock);
    vidi__unlock(set);
    return mark;
}

int vidi_mark(const vidi_set *set, uint64_t *mark)
{
    if (!set || !mark)
        return vidi__fail(VIDI_EARGUMENT, "set or mark is NULL");
    VIDI__TRY(vidi__set_here(set));
    *mark = set->durable ? vidi__durable_mark((vidi_set *)set) : 0;
    return VIDI_OK;
}

void vidi__commit_logged(vidi_set *set, int code, vidi__pending *pending)
{
    vidi__durable *durable = set->durable;
    if (code == VIDI_OK && durable->policy == VIDI__SYNC_ALWAYS) {
        pending->log = durable->log;
        atomic_fetch_add_explicit(&pending->log->waiting, 1, memory_order_relaxed);
    }
    if (!set->frozen)
        vidi__durable_try_apply(set, UINT64_MAX);
}

int vidi__commit_wait(vidi_set *set, int code, vidi__pending *pending)
{
    if (pending->log) {
        code = vidi__log_wait(pending->log->log, pending->position);
        atomic_fetch_sub_explicit(&pending->log->waiting, 1, memory_order_release);
    }
    if (code == VIDI_OK)
        vidi__snapshot_if_due(set);
    return code;
}

int vidi__commit_check(const vidi_set *set, uint64_t mark)
{
    uint64_t last = vidi__staging_next(&set->durable->staging);
    if (set->durable->manual && mark > last)
        return vidi__fail(VIDI_EARGUMENT, "the mark %llu is not one of this set, whose last mark is %llu",
                          (unsigned long long)mark, (unsigned long long)last);
    return VIDI_OK;
}

/* Commits everything, or up to a mark. */
static int commit(vidi_set *set, bool all, uint64_t mark)
{
    vidi__pending pending = {0};
    VIDI__TRY(check(set));
    vidi__durable *durable = set->durable;
    if (!durable || set->read_only || !durable->manual)
        return VIDI_OK;
    vidi__lock_alone(set);
    mark = all ? vidi__staging_next(&durable->staging) : mark;
    int code = vidi__commit_check(set, mark);
    if (code < 0) {
        vidi__unlock(set);
        return code;
    }
    code = vidi__durable_state(set);
    if (code == VIDI_OK)
        code = vidi__durable_log_operations(set, mark, &pending.position);
    vidi__open_log *old = code == VIDI_OK && durable->policy == VIDI__SYNC_ALWAYS ? durable->old_log : NULL;
    if (old)
        atomic_fetch_add_explicit(&old->waiting, 1, memory_order_relaxed);
    vidi__commit_logged(set, code, &pending);
    vidi__unlock(set);
    int older = VIDI_OK;
    if (old) {
        older = vidi__log_wait(old->log, vidi__log_end(old->log));
        atomic_fetch_sub_explicit(&old->waiting, 1, memory_order_release);
    }
    code = vidi__commit_wait(set, code, &pending);
    return code < 0 ? code : older;
}

int vidi_commit(vidi_set *set)
{
    return commit(set, true, 0);
}

int vidi_commit_to(vidi_set *set, uint64_t mark)
{
    return commit(set, false, mark);
}

static int sync_log(vidi__open_log *log)
{
    if (!log)
        return VIDI_OK;
    int code = vidi__log_wait(log->log, vidi__log_end(log->log));
    atomic_fetch_sub_explicit(&log->waiting, 1, memory_order_release);
    return code;
}

static vidi__open_log *pin(vidi__open_log *log)
{
    if (log)
        atomic_fetch_add_explicit(&log->waiting, 1, memory_order_relaxed);
    return log;
}

int vidi_sync(vidi_set *set)
{
    VIDI__TRY(check(set));
    if (!set->durable || set->read_only)
        return VIDI_OK;
    vidi__lock_shared(set);
    int code = vidi__durable_state(set);
    vidi__lanes_empty(set);
    vidi__open_log *old = pin(set->durable->old_log), *log = pin(set->durable->log);
    vidi__unlock(set);
    int older = sync_log(old);
    if (older < 0)
        code = older;
    int newer = sync_log(log);
    return code < 0 ? code : newer;
}

int vidi_recovered(const vidi_set *set, vidi_recovery *recovery)
{
    if (!set || !recovery)
        return vidi__fail(VIDI_EARGUMENT, "set or recovery is NULL");
    VIDI__TRY(vidi__set_here(set));
    if (!set->durable)
        return vidi__fail(VIDI_ECANNOT, "the set lives in memory");
    return vidi__struct_out(recovery, &set->durable->recovery, sizeof *recovery, "vidi_recovery");
}
