/*
 * The report's frame and its totals: see report.h.
 *
 * Everything is read by SQL from the database's tables. Temporary tables and sorting go to files, so that memory does
 * not grow with the crawl. The judgement of an outcome is an SQL function, so that it is written down once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/report/report_state.h"

/* ---- judging ---- */

static report_state judge_status(const report_accepted *accepted, int status)
{
    if ((status >= 200 && status < 400) || report_accepts(accepted, status))
        return REPORT_FINE;
    if (status == 401 || status == 403 || status == 429) /* not for us, or not now: it may well be there */
        return REPORT_UNKNOWN;
    return status >= 400 && status < 600 ? REPORT_BROKEN : REPORT_UNKNOWN;
}

report_state report_judge(const report_accepted *accepted, int status, const char *reason)
{
    static const char *const broken[] = {"name", "connect", "tls", "timeout", "broken"};

    if (!reason)
        return judge_status(accepted, status);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        if (strcmp(reason, broken[i]) == 0)
            return REPORT_BROKEN;
    /* A page that was too large is there all the same; a redirect that was not followed may lead anywhere. */
    bool has_answer = strcmp(reason, "limit") == 0 && status > 0 && (status < 300 || status > 399);
    return has_answer ? judge_status(accepted, status) : REPORT_UNKNOWN;
}

static void judge(sqlite3_context *context, int count, sqlite3_value **values)
{
    const report *report = sqlite3_user_data(context);
    const char *reason = (const char *)sqlite3_value_text(values[1]);

    (void)count;
    sqlite3_result_int(context, (int)report_judge(&report->accepted, sqlite3_value_int(values[0]), reason));
}

/* ---- statements ---- */

int report_check(report *report, int error)
{
    if (error)
        snprintf(report->error, sizeof report->error, "%s",
                 sqlite3_errcode(report->sqlite) ? sql_message(report->sqlite) : vidi_strerror(error));
    return error;
}

int report_begin(report *report)
{
    return report_check(report, sql_execute(report->sqlite, "SAVEPOINT report"));
}

void report_end(report *report)
{
    sql_execute(report->sqlite, "RELEASE report");
}

int report_prepare(report *report, sqlite3_stmt **made, const char *text)
{
    *made = NULL;
    return report_check(report, sql_prepare(report->sqlite, made, text));
}

int report_step(report *report, sqlite3_stmt *statement)
{
    int result = sqlite3_step(statement);

    return result == SQLITE_ROW ? 1 : report_check(report, sql_code(result));
}

/* ---- opening ---- */

static int open_db(report *report, const char *folder, char *why)
{
    char *path;

    if (asprintf(&path, "%s/crawl.db", folder) < 0) {
        snprintf(why, REPORT_ERROR, "%s", vidi_strerror(VIDI_EMEMORY));
        return VIDI_EMEMORY;
    }
    int error = db_open(&report->db, path, DB_READ_ONLY, false, why);
    if (!error)
        report->sqlite = db_sqlite(report->db);
    free(path);
    return error;
}

static int prepare(report *report)
{
    int error = sql_execute(report->sqlite, "PRAGMA temp_store = FILE");

    if (!error)
        error = sql_code(sqlite3_create_function(report->sqlite, "judge", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, report,
                                                 judge, NULL, NULL));
    error = report_check(report, error ? error : report_install_cdxj(report));
    return error ? error : report_accepted_load(report);
}

int report_open(report **made, const char *folder, char *why)
{
    report *report = calloc(1, sizeof *report);
    int error = report ? open_db(report, folder, why) : VIDI_EMEMORY;

    *made = NULL;
    if (!report)
        snprintf(why, REPORT_ERROR, "%s", vidi_strerror(error));
    if (!error) {
        error = prepare(report);
        if (error)
            snprintf(why, REPORT_ERROR, "%s", report->error);
    }
    if (error)
        report_close(report);
    else
        *made = report;
    return error;
}

void report_close(report *report)
{
    if (!report)
        return;
    db_close(report->db);
    free(report);
}

crawl_db *report_db(report *report)
{
    return report->db;
}

const char *report_error(const report *report)
{
    return report->error;
}

/* ---- meta ---- */

int report_meta(report *report, const char *name, char *to, size_t room)
{
    sqlite3_stmt *ask;
    int error = report_prepare(report, &ask, "SELECT value FROM meta WHERE name = ?1");

    to[0] = 0;
    if (!error) {
        sql_bind(ask, SQL_VALUES(SQL_STRING(name)));
        error = report_step(report, ask);
        if (error == 1) {
            vidi_str text = sql_text(ask, 0);
            snprintf(to, room, "%.*s", (int)text.len, text.ptr ? text.ptr : "");
            error = VIDI_OK;
        }
    }
    sqlite3_finalize(ask);
    return error;
}

/* What the newest visit says about the set, and how long it has taken. */
static int read_visit(report *report, report_totals *totals)
{
    sqlite3_stmt *ask;
    int error = report_prepare(report, &ask,
                               "SELECT visit, expected_lost, fp_meaning, (SELECT value FROM meta WHERE name ="
                               " 'seconds_ms') FROM epochs ORDER BY visit DESC LIMIT 1");

    if (!error && (error = report_step(report, ask)) == 1) {
        totals->visit = sql_number(ask, 0);
        totals->expected_lost = sqlite3_column_double(ask, 1);
        totals->fp_meaning = (uint32_t)sql_number(ask, 2);
        totals->seconds = sqlite3_column_double(ask, 3) / 1000;
        error = VIDI_OK;
    }
    sqlite3_finalize(ask);
    return error;
}

