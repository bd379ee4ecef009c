/* All kinds side by side: counted again one by one, crawls that must agree with one another, and claims both ways. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/books.h"
#include "lab/kinds/kinds.h"
#include "lab/tables.h"
#include "support/runner.h"

static double *one_run_of(const char *id, const lab_settings *settings)
{
    const lab_study *study = study_of(id);
    double *numbers = calloc(cells_of(study), sizeof *numbers);
    lab_settings own = *settings;
    own.study = study;
    check(numbers && study->measure(&own, 0, numbers) == 0, "%s: %s", id, vidi_message());
    return numbers;
}

/* ---- at equal memory ---- */

static void pages_lost_are_those_that_single_calls_lose(void **state)
{
    static const double bits[] = {8, 16, 32, 48, 64};
    lab_settings settings = {.urls = 40000, .runs = 1, .seed = 6, .threads = 1};
    const uint64_t n = settings.urls / 10;
    double *numbers = one_run_of("kinds-lost", &settings);
    (void)state;
    for (size_t kind = 0; kind < LAB_KINDS; kind++)
        for (size_t size = 0; size < 5; size++) {
            vidi_plan_entry plan;
            vidi_set *set;
            vidi_stats stats = {.size = sizeof stats};
            char url[LAB_URL_ROOM];
            bool fits;
            double lost = 0;
            assert_int_equal(lab_kind_plan(&plan, &fits, lab_kind_names[kind], n, bits[size]), VIDI_OK);
            assert_int_equal(fits, !isnan(numbers[kind * 5 + size]));
            if (!fits)
                continue;
            assert_int_equal(lab_kind_make(&set, &plan, &settings, 0), VIDI_OK);
            for (uint64_t i = 0; i < n; i++)
                lost += vidi_add(set, lab_url_text(url, &settings, 0, i)) == VIDI_SEEN;
            assert_int_equal(vidi_stat(set, &stats), VIDI_OK);
            check(fabs(lost - numbers[kind * 5 + size]) < 0.5, "%s, %g bits: %g, not %g", plan.kind, bits[size],
                  numbers[kind * 5 + size], lost);
            check((double)stats.bytes <= (double)n * bits[size] / 8 * 1.02, "%s, %g bits: %llu bytes", plan.kind,
                  bits[size], (unsigned long long)stats.bytes);
            vidi_close(set);
        }
    free(numbers);
}

static void exact_kinds_fit_nowhere_and_filters_everywhere(void **state)
{
    lab_settings settings = {.urls = 20000, .runs = 2, .seed = 6, .threads = 1};
    (void)state;
    lab_table table = table_of("kinds-lost", &settings);
    assert_true(isnan(entry_of(&table, "hashset", "64 bits")->measured));
    assert_true(entry_of(&table, "hashset", "64 bits")->remark[0]);
    assert_true(isnan(entry_of(&table, "fingerprint", "16 bits")->measured));
    assert_true(entry_of(&table, "classic", "8 bits")->measured > 0);
    none_fails(&table);
    double classic = entry_of(&table, "classic", "8 bits")->measured;
    double counting = entry_of(&table, "counting", "32 bits")->measured;
    check(fabs(classic - counting) < 0.25 * classic, "counters of 4 bits: %g, bits: %g", counting, classic);
    lab_table_free(&table);
}

/* A number that is twice what it should be is noticed, a bound that is not reached is none. */
static void wrong_numbers_fail(void **state)
{
    lab_settings settings = {.urls = 1000000, .runs = 1, .seed = 6, .threads = 1};
    const lab_study *study = study_of("kinds-lost");
    (void)state;
    for (size_t row = 0; row < LAB_KINDS; row++)
        for (unsigned times = 1; times <= 2; times++) {
            vidi_plan_entry plan;
            lab_theory theory;
            lab_theory_sort sort;
            bool fits;
            assert_int_equal(lab_kind_plan(&plan, &fits, lab_kind_names[row], 100000, 8), VIDI_OK);
            if (!fits)
                continue;
            assert_true(lab_kind_theory(&theory, &sort, &plan, 100000));
            double number = round(theory.mean * times);
            lab_entry entry = {.row = study->rows[row], .column = "8 bits", .measured = number, .runs = 1};
            study->judge(&(lab_cell){study, &settings, row, 0, &number, NULL}, &entry);
            check((entry.verdict == LAB_FAILS) == (times == 2), "%s: %g of %g is '%s'", plan.kind, number, theory.mean,
                  lab_verdict_name(entry.verdict));
        }
}

