/*
 * The database itself: opening, transactions, and the totals, which are counted in memory and written with each commit,
 * so that they are what the committed rows add up to. What is in the tables is in rows.c.
 */
#include "crawler/database/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "crawler/base/sql.h"
#include "crawler/database/database_state.h"

/* A seed (its kind is ?1) of this visit (its first row is ?2) that got no response, or not all of it. */
#define FAILED_SEED                                                                                                    \
    "reason IN ('address', 'broken', 'connect', 'name', 'timeout', 'tls')"                                             \
    " AND (SELECT kind FROM urls WHERE urls.id = outcomes.id) = ?1 AND id >= ?2"

#define SCHEDULE_ROW "s.page, s.history, s.importance, s.rate, s.alive, s.visited, s.due, s.taken"

static const char *const texts[DB_STATEMENTS] = {
    [DB_BEGIN] = "BEGIN IMMEDIATE",
    [DB_COMMIT] = "COMMIT",
    [DB_ROLLBACK] = "ROLLBACK",
    [DB_TOTALS_READ] = "SELECT fetched, failed, bytes, hosts, archived, (SELECT max(id) FROM urls),"
                       " (SELECT max(first) FROM epochs) FROM totals",
    [DB_TOTALS_WRITE] = "UPDATE totals SET fetched = ?1, failed = ?2, bytes = ?3, hosts = ?4, archived = ?5",
    [DB_GET] = "SELECT value FROM meta WHERE name = ?1",
    [DB_SET] = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)",
    [DB_OUTCOME_ADD] = "INSERT INTO outcomes (id, status, reason, error, type, bytes, digest, date, seconds, redirect,"
                       " links, file, offset, length, record, body, etag, modified, content, change, compared,"
                       " kept) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"
                       " ?19, ?20, ?21, ?22) ON CONFLICT (id) DO NOTHING",
    [DB_OUTCOME_HAS] = "SELECT 1 FROM outcomes WHERE id = ?1",
    [DB_PAYLOAD_ADD] = "INSERT OR REPLACE INTO payloads (digest, row) VALUES (?1, ?2)",
    [DB_PAYLOAD_FIND] = "SELECT o.id, u.url, o.date, o.record FROM outcomes o JOIN urls u ON u.id = o.id"
                        " WHERE o.id = iif(?1, ?1, (SELECT row FROM payloads WHERE digest = ?2)) AND o.digest = ?3"
                        " AND o.body IS NULL AND o.file IS NOT NULL AND length(o.record) = 16",
    [DB_PAYLOADS] = "SELECT id, digest FROM outcomes WHERE body IS NULL AND file IS NOT NULL AND bytes > 0",
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
    [DB_SEED] = "INSERT INTO seeds (url, text) VALUES (?1, ?2) ON CONFLICT (url) DO NOTHING",
    [DB_SEEDS] = "SELECT 0, text FROM seeds ORDER BY url",
    [DB_SKIP] = "INSERT INTO skipped (reason, links) VALUES (?1, ?2)"
                " ON CONFLICT (reason) DO UPDATE SET links = links + excluded.links",
    [DB_EDGE] = "INSERT INTO edges (target, page, text) VALUES (?1, ?2, ?3)",
    [DB_FRAGMENT] = "INSERT INTO fragments (target, page, text, fragment) VALUES (?1, ?2, ?3, ?4)",
    [DB_NAMES] = "INSERT INTO names (page, list) VALUES (?1, ?2)",
    [DB_NOFOLLOW_ADD] = "INSERT INTO nofollow (key, url, page, depth) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
    [DB_NOFOLLOW_READ] = "SELECT key, url, page, depth FROM nofollow ORDER BY key LIMIT ?1",
    [DB_NOFOLLOW_DROP] = "DELETE FROM nofollow WHERE key = ?1",
    [DB_PATH] = "INSERT INTO paths (path, queries) VALUES (?1, 1)"
                " ON CONFLICT (path) DO UPDATE SET queries = queries + 1 RETURNING queries",
    [DB_REASONS] = "SELECT reason, count(*) FROM outcomes WHERE reason IS NOT NULL AND " DB_THIS_VISIT
                   " GROUP BY reason ORDER BY reason",
    [DB_SKIPPED] = "SELECT reason, links FROM skipped ORDER BY reason",
    [DB_COOKIE] = "INSERT INTO cookies (domain, path, name, host_only, value, expires, secure, created, changed)"
                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (domain, path, name, host_only) DO UPDATE"
                  " SET value = excluded.value, expires = excluded.expires, secure = excluded.secure,"
                  " created = excluded.created, changed = excluded.changed WHERE excluded.changed > changed",
    [DB_COOKIES] = "SELECT domain, path, name, host_only, value, expires, secure, created, changed FROM cookies"
                   " ORDER BY changed DESC",
    [DB_COOKIES_EXPIRE] = "DELETE FROM cookies WHERE expires BETWEEN 0 AND ?1",
    [DB_FAR_ADD] = "INSERT OR REPLACE INTO far (id, url) VALUES (?1, ?2)",
    [DB_FAR_FIND] = "SELECT url FROM far WHERE id <= ?1 ORDER BY id DESC LIMIT 1",
    [DB_UNTOLD_ADD] = "INSERT OR IGNORE INTO untold (id) VALUES (?1)",
    [DB_UNTOLD] = "SELECT t.id, u.url FROM untold t JOIN urls u ON u.id = t.id ORDER BY t.id",
    [DB_UNTOLD_CLEAR] = "DELETE FROM untold",
    [DB_VISIT_READ] =
        "SELECT visit, first, began, comparable FROM epochs WHERE ?1 = 0 OR visit = ?1 ORDER BY visit DESC LIMIT 1",
    [DB_VISIT_BEGIN] = "INSERT INTO epochs (visit, first, began, comparable, seconds_ms, expected_lost, fp_meaning)"
                       " VALUES (?1, ?2, ?3, ?4, 0, 0, 0)",
    [DB_VISIT_LOST] = "UPDATE epochs SET expected_lost = ?1, fp_meaning = ?2 WHERE visit = (SELECT max(visit) FROM"
                      " epochs)",
    [DB_VISIT_END] = "UPDATE epochs SET ended = ?1 WHERE visit = (SELECT max(visit) FROM epochs)",
    [DB_CLOSE_QUEUE] = "INSERT INTO outcomes (id, status, reason, bytes, date, seconds, links, change)"
                       " SELECT id, 0, 'parked', 0, ?1, 0, 0, 7 FROM urls WHERE id NOT IN (SELECT id FROM outcomes)",
    [DB_NEWEST_BUILD] = "INSERT INTO newest SELECT iif(u.page, u.page, u.id) AS page, max(o.id),"
                        " ifnull(max(iif(state(o.status, o.reason) = 0, NULL, o.id)), 0),"
                        " ifnull(max(iif(state(o.status, o.reason) = 1, o.id, NULL)), 0)"
                        " FROM outcomes o JOIN urls u ON u.id = o.id GROUP BY 1",
    [DB_KNOWN_BUILD] = "INSERT OR IGNORE INTO known SELECT page_key(url), id FROM urls WHERE id > ?1 AND page = 0"
                       " AND id NOT IN (SELECT id FROM outcomes WHERE reason = 'elsewhere') ORDER BY 1, 2",
    [DB_PAGE_FIND] = "SELECT k.page, u.url FROM known k JOIN urls u ON u.id = k.page WHERE k.key = ?1",
    [DB_PRIOR] = "SELECT iif(u.page, u.page, u.id), n.row, n.settled, n.good, s.status, s.redirect,"
                 " ifnull(g.content, g.digest), g.digest, s.date, s.modified"
                 " FROM urls u LEFT JOIN newest n ON n.page = iif(u.page, u.page, u.id)"
                 " LEFT JOIN outcomes s ON s.id = n.settled LEFT JOIN outcomes g ON g.id = n.good WHERE u.id = ?1",
    [DB_NEWEST_WRITE] = "INSERT OR REPLACE INTO newest (page, row, settled, good) VALUES (?1, ?2, ?3, ?4)",
    [DB_WAS_LINKED] = "SELECT 1 FROM urls u JOIN outcomes r ON r.id = u.referrer JOIN outcomes p ON p.id = r.compared"
                      " WHERE u.id = ?1 AND r.change = 3 AND r.kept = p.kept AND r.error IS NULL AND p.error IS NULL"
                      " AND p.id >= ?2 AND (r.content IS NULL OR r.content NOT LIKE 'text:%' OR r.digest = p.digest)",
    [DB_VALIDATORS] = "SELECT h.id, h.file, h.offset, b.id, b.file, b.offset, g.etag, g.modified"
                      " FROM urls u JOIN newest n ON n.page = u.page JOIN outcomes g ON g.id = n.good"
                      " JOIN outcomes h ON h.id = iif(g.status = 304, g.body, g.id)"
                      " JOIN outcomes b ON b.id = ifnull(h.body, h.id)"
                      " WHERE u.id = ?1 AND u.page > 0 AND h.status = 200 AND h.error IS NULL AND h.file IS NOT NULL"
                      " AND b.file IS NOT NULL AND ifnull(g.etag, g.modified) IS NOT NULL",
    [DB_SCHEDULE_READ] = "SELECT " SCHEDULE_ROW " FROM schedule s WHERE page = ?1",
    [DB_SCHEDULE_WRITE] =
        "INSERT OR REPLACE INTO schedule (page, history, importance, rate, alive, visited, due, taken)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [DB_SCHEDULE_REMOVE] = "DELETE FROM schedule WHERE page = ?1",
    [DB_SCHEDULE_EACH] = "SELECT " SCHEDULE_ROW " FROM schedule s",
    [DB_SCHEDULE_MISSED] = "SELECT n.page, s.history, ifnull(s.importance, 1), s.rate, s.alive, s.visited, s.due,"
                           " ifnull(s.taken, 0), o.date, o.change IN (2, 5, 6) FROM newest n"
                           " JOIN outcomes o ON o.id = n.row JOIN urls u ON u.id = n.page"
                           " LEFT JOIN schedule s ON s.page = n.page"
                           " WHERE n.row = n.settled AND o.status NOT IN (404, 410) AND u.kind <> ?1"
                           " AND (s.page IS NULL OR o.date > s.visited) AND n.page > ?2 ORDER BY n.page",
    [DB_SCHEDULE_FIRST] = "SELECT " SCHEDULE_ROW ", u.url, u.host, u.depth, u.hops, u.kind FROM schedule s"
                          " JOIN urls u ON u.id = s.page WHERE s.due < 9223372036854775807 ORDER BY s.due LIMIT ?1",
    [DB_SCHEDULE_DUE] = "UPDATE schedule SET due = ?2, taken = max(taken, ?3) WHERE page = ?1",
    [DB_SCHEDULE_RELEASE] = "UPDATE schedule SET due = ?1 WHERE due = 9223372036854775807",
    [DB_SCHEDULE_COUNT] = "SELECT count(*), ifnull(sum(taken < ?1), 0) FROM schedule",
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

