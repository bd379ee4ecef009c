/*
 * Lists and words in the values of header fields: see http_text.h.
 */
#include "crawler/http/http_text.h"

#include <string.h>

/* Takes the first n bytes off, and the comma after them. */
static bool take_item(vidi_str *list, size_t n, vidi_str *item)
{
    if (list->len == 0)
        return false;
    *item = http_trim((vidi_str){list->ptr, n});
    n += n < list->len;
    *list = (vidi_str){list->ptr + n, list->len - n};
    return true;
}

bool http_next_item(vidi_str *list, vidi_str *item)
{
    const char *comma = list->len ? memchr(list->ptr, ',', list->len) : NULL;

    return take_item(list, comma ? (size_t)(comma - list->ptr) : list->len, item);
}

bool http_next_quoted_item(vidi_str *list, vidi_str *item)
{
    bool in_quotes = false;
    size_t n = 0;

    for (; n < list->len && (in_quotes || list->ptr[n] != ','); n++) {
        if (list->ptr[n] == '"')
            in_quotes = !in_quotes;
        else if (in_quotes && list->ptr[n] == '\\' && n + 1 < list->len)
            n++;
    }
    return take_item(list, n, item);
}

static bool separates(char c, const char *separators)
{
    return ascii_is_blank(c) || (c && strchr(separators, c));
}

bool http_next_word(vidi_str *text, const char *separators, vidi_str *word)
{
    size_t from = 0, to;

    *word = (vidi_str){NULL, 0};
    if (text->len == 0)
        return false;
    while (from < text->len && separates(text->ptr[from], separators))
        from++;
    for (to = from; to < text->len && !separates(text->ptr[to], separators);)
        to++;
    *word = (vidi_str){text->ptr + from, to - from};
    *text = (vidi_str){text->ptr + to, text->len - to};
    return word->len > 0;
}
