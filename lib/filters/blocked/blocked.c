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
 *     batch.h           how batches are processed
 *
 * A URL is seen if any layer has all of its bits; it is added to the last layer only.
 *
 * Threads: everything about a URL happens under the lock of its partition, which covers all layers. The number of
 * layers is read under that lock, too, and it only grows. A thread that takes a partition's lock after another thread
 * sees at least the layers that the other has seen: the lock orders the two reads of the atomic number, so the later
 * one cannot return an older value. So a URL is always searched in the layer to which it was added, and of all threads
 * that add it exactly one is answered NEW, even while a layer is being added.
 *
 * Parameters: lines (1 to 4, or auto: chosen from the error rate), hash. Capacity and error rate determine the size.
 *
 * Promises: no false negatives. The requested error rate holds for any number of URLs. fp_now follows from the number
 * of set bits (blocked_chance.h).
 */
#include "filters/blocked/blocked_chance.h"
#include "filters/blocked/blocked_growth.h"
#include "filters/blocked/blocked_union.h"

typedef struct blocked {
    vidi__filter base;
    _Atomic unsigned zone_layers; /* the number of layers that every zone takes into account */
    /* What blocked_fp_now was at that number of URLs, so that single adds need not ask all zones. */
    _Atomic uint64_t chance_bits, chance_count; /* a double; UINT64_MAX: nothing is known */
    const vidi__blocked_kernel *kernel;
    vidi__layers layers;
    vidi__locks locks;
    vidi__zone zones[VIDI__PARTITIONS];
} blocked;

static void blocked_destroy(vidi__filter *filter)
{
    blocked *self = (blocked *)filter;
    vidi__layers_free(&self->layers);
    vidi__release(filter->memory, self, sizeof *self, VIDI__CACHE_LINE);
}

static double blocked_fp_now(const vidi__filter *filter)
{
    return vidi__zones_chance(((const blocked *)filter)->zones);
}

static void remember_chance(blocked *self, double chance, uint64_t count)
{
    uint64_t bits;
    memcpy(&bits, &chance, sizeof bits);
    atomic_store_explicit(&self->chance_bits, bits, memory_order_relaxed);
    atomic_store_explicit(&self->chance_count, count, memory_order_relaxed);
}

/*
 * blocked_fp_now before an add. What was remembered is exact if there are as many URLs as then. Among other threads
 * it may lag behind by a fraction of 2^-15 of the URLs: the probability grows with at most the 32nd power of their
 * number, so it is too low by less than a thousandth.
 */
static double chance_before(blocked *self)
{
    uint64_t count = vidi__filter_count(&self->base), most = vidi__filter_is_alone(&self->base) ? 0 : count >> 15;
    uint64_t bits = atomic_load_explicit(&self->chance_bits, memory_order_relaxed);
    double chance;
    memcpy(&chance, &bits, sizeof chance);
    if (count - atomic_load_explicit(&self->chance_count, memory_order_relaxed) <= most)
        return chance;
    chance = blocked_fp_now(&self->base);
    remember_chance(self, chance, count);
    return chance;
}

/* Brings what is remembered up to date after adds; if other threads add too, it only becomes outdated. */
static void chance_after(blocked *self, double before, vidi__rise rise, uint64_t fresh)
{
    uint64_t count = vidi__filter_count(&self->base);
    bool known = atomic_load_explicit(&self->chance_count, memory_order_relaxed) == count - fresh;
    if (known && vidi__filter_is_alone(&self->base))
        remember_chance(self, before + rise.whole / VIDI__PARTITIONS, count);
}

static void refresh_zone(blocked *self, unsigned partition, unsigned layers)
{
    atomic_store_explicit(&self->chance_count, UINT64_MAX, memory_order_relaxed);
    vidi__zone_refresh(&self->zones[partition], partition, self->layers.at, layers);
}

