/*
 * The rows of the database's tables: see database.h.
 */
#include <stdio.h>
#include <string.h>

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
    sql_bind(ask, SQL_VALUES(SQL_STRING(name)));
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
    return DB_CHANGE(db, DB_SET, SQL_STRING(name), SQL_NUMBER(value));
}

int db_set_text(crawl_db *db, const char *name, vidi_str value)
{
    return DB_CHANGE(db, DB_SET, SQL_STRING(name), SQL_TEXT(value));
}

/* ---- outcomes ---- */

static sql_value number_or_null(uint64_t number)
{
    return number ? SQL_NUMBER(number) : SQL_NULL;
}

int db_outcome_add(crawl_db *db, const db_outcome *outcome)
{
    bool stored = outcome->file != NULL;

    if (outcome->id == 0 || outcome->id > frontier_last(db->urls)) {
        snprintf(db->error, sizeof db->error, "an outcome for a URL that is not in the table");
        return VIDI_EARGUMENT;
    }
    int error =
        DB_CHANGE(db, DB_OUTCOME_ADD, SQL_NUMBER(outcome->id), SQL_NUMBER(outcome->status), SQL_STRING(outcome->reason),
                  SQL_STRING(outcome->error), SQL_TEXT(outcome->type), SQL_NUMBER(outcome->bytes),
                  SQL_STRING(outcome->digest), SQL_NUMBER(outcome->date), SQL_REAL(outcome->seconds),
                  SQL_TEXT(outcome->redirect), SQL_NUMBER(outcome->links), SQL_STRING(outcome->file),
                  stored ? SQL_NUMBER(outcome->offset) : SQL_NULL, stored ? SQL_NUMBER(outcome->length) : SQL_NULL,
                  SQL_BLOB(((vidi_str){(const char *)outcome->record, DB_RECORD})), number_or_null(outcome->body),
                  SQL_TEXT(outcome->etag), SQL_TEXT(outcome->modified), SQL_STRING(outcome->content),
                  SQL_NUMBER(outcome->change), number_or_null(outcome->compared), SQL_NUMBER(outcome->kept));
    if (error)
        return error;
    if (sqlite3_changes(db->sqlite) == 0)
        return VIDI_EEXIST;
    db->totals.fetched += outcome->reason == NULL;
    db->totals.failed += outcome->reason != NULL;
    db->totals.bytes += outcome->bytes;
    db->totals.archived += stored;
    db->totals_changed = true;
    return VIDI_OK;
}

int db_is_done(crawl_db *db, uint64_t id)
{
    int error = db_ready(db, DB_OUTCOME_HAS);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_OUTCOME_HAS];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(id)));
    int result = sqlite3_step(ask);
    error = sql_code(result);
    if (error)
        db_fail(db, error);
    sqlite3_reset(ask);
    return error ? error : result == SQLITE_ROW;
}

/* ---- payloads ---- */

/* Two bodies may have the same key, so whoever finds one compares the whole digest. */
uint64_t db_payload_key(const char *digest)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    uint64_t key = 0;

    digest += strncmp(digest, "sha1:", 5) == 0 ? 5 : 0;
    for (size_t i = 0; i < 13 && digest[i]; i++) {
        const char *at = strchr(alphabet, digest[i]);
        key = key << 5 | (at ? (uint64_t)(at - alphabet) : 0);
    }
    key &= INT64_MAX;
    return key ? key : 1;
}

int db_payload_add(crawl_db *db, uint64_t key, uint64_t row)
{
    return DB_CHANGE(db, DB_PAYLOAD_ADD, SQL_NUMBER(key), SQL_NUMBER(row));
}

int db_payload_find(crawl_db *db, uint64_t row, const char *digest, db_payload *found)
{
    int error = db_ready(db, DB_PAYLOAD_FIND);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_PAYLOAD_FIND];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(row), SQL_NUMBER(db_payload_key(digest)), SQL_STRING(digest)));
    int result = sqlite3_step(ask);
    error = result == SQLITE_DONE ? VIDI_EABSENT : sql_code(result);
    if (!error) {
        *found = (db_payload){.row = sql_number(ask, 0), .date = sqlite3_column_int64(ask, 2)};
        memcpy(found->record, sqlite3_column_blob(ask, 3), DB_RECORD);
        db->texts.len = 0;
        error = bytes_append_str(&db->texts, sql_blob(ask, 1));
        found->url = bytes_str(&db->texts);
    }
    if (error && error != VIDI_EABSENT)
        db_fail(db, error);
    sqlite3_reset(ask);
    return error;
}

