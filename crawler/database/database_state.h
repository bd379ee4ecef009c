/*
 * What the files of the database share.
 */
#ifndef VIDI_CRAWLER_DATABASE_DATABASE_STATE_H
#define VIDI_CRAWLER_DATABASE_DATABASE_STATE_H

#include "crawler/base/sql.h"
#include "crawler/database/database.h"

enum db_statement {
    DB_BEGIN,
    DB_COMMIT,
    DB_ROLLBACK,
    DB_TOTALS_READ,
    DB_TOTALS_WRITE,
    DB_GET,
    DB_SET,
    DB_OUTCOME_ADD,
    DB_OUTCOME_HAS,
    DB_PAYLOAD_ADD,
    DB_PAYLOAD_FIND,
    DB_PAYLOADS,
    DB_HOST_READ,
    DB_HOST_CHANGE,
    DB_HOST_ADD,
    DB_HOST_PAGES,
    DB_ROBOTS_READ,
    DB_ROBOTS_WRITE,
    DB_SEED,
    DB_SEEDS,
    DB_SEEDS_FAILED,
    DB_SEEDS_AGAIN,
    DB_SKIP,
    DB_EDGE,
    DB_FRAGMENT,
    DB_NAMES,
    DB_NOFOLLOW_ADD,
    DB_NOFOLLOW_READ,
    DB_NOFOLLOW_DROP,
    DB_PATH,
    DB_REASONS,
    DB_SKIPPED,
    DB_VISIT_READ,
    DB_VISIT_BEGIN,
    DB_VISIT_LOST,
    DB_VISIT_END,
    DB_CLOSE_QUEUE,
    DB_PAGES_TO,
    DB_KNOWN_BUILD,
    DB_NEWEST_BUILD,
    DB_PAGE_FIND,
    DB_PRIOR,
    DB_NEWEST_WRITE,
    DB_WAS_LINKED,
    DB_VALIDATORS,
    DB_SCHEDULE_READ,
    DB_SCHEDULE_WRITE,
    DB_SCHEDULE_REMOVE,
    DB_SCHEDULE_EACH,
    DB_SCHEDULE_MISSED,
    DB_SCHEDULE_FIRST,
    DB_SCHEDULE_DUE,
    DB_SCHEDULE_RELEASE,
    DB_SCHEDULE_COUNT,
    DB_COOKIE,
    DB_COOKIES,
    DB_COOKIES_EXPIRE,
    DB_FAR_ADD,
    DB_FAR_FIND,
    DB_UNTOLD_ADD,
    DB_UNTOLD,
    DB_UNTOLD_CLEAR,
    DB_STATEMENTS
};

struct crawl_db {
    sqlite3 *sqlite;
    frontier *urls;
    bool read_only;
    bool doubtful; /* db_is_doubtful */
    uint64_t inode;
    db_totals totals; /* without `urls` and `queue` */
    uint64_t first;   /* the first row of this visit */
    bool totals_changed;
    bool rolled_back; /* what is in memory must be read again */
    int spoiled;      /* an error in this transaction; VIDI_OK: none */
    bytes host;       /* the texts of the last db_host_read */
    bytes texts;      /* those of the last db_prior_read, db_validators_read or db_payload_find */
    sqlite3_stmt *statements[DB_STATEMENTS];
    char error[256];
};

/* Keeps SQLite's sentence about an error, and returns the code. */
int db_fail(crawl_db *db, int code);
/* Steps to the one row that a statement has. VIDI_OK: it stands on it, and the caller resets it. VIDI_EABSENT: none. */
int db_find(crawl_db *db, enum db_statement which, const sql_value *values, int count);
#define DB_FIND(db, which, ...) db_find(db, which, SQL_VALUES(__VA_ARGS__))
/*
 * Takes texts over into the database's memory, where they stay until the next call, and resets the statement: one that
 * is not reset keeps SQLite from shortening its log.
 */
int db_take_texts(crawl_db *db, sqlite3_stmt *ask, vidi_str *const *texts, size_t count);
/* Prepares a statement. */
int db_ready(crawl_db *db, enum db_statement which);
/* The same for what writes: there must be a transaction. */
int db_ready_to_write(crawl_db *db, enum db_statement which);
/* Runs a statement that writes, with these values. An error spoils the transaction. */
int db_change(crawl_db *db, enum db_statement which, const sql_value *values, int count);
#define DB_CHANGE(db, which, ...) db_change(db, which, SQL_VALUES(__VA_ARGS__))
/* Reads the totals as they are in the database. */
int db_load_totals(crawl_db *db);

/*
 * Opens the file and makes sure that it is a database, with tables and settings. *db must be closed after errors, too.
 * *has_log: it has a log, so that it was not closed, or is in use. opening.c has it.
 */
int db_open_database(sqlite3 **db, const char *path, enum db_access access, bool *has_log, char *why);

/* The tables that the frontier does not make; schema.c has them. */
extern const char db_tables[];
extern const char db_fleet_tables[]; /* and views, in the place of those that db_tables has made */
enum { DB_APPLICATION = 0x76696469, DB_VERSION = 1, DB_WHY = 256 }; /* "vidi" */

#endif
