/*
 * Adding and removing. vidi_add, vidi_add_batch and vidi_add_digests meet in vidi__add_work: the one way into a set.
 *
 *     URLs ── canonicalize.c ──┐
 *                              ├── vidi__add_work ── filter (work.c), or staging area, log and filter (lib/durable)
 *     digests ── digests.c ────┘
 */
#include "set/set.h"

static int add_to_filter(vidi_set *set, const vidi__work *group)
{
    vidi__tally tally = {0};
    int code = vidi__epoch_add(&set->memory, &set->now, group, &tally);
    vidi__epoch_count(&set->now, &tally);
    return code;
}

/* Adds the next group of the work and tells its size. */
static int add_group(vidi_set *set, const vidi__work *rest, size_t *size)
{
    const vidi__persistence *persistence = set->persistence;
    vidi__pending pending = {0};
    vidi__lock_to_add(set);
    *size = vidi__work_group(&set->now, rest);
    vidi__work group = vidi__work_part(rest, 0, *size);
    int code = vidi__work_check(&set->now, rest);
    if (code == VIDI_OK)
        code = persistence ? persistence->add(set, &group, &pending) : add_to_filter(set, &group);
    vidi__unlock(set);
    int settled = persistence ? persistence->settle(set, &pending, &group) : VIDI_OK;
    return code < 0 ? code : settled;
}

/*
 * After an error: if memory is short while a snapshot is being written, waits until that is done, which frees what was
 * committed meanwhile. Returns true if the call may be repeated.
 */
