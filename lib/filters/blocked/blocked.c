/*
 * blocked: a Bloom filter in which all bits of a URL are in one cache line, or in a few, so that a lookup costs one
 * cache miss instead of one per bit (Putze, Sanders, Singler 2007; with lanes like the filters of Impala and Parquet,
 * but of 64 bits). It grows by layers.
 *
 *     layer 0   | row | row | row | …
 *     layer 1   | row | row | row | row | row | row | row | row | …      <- adds go here
 *
 *     a row     | line 0 | line 1 | …      1 to 4 lines; in each, a URL has one bit in each of the 8 lanes of 64 bits
 *
 *     blocked_math.h    the formulas; how many URLs and which share of the error rate each layer gets
 *     blocked_layer.h   which bits a URL has
 *     blocked_kernel.h  how bits are set and tested
 *     blocked_growth.h  how layers are added
 *     blocked_chance.h  the probability of a false "seen", and the pages it loses
 *     blocked_search.h  lookups
 *     blocked_shared.h  adds while other threads are there
 *
 * A URL is seen if any layer has all of its bits; it is added to the last layer only.
 *
 * Threads: lookups take no locks and write nothing. They may run while bits are set (blocked_kernel.h) and layers are
 * added. Adds take the lock of a partition, unless the URL is there already (blocked_shared.h). A thread that is alone
 * does without locks.
 *
 * Parameters: lines (1 to 4, or auto: chosen from the error rate), hash. Capacity and error rate determine the size.
 *
 * Promises: no false negatives. The requested error rate holds for any number of URLs. fp_now follows from the number
 * of set bits (blocked_chance.h).
 */
#include "filters/blocked/blocked_shared.h"
#include "filters/blocked/blocked_union.h"

typedef struct blocked {
    vidi__filter base;
    double chance;     /* what blocked_fp_now is, so that an add need not ask all zones; for a thread that is alone */
    bool chance_known; /* nothing but adds of threads that are alone has changed it */
    vidi__layers layers;
} blocked;

static void blocked_destroy(vidi__filter *filter)
{
    blocked *self = (blocked *)filter;
    vidi__layers_free(&self->layers);
    vidi__release(filter->memory, self, sizeof *self, VIDI__CACHE_LINE);
}

static double blocked_fp_now(const vidi__filter *filter)
{
    const vidi__layers *layers = &((const blocked *)filter)->layers;
    return vidi__zones_chance(layers->at, vidi__layers_count(layers));
}

/* The same for a thread that is alone, before an add and after it. */
static double chance_before(blocked *self)
{
    if (VIDI__UNLIKELY(!self->chance_known))
        self->chance = blocked_fp_now(&self->base);
    self->chance_known = true;
    return self->chance;
}

static void chance_after(blocked *self, vidi__rise rise)
{
    self->chance += rise.whole / VIDI__PARTITIONS;
}

static void settle(blocked *self)
{
    vidi__layers_settle(&self->layers, true);
    self->chance_known = false;
}

/* ---- adds of a thread that is alone ---- */

/* Takes back what other threads have claimed and not used. */
static __attribute__((noinline)) void take_back(blocked *self, vidi__layer *last)
{
    vidi__layer_set_count(last, vidi__layer_count(last));
    self->chance_known = false;
}

/* Makes room in the last layer: for how many URLs, n at most. */
static int make_room(blocked *self, size_t n, uint64_t *room)
{
    vidi__layers *layers = &self->layers;
    vidi__layer *last = vidi__layers_last(layers);
    if (VIDI__UNLIKELY(atomic_load_explicit(&last->lent, memory_order_relaxed)))
        take_back(self, last);
    uint64_t claimed = atomic_load_explicit(&last->claimed, memory_order_relaxed);
    if (VIDI__UNLIKELY(claimed >= last->urls)) {
        VIDI__TRY(vidi__layers_advance(layers, vidi__layers_count(layers) - 1, true));
        self->chance_known = false;
        last = vidi__layers_last(layers);
        claimed = atomic_load_explicit(&last->claimed, memory_order_relaxed);
    }
    *room = last->urls - claimed < n ? last->urls - claimed : n;
    return vidi__layer_begin(last, self->base.memory);
}

