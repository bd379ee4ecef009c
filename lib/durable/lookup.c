/*
 * Lookups in a durable set: the filter's answer, corrected by what is in the staging area.
 */
#include "durable/log_index.h"

/* In a multiset, a URL that was removed once may still be there. */
int vidi__durable_correct(vidi_set *set, vidi_str url, vidi__u128 hash, int32_t delta, uint8_t *verdict)
{
    if (delta >= 0 || *verdict == VIDI_NEW || !set->now.filter->stores_every_add) {
        *verdict = (*verdict == VIDI_SEEN) + delta > 0 ? VIDI_SEEN : VIDI_NEW;
        return VIDI_OK;
    }
    uint64_t times = 0;
    int code = vidi__epoch_times(&set->memory, &set->now, url, set->durable->hash_only ? &hash : NULL, &times);
    *verdict = times > (uint64_t) - (int64_t)delta ? VIDI_SEEN : VIDI_NEW;
    return code;
}

int vidi__durable_joint_verdict(vidi_set *set, vidi_str url, vidi__u128 hash, uint8_t *verdict)
{
    int32_t delta = vidi__staging_delta(&set->durable->staging, hash);
    return delta ? vidi__durable_correct(set, url, hash, delta, verdict) : VIDI_OK;
}

/* Entries that neither filter nor staging area have. */
typedef struct fresh {
    vidi__u128 hashes[VIDI__SEGMENT_GROUP];
    size_t places[VIDI__SEGMENT_GROUP], n;
} fresh;

static int ask_group(vidi_set *set, fresh *group, uint8_t *verdicts)
{
    bool has[VIDI__SEGMENT_GROUP];
    VIDI__TRY(vidi__index_has(set, group->hashes, group->n, has));
    for (size_t i = 0; i < group->n; i++)
        if (has[i])
            verdicts[group->places[i]] = VIDI_SEEN;
    group->n = 0;
    return VIDI_OK;
}

/* What neither filter nor staging area have may be in the logs' indexes, which hold no removals. */
static int ask_index(vidi_set *set, const vidi__u128 *hashes, const vidi__work *work)
{
    fresh group = {.n = 0};
    for (size_t i = 0; i < work->count; i++) {
        if (work->verdicts[i] != VIDI_NEW)
            continue;
        group.places[group.n] = i;
        group.hashes[group.n++] = hashes[i];
        if (group.n == VIDI__SEGMENT_GROUP)
            VIDI__TRY(ask_group(set, &group, work->verdicts));
    }
    return ask_group(set, &group, work->verdicts);
}

static int correct_all(vidi_set *set, const vidi__work *work)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    vidi__durable *durable = set->durable;
    bool shared = !set->read_only; /* a read-only set never changes */
    int code = VIDI_OK;
    vidi__durable_hash(set, work, hashes);
    if (shared)
        pthread_mutex_lock(&durable->staging_lock);
    for (size_t i = 0; i < work->count && code == VIDI_OK; i++) {
        vidi_str url = work->urls ? work->urls[i] : (vidi_str){NULL, 0};
        code = vidi__durable_joint_verdict(set, url, hashes[i], &work->verdicts[i]);
    }
    if (shared)
        pthread_mutex_unlock(&durable->staging_lock);
    return code == VIDI_OK && durable->segment_count ? ask_index(set, hashes, work) : code;
}

static int correct_times(vidi_set *set, const vidi__work *work, uint64_t *times)
{
    vidi__u128 hash;
    vidi__durable_hash(set, work, &hash);
    pthread_mutex_lock(&set->durable->staging_lock);
    int64_t sum = (int64_t)*times + vidi__staging_delta(&set->durable->staging, hash);
    pthread_mutex_unlock(&set->durable->staging_lock);
    bool has = false;
    if (sum <= 0)
        VIDI__TRY(vidi__index_has(set, &hash, 1, &has));
    *times = sum > 0 ? (uint64_t)sum : has;
    return VIDI_OK;
}

int vidi__durable_lookup(vidi_set *set, const vidi__work *work, uint64_t *times)
{
    return times ? correct_times(set, work, times) : correct_all(set, work);
}

/* VIDI_ECANNOT if removals wait that the filter has not seen: what they remove would be listed. */
static int check_listable(const vidi_set *set)
{
    const vidi__staging *staging = &set->durable->staging;
    for (uint64_t i = 0; i < staging->logged; i++)
        if (staging->kind[i] == VIDI__OP_REMOVE)
            return vidi__fail(VIDI_ECANNOT, set->mapped
                                                ? "the log has removals that are not folded into the snapshot, which "
                                                  "is mapped; take a snapshot first, or open the set without mapping it"
                                                : "removals wait for a snapshot that is being written; try again");
    return VIDI_OK;
}

/* What the filter would tell of a hash. */
static vidi__u128 kept_hash(const vidi_set *set, vidi__u128 hash)
{
    const vidi__filter *filter = set->now.filter;
    return filter->kind->kept_hash ? filter->kind->kept_hash(filter, hash) : hash;
}

static vidi__u128 staged_hash(const vidi_set *set, uint64_t i)
{
    const vidi__staging *staging = &set->durable->staging;
    if (!set->durable->hash_only)
        return vidi__hash(set->now.hash, vidi__epoch_key(&set->now), vidi__staging_url(staging, i));
    return kept_hash(set, staging->hash[i]);
}

/* A visitor of the hashes in an index. */
typedef struct listing {
    const vidi_set *set;
    vidi_visitor visitor;
    void *context;
} listing;

static int list_hashes(void *context, const vidi__u128 *hashes, uint64_t n)
{
    const listing *self = context;
    for (uint64_t i = 0; i < n; i++) {
        vidi__u128 hash = kept_hash(self->set, hashes[i]);
        vidi_entry entry = {{NULL, 0}, {hash.lo, hash.hi}, 1, 0};
        int code = self->visitor(self->context, &entry);
        if (code)
            return code;
    }
    return VIDI_OK;
}

int vidi__durable_iterate(const vidi_set *set, vidi_visitor visitor, void *context)
{
    const vidi__staging *staging = &set->durable->staging;
    if (!visitor)
        return check_listable(set);
    for (uint64_t i = 0; i < staging->logged; i++) {
        if (staging->kind[i] != VIDI__OP_ADD)
            continue;
        vidi__u128 hash = staged_hash(set, i);
        vidi_entry entry = {vidi__staging_url(staging, i), {hash.lo, hash.hi}, 1, 0};
        int code = visitor(context, &entry);
        if (code)
            return code;
    }
    return vidi__index_iterate(set, list_hashes, &(listing){set, visitor, context});
}