/* Brings all zones up to date when there are more layers, or when bits were set by something other than adds. */
static void refresh_zones(blocked *self)
{
    const vidi__locks *locks = vidi__locks_needed(&self->base, &self->locks);
    unsigned layers = vidi__layers_count(&self->layers);
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++) {
        vidi__locks_take(locks, i);
        refresh_zone(self, i, vidi__layers_count(&self->layers));
        vidi__locks_release(locks, i);
    }
    atomic_store_explicit(&self->zone_layers, layers, memory_order_relaxed);
}

/* ---- one wave of a batch, under its partition's lock ---- */

typedef struct blocked_run {
    blocked *self;
    const vidi__u128 *hashes;
    uint8_t *verdicts;
    bool adds;
    unsigned claimed_in; /* the layer in which room was claimed */
    uint64_t used;       /* how much of that room was used */
    uint64_t fresh;
    vidi__rise rise;
    bool waiting;              /* a wave has been fetched and not yet processed */
    vidi__blocked_ahead ahead; /* the wave after that one; its lines are located meanwhile */
    unsigned located[2];       /* by buffer: the number of layers when the wave was located */
    vidi__blocked_targets last[2][VIDI__BLOCKED_LINES_MAX]; /* by buffer: lines in the last layer */
    vidi__blocked_targets older;                            /* lines in one of the older layers, for the moment */
} blocked_run;

static uint64_t all_of(const vidi__wave *wave)
{
    return ((uint64_t)1 << wave->count) - 1;
}

static void locate_now(vidi__blocked_ahead *ahead)
{
    for (size_t i = 0; i < ahead->count; i++)
        vidi__blocked_locate_ahead(ahead, i);
    ahead->count = 0;
}

/*
 * Chooses the lines to locate: the first line in each older layer, which settles most lookups, and the lines in the
 * last layer.
 */
static void plan_ahead(blocked_run *run, const vidi__wave *wave)
{
    const blocked *self = run->self;
    vidi__blocked_ahead *ahead = &run->ahead;
    unsigned layers = vidi__layers_count(&self->layers), lines = run->adds ? self->layers.at[layers - 1]->lines : 1;
    ahead->hashes = run->hashes;
    ahead->order = wave->order;
    ahead->count = wave->count;
    ahead->draws = 0;
    for (unsigned i = 0; i + 1 < layers; i++)
        ahead->draw[ahead->draws++] = vidi__layer_draw(self->layers.at[i], 0, wave->partition, &run->older);
    for (unsigned i = 0; i < lines; i++)
        ahead->draw[ahead->draws++] =
            vidi__layer_draw(self->layers.at[layers - 1], i, wave->partition, &run->last[wave->buffer][i]);
    run->located[wave->buffer] = layers;
}

/* Locates the wave at once, unless another wave is waiting: then the kernel locates it while it processes that one. */
static void fetch(void *context, const vidi__wave *wave)
{
    blocked_run *run = context;
    plan_ahead(run, wave);
    if (!run->waiting)
        locate_now(&run->ahead);
    run->waiting = true;
}

/* A layer was put into use since this wave was located. */
static void locate_again(blocked_run *run, const vidi__wave *wave)
{
    bool another = run->ahead.count != 0;
    locate_now(&run->ahead);
    plan_ahead(run, wave);
    locate_now(&run->ahead);
    run->waiting = another;
}

static vidi__blocked_answers answers_to(const blocked_run *run, const vidi__wave *wave)
{
    return (vidi__blocked_answers){wave->order, run->verdicts};
}

/* Those of `which` that this layer has. `first` holds their first lines if these are known, or is NULL. */
static uint64_t seen_in(blocked_run *run, const vidi__layer *layer, const vidi__wave *wave, uint64_t which,
                        const vidi__blocked_targets *first)
{
    static const vidi__blocked_ahead nothing;
    for (unsigned i = 0; i < layer->lines && which; i++) {
        bool known = i == 0 && first;
        vidi__blocked_draw draw = vidi__layer_draw(layer, i, wave->partition, &run->older);
        for (uint64_t left = known ? 0 : which; left; left &= left - 1) {
            size_t at = (size_t)__builtin_ctzll(left);
            vidi__blocked_locate(&draw, &run->hashes[wave->order[at]], at);
        }
        which = run->self->kernel->has(known ? first : &run->older, which, answers_to(run, wave),
                                       known ? &run->ahead : &nothing);
    }
    return which;
}

