/* Lookups: they change nothing but the counter of lookups. */
#include "set/set.h"

/* Looks a group up in the current epoch; the caller holds the lock, or the set is another one's previous_set. */
static int lookup_group(vidi_set *set, const vidi__work *group)
{
    VIDI__TRY(vidi__work_check(&set->now, group));
    int code = vidi__set_intact(set, vidi__epoch_lookup(&set->memory, &set->now, group));
    if (code == VIDI_OK && vidi__set_uses_staging(set))
        code = set->persistence->lookup(set, group, NULL);
    if (code == VIDI_EIO)
        memset(group->verdicts, VIDI_UNTRIED, group->count);
    return code;
}

int vidi__lookup_work(vidi_set *set, const vidi__work *work)
{
    for (size_t done = 0, size; done < work->count; done += size) {
        vidi__work rest = vidi__work_part(work, done, SIZE_MAX);
        vidi__slot *slot = vidi__lock_to_look(set);
        size = vidi__work_group(&set->now, &rest);
        vidi__work group = vidi__work_part(&rest, 0, size);
        int code = lookup_group(set, &group);
        vidi__counter_add(&slot->asked, code == VIDI_OK ? size : 0);
        vidi__unlock_slot(set, slot, size);
        VIDI__TRY(code);
    }
    return VIDI_OK;
}

static int lookup_batch(const vidi_set *set, const vidi__work *batch)
{
    vidi_set *self = (vidi_set *)set; /* lookups are counted */
    if (!set || (batch->count && (!batch->urls || !batch->verdicts)))
        return vidi__fail(VIDI_EARGUMENT, "set, urls or verdicts is NULL");
    VIDI__TRY(vidi__set_here(set));
    if (batch->count)
        memset(batch->verdicts, VIDI_UNTRIED, batch->count);
    bool kept = set->invalid == VIDI_KEEP_INVALID; /* lines that are kept go through lookup_group, which counts them */
    return vidi__answer(vidi__for_chunks(self, batch, vidi__lookup_work, kept ? NULL : &self->now.asked));
}

int vidi_has_batch(const vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    return lookup_batch(set, &(vidi__work){.urls = urls, .count = n, .verdicts = verdicts});
}

/* For filters that need more than the hash, or have no short way for it. The caller holds the lock. */
static __attribute__((noinline)) int look_item(vidi_set *set, vidi_str url)
{
    uint8_t verdict = VIDI_UNTRIED;
    vidi__work work = {.urls = &url, .count = 1, .verdicts = &verdict};
    int code = vidi__epoch_lookup(&set->memory, &set->now, &work);
    return code < 0 ? code : verdict;
}

static __attribute__((noinline)) int look_as_batch(const vidi_set *set, vidi_str url)
{
    uint8_t verdict = VIDI_UNTRIED;
    int code = lookup_batch(set, &(vidi__work){.urls = &url, .count = 1, .verdicts = &verdict, .single = true});
    return code == VIDI_OK ? verdict : code;
}

/*
 * Looks one URL up in the filter: the same as vidi__lookup_work, without what batches need. The hash comes first, as in
 * adds.
 */
static int look_one(vidi_set *set, vidi_str url)
{
    VIDI__TRY(vidi__set_here(set));
    vidi__slot *slot = vidi__lock_to_look(set);
    const vidi__epoch *now = &set->now;
    const vidi__filter *filter = now->filter;
    const bool short_way = vidi__filter_takes_one(filter);
    vidi__u128 hash = {0, 0};
    if (VIDI__LIKELY(short_way))
        hash = vidi__epoch_fetch(now, url, false);
    if (VIDI__UNLIKELY(!vidi__is_canonical(set, url) || vidi__set_uses_staging(set))) {
        vidi__unlock_slot(set, slot, 1);
        return look_as_batch(set, url);
    }
    int code = VIDI__LIKELY(short_way) ? filter->kind->has_hash(filter, hash) : look_item(set, url);
    code = vidi__set_intact(set, code);
    vidi__counter_add(&slot->asked, code >= 0);
    vidi__unlock_slot(set, slot, 1);
    return code;
}

int vidi_has(const vidi_set *set, vidi_str url)
{
    return VIDI__LIKELY(set && url.ptr) ? look_one((vidi_set *)set, url) : look_as_batch(set, url);
}

static int lookup_previous(vidi_set *set, vidi_str url, uint64_t *answer)
{
    uint8_t verdict = VIDI_UNTRIED;
    vidi__work work = {.urls = &url, .count = 1, .verdicts = &verdict};
    int code;
    vidi__slot *slot = vidi__lock_to_look(set);
    if (set->previous) {
        code = vidi__epoch_lookup(&set->memory, set->previous, &work);
        atomic_fetch_add_explicit(&set->previous->asked, code == VIDI_OK, memory_order_relaxed);
    } else if (set->previous_set) {
        code = lookup_group(set->previous_set, &work);
        atomic_fetch_add_explicit(&set->previous_set->now.asked, code == VIDI_OK, memory_order_relaxed);
    } else {
        code = vidi__fail(VIDI_ECANNOT, "no previous epoch is kept; a rotation drops it unless it is asked to keep it");
    }
    vidi__unlock_slot(set, slot, 1);
    *answer = verdict;
    return code;
}

int vidi_has_previous(const vidi_set *set, vidi_str url)
{
    uint64_t verdict = VIDI_UNTRIED;
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    VIDI__TRY(vidi__set_here(set));
    int code = vidi__for_single((vidi_set *)set, url, lookup_previous, &verdict);
    return code ? vidi__answer(code) : (int)verdict;
}

static int count_locked(vidi_set *set, vidi_str url, uint64_t *times)
{
    if (!(set->now.filter->can & VIDI_CAN_COUNT))
        return vidi__cannot(set, "count");
    VIDI__TRY(vidi__set_intact(set, vidi__epoch_times(&set->memory, &set->now, url, NULL, times)));
    vidi__work work = {.urls = &url, .count = 1};
    return vidi__set_uses_staging(set) ? set->persistence->lookup(set, &work, times) : VIDI_OK;
}

static int count_url(vidi_set *set, vidi_str url, uint64_t *times)
{
    vidi__slot *slot = vidi__lock_to_look(set);
    int code = count_locked(set, url, times);
    vidi__unlock_slot(set, slot, 1);
    return code;
}

int vidi_count(const vidi_set *set, vidi_str url, uint64_t *times)
{
    if (!set || !times)
        return vidi__fail(VIDI_EARGUMENT, "set or times is NULL");
    VIDI__TRY(vidi__set_here(set));
    return vidi__answer(vidi__for_single((vidi_set *)set, url, count_url, times));
}
