/*
 * What a transaction says about the crawl as a whole: counters, lengths of files, and how far the set is synced. Kept
 * in the database's table `meta`, so a run continues counting where the last one of the same visit ended.
 */
#ifndef VIDI_CRAWLER_CRAWL_COUNTERS_H
#define VIDI_CRAWLER_CRAWL_COUNTERS_H

#include <stdint.h>

#include "crawler/crawl/crawl_state.h"

typedef struct counters {
    uint64_t urls, outcomes;
    uint64_t pages; /* outcomes with a status */
    uint64_t bytes; /* of bodies */
    uint64_t errors;
    uint64_t seeds_fetched;
    uint64_t synced_to;
} counters;

int counters_read(crawl *crawl, counters *counts);

/* Writes them, in a transaction, with the lengths of archive and output file. stats NULL: leaves the set's figures. */
int counters_write(crawl *crawl, const counters *counts, const vidi_stats *stats);

/* Makes them what crawl_look tells. */
void counters_show(crawl *crawl, const counters *counts);

/* Begins the next visit of a continuous crawl while it runs, when everything is committed and synced: visit.c. */
int visit_begin_next(crawl *crawl, counters *counts, char *why);

#endif
