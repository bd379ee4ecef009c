/*
 * Adds and questions of durable sets: straight to filter and log, or by way of the stage; and how steps get from the
 * stage to the log and to the filter.
 */
#include "durable/durable.h"

#define STAGE_AHEAD 16 /* URLs whose places in the stage are on their way to the cache */

/* ---- hashes ---- */

vidi__u128 vidi__stage_hash(const vidi__epoch *epoch, vidi_str url)
{
    return vidi__hash(vidi__hash_find(VIDI__STR("sip13")), &epoch->key, url);
}

/* What the stage finds URLs by: the item's own hash where that is all that a kind knows. */
static int hash_urls(const vidi_set *set, const vidi_str *urls, size_t n, vidi__u128 *hashes)
{
    const vidi__epoch *now = &set->now;
    const vidi__hash_fn *fn = set->durable->hash_only ? now->hash : vidi__hash_find(VIDI__STR("sip13"));
    for (size_t i = 0; i < n; i++)
        VIDI__TRY(vidi__items_check(urls[i]));
    vidi__hash_batch(fn, &now->key, urls, n, hashes);
    return VIDI_OK;
}

static int know_urls(const vidi_set *set, const vidi_str *urls, const vidi__u128 *known, size_t n, vidi__u128 *hashes)
{
    if (!known)
        return hash_urls(set, urls, n, hashes);
    memcpy(hashes, known, n * sizeof *hashes);
    return VIDI_OK;
}

/* ---- from steps to the filter ---- */

/* Items of steps: from hashes alone, or from URLs with all that comes from them. */
static int make_items(vidi__items *items, vidi_set *set, const vidi__u128 *hashes, const vidi_str *urls, size_t n)
{
    if (!vidi__hash_only(set))
        return vidi__items_make(items, &set->memory, &set->now, urls, n);
    vidi__items_none(items, &set->memory);
    for (size_t i = 0; i < n; i++)
        items->list[i] = (vidi__item){.url = {{NULL, 0}, hashes[i]}};
    return VIDI_OK;
}

static int remove_items(vidi__filter *filter, const vidi__item *items, size_t n, uint8_t *verdicts)
{
    for (size_t i = 0; i < n; i++) {
        int code = filter->can & VIDI_CAN_DELETE ? filter->kind->remove(filter, &items[i]) : VIDI_OK;
        if (code < 0 && code != VIDI_EABSENT)
            return code;
        verdicts[i] = VIDI_SEEN;
    }
    return VIDI_OK;
}

static int apply_items(vidi_set *set, vidi__step_kind kind, const vidi__u128 *hashes, const vidi_str *urls, size_t n,
                       uint8_t *verdicts, vidi__tally *tally)
{
    vidi__items items;
    vidi__filter *filter = set->now.filter;
    int code = make_items(&items, set, hashes, urls, n);
    if (code == VIDI_OK)
        code = kind == VIDI__STEP_ADD ? vidi__filter_add(filter, items.list, n, verdicts, tally)
                                      : remove_items(filter, items.list, n, verdicts);
    vidi__items_free(&items);
    return code;
}

int vidi__steps_apply(vidi_set *set, vidi__step_kind kind, const vidi__u128 *hashes, const vidi_str *urls, size_t n,
                      uint8_t *verdicts, vidi__tally *tally)
{
    vidi__filter *filter = set->now.filter;
    memset(verdicts, VIDI_UNTRIED, n);
    if (kind == VIDI__STEP_ADD && vidi__hash_only(set) && vidi__takes_hashes(filter, n))
        return filter->kind->add_hashes(filter, hashes, n, verdicts, tally);
    for (size_t done = 0; done < n; done += VIDI__GROUP) {
        size_t group = n - done < VIDI__GROUP ? n - done : VIDI__GROUP;
        const vidi_str *some = urls ? urls + done : NULL;
        const vidi__u128 *known = hashes ? hashes + done : NULL;
        VIDI__TRY(apply_items(set, kind, known, some, group, verdicts + done, tally));
    }
    return VIDI_OK;
}

