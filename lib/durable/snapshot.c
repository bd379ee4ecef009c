/*
 * Snapshots: the filter is written to a file beside the one in force, while adds go on.
 *
 *     1  make a new log, and list it in the manifest
 *     2  exclusive lock: apply what is logged to the filter; freeze the filter; from here on commits go to the new log
 *     3  write the filter; operations committed meanwhile wait in the staging area
 *     4  exclusive lock: thaw the filter and apply what was logged meanwhile
 *     5  sync what was written and rename it
 *     6  name the snapshot in the manifest; remove the old log and the old snapshot
 *
 * A crash before the renaming in 5 leaves the old snapshot, the old log and the new one. A crash after it leaves the
 * new snapshot and the new log. If anything fails, everything stays as it was, with one log more.
 *
 * A snapshot that succeeds also heals a log that failed, because it contains everything that the log should have held.
 */
#include "durable/durable.h"

#include <stdio.h>

#include "base/random.h"

/* A snapshot is due when the logs have grown to half of the last one, but not before they have this size. */
#define LOGS_LEAST (UINT64_C(32) << 20)

enum { NONE, RUNNING, OVER };

int vidi__snapshot_save(vidi_set *set, uint64_t number, vidi__folder_snapshot *snapshot)
{
    uint64_t generation, answers = vidi__record_answers(set); /* answers during the writing may be in it too */
    VIDI__TRY(vidi__random(&generation, sizeof generation));
    VIDI__TRY(vidi__folder_snapshot_begin(snapshot, &set->durable->folder, number));
    vidi__contents contents = {.note = set->frozen ? set->durable->frozen_note : set->note, .owner = set->owner};
    int code = vidi__set_write(set, vidi__folder_snapshot_sink, snapshot, generation, &contents);
    if (code < 0) {
        vidi__folder_snapshot_abandon(snapshot);
        return snapshot->error ? vidi__fail(snapshot->error, "%s", snapshot->why) : code;
    }
    code = vidi__folder_snapshot_seal(snapshot);
    if (code == VIDI_OK)
        atomic_store_explicit(&set->durable->tallied, answers, memory_order_relaxed);
    return code;
}

/* Puts a snapshot that was saved in force. */
static int finish(vidi_set *set, vidi__folder_snapshot *snapshot)
{
    int code = vidi__folder_snapshot_finish(snapshot);
    if (code < 0 && !snapshot->renamed)
        vidi__folder_snapshot_abandon(snapshot);
    if (code < 0) /* the counters are not saved, so the log gets them */
        atomic_store_explicit(&set->durable->tallied, UINT64_MAX, memory_order_relaxed);
    return code;
}

/* Both at once. */
static int write_snapshot(vidi_set *set, uint64_t number, uint64_t *bytes, bool *renamed)
{
    vidi__folder_snapshot snapshot;
    *renamed = false;
    VIDI__TRY(vidi__snapshot_save(set, number, &snapshot));
    *bytes = snapshot.bytes;
    int code = finish(set, &snapshot);
    *renamed = snapshot.renamed;
    return code;
}

/* Notes at which size of the logs the next snapshot is due. */
void vidi__snapshot_set_due(vidi__durable *durable)
{
    uint64_t logs = atomic_load_explicit(&durable->log_bytes, memory_order_relaxed), half = durable->snapshot_bytes / 2;
    uint64_t due = logs + (half > LOGS_LEAST ? half : LOGS_LEAST);
    atomic_store_explicit(&durable->due_at, due, memory_order_relaxed);
}

/* The snapshot of this number now stands for everything before the open log. */
void vidi__snapshot_in_force(vidi_set *set, uint64_t number, uint64_t bytes)
{
    vidi__durable *durable = set->durable;
    durable->snapshot = number;
    durable->snapshot_bytes = bytes;
    durable->snapshots++;
    durable->broken = 0;
    vidi__snapshot_set_due(durable);
}

/* Removes a log to which nothing was appended. It stays if it cannot be taken off the list in the manifest. */
static void remove_log(vidi_set *set, vidi__open_log *log)
{
    char name[40];
    uint64_t number = log->number;
    vidi__log_name(name, number);
    (void)vidi__durable_end_log(set, log);
    if (vidi__manifest_drop_log(&set->durable->manifest, number) == VIDI_OK)
        (void)vidi__file_unlink(set->durable->folder.handle, name);
}

