/*
 * How the lab judges: its distributions against known values, its theory against the library's and against many small
 * runs, and its verdicts on figures that are right, wrong, or misprinted.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/bloom.h"
#include "lab/cells.h"
#include "lab/engine/study.h"
#include "lab/judge/distributions.h"
#include "support/runner.h"

static void must_be(const char *what, double value, double wanted, double share)
{
    check(fabs(value - wanted) <= share * fabs(wanted), "%s: %.12g, not %.12g", what, value, wanted);
}

/* ---- distributions ---- */

static void distributions_have_their_known_values(void **state)
{
    (void)state;
    must_be("P(X <= 3), mean 5", lab_poisson_below(5, 3), 0.265025915297, 1e-10);
    must_be("P(X >= 3), mean 1", lab_poisson_above(1, 3), 0.0803013970714, 1e-10);
    must_be("P(X = 0), mean 20", lab_poisson_below(20, 0), exp(-20), 1e-10);
    must_be("Garwood's low for 10", lab_poisson_low(10, 0.025), 4.795389, 1e-6);
    must_be("Garwood's high for 10", lab_poisson_high(10, 0.025), 18.39036, 1e-6);
    must_be("Garwood's high for 0", lab_poisson_high(0, 0.025), -log(0.025), 1e-9);
    must_be("chi-square of 3.841, 1 degree", lab_gamma_below(0.5, 3.841458820694 / 2), 0.95, 1e-9);
    must_be("chi-square of 124.342, 100 degrees", lab_gamma_below(50, 124.342113404 / 2), 0.95, 1e-7);
    must_be("z of 0.975", lab_normal_z(0.975), 1.95996398454, 1e-9);
    must_be("z of 4e-5", lab_normal_z(2.065e-5), -4.1, 1e-3);
    assert_true(lab_poisson_low(0, 0.025) >= 0 && lab_poisson_low(0, 0.025) <= 0);
}

/* ---- theory ---- */

static void theory_agrees_with_the_library(void **state)
{
    static lab_config configs[CELLS_MAX];
    size_t count = all_cells(configs);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const lab_config *config = &configs[i];
        lab_theory theory = lab_theory_of(config, 100000);
        unsigned filters = config->members * config->epochs;
        double m = ceil(100000 * config->k * config->multiplier - 1e-6);
        double p = pow(vidi__bloom_fp(100000, m, config->k), filters);
        vidi__bloom_use use = {filters, false};
        if (config->shuffled || lab_functions_kept(config) > 0) /* the library assumes independent filters */
            continue;
        if (!config->incremental)
            must_be("false positives", theory.mean, 100000 * p, 2e-5);
        else
            must_be("pages lost", theory.mean, vidi__bloom_lost(theory.asked, m, config->k, use), 1e-4);
    }
}

/* With one position, URLs that are not lost mark one bit each: the variance is that of the number of marked bits. */
static void the_variance_of_one_position_is_the_occupancys(void **state)
{
    lab_config config = {"jenkins", 1, 2.0, 1, 1, true, false, LAB_TENTHS, NULL, false, 0};
    (void)state;
    for (uint64_t n = 1000; n <= 1000000; n *= 10) {
        double m = 2 * (double)n, e = exp(-0.5);
        must_be("variance", lab_theory_of(&config, n).variance, m * e * (1 - 1.5 * e), 2e-3);
    }
}

