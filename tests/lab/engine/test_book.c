/* Books: several experiments together, what this build cannot measure, and all cells judged together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/cells.h"
#include "lab/engine/study.h"
#include "support/runner.h"

static lab_book measure_book(const char *const *ids, size_t count, const lab_settings *settings)
{
    lab_book book;
    int code = lab_book_measure(&book, ids, count, settings);
    check(code == VIDI_OK, "measuring: %s", vidi_message());
    return book;
}

static void tables_come_in_the_papers_order(void **state)
{
    static const char *const ids[] = {"thesis-5.9", "counting-k", "thesis-5.1"};
    lab_settings settings = {.urls = 1000, .runs = 2, .seed = 1, .threads = 2};
    (void)state;
    lab_book book = measure_book(ids, 3, &settings);
    assert_int_equal(book.count, 3);
    assert_string_equal(book.tables[0].id, "thesis-5.1");
    assert_string_equal(book.tables[1].id, "thesis-5.9");
    assert_string_equal(book.tables[2].id, "counting-k");
    assert_true(lab_book_measured(&book, "thesis-5.9", "3 HF", "2.0 M") > 1);
    assert_true(isnan(lab_book_measured(&book, "thesis-5.8", "3 HF", "2.0 M")));
    lab_book_free(&book);
}

/* ---- progress ---- */

typedef struct watcher {
    uint64_t calls, runs, last;
    double work;
} watcher;

static void watch(void *context, const lab_tally *tally)
{
    watcher *watcher = context;
    assert_true(tally->done == watcher->last + 1);
    assert_true(watcher->calls == 0 || tally->runs == watcher->runs);
    assert_true(tally->work_done > watcher->work && tally->work_done <= tally->work * 1.000001);
    watcher->last = tally->done;
    watcher->runs = tally->runs;
    watcher->work = tally->work_done;
    watcher->calls++;
}

/* Of all that is there, studies too: it goes up by one each time and ends at the end. */
static void progress_is_that_of_the_whole_book(void **state)
{
    static const char *const few[] = {"thesis-5.5"};
    watcher watcher = {.calls = 0};
    lab_settings settings = {.urls = 1000, .runs = 3, .seed = 1, .threads = 2, .progress = watch, .context = &watcher};
    const char *ids[3] = {few[0], NULL, NULL};
    size_t count = 1;
    uint64_t runs = 3;
    (void)state;
    for (size_t i = 0; i < 2 && lab_study_at(i); i++) {
        ids[count++] = lab_study_at(i)->id;
        runs += lab_study_runs(lab_study_at(i), 3);
    }
    lab_book book = measure_book(ids, count, &settings);
    assert_int_equal(watcher.calls, runs);
    assert_int_equal(watcher.runs, runs);
    assert_int_equal(book.tally.done, runs);
    assert_true(book.tally.work_done >= book.tally.work * 0.999999);
    lab_book_free(&book);
}

/* The runs of a book of these experiments, which is stopped before the first. */
static uint64_t runs_of(const char *const *ids, size_t count)
{
    static const atomic_bool stop = true;
    lab_settings settings = {.urls = 1000, .runs = 1, .seed = 1, .threads = 1, .stop = &stop};
    lab_book book;
    assert_int_equal(lab_book_measure(&book, ids, count, &settings), LAB_STOPPED);
    uint64_t runs = book.tally.runs;
    lab_book_free(&book);
    return runs;
}

static void large_studies_are_measured_only_if_they_are_named(void **state)
{
    const char *ids[1];
    uint64_t runs = 1, named = 0; /* one of all configurations together */
    const lab_study *study;
    (void)state;
    for (size_t i = 0; (study = lab_study_at(i)); i++)
        if (study->only_named) {
            ids[0] = study->id;
            assert_int_equal(runs_of(ids, 1), 1);
            named++;
        } else if (!study->streams) { /* there are none */
            runs += lab_study_runs(study, 1);
        }
    assert_true(named > 0);
    assert_int_equal(runs_of(NULL, 0), runs);
}

/* ---- what a build lacks ---- */

static int measure_nothing(const lab_settings *settings, uint64_t run, double *numbers)
{
    (void)settings;
    (void)run;
    numbers[0] = 1;
    return VIDI_OK;
}

static void functions_of_other_builds_are_known(void **state)
{
    lab_config config = {"jenkins", 3, 2.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0};
    (void)state;
    assert_true(lab_config_built(&config));
    config.functions = "jenkins+murmur2";
    assert_true(lab_config_built(&config));
    config.functions = "jenkins+nohash";
    assert_false(lab_config_built(&config));
    config.functions = "nohash";
    assert_false(lab_config_built(&config));
}

