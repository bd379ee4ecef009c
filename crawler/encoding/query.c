/*
 * Queries in the page's encoding (the URL Standard, `percent-encode after encoding`).
 */
#include <stdio.h>
#include <string.h>

#include "crawler/encoding/cjk.h"

bool encoding_has_utf8_queries(const text_encoding *encoding)
{
    return encoding->kind == ENCODING_UTF_8 || encoding_is_utf16(encoding) || encoding->kind == ENCODING_REPLACEMENT;
}

/* One character of valid UTF-8 that is not ASCII. Returns its length. */
static size_t read_character(const char *at, uint32_t *code)
{
    unsigned char first = (unsigned char)at[0];
    size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;

    *code = first & (0x3Fu >> more);
    for (size_t i = 1; i <= more; i++)
        *code = *code << 6 | ((unsigned char)at[i] & 0x3F);
    return more + 1;
}

static size_t encode_single_byte(const uint16_t *high, uint32_t code, uint8_t *bytes)
{
    for (unsigned i = 0; i < 128; i++)
        if (high[i] == code) {
            bytes[0] = (uint8_t)(0x80 + i);
            return 1;
        }
    return 0;
}

static size_t encode(const text_encoding *encoding, uint32_t code, unsigned *state, uint8_t *bytes)
{
    switch (encoding->kind) {
    case ENCODING_SINGLE_BYTE:
        return encode_single_byte(encoding->high, code, bytes);
    case ENCODING_USER_DEFINED:
        bytes[0] = (uint8_t)(code - 0xF700);
        return code >= 0xF780 && code <= 0xF7FF;
    default:
        return encoding_cjk_encode(encoding, code, state, bytes);
    }
}

/* Bytes below 0x80 stay, except those that a query cannot contain. */
static size_t put_bytes(char *to, const uint8_t *bytes, size_t count)
{
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        if (bytes[i] > 0x20 && bytes[i] < 0x7F && !strchr("\"#<>'", bytes[i]))
            to[len++] = (char)bytes[i];
        else
            len += ascii_put_percent(to + len, (char)bytes[i]);
    }
    return len;
}

size_t encoding_query_room(size_t len)
{
    /* At worst a character of two bytes becomes two bytes between two changes of state: 16 bytes. */
    return 16 * len + 64;
}

size_t encoding_query_encode(const text_encoding *encoding, vidi_str query, char *to)
{
    size_t len = 0;
    unsigned state = 0;
    uint8_t bytes[16];

    for (size_t at = 0; at <= query.len;) {
        uint32_t code = 0;
        bool ascii = at == query.len || (unsigned char)query.ptr[at] < 0x80;
        size_t read = ascii ? 1 : read_character(query.ptr + at, &code), count = 0;
        if (!ascii)
            count = encode(encoding, code, &state, bytes);
        if (!count && state) /* ASCII, the end, or what the encoding lacks: back to the first state */
            len += put_bytes(to + len, bytes, encoding_cjk_encode(encoding, 0, &state, bytes));
        len += put_bytes(to + len, bytes, count);
        if (ascii && at < query.len)
            to[len++] = query.ptr[at];
        else if (!ascii && !count)
            len += (size_t)sprintf(to + len, "%%26%%23%u%%3B", (unsigned)code);
        at += read;
    }
    return len;
}
