/* The kernel of fingerprint for AVX-512: a line is one vector, and comparisons give masks. */
#include "filters/fingerprint/kernels/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define KERNEL vidi__fingerprint_avx512

INLINE uint32_t line_match(const unsigned char *line, unsigned width, uint64_t value)
{
    const __m512i whole = _mm512_load_si512(line);
    uint32_t low = _mm512_cmpeq_epi32_mask(whole, _mm512_set1_epi32((int)value));
    if (width < 4 || width > 6)
        return vidi__line_match_sse2(line, width, value);
    if (!low)
        return 0;
    switch (width) {
    case 5:
        return low & _mm_cmpeq_epi8_mask(_mm512_extracti32x4_epi32(whole, 3), _mm_set1_epi8((char)(value >> 32)));
    case 6:
        return low &
               _mm256_cmpeq_epi16_mask(_mm512_extracti64x4_epi64(whole, 1), _mm256_set1_epi16((short)(value >> 32))) >>
                   4;
    default:
        return low;
    }
}

#include "filters/fingerprint/kernels/kernel_loops.h"

#else
typedef int vidi__fingerprint_avx512_not_built; /* ISO C forbids an empty file */
#endif
