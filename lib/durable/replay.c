/*
 * Reading the log back: each record is applied to the filter, or staged if the filter is mapped.
 *
 * Operations that were committed with a note are a bundle, which the note ends. They are held until the note is found,
 * so that the set has both or neither. A bundle has two numbers. In each log the writer counts `bundle` from 1 up after
 * each note, and `attempt` each time that it tries to write a bundle. What another attempt at the same bundle has left
 * was never committed, and is dropped:
 *
 *     record 1.1   record 1.1   note 1.1   record 2.1 (the process ended)   record 2.2   note 2.2
 *     \------- held -------/ -> applied    \---------- dropped ---------/   \- held -/ -> applied
 *
 * A note says how many operations its bundle has. If some are missing, or a whole bundle is, a crash has torn what was
 * not synced. That bundle and all after it stay held, and are dropped at the end of the log, because each note stands
 * for everything before it. But if the log is damaged, all of it was there once, and what is left of it counts.
 *
 *     held     records of 2.1, note 2.1 | records of 4.1, note 4.1 | records of 5.1
 *                                                           closed ^  begin ^
 */
#include <math.h>

#include "durable/durable.h"
#include "durable/log_index.h"

/* ---- operations ---- */

/* Operations of one sort that are replayed together. */
typedef struct batch {
    vidi__operation kind;
    size_t n;
    const vidi__u128 *hashes;
    const vidi_str *urls; /* NULL if hashes are all that is logged */
} batch;

static vidi_str url_of(const batch *what, size_t i)
{
    return what->urls ? what->urls[i] : (vidi_str){NULL, 0};
}

/* How often the filter, which is mapped, has the i-th URL; a plain set has it once. */
static int times_in_filter(vidi_set *set, const batch *what, size_t i, int64_t *times)
{
    const vidi__u128 *hash = what->urls ? NULL : &what->hashes[i];
    vidi_str url = url_of(what, i);
    uint8_t verdict = VIDI_UNTRIED;
    uint64_t count;
    if (set->now.filter->stores_every_add && set->now.filter->can & VIDI_CAN_COUNT) {
        VIDI__TRY(vidi__epoch_times(&set->memory, &set->now, url, hash, &count));
        *times = count < INT32_MAX ? (int64_t)count : INT32_MAX;
        return VIDI_OK;
    }
    vidi__work work = {.urls = hash ? NULL : &url, .hashes = hash, .count = 1, .verdicts = &verdict};
    VIDI__TRY(vidi__epoch_lookup(&set->memory, &set->now, &work));
    *times = verdict == VIDI_SEEN;
    return VIDI_OK;
}

/*
 * A filter ignores the removal of a URL that it does not have, and a plain set does not have one twice, although it may
 * have been added twice. The staging area adds operations up, so it is given as many removals as come to that.
 */
static int stage_removed(vidi_set *set, const batch *what)
{
    vidi__staging *staging = &set->durable->staging;
    for (size_t i = 0; i < what->n; i++) {
        int64_t times;
        VIDI__TRY(times_in_filter(set, what, i, &times));
        times += vidi__staging_delta(staging, what->hashes[i]);
        if (set->now.filter->stores_every_add && times > 1)
            times = 1;
        for (; times > 0; times--) {
            VIDI__TRY(vidi__staging_reserve(staging, 1, url_of(what, i).len));
            vidi__staging_add(staging, VIDI__OP_REMOVE, what->hashes[i], url_of(what, i));
        }
    }
    staging->logged = staging->count;
    return VIDI_OK;
}

static int stage_added(vidi_set *set, const batch *what)
{
    vidi__staging *staging = &set->durable->staging;
    uint64_t bytes = 0;
    for (size_t i = 0; what->urls && i < what->n; i++)
        bytes += what->urls[i].len;
    VIDI__TRY(vidi__staging_reserve(staging, what->n, bytes));
    for (size_t i = 0; i < what->n; i++)
        vidi__staging_prefetch(staging, what->hashes[i]);
    for (size_t i = 0; i < what->n; i++)
        vidi__staging_add(staging, VIDI__OP_ADD, what->hashes[i], url_of(what, i));
    staging->logged = staging->count;
    return VIDI_OK;
}

