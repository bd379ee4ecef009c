/*
 * The files of a set's folder in the hands of others: links and pipes in their place, files that are linked or deleted
 * while the set is in use, and folders that the first version of the format has left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "durable/durable_cases.h"
#include "support/access.h"
#include "support/env.h"
#include "support/runner.h"

static const char *const names[] = {"lock", "manifest", "log.0000000000000001", "set.0000000000000001"};
enum { NAMES = sizeof names / sizeof *names };

static size_t size_of(const char *folder, const char *name)
{
    char path[TEST_PATH];
    struct stat is;
    test_path(path, folder, name);
    return stat(path, &is) == 0 ? (size_t)is.st_size : SIZE_MAX;
}

/* ---- what is not a regular file ---- */

static void make_closed(home *at)
{
    home_make(at, "hashset", NULL, 0);
    add_all(at->set, 0, 20, VIDI_NEW);
    vidi_close(at->set);
    at->set = NULL;
}

/* A writer and a reader refuse it by name. Readers do not need the lock. */
static void must_be_refused(const home *at, const char *name, const char *what)
{
    vidi_set *set = NULL;
    for (unsigned flags = 0; flags <= VIDI_READ_ONLY; flags += VIDI_READ_ONLY) {
        int code = test_open(&set, at->path, flags);
        if (code == VIDI_OK && flags && strcmp(name, "lock") == 0) {
            vidi_close(set);
            continue;
        }
        check(code == VIDI_EFORMAT && strstr(vidi_message(), name), "%s, %s: %d, %s", name, what, code, vidi_message());
    }
}

static void symbolic_links_are_not_followed(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAMES; i++) {
        home at;
        char path[TEST_PATH], target[TEST_PATH];
        make_closed(&at);
        test_path(path, at.path, names[i]);
        test_path(target, at.above, "elsewhere");
        assert_int_equal(rename(path, target), 0);
        size_t size = size_of(at.above, "elsewhere");
        assert_int_equal(symlink(target, path), 0);
        must_be_refused(&at, names[i], "a link");
        assert_int_equal(size_of(at.above, "elsewhere"), size);
        home_end(&at);
    }
}

static void pipes_and_folders_are_refused_at_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAMES; i++)
        for (int pipe = 0; pipe < 2; pipe++) {
            home at;
            char path[TEST_PATH];
            make_closed(&at);
            test_path(path, at.path, names[i]);
            assert_int_equal(unlink(path), 0);
            assert_int_equal(pipe ? mkfifo(path, 0600) : mkdir(path, 0700), 0);
            must_be_refused(&at, names[i], pipe ? "a pipe" : "a folder");
            home_end(&at);
        }
}

static void a_lock_with_a_second_name_is_not_written_to(void **state)
{
    home at;
    char path[TEST_PATH], precious[TEST_PATH];
    (void)state;
    make_closed(&at);
    test_file_write(at.above, "precious", "do not overwrite this", 21);
    test_path(path, at.path, "lock");
    test_path(precious, at.above, "precious");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(link(precious, path), 0);
    at.set = must_open(at.path, 0);
    assert_int_equal(size_of(at.above, "precious"), 21);
    vidi_set *second;
    assert_int_equal(vidi_open(&second, at.path, NULL), VIDI_EBUSY); /* the new file is the lock now */
    home_end(&at);
}

/* ---- while the set is in use ---- */

static void link_all(const home *at)
{
    assert_int_equal(mkdir(at->copy, 0700), 0);
    for (size_t i = 0; i < NAMES; i++) {
        char from[TEST_PATH], to[TEST_PATH];
        test_path(from, at->path, names[i]);
        test_path(to, at->copy, names[i]);
        assert_int_equal(link(from, to), 0);
    }
}

static void wait_for_snapshots(vidi_set *set, uint64_t n)
{
    while (test_stat(set).snapshots < n)
        usleep(1000);
}

/* `cp -al` of a set in use: it goes on in new files, and the copy is a set of its own. */
static void a_linked_log_is_left_to_the_copy(void **state)
{
    home at;
    (void)state;
    home_make(&at, "hashset", NULL, 0);
    add_all(at.set, 0, 20, VIDI_NEW);
    must(vidi_sync(at.set));
    link_all(&at);
    add_all(at.set, 20, 5, VIDI_NEW);
    must(vidi_sync(at.set)); /* looks at the log */
    add_all(at.set, 25, 1, VIDI_NEW);
    wait_for_snapshots(at.set, 2);
    must(vidi_snapshot(at.set)); /* waits until the one that was counted has closed the log */
    size_t log = size_of(at.copy, names[2]), end = size_of(at.copy, names[1]);
    add_all(at.set, 26, 10, VIDI_NEW);
    must(vidi_sync(at.set));
    assert_int_equal(size_of(at.copy, names[2]), log);
    assert_int_equal(size_of(at.copy, names[1]), end);
    char lock[TEST_PATH];
    test_path(lock, at.copy, "lock"); /* the set in use holds it, under its other name */
    assert_int_equal(unlink(lock), 0);
    vidi_set *copy = must_open(at.copy, 0);
    all_are(copy, 0, 20, VIDI_SEEN);
    all_are(copy, 26, 10, VIDI_NEW);
    add_all(copy, 100, 5, VIDI_NEW);
    vidi_close(copy);
    home_reopen(&at, 0);
    all_are(at.set, 0, 36, VIDI_SEEN);
    all_are(at.set, 100, 5, VIDI_NEW);
    home_end(&at);
}