/* Means and variances of theory against those of 2,000 small runs. */
static void theory_has_the_spread_of_many_runs(void **state)
{
    static const lab_config configs[] = {
        {"jenkins", 1, 2.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 1, 2.0, 1, 1, true, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 2, 1.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 2, 1.0, 1, 1, true, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 3, 0.8, 1, 1, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 3, 0.8, 1, 1, true, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 1, 1.0, 2, 1, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 1, 1.0, 2, 1, true, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 2, 0.7, 1, 2, true, true, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 2, 0.5, 1, 3, true, true, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 1, 0.7, 3, 1, true, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 1, 1.0, 1, 1, true, false, 6, NULL, false, 0},
        {"jenkins", 2, 0.7, 2, 2, false, false, LAB_TENTHS, NULL, false, 0},
    };
    enum { COUNT = sizeof configs / sizeof *configs, RUNS = 2000 };
    lab_settings settings = {.urls = 800, .runs = RUNS, .seed = 9, .threads = 2};
    (void)state;
    lab_results results = measure(configs, COUNT, &settings);
    for (size_t i = 0; i < COUNT; i++) {
        lab_theory theory = lab_theory_of(&configs[i], settings.urls);
        double mean = (double)lab_total(&results, i) / RUNS, spread = 0;
        for (uint64_t run = 0; run < RUNS; run++)
            spread += pow((double)lab_count(&results, run, i) - mean, 2) / (RUNS - 1);
        double z = (mean - theory.mean) / sqrt(theory.variance / RUNS);
        check(fabs(z) <= 4.5, "configuration %zu: mean %g, not %g", i, mean, theory.mean);
        check(fabs(spread / theory.variance - 1) < 0.15, "configuration %zu: variance %g, not %g", i, spread,
              theory.variance);
    }
    lab_results_free(&results);
}

/* ---- figures and verdicts ---- */

static void figures_are_read_as_printed(void **state)
{
    lab_figure figure = lab_figure_read("0.3723%");
    (void)state;
    assert_true(figure.given && !figure.misspelt);
    must_be("value", figure.percent, 0.3723, 1e-12);
    must_be("half a unit", figure.half_unit, 0.00005, 1e-9);
    must_be("half a unit of none", lab_figure_read("0.0%").half_unit, 5e-7, 1e-9);
    assert_true(lab_figure_read("0.00017.%").misspelt && lab_figure_read("0.00017.%").given);
    assert_true(lab_figure_read("0.000001").misspelt);
    assert_false(lab_figure_read(NULL).given);
    assert_false(lab_figure_read("-").given);
}

static bool has_figure(const char *id, const char *row, const char *column)
{
    return lab_published_find(lab_published_all, id, row, column) != NULL;
}

/* Figures of the cells of all experiments that are tables of configurations. */
static size_t figures_of_experiments(void)
{
    const lab_experiment *experiment;
    size_t found = 0;
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++)
        for (size_t row = 0; row < lab_lines(experiment->rows); row++)
            for (size_t column = 0; column < lab_lines(experiment->columns); column++) {
                bool is = has_figure(experiment->id, experiment->rows[row].name, experiment->columns[column].name);
                check(is || strncmp(experiment->id, "thesis-5.", 9) != 0, /* its other tables are ours or figures */
                      "%s, row %zu, column %zu has no figure", experiment->id, row, column);
                found += is;
            }
    return found;
}

static size_t figures_of_studies(void)
{
    const lab_study *study;
    size_t found = 0;
    for (size_t i = 0; (study = lab_study_at(i)); i++)
        for (size_t row = 0; study->rows[row]; row++)
            for (size_t column = 0; study->columns[column]; column++)
                found += has_figure(study->id, study->rows[row], study->columns[column]);
    return found;
}

static void every_figure_has_its_cell(void **state)
{
    size_t figures = 0;
    (void)state;
    for (const lab_published *list = lab_published_all; list->experiment; list++, figures++)
        assert_true(lab_figure_read(list->printed).given);
    assert_int_equal(figures_of_experiments(), 292);
    assert_int_equal(figures_of_experiments() + figures_of_studies(), figures);
}

static lab_finding judge_figure(const char *experiment_id, size_t row, size_t column, const lab_published *list)
{
    const lab_experiment *experiment = lab_experiment_find(experiment_id);
    lab_settings settings = {.urls = 2000, .runs = 2, .seed = 4, .threads = 1};
    lab_config config = lab_cell_config(experiment, row, column);
    size_t no_job = LAB_NO_JOB;
    lab_results results = {.settings = settings, .cells = 1, .job_of = &no_job};
    if (!lab_config_built(&config))
        return lab_judge_cell(experiment, row, column, &results, 0, list);
    results = measure(&config, 1, &settings);
    lab_finding finding = lab_judge_cell(experiment, row, column, &results, 0, list);
    lab_results_free(&results);
    return finding;
}

