/*
 * The life of a durable set: its logs, how it gets a folder, its end, and the table of functions that lib/set calls.
 * Opening is in open.c and recovery.c, committing in commit.c, snapshots in snapshot.c.
 */
#include "durable/durable.h"

#include <stdio.h>
#include <time.h>

#include "durable/log_index.h"

/* A set that is written to keeps this part of its memory limit free. */
#define ASIDE_SHARE 32
/* A step of room_steps, as a part of the memory limit. */
#define ROOM_SHARE 16
/* What an open log takes. */
#define ASIDE_FOR_LOG (UINT64_C(128) << 10)

/* ---- logs ---- */

/* A number derived from the key, so that the log of one set is not taken for that of another. */
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

/* Begins to index the log, if its records have nothing but hashes. What is in it is synced. */
static void begin_index(vidi_set *set, vidi__open_log *log, const vidi__log_id *id, uint64_t bytes)
{
    if (!set->durable->maps || !vidi__epoch_needs_hash_only(&set->now) || set->now.filter->stores_every_add)
        return;
    log->index = vidi__index_begin(&set->memory, set->durable->folder.handle, id);
    if (!log->index)
        return;
    vidi__log_watch(log->log, vidi__index_synced, log->index);
    if (bytes)
        vidi__index_synced(log->index, bytes);
}

static void empty_lanes(void *set)
{
    vidi__lanes_empty(set);
}

/* Opens a log that ends after `bytes`; 0: makes a new one. */
static int open_log(vidi_set *set, const vidi__log_id *id, uint64_t bytes, vidi__open_log **log)
{
    int folder = set->durable->folder.handle;
    vidi__log_policy policy = set->durable->policy;
    VIDI__TRY(vidi__alloc_zeroed(&set->memory, log, sizeof **log, _Alignof(vidi__open_log)));
    (*log)->number = id->number;
    (*log)->bundle = bytes ? set->durable->replayed : (vidi__bundle){1, 0};
    int code = bytes ? vidi__log_continue(&(*log)->log, &set->memory, folder, id, policy, bytes)
                     : vidi__log_create(&(*log)->log, &set->memory, folder, id, policy);
    if (code < 0) {
        vidi__release(&set->memory, *log, sizeof **log, _Alignof(vidi__open_log));
        *log = NULL;
        return code;
    }
    vidi__log_report_to((*log)->log, &set->durable->manifest);
    vidi__log_gather_by((*log)->log, empty_lanes, set);
    begin_index(set, *log, id, bytes);
    return VIDI_OK;
}

int vidi__durable_new_log(vidi_set *set, uint64_t number, uint64_t epoch, vidi__open_log **log)
{
    vidi__manifest *manifest = &set->durable->manifest;
    vidi__log_id id = vidi__durable_log_id(set, number, epoch);
    VIDI__TRY(vidi__manifest_drop_log(manifest,
                                      number)); /* a log that could not be removed may be left from an earlier try */
    id.previous = vidi__manifest_known(manifest, number - 1);
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
    while (atomic_load_explicit(&log->waiting, memory_order_acquire)) /* their wait ends soon */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    int code = vidi__log_close(log->log);
    vidi__index_end(log->index, log->completes_index && code == VIDI_OK);
    vidi__release(&set->memory, log, sizeof *log, _Alignof(vidi__open_log));
    return code;
}

/* ---- state ---- */

int vidi__durable_break(vidi_set *set, int code)
{
    vidi__durable *durable = set->durable;
    durable->broken = code;
    snprintf(durable->why, sizeof durable->why, "%s", vidi__sentence());
    return code;
}

int vidi__durable_state(const vidi_set *set)
{
    const vidi__durable *durable = set->durable;
    return durable->broken ? vidi__fail(durable->broken, "%s", durable->why) : VIDI_OK;
}