static void what_cannot_grow_loses_more_and_more(void **state)
{
    lab_settings settings = {.urls = 80000, .runs = 1, .seed = 5, .threads = 1};
    (void)state;
    lab_table lost = table_of("kinds-growth", &settings), bits = table_of("kinds-growth-bits", &settings);
    check(entry_of(&lost, "classic", "4 times as many")->measured > 1e5, "classic does not lose");
    check(entry_of(&lost, "blocked", "4 times as many")->measured < 1e4, "blocked does not grow");
    check(entry_of(&lost, "hashset", "4 times as many")->measured <= 0, "hashset loses");
    check(fabs(entry_of(&bits, "classic", "4 times as many")->measured - 4) < 0.1, "classic grows");
    check(entry_of(&bits, "scalable", "4 times as many")->measured > 16, "scalable does not grow");
    lab_table_free(&lost);
    lab_table_free(&bits);
}

static void every_cell_of_times_and_needs_is_there(void **state)
{
    lab_settings settings = {.urls = 10000, .runs = 1, .seed = 5, .threads = 1};
    (void)state;
    double *times = one_run_of("kinds-time", &settings), *needs = one_run_of("kinds-needs", &settings);
    for (size_t kind = 0; kind < LAB_KINDS; kind++) {
        check(times[kind * 4 + 2] > 0 && times[kind * 4 + 3] > 0, "%s has no time", lab_kind_names[kind]);
        check(needs[kind * 3] > 0 && needs[kind * 3] <= needs[kind * 3 + 2] + 1e-9, "%s needs %g and %g bits",
              lab_kind_names[kind], needs[kind * 3], needs[kind * 3 + 2]);
    }
    free(times);
    free(needs);
}

/* ---- over time ---- */

enum { STRATEGIES = 8, CRAWLS = 10, DELAYS = 4 };

/* Three tables of the same crawls, counted differently. */
static void crawls_agree_with_one_another(void **state)
{
    lab_settings settings = {.urls = 100000, .runs = 1, .seed = 4, .threads = 1};
    double *first = one_run_of("kinds-recrawl", &settings), *all = one_run_of("kinds-recrawl-all", &settings);
    double *delays = one_run_of("kinds-delay", &settings);
    (void)state;
    for (size_t i = 0; i < STRATEGIES; i++) {
        const double *never = first + i * CRAWLS, *any = all + i * CRAWLS, *delay = delays + i * DELAYS;
        check(fabs(never[0] - delay[0] - delay[1] - delay[2] - delay[3]) < 0.5, "strategy %zu: lost at first", i);
        check(fabs(never[1] - delay[1] - delay[2] - delay[3]) < 0.5, "strategy %zu: lost twice", i);
        check(fabs(never[2] - delay[2] - delay[3]) < 0.5, "strategy %zu: lost three times", i);
        check(fabs(never[9] - delay[3]) < 0.5, "strategy %zu: lost in all", i);
        check(fabs(never[0] - any[0]) < 0.5, "strategy %zu: the first crawl has no others", i);
        for (size_t j = 0; j < CRAWLS; j++)
            check(any[j] >= never[j] && (j == 0 || never[j] <= never[j - 1]), "strategy %zu, crawl %zu", i, j);
    }
    check(fabs(first[9] - first[0]) < 0.5, "the same crawl ten times finds something");
    check(first[2 * CRAWLS + 1] < first[1] / 10, "new salts find nothing: %g of %g", first[2 * CRAWLS + 1], first[1]);
    check(first[1 * CRAWLS + 1] > first[2 * CRAWLS + 1] * 2, "old salts are as good: %g", first[1 * CRAWLS + 1]);
    free(first);
    free(all);
    free(delays);
}

