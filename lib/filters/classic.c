/*
 * classic: the Bloom filter (Bloom 1970; all four papers). It has m bits. A URL sets k of them, and is seen if all k
 * are set.
 *
 *                 h1(x)         h2(x)              h3(x)
 *                   v             v                  v
 *     | 0 0 1 0 0 0 1 0 1 0 0 0 0 1 0 1 0 0 1 0 0 0 0 1 ... |   m bits
 *
 *     of=url       sets the URL's k positions: the thesis, algorithms 1 and 2
 *     of=segments  sets k positions of every '/'-separated segment, all in the same array. This is what algorithms 1
 *                  and 2 of the multi-layer paper literally say. A URL made of known segments in any order is then
 *                  certainly "seen", so this mode is here to be measured, not to be used.
 *
 * Threads: adds run in parallel if the item's hash is available (mode=derived, of=url). An add first looks, since most
 * adds of a crawl are repeats, and only if a bit is missing takes a lock chosen by that hash. The lock serialises two
 * adds of one URL, so exactly one of them finds a bit unset. Adds of different URLs share nothing but atomic words. The
 * locks are made when a second thread comes. Lazy filters, and filters inside others, never add in parallel.
 *
 * Batches (mode=derived, of=url) go in waves: while the bits of one wave are set, the memory fetches those of the next.
 *
 * Promises: no false negatives. Given the bits, fp_now = fill^k is exact, because the k positions are independent and
 * may coincide. With of=segments it is an estimate: the probability for a URL with one unknown segment.
 */
#include "base/mutex.h"
#include "filters/bloom.h"
#include "filters/bloom_bits.h"
#include "filters/pieces.h"

#define STRIPES 256

/* Places of a wave: about as many lines as the memory can deliver while the wave before is worked on. */
#define WAVE_PLACES 256
_Static_assert(WAVE_PLACES >= VIDI__K_MAX, "a wave holds at least one URL");

/* In a half-full filter, three quarters of the URLs that it does not have fail at one of their first two places. */
#define FIRST_PLACES 2
/* Places that a lookup of one hash tests before it branches: a branch after each would go either way. */
#define TOGETHER 4

/*
 * What threads that share the filter write to besides its bits. Each stripe has a cache line of its own, under its lock,
 * and so has the sum.
 */
typedef struct stripe {
    _Alignas(VIDI__CACHE_LINE) vidi__mutex lock;
    _Atomic uint64_t ones; /* bits set under this lock that it has not reported yet */
    uint64_t known;        /* set bits of the whole filter when it last reported any */
} stripe;

typedef struct stripes {
    stripe of[STRIPES];
    _Alignas(VIDI__CACHE_LINE) _Atomic uint64_t ones; /* set bits of the whole filter, as far as they are reported */
} stripes;

typedef struct classic {
    vidi__filter base;
    vidi__positions *positions;
    vidi__bloom shape;
    vidi__placing placing;
    vidi__bitmap bits;
    bool of_segments;
    stripes *stripes; /* NULL: only one thread has used it so far */
} classic;

static void classic_destroy(vidi__filter *filter)
{
    classic *self = (classic *)filter;
    vidi__release(filter->memory, self->stripes, sizeof *self->stripes, VIDI__CACHE_LINE);
    vidi__positions_drop(filter->memory, self->positions);
    vidi__bitmap_free(&self->bits, filter->memory);
    vidi__release(filter->memory, self, sizeof *self, VIDI__CACHE_LINE);
}

static int configure(classic *self, const vidi__config *config)
{
    unsigned of = 0, strip = 0;
    vidi__positions positions;
    vidi__params_know(config->params, "scheme");
    VIDI__TRY(vidi__params_choice(config->params, "of", "url|segments", &of));
    self->of_segments = of == 1;
    if (self->of_segments)
        VIDI__TRY(vidi__params_choice(config->params, "scheme", "keep|strip", &strip));
    vidi__filter *base = &self->base;
    VIDI__TRY(vidi__bloom_read(&self->shape, config));
    VIDI__TRY(vidi__bloom_setup(base, config, &self->shape, &positions));
    VIDI__TRY(vidi__positions_keep(config->memory, &positions, &self->positions));
    base->positions = self->positions;
    self->placing = vidi__positions_placing(&positions, self->shape.m);
    if (self->of_segments) {
        base->needs.what |= VIDI__NEED_SEGMENTS;
        base->needs.strip_scheme = strip == 1;
        base->fp_meaning = VIDI_FP_ESTIMATE;
    }
    if (base->needs.what != VIDI__NEED_HASH || config->depth)
        base->can &= ~(uint32_t)VIDI_IS_CONCURRENT;
    return VIDI_OK;
}

