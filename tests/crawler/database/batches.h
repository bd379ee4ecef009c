/*
 * A small crawl as its database sees it, for tests that disturb it: batches in transactions, and what must be there
 * after any number of them. Batch b has the outcomes of the URLs of batch b - 1, and new URLs.
 */
#ifndef TESTS_CRAWLER_DATABASE_BATCHES_H
#define TESTS_CRAWLER_DATABASE_BATCHES_H

#include <stdio.h>

#include "crawler/database/database.h"
#include "support/check.h"

enum { BATCHES = 6, ADDED = 5 };

static int add_urls(crawl_db *db, uint64_t batch)
{
    int error = VIDI_OK;
    for (uint64_t i = 0; !error && i < ADDED; i++) {
        char text[400];
        int n = snprintf(text, sizeof text, "http://%llu.test/%0300llu", (unsigned long long)i % 3,
                         (unsigned long long)batch);
        frontier_url url = {.host = 1 + i % 3, .url = {text, (size_t)n}};
        error = frontier_add(db_frontier(db), &url);
    }
    return error;
}

static int drop_all(frontier *frontier)
{
    frontier_block block = {0};
    uint64_t host = 0;
    int error;
    while ((error = frontier_host(frontier, 0, host, &host)) == VIDI_OK) {
        error = frontier_take(frontier, 0, host, 0, &block);
        if (!error)
            error = frontier_drop(frontier, 0, host, block.number);
        if (error)
            break;
    }
    bytes_free(&block.text);
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

static int write_batch(crawl_db *db, uint64_t batch)
{
    db_host host = {.id = batch, .origin = {"http://a", 8}, .robots = {"User-agent: *\n", 14}};
    int error = drop_all(db_frontier(db));
    for (uint64_t i = 1; !error && batch > 1 && i <= ADDED; i++) {
        db_outcome outcome = {.id = (batch - 2) * ADDED + i, .status = 200, .bytes = 100};
        if (i == 1)
            outcome.reason = "timeout";
        error = db_outcome_add(db, &outcome);
    }
    if (!error)
        error = add_urls(db, batch);
    if (!error)
        error = db_set(db, "batch", (int64_t)batch);
    if (!error)
        error = db_host_write(db, &host);
    if (!error && batch % 3) /* otherwise the URLs wait for the next sort */
        error = frontier_sort(db_frontier(db), 100);
    return error;
}

static int commit_batch(crawl_db *db, uint64_t batch)
{
    int error = db_begin(db);
    if (!error)
        error = write_batch(db, batch);
    if (!error)
        error = db_commit(db);
    if (error)
        db_rollback(db);
    return error;
}

/* ---- what must be there ---- */

static int64_t ask(crawl_db *from, const char *query)
{
    sqlite3_stmt *statement;
    sqlite3 *db = db_sqlite(from);
    check(sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK, "%s: %s", query, sqlite3_errmsg(db));
    check(sqlite3_step(statement) == SQLITE_ROW, "%s: %s", query, sqlite3_errmsg(db));
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

/* Checks that the database has whole batches, and at least `least`. Returns how many. */
static uint64_t check_whole(crawl_db *db, uint64_t least)
{
    int64_t batches = 0;
    int code = db_get(db, "batch", &batches);
    assert_true(code == VIDI_OK || (code == VIDI_EABSENT && batches == 0));
    check((uint64_t)batches >= least, "%lld batches are there, %llu were acknowledged", (long long)batches,
          (unsigned long long)least);
    int64_t done = batches ? (batches - 1) * ADDED : 0;
    assert_int_equal(ask(db, "SELECT count(*) FROM urls"), batches * ADDED);
    assert_int_equal(ask(db, "SELECT count(*) FROM outcomes"), done);
    assert_int_equal(ask(db, "SELECT count(*) FROM hosts"), batches);
    assert_int_equal(ask(db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    db_totals totals;
    assert_int_equal(db_total(db, &totals), VIDI_OK);
    assert_int_equal(totals.urls, batches * ADDED);
    assert_int_equal(totals.fetched + totals.failed, done);
    assert_int_equal(totals.failed, batches ? batches - 1 : 0);
    assert_int_equal(totals.queue, batches ? ADDED : 0);
    assert_int_equal(totals.hosts, batches);
    return (uint64_t)batches;
}

/* Each URL without an outcome can be taken out. */
static void check_queue(crawl_db *db, uint64_t batches)
{
    frontier *queue = db_frontier(db);
    frontier_block block = {0};
    uint64_t host = 0, found = 0;
    assert_int_equal(db_begin(db), VIDI_OK);
    assert_int_equal(frontier_sort(queue, 1000), VIDI_OK);
    for (; frontier_host(queue, 0, host, &host) == VIDI_OK; host++)
        for (uint64_t after = 0; frontier_take(queue, 0, host, after, &block) == VIDI_OK; after = block.number)
            for (size_t i = 0; i < block.count; i++)
                found += db_is_done(db, block.urls[i].id) == 0;
    db_rollback(db);
    bytes_free(&block.text);
    assert_int_equal(found, batches ? ADDED : 0);
}

static uint64_t check_file(const char *path, uint64_t least)
{
    char why[256] = "";
    crawl_db *db;
    check(db_open(&db, path, DB_WRITE, false, why) == VIDI_OK, "%s", why);
    uint64_t batches = check_whole(db, least);
    check_queue(db, batches);
    if (batches < BATCHES) /* and it goes on */
        assert_int_equal(commit_batch(db, batches + 1), VIDI_OK);
    db_close(db);
    return batches;
}

#endif
