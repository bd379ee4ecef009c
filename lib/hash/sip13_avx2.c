/*
 * sip13 for AVX2: 4 lanes of 64 bits in two groups, so 8 strings at a time. The idea is explained in sip13_lanes.h.
 *
 * There are no loads under a byte mask here. At the end of a string whole words are loaded under a word mask, and the
 * last 0 to 7 bytes by vidi__sip_last_bytes.
 */
#include "hash/functions.h"
#include "hash/sip.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define LANES 4
#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define BATCH vidi__sip13_avx2

typedef __m256i vec;
typedef __m256i mask;

INLINE vec same(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

INLINE vec add(vec a, vec b)
{
    return _mm256_add_epi64(a, b);
}

INLINE vec exor(vec a, vec b)
{
    return _mm256_xor_si256(a, b);
}

INLINE vec exor3(vec a, vec b, vec c)
{
    return exor(exor(a, b), c);
}

INLINE vec rotl_by_16(vec a)
{
    return _mm256_shuffle_epi8(a, _mm256_setr_epi8(6, 7, 0, 1, 2, 3, 4, 5, 14, 15, 8, 9, 10, 11, 12, 13, /* low half */
                                                   6, 7, 0, 1, 2, 3, 4, 5, 14, 15, 8, 9, 10, 11, 12, 13));
}

/* A macro because the number must be a constant. */
#define rotl(a, n)                                                                                                     \
    ((n) == 32   ? _mm256_shuffle_epi32(a, 0xb1)                                                                       \
     : (n) == 16 ? rotl_by_16(a)                                                                                       \
                 : _mm256_or_si256(_mm256_slli_epi64(a, n), _mm256_srli_epi64(a, 64 - (n))))

/* A signed comparison is enough: strings in lanes are short. */
INLINE mask reaches(const uint64_t *len, uint64_t now)
{
    return _mm256_cmpgt_epi64(_mm256_loadu_si256((const __m256i *)len), same(8 * now - 1));
}

INLINE vec pick(mask which, vec a, vec b)
{
    return _mm256_blendv_epi8(b, a, which);
}

/* Rows become columns: first pairs of words, then words. */
INLINE void transpose(vec (*w)[2], const vec r[4])
{
    vec even01 = _mm256_unpacklo_epi64(r[0], r[1]), odd01 = _mm256_unpackhi_epi64(r[0], r[1]);
    vec even23 = _mm256_unpacklo_epi64(r[2], r[3]), odd23 = _mm256_unpackhi_epi64(r[2], r[3]);
    w[0][0] = _mm256_permute2x128_si256(even01, even23, 0x20);
    w[1][0] = _mm256_permute2x128_si256(odd01, odd23, 0x20);
    w[2][0] = _mm256_permute2x128_si256(even01, even23, 0x31);
    w[3][0] = _mm256_permute2x128_si256(odd01, odd23, 0x31);
}

INLINE void whole_block(vec (*w)[2], const unsigned char *const *at, uint64_t i)
{
    vec rows[LANES];
#pragma GCC unroll 4
    for (unsigned lane = 0; lane < LANES; lane++)
        rows[lane] = _mm256_loadu_si256((const __m256i *)(const void *)(at[lane] + 8 * i));
    transpose(w, rows);
}

INLINE void ragged_block(vec (*w)[2], const unsigned char *const *at, const uint64_t *len, uint64_t i)
{
    vec rows[LANES];
    const vec number = _mm256_setr_epi64x(0, 1, 2, 3);
#pragma GCC unroll 4
    for (unsigned lane = 0; lane < LANES; lane++) /* computed as a number: the address may be beyond the string */
        rows[lane] = _mm256_maskload_epi64((const long long *)((uintptr_t)at[lane] + 8 * i),
                                           _mm256_cmpgt_epi64(same(len[lane] / 8 - i), number));
    transpose(w, rows);
}

INLINE void ends(vec (*w)[2], const unsigned char *const *at, const uint64_t *len)
{
#pragma GCC unroll 4
    for (unsigned lane = 0; lane < LANES; lane++)
        vidi__store64((unsigned char *)w[len[lane] / 8] + 8 * lane,
                      vidi__sip_last_bytes(at[lane], len[lane]) | len[lane] << 56);
}

INLINE void put(vidi__u128 *out, vec lo, vec hi)
{
    vec even = _mm256_unpacklo_epi64(lo, hi), odd = _mm256_unpackhi_epi64(lo, hi); /* hashes 0 and 2, 1 and 3 */
    _mm256_storeu_si256((__m256i *)(void *)out, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(out + 2), _mm256_permute2x128_si256(even, odd, 0x31));
}

#include "hash/sip13_lanes.h"

#else
typedef int vidi__sip13_avx2_not_built; /* ISO C forbids an empty file */
#endif
