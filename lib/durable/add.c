/*
 * Adds and removals of durable sets: straight to filter and log, or into the staging area first.
 */
#include "durable/durable.h"

/* How many URLs ahead slots of the staging area are prefetched. */
#define PREFETCH_AHEAD 16

/* Up to this number of hashes, a small stack frame will do. */
#define FEW_HASHES 16

/* Returns true if an add with this verdict is kept, in the filter and so in the log. */
static bool is_kept(const vidi_set *set, uint8_t verdict)
{
    return verdict == VIDI_NEW || (verdict == VIDI_SEEN && set->now.filter->stores_every_add);
}

/* Where adds go that the filter has taken: to the thread's lane or, if they are many, to the log. */
typedef struct outlet {
    vidi__lane *lane;  /* NULL: to the log, */
    uint64_t reserved; /* where this was reserved */
} outlet;

/* Finds an outlet for as many adds as there are in the work. So no add can fail to be logged. */
static int open_outlet(vidi_set *set, vidi__slot *slot, const vidi__work *work, outlet *to)
{
    const vidi_str *urls = set->durable->hash_only ? NULL : work->urls;
    to->lane = vidi__lane_begin(set, slot, work->count, vidi__record_list_bytes(set->durable, urls, work->count));
    if (to->lane)
        return VIDI_OK;
    vidi__lane_empty(set, slot);
    return vidi__write_reserve(set, urls, work->count, &to->reserved);
}

static void close_outlet(vidi_set *set, const outlet *to, const vidi__record *taken)
{
    uint64_t position;
    if (to->lane) {
        vidi__lane_put(set, to->lane, taken);
        (void)vidi__lane_end(to->lane);
    } else if (taken->n) {
        vidi__write_append(set, taken, to->reserved, &position);
    } else {
        vidi__write_unreserve(set, to->reserved);
    }
}

/* Straight to a filter that needs nothing but hashes. `hashes` has room for them. */
static int add_hashes(vidi_set *set, vidi__slot *slot, const vidi__work *work, vidi__u128 *hashes)
{
    vidi__tally tally = {0};
    outlet to;
    size_t count = 0;
    vidi__durable_hash(set, work, hashes);
    VIDI__TRY(open_outlet(set, slot, work, &to));
    vidi__work hashed = {.hashes = hashes, .count = work->count, .verdicts = work->verdicts};
    int code = vidi__durable_operate(set, VIDI__OP_ADD, &hashed, &tally);
    vidi__slot_count(slot, &tally);
    for (size_t i = 0; i < work->count; i++) { /* without a branch: verdicts are hard to predict */
        hashes[count] = hashes[i];
        count += is_kept(set, work->verdicts[i]);
    }
    close_outlet(set, &to, &(vidi__record){VIDI__OP_ADD, hashes, NULL, count});
    return code;
}

/* Straight to a filter that needs more; never more than a group. */
static int add_urls(vidi_set *set, vidi__slot *slot, const vidi__work *work)
{
    vidi_str kept[VIDI__GROUP];
    vidi__tally tally = {0};
    outlet to;
    size_t count = 0;
    VIDI__TRY(open_outlet(set, slot, work, &to));
    int code = vidi__durable_operate(set, VIDI__OP_ADD, work, &tally);
    vidi__slot_count(slot, &tally);
    for (size_t i = 0; i < work->count; i++)
        if (is_kept(set, work->verdicts[i]))
            kept[count++] = work->urls[i];
    close_outlet(set, &to, &(vidi__record){VIDI__OP_ADD, NULL, kept, count});
    return code;
}

/* Not inlined: its frame is large, and few URLs should not pay for it. */
static __attribute__((noinline)) int add_many_hashes(vidi_set *set, vidi__slot *slot, const vidi__work *work)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    return add_hashes(set, slot, work, hashes);
}

static int add_directly(vidi_set *set, vidi__slot *slot, const vidi__work *work)
{
    vidi__u128 hashes[FEW_HASHES];
    if (!set->durable->hash_only)
        return add_urls(set, slot, work);
    return work->count <= FEW_HASHES ? add_hashes(set, slot, work, hashes) : add_many_hashes(set, slot, work);
}

static vidi_str url_at(const vidi__work *work, size_t i)
{
    return work->urls ? work->urls[i] : (vidi_str){NULL, 0};
}

