/*
 * murmur2: MurmurHash2 by Austin Appleby, the 32-bit version that the thesis tested. Words are read as little-endian,
 * as on the machines that it was written for.
 *
 * The state is one word, which starts from the seed and the length. Each word of input is mixed and then folded in; the
 * last one to three bytes are folded in without that first mixing.
 */
#include "hash/blocks.h"
#include "hash/functions.h"

#define MULTIPLIER UINT32_C(0x5bd1e995)
#define BLOCK 4

static inline void block(void *context, const unsigned char *at)
{
    uint32_t *h = context, word = vidi__load32(at) * MULTIPLIER;
    word ^= word >> 24;
    *h = *h * MULTIPLIER ^ word * MULTIPLIER;
}

uint32_t vidi__murmur2(const vidi_str *pieces, size_t count, uint32_t seed)
{
    uint32_t h = seed ^ (uint32_t)vidi__pieces_length(pieces, count);
    unsigned char tail[BLOCK];
    if (vidi__blocks(pieces, count, tail, BLOCK, block, &h))
        h = (h ^ vidi__load32(tail)) * MULTIPLIER;
    h = (h ^ (h >> 13)) * MULTIPLIER;
    return h ^ (h >> 15);
}

static vidi__u128 hash(const vidi__hash_key *key, const vidi_str *pieces, size_t count)
{
    (void)key;
    return (vidi__u128){vidi__murmur2(pieces, count, 0), 0};
}

VIDI__HASH_ONE_BY_ONE(hash)

const vidi__hash_fn vidi__hash_murmur2 = {
    .name = "murmur2", .bits = 32, .keyed = false, .hash = hash, .one = hash_one, .batch = hash_batch};
