/*
 * eigen: the eigenvalue-extension Bloom filter (the eigenvalue paper, section 2.2). The bit array has two regions. A
 * URL x sets k positions in the first region, and its feature x' = g(x) sets d positions in the second. A URL is seen
 * if all k + d are set.
 *
 *     | . 1 . . 1 . . . 1 . . . . . 1 . . . | . 1 . . . 1 . . |
 *       <---- m1: h1(x) … hk(x) -----------> <-- f1(x') … fd(x')
 *
 *     g, the parameter; the functions are next to the URL parser:
 *     labels  first characters of the host's labels between www and the top-level domain (the paper's table 1). All
 *             URLs of a site have the same feature, so it adds nothing where the paper promises most: deep in one site.
 *     tail    everything after the last '/' of the path: what differs between the pages of a list. The default.
 *     ends    the last two characters of every segment, query name, query value and fragment.
 *
 * Where the paper contradicts itself: its regions {1..m1} and {m1..m} share bit m1 (ours share none). Its addElementNew
 * nests the loops and confuses i with j (we set the d positions once). Its equation (4) divides by m where m - m1 is
 * meant.
 *
 * Promises: no false negatives. fp_now = (fill of region 1)^k is an upper bound: if a URL's feature is known, region 2
 * does not help. How much smaller the true probability is depends on the number of *different* features, not on n.
 */
#include "filters/bitmap.h"
#include "filters/bloom.h"
#include "filters/pieces.h"

typedef struct eigen {
    vidi__filter base;
    vidi__bloom shape; /* of the first region: n, m1, k */
    unsigned d;
    vidi__positions of_url, of_feature;
    vidi__bitmap first, second;
} eigen;

static void eigen_destroy(vidi__filter *filter)
{
    eigen *self = (eigen *)filter;
    vidi__bitmap_free(&self->first, filter->memory);
    vidi__bitmap_free(&self->second, filter->memory);
    vidi__release(filter->memory, self, sizeof *self, VIDI__CACHE_LINE);
}

/* The paper's proportion: a third as many functions, a third more bits. */
static unsigned default_d(uint64_t k)
{
    return k < 3 ? 1 : (unsigned)(k / 3);
}

static uint64_t second_region(uint64_t m1, uint64_t k, uint64_t d)
{
    return (uint64_t)(((unsigned __int128)m1 * d + k - 1) / k);
}

/*
 * Determines m1 and the size of the second region, from m, m1 and k, or from the parameters that size a classic filter.
 */
static int regions(eigen *self, const vidi__config *config, uint64_t *m2)
{
    uint64_t k = 0, d = 0, m = 0, m1 = 0;
    vidi__params *params = config->params;
    VIDI__TRY(vidi__params_u64(params, "d", 1, VIDI__K_MAX, &d));
    VIDI__TRY(vidi__params_u64(params, "m1", 1, VIDI__PLACES_MAX, &m1));
    if (!vidi__params_has(params, "m")) {
        if (m1)
            return vidi__fail(VIDI_EOPTION, "m1 is a part of m: give m and k, too");
        VIDI__TRY(vidi__bloom_read(&self->shape, config));
        self->d = d ? (unsigned)d : default_d(self->shape.k);
        *m2 = second_region(self->shape.m, self->shape.k, self->d);
        return VIDI_OK;
    }
    VIDI__TRY(vidi__params_u64(params, "m", 2, VIDI__PLACES_MAX, &m));
    VIDI__TRY(vidi__params_u64(params, "k", 1, VIDI__K_MAX, &k));
    if (!k)
        return vidi__fail(VIDI_EOPTION, "m alone is not enough: give k, too");
    self->d = d ? (unsigned)d : default_d(k);
    if (!m1)
        m1 = (uint64_t)((unsigned __int128)m * k / (k + self->d));
    if (m1 < 1 || m1 >= m)
        return vidi__fail(VIDI_EOPTION, "m1=%llu leaves no room in m=%llu for both regions", (unsigned long long)m1,
                          (unsigned long long)m);
    *m2 = m - m1;
    return vidi__bloom_given(&self->shape, config, m1, (unsigned)k);
}

