/*
 * Collects the links of one response: decides about each, counts those that are not wanted, and keeps the others.
 */
#ifndef VIDI_CRAWLER_HARVEST_HARVEST_LINKS_H
#define VIDI_CRAWLER_HARVEST_HARVEST_LINKS_H

#include "crawler/harvest/harvest.h"
#include "crawler/html/html.h"

enum {
    HARVEST_BYTES = 16 << 20, /* of memory for links, if all are kept; the rest of them is not looked at */
    HARVEST_TEXT_BYTES = 160, /* of the text of a link */
    HARVEST_NAMES = 1 << 20,  /* of a page; of one with more, none are known */
    HARVEST_TEXTS = 10000,    /* links of a page that get their text: each may take a look at kilobytes */
    HARVEST_RECENT = 1024
};

/* Where the URL of a link lies in harvest.text. */
typedef struct harvest_place {
    size_t at, len;
} harvest_place;

typedef struct harvest_collector {
    harvest *into;
    const harvest_rules *rules;
    const frontier_url *from;
    bool nofollow; /* the response asks not to follow its links */
    size_t taken;  /* bytes that the links so far would take, wanted or not */
    size_t texts;  /* so far */
    bytes scratch, resolved;
    harvest_place recent[HARVEST_RECENT]; /* links that were kept lately, by hash: to keep each once, if that is easy */
} harvest_collector;

/* A link as it was found. */
typedef struct harvest_found {
    vidi_str url;       /* absolute and serialised; ptr NULL: it is not a URL */
    frontier_kind kind; /* what it is if it is in scope */
    bool nofollow;
    const html_page *page; /* where its text stands; NULL: it has none */
    const html_link *link;
} harvest_found;

/*
 * Makes a reference absolute, relative to the URL of the response. VIDI_OK, VIDI_INVALID or VIDI_EMEMORY; *url is valid
 * until the next call, and ptr NULL if it is not a URL.
 */
int harvest_resolve(harvest_collector *c, vidi_str reference, vidi_str *url);

/* VIDI_OK, VIDI_EMEMORY, or HARVEST_ENOUGH if no more links should be collected. */
enum { HARVEST_ENOUGH = 1 };
int harvest_collect(harvest_collector *c, const harvest_found *found);

/* Keeps where the response leads to, or counts why not. `url` as in harvest_found. VIDI_OK or VIDI_EMEMORY. */
int harvest_collect_redirect(harvest_collector *c, vidi_str url);

/* Not all of the content could be read: a sentence that says why, cut off where there is no more room. */
void harvest_tell_problem(harvest *into, const char *sentence);

/* Forgets all links: what they were found in is not what it was taken for. */
void harvest_forget_links(harvest_collector *c);

/* No more links: lets all strings point to their places. */
void harvest_finish(harvest_collector *c);

/* Frees what only collecting needs. */
void harvest_collector_free(harvest_collector *c);

#endif
