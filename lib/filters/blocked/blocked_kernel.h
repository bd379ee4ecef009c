/*
 * How the kind blocked sets and tests the bits of cache lines. There is one kernel per instruction set; all set the
 * same bits.
 *
 * A URL has eight bits in a line, one per lane, given by a word of 48 bits:
 *
 *     word   | … | 6 bits: lane 7 | … | 6 bits: lane 1 | 6 bits: lane 0 |
 *     line   | 64 bits: lane 0 | 64 bits: lane 1 | … | 64 bits: lane 7 |
 *
 * While a kernel processes the URLs of one wave, it locates those of the next, alternating URL by URL: it computes
 * their lines and prefetches them. Memory takes some 200 nanoseconds to answer and serves some 20 requests at once, but
 * only if requests never pause. So prefetching must go on during all computation.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_KERNEL_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_KERNEL_H

#include "base/lazy.h"
#include "cpu/cpu.h"
#include "filters/batch.h"
#include "filters/blocked/blocked_math.h"

#define VIDI__LINE_WORDS (VIDI__CACHE_LINE / 8)

/*
 * Line and word of each URL of a wave, for one of a URL's lines. Kernels take sets of URLs as masks, one bit per URL.
 */
typedef struct vidi__blocked_targets {
    uint64_t *line[VIDI__WAVE_MAX];
    uint64_t word[VIDI__WAVE_MAX];
} vidi__blocked_targets;

/*
 * One draw (see blocked_math.h): the lines from which a partition's URLs draw, and the salts that determine each URL's
 * choice.
 */
typedef struct vidi__blocked_draw {
    uint64_t *first;         /* NULL if the layer's words are lazy */
    uint64_t begin;          /* number of the first word */
    uint64_t *const *pieces; /* of lazy words */
    uint64_t rows;
    uint64_t stride; /* words from one row to the next */
    uint64_t row_salt, bits_salt;
    vidi__blocked_targets *targets; /* receives the result */
} vidi__blocked_draw;

/* A wave to locate. */
#define VIDI__BLOCKED_DRAWS_MAX 32

typedef struct vidi__blocked_ahead {
    const vidi__u128 *hashes;
    const uint16_t *order;
    size_t count; /* 0: none */
    unsigned draws;
    vidi__blocked_draw draw[VIDI__BLOCKED_DRAWS_MAX];
} vidi__blocked_ahead;

/* The row that a URL chooses. */
static inline __attribute__((always_inline)) uint64_t vidi__blocked_row(const vidi__blocked_draw *draw,
                                                                        const vidi__u128 *hash)
{
    return vidi__scale((hash->hi << VIDI__PARTITION_BITS) * draw->row_salt, draw->rows);
}

/* The address of a word of a lazy layer. */
static inline __attribute__((always_inline)) uint64_t *vidi__blocked_in_pieces(uint64_t *const *pieces, uint64_t word)
{
    return pieces[word / VIDI__LAZY_WORDS] + word % VIDI__LAZY_WORDS;
}

static inline __attribute__((always_inline)) void vidi__blocked_locate(const vidi__blocked_draw *draw,
                                                                       const vidi__u128 *hash, size_t i)
{
    uint64_t offset = vidi__blocked_row(draw, hash) * draw->stride;
    uint64_t *line =
        VIDI__LIKELY(draw->first) ? draw->first + offset : vidi__blocked_in_pieces(draw->pieces, draw->begin + offset);
    __builtin_prefetch(line, 1);
    draw->targets->line[i] = line;
    draw->targets->word[i] = hash->lo * draw->bits_salt >> 16;
}

/* Locates URL number i of the wave, if there is one. */
static inline __attribute__((always_inline)) void vidi__blocked_locate_ahead(const vidi__blocked_ahead *ahead, size_t i)
{
    if (i >= ahead->count)
        return;
    for (unsigned draw = 0; draw < ahead->draws; draw++)
        vidi__blocked_locate(&ahead->draw[draw], &ahead->hashes[ahead->order[i]], i);
}

/* Where verdicts go. */
typedef struct vidi__blocked_answers {
    const uint16_t *order;
    uint8_t *verdicts;
} vidi__blocked_answers;

/*
 * A whole batch, in order, against one layer, for callers that have the filter alone. It goes through a ring of places:
 * the lines of a step are located and prefetched, then a step of URLs is processed whose lines were located before. So
 * the memory always has about the same number of lines on their way (fingerprint/kernels/kernel.h does the same).
 */
#define VIDI__BLOCKED_RING 64  /* URLs whose lines are kept at a time; a multiple of a step */
#define VIDI__BLOCKED_AHEAD 32 /* URLs from locating to processing */
#define VIDI__BLOCKED_STEP 16

typedef struct vidi__blocked_batch {
    const vidi__u128 *hashes;
    size_t count;
    uint8_t *verdicts;
    unsigned lines; /* of a URL */
    struct {
        uint64_t row, bits;
    } salts[VIDI__BLOCKED_LINES_MAX];
    uint64_t *const *pieces; /* of a layer whose words are lazy; otherwise NULL */
    struct {
        union {
            uint64_t *first;
            uint64_t begin; /* number of the first word, if there are pieces */
        };
        uint64_t rows;
    } parts[VIDI__PARTITIONS];       /* the rows of each partition */
    uint32_t ones[VIDI__PARTITIONS]; /* receives how many bits were set in each */
    uint64_t fresh;                  /* receives how many URLs were NEW */
} vidi__blocked_batch;

typedef struct vidi__blocked_kernel {
    void (*add_batch)(vidi__blocked_batch *batch);
    void (*has_batch)(vidi__blocked_batch *batch);
    /* Waves of a batch (batch.h), for several threads or layers. */

    /* Those URLs of `which` whose bits are all set. Their verdict is SEEN, the others' NEW. */
    uint64_t (*has)(const vidi__blocked_targets *targets, uint64_t which, vidi__blocked_answers to,
                    const vidi__blocked_ahead *ahead);
    /*
     * Sets the bits of the URLs `which`, in order, in each of their lines. Returns those for which a bit was not yet
     * set: their verdict is NEW. Adds the number of bits that changed to *ones.
     */
    uint64_t (*add)(const vidi__blocked_targets *targets, unsigned lines, uint64_t which, uint64_t *ones,
                    vidi__blocked_answers to, const vidi__blocked_ahead *ahead);
} vidi__blocked_kernel;

const vidi__blocked_kernel *vidi__blocked_kernel_for(vidi__cpu_level level);

extern const vidi__blocked_kernel vidi__blocked_portable;
#if defined(__x86_64__)
extern const vidi__blocked_kernel vidi__blocked_avx2, vidi__blocked_avx512;
#elif defined(__aarch64__)
extern const vidi__blocked_kernel vidi__blocked_neon;
#endif

#endif
