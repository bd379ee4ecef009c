/* What a Bloom filter does with the k hash values of a part: it sets their places, or tests whether all are set. */
#ifndef VIDI_FILTERS_BLOOM_BITS_H
#define VIDI_FILTERS_BLOOM_BITS_H

#include "filters/bitmap.h"
#include "hash/positions.h"

/* Turns k values into places and prefetches them, so that setting them need not wait. */
static inline void vidi__bloom_bits_fetch(const vidi__bitmap *bits, const vidi__placing *placing, uint64_t *values,
                                          unsigned k)
{
    for (unsigned i = 0; i < k; i++) {
        values[i] = vidi__placing_of(placing, values[i]);
        vidi__bitmap_prefetch(bits, values[i]);
    }
}

/* Sets k places; true if all of them were set before. For one thread at a time, without lookups. */
static inline bool vidi__bloom_bits_set(vidi__bitmap *bits, const uint64_t *places, unsigned k)
{
    uint64_t fresh = 0;
    for (unsigned i = 0; i < k; i++)
        fresh += vidi__bitmap_set(bits, places[i]);
    return !fresh;
}

/* The same in a lazy array whose places were touched. */
static inline bool vidi__bloom_bits_put(vidi__bitmap *bits, const uint64_t *places, unsigned k)
{
    bool all = true;
    for (unsigned i = 0; i < k; i++)
        all &= !vidi__bitmap_put(bits, places[i]);
    return all;
}

/* Returns true if the places of all k values are set. */
static inline bool vidi__bloom_bits_test(const vidi__bitmap *bits, const vidi__placing *placing, const uint64_t *values,
                                         unsigned k)
{
    if (VIDI__UNLIKELY(vidi__bitmap_is_lazy(bits))) {
        for (unsigned i = 0; i < k; i++)
            if (!vidi__bitmap_look(bits, vidi__placing_of(placing, values[i])))
                return false;
        return true;
    }
    for (unsigned i = 0; i < k; i++)
        if (!vidi__bitmap_test(bits, vidi__placing_of(placing, values[i])))
            return false;
    return true;
}

#endif
