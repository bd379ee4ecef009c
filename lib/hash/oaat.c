/*
 * oaat: Jenkins's one-at-a-time, as the eigenvalue paper prints it ("Bob Jenkins' Functions"). 32 bits.
 *
 * The listing there adds `key`, the pointer, in each round; the byte key[i] is meant. The state is one word, and each
 * round takes one byte. So two inputs that reach the same state collide with any common continuation.
 */
#include "hash/functions.h"

uint32_t vidi__oaat(const vidi_str *pieces, size_t count, uint32_t seed)
{
    uint32_t h = seed;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *bytes = (const unsigned char *)pieces[i].ptr;
        for (size_t j = 0; j < pieces[i].len; j++) {
            h += bytes[j];
            h += h << 10;
            h ^= h >> 6;
        }
    }
    h += h << 3;
    h ^= h >> 11;
    h += h << 15;
    return h;
}

static vidi__u128 hash(const vidi__hash_key *key, const vidi_str *pieces, size_t count)
{
    (void)key;
    return (vidi__u128){vidi__oaat(pieces, count, 0), 0};
}

VIDI__HASH_ONE_BY_ONE(hash)

const vidi__hash_fn vidi__hash_oaat = {
    .name = "oaat", .bits = 32, .keyed = false, .hash = hash, .one = hash_one, .batch = hash_batch};
