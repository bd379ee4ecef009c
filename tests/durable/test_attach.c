/*
 * vidi_attach: a set in memory gets a folder, which holds the whole set or none, whatever fails or dies; and the set in
 * memory is as good as before if that fails.
 */
#include <errno.h>
#include <stdio.h>

#include "durable/durable_cases.h"
#include "support/access.h"
#include "support/disk.h"
#include "support/runner.h"

enum { URLS = 300 };

static void add_urls(vidi_set *set, uint64_t first, uint64_t n)
{
    for (uint64_t i = first; i < first + n; i++)
        assert_true(add_nth(set, i) > 0);
}

static vidi_set *in_memory(const char *kind, uint64_t urls)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    vidi_set *set;
    test_key(key, 1);
    options.kind = kind;
    options.key = key;
    options.capacity = 2 * URLS;
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    add_urls(set, 0, urls);
    return set;
}

static void a_set_moves_into_a_folder(void **state)
{
    const test_case *which = *state;
    home at;
    home_begin(&at);
    vidi_set *set = test_case_set(which, 2 * URLS, 9, NULL);
    add_urls(set, 0, URLS);
    vidi_stats before = test_stat(set);
    check(vidi_attach(set, at.path, NULL) == VIDI_OK, "%s", vidi_message());
    vidi_close(set);
    set = must_open(at.path, 0);
    vidi_stats after = test_stat(set);
    assert_true(before.count == after.count && before.expected_lost == after.expected_lost);
    assert_int_equal(before.answered_new, after.answered_new);
    all_are(set, 0, URLS, VIDI_SEEN);
    vidi_close(set);
    home_end(&at);
}

static void what_is_added_later_is_kept_too(void **state)
{
    vidi_access access = VIDI_ACCESS_INIT;
    home at;
    (void)state;
    home_begin(&at);
    vidi_set *set = in_memory("fingerprint", URLS);
    access.flags = VIDI_MANUAL_COMMIT;
    assert_int_equal(vidi_attach(set, at.path, &access), VIDI_OK);
    add_urls(set, URLS, 10);
    assert_int_equal(vidi_commit(set), VIDI_OK);
    add_urls(set, URLS + 10, 10); /* not committed */
    vidi_close(set);
    set = must_open(at.path, VIDI_READ_ONLY);
    all_are(set, 0, URLS + 10, VIDI_SEEN);
    assert_int_equal(test_stat(set).count, URLS + 10);
    vidi_close(set);
    home_end(&at);
}

static void must_refuse(vidi_set *set, const char *path, const vidi_access *access, int expected)
{
    int code = vidi_attach(set, path, access);
    check(code == expected, "%d instead of %d: %s", code, expected, vidi_message());
}

static void what_cannot_be_attached_is_refused(void **state)
{
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_options next = VIDI_OPTIONS_INIT;
    home at;
    (void)state;
    home_begin(&at);
    vidi_set *set = in_memory("hashset", 10), *other = in_memory("hashset", 10);
    must_refuse(NULL, at.path, NULL, VIDI_EARGUMENT);
    must_refuse(set, NULL, NULL, VIDI_EARGUMENT);
    access.flags = VIDI_READ_ONLY;
    must_refuse(set, at.path, &access, VIDI_EOPTION);
    must_refuse(set, "/dev/null", NULL, VIDI_EIO);
    assert_int_equal(vidi_attach(set, at.path, NULL), VIDI_OK);
    must_refuse(set, at.copy, NULL, VIDI_ECANNOT);
    must_refuse(other, at.path, NULL, VIDI_EEXIST);
    vidi_close(set);
    set = must_open(at.path, VIDI_READ_ONLY);
    must_refuse(set, at.copy, NULL, VIDI_ECANNOT);
    next.flags = VIDI_KEEP_PREVIOUS;
    assert_int_equal(vidi_rotate(other, &next), VIDI_OK);
    must_refuse(other, at.copy, NULL, VIDI_ECANNOT);
    assert_int_equal(vidi_drop_previous(other), VIDI_OK);
    assert_int_equal(vidi_attach(other, at.copy, NULL), VIDI_OK);
    vidi_close(set);
    vidi_close(other);
    home_end(&at);
}

/* The folder has the whole set, or none. */
static bool is_there(const char *path)
{
    vidi_set *set = NULL;
    int code = test_open(&set, path, VIDI_READ_ONLY);
    if (code == VIDI_EABSENT)
        return false;
    check(code == VIDI_OK, "%d: %s", code, vidi_message());
    assert_int_equal(test_stat(set).count, URLS);
    all_are(set, 0, URLS, VIDI_SEEN);
    vidi_close(set);
    return true;
}

static const char *const kinds[] = {"hashset", "list", "multilayer"};

static void a_failing_disk_leaves_the_set_in_memory(void **state)
{
    const char *const *kind = *state;
    vidi_set *set = in_memory(*kind, URLS);
    uint64_t failed = 1, absent = 0;
    for (uint64_t n = 1; failed; n++) {
        test_scratch folder;
        test_scratch_make(&folder);
        disk_begin(&folder);
        disk_fail(DISK_ANY, n, EIO, 1);
        int code = vidi_attach(set, folder.path, NULL);
        failed = disk_failed();
        disk_fail(DISK_ANY, 0, 0, 0);
        if (code == VIDI_OK) { /* not all calls matter */
            vidi_close(set);
            set = in_memory(*kind, URLS);
        }
        all_are(set, 0, URLS, VIDI_SEEN);
        bool there = is_there(folder.path);
        check(code < 0 || there, "no set after success");
        absent += !there;
        if (!there) {
            check(vidi_attach(set, folder.path, NULL) == VIDI_OK, "call %llu: %s", (unsigned long long)n,
                  vidi_message());
            vidi_close(set);
            assert_true(is_there(folder.path));
            set = in_memory(*kind, URLS);
        }
        disk_end();
        test_scratch_remove(&folder);
    }
    check(absent > 3, "%llu times none", (unsigned long long)absent);
    vidi_close(set);
}

static void a_process_that_dies_leaves_all_or_nothing(void **state)
{
    const char *const *kind = *state;
    test_scratch folder, left;
    uint64_t none = 0, whole = 0;
    bool died = true;
    test_scratch_make(&left);
    for (uint64_t n = 1; died; n++) {
        vidi_set *set = in_memory(*kind, URLS);
        test_scratch_make(&folder);
        disk_begin(&folder);
        disk_kill(n);
        (void)vidi_attach(set, folder.path, NULL);
        died = disk_killed();
        vidi_close(set);
        disk_revive();
        for (uint64_t seed = 0; seed < 4; seed++) {
            disk_crash_state(seed, &left);
            bool there = is_there(left.path);
            none += !there;
            whole += there;
        }
        disk_end();
        test_scratch_remove(&folder);
    }
    check(none > 10 && whole > 0, "%llu times none, %llu times all", (unsigned long long)none,
          (unsigned long long)whole);
    test_scratch_remove(&left);
}

int main(int argc, char **argv)
{
    test_add_cases("a set moves into a folder", a_set_moves_into_a_folder, NULL);
    test_add("what is added later is kept too", what_is_added_later_is_kept_too, NULL);
    test_add("what cannot be attached is refused", what_cannot_be_attached_is_refused, NULL);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        test_add("a failing disk leaves the set in memory", a_failing_disk_leaves_the_set_in_memory, (void *)&kinds[i]);
        test_add("a process that dies leaves all or nothing", a_process_that_dies_leaves_all_or_nothing,
                 (void *)&kinds[i]);
    }
    return test_run("attach", argc, argv);
}
