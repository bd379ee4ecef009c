/*
 * The hash functions by name.
 *
 *     sip13    SipHash-1-3, 128 bits, keyed                       the default: safe against attackers
 *     xxh3     XXH3, 128 bits, with a secret made from the key    for trusted input
 *     jenkins  lookup2, 32 bits                                   the thesis
 *     oaat     one-at-a-time, 32 bits                             the eigenvalue paper
 *     murmur2  MurmurHash2, 32 bits                               the thesis
 *     murmur3  MurmurHash3 x86_32, 32 bits                        the multi-layer paper
 *     md5      the first 128 of 128 bits                          the thesis
 *     sha1     the first 128 of 160 bits                          the thesis
 *
 * A function takes its input in up to three pieces (salt, URL, salt) that count as one string, so nothing need be
 * copied. The value is the first output bytes read as little-endian numbers; 32-bit functions leave the rest zero. All
 * but the first two ignore the key.
 */
#ifndef VIDI_HASH_HASH_H
#define VIDI_HASH_HASH_H

#include "base/base.h"
#include "base/bits.h"

#define VIDI__XXH3_SECRET 192
#define VIDI__SALT_BYTES 24

/* The key of a hash function, in prepared form. */
typedef struct vidi__hash_key {
    uint64_t key[2];
    unsigned char secret[VIDI__XXH3_SECRET];
} vidi__hash_key;

/* Hashes n strings of one piece each. Gives the same values as hashing one by one, in less time. */
typedef void vidi__hash_batch_fn(const vidi__hash_key *key, const vidi_str *strs, size_t n, vidi__u128 *out);

typedef struct vidi__hash_fn {
    const char *name;
    unsigned bits;   /* bits of output: 32 or 128 */
    bool keyed;      /* values are unpredictable without the key, so attackers cannot aim */
    bool has_secret; /* otherwise it needs the key's words alone */
    vidi__u128 (*hash)(const vidi__hash_key *key, const vidi_str *pieces, size_t count);
    vidi__u128 (*one)(const vidi__hash_key *key, vidi_str str); /* of one piece; never NULL */
    vidi__hash_batch_fn *batch;                                 /* never NULL */
    /*
     * Hashes one string after each of n salts of 24 bytes, and returns the lower halves. NULL if there is no faster
     * way.
     */
    void (*salted)(const unsigned char (*salts)[VIDI__SALT_BYTES], size_t n, vidi_str str, uint64_t *values);
} vidi__hash_fn;

/* NULL if this build has no function of that name. */
const vidi__hash_fn *vidi__hash_find(vidi_str name);

/*
 * The functions in the order in which mode=different takes them: those of the thesis's tables first, and new ones
 * last. NULL after the last.
 */
const vidi__hash_fn *vidi__hash_at(size_t index);

/* The error for an unknown name; lists the known ones. */
int vidi__hash_unknown(vidi_str name);

void vidi__hash_key_init(vidi__hash_key *key, const unsigned char bytes[VIDI_KEY_BYTES]);

/* Hashes a string of one piece. */
static inline vidi__u128 vidi__hash(const vidi__hash_fn *fn, const vidi__hash_key *key, vidi_str str)
{
    return fn->one(key, str);
}

static inline void vidi__hash_batch(const vidi__hash_fn *fn, const vidi__hash_key *key, const vidi_str *strs, size_t n,
                                    vidi__u128 *out)
{
    if (n == 1)
        *out = vidi__hash(fn, key, *strs);
    else
        fn->batch(key, strs, n, out);
}

/* Derives a 16-byte key for a purpose: SipHash of the purpose's name and number under the given key. */
void vidi__derive_key(unsigned char out[VIDI_KEY_BYTES], const unsigned char key[VIDI_KEY_BYTES], const char *purpose,
                      uint64_t number);

#endif
