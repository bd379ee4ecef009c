/*
 * What vidi.h promises to those who bring an allocator: whatever is called, on a set of any kind, in memory or in a
 * folder, no alignment is above 64 bytes, what is released has the size and alignment that was allocated, and nothing
 * is left. test_allocator checks all of it.
 */
#include <string.h>

#include "support/alloc.h"
#include "support/folder.h"
#include "support/runner.h"
#include "support/tour.h"
#include "support/urls.h"
#include "vidi/url.h"

static void tour_with(const test_case *which, const char *folder, unsigned flags)
{
    test_allocator allocator;
    test_allocator_init(&allocator);
    test_tour_run(&(test_tour){
        .which = which,
        .urls = 500,
        .folder = folder,
        .flags = flags,
        .allocator = &allocator.hook,
    });
    assert_true(allocator.calls > 0);
    test_allocator_finish(&allocator);
}

static void every_call_in_memory(void **state)
{
    tour_with(*state, NULL, 0);
}

static void every_call_in_a_folder(void **state)
{
    static const unsigned flags[] = {0, VIDI_MANUAL_COMMIT};
    for (size_t i = 0; i < 2; i++) {
        char folder[TEST_PATH];
        test_folder_new(folder, false);
        tour_with(*state, folder, flags[i]);
        test_folder_remove(folder);
    }
}

static bool is_plain(const test_case *which)
{
    return !which->params;
}

/* Arrays of megabytes are where the default allocator is asked for the alignment of large pages. */
static void large_sets_ask_for_no_more(void **state)
{
    enum { URLS = 1000000 };
    const test_case *which = *state;
    test_allocator allocator;
    char room[TEST_URL_ROOM];
    test_allocator_init(&allocator);
    vidi_set *set = test_case_set(which, URLS, 1, &allocator.hook);
    assert_int_equal(vidi_expect(set, URLS), VIDI_OK);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(vidi_add(set, (vidi_str){room, test_url(room, TEST_URL_ROOM, 1, i)}) > 0);
    vidi_close(set);
    test_allocator_finish(&allocator);
}

static void *no_memory(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    (void)bytes;
    (void)alignment;
    return NULL;
}

static void no_release(void *context, void *ptr, size_t bytes, size_t alignment)
{
    (void)context;
    (void)ptr;
    (void)bytes;
    (void)alignment;
}

/* As for every struct of vidi.h that begins with its size. */
static void the_size_is_checked(void **state)
{
    struct {
        vidi_allocator known;
        void *later;
    } newer = {{sizeof newer, no_memory, NULL, no_release, NULL}, NULL};
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *set;
    vidi_canon *canon;
    (void)state;
    options.access = &access;
    access.allocator = &newer.known;
    assert_int_equal(vidi_create(&set, &options), VIDI_EMEMORY); /* it was taken, and asked */
    newer.later = &newer;
    assert_int_equal(vidi_create(&set, &options), VIDI_EARGUMENT);
    assert_int_equal(vidi_canon_create(&canon, "whatwg", NULL, &newer.known), VIDI_EARGUMENT);
    newer.known.size = 0;
    assert_int_equal(vidi_create(&set, &options), VIDI_EARGUMENT);
    assert_int_equal(vidi_canon_create(&canon, "whatwg", NULL, &newer.known), VIDI_EARGUMENT);
    assert_null(canon);
    newer.known.size = sizeof(size_t); /* from a time before there were functions */
    assert_int_equal(vidi_create(&set, &options), VIDI_EARGUMENT);
}

/* The form itself, its list, and what a long URL needs. */
static void a_form_uses_its_allocator(void **state)
{
    test_allocator allocator;
    vidi_canon *canon;
    static char url[20000];
    char out[4];
    size_t len = sizeof out;
    (void)state;
    memset(url, 'x', sizeof url);
    memcpy(url, "HTTP://h/", 9);
    test_allocator_init(&allocator);
    assert_int_equal(vidi_canon_create(&canon, "crawl", "a\nb*\n", &allocator.hook), VIDI_OK);
    uint64_t made = allocator.calls, live = test_allocator_live(&allocator);
    assert_true(made >= 2 && live > 0);
    assert_int_equal(vidi_url_canon(canon, (vidi_str){url, sizeof url}, NULL, out, &len), VIDI_ELIMIT);
    assert_int_equal(len, sizeof url);
    assert_true(allocator.calls > made);
    assert_int_equal(test_allocator_live(&allocator), live);
    vidi_canon_close(canon);
    test_allocator_fail(&allocator, 1, false);
    assert_int_equal(vidi_canon_create(&canon, "crawl", "a\nb*\n", &allocator.hook), VIDI_EMEMORY);
    test_allocator_fail(&allocator, 2, false);
    assert_int_equal(vidi_canon_create(&canon, "crawl", "a\nb*\n", &allocator.hook), VIDI_EMEMORY);
    test_allocator_finish(&allocator);
}

int main(int argc, char **argv)
{
    test_add("the size is checked", the_size_is_checked, NULL);
    test_add("a form uses its allocator", a_form_uses_its_allocator, NULL);
    test_add_cases("every call, in memory", every_call_in_memory, NULL);
    test_add_cases("every call, in a folder", every_call_in_a_folder, is_plain);
    test_add_cases("large sets ask for no more", large_sets_ask_for_no_more, is_plain);
    return test_run("the user's allocator", argc, argv);
}
