/*
 * A layer of the kind blocked: rows of cache lines (blocked_math.h), and the lines and bits of each URL.
 *
 *     partition   the topmost 6 bits of hash.hi; its rows are adjacent, so that its lock covers them
 *     row         for each of a URL's lines: the rest of hash.hi times a secret odd number, by multiply-shift
 *     bits        in each line: the upper 48 bits of hash.lo times another secret odd number
 *
 * The hash is random, and multiplication by an odd number is a bijection. So each choice is uniform, and the choices of
 * two URLs are independent. Each layer and each line of a URL has multipliers of its own, derived from the filter's
 * seed. So two URLs that share a row once share another row no more often than any two URLs, unless one multiplier is
 * the other times a fraction of small numbers, which holds for a few thousand of 2^58 multipliers. Shared bits only
 * matter for URLs that share a row. Without the key nobody can predict any of this.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_LAYER_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_LAYER_H

#include "filters/blocked/blocked_kernel.h"
#include "filters/blocked/blocked_math.h"

_Static_assert(VIDI__BLOCKED_LAYERS_MAX - 1 + VIDI__BLOCKED_LINES_MAX <= VIDI__BLOCKED_DRAWS_MAX, "room for all draws");

typedef struct vidi__layer {
    uint64_t *words; /* NULL if they are lazy */
    vidi__lazy lazy; /* with VIDI_TOUCH_LATER; a line is never in two of its pieces */
    uint64_t rows;
    unsigned lines;
    uint64_t prepare, urls; /* as in vidi__blocked_layer_plan */
    uint64_t touched;       /* bytes, from the beginning, whose memory has been touched */
    struct {
        uint64_t row, bits;
    } salts[VIDI__BLOCKED_LINES_MAX];
    vidi__blocked_line chance[2];            /* of partitions with the smaller number of rows, and with one row more */
    _Atomic uint64_t count;                  /* URLs in it */
    _Atomic uint64_t claimed;                /* URLs in it, and room claimed for adds in progress */
    _Atomic uint64_t ones[VIDI__PARTITIONS]; /* set bits; always exact, written under the partition's lock */
} vidi__layer;

/* What a layer is created from. */
typedef struct vidi__layer_config {
    vidi__memory *memory;
    const vidi__seed *seed;
    unsigned index;
    vidi__blocked_layer_plan plan;
    vidi__blocked_shape shape;
    bool later; /* its words are lazy, unless they are borrowed */
} vidi__layer_config;

int vidi__layer_make(vidi__layer **layer, const vidi__layer_config *config);
void vidi__layer_free(vidi__layer *layer, vidi__memory *memory);

static inline uint64_t vidi__layer_bytes(const vidi__layer *layer)
{
    return layer->rows * layer->lines * VIDI__CACHE_LINE;
}

static inline bool vidi__layer_is_lazy(const vidi__layer *layer)
{
    return !layer->words;
}

/* The word with this number, and how many from it on are contiguous, `most` at most. */
static inline uint64_t *vidi__layer_at(const vidi__layer *layer, uint64_t word)
{
    return layer->words ? layer->words + word : vidi__lazy_at(&layer->lazy, word);
}

static inline uint64_t vidi__layer_span(const vidi__layer *layer, uint64_t word, uint64_t most)
{
    uint64_t span = layer->words ? most : vidi__lazy_span(&layer->lazy, word);
    return span < most ? span : most;
}

/* Bytes that are allocated for its words. */
static inline uint64_t vidi__layer_allocated(const vidi__layer *layer)
{
    return layer->words ? vidi__layer_bytes(layer) : layer->lazy.bytes;
}

/*
 * Touches memory in order, up to `bytes`, since the first touch is slow. Not for a layer in use. Does nothing if it is
 * lazy.
 */
void vidi__layer_touch(vidi__layer *layer, uint64_t bytes);

/* Allocates the pieces of a lazy layer that a URL's lines are in. An error leaves all bits as they are. */
int vidi__layer_touch_url(vidi__layer *layer, vidi__memory *memory, const vidi__u128 *hash);

/* The first row of a partition (partition 64 gives the total), and the number of its rows. */
static inline uint64_t vidi__layer_row(const vidi__layer *layer, unsigned partition)
{
    return partition * layer->rows / VIDI__PARTITIONS;
}

static inline uint64_t vidi__layer_rows(const vidi__layer *layer, unsigned partition)
{
    return vidi__layer_row(layer, partition + 1) - vidi__layer_row(layer, partition);
}

/* Returns true if the partition has one row more than others: rows cannot always be divided evenly. */
static inline bool vidi__layer_has_more_rows(const vidi__layer *layer, unsigned partition)
{
    return vidi__layer_rows(layer, partition) > layer->rows / VIDI__PARTITIONS;
}

/* Draw number `draw` of the URLs of a partition: they all choose from these lines. */
static inline vidi__blocked_draw vidi__layer_draw(const vidi__layer *layer, unsigned draw, unsigned partition,
                                                  vidi__blocked_targets *targets)
{
    uint64_t stride = (uint64_t)layer->lines * VIDI__LINE_WORDS;
    uint64_t begin = vidi__layer_row(layer, partition) * stride + (uint64_t)draw * VIDI__LINE_WORDS;
    return (vidi__blocked_draw){
        .first = layer->words ? layer->words + begin : NULL,
        .begin = begin,
        .pieces = layer->lazy.pieces,
        .rows = vidi__layer_rows(layer, partition),
        .stride = stride,
        .row_salt = layer->salts[draw].row,
        .bits_salt = layer->salts[draw].bits,
        .targets = targets,
    };
}

/* The probability of a false "seen" in this partition if `ones` of its bits are set. */
double vidi__layer_fp(const vidi__layer *layer, unsigned partition, double ones);

/* The same, computed from the bits themselves. */
double vidi__layer_fp_counted(const vidi__layer *layer, unsigned partition);

uint64_t vidi__layer_ones(const vidi__layer *layer);

/*
 * Saved are u64 rows, lines, URLs that it is made for, URLs in it, set bits of each partition; then the words. For
 * loading, the config's plan may be zero. Borrowed words are not examined.
 */
int vidi__layer_save(const vidi__layer *layer, vidi__writer *writer);
/* All but the words. */
int vidi__layer_save_head(const vidi__layer *layer, vidi__writer *writer);
int vidi__layer_load(vidi__layer **layer, const vidi__layer_config *config, vidi__reader *reader);

/* Verifies that the number of set bits of each partition is right in borrowed words. */
int vidi__layer_verify(const vidi__layer *layer);

/* Touches what a merge with another layer of the same shape will write to. */
int vidi__layer_touch_for_merge(vidi__layer *into, vidi__memory *memory, const vidi__layer *from);

/*
 * Merges another layer of the same shape, after the touching. The number of new URLs is estimated from the bits that
 * get set.
 */
void vidi__layer_merge(vidi__layer *into, const vidi__layer *from);

/* The same for the numbers alone: `ones` are the set bits of each partition afterwards, `urls` is the other's count. */
void vidi__layer_merge_numbers(vidi__layer *into, const uint64_t *ones, uint64_t urls);

/* The probability of a false "seen" in this partition if the two layers, of the same shape, were one. */
double vidi__layer_fp_merged(const vidi__layer *a, const vidi__layer *b, unsigned partition);

#endif
