/*
 * A layer of the kind blocked: rows of cache lines (blocked_math.h), and which of them a URL has its bits in.
 *
 *     partition   the topmost 6 bits of hash.hi; its rows stand side by side, so that its lock covers them
 *     row         of the partition, for each line: the rest of hash.hi times a secret odd number, by multiply-shift
 *     bits        in the line: the upper 48 bits of hash.lo times another
 *
 * The hash is random already, and multiplying by an odd number is a bijection, so that each choice is even, and the
 * choices of two URLs are independent. Each layer and each line of a URL has multipliers of its own, from the filter's
 * seed: two URLs that share a row in one then share another no more often than any two, unless one multiplier is the
 * other times a fraction of small numbers, which of 2^58 multipliers a few thousand are. Sharing bits matters among
 * URLs that share a row only. And nobody without the key knows any of this.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_LAYER_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_LAYER_H

#include "filters/blocked/blocked_kernel.h"
#include "filters/blocked/blocked_math.h"

_Static_assert(VIDI__BLOCKED_LAYERS_MAX - 1 + VIDI__BLOCKED_LINES_MAX <= VIDI__BLOCKED_DRAWS_MAX, "room for all draws");

#define VIDI__LINE_WORDS (VIDI__CACHE_LINE / 8)

typedef struct vidi__layer {
    uint64_t *words;
    uint64_t rows;
    unsigned lines;
    uint64_t prepare, urls; /* as in vidi__blocked_layer_plan */
    uint64_t touched;       /* bytes of the memory, from its beginning, that have been touched */
    struct {
        uint64_t row, bits;
    } salts[VIDI__BLOCKED_LINES_MAX];
    vidi__blocked_line chance[2];            /* of partitions with the fewer rows, and with one more */
    _Atomic uint64_t count;                  /* URLs in it */
    _Atomic uint64_t claimed;                /* those, and room for what somebody is about to add */
    _Atomic uint64_t ones[VIDI__PARTITIONS]; /* bits: always exact, written under the partition's lock */
} vidi__layer;

/* What a layer is made from. */
typedef struct vidi__layer_config {
    vidi__memory *memory;
    const vidi__seed *seed;
    unsigned index;
    vidi__blocked_layer_plan plan;
    vidi__blocked_shape shape;
} vidi__layer_config;

int vidi__layer_make(vidi__layer **layer, const vidi__layer_config *config);
void vidi__layer_free(vidi__layer *layer, vidi__memory *memory);

static inline uint64_t vidi__layer_bytes(const vidi__layer *layer)
{
    return layer->rows * layer->lines * VIDI__CACHE_LINE;
}

/* Touches the memory in its order up to so many bytes: the first touch is what costs. Not for a layer in use. */
void vidi__layer_touch(vidi__layer *layer, uint64_t bytes);

/* The first row of a partition, with all rows for the number behind the last; and how many rows it has. */
static inline uint64_t vidi__layer_row(const vidi__layer *layer, unsigned partition)
{
    return partition * layer->rows / VIDI__PARTITIONS;
}

static inline uint64_t vidi__layer_rows(const vidi__layer *layer, unsigned partition)
{
    return vidi__layer_row(layer, partition + 1) - vidi__layer_row(layer, partition);
}

/* Line number `draw` of the URLs of a partition. */
static inline vidi__blocked_draw vidi__layer_draw(const vidi__layer *layer, unsigned draw, unsigned partition,
                                                  vidi__blocked_targets *targets)
{
    uint64_t stride = (uint64_t)layer->lines * VIDI__LINE_WORDS;
    return (vidi__blocked_draw){
        .first = layer->words + vidi__layer_row(layer, partition) * stride + (uint64_t)draw * VIDI__LINE_WORDS,
        .rows = vidi__layer_rows(layer, partition),
        .stride = stride,
        .row_salt = layer->salts[draw].row,
        .bits_salt = layer->salts[draw].bits,
        .targets = targets,
    };
}

/* The chance of a false "seen" in this partition if so many of its bits are marked. */
double vidi__layer_fp(const vidi__layer *layer, unsigned partition, double ones);

/* The same by the bits themselves, of which all are read. */
double vidi__layer_fp_counted(const vidi__layer *layer, unsigned partition);

uint64_t vidi__layer_ones(const vidi__layer *layer);

/*
 * u64 rows, lines, URLs that it is made for, URLs in it, marked bits of each partition; then the words. The plan of the
 * config may be zero to load. Of words that were lent nothing is known but the number of their marks.
 */
int vidi__layer_save(const vidi__layer *layer, vidi__writer *writer);
int vidi__layer_load(vidi__layer **layer, const vidi__layer_config *config, vidi__reader *reader);

/* Are the marks as many as they should be, in each partition? For what was lent. */
int vidi__layer_verify(const vidi__layer *layer);

/* Adds what is in another layer of the same shape. The number of URLs is then estimated from the marks. */
void vidi__layer_merge(vidi__layer *into, const vidi__layer *from);

#endif
