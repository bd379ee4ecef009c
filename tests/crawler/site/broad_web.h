/*
 * A made-up web of many hosts, for crawls with --scope any: its pages are computed, not stored, so a hundred thousand
 * hosts take little memory. Pages are numbered; so are hosts and sites (registrable domains), which have one host or
 * three. A page links to pages of its own host, to other hosts of its site, and to other sites, some of them far more
 * often than others. Everything is reachable from page 0.
 */
#ifndef TESTS_CRAWLER_SITE_BROAD_WEB_H
#define TESTS_CRAWLER_SITE_BROAD_WEB_H

#include "site.h"

enum { BROAD_LINKS = 16, BROAD_URL = 96 };

typedef struct broad_web {
    unsigned hosts, sites, pages;
    uint64_t seed;
    uint32_t *first;    /* page of each host; one more at the end */
    uint32_t *host_of;  /* by page */
    unsigned *requests; /* for each page, by its server */
} broad_web;

void broad_web_make(broad_web *web, unsigned hosts, uint64_t seed);
void broad_web_free(broad_web *web);

unsigned broad_site_of(const broad_web *web, uint32_t page);
/* The pages that a page links to; returns how many. A page may be in it twice. */
unsigned broad_links(const broad_web *web, uint32_t page, uint32_t links[BROAD_LINKS]);
/* "http://h1.s3.test:PORT/p/17" */
void broad_url(const broad_web *web, uint32_t page, int port, char url[BROAD_URL]);
/* The page with this URL, or with this host and target; -1: there is none. */
int64_t broad_find_url(const broad_web *web, const char *url);
int64_t broad_find(const broad_web *web, const char *host, const char *target);

/* For site.maker; the context is the web. */
site_maker broad_answer;

#endif
