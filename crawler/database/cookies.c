/*
 * The table of cookies: see database.h. It exists only in crawls that were run with --cookies.
 */
#include "crawler/base/sql.h"
#include "crawler/database/database_state.h"

int db_cookies_open(crawl_db *db, int64_t date)
{
    int error = sql_execute(db->sqlite, "CREATE TABLE IF NOT EXISTS cookies (domain TEXT NOT NULL, path TEXT NOT NULL,"
                                        " name TEXT NOT NULL, host_only INTEGER NOT NULL, value TEXT NOT NULL,"
                                        " expires INTEGER NOT NULL, secure INTEGER NOT NULL, created INTEGER NOT NULL,"
                                        " changed INTEGER NOT NULL, PRIMARY KEY (domain, path, name, host_only))"
                                        " WITHOUT ROWID");
    return error ? db_fail(db, error) : DB_CHANGE(db, DB_COOKIES_EXPIRE, SQL_NUMBER(date));
}

int db_cookies_read(crawl_db *db, db_visit_cookie *visit, void *context)
{
    int result = SQLITE_DONE, stop = 0, error = db_ready(db, DB_COOKIES);
    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_COOKIES];
    while (!stop && (result = sqlite3_step(ask)) == SQLITE_ROW) {
        db_cookie row = {.domain = sql_blob(ask, 0),
                         .path = sql_blob(ask, 1),
                         .name = sql_blob(ask, 2),
                         .host_only = sqlite3_column_int(ask, 3) != 0,
                         .value = sql_blob(ask, 4),
                         .expires = sqlite3_column_int64(ask, 5),
                         .secure = sqlite3_column_int(ask, 6) != 0,
                         .created = sql_number(ask, 7),
                         .changed = sql_number(ask, 8)};
        stop = visit(context, &row);
    }
    error = sql_code(result);
    if (error)
        db_fail(db, error);
    sqlite3_reset(ask);
    return stop ? stop : error;
}

int db_cookie_write(crawl_db *db, const db_cookie *cookie)
{
    return DB_CHANGE(db, DB_COOKIE, SQL_TEXT(cookie->domain), SQL_TEXT(cookie->path), SQL_TEXT(cookie->name),
                     SQL_NUMBER(cookie->host_only), SQL_TEXT(cookie->value), SQL_NUMBER(cookie->expires),
                     SQL_NUMBER(cookie->secure), SQL_NUMBER(cookie->created), SQL_NUMBER(cookie->changed));
}
