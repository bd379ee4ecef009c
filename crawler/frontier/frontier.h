/*
 * The URLs that are still to be fetched, on disk, sorted by host.
 *
 * The frontier has no uniqueness of its own: the seen-set has decided that a URL is new. New URLs are appended to the
 * table `urls`, in the order in which they were found; that row stays for good. frontier_sort reads the rows that it has
 * not sorted yet, and writes them again as blocks of up to FRONTIER_BLOCK URLs of one host. frontier_take reads a block.
 * A block stays until frontier_drop, so after a crash it comes again.
 *
 * All of it happens in the database and in the transaction of the caller. Memory does not grow with the number of URLs.
 *
 *   urls    id, url, host, depth, hops, kind, referrer     append-only
 *   queue   (level, host, block), count, urls              clustered by host: what a host needs lies together
 */
#ifndef VIDI_CRAWLER_FRONTIER_FRONTIER_H
#define VIDI_CRAWLER_FRONTIER_FRONTIER_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/base/bytes.h"

enum { FRONTIER_BLOCK = 50 };

/* What a URL is to the crawl. */
typedef enum frontier_kind {
    FRONTIER_PAGE,    /* a page in scope */
    FRONTIER_SEED,    /* the same; it was named by the user */
    FRONTIER_SITEMAP, /* a sitemap */
    FRONTIER_OUTSIDE  /* a link out of scope that is only checked */
} frontier_kind;

typedef struct frontier_url {
    uint64_t id;    /* from 1; frontier_add gives it */
    uint64_t host;  /* a keyed digest of the origin; chosen by the caller, 63 bits */
    vidi_str url;   /* as it was met */
    uint32_t depth; /* links from a seed */
    uint32_t hops;  /* redirects that led here */
    frontier_kind kind;
    uint64_t referrer; /* id of the page that it was found on; 0: none */
} frontier_url;

typedef struct frontier frontier;

/* Makes the tables if they are missing. `by_level`: blocks of one depth are kept apart, so that levels can be barriers. */
int frontier_open(frontier **made, sqlite3 *db, bool by_level);
void frontier_close(frontier *of);

/* Appends the URL and fills in its id. Must be in a transaction. VIDI_OK, VIDI_EMEMORY or VIDI_EIO (sqlite3_errmsg tells). */
int frontier_add(frontier *of, frontier_url *url);

/* Rows that were appended but are not in a block yet. */
uint64_t frontier_unsorted(const frontier *of);

/* Sorts up to `most` of them into blocks. Must be in a transaction. */
int frontier_sort(frontier *of, uint64_t most);

/* A block of one host: URLs in the order in which they were found. */
typedef struct frontier_block {
    uint64_t host, number;
    uint32_t level;
    size_t count;
    frontier_url urls[FRONTIER_BLOCK]; /* the texts are in `text` */
    bytes text;
} frontier_block;

/* The first block of a host whose number is greater than `after` (0: the first of all). VIDI_EABSENT: there is none. */
int frontier_take(frontier *of, uint32_t level, uint64_t host, uint64_t after, frontier_block *block);

/* The first host at or after `host` that has a block on this level, by ascending numbers. VIDI_EABSENT: none. */
int frontier_host(frontier *of, uint32_t level, uint64_t host, uint64_t *found);

/* The lowest level that has a block. VIDI_EABSENT: there are no blocks. */
int frontier_level(frontier *of, uint32_t *level);

/* All URLs of the block are dealt with. Must be in a transaction. */
int frontier_drop(frontier *of, uint32_t level, uint64_t host, uint64_t number);

/* One URL by its id, for referrers: appends its text. VIDI_EABSENT: there is none. */
int frontier_text(frontier *of, uint64_t id, bytes *to);

/* The URLs with ids greater than `after`, in their order, for adding them to the seen-set again. Not 0 ends the walk. */
typedef int frontier_visit(void *context, uint64_t id, vidi_str url);
int frontier_since(frontier *of, uint64_t after, frontier_visit *visit, void *context);

#endif
