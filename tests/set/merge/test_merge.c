/*
 * Merging: afterwards the one set holds what both held, if they fit together; if not, the error says so.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/oracle.h"
#include "support/runner.h"
#include "support/urls.h"

static vidi_str url_at(char *room, uint64_t seed, uint64_t index)
{
    return (vidi_str){room, test_url(room, TEST_URL_ROOM, seed, index)};
}

static void add_range(vidi_set *set, uint64_t seed, uint64_t first, uint64_t n)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = first; i < first + n; i++) {
        assert_true(vidi_add(set, url_at(room, seed, i)) > 0);
    }
}

static bool can_merge(const test_case *which)
{
    return test_case_can(which, VIDI_CAN_MERGE);
}

/* Kinds that keep their URLs merge across keys and epochs: see test_merge_urls.c. */
static bool merges_hashes(const test_case *which)
{
    return can_merge(which) && !(which->traits & TEST_EXACT);
}

static bool counts_adds(const test_case *which)
{
    return which->traits & TEST_MULTISET && test_case_can(which, VIDI_CAN_MERGE | VIDI_CAN_COUNT);
}

static void the_union_forgets_nothing(void **state)
{
    const test_case *which = *state;
    uint64_t n = 4000;
    char room[TEST_URL_ROOM];
    vidi_set *into = test_case_set(which, n, 1, NULL);
    vidi_set *from = test_case_set(which, n, 1, NULL);
    add_range(into, 1, 0, n * 3 / 5);
    add_range(from, 1, n * 2 / 5, n * 3 / 5);
    vidi_stats before = test_stat(from);
    int result = vidi_merge(into, from, 0);
    check(result == VIDI_OK, "%d: %s", result, vidi_message());
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(vidi_has(into, url_at(room, 1, i)), VIDI_SEEN);
    }
    vidi_stats after = test_stat(from);
    assert_int_equal(before.count, after.count);
    assert_true(before.fill == after.fill);
    if (which->traits & TEST_EXACT && !(which->traits & TEST_MULTISET)) {
        assert_int_equal(test_stat(into).count, n);
    }
    vidi_close(into);
    vidi_close(from);
}

/* For kinds that only ever set marks, the union is the very set that had met all of them. */
static bool only_sets_bits(const test_case *which)
{
    bool bits = strcmp(which->kind, "classic") == 0 || strcmp(which->kind, "multilayer") == 0 ||
                strcmp(which->kind, "eigen") == 0 || which->traits & TEST_EXACT;
    return bits && can_merge(which);
}

static void the_union_answers_as_if_it_had_met_all(void **state)
{
    const test_case *which = *state;
    uint64_t n = 3000;
    char room[TEST_URL_ROOM];
    vidi_set *into = test_case_set(which, n, 2, NULL);
    vidi_set *from = test_case_set(which, n, 2, NULL);
    vidi_set *all = test_case_set(which, n, 2, NULL);
    add_range(into, 2, 0, n / 2);
    add_range(from, 2, n / 2, n / 2);
    add_range(all, 2, 0, n);
    double most = (double)(test_stat(into).count + test_stat(from).count);
    assert_int_equal(vidi_merge(into, from, 0), VIDI_OK);
    for (uint64_t i = 0; i < 5 * n; i++) {
        vidi_str url = url_at(room, 2, i);
        assert_int_equal(vidi_has(into, url), vidi_has(all, url));
    }
    vidi_stats a = test_stat(into);
    vidi_stats b = test_stat(all);
    assert_true(fabs(a.fp_now - b.fp_now) <= 1e-9);
    /* estimated, perhaps; but not above what the two held, and not far below what the one that met all holds */
    check((double)a.count <= 1.05 * most && (double)a.count >= 0.95 * (double)b.count, "count %llu; %.0f, %llu",
          (unsigned long long)a.count, most, (unsigned long long)b.count);
    vidi_close(into);
    vidi_close(from);
    vidi_close(all);
}