/* Stages the adds that the filter did not take. */
static int stage_untried(vidi_set *set, const batch *what, const uint8_t *verdicts)
{
    for (size_t i = 0; i < what->n; i++) {
        batch one = {what->kind, 1, what->hashes + i, what->urls ? what->urls + i : NULL};
        if (verdicts[i] == VIDI_UNTRIED)
            VIDI__TRY(stage_added(set, &one));
    }
    return VIDI_OK;
}

/* If the filter reaches the memory limit, the rest stays staged, as it was when the set was closed. */
static int apply_batch(vidi_set *set, const batch *what)
{
    vidi__tally tally = {0}; /* the counters come from the log itself */
    uint8_t verdicts[VIDI__HASHES_MAX];
    vidi__work work = {
        .urls = what->urls, .hashes = what->urls ? NULL : what->hashes, .count = what->n, .verdicts = verdicts};
    vidi__durable_put_aside(set,
                            set->read_only && !set->durable->room_steps ? VIDI__ASIDE_NONE : VIDI__ASIDE_REPLAYING);
    int code = vidi__durable_operate(set, what->kind, &work, &tally);
    vidi__durable_put_aside(set, VIDI__ASIDE_NONE);
    return code == VIDI_ELIMIT && what->kind == VIDI__OP_ADD ? stage_untried(set, what, verdicts) : code;
}

static int replay_batch(vidi_set *set, const batch *what)
{
    if (!what->n)
        return VIDI_OK;
    set->durable->recovery.urls += what->n;
    if (!set->mapped && !set->durable->staging.count)
        return apply_batch(set, what);
    if (what->kind == VIDI__OP_REMOVE && set->durable->segment_count) { /* it could be in a segment */
        set->durable->index_is_unfit = true;
        return vidi__fail(VIDI_ECANNOT, "the log has removals, so its index cannot be used");
    }
    return what->kind == VIDI__OP_ADD ? stage_added(set, what) : stage_removed(set, what);
}

/* Brings the hashes that were gathered to the filter. */
static int flush(vidi__replay *self)
{
    batch what = {.kind = self->kind, .n = self->n, .hashes = self->hashes};
    self->n = 0;
    return replay_batch(self->set, &what);
}

