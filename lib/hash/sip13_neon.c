/*
 * sip13 for NEON: 2 lanes of 64 bits in two groups, so 4 strings at a time. The idea is explained in sip13_lanes.h.
 *
 * There are no masked loads. A block is two words of two strings, and at the end of a string its words are loaded one
 * by one. Rotations are a shift and an insertion; by 32 bits, the halves of a word change places.
 */
#include "hash/functions.h"
#include "hash/sip.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#define LANES 2
#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define BATCH vidi__sip13_neon

typedef uint64x2_t vec;
typedef uint64x2_t mask;

INLINE vec same(uint64_t x)
{
    return vdupq_n_u64(x);
}

INLINE vec add(vec a, vec b)
{
    return vaddq_u64(a, b);
}

INLINE vec exor(vec a, vec b)
{
    return veorq_u64(a, b);
}

INLINE vec exor3(vec a, vec b, vec c)
{
    return exor(exor(a, b), c);
}

INLINE vec rotl_by_32(vec a)
{
    return vreinterpretq_u64_u32(vrev64q_u32(vreinterpretq_u32_u64(a)));
}

/* A macro because the number must be a constant. */
#define rotl(a, n) ((n) == 32 ? rotl_by_32(a) : vsriq_n_u64(vshlq_n_u64(a, n), a, 64 - (n)))

INLINE mask reaches(const uint64_t *len, uint64_t now)
{
    return vcgeq_u64(vld1q_u64(len), same(8 * now));
}

INLINE vec pick(mask which, vec a, vec b)
{
    return vbslq_u64(which, a, b);
}

INLINE void transpose(vec (*w)[2], vec first, vec second)
{
    w[0][0] = vtrn1q_u64(first, second);
    w[1][0] = vtrn2q_u64(first, second);
}

INLINE vec load(const unsigned char *at)
{
    return vreinterpretq_u64_u8(vld1q_u8(at));
}

INLINE void whole_block(vec (*w)[2], const unsigned char *const *at, uint64_t i)
{
    transpose(w, load(at[0] + 8 * i), load(at[1] + 8 * i));
}

/* Two words, or as many as the string has from word i on. */
INLINE vec load_some(const unsigned char *at, uint64_t len, uint64_t i)
{
    uint64_t words = len / 8;
    if (i + LANES <= words)
        return load(at + 8 * i);
    return vcombine_u64(vcreate_u64(i < words ? vidi__load64(at + 8 * i) : 0), vcreate_u64(0));
}

INLINE void ragged_block(vec (*w)[2], const unsigned char *const *at, const uint64_t *len, uint64_t i)
{
    transpose(w, load_some(at[0], len[0], i), load_some(at[1], len[1], i));
}

INLINE void ends(vec (*w)[2], const unsigned char *const *at, const uint64_t *len)
{
    for (unsigned lane = 0; lane < LANES; lane++)
        vidi__store64((unsigned char *)w[len[lane] / 8] + 8 * lane,
                      vidi__sip_last_bytes(at[lane], len[lane]) | len[lane] << 56);
}

INLINE void put(vidi__u128 *out, vec lo, vec hi)
{
    vst1q_u64((uint64_t *)(void *)out, vtrn1q_u64(lo, hi));
    vst1q_u64((uint64_t *)(void *)(out + 1), vtrn2q_u64(lo, hi));
}

#include "hash/sip13_lanes.h"

#else
typedef int vidi__sip13_neon_not_built; /* ISO C forbids an empty file */
#endif
