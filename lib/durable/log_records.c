/*
 * Records of the log. A record holds committed operations: hashes for kinds that need nothing else, otherwise canonical
 * URLs. It begins with the epoch's counters at that moment, so that statistics survive a crash too.
 */
#include <math.h>

#include "durable/durable.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "hashes are written as they are in memory"
#endif

/* ---- writing ---- */

uint64_t vidi__record_bytes(const vidi__durable *durable, const vidi_str *urls, uint64_t n)
{
    uint64_t bytes = VIDI__RECORD_TALLY;
    if (durable->hash_only)
        return bytes + n * sizeof(vidi__u128);
    for (uint64_t i = 0; i < n; i++)
        bytes += sizeof(uint64_t) + urls[i].len;
    return bytes;
}

static void store_tally(unsigned char *at, const vidi__epoch *epoch)
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
        vidi__record_append(set, VIDI__OP_ADD, NULL, NULL, 0, VIDI__RECORD_TALLY, &position);
}

/* Not inlined: its frame is large, and records of hashes do not need it. */
static __attribute__((noinline)) void append_urls(vidi__log *log, uint32_t type, vidi_str tally, const vidi_str *urls,
                                                  uint64_t n, uint64_t reserved, uint64_t *position)
{
    unsigned char lengths[VIDI__RECORD_URLS][8];
    vidi_str pieces[1 + 2 * VIDI__RECORD_URLS];
    size_t count = 0;
    pieces[count++] = tally;
    for (uint64_t i = 0; i < n; i++) {
        vidi__store64(lengths[i], urls[i].len);
        pieces[count++] = (vidi_str){(const char *)lengths[i], sizeof lengths[i]};
        pieces[count++] = urls[i];
    }
    vidi__log_append(log, type, pieces, count, reserved, position);
}

void vidi__record_append(vidi_set *set, vidi__operation kind, const vidi__u128 *hashes, const vidi_str *urls,
                         uint64_t n, uint64_t reserved, uint64_t *position)
{
    vidi__durable *durable = set->durable;
    vidi__log *log = durable->log->log;
    unsigned char counters[VIDI__RECORD_TALLY];
    const vidi_str tally = {(const char *)counters, sizeof counters};
    store_tally(counters, &set->now);
    atomic_store_explicit(&durable->tallied, vidi__record_answers(set), memory_order_relaxed);
    if (durable->hash_only) {
        uint32_t type = kind == VIDI__OP_ADD ? VIDI__RECORD_ADD_HASHES : VIDI__RECORD_REMOVE_HASHES;
        const vidi_str pieces[] = {tally, {(const char *)hashes, (size_t)(n * sizeof *hashes)}};
        vidi__log_append(log, type, pieces, VIDI__COUNT(pieces), reserved, position);
    } else {
        uint32_t type = kind == VIDI__OP_ADD ? VIDI__RECORD_ADD_URLS : VIDI__RECORD_REMOVE_URLS;
        append_urls(log, type, tally, urls, n, reserved, position);
    }
    atomic_fetch_add_explicit(&durable->log_bytes, reserved, memory_order_relaxed);
}

/* ---- reading ---- */

/* The operations of a record that is being replayed, a group at a time. */
typedef struct replay {
    vidi_set *set;
    vidi__operation kind;
    size_t n;
    vidi__u128 hashes[VIDI__HASHES_MAX];
    vidi_str urls[VIDI__HASHES_MAX];
} replay;

static int stage_group(replay *self)
{
    vidi__staging *staging = &self->set->durable->staging;
    uint64_t bytes = 0;
    for (size_t i = 0; i < self->n; i++)
        bytes += self->urls[i].len;
    VIDI__TRY(vidi__staging_reserve(staging, self->n, bytes));
    for (size_t i = 0; i < self->n; i++)
        vidi__staging_prefetch(staging, self->hashes[i]);
    for (size_t i = 0; i < self->n; i++)
        vidi__staging_add(staging, self->kind, self->hashes[i], self->urls[i]);
    staging->logged = staging->count;
    return VIDI_OK;
}

