/*
 * Cutting serialised URLs: see url_parts.h.
 */
#include "crawler/base/url_parts.h"

#include <string.h>

static bool starts(vidi_str text, const char *with, size_t n)
{
    return text.len >= n && memcmp(text.ptr, with, n) == 0;
}

static const char *find(const char *from, const char *end, char what)
{
    const char *at = memchr(from, what, (size_t)(end - from));

    return at ? at : end;
}

/* The digits of a port; the parser has already made sure that it is below 65536. */
static int number(const char *from, const char *end)
{
    int value = 0;

    for (; from < end; from++)
        value = value * 10 + (*from - '0');
    return value;
}

static vidi_str between(const char *from, const char *end)
{
    return (vidi_str){from, (size_t)(end - from)};
}

/* Host and port; a colon inside of brackets belongs to an IPv6 address. */
static bool split_authority(const char *from, const char *end, url_parts *parts)
{
    const char *bracket = find(from, end, ']');
    const char *colon = find(bracket < end ? bracket : from, end, ':');

    if (find(from, end, '@') != end || colon == from || end - colon > 6)
        return false;
    parts->host = between(from, colon);
    if (colon < end)
        parts->port = number(colon + 1, end);
    return true;
}

bool url_split(vidi_str url, url_parts *parts)
{
    *parts = (url_parts){0};
    if (starts(url, "http://", 7))
        *parts = (url_parts){.scheme = {url.ptr, 4}, .port = 80};
    else if (starts(url, "https://", 8))
        *parts = (url_parts){.scheme = {url.ptr, 5}, .port = 443};
    else
        return false;
    const char *authority = parts->scheme.ptr + parts->scheme.len + 3, *end = find(url.ptr, url.ptr + url.len, '#');
    const char *path = find(authority, end, '/');
    if (path == end || !split_authority(authority, path, parts))
        return false;
    const char *query = find(path, end, '?');
    parts->origin = between(url.ptr, path);
    parts->path = between(path, query);
    if (query < end)
        parts->query = between(query + 1, end);
    parts->target = between(path, end);
    return true;
}
