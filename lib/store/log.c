/*
 * Writing a log: two buffers, one lock, one thread.
 *
 *     appenders -> filling -+ swap +-> writing -> write(2) -> fsync(2)
 *                           +------+              `written`    `synced`
 *
 * Appenders copy into `filling` under the lock and return. The thread swaps it with the empty `writing` and works on
 * that without the lock: it computes check values and checksums, writes and syncs. Records that arrive meanwhile share
 * the next round; that is the group commit.
 *
 * Invariants, under the lock:
 *
 * - synced <= written <= end, and all are lengths of the file at ends of records
 * - end - written is the number of bytes in the two buffers
 * - filling.room >= filling.used + reserved, so an append needs no memory
 * - `writing` and the file belong to the thread, and `writing` is empty whenever the thread holds the lock
 * - after `error` is set it never changes, and the file is no longer written to
 */
#include "store/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/random.h"
#include "store/clock.h"
#include "store/end.h"
#include "store/log_format.h"

#define MS UINT64_C(1000000)

/* The thread writes this long after the first append, or when this many bytes have accumulated. */
#define WRITE_AFTER (100 * MS)
#define WRITE_FROM (UINT64_C(256) << 10)
/* VIDI__SYNC_EVERYSEC: this long after the first append that is not synced, so that the sync begins within a second. */
#define SYNC_AFTER (900 * MS)
/* With this many bytes pending, appenders wait for the disk. */
#define PENDING_MAX (UINT64_C(64) << 20)

/* Initial buffer size, and the size above which buffers are freed after a burst. */
#define BUFFER_MIN (UINT64_C(64) << 10)
#define BUFFER_KEEP (UINT64_C(4) << 20)

typedef struct buffer {
    unsigned char *at;
    uint64_t room, used;
} buffer;

struct vidi__log {
    vidi__memory *memory;
    vidi__file file;
    uint64_t number;
    uint64_t generation;
    vidi__end *reports_to; /* is told how much is on disk; may be NULL */
    vidi__log_policy policy;

    pthread_t thread;
    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t work;  /* signalled when the thread has something to do, or must recompute its deadline */
    pthread_cond_t done;  /* signalled when written, synced or error has changed */
    buffer filling, writing;
    uint64_t reserved; /* bytes of records that were reserved and not yet appended */
    uint64_t end, written, synced;
    uint64_t wanted;        /* a thread waits until this position is synced */
    uint64_t filling_since; /* time of the first append to `filling`, if it is not empty */
    uint64_t dirty_since;   /* time of the first append that is written and not synced */
    unsigned blocked;       /* number of threads that wait in vidi__log_reserve */
    bool starved;           /* the thread found no memory for the other buffer; it tries again after the next append */
    bool stopping;
    int error;
    char sentence[256];
};

/* ---- helpers ---- */

static uint64_t now(void)
{
    return vidi__clock_now->now();
}

/* Waits until the thread has changed written, synced or error. The caller checks whether that was enough. */
static void wait_for_thread(vidi__log *log)
{
    vidi__clock_now->wait(&log->done, &log->lock, VIDI__NEVER);
}

/* Returns the log's error to the caller, whose thread does not have the message yet. The caller holds the lock. */
static int error_of(const vidi__log *log)
{
    return log->error ? vidi__fail(log->error, "%s", log->sentence) : VIDI_OK;
}

/* Stores this thread's error, whose message is vidi__sentence(), if it is the first. The caller holds the lock. */
static void keep_error(vidi__log *log, int code)
{
    if (!log->error) {
        log->error = code;
        snprintf(log->sentence, sizeof log->sentence, "%s", vidi__sentence());
    }
    pthread_cond_broadcast(&log->done);
    pthread_cond_signal(&log->work);
}

static void release_buffer(vidi__log *log, buffer *which)
{
    vidi__release(log->memory, which->at, which->room, 8);
    *which = (buffer){0};
}

/* Grows a buffer to this many bytes in all and keeps its contents. Doubles, but not beyond what may be pending. */
static int grow(vidi__log *log, buffer *which, uint64_t bytes)
{
    if (VIDI__LIKELY(bytes <= which->room))
        return VIDI_OK;
    uint64_t room = which->room < BUFFER_MIN ? BUFFER_MIN : which->room;
    while (room < bytes && room < PENDING_MAX)
        room *= 2;
    room = room < bytes ? vidi__round_up(bytes, 4096) : room;
    VIDI__TRY(vidi__regrow(log->memory, &which->at, which->room, room, 8));
    which->room = room;
    return VIDI_OK;
}

/* ---- the thread ---- */

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
    log->starved = grow(log, &log->writing, log->stopping ? 0 : log->reserved) != VIDI_OK;
    if (log->starved)
        return false;
    buffer full = log->filling;
    log->filling = log->writing;
    log->writing = full;
    if (log->written == log->synced)
        log->dirty_since = log->filling_since;
    return true;
}

