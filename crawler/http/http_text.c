/*
 * Lists and words in the values of header fields: see http_text.h.
 */
#include "crawler/http/http_text.h"

#include <string.h>

bool http_next_item(vidi_str *list, vidi_str *item)
{
    if (list->len == 0)
        return false;
    const char *comma = memchr(list->ptr, ',', list->len);
    size_t n = comma ? (size_t)(comma - list->ptr) : list->len;
    *item = http_trim((vidi_str){list->ptr, n});
    n += comma != NULL;
    *list = (vidi_str){list->ptr + n, list->len - n};
    return true;
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
