/*
 * The rows of the database's tables: see database.h.
 */
#include <stdio.h>

#include "crawler/base/sql.h"
#include "crawler/database/database_state.h"

/* ---- meta ---- */

/* Steps to the entry. VIDI_OK: its statement stands on it. The caller resets it, also after errors. */
static int find_meta(crawl_db *db, const char *name)
{
    int error = db_ready(db, DB_GET);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_GET];
    sql_bind_string(ask, 1, name);
    int result = sqlite3_step(ask);
    if (sql_code(result))
        return db_fail(db, sql_code(result));
    return result == SQLITE_ROW ? VIDI_OK : VIDI_EABSENT;
}

int db_get(crawl_db *db, const char *name, int64_t *value)
{
    int error = find_meta(db, name);
    if (!error)
        *value = sqlite3_column_int64(db->statements[DB_GET], 0);
    sqlite3_reset(db->statements[DB_GET]);
    return error;
}

int db_get_text(crawl_db *db, const char *name, bytes *value)
{
    int error = find_meta(db, name);
    if (!error && bytes_append_str(value, sql_blob(db->statements[DB_GET], 0)))
        error = db_fail(db, VIDI_EMEMORY);
    sqlite3_reset(db->statements[DB_GET]);
    return error;
}

int db_set(crawl_db *db, const char *name, int64_t value)
{
    int error = db_ready_to_write(db, DB_SET);
    if (error)
        return error;
    sql_bind_string(db->statements[DB_SET], 1, name);
    sqlite3_bind_int64(db->statements[DB_SET], 2, value);
    return db_write(db, DB_SET);
}

int db_set_text(crawl_db *db, const char *name, vidi_str value)
{
    int error = db_ready_to_write(db, DB_SET);
    if (error)
        return error;
    sql_bind_string(db->statements[DB_SET], 1, name);
    sql_bind_text(db->statements[DB_SET], 2, value);
    return db_write(db, DB_SET);
}

/* ---- outcomes ---- */

static void bind_outcome(sqlite3_stmt *add, const db_outcome *outcome)
{
    sql_bind(add, 1, outcome->id);
    sqlite3_bind_int(add, 2, outcome->status);
    sql_bind_string(add, 3, outcome->reason);
    sql_bind_string(add, 4, outcome->error);
    sql_bind_text(add, 5, outcome->type);
    sql_bind(add, 6, outcome->bytes);
    sql_bind_string(add, 7, outcome->digest);
    sqlite3_bind_int64(add, 8, outcome->date);
    sqlite3_bind_double(add, 9, outcome->seconds);
    sql_bind_text(add, 10, outcome->redirect);
    sql_bind(add, 11, outcome->links);
    sql_bind_string(add, 12, outcome->file);
    if (outcome->file) {
        sql_bind(add, 13, outcome->offset);
        sql_bind(add, 14, outcome->length);
    } else {
        sqlite3_bind_null(add, 13);
        sqlite3_bind_null(add, 14);
    }
}

int db_outcome_add(crawl_db *db, const db_outcome *outcome)
{
    int error = db_ready_to_write(db, DB_OUTCOME_ADD);
    if (error)
        return error;
    if (outcome->id == 0 || outcome->id > frontier_last(db->urls)) {
        snprintf(db->error, sizeof db->error, "an outcome for a URL that is not in the table");
        return VIDI_EARGUMENT;
    }
    bind_outcome(db->statements[DB_OUTCOME_ADD], outcome);
    error = db_write(db, DB_OUTCOME_ADD);
    if (error)
        return error;
    if (sqlite3_changes(db->sqlite) == 0)
        return VIDI_EEXIST;
    db->totals.fetched += outcome->reason == NULL;
    db->totals.failed += outcome->reason != NULL;
    db->totals.bytes += outcome->bytes;
    db->totals.archived += outcome->file != NULL;
    db->totals_changed = true;
    return VIDI_OK;
}

int db_is_done(crawl_db *db, uint64_t id)
{
    int error = db_ready(db, DB_OUTCOME_HAS);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_OUTCOME_HAS];
    sql_bind(ask, 1, id);
    int result = sqlite3_step(ask);
    error = sql_code(result);
    if (error)
        db_fail(db, error);
    sqlite3_reset(ask);
    return error ? error : result == SQLITE_ROW;
}

