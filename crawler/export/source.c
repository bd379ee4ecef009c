/*
 * What exports read: see source.h.
 */
#include "crawler/export/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/http/http.h"

/* Bodies that are larger when they are unpacked are left out. */
enum { UNPACKED_MOST = 1 << 30 };

int export_fail(const export_source *source, int error, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(source->why, EXPORT_WHY, format, values);
    va_end(values);
    if (!source->why[0]) /* another part has not said why */
        snprintf(source->why, EXPORT_WHY, "%s", vidi_strerror(error));
    return error;
}

int export_check(const export_source *source, int error)
{
    bool is_memory = error == VIDI_EMEMORY || !sqlite3_errcode(source->sqlite);

    if (error)
        export_fail(source, error, "%s", is_memory ? vidi_strerror(error) : sql_message(source->sqlite));
    return error;
}

int export_prepare(const export_source *source, sqlite3_stmt **made, const char *text)
{
    *made = NULL;
    return export_check(source, sql_prepare(source->sqlite, made, text));
}

int export_step(const export_source *source, sqlite3_stmt *statement)
{
    int result = sqlite3_step(statement);

    return result == SQLITE_ROW ? 1 : export_check(source, sql_code(result));
}

/* ---- opening ---- */

static int find_end(export_source *source)
{
    crawl_db *db = report_db(source->options->report);
    int64_t file = 0, length = 0;
    int error = db_get(db, "archive_file", &file);

    if (!error)
        error = db_get(db, "archive_length", &length);
    if (error && error != VIDI_EABSENT)
        return export_fail(source, error, "%s", db_error(db));
    source->end = (archive_place){(uint32_t)file, (uint64_t)length};
    return VIDI_OK;
}

/*
 * What exports want to know about the newest row of each page. A row whose record only refers to another, because the
 * body was the same, or because the server answered 304, is given the place of that one. The head of a page is in its own
 * record, and after a 304 in the last one before it: two pages with the same bytes may say different things about them.
 */
static const char view[] =
    "CREATE TEMP VIEW stored AS SELECT p.id AS id, p.url AS url,"
    " CASE WHEN p.status = 304 THEN coalesce(h.status, 304) ELSE p.status END AS status,"
    " coalesce(nullif(p.type, ''), h.type) AS type, p.date AS date, p.redirect AS redirect, p.kind AS kind,"
    " coalesce(b.file, h.file, p.file) AS file, coalesce(b.offset, h.offset, p.offset) AS offset,"
    " coalesce(iif(p.status = 304, h.file, p.file), b.file, h.file, p.file) AS head_file,"
    " coalesce(iif(p.status = 304, h.offset, p.offset), b.offset, h.offset, p.offset) AS head_offset"
    " FROM main.pages p LEFT JOIN main.outcomes h ON h.id = p.body LEFT JOIN main.outcomes b ON b.id = h.body";

int export_source_open(export_source *source, const export_options *options, export_result *result, char *why)
{
    *result = (export_result){0};
    *source = (export_source){
        .options = options, .sqlite = db_sqlite(report_db(options->report)), .result = result, .why = why};
    /* From here on, everything that is read is of one moment. */
    int error = export_check(source, sql_execute(source->sqlite, "SAVEPOINT export"));
    if (!error)
        error = find_end(source);
    if (!error)
        error = export_check(source, sql_execute(source->sqlite, view));
    if (error)
        return error;
    if (asprintf(&source->folder, "%s/archive", options->folder) < 0) {
        source->folder = NULL;
        return export_fail(source, VIDI_EMEMORY, "%s", vidi_strerror(VIDI_EMEMORY));
    }
    error = archive_reader_open(&source->archive, source->folder, source->end);
    return error ? export_fail(source, error, "%s", vidi_strerror(error)) : VIDI_OK;
}

void export_source_close(export_source *source)
{
    sql_execute(source->sqlite, "DROP VIEW IF EXISTS temp.stored; RELEASE export");
    archive_reader_close(source->archive);
    bytes_free(&source->unpacked);
    bytes_free(&source->head);
    free(source->folder);
}

/* ---- responses ---- */

/* Counts a page that cannot be read. */
static int unreadable(export_source *source, vidi_str url, const char *why)
{
    if (source->result->unreadable++ == 0)
        snprintf(source->result->example, sizeof source->result->example, "%.*s: %s",
                 (int)(url.len < 300 ? url.len : 300), url.ptr, why);
    return 0;
}

/* Reads the record whose place is in two columns. 1, 0, or an error. */
static int read_record(export_source *source, vidi_str url, sqlite3_stmt *row, int column, archive_record *record)
{
    uint32_t number;
    const char *file = sql_text(row, column).ptr;
    bool known = file && archive_number(file, &number);
    int result = known ? archive_reader_at(source->archive, number, sql_number(row, column + 1), record) : 0;

    if (result == 0)
        return unreadable(source, url, "the database does not say where it is stored");
    if (result == VIDI_EDAMAGED)
        return unreadable(source, url, archive_reader_error(source->archive));
    if (result != 1)
        return export_fail(source, result, "%s",
                           result == VIDI_EMEMORY ? vidi_strerror(result) : archive_reader_error(source->archive));
    return 1;
}

/* Reads the head if it is not in the record of the body. */
static int read_head(export_source *source, vidi_str url, sqlite3_stmt *row, int column)
{
    archive_record record;
    vidi_str file = sql_blob(row, column), head_file = sql_blob(row, column + 2);

    source->head.len = 0;
    if (sql_number(row, column + 1) == sql_number(row, column + 3) && file.len == head_file.len &&
        (file.len == 0 || memcmp(file.ptr, head_file.ptr, file.len) == 0))
        return 1;
    int result = read_record(source, url, row, column + 2, &record);
    if (result == 1 && bytes_append_str(&source->head, record.head))
        result = export_fail(source, VIDI_EMEMORY, "%s", vidi_strerror(VIDI_EMEMORY));
    return result;
}

int export_read(export_source *source, vidi_str url, sqlite3_stmt *row, int column, export_response *response)
{
    archive_record record;
    int result = read_head(source, url, row, column);

    if (result == 1)
        result = read_record(source, url, row, column, &record);
    if (result != 1)
        return result;
    if (!record.body.ptr)
        return unreadable(source, url, "its record has no response");
    response->head = source->head.len ? bytes_str(&source->head) : record.head;
    response->body = record.body;
    bytes_free(&source->unpacked);
    switch (http_unpack(response->head, response->body, UNPACKED_MOST, &source->unpacked)) {
    case HTTP_NO_MEMORY:
        return export_fail(source, VIDI_EMEMORY, "%s", vidi_strerror(VIDI_EMEMORY));
    case HTTP_UNKNOWN:
        return unreadable(source, url, "its Content-Encoding is unknown");
    case HTTP_TOO_LARGE:
        return unreadable(source, url, "its body is too large when it is unpacked");
    case HTTP_AS_IT_IS:
        return 1;
    default: /* of a body that is cut off, browsers show the beginning, too */
        response->body = bytes_str(&source->unpacked);
        return 1;
    }
}
