/*
 * Set and database of a crawl: whether they belong together. pair.c explains how they know.
 */
#ifndef VIDI_CRAWLER_CRAWL_PAIR_H
#define VIDI_CRAWLER_CRAWL_PAIR_H

#include <stdint.h>

#include "crawler/ledger/ledger.h"

/* The owner of a crawl's set (vidi_access.owner). */
#define CRAWL_OWNER "vidi crawl"

struct crawl;

/* What the database says about itself and the set. */
typedef struct pair_entries {
    uint64_t run, run_before; /* 0: none yet */
    uint64_t run_first;       /* the last row when this run began */
    uint64_t synced_to;       /* the set had all URLs up to this row on disk */
    uint64_t last;            /* the last row */
} pair_entries;

int pair_read(ledger *from, pair_entries *to);

/*
 * VIDI_OK if the set belongs to the database; *row is the last row whose URL it has. VIDI_EDIFFERS if it does not, or
 * another error; `why` (room CRAWL_WHY) tells.
 */
int pair_compare(const pair_entries *known, const vidi_set *set, uint64_t *row, char *why);

/* Draws the number of this run, and writes it in the transaction that begins the run. */
int pair_begin_run(struct crawl *of);

/* Commits the set up to the mark, with a note that it has the URLs of all rows up to `row`. */
int pair_commit(struct crawl *of, uint64_t mark, uint64_t row);

#endif
