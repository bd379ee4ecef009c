/* Arithmetic for everything that the lab draws at random: mixing 64 bits, and scaling them down. */
#ifndef VIDI_LAB_URLS_MIX_H
#define VIDI_LAB_URLS_MIX_H

#include <stdint.h>

/* A bijection of 64 bits after which every bit depends on every other (the finaliser of SplitMix64). */
static inline uint64_t lab_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A number below `limit` from 64 random bits: floor(bits * limit / 2^64), as filters find places in their arrays. */
static inline uint64_t lab_scale(uint64_t bits, uint64_t limit)
{
    return (uint64_t)(((unsigned __int128)bits * limit) >> 64);
}

#endif