static void counts_add_up(void **state)
{
    const test_case *which = *state;
    char room[TEST_URL_ROOM];
    vidi_set *into = test_case_set(which, 1000, 3, NULL);
    vidi_set *from = test_case_set(which, 1000, 3, NULL);
    add_range(into, 3, 0, 600);
    add_range(from, 3, 400, 600);
    assert_int_equal(vidi_merge(into, from, 0), VIDI_OK);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t times = 0, truth = i >= 400 && i < 600 ? 2 : 1;
        assert_int_equal(vidi_count(into, url_at(room, 3, i), &times), VIDI_OK);
        assert_true(times >= truth && (times == truth || !(which->traits & TEST_EXACT)));
    }
    vidi_close(into);
    vidi_close(from);
}

/* The merged set goes on as a set: what is new is NEW, once. */
static void the_union_goes_on(void **state)
{
    const test_case *which = *state;
    uint64_t n = 1000, fresh = 0;
    char room[TEST_URL_ROOM];
    vidi_set *into = test_case_set(which, 3 * n, 4, NULL);
    vidi_set *from = test_case_set(which, 3 * n, 4, NULL);
    add_range(into, 4, 0, n);
    add_range(from, 4, n, n);
    assert_int_equal(vidi_merge(into, from, 0), VIDI_OK);
    for (uint64_t i = 0; i < 3 * n; i++) {
        int verdict = vidi_add(into, url_at(room, 4, i));
        assert_true(verdict == VIDI_SEEN || (i >= 2 * n && verdict == VIDI_NEW));
        fresh += verdict == VIDI_NEW;
        assert_int_equal(vidi_add(into, url_at(room, 4, i)), VIDI_SEEN);
    }
    assert_true(fresh > n / 2);
    vidi_close(into);
    vidi_close(from);
}

static void a_set_and_itself_change_nothing(void **state)
{
    const test_case *which = *state;
    vidi_set *set = test_case_set(which, 1000, 5, NULL);
    add_range(set, 5, 0, 1000);
    vidi_stats before = test_stat(set);
    assert_int_equal(vidi_merge(set, set, 0), VIDI_OK);
    vidi_stats after = test_stat(set);
    assert_int_equal(before.count, after.count);
    assert_true(before.fill == after.fill && before.fp_now == after.fp_now);
    vidi_close(set);
}

static void an_empty_set_adds_nothing(void **state)
{
    const test_case *which = *state;
    char room[TEST_URL_ROOM];
    vidi_set *into = test_case_set(which, 1000, 6, NULL);
    vidi_set *from = test_case_set(which, 1000, 6, NULL);
    add_range(into, 6, 0, 500);
    double fill = test_stat(into).fill;
    assert_int_equal(vidi_merge(into, from, 0), VIDI_OK);
    assert_true(test_stat(into).fill == fill);
    assert_int_equal(vidi_merge(from, into, 0), VIDI_OK);
    for (uint64_t i = 0; i < 500; i++) {
        assert_int_equal(vidi_has(from, url_at(room, 6, i)), VIDI_SEEN);
    }
    vidi_close(into);
    vidi_close(from);
}

/* Merging must fail and leave both as they are. */
static void must_differ(vidi_set *into, vidi_set *from, const char *what)
{
    uint64_t count = test_stat(into).count;
    int result = vidi_merge(into, from, 0);
    check(result == VIDI_EDIFFERS, "%s: %d", what, result);
    check(strlen(vidi_message()) > 0, "%s: no message", what);
    assert_int_equal(test_stat(into).count, count);
}

static void other_keys_do_not_fit(void **state)
{
    const test_case *which = *state;
    vidi_set *into = test_case_set(which, 1000, 7, NULL);
    vidi_set *from = test_case_set(which, 1000, 8, NULL);
    add_range(from, 7, 0, 10);
    must_differ(into, from, "key");
    vidi_close(into);
    vidi_close(from);
}

static void other_epochs_do_not_fit(void **state)
{
    const test_case *which = *state;
    vidi_set *into = test_case_set(which, 1000, 9, NULL);
    vidi_set *from = test_case_set(which, 1000, 9, NULL);
    if (vidi_rotate(from, NULL) == VIDI_OK) {
        must_differ(into, from, "epoch");
    }
    vidi_close(into);
    vidi_close(from);
}

