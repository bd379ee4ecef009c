/*
 * What the test sites consist of. Each function adds pages to a site and links them from a page that it is given, and
 * knows the truth about them (site.h).
 */
#ifndef TESTS_CRAWLER_SITE_WORLDS_H
#define TESTS_CRAWLER_SITE_WORLDS_H

#include "site.h"

/* ---- a web of many pages ---- */

typedef struct world_web {
    unsigned hosts; /* from 127.0.1.1; each gets an entrance "/", which are the seeds */
    size_t pages;   /* in all, with the entrances */
    uint64_t seed;
    unsigned links;   /* on each page, besides those that make all pages reachable; 0: 5 */
    bool tree;        /* no links besides those: each page is linked once */
    bool plain;       /* no robots.txt, no missing pages, no pages that nobody links to */
    size_t body;      /* bytes of text on each page, besides the links */
    site_page **made; /* entrances; the caller frees */
} world_web;

/*
 * Pages of different spellings on all hosts, each linked from an earlier one, and cross links in all the ways that HTML
 * has. Some are missing, some forbidden by robots.txt, some on two hosts, and to some nobody links.
 */
void world_web_make(site *site, world_web *web);

/* ---- single things; `from` is a page on that host ---- */

void world_loops(site *site, unsigned host, site_page *from); /* the thesis's figures 1.2 and 2.2 */
void world_mirrors(site *site, unsigned host, unsigned other, site_page *from);
void world_spellings(site *site, unsigned host,
                     site_page *from); /* of links: entities, dots, blanks, base, template … */
void world_encodings(site *site, unsigned host, site_page *from);  /* queries in the page's encoding */
void world_politeness(site *site, unsigned host, site_page *from); /* nofollow, noarchive, user names */
void world_packed(site *site, unsigned host, site_page *from);     /* gzip, twice, damaged, bombs */
void world_broken(site *site, unsigned host, site_page *from);     /* responses that end early or are not HTTP */
void world_statuses(site *site, unsigned host, site_page *from);
/* outside: a host that is not part of the crawl. */
void world_redirects(site *site, unsigned host, unsigned other, unsigned outside, site_page *from);
void world_robots(site *site, unsigned host, site_page *from); /* takes four hosts from `host` on */
/* Sitemaps that robots.txt names. Gives them to `seeds`, as they belong to depth 0, and returns how many. */
size_t world_sitemaps(site *site, unsigned host, site_page **seeds);

/* A folder of files, for site.maker: the context is its path, without '/' at the end. */
site_maker world_folder;

/* Calendars and session ids without end, for site.maker: "/calendar?month=N", "/days/YEAR/MONTH/", "/shop?sid=N". */
site_maker world_traps;

#endif
