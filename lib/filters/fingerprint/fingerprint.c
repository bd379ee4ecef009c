/*
 * fingerprint: a growing table of hash remainders. It keeps W bits of each URL's hash (60 by default) exactly, but most
 * of these bits are implied by where the rest is stored (table.h). From ten million URLs on, a URL takes about 7 bytes
 * and a lookup reads one cache line. A page is lost only if two URLs agree in all W bits.
 *
 * W need not be a whole number: a hash maps to one of S = g · 2^e numbers, 256 <= g < 512. So a requested error rate
 * costs no more memory than necessary.
 *
 * Threads: see table.h. A thread that has the set alone needs no locks.
 *
 * Parameters: bits (W, in multiples of 1/64), multiset=on (every add is stored and can be removed), growth (the factor
 * by which parts of the table grow: more takes more memory and moves hashes less often), hash. If an error rate and a
 * capacity are given, W becomes as small as they allow.
 *
 * Promises: no false negatives. fp_now = count / S is exact at any size. An attacker without the key does no better
 * than chance, since partition, sub-table, line and distance all come from the keyed hash.
 */
#include <math.h>

#include "base/clock.h"
#include "cpu/cpu.h"
#include "filters/fingerprint/kernels/kernel.h"
#include "filters/fingerprint/table_union.h"

#define BITS_MIN 32
#define BITS_MAX 60
#define BITS_STEPS 64 /* W is a multiple of 1/64 */
#define GROWTH_MIN 1.05
#define GROWTH_MAX 4

typedef struct fingerprint {
    vidi__filter base;
    double bits;
    vidi__table table;
    const vidi__fingerprint_kernel *kernel;
} fingerprint;

static void fingerprint_destroy(vidi__filter *filter)
{
    fingerprint *self = (fingerprint *)filter;
    vidi__table_close(&self->table);
    vidi__release(filter->memory, self, sizeof *self, VIDI__CACHE_LINE);
}

/* ---- one hash ---- */

/* Both numbers are below 2^63, and signed ones become doubles in one instruction. */
static double fingerprint_fp_now(const vidi__filter *filter)
{
    return (double)(int64_t)vidi__filter_count(filter) / (double)(int64_t)((const fingerprint *)filter)->table.hashes;
}

/* vidi__table_add, inline for partitions that are open. */
static VIDI__INLINE int add_to_table(vidi__table *table, uint64_t hash)
{
    vidi__partition *partition = vidi__table_partition(table, hash);
    if (VIDI__UNLIKELY(!vidi__partition_is_open(partition)))
        return vidi__table_add(table, hash);
    const vidi__place place = vidi__place_of(partition, hash);
    return vidi__table_add_at(table, partition, hash, &place);
}

static vidi__added fingerprint_add_hash(vidi__filter *filter, vidi__u128 whole)
{
    vidi__table *table = &((fingerprint *)filter)->table;
    uint64_t hash = vidi__filter_member_hash(filter, whole).hi;
    int code =
        VIDI__LIKELY(vidi__filter_is_alone(filter)) ? add_to_table(table, hash) : vidi__table_add_shared(table, hash);
    if (code != VIDI_NEW)
        return (vidi__added){.code = code};
    double p = fingerprint_fp_now(filter);
    vidi__filter_add_count(filter, 1);
    return (vidi__added){VIDI_NEW, vidi__filter_lost(p)};
}

static int fingerprint_has_hash(const vidi__filter *filter, vidi__u128 whole)
{
    const vidi__table *table = &((const fingerprint *)filter)->table;
    uint64_t hash = vidi__filter_member_hash(filter, whole).hi;
    const vidi__partition *partition = vidi__table_partition((vidi__table *)table, hash); /* which is only read */
    if (VIDI__UNLIKELY(!vidi__partition_is_open(partition)))
        return VIDI_NEW;
    const vidi__place place = vidi__place_of(partition, hash);
    if (VIDI__LIKELY(vidi__filter_is_alone(filter)))
        return vidi__subtable_has(place.table, place.hash, &place.spot) ? VIDI_SEEN : VIDI_NEW;
    int answer = vidi__subtable_glance(place.table, &place.spot);
    return VIDI__LIKELY(answer != VIDI_UNTRIED) ? answer : vidi__table_has_shared(table, hash);
}