static void other_shapes_do_not_fit(void **state)
{
    const test_case *which = *state;
    char room[TEST_URL_ROOM];
    vidi_set *into = test_case_set(which, 1000, 10, NULL);
    vidi_set *from = test_case_set(which, 5000, 10, NULL);
    add_range(from, 10, 0, 2000);
    if (which->traits & (TEST_EXACT | TEST_ANY_SIZE)) {
        assert_int_equal(vidi_merge(into, from, 0), VIDI_OK);
        assert_int_equal(vidi_has(into, url_at(room, 10, 1999)), VIDI_SEEN);
    } else if (which->capacity > 0 || which->params) {
        must_differ(into, from, "capacity");
    }
    vidi_close(into);
    vidi_close(from);
}

static vidi_set *classic_with(const char *kind, const char *params, uint64_t seed)
{
    test_case which = {kind, params, 1, 0, 0};
    return test_case_set(&which, 1000, seed, NULL);
}

static void what_differs_is_named(void **state)
{
    static const char *const pairs[][4] = {
        {"classic", "k=3,M=2", "classic", "k=4,M=2"},
        {"classic", "k=3,M=2", "classic", "k=3,M=3"},
        {"classic", "k=3,M=2", "classic", "k=3,M=2,hash=xxh3"},
        {"classic", "k=3,M=2", "classic", "k=3,M=2,mode=salted"},
        {"classic", "k=3,M=2,mode=salted", "classic", "k=3,M=2,mode=salted,salt=suffix"},
        {"classic", "k=3,M=2", "classic", "k=3,M=2,of=segments"},
        {"counting", "k=3,M=2,width=4", "counting", "k=3,M=2,width=8"},
        {"eigen", "k=3,M=2,g=tail", "eigen", "k=3,M=2,g=ends"},
        {"multilayer", "k=3,M=2,layersalt=on", "multilayer", "k=3,M=2,layersalt=off"},
        {"blocked", "lines=1", "blocked", "lines=2"},
        {"blocked", NULL, "blocked", "hash=xxh3"},
        {"classic", "k=3,M=2", "counting", "k=3,M=2"},
        {"classic", "k=3,M=2", "hashset", NULL},
        {"hashset", NULL, "classic", "k=3,M=2"},
        {"hashset", NULL, "fingerprint", NULL},
        {"list", NULL, "hashset", "multiset=on"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        vidi_set *into = classic_with(pairs[i][0], pairs[i][1], 11);
        vidi_set *from = classic_with(pairs[i][2], pairs[i][3], 11);
        char room[TEST_URL_ROOM];
        vidi_add(from, url_at(room, 11, 1));
        if (test_stat(into).can & VIDI_CAN_MERGE) {
            must_differ(into, from, pairs[i][3] ? pairs[i][3] : pairs[i][2]);
        }
        vidi_close(into);
        vidi_close(from);
    }
}

int main(int argc, char **argv)
{
    test_add_cases("the union forgets nothing", the_union_forgets_nothing, can_merge);
    test_add_cases("the union answers as if it had met all", the_union_answers_as_if_it_had_met_all, only_sets_bits);
    test_add_cases("counts add up", counts_add_up, counts_adds);
    test_add_cases("the union goes on", the_union_goes_on, can_merge);
    test_add_cases("a set and itself change nothing", a_set_and_itself_change_nothing, can_merge);
    test_add_cases("an empty set adds nothing", an_empty_set_adds_nothing, can_merge);
    test_add_cases("other keys do not fit", other_keys_do_not_fit, merges_hashes);
    test_add_cases("other epochs do not fit", other_epochs_do_not_fit, merges_hashes);
    test_add_cases("other shapes do not fit", other_shapes_do_not_fit, can_merge);
    test_add("what differs is named", what_differs_is_named, NULL);
    return test_run("merge", argc, argv);
}