static bool wait_for_memory(vidi_set *set, int code)
{
    if (!set->persistence || (code != VIDI_ELIMIT && code != VIDI_EMEMORY))
        return false;
    vidi__lock_shared(set);
    bool frozen = set->persistence->is_frozen(set);
    vidi__unlock(set);
    if (frozen) {
        set->persistence->turn_begin(set);
        set->persistence->turn_end(set);
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

int vidi__add_work(vidi_set *set, const vidi__work *work)
{
    VIDI__TRY(vidi__set_writable(set));
    for (size_t done = 0, size; done < work->count; done += size) {
        vidi__work rest = vidi__work_part(work, done, SIZE_MAX);
        int code;
        do
            code = add_group(set, &rest, &size);
        while (code < 0 && is_untried(&rest, size) && wait_for_memory(set, code));
        VIDI__TRY(code);
    }
    if (set->persistence)
        set->persistence->added(set);
    return VIDI_OK;
}

static int add_batch(vidi_set *set, const vidi__work *batch)
{
    if (!set || (batch->count && (!batch->urls || !batch->verdicts)))
        return vidi__fail(VIDI_EARGUMENT, "set, urls or verdicts is NULL");
    if (batch->count)
        memset(batch->verdicts, VIDI_UNTRIED, batch->count);
    return vidi__answer(vidi__for_chunks(set, batch, vidi__add_work, &set->now.answered_invalid));
}

/* Is entry i answered? Before a call only digests can be, if an earlier call has failed: they keep their marks. */
static bool is_answered(const vidi__work *batch, size_t i)
{
    return batch->verdicts[i] == VIDI_NEW || batch->verdicts[i] == VIDI_SEEN;
}

/* Sets that commit by themselves write no marks. */
static void clear_marks(const vidi__work *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->urls || !is_answered(batch, i))
            batch->marks[i] = 0;
}

/* The mark of the entries before the first answered one: what was answered before, also if that was an earlier call. */
static uint64_t first_mark(const vidi__work *batch, uint64_t before)
{
    size_t i = 0;
    while (i < batch->count && !is_answered(batch, i))
        i++;
    return i < batch->count && batch->marks[i] < before ? batch->marks[i] - 1 : before;
}

int vidi__run_marked(vidi_set *set, const vidi__work *batch, vidi__chunk_fn *fn)
{
    if (!set || (batch->count && (!(batch->urls || batch->hashes) || !batch->verdicts)))
        return vidi__fail(VIDI_EARGUMENT, "set, URLs, digests or verdicts is NULL");
    uint64_t before = set->persistence ? set->persistence->mark(set) : 0;
    clear_marks(batch);
    int code = fn(set, batch);
    uint64_t mark = first_mark(batch, before);
    for (size_t i = 0; i < batch->count; i++) {
        if (is_answered(batch, i))
            mark = batch->marks[i];
        else
            batch->marks[i] = mark;
    }
    return code;
}

int vidi_add_batch(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts, uint64_t *marks)
{
    vidi__work batch = {.urls = urls, .count = n, .verdicts = verdicts, .marks = marks};
    return marks ? vidi__run_marked(set, &batch, add_batch) : add_batch(set, &batch);
}

/* Not inlined, so that the short way needs none of its frame. */
static __attribute__((noinline)) int add_as_batch(vidi_set *set, vidi_str url)
{
    uint8_t verdict = VIDI_UNTRIED;
    int code = add_batch(set, &(vidi__work){.urls = &url, .count = 1, .verdicts = &verdict, .single = true});
    return code == VIDI_OK ? verdict : code;
}

/*
 * Adds one URL to a filter that needs more than the hash, or has no short way for it. The caller holds the lock, which
 * this releases.
 */
static __attribute__((noinline)) int add_item_and_unlock(vidi_set *set, vidi_str url)
{
    uint8_t verdict = VIDI_UNTRIED;
    vidi__tally tally = {0};
    vidi__work work = {.urls = &url, .count = 1, .verdicts = &verdict};
    bool canonical = vidi__is_canonical(set, url);
    int code = canonical ? vidi__epoch_add(&set->memory, &set->now, &work, &tally) : VIDI_OK;
    if (canonical)
        vidi__epoch_count_one(&set->now, (vidi__added){code < 0 ? code : verdict, tally.lost}, set->alone);
    vidi__unlock(set);
    if (!canonical)
        return add_as_batch(set, url);
    return code < 0 ? code : verdict;
}

/*
 * Adds one URL to a set in memory: the same as vidi__add_work, without what batches and logs need. The hash comes
 * first, so that the filter's line is on its way while the URL is checked.
 */
static int add_one(vidi_set *set, vidi_str url)
{
    VIDI__TRY(vidi__set_writable(set));
    vidi__lock_to_add(set);
    vidi__epoch *now = &set->now;
    vidi__filter *filter = now->filter;
    if (VIDI__UNLIKELY(!vidi__filter_takes_one(filter)))
        return add_item_and_unlock(set, url);
    vidi__u128 hash = vidi__epoch_fetch(now, url, set->alone);
    if (VIDI__UNLIKELY(!vidi__is_canonical(set, url))) {
        vidi__unlock(set);
        return add_as_batch(set, url);
    }
    vidi__added added = filter->kind->add_hash(filter, hash);
    vidi__epoch_count_one(now, added, set->alone);
    vidi__unlock(set);
    return added.code;
}

/* The same for a set in a folder, which goes the long way if it has to wait for the disk, or stages what it adds. */
static int add_one_to_folder(vidi_set *set, vidi_str url)
{
    if (VIDI__UNLIKELY(!vidi__is_canonical(set, url)))
        return add_as_batch(set, url);
    VIDI__TRY(vidi__set_writable(set));
    vidi__lock_to_add(set);
    int code = set->persistence->add_one(set, url);
    vidi__unlock(set);
    if (VIDI__UNLIKELY(code == VIDI_UNTRIED))
        return add_as_batch(set, url);
    set->persistence->added(set);
    return code;
}

int vidi_add(vidi_set *set, vidi_str url)
{
    if (VIDI__UNLIKELY(!set || !url.ptr))
        return add_as_batch(set, url);
    return set->persistence ? add_one_to_folder(set, url) : add_one(set, url);
}

/* ---- removing ---- */

static int remove_locked(vidi_set *set, vidi_str url, vidi__pending *pending)
{
    if (!(set->now.filter->can & VIDI_CAN_DELETE))
        return vidi__cannot(set, "remove URLs");
    if (set->persistence)
        return set->persistence->remove(set, url, pending);
    VIDI__TRY(vidi__epoch_remove(&set->memory, &set->now, url, NULL));
    atomic_fetch_add_explicit(&set->now.removed, 1, memory_order_relaxed);
    return VIDI_OK;
}

static int remove_url(vidi_set *set, vidi_str url, uint64_t *unused)
{
    vidi__pending pending = {0};
    (void)unused;
    VIDI__TRY(vidi__set_writable(set));
    int code;
    do {
        vidi__lock_alone(set);
        code = remove_locked(set, url, &pending);
        vidi__unlock(set);
    } while (wait_for_memory(set, code));
    int settled = set->persistence ? set->persistence->settle(set, &pending, NULL) : VIDI_OK;
    return code < 0 ? code : settled;
}

int vidi_remove(vidi_set *set, vidi_str url)
{
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    return vidi__answer(vidi__for_single(set, url, remove_url, NULL));
}