/* Names the snapshot in the manifest, and no logs but its own and those of the previous epoch. */
static int name_snapshot(vidi_set *set, uint64_t number)
{
    uint64_t first = set->previous_first ? set->previous_first : number;
    uint64_t until = set->previous_first ? set->previous_last + 1 : number;
    return vidi__manifest_take_snapshot(&set->durable->manifest, number, first, until, VIDI__LOG_HEAD);
}

/* Number 2 of the list above. */
static int freeze(vidi_set *set, vidi__open_log *fresh)
{
    vidi__durable *durable = set->durable;
    VIDI__TRY(vidi__durable_apply(set, UINT64_MAX));
    durable->old_log = durable->log;
    durable->log = fresh;
    set->frozen = true;
    durable->frozen_note = set->note;
    atomic_store_explicit(&durable->log_bytes, 0, memory_order_relaxed);
    vidi__durable_ready(set);
    return VIDI_OK;
}

/* Number 4. */
static void thaw(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    vidi__lock_alone(set);
    set->frozen = false;
    vidi__set_ready(set);
    if (durable->frozen_note != set->note)
        vidi__note_free(&set->memory, durable->frozen_note);
    durable->frozen_note = NULL;
    vidi__durable_try_apply(set, UINT64_MAX);
    vidi__staging_trim(&durable->staging); /* the burst is over */
    vidi__durable_ready(set);
    vidi__unlock(set);
}

/* The snapshot failed, so the old log is still needed. No caller will wait for it again, so it is synced now. */
static void keep_log(vidi_set *set, vidi__open_log *old)
{
    vidi__durable *durable = set->durable;
    uint64_t end = vidi__log_end(old->log);
    int code = vidi__log_wait(old->log, end), closed = vidi__durable_end_log(set, old);
    vidi__lock_alone(set);
    atomic_fetch_add_explicit(&durable->log_bytes, end, memory_order_relaxed);
    vidi__snapshot_set_due(durable);
    if (code < 0 || closed < 0)
        (void)vidi__durable_break(set, code < 0 ? code : closed);
    vidi__unlock(set);
}

/* The number of the next log and snapshot. Files that an unfinished rotation may have left keep theirs. */
static uint64_t next_number(const vidi__durable *durable)
{
    uint64_t number = durable->log->number;
    return (number > durable->renamed ? number : durable->renamed) + 1;
}

/* Numbers 1 and 2. On error everything is as before. */
static int begin(vidi_set *set, uint64_t number)
{
    vidi__open_log *fresh;
    atomic_store_explicit(&set->durable->manifest.linked, false, memory_order_relaxed);
    VIDI__TRY(vidi__durable_new_log(set, number, set->now.number, &fresh));
    int code = vidi__manifest_add_log(&set->durable->manifest, number, VIDI__LOG_HEAD);
    if (code == VIDI_OK) {
        vidi__lock_alone(set);
        code = freeze(set, fresh);
        vidi__unlock(set);
    }
    if (code < 0)
        remove_log(set, fresh);
    return code;
}

static int take(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    uint64_t number = next_number(durable);
    vidi__folder_snapshot snapshot;
    char why[VIDI__MESSAGE] = "";
    VIDI__TRY(begin(set, number));
    vidi__open_log *old = durable->old_log; /* until the snapshot is in force, vidi_sync syncs it, too */
    int code = vidi__snapshot_save(set, number, &snapshot);
    if (code < 0)
        snprintf(why, sizeof why, "%s", vidi__sentence());
    thaw(set);
    if (code == VIDI_OK && (code = finish(set, &snapshot)) < 0) /* the logs fit both, whether it was renamed or not */
        snprintf(why, sizeof why, "%s", vidi__sentence());
    if (code < 0) /* from now on vidi_sync syncs the new log only */
        (void)vidi__log_wait(old->log, vidi__log_end(old->log));
    vidi__lock_alone(set);
    durable->old_log = NULL;
    if (code == VIDI_OK)
        vidi__snapshot_in_force(set, number, snapshot.bytes);
    vidi__unlock(set);
    if (code < 0) {
        keep_log(set, old);
        return vidi__fail(code, "%s", why);
    }
    (void)vidi__durable_end_log(set, old); /* an error does not matter: the snapshot has its contents */
    code = name_snapshot(set, number);     /* if it fails, the old manifest still tells the truth about the new log */
    vidi__folder_tidy(&durable->folder, number, set->previous_first, set->previous_last);
    return code;
}