/* Turns the filter's verdict on the i-th URL into that of filter and staging area together, and stages what is kept. */
static int stage_add(vidi_set *set, const vidi__work *work, size_t i, vidi__u128 hash)
{
    vidi__staging *staging = &set->durable->staging;
    vidi__staging_slot *slot = vidi__staging_find(staging, hash);
    uint8_t *verdict = &work->verdicts[i];
    if (slot->operation && slot->delta)
        VIDI__TRY(vidi__durable_correct(set, url_at(work, i), hash, slot->delta, verdict));
    if (is_kept(set, *verdict))
        vidi__staging_add_at(staging, slot, VIDI__OP_ADD, hash, url_at(work, i));
    return VIDI_OK;
}

/*
 * Pages lost per NEW answer now. Computing the error rate takes long in some kinds, and hardly changes it while URLs
 * are staged: what was computed is used until the filter has 2^-15 more URLs. The rate grows with at most the 32nd
 * power of their number, so it is too low by less than a thousandth.
 */
static double lost_each(vidi_set *set)
{
    const vidi__epoch *now = &set->now;
    const vidi__filter *filter = now->filter;
    vidi__price *price = &set->durable->price;
    uint64_t count = vidi__filter_count(filter);
    if (price->known && price->epoch == now->number && price->moves == filter->moves &&
        count - price->count <= count >> 15)
        return price->lost_each;
    double lost = vidi__filter_lost(filter->kind->fp_now(filter));
    *price =
        (vidi__price){.known = true, .epoch = now->number, .moves = filter->moves, .count = count, .lost_each = lost};
    return lost;
}

/*
 * Stages a group, one URL after the other, since one may stand there twice.
 *
 * Losses are charged now, because now the filter was asked: at its present error rate, since it does not change while
 * URLs are staged. The staging area compares whole hashes, so what is staged costs nothing until the filter has it.
 */
static int stage_adds(vidi_set *set, const vidi__work *work, const vidi__u128 *hashes, vidi__pending *pending)
{
    vidi__staging *staging = &set->durable->staging;
    vidi__tally tally = {0};
    int code = VIDI_OK;
    uint8_t *verdicts = work->verdicts;
    uint64_t *marks = set->durable->manual ? work->marks : NULL;
    size_t i = 0, n = work->count;
    for (size_t j = 0; j < n && j < PREFETCH_AHEAD; j++)
        vidi__staging_prefetch(staging, hashes[j]);
    for (; i < n && (code = stage_add(set, work, i, hashes[i])) == VIDI_OK; i++) {
        if (i + PREFETCH_AHEAD < n)
            vidi__staging_prefetch(staging, hashes[i + PREFETCH_AHEAD]);
        if (marks)
            marks[i] = vidi__staging_next(staging);
        tally.fresh += verdicts[i] == VIDI_NEW;
        tally.seen += verdicts[i] == VIDI_SEEN;
    }
    memset(verdicts + i, VIDI_UNTRIED, n - i);
    pending->lost_each = lost_each(set);
    tally.lost = (double)tally.fresh * pending->lost_each;
    vidi__slot_count(vidi__gate_mine(&set->gate), &tally);
    return code;
}

/* Bytes that the staging area needs for the URLs. */
static uint64_t bytes_of(const vidi__staging *staging, const vidi__work *work)
{
    uint64_t bytes = 0;
    for (size_t i = 0; staging->keeps_bytes && i < work->count; i++)
        bytes += work->urls[i].len;
    return bytes;
}

static void wait_later(vidi_set *set, vidi__pending *pending, uint64_t position)
{
    pending->log = set->durable->log;
    pending->position = position;
    atomic_fetch_add_explicit(&pending->log->waiting, 1, memory_order_relaxed);
}

/* With autocommit the operations go to the log at once; room for them is reserved before any is staged. */
static int stage_and_log(vidi_set *set, const vidi__work *work, const vidi__u128 *hashes, vidi__pending *pending)
{
    vidi__durable *durable = set->durable;
    vidi__staging *staging = &durable->staging;
    uint64_t position, reserved, first = staging->count;
    int code = vidi__write_reserve(set, work->urls, work->count, &reserved);
    if (code < 0) {
        memset(work->verdicts, VIDI_UNTRIED, work->count);
        return code;
    }
    pending->from = vidi__staging_next(staging);
    code = stage_adds(set, work, hashes, pending);
    pending->to = vidi__staging_next(staging);
    if (staging->count == first) {
        vidi__write_unreserve(set, reserved);
        return code;
    }
    vidi_str staged[VIDI__GROUP];
    if (!durable->hash_only)
        vidi__staging_urls(staging, first, (size_t)(staging->count - first), staged);
    vidi__record record = {VIDI__OP_ADD, staging->hash + first, staged, staging->count - first};
    vidi__write_append(set, &record, reserved, &position);
    staging->logged = staging->count;
    if (durable->policy == VIDI__SYNC_ALWAYS)
        wait_later(set, pending, position);
    return code;
}

