/*
 * What exports read: the database as it is at one moment, and responses of the archive that it has committed. While it
 * is open, the database has a view `stored` of the newest row of each page, with the places of its body and its head.
 */
#ifndef VIDI_CRAWLER_EXPORT_SOURCE_H
#define VIDI_CRAWLER_EXPORT_SOURCE_H

#include "crawler/archive/archive.h"
#include "crawler/base/sql.h"
#include "crawler/export/export.h"

typedef struct export_source {
    const export_options *options;
    sqlite3 *sqlite;
    char *folder;      /* of the archive */
    archive_place end; /* {0, 0}: nothing was stored */
    archive_reader *archive;
    bytes unpacked; /* the body of the last response, if it was packed */
    bytes head;     /* its head, if another record has the body */
    export_result *result;
    char *why;
} export_source;

/* `why` and `result` stay the caller's. Close it in either case. */
int export_source_open(export_source *source, const export_options *options, export_result *result, char *why);
void export_source_close(export_source *source);

/* Writes a sentence and returns the error. */
int export_fail(const export_source *source, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The sentence of SQLite about an error, if it is one. */
int export_check(const export_source *source, int error);
/* Prepares a statement, which the caller finalizes; steps: 1 if there is a row, 0 at the end, or an error. */
int export_prepare(const export_source *source, sqlite3_stmt **made, const char *text);
int export_step(const export_source *source, sqlite3_stmt *statement);

/* A stored response; valid until the next one is read. */
typedef struct export_response {
    vidi_str head;
    vidi_str body; /* unpacked */
} export_response;

/*
 * Reads the response of a row of `stored` that has file, offset, head_file and head_offset from this column on. 1: here
 * it is. 0: it cannot be read, which the result counts. Else an error.
 */
int export_read(export_source *source, vidi_str url, sqlite3_stmt *row, int column, export_response *response);

#endif
