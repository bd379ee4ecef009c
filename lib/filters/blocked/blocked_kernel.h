/*
 * How the kind blocked sets and tests the bits of cache lines. There is one kernel per instruction set; all set the
 * same bits.
 *
 * A URL has eight bits in a line, one per lane, given by a word of 48 bits:
 *
 *     word   | … | 6 bits: lane 7 | … | 6 bits: lane 1 | 6 bits: lane 0 |
 *     line   | 64 bits: lane 0 | 64 bits: lane 1 | … | 64 bits: lane 7 |
 *
 * A batch goes through a ring of places: the lines of a step are located and prefetched, then a step of URLs is
 * processed whose lines were located before. Memory takes some 200 nanoseconds to answer and serves some 20 requests at
 * once, but only if requests never pause. So the memory always has about the same number of lines on their way
 * (fingerprint/kernels/kernel.h does the same).
 *
 * Lookups may run while another thread sets bits. They read each word once, and words change only by getting more bits,
 * so a lookup finds the bits of every URL whose add has ended. A processor reads and writes the aligned words of a
 * vector one by one or all at once, never in parts; the thread sanitizer, which does not know that, is given the
 * portable kernel, whose loads and stores are atomic. Two threads never set bits in the same line at once.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_KERNEL_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_KERNEL_H

#include "base/lazy.h"
#include "cpu/cpu.h"
#include "filters/blocked/blocked_math.h"
#include "filters/partition.h"

#define VIDI__LINE_WORDS (VIDI__CACHE_LINE / 8)

/* The rows of a layer, and the salts that determine which of them a URL chooses. */
typedef struct vidi__blocked_rows {
    uint64_t *words;         /* NULL if they are in pieces */
    uint64_t *const *pieces; /* of lazy words */
    uint64_t rows;
    unsigned lines; /* of a row */
    struct {
        uint64_t row, bits;
    } salts[VIDI__BLOCKED_LINES_MAX];
} vidi__blocked_rows;

/* The first row of a partition. Partition 64 gives the total. */
static VIDI__INLINE uint64_t vidi__blocked_first_row(const vidi__blocked_rows *in, uint64_t partition)
{
    return partition * in->rows / VIDI__PARTITIONS;
}

/* Where the bits of a URL are in one of its lines. */
typedef struct vidi__blocked_target {
    uint64_t *line;
    uint64_t word;
} vidi__blocked_target;

/* The number of the word that begins line number i of a URL. */
static VIDI__INLINE uint64_t vidi__blocked_word(const vidi__blocked_rows *in, vidi__u128 hash, unsigned i)
{
    uint64_t partition = vidi__partition_of(hash.hi), rest = hash.hi << VIDI__PARTITION_BITS;
    uint64_t first = vidi__blocked_first_row(in, partition), end = vidi__blocked_first_row(in, partition + 1);
    uint64_t row = first + vidi__scale(rest * in->salts[i].row, end - first);
    return (row * in->lines + i) * VIDI__LINE_WORDS;
}

static VIDI__INLINE uint64_t *vidi__blocked_in_pieces(const vidi__blocked_rows *in, uint64_t word)
{
    return in->pieces[word / VIDI__LAZY_WORDS] + word % VIDI__LAZY_WORDS;
}

static VIDI__INLINE vidi__blocked_target vidi__blocked_locate(const vidi__blocked_rows *in, vidi__u128 hash, unsigned i)
{
    uint64_t word = vidi__blocked_word(in, hash, i);
    return (vidi__blocked_target){
        .line = VIDI__LIKELY(in->words) ? in->words + word : vidi__blocked_in_pieces(in, word),
        .word = hash.lo * in->salts[i].bits >> 16,
    };
}

#define VIDI__BLOCKED_RING 64  /* URLs whose lines are kept at a time; a multiple of a step */
#define VIDI__BLOCKED_AHEAD 32 /* URLs from locating to processing */
#define VIDI__BLOCKED_STEP 16

typedef struct vidi__blocked_batch {
    const vidi__u128 *hashes;
    size_t count;
    uint8_t *verdicts; /* receives them */
} vidi__blocked_batch;

typedef struct vidi__blocked_kernel {
    /* Returns how many URLs were NEW, and adds to `ones` how many bits were set in each partition. */
    uint64_t (*add_batch)(const vidi__blocked_rows *in, const vidi__blocked_batch *batch, uint32_t *ones);
    void (*has_batch)(const vidi__blocked_rows *in, const vidi__blocked_batch *batch);
    /* Sets the bits of a URL. Returns how many were not yet set; none: it was SEEN. */
    unsigned (*add)(const vidi__blocked_rows *in, vidi__u128 hash);
    bool (*has)(const vidi__blocked_rows *in, vidi__u128 hash);
} vidi__blocked_kernel;

const vidi__blocked_kernel *vidi__blocked_kernel_for(vidi__cpu_level level);

extern const vidi__blocked_kernel vidi__blocked_portable;
#if defined(__x86_64__)
extern const vidi__blocked_kernel vidi__blocked_avx2, vidi__blocked_avx512;
#elif defined(__aarch64__)
extern const vidi__blocked_kernel vidi__blocked_neon;
#endif

#endif