/* What the filter says, without hashing again where it needs hashes alone. */
static int ask_filter(vidi_set *set, const vidi__work *work, const vidi__u128 *hashes, uint8_t *answers)
{
    vidi__work question = {.urls = work->urls, .count = work->count, .verdicts = answers};
    if (set->durable->hash_only) {
        question.urls = NULL;
        question.hashes = hashes;
    }
    return vidi__epoch_lookup(&set->memory, &set->now, &question);
}

/* `hashes` has room for them. */
static int stage_hashed(vidi_set *set, const vidi__work *work, vidi__u128 *hashes, vidi__pending *pending)
{
    vidi__durable *durable = set->durable;
    uint8_t answers[VIDI__HASHES_MAX];
    vidi__durable_hash(set, work, hashes);
    VIDI__TRY(ask_filter(set, work, hashes, answers));
    pthread_mutex_lock(&durable->staging_lock);
    int code = vidi__staging_reserve_for_filter(&durable->staging, work->count, bytes_of(&durable->staging, work));
    if (code == VIDI_OK) {
        memcpy(work->verdicts, answers, work->count);
        code = durable->manual ? stage_adds(set, work, hashes, pending) : stage_and_log(set, work, hashes, pending);
    }
    pthread_mutex_unlock(&durable->staging_lock);
    return code;
}

static __attribute__((noinline)) int stage_many(vidi_set *set, const vidi__work *work, vidi__pending *pending)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    return stage_hashed(set, work, hashes, pending);
}

static int add_to_staging(vidi_set *set, const vidi__work *work, vidi__pending *pending)
{
    vidi__u128 hashes[FEW_HASHES];
    return work->count <= FEW_HASHES ? stage_hashed(set, work, hashes, pending) : stage_many(set, work, pending);
}

static int check_length(const vidi_set *set, const vidi_str *urls, size_t n)
{
    for (size_t i = 0; i < n && !set->durable->hash_only; i++)
        if (urls[i].len > VIDI__LOGGED_URL_MAX)
            return vidi__fail(VIDI_ELIMIT,
                              "a URL of %zu bytes is too long for a set in a folder, whose log takes %llu at most",
                              urls[i].len, (unsigned long long)VIDI__LOGGED_URL_MAX);
    return VIDI_OK;
}

/* What cannot be logged is refused before it is staged: it could never be committed, and nothing after it could. */
static int add_locked(vidi_set *set, vidi__slot *slot, const vidi__work *work, vidi__pending *pending)
{
    VIDI__TRY(vidi__durable_state(set));
    if (VIDI__UNLIKELY(set->durable->full && !set->frozen))
        return vidi__fail(VIDI_ELIMIT, "the memory limit of %s leaves no room for more URLs",
                          vidi__human_bytes(set->memory.limit).text);
    VIDI__TRY(check_length(set, work->urls, work->count));
    if (vidi__set_uses_staging(set))
        return add_to_staging(set, work, pending);
    return add_directly(set, slot, work);
}

/* Filter and lane take one hash, without anything that batches need. *due: it may be time for a snapshot. */
static int add_one_locked(vidi_set *set, vidi__slot *slot, vidi_str url, bool *due)
{
    const vidi__durable *durable = set->durable;
    vidi__filter *filter = set->now.filter;
    if (durable->broken || vidi__set_uses_staging(set) || !durable->hash_only || !filter->kind->add_hash)
        return VIDI_UNTRIED;
    vidi__u128 hash = vidi__epoch_fetch(&set->now, url, !slot->repeats);
    vidi__lane *lane = vidi__lane_begin(set, slot, 1, sizeof hash);
    if (VIDI__UNLIKELY(!lane))
        return VIDI_UNTRIED;
    vidi__added added = filter->kind->add_hash(filter, hash);
    vidi__slot_count_one(slot, added);
    if (added.code >= 0 && is_kept(set, (uint8_t)added.code))
        vidi__lane_put(set, lane, &(vidi__record){.hashes = &hash, .n = 1});
    *due = vidi__lane_end(lane);
    return added.code;
}

