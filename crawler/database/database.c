/*
 * The database itself: opening, transactions, and the totals, which are counted in memory and written with each commit,
 * so that they are what the committed rows add up to. What is in the tables is in rows.c.
 */
#include "crawler/database/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "crawler/base/sql.h"
#include "crawler/database/database_state.h"

/* A seed (its kind is ?1) that got no response, or not all of it. */
#define FAILED_SEED                                                                                                    \
    "reason IN ('address', 'broken', 'connect', 'name', 'timeout', 'tls')"                                             \
    " AND (SELECT kind FROM urls WHERE urls.id = outcomes.id) = ?1"

static const char *const texts[DB_STATEMENTS] = {
    [DB_BEGIN] = "BEGIN IMMEDIATE",
    [DB_COMMIT] = "COMMIT",
    [DB_ROLLBACK] = "ROLLBACK",
    [DB_TOTALS_READ] = "SELECT fetched, failed, bytes, hosts, archived, (SELECT max(id) FROM urls) FROM totals",
    [DB_TOTALS_WRITE] = "UPDATE totals SET fetched = ?1, failed = ?2, bytes = ?3, hosts = ?4, archived = ?5",
    [DB_GET] = "SELECT value FROM meta WHERE name = ?1",
    [DB_SET] = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)",
    [DB_OUTCOME_ADD] = "INSERT INTO outcomes (id, status, reason, error, type, bytes, digest, date, seconds, redirect,"
                       " links, file, offset, length) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,"
                       " ?14) ON CONFLICT (id) DO NOTHING",
    [DB_OUTCOME_HAS] = "SELECT 1 FROM outcomes WHERE id = ?1",
    [DB_HOST_READ] = "SELECT origin, pages, not_before, parked, robots_outcome, robots_date, robots_reached"
                     " FROM hosts WHERE id = ?1",
    [DB_HOST_CHANGE] = "UPDATE hosts SET origin = ?2, pages = ?3, not_before = ?4, parked = ?5, robots_outcome = ?6,"
                       " robots_date = ?7, robots_reached = ?8 WHERE id = ?1",
    [DB_HOST_ADD] = "INSERT INTO hosts (id, origin, pages, not_before, parked, robots_outcome, robots_date,"
                    " robots_reached) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [DB_HOST_PAGES] = "UPDATE hosts SET pages = ?2 WHERE id = ?1",
    [DB_ROBOTS_READ] = "SELECT file FROM robots WHERE host = ?1",
    [DB_ROBOTS_WRITE] = "INSERT INTO robots (host, file) VALUES (?1, ?2)"
                        " ON CONFLICT (host) DO UPDATE SET file = excluded.file WHERE file <> excluded.file",
    [DB_SEEDS_FAILED] =
        "SELECT id, (SELECT url FROM urls WHERE urls.id = outcomes.id) FROM outcomes WHERE " FAILED_SEED,
    [DB_SEEDS_AGAIN] = "UPDATE outcomes SET reason = 'again' WHERE " FAILED_SEED,
    [DB_SEED] = "INSERT INTO seeds (url) VALUES (?1) ON CONFLICT (url) DO NOTHING",
    [DB_SKIP] = "INSERT INTO skipped (reason, links) VALUES (?1, ?2)"
                " ON CONFLICT (reason) DO UPDATE SET links = links + excluded.links",
    [DB_EDGE] = "INSERT INTO edges (target, page, text) VALUES (?1, ?2, ?3)",
    [DB_PATH] = "INSERT INTO paths (path, queries) VALUES (?1, 1)"
                " ON CONFLICT (path) DO UPDATE SET queries = queries + 1 RETURNING queries",
    [DB_REASONS] = "SELECT reason, count(*) FROM outcomes WHERE reason IS NOT NULL GROUP BY reason ORDER BY reason",
    [DB_SKIPPED] = "SELECT reason, links FROM skipped ORDER BY reason",
};

/* ---- errors and statements ---- */

int db_fail(crawl_db *db, int code)
{
    if (code == VIDI_EMEMORY)
        snprintf(db->error, sizeof db->error, "out of memory");
    else
        snprintf(db->error, sizeof db->error, "%s", sql_message(db->sqlite));
    return code;
}