static int apply_group(replay *self)
{
    vidi__tally tally = {0}; /* the counters come from the record itself */
    uint8_t verdicts[VIDI__HASHES_MAX];
    bool hash_only = self->set->durable->hash_only;
    vidi__work work = {.urls = hash_only ? NULL : self->urls,
                       .hashes = hash_only ? self->hashes : NULL,
                       .count = self->n,
                       .verdicts = verdicts};
    int code = vidi__durable_operate(self->set, self->kind, &work, &tally);
    vidi__epoch_lose(&self->set->now, tally.lost);
    return code;
}

static int flush(replay *self)
{
    if (!self->n)
        return VIDI_OK;
    self->set->durable->recovery.urls += self->n;
    int code = self->set->mapped.bytes ? stage_group(self) : apply_group(self);
    self->n = 0;
    return code;
}

static int replay_hashes(replay *self, vidi_str list)
{
    if (list.len % sizeof(vidi__u128))
        return vidi__damaged("a record of the log has an impossible size");
    for (size_t at = 0; at < list.len; at += sizeof(vidi__u128)) {
        memcpy(&self->hashes[self->n], list.ptr + at, sizeof(vidi__u128));
        self->urls[self->n] = (vidi_str){NULL, 0};
        if (++self->n == VIDI__HASHES_MAX)
            VIDI__TRY(flush(self));
    }
    return flush(self);
}

static int replay_urls(replay *self, vidi_str list)
{
    while (list.len) {
        uint64_t len = list.len < 8 ? UINT64_MAX : vidi__load64(list.ptr);
        if (list.len < 8 || len > list.len - 8)
            return vidi__damaged("a URL in the log is longer than its record");
        vidi_str url = {list.ptr + 8, (size_t)len};
        self->urls[self->n] = url;
        self->hashes[self->n] = vidi__durable_url_hash(&self->set->now, url);
        list.ptr += 8 + len;
        list.len -= 8 + (size_t)len;
        if (++self->n == VIDI__GROUP)
            VIDI__TRY(flush(self));
    }
    return flush(self);
}

/*
 * Counters only go up, but records of several threads may be out of order, so the larger value wins. Losses are
 * different: a record from the staging area does not include the losses of its own URLs. If the filter has taken these
 * URLs, it has counted them already.
 */
static int load_tally(vidi__epoch *epoch, const char *at, bool applied)
{
    _Atomic uint64_t *counters[] = {&epoch->answered_new, &epoch->answered_seen, &epoch->answered_invalid,
                                    &epoch->asked, &epoch->removed};
    uint64_t bits = vidi__load64(at + 40);
    double lost;
    memcpy(&lost, &bits, sizeof lost);
    if (!(lost >= 0 && isfinite(lost)))
        return vidi__damaged("a record of the log has an impossible tally");
    for (size_t i = 0; i < VIDI__COUNT(counters); i++) {
        uint64_t count = vidi__load64(at + 8 * i);
        if (count > atomic_load_explicit(counters[i], memory_order_relaxed))
            atomic_store_explicit(counters[i], count, memory_order_relaxed);
    }
    if (!applied)
        atomic_store_explicit(&epoch->lost_bits, bits, memory_order_relaxed);
    return VIDI_OK;
}

int vidi__record_replay(void *context, uint32_t type, vidi_str payload)
{
    replay self; /* not initialised as a whole: most records are much smaller */
    self.set = context;
    self.n = 0;
    bool hashes = type == VIDI__RECORD_ADD_HASHES || type == VIDI__RECORD_REMOVE_HASHES;
    bool adds = type == VIDI__RECORD_ADD_HASHES || type == VIDI__RECORD_ADD_URLS;
    if (payload.len < VIDI__RECORD_TALLY || type < VIDI__RECORD_ADD_HASHES || type > VIDI__RECORD_REMOVE_URLS ||
        hashes != self.set->durable->hash_only)
        return vidi__damaged("the log has a record that does not belong there");
    vidi_str list = {payload.ptr + VIDI__RECORD_TALLY, payload.len - VIDI__RECORD_TALLY};
    self.kind = adds ? VIDI__OP_ADD : VIDI__OP_REMOVE;
    VIDI__TRY(hashes ? replay_hashes(&self, list) : replay_urls(&self, list));
    return load_tally(&self.set->now, payload.ptr, !self.set->mapped.bytes);
}
