/*
 * Links in heads: see harvest_headers.h.
 */
#include "crawler/harvest/harvest_headers.h"

#include "common/ascii.h"
#include "crawler/http/http.h"

static bool is_ascii(char c)
{
    return !(c & 0x80);
}

/* Makes the value of a field absolute. Percent-encodes bytes outside of ASCII as they are, as browsers do: servers send what
 * they have. */
static int resolve_value(harvest_collector *c, vidi_str value, vidi_str *url)
{
    bytes reference = {0};
    int result = bytes_append_percent(&reference, value.ptr, value.len, is_ascii);

    if (result == VIDI_OK)
        result = harvest_resolve(c, bytes_str(&reference), url);
    bytes_free(&reference);
    return result;
}

int harvest_location(harvest_collector *c, vidi_str head)
{
    vidi_str location = http_value(head, "location"), url;

    if (location.len == 0)
        return VIDI_OK;
    int result = resolve_value(c, location, &url);
    if (result == VIDI_OK)
        result = harvest_collect_redirect(c, url);
    else if (result == VIDI_INVALID)
        c->into->skipped[HARVEST_BAD]++;
    return result == VIDI_EMEMORY ? result : VIDI_OK;
}

static int collect(harvest_collector *c, vidi_str value, frontier_kind kind, bool nofollow)
{
    harvest_found found = {.kind = kind, .nofollow = nofollow};
    int result = resolve_value(c, value, &found.url);

    return result == VIDI_EMEMORY ? result : harvest_collect(c, &found);
}

/* What a relation makes of a link. */
enum { IS_RESOURCE = 1, IS_NOFOLLOW = 2, NAMES_A_HOST = 4 };

static unsigned flags_of(vidi_str rel)
{
    static const struct {
        const char *word;
        unsigned flag;
    } words[] = {{"stylesheet", IS_RESOURCE},    {"icon", IS_RESOURCE},        {"preload", IS_RESOURCE},
                 {"modulepreload", IS_RESOURCE}, {"nofollow", IS_NOFOLLOW},    {"ugc", IS_NOFOLLOW},
                 {"sponsored", IS_NOFOLLOW},     {"preconnect", NAMES_A_HOST}, {"dns-prefetch", NAMES_A_HOST}};
    unsigned flags = 0;

    for (size_t from = 0, to; from < rel.len; from = to + 1) {
        for (to = from; to < rel.len && !ascii_is_blank(rel.ptr[to]);)
            to++;
        vidi_str word = {rel.ptr + from, to - from};
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (ASCII_IS(word, words[i].word))
                flags |= words[i].flag;
    }
    return flags;
}

bool harvest_rel_is_resource(vidi_str rel)
{
    return flags_of(rel) & IS_RESOURCE;
}

static int take_links(harvest_collector *c, vidi_str value)
{
    http_link link;
    int result = VIDI_OK;

    while (result == VIDI_OK && http_next_link(&value, &link)) {
        unsigned flags = flags_of(link.rel);
        bool wanted = !(flags & IS_RESOURCE) || c->rules->resources;
        if (link.rel.len && link.url.len && !link.has_anchor && !(flags & NAMES_A_HOST) && wanted)
            result = collect(c, link.url, flags & IS_RESOURCE ? FRONTIER_RESOURCE : FRONTIER_PAGE, flags & IS_NOFOLLOW);
    }
    return result;
}

int harvest_header_links(harvest_collector *c, vidi_str head)
{
    http_field field;
    vidi_str url;
    int result = VIDI_OK;

    for (size_t at = 0; result == VIDI_OK && http_next(head, &at, &field);)
        if (ASCII_IS(field.name, "link"))
            result = take_links(c, field.value);
    if (result == VIDI_OK && html_refresh_url(http_value(head, "refresh"), &url))
        result = collect(c, url, FRONTIER_PAGE, false);
    return result == HARVEST_ENOUGH ? VIDI_OK : result;
}
