/*
 * Each figure gets the runs that its precision needs and no more: fixed ahead, the same whatever is measured beside it,
 * and without making a figure larger or smaller.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/cells.h"
#include "lab/engine/study.h"
#include "lab/judge/distributions.h"
#include "support/runner.h"

/* ---- configurations ---- */

static const lab_config one_filter = {.functions = "jenkins", .k = 3, .multiplier = 1.9, .members = 1, .epochs = 1};

/* Half of the 95 % interval after so many runs, as a share of theory. */
static double half_width(const lab_config *config, uint64_t urls, uint64_t runs)
{
    lab_theory theory = lab_theory_of(config, urls);
    lab_fit fit = lab_fit_of(theory.mean * (double)runs, (double)runs, theory);
    return (fit.high - fit.low) / 2 / fit.share;
}

static void the_interval_is_just_narrow_enough(void **state)
{
    (void)state;
    for (double precision = 0.01; precision < 0.05; precision += 0.01) {
        lab_settings settings = {.urls = 500, .runs = 10000, .precision = precision};
        uint64_t runs = lab_config_runs(&one_filter, &settings);
        assert_in_range(runs, LAB_TABLE_RUNS + 1, settings.runs - 1);
        assert_true(half_width(&one_filter, settings.urls, runs) <= precision * 1.000001);
        assert_true(half_width(&one_filter, settings.urls, runs - 1) > precision);
    }
}

static void there_are_enough_runs_for_a_table_and_never_more_than_asked_for(void **state)
{
    lab_settings settings = {.urls = 1000000, .runs = 100, .precision = 0.05};
    lab_config rare = one_filter;
    (void)state;
    rare.members = 8;
    rare.k = 8;
    assert_int_equal(lab_config_runs(&one_filter, &settings), LAB_TABLE_RUNS);
    assert_int_equal(lab_config_runs(&rare, &settings), 100);
    settings.runs = 7;
    assert_int_equal(lab_config_runs(&one_filter, &settings), 7);
    settings.runs = 100;
    settings.precision = 0;
    assert_int_equal(lab_config_runs(&one_filter, &settings), 100);
}

/* Two rates of such tables, compared as one of 64 pairs, are found equal within the margin if they are. */
static void tables_under_a_claim_are_as_precise_as_its_margin_needs(void **state)
{
    const lab_claim *claim = lab_claim_find("thesis-salts");
    (void)state;
    assert_non_null(claim);
    double precision = lab_precision_of("thesis-5.6", 0.05);
    assert_true(precision < claim->margin);
    double deviation = precision / LAB_INTERVAL_Z, z = -lab_normal_z(0.005 / 64);
    assert_true(2 * z * sqrt(2) * deviation <= log1p(claim->margin));
    assert_true(2 * z * sqrt(2) * deviation > 0.9 * log1p(claim->margin));
    lab_settings settings = {.urls = 100000, .runs = 10000, .precision = 0.05};
    lab_config cell = lab_cell_config(lab_experiment_find("thesis-5.6"), 1, 0);
    uint64_t runs = lab_config_runs(&cell, &settings);
    assert_in_range(runs, LAB_TABLE_RUNS + 1, settings.runs - 1);
    assert_true(half_width(&cell, settings.urls, runs) <= precision * 1.000001);
    assert_true(lab_precision_of("no such table", 0.05) >= 0.05);
    assert_true(lab_precision_of("thesis-5.6", 0.001) <= 0.001);
}

/* The overview 5.8 repeats cells of 5.6, which a claim rests on: measured alone, it has as many runs of them. */
static void a_cell_has_as_many_runs_wherever_it_stands(void **state)
{
    static const char *const overview[] = {"thesis-5.8"}, *const both[] = {"thesis-5.6", "thesis-5.8"};
    lab_settings settings = {.urls = 400, .runs = 120, .seed = 1, .threads = 2, .precision = 0.05};
    lab_book alone, together;
    (void)state;
    assert_int_equal(lab_book_measure(&alone, overview, 1, &settings), VIDI_OK);
    settings.threads = 1;
    assert_int_equal(lab_book_measure(&together, both, 2, &settings), VIDI_OK);
    const lab_table *a = lab_book_find(&alone, "thesis-5.8"), *b = lab_book_find(&together, "thesis-5.8");
    for (size_t i = 0; i < a->rows * a->columns; i++) {
        assert_int_equal(a->entries[i].runs, b->entries[i].runs);
        assert_memory_equal(&a->entries[i].measured, &b->entries[i].measured, sizeof(double));
    }
    assert_int_equal(alone.tally.done, alone.tally.runs);
    assert_int_equal(together.tally.done, together.tally.runs);
    assert_true(fabs(together.tally.work - together.tally.work_done) < 1e-9 * together.tally.work);
    lab_book_free(&alone);
    lab_book_free(&together);
}