/* Makes memory for the bits of n URLs, or of the first of them: how many. */
static int touch(const blocked *self, vidi__layer *last, const vidi__u128 *hashes, uint64_t *n)
{
    if (VIDI__LIKELY(!last->lazy.untouched))
        return VIDI_OK;
    for (uint64_t i = 0; i < *n; i++) {
        int code = vidi__layer_touch_url(last, self->base.memory, hashes[i]);
        if (code < 0) {
            *n = i;
            return i ? VIDI_OK : code; /* the next try will fail again */
        }
    }
    return VIDI_OK;
}

static void count_fresh(blocked *self, vidi__layer *last, uint64_t fresh)
{
    uint64_t claimed = atomic_load_explicit(&last->claimed, memory_order_relaxed);
    atomic_store_explicit(&last->claimed, claimed + fresh, memory_order_relaxed);
    vidi__filter_add_count(&self->base, (int64_t)fresh);
}

/* Adds hashes to the last layer, which has room for them. */
static void add_to_last(blocked *self, const vidi__u128 *hashes, size_t n, uint8_t *verdicts, vidi__tally *tally)
{
    unsigned layers = vidi__layers_count(&self->layers);
    vidi__layer *last = self->layers.at[layers - 1];
    uint32_t ones[VIDI__PARTITIONS] = {0};
    vidi__rise rise = {0, 0};
    double before = chance_before(self);
    uint64_t fresh = self->layers.kernel->add_batch(&last->in, &(vidi__blocked_batch){hashes, n, verdicts}, ones);
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        if (ones[i])
            vidi__zone_bits_set(self->layers.at, layers, i, ones[i], &rise, true);
    tally->lost += vidi__rise_lost(rise, before, fresh, VIDI__PARTITIONS);
    chance_after(self, rise);
    tally->fresh += fresh;
    tally->seen += n - fresh;
    count_fresh(self, last, fresh);
}

/* The same with those of them that no older layer has. */
static __attribute__((noinline)) void add_to_layers(blocked *self, const vidi__u128 *hashes, size_t n,
                                                    uint8_t *verdicts, vidi__tally *tally)
{
    vidi__missing missing;
    uint8_t answers[VIDI__HASHES_MAX];
    vidi__layers_sift(&self->layers, vidi__layers_count(&self->layers) - 1, hashes, n, verdicts, &missing);
    tally->seen += n - missing.count;
    add_to_last(self, missing.hashes, missing.count, answers, tally);
    for (size_t i = 0; i < missing.count; i++)
        verdicts[missing.places[i]] = answers[i];
}

/* Adds as many as there is room for: *taken. */
static int add_some(blocked *self, const vidi__u128 *hashes, size_t n, uint8_t *verdicts, vidi__tally *tally,
                    uint64_t *taken)
{
    VIDI__TRY(make_room(self, n, taken));
    VIDI__TRY(touch(self, vidi__layers_last(&self->layers), hashes, taken));
    if (vidi__layers_count(&self->layers) == 1)
        add_to_last(self, hashes, *taken, verdicts, tally);
    else
        add_to_layers(self, hashes, *taken, verdicts, tally);
    vidi__layers_prepare_next(&self->layers);
    return VIDI_OK;
}

/*
 * There is no room for new URLs, but URLs that were seen can still be answered. If that is all of them, nothing failed.
 */
static __attribute__((noinline)) int answer_seen(const blocked *self, const vidi__u128 *hashes, size_t n,
                                                 uint8_t *verdicts, vidi__tally *tally, int code)
{
    uint8_t found[VIDI__HASHES_MAX];
    size_t seen = 0;
    vidi__layers_lookup(&self->layers, hashes, n, found);
    for (size_t i = 0; i < n; i++)
        if (found[i] == VIDI_SEEN) {
            verdicts[i] = VIDI_SEEN;
            seen++;
        }
    tally->seen += seen;
    return seen == n ? VIDI_OK : code;
}

