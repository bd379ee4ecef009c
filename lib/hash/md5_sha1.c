/*
 * md5 (RFC 1321) and sha1 (RFC 3174) from libcrypto: the cryptographic functions of the thesis. 128 bits; of SHA-1's
 * 160 the first 128.
 *
 * Neither has a key, and collisions can be constructed for both, so they are not safe against attackers. The oldest
 * interface of libcrypto is used because it keeps its state on the stack; the newer one allocates for every hash.
 */
#if VIDI_HAVE_CRYPTO

#define OPENSSL_API_COMPAT 0x10100000L /* selects the interface of 1.1.0, without deprecation warnings */
#include <openssl/md5.h>
#include <openssl/sha.h>

#include "hash/functions.h"

static vidi__u128 first_bytes(const unsigned char *digest)
{
    return (vidi__u128){vidi__load64(digest), vidi__load64(digest + 8)};
}

static vidi__u128 md5(const vidi__hash_key *key, const vidi_str *pieces, size_t count)
{
    (void)key;
    MD5_CTX context;
    unsigned char digest[MD5_DIGEST_LENGTH];
    MD5_Init(&context);
    for (size_t i = 0; i < count; i++)
        MD5_Update(&context, pieces[i].ptr, pieces[i].len);
    MD5_Final(digest, &context);
    return first_bytes(digest);
}

static vidi__u128 sha1(const vidi__hash_key *key, const vidi_str *pieces, size_t count)
{
    (void)key;
    SHA_CTX context;
    unsigned char digest[SHA_DIGEST_LENGTH];
    SHA1_Init(&context);
    for (size_t i = 0; i < count; i++)
        SHA1_Update(&context, pieces[i].ptr, pieces[i].len);
    SHA1_Final(digest, &context);
    return first_bytes(digest);
}

VIDI__HASH_ONE_BY_ONE(md5)
VIDI__HASH_ONE_BY_ONE(sha1)

const vidi__hash_fn vidi__hash_md5 = {
    .name = "md5", .bits = 128, .keyed = false, .hash = md5, .one = md5_one, .batch = md5_batch};
const vidi__hash_fn vidi__hash_sha1 = {
    .name = "sha1", .bits = 128, .keyed = false, .hash = sha1, .one = sha1_one, .batch = sha1_batch};

#else
typedef int vidi__digest_not_built; /* ISO C forbids an empty file */
#endif
