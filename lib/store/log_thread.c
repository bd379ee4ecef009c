/*
 * The log's thread: it seals, writes and syncs what appenders have put into the buffer. log_state.h has the invariants.
 */
#include "store/log_state.h"

#define MS UINT64_C(1000000)

/* The thread writes this long after the first append. */
#define WRITE_AFTER (100 * MS)
/* VIDI__SYNC_EVERYSEC: this long after the first append that is not synced, so that the sync begins within a second. */
#define SYNC_AFTER (900 * MS)

/* Fills in check values and checksums. The thread does this and not the appenders, who hold the lock. */
static void seal(const vidi__log *log, uint64_t offset)
{
    unsigned char *at = log->writing.at, *end = at + log->writing.used;
    while (at < end) {
        uint64_t payload = vidi__load64(at + 8), bytes = vidi__log_record_bytes(payload);
        uint64_t body = bytes - VIDI__LOG_CHECK;
        vidi__store32(at, vidi__log_check_value(log->generation, offset, vidi__load32(at + 4), payload));
        vidi__store64(at + body, vidi__log_checksum(log->generation, offset, at, body));
        at += bytes;
        offset += bytes;
    }
}

/*
 * Swaps the buffers. The new one must have room for what was reserved. If there is no memory for that, nothing happens,
 * and there are no new reservations until enough of the old ones have been used.
 */
static bool swap(vidi__log *log)
{
    uint64_t room = log->stopping ? 0 : log->reserved;
    log->starved = vidi__log_grow(log, &log->writing, room) != VIDI_OK;
    if (!log->starved) {
        vidi__log_buffer full = log->filling;
        log->filling = log->writing;
        log->writing = full;
        log->open_record = UINT64_MAX;
        if (log->written == log->synced)
            log->dirty_since = log->filling_since;
    }
    if (log->starved && log->blocked) /* appenders that wait for the disk must learn of it */
        pthread_cond_broadcast(&log->done);
    return !log->starved;
}

/* After a burst, the buffer shrinks to its initial size, unless there is no memory for that. */
static void shrink(vidi__log *log)
{
    vidi__log_buffer small = {0}, large = log->writing;
    vidi__quiet quiet;
    if (large.room <= log->buffer_keep)
        return;
    vidi__quiet_begin(&quiet);
    if (vidi__log_grow(log, &small, VIDI__LOG_BUFFER_MIN) == VIDI_OK) {
        log->writing = small;
        vidi__release(log->memory, large.at, large.room, 8);
    }
    vidi__quiet_end(&quiet, VIDI_OK);
}

static void write_out(vidi__log *log)
{
    uint64_t bytes = log->writing.used, offset = log->written;
    pthread_mutex_unlock(&log->lock);
    seal(log, offset);
    int code = vidi__file_write(&log->file, log->writing.at, (size_t)bytes);
    pthread_mutex_lock(&log->lock);
    log->writing.used = 0;
    shrink(log);
    if (code < 0) {
        vidi__log_fail(log, code);
        return;
    }
    log->written += bytes;
    if (log->blocked)
        pthread_cond_broadcast(&log->done);
}

/*
 * Looks at the file's names. A log without a name is lost with the process. A second name means that somebody has
 * copied the folder by linking its files: what is appended from now on would be appended to the copy too.
 */
static int look_at_links(vidi__log *log)
{
    vidi__file_state state;
    VIDI__TRY(vidi__file_stat(&log->file, &state));
    if (state.links == 0)
        return vidi__fail(VIDI_EIO, "%s was removed while it was in use", log->file.name);
    if (state.links > 1)
        atomic_store_explicit(&log->reports_to->linked, true, memory_order_relaxed);
    return VIDI_OK;
}

/* Syncs the file and tells the manifest about it. What is synced stays synced, even if that cannot be written down. */
static int sync_to(vidi__log *log, uint64_t target, bool *synced)
{
    VIDI__TRY(vidi__file_sync(&log->file));
    *synced = true;
    if (!log->reports_to)
        return VIDI_OK;
    VIDI__TRY(look_at_links(log));
    return vidi__manifest_synced(log->reports_to, log->number, target);
}

static void sync_out(vidi__log *log)
{
    uint64_t target = log->written;
    bool synced = false;
    pthread_mutex_unlock(&log->lock);
    int code = sync_to(log, target, &synced);
    if (code == VIDI_OK && log->watcher)
        log->watcher(log->watching, target);
    pthread_mutex_lock(&log->lock);
    if (synced)
        log->synced = target;
    if (code < 0)
        vidi__log_fail(log, code);
    pthread_cond_broadcast(&log->done);
}

/* The time at which the buffer must be written: VIDI__NEVER if it is empty, 0 for at once. */
static uint64_t write_due(const vidi__log *log)
{
    if (log->filling.used == 0 && !log->promised)
        return VIDI__NEVER;
    if (log->policy == VIDI__SYNC_ALWAYS || log->wanted > log->written || log->filling.used >= VIDI__LOG_WRITE_FROM ||
        log->blocked || log->stopping)
        return 0;
    return log->filling_since + WRITE_AFTER;
}

static uint64_t sync_due(const vidi__log *log)
{
    if (log->written == log->synced)
        return VIDI__NEVER;
    if (log->policy == VIDI__SYNC_ALWAYS || log->wanted > log->synced)
        return 0;
    if (log->policy == VIDI__SYNC_NO)
        return VIDI__NEVER;
    return log->stopping ? 0 : log->dirty_since + SYNC_AFTER;
}

static void sleep_until(vidi__log *log, uint64_t due)
{
    vidi__clock_now->wait(&log->work, &log->lock, due);
}

/* What is gathered was promised when filling_since was set, and is as old as that. */
static void gather(vidi__log *log)
{
    if (!log->promised)
        return;
    uint64_t since = log->filling_since;
    log->promised = false; /* what is promised from now on is not sure to be gathered now */
    pthread_mutex_unlock(&log->lock);
    log->gather(log->gathering);
    pthread_mutex_lock(&log->lock);
    log->filling_since = since;
}

/* A sync that is due follows a write even if the next write is due by then: otherwise it might never come. */
static void do_what_is_due(vidi__log *log, uint64_t time)
{
    if (write_due(log) <= time) {
        gather(log);
        if (log->filling.used == 0 || log->error)
            return;
        if (swap(log))
            write_out(log);
        else
            sleep_until(log, time + WRITE_AFTER);
    }
    if (!log->error && sync_due(log) <= time)
        sync_out(log);
}

void *vidi__log_run(void *context)
{
    vidi__log *log = context;
    pthread_mutex_lock(&log->lock);
    while (!log->error) {
        uint64_t time = vidi__clock_now->now(), write_at = write_due(log), sync_at = sync_due(log);
        uint64_t first = write_at < sync_at ? write_at : sync_at;
        if (first <= time)
            do_what_is_due(log, time);
        else if (first == VIDI__NEVER && log->stopping)
            break;
        else
            sleep_until(log, first);
    }
    /* No caller knows of unsynced records, so no reader should find them, if we can prevent it. */
    if (log->error && log->policy == VIDI__SYNC_ALWAYS)
        (void)vidi__file_truncate(&log->file, log->synced);
    pthread_mutex_unlock(&log->lock);
    return NULL;
}
