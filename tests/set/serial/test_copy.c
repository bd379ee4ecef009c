/*
 * vidi_copy: the copy is the same set and a set of its own.
 */
#include <stdio.h>

#include "support/access.h"
#include "support/alloc.h"
#include "support/folder.h"
#include "support/runner.h"
#include "support/same.h"
#include "support/urls.h"

enum { SEED = 3 };

/* A set in its second epoch, so that there is a history, and the first epoch if it is kept. */
static vidi_set *make_set(const test_case *which, uint64_t n, const char *path, unsigned flags)
{
    test_options made;
    vidi_set *set = NULL;
    test_case_options(&made, which, n, SEED);
    made.options.path = path;
    made.options.flags = flags & VIDI_KEEP_PREVIOUS;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    test_add_urls(set, SEED, 0, n);
    if (test_case_rotates(which)) {
        assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
        test_add_urls(set, SEED, n / 2, n);
    }
    test_add_urls(set, SEED, n / 2, n / 4); /* seen, or, in a multiset, there twice */
    return set;
}

static void must_be_same(const vidi_set *copy, const vidi_set *set, uint64_t n)
{
    test_same_numbers(set, copy);
    test_same_answers(set, copy, SEED, 0, 2 * n);
    test_same_contents(set, copy);
}

static void same_previous(const vidi_set *a, const vidi_set *b, uint64_t n)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < 2 * n; i++) {
        vidi_str url = {room, test_url(room, sizeof room, SEED, i)};
        assert_int_equal(vidi_has_previous(a, url), vidi_has_previous(b, url));
    }
}

static void a_copy_is_the_same_set(void **state)
{
    const test_case *which = *state;
    for (uint64_t n = 0; n <= 600; n += 600) {
        vidi_set *set = make_set(which, n ? n : 1, NULL, VIDI_KEEP_PREVIOUS), *copy = NULL;
        int result = vidi_copy(&copy, set, NULL);
        check(result == VIDI_OK, "%d: %s", result, vidi_message());
        must_be_same(copy, set, n);
        same_previous(copy, set, n);
        test_add_urls(copy, SEED, 10000, 100);
        test_add_urls(set, SEED, 10000, 100);
        must_be_same(copy, set, n);
        if (test_case_rotates(which)) {
            assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
            assert_int_equal(vidi_rotate(copy, NULL), VIDI_OK);
            test_add_urls(copy, SEED, 0, 100);
            test_add_urls(set, SEED, 0, 100);
            must_be_same(copy, set, n);
        }
        vidi_close(set);
        test_same_answers(copy, copy, SEED, 0, n); /* it needs nothing of the original */
        vidi_close(copy);
    }
}

static void a_copy_is_a_set_of_its_own(void **state)
{
    vidi_set *set = make_set(*state, 60, NULL, 0), *copy = NULL;
    vidi_stats before = test_stat(set);
    assert_int_equal(vidi_copy(&copy, set, NULL), VIDI_OK);
    test_add_urls(copy, SEED, 1000, 100);
    assert_int_equal(test_stat(set).count, before.count);
    assert_int_equal(test_stat(set).answered_new, before.answered_new);
    vidi_close(copy);
    vidi_close(set);
}

/* Large enough for many blocks of the pipe, and a failure in the middle of it. */
static void a_refused_allocation_leaves_nothing(void **state)
{
    const test_case *which = *state;
    vidi_set *set = make_set(which, test_case_few(which, 10000), NULL, VIDI_KEEP_PREVIOUS), *copy = set;
    test_allocator allocator;
    vidi_access access = VIDI_ACCESS_INIT;
    uint64_t calls = 0;
    test_allocator_init(&allocator);
    access.allocator = &allocator.hook;
    assert_int_equal(vidi_copy(&copy, set, &access), VIDI_OK);
    calls = allocator.calls;
    vidi_close(copy);
    for (uint64_t n = 1; n <= calls; n += n < 40 ? 1 : calls / 20 + 1) {
        copy = set;
        test_allocator_fail(&allocator, n, false);
        assert_int_equal(vidi_copy(&copy, set, &access), VIDI_EMEMORY);
        assert_null(copy);
        assert_int_equal(test_allocator_live(&allocator), 0);
    }
    test_allocator_fail(&allocator, 0, false);
    access.memory_limit = 200000;
    copy = set;
    assert_int_equal(vidi_copy(&copy, set, &access), VIDI_ELIMIT);
    assert_null(copy);
    test_allocator_finish(&allocator);
    vidi_close(set);
}

static bool is_large(const test_case *which)
{
    return !which->params && which->error == 0;
}

