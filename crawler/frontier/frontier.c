/*
 * The frontier's table of URLs, and what is kept in memory beside it: see frontier.h. The queue is in segments.c,
 * sorting in sorting.c, reading ahead in windows.c, the format of blocks in frontier_blocks.c.
 */
#include "crawler/frontier/frontier.h"

#include <stdio.h>
#include <stdlib.h>

#include "crawler/base/sql.h"
#include "crawler/frontier/frontier_state.h"

enum { RESERVED = 8 }; /* bytes of a page that the database keeps for a checksum */

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS urls (id INTEGER PRIMARY KEY, url TEXT NOT NULL, host INTEGER NOT NULL,"
    " depth INTEGER NOT NULL, hops INTEGER NOT NULL, kind INTEGER NOT NULL, referrer INTEGER NOT NULL,"
    " page INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS segments (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS queue (segment INTEGER NOT NULL, level INTEGER NOT NULL, host INTEGER NOT NULL,"
    " block INTEGER NOT NULL, count INTEGER NOT NULL, urls BLOB NOT NULL,"
    " PRIMARY KEY (segment, level, host, block)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS sites (id INTEGER PRIMARY KEY, name TEXT, number INTEGER NOT NULL,"
    " given INTEGER NOT NULL, waiting INTEGER NOT NULL, links INTEGER NOT NULL, budget INTEGER NOT NULL,"
    " address INTEGER NOT NULL, farm INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS sites_ripe ON sites (id) WHERE waiting > 0 AND given < budget;"
    "CREATE TABLE IF NOT EXISTS site_links (site INTEGER NOT NULL, by INTEGER NOT NULL, PRIMARY KEY (site, by))"
    " WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS addresses (id INTEGER PRIMARY KEY, sites INTEGER NOT NULL);";

/* The budget of a site, see site_budgets.h: ?4 is the least, ?5 the most, ?6 how many sites there may be. */
#define BUDGET(links) "CASE WHEN number > ?6 THEN 0 WHEN farm THEN ?4 ELSE min(?5, ?4 * (" links " + 1)) END"
/* The URL that is filed is given: because it must be (?7), or because none waits and there is some budget left. */
#define GIVEN "(?7 OR (waiting = 0 AND given < budget))"

static const char *const texts[FRONTIER_STATEMENTS] = {
    [FRONTIER_ADD] = ("INSERT INTO urls (url, host, depth, hops, kind, referrer, page)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"),
    [FRONTIER_LAST] = "SELECT max(id) FROM urls",
    [FRONTIER_TEXT] = "SELECT url FROM urls WHERE id = ?1",
    [FRONTIER_SINCE] = "SELECT id, url FROM urls WHERE id > ?1 ORDER BY id",
    [FRONTIER_UNSORTED] = "SELECT id, url, host, depth, hops, kind, referrer FROM urls WHERE id > ?1 ORDER BY id",
    [FRONTIER_PUT] = "INSERT INTO queue (segment, level, host, block, count, urls) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [FRONTIER_AHEAD] = ("SELECT host, block, count, urls FROM queue"
                        " WHERE segment = ?1 AND level = ?2 AND (host, block) >= (?3, ?4) ORDER BY host, block"),
    [FRONTIER_NEWEST] = ("SELECT block, count, urls FROM queue"
                         " WHERE segment = ?1 AND level = ?2 AND host = ?3 AND block < ?4 ORDER BY block DESC"),
    [FRONTIER_KIND] = "SELECT kind FROM urls WHERE id = ?1",
    [FRONTIER_QUEUED] = "SELECT block, count, urls FROM queue",
    [FRONTIER_LEVEL] = "SELECT level FROM queue WHERE segment = ?1 AND level >= ?2 ORDER BY level",
    [FRONTIER_DROP] = ("DELETE FROM queue"
                       " WHERE segment = ?1 AND level = ?2 AND (host, block) >= (?3, ?4) AND (host, block) < (?5, ?6)"),
    [FRONTIER_SEGMENTS] = "SELECT first, last FROM segments ORDER BY first",
    [FRONTIER_SEGMENT_PUT] = "INSERT OR REPLACE INTO segments (first, last) VALUES (?1, ?2)",
    [FRONTIER_SEGMENT_DROP] = "DELETE FROM segments WHERE first = ?1",
    [FRONTIER_SITE_BEGIN] = ("UPDATE sites SET budget = " BUDGET("links")),
    /* ?1 id, ?2 name, ?3 number of a new site, ?8 its budget */
    [FRONTIER_SITE_FILE] = ("INSERT INTO sites VALUES (?1, ?2, ?3, ?7 OR ?8 > 0, NOT (?7 OR ?8 > 0), 0, ?8, 0, 0)"
                            " ON CONFLICT (id) DO UPDATE SET name = coalesce(name, ?2), given = given + " GIVEN
                            ", waiting = waiting + NOT " GIVEN " RETURNING waiting, number"),
    [FRONTIER_SITE_PAIR] = "INSERT INTO site_links (site, by) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    [FRONTIER_SITE_LINK] =
        ("INSERT INTO sites VALUES (?1, NULL, ?3, 0, 0, 1, min(2 * ?8, ?5), 0, 0)"
         " ON CONFLICT (id) DO UPDATE SET links = links + 1, budget = " BUDGET("links + 1") " RETURNING number"),
    [FRONTIER_SITE_READ] = "SELECT address, farm FROM sites WHERE id = ?1",
    /* ?2 address, ?3 farm: 1 if it is one of the first at a farm, 2 if it is cut */
    [FRONTIER_SITE_PLACE] = "UPDATE sites SET address = ?2, farm = ?3 WHERE id = ?1",
    [FRONTIER_SITE_FARM] = "UPDATE sites SET farm = max(farm, 1), budget = min(budget, ?4) WHERE address = ?2",
    [FRONTIER_SITE_RIPE] = "SELECT id, budget - given FROM sites WHERE waiting > 0 AND given < budget LIMIT ?1",
    [FRONTIER_SITE_GIVE] = "UPDATE sites SET given = given + ?2, waiting = ?3 * (waiting - ?2) WHERE id = ?1",
    [FRONTIER_ADDRESS] = ("INSERT INTO addresses VALUES (?1, 1) ON CONFLICT (id) DO UPDATE SET sites = sites + 1"
                          " RETURNING sites"),
};