/* Reads 2 n hexadecimal digits, and nothing else. */
static bool read_hex(const char *text, unsigned char *to, size_t n)
{
    static const char digits[] = "0123456789abcdef";

    if (strlen(text) != 2 * n)
        return false;
    for (size_t i = 0; i < 2 * n; i++) {
        const char *digit = strchr(digits, text[i]);
        if (!digit)
            return false;
        to[i / 2] = (unsigned char)(to[i / 2] << 4 | (digit - digits));
    }
    return true;
}

int report_keys(report *report, url_keys **made)
{
    unsigned char secret[VIDI_KEY_BYTES] = {0};
    char hex[2 * VIDI_KEY_BYTES + 2], canon[sizeof((report_totals *)NULL)->canon];
    int error = report_meta(report, "secret", hex, sizeof hex);

    *made = NULL;
    if (!error)
        error = report_meta(report, "canon", canon, sizeof canon);
    if (error)
        return error;
    if (hex[0] && !read_hex(hex, secret, VIDI_KEY_BYTES)) {
        snprintf(report->error, sizeof report->error,
                 "the database is damaged: its secret is not %d hexadecimal digits", 2 * VIDI_KEY_BYTES);
        return VIDI_EDAMAGED;
    }
    error = url_keys_open(made, secret, canon[0] ? canon : NULL);
    /* With a list of tracking parameters of the user's own, a crawl keeps no edges. Redirects are still compared. */
    if (error == VIDI_EOPTION)
        error = url_keys_open(made, secret, NULL);
    if (error)
        snprintf(report->error, sizeof report->error, "%s", vidi_message());
    return error;
}

/* ---- totals ---- */

static int count_states(report *report, report_totals *totals)
{
    sqlite3_stmt *ask;
    int error = report_prepare(report, &ask,
                               "SELECT judge(status, reason) AS state, count(*) FROM outcomes"
                               " WHERE " DB_THIS_VISIT
                               " AND (reason IS NOT NULL OR status NOT BETWEEN 200 AND 399) GROUP BY state");

    while (!error && (error = report_step(report, ask)) == 1) {
        int state = sqlite3_column_int(ask, 0);
        if (state == REPORT_BROKEN)
            totals->broken = sql_number(ask, 1);
        if (state == REPORT_UNKNOWN)
            totals->unknown = sql_number(ask, 1);
        error = VIDI_OK;
    }
    sqlite3_finalize(ask);
    return error;
}

/* The one number that the statement has. */
static int count(report *report, const char *statement, uint64_t *found)
{
    sqlite3_stmt *ask;
    int error = report_prepare(report, &ask, statement);

    if (!error && (error = report_step(report, ask)) == 1) {
        *found = sql_number(ask, 0);
        error = VIDI_OK;
    }
    sqlite3_finalize(ask);
    return error;
}

static int count_fragments(report *report, report_totals *totals)
{
    int error = report_find_fragments(report, &totals->has_fragments);

    return error || !totals->has_fragments ? error : count(report, "SELECT count(*) FROM bad", &totals->fragments);
}

/* A crawl of an older vidi has no table of sites. */
static int count_sites(report *report, report_totals *totals)
{
    uint64_t tables = 0;
    int error = count(report, "SELECT count(*) FROM sqlite_schema WHERE name = 'sites'", &tables);

    if (error || tables == 0)
        return error;
    error = count(report, "SELECT count(*) FROM sites WHERE given > 0", &totals->sites);
    if (!error)
        error = count(report, "SELECT count(*) FROM sites WHERE farm = 2", &totals->cut);
    return error ? error : count(report, "SELECT sum(waiting) FROM sites", &totals->waiting);
}

static int read_meta(report *report, report_totals *totals)
{
    int error = read_visit(report, totals);

    if (!error)
        error = report_meta(report, "kind", totals->kind, sizeof totals->kind);
    if (!error)
        error = report_meta(report, "canon", totals->canon, sizeof totals->canon);
    return error;
}

static int read_rows(report *report, report_totals *totals)
{
    int error = db_total(report->db, &totals->rows);

    if (error)
        snprintf(report->error, sizeof report->error, "%s", db_error(report->db));
    return error;
}

int report_total(report *report, report_totals *totals)
{
    int error = report_begin(report);

    *totals = (report_totals){0};
    if (error)
        return error;
    error = read_rows(report, totals);
    if (!error)
        error = read_meta(report, totals);
    if (!error)
        error = count_states(report, totals);
    if (!error)
        error = count_fragments(report, totals);
    if (!error)
        error = count(report, "SELECT count(*) FROM hosts WHERE parked IS NOT NULL", &totals->parked);
    if (!error)
        error =
            count(report, "SELECT count(*) FROM outcomes WHERE reason IS NULL AND error IS NOT NULL AND " DB_THIS_VISIT,
                  &totals->partial);
    if (!error)
        error = count_sites(report, totals);
    report_end(report);
    return error;
}
