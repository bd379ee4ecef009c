/*
 * The schedule spends the budget, as the formula for known rates says; starves no page; is the same however its pages
 * came to it; and foresees how fresh the copies will be.
 */
#include <math.h>
#include <stdlib.h>

#include "crawler/schedule/schedule.h"
#include "support/check.h"
#include "support/random.h"
#include "vidi/vidi.h"

enum { PAGES = 3000 };

static const int64_t day = (int64_t)SCHEDULE_DAY;

static void near(double got, double wanted, double error)
{
    check(fabs(got - wanted) <= error * fabs(wanted), "%.9g instead of %.9g", got, wanted);
}

static schedule *open_schedule(double budget)
{
    schedule *made;
    assert_int_equal(schedule_open(&made, budget), VIDI_OK);
    return made;
}

/* Rates and importances over several powers of ten. */
static void make_pages(schedule_page *pages, size_t n)
{
    test_random random = {.state = 1};
    for (size_t i = 0; i < n; i++) {
        pages[i] = (schedule_page){.importance = 1, .alive = 1, .key = test_next(&random)};
        pages[i].rate = exp((double)test_below(&random, 10000) / 1000 - 5);
        pages[i].importance = exp((double)test_below(&random, 4000) / 1000 - 2);
        if (i % 3 == 0)
            pages[i].alive = 0.01;
    }
}

static void load(schedule *schedule, const schedule_page *pages, size_t n)
{
    for (size_t i = 0; i < n; i++)
        schedule_load(schedule, &pages[i]);
}

static double weight_of(const schedule_page *page)
{
    return page->importance * page->alive;
}

/* The condition of the optimum for each page, with the lambda at which the sum of the visits is the budget. */
static void visits_add_up_to_the_budget_and_are_the_optimum(void **state)
{
    (void)state;
    static schedule_page pages[PAGES];
    static const double budgets[] = {30, 3000, 300000};

    make_pages(pages, PAGES);
    for (size_t b = 0; b < sizeof budgets / sizeof budgets[0]; b++) {
        schedule *schedule = open_schedule(budgets[b]);
        double sum = 0, floor = budgets[b] / PAGES / SCHEDULE_LONGEST;
        load(schedule, pages, PAGES);
        schedule_outlook seen = schedule_look(schedule);
        for (size_t i = 0; i < PAGES; i++) {
            double rate = pages[i].rate, visits = schedule_rate(schedule, rate, weight_of(&pages[i]));
            sum += visits;
            assert_true(visits >= floor * (1 - 1e-9));
            /* What one more visit saves: the same for all pages, and less for those that get visits anyway. */
            double saved = weight_of(&pages[i]) * rate / (visits * (visits + rate));
            if (visits > floor * (1 + 1e-9))
                near(saved, seen.lambda, 1e-9);
            else
                assert_true(saved <= seen.lambda * (1 + 1e-9));
        }
        near(sum, budgets[b], 0.01);
        near(seen.visits, budgets[b], 1e-6);
        assert_int_equal(seen.pages, PAGES);
        schedule_close(schedule);
    }
}

static void a_budget_that_changes_changes_all_visits(void **state)
{
    (void)state;
    static schedule_page pages[PAGES];
    schedule *schedule = open_schedule(100), *fresh = open_schedule(5000);

    make_pages(pages, PAGES);
    load(schedule, pages, PAGES);
    near(schedule_look(schedule).visits, 100, 1e-6);
    schedule_set_budget(schedule, 5000);
    load(fresh, pages, PAGES);
    near(schedule_rate(schedule, 1, 1), schedule_rate(fresh, 1, 1), 1e-9);
    schedule_close(schedule);
    schedule_close(fresh);
}

static void pages_that_left_do_not_count(void **state)
{
    (void)state;
    static schedule_page pages[PAGES];
    schedule *all = open_schedule(1000), *half = open_schedule(1000);

    make_pages(pages, PAGES);
    load(half, pages, PAGES / 2);
    load(all, pages, PAGES);
    assert_true(schedule_look(all).lambda > schedule_look(half).lambda);
    for (size_t i = PAGES / 2; i < PAGES; i++)
        schedule_leave(all, &pages[i]);
    schedule_outlook a = schedule_look(all), b = schedule_look(half);
    assert_int_equal(a.pages, b.pages);
    near(a.lambda, b.lambda, 1e-9);
    near(a.fresh, b.fresh, 1e-9);
    near(a.age, b.age, 1e-9);
    schedule_close(all);
    schedule_close(half);
    schedule_close(NULL);
}

