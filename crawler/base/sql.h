/*
 * What the crawl's tables share: statements that are prepared once and kept, and SQLite's errors as the library's
 * codes.
 */
#ifndef VIDI_CRAWLER_BASE_SQL_H
#define VIDI_CRAWLER_BASE_SQL_H

#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

#include "vidi/vidi.h"

/*
 * The library's code for a result of SQLite: VIDI_OK for OK, ROW and DONE; VIDI_ELIMIT if the disk is full or a text
 * too long, VIDI_EBUSY, VIDI_EMEMORY, VIDI_EDAMAGED, VIDI_EFORMAT if the file is not a database, else VIDI_EIO.
 */
int sql_code(int result);

/* The sentence about the last error. */
const char *sql_message(sqlite3 *db);

/* Prepares the statement unless *slot has it already. VIDI_OK or an error; sqlite3_errmsg tells. */
int sql_prepare(sqlite3 *db, sqlite3_stmt **slot, const char *text);

/* Runs a statement that returns no rows, and resets it. */
int sql_run(sqlite3_stmt *statement);

/* Runs a text of statements that return nothing of interest. */
int sql_execute(sqlite3 *db, const char *text);

/* A value for a statement. Text and blobs are not copied: they must stay until the statement is reset. */
typedef struct sql_value {
    enum { SQL_IS_NUMBER, SQL_IS_REAL, SQL_IS_TEXT, SQL_IS_BLOB } kind;
    int64_t number;
    double real;
    vidi_str bytes; /* ptr NULL: NULL */
} sql_value;

#define SQL_NUMBER(value) ((sql_value){.kind = SQL_IS_NUMBER, .number = (int64_t)(value)})
#define SQL_REAL(value) ((sql_value){.kind = SQL_IS_REAL, .real = (value)})
#define SQL_TEXT(text) ((sql_value){.kind = SQL_IS_TEXT, .bytes = (text)})
#define SQL_BLOB(blob) ((sql_value){.kind = SQL_IS_BLOB, .bytes = (blob)})
#define SQL_NULL SQL_TEXT(((vidi_str){NULL, 0}))

/* A text that ends in a zero byte; NULL: NULL. */
static inline sql_value SQL_STRING(const char *text)
{
    return SQL_TEXT(((vidi_str){text, text ? strlen(text) : 0}));
}

/* The arguments as an array of values, and their number. */
#define SQL_VALUES(...) (const sql_value[]){__VA_ARGS__}, (int)(sizeof((sql_value[]){__VA_ARGS__}) / sizeof(sql_value))

/* Binds values to the parameters from the first: sql_bind(statement, SQL_VALUES(SQL_NUMBER(1), SQL_STRING("a"))). */
void sql_bind(sqlite3_stmt *statement, const sql_value *values, int count);

/* A column, text or blob, valid until the statement is stepped or reset. NULL gives ptr NULL; an empty one does not. */
vidi_str sql_blob(sqlite3_stmt *statement, int column);
/* A text followed by a zero byte. ptr NULL: the column is NULL, or there is no memory for that byte. */
vidi_str sql_text(sqlite3_stmt *statement, int column);
uint64_t sql_number(sqlite3_stmt *statement, int column);

#endif
