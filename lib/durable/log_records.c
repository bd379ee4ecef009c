/*
 * Writing records of the log; replay.c reads them. A record holds committed operations: hashes for kinds that need
 * nothing else, otherwise canonical URLs. It holds few, so that damage costs few.
 *
 * What one commit, or one batch of adds, brings to the log is a write: one or more records, of which the last has the
 * epoch's counters at that moment, so that statistics survive a crash too. Few adds get there by lanes (lanes.c).
 */
#include "durable/durable.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "hashes are written as they are in memory"
#endif

/* ---- counters ---- */

static uint64_t answers_of(const vidi__counts *counts)
{
    return counts->fresh + counts->seen + counts->invalid + counts->asked + counts->removed;
}

uint64_t vidi__record_answers(const vidi_set *set)
{
    const vidi__counts counts = vidi__counts_of(set, &set->now);
    return answers_of(&counts);
}

void vidi__record_store_tally(vidi_set *set, void *to)
{
    const vidi__counts counts = vidi__counts_of(set, &set->now);
    unsigned char *at = to;
    vidi__store64(at, counts.fresh);
    vidi__store64(at + 8, counts.seen);
    vidi__store64(at + 16, counts.invalid);
    vidi__store64(at + 24, counts.asked);
    vidi__store64(at + 32, counts.removed);
    memcpy(at + 40, &counts.lost, sizeof counts.lost);
    atomic_store_explicit(&set->durable->tallied, answers_of(&counts), memory_order_relaxed);
}

/* ---- one record ---- */

_Static_assert(VIDI__RECORD_MOST == VIDI__LOG_ENTRIES_MOST, "a record that is shared has as many operations");

/* The most that comes before the operations. */
#define BEGIN_MOST VIDI__RECORD_TALLY
_Static_assert((int)BEGIN_MOST >= (int)VIDI__RECORD_NUMBERS, "there is room for both");

/* Bytes of the operations in a record. */
uint64_t vidi__record_list_bytes(const vidi__durable *durable, const vidi_str *urls, uint64_t n)
{
    uint64_t bytes = 0;
    if (durable->hash_only)
        return n * sizeof(vidi__u128);
    for (uint64_t i = 0; i < n; i++)
        bytes += sizeof(uint64_t) + urls[i].len;
    return bytes;
}

/* Bytes that a record with this payload takes in the log. */
static uint64_t whole_bytes(uint64_t payload)
{
    return VIDI__LOG_RECORD_HEAD + vidi__round_up(payload, 8) + VIDI__LOG_CHECK;
}

/* Bytes that come before the operations in a record of this form. */
static uint64_t begin_bytes(vidi__record_form form)
{
    return form == VIDI__RECORD_WITH_TALLY  ? VIDI__RECORD_TALLY
           : form == VIDI__RECORD_IN_BUNDLE ? VIDI__RECORD_NUMBERS
                                            : 0;
}

static void store_begin(vidi_set *set, vidi__record_form form, unsigned char *at)
{
    if (form == VIDI__RECORD_WITH_TALLY) {
        vidi__record_store_tally(set, at);
    } else if (form == VIDI__RECORD_IN_BUNDLE) {
        vidi__store64(at, set->durable->log->bundle.number);
        vidi__store64(at + 8, set->durable->log->bundle.attempt);
    }
}

static uint64_t store_urls(unsigned char *to, const vidi__record *record)
{
    unsigned char *at = to;
    for (uint64_t i = 0; i < record->n; i++) {
        vidi_str url = record->urls[i];
        vidi__store64(at, url.len);
        if (url.len)
            memcpy(at + 8, url.ptr, url.len);
        at += 8 + url.len;
    }
    return (uint64_t)(at - to);
}

static uint64_t store_hashes(unsigned char *to, const vidi__record *record)
{
    if (record->n == 1)
        memcpy(to, record->hashes, sizeof *record->hashes);
    else if (record->n)
        memcpy(to, record->hashes, (size_t)(record->n * sizeof *record->hashes));
    return record->n * sizeof *record->hashes;
}

uint64_t vidi__record_store_list(const vidi__durable *durable, void *to, const vidi__record *record)
{
    return durable->hash_only ? store_hashes(to, record) : store_urls(to, record);
}

/* What the operations of a record are, and whether they are hashes. */
static uint32_t sort_of(const vidi__durable *durable, const vidi__record *record)
{
    if (record->kind == VIDI__OP_ADD)
        return durable->hash_only ? VIDI__RECORD_ADD_HASHES : VIDI__RECORD_ADD_URLS;
    return durable->hash_only ? VIDI__RECORD_REMOVE_HASHES : VIDI__RECORD_REMOVE_URLS;
}

/*
 * Appends one record, for which this many bytes of payload were reserved, or adds its operations to the last record if
 * that is of the same type and not being written yet. Then that record gets the new tally.
 */