/*
 * Locating the line again takes a few instructions; what takes long is on its way meanwhile. The line comes from memory,
 * so it is this core's to write to in any case. The lock may be in another core's cache.
 */
static void fingerprint_fetch_hash(const vidi__filter *filter, vidi__u128 whole, bool writes)
{
    const vidi__table *table = &((const fingerprint *)filter)->table;
    uint64_t hash = vidi__filter_member_hash(filter, whole).hi;
    const vidi__partition *partition = vidi__table_partition((vidi__table *)table, hash); /* which is only read */
    if (VIDI__UNLIKELY(!vidi__partition_is_open(partition)))
        return;
    const vidi__place place = vidi__place_of(partition, hash);
    __builtin_prefetch(place.spot.line);
    if (writes && !vidi__filter_is_alone(filter))
        vidi__prefetch_to_write(&place.table->lock);
}

/* ---- batches ---- */

/* From this many hashes on, a table is much larger than most caches. */
#define FAR_HASHES 4000000u

static void begin(vidi__fingerprint_run *run, const vidi__filter *filter, const vidi__u128 *hashes, size_t n,
                  uint8_t *verdicts)
{
    run->table = &((fingerprint *)filter)->table; /* lookups change nothing in it */
    run->hashes = hashes;
    run->count = n;
    run->verdicts = verdicts;
    run->done = run->fresh = 0;
    run->far = vidi__filter_count(filter) >= FAR_HASHES;
}

/* Adds a batch to a multiset, hash by hash. */
static int add_singly(vidi__filter *filter, vidi__fingerprint_run *run)
{
    for (; run->done < run->count; run->done++) {
        uint64_t hash = run->hashes[run->done].hi;
        int code = vidi__filter_is_alone(filter) ? vidi__table_add(run->table, hash)
                                                 : vidi__table_add_shared(run->table, hash);
        VIDI__TRY(code);
        run->verdicts[run->done] = (uint8_t)code;
        run->fresh += code == VIDI_NEW;
    }
    return VIDI_OK;
}

static int add_run(vidi__filter *filter, vidi__fingerprint_run *run)
{
    const fingerprint *self = (const fingerprint *)filter;
    if (self->table.multiset)
        return add_singly(filter, run);
    return vidi__filter_is_alone(filter) ? self->kernel->add(run) : self->kernel->add_shared(run);
}

static int add_all(vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts, vidi__tally *tally)
{
    fingerprint *self = (fingerprint *)filter;
    vidi__fingerprint_run run;
    begin(&run, filter, hashes, n, verdicts);
    double before = (double)vidi__filter_count(filter);
    int code = add_run(filter, &run);
    vidi__filter_add_count(filter, (int64_t)run.fresh);
    tally->fresh += run.fresh;
    tally->seen += run.done - run.fresh;
    tally->lost += (double)run.fresh * (before + ((double)run.fresh - 1) / 2) / (double)self->table.hashes;
    return code;
}

static int fingerprint_add_hashes(vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts,
                                  vidi__tally *tally)
{
    vidi__u128 own[VIDI__MEMBER_HASHES_MAX];
    if (!filter->is_member)
        return add_all(filter, hashes, n, verdicts, tally);
    for (size_t done = 0, count; done < n; done += count) {
        count = vidi__filter_member_hashes(filter, hashes + done, n - done, own);
        VIDI__TRY(add_all(filter, own, count, verdicts + done, tally));
    }
    return VIDI_OK;
}

static int has_all(const vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts)
{
    const fingerprint *self = (const fingerprint *)filter;
    vidi__fingerprint_run run;
    begin(&run, filter, hashes, n, verdicts);
    if (vidi__filter_is_alone(filter))
        self->kernel->has(&run);
    else
        self->kernel->has_shared(&run);
    return VIDI_OK;
}

static int fingerprint_has_hashes(const vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts)
{
    vidi__u128 own[VIDI__MEMBER_HASHES_MAX];
    if (!filter->is_member)
        return has_all(filter, hashes, n, verdicts);
    for (size_t done = 0, count; done < n; done += count) {
        count = vidi__filter_member_hashes(filter, hashes + done, n - done, own);
        VIDI__TRY(has_all(filter, own, count, verdicts + done));
    }
    return VIDI_OK;
}

/* ---- single items ---- */

static uint64_t hash_of(const vidi__filter *filter, const vidi__item *item)
{
    return vidi__filter_member_hash(filter, item->url.hash).hi;
}