/* Steps from `at` on that are of one kind and fit into one group. */
static size_t run_of(const vidi__stage *stage, uint64_t at, uint64_t end, uint64_t most)
{
    uint64_t n = 1;
    while (at + n < end && n < most && stage->kind[at + n] == stage->kind[at])
        n++;
    return (size_t)n;
}

static void urls_of(const vidi__stage *stage, uint64_t at, size_t n, vidi_str *urls)
{
    for (size_t i = 0; i < n; i++)
        urls[i] = vidi__stage_url(stage, at + i);
}

/* Steps that the filter has taken before an error stopped it need not be here any longer. */
static void forget_done(vidi__stage *stage, uint64_t at, const uint8_t *verdicts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (verdicts[i] != VIDI_UNTRIED)
            vidi__stage_undo(stage, stage->first + at + i, stage->first + at + i + 1);
}

int vidi__durable_apply(vidi_set *set, uint64_t to)
{
    vidi__stage *stage = &set->durable->stage;
    uint64_t end = to - stage->first < stage->logged ? to - stage->first : stage->logged, at = 0;
    vidi__tally tally = {0};
    int code = VIDI_OK;
    if (to <= stage->first)
        return VIDI_OK;
    while (at < end && code == VIDI_OK) {
        vidi_str urls[VIDI__HASHES_MAX];
        uint8_t verdicts[VIDI__HASHES_MAX];
        size_t n = run_of(stage, at, end, VIDI__HASHES_MAX);
        if (stage->kind[at] != VIDI__STEP_NONE) {
            if (stage->keeps_bytes)
                urls_of(stage, at, n, urls);
            code = vidi__steps_apply(set, stage->kind[at], stage->hash + at, stage->keeps_bytes ? urls : NULL, n,
                                     verdicts, &tally);
            if (code < 0) {
                forget_done(stage, at, verdicts, n);
                break;
            }
        }
        at += n;
    }
    vidi__epoch_lose(&set->now, tally.lost);
    vidi__stage_drop(stage, at);
    vidi__durable_ready(set);
    return code;
}

/* ---- from steps to the log ---- */

static int log_run(vidi_set *set, uint64_t at, size_t n, uint64_t *position)
{
    vidi__stage *stage = &set->durable->stage;
    vidi_str urls[VIDI__RECORD_URLS] = {{NULL, 0}};
    if (stage->kind[at] == VIDI__STEP_NONE)
        return VIDI_OK;
    if (!set->durable->hash_only)
        urls_of(stage, at, n, urls);
    uint64_t bytes = vidi__record_bytes(set->durable, urls, n);
    VIDI__TRY(vidi__log_reserve(set->durable->log->log, bytes));
    vidi__record_append(set, stage->kind[at], stage->hash + at, urls, n, bytes, position);
    return VIDI_OK;
}

int vidi__durable_log_steps(vidi_set *set, uint64_t to, uint64_t *position)
{
    vidi__stage *stage = &set->durable->stage;
    uint64_t here = to > stage->first ? to - stage->first : 0, end = here < stage->count ? here : stage->count;
    uint64_t most = set->durable->hash_only ? VIDI__RECORD_HASHES : VIDI__RECORD_URLS;
    vidi__log *log = set->durable->log->log;
    bool waited = false;
    *position = vidi__log_end(log);
    while (stage->logged < end) {
        size_t n = run_of(stage, stage->logged, end, most);
        int code = log_run(set, stage->logged, n, position);
        if ((code == VIDI_EMEMORY || code == VIDI_ELIMIT) && !waited) {
            /* No memory for the log's buffer, which a commit would make room for: in small pieces, one by one. */
            VIDI__TRY(vidi__log_wait(log, *position));
            most = VIDI__RECORD_URLS;
            waited = true;
            continue;
        }
        VIDI__TRY(code);
        stage->logged += n;
        waited = false;
    }
    return VIDI_OK;
}

