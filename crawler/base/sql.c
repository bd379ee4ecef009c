/*
 * Statements and errors of SQLite: see sql.h.
 *
 * Values are bound without copies, so binding allocates nothing. It can fail for a text of more than a gigabyte alone;
 * the value is then NULL, which the NOT NULL columns refuse.
 */
#include "crawler/base/sql.h"

#include <stddef.h>

int sql_code(int result)
{
    if (result == SQLITE_IOERR_NOMEM)
        return VIDI_EMEMORY;
    if (result == SQLITE_IOERR_DATA)
        return VIDI_EDAMAGED;
    switch (result & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return VIDI_OK;
    case SQLITE_FULL:
    case SQLITE_TOOBIG:
        return VIDI_ELIMIT;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return VIDI_EBUSY;
    case SQLITE_NOMEM:
        return VIDI_EMEMORY;
    case SQLITE_CORRUPT:
        return VIDI_EDAMAGED;
    case SQLITE_NOTADB:
        return VIDI_EFORMAT;
    default:
        return VIDI_EIO;
    }
}

const char *sql_message(sqlite3 *db)
{
    return sqlite3_extended_errcode(db) == SQLITE_IOERR_DATA ? "a page is damaged: its checksum is wrong"
                                                             : sqlite3_errmsg(db);
}

int sql_prepare(sqlite3 *db, sqlite3_stmt **slot, const char *text)
{
    return *slot ? VIDI_OK : sql_code(sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, slot, NULL));
}

int sql_run(sqlite3_stmt *statement)
{
    int result = sqlite3_step(statement);
    sqlite3_reset(statement); /* says the same once more */
    return sql_code(result);
}

int sql_execute(sqlite3 *db, const char *text)
{
    return sql_code(sqlite3_exec(db, text, NULL, NULL, NULL));
}

void sql_bind(sqlite3_stmt *statement, const sql_value *values, int count)
{
    for (int i = 0; i < count; i++) {
        const sql_value *value = &values[i];
        if (value->kind == SQL_IS_NUMBER)
            sqlite3_bind_int64(statement, i + 1, value->number);
        else if (value->kind == SQL_IS_REAL)
            sqlite3_bind_double(statement, i + 1, value->real);
        else if (value->kind == SQL_IS_TEXT)
            sqlite3_bind_text64(statement, i + 1, value->bytes.ptr, value->bytes.len, SQLITE_STATIC, SQLITE_UTF8);
        else
            sqlite3_bind_blob64(statement, i + 1, value->bytes.ptr, value->bytes.len, SQLITE_STATIC);
    }
}

vidi_str sql_blob(sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return (vidi_str){NULL, 0};
    const char *bytes = sqlite3_column_blob(statement, column); /* NULL if it is empty */
    return (vidi_str){bytes ? bytes : "", (size_t)sqlite3_column_bytes(statement, column)};
}

vidi_str sql_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return (vidi_str){text, (size_t)sqlite3_column_bytes(statement, column)};
}

uint64_t sql_number(sqlite3_stmt *statement, int column)
{
    return (uint64_t)sqlite3_column_int64(statement, column);
}