int vidi__durable_add_one(vidi_set *set, vidi_str url)
{
    bool due = false;
    vidi__slot *slot = vidi__lock_to_add(set);
    int code = add_one_locked(set, slot, url, &due);
    vidi__unlock_slot(set, slot, 1);
    if (VIDI__UNLIKELY(due))
        vidi__snapshot_if_due(set);
    return code;
}

/* ---- when the disk fails ---- */

/*
 * Undoes the adds of a call that could not be brought to disk. What the filter has taken since, for a snapshot or for
 * vidi_write, cannot be undone: then the verdict stands, and the caller must go by it.
 */
static void take_back(vidi_set *set, const vidi__pending *pending, const vidi__work *work)
{
    vidi__staging *staging = &set->durable->staging;
    uint64_t fresh = 0, seen = 0, number = pending->from;
    for (size_t i = 0; i < work->count; i++) {
        if (!is_kept(set, work->verdicts[i]))
            continue;
        if (vidi__staging_undo(staging, number, number + 1)) {
            fresh += work->verdicts[i] == VIDI_NEW;
            seen += work->verdicts[i] == VIDI_SEEN;
            work->verdicts[i] = VIDI_UNTRIED;
        }
        number++;
    }
    atomic_fetch_sub_explicit(&set->now.answered_new, fresh, memory_order_relaxed);
    atomic_fetch_sub_explicit(&set->now.answered_seen, seen, memory_order_relaxed);
    vidi__epoch_lose(&set->now, -(double)fresh * pending->lost_each);
}

/*
 * Returns true if the i-th URL is still there. If there is no memory to ask, it counts as not there: the caller tries
 * again.
 */
static bool is_there(vidi_set *set, const vidi__work *work, size_t i)
{
    uint8_t verdict = VIDI_UNTRIED;
    vidi__u128 hash;
    vidi__work one = vidi__work_part(work, i, 1);
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    one.verdicts = &verdict;
    vidi__durable_hash(set, &one, &hash);
    int code = ask_filter(set, &one, &hash, &verdict);
    if (code == VIDI_OK)
        code = vidi__durable_joint_verdict(set, url_at(work, i), hash, &verdict);
    vidi__quiet_end(&quiet, VIDI_OK);
    return code == VIDI_OK && verdict == VIDI_SEEN;
}

/* A URL that was seen only because it stands twice in a call that was taken back has not been tried either. */
static void take_back_repeats(vidi_set *set, const vidi__work *work)
{
    uint64_t seen = 0;
    for (size_t i = 0; i < work->count; i++)
        if (work->verdicts[i] == VIDI_SEEN && !is_there(set, work, i)) {
            work->verdicts[i] = VIDI_UNTRIED;
            seen++;
        }
    atomic_fetch_sub_explicit(&set->now.answered_seen, seen, memory_order_relaxed);
}

static void take_back_removal(vidi_set *set, const vidi__pending *pending)
{
    if (vidi__staging_undo(&set->durable->staging, pending->from, pending->to))
        atomic_fetch_sub_explicit(&set->now.removed, 1, memory_order_relaxed);
}

/*
 * Waits until the operations are on disk; no lock. On an error they are undone and their verdicts VIDI_UNTRIED. work is
 * what was added; NULL: it was a removal.
 */
static int settle(vidi_set *set, vidi__pending *pending, const vidi__work *work)
{
    if (!pending->log)
        return VIDI_OK;
    int code = vidi__log_wait(pending->log->log, pending->position);
    atomic_fetch_sub_explicit(&pending->log->waiting, 1, memory_order_release);
    pending->log = NULL;
    vidi__lock_alone(set);
    if (code < 0 && work) {
        take_back(set, pending, work);
        take_back_repeats(set, work);
    } else if (code < 0) {
        take_back_removal(set, pending);
    } else if (!set->frozen) {
        vidi__durable_try_apply(set, pending->to);
    }
    vidi__unlock(set);
    return code;
}

/* ---- batches ---- */