static int fingerprint_add(vidi__filter *filter, const vidi__item *item)
{
    return fingerprint_add_hash(filter, item->url.hash).code;
}

static int fingerprint_has(const vidi__filter *filter, const vidi__item *item)
{
    return fingerprint_has_hash(filter, item->url.hash);
}

static int fingerprint_times(const vidi__filter *filter, const vidi__item *item, uint64_t *times)
{
    *times = vidi__table_times(&((const fingerprint *)filter)->table, hash_of(filter, item));
    return VIDI_OK;
}

static int fingerprint_remove(vidi__filter *filter, const vidi__item *item)
{
    fingerprint *self = (fingerprint *)filter;
    const vidi__place place = vidi__table_place(&self->table, hash_of(filter, item));
    if (!place.table || !vidi__subtable_remove(place.table, place.hash))
        return vidi__fail(VIDI_EABSENT, "the URL is not in the set, so it cannot be removed");
    if (!vidi__subtable_has(place.table, place.hash, &place.spot))
        vidi__filter_add_count(filter, -1);
    return VIDI_OK;
}

/* ---- the whole filter ---- */

typedef struct listing {
    vidi_visitor visitor;
    void *context;
} listing;

static int list_hash(void *context, uint64_t hash, uint64_t times)
{
    const listing *self = context;
    vidi_entry entry = {.hash = {0, hash}, .times = times};
    return self->visitor(self->context, &entry);
}

static int fingerprint_iterate(const vidi__filter *filter, vidi_visitor visitor, void *context)
{
    listing self = {visitor, context};
    return vidi__table_walk(&((const fingerprint *)filter)->table, list_hash, &self);
}

static int fingerprint_list_hashes(const vidi__filter *filter, vidi__take_hashes *take, void *context)
{
    return vidi__table_list(&((const fingerprint *)filter)->table, take, context);
}

static vidi__u128 fingerprint_kept_hash(const vidi__filter *filter, vidi__u128 hash)
{
    uint64_t own = vidi__filter_member_hash(filter, hash).hi;
    return (vidi__u128){0, vidi__table_kept(&((const fingerprint *)filter)->table, own)};
}

/* Adds a hash of another table, which holds it `times` times. */
static int merge_hash(void *context, uint64_t hash, uint64_t times)
{
    fingerprint *self = context;
    int verdict = vidi__table_add_times(&self->table, hash, times);
    if (verdict == VIDI_NEW)
        vidi__filter_add_count(&self->base, 1);
    return verdict < 0 ? verdict : 0;
}

/* Sets that grow by different factors can be merged; everything else must agree. */
static int check_mergeable(const vidi__filter *into, const vidi__filter *from)
{
    const fingerprint *a = (const fingerprint *)into, *b = (const fingerprint *)from;
    bool same = into->kind == from->kind && a->table.hashes == b->table.hashes &&
                a->table.multiset == b->table.multiset && into->item_hash == from->item_hash;
    return same ? VIDI_OK : vidi__filter_same_shape(into, from);
}

static int fingerprint_merge(vidi__filter *into, const vidi__filter *from)
{
    VIDI__TRY(check_mergeable(into, from));
    return vidi__table_walk(&((const fingerprint *)from)->table, merge_hash, into);
}

typedef struct counting_missing {
    const vidi__table *into;
    uint64_t missing;
} counting_missing;

static int count_missing(void *context, uint64_t hash, uint64_t times)
{
    counting_missing *self = context;
    const vidi__place place = vidi__table_place(self->into, hash);
    (void)times;
    self->missing += !place.table || !vidi__subtable_has(place.table, place.hash, &place.spot);
    return 0;
}

/* Counting the hashes that `into` lacks takes as long as merging them, so it is done only if it may matter. */
static int fingerprint_fp_merged(const vidi__filter *into, const vidi__filter *from, uint64_t more, double *fp)
{
    const vidi__table *table = &((const fingerprint *)into)->table;
    counting_missing self = {.into = table, .missing = vidi__filter_count(from)};
    double known = (double)(vidi__filter_count(into) + more), hashes = (double)table->hashes;
    VIDI__TRY(check_mergeable(into, from));
    if ((known + (double)self.missing) / hashes > (into->error > 0 ? into->error : VIDI__DEFAULT_ERROR)) {
        self.missing = 0;
        VIDI__TRY(vidi__table_walk(&((const fingerprint *)from)->table, count_missing, &self));
    }
    *fp = (known + (double)self.missing) / hashes;
    return VIDI_OK;
}

