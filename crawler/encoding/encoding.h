/*
 * The encodings of the Encoding Standard (https://encoding.spec.whatwg.org/): their labels, decoding to UTF-8, and
 * encoding the query of a link.
 *
 * The tables of Chinese, Japanese and Korean encodings come from ICU (indexes.h). Nothing else of ICU is used, because
 * its aliases and its handling of errors differ from the standard. A build without ICU reads such pages as
 * windows-1252: markup and ASCII come out right, and the bytes of a link's query stay as they are.
 */
#ifndef VIDI_CRAWLER_ENCODING_ENCODING_H
#define VIDI_CRAWLER_ENCODING_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/ascii.h"
#include "common/utf8.h"
#include "vidi/vidi.h"

typedef struct text_encoding text_encoding;

enum encoding_kind {
    ENCODING_UTF_8,
    ENCODING_UTF_16LE,
    ENCODING_UTF_16BE,
    ENCODING_SINGLE_BYTE,
    ENCODING_USER_DEFINED,
    ENCODING_REPLACEMENT,
    ENCODING_GBK,
    ENCODING_GB18030,
    ENCODING_BIG5,
    ENCODING_EUC_JP,
    ENCODING_ISO_2022_JP,
    ENCODING_SHIFT_JIS,
    ENCODING_EUC_KR
};

struct text_encoding {
    const char *name;
    const char *labels; /* in lower case, with spaces between and around */
    enum encoding_kind kind;
    const uint16_t *high; /* ENCODING_SINGLE_BYTE: the characters of bytes 128 to 255; 0: none */
};

static inline bool encoding_is_utf16(const text_encoding *encoding)
{
    return encoding->kind == ENCODING_UTF_16LE || encoding->kind == ENCODING_UTF_16BE;
}

/* A decoded page. */
typedef struct encoding_text {
    vidi_str bytes; /* UTF-8; the page itself if there was nothing to change, else `owned` */
    char *owned;
    const text_encoding *encoding; /* the one used: windows-1252 instead of those that need ICU in a build without it */
} encoding_text;

/* The encoding with that label, or NULL. Spaces around it and the case of letters do not matter. */
const text_encoding *encoding_find(vidi_str label);

/* The encoding that a byte order mark names, or NULL; *mark is the length of the mark. */
const text_encoding *encoding_by_mark(vidi_str bytes, size_t *mark);

/* Decodes a page that has no byte order mark. VIDI_OK, VIDI_EMEMORY, or VIDI_ELIMIT for 1 GiB and more. */
int encoding_decode(const text_encoding *encoding, vidi_str bytes, encoding_text *decoded);
void encoding_text_free(encoding_text *decoded);

/* True if links on pages in this encoding have their queries in UTF-8. */
bool encoding_has_utf8_queries(const text_encoding *encoding);

/* ---- encoding of queries ---- */

/* An upper bound of what encoding_query_encode writes for a query of `len` bytes. */
size_t encoding_query_room(size_t len);

/*
 * Copies a query (valid UTF-8) to `to`. Characters beyond ASCII become their bytes in this encoding, percent-encoded;
 * those that it lacks become a character reference, "%26%23…%3B". Returns the length.
 */
size_t encoding_query_encode(const text_encoding *encoding, vidi_str query, char *to);

#endif
