/*
 * The crawl's database: one row for every URL that the seen-set answered NEW for, and one outcome for each finished
 * URL. `crawl.db` in the state's folder, SQLite in WAL mode with synchronous=FULL: a committed transaction survives a
 * power cut, which the order archive, database, set relies on.
 *
 *   meta      name, value: what the crawl is, lengths of files
 *   seeds     url: what the user named
 *   urls      see crawler/frontier/frontier.h; so are segments and queue
 *   outcomes  id, status, reason, …: what became of a URL
 *   totals    fetched, failed, bytes, hosts, archived: one row, changed with every commit
 *   hosts     id, origin, pages, not_before, …; robots has their robots.txt
 *   skipped   reason, links: links that did not become URLs of the crawl, counted
 *   edges     target, page, text: with --check, every link that was met
 *   paths     path, queries: how many queries there have been on a path
 *   pages     a view for people: urls and outcomes together
 *
 * One thread uses a database. Functions return VIDI_OK, VIDI_EMEMORY, VIDI_EIO, VIDI_ELIMIT (the disk is full),
 * VIDI_EBUSY or VIDI_EDAMAGED; db_error has the sentence.
 *
 * Transactions. Everything that writes, here and in the frontier, must be between db_begin and db_commit;
 * otherwise it is VIDI_EARGUMENT, and nothing is written. If one of these functions fails (VIDI_EEXIST and VIDI_EABSENT
 * are answers, not failures), the transaction can no longer be committed: db_commit refuses, with the same code.
 * The caller rolls back and writes everything again, or gives up.
 */
#ifndef VIDI_CRAWLER_DATABASE_DATABASE_H
#define VIDI_CRAWLER_DATABASE_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/base/bytes.h"
#include "crawler/frontier/frontier.h"

typedef struct crawl_db crawl_db;

enum db_access { DB_WRITE, DB_READ_ONLY };

/*
 * Opens the database, or makes it (mode 0600) if it is missing or empty. On error *made is NULL, and `why` (room 256)
 * has the sentence; also VIDI_EABSENT (read only: it is missing), VIDI_EFORMAT (it is another program's, of a newer
 * vidi, or not a database), VIDI_EDAMAGED.
 *
 * If `by_level` is not what it was, the queue is sorted anew: blocks can then have URLs that are done (db_is_done).
 * Read only: while another process writes, db_frontier is good for frontier_text and frontier_since.
 */
int db_open(crawl_db **made, const char *path, enum db_access access, bool by_level, char *why);
void db_close(crawl_db *db);
/* The sentence about the last error of the database or its frontier. */
const char *db_error(const crawl_db *db);

frontier *db_frontier(crawl_db *db);
sqlite3 *db_sqlite(crawl_db *db); /* for reports and tests */

/* VIDI_EBUSY: another process has been writing for five seconds. Readers never block it. */
int db_begin(crawl_db *db);

/*
 * Commits and syncs. After an error db_is_open tells what to do:
 *   true    the transaction is as it was: call db_commit again (VIDI_EBUSY), or db_rollback
 *   false   it has been rolled back (the disk was full or failed): call db_begin and write it again, or give up
 * When the last sync has failed, the transaction may nevertheless be there when the database is opened by the next
 * process. It is never there in part.
 */
int db_commit(crawl_db *db);
void db_rollback(crawl_db *db);
/* True if there is a transaction. */
bool db_is_open(const crawl_db *db);

/* ---- verifying ---- */

/* Marks the database, in a transaction, as one that is being written to, or as one that was left in good order. */
int db_mark(crawl_db *db, bool closed);

/*
 * True unless it was closed in good order and is the same file. It may have been copied while it was written to, and
 * db_verify must be asked: a copy may mix pages of different moments.
 */
bool db_is_doubtful(const crawl_db *db);

/* Is called with a sentence about each fault. If it does not return 0, that ends the check and is returned. */
typedef int db_fault(void *context, const char *sentence);

/*
 * Compares the checksum of each page of the file, which may be in use. *unchecked pages have none: another program has
 * written them. VIDI_OK, VIDI_EMEMORY or VIDI_EIO (errno tells).
 */
int db_pages(const char *path, uint64_t *pages, uint64_t *unchecked, db_fault *fault, void *context);

