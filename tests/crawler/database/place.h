/* A database in a folder of its own, for tests. */
#ifndef TESTS_CRAWLER_DATABASE_PLACE_H
#define TESTS_CRAWLER_DATABASE_PLACE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/database/database.h"
#include "support/check.h"
#include "support/folder.h"

typedef struct place {
    char folder[TEST_PATH], path[TEST_PATH];
} place;

static inline int make_place(void **state)
{
    static place here;
    test_folder_new(here.folder, false);
    test_path(here.path, here.folder, "crawl.db");
    *state = &here;
    return 0;
}

static inline int remove_place(void **state)
{
    test_folder_remove(((place *)*state)->folder);
    return 0;
}

static inline crawl_db *open_db(const place *here, enum db_access access)
{
    char why[256] = "";
    crawl_db *db;
    check(db_open(&db, here->path, access, false, why) == VIDI_OK, "%s", why);
    return db;
}

static inline void check_fine(crawl_db *db, int code)
{
    check(code == VIDI_OK, "%d: %s", code, db_error(db));
}

static inline uint64_t add_url(crawl_db *db, const char *text)
{
    frontier_url url = {.host = 5, .url = {text, strlen(text)}, .depth = 1, .referrer = 1};
    check_fine(db, frontier_add(db_frontier(db), &url));
    return url.id;
}

/* A text of one row and column. */
static inline const char *ask(crawl_db *from, const char *query)
{
    static char text[256];
    sqlite3_stmt *statement;
    sqlite3 *db = db_sqlite(from);
    check(sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const unsigned char *found = sqlite3_column_text(statement, 0);
    snprintf(text, sizeof text, "%s", found ? (const char *)found : "NULL");
    sqlite3_finalize(statement);
    return text;
}

static const db_outcome fetched = {.status = 200,
                                   .type = {"text/html", 9},
                                   .bytes = 1234,
                                   .digest = "sha1:ABC",
                                   .date = 1700000000123,
                                   .seconds = 0.25,
                                   .links = 7,
                                   .file = "vidi-00000.warc.gz",
                                   .offset = 100,
                                   .length = 50};

static inline int outcome_add(crawl_db *db, uint64_t id, const char *reason)
{
    db_outcome row = fetched;
    row.id = id;
    if (reason)
        row = (db_outcome){.id = id, .reason = reason, .error = "no"};
    return db_outcome_add(db, &row);
}

static inline void check_total(crawl_db *db, db_totals expected)
{
    db_totals found;
    check_fine(db, db_total(db, &found));
    assert_int_equal(found.urls, expected.urls);
    assert_int_equal(found.fetched, expected.fetched);
    assert_int_equal(found.failed, expected.failed);
    assert_int_equal(found.queue, expected.queue);
    assert_int_equal(found.bytes, expected.bytes);
    assert_int_equal(found.hosts, expected.hosts);
    assert_int_equal(found.archived, expected.archived);
}

/* A test with a place of its own. */
#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

#endif