/* Adds the next group of the work and tells its size. */
static int add_group(vidi_set *set, const vidi__work *rest, size_t *size)
{
    vidi__pending pending = {0};
    vidi__slot *slot = vidi__lock_to_add(set);
    *size = vidi__work_group(&set->now, rest);
    vidi__work group = vidi__work_part(rest, 0, *size);
    int code = vidi__work_check(&set->now, rest);
    if (code == VIDI_OK)
        code = add_locked(set, slot, &group, &pending);
    vidi__unlock_slot(set, slot, *size);
    int settled = settle(set, &pending, &group);
    return code < 0 ? code : settled;
}

/*
 * After an error: if memory is short while a snapshot is being written, waits until that is done, which frees what was
 * committed meanwhile. Returns true if the call may be repeated.
 */
static bool wait_for_memory(vidi_set *set, int code)
{
    if (code != VIDI_ELIMIT && code != VIDI_EMEMORY)
        return false;
    vidi__lock_shared(set);
    bool frozen = set->frozen;
    vidi__unlock(set);
    if (frozen) {
        vidi__turn_begin(set);
        vidi__turn_end(set);
    }
    return frozen;
}

static bool is_untried(const vidi__work *work, size_t count)
{
    size_t i = 0;
    while (i < count && work->verdicts[i] == VIDI_UNTRIED)
        i++;
    return i == count;
}

int vidi__durable_add(vidi_set *set, const vidi__work *work)
{
    for (size_t done = 0, size; done < work->count; done += size) {
        vidi__work rest = vidi__work_part(work, done, SIZE_MAX);
        int code;
        do
            code = add_group(set, &rest, &size);
        while (code < 0 && is_untried(&rest, size) && wait_for_memory(set, code));
        VIDI__TRY(code);
    }
    vidi__snapshot_if_due(set);
    return VIDI_OK;
}

/* ---- removals ---- */

/* Stages one removal, and logs it at once unless the caller commits. */
static int stage_removal(vidi_set *set, vidi_str url, vidi__u128 hash, vidi__pending *pending)
{
    vidi__durable *durable = set->durable;
    vidi__staging *staging = &durable->staging;
    uint64_t position, reserved = 0;
    VIDI__TRY(vidi__staging_reserve_for_filter(staging, 1, staging->keeps_bytes ? url.len : 0));
    if (!durable->manual)
        VIDI__TRY(vidi__write_reserve(set, &url, 1, &reserved));
    pending->from = vidi__staging_next(staging);
    vidi__staging_add(staging, VIDI__OP_REMOVE, hash, url);
    pending->to = vidi__staging_next(staging);
    atomic_fetch_add_explicit(&set->now.removed, 1, memory_order_relaxed);
    if (durable->manual)
        return VIDI_OK;
    vidi__write_append(set, &(vidi__record){VIDI__OP_REMOVE, &hash, &url, 1}, reserved, &position);
    staging->logged = staging->count;
    if (durable->policy == VIDI__SYNC_ALWAYS)
        wait_later(set, pending, position);
    else if (!set->frozen)
        vidi__durable_try_apply(set, pending->to);
    return VIDI_OK;
}

static int remove_locked(vidi_set *set, vidi_str url, vidi__pending *pending)
{
    vidi__u128 hash;
    uint8_t verdict = VIDI_UNTRIED;
    if (!(set->now.filter->can & VIDI_CAN_DELETE))
        return vidi__cannot(set, "remove URLs");
    VIDI__TRY(vidi__durable_state(set));
    vidi__work work = {.urls = &url, .count = 1, .verdicts = &verdict};
    VIDI__TRY(vidi__epoch_lookup(&set->memory, &set->now, &work));
    vidi__durable_hash(set, &work, &hash);
    VIDI__TRY(vidi__durable_joint_verdict(set, url, hash, &verdict));
    if (verdict == VIDI_NEW)
        return vidi__fail(VIDI_EABSENT, "the URL is not in the set");
    VIDI__TRY(check_length(set, &url, 1));
    VIDI__TRY(stage_removal(set, url, hash, pending));
    vidi__durable_ready(set);
    return VIDI_OK;
}

int vidi__durable_remove(vidi_set *set, vidi_str url)
{
    vidi__pending pending = {0};
    int code;
    do {
        vidi__lock_alone(set);
        code = remove_locked(set, url, &pending);
        vidi__unlock(set);
    } while (wait_for_memory(set, code));
    int settled = settle(set, &pending, NULL);
    return code < 0 ? code : settled;
}
