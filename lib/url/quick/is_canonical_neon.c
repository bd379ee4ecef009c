/*
 * The scan of is_canonical_kernel.h with NEON: a block is four vectors of 16 bytes, the sets by looking up both halves
 * of each byte. There is no instruction that turns a comparison into bits. So each byte keeps the bit of its place
 * among eight, and adding neighbours three times brings the 64 bits of a block together.
 */
#include "url/quick/is_canonical_kernel.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define LEAST LANES
#define SPAN 0
#define SCAN vidi__url_is_canonical_neon
#define COUNT vidi__url_count_canonical_neon
#define LANES 16

INLINE uint8x16_t table(const char bytes[LANES])
{
    return vld1q_u8((const uint8_t *)bytes);
}

/* The 16 bytes at `at`, with zeros after the end. The text has at least 16 bytes. */
INLINE uint8x16_t load(const char *text, size_t len, size_t at)
{
    static const char numbers[LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    if (VIDI__LIKELY(at + LANES <= len))
        return vld1q_u8((const uint8_t *)text + at);
    size_t skipped = at + LANES - len < LANES ? at + LANES - len : LANES;
    uint8x16_t last = vld1q_u8((const uint8_t *)text + len - LANES);
    return vqtbl1q_u8(last, vaddq_u8(table(numbers), vdupq_n_u8((uint8_t)skipped))); /* 0 for numbers beyond 15 */
}

/* One bit for each of 64 bytes that are all ones or all zeros. */
INLINE uint64_t bits(const uint8x16_t found[4])
{
    static const char places[LANES] = {1, 2, 4, 8, 16, 32, 64, (char)128, 1, 2, 4, 8, 16, 32, 64, (char)128};
    uint8x16_t place = table(places);
    uint8x16_t low = vpaddq_u8(vandq_u8(found[0], place), vandq_u8(found[1], place));
    uint8x16_t high = vpaddq_u8(vandq_u8(found[2], place), vandq_u8(found[3], place));
    uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

INLINE masks classify(const char *text, size_t len, size_t from)
{
    static const char hosts[] = {VIDI__FAST_HOST}, paths[] = {VIDI__FAST_PATH}, queries[] = {VIDI__FAST_QUERY},
                      rows[] = {VIDI__FAST_ROWS};
    uint8x16_t host[4], slash[4], question[4], dots[4], path[4], query[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        uint8x16_t c = load(text, len, from + LANES * i), low = vandq_u8(c, vdupq_n_u8(15));
        uint8x16_t row = vqtbl1q_u8(table(rows), vshrq_n_u8(c, 4));
        uint8x16_t beyond = vcgeq_u8(c, vdupq_n_u8(0x80)); /* which have row 0, so they are in no table */
        host[i] = vtstq_u8(vqtbl1q_u8(table(hosts), low), row);
        path[i] = vorrq_u8(vtstq_u8(vqtbl1q_u8(table(paths), low), row), beyond);
        query[i] = vorrq_u8(vtstq_u8(vqtbl1q_u8(table(queries), low), row), beyond);
        slash[i] = vceqq_u8(c, vdupq_n_u8('/'));
        question[i] = vceqq_u8(c, vdupq_n_u8('?'));
        dots[i] = vorrq_u8(vceqq_u8(c, vdupq_n_u8('.')), vceqq_u8(c, vdupq_n_u8('%')));
    }
    uint64_t there = len - from < BLOCK ? (UINT64_C(1) << (len - from)) - 1 : ~UINT64_C(0);
    return (masks){
        .host = bits(host), /* bytes past the end are 0, which is in none of the sets but the last two */
        .slash = bits(slash),
        .question = bits(question),
        .dots = bits(dots),
        .bad_path = bits(path) & there,
        .bad_query = bits(query) & there,
    };
}

#include "url/quick/is_canonical_kernel.h" /* NOLINT(readability-duplicate-include): the first time without SCAN */

#else
typedef int vidi__url_fast_neon_not_built; /* a file must not be empty */
#endif
