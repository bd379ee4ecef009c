/*
 * Visits, and what is known of a page from earlier ones: see database.h.
 *
 * `known` would be slow to keep up to date, because keys have no order. So it is written when a visit begins, sorted,
 * and has the pages of the visits before. A page that the visit itself finds is not looked for in it: the set knows it.
 */
#include <stdio.h>
#include <string.h>

#include "crawler/base/sql.h"
#include "crawler/database/database_state.h"

const char *db_change_name(db_page_change change)
{
    static const char *const names[DB_CHANGES] = {NULL,   "new",   "changed", "unchanged", "gone",
                                                  "back", "moved", "failed",  "recovered"};

    return (size_t)change < DB_CHANGES ? names[change] : NULL;
}

/* ---- visits ---- */

int db_visit_read(crawl_db *db, uint64_t number, db_visit *visit)
{
    int error = DB_FIND(db, DB_VISIT_READ, SQL_NUMBER(number));
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_VISIT_READ];
    *visit = (db_visit){.number = sql_number(ask, 0),
                        .first = sql_number(ask, 1),
                        .began = sqlite3_column_int64(ask, 2),
                        .is_comparable = sql_number(ask, 3) != 0};
    sqlite3_reset(ask);
    return VIDI_OK;
}

/* Runs a text of several statements that write. */
static int execute(crawl_db *db, const char *text)
{
    int error = sql_execute(db->sqlite, text);

    if (error)
        db->spoiled = db_fail(db, error);
    return error;
}

int db_visit_begin(crawl_db *db, const db_visit *visit)
{
    int error = execute(db, "UPDATE epochs SET seconds_ms = (SELECT value FROM meta WHERE name = 'seconds_ms')"
                            " WHERE visit = (SELECT max(visit) FROM epochs);"
                            " UPDATE hosts SET pages = 0 WHERE pages > 0;"
                            " DELETE FROM paths; DELETE FROM edges; DELETE FROM skipped; DELETE FROM nofollow;"
                            " DELETE FROM fragments; DELETE FROM names;"
                            " UPDATE sites SET given = 0, waiting = 0 WHERE given + waiting > 0;");

    if (!error)
        error = DB_CHANGE(db, DB_VISIT_BEGIN, SQL_NUMBER(visit->number), SQL_NUMBER(visit->first),
                          SQL_NUMBER(visit->began), SQL_NUMBER(visit->is_comparable));
    db->totals = (db_totals){.hosts = db->totals.hosts};
    db->totals_changed = true;
    db->first = visit->first;
    return error;
}

int db_visit_lost(crawl_db *db, double expected, uint32_t meaning)
{
    return DB_CHANGE(db, DB_VISIT_LOST, SQL_REAL(expected), SQL_NUMBER(meaning));
}

int db_visit_end(crawl_db *db, int64_t date)
{
    return DB_CHANGE(db, DB_VISIT_END, SQL_NUMBER(date));
}

int db_close_queue(crawl_db *db, int64_t date)
{
    int error = execute(db, "INSERT OR REPLACE INTO newest SELECT iif(u.page, u.page, u.id), u.id,"
                            " ifnull(n.settled, 0), ifnull(n.good, 0) FROM urls u"
                            " LEFT JOIN newest n ON n.page = iif(u.page, u.page, u.id)"
                            " WHERE u.id NOT IN (SELECT id FROM outcomes); DELETE FROM queue;"
                            "UPDATE sites SET given = 0, waiting = 0");

    if (!error)
        error = DB_CHANGE(db, DB_CLOSE_QUEUE, SQL_NUMBER(date));
    frontier_forget(db->urls);
    return error ? error : frontier_refresh(db->urls);
}

/* ---- pages ---- */

db_state db_state_of(int status, const char *reason)
{
    if (reason)
        return DB_IS_FAILED;
    if (status >= 200 && status < 300)
        return DB_IS_OK;
    if (status == 301 || status == 302 || status == 303 || status == 307 || status == 308)
        return DB_IS_MOVED;
    return status == 404 || status == 410 ? DB_IS_GONE : DB_IS_FAILED;
}

static void sql_state(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    sqlite3_result_int(context,
                       (int)db_state_of(sqlite3_value_int(values[0]), (const char *)sqlite3_value_text(values[1])));
}