static int configure(eigen *self, const vidi__config *config, uint64_t *m2)
{
    vidi_str feature = VIDI__STR("tail");
    VIDI__TRY(regions(self, config, m2));
    VIDI__TRY(vidi__params_str(config->params, "g", &feature));
    if (feature.len >= sizeof self->base.needs.feature)
        return vidi__fail(VIDI_EOPTION, "g is too long for a feature's name");
    VIDI__TRY(vidi__bloom_setup(&self->base, config, &self->shape, &self->of_url));
    vidi__seed seed = vidi__seed_child(&config->seed, "feature", 0, 1);
    VIDI__TRY(vidi__positions_init(&self->of_feature, config->params, &seed, self->d));
    VIDI__TRY(vidi__positions_share(&self->of_feature, &self->of_url));
    VIDI__TRY(vidi__positions_check(&self->of_feature, *m2));
    self->base.needs.what |= VIDI__NEED_FEATURE;
    memcpy(self->base.needs.feature, feature.ptr, feature.len);
    if (self->base.fp_meaning == VIDI_FP_EXACT)
        self->base.fp_meaning = VIDI_FP_AT_MOST;
    return VIDI_OK;
}

static int eigen_create(vidi__filter **filter, const vidi__config *config)
{
    eigen *self;
    uint64_t m2 = 0;
    VIDI__TRY(vidi__filter_alloc(&self, sizeof *self, &vidi__kind_eigen, config));
    *filter = &self->base;
    VIDI__TRY(configure(self, config, &m2));
    VIDI__TRY(vidi__bitmap_init(&self->first, config->memory, self->shape.m, config->reader, config->touch_later));
    return vidi__bitmap_init(&self->second, config->memory, m2, config->reader, config->touch_later);
}

static int touch_bits(vidi__bitmap *bits, vidi__memory *memory, const vidi__positions *positions,
                      const vidi__part *part)
{
    uint64_t values[VIDI__K_MAX];
    if (!vidi__bitmap_is_lazy(bits))
        return VIDI_OK;
    vidi__positions_values(positions, part, values);
    for (unsigned i = 0; i < positions->k; i++)
        VIDI__TRY(vidi__bitmap_touch(bits, memory, vidi__positions_place(positions, values[i], bits->m)));
    return VIDI_OK;
}

static bool set_bits(vidi__bitmap *bits, const vidi__positions *positions, const vidi__part *part)
{
    uint64_t values[VIDI__K_MAX];
    bool all = true;
    vidi__positions_values(positions, part, values);
    for (unsigned i = 0; i < positions->k; i++)
        all &= !vidi__bitmap_put(bits, vidi__positions_place(positions, values[i], bits->m));
    return all;
}

static bool bits_are_set(const vidi__bitmap *bits, const vidi__positions *positions, const vidi__part *part)
{
    uint64_t values[VIDI__K_MAX];
    vidi__positions_values(positions, part, values);
    for (unsigned i = 0; i < positions->k; i++)
        if (!vidi__bitmap_look(bits, vidi__positions_place(positions, values[i], bits->m)))
            return false;
    return true;
}

static int eigen_add(vidi__filter *filter, const vidi__item *item)
{
    eigen *self = (eigen *)filter;
    VIDI__TRY(touch_bits(&self->first, filter->memory, &self->of_url, &item->url));
    VIDI__TRY(touch_bits(&self->second, filter->memory, &self->of_feature, &item->feature));
    bool url = set_bits(&self->first, &self->of_url, &item->url);
    bool feature = set_bits(&self->second, &self->of_feature, &item->feature);
    if (url && feature)
        return VIDI_SEEN;
    vidi__filter_add_count(filter, 1);
    return VIDI_NEW;
}

static int eigen_has(const vidi__filter *filter, const vidi__item *item)
{
    const eigen *self = (const eigen *)filter;
    bool seen = bits_are_set(&self->first, &self->of_url, &item->url) &&
                bits_are_set(&self->second, &self->of_feature, &item->feature);
    return seen ? VIDI_SEEN : VIDI_NEW;
}

static double eigen_fp_now(const vidi__filter *filter)
{
    const eigen *self = (const eigen *)filter;
    return vidi__power(vidi__bitmap_fill(&self->first), self->shape.k);
}

static void eigen_stat(const vidi__filter *filter, vidi__filter_stats *stats)
{
    const eigen *self = (const eigen *)filter;
    stats->bytes = vidi__bitmap_allocated(&self->first) + vidi__bitmap_allocated(&self->second);
    stats->fill = (double)(self->first.ones + self->second.ones) / (double)(self->first.m + self->second.m);
    stats->k = self->of_url.k;
}

static void eigen_describe(const vidi__filter *filter, vidi__text *text)
{
    const eigen *self = (const eigen *)filter;
    vidi__text_add(text, "m=%llu,m1=%llu,k=%u,d=%u,g=%s,", (unsigned long long)(self->first.m + self->second.m),
                   (unsigned long long)self->first.m, self->shape.k, self->d, filter->needs.feature);
    vidi__positions_describe(&self->of_url, text);
}

