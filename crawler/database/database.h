/*
 * The crawl's database: one row for every URL that the seen-set answered NEW for, and one outcome for each finished
 * URL. `crawl.db` in the state's folder, SQLite in WAL mode with synchronous=FULL: a committed transaction survives a
 * power cut, which the order archive, database, set relies on.
 *
 *   meta      name, value: what the crawl is, lengths of files
 *   seeds     url: what the user named
 *   urls      see crawler/frontier/frontier.h; so are segments and queue
 *   outcomes  id, status, reason, …: what became of a URL
 *   totals    fetched, failed, bytes, archived in this visit, and hosts: one row, changed with every commit
 *   hosts     id, origin, pages, not_before, …; robots has their robots.txt
 *   skipped   reason, links: links that did not become URLs of the crawl, counted
 *   edges     target, page, text: with --check, every link that was met
 *   fragments target, page, text, fragment: with --fragments, those of them that have one
 *   names     page, list: with --fragments, what fragments can lead to on a page (crawler/base/fragments.h)
 *   nofollow  key, url, page, depth: with --check, links in scope that must not be followed. They are asked for when
 *             nothing else is left, because a URL that another page allows to follow must be followed
 *   paths     path, queries: how many queries there have been on a path
 *   epochs    visit, first, …: a crawl of the whole site each; a visit is a range of rows, and an epoch of the set
 *   known     key, page: which row is the first of a URL, in the visits before this one
 *   newest    page, row, settled, good: the newest row of a page, the newest that tells what it is, and the newest that
 *             has content. Kept from the second visit on
 *   schedule  page, history, rate, due, …: pages that a continuous crawl visits again (crawler/schedule)
 *   payloads  digest, row: bits of the digest of each body that is stored, and the row whose record has it
 *   far       id, url: with --fleet, the pages of other processes that rows were found on
 *   untold    id: with --fleet, rows whose outcomes the fleet may not know yet
 *   pages     a view for people: urls and outcomes together, the newest row of each page; visits has all rows
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
#include "crawler/base/url_keys.h"
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

/* What has become of a page since the last visit. The numbers stand in the database; the views have the names. */
typedef enum db_page_change {
    DB_NEW = 1,   /* met for the first time */
    DB_CHANGED,   /* its content is another one */
    DB_UNCHANGED, /* what it was */
    DB_GONE,      /* 404 or 410, and it was not before */
    DB_BACK,      /* it was gone */
    DB_MOVED,     /* it redirects, and did not before, or to another place */
    DB_FAILED,    /* no response, or one that does not tell: nothing is known about it */
    DB_RECOVERED, /* the last visit did not meet it, although the page that links to it is unchanged: it was lost */
    DB_CHANGES
} db_page_change;
/* "new", "changed", …; NULL: not one of them. */
const char *db_change_name(db_page_change change);

enum { DB_RECORD = 16 };

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
    uint64_t kept;     /* those that belong to the crawl */
    const char *file;  /* of the archive; NULL: not stored */
    uint64_t offset, length;
    const unsigned char *record; /* the DB_RECORD bytes of its record's id; NULL: not stored */
    /*
     * Where the body is; 0: in this row's record, or nowhere. After a 304, the page's last row with a body; if the record
     * only refers to another one with the same body, the row of that one.
     */
    uint64_t body;
    vidi_str etag, modified; /* ETag and Last-Modified as the server sent them; ptr NULL: none */
    const char *content;     /* digest of the body unpacked, or of its text: "text:…"; NULL: as `digest` */
    db_page_change change;
    uint64_t compared; /* the earlier row that `change` refers to; 0: none */
} db_outcome;

/* Each URL has at most one: a second one is VIDI_EEXIST, and nothing changes. VIDI_EARGUMENT: there is no such URL. */
int db_outcome_add(crawl_db *db, const db_outcome *outcome);
/* 1 if the URL has an outcome, 0 if not, or an error. */
int db_is_done(crawl_db *db, uint64_t id);

/* A body that is stored, for records that refer to it. */
typedef struct db_payload {
    uint64_t row; /* whose record has it */
    vidi_str url; /* valid until the next call */
    int64_t date;
    unsigned char record[DB_RECORD];
} db_payload;

/* The bits of a digest that `payloads` has; never 0. */
uint64_t db_payload_key(const char *digest);
/* Finds the body with this digest: that of the row, or, if `row` is 0, of any. VIDI_EABSENT: it is not stored. */
int db_payload_find(crawl_db *db, uint64_t row, const char *digest, db_payload *found);
/* The row has the body with this key, until another row does. Many rows are cheap in the order of their keys only. */
int db_payload_add(crawl_db *db, uint64_t key, uint64_t row);
/* Calls `visit` with each row that has a body in its record, and the digest. Not 0 ends the walk and is returned. */
int db_payloads(crawl_db *db, frontier_visit *visit, void *context);

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