/* Configurations that are in no table, so that no claim has a say in their runs: frequent and rare errors. */
static size_t other_cells(lab_config *configs)
{
    size_t count = 0;
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 1; k <= 5; k++) {
            configs[count] = one_filter;
            configs[count].k = k;
            configs[count].members = 1 + i / 2;
            configs[count].incremental = i % 2 == 1;
            configs[count++].tenths = LAB_TENTHS;
        }
    return count;
}

/* What a run measures is what it measures among all cells; what it leaves out stays 0. */
static void runs_that_leave_cells_out_count_as_full_ones_do(void **state)
{
    lab_config configs[32];
    size_t count = other_cells(configs), shorter = 0;
    lab_settings settings = {.urls = 400, .runs = 40, .seed = 2, .threads = 2};
    (void)state;
    lab_results all = measure(configs, count, &settings);
    settings.precision = 0.4;
    lab_results some = measure(configs, count, &settings);
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = 0, runs = lab_cell_runs(&some, i);
        assert_int_equal(lab_cell_runs(&all, i), 40);
        assert_in_range(runs, LAB_TABLE_RUNS, 40);
        shorter += runs < 40;
        for (uint64_t run = 0; run < some.settings.runs; run++) {
            uint64_t wanted = run < runs ? lab_count(&all, run, i) : 0;
            check(lab_count(&some, run, i) == wanted, "cell %zu, run %llu", i, (unsigned long long)run);
            sum += wanted;
        }
        assert_int_equal(lab_total(&some, i), sum);
    }
    check(shorter > 3 && shorter < count - 3, "%zu of %zu cells have fewer runs", shorter, count);
    lab_results_free(&all);
    lab_results_free(&some);
}

/* Sound tables whose cells differ in their runs are found sound. */
static void a_table_of_different_runs_is_judged_as_one(void **state)
{
    lab_config configs[32];
    lab_finding findings[32];
    size_t count = other_cells(configs);
    lab_settings settings = {.urls = 1500, .runs = 60, .threads = 2, .precision = 0.1};
    (void)state;
    for (settings.seed = 1; settings.seed <= 4; settings.seed++) {
        lab_results results = measure(configs, count, &settings);
        size_t shorter = 0;
        for (size_t i = 0; i < count; i++) {
            findings[i] = lab_judge(&configs[i], &results, i, NULL);
            shorter += findings[i].runs < 60;
        }
        check(shorter > 3 && shorter < count - 3, "%zu cells have fewer runs", shorter);
        lab_table_test test = lab_judge_table(&results, findings, 0, count);
        check(test.tested && test.fits, "seed %llu: p = %g", (unsigned long long)settings.seed, test.p);
        lab_results_free(&results);
    }
}

/* ---- studies ---- */

static const char *const rows[] = {"a", "b", NULL}, *const columns[] = {"x", NULL};
static double spread;

/* A number that is 0 on average, in [-1.73, 1.73], with a standard deviation of 1. */
static double random_number(const lab_settings *settings, uint64_t run)
{
    return ((double)(lab_run_start(settings->seed, run) >> 11) / 9007199254740992.0 - 0.5) * sqrt(12);
}

static int measure_made_up(const lab_settings *settings, uint64_t run, double *numbers)
{
    numbers[0] = 1 + spread * random_number(settings, run);
    numbers[1] = 7;
    return VIDI_OK;
}

static const lab_study made_up = {.id = "made-up", .rows = rows, .columns = columns, .measure = measure_made_up};

/* Measures the study: its number of runs, and the mean of its first cell. */
static uint64_t made_up_runs(const lab_study *study, lab_settings settings, double *mean)
{
    lab_tally tally = {.runs = settings.runs, .work = (double)settings.runs * lab_study_work(study, &settings)};
    lab_numbers numbers;
    settings.tally = &tally;
    assert_int_equal(lab_study_measure(&numbers, study, &settings), VIDI_OK);
    uint64_t runs = numbers.settings.runs;
    *mean = 0;
    for (uint64_t run = 0; run < runs; run++)
        *mean += numbers.numbers[2 * run] / (double)runs;
    assert_int_equal(tally.done, runs);
    assert_int_equal(tally.runs, runs);
    assert_true(fabs(tally.work - tally.work_done) < 1e-9);
    lab_numbers_free(&numbers);
    return runs;
}