/* Those of `which` that a layer before the last has. Searches the largest first, since it holds most of the URLs. */
static uint64_t seen_before(blocked_run *run, unsigned layers, const vidi__wave *wave, uint64_t which)
{
    uint64_t seen = 0;
    for (unsigned i = layers - 1; i-- > 0 && seen != which;)
        seen |= seen_in(run, run->self->layers.at[i], wave, which & ~seen, NULL);
    return seen;
}

/* The wave has been processed, and the one after it located. */
static void done(blocked_run *run)
{
    run->waiting = run->ahead.count != 0;
    run->ahead.count = 0;
}

static int add_wave(void *context, const vidi__wave *wave)
{
    blocked_run *run = context;
    blocked *self = run->self;
    unsigned layers = vidi__layers_count(&self->layers);
    vidi__layer *last = self->layers.at[layers - 1];
    uint64_t ones = 0;
    if (VIDI__UNLIKELY(run->located[wave->buffer] != layers))
        locate_again(run, wave);
    if (VIDI__UNLIKELY(self->zones[wave->partition].layers != layers))
        refresh_zone(self, wave->partition, layers);
    uint64_t seen = layers > 1 ? seen_before(run, layers, wave, all_of(wave)) : 0;
    uint64_t fresh = self->kernel->add(run->last[wave->buffer], last->lines, all_of(wave) & ~seen, &ones,
                                       answers_to(run, wave), &run->ahead);
    uint64_t count = (uint64_t)__builtin_popcountll(fresh);
    done(run);
    if (!count)
        return VIDI_OK;
    run->fresh += count;
    vidi__zone_bits_set(&self->zones[wave->partition], wave->partition, last, ones, &run->rise, NULL);
    if (VIDI__LIKELY(layers == run->claimed_in + 1))
        run->used += count;
    else /* another thread has put a layer into use meanwhile */
        vidi__layers_settle(&self->layers, layers - 1, 0, count);
    return VIDI_OK;
}

static int has_wave(void *context, const vidi__wave *wave)
{
    blocked_run *run = context;
    const blocked *self = run->self;
    unsigned layers = vidi__layers_count(&self->layers);
    if (VIDI__UNLIKELY(run->located[wave->buffer] != layers))
        locate_again(run, wave);
    uint64_t seen = seen_in(run, self->layers.at[layers - 1], wave, all_of(wave), run->last[wave->buffer]);
    seen_before(run, layers, wave, all_of(wave) & ~seen);
    done(run);
    return VIDI_OK;
}

/* ---- batches and single items ---- */

static const vidi__batch_ops add_ops = {.fetch = fetch, .work = add_wave};
static const vidi__batch_ops has_ops = {.fetch = fetch, .work = has_wave};

static void run_batch(blocked_run *run, const vidi__batch_ops *ops, size_t n)
{
    static const uint16_t first = 0;
    const vidi__locks *locks = vidi__locks_needed(&run->self->base, &run->self->locks);
    if (n > 1) {
        vidi__batch_run(locks, run->hashes, n, ops, run);
        return;
    }
    vidi__wave wave = {.partition = vidi__partition_of(run->hashes->hi), .order = &first, .count = 1};
    vidi__locks_take(locks, wave.partition);
    ops->fetch(run, &wave);
    ops->work(run, &wave);
    vidi__locks_release(locks, wave.partition);
}

/* ---- whole batches, for callers that are alone ---- */

#define ONE_PIECE_LEAST 128 /* fewer URLs are not worth the preparation */

static bool in_one_piece(const blocked *self, size_t n)
{
    return n >= ONE_PIECE_LEAST && vidi__filter_is_alone(&self->base) && vidi__layers_count(&self->layers) == 1;
}

