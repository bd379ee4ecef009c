/* See blocked_shared.h. */
#include "filters/blocked/blocked_shared.h"

/* Hashes of one partition, which were looked up in `searched` layers and not found. */
typedef struct slice {
    unsigned partition, searched;
    const vidi__u128 *hashes;
    const uint16_t *order; /* where they are in the batch: order[0] to order[count - 1] */
    size_t count;
    uint8_t *verdicts;
} slice;

/*
 * Reports that `fresh` URLs of a slice have set bits, and returns the pages lost. Each add loses what the probability was
 * before it, so half of the whole rise comes off the mean (Euler and Maclaurin).
 */
static double lost_in(vidi__layers *layers, unsigned count, unsigned partition, uint64_t bits, uint64_t fresh)
{
    const vidi__zone *zone = &layers->at[count - 1]->zones->of[partition];
    vidi__rise rise = {0, 0};
    if (VIDI__UNLIKELY(!zone->chord.until))
        vidi__zone_refresh(layers->at, count, partition, false);
    double before = atomic_load_explicit(&zone->all, memory_order_relaxed);
    vidi__zone_bits_set(layers->at, count, partition, bits, &rise, false);
    double least = (double)fresh * vidi__filter_lost(before);
    double lost = vidi__rise_lost(rise, before, fresh, 1);
    lost -= (vidi__filter_lost(before + rise.whole) - vidi__filter_lost(before)) / 2;
    return fresh > 1 && lost > least ? lost : least;
}

static void use_room(vidi__zone *zone)
{
    atomic_store_explicit(&zone->room, atomic_load_explicit(&zone->room, memory_order_relaxed) - 1,
                          memory_order_relaxed);
}

/* Under the partition's lock: adds until there is no room left in the last layer. Returns how many were dealt with. */
static size_t add_locked(vidi__layers *layers, const slice *of, unsigned count, vidi__tally *tally)
{
    vidi__layer *last = layers->at[count - 1];
    vidi__zone *zone = &last->zones->of[of->partition];
    bool settled = of->searched == count;
    uint64_t ones = 0, fresh = 0;
    size_t done = 0;
    for (; done < of->count; done++) {
        vidi__u128 hash = of->hashes[of->order[done]];
        unsigned bits = 0;
        if (settled || !vidi__layers_have(layers, count - 1, hash)) {
            if (!vidi__layer_claim(last, zone) && !layers->kernel->has(&last->in, hash))
                break;
            bits = layers->kernel->add(&last->in, hash);
        }
        ones += bits;
        fresh += bits != 0;
        of->verdicts[of->order[done]] = bits ? VIDI_NEW : VIDI_SEEN;
        if (bits)
            use_room(zone);
    }
    tally->fresh += fresh;
    tally->seen += done - fresh;
    if (fresh)
        tally->lost += lost_in(layers, count, of->partition, ones, fresh);
    return done;
}

/* Adds a slice. Among those that do not fit in any more, some may have been added by other threads. */
static int add_slice(vidi__layers *layers, slice of, vidi__tally *tally)
{
    vidi__mutex *lock = vidi__layers_lock(layers, of.partition);
    for (;;) {
        vidi__mutex_lock(lock);
        unsigned count = vidi__layers_count(layers);
        size_t done = add_locked(layers, &of, count, tally);
        vidi__mutex_unlock(lock);
        of.order += done;
        of.count -= done;
        if (!of.count)
            return VIDI_OK;
        VIDI__TRY(vidi__layers_advance(layers, count - 1, false));
    }
}

/* The places of the URLs that are NEW so far, sorted by partition. Those of partition i begin at start[i]. */
typedef struct sorted {
    uint16_t start[VIDI__PARTITIONS + 1];
    uint16_t order[VIDI__HASHES_MAX];
} sorted;

static void sort_new(sorted *sorted, const vidi__u128 *hashes, size_t n, const uint8_t *verdicts)
{
    uint16_t next[VIDI__PARTITIONS];
    memset(sorted->start, 0, sizeof sorted->start);
    for (size_t i = 0; i < n; i++)
        if (verdicts[i] == VIDI_NEW)
            sorted->start[vidi__partition_of(hashes[i].hi) + 1]++;
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        sorted->start[i + 1] = (uint16_t)(sorted->start[i + 1] + sorted->start[i]);
    memcpy(next, sorted->start, sizeof next);
    for (size_t i = 0; i < n; i++)
        if (verdicts[i] == VIDI_NEW)
            sorted->order[next[vidi__partition_of(hashes[i].hi)]++] = (uint16_t)i;
}

/* Goes once around all partitions. Threads begin at different ones, so that they rarely meet. */
static int add_sorted(vidi__layers *layers, slice of, const sorted *sorted, vidi__tally *tally)
{
    unsigned first = vidi__partition_of(of.hashes[0].hi);
    int code = VIDI_OK;
    for (unsigned i = 0; i < VIDI__PARTITIONS && code == VIDI_OK; i++) {
        of.partition = (first + i) % VIDI__PARTITIONS;
        of.order = sorted->order + sorted->start[of.partition];
        of.count = (size_t)(sorted->start[of.partition + 1] - sorted->start[of.partition]);
        vidi__layers_fetch(layers, (of.partition + 1) % VIDI__PARTITIONS);
        if (of.count)
            code = add_slice(layers, of, tally);
    }
    return code;
}

/* Which layers need not be searched again under the lock: all but the last of those in use, or none. */
static unsigned settled_layers(const vidi__layers *layers)
{
    return atomic_load_explicit(&layers->settled, memory_order_acquire);
}

int vidi__layers_add_batch(vidi__layers *layers, const vidi__u128 *hashes, size_t n, uint8_t *verdicts,
                           vidi__tally *tally)
{
    uint8_t found[VIDI__HASHES_MAX];
    sorted sorted;
    slice of = {.searched = settled_layers(layers), .hashes = hashes, .verdicts = verdicts};
    vidi__layers_lookup(layers, hashes, n, found);
    sort_new(&sorted, hashes, n, found);
    for (size_t i = 0; i < n; i++)
        if (found[i] == VIDI_SEEN)
            verdicts[i] = VIDI_SEEN;
    tally->seen += n - sorted.start[VIDI__PARTITIONS];
    int code = sorted.start[VIDI__PARTITIONS] ? add_sorted(layers, of, &sorted, tally) : VIDI_OK;
    vidi__layers_prepare_next(layers);
    return code;
}

vidi__added vidi__layers_add(vidi__layers *layers, vidi__u128 hash)
{
    static const uint16_t first = 0;
    uint8_t verdict = VIDI_SEEN;
    vidi__tally tally = {0};
    slice of = {vidi__partition_of(hash.hi), settled_layers(layers), &hash, &first, 1, &verdict};
    if (vidi__layers_have(layers, vidi__layers_count(layers), hash))
        return (vidi__added){VIDI_SEEN, 0};
    int code = add_slice(layers, of, &tally);
    if (!tally.fresh)
        return (vidi__added){code < 0 ? code : VIDI_SEEN, 0};
    vidi__layers_prepare_next(layers);
    return (vidi__added){VIDI_NEW, tally.lost};
}
