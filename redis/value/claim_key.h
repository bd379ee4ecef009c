/*
 * What claims need of a set: the form that URLs are compared by, and lookups and adds of URLs in that form.
 */
#ifndef REDIS_CLAIM_KEY_H
#define REDIS_CLAIM_KEY_H

#include "value.h"

/*
 * The canonical form of a URL. If the set keeps lines that are not URLs, the key of such a line is a zero byte and the
 * line as it is; no canonical form begins with a zero byte, so the two cannot be mistaken for each other.
 */
typedef struct claim_key {
    vidi_str text;
    char *allocated; /* NULL: `room` was enough */
    char room[2048];
} claim_key;

/*
 * VIDI_OK: call claim_key_free later; VIDI_INVALID if the set does not keep such lines (vidi_message() says why); or an
 * error.
 */
int claim_key_make(claim_key *key, const value *value, vidi_str url);
/* The key of a line that is not a URL, or that the caller treats as one that is not. Call claim_key_free later. */
void claim_key_as_given(claim_key *key, vidi_str line);
void claim_key_free(claim_key *key);

/*
 * value_has and value_add for a URL whose key is known: it need not be made canonical again, if the kind of the set
 * needs only hashes.
 */
int claim_has(const value *value, vidi_str key, vidi_str url);
int claim_add(value *value, vidi_str key, vidi_str url);

/*
 * The same for up to CLAIM_BATCH keys, which costs fewer cache misses: verdicts that are VIDI_NEW or VIDI_SEEN are
 * answers. Keys with any other verdict were not looked up or added, and want a call of their own: all of them if the
 * kind needs more than hashes. No key may come twice if it is added.
 */
enum { CLAIM_BATCH = 32 };
void claim_has_batch(const value *value, const vidi_str *keys, size_t n, uint8_t *verdicts);
void claim_add_batch(value *value, const vidi_str *keys, size_t n, uint8_t *verdicts);

#endif
