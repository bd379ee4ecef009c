/*
 * The storage thread: the one thread that touches set, archive, output file and database.
 *
 *   storage.c       its loop: when to commit, to sync, to hand out URLs, to end
 *   batch_links.c   the URLs of a batch: links through the set, rows for the new ones
 *   commit.c        writing a batch
 *   payloads.c      which bodies are stored already
 *   changes.c       what has become of a page since the last visit
 *   continuous.c    whose turn it is to be visited again
 *   link_check.c    what only --check writes, and asks for when nothing else is left
 *   host_table.c    which hosts the fetcher has, and which of their blocks
 *   site_links.c    budgets of sites, in a broad crawl
 *   shared_links.c  with --fleet: links to and from other processes
 *   shared_hosts.c  with --fleet: which hosts this process may fetch from
 *   shared_pages.c  with --fleet: which pages are its own, and which of them are done
 */
#ifndef VIDI_CRAWLER_CRAWL_STORAGE_STORAGE_H
#define VIDI_CRAWLER_CRAWL_STORAGE_STORAGE_H

#include "crawler/crawl/id_map.h"
#include "crawler/crawl/crawl_state.h"
#include "crawler/crawl/counters.h"
#include "crawler/schedule/schedule.h"

/* A block that the fetcher has, and how many of its URLs have no outcome yet. */
typedef struct handed_block {
    uint64_t number;
    uint32_t level;
    uint32_t left;
} handed_block;

/* A host that the fetcher has in memory. */
typedef struct host_entry {
    uint64_t id;
    uint64_t after;  /* number of the last block that was handed out on this level */
    uint64_t out;    /* URLs that were handed out and have no outcome yet */
    uint64_t wanted; /* URLs that the fetcher would like to have */
    bool fresh;      /* rows of it were appended that may not be in blocks yet */
    bool leaving;
    uint64_t returned; /* when leaving: number of URLs that come back without an outcome */
    uint64_t site;     /* with --fleet: the key of its site */
    bool lost;         /* with --fleet: another process has it now, and the fetcher was told */
    handed_block *blocks;
    size_t block_count, block_room;
    /* its row in the table of hosts */
    char *origin;
    bool has_row;   /* the row is there */
    bool unparked;  /* the row says that it is parked, which is over */
    bool changed;   /* `pages` differs from the row */
    uint64_t pages; /* fetched */
    size_t at;      /* place in the list of hosts */
} host_entry;

/* A link of the batch, and where it comes from. */
typedef struct batch_link {
    const fetch_job *page; /* NULL: from a robots.txt */
    const harvest_link *link;
    const frontier_url *asked; /* a link that must not be followed, and whose turn has come; NULL: another link */
} batch_link;

typedef struct batch_drop {
    uint64_t host, number;
    uint32_t level;
} batch_drop;

/* A URL that the set has answered NEW for, a page whose turn has come, or, without a URL, one that has to wait. */
typedef struct batch_row {
    frontier_url url;
    uint64_t path; /* key of the path, if there is a query; else 0 */
    bool trapped;
    bool is_turn;
    char *text;     /* of a page whose turn it is, or of a URL from another process; NULL: a link of the batch has it */
    vidi_str far;   /* the page of another process that it was found on, after the text; ptr NULL: none */
    int64_t due;    /* for the schedule; 0: the page is not in it */
    uint64_t visit; /* in which it had its last turn; 0: as it was */
} batch_row;

/* What is committed together. The arrays keep their room from batch to batch. */
typedef struct batch {
    messages fetch_jobs, host_infos;
    size_t bytes;
    int64_t began; /* milliseconds of real time */
    /* Where the next call of batch_ask_set begins; NULL: at the first. */
    const message *last_job, *last_info;
    vidi_str *urls;
    uint8_t *verdicts;
    batch_link *links;
    uint64_t *targets; /* with `check` */
    /* Links that must not be followed, from the database: their rows go when they become rows of the frontier. */
    frontier_url *asked;
    uint64_t *asked_keys;
    bytes asked_text;
    size_t asked_count, asked_added;
    size_t link_count, link_room, target_room;
    id_map payloads; /* fetch jobs whose bodies are written, by db_payload_key */
    batch_row *rows;
    size_t row_count, row_room;
    /* The transaction, which may be open long before it is committed: see storage_prepare. */
    bool is_open;
    size_t rows_written;
    size_t rows_taken; /* with --fleet: rows of URLs that others have sent, or that are seeds */
    size_t rows_known; /* with --fleet: rows whose URLs were added to the set */
    size_t *sorts;     /* how many rows there were at each sort: a transaction that is tried again sorts there, too */
    size_t sort_count, sort_room;
    batch_drop *drops;
    size_t drop_count, drop_room;
    uint64_t skipped[HARVEST_SKIPS];
    bytes lines; /* for the output file */
    bool lines_written, lines_synced, lines_failed;
} batch;

