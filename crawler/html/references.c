/*
 * The meaning of a piece of input: character references (the HTML Standard, section 13.2.5.72), line ends, NUL and the
 * case of names.
 */
#include <string.h>

#include "crawler/html/tokenizer.h"

/* Both end in a zero byte. */
typedef struct entity {
    char name[33];
    char text[7];
} entity;

static const entity entities[] = {
#include "crawler/html/entities.inc"
};

enum { ENTITIES = sizeof entities / sizeof entities[0] };

/* What the numbers 128 to 159 mean: the characters of windows-1252, for pages that were written on Windows. */
static const uint16_t of_windows[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178,
};

enum { REPLACEMENT = 0xFFFD };

static bool has_references(enum html_content content)
{
    return content == HTML_DATA || content == HTML_RCDATA || content == HTML_ATTRIBUTE;
}

/* In text, a NUL is left to the caller; everywhere else it becomes U+FFFD. */
static bool keeps_nul(enum html_content content)
{
    return content == HTML_DATA || content == HTML_CDATA;
}

static int digit_of(char c, uint32_t radix)
{
    if (ascii_is_digit(c))
        return c - '0';
    char lower = ascii_lower(c);
    return radix == 16 && lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static uint32_t character_of(uint32_t number)
{
    if (number == 0 || number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF))
        return REPLACEMENT;
    return number >= 0x80 && number < 0xA0 ? of_windows[number - 0x80] : number;
}

/* Reads "&#…", of which raw begins with '&'. Returns the bytes read, 0 if it is not a reference. */
static size_t read_number(vidi_str raw, char *to, size_t *put)
{
    size_t at = 2;
    uint32_t radix = 10, number = 0;

    if (at < raw.len && ascii_lower(raw.ptr[at]) == 'x') {
        radix = 16;
        at++;
    }
    size_t first = at;
    for (int digit; at < raw.len && (digit = digit_of(raw.ptr[at], radix)) >= 0; at++)
        number = number > 0x10FFFF ? number : number * radix + (uint32_t)digit;
    if (at == first)
        return 0;
    *put = utf8_put(to, character_of(number));
    return at + (at < raw.len && raw.ptr[at] == ';');
}

/* The longest name that the text begins with, or NULL: narrows the sorted list character by character. */
static const entity *longest_entity(const char *text, size_t len, size_t *name_len)
{
    const entity *best = NULL;
    size_t low = 0, high = ENTITIES;

    for (size_t at = 0; at < len && low < high && text[at]; at++) {
        size_t from = low, to = high;
        while (from < to) { /* the first whose character here is not less */
            size_t middle = from + (to - from) / 2;
            if ((unsigned char)entities[middle].name[at] < (unsigned char)text[at])
                from = middle + 1;
            else
                to = middle;
        }
        low = from;
        to = high;
        while (from < to) { /* the first whose character here is greater */
            size_t middle = from + (to - from) / 2;
            if ((unsigned char)entities[middle].name[at] <= (unsigned char)text[at])
                from = middle + 1;
            else
                to = middle;
        }
        high = from;
        if (low < high && entities[low].name[at + 1] == 0) { /* the shortest of several comes first */
            best = &entities[low];
            *name_len = at + 1;
        }
    }
    return best;
}

/* Reads "&name", of which raw begins with '&'. Returns the bytes read, 0 if it is not a reference. */
static size_t read_name(enum html_content content, vidi_str raw, char *to, size_t *put)
{
    size_t n = 0;
    const entity *found = longest_entity(raw.ptr + 1, raw.len - 1, &n);

    if (!found)
        return 0;
    size_t read = n + 1;
    if (content == HTML_ATTRIBUTE && raw.ptr[n] != ';' && read < raw.len) {
        char next = raw.ptr[read]; /* "?a=b&copy=1" is a query, not a copyright sign */
        if (next == '=' || ascii_is_letter(next) || ascii_is_digit(next))
            return 0;
    }
    *put = strlen(found->text);
    memcpy(to, found->text, *put);
    return read;
}

/* Replaces the reference at the start of raw, or copies its '&'. Returns the bytes read. */
static size_t decode_reference(enum html_content content, vidi_str raw, char *to, size_t *put)
{
    size_t read = 0;

    if (raw.len > 1)
        read = raw.ptr[1] == '#' ? read_number(raw, to, put) : read_name(content, raw, to, put);
    if (read)
        return read;
    *to = '&';
    *put = 1;
    return 1;
}

bool html_text_is_plain(enum html_content content, vidi_str raw)
{
    if (raw.len == 0)
        return true;
    if (content == HTML_NAME)
        for (size_t i = 0; i < raw.len; i++)
            if (ascii_lower(raw.ptr[i]) != raw.ptr[i])
                return false;
    return !memchr(raw.ptr, '\r', raw.len) && (keeps_nul(content) || !memchr(raw.ptr, 0, raw.len)) &&
           !(has_references(content) && memchr(raw.ptr, '&', raw.len));
}

size_t html_text_decode(enum html_content content, vidi_str raw, char *to)
{
    size_t len = 0;

    for (size_t at = 0; at < raw.len;) {
        size_t put = 1, read = 1;
        char c = raw.ptr[at];
        if (c == '&' && has_references(content)) {
            read = decode_reference(content, (vidi_str){raw.ptr + at, raw.len - at}, to + len, &put);
        } else if (c == 0 && !keeps_nul(content)) {
            put = utf8_put(to + len, REPLACEMENT);
        } else if (c == '\r') { /* CR and CR LF are one LF */
            to[len] = '\n';
            read = at + 1 < raw.len && raw.ptr[at + 1] == '\n' ? 2 : 1;
        } else {
            to[len] = c;
            if (content == HTML_NAME)
                to[len] = ascii_lower(c);
        }
        at += read;
        len += put;
    }
    return len;
}