static const vidi__table *table_of(const vidi__filter *filter)
{
    return &((const fingerprint *)filter)->table;
}

static int fingerprint_unite(vidi__union *all)
{
    for (size_t i = 1; i < all->count; i++)
        VIDI__TRY(check_mergeable(all->parts[0], all->parts[i]));
    return vidi__tables_unite(all, table_of);
}

static int fingerprint_save_union(const vidi__union *all, vidi__writer *writer)
{
    return vidi__tables_save_union(all, table_of, writer);
}

static void fingerprint_stat(const vidi__filter *filter, vidi__filter_stats *stats)
{
    const fingerprint *self = (const fingerprint *)filter;
    vidi__table_stats all = {0};
    for (unsigned i = 0; i < vidi__table_partitions(&self->table); i++)
        vidi__table_stat(&self->table, i, &all);
    stats->bytes = all.bytes;
    stats->fill = all.slots > 0 ? all.used / all.slots : 0;
}

/* Prepares memory for growth. It needs nothing but the pool, so other threads may add at the same time. */
static int fingerprint_step(vidi__filter *filter, uint64_t budget_ns)
{
    vidi__slabs *slabs = &((fingerprint *)filter)->table.slabs;
    uint64_t begin = vidi__clock_ns();
    if (!budget_ns)
        return vidi__slabs_want_more(slabs);
    do {
        if (!vidi__slabs_prepare(slabs))
            return 0;
    } while (vidi__clock_ns() - begin < budget_ns);
    return 1;
}

static void fingerprint_describe(const vidi__filter *filter, vidi__text *text)
{
    const fingerprint *self = (const fingerprint *)filter;
    vidi__text_add(text, "bits=%.8g,multiset=%s,hash=%s", self->bits, self->table.multiset ? "on" : "off",
                   filter->item_hash->name);
    if (self->table.growth > 0)
        vidi__text_add(text, ",growth=%.8g", self->table.growth);
}

static int fingerprint_save(const vidi__filter *filter, vidi__writer *writer)
{
    return vidi__table_save(&((const fingerprint *)filter)->table, writer);
}

static int fingerprint_save_run(const vidi__filter *filter, vidi__run_out *run)
{
    return vidi__table_save_run(&((const fingerprint *)filter)->table, run);
}

static int fingerprint_load_run(vidi__filter *filter, vidi__run_in *run)
{
    uint64_t fresh = 0;
    int code = vidi__table_load_run(&((fingerprint *)filter)->table, run, &fresh);
    vidi__filter_add_count(filter, (int64_t)fresh);
    run->counted = true;
    return code;
}

static int fingerprint_verify(const vidi__filter *filter)
{
    uint64_t count = 0;
    VIDI__TRY(vidi__table_verify(&((const fingerprint *)filter)->table, &count));
    return count == vidi__filter_count(filter) ? VIDI_OK : vidi__damaged("the number of URLs is wrong");
}

static void fingerprint_expect(vidi__filter *filter, uint64_t urls)
{
    vidi__table_expect(&((fingerprint *)filter)->table, urls);
}

/* ---- create and load ---- */

/* S, the number of hashes that W bits, rounded up to 1/64, tell apart: g · 2^e. g is the same on every machine. */
static uint64_t hashes_of(double bits)
{
    double whole = floor(bits);
    uint64_t g = (uint64_t)ceil(exp2(8 + bits - whole));
    return g << ((unsigned)whole - 8);
}

static double round_bits(double bits)
{
    return ceil(bits * BITS_STEPS - 1e-6) / BITS_STEPS;
}

/* The fewest bits that tell this many hashes apart. */
static double bits_for(double hashes)
{
    return fmax(BITS_MIN, round_bits(log2(hashes)));
}

