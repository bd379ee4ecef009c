/*
 * A page's history gives the rate that is most likely after what its visits saw, keeps few bytes, and believes the
 * dates of servers only if they have earned it.
 */
#include <math.h>
#include <string.h>

#include "crawler/schedule/schedule.h"
#include "support/check.h"
#include "support/random.h"

enum { SAMPLES = 300, VISITS = 40 };

static const int64_t day = (int64_t)SCHEDULE_DAY;

static void see(page_history *history, double days, bool changed)
{
    page_visit visit = {.now = (int64_t)(days * SCHEDULE_DAY), .changed = changed, .previous_modified = -1};

    visit.modified = -1;
    history_add(history, &visit);
}

static void near(double got, double wanted, double error)
{
    check(fabs(got - wanted) <= error * fabs(wanted), "%.9g instead of %.9g", got, wanted);
}

static double uniform(test_random *random)
{
    return ((double)(test_next(random) >> 11) + 0.5) / 9007199254740992.0;
}

/* ---- rates ---- */

/* With n equal intervals, k of them changed: exp(rate t) = (n + 1) / (n - k + 1/2). */
static void equal_intervals_give_the_rate_of_the_formula(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= HISTORY_INTERVALS; n += n < 4 ? 1 : 7)
        for (unsigned k = 0; k <= n; k++) {
            page_history history = {0};
            for (unsigned i = 0; i < n; i++)
                see(&history, 0.7, i < k);
            assert_float_equal(history_intervals(&history), n, 1e-9);
            assert_float_equal(history_changes(&history), k, 1e-9);
            near(history_rate(&history, 99), log((n + 1) / (n - k + 0.5)) / 0.7, 1e-5);
        }
}

static void a_page_without_intervals_has_the_rate_of_the_imaginary_one(void **state)
{
    (void)state;
    page_history history = {0};
    near(history_rate(&history, 3), log(2) / 3, 1e-9);
    see(&history, 0, true); /* no time has passed: nothing was seen */
    near(history_rate(&history, 3), log(2) / 3, 1e-9);
}

/* The same equation with every interval as it was, by bisection. */
static double exact_rate(const double *days, const bool *changed, size_t n)
{
    double low = -40, high = 40, mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += days[i] / (double)n;
    for (int step = 0; step < 100; step++) {
        double rate = exp2((low + high) / 2), excess = mean / 2 / expm1(rate * mean) - mean / 2;
        for (size_t i = 0; i < n; i++)
            excess += changed[i] ? days[i] / expm1(rate * days[i]) : -days[i];
        if (excess > 0)
            low = log2(rate);
        else
            high = log2(rate);
    }
    return exp2(low);
}

static void buckets_cost_at_most_2_percent_of_the_exact_rate(void **state)
{
    (void)state;
    test_random random = {.state = 1};
    double worst = 0, sum = 0;

    for (int sample = 0; sample < SAMPLES; sample++) {
        page_history history = {0};
        double days[VISITS], rate = exp(6 * uniform(&random) - 3), spread = 6 * uniform(&random);
        bool changed[VISITS];
        size_t n = 1 + test_below(&random, VISITS);
        for (size_t i = 0; i < n; i++) {
            days[i] = exp(spread * (uniform(&random) - 0.5));
            changed[i] = uniform(&random) < -expm1(-rate * days[i]);
            see(&history, days[i], changed[i]);
        }
        double exact = exact_rate(days, changed, n), error = fabs(history_rate(&history, 1) / exact - 1);
        sum += error;
        worst = fmax(worst, error);
    }
    print_message("# buckets: mean error %.4f, worst %.4f\n", sum / SAMPLES, worst);
    check(worst <= 0.02, "an error of %f", worst);
}

