/* The scan of is_canonical_kernel.h with what every x86-64 has: 16 bytes at a time, the sets by comparisons. */
#include "url/quick/is_canonical_kernel.h"

#if defined(__x86_64__)

#include <emmintrin.h>

#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define LEAST LANES
#define SPAN 0
#define SCAN vidi__url_is_canonical_sse2
#define COUNT vidi__url_count_canonical_sse2
#define LANES 16

INLINE __m128i equal(__m128i c, char value)
{
    return _mm_cmpeq_epi8(c, _mm_set1_epi8(value));
}

/* Bytes that are `value` when the bits of `ignored` are cleared in them: two compared at once. */
INLINE __m128i equal_but(__m128i c, char ignored, char value)
{
    return equal(_mm_andnot_si128(_mm_set1_epi8(ignored), c), value);
}

/* Bytes from `first` to `first` + `count` - 1. */
INLINE __m128i range(__m128i c, char first, char count)
{
    __m128i shifted = _mm_add_epi8(_mm_sub_epi8(c, _mm_set1_epi8(first)), _mm_set1_epi8(-128));
    return _mm_cmplt_epi8(shifted, _mm_set1_epi8((char)(count - 128)));
}

INLINE __m128i either(__m128i a, __m128i b)
{
    return _mm_or_si128(a, b);
}

/* Moves the bits of a piece at `at` to their positions in the block at `from`, which may begin after the piece. */
INLINE uint64_t place(__m128i found, size_t at, size_t from)
{
    uint64_t bits = (unsigned)_mm_movemask_epi8(found);
    return at >= from ? bits << (at - from) : bits >> (from - at);
}

INLINE masks piece(const char *text, size_t at, size_t from)
{
    __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(text + at));
    /* The comparison is signed, so bytes from 0x80 on are below 0x21 too. The next line adds '"', '#', '<' and '>'. */
    __m128i bad = either(_mm_cmplt_epi8(c, _mm_set1_epi8(0x21)), equal(c, 0x7f));
    bad = either(bad, either(range(c, '"', 2), equal_but(c, '<' ^ '>', '<')));
    __m128i braces = either(equal_but(c, '\\' ^ '^', '\\'), either(equal(c, '{'), equal(c, '}')));
    __m128i point = equal(c, '.'), digit = range(c, '0', 10), letter = range(c, 'a', 26);
    __m128i marks = either(equal(c, '-'), equal(c, '_'));
    return (masks){
        .host = place(either(either(digit, letter), either(point, marks)), at, from),
        .slash = place(equal(c, '/'), at, from),
        .question = place(equal(c, '?'), at, from),
        .dots = place(either(point, equal(c, '%')), at, from),
        .bad_path = place(either(bad, either(braces, equal(c, '`'))), at, from),
        .bad_query = place(either(bad, equal(c, '\'')), at, from),
    };
}

/* The last piece overlaps the one before it, instead of reading past the end; the text has at least one whole piece. */
INLINE masks classify(const char *text, size_t len, size_t from)
{
    masks m = {0};
    size_t end = len - from < BLOCK ? len : from + BLOCK;
    for (size_t i = from; i < end; i += LANES)
        vidi__url_fast_join(&m, piece(text, i + LANES <= len ? i : len - LANES, from));
    return m;
}

#include "url/quick/is_canonical_kernel.h" /* NOLINT(readability-duplicate-include): the first time without SCAN */

#else
typedef int vidi__url_fast_sse2_not_built; /* a file must not be empty */
#endif
