/*
 * Merging and the error rate: a merge that would make a set lose many more pages than was asked for is refused before
 * anything changes, unless it is forced. Losses add up as far as URLs do, so merging the same set twice changes nothing.
 */
#include <stdio.h>
#include <string.h>

#include "durable/durable_cases.h"
#include "support/check.h"
#include "support/forge.h"
#include "support/runner.h"
#include "support/urls.h"

enum { URLS = 20000 };

typedef struct kind_case {
    const char *kind, *params;
    double error;
    bool grows; /* no capacity is given */
} kind_case;

/* Kinds that become worse when they take in the URLs of two. */
static const kind_case worse[] = {
    {"blocked", NULL, 0, true},     {"blocked", NULL, 1e-6, true},
    {"blocked", NULL, 1e-3, false}, {"classic", NULL, 1e-3, false},
    {"classic", NULL, 0, false},    {"counting", NULL, 1e-3, false},
    {"eigen", NULL, 1e-3, false},   {"multilayer", NULL, 1e-3, false},
    {"spatial", NULL, 1e-3, false}, {"spatial", "inner=counting,F=3", 0, false},
};

static vidi_set *set_of(const kind_case *which, const char *path)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    vidi_set *set;
    test_key(key, 1);
    options.kind = which->kind;
    options.params = which->params;
    options.error = which->error;
    options.capacity = which->grows ? 0 : URLS;
    options.key = key;
    options.path = path;
    int result = vidi_create(&set, &options);
    check(result == VIDI_OK, "%s %s: %s", which->kind, which->params ? which->params : "", vidi_message());
    return set;
}

static void add_range(vidi_set *set, uint64_t from, uint64_t to)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = from; i < to; i++)
        assert_true(vidi_add(set, (vidi_str){room, test_url(room, sizeof room, 1, i)}) > 0);
}

static void check_holds(const vidi_set *set, uint64_t from, uint64_t to)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = from; i < to; i++)
        assert_int_equal(vidi_has(set, (vidi_str){room, test_url(room, sizeof room, 1, i)}), VIDI_SEEN);
}

static double asked_of(const kind_case *which)
{
    return which->error > 0 ? which->error : 1e-6;
}

/* The merge is refused, `into` stays as it is, and the message has both rates. */
static void check_refused(vidi_set *into, const vidi_set *from, double asked)
{
    test_forge before, after;
    char rate[32];
    uint64_t ambiguous = test_stat(into).ambiguous;
    test_forge_take(&before, into);
    assert_int_equal(vidi_merge(into, from, 0), VIDI_ERATE);
    snprintf(rate, sizeof rate, "made for %.2g", asked);
    check(strstr(vidi_message(), rate) != NULL, "'%s' is not in '%s'", rate, vidi_message());
    test_forge_take(&after, into);
    assert_int_equal(before.size, after.size);
    if (test_stat(into).ambiguous == ambiguous) /* spatial looks up what is in a log, and counts these questions */
        assert_memory_equal(before.bytes, after.bytes, before.size);
    test_forge_free(&before);
    test_forge_free(&after);
}

static void a_merge_that_multiplies_the_error_rate_is_refused(void **state)
{
    const kind_case *which = *state;
    vidi_set *into = set_of(which, NULL), *from = set_of(which, NULL);
    add_range(into, 0, URLS);
    add_range(from, URLS, 2 * URLS);
    vidi_stats before = test_stat(into);
    assert_true(before.fp_now < 2 * asked_of(which));
    check_refused(into, from, asked_of(which));
    vidi_stats after = test_stat(into);
    assert_true(before.count == after.count && before.fp_now == after.fp_now);
    assert_int_equal(vidi_merge(into, from, VIDI_MERGE_FORCE), VIDI_OK);
    check_holds(into, 0, 2 * URLS);
    assert_true(test_stat(into).fp_now > 2 * asked_of(which));
    vidi_close(into);
    vidi_close(from);
}

/* What was refused is really that bad, and what was said of it is true. */
static void the_rate_that_is_told_is_the_rate_that_comes(void **state)
{
    const kind_case *which = *state;
    vidi_set *into = set_of(which, NULL), *from = set_of(which, NULL);
    double told = 0;
    add_range(into, 0, URLS);
    add_range(from, URLS / 2, 2 * URLS);
    assert_int_equal(vidi_merge(into, from, 0), VIDI_ERATE);
    const char *number = strstr(vidi_message(), "probability ");
    assert_non_null(number);
    assert_int_equal(sscanf(number, "probability %lf", &told), 1);
    assert_int_equal(vidi_merge(into, from, VIDI_MERGE_FORCE), VIDI_OK);
    double came = test_stat(into).fp_now;
    check(told > 0.9 * came && told < 1.1 * came, "%g was told, %g came", told, came);
    vidi_close(into);
    vidi_close(from);
}