static int add_alone(blocked *self, const vidi__u128 *hashes, size_t n, uint8_t *verdicts, vidi__tally *tally)
{
    for (uint64_t done = 0, taken; done < n; done += taken) {
        int code = add_some(self, hashes + done, n - done, verdicts + done, tally, &taken);
        if (code < 0)
            return answer_seen(self, hashes + done, n - done, verdicts + done, tally, code);
    }
    return VIDI_OK;
}

static vidi__added add_one_alone(blocked *self, vidi__u128 hash)
{
    uint64_t room = 1;
    int code = make_room(self, 1, &room);
    unsigned layers = vidi__layers_count(&self->layers);
    vidi__layer *last = self->layers.at[layers - 1];
    if (VIDI__LIKELY(code == VIDI_OK))
        code = touch(self, last, &hash, &room);
    if (VIDI__UNLIKELY(code < 0))
        return (vidi__added){vidi__layers_have(&self->layers, layers, hash) ? VIDI_SEEN : code, 0};
    unsigned bits = vidi__layers_have(&self->layers, layers - 1, hash) ? 0 : self->layers.kernel->add(&last->in, hash);
    if (!bits)
        return (vidi__added){VIDI_SEEN, 0};
    vidi__rise rise = {0, 0};
    double before = chance_before(self);
    vidi__zone_bits_set(self->layers.at, layers, vidi__partition_of(hash.hi), bits, &rise, true);
    chance_after(self, rise);
    count_fresh(self, last, 1);
    vidi__layers_prepare_next(&self->layers);
    return (vidi__added){VIDI_NEW, vidi__filter_lost(before)};
}

static int add(blocked *self, const vidi__u128 *hashes, size_t n, uint8_t *verdicts, vidi__tally *tally)
{
    uint64_t before = tally->fresh;
    if (vidi__filter_is_alone(&self->base))
        return add_alone(self, hashes, n, verdicts, tally);
    int code = vidi__layers_add_batch(&self->layers, hashes, n, verdicts, tally);
    vidi__filter_add_count(&self->base, (int64_t)(tally->fresh - before));
    return code;
}

static vidi__added add_one(blocked *self, vidi__u128 hash)
{
    if (vidi__filter_is_alone(&self->base))
        return add_one_alone(self, hash);
    vidi__added added = vidi__layers_add(&self->layers, hash);
    if (added.code == VIDI_NEW)
        vidi__filter_add_count(&self->base, 1);
    return added;
}

/* ---- the kind's functions ---- */

/*
 * A member of a spatial filter must have partitions of its own: otherwise a partition that is crowded in one member
 * would be crowded in all.
 */
static int blocked_has_hashes(const vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts)
{
    const blocked *self = (const blocked *)filter;
    vidi__u128 own[VIDI__MEMBER_HASHES_MAX];
    if (!filter->is_member) {
        vidi__layers_lookup(&self->layers, hashes, n, verdicts);
        return VIDI_OK;
    }
    for (size_t done = 0, count; done < n; done += count) {
        count = vidi__filter_member_hashes(filter, hashes + done, n - done, own);
        vidi__layers_lookup(&self->layers, own, count, verdicts + done);
    }
    return VIDI_OK;
}

static int blocked_add_hashes(vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts,
                              vidi__tally *tally)
{
    blocked *self = (blocked *)filter;
    vidi__u128 own[VIDI__MEMBER_HASHES_MAX];
    if (!filter->is_member)
        return add(self, hashes, n, verdicts, tally);
    for (size_t done = 0, count; done < n; done += count) {
        count = vidi__filter_member_hashes(filter, hashes + done, n - done, own);
        VIDI__TRY(add(self, own, count, verdicts + done, tally));
    }
    return VIDI_OK;
}