/* Table 5.7, Jenkins, seeded: theory says 6.0915 %; one run has a deviation of 0.025 %, 100 runs of 0.0025 %. */
static void verdicts_follow_the_rule(void **state)
{
    static const struct {
        const char *printed;
        lab_verdict verdict;
    } cases[] = {{"6.0920%", LAB_AGREES},    {"6.0960%", LAB_AGREES},    {"6.1000%", LAB_DOUBTFUL},
                 {"6.0830%", LAB_DOUBTFUL},  {"6.1040%", LAB_ANOMALOUS}, {"6.0700%", LAB_ANOMALOUS},
                 {"6.5000%", LAB_ANOMALOUS}, {"6%", LAB_AGREES},         {"7%", LAB_ANOMALOUS},
                 {"-", LAB_NO_FIGURE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_published list[] = {{"thesis-5.7", "Jenkins (seeded)", "FP", cases[i].printed}, {0}};
        lab_finding finding = judge_figure("thesis-5.7", 1, 0, list);
        check(finding.verdict == cases[i].verdict, "%s: %s", cases[i].printed, lab_verdict_name(finding.verdict));
    }
}

/* Table 5.16, 7 functions, M = 2.0: 216 expected in 100 runs. 10 functions, M = 5.0: none. */
static void few_counts_are_judged_exactly(void **state)
{
    static const struct {
        size_t row, column;
        const char *printed;
        lab_verdict verdict;
    } cases[] = {{4, 1, "0.00022%", LAB_AGREES},     {7, 5, "0.0%", LAB_AGREES},     {7, 0, "0.000001%", LAB_DOUBTFUL},
                 {7, 5, "0.000001%", LAB_ANOMALOUS}, {5, 1, "0.00003%", LAB_AGREES}, {5, 1, "0.0%", LAB_ANOMALOUS},
                 {5, 1, "0.00009%", LAB_ANOMALOUS},  {5, 1, "0.01%", LAB_ANOMALOUS}};
    static char rows[8][8], columns[6][8] = {"1.7 M", "2.0 M", "2.5 M", "3.0 M", "4.0 M", "5.0 M"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(rows[cases[i].row], sizeof rows[0], "%zu HF", cases[i].row + 3);
        lab_published list[] = {{"thesis-5.16", rows[cases[i].row], columns[cases[i].column], cases[i].printed}, {0}};
        lab_finding finding = judge_figure("thesis-5.16", cases[i].row, cases[i].column, list);
        check(finding.verdict == cases[i].verdict, "%s in row %zu: %s, z = %.2f", cases[i].printed, cases[i].row,
              lab_verdict_name(finding.verdict), finding.published_z);
    }
}

/* Table 5.8 repeats 5.6 but for one digit: MurmurHash, two functions. */
static void an_overview_that_differs_is_a_misprint(void **state)
{
    (void)state;
    lab_finding finding = judge_figure("thesis-5.8", 1, 0, lab_published_all);
    assert_int_equal(finding.verdict, LAB_MISPRINT);
    assert_string_equal(finding.original, "15.497%");
    assert_int_equal(judge_figure("thesis-5.8", 1, 1, lab_published_all).verdict, LAB_AGREES);
}

static void figures_change_verdicts_only(void **state)
{
    lab_published list[] = {{"thesis-5.9", "3 HF", "1.7 M", "9.9%"}, {0}}, none[] = {{0}};
    lab_finding as_it_is = judge_figure("thesis-5.9", 0, 0, lab_published_all);
    lab_finding others[] = {judge_figure("thesis-5.9", 0, 0, list), judge_figure("thesis-5.9", 0, 0, none)};
    (void)state;
    assert_int_equal(as_it_is.verdict, LAB_AGREES);
    assert_int_equal(others[0].verdict, LAB_ANOMALOUS);
    assert_int_equal(others[1].verdict, LAB_NO_FIGURE);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(others[i].count, as_it_is.count);
        assert_memory_equal(&others[i].measured, &as_it_is.measured, sizeof(double));
        assert_memory_equal(&others[i].theory, &as_it_is.theory, sizeof(double));
        assert_memory_equal(&others[i].low, &as_it_is.low, sizeof(double));
        assert_memory_equal(&others[i].high, &as_it_is.high, sizeof(double));
        assert_memory_equal(&others[i].z, &as_it_is.z, sizeof(double));
    }
}