static int configure(fingerprint *self, const vidi__config *config)
{
    unsigned multiset = 0;
    self->bits = BITS_MAX;
    if (config->error > 0 && config->capacity) {
        self->bits = bits_for((double)config->capacity / config->error);
        if (self->bits > BITS_MAX)
            return vidi__fail(VIDI_EOPTION,
                              "an error rate of %g for %llu URLs needs %.0f bits of hash; at most %d are possible",
                              config->error, (unsigned long long)config->capacity, ceil(self->bits), BITS_MAX);
    }
    VIDI__TRY(vidi__params_double(config->params, "bits", BITS_MIN, BITS_MAX, &self->bits));
    VIDI__TRY(vidi__params_double(config->params, "growth", GROWTH_MIN, GROWTH_MAX, &self->table.growth));
    VIDI__TRY(vidi__params_choice(config->params, "multiset", "off|on", &multiset));
    VIDI__TRY(vidi__filter_check_hash(config));
    self->bits = round_bits(self->bits);
    self->table.hashes = hashes_of(self->bits);
    self->table.multiset = self->base.stores_every_add = multiset == 1;
    self->table.portable = vidi__cpu() == VIDI__CPU_PORTABLE;
    self->kernel = vidi__fingerprint_kernel_for(vidi__cpu());
    self->base.needs.what = VIDI__NEED_HASH;
    self->base.keyed = config->item_hash->keyed;
    return VIDI_OK;
}

/*
 * Loads the table. For a borrowed multiset, the number of different hashes is only known to be at most the number
 * stored.
 */
static int load(fingerprint *self, const vidi__config *config)
{
    uint64_t count = 0;
    VIDI__TRY(vidi__table_load(&self->table, config->reader, &count));
    if (!vidi__must_examine(config->reader) && self->table.multiset && config->count < count)
        count = config->count;
    if (count > self->table.hashes)
        return vidi__damaged("the number of hashes exceeds their range");
    vidi__filter_add_count(&self->base, (int64_t)count);
    return VIDI_OK;
}

static int fingerprint_create(vidi__filter **filter, const vidi__config *config)
{
    fingerprint *self;
    VIDI__TRY(vidi__filter_alloc(&self, sizeof *self, &vidi__kind_fingerprint, config));
    *filter = &self->base;
    VIDI__TRY(configure(self, config));
    vidi__table_init(&self->table, config->memory);
    if (config->reader)
        VIDI__TRY(load(self, config));
    else if (config->capacity && config->touch_later)
        vidi__table_expect(&self->table, config->capacity);
    else if (config->capacity)
        VIDI__TRY(vidi__table_reserve(&self->table, config->capacity));
    return VIDI_OK;
}

static int fingerprint_share(vidi__filter *filter, vidi__gate *gate)
{
    return vidi__table_share(&((fingerprint *)filter)->table, gate);
}

