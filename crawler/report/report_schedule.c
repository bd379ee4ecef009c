/*
 * What the schedule of a continuous crawl expects: see report.h. Each page's own rate and its last visit count, so this
 * is what holds at the given moment, however well the schedule could be kept.
 */
#include <stdio.h>

#include "crawler/report/report_state.h"
#include "crawler/schedule/schedule.h"

/* An expectation about a page that was visited some days ago. */
typedef struct report_expects {
    const char *name;
    double (*of)(double rate, double alive, double days);
} report_expects;

static void sql_page(sqlite3_context *context, int count, sqlite3_value **values)
{
    const report_expects *expects = sqlite3_user_data(context);
    double days = (double)sqlite3_value_int64(values[2]) / SCHEDULE_DAY;

    (void)count;
    sqlite3_result_double(
        context, expects->of(sqlite3_value_double(values[0]), sqlite3_value_double(values[1]), days > 0 ? days : 0));
}

static int add_functions(report *report)
{
    static report_expects all[] = {{"page_fresh", page_fresh}, {"page_age", page_age}};
    int error = VIDI_OK;

    for (size_t i = 0; i < sizeof all / sizeof *all && !error; i++)
        error = sql_code(sqlite3_create_function(report->sqlite, all[i].name, 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                                 &all[i], sql_page, NULL, NULL));
    return report_check(report, error);
}

static int read_means(report *report, int64_t now, report_schedule *to)
{
    sqlite3_stmt *ask;
    int error = report_prepare(report, &ask,
                               "SELECT count(*), avg(page_fresh(rate, alive, ?1 - visited)),"
                               " avg(page_age(rate, alive, ?1 - visited)), avg(alive),"
                               " (SELECT count(*) FROM outcomes WHERE status > 0 AND " DB_THIS_VISIT ") FROM schedule");

    if (!error) {
        sql_bind(ask, SQL_VALUES(SQL_NUMBER(now)));
        error = report_step(report, ask);
    }
    if (error == 1) {
        to->pages = sql_number(ask, 0);
        to->fresh = sqlite3_column_double(ask, 1);
        to->age_days = sqlite3_column_double(ask, 2);
        to->alive = sqlite3_column_double(ask, 3);
        to->visits = sql_number(ask, 4);
        error = VIDI_OK;
    }
    sqlite3_finalize(ask);
    return error;
}

static int read_hosts(report *report, report_schedule *to)
{
    sqlite3_stmt *ask;
    int error = report_prepare(report, &ask,
                               "SELECT h.origin, count(*) AS pages, sum(s.rate * s.alive) FROM schedule s"
                               " JOIN urls u ON u.id = s.page JOIN hosts h ON h.id = u.host"
                               " GROUP BY h.id ORDER BY pages DESC, h.origin LIMIT ?1");

    if (!error)
        sql_bind(ask, SQL_VALUES(SQL_NUMBER(REPORT_HOSTS)));
    while (!error && (error = report_step(report, ask)) == 1) {
        struct report_scheduled_host *host = &to->hosts[to->host_count++];
        snprintf(host->origin, sizeof host->origin, "%s", sql_text(ask, 0).ptr);
        host->pages = sql_number(ask, 1);
        host->changes_per_day = sqlite3_column_double(ask, 2);
        error = VIDI_OK;
    }
    sqlite3_finalize(ask);
    return error;
}

int report_scheduled(report *report, int64_t now, report_schedule *to)
{
    int error = report_begin(report);

    *to = (report_schedule){0};
    if (error)
        return error;
    error = add_functions(report);
    if (!error)
        error = read_means(report, now, to);
    if (!error && to->pages > 0)
        error = read_hosts(report, to);
    report_end(report);
    return error;
}
