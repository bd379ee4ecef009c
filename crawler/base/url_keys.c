/*
 * Keys of URLs: see url_keys.h. A key is half of the keyed hash of a canonical form: the lower half, or, for text that
 * has none, the upper half of the hash of the text itself, so that the two kinds do not meet.
 */
#include "crawler/base/url_keys.h"

#include <stdlib.h>
#include <string.h>

#include "crawler/base/web_url.h"

struct url_keys {
    const vidi_canon *canon; /* NULL: none */
    vidi_canon *owned;
    unsigned char secret[VIDI_KEY_BYTES];
};

int url_keys_borrow(url_keys **made, const unsigned char secret[VIDI_KEY_BYTES], const vidi_canon *canon)
{
    url_keys *keys = calloc(1, sizeof *keys);

    *made = keys;
    if (!keys)
        return VIDI_EMEMORY;
    memcpy(keys->secret, secret, VIDI_KEY_BYTES);
    keys->canon = canon;
    return VIDI_OK;
}

int url_keys_open(url_keys **made, const unsigned char secret[VIDI_KEY_BYTES], const char *canon)
{
    vidi_canon *form = NULL;
    int error = !canon || strcmp(canon, "none") != 0 ? vidi_canon_create(&form, canon, NULL, NULL) : VIDI_OK;

    *made = NULL;
    if (!error)
        error = url_keys_borrow(made, secret, form);
    if (error)
        vidi_canon_close(form);
    else
        (*made)->owned = form;
    return error;
}

void url_keys_close(url_keys *keys)
{
    if (!keys)
        return;
    vidi_canon_close(keys->owned);
    free(keys);
}

static int hash_half(const url_keys *with, vidi_str text, int half, uint64_t *key)
{
    uint64_t hash[2];
    int error = vidi_keyed_hash(with->secret, text, hash);

    if (error)
        return error;
    *key = hash[half] & (UINT64_MAX >> 1);
    if (*key == 0)
        *key = 1;
    return VIDI_OK;
}

static int make_key(const url_keys *with, vidi_str url, uint64_t *key)
{
    char room[1024], *text = room, *allocated = NULL;
    size_t len = sizeof room;

    if (!with->canon)
        return hash_half(with, url, 0, key);
    int error = vidi_url_canon(with->canon, url, NULL, text, &len);
    if (error == VIDI_ELIMIT) {
        text = allocated = malloc(len);
        error = text ? vidi_url_canon(with->canon, url, NULL, text, &len) : VIDI_EMEMORY;
    }
    if (error == VIDI_OK)
        error = hash_half(with, (vidi_str){text, len}, 0, key);
    else if (error == VIDI_INVALID)
        error = hash_half(with, url, 1, key);
    free(allocated);
    return error;
}

int url_keys_make(const url_keys *with, const vidi_str *urls, size_t n, uint64_t *keys)
{
    int error = VIDI_OK;

    for (size_t i = 0; i < n && !error; i++)
        error = make_key(with, urls[i], &keys[i]);
    return error;
}

int url_host_key(const url_keys *keys, vidi_str url, uint64_t *key)
{
    vidi_url parts;

    if (!web_url_view(url, &parts))
        return VIDI_EARGUMENT;
    return make_key(keys, web_url_origin(&parts), key);
}