/* One page in four changes, at every visit from one on; the others never do. */
static void visit_all(schedule *schedule, schedule_page *pages, size_t n, int visits, int from)
{
    for (size_t i = 0; i < n; i++) {
        pages[i] = (schedule_page){.importance = 1, .key = i * 0x9e3779b97f4a7c15u};
        schedule_enter(schedule, &pages[i], day);
    }
    for (int v = 2; v <= visits; v++)
        for (size_t i = 0; i < n; i++) {
            page_visit visit = {.previous = pages[i].visited, .now = v * day, .changed = i % 4 == 0 && v >= from};
            visit.modified = visit.previous_modified = -1;
            schedule_visit(schedule, &pages[i], &visit);
        }
}

static void the_population_tells_which_pages_never_change_and_none_starves(void **state)
{
    (void)state;
    static schedule_page pages[1000];
    schedule *schedule = open_schedule(1000);

    visit_all(schedule, pages, 1000, SCHEDULE_TRIAL, 1);
    for (size_t i = 0; i < 1000; i++)
        assert_true(pages[i].alive == 1); /* still on trial */
    schedule_close(schedule);
    schedule = open_schedule(1000);
    visit_all(schedule, pages, 1000, 20, 1);
    for (size_t i = 0; i < 1000; i++) {
        double wait = (double)(pages[i].due - pages[i].visited) / SCHEDULE_DAY;
        assert_int_equal(pages[i].visited, 20 * day);
        if (i % 4 == 0)
            check(pages[i].alive == 1 && wait < 0.4, "page %zu changes: alive %g, %g days", i, pages[i].alive, wait);
        else
            check(pages[i].alive < 0.2 && pages[i].alive > 0 && wait > 3 && wait < 1.1 * SCHEDULE_LONGEST,
                  "page %zu does not: alive %g, %g days", i, pages[i].alive, wait);
    }
    near(schedule_look(schedule).alive, 0.25, 0.2);
    schedule_close(schedule);
}

/* Pages that took five days to change are the reason to expect the same of others; without them there is none. */
static void pages_that_left_are_no_example_for_others(void **state)
{
    (void)state;
    static schedule_page pages[1000];
    schedule *schedule = open_schedule(1000);
    page_visit visit = {.previous = 6 * day, .now = 7 * day, .previous_modified = -1, .modified = -1};

    visit_all(schedule, pages, 1000, 6, 6);
    schedule_visit(schedule, &pages[1], &visit);
    check(pages[1].alive > 0.05, "alive %g with examples", pages[1].alive);
    for (size_t i = 0; i < 1000; i += 4)
        schedule_leave(schedule, &pages[i]);
    schedule_set_budget(schedule, 1000);
    schedule_look(schedule);
    schedule_visit(schedule, &pages[2], &visit);
    check(pages[2].alive < pages[1].alive / 2, "alive %g without, %g with examples", pages[2].alive, pages[1].alive);
    schedule_close(schedule);
}

static void a_schedule_that_is_loaded_goes_on_as_the_one_that_was_stored(void **state)
{
    (void)state;
    static schedule_page pages[1000];
    schedule *one = open_schedule(500), *two = open_schedule(500);

    visit_all(one, pages, 1000, 12, 1);
    load(two, pages, 1000);
    schedule_outlook a = schedule_look(one), b = schedule_look(two);
    assert_int_equal(a.pages, b.pages);
    near(a.alive, b.alive, 1e-9);
    near(a.lambda, b.lambda, 0.05); /* of the one that goes on, it may be a few visits old */
    schedule_set_budget(one, 500);
    near(schedule_look(one).lambda, b.lambda, 1e-9);
    schedule_close(one);
    schedule_close(two);
}

