/*
 * Characters of header fields, whatever the locale.
 */
#ifndef VIDI_CRAWLER_HTTP_HTTP_TEXT_H
#define VIDI_CRAWLER_HTTP_HTTP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/ascii.h"
#include "vidi/vidi.h"

/* RFC 9110, section 5.6.2. */
static inline bool http_is_token(char c)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    bool is = ascii_is_letter(c) || ascii_is_digit(c);

    for (size_t i = 0; i + 1 < sizeof others; i++)
        is |= c == others[i];
    return is;
}

/* The text without blanks at its ends. */
static inline vidi_str http_trim(vidi_str text)
{
    while (text.len && ascii_is_blank(text.ptr[0]))
        text = (vidi_str){text.ptr + 1, text.len - 1};
    while (text.len && ascii_is_blank(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* True if both are the same but for the case of letters. */
static inline bool http_same(vidi_str a, vidi_str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (ascii_lower(a.ptr[i]) != ascii_lower(b.ptr[i]))
            return false;
    return true;
}

/* Takes the part up to the next comma off a list, without blanks around. False if nothing is left. */
bool http_next_item(vidi_str *list, vidi_str *item);

/* The same, but commas between quotation marks do not separate. */
bool http_next_quoted_item(vidi_str *list, vidi_str *item);

/* Takes the next word off, which ends before a blank or one of the separators. False if there is none. */
bool http_next_word(vidi_str *text, const char *separators, vidi_str *word);

#endif