/* Hashes of several records are gathered, because the filter is much faster with many. */
static int replay_hashes(vidi__replay *self, vidi__operation kind, vidi_str list)
{
    if (list.len % sizeof(vidi__u128))
        return vidi__damaged("a record of the log has an impossible size");
    if (kind != self->kind)
        VIDI__TRY(flush(self));
    self->kind = kind;
    for (size_t at = 0; at < list.len; at += sizeof(vidi__u128)) {
        memcpy(&self->hashes[self->n], list.ptr + at, sizeof(vidi__u128));
        if (++self->n == VIDI__HASHES_MAX)
            VIDI__TRY(flush(self));
    }
    return VIDI_OK;
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

static int replay_urls(vidi_set *set, vidi__operation kind, vidi_str list)
{
    vidi_str urls[VIDI__GROUP];
    vidi__u128 hashes[VIDI__GROUP];
    batch what = {.kind = kind, .hashes = hashes, .urls = urls};
    while (list.len) {
        VIDI__TRY(next_url(&list, &urls[what.n]));
        hashes[what.n] = vidi__durable_url_hash(&set->now, urls[what.n]);
        if (++what.n < VIDI__GROUP)
            continue;
        VIDI__TRY(replay_batch(set, &what));
        what.n = 0;
    }
    return replay_batch(set, &what);
}

static bool has_hashes(uint32_t sort)
{
    return sort == VIDI__RECORD_ADD_HASHES || sort == VIDI__RECORD_REMOVE_HASHES;
}

/* `sort` is one of the first four types. */
static int replay_operations(vidi__replay *self, uint32_t sort, vidi_str list)
{
    bool adds = sort == VIDI__RECORD_ADD_HASHES || sort == VIDI__RECORD_ADD_URLS;
    vidi__operation kind = adds ? VIDI__OP_ADD : VIDI__OP_REMOVE;
    return has_hashes(sort) ? replay_hashes(self, kind, list) : replay_urls(self->set, kind, list);
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

static void raise(_Atomic uint64_t *counter, uint64_t count)
{
    if (count > atomic_load_explicit(counter, memory_order_relaxed))
        atomic_store_explicit(counter, count, memory_order_relaxed);
}

/*
 * Counters only go up, but records of several threads may be out of order, so the larger value wins. So it is with
 * losses, whose bits are in the order of the numbers, because these are not negative.
 */
static int load_tally(vidi__epoch *epoch, const char *at)
{
    _Atomic uint64_t *counters[] = {&epoch->answered_new, &epoch->answered_seen, &epoch->answered_invalid,
                                    &epoch->asked, &epoch->removed};
    uint64_t bits = vidi__load64(at + 40);
    double lost;
    memcpy(&lost, &bits, sizeof lost);
    if (!(lost >= 0 && isfinite(lost)))
        return vidi__damaged("a record of the log has an impossible tally");
    for (size_t i = 0; i < VIDI__COUNT(counters); i++)
        raise(counters[i], vidi__load64(at + 8 * i));
    if (!signbit(lost))
        raise(&epoch->lost_bits, bits);
    return VIDI_OK;
}

/* ---- bundles and notes ---- */

enum {
    HELD_HEAD = 16, /* of a held record: u64 type, u64 bytes of payload */
    HELD_SHARE = 64 /* a buffer of more than this part of the memory limit is freed after each bundle */
};

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

/* A record of this bundle has been found. */
static void enter_bundle(vidi__replay *self, const char *numbers)
{
    uint64_t bundle = vidi__load64(numbers), attempt = vidi__load64(numbers + 8);
    if (bundle == self->bundle && attempt == self->attempt)
        return;
    if (bundle == self->bundle)
        self->held.len = self->begin;
    self->begin = self->held.len;
    self->bundle = bundle;
    self->attempt = attempt;
    self->operations = 0;
}

static int replace_note(vidi_set *set, vidi_str bytes)
{
    vidi__note *note;
    VIDI__TRY(vidi__note_make(&set->memory, bytes, &note));
    vidi__note_free(&set->memory, set->note);
    set->note = note;
    return VIDI_OK;
}

static int replay_note(vidi_set *set, vidi_str payload)
{
    VIDI__TRY(load_tally(&set->now, payload.ptr + VIDI__NOTE_HEAD - VIDI__RECORD_TALLY));
    return replace_note(set, (vidi_str){payload.ptr + VIDI__NOTE_HEAD, payload.len - VIDI__NOTE_HEAD});
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
                                         : replay_operations(self, type - VIDI__RECORD_IN_BUNDLE, list);
        at += HELD_HEAD + payload.len;
    }
    self->held.len = self->begin = self->closed = 0;
    if (self->held.room > self->held.memory->limit / HELD_SHARE) {
        vidi__memory *memory = self->held.memory;
        vidi__buffer_free(&self->held);
        self->held = vidi__buffer_in(NULL, 0, memory);
    }
    return code;
}

static int take_bundled(vidi__replay *self, uint32_t type, vidi_str payload)
{
    uint64_t n = 0;
    if (payload.len < VIDI__RECORD_NUMBERS)
        return vidi__damaged("a record of the log has an impossible size");
    vidi_str list = {payload.ptr + VIDI__RECORD_NUMBERS, payload.len - VIDI__RECORD_NUMBERS};
    VIDI__TRY(count_operations(type - VIDI__RECORD_IN_BUNDLE, list, &n));
    enter_bundle(self, payload.ptr);
    self->operations += n;
    return hold(self, type, payload);
}

static int take_note(vidi__replay *self, vidi_str payload)
{
    if (payload.len < VIDI__NOTE_HEAD || payload.len > VIDI__NOTE_HEAD + VIDI_NOTE_MAX)
        return vidi__damaged("a note in the log has an impossible size");
    enter_bundle(self, payload.ptr);
    bool whole = self->operations == vidi__load64(payload.ptr + VIDI__RECORD_NUMBERS);
    VIDI__TRY(hold(self, VIDI__RECORD_NOTE, payload));
    self->begin = self->closed = self->held.len;
    if (!whole || self->bundle != self->taken + 1)
        return VIDI_OK;
    self->taken++;
    return release_held(self, self->closed);
}

/* ---- records ---- */

/* Operations that are not in a bundle. */
static int take_plain(vidi__replay *self, uint32_t sort, vidi__record_form form, vidi_str payload)
{
    size_t begin = form == VIDI__RECORD_WITHOUT_TALLY ? 0 : VIDI__RECORD_TALLY;
    if (payload.len < begin)
        return vidi__damaged("a record of the log has an impossible size");
    vidi_str list = {payload.ptr + begin, payload.len - begin};
    VIDI__TRY(replay_operations(self, sort, list));
    return begin ? load_tally(&self->set->now, payload.ptr) : VIDI_OK;
}

void vidi__replay_begin(vidi__replay *self, vidi_set *set)
{
    self->set = set;
    self->held = vidi__buffer_in(NULL, 0, &set->memory);
    self->begin = self->closed = self->n = 0;
    self->bundle = self->attempt = self->operations = self->taken = 0;
    self->kind = VIDI__OP_NONE; /* the hashes need no value: most logs are small */
}

/* The tally of the last segment is the largest; the note may be in an earlier one. */
int vidi__replay_resume(vidi__replay *self, vidi__segment *const *segments, size_t count)
{
    const vidi__stretch *last = &segments[count - 1]->stretch;
    vidi_set *set = self->set;
    for (size_t i = count; i-- > 0;) {
        const vidi__stretch *stretch = &segments[i]->stretch;
        if (!stretch->has_note)
            continue;
        VIDI__TRY(replace_note(set, (vidi_str){(const char *)stretch->note, (size_t)stretch->note_bytes}));
        break;
    }
    self->taken = last->bundles;
    return load_tally(&set->now, (const char *)last->tally);
}

/* Splits a type into its form and what is left, 1 to 4. False if there is no such type. */
static bool split_type(uint32_t type, vidi__record_form *form, uint32_t *sort)
{
    if (type < VIDI__RECORD_ADD_HASHES || type >= VIDI__RECORD_NOTE)
        return false;
    *sort = (type - 1) % VIDI__RECORD_REMOVE_URLS + 1;
    *form = (vidi__record_form)(type - *sort);
    return true;
}

int vidi__replay_record(void *context, uint32_t type, vidi_str payload)
{
    vidi__replay *self = context;
    vidi__record_form form;
    uint32_t sort;
    if (type == VIDI__RECORD_NOTE)
        return take_note(self, payload);
    if (!split_type(type, &form, &sort) || has_hashes(sort) != self->set->durable->hash_only)
        return vidi__damaged("the log has a record that does not belong there");
    return form == VIDI__RECORD_IN_BUNDLE ? take_bundled(self, type, payload) : take_plain(self, sort, form, payload);
}

int vidi__replay_end(vidi__replay *self, int code, bool damaged)
{
    if (code == VIDI_OK && damaged)
        code = release_held(self, self->closed);
    if (code == VIDI_OK)
        code = flush(self);
    vidi__buffer_free(&self->held);
    self->set->durable->replayed = (vidi__bundle){self->taken + 1, self->bundle > self->taken ? self->attempt : 0};
    return code;
}
