/*
 * Merging of sets that keep their URLs: whatever their kinds, keys, hash functions and epochs, the one set afterwards
 * holds the URLs of both, each as often as it was added to the two.
 */
#include <stdio.h>
#include <string.h>

#include "support/alloc.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/runner.h"
#include "support/urls.h"

enum { N = 600, KINDS = 4 };

/* Added to both sets are the URLs from OVERLAP to ENDS; those before only to the one, those behind only to the other. */
enum { OVERLAP = 200, ENDS = 400 };

static const char *const kinds[KINDS][2] = {
    {"hashset", ""},
    {"hashset", ",hash=xxh3"},
    {"sorted", ""},
    {"list", ""},
};

typedef struct pair {
    const char *const *into, *const *from;
    bool multiset;
} pair;

static vidi_set *make(const char *const *kind, bool multiset, uint64_t seed, const vidi_allocator *allocator)
{
    char params[64];
    snprintf(params, sizeof params, "multiset=%s%s", multiset ? "on" : "off", kind[1]);
    test_case which = {kind[0], params, 0, 0, 0};
    return test_case_set(&which, N, seed, allocator);
}

static vidi_str url_at(char *room, uint64_t index)
{
    return (vidi_str){room, test_url(room, TEST_URL_ROOM, 1, index)};
}

static void add_range(vidi_set *set, uint64_t first, uint64_t end)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = first; i < end; i++) {
        assert_true(vidi_add(set, url_at(room, i)) > 0);
    }
}

/* The URLs of both, of which those from ENDS on were added to `from` twice. */
static void fill_both(vidi_set *into, vidi_set *from)
{
    add_range(into, 0, ENDS);
    add_range(from, OVERLAP, N);
    add_range(from, ENDS, N);
}

static uint64_t times_in(const vidi_set *set, uint64_t index)
{
    char room[TEST_URL_ROOM];
    uint64_t times = 0;
    assert_int_equal(vidi_count(set, url_at(room, index), &times), VIDI_OK);
    return times;
}

static void must_hold_both(const vidi_set *set, bool multiset)
{
    for (uint64_t i = 0; i < N; i++) {
        uint64_t truth = i < OVERLAP || !multiset ? 1 : 2;
        check(times_in(set, i) == truth, "URL %llu is there %llu times, not %llu", (unsigned long long)i,
              (unsigned long long)times_in(set, i), (unsigned long long)truth);
    }
    assert_int_equal(test_stat(set).count, N);
}

static void keys_hashes_kinds_and_epochs_may_differ(void **state)
{
    const pair *which = *state;
    char room[TEST_URL_ROOM];
    vidi_set *into = make(which->into, which->multiset, 1, NULL);
    vidi_set *from = make(which->from, which->multiset, 2, NULL);
    assert_int_equal(vidi_rotate(from, NULL), VIDI_OK);
    fill_both(into, from);
    int result = vidi_merge(into, from, 0);
    check(result == VIDI_OK, "%d: %s", result, vidi_message());
    must_hold_both(into, which->multiset);
    assert_int_equal(test_stat(from).count, N - OVERLAP);
    assert_int_equal(vidi_add(into, url_at(room, N - 1)), VIDI_SEEN);
    assert_int_equal(vidi_add(into, url_at(room, N)), VIDI_NEW);
    vidi_close(into);
    vidi_close(from);
}

/* A second try after half a merge would count URLs twice. */
static void a_merge_that_fails_leaves_no_trace(void **state)
{
    const pair *which = *state;
    test_allocator allocator;
    int result = VIDI_EMEMORY;
    test_allocator_init(&allocator);
    vidi_set *into = make(which->into, which->multiset, 1, &allocator.hook);
    vidi_set *from = make(which->from, which->multiset, 2, NULL);
    fill_both(into, from);
    for (uint64_t n = 1; result != VIDI_OK; n++) {
        test_allocator_fail(&allocator, n, false);
        result = vidi_merge(into, from, 0);
        test_allocator_fail(&allocator, 0, false);
        check(result == VIDI_OK || result == VIDI_EMEMORY, "%d: %s", result, vidi_message());
        check(test_stat(into).count == (result == VIDI_OK ? N : ENDS), "%llu URLs",
              (unsigned long long)test_stat(into).count);
        assert_true(n < 10000);
    }
    must_hold_both(into, which->multiset);
    vidi_close(into);
    vidi_close(from);
    test_allocator_finish(&allocator);
}

static void sets_that_count_and_sets_that_do_not_differ(void **state)
{
    const pair *which = *state;
    vidi_set *into = make(which->into, which->multiset, 1, NULL);
    vidi_set *from = make(which->from, !which->multiset, 1, NULL);
    add_range(from, 0, 10);
    assert_int_equal(vidi_merge(into, from, 0), VIDI_EDIFFERS);
    check(strstr(vidi_message(), "multiset=on"), "%s", vidi_message());
    assert_int_equal(test_stat(into).count, 0);
    vidi_close(into);
    vidi_close(from);
}

int main(int argc, char **argv)
{
    static pair pairs[KINDS * KINDS * 2];
    static char names[KINDS * KINDS * 2][3][160];
    for (size_t i = 0; i < KINDS * KINDS * 2; i++) {
        pair *p = &pairs[i];
        *p = (pair){kinds[i / KINDS % KINDS], kinds[i % KINDS], i >= KINDS * KINDS};
        static const char *const promises[] = {"keys, hashes, kinds and epochs may differ",
                                               "a merge that fails leaves no trace",
                                               "sets that count and sets that do not differ"};
        void (*const tests[])(void **) = {keys_hashes_kinds_and_epochs_may_differ, a_merge_that_fails_leaves_no_trace,
                                          sets_that_count_and_sets_that_do_not_differ};
        for (size_t t = 0; t < 3; t++) {
            snprintf(names[i][t], sizeof names[i][t], "%s: %s%s into %s%s%s", promises[t], p->from[0], p->from[1],
                     p->into[0], p->into[1], p->multiset ? ", counting" : "");
            test_add(names[i][t], tests[t], p);
        }
    }
    return test_run("merge_urls", argc, argv);
}
