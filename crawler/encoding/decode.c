/*
 * Decodes pages to UTF-8: Unicode's own encodings, and those with one byte a character (the Encoding Standard, sections
 * 8, 9, 14 and 4.1). Whatever is malformed becomes U+FFFD.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/encoding/cjk.h"

enum { REPLACEMENT = 0xFFFD, INPUT_MAX = 1 << 30 };

/* ---- UTF-8 ---- */

/*
 * The length of the character at the start of the text, or 0 if it is malformed. Then *bad is the number of bytes that
 * one U+FFFD replaces: the longest start of a well-formed character, but at least one.
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

/* The place of the first malformed character from `at` on, or the end. */
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
            len += utf8_put(to + len, REPLACEMENT);
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
        len += utf8_put(to + len, code);
    }
    return len + (at < bytes.len ? utf8_put(to + len, REPLACEMENT) : 0);
}

static size_t decode_single_bytes(const text_encoding *encoding, vidi_str bytes, char *to)
{
    size_t len = 0;

    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char byte = (unsigned char)bytes.ptr[i];
        uint32_t code = byte < 0x80 ? byte : encoding->high ? encoding->high[byte - 0x80] : 0xF700u + byte;
        len += utf8_put(to + len, code || byte == 0 ? code : REPLACEMENT);
    }
    return len;
}

/* Some encodings could hide markup from filters. The standard replaces all of such a page by one character. */
static size_t replace_all(vidi_str bytes, char *to)
{
    return bytes.len ? utf8_put(to, REPLACEMENT) : 0;
}

static size_t decode(const text_encoding *encoding, vidi_str bytes, encoding_text *decoded)
{
    char *to = decoded->owned;
    size_t len;

    switch (encoding->kind) {
    case ENCODING_UTF_8:
        return repair_utf8(bytes, to);
    case ENCODING_UTF_16LE:
    case ENCODING_UTF_16BE:
        return decode_utf16(encoding->kind == ENCODING_UTF_16BE, bytes, to);
    case ENCODING_REPLACEMENT:
        return replace_all(bytes, to);
    case ENCODING_SINGLE_BYTE:
    case ENCODING_USER_DEFINED:
        return decode_single_bytes(encoding, bytes, to);
    default:
        if (encoding_cjk_decode(encoding, bytes, to, &len))
            return len;
        decoded->encoding = encoding_find((vidi_str){"windows-1252", 12});
        return decode_single_bytes(decoded->encoding, bytes, to);
    }
}

/* True if the page can be used without a copy: valid UTF-8, or ASCII in an encoding that extends it. */
static bool is_utf8_already(const text_encoding *encoding, vidi_str bytes)
{
    size_t bad;

    if (encoding->kind == ENCODING_UTF_8)
        return well_formed(bytes, 0, &bad) == bytes.len;
    if (encoding->kind != ENCODING_SINGLE_BYTE && encoding->kind != ENCODING_USER_DEFINED)
        return false;
    for (size_t i = 0; i < bytes.len; i++)
        if ((unsigned char)bytes.ptr[i] >= 0x80)
            return false;
    return true;
}

int encoding_decode(const text_encoding *encoding, vidi_str bytes, encoding_text *decoded)
{
    *decoded = (encoding_text){.bytes = bytes, .encoding = encoding};
    if (is_utf8_already(encoding, bytes))
        return VIDI_OK;
    if (bytes.len >= INPUT_MAX)
        return VIDI_ELIMIT;
    decoded->owned = malloc(3 * bytes.len + 16);
    if (!decoded->owned)
        return VIDI_EMEMORY;
    decoded->bytes = (vidi_str){decoded->owned, decode(encoding, bytes, decoded)};
    return VIDI_OK;
}

void encoding_text_free(encoding_text *decoded)
{
    free(decoded->owned);
    *decoded = (encoding_text){.owned = NULL};
}