int db_take_texts(crawl_db *db, sqlite3_stmt *ask, vidi_str *const *texts, size_t count)
{
    size_t total = 0;
    int error = VIDI_OK;

    for (size_t i = 0; i < count; i++)
        total += texts[i]->len;
    db->texts.len = 0;
    if (total > 0 && bytes_reserve(&db->texts, total) != VIDI_OK)
        error = db_fail(db, VIDI_EMEMORY);
    for (size_t i = 0; i < count && !error; i++) {
        if (texts[i]->len == 0)
            continue;
        memcpy(db->texts.ptr + db->texts.len, texts[i]->ptr, texts[i]->len);
        texts[i]->ptr = db->texts.ptr + db->texts.len;
        db->texts.len += texts[i]->len;
    }
    sqlite3_reset(ask);
    return error;
}

int db_find(crawl_db *db, enum db_statement which, const sql_value *values, int count)
{
    int error = db_ready(db, which);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[which];
    sql_bind(ask, values, count);
    int result = sqlite3_step(ask);
    if (result == SQLITE_ROW)
        return VIDI_OK;
    error = sql_code(result);
    sqlite3_reset(ask);
    return error ? db_fail(db, error) : VIDI_EABSENT;
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
    if (!error)
        db->first = sql_number(ask, 6) ? sql_number(ask, 6) : 1;
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
    totals->urls -= db->first - 1;
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
        error = sql_execute(db->sqlite, "DELETE FROM queue; DELETE FROM segments;"
                                        "UPDATE sites SET given = 0, waiting = 0;");
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
    bytes_free(&db->texts);
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
