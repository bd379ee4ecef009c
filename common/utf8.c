/*
 * Single characters in UTF-8: see utf8.h.
 */
#include "common/utf8.h"

size_t utf8_length(const char *text, size_t n)
{
    const unsigned char *byte = (const unsigned char *)text;
    unsigned char first = byte[0];
    size_t need = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;

    if (need == 0 || need > n)
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((byte[i] & 0xC0) != 0x80)
            return 0;
    if ((first == 0xE0 && byte[1] < 0xA0) || (first == 0xED && byte[1] > 0x9F) || /* overlong, surrogate */
        (first == 0xF0 && byte[1] < 0x90) || (first == 0xF4 && byte[1] > 0x8F))   /* overlong, beyond U+10FFFF */
        return 0;
    return need;
}

uint32_t utf8_code(const char *text, size_t length)
{
    static const uint8_t masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = (unsigned char)text[0] & masks[length];

    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3F);
    return code;
}

bool utf8_is_valid(const char *text, size_t n)
{
    for (size_t length; n > 0; text += length, n -= length) {
        length = utf8_length(text, n);
        if (length == 0)
            return false;
    }
    return true;
}

bool utf8_is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}