/* Adds the seed unless it is there, by its canonical form: 1 if it was added, 0 if not, or an error. */
int db_seed(crawl_db *db, vidi_str form, vidi_str url);
/* All seeds, with an id of 0. Not 0 ends the walk and is returned. */
int db_seeds(crawl_db *db, frontier_visit *visit, void *context);
/*
 * Seeds of this visit, whose first row is named, that got no response for a reason that may have passed, such as a network that was down or an address that was
 * not permitted then: calls `visit` with the URL of each. Their outcomes then have the reason "again", because the
 * caller makes a new row for each of them.
 */
int db_seeds_again(crawl_db *db, uint64_t first, frontier_visit *visit, void *context);
int db_skip(crawl_db *db, const char *reason, uint64_t links);
int db_edge(crawl_db *db, uint64_t target, uint64_t page, vidi_str text);

int db_fragment(crawl_db *db, uint64_t target, uint64_t page, vidi_str text, vidi_str fragment);
int db_names(crawl_db *db, uint64_t page, vidi_str list);

/* A link that must not be followed. */
typedef struct db_nofollow {
    uint64_t key; /* of its target */
    vidi_str url;
    uint64_t page; /* that it was found on */
    uint32_t depth;
} db_nofollow;
int db_nofollow_add(crawl_db *db, const db_nofollow *link); /* the first link to a target counts */
int db_nofollow_drop(crawl_db *db, uint64_t key);
/* Calls `visit` with up to `most` of them. Not 0 ends the walk and is returned. */
typedef int db_visit_nofollow(void *context, const db_nofollow *link);
int db_nofollow_read(crawl_db *db, size_t most, db_visit_nofollow *visit, void *context);

/* Counts queries on a path, for traps: *count is how many there have been, with this one. */
int db_path(crawl_db *db, uint64_t path, uint64_t *count);

/* ---- visits ---- */

/* A condition of SQL: the row `id` belongs to the newest visit. */
#define DB_THIS_VISIT "id >= (SELECT ifnull(max(first), 1) FROM epochs)"

typedef struct db_visit {
    uint64_t number;    /* from 1 */
    uint64_t first;     /* its first row */
    int64_t began;      /* a date */
    bool is_comparable; /* it keeps links by the same rules as the visit before it */
} db_visit;

/* Reads a visit; number 0: the newest. VIDI_EABSENT: there is none. */
int db_visit_read(crawl_db *db, uint64_t number, db_visit *visit);
/* Begins a visit: totals, pages of hosts, skipped links, queries and edges are those of one visit only. */
int db_visit_begin(crawl_db *db, const db_visit *visit);
/* How many pages the set is expected to have lost in this visit; fp_meaning as in vidi_stats. */
int db_visit_lost(crawl_db *db, double expected, uint32_t meaning);
/* Everything has an outcome since this date. */
int db_visit_end(crawl_db *db, int64_t date);
/* Gives all URLs of the queue the outcome "parked", and empties it; before the next visit begins. */
int db_close_queue(crawl_db *db, int64_t date);

/*
 * Brings `known` and `newest` up to date with all rows, in a transaction of its own; before a visit begins. The keys
 * are those of the set's canonical form. May be repeated.
 */
int db_pages_index(crawl_db *db, const url_keys *keys);
/* The page of an earlier visit that has this key, and its URL, which is appended. VIDI_EABSENT: there is none. */
int db_page_find(crawl_db *db, uint64_t key, uint64_t *page, bytes *url);

/* What an outcome says about a page. */
typedef enum db_state { DB_IS_FAILED, DB_IS_OK, DB_IS_MOVED, DB_IS_GONE } db_state;
db_state db_state_of(int status, const char *reason);

/* What earlier rows tell about the page of a row. */
typedef struct db_prior {
    uint64_t page;                  /* its first row */
    uint64_t newest, settled, good; /* rows; 0: none */
    int status;                     /* of `settled` */
    vidi_str redirect;              /* of `settled` */
    vidi_str modified;              /* of `settled`: Last-Modified */
    int64_t date;                   /* of `settled` */
    vidi_str content; /* of `good`: the digest of its body unpacked; texts are valid until the next call */
    vidi_str digest;  /* of `good`: of its body as sent */
} db_prior;
int db_prior_read(crawl_db *db, uint64_t row, db_prior *prior);
/* The row is now the newest of the page. */
int db_newest_write(crawl_db *db, const db_prior *prior);
/*
 * 1 if the page that this row was found on is as it was in the last visit, and was read to its end both times, so that
 * the last visit met this URL, too. Not if another number of its links belonged to the crawl, because of its depth or
 * its head, for example.
 */