static void what_fits_is_merged(void **state)
{
    const kind_case *which = *state;
    vidi_set *into = set_of(which, NULL), *from = set_of(which, NULL);
    uint64_t each = which->grows ? 2000 : URLS / 2;
    add_range(into, 0, each);
    add_range(from, each, 2 * each);
    int result = vidi_merge(into, from, 0);
    check(result == VIDI_OK, "%d, %s", result, vidi_message());
    assert_true(test_stat(into).fp_now < 2 * asked_of(which));
    check_holds(into, 0, 2 * each);
    vidi_close(into);
    vidi_close(from);
}

/* A set that is beyond its rate already can still be copied, and can take in what it holds. */
static void a_merge_that_makes_nothing_worse_is_not_refused(void **state)
{
    const kind_case *which = *state;
    vidi_set *into = set_of(which, NULL), *from = set_of(which, NULL), *copy = set_of(which, NULL);
    add_range(into, 0, URLS);
    add_range(from, URLS, 2 * URLS);
    assert_int_equal(vidi_merge(into, from, VIDI_MERGE_FORCE), VIDI_OK);
    vidi_stats before = test_stat(into);
    assert_int_equal(vidi_merge(into, from, 0), VIDI_OK);
    vidi_stats after = test_stat(into);
    assert_true(before.count == after.count && before.fp_now == after.fp_now);
    assert_int_equal(vidi_merge(copy, into, 0), VIDI_OK);
    check_holds(copy, 0, 2 * URLS);
    vidi_close(into);
    vidi_close(from);
    vidi_close(copy);
}

/* Everything that the second set has is in its log, and its snapshot is empty. Blocked sets grow with what they add. */
static void urls_in_a_log_count_too(void **state)
{
    const kind_case *which = *state;
    home at;
    home_begin(&at);
    vidi_set *into = set_of(which, NULL);
    at.set = set_of(which, at.path);
    add_range(into, 0, URLS);
    add_range(at.set, URLS, 2 * URLS);
    vidi_close(at.set);
    at.set = must_open(at.path, VIDI_READ_ONLY);
    check_refused(into, at.set, asked_of(which));
    assert_int_equal(vidi_merge(into, at.set, VIDI_MERGE_FORCE), VIDI_OK);
    check_holds(into, 0, 2 * URLS);
    uint64_t count = test_stat(into).count;
    assert_int_equal(vidi_merge(into, at.set, 0), VIDI_OK); /* nothing is missing any more */
    assert_int_equal(test_stat(into).count, count);
    vidi_close(into);
    home_end(&at);
}

static void a_fingerprint_set_counts_what_it_lacks(void **state)
{
    (void)state;
    const kind_case which = {"fingerprint", NULL, 1e-6, false};
    vidi_set *sets[4], *into = set_of(&which, NULL);
    for (uint64_t i = 0; i < 4; i++) {
        sets[i] = set_of(&which, NULL);
        add_range(sets[i], i * URLS / 2, (i + 2) * URLS / 2); /* each has half of the next */
    }
    assert_int_equal(vidi_merge(into, sets[0], 0), VIDI_OK);
    assert_int_equal(vidi_merge(into, sets[1], 0), VIDI_OK);
    assert_int_equal(vidi_merge(into, sets[2], 0), VIDI_OK); /* twice as many as it was made for */
    check_refused(into, sets[3], 1e-6);
    assert_int_equal(vidi_merge(into, sets[2], 0), VIDI_OK);
    assert_int_equal(vidi_merge(into, sets[3], VIDI_MERGE_FORCE), VIDI_OK);
    check_holds(into, 0, 5 * URLS / 2);
    for (int i = 0; i < 4; i++)
        vidi_close(sets[i]);
    vidi_close(into);
}

/* Whoever gives the size has asked for no rate; exact kinds have none. */
static void sets_without_a_rate_are_never_refused(void **state)
{
    static const kind_case list[] = {
        {"classic", "m=10000,k=3", 0, false},
        {"classic", "k=3,M=2", 0, false},
        {"spatial", "F=2,m=10000,k=3", 0, false},
        {"spatial", "inner=fingerprint,bits=32", 0, true},
        {"fingerprint", "bits=32", 0, true},
        {"fingerprint", NULL, 0, true},
        {"hashset", NULL, 0, true},
        {"sorted", NULL, 0, true},
        {"spatial", "inner=hashset,F=2", 0, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        vidi_set *into = set_of(&list[i], NULL), *from = set_of(&list[i], NULL);
        add_range(into, 0, URLS);
        add_range(from, URLS, 2 * URLS);
        int result = vidi_merge(into, from, 0);
        check(result == VIDI_OK, "%s %s: %s", list[i].kind, list[i].params, vidi_message());
        vidi_close(into);
        vidi_close(from);
    }
}

static void unknown_flags_are_refused(void **state)
{
    (void)state;
    const kind_case which = {"hashset", NULL, 0, true};
    vidi_set *into = set_of(&which, NULL), *from = set_of(&which, NULL);
    assert_int_equal(vidi_merge(into, from, 2), VIDI_EARGUMENT);
    assert_int_equal(vidi_merge(into, from, 1U << 31 | VIDI_MERGE_FORCE), VIDI_EARGUMENT);
    assert_int_equal(vidi_merge(NULL, from, 0), VIDI_EARGUMENT);
    assert_int_equal(vidi_merge(into, NULL, VIDI_MERGE_FORCE), VIDI_EARGUMENT);
    vidi_close(into);
    vidi_close(from);
}

static bool can_merge(const test_case *which)
{
    return test_case_can(which, VIDI_CAN_MERGE);
}

static void merging_the_same_set_twice_leaves_count_and_losses(void **state)
{
    const test_case *which = *state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        vidi_set *into = test_case_set(which, 1000, seed, NULL), *from = test_case_set(which, 1000, seed, NULL);
        add_range(into, seed * 1000, seed * 1000 + 400);
        add_range(from, seed * 1000 + 300, seed * 1000 + 900);
        assert_int_equal(vidi_merge(into, from, VIDI_MERGE_FORCE), VIDI_OK);
        uint64_t count = test_stat(into).count;
        double lost = test_stat(into).expected_lost;
        for (int i = 0; i < 3; i++) {
            assert_int_equal(vidi_merge(into, from, VIDI_MERGE_FORCE), VIDI_OK);
            check(test_stat(into).count == count, "%llu URLs, then %llu", (unsigned long long)count,
                  (unsigned long long)test_stat(into).count);
            check(test_stat(into).expected_lost == lost, "%g lost, then %g", lost, test_stat(into).expected_lost);
        }
        vidi_close(into);
        vidi_close(from);
    }
}

