/*
 * Attribute values that contain URLs: srcset (the HTML Standard, section 4.8.4.2.2) and refresh (section 4.2.5.3).
 */
#include <string.h>

#include "crawler/html/page.h"

static size_t skip_spaces(vidi_str text, size_t at)
{
    while (at < text.len && ascii_is_space(text.ptr[at]))
        at++;
    return at;
}

/* Moves past the descriptors of an image, "2x" or "100w", and the comma that ends them. */
static size_t skip_descriptors(vidi_str value, size_t at)
{
    bool in_parentheses = false;

    for (; at < value.len; at++) {
        char c = value.ptr[at];
        if (c == ',' && !in_parentheses)
            return at + 1;
        if (c == '(')
            in_parentheses = true;
        else if (c == ')')
            in_parentheses = false;
    }
    return at;
}

bool html_srcset_next(vidi_str value, size_t *at, vidi_str *url)
{
    size_t from = *at;

    while (from < value.len && (ascii_is_space(value.ptr[from]) || value.ptr[from] == ','))
        from++;
    size_t to = from;
    while (to < value.len && !ascii_is_space(value.ptr[to]))
        to++;
    *at = to;
    if (to == from)
        return false;
    if (value.ptr[to - 1] == ',') /* a URL may contain commas, but not end with them */
        while (value.ptr[to - 1] == ',')
            to--;
    else
        *at = skip_descriptors(value, to);
    *url = (vidi_str){value.ptr + from, to - from};
    return true;
}

/* Moves past "url", spaces and '='; stays if they are not all there. */
static size_t skip_word_url(vidi_str value, size_t at)
{
    size_t from = at;

    if (value.len - at < 3 || !ascii_same(value.ptr + at, 3, "url"))
        return from;
    at = skip_spaces(value, at + 3);
    if (at >= value.len || value.ptr[at] != '=')
        return from;
    return skip_spaces(value, at + 1);
}

bool html_refresh_url(vidi_str value, vidi_str *url)
{
    size_t at = skip_spaces(value, 0), digits = at;

    while (at < value.len && ascii_is_digit(value.ptr[at]))
        at++;
    if (at == digits && (at == value.len || value.ptr[at] != '.'))
        return false;
    while (at < value.len && (ascii_is_digit(value.ptr[at]) || value.ptr[at] == '.'))
        at++;
    if (at == value.len || !(ascii_is_space(value.ptr[at]) || value.ptr[at] == ';' || value.ptr[at] == ','))
        return false;
    at = skip_spaces(value, at);
    if (at < value.len && (value.ptr[at] == ';' || value.ptr[at] == ','))
        at = skip_spaces(value, at + 1);
    if (at == value.len)
        return false;
    at = skip_word_url(value, at);
    *url = (vidi_str){value.ptr + at, value.len - at};
    if (url->len && (url->ptr[0] == '"' || url->ptr[0] == '\'')) {
        const char *end = memchr(url->ptr + 1, url->ptr[0], url->len - 1);
        *url = (vidi_str){url->ptr + 1, end ? (size_t)(end - url->ptr) - 1 : url->len - 1};
    }
    return true;
}

bool html_next_word(vidi_str list, const char *separators, size_t *at, vidi_str *word)
{
    size_t from = *at;

#define SEPARATES(c) (ascii_is_space(c) || ((c) && strchr(separators, c)))
    while (from < list.len && SEPARATES(list.ptr[from]))
        from++;
    size_t to = from;
    while (to < list.len && !SEPARATES(list.ptr[to]))
        to++;
#undef SEPARATES
    *at = to;
    *word = (vidi_str){list.ptr + from, to - from};
    return to > from;
}
