/*
 * Encodings of pages, as the Encoding Standard (https://encoding.spec.whatwg.org/) defines them: labels, how a page's
 * encoding is found (the HTML Standard, section 13.2.3.2), decoding to UTF-8, and encoding the query of a link.
 *
 * UTF-8, UTF-16 and the encodings with one byte a character are read here, from the standard's own tables. So are those
 * of Chinese, Japanese and Korean, whose tables come from ICU (indexes.h); nothing else of ICU is used, because its
 * aliases and its handling of errors differ from the standard. A build without ICU reads such pages as windows-1252:
 * markup and ASCII come out right, and the bytes of a link's query stay as they are.
 */
#ifndef VIDI_CRAWLER_HTML_ENCODING_H
#define VIDI_CRAWLER_HTML_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

typedef struct html_encoding html_encoding;

enum html_encoding_kind {
    HTML_UTF_8,
    HTML_UTF_16LE,
    HTML_UTF_16BE,
    HTML_SINGLE_BYTE,
    HTML_USER_DEFINED,
    HTML_REPLACEMENT,
    HTML_GBK,
    HTML_GB18030,
    HTML_BIG5,
    HTML_EUC_JP,
    HTML_ISO_2022_JP,
    HTML_SHIFT_JIS,
    HTML_EUC_KR
};

struct html_encoding {
    const char *name;
    const char *labels; /* in lower case, with spaces between and around */
    enum html_encoding_kind kind;
    const uint16_t *high; /* HTML_SINGLE_BYTE: the characters of bytes 128 to 255; 0: none */
};

static inline bool html_encoding_is_utf16(const html_encoding *encoding)
{
    return encoding->kind == HTML_UTF_16LE || encoding->kind == HTML_UTF_16BE;
}

/* Where the encoding was found. */
enum html_encoding_source { HTML_FROM_BOM, HTML_FROM_OPTION, HTML_FROM_HEADER, HTML_FROM_META, HTML_FROM_DEFAULT };

/* The page's text. */
typedef struct html_decoded {
    vidi_str bytes; /* UTF-8: in the page itself, or in `owned` */
    char *owned;
    const html_encoding *encoding; /* as which it was read: windows-1252 if ICU was needed and is not there */
} html_decoded;

/* The encoding with that label, or NULL. Spaces around it and the case of letters do not matter. */
const html_encoding *html_encoding_find(vidi_str label);

/* Never NULL. option and charset are labels; ptr NULL: none. *bom is the length of the byte order mark. */
const html_encoding *html_encoding_sniff(vidi_str bytes, vidi_str option, vidi_str charset,
                                         enum html_encoding_source *source, size_t *bom);

/* What <meta> in the first 1,024 bytes, or an XML declaration, says; NULL: nothing. */
const html_encoding *html_encoding_prescan(vidi_str bytes);

/* Decodes a page without its byte order mark. VIDI_OK or VIDI_EMEMORY. */
int html_decode(const html_encoding *encoding, vidi_str bytes, html_decoded *decoded);
void html_decoded_free(html_decoded *decoded);

/* Are queries of its pages' links in UTF-8? */
bool html_encoding_has_utf8_queries(const html_encoding *encoding);

/* ---- encoding of queries ---- */

/* The most bytes that html_query_encode writes for a query of so many bytes of UTF-8. */
size_t html_query_room(size_t len);

/*
 * Percent-encodes the characters of a query (UTF-8) that are not ASCII, in this encoding; ASCII is copied. What the
 * encoding lacks becomes "%26%23…%3B", a character reference. Returns the length.
 */
size_t html_query_encode(const html_encoding *encoding, vidi_str query, char *to);

/* ---- Chinese, Japanese and Korean (cjk_decode.c, cjk_encode.c) ---- */

/* Decodes to `to`, which has room for 3 bytes for each byte. False if the tables are not there. */
bool html_cjk_decode(const html_encoding *encoding, vidi_str bytes, char *to, size_t *len);

/*
 * The bytes of one character that is not ASCII, at most 8: their number, 0 if the encoding has no such character.
 * *state is 0 at first; only ISO-2022-JP has others, and is put back to it by the code point 0.
 */
size_t html_cjk_encode(const html_encoding *encoding, uint32_t code, unsigned *state, uint8_t *bytes);

#endif