/*
 * Checks the trees, the counts and the queue; `thorough`: indexes, too. VIDI_OK also if `fault` was called. Reads the
 * whole database, and keeps a bit for each URL in memory. Readers may call it while a crawl runs.
 */
int db_verify(crawl_db *db, bool thorough, db_fault *fault, void *context);

/* ---- meta ---- */

int db_get(crawl_db *db, const char *name, int64_t *value);    /* VIDI_EABSENT: there is none */
int db_get_text(crawl_db *db, const char *name, bytes *value); /* appends */
int db_set(crawl_db *db, const char *name, int64_t value);
int db_set_text(crawl_db *db, const char *name, vidi_str value);

/* ---- what became of a URL ---- */

typedef struct db_outcome {
    uint64_t id;        /* of the URL */
    int status;         /* of HTTP; 0: none */
    const char *reason; /* why it was not fetched: "robots", "timeout", …; NULL: it was */
    const char *error;  /* a sentence about it; NULL: none */
    vidi_str type;      /* media type */
    uint64_t bytes;     /* of the body, as sent */
    const char *digest; /* "sha1:…" of the body as sent; NULL: none */
    int64_t date;       /* milliseconds since 1970 */
    double seconds;
    vidi_str redirect; /* where it leads; ptr NULL: nowhere */
    uint64_t links;    /* links on the page */
    const char *file;  /* of the archive; NULL: not stored */
    uint64_t offset, length;
} db_outcome;

/* Each URL has at most one: a second one is VIDI_EEXIST, and nothing changes. VIDI_EARGUMENT: there is no such URL. */
int db_outcome_add(crawl_db *db, const db_outcome *outcome);
/* 1 if the URL has an outcome, 0 if not, or an error. */
int db_is_done(crawl_db *db, uint64_t id);

/* ---- hosts ---- */

typedef struct db_host {
    uint64_t id;        /* frontier_url.host */
    vidi_str origin;    /* on return, all texts are in the database's memory, good until the next db_host_read */
    uint64_t pages;     /* fetched */
    int64_t not_before; /* a date: the host asked to be left alone until then; 0: not */
    const char *parked; /* why the host is parked; NULL: it is not */
    /* robots.txt */
    int robots_outcome; /* robots_outcome; -1: never asked for */
    int64_t robots_date;
    int64_t robots_reached; /* a date: when it was last reached, or first asked for */
    vidi_str robots;        /* the file; ptr NULL: none. On writing, NULL leaves it as it is */
} db_host;

int db_host_read(crawl_db *db, uint64_t id, db_host *host); /* VIDI_EABSENT: not known yet */
int db_host_write(crawl_db *db, const db_host *host);
/* Changes only the number of pages. VIDI_EABSENT: the host is not known yet. */
int db_host_pages(crawl_db *db, uint64_t id, uint64_t pages);

/* ---- the rest ---- */

/* Adds the seed unless it is there: 1 if it was added, 0 if not, or an error. */
int db_seed(crawl_db *db, vidi_str url);
/*
 * Seeds that got no response for a reason that may have passed, such as a network that was down or an address that was
 * not permitted then: calls `visit` with the URL of each. Their outcomes then have the reason "again", because the
 * caller makes a new row for each of them.
 */
int db_seeds_again(crawl_db *db, frontier_visit *visit, void *context);
int db_skip(crawl_db *db, const char *reason, uint64_t links);
int db_edge(crawl_db *db, uint64_t target, uint64_t page, vidi_str text);
/* Counts queries on a path, for traps: *count is how many there have been, with this one. */
int db_path(crawl_db *db, uint64_t path, uint64_t *count);

/* ---- for reports ---- */

typedef struct db_totals {
    uint64_t urls;
    uint64_t fetched, failed; /* outcomes without and with a reason */
    uint64_t queue;           /* URLs without an outcome */
    uint64_t bytes;           /* of all outcomes */
    uint64_t hosts;
    uint64_t archived; /* outcomes with a file */
} db_totals;
int db_total(crawl_db *db, db_totals *totals);

/* Outcomes by reason, and skipped links by reason, in alphabetical order. Not 0 ends the walk and is returned. */
typedef int db_visit_count(void *context, const char *reason, uint64_t count);
int db_reasons(crawl_db *db, db_visit_count *visit, void *context);
int db_skipped(crawl_db *db, db_visit_count *visit, void *context);

#endif