static void extreme_intervals_give_finite_rates(void **state)
{
    (void)state;
    static const double lengths[] = {1e-7, 1e-3, 1, 1e4, 1e6};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            for (unsigned kinds = 0; kinds < 4; kinds++) {
                page_history history = {0};
                for (int n = 0; n < 20; n++) {
                    see(&history, lengths[i], kinds & 1);
                    see(&history, lengths[j], kinds & 2);
                }
                double rate = history_rate(&history, 1);
                check(isfinite(rate) && rate > 0, "%g and %g days: %g", lengths[i], lengths[j], rate);
            }
}

/* Rates change: after a while only the new one shows. A change is never forgotten. */
static void old_visits_are_forgotten_but_not_that_there_was_a_change(void **state)
{
    (void)state;
    page_history history = {0};

    for (int i = 0; i < 1000; i++)
        see(&history, 1, true);
    assert_true(history_intervals(&history) <= HISTORY_INTERVALS);
    assert_true(history_rate(&history, 1) > 3);
    for (int i = 0; i < 1000; i++)
        see(&history, 1, false);
    assert_true(history_intervals(&history) <= HISTORY_INTERVALS);
    assert_true(history_changes(&history) > 0);
    assert_true(history_rate(&history, 1) < 0.05);
}

/* ---- dates ---- */

