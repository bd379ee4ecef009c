/*
 * What a response yields: where it redirects to, the links that belong to the crawl, whether it may be archived, and
 * the packed records for the archive. A pure function of the response and of rules that never change, so that any number
 * of threads can work on different responses.
 */
#ifndef VIDI_CRAWLER_HARVEST_HARVEST_H
#define VIDI_CRAWLER_HARVEST_HARVEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/archive/archive.h"
#include "crawler/base/bytes.h"
#include "crawler/fetch/fetch.h"
#include "crawler/frontier/frontier.h"
#include "crawler/scope/scope.h"

typedef struct harvest_rules {
    const scope *scope;
    vidi_str agent;      /* the product token, for X-Robots-Tag and robots.txt */
    bool resources;      /* images, scripts and the like are links, too */
    bool check;          /* links out of scope are wanted, and the texts of links */
    bool store;          /* pack records for the archive */
    int64_t max_depth;   /* deeper links are not wanted; negative: no limit */
    uint32_t max_hops;   /* redirects in a row */
    size_t max_unpacked; /* bytes of content */
} harvest_rules;

typedef struct harvest_link {
    vidi_str url;       /* absolute and serialised, without fragment and user name */
    vidi_str text;      /* what a reader sees of the link, if `check` */
    frontier_kind kind; /* FRONTIER_PAGE, _SITEMAP or _OUTSIDE */
    bool is_redirect;   /* it is where the response leads, not a link on the page: same depth, one more hop */
} harvest_link;

/* Why links are not among those wanted; each is counted. Named by harvest_skip_name: "scope", "nofollow", …. */
typedef enum harvest_skip {
    HARVEST_SCOPE, /* out of scope, another scheme, a bad port */
    HARVEST_EXCLUDED,
    HARVEST_DEPTH,
    HARVEST_NOFOLLOW,
    HARVEST_TRAP,  /* a path that repeats a segment */
    HARVEST_LIMIT, /* too long a URL, too many redirects */
    HARVEST_BAD,   /* not a URL */
    HARVEST_SKIPS
} harvest_skip;
const char *harvest_skip_name(harvest_skip skip);

typedef struct harvest {
    char type[64];     /* media type, in lower case */
    char digest[40];   /* of the body as sent; empty: no body was asked for */
    vidi_str redirect; /* absolute; ptr NULL: none */
    uint64_t found;    /* links on the page, wanted or not */
    uint64_t skipped[HARVEST_SKIPS];
    harvest_link *links; /* the wanted ones */
    size_t link_count, link_room;
    bool may_store;    /* nothing forbids to archive it */
    bool incomplete;   /* the content could not be unpacked, or not as a whole */
    char problem[160]; /* a sentence about that; empty: none */
    bytes records;     /* for the archive: empty if it is not to be stored */
    size_t response_length;
    bytes text; /* what the strings above point into */
} harvest;

/*
 * Reads a response to the request for a URL. The packer is the thread's own; NULL if nothing is stored. VIDI_OK,
 * VIDI_EMEMORY, or VIDI_ESYSTEM (the machine has no random numbers for the records). harvest_free in either case.
 *
 * Of a response that failed (fetch_response.failure) only the type is told. A URL of kind FRONTIER_OUTSIDE yields its
 * redirect alone. Links are taken from responses with a status of 2xx.
 */
int harvest_read(harvest *into, const harvest_rules *rules, archive_packer *packer, const frontier_url *url,
                 const fetch_response *response);
void harvest_free(harvest *of);

#endif
