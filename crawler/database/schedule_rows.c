/*
 * The table `schedule`: see database.h. What the numbers mean is the business of crawler/schedule.
 */
#include <string.h>

#include "crawler/base/sql.h"
#include "crawler/database/database_state.h"

static void take_row(sqlite3_stmt *ask, db_scheduled *row)
{
    vidi_str history = sql_blob(ask, 1);

    row->page = sql_number(ask, 0);
    row->history_bytes = history.len <= DB_HISTORY ? history.len : 0;
    if (row->history_bytes)
        memcpy(row->history, history.ptr, row->history_bytes);
    row->importance = sqlite3_column_double(ask, 2);
    row->rate = sqlite3_column_double(ask, 3);
    row->alive = sqlite3_column_double(ask, 4);
    row->visited = sqlite3_column_int64(ask, 5);
    row->due = sqlite3_column_int64(ask, 6);
    row->taken = sql_number(ask, 7);
}

int db_schedule_read(crawl_db *db, uint64_t page, db_scheduled *row)
{
    int error = DB_FIND(db, DB_SCHEDULE_READ, SQL_NUMBER(page));
    if (error)
        return error;
    take_row(db->statements[DB_SCHEDULE_READ], row);
    sqlite3_reset(db->statements[DB_SCHEDULE_READ]);
    return VIDI_OK;
}

int db_schedule_write(crawl_db *db, const db_scheduled *row)
{
    vidi_str history = {(const char *)row->history, row->history_bytes};

    return DB_CHANGE(db, DB_SCHEDULE_WRITE, SQL_NUMBER(row->page), SQL_BLOB(history), SQL_REAL(row->importance),
                     SQL_REAL(row->rate), SQL_REAL(row->alive), SQL_NUMBER(row->visited), SQL_NUMBER(row->due),
                     SQL_NUMBER(row->taken));
}

int db_schedule_remove(crawl_db *db, uint64_t page)
{
    return DB_CHANGE(db, DB_SCHEDULE_REMOVE, SQL_NUMBER(page));
}

/* Ends a walk: what the visitor has returned counts, then SQLite's result. */
static int end_walk(crawl_db *db, sqlite3_stmt *ask, int stop, int result)
{
    int error = stop ? stop : sql_code(result);

    if (!stop && error)
        db_fail(db, error);
    sqlite3_reset(ask);
    return error;
}

int db_schedule_each(crawl_db *db, int (*visit)(void *context, const db_scheduled *row), void *context)
{
    db_scheduled row;
    int stop = 0, result = SQLITE_DONE, error = db_ready(db, DB_SCHEDULE_EACH);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_SCHEDULE_EACH];
    while (!stop && (result = sqlite3_step(ask)) == SQLITE_ROW) {
        take_row(ask, &row);
        stop = visit(context, &row);
    }
    return end_walk(db, ask, stop, result);
}

int db_schedule_missed(crawl_db *db, uint64_t after, int (*visit)(void *context, const db_fetched *page), void *context)
{
    db_fetched page;
    int stop = 0, result = SQLITE_DONE, error = db_ready(db, DB_SCHEDULE_MISSED);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_SCHEDULE_MISSED];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(FRONTIER_OUTSIDE), SQL_NUMBER(after)));
    while (!stop && (result = sqlite3_step(ask)) == SQLITE_ROW) {
        take_row(ask, &page.row);
        page.date = sqlite3_column_int64(ask, 8);
        page.changed = sql_number(ask, 9) != 0;
        stop = visit(context, &page);
    }
    return end_walk(db, ask, stop, result);
}

int db_schedule_first(crawl_db *db, size_t most, db_due *visit, void *context)
{
    db_scheduled row;
    int stop = 0, result = SQLITE_DONE, error = db_ready(db, DB_SCHEDULE_FIRST);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_SCHEDULE_FIRST];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(most)));
    while (!stop && (result = sqlite3_step(ask)) == SQLITE_ROW) {
        take_row(ask, &row);
        frontier_url url = {.page = row.page,
                            .url = sql_blob(ask, 8),
                            .host = sql_number(ask, 9),
                            .depth = (uint32_t)sql_number(ask, 10),
                            .hops = (uint32_t)sql_number(ask, 11),
                            .kind = (frontier_kind)sql_number(ask, 12)};
        stop = visit(context, &url, &row);
    }
    return end_walk(db, ask, stop, result);
}

int db_schedule_due(crawl_db *db, uint64_t page, int64_t due, uint64_t visit)
{
    return DB_CHANGE(db, DB_SCHEDULE_DUE, SQL_NUMBER(page), SQL_NUMBER(due), SQL_NUMBER(visit));
}

int db_schedule_release(crawl_db *db, int64_t date)
{
    return DB_CHANGE(db, DB_SCHEDULE_RELEASE, SQL_NUMBER(date));
}

int db_schedule_count(crawl_db *db, uint64_t visit, uint64_t *pages, uint64_t *left)
{
    int error = DB_FIND(db, DB_SCHEDULE_COUNT, SQL_NUMBER(visit));
    if (error)
        return error;
    *pages = sql_number(db->statements[DB_SCHEDULE_COUNT], 0);
    *left = sql_number(db->statements[DB_SCHEDULE_COUNT], 1);
    sqlite3_reset(db->statements[DB_SCHEDULE_COUNT]);
    return VIDI_OK;
}
