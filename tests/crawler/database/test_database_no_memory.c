/*
 * When memory runs out, the database says so, and nothing is lost or done in part. Every allocation fails once,
 * SQLite's and our own: first the first, then the second, and so on, until a run needs none that fails.
 */
#include <string.h>

#include "crawler/database/batches.h"
#include "crawler/scarce_memory.h"
#include "support/env.h"
#include "support/folder.h"

enum { SOME = 3 }; /* batches */

static sqlite3_mem_methods real;

static void *scarce_malloc(int bytes)
{
    return fails() ? NULL : real.xMalloc(bytes);
}

static void *scarce_realloc(void *old, int bytes)
{
    return fails() ? NULL : real.xRealloc(old, bytes);
}

/* Commits batches until one fails. Returns how many were acknowledged. */
static uint64_t commit_some(crawl_db *db, int *error)
{
    uint64_t done = 0;
    *error = VIDI_OK;
    while (done < SOME && !*error) {
        *error = commit_batch(db, done + 1);
        done += *error == VIDI_OK;
    }
    return done;
}

/* One run in which an allocation fails. False when it needed fewer. */
static bool run_without(long at)
{
    char folder[TEST_PATH], path[TEST_PATH], why[256] = "";
    crawl_db *db;
    uint64_t done = 0;
    test_folder_new(folder, false);
    test_path(path, folder, "crawl.db");
    countdown = at;
    int error = db_open(&db, path, DB_WRITE, false, why);
    if (!error) {
        done = commit_some(db, &error);
        bool failed = countdown < 0;
        countdown = -1;
        assert_true(error == VIDI_OK || failed);
        check(error == VIDI_OK || error == VIDI_EMEMORY, "allocation %ld: %d, %s", at, error, db_error(db));
        check(error == VIDI_OK || strstr(db_error(db), "memory"), "allocation %ld: %s", at, db_error(db));
        /* The database can still be used. */
        assert_int_equal(check_whole(db, done), done);
        if (error)
            assert_int_equal(commit_batch(db, ++done), VIDI_OK);
        db_close(db);
        check_file(path, done);
        test_folder_remove(folder);
        return failed;
    }
    countdown = -1;
    assert_null(db);
    check(error == VIDI_EMEMORY, "allocation %ld: %d, %s", at, error, why);
    assert_non_null(strstr(why, "crawl.db"));
    check_file(path, 0);
    test_folder_remove(folder);
    return true;
}

static void every_allocation_can_fail(void **state)
{
    (void)state;
    long at = 0;
    while (run_without(at))
        at += test_long() ? 1 : (test_sanitized() ? 11 : 3) + at % 5;
    assert_true(at > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_can_fail)};
    sqlite3_mem_methods scarce;
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
    scarce = real;
    scarce.xMalloc = scarce_malloc;
    scarce.xRealloc = scarce_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &scarce);
    return cmocka_run_group_tests_name("database without memory", tests, NULL, NULL);
}