static void copies_of_a_folder_hold_what_is_committed(void **state)
{
    const test_case *which = *state;
    static const unsigned ways[] = {0, VIDI_READ_ONLY, VIDI_READ_ONLY | VIDI_NO_MAP};
    char folder[TEST_PATH], path[TEST_PATH];
    test_folder_new(folder, false);
    test_path(path, folder, "set");
    vidi_close(make_set(which, 150, path, VIDI_KEEP_PREVIOUS));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        vidi_set *set = NULL, *copy = NULL;
        assert_int_equal(test_open(&set, path, ways[i] | (i ? 0 : VIDI_MANUAL_COMMIT)), VIDI_OK);
        int result = vidi_copy(&copy, set, NULL);
        check(result == VIDI_OK, "way %zu: %d, %s", i, result, vidi_message());
        if (ways[i] != VIDI_READ_ONLY) {
            must_be_same(copy, set, 150);
            if (test_case_rotates(which))
                same_previous(copy, set, 150);
        } else { /* a mapped set answers for its snapshot and its log, each by itself */
            test_holds_all(copy, set, SEED, 0, 300);
            test_same_contents(set, copy);
        }
        test_add_urls(copy, SEED, 5000, 10);
        vidi_close(copy);
        if (i == 0) { /* what is not committed is not copied */
            vidi_str extra = test_str("http://extra.example/");
            int before = vidi_has(set, extra);
            assert_true(vidi_add(set, extra) > 0);
            assert_int_equal(vidi_copy(&copy, set, NULL), VIDI_OK);
            assert_int_equal(vidi_has(copy, extra), before);
            vidi_close(copy);
        }
        vidi_close(set);
    }
    test_folder_remove(folder);
}

/* A mapped set whose log adds to the snapshot, and removes from it. */
static void a_copy_of_a_mapped_set_has_its_log(void **state)
{
    const test_case *which = *state;
    char folder[TEST_PATH], path[TEST_PATH], room[TEST_URL_ROOM];
    vidi_set *set = NULL, *copy = NULL;
    test_folder_new(folder, false);
    test_path(path, folder, "set");
    set = make_set(which, 300, path, VIDI_KEEP_PREVIOUS);
    assert_int_equal(vidi_snapshot(set), VIDI_OK);
    test_add_urls(set, SEED, 2000, 200);
    vidi_str gone = {room, test_url(room, sizeof room, SEED, 400)};
    if (test_stat(set).can & VIDI_CAN_DELETE)
        assert_int_equal(vidi_remove(set, gone), VIDI_OK);
    vidi_close(set);
    assert_int_equal(test_open(&set, path, VIDI_READ_ONLY), VIDI_OK);
    assert_int_equal(vidi_copy(&copy, set, NULL), VIDI_OK);
    test_holds_all(copy, set, SEED, 0, 3000);
    if (test_stat(set).can & VIDI_CAN_ITERATE)
        test_same_answers(set, copy, SEED, 0, 3000);
    assert_int_equal(test_stat(copy).answered_new, test_stat(set).answered_new);
    vidi_close(copy);
    vidi_close(set);
    test_folder_remove(folder);
}

static void damage_in_a_mapped_set_is_found(void **state)
{
    static const test_case which = {"fingerprint", NULL, 0, 0, 0};
    char folder[TEST_PATH], path[TEST_PATH], file[TEST_PATH];
    vidi_set *set = NULL, *copy = NULL;
    (void)state;
    test_folder_new(folder, false);
    test_path(path, folder, "set");
    set = make_set(&which, 3000, path, 0);
    assert_int_equal(vidi_snapshot(set), VIDI_OK);
    vidi_close(set);
    assert_int_equal(test_open(&set, path, VIDI_READ_ONLY), VIDI_OK);
    test_path(file, path, "set.0000000000000003");
    FILE *at = fopen(file, "r+b");
    assert_non_null(at);
    fseek(at, 20000, SEEK_SET);
    int byte = fgetc(at);
    fseek(at, 20000, SEEK_SET);
    fputc(byte ^ 1, at);
    fclose(at);
    copy = set;
    assert_int_equal(vidi_copy(&copy, set, NULL), VIDI_EFORMAT);
    assert_null(copy);
    vidi_close(set);
    test_folder_remove(folder);
}

static void a_bad_access_is_refused(void **state)
{
    vidi_set *set = NULL, *copy = NULL;
    vidi_access access = VIDI_ACCESS_INIT;
    (void)state;
    assert_int_equal(vidi_create(&set, NULL), VIDI_OK);
    assert_int_equal(vidi_copy(NULL, set, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_copy(&copy, NULL, NULL), VIDI_EARGUMENT);
    access.flags = VIDI_READ_ONLY;
    assert_int_equal(vidi_copy(&copy, set, &access), VIDI_EOPTION);
    access.flags = 1u << 30;
    assert_int_equal(vidi_copy(&copy, set, &access), VIDI_EOPTION);
    assert_null(copy);
    vidi_close(set);
}

int main(int argc, char **argv)
{
    test_add_cases("a copy is the same set", a_copy_is_the_same_set, NULL);
    test_add_cases("a copy is a set of its own", a_copy_is_a_set_of_its_own, NULL);
    test_add_cases("a refused allocation leaves nothing", a_refused_allocation_leaves_nothing, is_large);
    test_add_cases("copies of a folder hold what is committed", copies_of_a_folder_hold_what_is_committed, NULL);
    test_add_cases("a copy of a mapped set has its log", a_copy_of_a_mapped_set_has_its_log, is_large);
    test_add("damage in a mapped set is found", damage_in_a_mapped_set_is_found, NULL);
    test_add("a bad access is refused", a_bad_access_is_refused, NULL);
    return test_run("copy", argc, argv);
}
