/*
 * Single characters: ASCII as the web's standards group it, whatever the locale, and UTF-8.
 */
#ifndef VIDI_CRAWLER_ENCODING_CHARACTERS_H
#define VIDI_CRAWLER_ENCODING_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

static inline bool ascii_is_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

static inline bool ascii_is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static inline bool ascii_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static inline char ascii_lower(char c)
{
    if (c < 'A' || c > 'Z')
        return c;
    return (char)(c | 0x20);
}

/* Compares a text with a lower-case one, ignoring the case of ASCII letters. */
static inline bool ascii_is(vidi_str text, const char *lower)
{
    size_t i = 0;

    for (; i < text.len; i++)
        if (!lower[i] || ascii_lower(text.ptr[i]) != lower[i])
            return false;
    return lower[i] == 0;
}

/* Writes a character as UTF-8, 4 bytes at most. Returns the length. */
static inline size_t utf8_put(char *to, uint32_t code)
{
    static const uint8_t heads[] = {0, 0xC0, 0xE0, 0xF0};

    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    to[0] = (char)(heads[more] | code >> 6 * more);
    for (size_t i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3F));
    return more + 1;
}

#endif
