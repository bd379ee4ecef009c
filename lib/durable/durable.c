/*
 * The life of a durable set: its folder, its logs, commit and sync, and its end. Snapshots are in snapshot.c, recovery
 * is in recovery.c.
 */
#include "durable/durable.h"

#include <stdio.h>
#include <time.h>

/* ---- logs ---- */

/* Something that follows from the key, so that logs of different sets do not pass for each other. */
static uint64_t identity_of(const vidi_set *set)
{
    unsigned char id[VIDI_KEY_BYTES];
    vidi__derive_key(id, set->key, "log", set->member);
    return vidi__load64(id);
}

vidi__log_id vidi__durable_log_id(const vidi_set *set, uint64_t number, uint64_t epoch)
{
    return (vidi__log_id){.number = number, .epoch = epoch, .identity = identity_of(set)};
}

/* bytes 0: a new one. */
static int open_log(vidi_set *set, const vidi__log_id *id, uint64_t bytes, vidi__open_log **log)
{
    int folder = set->durable->folder.handle;
    vidi__log_policy policy = set->durable->policy;
    VIDI__TRY(vidi__alloc_zeroed(&set->memory, log, sizeof **log, _Alignof(vidi__open_log)));
    (*log)->number = id->number;
    int code = bytes ? vidi__log_continue(&(*log)->log, &set->memory, folder, id, policy, bytes)
                     : vidi__log_create(&(*log)->log, &set->memory, folder, id, policy);
    if (code < 0) {
        vidi__release(&set->memory, *log, sizeof **log, _Alignof(vidi__open_log));
        *log = NULL;
    }
    return code;
}

int vidi__durable_new_log(vidi_set *set, uint64_t number, uint64_t epoch, vidi__open_log **log)
{
    vidi__log_id id = vidi__durable_log_id(set, number, epoch);
    return open_log(set, &id, 0, log);
}

int vidi__durable_old_log(vidi_set *set, uint64_t number, uint64_t bytes, vidi__open_log **log)
{
    vidi__log_id id = vidi__durable_log_id(set, number, set->now.number);
    return open_log(set, &id, bytes, log);
}

int vidi__durable_end_log(vidi_set *set, vidi__open_log *log)
{
    if (!log)
        return VIDI_OK;
    while (atomic_load_explicit(&log->waiting, memory_order_acquire)) /* they are about to be told */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    int code = vidi__log_close(log->log);
    vidi__release(&set->memory, log, sizeof *log, _Alignof(vidi__open_log));
    return code;
}

/* ---- state ---- */

int vidi__durable_break(vidi_set *set, int code)
{
    vidi__durable *durable = set->durable;
    durable->broken = code;
    snprintf(durable->why, sizeof durable->why, "%s", vidi_message());
    return code;
}

int vidi__durable_state(const vidi_set *set)
{
    const vidi__durable *durable = set->durable;
    return durable->broken ? vidi__fail(durable->broken, "%s", durable->why) : VIDI_OK;
}

void vidi__durable_ready(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    bool staging = durable->manual || durable->policy == VIDI__SYNC_ALWAYS || durable->frozen || durable->stage.count;
    atomic_store_explicit(&durable->staging, staging, memory_order_relaxed);
}

void vidi__durable_restage(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    uint64_t next = vidi__stage_next(&durable->stage); /* who still waits for steps must not take others for them */
    vidi__stage_free(&durable->stage);
    durable->hash_only = vidi__hash_only(set);
    vidi__stage_init(&durable->stage, &set->memory, !durable->hash_only);
    durable->stage.first = next;
    vidi__durable_ready(set);
}

/* ---- beginning and end ---- */

static int init_locks(vidi__durable *durable)
{
    int code = pthread_mutex_init(&durable->stage_lock, NULL);
    if (code == 0 && (code = pthread_mutex_init(&durable->turn, NULL)) != 0)
        pthread_mutex_destroy(&durable->stage_lock);
    return code ? vidi__fail(VIDI_ESYSTEM, "no lock for the set: %s", strerror(code)) : VIDI_OK;
}

static void take_flags(vidi__durable *durable, uint32_t flags)
{
    durable->manual = flags & VIDI_MANUAL_COMMIT;
    durable->policy = flags & VIDI_SYNC_ALWAYS  ? VIDI__SYNC_ALWAYS
                      : flags & VIDI_SYNC_NEVER ? VIDI__SYNC_NO
                                                : VIDI__SYNC_EVERYSEC;
}

int vidi__durable_alloc(vidi_set *set, const vidi_options *options)
{
    vidi__durable *durable;
    if ((options->flags & VIDI_SYNC_ALWAYS) && (options->flags & VIDI_SYNC_NEVER))
        return vidi__fail(VIDI_EOPTION, "VIDI_SYNC_ALWAYS and VIDI_SYNC_NEVER exclude each other");
    VIDI__TRY(vidi__alloc_zeroed(&set->memory, &durable, sizeof *durable, _Alignof(vidi__durable)));
    durable->folder.handle = durable->folder.lock.handle = -1;
    durable->recovery.size = sizeof durable->recovery;
    take_flags(durable, options->flags);
    int code = init_locks(durable);
    if (code < 0) {
        vidi__release(&set->memory, durable, sizeof *durable, _Alignof(vidi__durable));
        return code;
    }
    set->durable = durable;
    vidi__durable_restage(set);
    return VIDI_OK;
}

