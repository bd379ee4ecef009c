/*
 * Which URLs belong to a crawl. Decided by the URL alone: its host, path and length, and the user's patterns.
 *
 * A scope never changes after scope_open, so any number of threads can use it.
 */
#ifndef VIDI_CRAWLER_SCOPE_SCOPE_H
#define VIDI_CRAWLER_SCOPE_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

typedef enum scope_reach {
    SCOPE_HOST,   /* the hosts of the seeds; a port that is not the scheme's default is part of the host */
    SCOPE_SITE,   /* the registrable domains of the seeds: example.co.uk and all below (needs libpsl) */
    SCOPE_PREFIX, /* URLs that begin like a seed, up to its last '/'; http and https count as the same */
    SCOPE_ANY     /* all hosts (needs libpsl, to tell sites) */
} scope_reach;

enum { SCOPE_SEGMENTS = 256 }; /* a longer path is a trap */

typedef struct scope_options {
    scope_reach reach;
    const vidi_str *seeds; /* serialised; copied */
    size_t seed_count;
    /* Patterns: '*' matches any characters, '?' exactly one. A pattern that begins with '/' is compared with path and
     * query, any other with the whole URL. If `include` is not empty, a URL must match one of its patterns. Copied. */
    const char *const *include;
    size_t include_count;
    const char *const *exclude;
    size_t exclude_count;
    size_t max_url;      /* bytes without the fragment; 0: no limit */
    unsigned max_repeat; /* times a segment may occur in a path of at most SCOPE_SEGMENTS; 0: no limit for either */
} scope_options;

/* In the order in which they are checked. */
typedef enum scope_verdict {
    SCOPE_IN,
    SCOPE_SCHEME,   /* neither http nor https */
    SCOPE_LONG,     /* longer than max_url */
    SCOPE_OUT,      /* outside of the seeds' hosts, sites or prefixes */
    SCOPE_EXCLUDED, /* by a pattern, or not included by any */
    SCOPE_REPEATS,  /* a trap: the path repeats a segment too often, or has too many segments */
    SCOPE_PORT      /* a port that the Fetch Standard forbids */
} scope_verdict;

typedef struct scope scope;

/*
 * VIDI_OK or VIDI_EMEMORY; VIDI_EARGUMENT if a seed is not a serialised http or https URL without a user name;
 * VIDI_EOPTION if this build cannot tell sites; VIDI_ECANNOT if the machine has no Public Suffix List. The options need
 * not stay.
 */
int scope_open(scope **made, const scope_options *options);
void scope_close(scope *scope);

/* url is serialised; a fragment does not count. A seed is always in, unless its port is bad. */
scope_verdict scope_check(const scope *scope, vidi_str url);

/* The same for what a page in scope loads, wherever it is: neither the seeds nor `include` count. */
scope_verdict scope_check_resource(const scope *scope, vidi_str url);

/*
 * True if a pattern of `exclude` matches, whatever the scope says otherwise. A fragment does count here: links are asked
 * about with and without it.
 */
bool scope_excludes(const scope *scope, vidi_str url);

/* The registrable domain of a URL, in `room`; SCOPE_SITE and SCOPE_ANY only. VIDI_OK, or VIDI_EARGUMENT: it has none. */
enum { SCOPE_SITE_MOST = 512 };
int scope_site(const scope *scope, vidi_str url, char room[SCOPE_SITE_MOST], vidi_str *site);

/* True if it is on the origin of a seed. Credentials and the user's headers go there only. */
bool scope_is_seeds_origin(const scope *scope, vidi_str url);

/* The Fetch Standard's bad ports: https://fetch.spec.whatwg.org/#port-blocking */
bool scope_port_is_bad(int port);

#endif
