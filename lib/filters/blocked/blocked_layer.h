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

/* A stretch of numbers of set bits, and the probability of a false "seen" in a layer at both ends (blocked_chance.h). */
typedef struct vidi__chord {
    uint64_t from, until;
    double low, high;
} vidi__chord;

/*
 * What is known about a partition of a layer. It is written under the partition's lock, and is one cache line, so an
 * add writes to no other besides those of its URL.
 */
typedef struct vidi__zone {
    _Alignas(VIDI__CACHE_LINE) vidi__mutex lock; /* of the partition in all layers, if this is the first layer */
    _Atomic uint32_t room;                       /* URLs for which room is claimed in the layer, and not used yet */
    _Atomic uint64_t ones;                       /* set bits; always exact */
    _Atomic double all;                          /* probability of a false "seen" in this layer and those before */
    double older;                                /* the same in the layers before this one */
    vidi__chord chord;                           /* around `ones`; until = 0: all, older and this are not known yet */
} vidi__zone;

/*
 * Chords that were computed lately. Partitions with the same number of rows have the same chords, and fill at the same
 * pace, so most of them find theirs here.
 */
#define VIDI__CHORDS 64
typedef struct vidi__chords {
    vidi__chord at[2][VIDI__CHORDS]; /* by number of rows (as vidi__layer.chance) and beginning; until = 0: none */
} vidi__chords;

/* What is allocated for the partitions of a layer. */
typedef struct vidi__zones {
    vidi__zone of[VIDI__PARTITIONS];
    vidi__chords chords; /* for threads that are alone */
} vidi__zones;

typedef struct vidi__layer {
    vidi__blocked_rows in;        /* its words are vidi__lazy_zeros while the layer is blank */
    vidi__lazy lazy;              /* with VIDI_TOUCH_LATER; a line is never in two of its pieces */
    uint64_t prepare, urls;       /* as in vidi__blocked_layer_plan */
    _Atomic uint64_t touched;     /* bytes, from the beginning, whose memory has been touched */
    vidi__blocked_line chance[2]; /* of partitions with the smaller number of rows, and with one row more */
    _Atomic uint64_t claimed;     /* URLs in it, and room that zones have claimed */
    _Atomic bool lent;            /* zones have claimed room */
    vidi__zones *zones;           /* NULL: the layer is blank */
} vidi__layer;

/* What a layer is created from. */
typedef struct vidi__layer_config {
    vidi__memory *memory;
    const vidi__seed *seed;
    unsigned index;
    vidi__blocked_layer_plan plan;
    vidi__blocked_shape shape;
    bool later; /* its words are lazy, unless they are borrowed */
    bool blank; /* unless it is large, it takes no memory for words and zones before vidi__layer_begin */
} vidi__layer_config;

int vidi__layer_make(vidi__layer **layer, const vidi__layer_config *config);
void vidi__layer_free(vidi__layer *layer, vidi__memory *memory);

/* Makes room for words and zones of a layer that is blank. An error leaves it blank. The caller is alone. */
int vidi__layer_begin_slowly(vidi__layer *layer, vidi__memory *memory);

static inline int vidi__layer_begin(vidi__layer *layer, vidi__memory *memory)
{
    return VIDI__LIKELY(layer->zones != NULL) ? VIDI_OK : vidi__layer_begin_slowly(layer, memory);
}

static inline uint64_t vidi__layer_bytes(const vidi__layer *layer)
{
    return layer->in.rows * layer->in.lines * VIDI__CACHE_LINE;
}

static inline bool vidi__layer_is_lazy(const vidi__layer *layer)
{
    return !layer->in.words;
}

/* The word with this number, and how many from it on are contiguous, `most` at most. */
static inline uint64_t *vidi__layer_at(const vidi__layer *layer, uint64_t word)
{
    return layer->in.words ? layer->in.words + word : vidi__lazy_at(&layer->lazy, word);
}

static inline uint64_t vidi__layer_span(const vidi__layer *layer, uint64_t word, uint64_t most)
{
    uint64_t span = layer->in.words ? most : vidi__lazy_span(&layer->lazy, word);
    return span < most ? span : most;
}

/* Bytes that are allocated for its words. */
static inline uint64_t vidi__layer_allocated(const vidi__layer *layer)
{
    if (layer->in.words == vidi__lazy_zeros)
        return 0;
    return layer->in.words ? vidi__layer_bytes(layer) : layer->lazy.bytes;
}

/*
 * Touches memory in order, up to `bytes`, since the first touch is slow. Not for a layer in use. Does nothing if it is
 * lazy.
 */
void vidi__layer_touch(vidi__layer *layer, uint64_t bytes);

/* Allocates the pieces of a lazy layer that a URL's lines are in. An error leaves all bits as they are. */
int vidi__layer_touch_url(vidi__layer *layer, vidi__memory *memory, vidi__u128 hash);

/* The first row of a partition (partition 64 gives the total), and the number of its rows. */
static inline uint64_t vidi__layer_row(const vidi__layer *layer, unsigned partition)
{
    return vidi__blocked_first_row(&layer->in, partition);
}

static inline uint64_t vidi__layer_rows(const vidi__layer *layer, unsigned partition)
{
    return vidi__layer_row(layer, partition + 1) - vidi__layer_row(layer, partition);
}

/* Returns true if the partition has one row more than others: rows cannot always be divided evenly. */
static inline bool vidi__layer_has_more_rows(const vidi__layer *layer, unsigned partition)
{
    return vidi__layer_rows(layer, partition) > layer->in.rows / VIDI__PARTITIONS;
}

/* Set bits of a partition, and of all. */
static inline uint64_t vidi__layer_ones_in(const vidi__layer *layer, unsigned partition)
{
    return layer->zones ? atomic_load_explicit(&layer->zones->of[partition].ones, memory_order_relaxed) : 0;
}

uint64_t vidi__layer_ones(const vidi__layer *layer);

/* URLs in it: exact if the caller is alone. */
uint64_t vidi__layer_count(const vidi__layer *layer);
/* The caller is alone. */
void vidi__layer_set_count(vidi__layer *layer, uint64_t count);

/*
 * Claims room for a URL in the layer of this zone, and for others with it unless little is left. False if the layer is
 * full. The caller holds the partition's lock.
 */
bool vidi__layer_claim(vidi__layer *layer, vidi__zone *zone);

/* The probability of a false "seen" in this partition if `ones` of its bits are set. */
double vidi__layer_fp(const vidi__layer *layer, unsigned partition, double ones);

/* The same, computed from the bits themselves. */
double vidi__layer_fp_counted(const vidi__layer *layer, unsigned partition);

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
