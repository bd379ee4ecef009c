/*
 * multilayer: one Bloom filter per '/'-separated segment, and one for the XOR of the segments (the multi-layer paper,
 * algorithms 3 and 4; Cen, Xu, Sun 2010).
 *
 *     http://a1/a2/a3           layer 1: k positions of a1      | . 1 . . 1 . . . |
 *                               layer 2: k positions of a2      | 1 . . . . . 1 . |
 *                               layer 3: k positions of a3      | . . 1 . . . . 1 |    m bits each
 *                               layer L+1: Hj(a1)^Hj(a2)^Hj(a3) | . . . 1 . 1 . . |
 *
 * A URL is seen if every segment is known in its layer and the k combined positions are set. Without the last layer
 * a1/b2/a3 would be "seen" after a1/a2/a3 and b1/b2/b3.
 *
 * Where the paper leaves a gap:
 *
 * - Segments beyond L are joined into the last one, slashes included. Only a '/' before the first '?' or '#' separates
 *   segments: query and fragment belong to the segment in which they stand.
 * - The paper strips the scheme, so http://x and https://x are one URL: scheme=strip. By default the scheme stays with
 *   the host.
 * - The paper XORs addresses, which leaves the array unless m is a power of two: xor=address requires such an m. By
 *   default (xor=hash) the full hashes are XORed, and the result is reduced.
 * - XOR ignores order, and equal segments cancel. So h/b/a is certainly "seen" after h/a/b, and h/a after h/a/x/x, if
 *   their segments are known in those layers. layersalt=off does as the paper does; by default each layer has its own
 *   salt, which solves this.
 *
 * Promises: no false negatives. fp_now = (fill of the last layer)^k is the probability for a URL whose segments are all
 * known. Unknown segments make it smaller; by how much depends on the number of different segments per layer, which is
 * not counted. So fp_now is an upper bound. With layersalt=off or scheme=strip it is an estimate, because of the URLs
 * above. The paper's (1-e^(-kn/m))^(kL) assumes that n URLs have n different segments in every layer.
 */
#include "filters/bitmap.h"
#include "filters/bloom.h"
#include "filters/pieces.h"

#define LAYERS_MAX 16

typedef struct multilayer {
    vidi__filter base;
    vidi__positions positions;
    vidi__bloom shape;
    unsigned layers; /* without the last one, which holds the XOR */
    bool layersalt;
    bool xor_address;
    vidi__bitmap bits[LAYERS_MAX + 1];
} multilayer;

static void multilayer_destroy(vidi__filter *filter)
{
    multilayer *self = (multilayer *)filter;
    for (unsigned i = 0; i <= LAYERS_MAX; i++)
        vidi__bitmap_free(&self->bits[i], filter->memory);
    vidi__release(filter->memory, self, sizeof *self, VIDI__CACHE_LINE);
}

/* XOR of addresses needs m to be a power of two. A computed m is rounded up to one; an m that was given must be one. */
static int power_of_two(uint64_t *m, bool given)
{
    if ((*m & (*m - 1)) == 0)
        return VIDI_OK;
    if (given)
        return vidi__fail(VIDI_EOPTION, "xor=address needs m to be a power of two, which %llu is not",
                          (unsigned long long)*m);
    *m = UINT64_C(1) << (64 - __builtin_clzll(*m));
    return VIDI_OK;
}

static int configure(multilayer *self, const vidi__config *config)
{
    uint64_t layers = 4;
    unsigned layersalt = 1, xor_address = 0, strip = 0;
    bool m_given = vidi__params_has(config->params, "m");
    VIDI__TRY(vidi__params_u64(config->params, "L", 1, LAYERS_MAX, &layers));
    VIDI__TRY(vidi__params_choice(config->params, "layersalt", "off|on", &layersalt));
    VIDI__TRY(vidi__params_choice(config->params, "xor", "hash|address", &xor_address));
    VIDI__TRY(vidi__params_choice(config->params, "scheme", "keep|strip", &strip));
    VIDI__TRY(vidi__bloom_read(&self->shape, config));
    if (xor_address)
        VIDI__TRY(power_of_two(&self->shape.m, m_given));
    VIDI__TRY(vidi__bloom_setup(&self->base, config, &self->shape, &self->positions));
    self->layers = (unsigned)layers;
    self->layersalt = layersalt == 1;
    self->xor_address = xor_address == 1;
    self->base.needs.what |= VIDI__NEED_SEGMENTS;
    self->base.needs.segments_max = layers;
    self->base.needs.strip_scheme = strip == 1;
    if (self->base.fp_meaning == VIDI_FP_EXACT)
        self->base.fp_meaning = self->layersalt && !strip ? VIDI_FP_AT_MOST : VIDI_FP_ESTIMATE;
    return VIDI_OK;
}

