/*
 * See blocked_union.h. The union has as many layers as the filter that has most of them. Its layer i is the union of
 * all layers i, whose shapes are equal. The union keeps, for each layer, a layer without words: the numbers that are
 * written before the words.
 */
#include "filters/blocked/blocked_union.h"

/* What is kept. */
typedef struct numbers {
    unsigned layers;
    vidi__layer layer[VIDI__BLOCKED_LAYERS_MAX];
    vidi__zones zones[VIDI__BLOCKED_LAYERS_MAX];
} numbers;

/* Which layer of the filters is joined. */
typedef struct which_layer {
    vidi__layers_of_fn *layers_of;
    unsigned index;
} which_layer;

static const vidi__layer *layer_of(const vidi__filter *part, const which_layer *which)
{
    const vidi__layers *layers = which->layers_of(part);
    return which->index < vidi__layers_count(layers) ? layers->at[which->index] : NULL;
}

static const uint64_t *words_of(const vidi__filter *part, const void *context)
{
    const vidi__layer *layer = layer_of(part, context);
    return layer ? layer->in.words : NULL;
}

static vidi__joint joint_of(const vidi__layer *layer, const which_layer *which)
{
    return (vidi__joint){vidi__join_bits, vidi__measure_bits, words_of, .context = which,
                         .words = vidi__layer_bytes(layer) / 8};
}

/* An empty layer of this shape, without words. */
static void begin_layer(vidi__layer *layer, const vidi__layer *like, vidi__zones *zones)
{
    memcpy(layer, like, sizeof *layer);
    layer->in.words = NULL;
    layer->zones = zones;
    vidi__layer_set_count(layer, 0);
}

/* For each filter: set bits of each partition, and the rate of each partition so far. */
typedef struct rows {
    uint64_t (*ones)[VIDI__PARTITIONS];
    double (*chance)[VIDI__PARTITIONS];
    uint64_t *sums;
} rows;

static void count_partition(const vidi__joint *joint, const vidi__layer *layer, unsigned partition, const rows *rows)
{
    uint64_t row_words = (uint64_t)layer->in.lines * VIDI__LINE_WORDS;
    memset(rows->sums, 0, joint->count * sizeof *rows->sums);
    vidi__joint_measure(joint, vidi__layer_row(layer, partition) * row_words,
                        vidi__layer_row(layer, partition + 1) * row_words, rows->sums);
    for (size_t i = 0; i < joint->count; i++)
        rows->ones[i][partition] = rows->sums[i];
}

/* Brings the sizes up to date with this layer of all filters, whose bits are counted. */
static void size_layer(vidi__union *all, vidi__layer *layer, const which_layer *which, const rows *rows)
{
    for (size_t i = 0; i < all->count; i++) {
        const vidi__layer *part = layer_of(all->parts[i], which);
        if (part)
            vidi__layer_merge_numbers(layer, rows->ones[i], vidi__layer_count(part));
        all->sizes[i].count += vidi__layer_count(layer);
        for (unsigned p = 0; p < VIDI__PARTITIONS; p++) {
            double *chance = &rows->chance[i][p];
            *chance += (1 - *chance) * vidi__layer_fp(layer, p, (double)rows->ones[i][p]);
        }
    }
}

static int unite_layer(vidi__union *all, const which_layer *which, const rows *rows)
{
    numbers *kept = all->kept;
    vidi__layer *layer = &kept->layer[which->index];
    const vidi__layer *like = NULL;
    for (size_t i = 0; i < all->count && !like; i++)
        like = layer_of(all->parts[i], which);
    begin_layer(layer, like, &kept->zones[which->index]);
    vidi__joint joint = joint_of(layer, which);
    VIDI__TRY(vidi__joint_begin(&joint, all));
    for (unsigned p = 0; p < VIDI__PARTITIONS; p++)
        count_partition(&joint, layer, p, rows);
    vidi__joint_end(&joint);
    size_layer(all, layer, which, rows);
    return VIDI_OK;
}

static int unite_layers(vidi__union *all, vidi__layers_of_fn *layers_of, const rows *rows)
{
    numbers *kept = all->kept;
    for (size_t i = 0; i < all->count; i++) {
        unsigned count = vidi__layers_count(layers_of(all->parts[i]));
        kept->layers = count > kept->layers ? count : kept->layers;
        all->sizes[i].count = 0;
    }
    for (unsigned i = 0; i < kept->layers; i++)
        VIDI__TRY(unite_layer(all, &(which_layer){layers_of, i}, rows));
    for (size_t i = 0; i < all->count; i++) {
        all->sizes[i].fp = 0;
        for (unsigned p = 0; p < VIDI__PARTITIONS; p++)
            all->sizes[i].fp += rows->chance[i][p] / VIDI__PARTITIONS;
    }
    return VIDI_OK;
}

int vidi__layers_unite(vidi__union *all, vidi__layers_of_fn *layers_of)
{
    uint64_t bytes = all->count * (2 * VIDI__PARTITIONS + 1) * 8; /* all rows of bits, all rows of rates, all sums */
    rows rows;
    for (size_t i = 1; i < all->count; i++) {
        VIDI__TRY(vidi__filter_same_shape(all->parts[0], all->parts[i]));
        for (size_t j = 0; j < i; j++)
            VIDI__TRY(vidi__layers_check_alike(layers_of(all->parts[j]), layers_of(all->parts[i])));
    }
    VIDI__TRY(vidi__union_keep(all, sizeof(numbers)));
    VIDI__TRY(vidi__alloc_zeroed(all->memory, &rows.ones, bytes, VIDI__CACHE_LINE));
    rows.chance = (void *)(rows.ones + all->count);
    rows.sums = (void *)(rows.chance + all->count);
    int code = unite_layers(all, layers_of, &rows);
    vidi__release(all->memory, rows.ones, bytes, VIDI__CACHE_LINE);
    return code;
}

int vidi__layers_save_union(const vidi__union *all, vidi__layers_of_fn *layers_of, vidi__writer *writer)
{
    const numbers *kept = all->kept;
    VIDI__TRY(vidi__write_u64(writer, kept->layers));
    for (unsigned i = 0; i < kept->layers; i++) {
        const which_layer which = {layers_of, i};
        vidi__joint joint = joint_of(&kept->layer[i], &which);
        VIDI__TRY(vidi__layer_save_head(&kept->layer[i], writer));
        VIDI__TRY(vidi__joint_begin(&joint, all));
        int code = vidi__joint_write(&joint, writer);
        vidi__joint_end(&joint);
        VIDI__TRY(code);
    }
    return VIDI_OK;
}