const char *db_error(const crawl_db *db)
{
    return db->error[0] ? db->error : frontier_error(db->urls);
}

int db_ready(crawl_db *db, enum db_statement which)
{
    db->error[0] = 0;
    int error = sql_prepare(db->sqlite, &db->statements[which], texts[which]);
    return error ? db_fail(db, error) : VIDI_OK;
}

int db_ready_to_write(crawl_db *db, enum db_statement which)
{
    if (sqlite3_get_autocommit(db->sqlite)) {
        snprintf(db->error, sizeof db->error, "there is no transaction, or it has been rolled back");
        return VIDI_EARGUMENT;
    }
    int error = db_ready(db, which);
    if (error)
        db->spoiled = error;
    return error;
}

int db_change(crawl_db *db, enum db_statement which, const sql_value *values, int count)
{
    int error = db_ready_to_write(db, which);
    if (error)
        return error;
    sql_bind(db->statements[which], values, count);
    error = sql_run(db->statements[which]);
    if (!error)
        return VIDI_OK;
    db->spoiled = error; /* until the next db_begin */
    return db_fail(db, error);
}

/* ---- totals ---- */

int db_load_totals(crawl_db *db)
{
    int error = db_ready(db, DB_TOTALS_READ);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_TOTALS_READ];
    int result = sqlite3_step(ask);
    error = result == SQLITE_DONE ? VIDI_EDAMAGED : sql_code(result);
    if (error)
        db_fail(db, error);
    else
        db->totals = (db_totals){.fetched = sql_number(ask, 0),
                                 .failed = sql_number(ask, 1),
                                 .bytes = sql_number(ask, 2),
                                 .hosts = sql_number(ask, 3),
                                 .archived = sql_number(ask, 4),
                                 .urls = sql_number(ask, 5)};
    sqlite3_reset(ask);
    return error;
}

static int write_totals(crawl_db *db)
{
    const db_totals *totals = &db->totals;
    if (!db->totals_changed)
        return VIDI_OK;
    int error = DB_CHANGE(db, DB_TOTALS_WRITE, SQL_NUMBER(totals->fetched), SQL_NUMBER(totals->failed),
                          SQL_NUMBER(totals->bytes), SQL_NUMBER(totals->hosts), SQL_NUMBER(totals->archived));
    db->totals_changed = error != VIDI_OK;
    return error;
}

/* Totals that another process writes are read again; those that this one writes are in memory. */
int db_total(crawl_db *db, db_totals *totals)
{
    int error = db->read_only || db->rolled_back ? db_load_totals(db) : VIDI_OK;
    if (error)
        return error;
    *totals = db->totals;
    if (!db->read_only && !db->rolled_back)
        totals->urls = frontier_last(db->urls);
    totals->queue = totals->urls - totals->fetched - totals->failed;
    return VIDI_OK;
}

/* ---- transactions ---- */

/* Called by SQLite for every rollback, also for those it makes by itself. */
static void note_rollback(void *context)
{
    crawl_db *db = context;
    db->rolled_back = true;
    frontier_forget(db->urls);
}

bool db_is_open(const crawl_db *db)
{
    return !sqlite3_get_autocommit(db->sqlite);
}

int db_begin(crawl_db *db)
{
    if (db->read_only) {
        snprintf(db->error, sizeof db->error, "the database was opened for reading");
        return VIDI_EARGUMENT;
    }
    int error = db_ready(db, DB_BEGIN);
    if (error)
        return error;
    error = sql_run(db->statements[DB_BEGIN]);
    if (error)
        return db_fail(db, error);
    db->spoiled = VIDI_OK;
    if (db->rolled_back)
        error = db_load_totals(db);
    if (!error && db->rolled_back)
        error = frontier_refresh(db->urls);
    if (error) {
        db_rollback(db);
        return error;
    }
    db->rolled_back = db->totals_changed = false;
    return VIDI_OK;
}

int db_commit(crawl_db *db)
{
    int spoiled = db->spoiled || !frontier_is_spoiled(db->urls) ? db->spoiled : VIDI_EIO;
    if (spoiled) {
        if (!db->error[0])
            snprintf(db->error, sizeof db->error, "a change of this transaction has failed");
        return spoiled;
    }
    int error = db_ready_to_write(db, DB_COMMIT);
    if (!error)
        error = frontier_flush(db->urls);
    if (!error)
        error = write_totals(db);
    if (error)
        return error;
    error = sql_run(db->statements[DB_COMMIT]);
    return error ? db_fail(db, error) : VIDI_OK;
}