int vidi__durable_attach(vidi_set *set, const vidi_options *options)
{
    VIDI__TRY(vidi__durable_alloc(set, options));
    vidi__durable *durable = set->durable;
    VIDI__TRY(vidi__folder_create(&durable->folder, options->path));
    uint64_t number = 1, bytes = 0;
    bool renamed;
    set->previous_first = set->previous_last = 0;
    VIDI__TRY(vidi__durable_new_log(set, number, set->now.number, &durable->log));
    VIDI__TRY(vidi__snapshot_write(set, number, &bytes, &renamed));
    vidi__snapshot_in_force(set, number, bytes);
    return VIDI_OK;
}

int vidi__durable_close(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    if (!durable)
        return VIDI_OK;
    vidi__snapshot_join(set);
    int code = durable->broken ? vidi__durable_state(set) : VIDI_OK;
    if (durable->log && code == VIDI_OK)
        vidi__record_tally(set);
    int before = vidi__durable_end_log(set, durable->before), last = vidi__durable_end_log(set, durable->log);
    vidi__folder_close(&durable->folder);
    vidi_close(durable->previous);
    vidi__stage_free(&durable->stage);
    pthread_mutex_destroy(&durable->stage_lock);
    pthread_mutex_destroy(&durable->turn);
    vidi__release(&set->memory, durable, sizeof *durable, _Alignof(vidi__durable));
    set->durable = NULL;
    return code < 0 ? code : before < 0 ? before : last;
}

/*
 * The snapshot in force names the files still. So theirs goes first, and for good: without it the others count as
 * dropped, with it they would be missed. If that fails, they stay until the next snapshot, which does not name them.
 */
void vidi__durable_drop_previous(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    uint64_t first = set->previous_first;
    char name[40];
    vidi_close(durable->previous);
    durable->previous = NULL;
    set->previous_first = set->previous_last = 0;
    if (!first)
        return;
    vidi__snapshot_name(name, first);
    if (vidi__file_unlink(durable->folder.handle, name) == VIDI_OK && vidi__folder_sync(&durable->folder) == VIDI_OK)
        vidi__folder_tidy(&durable->folder, durable->snapshot, 0, 0);
}

int vidi_open_with(vidi_set **set, const char *path, const vidi_options *options)
{
    vidi_options mine;
    if (!set || !path)
        return vidi__fail(VIDI_EARGUMENT, "set or path is NULL");
    *set = NULL;
    VIDI__TRY(vidi__set_read_options(&mine, options));
    if (mine.path)
        return vidi__fail(VIDI_EOPTION, "the path is an argument of its own");
    return vidi__durable_open(set, path, &mine);
}

int vidi_open(vidi_set **set, const char *path, unsigned flags)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    options.flags = flags;
    return vidi_open_with(set, path, &options);
}

/* ---- commit and sync ---- */

static int check(const vidi_set *set)
{
    return set ? VIDI_OK : vidi__fail(VIDI_EARGUMENT, "set is NULL");
}

int vidi_mark(const vidi_set *set, uint64_t *mark)
{
    if (!set || !mark)
        return vidi__fail(VIDI_EARGUMENT, "set or mark is NULL");
    *mark = 0;
    if (!set->durable)
        return VIDI_OK;
    vidi__lock_shared(set);
    pthread_mutex_lock(&set->durable->stage_lock);
    *mark = vidi__stage_next(&set->durable->stage);
    pthread_mutex_unlock(&set->durable->stage_lock);
    vidi__unlock(set);
    return VIDI_OK;
}

int vidi_commit(vidi_set *set)
{
    return vidi_commit_to(set, UINT64_MAX);
}

int vidi_commit_to(vidi_set *set, uint64_t mark)
{
    vidi__pending pending = {0};
    uint64_t position = 0;
    VIDI__TRY(check(set));
    vidi__durable *durable = set->durable;
    if (!durable || set->read_only || !durable->manual)
        return VIDI_OK;
    vidi__lock_alone(set);
    int code = vidi__durable_state(set);
    if (code == VIDI_OK)
        code = vidi__durable_log_steps(set, mark, &position);
    if (code == VIDI_OK && durable->policy == VIDI__SYNC_ALWAYS) {
        pending.log = durable->log;
        atomic_fetch_add_explicit(&pending.log->waiting, 1, memory_order_relaxed);
    }
    if (!durable->frozen)
        (void)vidi__durable_apply(set, UINT64_MAX); /* what the filter has no memory for stays in the stage */
    vidi__unlock(set);
    if (pending.log) {
        code = vidi__log_wait(pending.log->log, position);
        atomic_fetch_sub_explicit(&pending.log->waiting, 1, memory_order_release);
    }
    if (code == VIDI_OK)
        vidi__snapshot_if_due(set);
    return code;
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
    vidi__open_log *before = pin(set->durable->before), *log = pin(set->durable->log);
    vidi__unlock(set);
    int older = sync_log(before);
    if (older < 0)
        code = older;
    int newer = sync_log(log);
    return code < 0 ? code : newer;
}

int vidi_recovered(const vidi_set *set, vidi_recovery *recovery)
{
    if (!set || !recovery)
        return vidi__fail(VIDI_EARGUMENT, "set or recovery is NULL");
    if (!set->durable)
        return vidi__fail(VIDI_ECANNOT, "the set lives in memory");
    return vidi__struct_out(recovery, &set->durable->recovery, sizeof *recovery, "vidi_recovery");
}
