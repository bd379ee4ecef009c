/*
 * The keeper: the one thread that touches set, archive, output file and database.
 *
 *   keeper.c    its loop: when to commit, to sync, to hand out URLs, to end
 *   batch.c     the URLs of a batch: links through the set, rows for the new ones
 *   commit.c    writing a batch
 *   roster.c    which hosts the spider has, and which of their blocks
 */
#ifndef VIDI_CRAWLER_CRAWL_KEEPER_H
#define VIDI_CRAWLER_CRAWL_KEEPER_H

#include "crawler/crawl/id_map.h"
#include "crawler/crawl/inside.h"
#include "crawler/crawl/tallies.h"

/* A block that the spider has, and how many of its URLs have no outcome yet. */
typedef struct roster_block {
    uint64_t number;
    uint32_t level;
    uint32_t left;
} roster_block;

/* A host that the spider has in memory. */
typedef struct member {
    uint64_t id;
    uint64_t after;  /* number of the last block that was handed out on this level */
    uint64_t out;    /* URLs that were handed out and have no outcome yet */
    uint64_t wanted; /* URLs that the spider would like to have */
    bool fresh;      /* rows of it were appended that may not be in blocks yet */
    bool leaving;
    uint64_t returned; /* when leaving: so many URLs come back without an outcome */
    roster_block *blocks;
    size_t block_count, block_room;
    /* its row in the table of hosts */
    char *origin;
    bool has_row;   /* the row is there */
    bool unparked;  /* the row says that it is parked, which is over */
    bool changed;   /* `pages` differs from the row */
    uint64_t pages; /* fetched */
    size_t at;      /* place in the list of members */
} member;

/* A link of the batch, and where it comes from. */
typedef struct batch_link {
    const errand *page; /* NULL: from a robots.txt */
    const harvest_link *link;
} batch_link;

typedef struct batch_drop {
    uint64_t host, number;
    uint32_t level;
} batch_drop;

/* A URL that the set has answered NEW for. */
typedef struct batch_row {
    frontier_url url;
    uint64_t path; /* key of the path, if there is a query; else 0 */
    bool trapped;
} batch_row;

/* What is committed together. The arrays keep their room from batch to batch. */
typedef struct batch {
    parcels errands, cards;
    size_t bytes;
    int64_t began; /* milliseconds of real time */
    vidi_str *urls;
    uint8_t *verdicts;
    batch_link *links;
    uint64_t *targets; /* with `check` */
    size_t link_count, link_room, target_room;
    batch_row *rows;
    size_t row_count, row_room;
    batch_drop *drops;
    size_t drop_count, drop_room;
    uint64_t skipped[HARVEST_SKIPS];
    bytes lines; /* for the output file */
    bool lines_written, lines_synced, lines_failed;
} batch;

typedef struct keeper {
    crawl *crawl;
    tallies counts;
    batch batch;
    size_t handled; /* parcels other than those of the batch that will be dealt with after this round */
    parcels to_spider;

    id_map members;
    member **list;
    size_t list_room;
    id_map parked;
    id_map later; /* hosts that were given back because they have to wait: until which date */
    frontier_block block;
    uint32_t level;
    uint64_t cursor;       /* where the search for hosts goes on */
    bool strangers;        /* there may be hosts with blocks that the spider does not have */
    bool sort_helps;       /* unsorted rows would serve a host that waits, or a new one */
    uint64_t out;          /* URLs that the spider has */
    uint64_t filter_until; /* blocks with ids up to this one may have URLs that are dealt with */
    int64_t room_asked;    /* when the spider was last asked to make room */

    int64_t synced_at;
    bool unsynced;
    vidi_stats stats;
    bool has_stats; /* newer than what the database has */
} keeper;

/* Milliseconds of real time, for batches: they must not depend on a clock that stands still. */
int64_t keeper_now(void);

/* ---- batch.c ---- */

bool batch_is_empty(const batch *of);
/* Adds all links to the set, and makes rows of those that are new. */
int batch_ask_set(keeper *of);
int batch_drop_block(keeper *of, uint64_t host, uint32_t level, uint64_t number);
void batch_clear(batch *of);
void batch_free(batch *of);

/* ---- commit.c ---- */

/* Commits the batch, which may be empty; the batch is empty afterwards. An error has been told to the crawl. */
int keeper_commit(keeper *of);
/* Brings the set's commits to disk. */
int keeper_sync(keeper *of);

/* ---- roster.c ---- */

member *roster_find(const keeper *of, uint64_t host);
/* An errand of the batch has come to its end: counts it in its block. */
int roster_settle(keeper *of, const errand *done);
/* The errand is committed. */
void roster_done(keeper *of, const errand *done);
/* A row was appended. */
void roster_appended(keeper *of, uint64_t host);
int roster_want(keeper *of, const request *wanted);
int roster_leave(keeper *of, const request *left);
int roster_park(keeper *of, uint64_t host);
/* It need not have a place in memory before that date. */
int roster_defer(keeper *of, uint64_t host, int64_t until);
/* All rows are in blocks now. */
void roster_sorted(keeper *of);
/* Hands blocks to hosts that want some, and to new hosts while there is room. */
int roster_feed(keeper *of);
/* Is there nothing left that could be fetched? Goes to the next level if this one is done. */
int roster_is_done(keeper *of, bool *done);
void roster_free(keeper *of);

#endif
