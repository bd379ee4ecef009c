/*
 * Appending to a log, and waiting for it. An append copies a record into the buffer; log_state.h has the invariants.
 */
#include <stdio.h>

#include "store/log_state.h"

#define NONE UINT64_MAX

int vidi__log_error(const vidi__log *log)
{
    return log->error ? vidi__fail(log->error, "%s", log->sentence) : VIDI_OK;
}

void vidi__log_fail(vidi__log *log, int code)
{
    if (!log->error) {
        log->error = code;
        snprintf(log->sentence, sizeof log->sentence, "%s", vidi__sentence());
        atomic_store_explicit(&log->failed, true, memory_order_relaxed);
    }
    pthread_cond_broadcast(&log->done);
    pthread_cond_signal(&log->work);
}

int vidi__log_grow(vidi__log *log, vidi__log_buffer *buffer, uint64_t bytes)
{
    if (VIDI__LIKELY(bytes <= buffer->room))
        return VIDI_OK;
    uint64_t room = buffer->room < VIDI__LOG_BUFFER_MIN ? VIDI__LOG_BUFFER_MIN : buffer->room;
    while (room < bytes && room < log->pending_most)
        room *= 2;
    room = room < bytes ? vidi__round_up(bytes, 4096) : room;
    VIDI__TRY(vidi__regrow(log->memory, &buffer->at, buffer->room, room, 8));
    buffer->room = room;
    return VIDI_OK;
}

/* ---- reservations ---- */

/* Waits until the thread has changed written, synced or error. The caller checks whether that was enough. */
static void wait_for_thread(vidi__log *log)
{
    vidi__clock_now->wait(&log->done, &log->lock, VIDI__NEVER);
}

bool vidi__log_has_failed(const vidi__log *log)
{
    return atomic_load_explicit(&log->failed, memory_order_relaxed);
}

/* Waits until the thread has written what is in the buffers, or a part of it. */
static int wait_for_disk(vidi__log *log)
{
    log->blocked++;
    pthread_cond_signal(&log->work);
    wait_for_thread(log);
    log->blocked--;
    return vidi__log_error(log);
}

static int reserve_now(vidi__log *log, uint64_t bytes)
{
    if (log->starved)
        return vidi__fail(VIDI_EMEMORY, "%s: cannot allocate a buffer", log->file.name);
    return vidi__log_grow(log, &log->filling, log->filling.used + log->reserved + bytes);
}

/*
 * Reserves room in the current buffer and, while the thread has no memory for the other one, in the next one as well.
 * Without memory for a larger buffer, it waits until the one that is there has been written.
 */
