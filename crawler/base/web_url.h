/*
 * The URLs that a crawl fetches, http or https and without a user name, and the parts of them that HTTP and robots.txt
 * know. They are serialised already, as links and seeds are.
 */
#ifndef VIDI_CRAWLER_BASE_WEB_URL_H
#define VIDI_CRAWLER_BASE_WEB_URL_H

#include <stdbool.h>
#include <string.h>

#include "vidi/url.h"

static inline bool is_web_url(const vidi_url *parts)
{
    size_t len = parts->scheme.len;

    return len >= 4 && len <= 5 && memcmp(parts->scheme.ptr, "https", len) == 0;
}

/* False if it is not http or https, has a user name or has no host. */
static inline bool web_url_view(vidi_str url, vidi_url *parts)
{
    parts->size = sizeof *parts;
    return vidi_url_view(url, parts) == VIDI_OK && is_web_url(parts) &&
           parts->host.ptr == parts->scheme.ptr + parts->scheme.len + 3;
}

/* "https://example.org:8080": robots.txt and queues belong to an origin. */
static inline vidi_str web_url_origin(const vidi_url *parts)
{
    return (vidi_str){parts->href.ptr, (size_t)(parts->path.ptr - parts->href.ptr)};
}

/* "example.org:8080", as the field Host has it. */
static inline vidi_str web_url_authority(const vidi_url *parts)
{
    return (vidi_str){parts->host.ptr, (size_t)(parts->path.ptr - parts->host.ptr)};
}

/* Also if it is the scheme's default, which a serialised URL leaves out. */
static inline int web_url_port(const vidi_url *parts)
{
    return parts->port_number >= 0 ? parts->port_number : parts->scheme.len == 4 ? 80 : 443;
}

/* Path and query, as a request line has them. */
static inline vidi_str web_url_target(const vidi_url *parts)
{
    return (vidi_str){parts->path.ptr, parts->path.len + (parts->query.ptr ? 1 + parts->query.len : 0)};
}

#endif
