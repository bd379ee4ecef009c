/*
 * Characters of ASCII, whatever the locale. Three sets are called white space by one standard or another; each function
 * says which it is.
 */
#ifndef VIDI_COMMON_ASCII_H
#define VIDI_COMMON_ASCII_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool ascii_is_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

static inline bool ascii_is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Space, tab and line ends: XML and header fields. */
static inline bool ascii_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The same and the form feed: the HTML and URL standards. */
static inline bool ascii_is_space(char c)
{
    return ascii_is_blank(c) || c == '\f';
}

/* The same and the vertical tab: isspace of the C locale. */
static inline bool ascii_is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline char ascii_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

/* The value of a hexadecimal digit; -1 if it is not one. */
static inline int ascii_hex(char c)
{
    if (ascii_is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Writes a byte as "%2F". Returns the length, which is 3. */
static inline size_t ascii_put_percent(char *to, char byte)
{
    static const char digits[] = "0123456789ABCDEF";

    to[0] = '%';
    to[1] = digits[(unsigned char)byte >> 4];
    to[2] = digits[byte & 15];
    return 3;
}

/* True if n bytes of text are `lower`, a text in lower case, but for the case of their letters. */
static inline bool ascii_same(const char *text, size_t n, const char *lower)
{
    if (strlen(lower) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (ascii_lower(text[i]) != lower[i])
            return false;
    return true;
}

/* The same for a vidi_str, or anything else that has `ptr` and `len`. */
#define ASCII_IS(text, lower) ascii_same((text).ptr, (text).len, lower)

#endif