static void dates_are_right_if_they_move_with_the_content(void **state)
{
    (void)state;
    static const struct {
        int64_t previous_modified, modified; /* the visits are at 1000 and 2000 */
        bool changed;
        int64_t resolution;
        date_verdict verdict;
    } cases[] = {
        {-1, 1500, true, 1, DATE_SILENT},  {500, -1, true, 1, DATE_SILENT},    {500, 1500, true, 1, DATE_RIGHT},
        {500, 500, false, 1, DATE_RIGHT},  {500, 1500, false, 1, DATE_WRONG},  {500, 500, true, 1, DATE_WRONG},
        {500, 400, true, 1, DATE_WRONG},   {500, 400, false, 1, DATE_WRONG},   {500, 700, true, 1, DATE_WRONG},
        {500, 2001, true, 1, DATE_RIGHT},  {500, 2002, true, 1, DATE_WRONG},   {2002, 2002, false, 1, DATE_WRONG},
        {500, 700, true, 400, DATE_RIGHT}, {700, 700, true, 400, DATE_SILENT}, {500, 2000, true, 1, DATE_RIGHT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        page_visit visit = {.previous = 1000 * (int64_t)DATE_SLACK, .now = 2000 * (int64_t)DATE_SLACK};
        visit.previous_modified = cases[i].previous_modified * DATE_SLACK;
        visit.modified = cases[i].modified * DATE_SLACK;
        visit.changed = cases[i].changed;
        check(date_judge(&visit, cases[i].resolution * DATE_SLACK) == cases[i].verdict, "case %zu", i);
    }
}

static void dates_are_believed_after_five_right_ones_until_one_is_wrong(void **state)
{
    (void)state;
    date_trust trust = {0};

    for (int i = 0; i < 20; i++) /* a date that never moves is right as long as nothing changes */
        date_trust_add(&trust, DATE_RIGHT, false);
    assert_false(date_trusted(&trust));
    date_trust_add(&trust, DATE_RIGHT, true);
    assert_true(date_trusted(&trust));
    date_trust_add(&trust, DATE_SILENT, true);
    assert_true(date_trusted(&trust));
    for (int need = 2 * DATE_RIGHTS; need <= 64 * DATE_RIGHTS; need *= 2) {
        date_trust_add(&trust, DATE_WRONG, true);
        for (int i = 1; i < (need < 16 * DATE_RIGHTS ? need : 16 * DATE_RIGHTS); i++) {
            date_trust_add(&trust, DATE_RIGHT, true);
            assert_false(date_trusted(&trust));
        }
        date_trust_add(&trust, DATE_RIGHT, true);
        assert_true(date_trusted(&trust));
    }
}

/* Every visit finds a change, which happened a tenth of a day before: ten changes a day, as the dates tell. */
static void honest_dates_make_the_observation_complete(void **state)
{
    (void)state;
    page_history history = {0};
    page_visit visit = {.changed = true, .modified = day};

    for (int i = 1; i <= 10; i++) {
        visit = (page_visit){.previous = i * day, .now = (i + 1) * day, .changed = true, .modified = visit.modified};
        visit.previous_modified = visit.modified;
        visit.modified = visit.now - day / 10;
        bool complete = i >= DATE_RIGHTS;
        history_add(&history, &visit);
        near(history_rate(&history, 1), complete ? (i + 0.5) / (i / 10.0 + 0.5) : log(2 * (i + 1)), 1e-5);
    }
    visit = (page_visit){.previous = 11 * day, .now = 12 * day, .changed = true};
    history_add(&history, &visit); /* a date that goes back */
    near(history_rate(&history, 1), log(2 * 12), 1e-5);
}

/* ---- bytes ---- */

static void a_packed_history_is_short_and_comes_back(void **state)
{
    (void)state;
    test_random random = {.state = 2};
    page_history history = {0}, again;
    uint8_t packed[HISTORY_PACKED];
    int64_t now = day, modified = day;

    assert_int_equal(history_pack(&history, packed), 9);
    see(&history, 1, false);
    assert_int_equal(history_pack(&history, packed), 9);
    see(&history, 1, true);
    assert_int_equal(history_pack(&history, packed), 11);
    for (int i = 0; i < 3000; i++) {
        page_visit visit = {.previous = now, .previous_modified = modified, .changed = test_below(&random, 2)};
        now += (int64_t)(SCHEDULE_DAY * exp(uniform(&random) * 20 - 10));
        visit.now = now;
        visit.modified = modified = visit.changed || i % 100 == 0 ? now : modified;
        history_add(&history, &visit);
        size_t size = history_pack(&history, packed);
        assert_true(size <= HISTORY_PACKED);
        assert_true(history_unpack(&again, packed, size));
        check(history_rate(&again, 1) == history_rate(&history, 1), "another rate");
        uint8_t twice[HISTORY_PACKED];
        assert_int_equal(history_pack(&again, twice), size);
        assert_memory_equal(twice, packed, size);
    }
}

static void bytes_that_are_no_history_are_refused_or_give_a_finite_rate(void **state)
{
    (void)state;
    test_random random = {.state = 3};
    page_history history = {0};
    uint8_t packed[HISTORY_PACKED] = {0}, broken[HISTORY_PACKED];

    see(&history, 1, true);
    see(&history, 2, true);
    size_t size = history_pack(&history, packed), refused = 0;
    assert_int_equal(size, 13);
    for (size_t cut = 0; cut < size; cut++)
        check(!history_unpack(&history, packed, cut), "%zu bytes", cut);
    assert_false(history_unpack(&history, packed, HISTORY_PACKED + 2));
    for (int i = 0; i < 20000; i++) {
        memcpy(broken, packed, sizeof broken);
        for (uint64_t n = 1 + test_below(&random, 4); n; n--)
            broken[test_below(&random, 20)] = (uint8_t)test_next(&random);
        if (!history_unpack(&history, broken, 9 + test_below(&random, 12)))
            refused++;
        else
            check(isfinite(history_rate(&history, 1)) && history_rate(&history, 1) > 0, "change %d", i);
    }
    assert_true(refused > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_intervals_give_the_rate_of_the_formula),
        cmocka_unit_test(a_page_without_intervals_has_the_rate_of_the_imaginary_one),
        cmocka_unit_test(buckets_cost_at_most_2_percent_of_the_exact_rate),
        cmocka_unit_test(extreme_intervals_give_finite_rates),
        cmocka_unit_test(old_visits_are_forgotten_but_not_that_there_was_a_change),
        cmocka_unit_test(dates_are_right_if_they_move_with_the_content),
        cmocka_unit_test(dates_are_believed_after_five_right_ones_until_one_is_wrong),
        cmocka_unit_test(honest_dates_make_the_observation_complete),
        cmocka_unit_test(a_packed_history_is_short_and_comes_back),
        cmocka_unit_test(bytes_that_are_no_history_are_refused_or_give_a_finite_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
