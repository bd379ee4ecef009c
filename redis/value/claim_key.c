/*
 * Keys of claims. See claim_key.h.
 */
#include "claim_key.h"

#include <string.h>

#include "vidi/url.h"

/* Memory for `len` bytes, in the key if they fit. */
static char *reserve(claim_key *key, size_t len)
{
    key->allocated = len > sizeof key->room ? server.Alloc(len) : NULL;
    return key->allocated ? key->allocated : key->room;
}

void claim_key_as_given(claim_key *key, vidi_str line)
{
    char *text = reserve(key, line.len + 1);
    text[0] = 0;
    memcpy(text + 1, line.ptr, line.len);
    key->text = (vidi_str){text, line.len + 1};
}

int claim_key_make(claim_key *key, const value *value, vidi_str url)
{
    const vidi_canon *canon = vidi_canon_of(value->set);
    size_t len = sizeof key->room;
    char *text = reserve(key, len);
    int error = vidi_url_canon(canon, url, NULL, text, &len);
    if (error == VIDI_ELIMIT) {
        text = reserve(key, len);
        error = vidi_url_canon(canon, url, NULL, text, &len);
    }
    key->text = (vidi_str){text, len};
    if (error != VIDI_OK)
        claim_key_free(key);
    if (error != VIDI_INVALID || value->settings.invalid != VIDI_KEEP_INVALID)
        return error;
    claim_key_as_given(key, url);
    return VIDI_OK;
}

void claim_key_free(claim_key *key)
{
    server.Free(key->allocated);
    key->allocated = NULL;
}

typedef struct digested {
    vidi_digest digest;
    uint64_t epoch;
    uint8_t verdict;
} digested;

/* False if the key is not a canonical form, or the kind needs more of a URL than its hash. */
static bool digest_key(const value *value, vidi_str key, digested *made)
{
    return key.len > 0 && key.ptr[0] != 0 &&
           vidi_digest_canonical(value->set, &key, 1, &made->digest, &made->verdict, &made->epoch) == VIDI_OK;
}

int claim_has(const value *value, vidi_str key, vidi_str url)
{
    digested made;
    if (!digest_key(value, key, &made))
        return value_has(value, url);
    int error = vidi_has_digests(value->set, made.epoch, &made.digest, 1, &made.verdict);
    return error == VIDI_OK ? made.verdict : error;
}

int claim_add(value *value, vidi_str key, vidi_str url)
{
    digested made;
    uint8_t verdict;
    if (value->most_items || !digest_key(value, key, &made))
        return value_add(value, &url, 1, &verdict);
    atomic_store(&value->memory.refused, false);
    int error = vidi_add_digests(value->set, made.epoch, &made.digest, 1, &made.verdict, NULL);
    value_count_stored(value, &made.verdict, 1);
    return error;
}

/* ---- many keys ---- */

typedef struct digested_batch {
    vidi_digest digests[CLAIM_BATCH];
    uint8_t verdicts[CLAIM_BATCH];
    size_t places[CLAIM_BATCH]; /* of the keys that have a digest, in the caller's arrays */
    size_t n;
    uint64_t epoch;
} digested_batch;

/* False if no key has a digest. */
static bool digest_keys(const value *value, const vidi_str *keys, size_t n, uint8_t *verdicts, digested_batch *made)
{
    vidi_str texts[CLAIM_BATCH];
    made->n = 0;
    for (size_t i = 0; i < n; i++) {
        verdicts[i] = VIDI_UNTRIED;
        if (keys[i].len > 0 && keys[i].ptr[0] != 0) {
            texts[made->n] = keys[i];
            made->places[made->n++] = i;
        }
    }
    return made->n > 0 &&
           vidi_digest_canonical(value->set, texts, made->n, made->digests, made->verdicts, &made->epoch) == VIDI_OK;
}

/* After an error, digests that were not reached stay VIDI_DIGESTED, which is no answer. */
static void hand_over(const digested_batch *made, uint8_t *verdicts)
{
    for (size_t i = 0; i < made->n; i++)
        verdicts[made->places[i]] = made->verdicts[i];
}

void claim_has_batch(const value *value, const vidi_str *keys, size_t n, uint8_t *verdicts)
{
    digested_batch made;
    if (!digest_keys(value, keys, n, verdicts, &made))
        return;
    (void)vidi_has_digests(value->set, made.epoch, made.digests, made.n, made.verdicts);
    hand_over(&made, verdicts);
}

void claim_add_batch(value *value, const vidi_str *keys, size_t n, uint8_t *verdicts)
{
    digested_batch made;
    if (value->most_items) { /* value_add counts them */
        memset(verdicts, VIDI_UNTRIED, n);
        return;
    }
    if (!digest_keys(value, keys, n, verdicts, &made))
        return;
    atomic_store(&value->memory.refused, false);
    (void)vidi_add_digests(value->set, made.epoch, made.digests, made.n, made.verdicts, NULL);
    value_count_stored(value, made.verdicts, made.n);
    hand_over(&made, verdicts);
}
