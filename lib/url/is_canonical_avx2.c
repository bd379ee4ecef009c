/* The scan of is_canonical_kernel.h with AVX2: 32 bytes at a time, the sets by looking up both halves of each byte. */
#include "url/is_canonical_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,lzcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define LEAST LANES
#define SPAN 0
#define SCAN vidi__url_is_canonical_avx2
#define COUNT vidi__url_count_canonical_avx2
#define LANES 32

/* Moves the bits of a piece at `at` to their positions in the block at `from`, which may begin after the piece. */
INLINE uint64_t place(__m256i found, size_t at, size_t from)
{
    uint64_t bits = (unsigned)_mm256_movemask_epi8(found);
    return at >= from ? bits << (at - from) : bits >> (from - at);
}

INLINE __m256i equal(__m256i c, char value)
{
    return _mm256_cmpeq_epi8(c, _mm256_set1_epi8(value));
}

/* Bytes that are in the table: the entry for the low half of the byte has the bit for its high half. */
INLINE __m256i in_table(__m256i c, __m256i row, __m128i table)
{
    __m256i rows = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), c);
    return _mm256_cmpeq_epi8(_mm256_and_si256(rows, row), row);
}

INLINE masks piece(const char *text, size_t at, size_t from)
{
    __m256i c = _mm256_loadu_si256((const __m256i *)(const void *)(text + at));
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(c, 4), _mm256_set1_epi8(15));
    /* Bytes from 0x80 on have row 0, so they are in every table. They are removed from `host` below. */
    __m256i row = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_setr_epi8(VIDI__FAST_ROWS)), high);
    __m256i host = in_table(c, row, _mm_setr_epi8(VIDI__FAST_HOST));
    __m256i bad_path = in_table(c, row, _mm_setr_epi8(VIDI__FAST_PATH));
    __m256i bad_query = in_table(c, row, _mm_setr_epi8(VIDI__FAST_QUERY));
    return (masks){
        .host = place(_mm256_andnot_si256(c, host), at, from), /* the highest bit of a byte decides */
        .slash = place(equal(c, '/'), at, from),
        .question = place(equal(c, '?'), at, from),
        .dots = place(_mm256_or_si256(equal(c, '.'), equal(c, '%')), at, from),
        .bad_path = place(bad_path, at, from),
        .bad_query = place(bad_query, at, from),
    };
}

/* The last piece overlaps the one before it, instead of reading past the end; the text has at least one whole piece. */
INLINE masks classify(const char *text, size_t len, size_t from)
{
    masks m = piece(text, from + LANES <= len ? from : len - LANES, from);
    size_t second = from + LANES;
    if (second < len)
        vidi__url_fast_join(&m, piece(text, second + LANES <= len ? second : len - LANES, from));
    return m;
}

#include "url/is_canonical_kernel.h" /* NOLINT(readability-duplicate-include): the first time without SCAN */

#else
typedef int vidi__url_fast_avx2_not_built; /* a file must not be empty */
#endif
