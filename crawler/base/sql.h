/*
 * What the crawl's tables share: statements that are prepared once and kept, and SQLite's errors as the library's
 * codes.
 */
#ifndef VIDI_CRAWLER_BASE_SQL_H
#define VIDI_CRAWLER_BASE_SQL_H

#include <sqlite3.h>
#include <stdint.h>

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

/* Binds bytes as text or as a blob, without a copy; ptr NULL: NULL. They must stay until the statement is reset. */
void sql_bind_text(sqlite3_stmt *statement, int index, vidi_str text);
void sql_bind_blob(sqlite3_stmt *statement, int index, vidi_str bytes);
/* The same for a string that ends in a zero byte. */
void sql_bind_string(sqlite3_stmt *statement, int index, const char *text);
/* Whole numbers up to 2^63 - 1. */
void sql_bind(sqlite3_stmt *statement, int index, uint64_t value);

/* A column, text or blob, valid until the statement is stepped or reset. NULL gives ptr NULL; an empty one does not. */
vidi_str sql_blob(sqlite3_stmt *statement, int column);
/* A text with a zero byte behind it. ptr NULL: the column is NULL, or there is no memory for that byte. */
vidi_str sql_text(sqlite3_stmt *statement, int column);
uint64_t sql_number(sqlite3_stmt *statement, int column);

#endif