static int classic_create(vidi__filter **filter, const vidi__config *config)
{
    classic *self;
    VIDI__TRY(vidi__filter_alloc(&self, sizeof *self, &vidi__kind_classic, config));
    *filter = &self->base;
    VIDI__TRY(configure(self, config));
    return vidi__bitmap_init(&self->bits, config->memory, self->shape.m, config->reader, config->touch_later);
}

/* The places of a part, which are fetched: writes, if atomic, would wait for one another. */
static void places_of(const classic *self, const vidi__part *part, uint64_t *places)
{
    vidi__positions_values(self->positions, part, places);
    vidi__bloom_bits_fetch(&self->bits, &self->placing, places, self->shape.k);
}

static bool bits_are_set(const classic *self, const vidi__part *part)
{
    uint64_t values[VIDI__K_MAX];
    vidi__positions_values(self->positions, part, values);
    return vidi__bloom_bits_test(&self->bits, &self->placing, values, self->shape.k);
}

static bool places_are_set(const classic *self, const uint64_t *places, unsigned count)
{
    bool all = true;
    if (VIDI__UNLIKELY(vidi__bitmap_is_lazy(&self->bits))) {
        for (unsigned i = 0; i < count; i++)
            all &= vidi__bitmap_look(&self->bits, places[i]);
        return all;
    }
    for (unsigned i = 0; i < count; i++)
        all &= vidi__bitmap_test(&self->bits, places[i]);
    return all;
}

/* ---- threads that share the filter ---- */

/*
 * Stripes report what they have set when that is more than this fraction of all, and from a certain number on they go by
 * what they have learnt then. So the numbers from which adds know their losses lag behind by some thousandth, and
 * threads seldom meet at the sum.
 */
#define LAG 19
#define MANY_ONES (1u << 22)

static stripe *stripe_of(const classic *self, vidi__u128 hash)
{
    return &self->stripes->of[hash.hi % STRIPES];
}

static bool is_alone(const classic *self)
{
    return vidi__filter_is_alone(&self->base) || !self->stripes;
}

/* Set bits that stripes have not reported. */
static uint64_t kept_ones(const classic *self)
{
    uint64_t sum = 0;
    for (unsigned i = 0; self->stripes && i < STRIPES; i++)
        sum += atomic_load_explicit(&self->stripes->of[i].ones, memory_order_relaxed);
    return sum;
}

/* Set bits of the filter, of which bits.ones says only how many one thread alone has set. */
static uint64_t all_ones(const classic *self)
{
    uint64_t reported = self->stripes ? atomic_load_explicit(&self->stripes->ones, memory_order_relaxed) : 0;
    return self->bits.ones + reported + kept_ones(self);
}

/* The bits, with the number of all that are set. */
static vidi__bitmap counted_bits(const classic *self)
{
    vidi__bitmap bits = self->bits;
    bits.ones = all_ones(self);
    return bits;
}

/* Brings bits.ones up to date; the caller is alone. */
static void gather_ones(classic *self)
{
    if (!self->stripes)
        return;
    self->bits.ones = all_ones(self);
    atomic_store_explicit(&self->stripes->ones, 0, memory_order_relaxed);
    for (unsigned i = 0; i < STRIPES; i++)
        atomic_store_explicit(&self->stripes->of[i].ones, 0, memory_order_relaxed);
}

