/*
 * What fields that must not contradict each other say if they come several times: Content-Type and Content-Length. See
 * http.h.
 */
#include "crawler/html/html.h"
#include "crawler/http/http.h"
#include "crawler/http/http_text.h"

size_t http_type(vidi_str value, char *to, size_t room)
{
    size_t n = 0;

    value = http_trim(value);
    while (n + 1 < room && n < value.len && (http_is_token(value.ptr[n]) || value.ptr[n] == '/')) {
        to[n] = ascii_lower(value.ptr[n]);
        n++;
    }
    if (room)
        to[n] = 0;
    return n;
}

/* ---- several content types ---- */

static size_t token_length(vidi_str text, size_t at)
{
    size_t n = at;

    while (n < text.len && http_is_token(text.ptr[n]))
        n++;
    return n - at;
}

/* "text/html" of "text/html ;charset=utf-8"; empty if it is not a media type, or is one that says nothing. */
static vidi_str essence_of(vidi_str value)
{
    static const vidi_str none = {NULL, 0};
    size_t type = token_length(value, 0);

    if (type == 0 || type == value.len || value.ptr[type] != '/')
        return none;
    size_t end = type + 1 + token_length(value, type + 1), after = end;
    while (after < value.len && ascii_is_blank(value.ptr[after]))
        after++;
    vidi_str essence = {value.ptr, end};
    bool ends = after == value.len || value.ptr[after] == ';';
    return end > type + 1 && ends && !ASCII_IS(essence, "*/*") ? essence : none;
}

vidi_str http_content_type(vidi_str head, vidi_str *charset)
{
    vidi_str type = {NULL, 0}, essence = {NULL, 0}, item;
    http_field field;

    *charset = (vidi_str){NULL, 0};
    for (size_t at = 0; http_next(head, &at, &field);) {
        if (!ASCII_IS(field.name, "content-type"))
            continue;
        if (!type.ptr)
            type = field.value;
        while (http_next_quoted_item(&field.value, &item)) {
            vidi_str found = essence_of(item);
            if (!found.len)
                continue;
            vidi_str label = html_header_charset(item);
            if (label.ptr || !http_same(found, essence))
                *charset = label;
            type = item;
            essence = found;
        }
    }
    if (!essence.len && type.ptr)
        *charset = html_header_charset(type);
    return type;
}

/* ---- several lengths ---- */

bool http_lengths_agree(vidi_str head)
{
    vidi_str first = {NULL, 0}, item;
    http_field field;
    bool agree = true;

    for (size_t at = 0; http_next(head, &at, &field);) {
        if (ASCII_IS(field.name, "transfer-encoding"))
            return true;
        if (!ASCII_IS(field.name, "content-length"))
            continue;
        while (http_next_item(&field.value, &item)) {
            while (item.len > 1 && item.ptr[0] == '0')
                item = (vidi_str){item.ptr + 1, item.len - 1};
            agree &= !first.ptr || http_same(first, item);
            first = item;
        }
    }
    return agree;
}