static void sql_page_key(sqlite3_context *context, int count, sqlite3_value **values)
{
    vidi_str url = {sqlite3_value_blob(values[0]), (size_t)sqlite3_value_bytes(values[0])};
    uint64_t key = 0;

    (void)count;
    if (url_keys_make(sqlite3_user_data(context), &url, 1, &key) == VIDI_OK)
        sqlite3_result_int64(context, (int64_t)key);
    else
        sqlite3_result_error_nomem(context);
}

static int add_functions(crawl_db *db, const url_keys *keys)
{
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    int error = sql_code(sqlite3_create_function(db->sqlite, "state", 2, flags, NULL, sql_state, NULL, NULL));

    if (!error)
        error =
            sql_code(sqlite3_create_function(db->sqlite, "page_key", 1, flags, (void *)keys, sql_page_key, NULL, NULL));
    return error ? db_fail(db, error) : VIDI_OK;
}

static int index_pages(crawl_db *db)
{
    int64_t indexed = 0;
    int error = db_get(db, "indexed_to", &indexed);

    if (error == VIDI_EABSENT) /* until now nothing has kept `newest` */
        error = db_change(db, DB_NEWEST_BUILD, NULL, 0);
    if (!error)
        error = DB_CHANGE(db, DB_KNOWN_BUILD, SQL_NUMBER(indexed));
    return error ? error : db_set(db, "indexed_to", (int64_t)frontier_last(db->urls));
}

int db_pages_index(crawl_db *db, const url_keys *keys)
{
    int error = add_functions(db, keys);

    if (!error)
        error = db_begin(db);
    if (!error)
        error = index_pages(db);
    if (!error)
        error = db_commit(db);
    if (error)
        db_rollback(db);
    return error;
}

int db_page_find(crawl_db *db, uint64_t key, uint64_t *page, bytes *url)
{
    int error = DB_FIND(db, DB_PAGE_FIND, SQL_NUMBER(key));
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_PAGE_FIND];
    *page = sql_number(ask, 0);
    if (bytes_append_str(url, sql_blob(ask, 1)))
        error = db_fail(db, VIDI_EMEMORY);
    sqlite3_reset(ask);
    return error;
}

int db_prior_read(crawl_db *db, uint64_t row, db_prior *prior)
{
    int error = DB_FIND(db, DB_PRIOR, SQL_NUMBER(row));
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_PRIOR];
    *prior = (db_prior){.page = sql_number(ask, 0),
                        .newest = sql_number(ask, 1),
                        .settled = sql_number(ask, 2),
                        .good = sql_number(ask, 3),
                        .status = sqlite3_column_int(ask, 4),
                        .redirect = sql_blob(ask, 5),
                        .content = sql_blob(ask, 6),
                        .digest = sql_blob(ask, 7),
                        .date = sqlite3_column_int64(ask, 8),
                        .modified = sql_blob(ask, 9)};
    return db_take_texts(db, ask, (vidi_str *[]){&prior->redirect, &prior->content, &prior->digest, &prior->modified},
                         4);
}

int db_newest_write(crawl_db *db, const db_prior *prior)
{
    return DB_CHANGE(db, DB_NEWEST_WRITE, SQL_NUMBER(prior->page), SQL_NUMBER(prior->newest),
                     SQL_NUMBER(prior->settled), SQL_NUMBER(prior->good));
}

int db_was_linked(crawl_db *db, uint64_t row, const db_visit *last)
{
    int error = DB_FIND(db, DB_WAS_LINKED, SQL_NUMBER(row), SQL_NUMBER(last->first));

    if (error)
        return error == VIDI_EABSENT ? 0 : error;
    sqlite3_reset(db->statements[DB_WAS_LINKED]);
    return 1;
}

static void take_place(sqlite3_stmt *ask, int column, struct db_place *at)
{
    vidi_str file = sql_blob(ask, column);

    snprintf(at->file, sizeof at->file, "%.*s", (int)file.len, file.ptr);
    at->offset = sql_number(ask, column + 1);
}

int db_validators_read(crawl_db *db, uint64_t row, db_validators *found)
{
    int error = DB_FIND(db, DB_VALIDATORS, SQL_NUMBER(row));
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_VALIDATORS];
    *found = (db_validators){
        .row = sql_number(ask, 0), .body = sql_number(ask, 3), .etag = sql_blob(ask, 6), .modified = sql_blob(ask, 7)};
    take_place(ask, 1, &found->head_at);
    take_place(ask, 4, &found->body_at);
    return db_take_texts(db, ask, (vidi_str *[]){&found->etag, &found->modified}, 2);
}
