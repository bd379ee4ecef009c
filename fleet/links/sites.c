/*
 * The site that a URL belongs to, which has one owner: the registrable domain; of a host without one, such as an address,
 * the host.
 */
#include <string.h>

#include "fleet/links/fleet_inside.h"
#include "vidi/url.h"

/* Of a host whose pages are spread over members: the host and the first segment of the path. */
static bool split_part(const fleet *fleet, const vidi_url *parts, vidi_str *part)
{
    bool found = false;

    for (size_t i = 0; i < fleet->options.split_count && !found; i++)
        found = strlen(fleet->options.split[i]) == parts->host.len &&
                memcmp(fleet->options.split[i], parts->host.ptr, parts->host.len) == 0;
    if (!found || parts->path.len == 0)
        return false;
    const char *begin = parts->path.ptr + 1, *end = parts->path.ptr + parts->path.len;
    const char *slash = memchr(begin, '/', (size_t)(end - begin));
    *part = (vidi_str){parts->host.ptr, (size_t)((slash ? slash : end) - parts->host.ptr)};
    return true;
}

uint64_t fleet_site(const fleet *fleet, vidi_str url)
{
    char room[512];
    size_t length = sizeof room;
    vidi_url parts = {.size = sizeof parts};
    vidi_str part;

    if (vidi_url_view(url, &parts) != VIDI_OK || parts.host.len == 0)
        return members_site(url);
    if (split_part(fleet, &parts, &part))
        return members_site(part);
    if (vidi_url_canon(fleet->site_form, url, NULL, room, &length) == VIDI_OK)
        return members_site((vidi_str){room, length});
    return members_site(parts.host);
}