void vidi__durable_put_aside(vidi_set *set, vidi__aside when)
{
    uint64_t limit = set->memory.limit, aside = limit / ASIDE_SHARE;
    if (when == VIDI__ASIDE_REPLAYING) {
        aside = aside / 2 + ASIDE_FOR_LOG + set->durable->room_steps * (limit / ROOM_SHARE);
        aside = aside < limit ? aside : limit;
    }
    vidi__memory_put_aside(&set->memory, when == VIDI__ASIDE_NONE ? 0 : aside);
}

void vidi__durable_ready(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    bool rest = durable->staging.count || durable->segment_count;
    bool staging = rest || durable->manual || durable->policy == VIDI__SYNC_ALWAYS || set->frozen;
    set->partial = rest && set->mapped;
    atomic_store_explicit(&set->uses_staging, staging, memory_order_relaxed);
}

void vidi__durable_restage(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    uint64_t next = vidi__staging_next(&durable->staging); /* numbers never repeat: callers may still wait for theirs */
    vidi__staging_free(&durable->staging);
    durable->hash_only = vidi__epoch_needs_hash_only(&set->now);
    vidi__staging_init(&durable->staging, &set->memory, !durable->hash_only);
    durable->staging.first = next;
    vidi__durable_ready(set);
}

/* ---- the end ---- */

/* Errors are not reported here: vidi_sync, called before, says whether everything is on disk. */
static void end(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    vidi__snapshot_join(set);
    vidi__lanes_empty(set);
    if (durable->log && durable->snapshot && !durable->broken)
        vidi__write_tally(set); /* not without a snapshot: such a folder must stay without records */
    (void)vidi__durable_end_log(set, durable->old_log);
    if (durable->log)
        durable->log->completes_index = durable->policy != VIDI__SYNC_NO;
    (void)vidi__durable_end_log(set, durable->log);
    vidi__manifest_close(&durable->manifest, durable->policy != VIDI__SYNC_NO);
    vidi__folder_close(&durable->folder);
    vidi__quiet_end(&quiet, VIDI_OK);
    vidi_close(set->previous_set);
    vidi__staging_free(&durable->staging);
    vidi__lanes_free(set);
    vidi__index_close(set);
    pthread_mutex_destroy(&durable->staging_lock);
    pthread_mutex_destroy(&durable->turn);
    vidi__release(&set->memory, durable, sizeof *durable, _Alignof(vidi__durable));
    set->durable = NULL;
    set->persistence = NULL;
    set->turn = NULL;
    set->previous_set = NULL;
    set->frozen = set->partial = false;
    atomic_store_explicit(&set->uses_staging, false, memory_order_relaxed);
}

/*
 * The snapshot in force still names the previous epoch's files. So the manifest says first that they are needed no
 * more: after that they may be missing. Then the epoch's snapshot is removed and the folder synced: without that file
 * the epoch counts as dropped. If any of this fails, the files stay until the next snapshot, which does not name them.
 */
static void drop_previous(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    uint64_t first = set->previous_first;
    char name[40];
    vidi_close(set->previous_set);
    set->previous_set = NULL;
    set->previous_first = set->previous_last = 0;
    if (!first)
        return;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    vidi__folder_snapshot_name(name, first);
    uint64_t snapshot = durable->snapshot;
    if (vidi__manifest_take_snapshot(&durable->manifest, snapshot, snapshot, snapshot, VIDI__LOG_HEAD) == VIDI_OK &&
        vidi__file_unlink(durable->folder.handle, name) == VIDI_OK && vidi__folder_sync(&durable->folder) == VIDI_OK)
        vidi__folder_tidy(&durable->folder, durable->snapshot, 0, 0);
    vidi__quiet_end(&quiet, VIDI_OK);
}

/* ---- what lib/set calls ---- */

static int catch_up(vidi_set *set)
{
    if (set->mapped || !set->durable->staging.logged)
        return VIDI_OK;
    return vidi__set_is_alone(set) ? vidi__durable_apply(set, UINT64_MAX) : VIDI_EBUSY;
}