/* The first crawl's losses, with a set of one's own. */
static void the_first_crawl_is_counted_again(void **state)
{
    lab_settings settings = {.urls = 50000, .runs = 1, .seed = 4, .threads = 1};
    const uint64_t n = settings.urls / 25, all = n + n * 9 / 20;
    double *first = one_run_of("kinds-recrawl", &settings), lost = 0;
    char url[LAB_URL_ROOM];
    vidi_set *set;
    (void)state;
    assert_int_equal(lab_set_make(&set, &settings, 0, "classic", "k=3,M=2", all), VIDI_OK);
    for (uint64_t i = 0; i < n; i++)
        lost += vidi_add(set, lab_url_text(url, &settings, 0, i)) == VIDI_SEEN;
    check(lost > 0 && fabs(lost - first[0]) < 0.5, "%g, not %g", first[0], lost);
    vidi_close(set);
    free(first);
}

/* Runs that are judged one by one: with new salts after 1, 2 and 10 crawls, with the same after 2 and 4. */
static void crawls_come_out_as_theory_says(void **state)
{
    static const size_t cells[] = {2 * CRAWLS, 2 * CRAWLS + 1, 2 * CRAWLS + 9, CRAWLS + 1, CRAWLS + 3};
    enum { RUNS = 25, CELLS = sizeof cells / sizeof *cells };
    const lab_study *study = study_of("kinds-recrawl-all");
    double sums[CELLS] = {0}, squares = 0;
    (void)state;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        lab_settings settings = {.urls = 75000, .runs = 1, .seed = 100 + seed, .threads = 1};
        double *numbers = one_run_of("kinds-recrawl-all", &settings);
        for (size_t i = 0; i < CELLS; i++) {
            size_t row = cells[i] / CRAWLS, column = cells[i] % CRAWLS;
            lab_entry entry = {.row = study->rows[row], .column = study->columns[column], .runs = 1};
            study->judge(&(lab_cell){study, &settings, row, column, &numbers[cells[i]], NULL}, &entry);
            sums[i] += entry.z;
            squares += entry.z * entry.z / (RUNS * CELLS);
        }
        free(numbers);
    }
    for (size_t i = 0; i < CELLS; i++)
        check(fabs(sums[i]) < 4.1 * sqrt(RUNS), "cell %zu: z is %g on average", cells[i], sums[i] / RUNS);
    check(squares > 0.3 && squares < 1.6, "z^2 is %g on average", squares);
}

/* One crawl is a filter that fills up; two lose less, but more than two that know nothing of one another. */
static void losing_in_all_crawls_begins_with_losing_in_one(void **state)
{
    const double half[] = {0.5, 0}, none[] = {1e-9, 1e-9};
    lab_config config = {"jenkins", 3, 2.0, 1, 1, true, false, LAB_TENTHS, NULL, false, 0};
    double one = lab_lost_in_all(half, 3, 0, 1), two = lab_lost_in_all(half, 3, 0, 2), n = 1e8;
    double wanted = lab_theory_of(&config, (uint64_t)n).mean / n;
    (void)state;
    check(fabs(one / wanted - 1) < 1e-5, "one crawl: %g, not %g", one, wanted);
    check(two > one * one && two < one, "two crawls: %g after %g", two, one);
    check(lab_lost_in_all(none, 3, 0, 2) < 1e-20, "bits that nobody marks");
}

static void late_pages_are_lost_more_often(void **state)
{
    lab_settings settings = {.urls = 200000, .runs = 2, .seed = 4, .threads = 1};
    (void)state;
    lab_table table = table_of("kinds-by-tenth", &settings);
    double early = entry_of(&table, "2nd tenth", "by one crawl or more")->measured;
    double late = entry_of(&table, "last tenth", "by one crawl or more")->measured;
    check(late > 20 * early && late > 4e4 && late < 7e4, "last tenth %g, second %g", late, early);
    none_fails(&table);
    lab_table_free(&table);
}

/* ---- claims ---- */

