/*
 * The scan of is_canonical_kernel.h with AVX-512: a block is one vector, comparisons give masks, and masked loads read
 * nothing past the end.
 */
#include "url/quick/is_canonical_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2,lzcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define LEAST 0
#define SPAN (2 * BLOCK)
#define SCAN vidi__url_is_canonical_avx512
#define COUNT vidi__url_count_canonical_avx512

INLINE uint64_t equal(__m512i c, char value)
{
    return _mm512_cmpeq_epi8_mask(c, _mm512_set1_epi8(value));
}

/* Bytes that are in the table: the entry for the low half of the byte has the bit for its high half. */
INLINE uint64_t in_table(__m512i c, __m512i row, __m128i table)
{
    return _mm512_test_epi8_mask(_mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), c), row);
}

INLINE masks classify(const char *text, size_t len, size_t from)
{
    /* Without branches: many URLs have about 64 bytes, some less and some more. */
    uint64_t left = (len > from ? len : from) - from;
    uint64_t there = _bzhi_u64(~UINT64_C(0), left < BLOCK ? (unsigned)left : BLOCK);
    __m512i c = _mm512_maskz_loadu_epi8(there, (const void *)((uintptr_t)text + from)); /* may be past the end */
    __m512i high = _mm512_and_si512(_mm512_srli_epi16(c, 4), _mm512_set1_epi8(15));
    __m512i row = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_setr_epi8(VIDI__FAST_ROWS)), high);
    uint64_t beyond = _mm512_movepi8_mask(c); /* bytes from 0x80 on, which are in no table */
    return (masks){
        .host = in_table(c, row, _mm_setr_epi8(VIDI__FAST_HOST)), /* bytes past the end are 0, which is not in it */
        .slash = equal(c, '/'),
        .question = equal(c, '?'),
        .dots = equal(c, '.') | equal(c, '%'),
        .bad_path = (in_table(c, row, _mm_setr_epi8(VIDI__FAST_PATH)) | beyond) & there,
        .bad_query = (in_table(c, row, _mm_setr_epi8(VIDI__FAST_QUERY)) | beyond) & there,
    };
}

#include "url/quick/is_canonical_kernel.h" /* NOLINT(readability-duplicate-include): the first time without SCAN */

#else
typedef int vidi__url_fast_avx512_not_built; /* a file must not be empty */
#endif
