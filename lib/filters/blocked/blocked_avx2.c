/* The kernel of blocked for AVX2: a line is two vectors of four lanes. */
#include "filters/blocked/blocked_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define KERNEL vidi__blocked_avx2

/* The bits of lanes 0 to 3, or of lanes 4 to 7 if the word comes shifted by 24. */
INLINE __m256i bits_of(uint64_t word)
{
    __m256i places = _mm256_srlv_epi64(_mm256_set1_epi64x((long long)word), _mm256_setr_epi64x(0, 6, 12, 18));
    return _mm256_sllv_epi64(_mm256_set1_epi64x(1), _mm256_and_si256(places, _mm256_set1_epi64x(63)));
}

/* The lanes in which no bit is set, as four bits. */
INLINE unsigned empty(__m256i lanes)
{
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(lanes, _mm256_setzero_si256())));
}

INLINE unsigned missing_bits(const uint64_t *line, uint64_t word)
{
    __m256i low = _mm256_and_si256(_mm256_load_si256((const __m256i *)line), bits_of(word));
    __m256i high = _mm256_and_si256(_mm256_load_si256((const __m256i *)(line + 4)), bits_of(word >> 24));
    return (unsigned)__builtin_popcount(empty(low) | empty(high) << 4);
}

INLINE unsigned set_bits(uint64_t *line, uint64_t word)
{
    __m256i *low = (__m256i *)line, *high = (__m256i *)(line + 4);
    unsigned count = missing_bits(line, word);
    _mm256_store_si256(low, _mm256_or_si256(_mm256_load_si256(low), bits_of(word)));
    _mm256_store_si256(high, _mm256_or_si256(_mm256_load_si256(high), bits_of(word >> 24)));
    return count;
}

#include "filters/blocked/blocked_lanes.h"

#else
typedef int vidi__blocked_avx2_not_built; /* ISO C forbids an empty file */
#endif
