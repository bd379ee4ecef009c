/* The file of --jsonl has exactly the committed lines when a crawl goes on, and nobody else's file is touched. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crawler/crawl/jsonl_output.h"
#include "support/check.h"
#include "support/folder.h"

typedef struct place {
    char folder[TEST_PATH], path[TEST_PATH], database[TEST_PATH];
    crawl_db *db;
    output file;
    const char *why; /* the sentence of the last opening */
} place;

static void begin(place *at)
{
    char why[256];
    memset(at, 0, sizeof *at);
    test_folder_new(at->folder, false);
    test_path(at->path, at->folder, "lines");
    test_path(at->database, at->folder, "crawl.db");
    check(db_open(&at->db, at->database, DB_WRITE, false, why) == VIDI_OK, "%s", why);
}

static void end(place *at)
{
    output_close(&at->file);
    db_close(at->db);
    test_folder_remove(at->folder);
}

static int reopen(place *at)
{
    output_close(&at->file);
    at->why = at->file.file.why;
    return output_open(&at->file, at->path, at->folder, at->db);
}

static void add(place *at, const char *text)
{
    check(output_write(&at->file, (vidi_str){text, strlen(text)}) == VIDI_OK && output_sync(&at->file) == VIDI_OK,
          "it is written");
}

static void commit_as(place *at, bool ends)
{
    check(db_begin(at->db) == VIDI_OK && output_commit(&at->file, at->db, ends) == VIDI_OK &&
              db_commit(at->db) == VIDI_OK,
          "%s", db_error(at->db));
}

static void commit(place *at)
{
    commit_as(at, false);
}

/* A crawl that has committed some lines. */
static void begin_with(place *at, const char *lines)
{
    begin(at);
    check(reopen(at) == VIDI_OK, "%s", at->why);
    add(at, lines);
    commit(at);
}

static void must_hold(const place *at, const char *text)
{
    char bytes[1024];
    int fd = open(at->path, O_RDONLY);
    ssize_t n = read(fd, bytes, sizeof bytes);
    close(fd);
    check(n == (ssize_t)strlen(text) && memcmp(bytes, text, (size_t)n) == 0, "the file has %zd bytes: %.*s", n, (int)n,
          bytes);
}

static void lines_behind_the_last_commit_are_cut_off(void **state)
{
    (void)state;
    place at;
    begin_with(&at, "one\n");
    add(&at, "two\n");
    check(reopen(&at) == VIDI_OK && strstr(at.why, "cut.1"), "it says: %s", at.why);
    must_hold(&at, "one\n");
    add(&at, "three\n");
    must_hold(&at, "one\nthree\n");
    test_path(at.path, at.folder, "cut.1"); /* nothing is destroyed */
    must_hold(&at, "two\n");
    end(&at);
}

static void lines_of_a_run_that_committed_none_are_cut_off(void **state)
{
    (void)state;
    place at;
    begin(&at);
    check(reopen(&at) == VIDI_OK, "%s", at.why);
    commit(&at); /* as the opening of a crawl does */
    add(&at, "one\n");
    check(reopen(&at) == VIDI_OK, "%s", at.why);
    must_hold(&at, "");
    end(&at);
}

static void a_file_with_something_in_it_is_refused(void **state)
{
    (void)state;
    place at;
    begin(&at);
    test_file_write(at.folder, "lines", "mine\n", 5);
    check(reopen(&at) == VIDI_EEXIST && strstr(at.why, "5 bytes that this crawl has not written"), "it says: %s",
          at.why);
    must_hold(&at, "mine\n");
    end(&at);
}

static void append_as_others(const place *at, const char *text)
{
    int fd = open(at->path, O_WRONLY | O_APPEND);
    check(write(fd, text, strlen(text)) == (ssize_t)strlen(text), "it is appended");
    close(fd);
}

static void lines_that_others_appended_are_not_cut_off(void **state)
{
    (void)state;
    place at;
    begin_with(&at, "one\n");
    commit_as(&at, true);
    output_close(&at.file);
    append_as_others(&at, "theirs\n");
    check(reopen(&at) == VIDI_EEXIST && strstr(at.why, "somebody else has added"), "it says: %s", at.why);
    must_hold(&at, "one\ntheirs\n");
    end(&at);
}

/*
 * The run that wrote lines was killed. The next one commits without the file, and its lines may be appended elsewhere.
 */