static void prepare(vidi__blocked_batch *batch, const blocked *self, const vidi__u128 *hashes, size_t n,
                    uint8_t *verdicts)
{
    const vidi__layer *layer = self->layers.at[0];
    batch->hashes = hashes;
    batch->count = n;
    batch->verdicts = verdicts;
    batch->lines = layer->lines;
    batch->fresh = 0;
    memset(batch->ones, 0, sizeof batch->ones);
    for (unsigned i = 0; i < layer->lines; i++) {
        batch->salts[i].row = layer->salts[i].row;
        batch->salts[i].bits = layer->salts[i].bits;
    }
    batch->pieces = layer->lazy.pieces;
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++) {
        vidi__blocked_draw draw = vidi__layer_draw(layer, 0, i, NULL);
        if (vidi__layer_is_lazy(layer))
            batch->parts[i].begin = draw.begin;
        else
            batch->parts[i].first = draw.first;
        batch->parts[i].rows = draw.rows;
    }
}

/* Adds all, and accounts for the bits of each partition. */
static void add_in_one_piece(blocked_run *run, size_t n)
{
    blocked *self = run->self;
    vidi__blocked_batch batch;
    vidi__chords chords = {0};
    prepare(&batch, self, run->hashes, n, run->verdicts);
    self->kernel->add_batch(&batch);
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        if (batch.ones[i])
            vidi__zone_bits_set(&self->zones[i], i, self->layers.at[0], batch.ones[i], &run->rise, &chords);
    run->fresh = run->used = batch.fresh;
}

static void lookup(const blocked *self, const vidi__u128 *hashes, size_t n, uint8_t *verdicts)
{
    blocked_run run;
    if (in_one_piece(self, n)) {
        vidi__blocked_batch batch;
        prepare(&batch, self, hashes, n, verdicts);
        self->kernel->has_batch(&batch);
        return;
    }
    run.adds = run.waiting = false;
    run.ahead.count = 0;
    run.self = (blocked *)self; /* only its locks change */
    run.hashes = hashes;
    run.verdicts = verdicts;
    run_batch(&run, &has_ops, n);
}

/*
 * There is no room for new URLs, but URLs that were seen can still be answered. If that is all of them, nothing failed.
 */
static int answer_seen(const blocked *self, const vidi__u128 *hashes, size_t n, uint8_t *verdicts, vidi__tally *tally,
                       int code)
{
    uint8_t found[VIDI__HASHES_MAX];
    size_t seen = 0;
    lookup(self, hashes, n, found);
    for (size_t i = 0; i < n; i++)
        if (found[i] == VIDI_SEEN) {
            verdicts[i] = VIDI_SEEN;
            seen++;
        }
    tally->seen += seen;
    return seen == n ? VIDI_OK : code;
}

/* Claims room for 1 to n URLs, and the memory for their bits. */
static int claim(blocked *self, blocked_run *run, size_t n, uint64_t *taken)
{
    VIDI__TRY(vidi__layers_claim(&self->layers, n, &run->claimed_in, taken));
    vidi__layer *layer = self->layers.at[run->claimed_in];
    uint64_t ready = 0;
    int code = VIDI_OK;
    if (VIDI__LIKELY(!layer->lazy.untouched))
        return VIDI_OK;
    while (ready < *taken && code == VIDI_OK) {
        code = vidi__layer_touch_url(layer, self->base.memory, &run->hashes[ready]);
        ready += code == VIDI_OK;
    }
    vidi__layers_settle(&self->layers, run->claimed_in, *taken - ready, 0);
    *taken = ready;
    return ready ? VIDI_OK : code; /* the next claim will fail again */
}

