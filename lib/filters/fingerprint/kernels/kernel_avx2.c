/* The kernel of fingerprint for AVX2: a line is two vectors. */
#include "filters/fingerprint/kernels/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define KERNEL vidi__fingerprint_avx2

INLINE __m256i half(const unsigned char *from)
{
    return _mm256_load_si256((const __m256i *)(const void *)from);
}

/* A bit for each number of 32 bits in two vectors that hold truths. */
INLINE uint32_t bits_of(__m256i a, __m256i b)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(a)) | (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(b))
                                                                      << 8;
}

INLINE uint32_t line_match(const unsigned char *line, unsigned width, uint64_t value)
{
    const __m256i low = _mm256_set1_epi32((int)value), upper_half = half(line + 32);
    const __m256i a = _mm256_cmpeq_epi32(half(line), low), b = _mm256_cmpeq_epi32(upper_half, low);
    if (width < 4 || width > 6)
        return vidi__line_match_sse2(line, width, value);
    if (_mm256_testz_si256(_mm256_or_si256(a, b), _mm256_or_si256(a, b)))
        return 0;
    uint32_t lower = bits_of(a, b);
    if (width == 5) {
        const __m128i high = _mm256_extracti128_si256(upper_half, 1);
        return lower & (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(high, _mm_set1_epi8((char)(value >> 32))));
    }
    if (width == 6) {
        const __m256i high = _mm256_cmpeq_epi16(upper_half, _mm256_set1_epi16((short)(value >> 32)));
        const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
        return lower & (uint32_t)_mm_movemask_epi8(bytes) >> 4;
    }
    return lower;
}

#include "filters/fingerprint/kernels/kernel_loops.h"

#else
typedef int vidi__fingerprint_avx2_not_built; /* ISO C forbids an empty file */
#endif
