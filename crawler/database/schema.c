/*
 * The tables of the database. docs/CRAWLER.md, "The database", explains them to people who query them: a change here is
 * a change there, and of DB_VERSION if older programs cannot live with it.
 *
 * There is no index on URLs: the seen-set has decided already that they are new, and keeping one costs more than
 * everything else together. When a crawl comes back, `known` has the keys of all URLs, written in their order. Other
 * indexes have failures only, and the pages of a continuous crawl by when they are due.
 */
#include "crawler/database/database_state.h"

/* What the views show: a row for each URL of each visit. `referrer` is the text of the page that it was found on. */
#define ROWS(referrer)                                                                                                 \
    "SELECT u.id AS id, u.url AS url, o.status AS status, o.reason AS reason, o.error AS error, o.type AS type,"       \
    " o.bytes AS bytes, o.digest AS digest,"                                                                           \
    " strftime('%Y-%m-%dT%H:%M:%fZ', o.date / 1000.0, 'unixepoch') AS date, o.seconds AS seconds, u.depth AS depth,"   \
    " " referrer " AS referrer, o.redirect AS redirect, o.links AS links, o.file AS file, o.offset AS offset,"         \
    " o.length AS length,"                                                                                             \
    " CASE u.kind WHEN 0 THEN 'page' WHEN 1 THEN 'seed' WHEN 2 THEN 'sitemap' WHEN 3 THEN 'outside'"                   \
    " ELSE 'resource' END AS kind,"                                                                                    \
    " iif(u.page, u.page, u.id) AS page, o.body AS body, o.content AS content,"                                        \
    " (SELECT max(visit) FROM epochs WHERE first <= u.id) AS visit,"                                                   \
    " CASE o.change WHEN 1 THEN 'new' WHEN 2 THEN 'changed' WHEN 3 THEN 'unchanged' WHEN 4 THEN 'gone'"                \
    " WHEN 5 THEN 'back' WHEN 6 THEN 'moved' WHEN 7 THEN 'failed' WHEN 8 THEN 'recovered' END AS change,"              \
    " o.compared AS compared"                                                                                          \
    " FROM urls u LEFT JOIN outcomes o ON o.id = u.id LEFT JOIN urls r ON r.id = u.referrer"

#define VIEWS(referrer)                                                                                                \
    "CREATE VIEW visits AS " ROWS(referrer) ";"                                                                        \
                                            "CREATE VIEW pages AS " ROWS(                                              \
                                                referrer) " LEFT JOIN newest n ON n.page = iif(u.page, u.page, u.id)"  \
                                                          " WHERE n.row IS NULL OR n.row = u.id;"

const char db_tables[] =
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE seeds (url TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE outcomes (id INTEGER PRIMARY KEY, status INTEGER NOT NULL, reason TEXT, error TEXT, type TEXT,"
    " bytes INTEGER NOT NULL, digest TEXT, date INTEGER NOT NULL, seconds REAL NOT NULL, redirect TEXT,"
    " links INTEGER NOT NULL, file TEXT, offset INTEGER, length INTEGER, record BLOB, body INTEGER, etag TEXT,"
    " modified TEXT, content TEXT, change INTEGER NOT NULL, compared INTEGER, kept INTEGER);"
    "CREATE INDEX outcomes_by_reason ON outcomes (reason) WHERE reason IS NOT NULL;"
    "CREATE TABLE totals (one INTEGER PRIMARY KEY CHECK (one = 1), fetched INTEGER NOT NULL, failed INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL, hosts INTEGER NOT NULL, archived INTEGER NOT NULL);"
    "INSERT INTO totals VALUES (1, 0, 0, 0, 0, 0);"
    "CREATE TABLE hosts (id INTEGER PRIMARY KEY, origin TEXT NOT NULL, pages INTEGER NOT NULL,"
    " not_before INTEGER NOT NULL, parked TEXT, robots_outcome INTEGER NOT NULL, robots_date INTEGER NOT NULL,"
    " robots_reached INTEGER NOT NULL);"
    "CREATE TABLE robots (host INTEGER PRIMARY KEY, file BLOB NOT NULL);"
    "CREATE TABLE skipped (reason TEXT PRIMARY KEY, links INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE nofollow (key INTEGER PRIMARY KEY, url TEXT NOT NULL, page INTEGER NOT NULL, depth INTEGER NOT NULL);"
    "CREATE TABLE names (page INTEGER PRIMARY KEY, list BLOB NOT NULL);"
    "CREATE TABLE fragments (target INTEGER NOT NULL, page INTEGER NOT NULL, text TEXT, fragment TEXT NOT NULL);"
    "CREATE TABLE edges (target INTEGER NOT NULL, page INTEGER NOT NULL, text TEXT);"
    "CREATE TABLE paths (path INTEGER PRIMARY KEY, queries INTEGER NOT NULL);"
    "CREATE TABLE epochs (visit INTEGER PRIMARY KEY, first INTEGER NOT NULL, began INTEGER NOT NULL, ended INTEGER,"
    " comparable INTEGER NOT NULL, seconds_ms INTEGER NOT NULL, expected_lost REAL NOT NULL,"
    " fp_meaning INTEGER NOT NULL);"
    "CREATE TABLE known (key INTEGER PRIMARY KEY, page INTEGER NOT NULL);"
    "CREATE TABLE newest (page INTEGER PRIMARY KEY, row INTEGER NOT NULL, settled INTEGER NOT NULL,"
    " good INTEGER NOT NULL);"
    "CREATE TABLE schedule (page INTEGER PRIMARY KEY, history BLOB NOT NULL, importance REAL NOT NULL,"
    " rate REAL NOT NULL, alive REAL NOT NULL, visited INTEGER NOT NULL, due INTEGER NOT NULL, taken INTEGER NOT NULL);"
    "CREATE INDEX schedule_by_due ON schedule (due);"
    "CREATE TABLE payloads (digest INTEGER PRIMARY KEY, row INTEGER NOT NULL);" VIEWS("r.url");

/* Pages of a fleet may have been found by another process. */
const char db_fleet_tables[] =
    "CREATE TABLE IF NOT EXISTS far (id INTEGER PRIMARY KEY, url TEXT);"
    "CREATE TABLE IF NOT EXISTS untold (id INTEGER PRIMARY KEY);"
    "DROP VIEW IF EXISTS visits; DROP VIEW IF EXISTS pages;" VIEWS(
        "iif(u.referrer, r.url, (SELECT f.url FROM far f WHERE f.id <= u.id ORDER BY f.id DESC LIMIT 1))");
