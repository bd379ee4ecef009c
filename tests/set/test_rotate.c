/*
 * Epochs: rotation begins an empty one with other salts, sized from the last; remembers how the past ones went; and
 * keeps the previous one for explicit questions only.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/env.h"
#include "support/runner.h"
#include "support/stats.h"
#include "support/urls.h"

static vidi_str url_at(char *room, uint64_t seed, uint64_t index)
{
    return (vidi_str){room, test_url(room, TEST_URL_ROOM, seed, index)};
}

static void add_range(vidi_set *set, uint64_t seed, uint64_t first, uint64_t n)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = first; i < first + n; i++) {
        int verdict = vidi_add(set, url_at(room, seed, i));
        check(verdict > 0, "%d: %s", verdict, vidi_message());
    }
}

static void must_rotate(vidi_set *set, const vidi_options *next)
{
    int result = vidi_rotate(set, next);
    check(result == VIDI_OK, "vidi_rotate: %d, %s", result, vidi_message());
}

static bool is_sized_by_urls(const test_case *which)
{
    return test_case_rotates(which) && which->capacity > 0 && !(which->params && strchr(which->params, '@'));
}

/* Combinations of functions may have one in common; salts never do. */
static bool has_salts(const test_case *which)
{
    return !which->params || !strstr(which->params, "functions=");
}

static void the_next_epoch_is_empty(void **state)
{
    const test_case *which = *state;
    vidi_set *set = test_case_set(which, 1000, 1, NULL);
    char room[TEST_URL_ROOM];
    for (uint64_t epoch = 0; epoch < 4; epoch++) {
        vidi_stats stats = test_stat(set);
        assert_int_equal(stats.epoch, epoch);
        assert_int_equal(stats.past_epochs, epoch);
        assert_int_equal(stats.count + stats.answered_new + stats.answered_seen + stats.asked + stats.removed, 0);
        assert_true(stats.fill == 0 && stats.fp_now == 0 && stats.expected_lost == 0);
        assert_int_equal(stats.ambiguous, 0);
        assert_int_equal(vidi_has(set, url_at(room, 1, 0)), VIDI_NEW);
        assert_int_equal(vidi_add(set, url_at(room, 1, 0)), VIDI_NEW);
        add_range(set, 1, 1, 900);
        must_rotate(set, NULL);
    }
    vidi_close(set);
}

static void the_history_is_kept(void **state)
{
    const test_case *which = *state;
    vidi_set *set = test_case_set(which, 1000, 2, NULL);
    vidi_stats was[3];
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        add_range(set, 2, 0, 600 + 200 * epoch);
        add_range(set, 2, 0, 100);
        was[epoch] = test_stat(set);
        must_rotate(set, NULL);
    }
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        vidi_epoch_stats past = {.size = sizeof past};
        assert_int_equal(vidi_epoch_stat(set, epoch, &past), VIDI_OK);
        assert_int_equal(past.epoch, epoch);
        assert_int_equal(past.capacity, was[epoch].capacity);
        assert_int_equal(past.count, was[epoch].count);
        assert_int_equal(past.bytes, was[epoch].bytes);
        assert_int_equal(past.answered_new, was[epoch].answered_new);
        assert_int_equal(past.answered_seen, was[epoch].answered_seen);
        assert_true(past.fp_end == was[epoch].fp_now);
        assert_true(past.expected_lost == was[epoch].expected_lost);
    }
    vidi_epoch_stats past = {.size = sizeof past};
    assert_int_equal(vidi_epoch_stat(set, 3, &past), VIDI_EABSENT);
    assert_int_equal(vidi_epoch_stat(set, UINT64_MAX, &past), VIDI_EABSENT);
    vidi_close(set);
}

static void check_capacity(vidi_set *set, double wanted)
{
    double capacity = (double)test_stat(set).capacity;
    check(fabs(capacity - wanted) <= 1, "capacity %.0f, not %.1f", capacity, wanted);
}

/* capacity = last count * headroom, and the memory with it. */
static void the_next_epoch_is_sized_from_the_last(void **state)
{
    const test_case *which = *state;
    vidi_set *set = test_case_set(which, 4000, 3, NULL);
    vidi_options next = VIDI_OPTIONS_INIT;
    add_range(set, 3, 0, 8000);
    double count = (double)test_stat(set).count;
    must_rotate(set, NULL);
    check_capacity(set, count * 1.25);
    uint64_t bytes = test_stat(set).bytes;
    add_range(set, 3, 0, 1000);
    count = (double)test_stat(set).count;
    next.headroom = 3;
    must_rotate(set, &next);
    check_capacity(set, count * 3);
    assert_true(test_stat(set).bytes < bytes || which->traits & TEST_EXACT);
    add_range(set, 3, 0, 1000);
    count = (double)test_stat(set).count;
    must_rotate(set, NULL);
    check_capacity(set, count * 3);
    vidi_close(set);
}

