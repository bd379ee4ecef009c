/*
 * Writing records of the log; replay.c reads them. A record holds committed operations: hashes for kinds that need
 * nothing else, otherwise canonical URLs. It holds few, so that damage costs few.
 *
 * What one commit, or one batch of adds, brings to the log is a write: one or more records, of which the last has the
 * epoch's counters at that moment, so that statistics survive a crash too.
 */
#include "durable/durable.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "hashes are written as they are in memory"
#endif

/* ---- counters ---- */

static void store_tally(char *at, const vidi__epoch *epoch)
{
    const _Atomic uint64_t *counters[] = {&epoch->answered_new, &epoch->answered_seen, &epoch->answered_invalid,
                                          &epoch->asked,        &epoch->removed,       &epoch->lost_bits};
    for (size_t i = 0; i < VIDI__COUNT(counters); i++)
        vidi__store64(at + 8 * i, atomic_load_explicit(counters[i], memory_order_relaxed));
}

uint64_t vidi__record_answers(const vidi_set *set)
{
    const vidi__epoch *now = &set->now;
    const _Atomic uint64_t *counters[] = {&now->answered_new, &now->answered_seen, &now->answered_invalid, &now->asked,
                                          &now->removed};
    uint64_t sum = 0;
    for (size_t i = 0; i < VIDI__COUNT(counters); i++)
        sum += atomic_load_explicit(counters[i], memory_order_relaxed);
    return sum;
}

void vidi__record_store_tally(vidi_set *set, char *at)
{
    store_tally(at, &set->now);
    atomic_store_explicit(&set->durable->tallied, vidi__record_answers(set), memory_order_relaxed);
}

/* ---- one record ---- */

/* The most that comes before the operations. */
#define BEGIN_MOST VIDI__RECORD_TALLY
_Static_assert((int)BEGIN_MOST >= (int)VIDI__RECORD_NUMBERS, "there is room for both");

/* Bytes of the operations in a record. */
static uint64_t list_bytes(const vidi__durable *durable, const vidi_str *urls, uint64_t n)
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

/* Not inlined: its frame is large, and records of hashes do not need it. */
static __attribute__((noinline)) void append_urls(vidi__log *log, uint32_t type, vidi_str begin,
                                                  const vidi__record *record, uint64_t reserved, uint64_t *position)
{
    unsigned char lengths[VIDI__RECORD_MOST][8];
    vidi_str pieces[1 + 2 * VIDI__RECORD_MOST];
    size_t count = 0;
    pieces[count++] = begin;
    for (uint64_t i = 0; i < record->n; i++) {
        vidi__store64(lengths[i], record->urls[i].len);
        pieces[count++] = (vidi_str){(const char *)lengths[i], sizeof lengths[i]};
        pieces[count++] = record->urls[i];
    }
    vidi__log_append(log, type, pieces, count, reserved, position);
}

/* What comes before the operations of a record of this form. */
static vidi_str begin_of(vidi_set *set, vidi__record_form form, char room[BEGIN_MOST])
{
    if (form == VIDI__RECORD_WITHOUT_TALLY)
        return (vidi_str){NULL, 0};
    if (form == VIDI__RECORD_WITH_TALLY) {
        vidi__record_store_tally(set, room);
        return (vidi_str){room, VIDI__RECORD_TALLY};
    }
    vidi__store64(room, set->durable->log->bundle.number);
    vidi__store64(room + 8, set->durable->log->bundle.attempt);
    return (vidi_str){room, VIDI__RECORD_NUMBERS};
}

/* Appends one record, for which so many bytes of payload were reserved. */
static void append(vidi_set *set, vidi__record_form form, const vidi__record *record, uint64_t reserved,
                   uint64_t *position)
{
    vidi__durable *durable = set->durable;
    vidi__log *log = durable->log->log;
    char room[BEGIN_MOST];
    vidi_str begin = begin_of(set, form, room);
    uint64_t bytes = whole_bytes(begin.len + list_bytes(durable, record->urls, record->n));
    bool adds = record->kind == VIDI__OP_ADD;
    atomic_fetch_add_explicit(&durable->log_bytes, bytes, memory_order_relaxed);
    if (durable->hash_only) {
        uint32_t type = adds ? VIDI__RECORD_ADD_HASHES : VIDI__RECORD_REMOVE_HASHES;
        const vidi_str pieces[] = {begin, {(const char *)record->hashes, (size_t)(record->n * sizeof *record->hashes)}};
        vidi__log_append(log, type + form, pieces, VIDI__COUNT(pieces), reserved, position);
    } else {
        uint32_t type = adds ? VIDI__RECORD_ADD_URLS : VIDI__RECORD_REMOVE_URLS;
        append_urls(log, type + form, begin, record, reserved, position);
    }
}

int vidi__record_append(vidi_set *set, vidi__record_form form, const vidi__record *record, uint64_t *position)
{
    uint64_t bytes = BEGIN_MOST + list_bytes(set->durable, record->urls, record->n);
    VIDI__TRY(vidi__log_reserve(set->durable->log->log, bytes));
    append(set, form, record, bytes, position);
    return VIDI_OK;
}

/* ---- a write ---- */

/* Rounded up: padding, and the reservation of a single record, are a part of it. */
uint64_t vidi__write_bytes(const vidi__durable *durable, const vidi_str *urls, uint64_t n)
{
    uint64_t list = list_bytes(durable, urls, n), records = (n + VIDI__RECORD_MOST - 1) / VIDI__RECORD_MOST;
    if (records <= 1)
        return BEGIN_MOST + list;
    return BEGIN_MOST + list + records * (whole_bytes(0) + 8);
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
        uint64_t bytes = list_bytes(set->durable, part.urls, part.n) + (last ? VIDI__RECORD_TALLY : 0);
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