/* ---- hosts ---- */

/* Appends a text and a zero byte; *at is where it begins, because the memory may still move. */
static int keep(bytes *in, vidi_str text, size_t *at)
{
    *at = in->len;
    int error = bytes_append_str(in, text);
    return error ? error : bytes_append(in, "", 1);
}

/* Reads robots.txt of the host behind the other texts. */
static int read_robots(crawl_db *db, db_host *host, size_t *at)
{
    int error = db_ready(db, DB_ROBOTS_READ);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_ROBOTS_READ];
    sql_bind(ask, 1, host->id);
    int result = sqlite3_step(ask);
    error = sql_code(result);
    if (result == SQLITE_ROW) {
        host->robots = sql_blob(ask, 0);
        error = keep(&db->host, host->robots, at);
    }
    if (error)
        db_fail(db, error);
    sqlite3_reset(ask);
    return error;
}

static int read_host(crawl_db *db, uint64_t id, db_host *host, size_t at[2])
{
    sqlite3_stmt *ask = db->statements[DB_HOST_READ];
    sql_bind(ask, 1, id);
    int result = sqlite3_step(ask), error = result == SQLITE_DONE ? VIDI_EABSENT : sql_code(result);
    if (!error) {
        *host = (db_host){.id = id,
                          .origin = sql_blob(ask, 0),
                          .pages = sql_number(ask, 1),
                          .not_before = sqlite3_column_int64(ask, 2),
                          .parked = sql_blob(ask, 3).ptr,
                          .robots_outcome = sqlite3_column_int(ask, 4),
                          .robots_date = sqlite3_column_int64(ask, 5),
                          .robots_reached = sqlite3_column_int64(ask, 6)};
        db->host.len = 0;
        error = keep(&db->host, host->origin, &at[0]);
        if (!error && host->parked)
            error = keep(&db->host, sql_blob(ask, 3), &at[1]);
    }
    if (error && error != VIDI_EABSENT)
        db_fail(db, error);
    sqlite3_reset(ask);
    return error;
}

int db_host_read(crawl_db *db, uint64_t id, db_host *host)
{
    size_t at[2] = {0}, robots = 0;
    int error = db_ready(db, DB_HOST_READ);
    if (!error)
        error = read_host(db, id, host, at);
    if (!error)
        error = read_robots(db, host, &robots);
    if (error)
        return error;
    host->origin.ptr = db->host.ptr + at[0];
    if (host->parked)
        host->parked = db->host.ptr + at[1];
    if (host->robots.ptr)
        host->robots.ptr = db->host.ptr + robots;
    return VIDI_OK;
}

static void bind_host(sqlite3_stmt *statement, const db_host *host)
{
    sql_bind(statement, 1, host->id);
    sql_bind_text(statement, 2, host->origin);
    sql_bind(statement, 3, host->pages);
    sqlite3_bind_int64(statement, 4, host->not_before);
    sql_bind_string(statement, 5, host->parked);
    sqlite3_bind_int(statement, 6, host->robots_outcome);
    sqlite3_bind_int64(statement, 7, host->robots_date);
    sqlite3_bind_int64(statement, 8, host->robots_reached);
}

static int write_robots(crawl_db *db, const db_host *host)
{
    int error = host->robots.ptr ? db_ready_to_write(db, DB_ROBOTS_WRITE) : VIDI_OK;
    if (error || !host->robots.ptr)
        return error;
    sql_bind(db->statements[DB_ROBOTS_WRITE], 1, host->id);
    sql_bind_blob(db->statements[DB_ROBOTS_WRITE], 2, host->robots);
    return db_write(db, DB_ROBOTS_WRITE);
}

int db_host_write(crawl_db *db, const db_host *host)
{
    int error = db_ready_to_write(db, DB_HOST_CHANGE);
    if (error)
        return error;
    bind_host(db->statements[DB_HOST_CHANGE], host);
    error = db_write(db, DB_HOST_CHANGE);
    if (!error && sqlite3_changes(db->sqlite) == 0) {
        error = db_ready_to_write(db, DB_HOST_ADD);
        if (error)
            return error;
        bind_host(db->statements[DB_HOST_ADD], host);
        error = db_write(db, DB_HOST_ADD);
        db->totals.hosts += error == VIDI_OK;
        db->totals_changed = true;
    }
    return error ? error : write_robots(db, host);
}

