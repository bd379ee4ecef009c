/*
 * What the files of the frontier share: the segments that are kept in memory, and the statements.
 *
 * A segment is a range of ids, sorted by level, host and id. Segments follow each other without gaps, so that the
 * number of a block, which is the id of its first URL, tells its segment; and the blocks of a host are in the order of
 * their ids if the segments are gone through from the first to the last.
 */
#ifndef VIDI_CRAWLER_FRONTIER_FRONTIER_STATE_H
#define VIDI_CRAWLER_FRONTIER_FRONTIER_STATE_H

#include "crawler/frontier/frontier.h"

/* Where a block stands on a level of a segment. */
typedef struct block_key {
    uint64_t host, number;
} block_key;

#define KEY_END ((block_key){INT64_MAX, INT64_MAX}) /* after all blocks */

/* A sort goes to the last segment until that has SEGMENT_LEAST URLs and a sixteenth of all: so there are few. */
enum { SEGMENT_LEAST = 65536, SEGMENT_SHARE = 16 };

enum { WINDOW_BLOCKS = 64, WINDOW_BYTES = 4096 };

/*
 * A part of a segment in memory: all blocks from `from` up to, but without, `end`. It is read with one statement, so
 * that going through many small hosts does not take one for each of them.
 */
typedef struct window {
    bool known;
    uint32_t level;
    block_key from, end;
    struct window_block {
        block_key key;
        size_t at, length; /* of its bytes in `text` */
        uint32_t count;    /* of its URLs */
        bool dropped;
    } blocks[WINDOW_BLOCKS];
    size_t count, live; /* blocks before `live` have been dropped */
    bytes text;
} window;

/* Blocks that have been dropped, but are still in the table: all from `from` up to, but without, `end`. */
typedef struct dropped_range {
    bool any;
    uint32_t level;
    block_key from, end;
} dropped_range;

typedef struct segment {
    uint64_t first, last; /* ids */
    dropped_range dropped;
    window *ahead; /* NULL: nothing was read yet */
} segment;

enum frontier_statement {
    FRONTIER_ADD,
    FRONTIER_LAST,
    FRONTIER_TEXT,
    FRONTIER_SINCE,
    FRONTIER_UNSORTED,
    FRONTIER_PUT,
    FRONTIER_AHEAD,
    FRONTIER_NEWEST,
    FRONTIER_KIND,
    FRONTIER_LEVEL,
    FRONTIER_QUEUED,
    FRONTIER_DROP,
    FRONTIER_SEGMENTS,
    FRONTIER_SEGMENT_PUT,
    FRONTIER_SEGMENT_DROP,
    FRONTIER_SITE_BEGIN,
    FRONTIER_SITE_FILE,
    FRONTIER_SITE_PAIR,
    FRONTIER_SITE_LINK,
    FRONTIER_SITE_READ,
    FRONTIER_SITE_PLACE,
    FRONTIER_SITE_FARM,
    FRONTIER_SITE_RIPE,
    FRONTIER_SITE_GIVE,
    FRONTIER_ADDRESS,
    FRONTIER_STATEMENTS
};

struct frontier {
    sqlite3 *db;
    bool by_level;
    bool spoiled;      /* the transaction must not be committed */
    bool stale;        /* what follows must be read again */
    uint64_t last;     /* id of the last URL */
    segment *segments; /* by their ids */
    size_t segment_count, segment_room;
    uint64_t segment_least; /* URLs; tests make it smaller */
    size_t block_bytes;     /* of the longest block that a page of the database can hold beside others */
    struct sites *sites;    /* NULL: no budgets */
    sqlite3_stmt *statements[FRONTIER_STATEMENTS];
    char error[256];
};

/* Brings what is in memory up to date, if it is stale, and prepares the statement. */
int frontier_ready(frontier *frontier, enum frontier_statement which);
/* The same, for functions that write: there must be a transaction. */
int frontier_ready_to_write(frontier *frontier, enum frontier_statement which);
/* Keeps SQLite's sentence about an error, and returns the code. */
int frontier_fail(frontier *frontier, int code);
/* The end of a function that writes: an error spoils the transaction. Returns the code. */
int frontier_wrote(frontier *frontier, int code);
/* Up to which id URLs are sorted. */
uint64_t frontier_sorted(const frontier *frontier);

/* Puts URLs of one host (or site) into a block of their own; `level` as in frontier_take. */
int segments_put(frontier *frontier, uint32_t level, const frontier_url *urls, size_t count);
/* Where a URL belongs that is being sorted: changes host and level if it has to wait for its site's budget. */
int sites_file(frontier *frontier, frontier_url *url, uint32_t *level);
/* What is kept in memory about sites may be wrong. */
void sites_forget(frontier *frontier);

/* Reads the segments again. */
int segments_load(frontier *frontier);
void segments_free(frontier *frontier);
/* The segment that a sort of n URLs goes to: the last one or a new one, whose ids are then without end. */
int segments_open(frontier *frontier, uint64_t n, segment **found);
/* The segment has all URLs up to this id; it is written down. Empty segments before it are removed. */
int segments_close(frontier *frontier, segment *last, uint64_t up_to);

/*
 * The first block at or after a key; *found is NULL if there is none on this level of the segment. It is good until
 * the next call for this segment.
 */
int window_find(frontier *frontier, segment *on, uint32_t level, block_key key, struct window_block **found);
/* Drops a block. It leaves the table at once, or with segment_flush. */
int window_drop(frontier *frontier, segment *on, uint32_t level, block_key key);
/* Removes dropped blocks from the table. */
int segment_flush(frontier *frontier, segment *on);
/* Forgets what was read ahead, because the segment has changed. */
void window_forget(segment *on);

#endif
