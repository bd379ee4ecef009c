/*
 * xxh3: XXH3 by Yann Collet, 128 bits, from libxxhash, with a secret of 192 bytes made from the key. For trusted input.
 *
 * It is built from products of two halves of (input ^ secret), for speed. Its author does not claim that it is a
 * pseudo-random function, and it is not: pairs of inputs of 32 to 240 bytes, fixed in advance, are reported to collide
 * for one secret in about 2^27 (issue 1127 of the xxHash project). Longer inputs are worse: the top two bits of words
 * 64 bytes apart change one accumulator only by multiples of 2^30. So among a million URLs of a kilobyte some thirty
 * pairs collide in all 128 bits under any secret (tests/set/test_adversary_adaptive.c finds them by lookups). So
 * although it has a secret, vidi does not call it keyed.
 */
#if VIDI_HAVE_XXHASH

#define XXH_STATIC_LINKING_ONLY /* exposes the size of the state, so that it can be on the stack */
#include <xxhash.h>

#include "hash/blocks.h"
#include "hash/functions.h"

/*
 * Inputs up to this size are joined on the stack, which is cheaper than the streaming interface. Most URLs are shorter.
 */
#define JOIN_MAX 512

static XXH128_hash_t join(const vidi__hash_key *key, const vidi_str *pieces, size_t count)
{
    unsigned char joined[JOIN_MAX];
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].len)
            memcpy(joined + length, pieces[i].ptr, pieces[i].len);
        length += pieces[i].len;
    }
    return XXH3_128bits_withSecret(joined, length, key->secret, sizeof key->secret);
}

static XXH128_hash_t stream(const vidi__hash_key *key, const vidi_str *pieces, size_t count)
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_128bits_reset_withSecret(&state, key->secret, sizeof key->secret);
    for (size_t i = 0; i < count; i++)
        if (pieces[i].len)
            XXH3_128bits_update(&state, pieces[i].ptr, pieces[i].len);
    return XXH3_128bits_digest(&state);
}

static vidi__u128 hash(const vidi__hash_key *key, const vidi_str *pieces, size_t count)
{
    XXH128_hash_t h;
    if (count == 1)
        h = XXH3_128bits_withSecret(pieces[0].ptr, pieces[0].len, key->secret, sizeof key->secret);
    else if (vidi__pieces_length(pieces, count) <= JOIN_MAX)
        h = join(key, pieces, count);
    else
        h = stream(key, pieces, count);
    return (vidi__u128){h.low64, h.high64};
}

VIDI__HASH_ONE_BY_ONE(hash)

const vidi__hash_fn vidi__hash_xxh3 = {.name = "xxh3",
                                       .bits = 128,
                                       .keyed = false,
                                       .has_secret = true,
                                       .hash = hash,
                                       .one = hash_one,
                                       .batch = hash_batch};

#else
typedef int vidi__xxh3_not_built; /* ISO C forbids an empty file */
#endif