static int reserve(vidi__log *log, uint64_t bytes)
{
    VIDI__TRY(vidi__log_error(log));
    while (log->end - log->written > log->pending_most)
        VIDI__TRY(wait_for_disk(log));
    int code = reserve_now(log, bytes);
    while (code < 0 && log->filling.used && !log->starved) {
        VIDI__TRY(wait_for_disk(log));
        code = reserve_now(log, bytes);
    }
    VIDI__TRY(code);
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

/* Sees to it that the thread gathers in time. */
static void promise(vidi__log *log)
{
    if (!log->promised && log->filling.used == 0) {
        log->filling_since = vidi__clock_now->now();
        pthread_cond_signal(&log->work);
    }
    log->promised = true;
}

bool vidi__log_reserve_now(vidi__log *log, uint64_t payload_bytes)
{
    uint64_t bytes = vidi__log_record_bytes(payload_bytes);
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    pthread_mutex_lock(&log->lock);
    bool reserved = !log->error && log->end - log->written <= log->pending_most && reserve_now(log, bytes) == VIDI_OK;
    if (reserved) {
        log->reserved += bytes;
        promise(log);
    }
    pthread_mutex_unlock(&log->lock);
    vidi__quiet_end(&quiet, VIDI_OK);
    return reserved;
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

/* ---- appending ---- */

/*
 * The thread is woken for the first record in a buffer, so that it knows its deadline, and when there is enough to
 * write. A signal for each record would cost more than the record.
 */
static void grown(vidi__log *log, uint64_t bytes)
{
    uint64_t before = log->filling.used;
    log->filling.used += bytes;
    log->end += bytes;
    if (before == 0 && !log->promised)
        log->filling_since = vidi__clock_now->now();
    if (before == 0 || (before < VIDI__LOG_WRITE_FROM && log->filling.used >= VIDI__LOG_WRITE_FROM))
        pthread_cond_signal(&log->work);
}

static void pad(unsigned char *payload, uint64_t bytes)
{
    uint64_t padded = vidi__round_up(bytes, 8);
    if (padded != bytes)
        memset(payload + bytes, 0, (size_t)(padded - bytes));
}

/* Begins a record. Returns where its payload goes; check value and checksum are left to the thread. */
static unsigned char *new_record(vidi__log *log, uint32_t type, uint64_t payload)
{
    unsigned char *at = log->filling.at + log->filling.used;
    vidi__store32(at + 4, type);
    vidi__store64(at + 8, payload);
    pad(at + VIDI__LOG_RECORD_HEAD, payload);
    log->open_record = NONE;
    grown(log, vidi__log_record_bytes(payload));
    return at + VIDI__LOG_RECORD_HEAD;
}

/*
 * Returns true if the payload is no larger than its reservation. Otherwise the caller has a bug, and the log is given
 * up: no log is better than an unknown gap.
 */
static bool fits(vidi__log *log, uint64_t payload, uint64_t reserved)
{
    if (payload > reserved)
        vidi__log_fail(log, vidi__fail(VIDI_EARGUMENT, "%s: a record is larger than its reservation", log->file.name));
    return !log->error;
}

void vidi__log_append(vidi__log *log, uint32_t type, const vidi_str *pieces, size_t count, uint64_t reserved,
                      uint64_t *position)
{
    uint64_t payload = 0;
    for (size_t i = 0; i < count; i++)
        payload += pieces[i].len;
    pthread_mutex_lock(&log->lock);
    if (fits(log, payload, reserved)) {
        unsigned char *at = new_record(log, type, payload);
        for (size_t i = 0; i < count; i++)
            if (pieces[i].len) {
                memcpy(at, pieces[i].ptr, pieces[i].len);
                at += pieces[i].len;
            }
    } else {
        log->end += vidi__log_record_bytes(payload); /* positions grow in a log that has failed, too */
    }
    *position = log->end;
    use_up(log, reserved);
    pthread_mutex_unlock(&log->lock);
}

/* ---- entries that share a record ---- */

static bool can_join(const vidi__log *log, const vidi__log_entries *entries)
{
    if (!entries->shares || log->open_record == NONE || log->open_entries + entries->count > VIDI__LOG_ENTRIES_MOST)
        return false;
    const unsigned char *record = log->filling.at + log->open_record;
    return vidi__load32(record + 4) == entries->type &&
           vidi__load64(record + 8) + entries->bytes <= VIDI__LOG_SHARED_BYTES;
}

/* Makes the last record longer. What was its padding, and the place of its checksum, is overwritten. */
static void join(vidi__log *log, const vidi__log_entries *entries, vidi__log_place *place)
{
    unsigned char *record = log->filling.at + log->open_record, *payload = record + VIDI__LOG_RECORD_HEAD;
    uint64_t before = vidi__load64(record + 8), after = before + entries->bytes;
    *place = (vidi__log_place){.begin = payload, .entries = payload + before};
    vidi__store64(record + 8, after);
    pad(payload, after);
    log->open_entries += entries->count;
    grown(log, vidi__round_up(after, 8) - vidi__round_up(before, 8));
}

static void open_new(vidi__log *log, const vidi__log_entries *entries, vidi__log_place *place)
{
    uint64_t at = log->filling.used;
    place->begin = new_record(log, entries->type, entries->begin + entries->bytes);
    place->entries = place->begin + entries->begin;
    log->open_record = entries->shares ? at : NONE;
    log->open_entries = entries->count;
}

void vidi__log_enter(vidi__log *log, const vidi__log_entries *entries, uint64_t reserved, vidi__log_place *place)
{
    uint64_t before;
    pthread_mutex_lock(&log->lock);
    before = log->end;
    *place = (vidi__log_place){.reserved = reserved};
    if (fits(log, entries->begin + entries->bytes, reserved)) {
        if (can_join(log, entries))
            join(log, entries, place);
        else
            open_new(log, entries, place);
    }
    place->reserved = reserved;
    place->position = log->end;
    place->grown = log->end - before;
}

void vidi__log_leave(vidi__log *log, const vidi__log_place *place)
{
    use_up(log, place->reserved);
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
    int code = vidi__log_error(log);
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
    int code = vidi__log_error(log);
    pthread_mutex_unlock(&log->lock);
    return code;
}