static int multilayer_create(vidi__filter **filter, const vidi__config *config)
{
    multilayer *self;
    VIDI__TRY(vidi__filter_alloc(&self, sizeof *self, &vidi__kind_multilayer, config));
    *filter = &self->base;
    VIDI__TRY(configure(self, config));
    if (!config->reader && !config->touch_later) /* check for all arrays together before the first is allocated */
        VIDI__TRY(vidi__memory_check(config->memory, vidi__bitmap_bytes(self->shape.m) * (self->layers + 1)));
    for (unsigned i = 0; i <= self->layers; i++)
        VIDI__TRY(
            vidi__bitmap_init(&self->bits[i], config->memory, self->shape.m, config->reader, config->touch_later));
    return VIDI_OK;
}

/* The places of a segment in its layer; XORs its contribution into `folded`. */
static void places_of(const multilayer *self, const vidi__part *segment, size_t layer, uint64_t *places,
                      uint64_t *folded)
{
    uint64_t values[VIDI__K_MAX];
    vidi__positions_values(&self->positions, segment, values);
    for (unsigned j = 0; j < self->shape.k; j++) {
        if (self->layersalt)
            values[j] = vidi__mix(values[j] + (layer + 1) * UINT64_C(0x9e3779b97f4a7c15));
        places[j] = vidi__positions_place(&self->positions, values[j], self->shape.m);
        folded[j] ^= self->xor_address ? places[j] : values[j];
    }
}

static uint64_t place_of_xor(const multilayer *self, uint64_t folded)
{
    return self->xor_address ? folded : vidi__positions_place(&self->positions, folded, self->shape.m);
}

/* Touches the memory of all places of an item. */
static int touch_item(multilayer *self, const vidi__item *item)
{
    uint64_t places[VIDI__K_MAX], folded[VIDI__K_MAX] = {0};
    vidi__memory *memory = self->base.memory;
    for (size_t i = 0; i < item->segment_count; i++) {
        places_of(self, &item->segments[i], i, places, folded);
        for (unsigned j = 0; j < self->shape.k; j++)
            VIDI__TRY(vidi__bitmap_touch(&self->bits[i], memory, places[j]));
    }
    for (unsigned j = 0; j < self->shape.k; j++)
        VIDI__TRY(vidi__bitmap_touch(&self->bits[self->layers], memory, place_of_xor(self, folded[j])));
    return VIDI_OK;
}

static int multilayer_add(vidi__filter *filter, const vidi__item *item)
{
    multilayer *self = (multilayer *)filter;
    uint64_t places[VIDI__K_MAX], folded[VIDI__K_MAX] = {0};
    bool seen = true;
    if (vidi__bitmap_is_lazy(&self->bits[0]))
        VIDI__TRY(touch_item(self, item));
    for (size_t i = 0; i < item->segment_count; i++) {
        places_of(self, &item->segments[i], i, places, folded);
        for (unsigned j = 0; j < self->shape.k; j++)
            seen &= !vidi__bitmap_put(&self->bits[i], places[j]);
    }
    for (unsigned j = 0; j < self->shape.k; j++)
        seen &= !vidi__bitmap_put(&self->bits[self->layers], place_of_xor(self, folded[j]));
    if (seen)
        return VIDI_SEEN;
    vidi__filter_add_count(filter, 1);
    return VIDI_NEW;
}

static int multilayer_has(const vidi__filter *filter, const vidi__item *item)
{
    const multilayer *self = (const multilayer *)filter;
    uint64_t places[VIDI__K_MAX], folded[VIDI__K_MAX] = {0};
    for (size_t i = 0; i < item->segment_count; i++) {
        places_of(self, &item->segments[i], i, places, folded);
        for (unsigned j = 0; j < self->shape.k; j++)
            if (!vidi__bitmap_look(&self->bits[i], places[j]))
                return VIDI_NEW;
    }
    for (unsigned j = 0; j < self->shape.k; j++)
        if (!vidi__bitmap_look(&self->bits[self->layers], place_of_xor(self, folded[j])))
            return VIDI_NEW;
    return VIDI_SEEN;
}

static double multilayer_fp_now(const vidi__filter *filter)
{
    const multilayer *self = (const multilayer *)filter;
    return vidi__power(vidi__bitmap_fill(&self->bits[self->layers]), self->shape.k);
}

static void multilayer_stat(const vidi__filter *filter, vidi__filter_stats *stats)
{
    const multilayer *self = (const multilayer *)filter;
    for (unsigned i = 0; i <= self->layers; i++) {
        stats->bytes += vidi__bitmap_allocated(&self->bits[i]);
        stats->fill += vidi__bitmap_fill(&self->bits[i]) / (self->layers + 1);
    }
    stats->k = self->shape.k;
}

static void multilayer_describe(const vidi__filter *filter, vidi__text *text)
{
    const multilayer *self = (const multilayer *)filter;
    vidi__text_add(text, "m=%llu,k=%u,L=%u,layersalt=%s,xor=%s,scheme=%s,", (unsigned long long)self->shape.m,
                   self->shape.k, self->layers, self->layersalt ? "on" : "off", self->xor_address ? "address" : "hash",
                   filter->needs.strip_scheme ? "strip" : "keep");
    vidi__positions_describe(&self->positions, text);
}