static void append(vidi_set *set, vidi__record_form form, const vidi__record *record, uint64_t reserved,
                   uint64_t *position)
{
    vidi__durable *durable = set->durable;
    vidi__log *log = durable->log->log;
    vidi__log_place place;
    vidi__log_entries entries = {
        .type = sort_of(durable, record) + form,
        .count = (uint32_t)record->n,
        .begin = begin_bytes(form),
        .bytes = vidi__record_list_bytes(durable, record->urls, record->n),
        .shares = form == VIDI__RECORD_WITH_TALLY, /* operations of a bundle must not get into another one */
    };
    vidi__log_enter(log, &entries, reserved, &place);
    if (VIDI__LIKELY(place.begin)) {
        store_begin(set, form, place.begin);
        (void)vidi__record_store_list(durable, place.entries, record);
    }
    vidi__log_leave(log, &place);
    atomic_fetch_add_explicit(&durable->log_bytes, place.grown, memory_order_relaxed);
    *position = place.position;
}

/* Reserves room for one record with this many bytes of payload. */
static int reserve_one(vidi_set *set, uint64_t bytes, uint64_t *reserved)
{
    *reserved = bytes;
    return vidi__log_reserve(set->durable->log->log, bytes);
}

int vidi__record_append(vidi_set *set, vidi__record_form form, const vidi__record *record, uint64_t *position)
{
    uint64_t reserved;
    VIDI__TRY(reserve_one(set, BEGIN_MOST + vidi__record_list_bytes(set->durable, record->urls, record->n), &reserved));
    append(set, form, record, reserved, position);
    return VIDI_OK;
}

/* ---- what lanes bring ---- */

void vidi__record_append_list(vidi_set *set, vidi__open_log *log, vidi_str list, bool with_tally)
{
    char tally[VIDI__RECORD_TALLY];
    uint64_t position;
    vidi_str parts[] = {{tally, with_tally ? sizeof tally : 0}, list};
    uint32_t sort = sort_of(set->durable, &(vidi__record){.kind = VIDI__OP_ADD});
    if (with_tally)
        vidi__record_store_tally(set, tally);
    vidi__log_append(log->log, sort + (with_tally ? VIDI__RECORD_WITH_TALLY : VIDI__RECORD_WITHOUT_TALLY), parts,
                     VIDI__COUNT(parts), VIDI__LANE_ROOM, &position);
    atomic_fetch_add_explicit(&set->durable->log_bytes, whole_bytes(parts[0].len + list.len), memory_order_relaxed);
}

/* ---- a write ---- */

int vidi__write_reserve(vidi_set *set, const vidi_str *urls, uint64_t n, uint64_t *reserved)
{
    uint64_t list = vidi__record_list_bytes(set->durable, urls, n),
             records = (n + VIDI__RECORD_MOST - 1) / VIDI__RECORD_MOST;
    if (records <= 1)
        return reserve_one(set, BEGIN_MOST + list, reserved);
    /* Rounded up: padding, and the reservation of a single record, are a part of it. */
    *reserved = BEGIN_MOST + list + records * (whole_bytes(0) + 8);
    return vidi__log_reserve(set->durable->log->log, *reserved);
}

void vidi__write_unreserve(vidi_set *set, uint64_t reserved)
{
    vidi__log_unreserve(set->durable->log->log, reserved);
}

/* The part of a record from `from` on, at most a record long. */
static vidi__record part_of(const vidi__record *record, uint64_t from)
{
    vidi__record part = *record;
    part.hashes = record->hashes ? record->hashes + from : NULL;
    part.urls = record->urls ? record->urls + from : NULL;
    part.n = record->n - from < VIDI__RECORD_MOST ? record->n - from : VIDI__RECORD_MOST;
    return part;
}

/* Appends records of at most VIDI__RECORD_MOST operations, each with its own part of the reservation. */
static void append_parts(vidi_set *set, const vidi__record *all, uint64_t reserved, uint64_t *position)
{
    uint64_t left = whole_bytes(reserved);
    for (uint64_t done = 0; done < all->n; done += VIDI__RECORD_MOST) {
        vidi__record part = part_of(all, done);
        bool last = done + part.n == all->n;
        uint64_t bytes = vidi__record_list_bytes(set->durable, part.urls, part.n) + (last ? VIDI__RECORD_TALLY : 0);
        append(set, last ? VIDI__RECORD_WITH_TALLY : VIDI__RECORD_WITHOUT_TALLY, &part, bytes, position);
        left -= whole_bytes(bytes);
    }
    vidi__log_unreserve(set->durable->log->log, left - whole_bytes(0));
}

void vidi__write_append(vidi_set *set, const vidi__record *record, uint64_t reserved, uint64_t *position)
{
    if (record->n <= VIDI__RECORD_MOST)
        append(set, VIDI__RECORD_WITH_TALLY, record, reserved, position);
    else
        append_parts(set, record, reserved, position);
}

void vidi__write_tally(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    uint64_t position;
    if (atomic_load_explicit(&durable->tallied, memory_order_relaxed) != vidi__record_answers(set) &&
        durable->staging.logged == durable->staging.count)
        (void)vidi__record_append(set, VIDI__RECORD_WITH_TALLY, &(vidi__record){.kind = VIDI__OP_ADD}, &position);
}