void db_rollback(crawl_db *db)
{
    char error[sizeof db->error];
    snprintf(error, sizeof error, "%s", db->error); /* it tells why */
    if (db_is_open(db) && db_ready(db, DB_ROLLBACK) == VIDI_OK)
        sql_run(db->statements[DB_ROLLBACK]);
    frontier_refresh(db->urls); /* if that fails, the next call tries it again */
    snprintf(db->error, sizeof db->error, "%s", error);
}

/* ---- opening ---- */

/* If levels are kept apart now and were not before, or the other way round, everything is sorted again. */
static int set_levels(crawl_db *db, bool by_level)
{
    int64_t before = -1;
    int error = db_get(db, "by_level", &before);
    if (error == VIDI_OK && (before != 0) == by_level)
        return VIDI_OK;
    if (error && error != VIDI_EABSENT)
        return error;
    error = db_begin(db);
    if (!error)
        error = sql_execute(db->sqlite, "DELETE FROM queue; DELETE FROM segments;");
    if (!error)
        error = db_set(db, "by_level", by_level);
    if (!error)
        error = db_commit(db);
    if (error)
        db_rollback(db);
    frontier_forget(db->urls);
    return error ? error : frontier_refresh(db->urls);
}

/* The database is doubtful unless the mark says that it was closed, and that it was this file. */
static int read_mark(crawl_db *db, const char *path)
{
    struct stat about;
    int64_t closed = 1, inode = 0;
    int error = db_get(db, "closed", &closed);

    if (error == VIDI_OK)
        error = db_get(db, "inode", &inode);
    db->inode = stat(path, &about) == 0 ? about.st_ino : 0;
    db->doubtful |= error == VIDI_OK && (!closed || (uint64_t)inode != db->inode);
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

int db_mark(crawl_db *db, bool closed)
{
    int error = db_set(db, "closed", closed);
    return error ? error : db_set(db, "inode", (int64_t)db->inode);
}

bool db_is_doubtful(const crawl_db *db)
{
    return db->doubtful;
}

static int open_inside(crawl_db *db, const char *path, enum db_access access, bool by_level, char *why)
{
    int error = db_open_database(&db->sqlite, path, access, &db->doubtful, why);
    if (error)
        return error;
    error = frontier_open(&db->urls, db->sqlite, by_level);
    if (error) {
        snprintf(why, DB_WHY, "%.160s: %.90s", path, sql_message(db->sqlite));
        return error;
    }
    sqlite3_rollback_hook(db->sqlite, note_rollback, db);
    db->read_only = access == DB_READ_ONLY;
    error = db_load_totals(db);
    if (!error)
        error = read_mark(db, path);
    if (!error && !db->read_only)
        error = set_levels(db, by_level);
    if (error)
        snprintf(why, DB_WHY, "%.160s: %.90s", path, db_error(db));
    return error;
}

int db_open(crawl_db **made, const char *path, enum db_access access, bool by_level, char *why)
{
    *made = NULL;
    crawl_db *db = calloc(1, sizeof *db);
    if (!db) {
        snprintf(why, DB_WHY, "%.160s: out of memory", path);
        return VIDI_EMEMORY;
    }
    int error = open_inside(db, path, access, by_level, why);
    if (error)
        db_close(db);
    else
        *made = db;
    return error;
}

void db_close(crawl_db *db)
{
    if (!db)
        return;
    if (db->urls)
        db_rollback(db);
    for (size_t i = 0; i < DB_STATEMENTS; i++)
        sqlite3_finalize(db->statements[i]);
    frontier_close(db->urls);
    if (db->sqlite)
        sqlite3_rollback_hook(db->sqlite, NULL, NULL);
    sqlite3_close(db->sqlite);
    bytes_free(&db->host);
    free(db);
}

frontier *db_frontier(crawl_db *db)
{
    return db->urls;
}

sqlite3 *db_sqlite(crawl_db *db)
{
    return db->sqlite;
}
