/*
 * Link fields (RFC 8288, section 3, read as its appendix B.2 says): see http.h.
 *
 *     Link: </style.css>; rel=preload; as=style, <page2>; rel="next nofollow"
 */
#include <string.h>

#include "crawler/http/http.h"
#include "crawler/http/http_text.h"

static void skip(vidi_str *text, size_t n)
{
    *text = (vidi_str){text->ptr + n, text->len - n};
}

static void skip_blanks(vidi_str *text)
{
    while (text->len && ascii_is_blank(text->ptr[0]))
        skip(text, 1);
}

/* A parameter's value after '=': a quoted string or a word. */
static vidi_str take_value(vidi_str *text)
{
    size_t n = 0;

    skip_blanks(text);
    if (text->len == 0 || text->ptr[0] != '"') {
        while (n < text->len && text->ptr[n] != ';' && text->ptr[n] != ',')
            n++;
        vidi_str word = {text->ptr, n};
        skip(text, n);
        return http_trim(word);
    }
    skip(text, 1);
    while (n < text->len && text->ptr[n] != '"')
        n += text->ptr[n] == '\\' && n + 1 < text->len ? 2 : 1;
    vidi_str value = {text->ptr, n};
    skip(text, n + (n < text->len));
    return value;
}

/* Takes "; name=value" off. False if no parameter follows. */
static bool take_parameter(vidi_str *text, http_link *link)
{
    vidi_str name, value = {NULL, 0};

    skip_blanks(text);
    if (text->len == 0 || text->ptr[0] != ';')
        return false;
    skip(text, 1);
    skip_blanks(text);
    size_t n = 0;
    while (n < text->len && http_is_token(text->ptr[n]))
        n++;
    name = (vidi_str){text->ptr, n};
    skip(text, n);
    skip_blanks(text);
    if (text->len && text->ptr[0] == '=') {
        skip(text, 1);
        value = take_value(text);
    }
    if (ASCII_IS(name, "rel") && !link->rel.ptr)
        link->rel = value;
    link->has_anchor |= ASCII_IS(name, "anchor");
    return true;
}

bool http_next_link(vidi_str *value, http_link *link)
{
    vidi_str ignored;

    for (;;) {
        while (value->len && (ascii_is_blank(value->ptr[0]) || value->ptr[0] == ','))
            skip(value, 1);
        if (value->len == 0)
            return false;
        const char *end = value->ptr[0] == '<' ? memchr(value->ptr, '>', value->len) : NULL;
        if (value->ptr[0] == '<' && !end)
            return false;
        if (end)
            break;
        http_next_quoted_item(value, &ignored);
    }
    const char *end = memchr(value->ptr, '>', value->len);
    *link = (http_link){.url = http_trim((vidi_str){value->ptr + 1, (size_t)(end - value->ptr) - 1})};
    skip(value, (size_t)(end + 1 - value->ptr));
    while (take_parameter(value, link))
        continue;
    http_next_quoted_item(value, &ignored);
    return true;
}
