/*
 * Fragments that lead nowhere: links to pages that have no element of that name.
 *
 * Links name their target by a key, and pages have their names in a list each (crawler/base/fragments.h). What joins
 * the two are temporary tables on disk, so that memory does not grow with the crawl:
 *
 *   land    key, id, page     what a link with this key is to: the URL's row, and the page whose names count, which is
 *                             another one if the URL redirects there
 *   hop     key, id, next     URLs that redirect, and keep the fragment: without one in the redirect itself
 *   asked   page, fragment    each once, in the order of the pages: so each list of names is read once
 *   bad     number, page, fragment
 *
 * Nothing is said about pages that are out of scope, not HTML, answered with an error or not read to their end: they have
 * no list.
 */
#include <stdio.h>

#include "crawler/base/fragments.h"
#include "crawler/report/report_state.h"

static const char make_tables[] =
    "DROP TABLE IF EXISTS temp.land; DROP TABLE IF EXISTS temp.hop; DROP TABLE IF EXISTS temp.own;"
    "DROP TABLE IF EXISTS temp.asked; DROP TABLE IF EXISTS temp.bad;"
    "CREATE TEMP TABLE land (key INTEGER PRIMARY KEY, id INTEGER NOT NULL, page INTEGER NOT NULL);"
    "CREATE TEMP TABLE hop (key INTEGER PRIMARY KEY, id INTEGER NOT NULL, next INTEGER NOT NULL);"
    "CREATE TEMP TABLE own (page INTEGER PRIMARY KEY);"
    "CREATE TEMP TABLE asked (page INTEGER, fragment TEXT, PRIMARY KEY (page, fragment)) WITHOUT ROWID;"
    "CREATE TEMP TABLE bad (number INTEGER PRIMARY KEY, page INTEGER NOT NULL, fragment TEXT NOT NULL,"
    " UNIQUE (page, fragment));"
    "INSERT OR IGNORE INTO own SELECT f.page FROM fragments f JOIN outcomes o ON o.id = f.page"
    " WHERE o.redirect IS NOT NULL;";

static const char pages[] = "SELECT n.page, u.url, NULL FROM names n JOIN urls u ON u.id = n.page ORDER BY n.page";

static const char redirects[] =
    "SELECT o.id, u.url, o.redirect FROM outcomes o JOIN urls u ON u.id = o.id"
    " WHERE o." DB_THIS_VISIT " AND o.redirect IS NOT NULL AND o.id NOT IN own ORDER BY o.id";

/* UNION and not UNION ALL, so that a chain that leads back into itself ends. */
static const char find_asked[] =
    "CREATE INDEX temp.hop_by_next ON hop (next);"
    "WITH RECURSIVE back (key, id, page) AS (SELECT h.key, h.id, l.page FROM hop h JOIN land l ON l.key = h.next"
    " UNION SELECT h.key, h.id, b.page FROM back b CROSS JOIN hop h ON h.next = b.key)"
    " INSERT OR IGNORE INTO land SELECT key, id, page FROM back;"
    "INSERT OR IGNORE INTO asked SELECT l.page, f.fragment FROM fragments f CROSS JOIN land l ON l.key = f.target"
    " WHERE f.fragment <> '';"
    "DROP TABLE temp.hop; DROP TABLE temp.own;";

static const char questions[] = "SELECT k.page, k.fragment, n.list FROM asked k CROSS JOIN names n ON n.page = k.page"
                                " ORDER BY k.page, k.fragment";

/* ---- where links land ---- */

static int add_key(report *report, const url_keys *keys, sqlite3_stmt *row, sqlite3_stmt *insert)
{
    vidi_str urls[] = {sql_text(row, 1), sql_text(row, 2)};
    uint64_t made[2] = {0};
    int error = url_keys_make(keys, urls, urls[1].ptr ? 2 : 1, made);

    if (error) {
        snprintf(report->error, sizeof report->error, "%s", vidi_message());
        return error;
    }
    sql_bind(insert, SQL_VALUES(SQL_NUMBER(made[0]), SQL_NUMBER(sql_number(row, 0)),
                                SQL_NUMBER(urls[1].ptr ? made[1] : sql_number(row, 0))));
    return report_check(report, sql_run(insert));
}

/* The newest row of a URL counts. */
static int fill(report *report, const url_keys *keys, const char *question, const char *insertion)
{
    sqlite3_stmt *row, *insert = NULL;
    int error = report_prepare(report, &row, question);

    if (!error)
        error = report_prepare(report, &insert, insertion);
    while (!error && (error = report_step(report, row)) == 1)
        error = add_key(report, keys, row, insert);
    sqlite3_finalize(row);
    sqlite3_finalize(insert);
    return error;
}

/* ---- comparing ---- */

typedef struct comparison {
    uint64_t page; /* whose names these are */
    bytes names, decoded;
} comparison;

static int compare_one(report *report, comparison *with, sqlite3_stmt *row, sqlite3_stmt *insert)
{
    uint64_t page = sql_number(row, 0);
    bool leads = true;
    int error = VIDI_OK;

    if (page != with->page) {
        with->page = page;
        with->names.len = 0;
        error = bytes_append_str(&with->names, sql_blob(row, 2));
    }
    vidi_str fragment = sql_text(row, 1);
    if (!error)
        error = fragment_leads(bytes_str(&with->names), fragment, &with->decoded, &leads);
    if (error || leads)
        return report_check(report, error);
    sql_bind(insert, SQL_VALUES(SQL_NUMBER(page), SQL_TEXT(fragment)));
    return report_check(report, sql_run(insert));
}

static int compare_all(report *report)
{
    comparison with = {.page = 0};
    sqlite3_stmt *row, *insert = NULL;
    int error = report_prepare(report, &row, questions);

    if (!error)
        error = report_prepare(report, &insert, "INSERT INTO bad (page, fragment) VALUES (?1, ?2)");
    while (!error && (error = report_step(report, row)) == 1)
        error = compare_one(report, &with, row, insert);
    sqlite3_finalize(row);
    sqlite3_finalize(insert);
    bytes_free(&with.names);
    bytes_free(&with.decoded);
    return error;
}

static int find_all(report *report)
{
    url_keys *keys;
    int error = report_keys(report, &keys);

    if (!error)
        error = report_check(report, sql_execute(report->sqlite, make_tables));
    if (!error)
        error = fill(report, keys, pages, "INSERT OR REPLACE INTO land VALUES (?1, ?2, ?3)");
    if (!error)
        error = fill(report, keys, redirects, "INSERT OR REPLACE INTO hop VALUES (?1, ?2, ?3)");
    if (!error)
        error = report_check(report, sql_execute(report->sqlite, find_asked));
    if (!error)
        error = compare_all(report);
    url_keys_close(keys);
    return error ? error : report_check(report, sql_execute(report->sqlite, "DROP TABLE temp.asked"));
}

int report_find_fragments(report *report, bool *checked)
{
    char is_set[4];
    int error = report_meta(report, "fragments", is_set, sizeof is_set);

    *checked = !error && is_set[0];
    return *checked ? find_all(report) : error;
}
