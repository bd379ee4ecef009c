/*
 * What the files of the ledger share.
 */
#ifndef VIDI_CRAWLER_LEDGER_LEDGER_STATE_H
#define VIDI_CRAWLER_LEDGER_LEDGER_STATE_H

#include "crawler/ledger/ledger.h"

enum ledger_statement {
    LEDGER_BEGIN,
    LEDGER_COMMIT,
    LEDGER_ROLLBACK,
    LEDGER_TOTALS_READ,
    LEDGER_TOTALS_WRITE,
    LEDGER_GET,
    LEDGER_SET,
    LEDGER_OUTCOME_ADD,
    LEDGER_OUTCOME_HAS,
    LEDGER_HOST_READ,
    LEDGER_HOST_CHANGE,
    LEDGER_HOST_ADD,
    LEDGER_HOST_PAGES,
    LEDGER_ROBOTS_READ,
    LEDGER_ROBOTS_WRITE,
    LEDGER_SEED,
    LEDGER_SEEDS_FAILED,
    LEDGER_SEEDS_AGAIN,
    LEDGER_SKIP,
    LEDGER_EDGE,
    LEDGER_PATH,
    LEDGER_REASONS,
    LEDGER_SKIPPED,
    LEDGER_STATEMENTS
};

struct ledger {
    sqlite3 *db;
    frontier *urls;
    bool read_only;
    bool doubtful; /* ledger_is_doubtful */
    uint64_t inode;
    ledger_totals totals; /* without `urls` and `queue` */
    bool totals_changed;
    bool rolled_back; /* what is in memory must be read again */
    int spoiled;      /* an error in this transaction; VIDI_OK: none */
    bytes host;       /* the texts of the last ledger_host_read */
    sqlite3_stmt *statements[LEDGER_STATEMENTS];
    char error[256];
};

/* Keeps SQLite's sentence about an error, and returns the code. */
int ledger_fail(ledger *of, int code);
/* Prepares a statement. */
int ledger_ready(ledger *of, enum ledger_statement which);
/* The same for what writes: there must be a transaction. */
int ledger_ready_to_write(ledger *of, enum ledger_statement which);
/* Runs a statement that writes. An error spoils the transaction. */
int ledger_write(ledger *of, enum ledger_statement which);
/* Reads the totals as they are in the database. */
int ledger_load_totals(ledger *of);

/*
 * Opens the file and makes sure that it is a ledger, with tables and settings. *db must be closed after errors, too.
 * *has_log: it has a log, so that it was not closed, or is in use. opening.c has it.
 */
int ledger_open_database(sqlite3 **db, const char *path, enum ledger_access access, bool *has_log, char *why);

/* The tables that the frontier does not make; schema.c has them. */
extern const char ledger_tables[];
enum { LEDGER_APPLICATION = 0x76696469, LEDGER_VERSION = 1, LEDGER_WHY = 256 }; /* "vidi" */

#endif