static void claims_without_tables_stay_unjudged(void **state)
{
    const made_figure none[] = {{.table = NULL}};
    (void)state;
    for (const lab_claim *claim = lab_kinds_claims; claim->id; claim++)
        assert_int_equal(judged(claim->id, none), LAB_UNJUDGED);
}

static void claims_on_kinds_follow_the_figures(void **state)
{
    made_figure memory[] = {
        {"kinds-lost", "fingerprint", "64 bits", 0},           {"kinds-lost", "fingerprint", "48 bits", 0},
        {"kinds-growth", "fingerprint", "4 times as many", 0}, {"kinds-needs", "fingerprint", "1 in 1,000,000", 34},
        {"kinds-needs", "hashset", "1 in 1,000,000", 900},     {.table = NULL}};
    made_figure papers[] = {{"kinds-lost", "classic", "8 bits", 4000},
                            {"kinds-lost", "spatial", "8 bits", 4050},
                            {"kinds-lost", "eigen", "8 bits", 5000},
                            {"kinds-lost", "multilayer", "8 bits", 19000},
                            {"kinds-lost", "counting", "8 bits", 2e5},
                            {"kinds-lost", "scalable", "8 bits", 4700},
                            {.table = NULL}};
    made_figure deleting[] = {{"kinds-lost", "counting", "32 bits", 4100},
                              {"kinds-lost", "classic", "8 bits", 4000},
                              {"kinds-lost", "classic", "32 bits", 0},
                              {"kinds-lost", "fingerprint", "48 bits", 0},
                              {.table = NULL}};
    (void)state;
    assert_int_equal(judged("kinds-default", memory), LAB_HOLDS);
    memory[2].measured = 500;
    assert_int_equal(judged("kinds-default", memory), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("kinds-papers", papers), LAB_HOLDS);
    papers[3].measured = 3000;
    assert_int_equal(judged("kinds-papers", papers), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("kinds-deleting", deleting), LAB_HOLDS);
    deleting[0].measured = 1000;
    assert_int_equal(judged("kinds-deleting", deleting), LAB_DOES_NOT_HOLD);
}

static void claims_on_costs_follow_the_figures(void **state)
{
    made_figure small[] = {
        {"kinds-needs", "blocked", "1 in 100", 10.2},      {"kinds-needs", "classic", "1 in 100", 9.6},
        {"kinds-needs", "fingerprint", "1 in 100", 34},    {"kinds-time", "blocked", "look up, 16 bits", 30},
        {"kinds-time", "classic", "look up, 16 bits", 50}, {"kinds-time", "blocked", "add, 16 bits", 80},
        {"kinds-time", "classic", "add, 16 bits", 100},    {.table = NULL}};
    made_figure growth[] = {{"kinds-growth", "classic", "as many", 50},
                            {"kinds-growth", "classic", "2 times as many", 7000},
                            {"kinds-growth", "classic", "4 times as many", 140000},
                            {"kinds-growth", "scalable", "4 times as many", 500},
                            {"kinds-growth", "blocked", "4 times as many", 700},
                            {"kinds-growth", "fingerprint", "4 times as many", 0},
                            {.table = NULL}};
    (void)state;
    assert_int_equal(judged("kinds-small", small), LAB_HOLDS);
    small[5].measured = 120;
    assert_int_equal(judged("kinds-small", small), LAB_CONDITIONS);
    small[3].measured = 60;
    assert_int_equal(judged("kinds-small", small), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("kinds-growth", growth), LAB_HOLDS);
    growth[4].measured = 90000;
    assert_int_equal(judged("kinds-growth", growth), LAB_DOES_NOT_HOLD);
}

static void the_claim_on_what_is_told_follows_the_figures(void **state)
{
    static const char *const kinds[] = {"classic", "spatial", "scalable", "blocked", "counting", "multilayer"};
    made_figure figures[13];
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        figures[2 * i] = (made_figure){"kinds-lost", kinds[i], "8 bits", 4000};
        figures[2 * i + 1] = (made_figure){"kinds-expected", kinds[i], "8 bits", 4100};
    }
    figures[12] = (made_figure){.table = NULL};
    assert_int_equal(judged("kinds-expected", figures), LAB_HOLDS);
    figures[11].measured = 90000;
    assert_int_equal(judged("kinds-expected", figures), LAB_CONDITIONS);
    figures[3].measured = 8000;
    assert_int_equal(judged("kinds-expected", figures), LAB_DOES_NOT_HOLD);
}

