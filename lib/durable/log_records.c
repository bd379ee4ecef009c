/*
 * Writing records of the log; replay.c reads them. A record holds committed operations: hashes for kinds that need nothing else, otherwise canonical
 * URLs. It begins with the epoch's counters at that moment, so that statistics survive a crash too.
 */
#include "durable/durable.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "hashes are written as they are in memory"
#endif

uint64_t vidi__record_bytes(const vidi__durable *durable, const vidi_str *urls, uint64_t n)
{
    uint64_t bytes = VIDI__RECORD_TALLY; /* more than the numbers of a group take */
    if (durable->hash_only)
        return bytes + n * sizeof(vidi__u128);
    for (uint64_t i = 0; i < n; i++)
        bytes += sizeof(uint64_t) + urls[i].len;
    return bytes;
}

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

void vidi__record_tally(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    uint64_t position;
    if (atomic_load_explicit(&durable->tallied, memory_order_relaxed) != vidi__record_answers(set) &&
        durable->staging.logged == durable->staging.count &&
        vidi__log_reserve(durable->log->log, VIDI__RECORD_TALLY) == VIDI_OK)
        vidi__record_append(set, &(vidi__record){.kind = VIDI__OP_ADD}, VIDI__RECORD_TALLY, &position);
}

/* Not inlined: its frame is large, and records of hashes do not need it. */
static __attribute__((noinline)) void append_urls(vidi__log *log, uint32_t type, vidi_str begin, const vidi_str *urls,
                                                  uint64_t n, uint64_t reserved, uint64_t *position)
{
    unsigned char lengths[VIDI__RECORD_URLS][8];
    vidi_str pieces[1 + 2 * VIDI__RECORD_URLS];
    size_t count = 0;
    pieces[count++] = begin;
    for (uint64_t i = 0; i < n; i++) {
        vidi__store64(lengths[i], urls[i].len);
        pieces[count++] = (vidi_str){(const char *)lengths[i], sizeof lengths[i]};
        pieces[count++] = urls[i];
    }
    vidi__log_append(log, type, pieces, count, reserved, position);
}

/* Appends a record that begins with these bytes; `more` is added to the type. */
static void append(vidi_set *set, vidi_str begin, uint32_t more, const vidi__record *record, uint64_t reserved,
                   uint64_t *position)
{
    vidi__durable *durable = set->durable;
    vidi__log *log = durable->log->log;
    bool adds = record->kind == VIDI__OP_ADD;
    if (durable->hash_only) {
        uint32_t type = adds ? VIDI__RECORD_ADD_HASHES : VIDI__RECORD_REMOVE_HASHES;
        const vidi_str pieces[] = {begin, {(const char *)record->hashes, (size_t)(record->n * sizeof *record->hashes)}};
        vidi__log_append(log, type + more, pieces, VIDI__COUNT(pieces), reserved, position);
    } else {
        uint32_t type = adds ? VIDI__RECORD_ADD_URLS : VIDI__RECORD_REMOVE_URLS;
        append_urls(log, type + more, begin, record->urls, record->n, reserved, position);
    }
    atomic_fetch_add_explicit(&durable->log_bytes, reserved, memory_order_relaxed);
}

void vidi__record_store_tally(vidi_set *set, char *at)
{
    store_tally(at, &set->now);
    atomic_store_explicit(&set->durable->tallied, vidi__record_answers(set), memory_order_relaxed);
}

void vidi__record_append(vidi_set *set, const vidi__record *record, uint64_t reserved, uint64_t *position)
{
    char tally[VIDI__RECORD_TALLY];
    vidi__record_store_tally(set, tally);
    append(set, (vidi_str){tally, sizeof tally}, 0, record, reserved, position);
}

void vidi__record_append_grouped(vidi_set *set, const vidi__record *record, uint64_t reserved, uint64_t *position)
{
    char numbers[VIDI__RECORD_NUMBERS];
    vidi__store64(numbers, set->durable->group);
    vidi__store64(numbers + 8, set->durable->attempt);
    append(set, (vidi_str){numbers, sizeof numbers}, VIDI__RECORD_IN_GROUP, record, reserved, position);
}
