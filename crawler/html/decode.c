/*
 * Decodes pages to UTF-8: Unicode's own encodings, and those with one byte a character (the Encoding Standard, sections
 * 8, 9, 14 and 4.1). Whatever is malformed becomes U+FFFD.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/html/encoding.h"
#include "crawler/html/tokenizer.h"

enum { REPLACEMENT = 0xFFFD };

/* ---- UTF-8 ---- */

/*
 * The length of the well-formed character at the start of the text, or 0. Then *bad is the length of what U+FFFD stands
 * for: the longest start of a well-formed character, but at least one byte.
 */
static size_t character_length(const unsigned char *at, size_t len, size_t *bad)
{
    unsigned char first = at[0], low = 0x80, high = 0xBF;
    size_t more = first >= 0xC2 && first <= 0xDF ? 1 : first >= 0xE0 && first <= 0xEF ? 2 : 3;

    *bad = 1;
    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4)
        return 0;
    low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : low;
    high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : high;
    for (size_t i = 1; i <= more; i++) {
        if (i >= len || at[i] < low || at[i] > high)
            return 0;
        *bad = i + 1;
        low = 0x80;
        high = 0xBF;
    }
    return more + 1;
}

/* How many bytes from the start are well-formed UTF-8. */
static size_t well_formed(vidi_str bytes, size_t at, size_t *bad)
{
    const unsigned char *text = (const unsigned char *)bytes.ptr;

    for (uint64_t word; at < bytes.len;) {
        if (bytes.len - at >= sizeof word && (memcpy(&word, text + at, sizeof word), !(word & 0x8080808080808080))) {
            at += sizeof word; /* all ASCII */
            continue;
        }
        size_t n = character_length(text + at, bytes.len - at, bad);
        if (n == 0)
            return at;
        at += n;
    }
    return at;
}

static size_t repair_utf8(vidi_str bytes, char *to)
{
    size_t len = 0, bad = 0;

    for (size_t at = 0; at < bytes.len;) {
        size_t end = well_formed(bytes, at, &bad);
        memcpy(to + len, bytes.ptr + at, end - at);
        len += end - at;
        at = end;
        if (at < bytes.len) {
            len += html_put_character(to + len, REPLACEMENT);
            at += bad;
        }
    }
    return len;
}

/* ---- the others ---- */

static uint32_t unit_at(const unsigned char *at, bool big_endian)
{
    return big_endian ? (uint32_t)(at[0] << 8 | at[1]) : (uint32_t)(at[1] << 8 | at[0]);
}

static size_t decode_utf16(bool big_endian, vidi_str bytes, char *to)
{
    const unsigned char *text = (const unsigned char *)bytes.ptr;
    size_t len = 0, at = 0;

    while (bytes.len - at >= 2) {
        uint32_t unit = unit_at(text + at, big_endian), code = unit;
        at += 2;
        if (unit >= 0xD800 && unit <= 0xDFFF) {
            uint32_t second = unit <= 0xDBFF && bytes.len - at >= 2 ? unit_at(text + at, big_endian) : 0;
            bool paired = second >= 0xDC00 && second <= 0xDFFF;
            code = paired ? 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00) : REPLACEMENT;
            at += paired ? 2 : 0;
        }
        len += html_put_character(to + len, code);
    }
    return len + (at < bytes.len ? html_put_character(to + len, REPLACEMENT) : 0);
}

static size_t decode_single_bytes(const html_encoding *encoding, vidi_str bytes, char *to)
{
    size_t len = 0;

    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char byte = (unsigned char)bytes.ptr[i];
        uint32_t code = byte < 0x80 ? byte : encoding->high ? encoding->high[byte - 0x80] : 0xF700u + byte;
        len += html_put_character(to + len, code || byte == 0 ? code : REPLACEMENT);
    }
    return len;
}

/* Encodings in which a page could hide markup from us are not read at all: the standard's `replacement`. */
static size_t replace_all(vidi_str bytes, char *to)
{
    return bytes.len ? html_put_character(to, REPLACEMENT) : 0;
}

static size_t decode(const html_encoding *encoding, vidi_str bytes, html_decoded *decoded)
{
    char *to = decoded->owned;
    size_t len;

    switch (encoding->kind) {
    case HTML_UTF_8:
        return repair_utf8(bytes, to);
    case HTML_UTF_16LE:
    case HTML_UTF_16BE:
        return decode_utf16(encoding->kind == HTML_UTF_16BE, bytes, to);
    case HTML_REPLACEMENT:
        return replace_all(bytes, to);
    case HTML_SINGLE_BYTE:
    case HTML_USER_DEFINED:
        return decode_single_bytes(encoding, bytes, to);
    default:
        if (html_cjk_decode(encoding, bytes, to, &len))
            return len;
        decoded->encoding = html_encoding_find((vidi_str){"windows-1252", 12});
        return decode_single_bytes(decoded->encoding, bytes, to);
    }
}

/* Is it ASCII in an encoding that contains ASCII, or UTF-8 already? Then the page itself serves. */
static bool is_utf8_already(const html_encoding *encoding, vidi_str bytes)
{
    size_t bad;

    if (encoding->kind == HTML_UTF_8)
        return well_formed(bytes, 0, &bad) == bytes.len;
    if (encoding->kind != HTML_SINGLE_BYTE && encoding->kind != HTML_USER_DEFINED)
        return false;
    for (size_t i = 0; i < bytes.len; i++)
        if ((unsigned char)bytes.ptr[i] >= 0x80)
            return false;
    return true;
}

int html_decode(const html_encoding *encoding, vidi_str bytes, html_decoded *decoded)
{
    *decoded = (html_decoded){.bytes = bytes, .encoding = encoding};
    if (is_utf8_already(encoding, bytes))
        return VIDI_OK;
    if (bytes.len > HTML_INPUT_MAX)
        return VIDI_ELIMIT;
    decoded->owned = malloc(3 * bytes.len + 16);
    if (!decoded->owned)
        return VIDI_EMEMORY;
    decoded->bytes = (vidi_str){decoded->owned, decode(encoding, bytes, decoded)};
    return VIDI_OK;
}

void html_decoded_free(html_decoded *decoded)
{
    free(decoded->owned);
    *decoded = (html_decoded){.owned = NULL};
}