static void claims_on_crawls_follow_the_figures(void **state)
{
    made_figure crawls[] = {{"kinds-recrawl", "6 bits, new salts: temporal", "after 1", 6900},
                            {"kinds-recrawl", "6 bits, new salts: temporal", "after 2", 54},
                            {"kinds-recrawl", "6 bits, new salts: temporal", "after 3", 0.5},
                            {"kinds-recrawl", "6 bits, same salts", "after 3", 540},
                            {"kinds-recrawl", "6 bits, same salts", "after 10", 8},
                            {"kinds-recrawl", "6 bits, same salts and order", "after 3", 6900},
                            {"kinds-recrawl", "6 bits, same salts and order", "after 10", 6900},
                            {"kinds-recrawl", "12 bits, same salts", "after 1", 45},
                            {"kinds-recrawl", "2 x 6 bits, same salts: spatial", "after 1", 100},
                            {.table = NULL}};
    made_figure which[13];
    (void)state;
    assert_int_equal(judged("kinds-salts", crawls), LAB_HOLDS);
    assert_int_equal(judged("kinds-bits", crawls), LAB_HOLDS);
    crawls[2].measured = 3000;
    crawls[7].measured = 2000;
    assert_int_equal(judged("kinds-salts", crawls), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("kinds-bits", crawls), LAB_DOES_NOT_HOLD);
    for (size_t i = 0; lab_tenth_names[i]; i++)
        which[i] = (made_figure){"kinds-by-tenth", lab_tenth_names[i], lab_delayed_columns[0], i == 9 ? 54000 : 10000};
    which[10] = (made_figure){"kinds-by-tenth", "last tenth", lab_delayed_columns[1], 2900};
    which[11] = (made_figure){"kinds-by-tenth", "last tenth", lab_delayed_columns[2], 950};
    which[12] = (made_figure){.table = NULL};
    assert_int_equal(judged("kinds-late", which), LAB_HOLDS);
    which[9].measured = 10000;
    assert_int_equal(judged("kinds-late", which), LAB_DOES_NOT_HOLD);
    which[9].measured = 54000;
    which[11].measured = 2900;
    assert_int_equal(judged("kinds-late", which), LAB_DOES_NOT_HOLD);
}

int main(int argc, char **argv)
{
    test_add("pages lost are those that single calls lose", pages_lost_are_those_that_single_calls_lose, NULL);
    test_add("exact kinds fit nowhere, filters everywhere", exact_kinds_fit_nowhere_and_filters_everywhere, NULL);
    test_add("wrong numbers fail", wrong_numbers_fail, NULL);
    test_add_once("what cannot grow loses more and more", what_cannot_grow_loses_more_and_more, NULL);
    test_add("every cell of times and needs is there", every_cell_of_times_and_needs_is_there, NULL);
    test_add("crawls agree with one another", crawls_agree_with_one_another, NULL);
    test_add("the first crawl is counted again", the_first_crawl_is_counted_again, NULL);
    test_add_once("crawls come out as theory says", crawls_come_out_as_theory_says, NULL);
    test_add("losing in all crawls begins with losing in one", losing_in_all_crawls_begins_with_losing_in_one, NULL);
    test_add("late pages are lost more often", late_pages_are_lost_more_often, NULL);
    test_add("claims without tables stay unjudged", claims_without_tables_stay_unjudged, NULL);
    test_add("claims on kinds follow the figures", claims_on_kinds_follow_the_figures, NULL);
    test_add("claims on costs follow the figures", claims_on_costs_follow_the_figures, NULL);
    test_add("the claim on what is told follows the figures", the_claim_on_what_is_told_follows_the_figures, NULL);
    test_add("claims on crawls follow the figures", claims_on_crawls_follow_the_figures, NULL);
    return test_run("lab/kinds", argc, argv);
}
