/*
 * Snapshots: the filter is written to a file beside the one in force, while adds go on.
 *
 *     1  a new log is made
 *     2  alone: what is logged goes into the filter; the filter is frozen; commits go to the new log from here on
 *     3  the filter is written, synced and renamed; what is committed meanwhile waits in the stage
 *     4  alone: what was logged meanwhile goes into the filter, which is free again
 *     5  the old log and the old snapshot are removed
 *
 * A crash before the renaming of 3 finds the old snapshot, the old log and the new one; a crash after it the new
 * snapshot and the new log. If anything fails, everything stays as it was, with one log more.
 *
 * A log that failed is healed by the next snapshot that succeeds: it stands for all that the log should have held.
 */
#include "durable/durable.h"

#include <stdio.h>

#include "base/random.h"

/* Logs may grow to half of the snapshot, and to this in any case, before a new one is worth writing. */
#define LOGS_LEAST (UINT64_C(32) << 20)

enum { NONE, RUNNING, OVER };

int vidi__snapshot_write(vidi_set *set, uint64_t number, uint64_t *bytes, bool *renamed)
{
    vidi__new_snapshot snapshot;
    uint64_t generation, answers = vidi__record_answers(set); /* or more, if there are some while it is written */
    *renamed = false;
    VIDI__TRY(vidi__random(&generation, sizeof generation));
    VIDI__TRY(vidi__snapshot_begin(&snapshot, &set->durable->folder, number));
    int code = vidi__set_write(set, vidi__snapshot_sink, &snapshot, generation);
    if (code < 0) {
        vidi__snapshot_abandon(&snapshot);
        return snapshot.error ? vidi__fail(snapshot.error, "%s", snapshot.why) : code;
    }
    *bytes = snapshot.bytes;
    code = vidi__snapshot_finish(&snapshot);
    *renamed = snapshot.renamed;
    if (code == VIDI_OK)
        atomic_store_explicit(&set->durable->tallied, answers, memory_order_relaxed);
    return code;
}

/* When the logs have come to how much the next one is due. */
void vidi__snapshot_set_due(vidi__durable *durable)
{
    uint64_t logs = atomic_load_explicit(&durable->log_bytes, memory_order_relaxed), half = durable->snapshot_bytes / 2;
    uint64_t due = logs + (half > LOGS_LEAST ? half : LOGS_LEAST);
    atomic_store_explicit(&durable->due_at, due, memory_order_relaxed);
}

/* A snapshot of this number and size stands for the set up to the beginning of the open log. */
void vidi__snapshot_in_force(vidi_set *set, uint64_t number, uint64_t bytes)
{
    vidi__durable *durable = set->durable;
    durable->snapshot = number;
    durable->snapshot_bytes = bytes;
    durable->snapshots++;
    durable->broken = 0;
    vidi__snapshot_set_due(durable);
}

static void remove_log(vidi_set *set, vidi__open_log *log)
{
    char name[40];
    vidi__log_name(name, log->number);
    (void)vidi__durable_end_log(set, log);
    (void)vidi__file_unlink(set->durable->folder.handle, name);
}

/* Step 2. */
static int freeze(vidi_set *set, vidi__open_log *fresh)
{
    vidi__durable *durable = set->durable;
    VIDI__TRY(vidi__durable_apply(set, UINT64_MAX));
    durable->before = durable->log;
    durable->log = fresh;
    durable->frozen = true;
    atomic_store_explicit(&durable->log_bytes, 0, memory_order_relaxed);
    vidi__durable_ready(set);
    return VIDI_OK;
}

/* Step 4. Returns the log that is not written to any more. */
static vidi__open_log *thaw(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    vidi__open_log *before = durable->before;
    durable->before = NULL;
    durable->frozen = false;
    (void)vidi__durable_apply(set, UINT64_MAX); /* what the filter has no memory for stays in the stage */
    vidi__staging_trim(&durable->staging);      /* it was the rush, and may not be needed before the next one */
    vidi__durable_ready(set);
    return before;
}

