/*
 * The URLs that are still to be fetched, on disk, sorted by host.
 *
 * The frontier does not check for duplicates: the seen-set has decided that a URL is new. New URLs are appended to the
 * table `urls`, in the order in which they were found; rows are never removed. frontier_sort reads the rows that it has
 * not sorted yet and writes them again as blocks of up to FRONTIER_BLOCK URLs of one host. frontier_take reads a block.
 * A block stays until frontier_drop, so it is read again after a crash.
 *
 * Everything happens in the database and the transaction of the caller. Memory does not grow with the number of URLs.
 *
 *   urls        id, url, host, depth, hops, kind, referrer, page     append-only
 *   segments    first, last                                          which ids are sorted; a segment is a range of them
 *   queue       (segment, level, host, block), count, urls           clustered by host: what a host needs lies together
 *
 * Why segments: inserting URLs of a million hosts in the order of their hosts touches every page of the queue. So each
 * large sort writes a new segment from beginning to end, and older segments stay as they are. Small sorts share a
 * segment.
 *
 * Functions return VIDI_OK, VIDI_EABSENT where it is named, or an error: VIDI_EMEMORY, VIDI_EIO, VIDI_ELIMIT (the disk
 * is full), VIDI_EBUSY, VIDI_EDAMAGED, VIDI_EARGUMENT (there is no transaction). frontier_error has the sentence. After
 * an error of a function that must be in a transaction, roll back and call frontier_forget.
 */
#ifndef VIDI_CRAWLER_FRONTIER_FRONTIER_H
#define VIDI_CRAWLER_FRONTIER_FRONTIER_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/base/bytes.h"

enum { FRONTIER_BLOCK = 50 }; /* most URLs of a block */

/* What a URL is to the crawl. */
typedef enum frontier_kind {
    FRONTIER_PAGE,     /* a page in scope */
    FRONTIER_SEED,     /* a page that the user named */
    FRONTIER_SITEMAP,  /* a sitemap */
    FRONTIER_OUTSIDE,  /* a link that is only checked: out of scope, or not to be followed */
    FRONTIER_RESOURCE, /* what a page loads: an image, a style sheet, a script; also out of scope */
    FRONTIER_KINDS
} frontier_kind;

typedef struct frontier_url {
    uint64_t id;    /* from 1; frontier_add gives it */
    uint64_t host;  /* a keyed digest of the origin; chosen by the caller, 63 bits */
    vidi_str url;   /* as it was found */
    uint32_t depth; /* links from a seed */
    uint32_t hops;  /* redirects that led here */
    frontier_kind kind;
    bool is_listed;    /* not kept: a sitemap lists it (frontier_is_listed) */
    uint64_t referrer; /* id of the page that it was found on; 0: none */
    uint64_t page;     /* for frontier_add: the first row of this page, from an earlier visit; 0: this is the first */
} frontier_url;

typedef struct frontier frontier;

/* Makes the tables if they are missing. `by_level`: keeps blocks of one depth apart, so that levels can be barriers. */
int frontier_open(frontier **made, sqlite3 *db, bool by_level);
void frontier_close(frontier *frontier);
const char *frontier_error(const frontier *frontier);

/*
 * Must be called when a transaction has been rolled back: what is kept in memory is then read again, by
 * frontier_refresh or by the next function that asks the database. It does not use the database itself, so a rollback
 * hook may call it.
 */
void frontier_forget(frontier *frontier);
int frontier_refresh(frontier *frontier);

/* True if a write has failed, so that this transaction must not be committed; until frontier_forget. */
bool frontier_is_spoiled(const frontier *frontier);

/* Appends the URL and fills in its id. Must be in a transaction. */
int frontier_add(frontier *frontier, frontier_url *url);

/* The last id, which is also the number of URLs appended. */
uint64_t frontier_last(const frontier *frontier);

/* Rows that were appended but are not in a block yet. */
uint64_t frontier_unsorted(const frontier *frontier);

/*
 * Sorts up to `most` of them into blocks. Must be in a transaction. A few large sorts are faster than many small ones:
 * best when a hundred thousand are waiting, or when there is nothing else to do. Takes up to 100 MB for a million URLs.
 */
int frontier_sort(frontier *frontier, uint64_t most);

/* A block of one host: URLs in the order in which they were found. Begins as {0}; ends with bytes_free(&block.text). */
typedef struct frontier_block {
    uint64_t host, number;
    uint32_t level;
    size_t count;
    frontier_url urls[FRONTIER_BLOCK]; /* the texts are in `text` */
    bytes text;
} frontier_block;

/* The first block of a host whose number is greater than `after` (0: the first of all). VIDI_EABSENT: there is none. */
int frontier_take(frontier *frontier, uint32_t level, uint64_t host, uint64_t after, frontier_block *block);

/* The first host at or after `host` that has a block on this level, by ascending numbers. VIDI_EABSENT: none. */
int frontier_host(frontier *frontier, uint32_t level, uint64_t host, uint64_t *found);

/* The lowest level that has a block. VIDI_EABSENT: there are no blocks. */
int frontier_level(frontier *frontier, uint32_t *level);
/* The lowest one above `after`. */
int frontier_next_level(frontier *frontier, uint32_t after, uint32_t *level);

/*
 * Removes a block, when all of its URLs have an outcome. Must be in a transaction. Drops are collected: frontier_flush
 * writes them and must be called before the transaction is committed (db_commit does).
 */
int frontier_drop(frontier *frontier, uint32_t level, uint64_t host, uint64_t number);
int frontier_flush(frontier *frontier);

/* The ids of all URLs in blocks. Not 0 ends the walk and is returned. VIDI_EDAMAGED: a block cannot be read. */
int frontier_queued(frontier *frontier, int (*visit)(void *context, uint64_t id), void *context);

/*
 * As frontier_take, but the last block whose number is less than `before`. A statement is run each time.
 */
int frontier_take_newest(frontier *frontier, uint32_t level, uint64_t host, uint64_t before, frontier_block *block);

/* True in *listed if the URL was found in a sitemap. */
int frontier_is_listed(frontier *frontier, const frontier_url *url, bool *listed);

/* One URL by its id, for referrers: appends its text. VIDI_EABSENT: there is none. */
int frontier_text(frontier *frontier, uint64_t id, bytes *to);

/* The URLs with ids greater than `after`, in order, for adding them to the seen-set again. Not 0 ends the walk. */
typedef int frontier_visit(void *context, uint64_t id, vidi_str url);
int frontier_since(frontier *frontier, uint64_t after, frontier_visit *visit, void *context);

#include "crawler/frontier/site_budgets.h"

#endif
