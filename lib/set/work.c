/*
 * Work on the filter of one epoch: canonical URLs, or hashes of them, go in, and verdicts come out.
 *
 * Kinds that need nothing but the hash are given up to VIDI__HASHES_MAX hashes at once, which they sort by memory
 * location. All others are given items, VIDI__GROUP at a time. Every add and every lookup, of every front end, in
 * memory and in folders, ends up here.
 */
#include "set/set.h"

/* URLs of a group have no more bytes together, unless it is one URL: a log reserves room for a group at once. */
#define GROUP_BYTES (UINT64_C(4) << 20)

/* Fewer hashes than this are not worth sorting, so they go in as items. */
#define HASHES_LEAST 16

static bool takes_hashes(const vidi__filter *filter, size_t n)
{
    return vidi__filter_takes_hashes(filter) && n >= HASHES_LEAST;
}

vidi__work vidi__work_part(const vidi__work *work, size_t done, size_t count)
{
    vidi__work part = *work;
    part.urls = work->urls ? work->urls + done : NULL;
    part.hashes = work->hashes ? work->hashes + done : NULL;
    part.digests = work->digests ? work->digests + done : NULL;
    part.verdicts = work->verdicts ? work->verdicts + done : NULL;
    part.marks = work->marks ? work->marks + done : NULL;
    part.count = work->count - done < count ? work->count - done : count;
    return part;
}

size_t vidi__work_group(const vidi__epoch *epoch, const vidi__work *work)
{
    if (takes_hashes(epoch->filter, work->count))
        return work->count < VIDI__HASHES_MAX ? work->count : VIDI__HASHES_MAX;
    size_t most = work->count < VIDI__GROUP ? work->count : VIDI__GROUP, n = most < 1 ? most : 1;
    uint64_t bytes = work->urls && n ? work->urls[0].len : 0;
    while (n < most && (!work->urls || (bytes += work->urls[n].len) <= GROUP_BYTES))
        n++;
    return n;
}

int vidi__work_check(const vidi__epoch *epoch, const vidi__work *work)
{
    if (!work->hashes || work->epoch == epoch->number)
        return VIDI_OK;
    return vidi__fail(VIDI_ECANNOT, "the digests are of epoch %llu, and the set is in epoch %llu",
                      (unsigned long long)work->epoch, (unsigned long long)epoch->number);
}

static int make_items(vidi__items *items, vidi__memory *memory, const vidi__epoch *epoch, const vidi__work *work)
{
    if (!work->hashes)
        return vidi__items_make(items, memory, epoch, work->urls, work->count);
    vidi__items_of_hashes(items, memory, work->hashes, work->count);
    return VIDI_OK;
}

/* Not inlined: its frame is large, and work that comes with its hashes does not need it. */
static __attribute__((noinline)) int hash_and_add(vidi__epoch *epoch, const vidi__work *work, vidi__tally *tally)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    vidi__hash_batch(epoch->hash, vidi__epoch_key(epoch), work->urls, work->count, hashes);
    return epoch->filter->kind->add_hashes(epoch->filter, hashes, work->count, work->verdicts, tally);
}

static __attribute__((noinline)) int hash_and_lookup(const vidi__epoch *epoch, const vidi__work *work)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    vidi__hash_batch(epoch->hash, vidi__epoch_key(epoch), work->urls, work->count, hashes);
    return epoch->filter->kind->has_hashes(epoch->filter, hashes, work->count, work->verdicts);
}

static int add_items(vidi__memory *memory, vidi__epoch *epoch, const vidi__work *work, vidi__tally *tally)
{
    vidi__items items;
    int code = make_items(&items, memory, epoch, work);
    if (code == VIDI_OK)
        code = vidi__filter_add(epoch->filter, items.list, work->count, work->verdicts, tally);
    vidi__items_free(&items);
    return code;
}

static int lookup_items(vidi__memory *memory, const vidi__epoch *epoch, const vidi__work *work)
{
    vidi__items items;
    int code = make_items(&items, memory, epoch, work);
    if (code == VIDI_OK)
        code = vidi__filter_has(epoch->filter, items.list, work->count, work->verdicts);
    vidi__items_free(&items);
    return code;
}

/* The hash of work that is one entry. */
static vidi__u128 only_hash(const vidi__epoch *epoch, const vidi__work *work)
{
    return work->hashes ? work->hashes[0] : vidi__hash(epoch->hash, vidi__epoch_key(epoch), work->urls[0]);
}

static int add_hash(vidi__epoch *epoch, const vidi__work *work, vidi__tally *tally)
{
    vidi__added added = epoch->filter->kind->add_hash(epoch->filter, only_hash(epoch, work));
    VIDI__TRY(added.code);
    work->verdicts[0] = (uint8_t)added.code;
    vidi__tally_add(tally, added);
    return VIDI_OK;
}

int vidi__epoch_add(vidi__memory *memory, vidi__epoch *epoch, const vidi__work *work, vidi__tally *tally)
{
    const vidi__kind *kind = epoch->filter->kind;
    if (work->count == 1 && vidi__filter_takes_one(epoch->filter))
        return add_hash(epoch, work, tally);
    if (takes_hashes(epoch->filter, work->count))
        return work->hashes ? kind->add_hashes(epoch->filter, work->hashes, work->count, work->verdicts, tally)
                            : hash_and_add(epoch, work, tally);
    for (size_t done = 0; done < work->count; done += VIDI__GROUP) {
        vidi__work group = vidi__work_part(work, done, VIDI__GROUP);
        VIDI__TRY(add_items(memory, epoch, &group, tally));
    }
    return VIDI_OK;
}

int vidi__epoch_lookup(vidi__memory *memory, const vidi__epoch *epoch, const vidi__work *work)
{
    const vidi__kind *kind = epoch->filter->kind;
    if (work->count == 1 && vidi__filter_takes_one(epoch->filter)) {
        int code = kind->has_hash(epoch->filter, only_hash(epoch, work));
        VIDI__TRY(code);
        work->verdicts[0] = (uint8_t)code;
        return VIDI_OK;
    }
    if (takes_hashes(epoch->filter, work->count))
        return work->hashes ? kind->has_hashes(epoch->filter, work->hashes, work->count, work->verdicts)
                            : hash_and_lookup(epoch, work);
    for (size_t done = 0; done < work->count; done += VIDI__GROUP) {
        vidi__work group = vidi__work_part(work, done, VIDI__GROUP);
        VIDI__TRY(lookup_items(memory, epoch, &group));
    }
    return VIDI_OK;
}

static vidi__work single(const vidi_str *url, const vidi__u128 *hash)
{
    return (vidi__work){.urls = hash ? NULL : url, .hashes = hash, .count = 1};
}

int vidi__epoch_remove(vidi__memory *memory, vidi__epoch *epoch, vidi_str url, const vidi__u128 *hash)
{
    vidi__items items;
    vidi__work work = single(&url, hash);
    int code = make_items(&items, memory, epoch, &work);
    if (code == VIDI_OK)
        code = epoch->filter->kind->remove(epoch->filter, items.list);
    epoch->filter->moves += code == VIDI_OK;
    vidi__items_free(&items);
    return code;
}

int vidi__epoch_times(vidi__memory *memory, const vidi__epoch *epoch, vidi_str url, const vidi__u128 *hash,
                      uint64_t *times)
{
    vidi__items items;
    vidi__work work = single(&url, hash);
    int code = make_items(&items, memory, epoch, &work);
    if (code == VIDI_OK)
        code = epoch->filter->kind->times(epoch->filter, items.list, times);
    vidi__items_free(&items);
    return code;
}
