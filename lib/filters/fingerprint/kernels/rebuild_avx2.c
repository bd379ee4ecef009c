/* The pass of a rebuilding (rebuild.h) for AVX2: four hashes at a time. */
#include "filters/fingerprint/kernels/rebuild.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define INLINE __attribute__((target("avx2,popcnt"))) static inline __attribute__((always_inline))
#define PASS __attribute__((target("avx2,popcnt"))) vidi__rebuild_pass_avx2

INLINE __m256i load(const uint64_t *words)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)words);
}

INLINE void store(uint64_t *words, __m256i lanes)
{
    _mm256_storeu_si256((__m256i *)(void *)words, lanes);
}

INLINE void store_half(unsigned char *to, __m128i bytes)
{
    _mm_storeu_si128((__m128i *)(void *)to, bytes);
}

/* The low 32 bits of the four lanes. */
INLINE __m128i low_words(__m256i lanes)
{
    return _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(lanes, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6)));
}

/* The lanes whose bit is set, as all ones. */
INLINE __m256i lanes_of(uint32_t bits)
{
    const __m256i each = _mm256_setr_epi64x(1, 2, 4, 8);
    return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x((long long)bits), each), each);
}

/* Four distances of a line of width 5 or 6, from slot 4 · i on. In the last four, some lanes may be meaningless. */
INLINE __m256i distances(const unsigned char *line, unsigned width, unsigned i)
{
    __m256i low = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(const void *)(line + 16 * i))), high;
    if (width == 5)
        high = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128((int)vidi__load32(line + 48 + 4 * i)));
    else
        high = _mm256_cvtepu16_epi64(_mm_cvtsi64_si128((long long)vidi__load64(line + 40 + 8 * i)));
    return _mm256_or_si256(low, _mm256_slli_epi64(high, 32));
}

INLINE void decode(uint64_t *hashes, const unsigned char *line, unsigned width, uint32_t own, uint64_t first)
{
    const unsigned slots = vidi__line_slots(width);
    const __m256i nowhere = _mm256_set1_epi64x((long long)VIDI__REBUILD_NOWHERE);
    const __m256i from = _mm256_set1_epi64x((long long)first);
    if (width != 5 && width != 6) {
        for (unsigned i = 0; i < (slots + 3) / 4 * 4; i++)
            hashes[i] = own >> i & 1 ? first + vidi__line_get(line, width, i) : VIDI__REBUILD_NOWHERE;
        return;
    }
    for (unsigned i = 0; i < 3; i++)
        store(hashes + 4 * i,
              _mm256_blendv_epi8(nowhere, _mm256_add_epi64(from, distances(line, width, i)), lanes_of(own >> 4 * i)));
}

/* For each choice of four lanes: these lanes first, as pairs of 32-bit lanes. */
#define PAIR(a) 2 * (a), 2 * (a) + 1
#define ORDER(a, b, c, d)                                                                                              \
    {                                                                                                                  \
        PAIR(a), PAIR(b), PAIR(c), PAIR(d)                                                                             \
    }
static const _Alignas(32) int32_t chosen_first[16][8] = {
    ORDER(0, 1, 2, 3), ORDER(0, 1, 2, 3), ORDER(1, 0, 2, 3), ORDER(0, 1, 2, 3), ORDER(2, 0, 1, 3), ORDER(0, 2, 1, 3),
    ORDER(1, 2, 0, 3), ORDER(0, 1, 2, 3), ORDER(3, 0, 1, 2), ORDER(0, 3, 1, 2), ORDER(1, 3, 0, 2), ORDER(0, 1, 3, 2),
    ORDER(2, 3, 0, 1), ORDER(0, 2, 3, 1), ORDER(1, 2, 3, 0), ORDER(0, 1, 2, 3),
};

INLINE unsigned append(uint64_t *stage, unsigned count, const uint64_t *hashes, unsigned n, uint64_t start,
                       uint64_t length)
{
    /* Lanes are compared as signed numbers, so both sides are shifted by 2^63. */
    const __m256i shift = _mm256_set1_epi64x(INT64_MIN), from = _mm256_set1_epi64x((long long)start);
    const __m256i end = _mm256_set1_epi64x((long long)(length ^ UINT64_C(1) << 63));
    for (unsigned i = 0; i < n; i += 4) {
        __m256i lanes = _mm256_sub_epi64(load(hashes + i), from);
        __m256i below = _mm256_cmpgt_epi64(end, _mm256_xor_si256(lanes, shift));
        unsigned chosen = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(below));
        __m256i order = _mm256_load_si256((const __m256i *)(const void *)chosen_first[chosen]);
        store(stage + count, _mm256_permutevar8x32_epi32(lanes, order));
        count += (unsigned)_mm_popcnt_u32(chosen);
    }
    return count;
}

/* Width 5: twelve low words, then twelve high bytes and the head. */
INLINE void encode_5(unsigned char *line, const uint64_t *stage, uint32_t head)
{
    const __m256i a = load(stage), b = load(stage + 4), c = load(stage + 8), byte = _mm256_set1_epi64x(0xff);
    const __m128i by_slot = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, -1, -1, -1, -1);
    __m256i high = _mm256_and_si256(_mm256_srli_epi64(a, 32), byte);
    high = _mm256_or_si256(high, _mm256_slli_epi64(_mm256_and_si256(_mm256_srli_epi64(b, 32), byte), 8));
    high = _mm256_or_si256(high, _mm256_slli_epi64(_mm256_and_si256(_mm256_srli_epi64(c, 32), byte), 16));
    store_half(line, low_words(a));
    store_half(line + 16, low_words(b));
    store_half(line + 32, low_words(c));
    store_half(line + 48, _mm_insert_epi32(_mm_shuffle_epi8(low_words(high), by_slot), (int)head, 3));
}

/* Width 6: ten low words, then ten high halves and the head. The last two high halves share a vector with the head. */
INLINE void encode_6(unsigned char *line, const uint64_t *stage, uint32_t head)
{
    const __m256i a = load(stage), b = load(stage + 4), c = load(stage + 8), half = _mm256_set1_epi64x(0xffff);
    __m128i high_a = low_words(_mm256_and_si256(_mm256_srli_epi64(a, 32), half));
    __m128i high_b = low_words(_mm256_and_si256(_mm256_srli_epi64(b, 32), half));
    __m128i high_c = low_words(_mm256_and_si256(_mm256_srli_epi64(c, 32), half));
    store_half(line, low_words(a));
    store_half(line + 16, low_words(b));
    vidi__store64(line + 32, (uint64_t)_mm_cvtsi128_si64(low_words(c)));
    store_half(line + 40, _mm_packus_epi32(high_a, high_b));
    __m128i rest = _mm_insert_epi32(_mm_packus_epi32(high_c, high_c), (int)head, 1);
    vidi__store64(line + 56, (uint64_t)_mm_cvtsi128_si64(rest));
}

INLINE void encode(unsigned char *line, unsigned width, const uint64_t *stage, uint32_t head)
{
    if (width == 5) {
        encode_5(line, stage, head);
    } else if (width == 6) {
        encode_6(line, stage, head);
    } else {
        for (unsigned i = 0; i < vidi__line_slots(width); i++)
            vidi__line_put(line, width, i, stage[i]);
        vidi__line_set_head(line, head);
    }
}

#include "filters/fingerprint/kernels/rebuild_pass.h"

#endif