/* For every cell of every table: without any figure, with the published ones, and with one that nobody measured. */
static void no_figure_takes_part_in_measuring(void **state)
{
    static const lab_published none[] = {{0}};
    const lab_experiment *experiment;
    size_t changed = 0;
    (void)state;
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++)
        for (size_t row = 0; row < lab_lines(experiment->rows); row++) {
            size_t column = (row + i) % lab_lines(experiment->columns);
            lab_published wrong[] = {
                {experiment->id, experiment->rows[row].name, experiment->columns[column].name, "99.5%"}, {0}};
            lab_finding a = judge_figure(experiment->id, row, column, lab_published_all);
            lab_finding others[] = {judge_figure(experiment->id, row, column, none),
                                    judge_figure(experiment->id, row, column, wrong)};
            for (size_t j = 0; j < 2; j++) {
                assert_int_equal(others[j].count, a.count);
                assert_memory_equal(&others[j].measured, &a.measured, sizeof(double));
                assert_memory_equal(&others[j].low, &a.low, sizeof(double));
                assert_memory_equal(&others[j].high, &a.high, sizeof(double));
                assert_memory_equal(&others[j].theory, &a.theory, sizeof(double));
                assert_memory_equal(&others[j].z, &a.z, sizeof(double));
                changed += others[j].verdict != a.verdict;
            }
        }
    check(changed > 50, "only %zu verdicts changed", changed);
}

/* ---- whole tables ---- */

/* Measures table 5.9 and lets `change` have every count before the table is judged. */
static lab_table_test judge_table(void (*change)(uint64_t *count, lab_theory theory))
{
    static lab_finding findings[64];
    static lab_config configs[64];
    const lab_experiment *experiment = lab_experiment_find("thesis-5.9");
    lab_settings settings = {.urls = 8000, .runs = 40, .seed = 6, .threads = 2};
    size_t count = 0;
    for (size_t row = 0; row < 8; row++)
        for (size_t column = 0; column < 6; column++)
            configs[count++] = lab_cell_config(experiment, row, column);
    lab_results results = measure(configs, count, &settings);
    for (size_t i = 0; i < count; i++) {
        lab_theory theory = lab_theory_of(&configs[i], settings.urls);
        for (uint64_t run = 0; run < settings.runs && change; run++)
            change(&results.counts[run * results.jobs + results.job_of[i]], theory);
        findings[i] = lab_judge(&configs[i], &results, i, NULL);
    }
    lab_table_test test = lab_judge_table(&results, findings, 0, count);
    lab_results_free(&results);
    return test;
}

static void too_good(uint64_t *count, lab_theory theory)
{
    double off = (double)*count - theory.mean;
    *count = (uint64_t)llround(theory.mean + off / 8);
}

static void too_bad(uint64_t *count, lab_theory theory)
{
    *count = (uint64_t)llround((double)*count + 0.6 * sqrt(theory.variance));
}

static void a_table_may_be_neither_too_bad_nor_too_good(void **state)
{
    (void)state;
    lab_table_test sound = judge_table(NULL), good = judge_table(too_good), bad = judge_table(too_bad);
    assert_true(sound.tested && sound.cells > 20);
    check(sound.fits, "sound: chi-square %g with %g degrees, p = %g", sound.chi_square, sound.freedom, sound.p);
    check(!good.fits && good.p < 0.5, "too good: chi-square %g, p = %g", good.chi_square, good.p);
    check(!bad.fits && bad.p > 0.5, "too bad: chi-square %g, p = %g", bad.chi_square, bad.p);
}

/* ---- all cells together ---- */

