/*
 * The tests' own tools: what they promise must hold before anything else is believed.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/env.h"
#include "support/oracle.h"
#include "support/random.h"
#include "support/stats.h"
#include "support/urls.h"

static void every_url_is_distinct(void **state)
{
    static test_url_maker *const families[] = {test_url, test_deep_url};
    test_oracle *oracle = test_oracle_new();
    uint64_t n = test_urls_at_most(100000);
    char url[TEST_URL_ROOM];
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        for (uint64_t i = 0; i < 2 * n; i++) {
            uint64_t index = i % 3 ? i : UINT64_MAX - i;
            vidi_str made = {url, families[f](url, sizeof url, i % 5, index)};
            assert_true(made.len > 0 && made.len < sizeof url);
            check(test_oracle_add(oracle, made), "twice: %.*s", (int)made.len, made.ptr);
        }
    }
    test_oracle_free(oracle);
}

static void the_oracle_counts(void **state)
{
    test_oracle *oracle = test_oracle_new();
    vidi_str one = test_str("one");
    (void)state;
    assert_true(test_oracle_add(oracle, one));
    assert_false(test_oracle_add(oracle, one));
    assert_true(test_oracle_add(oracle, test_str("")));
    assert_int_equal(test_oracle_times(oracle, one), 2);
    assert_int_equal(test_oracle_count(oracle), 2);
    assert_true(test_oracle_remove(oracle, one));
    assert_true(test_oracle_remove(oracle, one));
    assert_false(test_oracle_remove(oracle, one));
    assert_int_equal(test_oracle_count(oracle), 1);
    assert_true(test_oracle_add(oracle, one));
    test_oracle_free(oracle);
}

/* Values from tables of the distributions. */
static void intervals_are_those_of_the_tables(void **state)
{
    test_interval it;
    (void)state;
    it = test_poisson_interval(10, 0.05);
    assert_int_equal(it.low, 4);
    assert_int_equal(it.high, 17);
    it = test_binomial_interval(20, 0.5, 0.05);
    assert_int_equal(it.low, 6);
    assert_int_equal(it.high, 14);
    it = test_binomial_interval(1000000, 0.5, 0.05);
    assert_in_range(it.low, 500000 - 981, 500000 - 979);
    assert_in_range(it.high, 500000 + 979, 500000 + 981);
    it = test_binomial_interval(10, 0, 0.05);
    assert_int_equal(it.high, 0);
    it = test_binomial_interval(10, 1, 0.05);
    assert_int_equal(it.low, 10);
    it = test_poisson_interval(1e-12, TEST_ALPHA);
    assert_int_equal(it.high, 0);
    it = test_poisson_interval(1e-5, TEST_ALPHA);
    assert_int_equal(it.high, 1);
}

static void losses_spread_more_than_poisson_only_at_large_p(void **state)
{
    test_interval poisson = test_poisson_interval(1000, 1e-6);
    test_interval small = test_lost_interval(1000, 1e-5, 1e-6);
    test_interval large = test_lost_interval(1000, 0.5, 1e-6);
    (void)state;
    assert_in_range(small.high, poisson.high, poisson.high + 1);
    assert_in_range(small.low, poisson.low - 1, poisson.low);
    /* the standard deviation is sqrt(1 / (1 - p)) times larger */
    double ratio = (double)(large.high - large.low) / (double)(poisson.high - poisson.low);
    assert_true(fabs(ratio - sqrt(2)) < 0.03);
    assert_int_equal(test_lost_interval(0, 0, 1e-6).high, 0);
}

/* The sum itself, drawn at random: nearly always inside, and outside about as often as alpha says. */
static void drawn_losses_lie_inside(void **state)
{
    test_random random = {7};
    int outside = 0;
    (void)state;
    for (int round = 0; round < 400; round++) {
        double expected = 0;
        uint64_t lost = 0;
        for (int i = 0; i < 2000; i++) {
            double p = 0.1 * i / 2000;
            expected += p / (1 - p);
            while ((double)(test_next(&random) >> 11) * 0x1p-53 < p) {
                lost++;
            }
        }
        outside += !test_inside(test_lost_interval(expected, 0.1, 0.05), lost);
    }
    assert_in_range(outside, 2, 45);
}

static int count_line(void *context, vidi_str line)
{
    (void)line;
    ++*(uint64_t *)context;
    return 0;
}

static void the_corpus_can_be_read(void **state)
{
    char path[1024];
    uint64_t lines = 0;
    (void)state;
    if (!test_corpus_path(0, path, sizeof path)) {
        skip();
    }
    assert_int_equal(test_corpus_read(path, count_line, &lines), 0);
    assert_true(lines > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_url_is_distinct),
        cmocka_unit_test(the_oracle_counts),
        cmocka_unit_test(intervals_are_those_of_the_tables),
        cmocka_unit_test(losses_spread_more_than_poisson_only_at_large_p),
        cmocka_unit_test(drawn_losses_lie_inside),
        cmocka_unit_test(the_corpus_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