/* A crawl that has no end: see continuous.c. */
typedef struct continuous {
    schedule *schedule; /* NULL: the first visit is not over, or the crawl has an end */
    bool stale;         /* the schedule has counted what was rolled back */
    double budget;      /* pages an hour */
    double tokens;
    int64_t filled_at;    /* when tokens were last added */
    int64_t look_at;      /* when to look for pages again, if no host can take more */
    int64_t unpark_at;    /* when parked hosts are asked again ... */
    int64_t unpark_after; /* ... and how long it takes from one time to the next */
    int64_t shown_at;     /* by the real clock */
    bool crowded;         /* the pages that are due first belong to hosts that cannot take more */
    uint64_t left;        /* pages that have had no turn in this visit */
    uint64_t out;         /* turns without an outcome */
    id_map hosts;         /* the same by host */
} continuous;

/* A crawl of a fleet: see the files shared_….c. */
typedef struct shared {
    /* Lists for one call of the fleet, which keep their room. */
    fleet_link *links;
    size_t *places; /* of the links in the batch */
    vidi_str *urls;
    bool *mine;
    size_t link_room, place_room, url_room, mine_room;
    bytes payloads;
    bytes found_on; /* the URL of the page with this row, which was looked up last */
    uint64_t found_on_row;
    /* links from others */
    bytes far;       /* what the database says about where the last row was found; see db_far_add */
    bool far_known;  /* if not: it says something else, or nothing */
    bytes bad;       /* URLs that others have sent and that cannot be fetched, each ended by a zero byte */
    bool took;       /* links were taken, and the fleet does not know yet that they are in the database */
    bool seeds_sent; /* the database is to say so */
    /* hosts */
    uint64_t version;     /* of the table of members that hosts were looked at under; 0: none yet */
    bool adopts;          /* it is not adopted yet */
    bool out;             /* the lease was lost, and the fetcher was told */
    uint64_t lost;        /* hosts that the fetcher was told to give back, and has not */
    int64_t changed_at;   /* when hosts have last changed hands, as far as is known */
    id_map barred;        /* hosts that must not be fetched from now */
    int64_t barred_until; /* when they are looked at again */
    bool scans, rescans;  /* looks for URLs that belong to others; must begin again */
    bool handed_over;     /* blocks that were handed over are still there until the batch is committed */
    uint32_t scan_level;
    uint64_t scan_host, scan_after; /* where it goes on: the host, and the last block of it that was handed over */
    uint64_t site;                  /* that shared_admits has looked up */
    int state;                      /* fleet_state */
    int64_t stat_at;                /* when the set's figures are asked for again */
    double expected_lost;           /* of the fleet's set */
    uint32_t fp_meaning;
} shared;

typedef struct storage {
    crawl *crawl;
    archive_packer *packer; /* NULL: not needed yet */
    bytes revisit;          /* the records of a page whose body is stored already */
    id_map payloads;        /* rows by db_payload_key that the database's table does not have yet */
    bool payloads_written;  /* the open transaction has them */
    counters counts;        /* committed */
    counters pending;       /* with what the open transaction adds */
    batch batch;
    size_t handled; /* messages of this round that are not part of the batch */
    messages to_fetcher;

    id_map hosts;
    host_entry **list;
    size_t list_room;
    id_map parked;
    id_map later; /* hosts that were given back because they have to wait: until which date */
    frontier_block block;
    uint32_t level;
    uint64_t cursor;       /* where the search for hosts goes on */
    bool more_hosts;       /* the frontier may have hosts that the fetcher does not have */
    bool sort_helps;       /* unsorted rows would serve a host that waits, or a new one */
    uint64_t out;          /* URLs that the fetcher has */
    bool sites_ripe;       /* budgets of sites allow more URLs than the last transaction has released */
    uint64_t released;     /* by the open transaction */
    uint64_t filter_until; /* blocks with ids up to this one may have finished URLs */
    int64_t room_asked;    /* when the fetcher was last asked to make room */

    continuous continuous;
    shared shared;

    int64_t synced_at;
    bool unsynced;
    vidi_stats stats;
    bool has_stats; /* newer than what the database has */
} storage;

/* Milliseconds of real time, for batches: they must not depend on a clock that stands still. */
int64_t storage_now(void);

/* ---- batch_links.c ---- */

