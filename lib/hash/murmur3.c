/*
 * murmur3: MurmurHash3 by Austin Appleby, the version x86_32, which the multi-layer paper's program used with the seeds
 * 0 to k - 1. Words are read as little-endian, as on the machines that it was written for.
 *
 * The state is one word, which starts from the seed. Each word of input is scrambled and then folded in; the last one
 * to three bytes are scrambled the same way, but folded in without the step that follows a whole word. The length comes
 * last.
 */
#include "hash/blocks.h"
#include "hash/functions.h"

#define BLOCK 4

static inline uint32_t rotate(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static inline uint32_t scramble(uint32_t word)
{
    return rotate(word * UINT32_C(0xcc9e2d51), 15) * UINT32_C(0x1b873593);
}

static inline void block(void *context, const unsigned char *at)
{
    uint32_t *h = context;
    *h = rotate(*h ^ scramble(vidi__load32(at)), 13) * 5 + UINT32_C(0xe6546b64);
}

uint32_t vidi__murmur3(const vidi_str *pieces, size_t count, uint32_t seed)
{
    uint32_t h = seed;
    unsigned char tail[BLOCK];
    if (vidi__blocks(pieces, count, tail, BLOCK, block, &h))
        h ^= scramble(vidi__load32(tail));
    h ^= (uint32_t)vidi__pieces_length(pieces, count);
    h = (h ^ (h >> 16)) * UINT32_C(0x85ebca6b);
    h = (h ^ (h >> 13)) * UINT32_C(0xc2b2ae35);
    return h ^ (h >> 16);
}

static vidi__u128 hash(const vidi__hash_key *key, const vidi_str *pieces, size_t count)
{
    (void)key;
    return (vidi__u128){vidi__murmur3(pieces, count, 0), 0};
}

VIDI__HASH_ONE_BY_ONE(hash)

const vidi__hash_fn vidi__hash_murmur3 = {
    .name = "murmur3", .bits = 32, .keyed = false, .hash = hash, .one = hash_one, .batch = hash_batch};