/* A lazy array is touched by one thread at a time. */
static int classic_share(vidi__filter *filter, vidi__gate *gate)
{
    (void)gate;
    classic *self = (classic *)filter;
    if (vidi__bitmap_is_lazy(&self->bits))
        return VIDI_ECANNOT;
    if (!self->stripes)
        VIDI__TRY(vidi__alloc_zeroed(filter->memory, &self->stripes, sizeof *self->stripes, VIDI__CACHE_LINE));
    gather_ones(self);
    for (unsigned i = 0; i < STRIPES; i++)
        self->stripes->of[i].known = self->bits.ones;
    return VIDI_OK;
}

/* How full the filter is. The stripe is locked. */
static double fill_known(const classic *self, stripe *stripe)
{
    if (stripe->known < MANY_ONES)
        stripe->known = self->bits.ones + atomic_load_explicit(&self->stripes->ones, memory_order_relaxed);
    return (double)stripe->known / (double)self->bits.m;
}

/* The stripe is locked. */
static void report_ones(classic *self, stripe *stripe, uint64_t fresh)
{
    uint64_t ones = atomic_load_explicit(&stripe->ones, memory_order_relaxed) + fresh;
    if (ones > stripe->known >> LAG) {
        uint64_t before = atomic_fetch_add_explicit(&self->stripes->ones, ones, memory_order_relaxed);
        stripe->known = self->bits.ones + before + ones;
        ones = 0;
    }
    atomic_store_explicit(&stripe->ones, ones, memory_order_relaxed);
}

/* Sets the places of a URL with this hash, and tells how full the filter was before; true if all were set. */
static bool set_places_shared(classic *self, vidi__u128 hash, const uint64_t *places, double *fill)
{
    stripe *stripe = stripe_of(self, hash);
    uint64_t fresh = 0;
    if (places_are_set(self, places, self->shape.k))
        return true;
    vidi__prefetch_to_write(stripe);
    for (unsigned i = 0; i < self->shape.k; i++)
        vidi__prefetch_to_write(vidi__bitmap_word(&self->bits, places[i] / 64));
    vidi__mutex_lock(&stripe->lock);
    for (unsigned i = 0; i < self->shape.k; i++)
        fresh += vidi__bitmap_set_shared(&self->bits, places[i]);
    *fill = fill_known(self, stripe);
    if (fresh)
        report_ones(self, stripe, fresh);
    vidi__mutex_unlock(&stripe->lock);
    return !fresh;
}

/* The same for any thread. Meanwhile no other thread sets the places of this URL. */
static bool set_places(classic *self, vidi__u128 hash, const uint64_t *places, double *fill)
{
    if (!is_alone(self))
        return set_places_shared(self, hash, places, fill);
    uint64_t reported = self->stripes ? atomic_load_explicit(&self->stripes->ones, memory_order_relaxed) : 0;
    *fill = (double)(self->bits.ones + reported) / (double)self->bits.m;
    if (VIDI__UNLIKELY(vidi__bitmap_is_lazy(&self->bits)))
        return vidi__bloom_bits_put(&self->bits, places, self->shape.k);
    return vidi__bloom_bits_set(&self->bits, places, self->shape.k);
}

static int touch_places(classic *self, const uint64_t *places)
{
    for (unsigned i = 0; i < self->shape.k; i++)
        VIDI__TRY(vidi__bitmap_touch(&self->bits, self->base.memory, places[i]));
    return VIDI_OK;
}

/* Touches all places of an item, before any of them is set. */
static int touch_item(classic *self, const vidi__item *item)
{
    uint64_t places[VIDI__K_MAX];
    for (size_t i = 0; self->of_segments && i < item->segment_count; i++) {
        places_of(self, &item->segments[i], places);
        VIDI__TRY(touch_places(self, places));
    }
    if (self->of_segments)
        return VIDI_OK;
    places_of(self, &item->url, places);
    return touch_places(self, places);
}

