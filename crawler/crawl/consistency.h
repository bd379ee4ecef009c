/*
 * Set and database of a crawl: whether they belong together. consistency.c explains how they know.
 */
#ifndef VIDI_CRAWLER_CRAWL_CONSISTENCY_H
#define VIDI_CRAWLER_CRAWL_CONSISTENCY_H

#include <stdint.h>

#include "crawler/database/database.h"

/* The owner of a crawl's set (vidi_access.owner). */
#define CRAWL_OWNER "vidi crawl"

struct crawl;

/* What the database says about itself and the set. */
typedef struct consistency_entries {
    uint64_t run, run_before; /* 0: none yet */
    uint64_t run_first;       /* the last row when this run began */
    uint64_t synced_to;       /* the set had all URLs up to this row on disk */
    uint64_t last;            /* the last row */
    uint64_t first;           /* the first row of this visit: the set has none of those before */
    bool is_continuous;       /* the set also has known pages that were only linked to in this visit */
    uint64_t epoch;           /* of the set in this visit */
    uint64_t next_epoch;      /* that the set begins, or has begun already; 0: none */
} consistency_entries;

int consistency_read(crawl_db *from, consistency_entries *to);

/*
 * VIDI_OK if the set belongs to the database; *row is the last row whose URL it has. VIDI_EDIFFERS if it does not, or
 * another error; `why` (room CRAWL_WHY) tells.
 */
int consistency_compare(const consistency_entries *known, const vidi_set *set, uint64_t *row, char *why);

/* Draws the number of this run, and writes it in the transaction that begins the run. */
int consistency_begin_run(struct crawl *crawl);

/* Commits the set up to the mark, with a note that it has the URLs of all rows up to `row`. */
int consistency_commit(struct crawl *crawl, uint64_t mark, uint64_t row);

#endif