/* ---- filter and stage together ---- */

/*
 * The verdict of both on a URL of which the filter says `verdict`. Where every add is kept, a URL that was removed once
 * may be there still.
 */
static int joint_verdict(vidi_set *set, vidi_str url, vidi__u128 hash, uint8_t *verdict)
{
    int32_t delta = vidi__stage_delta(&set->durable->stage, hash);
    if (delta >= 0 || *verdict == VIDI_NEW || !set->now.filter->every_add) {
        *verdict = (*verdict == VIDI_SEEN) + delta > 0 ? VIDI_SEEN : VIDI_NEW;
        return VIDI_OK;
    }
    vidi__items items;
    uint64_t times = 0;
    int code = make_items(&items, set, &hash, &url, 1);
    if (code == VIDI_OK)
        code = set->now.filter->kind->times(set->now.filter, items.list, &times);
    vidi__items_free(&items);
    *verdict = times > (uint64_t) - (int64_t)delta ? VIDI_SEEN : VIDI_NEW;
    return code;
}

/* ---- adding ---- */

/* Does the filter, and so the log, want to have an add of this verdict? */
static bool is_kept(const vidi_set *set, uint8_t verdict)
{
    return verdict == VIDI_NEW || (verdict == VIDI_SEEN && set->now.filter->every_add);
}

static void count_answers(vidi_set *set, const vidi__tally *tally)
{
    atomic_fetch_add_explicit(&set->now.answered_new, tally->fresh, memory_order_relaxed);
    atomic_fetch_add_explicit(&set->now.answered_seen, tally->seen, memory_order_relaxed);
    vidi__epoch_lose(&set->now, tally->lost);
}

/* What the filter has taken, a record's worth of hashes or URLs, goes to the log, which has room for `bytes`. */
static void log_taken(vidi_set *set, const vidi__u128 *hashes, const vidi_str *urls, size_t count, uint64_t bytes)
{
    uint64_t position;
    if (count)
        vidi__record_append(set, VIDI__STEP_ADD, hashes, urls, count, bytes, &position);
    else
        vidi__log_unreserve(set->durable->log->log, bytes);
}

/* Straight to a filter that needs nothing but hashes, for which the caller has the room. */
static int add_hashes(vidi_set *set, const vidi_str *urls, const vidi__u128 *known, size_t n, vidi__u128 *hashes,
                      uint8_t *verdicts)
{
    vidi__tally tally = {0};
    uint64_t bytes = vidi__record_bytes(set->durable, urls, n);
    size_t count = 0;
    VIDI__TRY(know_urls(set, urls, known, n, hashes));
    VIDI__TRY(vidi__log_reserve(set->durable->log->log, bytes));
    int code = vidi__steps_apply(set, VIDI__STEP_ADD, hashes, NULL, n, verdicts, &tally);
    count_answers(set, &tally);
    for (size_t i = 0; i < n; i++) { /* without a branch: verdicts are hard to foretell */
        hashes[count] = hashes[i];
        count += is_kept(set, verdicts[i]);
    }
    log_taken(set, hashes, NULL, count, bytes);
    return code;
}

/* Straight to one that needs more: never more than a group. */
static int add_urls(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    vidi_str kept[VIDI__GROUP];
    vidi__tally tally = {0};
    uint64_t bytes = vidi__record_bytes(set->durable, urls, n);
    size_t count = 0;
    VIDI__TRY(vidi__log_reserve(set->durable->log->log, bytes));
    int code = vidi__steps_apply(set, VIDI__STEP_ADD, NULL, urls, n, verdicts, &tally);
    count_answers(set, &tally);
    for (size_t i = 0; i < n; i++)
        if (is_kept(set, verdicts[i]))
            kept[count++] = urls[i];
    log_taken(set, NULL, kept, count, bytes);
    return code;
}

/* Not inlined: a large frame, which few URLs should not pay for. */
static __attribute__((noinline)) int add_many(vidi_set *set, const vidi_str *urls, const vidi__u128 *known, size_t n,
                                              uint8_t *verdicts)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    return add_hashes(set, urls, known, n, hashes, verdicts);
}