static vidi__added blocked_add_hash(vidi__filter *filter, vidi__u128 hash)
{
    return add_one((blocked *)filter, vidi__filter_member_hash(filter, hash));
}

static int blocked_has_hash(const vidi__filter *filter, vidi__u128 hash)
{
    const blocked *self = (const blocked *)filter;
    bool seen =
        vidi__layers_have(&self->layers, vidi__layers_count(&self->layers), vidi__filter_member_hash(filter, hash));
    return seen ? VIDI_SEEN : VIDI_NEW;
}

/*
 * Lines of the last layer, and the first line in each of the others, which settles most lookups; and what an add writes
 * to.
 */
static void blocked_fetch_hash(const vidi__filter *filter, vidi__u128 hash, bool writes)
{
    const blocked *self = (const blocked *)filter;
    unsigned last = vidi__layers_count(&self->layers) - 1;
    vidi__layer *const *at = self->layers.at;
    vidi__u128 own = vidi__filter_member_hash(filter, hash);
    for (unsigned i = 0; i < at[last]->in.lines; i++)
        __builtin_prefetch(vidi__blocked_locate(&at[last]->in, own, i).line);
    if (writes && !vidi__filter_is_alone(filter))
        vidi__layers_fetch(&self->layers, vidi__partition_of(own.hi));
    while (last-- > 0)
        __builtin_prefetch(vidi__blocked_locate(&at[last]->in, own, 0).line);
}

static int blocked_add(vidi__filter *filter, const vidi__item *item)
{
    return blocked_add_hash(filter, item->url.hash).code;
}

static int blocked_has(const vidi__filter *filter, const vidi__item *item)
{
    return blocked_has_hash(filter, item->url.hash);
}

static void blocked_stat(const vidi__filter *filter, vidi__filter_stats *stats)
{
    vidi__layers_stat(&((const blocked *)filter)->layers, stats);
}

static void blocked_stage(const vidi__filter *filter, uint64_t index, vidi_stage_stats *stats)
{
    vidi__layers_stage(&((const blocked *)filter)->layers, (unsigned)index, stats);
}

static void blocked_describe(const vidi__filter *filter, vidi__text *text)
{
    const blocked *self = (const blocked *)filter;
    if (self->layers.plan.lines)
        vidi__text_add(text, "lines=%u,hash=%s", self->layers.plan.lines, filter->item_hash->name);
    else
        vidi__text_add(text, "lines=auto,hash=%s", filter->item_hash->name);
}

static int blocked_save(const vidi__filter *filter, vidi__writer *writer)
{
    return vidi__layers_save(&((const blocked *)filter)->layers, writer);
}

static int blocked_save_run(const vidi__filter *filter, vidi__run_out *run)
{
    return vidi__layers_save_run(&((const blocked *)filter)->layers, run);
}

static int blocked_load_run(vidi__filter *filter, vidi__run_in *run)
{
    blocked *self = (blocked *)filter;
    VIDI__TRY(vidi__layers_load_run(&self->layers, run));
    run->counted = true;
    if (!run->apply)
        return VIDI_OK;
    atomic_store(&filter->count, vidi__layers_urls(&self->layers));
    settle(self);
    return VIDI_OK;
}

static int blocked_verify(const vidi__filter *filter)
{
    return vidi__layers_verify(&((const blocked *)filter)->layers);
}

static int blocked_merge(vidi__filter *filter, const vidi__filter *other)
{
    blocked *into = (blocked *)filter;
    VIDI__TRY(vidi__filter_same_shape(filter, other));
    VIDI__TRY(vidi__layers_merge(&into->layers, &((const blocked *)other)->layers));
    atomic_store(&filter->count, vidi__layers_urls(&into->layers));
    settle(into);
    return VIDI_OK;
}

/* URLs that are added later make the filter grow, which keeps the error rate. */
static int blocked_fp_merged(const vidi__filter *into, const vidi__filter *from, uint64_t more, double *fp)
{
    (void)more;
    VIDI__TRY(vidi__filter_same_shape(into, from));
    return vidi__layers_fp_merged(&((const blocked *)into)->layers, &((const blocked *)from)->layers, fp);
}