static int multilayer_save(const vidi__filter *filter, vidi__writer *writer)
{
    const multilayer *self = (const multilayer *)filter;
    for (unsigned i = 0; i <= self->layers; i++)
        VIDI__TRY(vidi__bitmap_save(&self->bits[i], writer));
    return VIDI_OK;
}

static int multilayer_save_run(const vidi__filter *filter, vidi__run_out *run)
{
    const multilayer *self = (const multilayer *)filter;
    const vidi__bitmap *bits[LAYERS_MAX + 1];
    for (unsigned i = 0; i <= self->layers; i++)
        bits[i] = &self->bits[i];
    return vidi__bitmaps_save_run(bits, self->layers + 1, run);
}

static int multilayer_load_run(vidi__filter *filter, vidi__run_in *run)
{
    multilayer *self = (multilayer *)filter;
    vidi__bitmap *bits[LAYERS_MAX + 1];
    for (unsigned i = 0; i <= self->layers; i++)
        bits[i] = &self->bits[i];
    return vidi__bitmaps_load_run(bits, self->layers + 1, run);
}

static int multilayer_verify(const vidi__filter *filter)
{
    const multilayer *self = (const multilayer *)filter;
    for (unsigned i = 0; i <= self->layers; i++)
        VIDI__TRY(vidi__bitmap_verify(&self->bits[i]));
    return VIDI_OK;
}

static int multilayer_merge(vidi__filter *into, const vidi__filter *from)
{
    multilayer *self = (multilayer *)into;
    const vidi__bitmap *last = &self->bits[self->layers];
    uint64_t before = last->ones;
    VIDI__TRY(vidi__filter_same_shape(into, from));
    for (unsigned i = 0; i <= self->layers; i++)
        VIDI__TRY(vidi__bitmap_merge(&self->bits[i], into->memory, &((const multilayer *)from)->bits[i]));
    vidi__bloom_merged(into, from, (vidi__bloom_growth){before, last->ones}, self->shape.m, self->shape.k);
    return VIDI_OK;
}

static int multilayer_fp_merged(const vidi__filter *into, const vidi__filter *from, uint64_t more, double *fp)
{
    const multilayer *self = (const multilayer *)into, *other = (const multilayer *)from;
    VIDI__TRY(vidi__filter_same_shape(into, from));
    uint64_t ones = vidi__bitmap_union(&self->bits[self->layers], &other->bits[self->layers]);
    *fp = vidi__bloom_fp_after(ones, self->shape.m, self->shape.k, more);
    return VIDI_OK;
}

static double layers_of(const void *context, unsigned k)
{
    (void)k;
    return (double)*(const uint64_t *)context + 1;
}

static int multilayer_plan(const vidi__want *want, vidi__planned *planned)
{
    vidi__bloom shape;
    vidi__want bounded = *want;
    uint64_t layers = 4;
    unsigned xor_address = 0;
    bounded.bound = true;
    VIDI__TRY(vidi__params_u64(want->params, "L", 1, LAYERS_MAX, &layers));
    VIDI__TRY(vidi__params_choice(want->params, "xor", "hash|address", &xor_address));
    VIDI__TRY(vidi__bloom_plan(&bounded, layers_of, &layers, &shape));
    if (xor_address) {
        VIDI__TRY(power_of_two(&shape.m, false));
        if (want->memory && vidi__bitmap_bytes(shape.m) * (layers + 1) > want->memory)
            return vidi__fail(VIDI_EOPTION, "xor=address rounds m up to a power of two, which does not fit the memory");
    }
    vidi__bloom_planned(&bounded, &shape, planned);
    planned->bytes = vidi__bitmap_bytes(shape.m) * (layers + 1);
    planned->lines = (double)(layers + 1) * shape.k; /* of a URL with that many segments */
    return VIDI_OK;
}

static int multilayer_step(vidi__filter *filter, uint64_t budget_ns)
{
    multilayer *self = (multilayer *)filter;
    vidi__bitmap *bits[LAYERS_MAX + 1];
    for (unsigned i = 0; i <= self->layers; i++)
        bits[i] = &self->bits[i];
    return vidi__bitmaps_step(bits, self->layers + 1, budget_ns);
}

const vidi__kind vidi__kind_multilayer = {
    .name = "multilayer",
    .summary = "one Bloom filter per path segment, and one on their XOR",
    .can = VIDI_CAN_MERGE,
    .create = multilayer_create,
    .destroy = multilayer_destroy,
    .add = multilayer_add,
    .has = multilayer_has,
    .fp_now = multilayer_fp_now,
    .stat = multilayer_stat,
    .describe = multilayer_describe,
    .save = multilayer_save,
    .save_run = multilayer_save_run,
    .load_run = multilayer_load_run,
    .verify = multilayer_verify,
    .plan = multilayer_plan,
    .merge = multilayer_merge,
    .fp_merged = multilayer_fp_merged,
    .step = multilayer_step,
};