static int classic_add(vidi__filter *filter, const vidi__item *item)
{
    classic *self = (classic *)filter;
    uint64_t places[VIDI__K_MAX];
    double fill;
    bool seen = true;
    if (VIDI__UNLIKELY(vidi__bitmap_is_lazy(&self->bits)))
        VIDI__TRY(touch_item(self, item));
    for (size_t i = 0; self->of_segments && i < item->segment_count; i++) {
        places_of(self, &item->segments[i], places);
        seen &= set_places(self, item->segments[i].hash, places, &fill);
    }
    if (!self->of_segments) {
        places_of(self, &item->url, places);
        seen = set_places(self, item->url.hash, places, &fill);
    }
    if (seen)
        return VIDI_SEEN;
    vidi__filter_add_count(filter, 1);
    return VIDI_NEW;
}

static int classic_has(const vidi__filter *filter, const vidi__item *item)
{
    const classic *self = (const classic *)filter;
    if (!self->of_segments)
        return bits_are_set(self, &item->url) ? VIDI_SEEN : VIDI_NEW;
    for (size_t i = 0; i < item->segment_count; i++)
        if (!bits_are_set(self, &item->segments[i]))
            return VIDI_NEW;
    return VIDI_SEEN;
}

static double fill_of(const classic *self)
{
    return (double)all_ones(self) / (double)self->bits.m;
}

static double classic_fp_now(const vidi__filter *filter)
{
    const classic *self = (const classic *)filter;
    return vidi__power(fill_of(self), self->shape.k);
}

/* ---- one hash ---- */

static VIDI__INLINE uint64_t place_at(const classic *self, vidi__u128 hash, unsigned i)
{
    return vidi__placing_of(&self->placing, vidi__positions_derived(self->positions, hash, i));
}

static uint64_t fetch_place(const classic *self, vidi__u128 hash, unsigned i)
{
    uint64_t place = place_at(self, hash, i);
    vidi__bitmap_prefetch(&self->bits, place);
    return place;
}

static vidi__added classic_add_hash(vidi__filter *filter, vidi__u128 hash)
{
    classic *self = (classic *)filter;
    uint64_t places[VIDI__K_MAX];
    for (unsigned i = 0; i < self->shape.k; i++)
        places[i] = fetch_place(self, hash, i);
    int code = vidi__bitmap_is_lazy(&self->bits) ? touch_places(self, places) : VIDI_OK;
    if (VIDI__UNLIKELY(code < 0))
        return (vidi__added){.code = code};
    double fill = 0;
    if (set_places(self, hash, places, &fill))
        return (vidi__added){.code = VIDI_SEEN};
    vidi__filter_add_count(filter, 1);
    return (vidi__added){VIDI_NEW, vidi__filter_lost(vidi__power(fill, self->shape.k))};
}

static VIDI__INLINE bool place_is_set(const classic *self, vidi__u128 hash, unsigned i)
{
    const vidi__bitmap *bits = &self->bits;
    uint64_t place = place_at(self, hash, i);
    return vidi__bitmap_is_lazy(bits) ? vidi__bitmap_look(bits, place) : vidi__bitmap_test(bits, place);
}

static int classic_has_hash(const vidi__filter *filter, vidi__u128 hash)
{
    const classic *self = (const classic *)filter;
    unsigned k = self->shape.k, i = 0;
    bool all = true;
    for (; i < k && i < TOGETHER; i++)
        all &= place_is_set(self, hash, i);
    for (; all && i < k; i++)
        all = place_is_set(self, hash, i);
    return all ? VIDI_SEEN : VIDI_NEW;
}

/* ---- batches of hashes ---- */

/* A wave of a batch: hashes whose places are known, or their first ones, and on their way from memory. */
typedef struct classic_wave {
    const vidi__u128 *hashes;
    size_t count;
    uint64_t places[WAVE_PLACES]; /* `each` for each hash */
    unsigned each;
} classic_wave;

/* Begins to fetch the next wave of n hashes: the first `each` places of every hash. */
static void fetch_wave(const classic *self, classic_wave *wave, const vidi__u128 *hashes, size_t n, unsigned each)
{
    size_t most = WAVE_PLACES / self->shape.k;
    wave->hashes = hashes;
    wave->count = n < most ? n : most;
    wave->each = each;
    for (size_t i = 0; i < wave->count; i++)
        for (unsigned j = 0; j < each; j++)
            wave->places[i * each + j] = fetch_place(self, hashes[i], j);
}