bool batch_is_empty(const batch *batch);
/* Adds all links to the set that were not added yet, and makes rows of those that are new. */
int batch_ask_set(storage *storage);
/* Gives a page its turn: a row. Copies the text. */
int batch_turn(storage *storage, const frontier_url *url);
/* Lets a page of the schedule wait. visit: it counts as a turn in this visit; 0: it does not. */
int batch_delay(storage *storage, uint64_t page, int64_t due, uint64_t visit);
int batch_drop_block(storage *storage, uint64_t host, uint32_t level, uint64_t number);
/*
 * Makes a row of a URL that is new, but is not a link of the batch. Takes the text over, also on error. VIDI_INVALID: it
 * cannot be fetched.
 */
int batch_take_row(storage *storage, const frontier_url *url, char *text, vidi_str far);
/* The row that a link becomes if it is new. */
frontier_url batch_row_of(vidi_str url, const batch_link *from);
void batch_clear(batch *batch);
/* The rows are committed, and the transaction with it. */
void batch_clear_rows(batch *batch);
void batch_free(batch *batch);

/* ---- commit.c ---- */

/*
 * Makes rows and blocks of the links that have come so far, and leaves the transaction open. host_table_feed can then
 * hand out these URLs, so that the fetcher need not wait for the disk. That is safe because nothing about them becomes
 * durable before their rows: this thread commits this transaction before it begins another, so the outcome of such a
 * URL is in the same transaction as its row, or in a later one. After a crash the rows are gone and the set has not
 * seen the URLs; so has the page that links to them no outcome, and is fetched again.
 *
 * If the transaction must be rolled back, it is written again with the same ids and the same blocks.
 */
int storage_prepare(storage *storage);
/*
 * Commits the batch, which may be empty; the batch is empty afterwards. Errors are reported to the crawl (crawl_fail).
 */
int storage_commit(storage *storage);
/* Commits the rows that have come so far, and nothing else of the batch. */
int storage_commit_rows(storage *storage);
/* Ends the crawl with a sentence, `said` or the one for the error; returns the error. */
int storage_failed(storage *storage, int error, const char *what, const char *said);
/* Brings the set's commits to disk. */
int storage_sync(storage *storage);

/* ---- payloads.c ---- */

/*
 * The records to write for a page: a revisit record takes the place of the response if the body is stored already, and
 * the page's `body` is set. Empty: nothing. Valid until the next call; called once for each page, before it is written.
 */
int payloads_records(storage *storage, fetch_job *page, vidi_str *records);
/* The page's response is written. */
int payloads_note(storage *storage, fetch_job *page);
/* In a transaction: writes the table, if there is much to write or this is the end of the run. */
int payloads_write(storage *storage);
/* The transaction is through. */
void payloads_conclude(storage *storage);
/* Before the first batch: after a crash, makes the table again. */
int payloads_open(storage *storage);
void payloads_free(storage *storage);

/* ---- changes.c ---- */

/*
 * Compares an outcome that is about to be written with what earlier visits know of its page: sets `change` and
 * `compared`. *prior is then what db_newest_write writes; nothing in the first visit.
 */
int change_find(const crawl *crawl, db_outcome *row, db_prior *prior);

/* ---- continuous.c ---- */

/* Reads the schedule, if this visit has one. */
int continuous_begin(storage *storage);
void continuous_end(storage *storage);
/* Gives turns to pages, as far as the budget allows. */
int continuous_feed(storage *storage);
/* Milliseconds until the next turn; INT64_MAX: there is none. */
int64_t continuous_patience(const storage *storage);
/* Tells the fetcher when that is, after everything else: a clock that skips the waiting may then jump. */
void continuous_tell(storage *storage);
/* Nothing is left to fetch: begins the next visit, if all pages have had their turns, or the first visit is over. */
int continuous_idle(storage *storage);
/* True if the page will have its turn, so that a link to it needs no row. */
int continuous_knows(storage *storage, uint64_t page, bool *scheduled);
/* An outcome is about to be written: when the page will be visited again. In the transaction. */
int continuous_note(storage *storage, const frontier_url *url, const db_outcome *row, const db_prior *prior);
/* The fetch job is committed. */
void continuous_done(storage *storage, const fetch_job *done);
/* The host is parked: its turns do not keep others from theirs. */
void continuous_park(storage *storage, uint64_t host);

/* ---- link_check.c ---- */

/* What a report shows as the text of a link. */
vidi_str link_text(const harvest_link *link);
/* A part of the transaction: rows that only --check has, apart from the edges. */
int link_check_write(storage *storage);
/*
 * Nothing is left to fetch: puts some of the links that must not be followed through the set, and commits. Rows are made
 * of those that no other link led to. *asked: there were some.
 */
