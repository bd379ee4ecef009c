/*
 * What a response yields: where it redirects to, the links that belong to the crawl, whether it may be archived, and
 * the packed records for the archive. A pure function of the response and of rules that never change, so that any
 * number of threads can work on different responses.
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
    bool resources;      /* also take images, scripts and the like */
    bool requisites;     /* with `resources`: also out of scope, for pages in scope */
    bool check;          /* also take links out of scope, and the texts of links */
    bool fragments;      /* with `check`: also take fragments, and the names of pages that they can lead to */
    bool internal;       /* with `check`: no links out of scope after all */
    bool by_text;        /* pages are the same if their texts are */
    bool store;          /* pack records for the archive */
    int64_t max_depth;   /* deeper links are not wanted; negative: no limit */
    uint32_t max_hops;   /* redirects in a row */
    size_t max_unpacked; /* bytes of content */
} harvest_rules;

typedef struct harvest_link {
    vidi_str url;       /* absolute and serialised, without fragment and user name */
    vidi_str text;      /* the text of the link, if `check` */
    vidi_str fragment;  /* if `fragments`, and it can be checked; of a redirect, it may be empty */
    frontier_kind kind; /* FRONTIER_PAGE, _SITEMAP, _OUTSIDE, or _RESOURCE, which has the depth of its page */
    bool has_fragment;
    bool is_redirect; /* the target of a redirect, not a link on the page: same depth, one more hop */
    bool nofollow;    /* in scope, but not to be followed: only asked for, once nothing is left to follow */
} harvest_link;

/* Why a link is not wanted. Each reason is counted; harvest_skip_name gives its name: "scope", "nofollow", …. */
typedef enum harvest_skip {
    HARVEST_SCOPE, /* out of scope, another scheme, a bad port */
    HARVEST_EXCLUDED,
    HARVEST_DEPTH,
    HARVEST_NOFOLLOW, /* unless `check` */
    HARVEST_TRAP,     /* a path that repeats a segment */
    HARVEST_LIMIT,    /* too long a URL, too many redirects */
    HARVEST_BAD,      /* not a URL */
    HARVEST_SKIPS
} harvest_skip;
const char *harvest_skip_name(harvest_skip skip);

typedef struct harvest {
    char type[64];                /* media type, in lower case */
    char digest[40];              /* of the body as sent; empty: the request was a HEAD */
    char content[40];             /* of the body unpacked, or "text:…" of its text; empty: as `digest` */
    char etag[256], modified[64]; /* ETag and Last-Modified, for asking again; empty: none, or longer than that */
    vidi_str redirect;            /* absolute; ptr NULL: none */
    uint64_t found;               /* links on the page, wanted or not */
    uint64_t skipped[HARVEST_SKIPS];
    harvest_link *links; /* the wanted ones */
    size_t link_count, link_room;
    bytes names;            /* of a page, for fragment_leads, if `fragments` */
    bool has_names;         /* they are all known */
    bool may_store;         /* nothing forbids archiving it */
    bool incomplete;        /* not all of its links may be known */
    char problem[160];      /* a sentence about that; empty: none */
    bytes records;          /* for the archive; empty: not to be stored */
    size_t response_length; /* of the packed response record, the first of `records` */
    bool unchanged;         /* a response of 304, for which a revisit record is to be stored */
    /* For a revisit record in place of the response record. */
    unsigned char record[ARCHIVE_ID]; /* the id that the request record names; not set after a 304 */
    char address[46];                 /* of the server; empty: not known */
    const char *protocol;             /* as in archive_exchange */
    bytes head;                       /* as it is archived; empty: of a response without a body, and after a 304 */
    bytes text;                       /* what the strings above point into */
} harvest;

/*
 * Reads a response to the request for a URL. The packer is the thread's own; NULL if nothing is stored. VIDI_OK,
 * VIDI_EMEMORY, or VIDI_ESYSTEM (the machine has no random numbers for the records). Call harvest_free in either case.
 *
 * A response that failed (fetch_response.failure) yields only its type. A URL of kind FRONTIER_OUTSIDE yields only its
 * redirect; one of kind FRONTIER_RESOURCE that is out of scope, only that and what its style sheet loads. Links are taken from responses with a status of 2xx.
 */
int harvest_read(harvest *into, const harvest_rules *rules, archive_packer *packer, const frontier_url *url,
                 const fetch_response *response);
void harvest_free(harvest *found);

/*
 * The hops of a link: 0, unless something that was loaded loads something else. These count as redirects do, so that
 * style sheets cannot import each other for ever.
 */
uint32_t harvest_hops(const frontier_url *from, frontier_kind kind);

/* Takes from a response of 304 what is its own, such as ETag and Last-Modified; `into` has what the stored one yields. */
void harvest_unchanged(harvest *into, const harvest_rules *rules, const fetch_response *response);

/* True if content of unknown type begins like a page of HTML. */
bool harvest_looks_like_html(vidi_str content);

#endif
