/*
 * sip13 for AVX-512: 8 lanes of 64 bits in two groups, so 16 strings at a time. The idea is explained in sip13_lanes.h.
 *
 * Here a rotation is one instruction, and so is an exclusive or of three. Loads under a byte mask read nothing past the
 * end of a string and fill in zeros. So a block takes eight loads and 24 shuffles, even at the end of a string.
 */
#include "hash/functions.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define LANES 8
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define BATCH vidi__sip13_avx512

typedef __m512i vec;
typedef __mmask8 mask;

INLINE vec same(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

INLINE vec add(vec a, vec b)
{
    return _mm512_add_epi64(a, b);
}

INLINE vec exor(vec a, vec b)
{
    return _mm512_xor_si512(a, b);
}

INLINE vec exor3(vec a, vec b, vec c)
{
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

/* A macro because the count must be a constant. Swapping halves is faster than rotating on some processors. */
#define rotl(a, n) ((n) == 32 ? _mm512_shuffle_epi32(a, 0xb1) : _mm512_rol_epi64(a, n))

INLINE mask reaches(const uint64_t *len, uint64_t now)
{
    return _mm512_cmpge_epu64_mask(_mm512_loadu_si512(len), same(8 * now));
}

INLINE vec pick(mask which, vec a, vec b)
{
    return _mm512_mask_mov_epi64(b, which, a);
}

/* Rows become columns in three steps: halves of four words side by side, then pairs of words, then words. */
INLINE void transpose(vec (*w)[2], const vec r[8])
{
    const vec low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
#pragma GCC unroll 2
    for (unsigned half = 0; half < 2; half++) {
        vec h[4];
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++)
            h[i] = half ? _mm512_shuffle_i64x2(r[i], r[i + 4], 0xee) : _mm512_shuffle_i64x2(r[i], r[i + 4], 0x44);
        vec even01 = _mm512_unpacklo_epi64(h[0], h[1]), odd01 = _mm512_unpackhi_epi64(h[0], h[1]);
        vec even23 = _mm512_unpacklo_epi64(h[2], h[3]), odd23 = _mm512_unpackhi_epi64(h[2], h[3]);
        w[4 * half][0] = _mm512_permutex2var_epi64(even01, low, even23);
        w[4 * half + 1][0] = _mm512_permutex2var_epi64(odd01, low, odd23);
        w[4 * half + 2][0] = _mm512_permutex2var_epi64(even01, high, even23);
        w[4 * half + 3][0] = _mm512_permutex2var_epi64(odd01, high, odd23);
    }
}

INLINE void whole_block(vec (*w)[2], const unsigned char *const *at, uint64_t i)
{
    vec rows[LANES];
#pragma GCC unroll 8
    for (unsigned lane = 0; lane < LANES; lane++)
        rows[lane] = _mm512_loadu_si512(at[lane] + 8 * i);
    transpose(w, rows);
}

/*
 * A mask of 64 bits for 64 bytes: all ones, shifted right by the number of missing bytes. Shifts of 64 and more give 0.
 */
INLINE void ragged_block(vec (*w)[2], const unsigned char *const *at, const uint64_t *len, uint64_t i)
{
    vec rows[LANES], missing = _mm512_sub_epi64(same(8 * i + 64), _mm512_loadu_si512(len));
    uint64_t there[LANES];
    _mm512_storeu_si512(there, _mm512_srlv_epi64(same(UINT64_MAX), _mm512_max_epi64(missing, same(0))));
    __asm__("" : "+m"(there)); /* through memory: the compiler's shuffles from vector to mask take longer */
#pragma GCC unroll 8
    for (unsigned lane = 0; lane < LANES; lane++) /* computed as a number: the address may be beyond the string */
        rows[lane] = _mm512_maskz_loadu_epi8(there[lane], (const void *)((uintptr_t)at[lane] + 8 * i));
    transpose(w, rows);
}

INLINE void ends(vec (*w)[2], const unsigned char *const *at, const uint64_t *len)
{
    (void)at; /* ragged_block has already stored the last bytes */
#pragma GCC unroll 8
    for (unsigned lane = 0; lane < LANES; lane++)
        ((unsigned char *)w[len[lane] / 8])[8 * lane + 7] = (unsigned char)len[lane];
}

INLINE void put(vidi__u128 *out, vec lo, vec hi)
{
    _mm512_storeu_si512(out, _mm512_permutex2var_epi64(lo, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), hi));
    _mm512_storeu_si512(out + 4, _mm512_permutex2var_epi64(lo, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), hi));
}

#include "hash/sip13_lanes.h"

#else
typedef int vidi__sip13_avx512_not_built; /* ISO C forbids an empty file */
#endif