/* The interval is 1/r, up to a tenth shorter or longer: different for different pages and visits, never by chance. */
static void due_times_are_spread_by_the_key_and_the_same_in_every_run(void **state)
{
    (void)state;
    static schedule_page pages[PAGES];
    schedule *schedule = open_schedule(PAGES);
    double sum = 0, low = 2, high = 0;

    make_pages(pages, PAGES);
    load(schedule, pages, PAGES);
    for (uint64_t key = 0; key < 1000; key++) {
        int64_t due = schedule_next_due(schedule, 2, 1, test_mix(key), 5 * day);
        double share = (double)(due - 5 * day) / SCHEDULE_DAY * schedule_rate(schedule, 2, 1);
        assert_int_equal(due, schedule_next_due(schedule, 2, 1, test_mix(key), 5 * day));
        sum += share / 1000;
        low = fmin(low, share);
        high = fmax(high, share);
    }
    assert_true(low >= 0.8999 && low < 0.91);
    assert_true(high <= 1.1001 && high > 1.09);
    near(sum, 1, 0.015); /* six sigma are 0.011 */
    assert_true(schedule_next_due(schedule, 2, 1, 7, 5 * day) - 5 * day !=
                schedule_next_due(schedule, 2, 1, 7, 6 * day) - 6 * day);
    schedule_close(schedule);
}

/* ---- how fresh copies are ---- */

/* By their definitions: the first change is at s with the density rate exp(-rate s). */
static void freshness_and_age_are_those_of_a_poisson_process(void **state)
{
    (void)state;
    static const double rates[] = {1e-7, 1e-3, 0.3, 4};
    for (size_t i = 0; i < 4; i++)
        for (double days = 0.01; days < 20; days *= 3) {
            double age = 0, rate = rates[i], step = days / 10000;
            for (int j = 0; j < 10000; j++) {
                double first = (j + 0.5) * step;
                age += rate * exp(-rate * first) * (days - first) * step;
            }
            near(page_fresh(rate, 1, days), exp(-rate * days), 1e-12);
            near(page_age(rate, 1, days), age, 1e-5);
            near(page_fresh(rate, 0.25, days), 0.75 + 0.25 * exp(-rate * days), 1e-12);
            near(page_age(rate, 0.25, days), age / 4, 1e-5);
        }
}

/* The outlook is the mean over the intervals of all pages of the functions above. */
static void the_outlook_is_the_mean_over_pages_and_time(void **state)
{
    (void)state;
    static schedule_page pages[PAGES];
    schedule *schedule = open_schedule(PAGES);
    double fresh = 0, age = 0, alive = 0;

    make_pages(pages, PAGES);
    load(schedule, pages, PAGES);
    for (size_t i = 0; i < PAGES; i++) {
        double interval = 1 / schedule_rate(schedule, pages[i].rate, weight_of(&pages[i]));
        alive += pages[i].alive / PAGES;
        for (int j = 0; j < 100; j++) {
            fresh += page_fresh(pages[i].rate, pages[i].alive, (j + 0.5) / 100 * interval) / 100 / PAGES;
            age += page_age(pages[i].rate, pages[i].alive, (j + 0.5) / 100 * interval) / 100 / PAGES;
        }
    }
    schedule_outlook seen = schedule_look(schedule);
    near(seen.alive, alive, 1e-9);
    near(seen.fresh, fresh, 0.01);
    near(seen.age, age, 0.02);
    schedule_close(schedule);
    schedule = open_schedule(1);
    assert_int_equal(schedule_look(schedule).pages, 0);
    schedule_close(schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits_add_up_to_the_budget_and_are_the_optimum),
        cmocka_unit_test(a_budget_that_changes_changes_all_visits),
        cmocka_unit_test(pages_that_left_do_not_count),
        cmocka_unit_test(the_population_tells_which_pages_never_change_and_none_starves),
        cmocka_unit_test(pages_that_left_are_no_example_for_others),
        cmocka_unit_test(a_schedule_that_is_loaded_goes_on_as_the_one_that_was_stored),
        cmocka_unit_test(due_times_are_spread_by_the_key_and_the_same_in_every_run),
        cmocka_unit_test(freshness_and_age_are_those_of_a_poisson_process),
        cmocka_unit_test(the_outlook_is_the_mean_over_pages_and_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