/* There is no snapshot: the old log is still needed, and nobody will wait for it any more, so it must be on disk now. */
static void keep_log(vidi_set *set, vidi__open_log *before)
{
    vidi__durable *durable = set->durable;
    uint64_t end = vidi__log_end(before->log);
    int code = vidi__log_wait(before->log, end), closed = vidi__durable_end_log(set, before);
    vidi__lock_alone(set);
    atomic_fetch_add_explicit(&durable->log_bytes, end, memory_order_relaxed);
    vidi__snapshot_set_due(durable);
    if (code < 0 || closed < 0)
        (void)vidi__durable_break(set, code < 0 ? code : closed);
    vidi__unlock(set);
}

int vidi__snapshot_take(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    vidi__open_log *fresh;
    uint64_t number = durable->log->number + 1, bytes = 0;
    bool renamed;
    char why[VIDI__MESSAGE] = "";
    VIDI__TRY(vidi__durable_new_log(set, number, set->now.number, &fresh));
    vidi__lock_alone(set);
    int code = freeze(set, fresh);
    vidi__unlock(set);
    if (code < 0) {
        remove_log(set, fresh);
        return code;
    }
    code = vidi__snapshot_write(set, number, &bytes, &renamed); /* renamed or not, the logs go with either */
    if (code < 0) {
        snprintf(why, sizeof why, "%s", vidi_message());
        /* From thaw on vidi_sync knows the new log only, so what the old one holds must be on disk before. */
        (void)vidi__log_wait(durable->before->log, vidi__log_end(durable->before->log));
    }
    vidi__lock_alone(set);
    vidi__open_log *before = thaw(set);
    if (code == VIDI_OK)
        vidi__snapshot_in_force(set, number, bytes);
    vidi__unlock(set);
    if (code < 0) {
        keep_log(set, before);
        return vidi__fail(code, "%s", why);
    }
    (void)vidi__durable_end_log(set, before); /* whatever became of it: the snapshot has its contents */
    vidi__folder_tidy(&durable->folder, number, set->previous_first, set->previous_last);
    return VIDI_OK;
}

int vidi_snapshot(vidi_set *set)
{
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    if (!set->durable || set->read_only)
        return vidi__fail(VIDI_ECANNOT, "the set %s", set->durable ? "is open for reading only" : "lives in memory");
    pthread_mutex_lock(&set->durable->turn);
    int code = vidi__snapshot_take(set);
    pthread_mutex_unlock(&set->durable->turn);
    return code;
}

/* ---- in the background ---- */

static void *run(void *context)
{
    vidi_set *set = context;
    (void)vidi_snapshot(set); /* if it fails, it is tried again when the logs have grown as much once more */
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
    if (atomic_load_explicit(&durable->log_bytes, memory_order_relaxed) <
            atomic_load_explicit(&durable->due_at, memory_order_relaxed) ||
        state == RUNNING || !atomic_compare_exchange_strong(&durable->background, &state, RUNNING))
        return;
    if (state == OVER)
        pthread_join(durable->thread, NULL);
    if (pthread_create(&durable->thread, NULL, run, set) != 0)
        atomic_store_explicit(&durable->background, NONE, memory_order_release);
}

/* ---- rotation ---- */

/*
 * The log of the old epoch ends, and a snapshot of the new one, which the set is in already, takes over. The old one's
 * files stay if it is kept as the previous epoch. Alone, with `turn`.
 */
int vidi__snapshot_rotate(vidi_set *set, bool keep)
{
    vidi__durable *durable = set->durable;
    vidi__open_log *fresh, *old = durable->log;
    uint64_t number = old->number + 1, bytes = 0, first = set->previous_first, last = set->previous_last;
    if (keep)
        VIDI__TRY(vidi__log_wait(old->log, vidi__log_end(old->log)));
    VIDI__TRY(vidi__durable_new_log(set, number, set->now.number, &fresh));
    set->previous_first = keep ? durable->snapshot : 0;
    set->previous_last = keep ? old->number : 0;
    bool renamed;
    int code = vidi__snapshot_write(set, number, &bytes, &renamed);
    if (code < 0) {
        if (renamed) { /* nobody knows which epoch a crash would find, so nothing may be promised before a snapshot; */
            (void)vidi__durable_break(set, code);
            (void)vidi__durable_end_log(set, fresh); /* and the log must be there with it */
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
    vidi_close(durable->previous);
    durable->previous = NULL;
    vidi__folder_tidy(&durable->folder, number, set->previous_first, set->previous_last);
    return VIDI_OK;
}
