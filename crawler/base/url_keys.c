/*
 * Keys of URLs: see url_keys.h. The library makes the digests, for a set that nothing is ever added to.
 */
#include "crawler/base/url_keys.h"

#include <stdlib.h>

#include "vidi/transfer.h"
#include "crawler/base/url_parts.h"

enum { BATCH = 64 };

struct url_keys {
    vidi_set *set;
};

int url_keys_open(url_keys **made, const unsigned char secret[VIDI_KEY_BYTES], const char *canon)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    url_keys *keys = calloc(1, sizeof *keys);

    *made = NULL;
    if (!keys)
        return VIDI_EMEMORY;
    options.key = secret;
    options.canon = canon;
    int error = vidi_create(&keys->set, &options);
    if (error) {
        free(keys);
        return error;
    }
    *made = keys;
    return VIDI_OK;
}

void url_keys_close(url_keys *keys)
{
    if (!keys)
        return;
    vidi_close(keys->set);
    free(keys);
}

static uint64_t key_of(const vidi_digest *digest)
{
    uint64_t key = digest->lo & (UINT64_MAX >> 1);

    return key ? key : 1;
}

int url_keys_make(const url_keys *with, const vidi_str *urls, size_t n, uint64_t *keys)
{
    vidi_digest digests[BATCH];
    uint8_t verdicts[BATCH];
    uint64_t epoch;

    for (size_t done = 0; done < n;) {
        size_t some = n - done < BATCH ? n - done : BATCH;
        int error = vidi_digest_batch(with->set, urls + done, some, digests, verdicts, &epoch);
        if (error)
            return error;
        for (size_t i = 0; i < some; i++)
            keys[done + i] = key_of(&digests[i]);
        done += some;
    }
    return VIDI_OK;
}

int url_host_key(const url_keys *keys, vidi_str url, uint64_t *key)
{
    url_parts parts;

    if (!url_split(url, &parts))
        return VIDI_EARGUMENT;
    return url_keys_make(keys, &parts.origin, 1, key);
}