static void the_first_headroom_counts(void **state)
{
    const test_case *which = *state;
    test_options made;
    vidi_set *set = NULL;
    test_case_options(&made, which, 2000, 4);
    made.options.headroom = 2;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    add_range(set, 4, 0, 2000);
    double count = (double)test_stat(set).count;
    must_rotate(set, NULL);
    check_capacity(set, count * 2);
    vidi_close(set);
}

/* An epoch without a single URL is no reason to fail. */
static void an_empty_epoch_may_end(void **state)
{
    vidi_set *set = test_case_set(*state, 1000, 5, NULL);
    char room[TEST_URL_ROOM];
    must_rotate(set, NULL);
    must_rotate(set, NULL);
    assert_int_equal(vidi_add(set, url_at(room, 5, 0)), VIDI_NEW);
    assert_int_equal(vidi_add(set, url_at(room, 5, 0)), VIDI_SEEN);
    assert_int_equal(test_stat(set).epoch, 2);
    vidi_close(set);
}

/* Marks which of the URLs n .. n + probes - 1 are falsely seen; returns how many. */
static uint64_t ask(vidi_set *set, uint64_t seed, uint64_t n, uint64_t probes, unsigned char *falsely)
{
    char room[TEST_URL_ROOM];
    uint64_t seen = 0;
    for (uint64_t i = 0; i < probes; i++) {
        falsely[i] = vidi_has(set, url_at(room, seed, n + i)) == VIDI_SEEN;
        seen += falsely[i];
    }
    return seen;
}

/*
 * The temporal strategy: what was falsely seen in one epoch is falsely seen in the next with the probability of any
 * URL. Each epoch gets the same URLs, so that the same salts would give the same false answers.
 */
static void losses_of_two_epochs_are_independent(void **state)
{
    const test_case *which = *state;
    uint64_t n = test_case_few(which, test_urls_at_most(1000000) / 50), both = 0;
    vidi_set *set = test_case_set(which, n / 2, 6, NULL);
    unsigned char *first = malloc(n), *second = malloc(n);
    vidi_options next = VIDI_OPTIONS_INIT;
    assert_non_null(first);
    assert_non_null(second);
    add_range(set, 6, 0, n);
    uint64_t seen = ask(set, 6, n, n, first);
    next.capacity = is_sized_by_urls(which) ? n / 2 : 0;
    must_rotate(set, &next);
    add_range(set, 6, 0, n);
    vidi_stats stats = test_stat(set);
    ask(set, 6, n, n, second);
    for (uint64_t i = 0; i < n; i++) {
        both += first[i] && second[i];
    }
    test_interval predicted = test_binomial_interval(seen, stats.fp_now, TEST_ALPHA);
    if (stats.fp_meaning == VIDI_FP_EXACT) {
        check(test_inside(predicted, both), "%llu of %llu again, predicted %llu to %llu", (unsigned long long)both,
              (unsigned long long)seen, (unsigned long long)predicted.low, (unsigned long long)predicted.high);
    }
    free(first);
    free(second);
    vidi_close(set);
}

/* URLs lost while the first epoch filled up are found in the second, but for the share that any URL is lost with. */
static void lost_urls_are_found_in_the_next_epoch(void **state)
{
    const test_case *which = *state;
    uint64_t n = test_case_few(which, test_sanitized() ? 5000 : 20000), lost = 0, again = 0;
    char room[TEST_URL_ROOM];
    unsigned char *gone = calloc(n, 1);
    vidi_options next = VIDI_OPTIONS_INIT;
    vidi_set *set = test_case_set(which, n / 2, 7, NULL);
    assert_non_null(gone);
    for (uint64_t i = 0; i < n; i++) {
        gone[i] = vidi_add(set, url_at(room, 7, i)) == VIDI_SEEN;
        lost += gone[i];
    }
    next.capacity = is_sized_by_urls(which) ? n / 2 : 0;
    must_rotate(set, &next);
    for (uint64_t i = 0; i < n; i++) {
        again += vidi_add(set, url_at(room, 7, i)) == VIDI_SEEN && gone[i];
    }
    vidi_stats stats = test_stat(set);
    if (stats.fp_meaning == VIDI_FP_EXACT) {
        test_interval predicted = test_binomial_interval(lost, stats.fp_now, TEST_ALPHA);
        assert_true(again <= predicted.high);
    }
    free(gone);
    vidi_close(set);
}

