/*
 * Broken links with every page that links to them.
 *
 * Edges name their target by a key of its canonical form, and have no index: writing them must be cheap, and most
 * crawls have few broken links among millions of edges. So the few targets that matter are put into temporary tables,
 * and one pass over the edges finds those that lead there.
 *
 *   lead       URLs that are broken, or that redirect: key, and the key of the URL that it redirects to (broken: none)
 *   wanted     those of them that are broken, or that lead to a broken one: key, and which one
 *   referrers  which page links to which of those, sorted; and, under -N, to the bad fragment number N (bad_fragments.c)
 *
 * A URL redirects to one other, so each is in one chain at most, and all chains together are found in linear time. A
 * chain that leads back into itself leads to no broken URL, so it is never walked.
 */
#include <stdio.h>

#include "crawler/report/report_state.h"

static const char make_tables[] =
    "CREATE TEMP TABLE lead (key INTEGER PRIMARY KEY, id INTEGER NOT NULL, next INTEGER);"
    "CREATE TEMP TABLE wanted (key INTEGER PRIMARY KEY, id INTEGER NOT NULL, broken INTEGER NOT NULL);"
    "CREATE TEMP TABLE referrers (broken INTEGER, page INTEGER, through INTEGER, text TEXT,"
    " PRIMARY KEY (broken, page, through, text)) WITHOUT ROWID;";

static const char drop_tables[] = "DROP TABLE IF EXISTS temp.referrers; DROP TABLE IF EXISTS temp.wanted;"
                                  "DROP TABLE IF EXISTS temp.lead;";

static const char leading[] =
    "SELECT o.id, u.url, o.redirect, judge(o.status, o.reason) FROM outcomes o JOIN urls u ON u.id = o.id"
    " WHERE o." DB_THIS_VISIT
    " AND (o.redirect IS NOT NULL OR o.reason IS NOT NULL OR o.status NOT BETWEEN 200 AND 399) ORDER BY o.id";

static const char find_wanted[] =
    "CREATE INDEX temp.lead_by_next ON lead (next);"
    "WITH RECURSIVE back (key, id, broken) AS (SELECT key, id, id FROM lead WHERE next IS NULL"
    " UNION ALL SELECT l.key, l.id, b.broken FROM back b CROSS JOIN lead l ON l.next = b.key)"
    " INSERT INTO wanted SELECT key, id, broken FROM back;";

/* The edges first, then the page that a URL was found on, for crawls that have kept no edges. */
static const char find_referrers[] =
    "INSERT OR IGNORE INTO referrers SELECT w.broken, e.page, w.id, coalesce(e.text, '')"
    " FROM edges e CROSS JOIN wanted w ON w.key = e.target;"
    "INSERT INTO referrers SELECT w.broken, u.referrer, w.id, '' FROM wanted w JOIN urls u ON u.id = w.id"
    " WHERE u.referrer <> 0 AND u.hops = 0 AND NOT EXISTS (SELECT 1 FROM referrers r"
    " WHERE r.broken = w.broken AND r.page = u.referrer AND r.through = w.id);";

static const char find_fragments[] =
    "INSERT OR IGNORE INTO referrers SELECT -b.number, f.page, CASE WHEN l.id <> l.page THEN l.id ELSE 0 END,"
    " coalesce(f.text, '') FROM fragments f CROSS JOIN land l ON l.key = f.target"
    " CROSS JOIN bad b ON b.page = l.page AND b.fragment = f.fragment;";

#define URLS                                                                                                           \
    "SELECT o.id, u.url, o.status, o.reason, o.error, judge(o.status, o.reason), o.seconds FROM outcomes o"            \
    " JOIN urls u ON u.id = o.id WHERE o." DB_THIS_VISIT

static const char all_urls[] = URLS " ORDER BY o.id";
static const char broken_urls[] = URLS " AND (o.reason IS NOT NULL OR o.status NOT BETWEEN 200 AND 399)"
                                       " AND judge(o.status, o.reason) = 2 ORDER BY o.id";

static const char bad_fragments[] =
    "SELECT -b.number, u.url || '#' || b.fragment, o.status, 'fragment', 'no element has this id or name', 2, 0"
    " FROM bad b JOIN urls u ON u.id = b.page JOIN outcomes o ON o.id = b.page ORDER BY b.number";

