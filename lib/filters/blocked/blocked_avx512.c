/* The kernel of blocked for AVX-512: a line is one vector, and one instruction finds the lanes that lack their bit. */
#include "filters/blocked/blocked_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define KERNEL vidi__blocked_avx512

/* A rotation uses the lowest six bits of its count and ignores the rest of the word. */
INLINE __m512i bits_of(uint64_t word)
{
    const __m512i by = _mm512_setr_epi64(0, 6, 12, 18, 24, 30, 36, 42);
    return _mm512_rolv_epi64(_mm512_set1_epi64(1), _mm512_srlv_epi64(_mm512_set1_epi64((long long)word), by));
}

INLINE unsigned missing_bits(const uint64_t *line, uint64_t word)
{
    return (unsigned)__builtin_popcount(_mm512_testn_epi64_mask(_mm512_load_si512(line), bits_of(word)));
}

INLINE unsigned set_bits(uint64_t *line, uint64_t word)
{
    __m512i bits = bits_of(word), old = _mm512_load_si512(line);
    _mm512_store_si512(line, _mm512_or_si512(old, bits));
    return (unsigned)__builtin_popcount(_mm512_testn_epi64_mask(old, bits));
}

#include "filters/blocked/blocked_lanes.h"

#else
typedef int vidi__blocked_avx512_not_built; /* ISO C forbids an empty file */
#endif
