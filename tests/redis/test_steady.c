/*
 * The time that leases are measured by, with a planted clock.
 */
#include "support/check.h"

#include "redis/server/server.h"
#include "redis/server/steady.h"
#include "support/random.h"

static long long day = 1700000000000; /* milliseconds */
static uint64_t monotonic = 5000;     /* milliseconds */
static uint64_t micro;                /* microseconds beyond both; a day shows whole milliseconds */

static long long planted_day(void)
{
    return day + (long long)micro / 1000;
}

static uint64_t planted_monotonic(void)
{
    return monotonic * 1000 + 500 + micro; /* its milliseconds end at other moments than those of the day */
}

static void pass(int64_t ms)
{
    day += ms;
    monotonic += (uint64_t)ms;
}

static void it_follows_forward_and_runs_on_when_the_clock_is_set_back(void **state)
{
    (void)state;
    assert_int_equal(steady_now(), day);
    pass(1000);
    assert_int_equal(steady_now(), day);
    day += 3600000;
    assert_int_equal(steady_now(), day);
    int64_t before = day;
    day -= 7200000;
    assert_int_equal(steady_now(), before);
    pass(500);
    assert_int_equal(steady_now(), before + 500);
    day += 7200000 + 3;
    assert_int_equal(steady_now(), before + 503);
}

static void it_never_goes_back_and_runs_at_least_as_fast_as_time_passes(void **state)
{
    (void)state;
    test_random random = {.state = 7};
    for (int i = 0; i < 100000; i++) {
        int64_t before = steady_now(), passed = (int64_t)test_below(&random, 100);
        day += (long long)test_below(&random, 20001) - 10000;
        pass(passed);
        int64_t after = steady_now();
        assert_true(after >= before + passed);
        assert_true(after >= day);
    }
}

static void it_is_the_servers_time_as_long_as_nobody_sets_that(void **state)
{
    (void)state;
    day = steady_now() + 1;
    test_random random = {.state = 11};
    for (int i = 0; i < 100000; i++) {
        micro += test_below(&random, 3000);
        assert_int_equal(steady_now(), planted_day());
    }
    micro = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_follows_forward_and_runs_on_when_the_clock_is_set_back),
        cmocka_unit_test(it_is_the_servers_time_as_long_as_nobody_sets_that),
        cmocka_unit_test(it_never_goes_back_and_runs_at_least_as_fast_as_time_passes),
    };
    server.Milliseconds = planted_day;
    server.MonotonicMicroseconds = planted_monotonic;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
