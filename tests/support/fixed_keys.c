/*
 * A getrandom(2) that always gives the same numbers, for programs under test.
 *
 * Sets draw their keys with it, and a Bloom filter takes an item for seen by chance, which depends on the key. With
 * keys that are the same in every run, a test that passes once always passes. The keys of one process still differ from
 * each other; VIDI_TEST_KEYS is the seed, so that processes can differ as well.
 *
 * Loaded with LD_PRELOAD. It is no part of the library of the tests: those give their sets a key themselves.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* FNV-1a of a text that may be NULL. */
static uint64_t seed_of(const char *text)
{
    uint64_t sum = 0xcbf29ce484222325;
    for (; text && *text; text++)
        sum = (sum ^ (unsigned char)*text) * 0x100000001b3;
    return sum;
}

/* splitmix64 */
static uint64_t draw(void)
{
    static _Atomic uint64_t draws;
    uint64_t mixed = seed_of(getenv("VIDI_TEST_KEYS")) + 0x9e3779b97f4a7c15 * (1 + atomic_fetch_add(&draws, 1));
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    (void)flags;
    for (size_t done = 0; done < size; done += sizeof(uint64_t)) {
        uint64_t number = draw();
        memcpy((char *)to + done, &number, size - done < sizeof number ? size - done : sizeof number);
    }
    return (ssize_t)size;
}
