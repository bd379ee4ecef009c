/*
 * The table of hash functions, and keys: how one is prepared for hashing, and how new ones are derived from it.
 *
 * SipHash as a pseudo-random function is also what derives keys, salts and secrets. The purpose ends in a zero byte, so
 * that no purpose is the beginning of another, and values for one purpose say nothing about those for another.
 */
#include "hash/hash.h"

#include "hash/functions.h"
#include "hash/sip.h"
#include "vidi/url.h"

/*
 * The order of the thesis's tables 5.2 and 5.3: Jenkins, MurmurHash, SHA-1; then MD5; then functions the thesis lacks.
 * Append new ones, so that mode=different takes the same as before for as long as the others suffice.
 */
static const vidi__hash_fn *const functions[] = {
    &vidi__hash_jenkins, &vidi__hash_murmur2,
#if VIDI_HAVE_CRYPTO
    &vidi__hash_sha1,    &vidi__hash_md5,
#endif
    &vidi__hash_oaat,
#if VIDI_HAVE_XXHASH
    &vidi__hash_xxh3,
#endif
    &vidi__hash_sip13,   &vidi__hash_murmur3,
};

const vidi__hash_fn *vidi__hash_at(size_t index)
{
    return index < VIDI__COUNT(functions) ? functions[index] : NULL;
}

const vidi__hash_fn *vidi__hash_find(vidi_str name)
{
    for (size_t i = 0; i < VIDI__COUNT(functions); i++)
        if (vidi__str_is(name, functions[i]->name))
            return functions[i];
    return NULL;
}

int vidi__hash_unknown(vidi_str name)
{
    char buffer[128];
    vidi__text names = vidi__text_in(buffer, sizeof buffer);
    for (size_t i = 0; i < VIDI__COUNT(functions); i++) {
        const char *between = i + 1 < VIDI__COUNT(functions) ? ", " : " and ";
        vidi__text_add(&names, "%s%s", i ? between : "", functions[i]->name);
    }
    return vidi__fail(VIDI_EOPTION, "this build has no hash function '%.*s'; it has %s",
                      (int)(name.len > 60 ? 60 : name.len), name.ptr, buffer);
}

void vidi__derive_key(unsigned char out[VIDI_KEY_BYTES], const unsigned char key[VIDI_KEY_BYTES], const char *purpose,
                      uint64_t number)
{
    const uint64_t words[2] = {vidi__load64(key), vidi__load64(key + 8)};
    unsigned char bytes[8];
    vidi__store64(bytes, number);
    const vidi_str pieces[] = {{purpose, strlen(purpose) + 1}, {(const char *)bytes, sizeof bytes}};
    vidi__u128 derived = vidi__siphash(words, pieces, VIDI__COUNT(pieces), 1, 3);
    vidi__store64(out, derived.lo);
    vidi__store64(out + 8, derived.hi);
}

void vidi__hash_key_init(vidi__hash_key *key, const unsigned char bytes[VIDI_KEY_BYTES])
{
    key->key[0] = vidi__load64(bytes);
    key->key[1] = vidi__load64(bytes + 8);
    for (size_t i = 0; i < VIDI__XXH3_SECRET / VIDI_KEY_BYTES; i++)
        vidi__derive_key(key->secret + i * VIDI_KEY_BYTES, bytes, "secret", i);
}

int vidi_keyed_hash(const unsigned char key[VIDI_KEY_BYTES], vidi_str bytes, uint64_t hash[2])
{
    if (!key || !hash || (bytes.len && !bytes.ptr))
        return vidi__fail(VIDI_EARGUMENT, "key, bytes or hash is NULL");
    const uint64_t words[2] = {vidi__load64(key), vidi__load64(key + 8)};
    vidi__u128 value = vidi__siphash(words, &bytes, 1, 1, 3);
    hash[0] = value.lo;
    hash[1] = value.hi;
    return VIDI_OK;
}

int vidi_keyed_hash_batch(const unsigned char key[VIDI_KEY_BYTES], const vidi_str *inputs, size_t n,
                          uint64_t (*hashes)[2])
{
    vidi__hash_key words = {.key = {0, 0}};
    vidi__u128 values[64];
    if (!key || (n && (!inputs || !hashes)))
        return vidi__fail(VIDI_EARGUMENT, "key, inputs or hashes is NULL");
    for (size_t i = 0; i < n; i++)
        if (inputs[i].len && !inputs[i].ptr)
            return vidi__fail(VIDI_EARGUMENT, "input %zu is NULL, but its length is not 0", i);
    words.key[0] = vidi__load64(key);
    words.key[1] = vidi__load64(key + 8);
    for (size_t done = 0; done < n;) {
        size_t count = n - done < VIDI__COUNT(values) ? n - done : VIDI__COUNT(values);
        vidi__hash_batch(&vidi__hash_sip13, &words, inputs + done, count, values);
        for (size_t i = 0; i < count; i++, done++) {
            hashes[done][0] = values[i].lo;
            hashes[done][1] = values[i].hi;
        }
    }
    return VIDI_OK;
}
