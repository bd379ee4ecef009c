/*
 * Verifies the database, for `vidi crawl check` and for a crawl whose database was not closed in good order: a copy
 * that was made while a crawl was writing may mix pages of different moments, which SQLite does not notice.
 *
 * Three things must hold: SQLite's trees are sound; the totals are those of the rows; and each URL without an outcome
 * is in the queue, or among the rows that are not sorted yet.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/base/sql.h"
#include "crawler/database/checked_file.h"
#include "crawler/database/database_state.h"

enum { SENTENCE = 256 };

/* Faults go to the visitor; `stop` is what it has returned. */
typedef struct verifying {
    crawl_db *db;
    db_fault *fault;
    void *context;
    int stop;
    uint64_t sorted; /* rows up to here must be in a block or have an outcome */
    unsigned char *queued;
} verifying;

__attribute__((format(printf, 2, 3))) static void tell(verifying *self, const char *format, ...)
{
    char sentence[SENTENCE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (!self->stop)
        self->stop = self->fault(self->context, sentence);
}

/* ---- SQLite's own check ---- */

static int check_trees(verifying *self, bool thorough)
{
    sqlite3_stmt *ask = NULL;
    int result = SQLITE_DONE;
    int error = sql_prepare(self->db->sqlite, &ask, thorough ? "PRAGMA integrity_check(10)" : "PRAGMA quick_check(1)");

    while (!error && !self->stop && (result = sqlite3_step(ask)) == SQLITE_ROW) {
        const char *said = sql_text(ask, 0).ptr;
        if (!said)
            error = VIDI_EMEMORY;
        else if (strcmp(said, "ok") != 0)
            tell(self, "SQLite finds a fault: %.200s", said);
    }
    if (!error && result != SQLITE_ROW)
        error = sql_code(result);
    sqlite3_finalize(ask);
    return error ? db_fail(self->db, error) : VIDI_OK;
}

/* ---- rows and totals ---- */

#define IN_VISIT " WHERE " DB_THIS_VISIT

/* A number that is computed from rows, and the one that was kept beside them. */
static const struct {
    const char *what, *rows, *kept;
} sums[] = {
    {"URLs", "SELECT count(*) FROM urls", "SELECT max(id) FROM urls"},
    {"URLs", "SELECT count(*) FROM urls" IN_VISIT, "SELECT value FROM meta WHERE name = 'urls'"},
    {"outcomes", "SELECT count(*) FROM outcomes" IN_VISIT, "SELECT value FROM meta WHERE name = 'outcomes'"},
    {"pages", "SELECT count(*) FROM outcomes" IN_VISIT " AND status <> 0",
     "SELECT value FROM meta WHERE name = 'pages'"},
    {"fetched pages", "SELECT count(*) FROM outcomes" IN_VISIT " AND reason IS NULL", "SELECT fetched FROM totals"},
    {"failed pages", "SELECT count(*) FROM outcomes" IN_VISIT " AND reason IS NOT NULL", "SELECT failed FROM totals"},
    {"archived pages", "SELECT count(*) FROM outcomes" IN_VISIT " AND file IS NOT NULL", "SELECT archived FROM totals"},
    {"bytes", "SELECT sum(bytes) FROM outcomes" IN_VISIT, "SELECT bytes FROM totals"},
    {"hosts", "SELECT count(*) FROM hosts", "SELECT hosts FROM totals"},
    {"rows of earlier visits without an outcome", "SELECT count(*) FROM urls WHERE NOT " DB_THIS_VISIT,
     "SELECT count(*) FROM outcomes WHERE NOT " DB_THIS_VISIT},
    {"outcomes of URLs that are there", "SELECT count(*) FROM outcomes",
     "SELECT count(*) FROM outcomes WHERE id BETWEEN 1 AND (SELECT max(id) FROM urls)"},
    {"referrers that are there", "SELECT count(*) FROM urls",
     "SELECT count(*) FROM urls WHERE referrer >= 0 AND referrer < id"},
};

/* *found: there is a row. NULL counts as 0. */
static int ask(verifying *self, const char *text, int64_t *value, bool *found)
{
    sqlite3_stmt *statement = NULL;
    int error = sql_prepare(self->db->sqlite, &statement, text);

    if (!error) {
        int result = sqlite3_step(statement);
        *found = result == SQLITE_ROW;
        *value = *found ? sqlite3_column_int64(statement, 0) : 0;
        error = sql_code(result);
    }
    sqlite3_finalize(statement);
    return error ? db_fail(self->db, error) : VIDI_OK;
}

static int check_sums(verifying *self)
{
    int error = VIDI_OK;

    for (size_t i = 0; i < sizeof sums / sizeof *sums && !error && !self->stop; i++) {
        int64_t rows = 0, kept = 0;
        bool found = true;
        error = ask(self, sums[i].rows, &rows, &found);
        if (!error)
            error = ask(self, sums[i].kept, &kept, &found);
        if (!error && found && rows != kept)
            tell(self, "%s: %" PRId64 " are in the tables, but %" PRId64 " were counted", sums[i].what, rows, kept);
    }
    return error;
}

/* ---- the queue ---- */

static int mark_queued(void *context, uint64_t id)
{
    verifying *self = context;

    if (id > 0 && id <= self->sorted)
        self->queued[id / 8] |= (unsigned char)(1U << id % 8);
    return 0;
}

static int count_missing(verifying *self)
{
    sqlite3_stmt *open = NULL;
    int result = SQLITE_DONE;
    uint64_t missing = 0, first = 0;
    int error = sql_prepare(self->db->sqlite, &open,
                            "SELECT id FROM urls WHERE id <= ?1 AND id NOT IN (SELECT id FROM outcomes) ORDER BY id");

    if (!error)
        sql_bind(open, SQL_VALUES(SQL_NUMBER(self->sorted)));
    while (!error && (result = sqlite3_step(open)) == SQLITE_ROW) {
        uint64_t id = sql_number(open, 0);
        if (self->queued[id / 8] >> id % 8 & 1)
            continue;
        first = missing++ ? first : id;
    }
    if (!error)
        error = sql_code(result);
    sqlite3_finalize(open);
    if (missing > 0)
        tell(self, "%" PRIu64 " URLs have no outcome and are not in the queue; the first is number %" PRIu64, missing,
             first);
    return error ? db_fail(self->db, error) : VIDI_OK;
}

static int check_queue(verifying *self)
{
    frontier *urls = self->db->urls;

    self->sorted = frontier_last(urls) - frontier_unsorted(urls);
    self->queued = calloc(1, (size_t)(self->sorted / 8 + 1));
    int error = self->queued ? frontier_queued(urls, mark_queued, self) : VIDI_EMEMORY;
    if (error == VIDI_EDAMAGED)
        tell(self, "a block of the queue cannot be read");
    else if (!error)
        error = count_missing(self);
    free(self->queued);
    return error == VIDI_EDAMAGED && self->stop ? VIDI_OK : error;
}

int db_pages(const char *path, uint64_t *pages, uint64_t *unchecked, db_fault *fault, void *context)
{
    checked_pages found;
    char sentence[SENTENCE];
    int error = checked_file_read(path, &found);

    *pages = found.pages;
    *unchecked = found.unchecked;
    if (error || found.damaged == 0)
        return error;
    snprintf(sentence, sizeof sentence, "%" PRIu64 " of %" PRIu64 " pages are damaged; the first is page %" PRIu64,
             found.damaged, found.pages, found.first);
    return fault(context, sentence);
}

int db_verify(crawl_db *db, bool thorough, db_fault *fault, void *context)
{
    verifying self = {.db = db, .fault = fault, .context = context};
    int error = sql_execute(db->sqlite, "SAVEPOINT verify"); /* all is of one moment */

    if (error)
        return db_fail(db, error);
    frontier_forget(db->urls);
    error = check_trees(&self, thorough);
    if (!error && !self.stop)
        error = check_sums(&self);
    if (!error && !self.stop)
        error = frontier_refresh(db->urls);
    if (!error && !self.stop)
        error = check_queue(&self);
    sql_execute(db->sqlite, "RELEASE verify");
    return self.stop ? self.stop : error;
}
