/* The file of the database: only a whole database of ours is opened, and others can read it meanwhile. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crawler/database/place.h"

enum { NOBODY = 65534 };

static void it_is_for_its_owner_alone(void **state)
{
    const place *here = *state;
    struct stat is;
    char log[TEST_PATH];
    mode_t before = umask(0);
    crawl_db *db = open_db(here, DB_WRITE);
    umask(before);
    assert_int_equal(stat(here->path, &is), 0);
    assert_int_equal(is.st_mode & 0777, 0600);
    test_path(log, here->folder, "crawl.db-wal");
    assert_int_equal(stat(log, &is), 0);
    assert_int_equal(is.st_mode & 0777, 0600);
    assert_string_equal(ask(db, "PRAGMA journal_mode"), "wal");
    assert_string_equal(ask(db, "PRAGMA synchronous"), "2"); /* FULL */
    assert_string_equal(ask(db, "PRAGMA secure_delete"), "0");
    assert_string_equal(ask(db, "PRAGMA page_size"), "16384");
    db_close(db);
}

static void check_refused(const place *here, enum db_access access, int code, const char *sentence)
{
    char why[256] = "";
    crawl_db *db;
    int found = db_open(&db, here->path, access, false, why);
    assert_null(db);
    check(found == code, "%d instead of %d: %s", found, code, why);
    check(strstr(why, sentence) && strstr(why, "crawl.db"), "\"%s\" should have \"%s\"", why, sentence);
}

/* Whatever is refused is left as it was. */
static void check_left_alone(const place *here, const void *data, size_t bytes, int code, const char *sentence)
{
    char *found = malloc(bytes + 1);
    test_file_write(here->folder, "crawl.db", data, bytes);
    check_refused(here, DB_WRITE, code, sentence);
    check_refused(here, DB_READ_ONLY, code, sentence);
    int file = open(here->path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(file, found, bytes + 1), bytes);
    assert_memory_equal(found, data, bytes);
    close(file);
    free(found);
}

static void what_is_not_a_database_is_refused(void **state)
{
    const place *here = *state;
    static char text[20000];
    memset(text, 'x', sizeof text);
    check_refused(here, DB_READ_ONLY, VIDI_EABSENT, "does not exist");
    assert_int_equal(test_folder_count(here->folder, "crawl.db"), 0);
    check_left_alone(here, "short", 5, VIDI_EFORMAT, "is not a database");
    check_left_alone(here, text, sizeof text, VIDI_EFORMAT, "is not a database");
    test_file_write(here->folder, "crawl.db", "", 0);
    check_refused(here, DB_READ_ONLY, VIDI_EFORMAT, "is empty");
    db_close(open_db(here, DB_WRITE));

    unlink(here->path);
    assert_int_equal(mkdir(here->path, 0700), 0);
    check_refused(here, DB_WRITE, VIDI_EFORMAT, "is not a file");
    check_refused(here, DB_READ_ONLY, VIDI_EFORMAT, "is not a file");
    assert_int_equal(rmdir(here->path), 0);
    assert_int_equal(symlink("elsewhere.db", here->path), 0);
    check_refused(here, DB_WRITE, VIDI_EFORMAT, "is a symbolic link");
    check_refused(here, DB_READ_ONLY, VIDI_EFORMAT, "is a symbolic link");
    assert_int_equal(test_folder_count(here->folder, "elsewhere"), 0);
}

static void a_folder_that_is_missing_is_an_error(void **state)
{
    const place *here = *state;
    place inside = *here;
    test_path(inside.path, here->folder, "none/crawl.db");
    check_refused(&inside, DB_WRITE, VIDI_EIO, "No such file");
}