/* Adds as many URLs as the last layer has room for. */
static int add_some(blocked *self, blocked_run *run, size_t n, vidi__tally *tally, uint64_t *taken)
{
    VIDI__TRY(claim(self, run, n, taken));
    if (VIDI__UNLIKELY(atomic_load_explicit(&self->zone_layers, memory_order_relaxed) <= run->claimed_in))
        refresh_zones(self);
    bool exact = *taken > 1 && !vidi__filter_is_alone(&self->base);
    double before = exact ? blocked_fp_now(&self->base) : chance_before(self);
    run->used = run->fresh = 0;
    run->rise = (vidi__rise){0, 0};
    run->waiting = false;
    run->ahead.count = 0;
    if (in_one_piece(self, *taken))
        add_in_one_piece(run, *taken);
    else
        run_batch(run, &add_ops, *taken);
    vidi__layers_settle(&self->layers, run->claimed_in, *taken, run->used);
    vidi__filter_add_count(&self->base, (int64_t)run->fresh);
    tally->fresh += run->fresh;
    tally->seen += *taken - run->fresh;
    tally->lost +=
        n > 1 ? vidi__rise_lost(run->rise, before, run->fresh) : (double)run->fresh * vidi__filter_lost(before);
    chance_after(self, before, run->rise, run->fresh);
    vidi__layers_prepare_next(&self->layers);
    return VIDI_OK;
}

static int add(blocked *self, const vidi__u128 *hashes, size_t n, uint8_t *verdicts, vidi__tally *tally)
{
    blocked_run run;
    run.self = self;
    run.adds = true;
    for (uint64_t done = 0, taken; done < n; done += taken) {
        run.hashes = hashes + done;
        run.verdicts = verdicts + done;
        int code = add_some(self, &run, n - done, tally, &taken);
        if (code < 0)
            return answer_seen(self, run.hashes, n - done, run.verdicts, tally, code);
    }
    return VIDI_OK;
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
        lookup(self, hashes, n, verdicts);
        return VIDI_OK;
    }
    for (size_t done = 0, count; done < n; done += count) {
        count = vidi__filter_member_hashes(filter, hashes + done, n - done, own);
        lookup(self, own, count, verdicts + done);
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
    uint8_t verdict;
    vidi__tally tally = {0};
    const vidi__u128 own = vidi__filter_member_hash(filter, hash);
    int code = add((blocked *)filter, &own, 1, &verdict, &tally);
    return (vidi__added){code < 0 ? code : verdict, tally.lost};
}

static int blocked_has_hash(const vidi__filter *filter, vidi__u128 hash)
{
    uint8_t verdict;
    const vidi__u128 own = vidi__filter_member_hash(filter, hash);
    lookup((const blocked *)filter, &own, 1, &verdict);
    return verdict;
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
    refresh_zones(self);
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
    refresh_zones(into);
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
    self->kernel = vidi__blocked_kernel_for(vidi__cpu());
    self->base.error = plan->error;
    self->base.needs.what = VIDI__NEED_HASH;
    self->base.keyed = config->item_hash->keyed;
    if (config->capacity > VIDI__CAPACITY_MAX)
        return vidi__fail(VIDI_EOPTION, "a capacity of %.3g URLs is more than any memory holds",
                          (double)config->capacity);
    return VIDI_OK;
}

static int blocked_create(vidi__filter **filter, const vidi__config *config)
{
    blocked *self;
    VIDI__TRY(vidi__filter_alloc(&self, sizeof *self, &vidi__kind_blocked, config));
    *filter = &self->base;
    self->layers.memory = config->memory;
    self->layers.later = config->touch_later;
    atomic_store(&self->base.needs_alone, config->touch_later); /* a lazy array is touched by one thread at a time */
    VIDI__TRY(configure(self, config));
    VIDI__TRY(vidi__layers_init(&self->layers));
    if (config->reader) {
        VIDI__TRY(vidi__layers_load(&self->layers, config->reader));
        atomic_store(&self->base.count, vidi__layers_urls(&self->layers));
        self->base.count_known = true;
    } else {
        VIDI__TRY(vidi__layers_begin(&self->layers));
    }
    refresh_zones(self);
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
    .step = blocked_step,
};
