/* The table of character sets, UTF-8, and percent-encoding. */
#include "url/parse/percent.h"

/* Generated from the standard's definitions; tests/url/test_percent.c spells them out and compares. */
const uint16_t vidi__url_sets[256] = {
    0x1ff, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf,
    0x1bf, 0x1ff, 0x1ff, 0x1bf, 0x1bf, 0x1ff, 0x1bf, 0x1bf, /* 00 */
    0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf,
    0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, /* 10 */
    0x1fe, 0x000, 0x03e, 0x1fc, 0x000, 0x180, 0x000, 0x008,
    0x000, 0x000, 0x000, 0x200, 0x000, 0x200, 0x200, 0x1e0, /* 20 */
    0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200,
    0x200, 0x200, 0x1e0, 0x020, 0x1fe, 0x020, 0x1fe, 0x1f0, /* 30 */
    0x1e0, 0x300, 0x300, 0x300, 0x300, 0x300, 0x300, 0x300,
    0x300, 0x300, 0x300, 0x300, 0x300, 0x300, 0x300, 0x300, /* 40 */
    0x300, 0x300, 0x300, 0x300, 0x300, 0x300, 0x300, 0x300,
    0x300, 0x300, 0x300, 0x1e0, 0x1e0, 0x1e0, 0x1f0, 0x000, /* 50 */
    0x032, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200,
    0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200, /* 60 */
    0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200,
    0x200, 0x200, 0x200, 0x030, 0x1e0, 0x030, 0x000, 0x1bf, /* 70 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* 80 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* 90 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* a0 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* b0 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* c0 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* d0 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* e0 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* f0 */
};

/* The length of a sequence by its first byte, and the range of its second byte; 0 if no sequence begins so. */
static size_t utf8_length(unsigned char first, unsigned char *low, unsigned char *high)
{
    *low = 0x80;
    *high = 0xbf;
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    if (first < 0xe0)
        return 2;
    if (first == 0xe0)
        *low = 0xa0; /* below are overlong forms */
    if (first == 0xed)
        *high = 0x9f; /* above are surrogates */
    if (first < 0xf0)
        return 3;
    if (first == 0xf0)
        *low = 0x90; /* below are overlong forms */
    if (first == 0xf4)
        *high = 0x8f; /* U+10FFFF is the last code point */
    return 4;
}

size_t vidi__utf8_next(const char *text, size_t len, bool *valid)
{
    unsigned char low, high;
    size_t want = utf8_length((unsigned char)text[0], &low, &high), have = 1;
    while (have < want && have < len) {
        unsigned char c = (unsigned char)text[have];
        if (c < low || c > high)
            break;
        low = 0x80;
        high = 0xbf;
        have++;
    }
    *valid = have == want;
    return have;
}

bool vidi__is_ascii(vidi_str text)
{
    unsigned char seen = 0;
    for (size_t i = 0; i < text.len; i++)
        seen |= (unsigned char)text.ptr[i];
    return seen < 0x80;
}

bool vidi__is_utf8(vidi_str text)
{
    bool valid = true;
    if (vidi__is_ascii(text))
        return true;
    for (size_t i = 0; i < text.len && valid;)
        i += vidi__utf8_next(text.ptr + i, text.len - i, &valid);
    return valid;
}

static void encode_bytes(vidi__buffer *out, const char *bytes, size_t len)
{
    static const char digits[] = "0123456789ABCDEF";
    if (!vidi__buffer_reserve(out, 3 * len))
        return;
    char *to = out->at + out->len;
    for (size_t i = 0; i < len; i++, to += 3) {
        unsigned char c = (unsigned char)bytes[i];
        to[0] = '%';
        to[1] = digits[c >> 4];
        to[2] = digits[c & 15];
    }
    out->len += 3 * len;
}

size_t vidi__percent_encode_one(vidi__buffer *out, const char *text, size_t len, bool raw)
{
    bool valid = true;
    size_t bytes = raw ? 1 : vidi__utf8_next(text, len, &valid);
    if (valid)
        encode_bytes(out, text, bytes);
    else
        encode_bytes(out, "\xef\xbf\xbd", 3);
    return bytes;
}

void vidi__percent_encode(vidi__buffer *out, const char *text, size_t len, unsigned set, bool raw)
{
    for (size_t i = 0; i < len;) {
        size_t run = vidi__url_run(text + i, len - i, set);
        vidi__buffer_add(out, text + i, run);
        i += run;
        while (i < len && vidi__in_set(text[i], set))
            i += vidi__percent_encode_one(out, text + i, len - i, raw);
    }
}

void vidi__percent_decode(vidi__buffer *out, const char *text, size_t len)
{
    if (!vidi__buffer_reserve(out, len))
        return;
    char *to = out->at + out->len;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '%' && len - i > 2 && vidi__hex_value(text[i + 1]) < 16 && vidi__hex_value(text[i + 2]) < 16) {
            *to++ = (char)(vidi__hex_value(text[i + 1]) << 4 | vidi__hex_value(text[i + 2]));
            i += 2;
        } else {
            *to++ = text[i];
        }
    }
    out->len = (size_t)(to - out->at);
}