int link_check_ask(storage *storage, bool *asked);

/* ---- host_table.c ---- */

host_entry *host_table_find(const storage *storage, uint64_t host);
/* A fetch job of the batch has come to its end: counts it in its block. */
int host_table_settle(storage *storage, const fetch_job *done);
/* The fetch job is committed. */
void host_table_done(storage *storage, const fetch_job *done);
/* A row was appended. */
void host_table_appended(storage *storage, uint64_t host);
int host_table_want(storage *storage, const host_request *wanted);
int host_table_leave(storage *storage, const host_request *left);
int host_table_park(storage *storage, uint64_t host);
/* It need not have a place in memory before that date. */
int host_table_defer(storage *storage, uint64_t host, int64_t until);
/* All rows are in blocks now. */
void host_table_sorted(storage *storage);
/* Blocks of URLs were made that are older than others. */
void host_table_released(storage *storage);
/* Leaves out finished URLs: blocks of an earlier run, or of a host that has left, may have some. */
int host_table_filter(storage *storage, frontier_block *block);
/* Hands blocks to hosts that want some, and to new hosts while there is room. */
int host_table_feed(storage *storage);
/* *done: nothing is left that could be fetched. If only this level is done, begins the next one. */
int host_table_is_done(storage *storage, bool *done);
void host_table_free(storage *storage);

/* ---- shared_links.c: without a fleet none of these is called ---- */

/* The links of the batch from `from` on go to whoever has their sites: `verdicts` then says which are this process's. */
int shared_send(storage *storage, size_t from, size_t end);
/* Makes rows of what others have sent, some of it. */
int shared_take(storage *storage);
/* The same for as long as another process cannot take what we send: its stream is full. Commits the rows. */
int shared_make_way(storage *storage);
/* The URLs of new rows are added to the set, which is not asked. */
int shared_remember(storage *storage);
/* In a transaction, after a row is written: where it was found. */
int shared_note_far(storage *storage, const batch_row *row);
/*
 * Lists a URL of the frontier for one call of the fleet; *count begins with 0. The texts must stay. shared_listed gives
 * the list, which is good until the next one begins.
 */
int shared_list(storage *storage, const frontier_url *url, size_t *count);
fleet_link *shared_listed(storage *storage, size_t count);
/* Sends the seeds, unless that was done before. */
int shared_seeds(storage *storage);
void shared_free(storage *storage);

/* ---- shared_hosts.c: the same ---- */

/* At the beginning of the run, and in each round. */
void shared_begin_hosts(storage *storage);
int shared_look(storage *storage);
/* Milliseconds until shared_look has something to do. */
int64_t shared_patience(const storage *storage);
/* True if nothing may be committed now, because the lease is lost. */
bool shared_is_out(const storage *storage);
/* Whether the host, which has blocks on this level, may be fetched from. If so, shared.site is its site. */
int shared_admits(storage *storage, uint32_t level, uint64_t host, bool *admitted);
/* How long the first request must wait to a host that is admitted now, in milliseconds. */
int64_t shared_wait(const storage *storage);
/* The fetcher has given back a host. */
void shared_host_left(storage *storage, host_entry *host);
void shared_host_forgotten(storage *storage, const host_entry *host);
/* Nothing is left to do here: whether it is over everywhere. */
int shared_idle(storage *storage, bool *over);

/* ---- shared_pages.c: the same ---- */

/* The reason of URLs that another process has fetched, or will fetch. */
extern const char shared_reason[];

/* Leaves out of a block what is not this process's to fetch; the rest of it gets the outcome "elsewhere". */
int shared_check(storage *storage, frontier_block *block);
/* Gives a URL of a block that outcome. */
int shared_elsewhere(storage *storage, const frontier_url *url, const frontier_block *block);
/* URLs that the fetcher has given back, each ended by a zero byte. */
int shared_put_back(storage *storage, vidi_str urls);
/* In a transaction: notes which rows the fleet must hear of. */
int shared_write_untold(storage *storage, bool all);
/* The transaction is through: the pages of the batch (not `all`: its trapped rows) are done, and what was taken is here. */
int shared_committed(storage *storage, bool all);
/* Tells the fleet what the last run did not. */
int shared_tell_rest(storage *storage);
/* Figures of the fleet's set in the place of those of the process's own. */
int shared_stat(storage *storage);

/* ---- site_links.c ---- */

/* What the batch's links and host infos mean for budgets. In the transaction, when its rows are sorted. */
int site_links_write(storage *storage);
int site_links_committed(storage *storage);
/* Finds out what URLs wait for. */
int site_links_end(storage *storage);

#endif