/*
 * Losses of sets without a common URL add up; of overlapping ones, those of the URLs that are new. Growing blocked sets
 * cannot tell when they have a URL in different layers.
 */
static void losses_add_up_with_the_urls(void **state)
{
    const kind_case *which = *state;
    const uint64_t each = URLS / 4;
    for (uint64_t shared = 0; shared <= each; shared += each / 2) {
        vidi_set *into = set_of(which, NULL), *from = set_of(which, NULL);
        add_range(into, 0, each);
        add_range(from, each - shared, 2 * each - shared);
        double one = test_stat(into).expected_lost, other = test_stat(from).expected_lost;
        assert_int_equal(vidi_merge(into, from, VIDI_MERGE_FORCE), VIDI_OK);
        double expected = one + other * (double)(each - shared) / (double)each, found = test_stat(into).expected_lost;
        double most = which->grows ? one + other : expected;
        check(one > 0 && found > 0.9 * expected && found < 1.1 * most, "%s: %g and %g lost make %g, not %g",
              which->kind, one, other, found, expected);
        vidi_close(into);
        vidi_close(from);
    }
}

/* A set that has met 10,000 URLs has 10,000, whatever its members say; merging nothing does not change that. */
static void an_empty_set_leaves_the_count(void **state)
{
    const test_case *which = *state;
    vidi_set *into = test_case_set(which, 1000, 6, NULL), *from = test_case_set(which, 1000, 6, NULL);
    add_range(into, 0, 1000);
    uint64_t count = test_stat(into).count;
    assert_int_equal(vidi_merge(into, from, 0), VIDI_OK);
    check(test_stat(into).count == count, "%llu URLs, then %llu", (unsigned long long)count,
          (unsigned long long)test_stat(into).count);
    vidi_close(into);
    vidi_close(from);
}

static void add_for(const kind_case *list, size_t n, const char *promise, CMUnitTestFunction function, bool blocked)
{
    for (size_t i = 0; i < n; i++) {
        char name[200];
        snprintf(name, sizeof name, "%s: %s %s %g%s", promise, list[i].kind, list[i].params ? list[i].params : "",
                 list[i].error, list[i].grows ? ", growing" : "");
        if (blocked || strcmp(list[i].kind, "blocked") != 0)
            test_add(name, function, (void *)&list[i]);
    }
}

int main(int argc, char **argv)
{
    size_t n = sizeof worse / sizeof *worse;
    add_for(worse, n, "a merge that multiplies the error rate is refused",
            a_merge_that_multiplies_the_error_rate_is_refused, true);
    add_for(worse, n, "the rate that is told is the rate that comes", the_rate_that_is_told_is_the_rate_that_comes,
            true);
    add_for(worse, n, "what fits is merged", what_fits_is_merged, true);
    add_for(worse, n, "a merge that makes nothing worse is not refused",
            a_merge_that_makes_nothing_worse_is_not_refused, true);
    add_for(worse, n, "losses add up with the URLs", losses_add_up_with_the_urls, true);
    add_for(worse, n, "urls in a log count too", urls_in_a_log_count_too, false);
    test_add("a fingerprint set counts what it lacks", a_fingerprint_set_counts_what_it_lacks, NULL);
    test_add("sets without a rate are never refused", sets_without_a_rate_are_never_refused, NULL);
    test_add("unknown flags are refused", unknown_flags_are_refused, NULL);
    test_add_cases("merging the same set twice leaves count and losses",
                   merging_the_same_set_twice_leaves_count_and_losses, can_merge);
    test_add_cases("an empty set leaves the count", an_empty_set_leaves_the_count, can_merge);
    return test_run("merge rate", argc, argv);
}