static void a_study_without_its_functions_is_left_out(void **state)
{
    static const char *const rows[] = {"a", NULL}, *const columns[] = {"x", NULL};
    lab_study study = {.id = "made-up",
                       .title = "",
                       .source = "",
                       .note = "",
                       .unit = "",
                       .rows = rows,
                       .columns = columns,
                       .needs = "jenkins+nohash",
                       .measure = measure_nothing};
    lab_settings settings = {.urls = 1000, .runs = 3, .seed = 1, .threads = 1};
    lab_numbers numbers;
    lab_table table;
    (void)state;
    assert_int_equal(lab_study_measure(&numbers, &study, &settings), VIDI_OK);
    assert_int_equal(lab_table_of_numbers(&table, &numbers), VIDI_OK);
    assert_int_equal(table.entries[0].verdict, LAB_NOT_BUILT);
    assert_true(isnan(table.entries[0].measured) && isnan(table.entries[0].z));
    assert_int_equal(table.entries[0].runs, 0);
    lab_table_free(&table);
    lab_numbers_free(&numbers);
    study.needs = "jenkins";
    assert_int_equal(lab_study_measure(&numbers, &study, &settings), VIDI_OK);
    assert_int_equal(lab_table_of_numbers(&table, &numbers), VIDI_OK);
    assert_int_equal(table.entries[0].verdict, LAB_NO_FIGURE);
    assert_true(table.entries[0].measured >= 1);
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

/* A cell without a job has no measurement; its neighbours have theirs. */
static void a_cell_without_its_functions_is_left_out(void **state)
{
    const lab_experiment *experiment = lab_experiment_find("thesis-5.5");
    lab_settings settings = {.urls = 1000, .runs = 2, .seed = 1, .threads = 1};
    lab_config configs[4];
    (void)state;
    for (size_t row = 0; row < 2; row++)
        configs[row] = lab_cell_config(experiment, row, 0);
    lab_results results = measure(configs, 2, &settings);
    results.job_of[1] = LAB_NO_JOB;
    lab_finding kept = lab_judge_cell(experiment, 0, 0, &results, 0, lab_published_all);
    lab_finding lacking = lab_judge_cell(experiment, 1, 0, &results, 1, lab_published_all);
    assert_int_equal(kept.verdict, LAB_DOUBTFUL); /* alone, without its table */
    assert_int_equal(lacking.verdict, LAB_NOT_BUILT);
    assert_string_equal(lab_verdict_name(lacking.verdict), "not built");
    assert_true(isnan(lacking.measured) && isnan(lacking.z) && lacking.runs == 0);
    assert_true(lacking.theory > 39 && lacking.published.given);
    lab_finding both[] = {kept, lacking};
    lab_table table;
    assert_int_equal(lab_table_of_findings(&table, &results, both, 0, 2), VIDI_OK);
    assert_int_equal(table.entries[0].basis, LAB_BY_CHANCE);
    assert_int_equal(table.entries[1].basis, LAB_NOT_JUDGED); /* its published figure has no verdict */
    lab_table_free(&table);
    lab_results_free(&results);
}

/* Table 5.4 repeats 5.1, where SHA-1 is dependent; among the figures of 5.4 alone it would be doubtful. */
static void a_repeated_figure_has_the_verdict_of_its_own_table(void **state)
{
    static const char *const ids[] = {"thesis-5.1", "thesis-5.4"};
    lab_settings settings = {.urls = 1000, .runs = 2, .seed = 1, .threads = 1};
    lab_book both, alone;
    (void)state;
    check(lab_book_measure(&both, ids, 2, &settings) == 0, "measuring: %s", vidi_message());
    check(lab_book_measure(&alone, ids + 1, 1, &settings) == 0, "measuring: %s", vidi_message());
    if (lab_config_built(&both.findings[3].config)) {
        assert_int_equal(lab_book_entry(&both, "thesis-5.1", "SHA-1", "FP")->verdict, LAB_DEPENDENT);
        assert_int_equal(lab_book_entry(&both, "thesis-5.4", "SHA-1", "1 HF")->verdict, LAB_DEPENDENT);
        assert_int_equal(lab_book_entry(&alone, "thesis-5.4", "SHA-1", "1 HF")->verdict, LAB_DOUBTFUL);
    }
    lab_book_free(&both);
    lab_book_free(&alone);
}

/* In a build with all functions nothing is left out; in one without, just those cells. */
static void what_is_left_out_is_what_the_build_lacks(void **state)
{
    static const char *const ids[] = {"thesis-5.5", "thesis-5.7"};
    lab_settings settings = {.urls = 1000, .runs = 2, .seed = 1, .threads = 1};
    (void)state;
    lab_book book = measure_book(ids, 2, &settings);
    for (size_t i = 0; i < book.finding_count; i++) {
        bool built = lab_config_built(&book.findings[i].config);
        check((book.findings[i].verdict == LAB_NOT_BUILT) == !built, "cell %zu: %s", i,
              lab_verdict_name(book.findings[i].verdict));
        assert_int_equal(book.findings[i].runs, built ? 2 : 0);
    }
    lab_book_free(&book);
}

/* ---- together ---- */

/* Table 5.8 repeats cells of 5.5 to 5.7: they count once. */
static void repeated_cells_count_once(void **state)
{
    static const char *const ids[] = {"thesis-5.5", "thesis-5.6", "thesis-5.7", "thesis-5.8"};
    lab_settings settings = {.urls = 1000, .runs = 2, .seed = 1, .threads = 2};
    (void)state;
    lab_book without = measure_book(ids, 3, &settings), with = measure_book(ids, 4, &settings);
    lab_family_test a = lab_book_judge(&without), b = lab_book_judge(&with);
    assert_true(a.cells >= 5 && with.finding_count > without.finding_count);
    assert_int_equal(a.cells, b.cells);
    assert_memory_equal(&a.largest, &b.largest, sizeof(double));
    assert_int_equal(a.beyond, 0);
    lab_book_free(&without);
    lab_book_free(&with);
}

static void a_broken_filter_is_noticed(void **state)
{
    static const char *const ids[] = {"thesis-5.16"};
    lab_settings settings = {.urls = 5000, .runs = 3, .seed = 1, .threads = 2, .fault = LAB_SAME_SALTS};
    (void)state;
    lab_book book = measure_book(ids, 1, &settings);
    lab_family_test test = lab_book_judge(&book);
    check(test.beyond > 20 && test.largest > test.bound, "%zu beyond, largest %g", test.beyond, test.largest);
    double measured = lab_book_measured(&book, "thesis-5.16", "3 HF", "2.0 M");
    check(fabs(measured - 6.09) < 0.8, "%g %%, not 6.09 %%", measured);
    lab_book_free(&book);
}

/* What was published goes into its own fields and the verdict. */
static void a_study_is_measured_without_what_was_published(void **state)
{
    lab_study study = {.id = "thesis-5.5"}, unknown = {.id = "nothing-published"};
    lab_entry entry = {
        .row = "Jenkins", .column = "FP", .theory = NAN, .measured = 39.3, .low = 39, .high = 40, .z = 1};
    lab_entry other = entry, far = entry;
    (void)state;
    far.measured = 50;
    lab_entry_published(&entry, &study, 0.01);
    lab_entry_published(&other, &unknown, 0.01);
    lab_entry_published(&far, &study, 0.01);
    assert_int_equal(entry.verdict, LAB_AGREES);
    assert_int_equal(other.verdict, LAB_NO_FIGURE);
    assert_int_equal(far.verdict, LAB_DIFFERS);
    assert_memory_equal(&entry.measured, &other.measured, sizeof(double));
    assert_memory_equal(&entry.low, &other.low, sizeof(double));
    assert_memory_equal(&entry.high, &other.high, sizeof(double));
    assert_memory_equal(&entry.z, &other.z, sizeof(double));
}

int main(int argc, char **argv)
{
    test_add("tables come in the papers' order", tables_come_in_the_papers_order, NULL);
    test_add("progress is that of the whole book", progress_is_that_of_the_whole_book, NULL);
    test_add("large studies are measured only if they are named", large_studies_are_measured_only_if_they_are_named,
             NULL);
    test_add("functions of other builds are known", functions_of_other_builds_are_known, NULL);
    test_add("a study without its functions is left out", a_study_without_its_functions_is_left_out, NULL);
    test_add("a cell without its functions is left out", a_cell_without_its_functions_is_left_out, NULL);
    test_add("a repeated figure has the verdict of its own table", a_repeated_figure_has_the_verdict_of_its_own_table,
             NULL);
    test_add("what is left out is what the build lacks", what_is_left_out_is_what_the_build_lacks, NULL);
    test_add("repeated cells count once", repeated_cells_count_once, NULL);
    test_add("a broken filter is noticed", a_broken_filter_is_noticed, NULL);
    test_add("a study is measured without what was published", a_study_is_measured_without_what_was_published, NULL);
    return test_run("lab/book", argc, argv);
}
