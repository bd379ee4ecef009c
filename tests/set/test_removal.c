/*
 * Removal from what counts: positions that coincide count once, no URL goes before its last removal, and an emptied
 * set counts none.
 */
#include <stdio.h>

#include "set/merge/fit_cases.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/urls.h"

/* Eight positions among sixteen: nearly every URL has some that coincide. */
static void positions_that_coincide_count_once(void **state)
{
    const char *const *which = *state;
    enum { URLS = 6 };
    char room[TEST_URL_ROOM];
    for (uint64_t seed = 0; seed < 300; seed++) {
        vidi_set *set = must_make(which[0], which[1], 0, 0, seed);
        uint64_t times;
        for (uint64_t i = 0; i < URLS; i++) {
            assert_true(vidi_add(set, url_at(room, seed, i)) > 0);
            assert_int_equal(vidi_count(set, url_at(room, seed, i), &times), VIDI_OK);
            assert_true(times >= 1);
            for (uint64_t j = 0; j <= i; j++) {
                assert_int_equal(vidi_has(set, url_at(room, seed, j)), VIDI_SEEN);
            }
        }
        for (uint64_t i = 0; i < URLS; i++) {
            assert_int_equal(vidi_count(set, url_at(room, seed, i), &times), VIDI_OK);
            assert_true(times >= 1);
            assert_int_equal(vidi_remove(set, url_at(room, seed, i)), VIDI_OK);
            for (uint64_t j = i + 1; j < URLS; j++) {
                check(vidi_has(set, url_at(room, seed, j)) == VIDI_SEEN, "seed %llu: URL %llu went with URL %llu",
                      (unsigned long long)seed, (unsigned long long)j, (unsigned long long)i);
                assert_int_equal(vidi_count(set, url_at(room, seed, j), &times), VIDI_OK);
                assert_true(times >= 1);
            }
        }
        assert_true(test_stat(set).fp_now == 0); /* no counter of 8 bits was full: nothing is left */
        assert_int_equal(vidi_remove(set, url_at(room, seed, 0)), VIDI_EABSENT);
        vidi_close(set);
    }
}

static void an_emptied_set_counts_no_urls(void **state)
{
    const char *const *which = *state;
    char room[TEST_URL_ROOM];
    for (uint64_t seed = 0; seed < 100; seed++) {
        vidi_set *set = must_make(which[0], which[1], 0, 0, seed);
        add_range(set, seed, 0, 6);
        for (uint64_t i = 0; i < 6; i++) {
            assert_int_equal(vidi_remove(set, url_at(room, seed, i)), VIDI_OK);
        }
        vidi_stats stats = test_stat(set);
        check(stats.count == 0, "seed %llu: %llu URLs are in it, the fill is %g", (unsigned long long)seed,
              (unsigned long long)stats.count, stats.fill);
        vidi_close(set);
    }
}

static const char *const coinciding[][2] = {
    {"counting", "k=8,m=16,width=8"},
    {"counting", "k=8,m=16,width=8,mode=salted"},
    {"spatial", "F=2,inner=counting,k=8,m=16,width=8"},
    {"fingerprint", "multiset=on"},
    {"hashset", "multiset=on"},
    {"sorted", "multiset=on"},
    {"list", "multiset=on"},
};

/* Any order of adds and of as many removals, with repeats: no URL goes before its last. */
static void no_url_goes_before_its_last_removal(void **state)
{
    const char *const *which = *state;
    enum { URLS = 8, STEPS = 60 };
    char room[TEST_URL_ROOM];
    test_random random = {8};
    for (uint64_t seed = 0; seed < 60; seed++) {
        vidi_set *set = must_make(which[0], which[1], 0, 0, seed);
        uint64_t truth[URLS] = {0}, times;
        for (unsigned step = 0; step < STEPS; step++) {
            uint64_t i = test_below(&random, URLS);
            if (truth[i] && test_below(&random, 2)) {
                assert_int_equal(vidi_remove(set, url_at(room, seed, i)), VIDI_OK);
                truth[i]--;
            } else {
                assert_true(vidi_add(set, url_at(room, seed, i)) > 0);
                truth[i]++;
            }
            for (uint64_t j = 0; j < URLS; j++) {
                assert_int_equal(vidi_count(set, url_at(room, seed, j), &times), VIDI_OK);
                check(times >= truth[j], "seed %llu: URL %llu was added %llu times and is there %llu times",
                      (unsigned long long)seed, (unsigned long long)j, (unsigned long long)truth[j],
                      (unsigned long long)times);
                assert_true(!truth[j] || vidi_has(set, url_at(room, seed, j)) == VIDI_SEEN);
            }
        }
        vidi_close(set);
    }
}

int main(int argc, char **argv)
{
    char promise[300];
    for (size_t i = 0; i < sizeof coinciding / sizeof *coinciding; i++) {
        snprintf(promise, sizeof promise, "positions that coincide count once: %s %s", coinciding[i][0],
                 coinciding[i][1]);
        test_add(promise, positions_that_coincide_count_once, coinciding[i]);
        snprintf(promise, sizeof promise, "no URL goes before its last removal: %s %s", coinciding[i][0],
                 coinciding[i][1]);
        test_add(promise, no_url_goes_before_its_last_removal, coinciding[i]);
    }
    for (size_t i = 0; i < sizeof coinciding / sizeof *coinciding; i++) {
        snprintf(promise, sizeof promise, "an emptied set counts no URLs: %s %s", coinciding[i][0], coinciding[i][1]);
        test_add(promise, an_emptied_set_counts_no_urls, coinciding[i]);
    }
    return test_run("removal", argc, argv);
}