/* ---- errors and statements ---- */

int frontier_fail(frontier *frontier, int code)
{
    if (code == VIDI_EMEMORY)
        snprintf(frontier->error, sizeof frontier->error, "out of memory");
    else
        snprintf(frontier->error, sizeof frontier->error, "%s", sql_message(frontier->db));
    return code;
}

int frontier_wrote(frontier *frontier, int code)
{
    /* If SQLite has rolled back by itself, there is nothing left to spoil. */
    frontier->spoiled |= code != VIDI_OK && !sqlite3_get_autocommit(frontier->db);
    return code;
}

bool frontier_is_spoiled(const frontier *frontier)
{
    return frontier->spoiled;
}

const char *frontier_error(const frontier *frontier)
{
    return frontier->error;
}

static int prepare(frontier *frontier, enum frontier_statement which)
{
    int error = sql_prepare(frontier->db, &frontier->statements[which], texts[which]);
    return error ? frontier_fail(frontier, error) : VIDI_OK;
}

/* ---- memory ---- */

static int load_last(frontier *frontier)
{
    int error = prepare(frontier, FRONTIER_LAST);
    if (error)
        return error;
    sqlite3_stmt *ask = frontier->statements[FRONTIER_LAST];
    int result = sqlite3_step(ask);
    if (result == SQLITE_ROW)
        frontier->last = sql_number(ask, 0); /* NULL, if there are none, is 0 */
    sqlite3_reset(ask);
    return result == SQLITE_ROW ? VIDI_OK : frontier_fail(frontier, sql_code(result));
}

static int load(frontier *frontier)
{
    int error = load_last(frontier);
    if (!error)
        error = prepare(frontier, FRONTIER_SEGMENTS);
    if (!error)
        error = segments_load(frontier);
    sites_forget(frontier);
    if (!error)
        frontier->stale = false;
    return error;
}

int frontier_refresh(frontier *frontier)
{
    return frontier->stale ? load(frontier) : VIDI_OK;
}

int frontier_ready(frontier *frontier, enum frontier_statement which)
{
    int error = frontier_refresh(frontier);
    return error ? error : prepare(frontier, which);
}

int frontier_ready_to_write(frontier *frontier, enum frontier_statement which)
{
    if (sqlite3_get_autocommit(frontier->db)) {
        snprintf(frontier->error, sizeof frontier->error, "there is no transaction, or it has been rolled back");
        return VIDI_EARGUMENT;
    }
    return frontier_ready(frontier, which);
}

void frontier_forget(frontier *frontier)
{
    frontier->stale = true;
    frontier->spoiled = false;
}

/*
 * The longest block that stays on one page with others: SQLite moves most of a longer one to a page of its own. From
 * its file format: an entry of an index may have (usable - 12) * 64 / 255 - 23 bytes, and 48 are enough for all other
 * columns.
 */