static int add_directly(vidi_set *set, const vidi_str *urls, const vidi__u128 *known, size_t n, uint8_t *verdicts)
{
    vidi__u128 hashes[VIDI__HASHES_FROM];
    if (!set->durable->hash_only)
        return add_urls(set, urls, n, verdicts);
    return n <= VIDI__HASHES_FROM ? add_hashes(set, urls, known, n, hashes, verdicts)
                                  : add_many(set, urls, known, n, verdicts);
}

/* Hashes that are known may have come without their URLs. */
static vidi_str url_at(const vidi_str *urls, size_t i)
{
    return urls ? urls[i] : (vidi_str){NULL, 0};
}

/* The verdicts of the filter become those of filter and stage together, one after the other, with each add a step. */
static int stage_adds(vidi_set *set, const vidi__u128 *hashes, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    vidi__stage *stage = &set->durable->stage;
    vidi__tally tally = {0};
    int code = VIDI_OK;
    size_t i = 0;
    for (size_t j = 0; j < n && j < STAGE_AHEAD; j++)
        vidi__stage_prefetch(stage, hashes[j]);
    for (; i < n && (code = joint_verdict(set, url_at(urls, i), hashes[i], &verdicts[i])) == VIDI_OK; i++) {
        if (i + STAGE_AHEAD < n)
            vidi__stage_prefetch(stage, hashes[i + STAGE_AHEAD]);
        if (is_kept(set, verdicts[i]))
            vidi__stage_add(stage, VIDI__STEP_ADD, hashes[i], url_at(urls, i));
        tally.fresh += verdicts[i] == VIDI_NEW;
        tally.seen += verdicts[i] == VIDI_SEEN;
    }
    memset(verdicts + i, VIDI_UNTRIED, n - i);
    count_answers(set, &tally);
    return code;
}

static uint64_t bytes_of(const vidi__stage *stage, const vidi_str *urls, size_t n)
{
    uint64_t bytes = 0;
    for (size_t i = 0; stage->keeps_bytes && i < n; i++)
        bytes += urls[i].len;
    return bytes;
}

static void wait_later(vidi_set *set, vidi__pending *pending, uint64_t position)
{
    pending->log = set->durable->log;
    pending->position = position;
    atomic_fetch_add_explicit(&pending->log->waiting, 1, memory_order_relaxed);
}

/* With autocommit the steps go to the log at once: with one record, for which there must be room before any is made. */
static int stage_and_log(vidi_set *set, const vidi__u128 *hashes, const vidi_str *urls, size_t n, uint8_t *verdicts,
                         vidi__pending *pending)
{
    vidi__durable *durable = set->durable;
    vidi__stage *stage = &durable->stage;
    uint64_t position, bytes = vidi__record_bytes(durable, urls, n), first = stage->count;
    int code = vidi__log_reserve(durable->log->log, bytes);
    if (code < 0) {
        memset(verdicts, VIDI_UNTRIED, n);
        return code;
    }
    pending->from = vidi__stage_next(stage);
    code = stage_adds(set, hashes, urls, n, verdicts);
    pending->to = vidi__stage_next(stage);
    if (stage->count == first) {
        vidi__log_unreserve(durable->log->log, bytes);
        return code;
    }
    vidi_str staged[VIDI__RECORD_URLS];
    if (!durable->hash_only)
        urls_of(stage, first, (size_t)(stage->count - first), staged);
    vidi__record_append(set, VIDI__STEP_ADD, stage->hash + first, staged, stage->count - first, bytes, &position);
    stage->logged = stage->count;
    if (durable->policy == VIDI__SYNC_ALWAYS)
        wait_later(set, pending, position);
    return code;
}