static int changed(vidi_set *set, vidi__change change)
{
    if (change == VIDI__MERGED)
        return vidi__snapshot_take(set);
    if (change != VIDI__PREVIOUS_DROPPED)
        return vidi__snapshot_rotate(set, change == VIDI__ROTATED_KEEPING);
    drop_previous(set);
    return VIDI_OK;
}

static void stat_folder(vidi_set *set, vidi_stats *stats)
{
    vidi__durable *durable = set->durable;
    pthread_mutex_lock(&durable->staging_lock);
    int64_t net = durable->staging.net, count = (int64_t)stats->count;
    net += (int64_t)vidi__index_count(set);
    stats->count = count + net > 0 ? (uint64_t)(count + net) : 0;
    stats->staged = durable->staging.count - durable->staging.logged;
    pthread_mutex_unlock(&durable->staging_lock);
    stats->log_bytes = atomic_load_explicit(&durable->log_bytes, memory_order_relaxed);
    stats->snapshot_bytes = durable->snapshot_bytes;
    stats->snapshots = durable->snapshots;
}

static const vidi__persistence persistence = {
    .add = vidi__durable_add,
    .add_one = vidi__durable_add_one,
    .remove = vidi__durable_remove,
    .lookup = vidi__durable_lookup,
    .mark = vidi__durable_mark,
    .to_log = vidi__lanes_empty,
    .catch_up = catch_up,
    .iterate = vidi__durable_iterate,
    .merge_into = vidi__durable_merge_into,
    .verify = vidi__index_verify,
    .changed = changed,
    .stat = stat_folder,
    .close = end,
};

/* ---- the beginning ---- */

static int init_locks(vidi__durable *durable)
{
    int code = pthread_mutex_init(&durable->staging_lock, NULL);
    if (code == 0 && (code = pthread_mutex_init(&durable->turn, NULL)) != 0)
        pthread_mutex_destroy(&durable->staging_lock);
    return code ? vidi__fail(VIDI_ESYSTEM, "no lock for the set: %s", strerror(code)) : VIDI_OK;
}

static vidi__log_policy policy_of(const vidi_access *access)
{
    return access->sync == VIDI_SYNC_ALWAYS  ? VIDI__SYNC_ALWAYS
           : access->sync == VIDI_SYNC_NEVER ? VIDI__SYNC_NO
                                             : VIDI__SYNC_EVERYSEC;
}

int vidi__durable_alloc(vidi_set *set, const vidi_access *access)
{
    vidi__durable *durable;
    VIDI__TRY(vidi__alloc_zeroed(&set->memory, &durable, sizeof *durable, _Alignof(vidi__durable)));
    durable->folder.handle = durable->folder.lock.handle = -1;
    durable->recovery.size = sizeof durable->recovery;
    durable->manual = access->flags & VIDI_MANUAL_COMMIT;
    durable->maps = !(access->flags & VIDI_NO_MAP);
    durable->policy = policy_of(access);
    int code = vidi__manifest_init(&durable->manifest);
    if (code == VIDI_OK && (code = init_locks(durable)) < 0)
        vidi__manifest_close(&durable->manifest, false);
    if (code < 0) {
        vidi__release(&set->memory, durable, sizeof *durable, _Alignof(vidi__durable));
        return code;
    }
    set->durable = durable;
    set->persistence = &persistence;
    set->turn = &durable->turn;
    set->process = access->flags & VIDI_READ_ONLY ? 0 : atomic_load(&vidi__fork_generation);
    vidi__durable_restage(set);
    return VIDI_OK;
}

/* What writes the first operations of a set to its log; fn is NULL if there are none. */
typedef struct filling {
    vidi__durable_fill *fn;
    void *context;
} filling;

static int fill_log(vidi_set *set, const filling *fill)
{
    if (!fill->fn)
        return VIDI_OK;
    VIDI__TRY(fill->fn(set, fill->context));
    return vidi__log_wait(set->durable->log->log, UINT64_MAX);
}