static void the_previous_epoch_answers_when_asked(void **state)
{
    const test_case *which = *state;
    test_options made;
    vidi_set *set = NULL;
    char room[TEST_URL_ROOM];
    test_case_options(&made, which, 500, 8);
    made.options.flags = VIDI_KEEP_PREVIOUS;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    assert_int_equal(vidi_has_previous(set, url_at(room, 8, 0)), VIDI_ECANNOT);
    add_range(set, 8, 0, 300);
    uint64_t alone = test_stat(set).memory_bytes;
    must_rotate(set, NULL);
    assert_true(test_stat(set).memory_bytes > 0);
    for (uint64_t i = 0; i < 300; i++) {
        assert_int_equal(vidi_has_previous(set, url_at(room, 8, i)), VIDI_SEEN);
    }
    assert_int_equal(vidi_add(set, url_at(room, 8, 0)), VIDI_NEW);
    assert_int_equal(vidi_add(set, url_at(room, 9, 0)), VIDI_NEW);
    assert_int_equal(test_stat(set).asked, 0);
    uint64_t with = test_stat(set).memory_bytes;
    assert_int_equal(vidi_drop_previous(set), VIDI_OK);
    assert_true(test_stat(set).memory_bytes < with && alone > 0);
    assert_int_equal(vidi_has_previous(set, url_at(room, 8, 0)), VIDI_ECANNOT);
    vidi_close(set);
}

/* Of several, the last one only. */
static void one_previous_epoch_is_kept(void **state)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set = NULL;
    (void)state;
    options.kind = "hashset";
    options.flags = VIDI_KEEP_PREVIOUS;
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    vidi_add(set, test_str("http://a.example/"));
    must_rotate(set, NULL);
    vidi_add(set, test_str("http://b.example/"));
    must_rotate(set, NULL);
    assert_int_equal(vidi_has_previous(set, test_str("http://a.example/")), VIDI_NEW);
    assert_int_equal(vidi_has_previous(set, test_str("http://b.example/")), VIDI_SEEN);
    vidi_close(set);
}

static void without_the_flag_nothing_is_kept(void **state)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    vidi_set *set = test_case_set(*state, 500, 9, NULL);
    char room[TEST_URL_ROOM];
    add_range(set, 9, 0, 10);
    must_rotate(set, NULL);
    assert_int_equal(vidi_has_previous(set, url_at(room, 9, 0)), VIDI_ECANNOT);
    add_range(set, 9, 0, 10);
    next.flags = VIDI_KEEP_PREVIOUS;
    must_rotate(set, &next);
    assert_int_equal(vidi_has_previous(set, url_at(room, 9, 0)), VIDI_SEEN);
    vidi_close(set);
}

static void the_next_epoch_may_be_another_kind(void **state)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    test_case which = {"classic", "k=3,M=2", 1, 0, 0};
    vidi_set *set = test_case_set(&which, 500, 10, NULL);
    (void)state;
    add_range(set, 10, 0, 500);
    next.kind = "counting";
    next.params = "k=4,M=3,width=8";
    next.capacity = 2000;
    must_rotate(set, &next);
    vidi_stats stats = test_stat(set);
    assert_string_equal(stats.kind, "counting");
    assert_non_null(strstr(stats.params, "width=8"));
    assert_int_equal(stats.capacity, 2000);
    add_range(set, 10, 0, 500);
    vidi_options again = VIDI_OPTIONS_INIT;
    again.kind = "classic";
    again.params = "";
    again.error = 0.001;
    again.capacity = 1000;
    must_rotate(set, &again);
    assert_string_equal(test_stat(set).kind, "classic");
    add_range(set, 10, 0, 1000);
    stats = test_stat(set);
    check(stats.fp_now > 0.0005 && stats.fp_now < 0.002, "fp_now %g", stats.fp_now);
    assert_int_equal(test_stat(set).epoch, 2);
    vidi_close(set);
}

static void other_options_are_refused(void **state)
{
    static const unsigned char key[VIDI_KEY_BYTES] = {1};
    static const vidi_allocator allocator = {sizeof allocator, NULL, NULL, NULL, NULL};
    vidi_set *set = test_case_set(*state, 500, 11, NULL);
    char room[TEST_URL_ROOM];
    add_range(set, 11, 0, 100);
    for (int i = 0; i < 9; i++) {
        vidi_options next = VIDI_OPTIONS_INIT;
        vidi_access access = VIDI_ACCESS_INIT;
        next.access = &access;
        access.memory_limit = i == 0 ? 1 << 30 : 0;
        next.key = i == 1 ? key : NULL;
        next.like = i == 2 ? set : NULL;
        access.allocator = i == 3 ? &allocator : NULL;
        next.member = i == 4 ? 1 : 0;
        next.headroom = i == 5 ? 0.5 : i == 6 ? NAN : 0;
        next.params = i == 7 ? "nonsense=1" : NULL;
        next.kind = i == 8 ? "sieve" : NULL;
        int result = vidi_rotate(set, &next);
        check(result == VIDI_EOPTION || result == VIDI_EARGUMENT, "option %d: %d", i, result);
        assert_true(strlen(vidi_message()) > 0);
        assert_int_equal(test_stat(set).epoch, 0);
        assert_int_equal(vidi_has(set, url_at(room, 11, 99)), VIDI_SEEN);
    }
    vidi_close(set);
}