/* What the filter says, without hashing once more. */
static int ask_filter(vidi_set *set, const vidi__u128 *hashes, const vidi_str *urls, size_t n, uint8_t *answers)
{
    vidi__items items;
    const vidi__filter *filter = set->now.filter;
    if (!set->durable->hash_only)
        return vidi__epoch_has(&set->memory, &set->now, urls, n, answers);
    if (vidi__takes_hashes(filter, n))
        return filter->kind->has_hashes(filter, hashes, n, answers);
    int code = make_items(&items, set, hashes, NULL, n);
    if (code == VIDI_OK)
        code = vidi__filter_has(filter, items.list, n, answers);
    vidi__items_free(&items);
    return code;
}

static int add_to_stage(vidi_set *set, const vidi_str *urls, const vidi__u128 *known, size_t n, uint8_t *verdicts,
                        vidi__pending *pending)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    vidi__durable *durable = set->durable;
    uint8_t answers[VIDI__HASHES_MAX];
    VIDI__TRY(know_urls(set, urls, known, n, hashes));
    VIDI__TRY(ask_filter(set, hashes, urls, n, answers));
    pthread_mutex_lock(&durable->stage_lock);
    int code = vidi__stage_reserve(&durable->stage, n, bytes_of(&durable->stage, urls, n));
    if (code == VIDI_OK) {
        memcpy(verdicts, answers, n);
        code = durable->manual ? stage_adds(set, hashes, urls, n, verdicts)
                               : stage_and_log(set, hashes, urls, n, verdicts, pending);
    }
    pthread_mutex_unlock(&durable->stage_lock);
    return code;
}

int vidi__durable_add(vidi_set *set, const vidi_str *urls, const vidi__u128 *known, size_t n, uint8_t *verdicts,
                      vidi__pending *pending)
{
    VIDI__TRY(vidi__durable_state(set));
    if (atomic_load_explicit(&set->durable->staging, memory_order_relaxed))
        return add_to_stage(set, urls, known, n, verdicts, pending);
    return add_directly(set, urls, known, n, verdicts);
}

/*
 * The steps of this call are not on disk: as if they had not been made. But what a snapshot, which somebody has tried since,
 * has brought into the filter cannot be taken back; then the verdicts stand, and the caller must go by them.
 */
static void take_back(vidi_set *set, const vidi__pending *pending, size_t n, uint8_t *verdicts)
{
    uint64_t fresh = 0, seen = 0;
    if (pending->from < set->durable->stage.first)
        return;
    vidi__stage_undo(&set->durable->stage, pending->from, pending->to);
    for (size_t i = 0; i < n; i++)
        if (is_kept(set, verdicts[i])) {
            fresh += verdicts[i] == VIDI_NEW;
            seen += verdicts[i] == VIDI_SEEN;
            verdicts[i] = VIDI_UNTRIED;
        }
    atomic_fetch_sub_explicit(&set->now.answered_new, fresh, memory_order_relaxed);
    atomic_fetch_sub_explicit(&set->now.answered_seen, seen, memory_order_relaxed);
    if (!n) /* it was a removal */
        atomic_fetch_sub_explicit(&set->now.removed, 1, memory_order_relaxed);
}

int vidi__durable_settle(vidi_set *set, vidi__pending *pending, size_t n, uint8_t *verdicts)
{
    if (!pending->log)
        return VIDI_OK;
    int code = vidi__log_wait(pending->log->log, pending->position);
    atomic_fetch_sub_explicit(&pending->log->waiting, 1, memory_order_release);
    pending->log = NULL;
    vidi__lock_alone(set);
    if (code < 0)
        take_back(set, pending, n, verdicts);
    else if (!set->durable->frozen)
        (void)vidi__durable_apply(set, pending->to); /* what the filter has no memory for stays in the stage */
    vidi__unlock(set);
    return code;
}

/* ---- questions ---- */