/* Makes the files of a new set in the order that store/folder.h describes. */
static int make_files(vidi_set *set, const filling *fill, bool *renamed)
{
    vidi__durable *durable = set->durable;
    const uint64_t number = 1;
    vidi__manifest_contents manifest = {.identity = identity_of(set), .snapshot = number, .first = number};
    vidi__folder_snapshot snapshot = {0};
    if (fill->fn)
        VIDI__TRY(vidi__folder_merge_begin(&durable->folder));
    VIDI__TRY(vidi__snapshot_save(set, number, &snapshot));
    VIDI__TRY(vidi__folder_sync(&durable->folder));
    VIDI__TRY(vidi__durable_new_log(set, number, set->now.number, &durable->log));
    vidi__manifest_append(&manifest, number, VIDI__LOG_HEAD);
    vidi__manifest_begin(&durable->manifest, durable->folder.handle, durable->folder.lock.handle, &manifest);
    VIDI__TRY(vidi__manifest_put(&durable->manifest));
    VIDI__TRY(fill_log(set, fill));
    int code = vidi__folder_snapshot_finish(&snapshot);
    *renamed = snapshot.renamed;
    if (code == VIDI_OK)
        vidi__snapshot_in_force(set, number, snapshot.bytes);
    if (code == VIDI_OK && fill->fn)
        vidi__folder_merge_end(&durable->folder);
    return code;
}

/*
 * The same for a set that was read with its previous epoch: makes the files of that one first, and then those of a
 * rotation to the current one. A crash in between leaves a set in the previous epoch.
 */
static int make_both_files(vidi_set *set, bool *renamed)
{
    char params[VIDI__DESCRIPTION];
    vidi__epoch now = set->now, *previous = set->previous;
    vidi__recipe recipe = set->recipe;
    uint64_t history = set->history_count;
    VIDI__TRY(vidi__recipe_of_filter(&set->recipe, previous->filter, params));
    set->now = *previous;
    set->previous = NULL;
    while (set->history_count && set->history[set->history_count - 1].epoch >= previous->number)
        set->history_count--;
    vidi__durable_restage(set);
    int code = make_files(set, &(filling){.fn = NULL}, renamed);
    set->now = now;
    set->previous = previous;
    set->recipe = recipe;
    set->history_count = history;
    if (code < 0)
        return code;
    *renamed = false; /* until the rotation is done, everything can be removed */
    return vidi__snapshot_rotate(set, true);
}

static int attach(vidi_set *set, const char *path, const vidi_access *access, const filling *fill)
{
    VIDI__TRY(vidi__durable_alloc(set, access));
    vidi__durable *durable = set->durable;
    bool renamed = false;
    char why[VIDI__MESSAGE];
    vidi_str owner = {access->owner, access->owner ? strlen(access->owner) : 0};
    vidi__note_free(&set->memory, set->owner); /* of the snapshot that it was read from, in another folder */
    VIDI__TRY(vidi__note_make(&set->memory, owner, &set->owner));
    VIDI__TRY(vidi__folder_create(&durable->folder, path));
    set->previous_first = set->previous_last = 0;
    int code = set->previous ? make_both_files(set, &renamed) : make_files(set, fill, &renamed);
    if (code == VIDI_OK)
        vidi__durable_put_aside(set, VIDI__ASIDE_WRITING);
    if (code == VIDI_OK || renamed)
        return code;
    snprintf(why, sizeof why, "%s", vidi__sentence());
    (void)vidi__durable_end_log(set, durable->log);
    durable->log = NULL;
    (void)vidi__folder_clear(&durable->folder);
    return vidi__fail(code, "%s", why);
}

int vidi__durable_attach(vidi_set *set, const char *path, const vidi_access *access)
{
    return vidi__durable_attach_filled(set, path, access, NULL, NULL);
}

int vidi__durable_attach_filled(vidi_set *set, const char *path, const vidi_access *access, vidi__durable_fill *fill,
                                void *context)
{
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    return vidi__quiet_end(&quiet, attach(set, path, access, &(filling){fill, context}));
}