/* 1 % of books of sound cells, and of 240 of them what goes beyond 4.1. */
static void many_cells_may_be_farther_off_than_one(void **state)
{
    double one[] = {2.6}, pair[] = {2.7, -2.9}, few[] = {0.5, -3.5, 1}, two[] = {-4.4, 0.1, 4.3, 0.2};
    static double many[581];
    (void)state;
    assert_int_equal(lab_judge_family(one, 0).cells, 0);
    must_be("bound of one", lab_judge_family(one, 1).bound, 2.5758293, 1e-6);
    assert_int_equal(lab_judge_family(one, 1).beyond, 1);
    assert_int_equal(lab_judge_family(pair, 2).beyond, 2); /* after the first, the second stands alone */
    lab_family_test test = lab_judge_family(few, 3);
    assert_int_equal(test.beyond, 1);
    must_be("largest", test.largest, 3.5, 1e-12);
    assert_int_equal(lab_judge_family(two, 4).beyond, 2);
    static double suite[240];
    must_be("bound of 240", lab_judge_family(suite, 240).bound, 4.1, 2e-3);
    many[100] = -4.25;
    test = lab_judge_family(many, 581);
    must_be("bound of 581", test.bound, 4.30, 3e-3);
    assert_int_equal(test.beyond, 0);
    many[7] = 4.5; /* and the other stays within the bound of one cell fewer */
    assert_int_equal(lab_judge_family(many, 581).beyond, 1);
    many[3] = HUGE_VAL;
    assert_int_equal(lab_judge_family(many, 581).beyond, 2);
}

/* Of 2,000 sound books with 50 cells each about 20 have something against them. */
static void one_sound_book_in_a_hundred_is_accused(void **state)
{
    double z[50];
    unsigned accused = 0;
    uint64_t bits = 1;
    (void)state;
    for (unsigned book = 0; book < 2000; book++) {
        for (size_t i = 0; i < 50; i++) {
            bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            z[i] = lab_normal_z(((double)(bits >> 11) + 0.5) / 0x1p53);
        }
        accused += lab_judge_family(z, 50).beyond > 0;
    }
    check(accused >= 6 && accused <= 38, "%u of 2000", accused);
}

/* ---- published tables ---- */

enum { FIGURES = 10 };

/* Figures at these distances from theory, of one table. */
static void make_figures(lab_finding *findings, const char *functions, double first, double others)
{
    for (size_t i = 0; i < FIGURES; i++) {
        double z = i == 0 ? first : i % 2 ? others : -others;
        findings[i] = (lab_finding){.config = {.functions = functions, .k = 3, .members = 1, .epochs = 1},
                                    .published = {.given = true},
                                    .fits = true,
                                    .published_z = z,
                                    .judged_z = z,
                                    .judged_runs = LAB_PUBLISHED_RUNS,
                                    .verdict = LAB_AGREES};
    }
    lab_rejudge_by_scatter(findings, FIGURES);
}

static void a_figure_is_judged_by_the_scatter_of_the_others(void **state)
{
    static const struct {
        const char *functions;
        double first, others;
        lab_verdict verdict;
    } cases[] = {
        {"jenkins", 2.9, 0.5, LAB_AGREES},
        {"jenkins", 3.5, 0.5, LAB_DOUBTFUL},
        {"jenkins", 5, 0.5, LAB_ANOMALOUS},
        {"jenkins", 40, 0.5, LAB_ANOMALOUS}, /* its own distance does not excuse it */
        {"jenkins", 5, 4, LAB_AGREES},       /* the others scatter as much */
        {"jenkins+murmur2", 5, 4, LAB_DEPENDENT},
        {"jenkins+murmur2", 5, 0.5, LAB_ANOMALOUS}, /* the others do not */
        {"jenkins+murmur2", 2, 4, LAB_AGREES},
        {"jenkins", 100, 4, LAB_ANOMALOUS},
    };
    lab_finding findings[FIGURES];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_figures(findings, cases[i].functions, cases[i].first, cases[i].others);
        check(findings[0].verdict == cases[i].verdict, "%g among %g: %s, z = %.2f for %.1f runs", cases[i].first,
              cases[i].others, lab_verdict_name(findings[0].verdict), findings[0].judged_z, findings[0].judged_runs);
        check(findings[0].judged_runs <= LAB_PUBLISHED_RUNS, "more runs than were made");
    }
    make_figures(findings, "jenkins", 5, 4);
    must_be("effective runs", findings[0].judged_runs, 100.0 / 16, 1e-9);
    must_be("P(T >= 2), 5 degrees", lab_student_above(2, 5), 0.05096974, 1e-5);
}

