/*
 * What the kind blocked does to cache lines, once per instruction set; all of them set the same bits.
 *
 * A URL has eight bits in a line, one a lane; a word of 48 bits says which:
 *
 *     word   | … | 6 bits: lane 7 | … | 6 bits: lane 1 | 6 bits: lane 0 |
 *     line   | 64 bits: lane 0 | 64 bits: lane 1 | … | 64 bits: lane 7 |
 *
 * While the URLs of one step are worked on, those of the next are aimed at, in turns, one by one: finding their lines,
 * and asking the memory for them. It takes some 200 nanoseconds to answer and serves some 20 at once, but only who is
 * asking all the time. So it must not wait while something else is computed, not even for a step.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_KERNEL_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_KERNEL_H

#include "cpu/cpu.h"
#include "filters/batch.h"

/* Where the URLs of a step have their bits, for one of their lines. Sets of them are masks, a bit a URL. */
typedef struct vidi__blocked_targets {
    uint64_t *line[VIDI__WAVE_MAX];
    uint64_t word[VIDI__WAVE_MAX];
} vidi__blocked_targets;

/* The lines that a partition has for one of a URL's draws, and the salts of the draw. */
typedef struct vidi__blocked_draw {
    uint64_t *first;
    uint64_t rows;
    uint64_t stride; /* words from one row to the next */
    uint64_t row_salt, bits_salt;
    vidi__blocked_targets *targets; /* for the result */
} vidi__blocked_draw;

/* A step that is to be aimed at. */
#define VIDI__BLOCKED_DRAWS_MAX 32

typedef struct vidi__blocked_ahead {
    const vidi__u128 *hashes;
    const uint16_t *order;
    size_t count; /* 0: there is none */
    unsigned draws;
    vidi__blocked_draw draw[VIDI__BLOCKED_DRAWS_MAX];
} vidi__blocked_ahead;

static inline __attribute__((always_inline)) void vidi__blocked_locate(const vidi__blocked_draw *draw,
                                                                       const vidi__u128 *hash, size_t i)
{
    uint64_t *line =
        draw->first + vidi__scale((hash->hi << VIDI__PARTITION_BITS) * draw->row_salt, draw->rows) * draw->stride;
    __builtin_prefetch(line, 1);
    draw->targets->line[i] = line;
    draw->targets->word[i] = hash->lo * draw->bits_salt >> 16;
}

/* Aims at URL number i, if there are so many. */
static inline __attribute__((always_inline)) void vidi__blocked_locate_ahead(const vidi__blocked_ahead *ahead, size_t i)
{
    if (i >= ahead->count)
        return;
    for (unsigned draw = 0; draw < ahead->draws; draw++)
        vidi__blocked_locate(&ahead->draw[draw], &ahead->hashes[ahead->order[i]], i);
}

/* Where the answers go. */
typedef struct vidi__blocked_answers {
    const uint16_t *order;
    uint8_t *verdicts;
} vidi__blocked_answers;

typedef struct vidi__blocked_kernel {
    /* Those of the URLs `which` whose bits are all marked: SEEN, the others NEW. */
    uint64_t (*has)(const vidi__blocked_targets *targets, uint64_t which, vidi__blocked_answers to,
                    const vidi__blocked_ahead *ahead);
    /*
     * Marks the bits of `which`, in order, in each of their lines. NEW are those for whom a bit was new; counts those.
     */
    uint64_t (*add)(const vidi__blocked_targets *targets, unsigned lines, uint64_t which, uint64_t *ones,
                    vidi__blocked_answers to, const vidi__blocked_ahead *ahead);
} vidi__blocked_kernel;

const vidi__blocked_kernel *vidi__blocked_kernel_for(vidi__cpu_level level);

extern const vidi__blocked_kernel vidi__blocked_portable;
#if defined(__x86_64__)
extern const vidi__blocked_kernel vidi__blocked_avx2, vidi__blocked_avx512;
#endif

#endif