int vidi__snapshot_replace(vidi_set *set, uint64_t number)
{
    vidi__durable *durable = set->durable;
    uint64_t bytes = 0;
    bool renamed;
    VIDI__TRY(vidi__durable_new_log(set, number, set->now.number, &durable->log));
    int code = write_snapshot(set, number, &bytes, &renamed);
    if (code == VIDI_OK)
        code = name_snapshot(set, number);
    if (code < 0) {
        if (renamed)
            (void)vidi__durable_end_log(set, durable->log); /* it stays: the renamed snapshot needs it */
        else
            remove_log(set, durable->log);
        durable->log = NULL;
        return code;
    }
    atomic_store_explicit(&durable->log_bytes, 0, memory_order_relaxed);
    vidi__snapshot_in_force(set, number, bytes);
    return VIDI_OK;
}

int vidi__snapshot_take(vidi_set *set)
{
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    return vidi__quiet_end(&quiet, take(set));
}

int vidi_snapshot(vidi_set *set)
{
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    VIDI__TRY(vidi__set_here(set));
    if (!set->durable || set->read_only)
        return vidi__fail(VIDI_ECANNOT, "the set %s", set->durable ? "is open for reading only" : "lives in memory");
    vidi__turn_begin(set);
    int code = vidi__snapshot_take(set);
    vidi__turn_end(set);
    return code;
}

/* ---- in the background ---- */

static void *run(void *context)
{
    vidi_set *set = context;
    (void)vidi_snapshot(set); /* if it fails, it is tried again when the logs have grown as much again */
    atomic_store_explicit(&set->durable->background, OVER, memory_order_release);
    return NULL;
}

void vidi__snapshot_join(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    if (atomic_load_explicit(&durable->background, memory_order_acquire) != NONE)
        pthread_join(durable->thread, NULL);
    atomic_store_explicit(&durable->background, NONE, memory_order_relaxed);
}

void vidi__snapshot_if_due(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    int state = atomic_load_explicit(&durable->background, memory_order_acquire);
    bool due = atomic_load_explicit(&durable->log_bytes, memory_order_relaxed) >=
               atomic_load_explicit(&durable->due_at, memory_order_relaxed);
    bool linked = atomic_load_explicit(&durable->manifest.linked, memory_order_relaxed); /* a copy shares the log */
    if ((!due && !linked) || state == RUNNING || !atomic_compare_exchange_strong(&durable->background, &state, RUNNING))
        return;
    if (state == OVER)
        pthread_join(durable->thread, NULL);
    if (pthread_create(&durable->thread, NULL, run, set) != 0)
        atomic_store_explicit(&durable->background, NONE, memory_order_release);
}

/* ---- rotation ---- */

/*
 * Ends the old epoch's log and writes a snapshot of the new epoch, which the set is in already. The old epoch's files
 * stay if it is kept as the previous one. The caller holds `turn` and the exclusive lock.
 */
static int take_rotated(vidi_set *set, bool keep)
{
    vidi__durable *durable = set->durable;
    vidi__open_log *fresh, *old = durable->log;
    uint64_t number = next_number(durable), bytes = 0, first = set->previous_first, last = set->previous_last;
    if (keep) { /* the epoch is kept as it is on disk, so everything committed must be there */
        VIDI__TRY(vidi__durable_state(set));
        VIDI__TRY(vidi__log_wait(old->log, vidi__log_end(old->log)));
    }
    VIDI__TRY(vidi__durable_new_log(set, number, set->now.number, &fresh));
    set->previous_first = keep ? durable->snapshot : 0;
    set->previous_last = keep ? old->number : 0;
    bool renamed;
    int code = write_snapshot(set, number, &bytes, &renamed);
    if (code == VIDI_OK)
        code = name_snapshot(set, number);
    if (code < 0) {
        if (renamed) { /* a crash could find either epoch, so nothing can be committed before the next snapshot */
            (void)vidi__durable_break(set, code);
            (void)vidi__durable_end_log(set, fresh); /* it stays: the renamed snapshot needs it */
            durable->renamed = number;
        } else {
            remove_log(set, fresh);
        }
        set->previous_first = first;
        set->previous_last = last;
        return durable->broken ? vidi__durable_state(set) : code;
    }
    durable->log = fresh;
    atomic_store_explicit(&durable->log_bytes, 0, memory_order_relaxed);
    vidi__snapshot_in_force(set, number, bytes);
    (void)vidi__durable_end_log(set, old);
    vidi__durable_restage(set);
    vidi_close(set->previous_set);
    set->previous_set = NULL;
    vidi__folder_tidy(&durable->folder, number, set->previous_first, set->previous_last);
    return VIDI_OK;
}

int vidi__snapshot_rotate(vidi_set *set, bool keep)
{
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    return vidi__quiet_end(&quiet, take_rotated(set, keep));
}
