/* The kernel of blocked for NEON: a line is four vectors of two lanes. */
#include "filters/blocked/blocked_kernel.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define KERNEL vidi__blocked_neon

/* The bits of lanes 0 and 1 of the word, which comes shifted for the others. */
INLINE uint64x2_t bits_of(uint64_t word)
{
    uint64x2_t places = vcombine_u64(vcreate_u64(word & 63), vcreate_u64(word >> 6 & 63));
    return vshlq_u64(vdupq_n_u64(1), vreinterpretq_s64_u64(places));
}

/* How many of eight lanes are all ones; each counts as minus one. */
INLINE unsigned count(const uint64x2_t lanes[4])
{
    uint64x2_t sum = vaddq_u64(vaddq_u64(lanes[0], lanes[1]), vaddq_u64(lanes[2], lanes[3]));
    return (unsigned)-(int64_t)vaddvq_u64(sum);
}

INLINE unsigned missing_bits(const uint64_t *line, uint64_t word)
{
    uint64x2_t missing[4];
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++)
        missing[i] = vceqzq_u64(vandq_u64(vld1q_u64(line + 2 * i), bits_of(word >> 12 * i)));
    return count(missing);
}

INLINE unsigned set_bits(uint64_t *line, uint64_t word)
{
    uint64x2_t missing[4];
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++) {
        uint64x2_t bits = bits_of(word >> 12 * i), old = vld1q_u64(line + 2 * i);
        missing[i] = vceqzq_u64(vandq_u64(old, bits));
        vst1q_u64(line + 2 * i, vorrq_u64(old, bits));
    }
    return count(missing);
}

#include "filters/blocked/blocked_lanes.h"

#else
typedef int vidi__blocked_neon_not_built; /* ISO C forbids an empty file */
#endif
