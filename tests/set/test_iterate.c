/*
 * Listing: each element once, with its count, for the kinds that can; and an end when the visitor wants one.
 */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/oracle.h"
#include "support/runner.h"
#include "support/urls.h"

typedef struct listing {
    test_oracle *left;   /* what has not been listed yet */
    test_oracle *hashes; /* of what has */
    uint64_t n;
    uint64_t stop_after;
    bool with_urls;
} listing;

static vidi_str url_at(char *room, uint64_t seed, uint64_t index)
{
    return (vidi_str){room, test_url(room, TEST_URL_ROOM, seed, index)};
}

static bool can_iterate(const test_case *which)
{
    return test_case_can(which, VIDI_CAN_ITERATE);
}

static int take(void *context, const vidi_entry *entry)
{
    listing *of = context;
    vidi_str hash = {(const char *)entry->hash, sizeof entry->hash};
    of->n++;
    assert_true(entry->times >= 1);
    test_oracle_add(of->hashes, hash);
    if (entry->url.ptr) {
        of->with_urls = true;
        for (uint64_t i = 0; i < entry->times; i++) {
            check(test_oracle_remove(of->left, entry->url), "%.*s listed too often", (int)entry->url.len,
                  entry->url.ptr);
        }
    }
    return of->n == of->stop_after ? 42 : 0;
}

static listing listing_new(void)
{
    return (listing){test_oracle_new(), test_oracle_new(), 0, 0, false};
}

static void listing_free(listing *of)
{
    test_oracle_free(of->left);
    test_oracle_free(of->hashes);
}

/* Adds URL i (i % 3 + 1) times and takes every seventh out again where that is possible. */
static void add_all(vidi_set *set, const test_case *which, uint64_t n, test_oracle *left)
{
    char room[TEST_URL_ROOM];
    bool can_delete = test_stat(set).can & VIDI_CAN_DELETE;
    for (uint64_t i = 0; i < n; i++) {
        vidi_str url = url_at(room, 1, i);
        uint64_t times = i % 3 + 1;
        for (uint64_t j = 0; j < times; j++) {
            vidi_add(set, url);
        }
        times = which->traits & TEST_MULTISET ? times : 1;
        if (i % 7 == 0 && can_delete) {
            assert_int_equal(vidi_remove(set, url), VIDI_OK);
            times--;
        }
        for (uint64_t j = 0; j < times; j++) {
            test_oracle_add(left, url);
        }
    }
}

static void each_element_is_listed_once(void **state)
{
    const test_case *which = *state;
    vidi_set *set = test_case_set(which, 3000, 1, NULL);
    listing of = listing_new();
    add_all(set, which, 3000, of.left);
    uint64_t elements = test_oracle_count(of.left);
    assert_int_equal(vidi_iterate(set, take, &of), 0);
    if (which->traits & TEST_EXACT) {
        assert_true(of.with_urls);
    }
    if (of.with_urls) {
        assert_int_equal(test_oracle_count(of.left), 0);
        assert_int_equal(of.n, elements);
    }
    listing_free(&of);
    vidi_close(set);
}

static void each_element_has_its_own_hash(void **state)
{
    vidi_set *set = test_case_set(*state, 3000, 5, NULL);
    listing of = listing_new();
    add_all(set, *state, 3000, of.left);
    assert_int_equal(vidi_iterate(set, take, &of), 0);
    assert_int_equal(test_oracle_count(of.hashes), of.n);
    listing_free(&of);
    vidi_close(set);
}

static void the_visitor_ends_the_walk(void **state)
{
    vidi_set *set = test_case_set(*state, 100, 2, NULL);
    listing of = listing_new();
    add_all(set, *state, 100, of.left);
    of.stop_after = 5;
    assert_int_equal(vidi_iterate(set, take, &of), 42);
    assert_int_equal(of.n, 5);
    listing_free(&of);
    vidi_close(set);
}

static void an_empty_set_lists_nothing(void **state)
{
    vidi_set *set = test_case_set(*state, 100, 3, NULL);
    listing of = listing_new();
    assert_int_equal(vidi_iterate(set, take, &of), 0);
    assert_int_equal(of.n, 0);
    listing_free(&of);
    vidi_close(set);
}

/* A visitor may ask the set while it lists it. */
static int ask_back(void *context, const vidi_entry *entry)
{
    vidi_set *set = *(vidi_set **)context;
    return entry->url.ptr && vidi_has(set, entry->url) != VIDI_SEEN;
}

static void the_visitor_may_ask(void **state)
{
    vidi_set *set = test_case_set(*state, 100, 4, NULL);
    listing of = listing_new();
    add_all(set, *state, 100, of.left);
    assert_int_equal(vidi_iterate(set, ask_back, &set), 0);
    listing_free(&of);
    vidi_close(set);
}

/* Counts the entries that are URLs, and checks that the only other one is the line as it was given. */
static int tell_lines(void *context, const vidi_entry *entry)
{
    unsigned *counts = context;
    bool is_line = entry->flags & VIDI_NOT_A_URL;
    counts[is_line]++;
    if (is_line)
        check(entry->url.len == 8 && memcmp(entry->url.ptr, "not a \0!", 8) == 0, "another line");
    return 0;
}

static void kept_lines_are_told_from_urls(void **state)
{
    static const char *const forms[] = {"whatwg", "crawl", "w3lib", "surt", "key=host", "none"};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        vidi_options options = VIDI_OPTIONS_INIT;
        vidi_set *set = NULL;
        unsigned counts[2] = {0};
        options.kind = "hashset";
        options.canon = forms[i];
        assert_int_equal(vidi_create(&set, &options), VIDI_OK);
        assert_true(test_stat(set).can & VIDI_KEEPS_URLS);
        assert_int_equal(vidi_add(set, test_str("http://a.example/?b=\xfc&a")), VIDI_NEW);
        assert_int_equal(vidi_add(set, test_str("http://b.example/")), VIDI_NEW);
        assert_int_equal(vidi_add(set, (vidi_str){"not a \0!", 8}), VIDI_NEW);
        assert_int_equal(vidi_iterate(set, tell_lines, counts), VIDI_OK);
        bool takes_any = strcmp(forms[i], "none") == 0;
        check(counts[0] == (takes_any ? 3 : 2) && counts[1] == !takes_any, "%s: %u URLs, %u lines", forms[i], counts[0],
              counts[1]);
        vidi_close(set);
    }
}

int main(int argc, char **argv)
{
    test_add_cases("each element is listed once", each_element_is_listed_once, can_iterate);
    test_add_cases("each element has its own hash", each_element_has_its_own_hash, can_iterate);
    test_add_cases("the visitor ends the walk", the_visitor_ends_the_walk, can_iterate);
    test_add_cases("an empty set lists nothing", an_empty_set_lists_nothing, can_iterate);
    test_add_cases("the visitor may ask", the_visitor_may_ask, can_iterate);
    test_add("kept lines are told from URLs", kept_lines_are_told_from_urls, NULL);
    return test_run("iterate", argc, argv);
}