int db_was_linked(crawl_db *db, uint64_t row, const db_visit *last);

/* What a conditional request for a row's page needs. */
typedef struct db_validators {
    uint64_t row;  /* the last one of the page that has a head of its own */
    uint64_t body; /* the row whose record has the body: this one, or another with the same body */
    struct db_place {
        char file[64]; /* of the archive */
        uint64_t offset;
    } head_at, body_at;
    vidi_str etag, modified; /* one of them is there; valid until the next call */
} db_validators;
/* VIDI_EABSENT: the page is new, its content was not stored, or the server gave no validators. */
int db_validators_read(crawl_db *db, uint64_t row, db_validators *found);

/* ---- the schedule of a continuous crawl ---- */

enum { DB_HISTORY = 512 }; /* most bytes of a history */

/* A row of `schedule`: see schedule_page in crawler/schedule/schedule.h. */
typedef struct db_scheduled {
    uint64_t page;
    unsigned char history[DB_HISTORY];
    size_t history_bytes;
    double importance, rate, alive;
    int64_t visited, due; /* due INT64_MAX: the page is being visited */
    uint64_t taken;       /* the last visit in which it was visited */
} db_scheduled;

/* VIDI_EABSENT: the page is not in the schedule. */
int db_schedule_read(crawl_db *db, uint64_t page, db_scheduled *row);
int db_schedule_write(crawl_db *db, const db_scheduled *row);
int db_schedule_remove(crawl_db *db, uint64_t page);
/* Calls `visit` with each row. Not 0 ends the walk and is returned. */
int db_schedule_each(crawl_db *db, int (*visit)(void *context, const db_scheduled *row), void *context);

/* A page that is not in the schedule, or that was fetched since its row was written. */
typedef struct db_fetched {
    db_scheduled row; /* history_bytes 0: there is none */
    int64_t date;     /* of the newest fetch */
    bool changed;
} db_fetched;
/* Those after this page, in order. Ended as above. */
int db_schedule_missed(crawl_db *db, uint64_t after, int (*visit)(void *context, const db_fetched *page),
                       void *context);

/* The pages that are due first, with their URLs as rows for the frontier. Not 0 ends the walk and is returned. */
typedef int db_due(void *context, const frontier_url *url, const db_scheduled *row);
int db_schedule_first(crawl_db *db, size_t most, db_due *visit, void *context);
/* Changes when a page is due; INT64_MAX: it is being visited. visit: in which it has its turn; 0: it has none. */
int db_schedule_due(crawl_db *db, uint64_t page, int64_t due, uint64_t visit);
/* Pages that are being visited are due at this date: what an earlier visit has begun is given up. */
int db_schedule_release(crawl_db *db, int64_t date);
/* How many pages there are, and how many have not been visited in this visit. */
int db_schedule_count(crawl_db *db, uint64_t visit, uint64_t *pages, uint64_t *left);

/* ---- cookies ---- */

/* With --cookies: a row for each, as its last change wrote it. A change that is committed after a newer one is void. */
typedef struct db_cookie {
    vidi_str domain, path, name; /* with host_only, what tells it from others */
    bool host_only;              /* it is not for hosts below the domain */
    vidi_str value;
    int64_t expires; /* milliseconds since 1970; 0: it was deleted; negative: never */
    bool secure;
    uint64_t created, changed; /* by a counter */
} db_cookie;

/* Makes the table if there is none, and removes cookies that are over. Between db_begin and db_commit. */
int db_cookies_open(crawl_db *db, int64_t date);

/* Not 0 ends the walk and is returned. */
typedef int db_visit_cookie(void *context, const db_cookie *cookie);
int db_cookies_read(crawl_db *db, db_visit_cookie *visit, void *context);

int db_cookie_write(crawl_db *db, const db_cookie *cookie);

/* ---- a crawl of a fleet ---- */

/* Makes the tables that only such a crawl has. Between db_begin and db_commit. */
int db_fleet_open(crawl_db *db);

/*
 * Where a row without a referrer was found: on this page, which another process knows; ptr NULL: on none. Rows that
 * follow were found there, too, until another call says otherwise.
 */
int db_far_add(crawl_db *db, uint64_t row, vidi_str url);
/* Appends the URL of the page. VIDI_EABSENT: there is none. */
int db_far_find(crawl_db *db, uint64_t row, bytes *url);

/* Rows that have their outcomes, while the fleet may not know it. Not 0 ends the walk and is returned. */
int db_untold_add(crawl_db *db, uint64_t row);
int db_untold(crawl_db *db, frontier_visit *visit, void *context);
int db_untold_clear(crawl_db *db);

/* ---- for reports ---- */

/* Of this visit, except `hosts`. */
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
