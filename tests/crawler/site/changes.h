/*
 * A site that changes between visits, and what each visit must say about each of its pages.
 *
 *     changes_begin(&site, 3, 1);
 *     for (unsigned visit = 1; visit <= CHANGES_VISITS; visit++) {
 *         changes_turn(&site, visit);       the pages as they are in this visit, served, and the truth about them
 *         … crawl, or visit again …
 *         … judge: pages know their status, their change and whether they are reached …
 *     }
 *     changes_end(&site);
 *
 * What happens to a page stands in a table, visit by visit, and beside it what must be said of it. The table is written
 * by hand; only which pages are reached is found by a walk. Each story of the table is told by pages with every kind of
 * validators that servers have.
 */
#ifndef TESTS_CRAWLER_SITE_CHANGES_H
#define TESTS_CRAWLER_SITE_CHANGES_H

#include "site.h"

enum { CHANGES_VISITS = 5, CHANGES_HOSTS = 8 };

typedef struct changes {
    site *web;
    site_page *seeds[CHANGES_HOSTS];
    size_t seed_count;
    unsigned visit; /* from 1; 0: none yet */
    struct changes_page *pages;
    size_t count;
    /* Of each page, by its number: what visits so far have got of it. */
    struct changes_memory *memory;
} changes;

/* Hosts, and how often each story is told with each kind of validators. The seeds are one page on each host. */
void changes_begin(changes *self, unsigned hosts, unsigned copies);
/* Stops the site, makes it what it is in this visit, forgets requests, and serves it. Visits come one by one. */
void changes_turn(changes *self, unsigned visit);
void changes_end(changes *self);

#endif