static const char referrers_of[] =
    "SELECT p.url, r.text, CASE WHEN r.through <> r.broken THEN t.url END FROM referrers r"
    " JOIN urls p ON p.id = r.page LEFT JOIN urls t ON t.id = r.through WHERE r.broken = ?1"
    " ORDER BY r.page, r.through, r.text";

_Static_assert(REPORT_BROKEN == 2, "statements above have this number");

/* ---- the tables ---- */

static int add_lead(report *report, const url_keys *keys, sqlite3_stmt *row, sqlite3_stmt *insert)
{
    int state = sqlite3_column_int(row, 3);
    vidi_str urls[] = {sql_text(row, 1), sql_text(row, 2)};
    bool leads_on = state != REPORT_BROKEN && urls[1].ptr;
    uint64_t made[2];

    if (state != REPORT_BROKEN && !leads_on)
        return VIDI_OK;
    int error = url_keys_make(keys, urls, leads_on ? 2 : 1, made);
    if (error) {
        snprintf(report->error, sizeof report->error, "%s", vidi_message());
        return error;
    }
    sql_bind(insert, SQL_VALUES(SQL_NUMBER(made[0]), SQL_NUMBER(sql_number(row, 0)),
                                leads_on ? SQL_NUMBER(made[1]) : SQL_NULL));
    return report_check(report, sql_run(insert));
}

static int fill_lead(report *report, const url_keys *keys)
{
    sqlite3_stmt *row, *insert = NULL;
    int error = report_prepare(report, &row, leading);

    if (!error)
        error = report_prepare(report, &insert, "INSERT OR IGNORE INTO lead VALUES (?1, ?2, ?3)");
    while (!error && (error = report_step(report, row)) == 1)
        error = add_lead(report, keys, row, insert);
    sqlite3_finalize(row);
    sqlite3_finalize(insert);
    return error;
}

static int fill_tables(report *report, bool with_fragments)
{
    url_keys *keys;
    int error = report_keys(report, &keys);

    if (!error)
        error = report_check(report, sql_execute(report->sqlite, drop_tables));
    if (!error)
        error = report_check(report, sql_execute(report->sqlite, make_tables));
    if (!error)
        error = fill_lead(report, keys);
    if (!error)
        error = report_check(report, sql_execute(report->sqlite, find_wanted));
    if (!error)
        error = report_check(report, sql_execute(report->sqlite, find_referrers));
    if (!error && with_fragments)
        error = report_check(report, sql_execute(report->sqlite, find_fragments));
    url_keys_close(keys);
    return error;
}

/* ---- telling ---- */

static int tell_referrers(report *report, const report_visitor *visitor, sqlite3_stmt *row, uint64_t broken)
{
    int error = VIDI_OK;

    sql_bind(row, SQL_VALUES(SQL_NUMBER(broken)));
    while (!error && (error = report_step(report, row)) == 1) {
        report_referrer from = {.page = sql_text(row, 0), .text = sql_text(row, 1), .through = sql_text(row, 2)};
        error = visitor->referrer(visitor->context, &from);
    }
    sqlite3_reset(row);
    return error;
}

static int tell_all(report *report, const report_visitor *visitor, const char *urls)
{
    sqlite3_stmt *row, *referrer = NULL;
    int error = report_prepare(report, &row, urls);

    if (!error)
        error = report_prepare(report, &referrer, referrers_of);
    while (!error && (error = report_step(report, row)) == 1) {
        report_broken url = {.url = sql_text(row, 1),
                             .status = sqlite3_column_int(row, 2),
                             .reason = sql_text(row, 3).ptr,
                             .error = sql_text(row, 4).ptr,
                             .state = (report_state)sqlite3_column_int(row, 5),
                             .seconds = sqlite3_column_double(row, 6)};
        error = visitor->broken(visitor->context, &url);
        if (!error && url.state == REPORT_BROKEN)
            error = tell_referrers(report, visitor, referrer, sql_number(row, 0));
    }
    sqlite3_finalize(row);
    sqlite3_finalize(referrer);
    return error;
}

int report_broken_links(report *report, const report_visitor *visitor)
{
    int error = report_begin(report);

    if (error)
        return error;
    bool with_fragments = false;
    error = report_find_fragments(report, &with_fragments);
    if (!error)
        error = fill_tables(report, with_fragments);
    if (!error)
        error = tell_all(report, visitor, visitor->all ? all_urls : broken_urls);
    if (!error && with_fragments)
        error = tell_all(report, visitor, bad_fragments);
    sql_execute(report->sqlite, drop_tables);
    report_end(report);
    return error;
}