static void add_wave(classic *self, const classic_wave *wave, uint8_t *verdicts, vidi__tally *tally)
{
    uint64_t fresh = 0;
    for (size_t i = 0; i < wave->count; i++) {
        double fill = 0;
        bool seen = set_places(self, wave->hashes[i], wave->places + i * wave->each, &fill);
        verdicts[i] = seen ? VIDI_SEEN : VIDI_NEW;
        if (seen)
            continue;
        fresh++;
        tally->lost += vidi__filter_lost(vidi__power(fill, self->shape.k));
    }
    tally->fresh += fresh;
    tally->seen += wave->count - fresh;
    vidi__filter_add_count(&self->base, (int64_t)fresh);
}

/* Of a lazy array: touches the places of a wave, which ends before the first hash that gets no memory. */
static int touch_wave(classic *self, classic_wave *wave)
{
    for (size_t i = 0; i < wave->count; i++) {
        int code = touch_places(self, wave->places + i * wave->each);
        if (code < 0) {
            wave->count = i;
            return code;
        }
    }
    return VIDI_OK;
}

static int classic_add_hashes(vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts,
                              vidi__tally *tally)
{
    classic *self = (classic *)filter;
    classic_wave waves[2];
    unsigned turn = 0;
    int code = VIDI_OK;
    fetch_wave(self, &waves[turn], hashes, n, self->shape.k);
    for (size_t done = 0; done < n && code == VIDI_OK; turn = !turn) {
        size_t next = done + waves[turn].count;
        fetch_wave(self, &waves[!turn], hashes + next, n - next, self->shape.k);
        if (VIDI__UNLIKELY(vidi__bitmap_is_lazy(&self->bits)))
            code = touch_wave(self, &waves[turn]);
        add_wave(self, &waves[turn], verdicts + done, tally);
        done = next;
    }
    return code;
}

/* Decides by the first places where it can, then fetches the others of all that are left, and tests those. */
static void has_wave(const classic *self, const classic_wave *wave, uint8_t *verdicts)
{
    unsigned others = self->shape.k - wave->each;
    uint64_t places[WAVE_PLACES];
    uint16_t left[WAVE_PLACES];
    size_t count = 0;
    for (size_t i = 0; i < wave->count; i++) {
        verdicts[i] = VIDI_NEW;
        left[count] = (uint16_t)i;
        count += places_are_set(self, wave->places + i * wave->each, wave->each);
    }
    for (size_t i = 0; i < count; i++)
        for (unsigned j = 0; j < others; j++)
            places[i * others + j] = fetch_place(self, wave->hashes[left[i]], wave->each + j);
    for (size_t i = 0; i < count; i++)
        if (places_are_set(self, places + i * others, others))
            verdicts[left[i]] = VIDI_SEEN;
}

static int classic_has_hashes(const vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts)
{
    const classic *self = (const classic *)filter;
    unsigned first = self->shape.k < FIRST_PLACES ? self->shape.k : FIRST_PLACES, turn = 0;
    classic_wave waves[2];
    fetch_wave(self, &waves[turn], hashes, n, first);
    for (size_t done = 0; done < n; turn = !turn) {
        size_t next = done + waves[turn].count;
        fetch_wave(self, &waves[!turn], hashes + next, n - next, first);
        has_wave(self, &waves[turn], verdicts + done);
        done = next;
    }
    return VIDI_OK;
}

/* ---- the kind's other functions ---- */

static void classic_stat(const vidi__filter *filter, vidi__filter_stats *stats)
{
    const classic *self = (const classic *)filter;
    stats->bytes = vidi__bitmap_allocated(&self->bits);
    stats->fill = fill_of(self);
    stats->k = self->shape.k;
}

static void classic_describe(const vidi__filter *filter, vidi__text *text)
{
    const classic *self = (const classic *)filter;
    vidi__text_add(text, "m=%llu,k=%u,", (unsigned long long)self->shape.m, self->shape.k);
    if (self->of_segments)
        vidi__text_add(text, "of=segments,scheme=%s,", filter->needs.strip_scheme ? "strip" : "keep");
    vidi__positions_describe(self->positions, text);
}

