/* What C lacks: wide products, mixing, powers, little-endian loads and stores, fetching a line to write to it. */
#ifndef VIDI_BASE_BITS_H
#define VIDI_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "vidi/transfer.h"

typedef vidi_digest vidi__u128;

/* Maps a 64-bit hash to a place among m: floor(hash * m / 2^64). Uniform to within m / 2^64, without a division. */
static inline uint64_t vidi__scale(uint64_t hash, uint64_t m)
{
    return (uint64_t)(((unsigned __int128)hash * m) >> 64);
}

/* A bijection on 64 bits in which every output bit depends on every input bit (the finaliser of SplitMix64). */
static inline uint64_t vidi__mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* base to a small integer power. fp_now needs it at each add, where pow() would cost more than the filter. */
static inline double vidi__power(double base, unsigned exponent)
{
    double result = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1)
            result *= base;
    return result;
}

/*
 * Begins to fetch a cache line that will be written to, so that no other core has it then. By default gcc's own builtin
 * makes this a fetch to read.
 */
static inline void vidi__prefetch_to_write(const void *address)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1);
#endif
}

static inline uint64_t vidi__popcount(const uint64_t *words, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += (uint64_t)__builtin_popcountll(words[i]);
    return sum;
}

static inline uint64_t vidi__round_up(uint64_t x, uint64_t multiple)
{
    return (x + multiple - 1) / multiple * multiple;
}

static inline uint16_t vidi__load16(const void *from)
{
    uint16_t x;
    memcpy(&x, from, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap16(x);
#endif
    return x;
}

static inline uint32_t vidi__load32(const void *from)
{
    uint32_t x;
    memcpy(&x, from, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap32(x);
#endif
    return x;
}

static inline uint64_t vidi__load64(const void *from)
{
    uint64_t x;
    memcpy(&x, from, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

static inline void vidi__store16(void *to, uint16_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap16(x);
#endif
    memcpy(to, &x, sizeof x);
}

static inline void vidi__store32(void *to, uint32_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap32(x);
#endif
    memcpy(to, &x, sizeof x);
}

static inline void vidi__store64(void *to, uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    memcpy(to, &x, sizeof x);
}

#endif
