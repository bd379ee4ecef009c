/* The same seed gives the same numbers, whatever the threads and whatever is measured beside. */
#include <stdlib.h>
#include <string.h>

#include "lab/cells.h"
#include "support/env.h"
#include "support/runner.h"

static void threads_do_not_change_a_number(void **state)
{
    static lab_config configs[CELLS_MAX];
    size_t count = all_cells(configs);
    lab_settings settings = {.urls = test_sanitized() ? 200 : 700, .runs = 9, .seed = 2, .threads = 1};
    (void)state;
    lab_results one = measure(configs, count, &settings);
    for (unsigned threads = 2; threads <= 20; threads *= 3) {
        settings.threads = threads;
        lab_results many = measure(configs, count, &settings);
        assert_int_equal(many.jobs, one.jobs);
        assert_memory_equal(many.counts, one.counts, one.jobs * settings.runs * sizeof *one.counts);
        assert_memory_equal(many.marked, one.marked, one.filters * settings.runs * sizeof *one.marked);
        lab_results_free(&many);
    }
    lab_results_free(&one);
}

static void neighbours_do_not_change_a_number(void **state)
{
    static lab_config configs[CELLS_MAX];
    size_t count = all_cells(configs);
    lab_settings settings = {.urls = test_sanitized() ? 200 : 700, .runs = 2, .seed = 2, .threads = 2};
    (void)state;
    lab_results all = measure(configs, count, &settings);
    for (size_t i = 0; i < count; i += 7) {
        lab_results alone = measure(&configs[i], 1, &settings);
        for (uint64_t run = 0; run < settings.runs; run++)
            check(lab_count(&alone, run, 0) == lab_count(&all, run, i), "cell %zu, run %llu", i,
                  (unsigned long long)run);
        lab_results_free(&alone);
    }
    lab_results_free(&all);
}

static void another_seed_is_another_experiment(void **state)
{
    lab_config config = {"jenkins", 2, 2.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0};
    lab_settings settings = {.urls = 5000, .runs = 3, .seed = 1, .threads = 1};
    (void)state;
    lab_results one = measure(&config, 1, &settings);
    settings.seed = 2;
    lab_results other = measure(&config, 1, &settings);
    assert_memory_not_equal(one.counts, other.counts, settings.runs * sizeof *one.counts);
    assert_true(one.counts[0] != one.counts[1] || one.counts[1] != one.counts[2]);
    lab_results_free(&one);
    lab_results_free(&other);
}

static void count_calls(void *context, const lab_tally *tally)
{
    uint64_t *calls = context;
    assert_int_equal(tally->done, ++*calls);
    assert_int_equal(tally->runs, 5);
    assert_true(tally->work_done <= tally->work * 1.000001);
}

static void progress_is_told_once_a_run(void **state)
{
    lab_config config = {"jenkins", 2, 2.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0};
    uint64_t calls = 0;
    lab_settings settings = {
        .urls = 500, .runs = 5, .seed = 1, .threads = 3, .progress = count_calls, .context = &calls};
    (void)state;
    lab_results results = measure(&config, 1, &settings);
    assert_int_equal(calls, 5);
    lab_results_free(&results);
}

int main(int argc, char **argv)
{
    test_add("threads do not change a number", threads_do_not_change_a_number, NULL);
    test_add("neighbours do not change a number", neighbours_do_not_change_a_number, NULL);
    test_add("another seed is another experiment", another_seed_is_another_experiment, NULL);
    test_add("progress is told once a run", progress_is_told_once_a_run, NULL);
    return test_run("lab/threads_runs", argc, argv);
}
