/*
 * Rows that only link checks have, besides the edges: see database.h.
 */
#include "crawler/base/sql.h"
#include "crawler/database/database_state.h"

int db_fragment(crawl_db *db, uint64_t target, uint64_t page, vidi_str text, vidi_str fragment)
{
    return DB_CHANGE(db, DB_FRAGMENT, SQL_NUMBER(target), SQL_NUMBER(page), SQL_TEXT(text), SQL_TEXT(fragment));
}

int db_names(crawl_db *db, uint64_t page, vidi_str list)
{
    return DB_CHANGE(db, DB_NAMES, SQL_NUMBER(page), SQL_BLOB(list));
}

int db_nofollow_add(crawl_db *db, const db_nofollow *link)
{
    return DB_CHANGE(db, DB_NOFOLLOW_ADD, SQL_NUMBER(link->key), SQL_TEXT(link->url), SQL_NUMBER(link->page),
                     SQL_NUMBER(link->depth));
}

int db_nofollow_drop(crawl_db *db, uint64_t key)
{
    return DB_CHANGE(db, DB_NOFOLLOW_DROP, SQL_NUMBER(key));
}

int db_nofollow_read(crawl_db *db, size_t most, db_visit_nofollow *visit, void *context)
{
    int result = SQLITE_DONE, stop = 0, error = db_ready(db, DB_NOFOLLOW_READ);

    if (error)
        return error;
    sqlite3_stmt *ask = db->statements[DB_NOFOLLOW_READ];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(most)));
    while (!stop && (result = sqlite3_step(ask)) == SQLITE_ROW) {
        db_nofollow link = {.key = sql_number(ask, 0),
                            .url = sql_blob(ask, 1),
                            .page = sql_number(ask, 2),
                            .depth = (uint32_t)sql_number(ask, 3)};
        stop = visit(context, &link);
    }
    error = sql_code(result);
    if (error)
        db_fail(db, error);
    sqlite3_reset(ask);
    return stop ? stop : error;
}
