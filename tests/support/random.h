/*
 * Random numbers for tests, from splitmix64: every run of a test gets the same numbers on every machine.
 */
#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

typedef struct test_random {
    uint64_t state;
} test_random;

/* A bijection of 64-bit numbers. Every output bit depends on every input bit. */
static inline uint64_t test_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t test_next(test_random *random)
{
    return test_mix(random->state += 0x9e3779b97f4a7c15u);
}

/* A number below limit. The bias of at most limit / 2^64 does not matter. */
static inline uint64_t test_below(test_random *random, uint64_t limit)
{
    return (uint64_t)(((unsigned __int128)test_next(random) * limit) >> 64);
}

#endif
