/*
 * classic: the Bloom filter (Bloom 1970; all four papers). It has m bits. A URL sets k of them, and is seen if all k
 * are set.
 *
 *                 h1(x)         h2(x)              h3(x)
 *                   v             v                  v
 *     | 0 0 1 0 0 0 1 0 1 0 0 0 0 1 0 1 0 0 1 0 0 0 0 1 ... |   m bits
 *
 *     of=url       sets the URL's k positions: the thesis, algorithms 1 and 2
 *     of=segments  sets k positions of every '/'-separated segment, all in the same array. This is what algorithms 1 and
 *                  2 of the multi-layer paper literally say. A URL made of known segments in any order is then certainly
 *                  "seen", so this mode is here to be measured, not to be used.
 *
 * Threads: adds run in parallel if the item's hash is available (mode=derived, of=url). A lock chosen by that hash
 * serialises two adds of one URL, so exactly one of them finds a bit unset. Adds of different URLs share nothing but
 * atomic words.
 *
 * Promises: no false negatives. Given the bits, fp_now = fill^k is exact, because the k positions are independent and
 * may coincide. With of=segments it is an estimate: the probability for a URL with one unknown segment.
 */
#include <pthread.h>

#include "filters/bloom.h"
#include "filters/bloom_bits.h"

#define LOCKS 64

typedef struct classic {
    vidi__filter base;
    vidi__positions positions;
    vidi__bloom shape;
    vidi__placing placing;
    vidi__bitmap bits;
    bool of_segments;
    unsigned locks_made;
    struct {
        _Alignas(VIDI__CACHE_LINE) pthread_mutex_t mutex;
    } locks[LOCKS];
} classic;

static void classic_destroy(vidi__filter *filter)
{
    classic *self = (classic *)filter;
    while (self->locks_made)
        pthread_mutex_destroy(&self->locks[--self->locks_made].mutex);
    vidi__bitmap_free(&self->bits, filter->memory);
    vidi__release(filter->memory, self, sizeof *self, VIDI__CACHE_LINE);
}

static int make_locks(classic *self)
{
    for (; self->locks_made < LOCKS; self->locks_made++)
        if (pthread_mutex_init(&self->locks[self->locks_made].mutex, NULL))
            return vidi__fail(VIDI_ESYSTEM, "cannot create a lock: the system has no more of them");
    return VIDI_OK;
}

static int configure(classic *self, const vidi__config *config)
{
    unsigned of = 0, strip = 0;
    vidi__params_know(config->params, "scheme");
    VIDI__TRY(vidi__params_choice(config->params, "of", "url|segments", &of));
    self->of_segments = of == 1;
    if (self->of_segments)
        VIDI__TRY(vidi__params_choice(config->params, "scheme", "keep|strip", &strip));
    vidi__filter *base = &self->base;
    VIDI__TRY(vidi__bloom_read(&self->shape, config));
    VIDI__TRY(vidi__bloom_setup(base, config, &self->shape, &self->positions));
    self->placing = vidi__positions_placing(&self->positions, self->shape.m);
    if (self->of_segments) {
        base->needs.what |= VIDI__NEED_SEGMENTS;
        base->needs.strip_scheme = strip == 1;
        base->fp_meaning = VIDI_FP_ESTIMATE;
    }
    if (base->needs.what != VIDI__NEED_HASH)
        base->can &= ~(uint32_t)VIDI_IS_CONCURRENT;
    return VIDI_OK;
}

static int classic_create(vidi__filter **filter, const vidi__config *config)
{
    classic *self;
    VIDI__TRY(vidi__filter_alloc(&self, sizeof *self, &vidi__kind_classic, config));
    *filter = &self->base;
    VIDI__TRY(configure(self, config));
    if (self->base.can & VIDI_IS_CONCURRENT)
        VIDI__TRY(make_locks(self));
    return vidi__bitmap_init(&self->bits, config->memory, self->shape.m, config->reader);
}

/* Sets the positions of a part; true if all of them were set before. */
static bool set_bits(classic *self, const vidi__part *part)
{
    uint64_t values[VIDI__K_MAX];
    vidi__positions_values(&self->positions, part, values);
    vidi__bloom_bits_fetch(&self->bits, &self->placing, values, self->shape.k); /* atomic writes wait for one another */
    return vidi__bloom_bits_set(&self->bits, values, self->shape.k, true);
}

static bool bits_are_set(const classic *self, const vidi__part *part)
{
    uint64_t values[VIDI__K_MAX];
    vidi__positions_values(&self->positions, part, values);
    return vidi__bloom_bits_test(&self->bits, &self->placing, values, self->shape.k);
}

static bool set_bits_in_turn(classic *self, const vidi__part *part)
{
    if (!(self->base.can & VIDI_IS_CONCURRENT))
        return set_bits(self, part);
    pthread_mutex_t *mutex = &self->locks[part->hash.hi % LOCKS].mutex;
    pthread_mutex_lock(mutex);
    bool all = set_bits(self, part);
    pthread_mutex_unlock(mutex);
    return all;
}

static int classic_add(vidi__filter *filter, const vidi__item *item)
{
    classic *self = (classic *)filter;
    bool seen = true;
    if (self->of_segments)
        for (size_t i = 0; i < item->segment_count; i++)
            seen &= set_bits(self, &item->segments[i]);
    else
        seen = set_bits_in_turn(self, &item->url);
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

static double classic_fp_now(const vidi__filter *filter)
{
    const classic *self = (const classic *)filter;
    return vidi__power(vidi__bitmap_fill(&self->bits), self->shape.k);
}

static void classic_stat(const vidi__filter *filter, vidi__filter_stats *stats)
{
    const classic *self = (const classic *)filter;
    stats->bytes = vidi__bitmap_bytes(self->shape.m);
    stats->fill = vidi__bitmap_fill(&self->bits);
}

static void classic_describe(const vidi__filter *filter, vidi__text *text)
{
    const classic *self = (const classic *)filter;
    vidi__text_add(text, "m=%llu,k=%u,", (unsigned long long)self->shape.m, self->shape.k);
    if (self->of_segments)
        vidi__text_add(text, "of=segments,scheme=%s,", filter->needs.strip_scheme ? "strip" : "keep");
    vidi__positions_describe(&self->positions, text);
}

static void classic_hash_names(const vidi__filter *filter, vidi__text *text)
{
    vidi__positions_names(&((const classic *)filter)->positions, text);
}

static int classic_save(const vidi__filter *filter, vidi__writer *writer)
{
    return vidi__bitmap_save(&((const classic *)filter)->bits, writer);
}

static int classic_verify(const vidi__filter *filter)
{
    return vidi__bitmap_verify(&((const classic *)filter)->bits);
}

static int classic_merge(vidi__filter *into, const vidi__filter *from)
{
    classic *self = (classic *)into;
    uint64_t before = self->bits.ones;
    VIDI__TRY(vidi__filter_same_shape(into, from));
    vidi__bitmap_merge(&self->bits, &((const classic *)from)->bits);
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

const vidi__kind vidi__kind_classic = {
    .name = "classic",
    .summary = "Bloom filter of m bits with k positions a URL",
    .can = VIDI_CAN_MERGE | VIDI_IS_CONCURRENT,
    .create = classic_create,
    .destroy = classic_destroy,
    .add = classic_add,
    .has = classic_has,
    .fp_now = classic_fp_now,
    .stat = classic_stat,
    .describe = classic_describe,
    .hash_names = classic_hash_names,
    .save = classic_save,
    .verify = classic_verify,
    .plan = classic_plan,
    .merge = classic_merge,
    .fp_merged = classic_fp_merged,
};
