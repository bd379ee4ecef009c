/* Opening a snapshot that is so large that a thread reads it ahead: nothing is different but the time that it takes. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/access.h"
#include "support/alloc.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/disk.h"
#include "support/same.h"

enum { SEED = 9, URLS = 20000, ROOM = 1000000, LARGE = 6000000 };

/* A folder with such a snapshot, the snapshot's name, and the digest of the set. */
typedef struct home {
    test_scratch folder;
    char name[64];
    unsigned char digest[VIDI_CONTENT_DIGEST_BYTES];
} home;

static void find_snapshot(home *at)
{
    DIR *list = opendir(at->folder.path);
    const struct dirent *entry;
    assert_non_null(list);
    while ((entry = readdir(list))) /* NOLINT(concurrency-mt-unsafe): the handle is nobody else's */
        if (strncmp(entry->d_name, "set.", 4) == 0)
            snprintf(at->name, sizeof at->name, "%.63s", entry->d_name);
    closedir(list);
}

/* Reserved room makes the snapshot large. */
static void begin(home *at)
{
    const test_case which = {"fingerprint", NULL, 1, 0, 0};
    vidi_set *set = test_case_set(&which, ROOM, SEED, NULL);
    test_add_urls(set, SEED, 0, URLS);
    assert_int_equal(vidi_content_digest(set, at->digest), VIDI_OK);
    test_scratch_make(&at->folder);
    assert_int_equal(vidi_attach(set, at->folder.path, NULL), VIDI_OK);
    vidi_close(set);
    find_snapshot(at);
}

static int open_with(const home *at, vidi_set **set, const vidi_allocator *allocator)
{
    vidi_access access = VIDI_ACCESS_INIT;
    access.allocator = allocator;
    return vidi_open(set, at->folder.path, &access);
}

static void must_open(const home *at)
{
    unsigned char digest[VIDI_CONTENT_DIGEST_BYTES];
    vidi_set *set = NULL;
    check(open_with(at, &set, NULL) == VIDI_OK, "%s", vidi_message());
    assert_int_equal(vidi_content_digest(set, digest), VIDI_OK);
    assert_memory_equal(digest, at->digest, sizeof digest);
    vidi_close(set);
}

static void damage_anywhere_is_found(void **state)
{
    home at;
    size_t bytes;
    (void)state;
    begin(&at);
    must_open(&at);
    unsigned char *file = test_file_load(&at.folder, at.name, &bytes);
    assert_true(bytes > LARGE);
    for (size_t i = 0; i <= 20; i++) {
        size_t place = i * ((bytes - 1) / 20);
        vidi_set *set = NULL;
        file[place] ^= 0x10;
        test_file_save(&at.folder, at.name, file, bytes);
        int code = open_with(&at, &set, NULL);
        check(code == VIDI_EFORMAT && strstr(vidi_message(), at.name), "byte %zu of %zu: %d, %s", place, bytes, code,
              vidi_message());
        assert_null(set);
        file[place] ^= 0x10;
    }
    test_file_save(&at.folder, at.name, file, bytes / 2);
    vidi_set *set = NULL;
    assert_int_equal(open_with(&at, &set, NULL), VIDI_EFORMAT);
    test_file_save(&at.folder, at.name, file, bytes);
    must_open(&at);
    free(file);
    test_scratch_remove(&at.folder);
}

/* The thread has the error, and the caller its message. */
static void a_disk_that_fails_is_named(void **state)
{
    home at;
    vidi_set *set = NULL;
    uint64_t failed = 1;
    (void)state;
    begin(&at);
    for (uint64_t n = 1; failed; n += 1 + n / 3) {
        disk_begin(&at.folder);
        disk_fail(DISK_PREAD, n, EIO, 1);
        int code = open_with(&at, &set, NULL);
        failed = disk_failed();
        disk_fail(DISK_ANY, 0, 0, 0);
        vidi_close(set);
        disk_end();
        check(code == (failed ? VIDI_EIO : VIDI_OK), "call %lu: %d, %s", (unsigned long)n, code, vidi_message());
        check(!failed || strstr(vidi_message(), strerror(EIO)), "%s", vidi_message());
        set = NULL;
    }
    must_open(&at);
    test_scratch_remove(&at.folder);
}

static void everything_is_given_back_when_memory_runs_out(void **state)
{
    home at;
    uint64_t refused = 1;
    (void)state;
    begin(&at);
    for (uint64_t n = 1; refused; n += 1 + n / 4) {
        test_allocator allocator;
        vidi_set *set = NULL;
        test_allocator_init(&allocator);
        test_allocator_fail(&allocator, n, false);
        int code = open_with(&at, &set, &allocator.hook);
        refused = test_allocator_refused(&allocator);
        check(code == VIDI_OK || (refused && code == VIDI_EMEMORY), "allocation %lu: %d, %s", (unsigned long)n, code,
              vidi_message());
        vidi_close(set);
        test_allocator_finish(&allocator);
    }
    test_scratch_remove(&at.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_anywhere_is_found),
        cmocka_unit_test(a_disk_that_fails_is_named),
        cmocka_unit_test(everything_is_given_back_when_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
