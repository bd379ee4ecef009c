/*
 * The parts of an http or https URL that the library has already serialised, as links and seeds are. No parsing is left
 * to do, only cutting.
 */
#ifndef VIDI_CRAWLER_BASE_URL_PARTS_H
#define VIDI_CRAWLER_BASE_URL_PARTS_H

#include <stdbool.h>

#include "vidi/vidi.h"

typedef struct url_parts {
    vidi_str origin; /* "https://example.org:8080", without a user name: robots.txt and queues belong to an origin */
    vidi_str scheme; /* "https" */
    vidi_str host;   /* "example.org", "[::1]" */
    int port;        /* also if it is the scheme's default */
    vidi_str path;   /* "/a/b"; at least "/" */
    vidi_str query;  /* after the '?'; ptr NULL: none */
    vidi_str target; /* path and query, as a request line has them */
} url_parts;

/* False if it is not http or https, has a user name or has no host. A fragment is left out of all parts. */
bool url_split(vidi_str url, url_parts *parts);

#endif