/* Every epoch has another combination of functions than the one before. */
static void different_functions_in_every_epoch(void **state)
{
    test_case which = {"classic", "k=3,M=2,mode=different,functions=jenkins+murmur2+sha1+md5", 1, 0, 0};
    vidi_set *set = test_case_set(&which, 1000, 12, NULL);
    vidi_stats last = test_stat(set);
    (void)state;
    for (int i = 0; i < 8; i++) {
        add_range(set, 12, 0, 500);
        must_rotate(set, NULL);
        vidi_stats stats = test_stat(set);
        check(strcmp(stats.hash, last.hash) != 0, "again %s", stats.hash);
        last = stats;
    }
    vidi_close(set);
}

/* With as many functions as positions there is no other combination: the set says so and stays as it is. */
static void no_other_combination_is_an_error(void **state)
{
    static const char *const params[] = {
        "k=3,M=2,mode=different,functions=jenkins+murmur2+sha1",
        "k=1,M=2,mode=different,functions=jenkins",
    };
    char room[TEST_URL_ROOM];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        test_case which = {"classic", params[i], 1, 0, 0};
        vidi_set *set = test_case_set(&which, 1000, 13, NULL);
        add_range(set, 13, 0, 500);
        assert_int_equal(vidi_rotate(set, NULL), VIDI_EOPTION);
        assert_true(strlen(vidi_message()) > 0);
        assert_int_equal(test_stat(set).epoch, 0);
        assert_int_equal(test_stat(set).count, test_stat(set).answered_new);
        assert_int_equal(vidi_has(set, url_at(room, 13, 0)), VIDI_SEEN);
        vidi_close(set);
    }
}

/* The same key and the same number of rotations: the same salts, so that sets on several machines stay together. */
static void epochs_follow_from_the_key(void **state)
{
    vidi_set *one = test_case_set(*state, 500, 14, NULL);
    vidi_set *two = test_case_set(*state, 500, 14, NULL);
    char room[TEST_URL_ROOM];
    add_range(one, 14, 0, 400);
    add_range(two, 14, 0, 400);
    must_rotate(one, NULL);
    must_rotate(two, NULL);
    for (uint64_t i = 0; i < 1500; i++) {
        vidi_str url = url_at(room, 14, i);
        assert_int_equal(vidi_add(one, url), vidi_add(two, url));
    }
    vidi_close(one);
    vidi_close(two);
}

int main(int argc, char **argv)
{
    test_add_cases("the next epoch is empty", the_next_epoch_is_empty, test_case_rotates);
    test_add_cases("the history is kept", the_history_is_kept, test_case_rotates);
    test_add_cases("the next epoch is sized from the last", the_next_epoch_is_sized_from_the_last, is_sized_by_urls);
    test_add_cases("the first headroom counts", the_first_headroom_counts, is_sized_by_urls);
    test_add_cases("an empty epoch may end", an_empty_epoch_may_end, test_case_rotates);
    test_add_cases("losses of two epochs are independent", losses_of_two_epochs_are_independent, has_salts);
    test_add_cases("lost URLs are found in the next epoch", lost_urls_are_found_in_the_next_epoch, has_salts);
    test_add_cases("the previous epoch answers when asked", the_previous_epoch_answers_when_asked, test_case_rotates);
    test_add("one previous epoch is kept", one_previous_epoch_is_kept, NULL);
    test_add_cases("without the flag nothing is kept", without_the_flag_nothing_is_kept, test_case_rotates);
    test_add("the next epoch may be another kind", the_next_epoch_may_be_another_kind, NULL);
    test_add_cases("other options are refused", other_options_are_refused, NULL);
    test_add("different functions in every epoch", different_functions_in_every_epoch, NULL);
    test_add("no other combination is an error", no_other_combination_is_an_error, NULL);
    test_add_cases("epochs follow from the key", epochs_follow_from_the_key, test_case_rotates);
    return test_run("rotate", argc, argv);
}