static void write_out(vidi__log *log)
{
    uint64_t bytes = log->writing.used, offset = log->written;
    pthread_mutex_unlock(&log->lock);
    seal(log, offset);
    int code = vidi__file_write(&log->file, log->writing.at, (size_t)bytes);
    pthread_mutex_lock(&log->lock);
    log->writing.used = 0;
    if (log->writing.room > BUFFER_KEEP)
        release_buffer(log, &log->writing);
    if (code < 0) {
        keep_error(log, code);
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

/* Syncs the file and tells `end` about it. What is synced stays synced, even if that cannot be written down. */
static int sync_to(vidi__log *log, uint64_t target, bool *synced)
{
    VIDI__TRY(vidi__file_sync(&log->file));
    *synced = true;
    if (!log->reports_to)
        return VIDI_OK;
    VIDI__TRY(look_at_links(log));
    return vidi__end_synced(log->reports_to, log->number, target);
}

static void sync_out(vidi__log *log)
{
    uint64_t target = log->written;
    bool synced = false;
    pthread_mutex_unlock(&log->lock);
    int code = sync_to(log, target, &synced);
    pthread_mutex_lock(&log->lock);
    if (synced)
        log->synced = target;
    if (code < 0)
        keep_error(log, code);
    pthread_cond_broadcast(&log->done);
}

/* The time at which the buffer must be written: VIDI__NEVER if it is empty, 0 for at once. */
static uint64_t write_due(const vidi__log *log)
{
    if (log->filling.used == 0)
        return VIDI__NEVER;
    if (log->policy == VIDI__SYNC_ALWAYS || log->wanted > log->written || log->filling.used >= WRITE_FROM ||
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

/* A sync that is due follows a write even if the next write is due by then: otherwise it might never come. */
static void do_what_is_due(vidi__log *log, uint64_t time)
{
    if (write_due(log) <= time) {
        if (swap(log))
            write_out(log);
        else
            sleep_until(log, time + WRITE_AFTER);
    }
    if (!log->error && sync_due(log) <= time)
        sync_out(log);
}

static void *run(void *context)
{
    vidi__log *log = context;
    pthread_mutex_lock(&log->lock);
    while (!log->error) {
        uint64_t time = now(), write_at = write_due(log), sync_at = sync_due(log);
        uint64_t first = write_at < sync_at ? write_at : sync_at;
        if (first <= time)
            do_what_is_due(log, time);
        else if (first == VIDI__NEVER && log->stopping)
            break;
        else
            sleep_until(log, first);
    }
    /* No caller was told that unsynced records are there, so no reader should find them, if we can prevent it. */
    if (log->error && log->policy == VIDI__SYNC_ALWAYS)
        (void)vidi__file_truncate(&log->file, log->synced);
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

/* ---- opening and closing ---- */

static int init_lock(vidi__log *log)
{
    if (vidi__clock_condition(&log->work) != 0)
        return -1;
    if (vidi__clock_condition(&log->done) != 0) {
        pthread_cond_destroy(&log->work);
        return -1;
    }
    if (pthread_mutex_init(&log->lock, NULL) != 0) {
        pthread_cond_destroy(&log->done);
        pthread_cond_destroy(&log->work);
        return -1;
    }
    return 0;
}

static void destroy_lock(vidi__log *log)
{
    pthread_mutex_destroy(&log->lock);
    pthread_cond_destroy(&log->done);
    pthread_cond_destroy(&log->work);
}

/* The thread blocks all signals: they are for the program's own threads. */
static int start(vidi__log *log)
{
    sigset_t all, before;
    if (init_lock(log) != 0)
        return vidi__fail(VIDI_ESYSTEM, "%s: cannot create a lock for the log", log->file.name);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&log->thread, NULL, run, log);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        return VIDI_OK;
    destroy_lock(log);
    return vidi__fail(VIDI_ESYSTEM, "%s: cannot start a thread for the log: %s", log->file.name, strerror(failed));
}

/* Leaves the file as it is. Closes its handle without a message, which would hide the one about the cause. */
static void release_log(vidi__log *log)
{
    if (log->file.handle >= 0)
        (void)vidi__system_now->close(log->file.handle);
    release_buffer(log, &log->filling);
    release_buffer(log, &log->writing);
    vidi__release(log->memory, log, sizeof *log, _Alignof(vidi__log));
}

static int make(vidi__log **out, vidi__memory *memory, vidi__log_policy policy)
{
    vidi__log *log;
    *out = NULL;
    VIDI__TRY(vidi__alloc_zeroed(memory, &log, sizeof *log, _Alignof(vidi__log)));
    log->memory = memory;
    log->policy = policy;
    log->file.handle = -1;
    int code = grow(log, &log->filling, BUFFER_MIN);
    if (code == VIDI_OK)
        code = grow(log, &log->writing, BUFFER_MIN);
    if (code < 0)
        release_log(log);
    else
        *out = log;
    return code;
}

/* Removes the leftover of a crash, which may have a second name and so must not be written to. */
static int remove_leftover(vidi__log *log, int folder, const char *name)
{
    uint64_t bytes;
    int code = vidi__file_open(&log->file, folder, name, O_RDONLY);
    if (code == VIDI_EABSENT)
        return VIDI_OK;
    VIDI__TRY(code);
    VIDI__TRY(vidi__file_size(&log->file, &bytes));
    if (bytes > VIDI__LOG_HEAD)
        return vidi__fail(VIDI_EIO, "%s already exists and holds records", name);
    (void)vidi__file_close(&log->file);
    return vidi__file_unlink(folder, name);
}

/* Opens a new file; *ours tells whether it may be removed again. */
static int open_new(vidi__log *log, int folder, const char *name, bool *ours)
{
    VIDI__TRY(remove_leftover(log, folder, name));
    *ours = true;
    return vidi__file_open(&log->file, folder, name, O_RDWR | O_APPEND | O_CREAT | O_EXCL);
}

static int create(vidi__log *log, int folder, const char *name, const vidi__log_id *id, bool *ours)
{
    unsigned char head[VIDI__LOG_HEAD];
    const vidi__file the_folder = {folder, "the folder"};
    log->number = id->number;
    VIDI__TRY(vidi__random(&log->generation, sizeof log->generation));
    VIDI__TRY(open_new(log, folder, name, ours));
    vidi__log_head_write(head, id, log->generation);
    VIDI__TRY(vidi__file_write(&log->file, head, sizeof head));
    VIDI__TRY(vidi__file_sync(&log->file));
    VIDI__TRY(vidi__file_sync(&the_folder));
    log->end = log->written = log->synced = VIDI__LOG_HEAD;
    return start(log);
}

int vidi__log_create(vidi__log **log, vidi__memory *memory, int folder, const vidi__log_id *id, vidi__log_policy policy)
{
    char name[40];
    bool ours = false;
    VIDI__TRY(make(log, memory, policy));
    vidi__log_name(name, id->number);
    int code = create(*log, folder, name, id, &ours);
    if (code < 0) {
        if (ours) /* not vidi__file_unlink, whose message would replace the one about the cause */
            (void)vidi__system_now->unlink(folder, name);
        release_log(*log);
        *log = NULL;
    }
    return code;
}

/* The previous process may not have synced what it wrote, so it is synced before more is appended. */
static int go_on(vidi__log *log, int folder, const vidi__log_id *id, uint64_t bytes)
{
    char name[40];
    unsigned char head[VIDI__LOG_HEAD];
    vidi__log_head read;
    uint64_t size;
    log->number = id->number;
    vidi__log_name(name, id->number);
    VIDI__TRY(vidi__file_open(&log->file, folder, name, O_RDWR | O_APPEND));
    VIDI__TRY(vidi__file_size(&log->file, &size));
    if (size != bytes || bytes < VIDI__LOG_HEAD || bytes % 8 != 0)
        return vidi__fail(VIDI_EFORMAT, "cannot append to %s: it has %llu bytes, not %llu", name,
                          (unsigned long long)size, (unsigned long long)bytes);
    VIDI__TRY(vidi__file_read(&log->file, head, sizeof head, 0));
    VIDI__TRY(vidi__log_head_read(head, id, name, &read));
    log->generation = read.generation;
    VIDI__TRY(vidi__file_sync(&log->file));
    log->end = log->written = log->synced = bytes;
    return start(log);
}

int vidi__log_continue(vidi__log **log, vidi__memory *memory, int folder, const vidi__log_id *id,
                       vidi__log_policy policy, uint64_t bytes)
{
    VIDI__TRY(make(log, memory, policy));
    int code = go_on(*log, folder, id, bytes);
    if (code < 0) {
        release_log(*log);
        *log = NULL;
    }
    return code;
}

void vidi__log_report_to(vidi__log *log, struct vidi__end *end)
{
    pthread_mutex_lock(&log->lock);
    log->reports_to = end;
    pthread_mutex_unlock(&log->lock);
}

int vidi__log_close(vidi__log *log)
{
    if (!log)
        return VIDI_OK;
    pthread_mutex_lock(&log->lock);
    log->stopping = true;
    pthread_cond_signal(&log->work);
    pthread_mutex_unlock(&log->lock);
    pthread_join(log->thread, NULL);
    destroy_lock(log);
    int closed = vidi__file_close(&log->file);
    int code = log->error ? error_of(log) : closed;
    release_log(log);
    return code;
}

/* ---- appending ---- */

/*
 * Reserves room in the current buffer and, while the thread has no memory for the other one, in the next one as well.
 */
static int reserve(vidi__log *log, uint64_t bytes)
{
    while (!log->error && log->end - log->written > PENDING_MAX) {
        log->blocked++;
        pthread_cond_signal(&log->work);
        wait_for_thread(log);
        log->blocked--;
    }
    VIDI__TRY(error_of(log));
    if (log->starved)
        return vidi__fail(VIDI_EMEMORY, "%s: cannot allocate a buffer", log->file.name);
    VIDI__TRY(grow(log, &log->filling, log->filling.used + log->reserved + bytes));
    log->reserved += bytes;
    return VIDI_OK;
}

int vidi__log_reserve(vidi__log *log, uint64_t payload_bytes)
{
    if (payload_bytes > VIDI__LOG_RECORD_MAX)
        return vidi__fail(VIDI_ELIMIT, "a record of %s is too large for a log", vidi__human_bytes(payload_bytes).text);
    pthread_mutex_lock(&log->lock);
    int code = reserve(log, vidi__log_record_bytes(payload_bytes));
    pthread_mutex_unlock(&log->lock);
    return code;
}

/* The reservation has been used, or is not needed; the thread may be waiting for that. */
static void use_up(vidi__log *log, uint64_t payload_bytes)
{
    log->reserved -= vidi__log_record_bytes(payload_bytes);
    if (log->starved)
        pthread_cond_signal(&log->work);
}

void vidi__log_unreserve(vidi__log *log, uint64_t payload_bytes)
{
    pthread_mutex_lock(&log->lock);
    use_up(log, payload_bytes);
    pthread_mutex_unlock(&log->lock);
}

/* Writes the record except for its check value and its checksum, which the thread fills in. */
static void put(unsigned char *at, uint32_t type, const vidi_str *pieces, size_t count, uint64_t payload)
{
    vidi__store32(at + 4, type);
    vidi__store64(at + 8, payload);
    at += VIDI__LOG_RECORD_HEAD;
    for (size_t i = 0; i < count; i++)
        if (pieces[i].len) {
            memcpy(at, pieces[i].ptr, pieces[i].len);
            at += pieces[i].len;
        }
    memset(at, 0, (size_t)(vidi__round_up(payload, 8) - payload));
}

/*
 * Appends a record. The thread is woken for the first record in a buffer, so that it knows its deadline, and when there
 * is enough to write. A signal for each record would cost more than the record.
 */
static void append(vidi__log *log, uint32_t type, const vidi_str *pieces, size_t count, uint64_t payload)
{
    uint64_t before = log->filling.used, bytes = vidi__log_record_bytes(payload);
    put(log->filling.at + before, type, pieces, count, payload);
    log->filling.used += bytes;
    if (before == 0)
        log->filling_since = now();
    if (before == 0 || (before < WRITE_FROM && log->filling.used >= WRITE_FROM))
        pthread_cond_signal(&log->work);
}

void vidi__log_append(vidi__log *log, uint32_t type, const vidi_str *pieces, size_t count, uint64_t reserved,
                      uint64_t *position)
{
    uint64_t payload = 0;
    for (size_t i = 0; i < count; i++)
        payload += pieces[i].len;
    pthread_mutex_lock(&log->lock);
    if (payload > reserved) /* a bug in the caller: no log is better than one with an unknown gap */
        keep_error(log, vidi__fail(VIDI_EARGUMENT, "%s: a record is larger than its reservation", log->file.name));
    if (!log->error)
        append(log, type, pieces, count, payload);
    log->end += vidi__log_record_bytes(payload);
    *position = log->end;
    use_up(log, reserved);
    pthread_mutex_unlock(&log->lock);
}

/* ---- waiting and state ---- */

int vidi__log_wait(vidi__log *log, uint64_t position)
{
    pthread_mutex_lock(&log->lock);
    if (position > log->end)
        position = log->end;
    if (position > log->wanted) {
        log->wanted = position;
        pthread_cond_signal(&log->work);
    }
    while (!log->error && log->synced < position)
        wait_for_thread(log);
    int code = error_of(log);
    pthread_mutex_unlock(&log->lock);
    return code;
}

uint64_t vidi__log_end(vidi__log *log)
{
    pthread_mutex_lock(&log->lock);
    uint64_t end = log->end;
    pthread_mutex_unlock(&log->lock);
    return end;
}

int vidi__log_state(vidi__log *log)
{
    pthread_mutex_lock(&log->lock);
    int code = error_of(log);
    pthread_mutex_unlock(&log->lock);
    return code;
}
