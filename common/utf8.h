/*
 * Single characters in UTF-8 (RFC 3629).
 */
#ifndef VIDI_COMMON_UTF8_H
#define VIDI_COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of bytes of the character that a text of n > 0 bytes begins with; 0 if it is not valid. */
size_t utf8_length(const char *text, size_t n);

/* The character that begins at `text` and has `length` bytes, as utf8_length says. */
uint32_t utf8_code(const char *text, size_t length);

/* True if all of the text is valid. */
bool utf8_is_valid(const char *text, size_t n);

/* True if terminals act on the character: it moves the cursor, ends the line or changes the direction of the text. */
bool utf8_is_control(uint32_t code);

/* Writes a character, 4 bytes at most. Returns the length. */
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