/* ---- hosts ---- */

/* Appends a text and a zero byte; *at is where it begins, because the memory may still move. */
static int keep(bytes *in, vidi_str text, size_t *at)
{
    *at = in->len;
    int error = bytes_append_str(in, text);
    return error ? error : bytes_append(in, "", 1);
}

/* Appends robots.txt of the host to the other texts. */
static int read_robots(crawl_db *db, db_host *host, size_t *at)
{
    int error = db_ready(db, DB_ROBOTS_READ);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_ROBOTS_READ];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(host->id)));
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
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(id)));
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

static int change_host(crawl_db *db, enum db_statement which, const db_host *host)
{
    return DB_CHANGE(db, which, SQL_NUMBER(host->id), SQL_TEXT(host->origin), SQL_NUMBER(host->pages),
                     SQL_NUMBER(host->not_before), SQL_STRING(host->parked), SQL_NUMBER(host->robots_outcome),
                     SQL_NUMBER(host->robots_date), SQL_NUMBER(host->robots_reached));
}

int db_host_write(crawl_db *db, const db_host *host)
{
    int error = change_host(db, DB_HOST_CHANGE, host);

    if (!error && sqlite3_changes(db->sqlite) == 0) {
        error = change_host(db, DB_HOST_ADD, host);
        db->totals.hosts += error == VIDI_OK;
        db->totals_changed = true;
    }
    if (error || !host->robots.ptr)
        return error;
    return DB_CHANGE(db, DB_ROBOTS_WRITE, SQL_NUMBER(host->id), SQL_BLOB(host->robots));
}

int db_host_pages(crawl_db *db, uint64_t id, uint64_t pages)
{
    int error = DB_CHANGE(db, DB_HOST_PAGES, SQL_NUMBER(id), SQL_NUMBER(pages));

    return error || sqlite3_changes(db->sqlite) ? error : VIDI_EABSENT;
}

/* ---- the rest ---- */

int db_seed(crawl_db *db, vidi_str form, vidi_str url)
{
    int error = DB_CHANGE(db, DB_SEED, SQL_TEXT(form), SQL_TEXT(url));

    return error ? error : sqlite3_changes(db->sqlite) > 0;
}

/* Goes through the rows, an id and a URL each, of a statement that has these values. */
static int visit_urls(crawl_db *db, enum db_statement which, const sql_value *values, int count, frontier_visit *visit,
                      void *context)
{
    int result = SQLITE_DONE, stop = 0, error = db_ready(db, which);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[which];
    sql_bind(ask, values, count);
    while (!stop && (result = sqlite3_step(ask)) == SQLITE_ROW)
        stop = visit(context, sql_number(ask, 0), sql_blob(ask, 1));
    error = sql_code(result);
    if (error)
        db_fail(db, error);
    sqlite3_reset(ask);
    return stop ? stop : error;
}

int db_seeds(crawl_db *db, frontier_visit *visit, void *context)
{
    return visit_urls(db, DB_SEEDS, NULL, 0, visit, context);
}

int db_seeds_again(crawl_db *db, uint64_t first, frontier_visit *visit, void *context)
{
    const sql_value values[] = {SQL_NUMBER(FRONTIER_SEED), SQL_NUMBER(first)};
    int error = visit_urls(db, DB_SEEDS_FAILED, values, 2, visit, context);

    return error ? error : db_change(db, DB_SEEDS_AGAIN, values, 2);
}

int db_payloads(crawl_db *db, frontier_visit *visit, void *context)
{
    return visit_urls(db, DB_PAYLOADS, NULL, 0, visit, context);
}

int db_skip(crawl_db *db, const char *reason, uint64_t links)
{
    return links ? DB_CHANGE(db, DB_SKIP, SQL_STRING(reason), SQL_NUMBER(links)) : VIDI_OK;
}

int db_edge(crawl_db *db, uint64_t target, uint64_t page, vidi_str text)
{
    return DB_CHANGE(db, DB_EDGE, SQL_NUMBER(target), SQL_NUMBER(page), SQL_TEXT(text));
}

int db_path(crawl_db *db, uint64_t path, uint64_t *count)
{
    int error = db_ready_to_write(db, DB_PATH);
    if (error)
        return error;
    sqlite3_stmt *add = db->statements[DB_PATH];
    sql_bind(add, SQL_VALUES(SQL_NUMBER(path)));
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
