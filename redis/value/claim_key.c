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

double claim_odds(const value *value)
{
    vidi_stats stats = {.size = sizeof stats};
    if (vidi_stat(value->set, &stats) != VIDI_OK || !(stats.fp_now > 0))
        return 0;
    return stats.fp_now < 1 ? stats.fp_now / (1 - stats.fp_now) : 1e9;
}
