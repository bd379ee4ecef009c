/*
 * The clock that never goes back.
 */
#include <errno.h>

#include "common/clock.h"
#include "support/check.h"

static void it_never_goes_back(void **state)
{
    (void)state;
    for (uint64_t i = 0, last = clock_now(); i < 100000; i++) {
        uint64_t now = clock_now();
        assert_true(now >= last);
        last = now;
    }
}

static void a_wait_ends_at_its_moment_and_not_before(void **state)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition;
    (void)state;
    assert_int_equal(clock_condition(&condition), 0);
    for (int64_t ms = 0; ms < 3; ms++) {
        uint64_t begin = clock_now();
        struct timespec until = clock_in(ms);
        int result = 0;
        assert_true(until.tv_nsec >= 0 && until.tv_nsec < 1000000000);
        pthread_mutex_lock(&lock);
        while (result == 0)
            result = pthread_cond_timedwait(&condition, &lock, &until);
        pthread_mutex_unlock(&lock);
        assert_int_equal(result, ETIMEDOUT);
        assert_true(clock_now() - begin >= (uint64_t)ms * 1000000);
    }
    pthread_cond_destroy(&condition);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_never_goes_back),
        cmocka_unit_test(a_wait_ends_at_its_moment_and_not_before),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
