/*
 * An array of m bits that counts how many are set. Bloom filters are built on it.
 *
 * It is one block of memory, or, if the set touches memory later (VIDI_TOUCH_LATER), a lazy array. The
 * functions with the shortest names are for one block alone. vidi__bitmap_look, vidi__bitmap_touch and vidi__bitmap_put
 * work with both.
 */
#ifndef VIDI_FILTERS_BITMAP_H
#define VIDI_FILTERS_BITMAP_H

#include "base/lazy.h"

typedef struct vidi__bitmap {
    uint64_t *words; /* whole cache lines; bits from m on stay 0; NULL if the array is lazy */
    uint64_t m;
    uint64_t ones; /* number of bits that are set */
    vidi__lazy lazy;
} vidi__bitmap;

/*
 * Starts with all bits 0, or, if reader is not NULL, with what vidi__bitmap_save wrote: u64 number of set bits, then an
 * array. Borrowed bits are not examined, except that the number of set bits must not exceed m. `later`: the array is
 * lazy, unless it is borrowed or at most 4 KiB.
 */
int vidi__bitmap_init(vidi__bitmap *bitmap, vidi__memory *memory, uint64_t m, vidi__reader *reader, bool later);
void vidi__bitmap_free(vidi__bitmap *bitmap, vidi__memory *memory);
/* Verifies borrowed bits: the number of set bits must be right, and none may be set beyond m. */
int vidi__bitmap_verify(const vidi__bitmap *bitmap);
int vidi__bitmap_save(const vidi__bitmap *bitmap, vidi__writer *writer);

/* Sets all bits of `into` that are set in `from`. Both must have the same m. An error changes nothing. */
int vidi__bitmap_merge(vidi__bitmap *into, vidi__memory *memory, const vidi__bitmap *from);

/* How many bits are set in at least one of two arrays with the same m. */
uint64_t vidi__bitmap_union(const vidi__bitmap *a, const vidi__bitmap *b);

/* Bytes that m bits take, in whole cache lines. */
static inline uint64_t vidi__bitmap_bytes(uint64_t m)
{
    return (m / 512 + (m % 512 != 0)) * VIDI__CACHE_LINE;
}

/* Words that m bits take, and a mask of the bits of the last one that belong to the array. */
static inline uint64_t vidi__bitmap_words(uint64_t m)
{
    return m / 64 + (m % 64 != 0);
}

static inline uint64_t vidi__bitmap_last_bits(uint64_t m)
{
    return m % 64 ? (UINT64_C(1) << (m % 64)) - 1 : UINT64_MAX;
}

static inline double vidi__bitmap_fill(const vidi__bitmap *bitmap)
{
    return (double)bitmap->ones / (double)bitmap->m;
}

/* The load is atomic, at no cost, so that lookups may run in parallel with vidi__bitmap_set_shared. */
static inline bool vidi__bitmap_test(const vidi__bitmap *bitmap, uint64_t bit)
{
    return __atomic_load_n(&bitmap->words[bit / 64], __ATOMIC_RELAXED) >> (bit % 64) & 1;
}

/*
 * Sets a bit; true if it was 0. For one thread at a time, without lookups. There is no branch, since none could be
 * predicted.
 */
static inline bool vidi__bitmap_set(vidi__bitmap *bitmap, uint64_t bit)
{
    uint64_t *word = &bitmap->words[bit / 64], before = *word;
    bool fresh = !(before >> (bit % 64) & 1);
    *word = before | UINT64_C(1) << (bit % 64);
    bitmap->ones += fresh;
    return fresh;
}

/*
 * The same in parallel with other threads that set and test bits. It does not count: `ones` is the caller's to change.
 */
static inline bool vidi__bitmap_set_shared(vidi__bitmap *bitmap, uint64_t bit)
{
    uint64_t mask = UINT64_C(1) << (bit % 64);
    uint64_t *word = &bitmap->words[bit / 64];
    if (__atomic_load_n(word, __ATOMIC_RELAXED) & mask)
        return false;
    return !(__atomic_fetch_or(word, mask, __ATOMIC_RELAXED) & mask);
}

/* ---- for arrays of both sorts ---- */

/* Touches what is lazy in these arrays for about this long: 1 if more is left to do. */
int vidi__bitmaps_step(vidi__bitmap *const *bitmaps, unsigned count, uint64_t budget_ns);

static inline bool vidi__bitmap_is_lazy(const vidi__bitmap *bitmap)
{
    return !bitmap->words;
}

/* Bytes that are allocated. */
static inline uint64_t vidi__bitmap_allocated(const vidi__bitmap *bitmap)
{
    return vidi__bitmap_is_lazy(bitmap) ? bitmap->lazy.bytes : vidi__bitmap_bytes(bitmap->m);
}

/* The word with this number. It may be written to only if one of its bits was touched. */
static inline uint64_t *vidi__bitmap_word(const vidi__bitmap *bitmap, uint64_t word)
{
    return bitmap->words ? &bitmap->words[word] : vidi__lazy_at(&bitmap->lazy, word);
}

static inline void vidi__bitmap_prefetch(const vidi__bitmap *bitmap, uint64_t bit)
{
    __builtin_prefetch(vidi__bitmap_word(bitmap, bit / 64), 1);
}

static inline bool vidi__bitmap_look(const vidi__bitmap *bitmap, uint64_t bit)
{
    return *vidi__bitmap_word(bitmap, bit / 64) >> (bit % 64) & 1;
}

/* To be called before vidi__bitmap_put. An error changes nothing. */
static inline int vidi__bitmap_touch(vidi__bitmap *bitmap, vidi__memory *memory, uint64_t bit)
{
    return bitmap->words ? VIDI_OK : vidi__lazy_touch(&bitmap->lazy, memory, bit / 64);
}

/* Sets a bit that was touched; true if it was 0. For one thread at a time, without lookups. */
static inline bool vidi__bitmap_put(vidi__bitmap *bitmap, uint64_t bit)
{
    uint64_t *word = vidi__bitmap_word(bitmap, bit / 64), mask = UINT64_C(1) << (bit % 64);
    bool fresh = !(*word & mask);
    *word |= mask;
    bitmap->ones += fresh;
    return fresh;
}

#endif
