/*
 * What a crawl is doing at the moment, for those who watch it: see report.h.
 */
#include "crawler/report/report_state.h"

#define META(name) "(SELECT value FROM meta WHERE name = '" name "')"

int report_look(report *report, report_activity *activity)
{
    sqlite3_stmt *ask = NULL;
    int error = report_begin(report);

    *activity = (report_activity){.ended = true};
    if (error)
        return error;
    if (db_total(report->db, &activity->rows) != VIDI_OK)
        error = report_check(report, VIDI_EIO);
    if (!error)
        error = report_prepare(report, &ask,
                               "SELECT " META("seconds_ms") " / 1000.0, CAST(" META("expected_lost") " AS REAL), " META(
                                   "fp_meaning") ", " META("run") ", coalesce(" META("closed") ", 1)");
    if (!error && (error = report_step(report, ask)) == 1) {
        activity->seconds = sqlite3_column_double(ask, 0);
        activity->expected_lost = sqlite3_column_double(ask, 1);
        activity->fp_meaning = (uint32_t)sqlite3_column_int64(ask, 2);
        activity->run = sql_number(ask, 3);
        activity->ended = sqlite3_column_int(ask, 4) != 0;
        error = VIDI_OK;
    }
    sqlite3_finalize(ask);
    report_end(report);
    return error;
}

/* A statement that selects origin, queued, fetched, parked and how many there are, of ?1 hosts at most. */
static int visit_hosts(report *report, const char *text, uint64_t most, report_visit_host *visit, void *context,
                       uint64_t *count)
{
    sqlite3_stmt *ask;
    int error = report_prepare(report, &ask, text);

    *count = 0;
    if (!error)
        sql_bind(ask, SQL_VALUES(SQL_NUMBER(most)));
    while (!error && (error = report_step(report, ask)) == 1) {
        report_host host = {sql_text(ask, 0), sql_number(ask, 1), sql_number(ask, 2), sql_text(ask, 3)};
        *count = sql_number(ask, 4);
        error = visit(context, &host);
    }
    sqlite3_finalize(ask);
    return error;
}

int report_queues(report *report, uint64_t most, report_visit_host *visit, void *context, uint64_t *count)
{
    return visit_hosts(report,
                       "SELECT origin, queued, pages, parked, hosts_queued FROM"
                       " (SELECT host, sum(count) AS queued, count(*) OVER () AS hosts_queued FROM queue"
                       " GROUP BY host ORDER BY queued DESC, host LIMIT ?1)"
                       " JOIN hosts ON hosts.id = host ORDER BY queued DESC, origin",
                       most, visit, context, count);
}

int report_parked(report *report, uint64_t most, report_visit_host *visit, void *context, uint64_t *count)
{
    return visit_hosts(report,
                       "SELECT origin, 0, pages, parked, count(*) OVER () FROM hosts WHERE parked IS NOT NULL"
                       " ORDER BY pages DESC, origin LIMIT ?1",
                       most, visit, context, count);
}