static int load_page_size(frontier *frontier)
{
    sqlite3_stmt *ask = NULL;
    int error = sql_prepare(frontier->db, &ask, "PRAGMA page_size");
    if (!error && sqlite3_step(ask) == SQLITE_ROW)
        frontier->block_bytes = (size_t)((sql_number(ask, 0) - RESERVED - 12) * 64 / 255 - 23 - 48);
    sqlite3_finalize(ask);
    return error ? frontier_fail(frontier, error) : VIDI_OK;
}

/* ---- opening ---- */

int frontier_open(frontier **made, sqlite3 *db, bool by_level)
{
    *made = NULL;
    frontier *frontier = calloc(1, sizeof *frontier);
    if (!frontier)
        return VIDI_EMEMORY;
    frontier->db = db;
    frontier->by_level = by_level;
    frontier->segment_least = SEGMENT_LEAST;
    int error = sqlite3_db_readonly(db, "main") == 1 ? VIDI_OK : sql_execute(db, tables);
    if (!error)
        error = load_page_size(frontier);
    if (!error)
        error = load(frontier);
    if (error)
        frontier_close(frontier);
    else
        *made = frontier;
    return error;
}

void frontier_close(frontier *frontier)
{
    if (!frontier)
        return;
    for (size_t i = 0; i < FRONTIER_STATEMENTS; i++)
        sqlite3_finalize(frontier->statements[i]);
    segments_free(frontier);
    free(frontier->segments);
    free(frontier->sites);
    free(frontier);
}

/* ---- URLs ---- */

int frontier_add(frontier *frontier, frontier_url *url)
{
    int error = frontier_ready_to_write(frontier, FRONTIER_ADD);
    if (error)
        return error;
    sqlite3_stmt *add = frontier->statements[FRONTIER_ADD];
    sql_bind(add, SQL_VALUES(SQL_TEXT(url->url), SQL_NUMBER(url->host), SQL_NUMBER(url->depth), SQL_NUMBER(url->hops),
                             SQL_NUMBER(url->kind), SQL_NUMBER(url->referrer), SQL_NUMBER(url->page)));
    error = sql_run(add);
    if (error)
        return frontier_wrote(frontier, frontier_fail(frontier, error));
    url->id = frontier->last = (uint64_t)sqlite3_last_insert_rowid(frontier->db);
    return VIDI_OK;
}

uint64_t frontier_last(const frontier *frontier)
{
    return frontier->last;
}

uint64_t frontier_unsorted(const frontier *frontier)
{
    return frontier->last - frontier_sorted(frontier);
}

int frontier_is_listed(frontier *frontier, const frontier_url *url, bool *listed)
{
    int error = url->referrer ? frontier_ready(frontier, FRONTIER_KIND) : VIDI_OK;
    *listed = false;
    if (error || !url->referrer)
        return error;
    sqlite3_stmt *ask = frontier->statements[FRONTIER_KIND];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(url->referrer)));
    int result = sqlite3_step(ask);
    *listed = result == SQLITE_ROW && sql_number(ask, 0) == FRONTIER_SITEMAP;
    sqlite3_reset(ask);
    return sql_code(result) ? frontier_fail(frontier, sql_code(result)) : VIDI_OK;
}

int frontier_text(frontier *frontier, uint64_t id, bytes *to)
{
    int error = frontier_ready(frontier, FRONTIER_TEXT);
    if (error)
        return error;
    sqlite3_stmt *ask = frontier->statements[FRONTIER_TEXT];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(id)));
    int result = sqlite3_step(ask);
    if (result == SQLITE_ROW)
        error = bytes_append_str(to, sql_blob(ask, 0));
    else
        error = result == SQLITE_DONE ? VIDI_EABSENT : sql_code(result);
    if (error && error != VIDI_EABSENT)
        frontier_fail(frontier, error);
    sqlite3_reset(ask);
    return error;
}

int frontier_since(frontier *frontier, uint64_t after, frontier_visit *visit, void *context)
{
    int error = frontier_ready(frontier, FRONTIER_SINCE), result = SQLITE_DONE, stop = 0;
    if (error)
        return error;
    sqlite3_stmt *ask = frontier->statements[FRONTIER_SINCE];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(after)));
    while (!stop && (result = sqlite3_step(ask)) == SQLITE_ROW)
        stop = visit(context, sql_number(ask, 0), sql_blob(ask, 1));
    error = sql_code(result);
    if (error)
        frontier_fail(frontier, error);
    sqlite3_reset(ask);
    return stop ? stop : error;
}
