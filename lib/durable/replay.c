/*
 * Reading the log back: each record is applied to the filter, or, if that is mapped, staged.
 *
 * Operations that were committed with a note come in records of a group, which the note ends. They are held until the
 * note is found, so that the set has both or neither. A group has two numbers: the writer counts `group` up with each
 * note that it has written, and `attempt` with each time that it tries. What another attempt at the same group has left
 * was never committed, and is dropped:
 *
 *     group 4.1   group 4.1   note 4.1   group 5.1 (the process ended)   group 5.2   note 5.2
 *     \-- held ----------/  --> applied  \------ dropped -----------/    \- held -/  --> applied
 *
 * A note says how many operations its group has. If some are missing, the writing was torn by a crash, or the log is
 * damaged. Such a group stays held: the next note that is whole brings it along, because it was committed later. At the
 * end of the log, what is still held is dropped, unless the log is damaged: then it was written as a whole once, and
 * what is left of it counts.
 *
 *     held     records of 5.1 | records of 6.1, note 6.1 | records of 7.1
 *                                                 closed ^  begin ^
 */
#include <math.h>

#include "durable/durable.h"

/* ---- operations ---- */

/* The operations of a record that is being replayed, as many at a time as fit. */
typedef struct batch {
    vidi_set *set;
    vidi__operation kind;
    size_t n;
    vidi__u128 hashes[VIDI__HASHES_MAX];
    vidi_str urls[VIDI__HASHES_MAX];
} batch;

static int stage_batch(batch *self)
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

