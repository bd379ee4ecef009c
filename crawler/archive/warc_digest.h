/*
 * Digests as WARC records have them: "sha1:" and the SHA-1 in base32. The archive world compares these strings, so a
 * better hash function would find no duplicates there; nothing here relies on SHA-1 being hard to forge.
 */
#ifndef VIDI_CRAWLER_ARCHIVE_WARC_DIGEST_H
#define VIDI_CRAWLER_ARCHIVE_WARC_DIGEST_H

#include <openssl/evp.h>

#include "vidi/vidi.h"

/* The digest of n pieces one after another; `to` has 38 bytes of room. VIDI_OK or VIDI_EMEMORY. */
int warc_digest(EVP_MD_CTX *context, const vidi_str *pieces, size_t n, char *to);

#endif