static int eigen_save(const vidi__filter *filter, vidi__writer *writer)
{
    const eigen *self = (const eigen *)filter;
    VIDI__TRY(vidi__bitmap_save(&self->first, writer));
    return vidi__bitmap_save(&self->second, writer);
}

static int eigen_save_run(const vidi__filter *filter, vidi__run_out *run)
{
    const eigen *self = (const eigen *)filter;
    return vidi__bitmaps_save_run((const vidi__bitmap *[]){&self->first, &self->second}, 2, run);
}

static int eigen_load_run(vidi__filter *filter, vidi__run_in *run)
{
    eigen *self = (eigen *)filter;
    return vidi__bitmaps_load_run((vidi__bitmap *[]){&self->first, &self->second}, 2, run);
}

static int eigen_verify(const vidi__filter *filter)
{
    const eigen *self = (const eigen *)filter;
    VIDI__TRY(vidi__bitmap_verify(&self->first));
    return vidi__bitmap_verify(&self->second);
}

static int eigen_merge(vidi__filter *into, const vidi__filter *from)
{
    eigen *self = (eigen *)into;
    uint64_t before = self->first.ones;
    VIDI__TRY(vidi__filter_same_shape(into, from));
    VIDI__TRY(vidi__bitmap_merge(&self->first, into->memory, &((const eigen *)from)->first));
    VIDI__TRY(vidi__bitmap_merge(&self->second, into->memory, &((const eigen *)from)->second));
    vidi__bloom_merged(into, from, (vidi__bloom_growth){before, self->first.ones}, self->first.m, self->shape.k);
    return VIDI_OK;
}

static int eigen_fp_merged(const vidi__filter *into, const vidi__filter *from, uint64_t more, double *fp)
{
    const eigen *self = (const eigen *)into;
    VIDI__TRY(vidi__filter_same_shape(into, from));
    uint64_t ones = vidi__bitmap_union(&self->first, &((const eigen *)from)->first);
    *fp = vidi__bloom_fp_after(ones, self->first.m, self->shape.k, more);
    return VIDI_OK;
}

static double both_regions(const void *context, unsigned k)
{
    uint64_t d = *(const uint64_t *)context;
    return 1 + (double)(d ? d : default_d(k)) / k;
}

static int eigen_plan(const vidi__want *want, vidi__planned *planned)
{
    vidi__bloom shape;
    vidi__want bounded = *want;
    uint64_t d = 0;
    bounded.bound = true;
    VIDI__TRY(vidi__params_u64(want->params, "d", 1, VIDI__K_MAX, &d));
    VIDI__TRY(vidi__bloom_plan(&bounded, both_regions, &d, &shape));
    uint64_t m2 = second_region(shape.m, shape.k, d ? d : default_d(shape.k));
    if (want->memory && want->memory < vidi__bitmap_bytes(shape.m) + VIDI__CACHE_LINE)
        return vidi__fail(VIDI_EOPTION, "the memory is too small for two regions");
    if (want->memory && vidi__bitmap_bytes(shape.m) + vidi__bitmap_bytes(m2) > want->memory)
        m2 = (want->memory - vidi__bitmap_bytes(shape.m)) / VIDI__CACHE_LINE * VIDI__CACHE_LINE * 8;
    vidi__bloom_planned(&bounded, &shape, planned);
    planned->bytes = vidi__bitmap_bytes(shape.m) + vidi__bitmap_bytes(m2);
    planned->lines = shape.k + (double)(d ? d : default_d(shape.k));
    vidi__text text = vidi__text_in(planned->params, sizeof planned->params);
    vidi__text_add(&text, "capacity=%llu,m=%llu,m1=%llu,k=%u", (unsigned long long)shape.n,
                   (unsigned long long)(shape.m + m2), (unsigned long long)shape.m, shape.k);
    return VIDI_OK;
}

static int eigen_step(vidi__filter *filter, uint64_t budget_ns)
{
    eigen *self = (eigen *)filter;
    return vidi__bitmaps_step((vidi__bitmap *[]){&self->first, &self->second}, 2, budget_ns);
}

const vidi__kind vidi__kind_eigen = {
    .name = "eigen",
    .summary = "Bloom filter with a second region for features of the URL",
    .can = VIDI_CAN_MERGE,
    .create = eigen_create,
    .destroy = eigen_destroy,
    .add = eigen_add,
    .has = eigen_has,
    .fp_now = eigen_fp_now,
    .stat = eigen_stat,
    .describe = eigen_describe,
    .save = eigen_save,
    .save_run = eigen_save_run,
    .load_run = eigen_load_run,
    .verify = eigen_verify,
    .plan = eigen_plan,
    .merge = eigen_merge,
    .fp_merged = eigen_fp_merged,
    .step = eigen_step,
};
