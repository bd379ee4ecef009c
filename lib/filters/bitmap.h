/* An array of m bits that knows how many of them are set: what Bloom filters are made of. */
#ifndef VIDI_FILTERS_BITMAP_H
#define VIDI_FILTERS_BITMAP_H

#include "base/memory.h"
#include "base/stream.h"

typedef struct vidi__bitmap {
    uint64_t *words; /* whole cache lines; bits from m on stay 0 */
    uint64_t m;
    uint64_t ones; /* bits that are 1 */
} vidi__bitmap;

/*
 * All zero, or, if reader is not NULL, as vidi__bitmap_save wrote it: u64 bits that are 1, then an array. What was lent
 * has not been looked at: only that no more bits are said to be 1 than there are.
 */
int vidi__bitmap_init(vidi__bitmap *bitmap, vidi__memory *memory, uint64_t m, vidi__reader *reader);
void vidi__bitmap_free(vidi__bitmap *bitmap, vidi__memory *memory);
/* Is the number of bits that are 1 what it should be, and is none of them beyond m? For what was lent. */
int vidi__bitmap_verify(const vidi__bitmap *bitmap);
int vidi__bitmap_save(const vidi__bitmap *bitmap, vidi__writer *writer);

/* Both must have the same m. */
void vidi__bitmap_merge(vidi__bitmap *into, const vidi__bitmap *from);

/* Bytes that m bits take: whole cache lines. */
static inline uint64_t vidi__bitmap_bytes(uint64_t m)
{
    return (m / 512 + (m % 512 != 0)) * VIDI__CACHE_LINE;
}

static inline double vidi__bitmap_fill(const vidi__bitmap *bitmap)
{
    return (double)__atomic_load_n(&bitmap->ones, __ATOMIC_RELAXED) / (double)bitmap->m;
}

/* Loads are atomic so that readers may run next to vidi__bitmap_set_shared; that costs nothing. */
static inline bool vidi__bitmap_test(const vidi__bitmap *bitmap, uint64_t bit)
{
    return __atomic_load_n(&bitmap->words[bit / 64], __ATOMIC_RELAXED) >> (bit % 64) & 1;
}

/* Sets a bit; was it 0 before? For one thread at a time, without readers. No branch: it would be a guess. */
static inline bool vidi__bitmap_set(vidi__bitmap *bitmap, uint64_t bit)
{
    uint64_t *word = &bitmap->words[bit / 64], before = *word;
    bool fresh = !(before >> (bit % 64) & 1);
    *word = before | UINT64_C(1) << (bit % 64);
    bitmap->ones += fresh;
    return fresh;
}

/*
 * The same next to other threads that mark and test; the caller reports what it has set to vidi__bitmap_add_ones, once.
 */
static inline bool vidi__bitmap_set_shared(vidi__bitmap *bitmap, uint64_t bit)
{
    uint64_t mask = UINT64_C(1) << (bit % 64);
    uint64_t *word = &bitmap->words[bit / 64];
    if (__atomic_load_n(word, __ATOMIC_RELAXED) & mask)
        return false;
    return !(__atomic_fetch_or(word, mask, __ATOMIC_RELAXED) & mask);
}

static inline void vidi__bitmap_add_ones(vidi__bitmap *bitmap, uint64_t more)
{
    __atomic_fetch_add(&bitmap->ones, more, __ATOMIC_RELAXED);
}

static inline void vidi__bitmap_prefetch(const vidi__bitmap *bitmap, uint64_t bit)
{
    __builtin_prefetch(&bitmap->words[bit / 64], 1);
}

#endif