static void a_study_gets_the_runs_that_its_first_ten_ask_for(void **state)
{
    lab_settings settings = {.urls = 1000, .runs = 1000, .seed = 4, .threads = 1, .precision = 0.05};
    double mean, again;
    (void)state;
    spread = 0.001;
    assert_int_equal(made_up_runs(&made_up, settings, &mean), LAB_FIRST_RUNS);
    spread = 0.3;
    uint64_t runs = made_up_runs(&made_up, settings, &mean);
    assert_in_range(runs, 50, 500); /* 2.26^2 * 0.3^2 / 0.05^2 = 184, from a variance that ten runs estimate */
    settings.threads = 3;
    assert_int_equal(made_up_runs(&made_up, settings, &again), runs);
    assert_memory_equal(&mean, &again, sizeof mean);
    settings.runs = 40;
    assert_int_equal(made_up_runs(&made_up, settings, &mean), 40);
    settings.runs = 8;
    assert_int_equal(made_up_runs(&made_up, settings, &mean), 8);
    settings.precision = 0;
    settings.runs = 60;
    spread = 0.001;
    assert_int_equal(made_up_runs(&made_up, settings, &mean), 60);
}

/* The mean over many measurements is the true one, although their lengths differ. */
static void the_number_of_runs_does_not_bias_the_mean(void **state)
{
    lab_settings settings = {.urls = 1000, .runs = 200, .threads = 1, .precision = 0.05};
    double sum = 0, squares = 0, mean, times = 2000;
    (void)state;
    spread = 0.2;
    for (settings.seed = 1; settings.seed <= (uint64_t)times; settings.seed++) {
        made_up_runs(&made_up, settings, &mean);
        sum += mean;
        squares += (mean - 1) * (mean - 1);
    }
    double error = sqrt(squares / times / times);
    check(fabs(sum / times - 1) < 4 * error, "%g off, and the standard error is %g", sum / times - 1, error);
}

static uint64_t made_apart;

static int run_apart(void *context, const lab_study *study, const lab_settings *settings, uint64_t run, double *numbers)
{
    made_apart++;
    assert_ptr_equal(context, &made_apart);
    return study->measure(settings, run, numbers);
}

static void times_alone_are_measured_in_processes_of_their_own(void **state)
{
    lab_settings settings = {.urls = 1000, .runs = 30, .seed = 1, .threads = 2};
    lab_study timed = made_up;
    double mean;
    (void)state;
    timed.timed = true;
    settings.run_apart = run_apart;
    settings.apart_context = &made_apart;
    assert_int_equal(made_up_runs(&made_up, settings, &mean), 30);
    assert_int_equal(made_apart, 0);
    assert_int_equal(made_up_runs(&timed, settings, &mean), 30);
    assert_int_equal(made_apart, 30);
    settings.precision = 0.05;
    spread = 0.001;
    assert_int_equal(made_up_runs(&timed, settings, &mean), LAB_FIRST_RUNS);
}

int main(int argc, char **argv)
{
    test_add("the interval is just narrow enough", the_interval_is_just_narrow_enough, NULL);
    test_add("there are enough runs for a table and never more than asked for",
             there_are_enough_runs_for_a_table_and_never_more_than_asked_for, NULL);
    test_add("tables under a claim are as precise as its margin needs",
             tables_under_a_claim_are_as_precise_as_its_margin_needs, NULL);
    test_add("a cell has as many runs wherever it stands", a_cell_has_as_many_runs_wherever_it_stands, NULL);
    test_add("runs that leave cells out count as full ones do", runs_that_leave_cells_out_count_as_full_ones_do, NULL);
    test_add("a table of different runs is judged as one", a_table_of_different_runs_is_judged_as_one, NULL);
    test_add("a study gets the runs that its first ten ask for", a_study_gets_the_runs_that_its_first_ten_ask_for,
             NULL);
    test_add("the number of runs does not bias the mean", the_number_of_runs_does_not_bias_the_mean, NULL);
    test_add("times alone are measured in processes of their own", times_alone_are_measured_in_processes_of_their_own,
             NULL);
    return test_run("lab/runs_needed", argc, argv);
}