static int apply_batch(batch *self)
{
    vidi__tally tally = {0}; /* the counters come from the log itself */
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

static int flush(batch *self)
{
    if (!self->n)
        return VIDI_OK;
    self->set->durable->recovery.urls += self->n;
    int code = self->set->mapped.bytes ? stage_batch(self) : apply_batch(self);
    self->n = 0;
    return code;
}

static int replay_hashes(batch *self, vidi_str list)
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

/* Takes the next URL off the list. */
static int next_url(vidi_str *list, vidi_str *url)
{
    uint64_t len = list->len < 8 ? UINT64_MAX : vidi__load64(list->ptr);
    if (list->len < 8 || len > list->len - 8)
        return vidi__damaged("a URL in the log is longer than its record");
    *url = (vidi_str){list->ptr + 8, (size_t)len};
    list->ptr += 8 + len;
    list->len -= 8 + (size_t)len;
    return VIDI_OK;
}

static int replay_urls(batch *self, vidi_str list)
{
    while (list.len) {
        vidi_str *url = &self->urls[self->n];
        VIDI__TRY(next_url(&list, url));
        self->hashes[self->n] = vidi__durable_url_hash(&self->set->now, *url);
        if (++self->n == VIDI__GROUP)
            VIDI__TRY(flush(self));
    }
    return flush(self);
}

static bool has_hashes(uint32_t sort)
{
    return sort == VIDI__RECORD_ADD_HASHES || sort == VIDI__RECORD_REMOVE_HASHES;
}

/* `sort` is one of the first four types. */
static int replay_operations(vidi_set *set, uint32_t sort, vidi_str list)
{
    batch self; /* not initialised as a whole: most records are much smaller */
    self.set = set;
    self.n = 0;
    bool adds = sort == VIDI__RECORD_ADD_HASHES || sort == VIDI__RECORD_ADD_URLS;
    self.kind = adds ? VIDI__OP_ADD : VIDI__OP_REMOVE;
    return has_hashes(sort) ? replay_hashes(&self, list) : replay_urls(&self, list);
}

/* The number of operations in a list; VIDI_EFORMAT if it is not one. */
static int count_operations(uint32_t sort, vidi_str list, uint64_t *n)
{
    vidi_str url;
    *n = list.len / sizeof(vidi__u128);
    if (has_hashes(sort))
        return list.len % sizeof(vidi__u128) ? vidi__damaged("a record of the log has an impossible size") : VIDI_OK;
    for (*n = 0; list.len; ++*n)
        VIDI__TRY(next_url(&list, &url));
    return VIDI_OK;
}

/* ---- counters ---- */

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

/* ---- groups and notes ---- */

enum { HELD_HEAD = 16 }; /* of a held record: u64 type, u64 bytes of payload */

static int hold(vidi__replay *self, uint32_t type, vidi_str payload)
{
    char head[HELD_HEAD];
    vidi__store64(head, type);
    vidi__store64(head + 8, payload.len);
    if (!vidi__buffer_reserve(&self->held, HELD_HEAD + payload.len))
        return self->held.error;
    vidi__buffer_add(&self->held, head, sizeof head);
    vidi__buffer_add(&self->held, payload.ptr, payload.len);
    return VIDI_OK;
}

/* A record of this group has been found. */
static void enter_group(vidi__replay *self, const char *numbers)
{
    uint64_t group = vidi__load64(numbers), attempt = vidi__load64(numbers + 8);
    if (group == self->group && attempt == self->attempt)
        return;
    if (group == self->group)
        self->held.len = self->begin;
    self->begin = self->held.len;
    self->group = group;
    self->attempt = attempt;
    self->operations = 0;
    self->set->durable->group = group;
    self->set->durable->attempt = attempt;
}

static int replay_note(vidi_set *set, vidi_str payload)
{
    vidi_str bytes = {payload.ptr + VIDI__NOTE_HEAD, payload.len - VIDI__NOTE_HEAD};
    vidi__note *note;
    VIDI__TRY(load_tally(&set->now, payload.ptr + VIDI__NOTE_HEAD - VIDI__RECORD_TALLY, !set->mapped.bytes));
    VIDI__TRY(vidi__note_make(&set->memory, bytes, &note));
    vidi__note_free(&set->memory, set->note);
    set->note = note;
    return VIDI_OK;
}

/* Replays what is held, up to this place, and drops the rest. */
static int release_held(vidi__replay *self, size_t end)
{
    int code = VIDI_OK;
    for (size_t at = 0; at < end && code == VIDI_OK;) {
        const char *record = self->held.at + at;
        uint32_t type = (uint32_t)vidi__load64(record);
        vidi_str payload = {record + HELD_HEAD, (size_t)vidi__load64(record + 8)};
        vidi_str list = {payload.ptr + VIDI__RECORD_NUMBERS, payload.len - VIDI__RECORD_NUMBERS};
        code = type == VIDI__RECORD_NOTE ? replay_note(self->set, payload)
                                         : replay_operations(self->set, type - VIDI__RECORD_IN_GROUP, list);
        at += HELD_HEAD + payload.len;
    }
    self->held.len = self->begin = self->closed = 0;
    return code;
}

static int take_grouped(vidi__replay *self, uint32_t type, vidi_str payload)
{
    uint64_t n = 0;
    if (payload.len < VIDI__RECORD_NUMBERS)
        return vidi__damaged("a record of the log has an impossible size");
    vidi_str list = {payload.ptr + VIDI__RECORD_NUMBERS, payload.len - VIDI__RECORD_NUMBERS};
    VIDI__TRY(count_operations(type - VIDI__RECORD_IN_GROUP, list, &n));
    enter_group(self, payload.ptr);
    self->operations += n;
    return hold(self, type, payload);
}

static int take_note(vidi__replay *self, vidi_str payload)
{
    if (payload.len < VIDI__NOTE_HEAD || payload.len > VIDI__NOTE_HEAD + VIDI_NOTE_MAX)
        return vidi__damaged("a note in the log has an impossible size");
    enter_group(self, payload.ptr);
    bool whole = self->operations == vidi__load64(payload.ptr + VIDI__RECORD_NUMBERS);
    self->set->durable->group = self->group + 1;
    self->set->durable->attempt = 0;
    if (whole) {
        VIDI__TRY(release_held(self, self->held.len));
        return replay_note(self->set, payload);
    }
    VIDI__TRY(hold(self, VIDI__RECORD_NOTE, payload));
    self->begin = self->closed = self->held.len;
    return VIDI_OK;
}

/* ---- records ---- */

/* A record of version 1: counters and operations. */
static int take_with_tally(vidi_set *set, uint32_t type, vidi_str payload)
{
    if (payload.len < VIDI__RECORD_TALLY)
        return vidi__damaged("a record of the log has an impossible size");
    vidi_str list = {payload.ptr + VIDI__RECORD_TALLY, payload.len - VIDI__RECORD_TALLY};
    VIDI__TRY(replay_operations(set, type, list));
    return load_tally(&set->now, payload.ptr, !set->mapped.bytes);
}

void vidi__replay_begin(vidi__replay *self, vidi_set *set)
{
    *self = (vidi__replay){.set = set, .held = vidi__buffer_in(NULL, 0, &set->memory)};
}

int vidi__replay_record(void *context, uint32_t type, vidi_str payload)
{
    vidi__replay *self = context;
    uint32_t sort = type > VIDI__RECORD_IN_GROUP ? type - VIDI__RECORD_IN_GROUP : type;
    if (type == VIDI__RECORD_NOTE)
        return take_note(self, payload);
    if (sort < VIDI__RECORD_ADD_HASHES || sort > VIDI__RECORD_REMOVE_URLS ||
        has_hashes(sort) != self->set->durable->hash_only)
        return vidi__damaged("the log has a record that does not belong there");
    return sort == type ? take_with_tally(self->set, type, payload) : take_grouped(self, type, payload);
}

int vidi__replay_end(vidi__replay *self, bool damaged)
{
    int code = damaged ? release_held(self, self->closed) : VIDI_OK;
    vidi__buffer_free(&self->held);
    return code;
}
