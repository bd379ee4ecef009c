/* The scan of is_canonical_kernel.h with AVX2: 32 bytes at a time, the sets by looking up both halves of each byte. */
#include "url/quick/is_canonical_kernel.h"

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

#include "url/quick/is_canonical_kernel.h" /* NOLINT(readability-duplicate-include): the first time without SCAN */

/* ---- plain URLs ---- */

typedef struct plain_piece {
    __m256i bytes, row;
} plain_piece;

INLINE __m256i load(const char *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

INLINE __m256i table(const char *which)
{
    return _mm256_load_si256((const __m256i *)(const void *)which);
}

INLINE plain_piece plain_at(const char *at)
{
    __m256i c = load(at), high = _mm256_and_si256(_mm256_srli_epi16(c, 4), table(vidi__url_plain.low_half));
    return (plain_piece){c, _mm256_shuffle_epi8(table(vidi__url_plain.rows), high)};
}

INLINE __m256i in_plain_table(plain_piece piece, const char *which)
{
    return _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(table(which), piece.bytes), piece.row), piece.row);
}

INLINE __m256i equals(__m256i c, const char *which)
{
    return _mm256_cmpeq_epi8(c, table(which));
}

/* Bytes of the piece that are not plain, or begin a segment with a dot. The piece is not the first of the text. */
INLINE __m256i not_plain(plain_piece piece, const char *at)
{
    __m256i dots =
        _mm256_and_si256(equals(piece.bytes, vidi__url_plain.dot), equals(load(at - 1), vidi__url_plain.slash));
    return _mm256_or_si256(dots, in_plain_table(piece, vidi__url_plain.not_plain));
}

INLINE uint64_t joined(__m256i first, __m256i second, size_t at)
{
    return (unsigned)_mm256_movemask_epi8(first) | (uint64_t)(unsigned)_mm256_movemask_epi8(second) << at;
}

INLINE __m256i host_bytes(plain_piece piece)
{
    return _mm256_andnot_si256(piece.bytes, in_plain_table(piece, vidi__url_plain.host));
}

/*
 * The last piece overlaps the one before it. The first one has no byte before it to look at, so it looks at the byte
 * after each slash instead.
 */
INLINE bool is_plain(vidi_str url)
{
    const char *text = url.ptr;
    size_t last = url.len - LANES, second = last < LANES ? last : LANES, host;
    if (url.len <= LANES || url.len > 4 * LANES || !(host = vidi__url_fast_scheme(url)))
        return false;
    plain_piece one = plain_at(text), two = plain_at(text + second);
    __m256i slashes = equals(one.bytes, vidi__url_plain.slash);
    __m256i found = _mm256_and_si256(slashes, equals(load(text + 1), vidi__url_plain.dot));
    found = _mm256_or_si256(found, in_plain_table(one, vidi__url_plain.not_plain));
    found = _mm256_or_si256(found, not_plain(two, text + second));
    if (last > LANES)
        found = _mm256_or_si256(found, not_plain(plain_at(text + last), text + last));
    if (last > 2 * LANES)
        found = _mm256_or_si256(found, not_plain(plain_at(text + 2 * LANES), text + 2 * LANES));
    if (!_mm256_testz_si256(found, found))
        return false;
    masks m = {
        .host = joined(host_bytes(one), host_bytes(two), second),
        .slash = joined(slashes, equals(two.bytes, vidi__url_plain.slash), second),
        .dots = joined(equals(one.bytes, vidi__url_plain.dot), equals(two.bytes, vidi__url_plain.dot), second),
    };
    return authority(url, host, m) != 0;
}

TARGET bool vidi__url_is_canonical_alone_avx2(vidi_str url)
{
    return is_plain(url) || vidi__url_is_canonical_avx2(url);
}

TARGET bool vidi__url_is_canonical_alone_avx512(vidi_str url)
{
    return is_plain(url) || vidi__url_is_canonical_avx512(url);
}

#else
typedef int vidi__url_fast_avx2_not_built; /* a file must not be empty */
#endif
