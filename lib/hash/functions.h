/*
 * The hash functions one by one, each with a file of its own; hash.h is what the rest of the library uses.
 *
 * The four functions of 32 bits take a seed in their authors' code. Filters hash with seed 0, as the papers did; the
 * seed is here because the published test vectors use it.
 */
#ifndef VIDI_HASH_FUNCTIONS_H
#define VIDI_HASH_FUNCTIONS_H

#include "cpu/cpu.h"
#include "hash/hash.h"

extern const vidi__hash_fn vidi__hash_sip13, vidi__hash_jenkins, vidi__hash_oaat, vidi__hash_murmur2,
    vidi__hash_murmur3;
#if VIDI_HAVE_XXHASH
extern const vidi__hash_fn vidi__hash_xxh3;
#endif
#if VIDI_HAVE_CRYPTO
extern const vidi__hash_fn vidi__hash_md5, vidi__hash_sha1;
#endif

/* Defines `hash_one` and `hash_batch` for functions without a faster way: they call `hash` for each string. */
#define VIDI__HASH_ONE_BY_ONE(hash)                                                                                    \
    static vidi__u128 hash##_one(const vidi__hash_key *key, vidi_str str)                                              \
    {                                                                                                                  \
        return hash(key, &str, 1);                                                                                     \
    }                                                                                                                  \
    static void hash##_batch(const vidi__hash_key *key, const vidi_str *strs, size_t n, vidi__u128 *out)               \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            out[i] = hash(key, &strs[i], 1);                                                                           \
    }

/* sip13 of one string: what vidi__siphash gives, sooner, and soonest for strings of up to 128 bytes. */
vidi__u128 vidi__sip13_one(const vidi__hash_key *key, vidi_str str);

/* The sip13 batch function for this CPU level, or the best one for a lower level. */
vidi__hash_batch_fn *vidi__sip13_batch(vidi__cpu_level level);

#if defined(__x86_64__)
vidi__hash_batch_fn vidi__sip13_avx2, vidi__sip13_avx512;
#elif defined(__aarch64__)
vidi__hash_batch_fn vidi__sip13_neon;
#endif

uint32_t vidi__jenkins(const vidi_str *pieces, size_t count, uint32_t seed);
uint32_t vidi__oaat(const vidi_str *pieces, size_t count, uint32_t seed);
uint32_t vidi__murmur2(const vidi_str *pieces, size_t count, uint32_t seed);
uint32_t vidi__murmur3(const vidi_str *pieces, size_t count, uint32_t seed);

#endif