static int classic_save(const vidi__filter *filter, vidi__writer *writer)
{
    const vidi__bitmap bits = counted_bits((const classic *)filter);
    return vidi__bitmap_save(&bits, writer);
}

static int classic_save_run(const vidi__filter *filter, vidi__run_out *run)
{
    return vidi__bitmap_save_run(&((const classic *)filter)->bits, run);
}

static int classic_load_run(vidi__filter *filter, vidi__run_in *run)
{
    return vidi__bitmap_load_run(&((classic *)filter)->bits, run);
}

static int classic_verify(const vidi__filter *filter)
{
    const vidi__bitmap bits = counted_bits((const classic *)filter);
    return vidi__bitmap_verify(&bits);
}

static int classic_merge(vidi__filter *into, const vidi__filter *from)
{
    classic *self = (classic *)into;
    gather_ones(self);
    uint64_t before = self->bits.ones;
    VIDI__TRY(vidi__filter_same_shape(into, from));
    VIDI__TRY(vidi__bitmap_merge(&self->bits, into->memory, &((const classic *)from)->bits));
    vidi__bloom_merged(into, from, (vidi__bloom_growth){before, self->bits.ones}, self->shape.m, self->shape.k);
    return VIDI_OK;
}

static int classic_fp_merged(const vidi__filter *into, const vidi__filter *from, uint64_t more, double *fp)
{
    const classic *self = (const classic *)into;
    VIDI__TRY(vidi__filter_same_shape(into, from));
    uint64_t ones = vidi__bitmap_union(&self->bits, &((const classic *)from)->bits);
    *fp = vidi__bloom_fp_after(ones, self->shape.m, self->shape.k, more);
    return VIDI_OK;
}

/* ---- the union of several filters, which is written without being made ---- */

static const uint64_t *bits_of(const vidi__filter *filter, const void *context)
{
    (void)context;
    return ((const classic *)filter)->bits.words;
}

static vidi__joint joint_of(const classic *self)
{
    return (vidi__joint){vidi__join_bits, vidi__measure_bits, bits_of, .words = vidi__bitmap_words(self->shape.m)};
}

static int classic_unite(vidi__union *all)
{
    const classic *self = (const classic *)all->parts[0];
    return vidi__bloom_unite(all, joint_of(self), self->shape.m, self->shape.k);
}

static int classic_save_union(const vidi__union *all, vidi__writer *writer)
{
    return vidi__bloom_save_union(all, joint_of((const classic *)all->parts[0]), writer);
}

static double one_bit(const void *context, unsigned k)
{
    (void)context;
    (void)k;
    return 1;
}

static int classic_plan(const vidi__want *want, vidi__planned *planned)
{
    vidi__bloom shape;
    VIDI__TRY(vidi__bloom_plan(want, one_bit, NULL, &shape));
    vidi__bloom_planned(want, &shape, planned);
    planned->bytes = vidi__bitmap_bytes(shape.m);
    return VIDI_OK;
}

static int classic_step(vidi__filter *filter, uint64_t budget_ns)
{
    return vidi__lazy_step(&((classic *)filter)->bits.lazy, budget_ns);
}

const vidi__kind vidi__kind_classic = {
    .name = "classic",
    .summary = "Bloom filter of m bits with k positions a URL",
    .can = VIDI_CAN_MERGE | VIDI_IS_CONCURRENT,
    .create = classic_create,
    .destroy = classic_destroy,
    .add = classic_add,
    .has = classic_has,
    .add_hashes = classic_add_hashes,
    .has_hashes = classic_has_hashes,
    .add_hash = classic_add_hash,
    .has_hash = classic_has_hash,
    .fp_now = classic_fp_now,
    .stat = classic_stat,
    .describe = classic_describe,
    .save = classic_save,
    .save_run = classic_save_run,
    .load_run = classic_load_run,
    .verify = classic_verify,
    .plan = classic_plan,
    .merge = classic_merge,
    .fp_merged = classic_fp_merged,
    .unite = classic_unite,
    .save_union = classic_save_union,
    .share = classic_share,
    .step = classic_step,
};
