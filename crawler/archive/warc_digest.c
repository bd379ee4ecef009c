/*
 * Digests of records: see warc_digest.h.
 */
#include "crawler/archive/warc_digest.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "crawler/archive/archive.h"

enum { SHA1_BYTES = 20 };

/* Looking an algorithm up takes as long as hashing a small page, so it is done once and kept. */
static EVP_MD *sha1;
static pthread_once_t sha1_once = PTHREAD_ONCE_INIT;

static void find_sha1(void)
{
    sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
}

/* RFC 4648; 20 bytes are four groups of 5 bytes, each 8 characters, so there is no padding. */
static void base32(const unsigned char bytes[SHA1_BYTES], char *to)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

    for (size_t group = 0; group < SHA1_BYTES; group += 5) {
        uint64_t bits = 0;
        for (size_t i = 0; i < 5; i++)
            bits = bits << 8 | bytes[group + i];
        for (int shift = 35; shift >= 0; shift -= 5)
            *to++ = alphabet[bits >> shift & 31];
    }
    *to = 0;
}

int warc_digest(EVP_MD_CTX *context, const vidi_str *pieces, size_t n, char *to)
{
    unsigned char digest[EVP_MAX_MD_SIZE];

    pthread_once(&sha1_once, find_sha1);
    if (!sha1 || !EVP_DigestInit_ex2(context, sha1, NULL))
        return VIDI_EMEMORY;
    for (size_t i = 0; i < n; i++)
        if (pieces[i].len && !EVP_DigestUpdate(context, pieces[i].ptr, pieces[i].len))
            return VIDI_EMEMORY;
    if (!EVP_DigestFinal_ex(context, digest, NULL))
        return VIDI_EMEMORY;
    strcpy(to, "sha1:");
    base32(digest, to + strlen(to));
    return VIDI_OK;
}

int archive_digest(vidi_str bytes, char *to)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int error = context ? warc_digest(context, &bytes, 1, to) : VIDI_EMEMORY;

    EVP_MD_CTX_free(context);
    return error;
}
