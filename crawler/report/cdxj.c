/*
 * CDXJ: the index by which tools such as pywb find a page in the archive, made from the database.
 *
 *   org,example)/page 20231114221320 {"url": "https://example.org/page", "mime": "text/html", "status": "200",
 *   "digest": "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "length": "353", "offset": "386", "filename": "vidi-00000.warc.gz"}
 *
 * in one line. An SQL function makes a line of one row, and SQLite sorts the lines, with files if there are many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "crawler/archive/archive.h"
#include "crawler/report/report_state.h"
#include "vidi/url.h"

/*
 * The newest row of each page, and the rows that have the bodies of those. A row that names another one for its body has
 * a revisit record. After a 304 the status is that of the page, because that is what players show.
 */
static const char lines[] =
    "WITH last AS (SELECT o.id, o.body FROM outcomes o JOIN urls u ON u.id = o.id"
    " LEFT JOIN newest n ON n.page = iif(u.page, u.page, u.id)"
    " WHERE o.file IS NOT NULL AND (n.row IS NULL OR n.row = o.id)),"
    " shown AS (SELECT id FROM last UNION SELECT ifnull(b.body, b.id) FROM last l JOIN outcomes b ON b.id = l.body)"
    " SELECT cdxj(u.url, o.date, iif(o.body, 'warc/revisit', o.type),"
    " iif(o.status = 304, ifnull(h.status, 304), o.status), o.digest, o.length, o.offset, ?1 || o.file) AS line"
    " FROM shown s JOIN outcomes o ON o.id = s.id JOIN urls u ON u.id = o.id LEFT JOIN outcomes h ON h.id = o.body"
    " WHERE o.file IS NOT NULL ORDER BY line";

typedef struct maker {
    vidi_canon *surt;
    bytes url, line;
} maker;

/* ---- a line ---- */

/* The key by which archives sort; of what is not a URL, the text itself. */
static int put_key(maker *m)
{
    size_t len = 2 * m->url.len + 64;
    int error = bytes_reserve(&m->line, len);

    if (error)
        return error;
    error = vidi_url_canon(m->surt, bytes_str(&m->url), NULL, m->line.ptr, &len);
    if (error == VIDI_ELIMIT && bytes_reserve(&m->line, len) == VIDI_OK)
        error = vidi_url_canon(m->surt, bytes_str(&m->url), NULL, m->line.ptr, &len);
    if (error == VIDI_INVALID)
        return bytes_append_str(&m->line, bytes_str(&m->url));
    m->line.len = error ? 0 : len;
    return error;
}

static int put_date(maker *m, int64_t date)
{
    time_t seconds = (time_t)(date / 1000);
    struct tm utc = {.tm_year = 70, .tm_mday = 1};

    gmtime_r(&seconds, &utc);
    return bytes_append_format(&m->line, " %04d%02d%02d%02d%02d%02d ", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                               utc.tm_hour, utc.tm_min, utc.tm_sec);
}

/* What servers say may be any bytes: those that are not printable ASCII become U+FFFD. */
static int put_json(maker *m, const char *name, vidi_str value)
{
    int error = bytes_append_format(&m->line, "\"%s\": \"", name);

    for (size_t i = 0; i < value.len && !error; i++) {
        char c = value.ptr[i];
        if (c == '"' || c == '\\')
            error = bytes_append_format(&m->line, "\\%c", c);
        else if (c < 0x20 || c > 0x7E)
            error = bytes_append_text(&m->line, "\\ufffd");
        else
            error = bytes_append(&m->line, &c, 1);
    }
    return error ? error : bytes_append_text(&m->line, "\", ");
}

static vidi_str text_of(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);

    return (vidi_str){text, (size_t)sqlite3_value_bytes(value)};
}

/* Other tools leave out the name of the hash function. */
static vidi_str digest_of(sqlite3_value *value)
{
    vidi_str digest = text_of(value);

    if (digest.len > 5 && memcmp(digest.ptr, "sha1:", 5) == 0)
        return (vidi_str){digest.ptr + 5, digest.len - 5};
    return digest;
}

static vidi_str type_of(sqlite3_value *value)
{
    vidi_str type = text_of(value);

    return type.len ? type : (vidi_str){"unk", 3}; /* as others write it */
}

static int make_line(maker *m, sqlite3_value **values)
{
    const struct {
        const char *name;
        vidi_str value;
    } fields[] = {
        {"url", bytes_str(&m->url)},      {"mime", type_of(values[2])},   {"status", text_of(values[3])},
        {"digest", digest_of(values[4])}, {"length", text_of(values[5])}, {"offset", text_of(values[6])},
        {"filename", text_of(values[7])},
    };
    int error = put_key(m);

    if (!error)
        error = put_date(m, sqlite3_value_int64(values[1]));
    if (!error)
        error = bytes_append_text(&m->line, "{");
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && !error; i++)
        error = put_json(m, fields[i].name, fields[i].value);
    if (!error) {
        m->line.len -= 2; /* the last comma */
        error = bytes_append_text(&m->line, "}\n");
    }
    return error;
}

/* ---- the SQL function ---- */

static void cdxj(sqlite3_context *context, int count, sqlite3_value **values)
{
    maker *m = sqlite3_user_data(context);

    (void)count;
    m->url.len = m->line.len = 0;
    int error = archive_url(text_of(values[0]), &m->url);
    if (!error)
        error = make_line(m, values);
    if (error)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_text64(context, m->line.ptr, m->line.len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void free_maker(void *context)
{
    maker *m = context;

    vidi_canon_close(m->surt);
    bytes_free(&m->url);
    bytes_free(&m->line);
    free(m);
}

int report_install_cdxj(report *report)
{
    maker *m = calloc(1, sizeof *m);
    int error = m ? vidi_canon_create(&m->surt, "surt", NULL, NULL) : VIDI_EMEMORY;

    if (error) {
        free(m);
        return error;
    }
    /* SQLite frees the maker, also if this fails. */
    return sql_code(
        sqlite3_create_function_v2(report->sqlite, "cdxj", 8, SQLITE_UTF8, m, cdxj, NULL, NULL, free_maker));
}

/* ---- the index ---- */

struct report_index {
    report *report;
    sqlite3_stmt *row;
};

int report_index_open(report_index **made, report *report, vidi_str prefix)
{
    report_index *index = calloc(1, sizeof *index);

    *made = index;
    if (!index)
        return report_check(report, VIDI_EMEMORY);
    index->report = report;
    int error = report_prepare(report, &index->row, lines);
    if (!error) /* the text must stay until the index is closed */
        sql_bind(index->row, SQL_VALUES(SQL_TEXT(((vidi_str){prefix.ptr ? prefix.ptr : "", prefix.len}))));
    return error;
}

int report_index_next(report_index *index, vidi_str *line)
{
    int result = report_step(index->report, index->row);

    if (result == 1)
        *line = sql_text(index->row, 0);
    return result;
}

void report_index_close(report_index *index)
{
    if (!index)
        return;
    sqlite3_finalize(index->row);
    free(index);
}

int report_cdxj(report *report, int (*line)(void *context, vidi_str text), void *context)
{
    report_index *index;
    vidi_str text;
    int error = report_index_open(&index, report, (vidi_str){0});

    while (!error && (error = report_index_next(index, &text)) == 1)
        error = line(context, text);
    report_index_close(index);
    return error;
}
