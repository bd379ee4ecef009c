/*
 * Entries of streams: see entry.h.
 */
#include "fleet/links/entry.h"

#include <string.h>

#include "vidi/url.h"

enum { VERSION = 1, LENGTH = 2, LONGEST = 65535 };

/* ---- writing ---- */

int entry_begin(bytes *entry, vidi_str holder)
{
    const char head[2] = {VERSION, (char)holder.len};

    if (holder.len >= ENTRY_HOLDER)
        return VIDI_EARGUMENT;
    if (bytes_reserve(entry, sizeof head + holder.len))
        return VIDI_EMEMORY;
    bytes_append(entry, head, sizeof head);
    return bytes_append(entry, holder.ptr, holder.len);
}

static void append_text(bytes *entry, vidi_str text)
{
    const char length[LENGTH] = {(char)(text.len & 0xff), (char)(text.len >> 8)};

    bytes_append(entry, length, LENGTH);
    bytes_append(entry, text.ptr, text.len);
}

int entry_add(bytes *entry, vidi_str url, vidi_str payload)
{
    if (url.len == 0 || url.len > LONGEST || payload.len > LONGEST)
        return VIDI_EARGUMENT;
    if (bytes_reserve(entry, 2 * LENGTH + url.len + payload.len))
        return VIDI_EMEMORY;
    append_text(entry, url);
    append_text(entry, payload);
    return VIDI_OK;
}

/* ---- reading ---- */

static bool cut(vidi_str *rest, size_t n, vidi_str *part)
{
    if (rest->len < n)
        return false;
    *part = (vidi_str){rest->ptr, n};
    rest->ptr += n;
    rest->len -= n;
    return true;
}

static bool cut_text(vidi_str *rest, vidi_str *text)
{
    vidi_str length;

    return cut(rest, LENGTH, &length) &&
           cut(rest, (size_t)(unsigned char)length.ptr[0] | (size_t)(unsigned char)length.ptr[1] << 8, text);
}

bool entry_is_web_url(vidi_str url)
{
    char room[LONGEST];
    size_t len = sizeof room;
    vidi_url parts = {.size = sizeof parts};

    if (vidi_url_parse(url, NULL, room, &len, &parts) != VIDI_OK || len != url.len || memcmp(room, url.ptr, len) != 0)
        return false;
    bool is_http = parts.scheme.len == 4 && memcmp(parts.scheme.ptr, "http", 4) == 0;
    bool is_https = parts.scheme.len == 5 && memcmp(parts.scheme.ptr, "https", 5) == 0;
    return (is_http || is_https) && !parts.fragment.ptr;
}

bool entry_open(entry_reader *reader, vidi_str entry)
{
    vidi_str head;

    *reader = (entry_reader){.rest = entry};
    return entry.len <= ENTRY_LIMIT && cut(&reader->rest, 2, &head) && head.ptr[0] == VERSION &&
           (unsigned char)head.ptr[1] < ENTRY_HOLDER &&
           cut(&reader->rest, (unsigned char)head.ptr[1], &reader->holder) &&
           !memchr(reader->holder.ptr, 0, reader->holder.len);
}

int entry_next(entry_reader *reader, vidi_str *url, vidi_str *payload)
{
    if (reader->rest.len == 0)
        return VIDI_EABSENT;
    if (!cut_text(&reader->rest, url) || !cut_text(&reader->rest, payload) || !entry_is_web_url(*url))
        return VIDI_EDAMAGED;
    return VIDI_OK;
}