/* A copy that shares the log is opened for writing first: neither sees what the other adds. */
static void a_copy_made_of_links_gets_files_of_its_own(void **state)
{
    home at;
    (void)state;
    make_closed(&at);
    link_all(&at);
    vidi_set *copy = must_open(at.copy, 0);
    at.set = must_open(at.path, 0);
    add_all(copy, 100, 5, VIDI_NEW);
    add_all(at.set, 200, 5, VIDI_NEW);
    vidi_close(copy);
    home_reopen(&at, 0);
    copy = must_open(at.copy, 0);
    all_are(at.set, 0, 20, VIDI_SEEN);
    all_are(copy, 0, 20, VIDI_SEEN);
    all_are(at.set, 100, 5, VIDI_NEW);
    all_are(copy, 200, 5, VIDI_NEW);
    vidi_close(copy);
    home_end(&at);
}

static void a_deleted_log_is_an_error_until_a_snapshot(void **state)
{
    home at;
    char path[TEST_PATH];
    (void)state;
    home_make(&at, "hashset", NULL, VIDI_MANUAL_COMMIT);
    add_all(at.set, 0, 20, VIDI_NEW);
    must(vidi_commit(at.set));
    test_path(path, at.path, names[2]);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(vidi_sync(at.set), VIDI_EIO);
    check(strstr(vidi_message(), names[2]) != NULL, "%s", vidi_message());
    must(vidi_snapshot(at.set));
    must(vidi_sync(at.set));
    home_reopen(&at, 0);
    all_are(at.set, 0, 20, VIDI_SEEN);
    home_end(&at);
}

static void a_deleted_manifest_is_made_again(void **state)
{
    home at;
    char path[TEST_PATH];
    (void)state;
    home_make(&at, "hashset", NULL, 0);
    add_all(at.set, 0, 20, VIDI_NEW);
    test_path(path, at.path, names[1]);
    assert_int_equal(unlink(path), 0);
    must(vidi_sync(at.set));
    home_reopen(&at, 0);
    all_are(at.set, 0, 20, VIDI_SEEN);
    home_end(&at);
}

/* The program keeps files of its own in the folder. */
static void other_files_stay(void **state)
{
    home at;
    (void)state;
    make_closed(&at);
    test_file_write(at.path, "cut.1", "x", 1);
    test_file_write(at.path, "live", "x", 1);
    at.set = must_open(at.path, 0);
    must(vidi_snapshot(at.set));
    assert_int_equal(size_of(at.path, "cut.1"), 1);
    assert_int_equal(size_of(at.path, "live"), 1);
    home_end(&at);
}

/* Without the lock a second writer would append to the same log. */
static void a_deleted_lock_is_an_error(void **state)
{
    home at;
    char path[TEST_PATH];
    (void)state;
    home_make(&at, "hashset", NULL, 0);
    add_all(at.set, 0, 20, VIDI_NEW);
    test_path(path, at.path, "lock");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(vidi_sync(at.set), VIDI_EIO);
    check(strstr(vidi_message(), "lock") != NULL, "%s", vidi_message());
    home_end(&at);
}

int main(int argc, char **argv)
{
    test_add("symbolic links are not followed", symbolic_links_are_not_followed, NULL);
    test_add("pipes and folders are refused at once", pipes_and_folders_are_refused_at_once, NULL);
    test_add("a lock with a second name is not written to", a_lock_with_a_second_name_is_not_written_to, NULL);
    test_add("a linked log is left to the copy", a_linked_log_is_left_to_the_copy, NULL);
    test_add("a copy made of links gets files of its own", a_copy_made_of_links_gets_files_of_its_own, NULL);
    test_add("a deleted log is an error until a snapshot", a_deleted_log_is_an_error_until_a_snapshot, NULL);
    test_add("a deleted manifest is made again", a_deleted_manifest_is_made_again, NULL);
    test_add("other files stay", other_files_stay, NULL);
    test_add("a deleted lock is an error", a_deleted_lock_is_an_error, NULL);
    return test_run("folder_files", argc, argv);
}