static void a_commit_without_the_file_closes_the_note(void **state)
{
    (void)state;
    place at;
    begin_with(&at, "one\n");
    output_close(&at.file);
    check(output_open(&at.file, NULL, at.folder, at.db) == VIDI_OK, "there is no file");
    commit(&at);
    append_as_others(&at, "two\n");
    check(reopen(&at) == VIDI_EEXIST, "it says: %s", at.why);
    must_hold(&at, "one\ntwo\n");
    end(&at);
}

static void a_file_that_others_write_to_is_not_committed(void **state)
{
    (void)state;
    place at;
    begin_with(&at, "one\n");
    append_as_others(&at, "theirs\n");
    check(db_begin(at.db) == VIDI_OK && output_commit(&at.file, at.db, false) == VIDI_EDIFFERS &&
              strstr(at.why, "was changed by another program"),
          "it says: %s", at.why);
    db_rollback(at.db);
    end(&at);
}

static void a_file_that_is_in_use_is_refused(void **state)
{
    (void)state;
    place at;
    output other;
    begin_with(&at, "one\n");
    check(output_open(&other, at.path, at.folder, at.db) == VIDI_EBUSY, "it says: %s", other.file.why);
    end(&at);
}

static void a_file_that_was_shortened_is_refused(void **state)
{
    (void)state;
    place at;
    begin_with(&at, "one\ntwo\n");
    check(truncate(at.path, 4) == 0, "it is shortened");
    check(reopen(&at) == VIDI_EEXIST && strstr(at.why, "output is missing"), "it says: %s", at.why);
    must_hold(&at, "one\n");
    end(&at);
}

static void another_file_is_refused_and_stays_as_it_is(void **state)
{
    (void)state;
    place at;
    begin_with(&at, "one\ntwo\n");
    test_path(at.path, at.folder, "other");
    test_file_write(at.folder, "other", "somebody else's lines\n", 22);
    check(reopen(&at) == VIDI_EEXIST && strstr(at.why, "has changed since"), "it says: %s", at.why);
    must_hold(&at, "somebody else's lines\n");
    end(&at);
}

static void a_file_that_is_refused_is_not_made(void **state)
{
    (void)state;
    place at;
    begin_with(&at, "one\n");
    test_path(at.path, at.folder, "absent");
    check(reopen(&at) != VIDI_OK, "it is another file");
    check(access(at.path, F_OK) != 0, "an empty file is left behind");
    end(&at);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    place at;
    begin(&at);
    strcpy(at.path, "/dev/full");
    check(reopen(&at) == VIDI_OK, "%s", at.why);
    check(output_write(&at.file, (vidi_str){"one\n", 4}) == VIDI_ELIMIT && at.file.file.failed == ENOSPC,
          "the disk is full");
    end(&at);
}

static void a_copy_of_the_file_goes_on(void **state)
{
    (void)state;
    place at;
    char long_line[700];
    begin(&at);
    check(reopen(&at) == VIDI_OK, "%s", at.why);
    memset(long_line, 'x', sizeof long_line - 1);
    long_line[sizeof long_line - 1] = 0;
    add(&at, long_line);
    add(&at, "\nend\n");
    commit(&at);
    output_close(&at.file);
    char whole[800];
    int n = snprintf(whole, sizeof whole, "%s\nend\nand more\n", long_line);
    test_path(at.path, at.folder, "copy");
    test_file_write(at.folder, "copy", whole, (size_t)n);
    check(reopen(&at) == VIDI_OK, "%s", at.why);
    whole[n - 9] = 0;
    must_hold(&at, whole);
    end(&at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_behind_the_last_commit_are_cut_off),
        cmocka_unit_test(lines_of_a_run_that_committed_none_are_cut_off),
        cmocka_unit_test(a_file_with_something_in_it_is_refused),
        cmocka_unit_test(lines_that_others_appended_are_not_cut_off),
        cmocka_unit_test(a_commit_without_the_file_closes_the_note),
        cmocka_unit_test(a_file_that_others_write_to_is_not_committed),
        cmocka_unit_test(a_file_that_is_in_use_is_refused),
        cmocka_unit_test(a_file_that_was_shortened_is_refused),
        cmocka_unit_test(another_file_is_refused_and_stays_as_it_is),
        cmocka_unit_test(a_file_that_is_refused_is_not_made),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(a_copy_of_the_file_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
