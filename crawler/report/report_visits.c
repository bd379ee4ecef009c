/*
 * What visits have found: see report.h. Both are read from the view `visits`, which has the names of changes.
 */
#include <string.h>

#include "crawler/report/report_state.h"

/* ---- numbers of a visit ---- */

static const char all_visits[] =
    "SELECT visit, first, began, ended, expected_lost, fp_meaning, comparable,"
    " CASE WHEN lead(visit) OVER visits THEN seconds_ms ELSE (SELECT value FROM meta WHERE name = 'seconds_ms') END,"
    " coalesce(lead(first) OVER visits, (SELECT max(id) + 1 FROM urls), first),"
    " lag(expected_lost) OVER visits FROM epochs WINDOW visits AS (ORDER BY visit) ORDER BY visit";

static int count_changes(report *report, report_visit *visit, uint64_t first, uint64_t end)
{
    sqlite3_stmt *ask;
    int error = report_prepare(report, &ask,
                               "SELECT change, count(*), sum(bytes) FROM outcomes WHERE id >= ?1 AND id < ?2"
                               " GROUP BY change");

    if (!error)
        sql_bind(ask, SQL_VALUES(SQL_NUMBER(first), SQL_NUMBER(end)));
    while (!error && (error = report_step(report, ask)) == 1) {
        uint64_t change = sql_number(ask, 0);
        if (change < DB_CHANGES)
            visit->changes[change] = sql_number(ask, 1);
        visit->bytes += sql_number(ask, 2);
        error = VIDI_OK;
    }
    sqlite3_finalize(ask);
    return error;
}

int report_visits(report *report, int (*take)(void *context, const report_visit *visit), void *context)
{
    sqlite3_stmt *ask = NULL;
    int error = report_begin(report);

    if (error)
        return error;
    error = report_prepare(report, &ask, all_visits);
    while (!error && (error = report_step(report, ask)) == 1) {
        uint64_t first = sql_number(ask, 1), end = sql_number(ask, 8);
        report_visit visit = {.number = sql_number(ask, 0),
                              .began = sqlite3_column_int64(ask, 2),
                              .ended = sqlite3_column_int64(ask, 3),
                              .expected_lost = sqlite3_column_double(ask, 4),
                              .fp_meaning = (uint32_t)sql_number(ask, 5),
                              .is_comparable = sql_number(ask, 6) != 0,
                              .seconds = sqlite3_column_double(ask, 7) / 1000,
                              .expected_recovered = sqlite3_column_double(ask, 9),
                              .urls = end - first};
        error = count_changes(report, &visit, first, end);
        if (!error)
            error = take(context, &visit);
    }
    sqlite3_finalize(ask);
    report_end(report);
    return error;
}

/* ---- changes ---- */

/* A record that only refers to another one, of another page, says that their bodies are the same. */
static const char changed[] =
    "SELECT v.visit, v.url, v.change, v.status, v.type, v.date, v.digest, v.redirect, v.reason, v.error, v.referrer,"
    " p.status, p.digest, strftime('%Y-%m-%dT%H:%M:%fZ', p.date / 1000.0, 'unixepoch'),"
    " CASE WHEN v.status <> 304 AND iif(b.page, b.page, b.id) <> v.page THEN b.url END"
    " FROM visits v LEFT JOIN outcomes p ON p.id = v.compared LEFT JOIN urls b ON b.id = v.body"
    " WHERE v.id >= (SELECT min(first) FROM epochs WHERE visit >= ?1)"
    " AND v.visit BETWEEN ?1 AND ?2 AND v.change <> 'unchanged' ORDER BY v.id";

int report_changes(report *report, uint64_t from, uint64_t to, int (*take)(void *context, const report_change *change),
                   void *context)
{
    sqlite3_stmt *ask;
    int error = report_prepare(report, &ask, changed);

    if (!error)
        sql_bind(ask, SQL_VALUES(SQL_NUMBER(from), SQL_NUMBER(to)));
    while (!error && (error = report_step(report, ask)) == 1) {
        report_change change = {.visit = sql_number(ask, 0),
                                .url = sql_blob(ask, 1),
                                .change = sql_text(ask, 2).ptr,
                                .status = sqlite3_column_int(ask, 3),
                                .type = sql_blob(ask, 4),
                                .date = sql_blob(ask, 5),
                                .digest = sql_blob(ask, 6),
                                .redirect = sql_blob(ask, 7),
                                .reason = sql_blob(ask, 8),
                                .error = sql_blob(ask, 9),
                                .referrer = sql_blob(ask, 10),
                                .previous_status = sqlite3_column_int(ask, 11),
                                .previous_digest = sql_blob(ask, 12),
                                .previous_date = sql_blob(ask, 13),
                                .same_as = sql_blob(ask, 14)};
        error = take(context, &change);
    }
    sqlite3_finalize(ask);
    return error;
}
