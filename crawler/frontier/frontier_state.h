/*
 * What the files of the frontier share: the shelves that are kept in memory, and the statements.
 *
 * A shelf is a range of ids, sorted by level, host and id. Shelves follow each other without gaps, so that the number of
 * a block, which is the id of its first URL, tells its shelf; and the blocks of a host are in the order of their ids if
 * the shelves are gone through from the first to the last.
 */
#ifndef VIDI_CRAWLER_FRONTIER_FRONTIER_STATE_H
#define VIDI_CRAWLER_FRONTIER_FRONTIER_STATE_H

#include "crawler/frontier/frontier.h"

#define NO_HOST UINT64_MAX /* keys of hosts have 63 bits */

/*
 * What was found out by looking for a host: on this level, the shelf has no block of a host from `from` to `next` - 1. It
 * stays true when blocks are dropped. NO_HOST: none from there on.
 */
typedef struct shelf_gap {
    uint32_t level;
    bool known;
    uint64_t from, next;
} shelf_gap;

typedef struct shelf {
    uint64_t first, last; /* ids */
    shelf_gap gap;
} shelf;

enum frontier_statement {
    FRONTIER_ADD,
    FRONTIER_LAST,
    FRONTIER_TEXT,
    FRONTIER_SINCE,
    FRONTIER_UNSORTED,
    FRONTIER_PUT,
    FRONTIER_TAKE,
    FRONTIER_HOST,
    FRONTIER_LEVEL,
    FRONTIER_DROP,
    FRONTIER_SHELVES,
    FRONTIER_SHELF_PUT,
    FRONTIER_SHELF_DROP,
    FRONTIER_STATEMENTS
};

struct frontier {
    sqlite3 *db;
    bool by_level;
    bool spoiled;   /* the transaction must not be committed */
    bool stale;     /* what follows must be read again */
    uint64_t last;  /* id of the last URL */
    shelf *shelves; /* by their ids */
    size_t shelf_count, shelf_room;
    size_t block_bytes; /* of the longest block that a page of the database can hold beside others */
    sqlite3_stmt *statements[FRONTIER_STATEMENTS];
    char error[256];
};

/* Brings what is in memory up to date, if it is stale, and prepares the statement. */
int frontier_ready(frontier *of, enum frontier_statement which);
/* The same, for functions that write: there must be a transaction. */
int frontier_ready_to_write(frontier *of, enum frontier_statement which);
/* Keeps SQLite's sentence about an error, and returns the code. */
int frontier_fail(frontier *of, int code);
/* The end of a function that writes: an error spoils the transaction. Returns the code. */
int frontier_wrote(frontier *of, int code);
/* Up to which id URLs are sorted. */
uint64_t frontier_sorted(const frontier *of);

/* Reads the shelves again. */
int shelves_load(frontier *of);
/* The shelf that a sort of n URLs goes to: the last one or a new one, whose ids are then without end. */
int shelves_open(frontier *of, uint64_t n, shelf **found);
/* The shelf has all URLs up to this id; it is written down. Empty shelves before it are removed. */
int shelves_close(frontier *of, shelf *last, uint64_t up_to);

#endif