int vidi__durable_has(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    vidi__durable *durable = set->durable;
    if (!atomic_load_explicit(&durable->staging, memory_order_relaxed))
        return VIDI_OK;
    VIDI__TRY(hash_urls(set, urls, n, hashes));
    bool shared = !set->read_only; /* otherwise nobody changes it */
    if (shared)
        pthread_mutex_lock(&durable->stage_lock);
    int code = VIDI_OK;
    for (size_t i = 0; i < n && code == VIDI_OK; i++)
        code = joint_verdict(set, urls[i], hashes[i], &verdicts[i]);
    if (shared)
        pthread_mutex_unlock(&durable->stage_lock);
    return code;
}

int vidi__durable_count(vidi_set *set, vidi_str url, uint64_t *times)
{
    vidi__u128 hash;
    VIDI__TRY(hash_urls(set, &url, 1, &hash));
    pthread_mutex_lock(&set->durable->stage_lock);
    int64_t sum = (int64_t)*times + vidi__stage_delta(&set->durable->stage, hash);
    pthread_mutex_unlock(&set->durable->stage_lock);
    *times = sum > 0 ? (uint64_t)sum : 0;
    return VIDI_OK;
}

/* One step, logged at once if commits are not the caller's. */
static int stage_removal(vidi_set *set, vidi_str url, vidi__u128 hash, vidi__pending *pending)
{
    vidi__durable *durable = set->durable;
    vidi__stage *stage = &durable->stage;
    uint64_t position, bytes = vidi__record_bytes(durable, &url, 1);
    VIDI__TRY(vidi__stage_reserve(stage, 1, bytes_of(stage, &url, 1)));
    if (!durable->manual)
        VIDI__TRY(vidi__log_reserve(durable->log->log, bytes));
    pending->from = vidi__stage_next(stage);
    vidi__stage_add(stage, VIDI__STEP_REMOVE, hash, url);
    pending->to = vidi__stage_next(stage);
    atomic_fetch_add_explicit(&set->now.removed, 1, memory_order_relaxed);
    if (durable->manual)
        return VIDI_OK;
    vidi__record_append(set, VIDI__STEP_REMOVE, &hash, &url, 1, bytes, &position);
    stage->logged = stage->count;
    if (durable->policy == VIDI__SYNC_ALWAYS)
        wait_later(set, pending, position);
    else if (!durable->frozen)
        (void)vidi__durable_apply(set, pending->to);
    return VIDI_OK;
}

int vidi__durable_remove(vidi_set *set, vidi_str url, vidi__pending *pending)
{
    vidi__u128 hash;
    uint8_t verdict = VIDI_UNTRIED;
    VIDI__TRY(vidi__durable_state(set));
    VIDI__TRY(vidi__epoch_has(&set->memory, &set->now, &url, 1, &verdict));
    VIDI__TRY(hash_urls(set, &url, 1, &hash));
    VIDI__TRY(joint_verdict(set, url, hash, &verdict));
    if (verdict == VIDI_NEW)
        return vidi__fail(VIDI_EABSENT, "the URL is not in the set");
    VIDI__TRY(stage_removal(set, url, hash, pending));
    vidi__durable_ready(set);
    return VIDI_OK;
}

int vidi__durable_no_removals(const vidi_set *set)
{
    const vidi__stage *stage = &set->durable->stage;
    for (uint64_t i = 0; i < stage->logged; i++)
        if (stage->kind[i] == VIDI__STEP_REMOVE)
            return vidi__fail(VIDI_ECANNOT,
                              "there are removals in the log that are not folded into the snapshot; take a "
                              "snapshot, or open the set with VIDI_NO_MAP");
    return VIDI_OK;
}

/* What is committed but not in the filter. */
int vidi__durable_iterate(const vidi_set *set, vidi_visitor visitor, void *context)
{
    const vidi__stage *stage = &set->durable->stage;
    for (uint64_t i = 0; i < stage->logged; i++) {
        if (stage->kind[i] != VIDI__STEP_ADD)
            continue;
        vidi_entry entry = {vidi__stage_url(stage, i), {stage->hash[i].lo, stage->hash[i].hi}, 1};
        int code = visitor(context, &entry);
        if (code)
            return code;
    }
    return VIDI_OK;
}