int db_host_pages(crawl_db *db, uint64_t id, uint64_t pages)
{
    int error = db_ready_to_write(db, DB_HOST_PAGES);
    if (error)
        return error;
    sql_bind(db->statements[DB_HOST_PAGES], 1, id);
    sql_bind(db->statements[DB_HOST_PAGES], 2, pages);
    error = db_write(db, DB_HOST_PAGES);
    return error || sqlite3_changes(db->sqlite) ? error : VIDI_EABSENT;
}

/* ---- the rest ---- */

int db_seed(crawl_db *db, vidi_str url)
{
    int error = db_ready_to_write(db, DB_SEED);
    if (error)
        return error;
    sql_bind_text(db->statements[DB_SEED], 1, url);
    error = db_write(db, DB_SEED);
    return error ? error : sqlite3_changes(db->sqlite) > 0;
}

int db_seeds_again(crawl_db *db, frontier_visit *visit, void *context)
{
    int result = SQLITE_DONE, stop = 0, error = db_ready_to_write(db, DB_SEEDS_FAILED);
    if (!error)
        error = db_ready_to_write(db, DB_SEEDS_AGAIN);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_SEEDS_FAILED];
    sql_bind(ask, 1, FRONTIER_SEED);
    while (!stop && (result = sqlite3_step(ask)) == SQLITE_ROW)
        stop = visit(context, sql_number(ask, 0), sql_blob(ask, 1));
    error = sql_code(result);
    if (error)
        db_fail(db, error);
    sqlite3_reset(ask);
    if (stop || error)
        return stop ? stop : error;
    sql_bind(db->statements[DB_SEEDS_AGAIN], 1, FRONTIER_SEED);
    return db_write(db, DB_SEEDS_AGAIN);
}

int db_skip(crawl_db *db, const char *reason, uint64_t links)
{
    int error = links ? db_ready_to_write(db, DB_SKIP) : VIDI_OK;
    if (error || links == 0)
        return error;
    sql_bind_string(db->statements[DB_SKIP], 1, reason);
    sql_bind(db->statements[DB_SKIP], 2, links);
    return db_write(db, DB_SKIP);
}

int db_edge(crawl_db *db, uint64_t target, uint64_t page, vidi_str text)
{
    int error = db_ready_to_write(db, DB_EDGE);
    if (error)
        return error;
    sql_bind(db->statements[DB_EDGE], 1, target);
    sql_bind(db->statements[DB_EDGE], 2, page);
    sql_bind_text(db->statements[DB_EDGE], 3, text);
    return db_write(db, DB_EDGE);
}

int db_path(crawl_db *db, uint64_t path, uint64_t *count)
{
    int error = db_ready_to_write(db, DB_PATH);
    if (error)
        return error;
    sqlite3_stmt *add = db->statements[DB_PATH];
    sql_bind(add, 1, path);
    int result = sqlite3_step(add);
    if (result == SQLITE_ROW) {
        *count = sql_number(add, 0);
        result = sqlite3_step(add); /* the change is complete when the last row has been given */
    }
    error = sql_code(result);
    if (error)
        db->spoiled = db_fail(db, error);
    sqlite3_reset(add);
    return error;
}

/* ---- reports ---- */

static int visit_counts(crawl_db *db, enum db_statement which, db_visit_count *visit, void *context)
{
    int error = db_ready(db, which), result = SQLITE_DONE, stop = 0;
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[which];
    while (!stop && (result = sqlite3_step(ask)) == SQLITE_ROW) {
        const char *reason = sql_text(ask, 0).ptr;
        if (!reason)
            break;
        stop = visit(context, reason, sql_number(ask, 1));
    }
    error = result == SQLITE_ROW && !stop ? VIDI_EMEMORY : sql_code(result);
    if (error)
        db_fail(db, error);
    sqlite3_reset(ask);
    return stop ? stop : error;
}

int db_reasons(crawl_db *db, db_visit_count *visit, void *context)
{
    return visit_counts(db, DB_REASONS, visit, context);
}

int db_skipped(crawl_db *db, db_visit_count *visit, void *context)
{
    return visit_counts(db, DB_SKIPPED, visit, context);
}
