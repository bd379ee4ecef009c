/*
 * Short keys for URLs and hosts: 63 bits of a keyed digest. Equal keys stand for equal canonical forms, except for
 * collisions (a chance of one in a billion among a hundred thousand URLs), which cannot be provoked without the secret.
 */
#ifndef VIDI_CRAWLER_BASE_URL_KEYS_H
#define VIDI_CRAWLER_BASE_URL_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "vidi/url.h"
#include "vidi/vidi.h"

typedef struct url_keys url_keys;

/* canon as in vidi_options; "none": the bytes as they are. VIDI_OK or the library's error. */
int url_keys_open(url_keys **made, const unsigned char secret[VIDI_KEY_BYTES], const char *canon);
/* The same with a canonical form that stays the caller's. VIDI_OK or VIDI_EMEMORY. */
int url_keys_borrow(url_keys **made, const unsigned char secret[VIDI_KEY_BYTES], const vidi_canon *canon);
void url_keys_close(url_keys *keys);

/* The keys of n URLs: 1 to 2^63 - 1, as SQLite stores whole numbers with a sign. Any thread may call it. */
int url_keys_make(const url_keys *with, const vidi_str *urls, size_t n, uint64_t *keys);

/*
 * The key of the host that a URL belongs to: of its origin. VIDI_EARGUMENT: it is not a serialised http or https URL.
 */
int url_host_key(const url_keys *keys, vidi_str url, uint64_t *key);

#endif