/* Of all published rates: which are called what, with each table judged as a whole. */
static void published_figures_have_these_verdicts(void **state)
{
    const lab_experiment *experiment;
    size_t verdicts[LAB_FAILS + 1] = {0};
    (void)state;
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++) {
        lab_finding findings[64];
        size_t count = 0, columns = lab_lines(experiment->columns), cells = lab_lines(experiment->rows) * columns;
        for (; count < cells; count++) {
            size_t no_job = LAB_NO_JOB;
            lab_results results = {.settings = {.urls = 2000, .runs = 2}, .cells = 1, .job_of = &no_job};
            findings[count] =
                lab_judge_cell(experiment, count / columns, count % columns, &results, 0, lab_published_all);
            findings[count].verdict =
                findings[count].original && strcmp(findings[count].original, findings[count].printed) != 0
                    ? LAB_MISPRINT
                    : LAB_AGREES;
        }
        lab_rejudge_by_scatter(findings, cells);
        for (size_t j = 0; j < cells; j++)
            verdicts[findings[j].published.given ? findings[j].verdict : LAB_NO_FIGURE]++;
    }
    assert_int_equal(verdicts[LAB_AGREES], 278);
    assert_int_equal(verdicts[LAB_DEPENDENT], 6);
    assert_int_equal(verdicts[LAB_DOUBTFUL], 5);
    assert_int_equal(verdicts[LAB_ANOMALOUS], 2);
    assert_int_equal(verdicts[LAB_MISPRINT], 1);
    must_be("doubtful by chance", lab_doubtful_by_chance(292), 0.776, 0.01);
}

/* The tables of single functions scatter like some five runs; that of three filters as it should. */
static void published_tables_scatter_as_they_do(void **state)
{
    static const struct {
        const char *id;
        double least, most;
    } cases[] = {{"thesis-5.1", 3, 10},
                 {"thesis-5.6", 3, 10},
                 {"thesis-5.9", 20, 60},
                 {"thesis-5.19", 100, 100},
                 {"thesis-5.20", 100, 100}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lab_experiment *experiment = lab_experiment_find(cases[i].id);
        lab_finding findings[64];
        size_t count = 0;
        for (size_t row = 0; row < lab_lines(experiment->rows); row++)
            for (size_t column = 0; column < lab_lines(experiment->columns); column++)
                findings[count++] = judge_figure(cases[i].id, row, column, lab_published_all);
        lab_scatter scatter = lab_judge_scatter(findings, count);
        check(scatter.runs >= cases[i].least && scatter.runs <= cases[i].most, "%s: %g runs", cases[i].id,
              scatter.runs);
        check(scatter.fits == (cases[i].least >= 100), "%s: p = %g", cases[i].id, scatter.p);
    }
}

int main(int argc, char **argv)
{
    test_add("a figure is judged by the scatter of the others", a_figure_is_judged_by_the_scatter_of_the_others, NULL);
    test_add("published figures have these verdicts", published_figures_have_these_verdicts, NULL);
    test_add("distributions have their known values", distributions_have_their_known_values, NULL);
    test_add("theory agrees with the library", theory_agrees_with_the_library, NULL);
    test_add("the variance of one position is the occupancy's", the_variance_of_one_position_is_the_occupancys, NULL);
    test_add_once("theory has the spread of many runs", theory_has_the_spread_of_many_runs, NULL);
    test_add("figures are read as printed", figures_are_read_as_printed, NULL);
    test_add("every figure has its cell", every_figure_has_its_cell, NULL);
    test_add("verdicts follow the rule", verdicts_follow_the_rule, NULL);
    test_add("few counts are judged exactly", few_counts_are_judged_exactly, NULL);
    test_add("an overview that differs is a misprint", an_overview_that_differs_is_a_misprint, NULL);
    test_add("figures change verdicts only", figures_change_verdicts_only, NULL);
    test_add("no figure takes part in measuring", no_figure_takes_part_in_measuring, NULL);
    test_add("many cells may be farther off than one", many_cells_may_be_farther_off_than_one, NULL);
    test_add_once("one sound book in a hundred is accused", one_sound_book_in_a_hundred_is_accused, NULL);
    test_add_once("a table may be neither too bad nor too good", a_table_may_be_neither_too_bad_nor_too_good, NULL);
    test_add_once("published tables scatter as they do", published_tables_scatter_as_they_do, NULL);
    return test_run("lab/judge", argc, argv);
}