/* The most URLs that fit into the memory with this many bits. */
static double urls_within(double memory, double bits)
{
    double low = 0, high = memory;
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        if (vidi__table_bytes_for(middle, hashes_of(bits)) <= memory)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Returns true if the demand is met exactly, without any tolerance. */
static bool keeps(const vidi__want *want, double urls, double bits)
{
    double hashes = (double)hashes_of(bits);
    return !(want->error > 0 && urls / hashes > want->error) &&
           !(want->lost > 0 && urls * urls / 2 / hashes > want->lost);
}

/* W for an error rate when full, n / S, or for the pages lost until then, n² / 2S. */
static double bits_wanted(const vidi__want *want, double urls)
{
    double bits = BITS_MIN;
    if (want->error > 0)
        bits = fmax(bits, bits_for(urls / want->error));
    if (want->lost > 0)
        bits = fmax(bits, bits_for(urls * urls / 2 / want->lost));
    while (bits <= BITS_MAX && !keeps(want, urls, bits)) /* rounding was on the wrong side */
        bits += 1.0 / BITS_STEPS;
    return bits;
}

/* The most bits that the memory has room for, but at least BITS_MIN. */
static double bits_within(double memory, double urls)
{
    double bits = BITS_MAX;
    while (bits > BITS_MIN && vidi__table_bytes_for(urls, hashes_of(bits)) > memory)
        bits -= 1.0 / BITS_STEPS;
    return bits;
}

/* The most URLs for which this many bits meet the demand. */
static double urls_kept(const vidi__want *want, double bits)
{
    double hashes = (double)hashes_of(bits), urls = INFINITY;
    if (want->error > 0)
        urls = fmin(urls, floor(hashes * want->error));
    if (want->lost > 0)
        urls = fmin(urls, floor(sqrt(2 * want->lost * hashes)));
    return isfinite(urls) && !keeps(want, urls, bits) ? urls - 1 : urls; /* rounding went the wrong way */
}

/* The most URLs that fit into the memory and meet the request. More bits leave room for fewer URLs, but lose fewer. */
static double most_urls(const vidi__want *want)
{
    double low = BITS_MIN, high = BITS_MAX;
    while (high - low > 1.0 / BITS_STEPS) {
        double middle = round_bits((low + high) / 2);
        if (bits_wanted(want, urls_within((double)want->memory, middle)) <= middle)
            high = middle;
        else
            low = middle;
    }
    return fmin(urls_within((double)want->memory, high), urls_kept(want, high));
}

static int fingerprint_plan(const vidi__want *want, vidi__planned *planned)
{
    double urls = (double)want->urls, bits = 0;
    VIDI__TRY(vidi__params_double(want->params, "bits", BITS_MIN, BITS_MAX, &bits));
    bool given = bits > 0;
    if (!(want->error > 0) && !(want->lost > 0) && !given && !(want->urls && want->memory))
        return vidi__fail(VIDI_EOPTION,
                          "the request says too little: give an error rate, pages lost at most, or both URLs "
                          "and memory");
    if (want->k || want->multiplier > 0 || want->members > 1)
        return vidi__fail(VIDI_EOPTION, "fingerprint has no positions, so that k and M mean nothing to it");
    if (!want->urls)
        urls = given ? urls_within((double)want->memory, round_bits(bits)) : most_urls(want);
    bool demand = want->error > 0 || want->lost > 0;
    bits = given ? round_bits(bits) : demand ? bits_wanted(want, urls) : bits_within((double)want->memory, urls);
    if (urls < 1 || bits > BITS_MAX || (given && bits < bits_wanted(want, urls)))
        return vidi__fail(VIDI_EOPTION, "fingerprint keeps at most %d bits of a hash, which are too few for the demand",
                          BITS_MAX);
    double bytes = vidi__table_bytes_for(urls, hashes_of(bits));
    if (want->memory && bytes > (double)want->memory)
        return vidi__fail(VIDI_EOPTION, "fingerprint needs %s", vidi__human_bytes((uint64_t)bytes).text);
    planned->urls = (uint64_t)urls;
    planned->bytes = (uint64_t)bytes;
    planned->error = urls / (double)hashes_of(bits);
    planned->lost = urls * urls / 2 / (double)hashes_of(bits);
    planned->lines = vidi__table_lines_for(urls, hashes_of(bits));
    vidi__text text = vidi__text_in(planned->params, sizeof planned->params);
    vidi__text_add(&text, "capacity=%llu", (unsigned long long)planned->urls);
    if (!given)
        vidi__text_add(&text, ",bits=%.8g", bits);
    return VIDI_OK;
}

const vidi__kind vidi__kind_fingerprint = {
    .name = "fingerprint",
    .summary = "growing table of hash remainders: loses practically nothing in about 7 bytes a URL",
    .can = VIDI_CAN_DELETE | VIDI_CAN_COUNT | VIDI_CAN_MERGE | VIDI_CAN_ITERATE | VIDI_CAN_GROW | VIDI_IS_CONCURRENT,
    .create = fingerprint_create,
    .destroy = fingerprint_destroy,
    .add = fingerprint_add,
    .has = fingerprint_has,
    .add_hashes = fingerprint_add_hashes,
    .has_hashes = fingerprint_has_hashes,
    .add_hash = fingerprint_add_hash,
    .has_hash = fingerprint_has_hash,
    .fetch_hash = fingerprint_fetch_hash,
    .fp_now = fingerprint_fp_now,
    .stat = fingerprint_stat,
    .describe = fingerprint_describe,
    .save = fingerprint_save,
    .save_run = fingerprint_save_run,
    .load_run = fingerprint_load_run,
    .share = fingerprint_share,
    .step = fingerprint_step,
    .step_is_concurrent = true,
    .expect = fingerprint_expect,
    .verify = fingerprint_verify,
    .plan = fingerprint_plan,
    .remove = fingerprint_remove,
    .times = fingerprint_times,
    .merge = fingerprint_merge,
    .fp_merged = fingerprint_fp_merged,
    .unite = fingerprint_unite,
    .save_union = fingerprint_save_union,
    .iterate = fingerprint_iterate,
    .list_hashes = fingerprint_list_hashes,
    .kept_hash = fingerprint_kept_hash,
};