static void an_incomplete_database_is_refused(void **state)
{
    const place *here = *state;
    static char whole[1000000];
    db_close(open_db(here, DB_WRITE));
    int file = open(here->path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = read(file, whole, sizeof whole);
    close(file);
    assert_true(bytes > 3 * 16384 && bytes < (ssize_t)sizeof whole);
    check_left_alone(here, whole, (size_t)bytes - 16384, VIDI_EDAMAGED, "is damaged");
    check_left_alone(here, whole, (size_t)bytes - 100, VIDI_EDAMAGED, "is damaged");
    check_left_alone(here, whole, 16384, VIDI_EDAMAGED, "is damaged");
    check_left_alone(here, whole, 50, VIDI_EDAMAGED, "is damaged");

    /* SQLite would take an empty file for a new database, and delete its log. */
    for (int missing = 0; missing < 2; missing++) {
        test_file_write(here->folder, "crawl.db", "", 0);
        test_file_write(here->folder, "crawl.db-wal", whole, 100);
        if (missing)
            unlink(here->path);
        check_refused(here, DB_WRITE, VIDI_EDAMAGED, "its log");
        assert_int_equal(test_folder_count(here->folder, "crawl.db-wal"), 1);
    }
}

static void databases_of_others_and_newer_ones_are_refused(void **state)
{
    const place *here = *state;
    sqlite3 *db;
    crawl_db *opened = open_db(here, DB_WRITE);
    assert_int_equal(sqlite3_exec(db_sqlite(opened), "PRAGMA user_version = 2", NULL, NULL, NULL), SQLITE_OK);
    db_close(opened);
    check_refused(here, DB_WRITE, VIDI_EFORMAT, "newer version of vidi");
    check_refused(here, DB_READ_ONLY, VIDI_EFORMAT, "newer version of vidi");
    unlink(here->path);
    assert_int_equal(sqlite3_open(here->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE urls (x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    check_refused(here, DB_WRITE, VIDI_EFORMAT, "another program");
    check_refused(here, DB_READ_ONLY, VIDI_EFORMAT, "another program");
}

static void names_with_special_characters_are_names(void **state)
{
    const place *here = *state;
    static const char *const names[] = {"file:x?mode=memory", "a%41b#c", "a?b"};
    int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(chdir(here->folder), 0);
    for (size_t i = 0; i < 3; i++) {
        char why[256] = "";
        crawl_db *db;
        check(db_open(&db, names[i], DB_WRITE, false, why) == VIDI_OK, "%s: %s", names[i], why);
        db_close(db);
        struct stat is;
        assert_int_equal(stat(names[i], &is), 0);
        assert_true(is.st_size > 0);
        check(db_open(&db, names[i], DB_READ_ONLY, false, why) == VIDI_OK, "%s: %s", names[i], why);
        db_close(db);
    }
    assert_int_equal(fchdir(before), 0);
    close(before);
}

static void a_reader_does_not_stop_the_crawl(void **state)
{
    const place *here = *state;
    crawl_db *db = open_db(here, DB_WRITE), *reader = open_db(here, DB_READ_ONLY);
    sqlite3_stmt *open_query;
    check_fine(db, db_begin(db));
    add_url(db, "http://a/0");
    check_fine(db, db_commit(db));
    /* It stays in the middle of its query, so that no checkpoint can be completed. */
    assert_int_equal(sqlite3_prepare_v2(db_sqlite(reader), "SELECT * FROM urls, sqlite_schema", -1, &open_query, 0),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(open_query), SQLITE_ROW);
    for (int i = 0; i < 20; i++) {
        check_fine(db, db_begin(db));
        for (int j = 0; j < 100; j++)
            add_url(db, "http://a/1");
        check_fine(db, db_commit(db));
    }
    assert_int_equal(sqlite3_wal_checkpoint_v2(db_sqlite(db), NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(open_query), SQLITE_ROW);
    sqlite3_finalize(open_query);
    check_total(reader, (db_totals){.urls = 2001, .queue = 2001});
    assert_int_not_equal(db_begin(reader), VIDI_OK);
    db_close(reader);
    db_close(db);
}

static void a_closed_database_can_be_read_where_nothing_can_be_written(void **state)
{
    const place *here = *state;
    crawl_db *db = open_db(here, DB_WRITE);
    check_fine(db, db_begin(db));
    add_url(db, "http://a/0");
    check_fine(db, db_commit(db));
    db_close(db);
    assert_int_equal(chmod(here->path, 0400), 0);
    assert_int_equal(chmod(here->folder, 0500), 0);
    bool root = geteuid() == 0; /* for whom nothing is forbidden: becomes somebody else for a while */
    if (root && (chown(here->path, NOBODY, NOBODY) || chown(here->folder, NOBODY, NOBODY) || seteuid(NOBODY)))
        fail_msg("cannot become another user");
    db = open_db(here, DB_READ_ONLY);
    check_total(db, (db_totals){.urls = 1, .queue = 1});
    db_close(db);
    check_refused(here, DB_WRITE, VIDI_EIO, "");
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(here->folder, 0700), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_a_folder(it_is_for_its_owner_alone),
        in_a_folder(what_is_not_a_database_is_refused),
        in_a_folder(a_folder_that_is_missing_is_an_error),
        in_a_folder(an_incomplete_database_is_refused),
        in_a_folder(databases_of_others_and_newer_ones_are_refused),
        in_a_folder(names_with_special_characters_are_names),
        in_a_folder(a_reader_does_not_stop_the_crawl),
        in_a_folder(a_closed_database_can_be_read_where_nothing_can_be_written),
    };
    return cmocka_run_group_tests_name("db_file", tests, NULL, NULL);
}