static const vidi__layers *layers_of(const vidi__filter *filter)
{
    return &((const blocked *)filter)->layers;
}

static int blocked_unite(vidi__union *all)
{
    return vidi__layers_unite(all, layers_of);
}

static int blocked_save_union(const vidi__union *all, vidi__writer *writer)
{
    return vidi__layers_save_union(all, layers_of, writer);
}

static int blocked_step(vidi__filter *filter, uint64_t budget_ns)
{
    return vidi__layers_step(&((blocked *)filter)->layers, budget_ns);
}

static int configure(blocked *self, const vidi__config *config)
{
    vidi__blocked_plan *plan = &self->layers.plan;
    VIDI__TRY(vidi__params_choice(config->params, "lines", VIDI__BLOCKED_LINES, &plan->lines));
    VIDI__TRY(vidi__filter_check_hash(config));
    plan->capacity = config->capacity;
    plan->error = config->error > 0 ? config->error : VIDI__DEFAULT_ERROR;
    self->layers.seed = config->seed;
    self->layers.kernel = vidi__blocked_kernel_for(vidi__cpu());
    self->base.error = plan->error;
    self->base.needs.what = VIDI__NEED_HASH;
    self->base.keyed = config->item_hash->keyed;
    if (config->capacity > VIDI__CAPACITY_MAX)
        return vidi__fail(VIDI_EOPTION, "a capacity of %.3g URLs is more than any memory holds",
                          (double)config->capacity);
    return VIDI_OK;
}

/* A lazy array is touched by one thread at a time. */
static int blocked_share(vidi__filter *filter, vidi__gate *gate)
{
    vidi__layer *first = ((blocked *)filter)->layers.at[0];
    (void)gate;
    return vidi__layer_is_lazy(first) ? VIDI_ECANNOT : vidi__layer_begin(first, filter->memory);
}

static int blocked_create(vidi__filter **filter, const vidi__config *config)
{
    blocked *self;
    VIDI__TRY(vidi__filter_alloc(&self, sizeof *self, &vidi__kind_blocked, config));
    *filter = &self->base;
    self->layers.memory = config->memory;
    self->layers.later = config->touch_later;
    VIDI__TRY(configure(self, config));
    VIDI__TRY(vidi__layers_init(&self->layers));
    if (config->reader) {
        VIDI__TRY(vidi__layers_load(&self->layers, config->reader));
        atomic_store(&self->base.count, vidi__layers_urls(&self->layers));
        self->base.count_known = true;
    } else {
        VIDI__TRY(vidi__layers_begin(&self->layers));
    }
    settle(self);
    return VIDI_OK;
}

const vidi__kind vidi__kind_blocked = {
    .name = "blocked",
    .summary = "growing Bloom filter of one or two cache lines a URL: the fastest at error rates of 1e-2 to 1e-4",
    .can = VIDI_CAN_MERGE | VIDI_CAN_GROW | VIDI_IS_CONCURRENT,
    .create = blocked_create,
    .destroy = blocked_destroy,
    .add = blocked_add,
    .has = blocked_has,
    .add_hashes = blocked_add_hashes,
    .has_hashes = blocked_has_hashes,
    .add_hash = blocked_add_hash,
    .has_hash = blocked_has_hash,
    .fetch_hash = blocked_fetch_hash,
    .fp_now = blocked_fp_now,
    .stat = blocked_stat,
    .stage = blocked_stage,
    .describe = blocked_describe,
    .save = blocked_save,
    .save_run = blocked_save_run,
    .load_run = blocked_load_run,
    .verify = blocked_verify,
    .plan = vidi__blocked_plan_for,
    .merge = blocked_merge,
    .fp_merged = blocked_fp_merged,
    .unite = blocked_unite,
    .save_union = blocked_save_union,
    .share = blocked_share,
    .step = blocked_step,
};
