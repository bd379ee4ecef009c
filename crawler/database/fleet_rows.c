/*
 * The tables that only a crawl of a fleet has: see database.h.
 *
 * Pages that another process has found links on have no rows here, so `far` has their URLs. What comes from one page
 * comes together, so there is an entry only where a row was found on another page than the one before it.
 */
#include "crawler/base/sql.h"
#include "crawler/database/database_state.h"

int db_fleet_open(crawl_db *db)
{
    int error = sql_execute(db->sqlite, db_fleet_tables);

    if (error)
        db->spoiled = db_fail(db, error);
    return error;
}

int db_far_add(crawl_db *db, uint64_t row, vidi_str url)
{
    return DB_CHANGE(db, DB_FAR_ADD, SQL_NUMBER(row), SQL_TEXT(url));
}

int db_far_find(crawl_db *db, uint64_t row, bytes *url)
{
    int error = DB_FIND(db, DB_FAR_FIND, SQL_NUMBER(row));
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_FAR_FIND];
    vidi_str found = sql_blob(ask, 0);
    error = !found.ptr ? VIDI_EABSENT : bytes_append_str(url, found) ? db_fail(db, VIDI_EMEMORY) : VIDI_OK;
    sqlite3_reset(ask);
    return error;
}

int db_untold_add(crawl_db *db, uint64_t row)
{
    return DB_CHANGE(db, DB_UNTOLD_ADD, SQL_NUMBER(row));
}

int db_untold_clear(crawl_db *db)
{
    int error = db_ready_to_write(db, DB_UNTOLD_CLEAR);
    if (error)
        return error;
    error = sql_run(db->statements[DB_UNTOLD_CLEAR]);
    if (error)
        db->spoiled = db_fail(db, error);
    return error;
}

int db_untold(crawl_db *db, frontier_visit *visit, void *context)
{
    int result = SQLITE_DONE, stop = 0, error = db_ready(db, DB_UNTOLD);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_UNTOLD];
    while (!stop && (result = sqlite3_step(ask)) == SQLITE_ROW)
        stop = visit(context, sql_number(ask, 0), sql_blob(ask, 1));
    error = sql_code(result);
    if (error)
        db_fail(db, error);
    sqlite3_reset(ask);
    return stop ? stop : error;
}
