/*
 * Budgets of sites, for a crawl of the whole web. A site is a registrable domain. Its budget is how many of its URLs may
 * be fetched: `least`, and as many again for each other site that links to it, up to `most`. So a farm of pages that
 * nobody links to costs little, and a site that many sites link to is crawled far (IRLbot's STAR, Lee and others 2008).
 *
 *   sites        id, name, number, given, waiting, links, budget, address, farm
 *   site_links   site, by                each pair of sites once
 *   addresses    id, sites               how many sites have been seen at an address
 *
 * A URL is counted against the budget when it is sorted into a block (`given`). If nothing is left of the budget, it is
 * put into a block of the level FRONTIER_WAITING, where blocks are kept by site instead of host (`waiting`). When the
 * budget has grown, sites_release moves the oldest of these URLs to blocks of their hosts. So at any time the URLs of a
 * site that have been given are the first ones that were found, seeds apart, which never wait.
 *
 * Everything is in the tables, and changes in the caller's transaction; what is in memory is only a cache.
 */
#ifndef VIDI_CRAWLER_FRONTIER_SITE_BUDGETS_H
#define VIDI_CRAWLER_FRONTIER_SITE_BUDGETS_H

#include "crawler/frontier/frontier.h"

enum {
    FRONTIER_WAITING = 1 << 30, /* the level of URLs that wait for their site's budget, after all others */
    SITE_NAME = 512             /* bytes of the name of a site */
};

/* The site of a URL: its name, in `room`, and its key, 63 bits. VIDI_OK or an error. */
typedef int site_finder(void *context, vidi_str url, char room[SITE_NAME], vidi_str *name, uint64_t *key);
/* The host of a URL, as in frontier_url. */
typedef int site_host_finder(void *context, vidi_str url, uint64_t *host);

typedef struct site_budgets {
    uint64_t least, most;       /* URLs of a site */
    uint64_t max_sites;         /* the URLs of all further ones wait; 0: no limit */
    uint64_t max_address_sites; /* an address with more of them is a farm; 0: no limit */
    site_finder *site;
    site_host_finder *host;
    void *context;
} site_budgets;

/* From now on sites have these budgets. Must be in a transaction. The budgets are copied. */
int sites_begin(frontier *frontier, const site_budgets *budgets);
/* 1 if the frontier has had budgets before, 0 if not, or an error. */
int sites_are_known(frontier *frontier);

/* A page of the site `by` links to one of `site`. The budget grows if it is the first such link. In a transaction. */
int sites_link(frontier *frontier, uint64_t site, uint64_t by);

/*
 * A host of the site has this address, 63 bits. *cut: as many other sites are there as there may be, so that the site
 * should be left out. The sites that came first get the least budget. In a transaction.
 */
int sites_note_address(frontier *frontier, uint64_t site, uint64_t address, bool *cut);

/*
 * Moves URLs that wait to blocks of their hosts, as far as the budgets of their sites allow, for at most `most` sites.
 * *moved: how many; *more: there are more such sites. In a transaction.
 */
int sites_release(frontier *frontier, size_t most, uint64_t *moved, bool *more);

/* Which limit URLs wait for: "--site-budget" or "--max-sites"; NULL: none does. */
int sites_waiting(frontier *frontier, const char **limit);

#endif
