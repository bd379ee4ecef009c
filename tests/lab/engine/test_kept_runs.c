/*
 * Finished runs in a file: a measurement that stops anywhere goes on there, and in the end has the numbers of one that
 * was never interrupted. What is in the file is not trusted.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lab/engine/study.h"
#include "support/runner.h"
#include "support/scratch.h"

enum { RUNS = 12 };

static const char *const ids[] = {"thesis-5.5", "thesis-5.17"};

/* ---- measuring that stops ---- */

typedef struct counter {
    uint64_t measured, stop_after, kill_after;
    atomic_bool stop;
} counter;

static void count_run(void *context, const lab_tally *tally)
{
    counter *counter = context;
    counter->measured++;
    assert_true(tally->done <= tally->runs);
    if (counter->measured == counter->stop_after)
        atomic_store(&counter->stop, true);
    if (counter->measured == counter->kill_after)
        (void)raise(SIGKILL);
}

static lab_settings settings_of(counter *counter, lab_keep *keep)
{
    return (lab_settings){.urls = 300,
                          .runs = RUNS,
                          .seed = 3,
                          .threads = 2,
                          .keep = keep,
                          .stop = &counter->stop,
                          .progress = count_run,
                          .context = counter};
}

/* Measures, and keeps what was done unless all is; how many runs that took. */
static uint64_t measure(lab_book *book, const char *folder, const char *maker, counter counter, int wanted)
{
    lab_keep *keep = lab_keep_new(folder, maker, false);
    lab_settings settings = settings_of(&counter, keep);
    int code = lab_book_measure(book, ids, 2, &settings);
    check(code == wanted, "%d: %s", code, vidi_message());
    lab_keep_end(keep, false);
    return counter.measured;
}

static void must_be_same(const lab_book *a, const lab_book *b)
{
    assert_int_equal(a->results.jobs, b->results.jobs);
    assert_memory_equal(a->results.counts, b->results.counts, RUNS * a->results.jobs * sizeof(uint64_t));
    assert_memory_equal(a->results.marked, b->results.marked, RUNS * a->results.filters * sizeof(uint64_t));
    for (size_t i = 0; i < a->finding_count; i++)
        assert_memory_equal(&a->findings[i].measured, &b->findings[i].measured, sizeof(double));
}

/* Measured once, without keeping anything. */
static const lab_book *uninterrupted(void)
{
    static lab_book book;
    counter counter = {.measured = 0};
    lab_settings settings = settings_of(&counter, NULL);
    if (book.count == 0) {
        assert_int_equal(lab_book_measure(&book, ids, 2, &settings), VIDI_OK);
        assert_int_equal(counter.measured, RUNS);
    }
    return &book;
}

/* Goes on after what is in the folder: with the numbers of an uninterrupted one, and so many runs fewer. */
static void must_go_on(const char *folder, uint64_t least_kept)
{
    lab_book book;
    uint64_t measured = measure(&book, folder, "this", (counter){.measured = 0}, VIDI_OK);
    check(measured <= RUNS - least_kept, "%llu runs were measured again", (unsigned long long)measured);
    assert_int_equal(book.tally.done, RUNS);
    must_be_same(&book, uninterrupted());
    lab_book_free(&book);
}

static void stop_after(const char *folder, uint64_t runs)
{
    lab_book book;
    measure(&book, folder, "this", (counter){.stop_after = runs}, LAB_STOPPED);
    lab_book_free(&book);
}

static void a_stopped_measurement_goes_on(void **state)
{
    test_scratch folder;
    (void)state;
    for (uint64_t runs = 1; runs < RUNS - 2; runs += 4) {
        test_scratch_make(&folder);
        stop_after(folder.path, runs);
        must_go_on(folder.path, runs);
        test_scratch_remove(&folder);
    }
}

static void a_killed_measurement_goes_on(void **state)
{
    test_scratch folder;
    int status;
    (void)state;
    test_scratch_make(&folder);
    pid_t child = fork();
    if (child == 0) {
        lab_book book;
        measure(&book, folder.path, "this", (counter){.kill_after = 5}, VIDI_OK);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    must_go_on(folder.path, 5);
    test_scratch_remove(&folder);
}

/* Fewer runs, more runs and more threads are the same runs. Other programs' are not, nor are those of other URLs. */
static void only_the_same_runs_are_taken(void **state)
{
    test_scratch folder;
    lab_book book;
    (void)state;
    test_scratch_make(&folder);
    stop_after(folder.path, 6);
    assert_int_equal(measure(&book, folder.path, "another", (counter){.measured = 0}, VIDI_OK), RUNS);
    lab_book_free(&book);
    counter counter = {.measured = 0};
    lab_keep *keep = lab_keep_new(folder.path, "this", false);
    lab_settings settings = settings_of(&counter, keep);
    settings.urls = 301;
    assert_int_equal(lab_book_measure(&book, ids, 2, &settings), VIDI_OK);
    assert_int_equal(counter.measured, RUNS);
    lab_book_free(&book);
    lab_keep_end(keep, true);
    settings = settings_of(&counter, keep = lab_keep_new(folder.path, "this", false));
    settings.runs = 4;
    counter.measured = 0;
    assert_int_equal(lab_book_measure(&book, ids, 2, &settings), VIDI_OK);
    check(counter.measured <= 1, "%llu of 4 runs were measured again", (unsigned long long)counter.measured);
    lab_book_free(&book);
    lab_keep_end(keep, false);
    must_go_on(folder.path, 6);
    test_scratch_remove(&folder);
}

static void two_at_a_time_do_not_share_a_file(void **state)
{
    test_scratch folder;
    lab_book book;
    (void)state;
    test_scratch_make(&folder);
    stop_after(folder.path, 6);
    lab_keep *first = lab_keep_new(folder.path, "this", false);
    counter counter = {.stop_after = 1};
    lab_settings settings = settings_of(&counter, first);
    assert_int_equal(lab_book_measure(&book, ids, 2, &settings), LAB_STOPPED);
    lab_book_free(&book);
    assert_true(lab_keep_count(first) >= 6);
    assert_int_equal(measure(&book, folder.path, "this", (struct counter){.measured = 0}, VIDI_OK), RUNS);
    lab_book_free(&book);
    lab_keep_end(first, false);
    must_go_on(folder.path, 7);
    test_scratch_remove(&folder);
}

static void what_is_forgotten_is_gone(void **state)
{
    test_scratch folder;
    lab_book book;
    counter counter = {.measured = 0};
    (void)state;
    test_scratch_make(&folder);
    lab_keep *keep = lab_keep_new(folder.path, "this", false);
    lab_settings settings = settings_of(&counter, keep);
    assert_int_equal(lab_book_measure(&book, ids, 2, &settings), VIDI_OK);
    lab_book_free(&book);
    assert_int_equal(test_folder_count(folder.path, "lab-"), 1);
    lab_keep_end(keep, true);
    assert_int_equal(test_folder_count(folder.path, "lab-"), 0);
    test_scratch_remove(&folder);
}

static void fresh_takes_nothing(void **state)
{
    test_scratch folder;
    lab_book book;
    counter counter = {.measured = 0};
    (void)state;
    test_scratch_make(&folder);
    stop_after(folder.path, 6);
    lab_keep *keep = lab_keep_new(folder.path, "this", true);
    lab_settings settings = settings_of(&counter, keep);
    assert_int_equal(lab_book_measure(&book, ids, 2, &settings), VIDI_OK);
    assert_int_equal(counter.measured, RUNS);
    lab_book_free(&book);
    lab_keep_end(keep, true);
    test_scratch_remove(&folder);
}

/* ---- files that are not as they were written ---- */

static unsigned char *kept_file(const test_scratch *folder, char name[64], size_t *bytes)
{
    DIR *entries = opendir(folder->path);
    struct dirent *entry;
    assert_non_null(entries);
    name[0] = 0;
    while ((entry = readdir(entries)))
        if (strncmp(entry->d_name, "lab-", 4) == 0)
            snprintf(name, 64, "%.60s", entry->d_name);
    closedir(entries);
    assert_true(name[0] != 0);
    return test_file_load(folder, name, bytes);
}

/* Measures with the bytes in the kept file's place: how many runs that took; there is a warning, or not. */
static uint64_t measure_with(const test_scratch *folder, const char *name, const void *data, size_t bytes, bool warns)
{
    lab_book book;
    counter counter = {.measured = 0};
    lab_keep *keep = lab_keep_new(folder->path, "this", false);
    lab_settings settings = settings_of(&counter, keep);
    test_file_save(folder, name, data, bytes);
    assert_int_equal(lab_book_measure(&book, ids, 2, &settings), VIDI_OK);
    must_be_same(&book, uninterrupted());
    check((lab_keep_warning(keep)[0] != 0) == warns, "warning: '%s'", lab_keep_warning(keep));
    lab_book_free(&book);
    lab_keep_end(keep, true);
    return counter.measured;
}

static void every_end_that_is_cut_off_is_survived(void **state)
{
    test_scratch folder;
    char name[64];
    size_t bytes;
    (void)state;
    test_scratch_make(&folder);
    stop_after(folder.path, 4);
    unsigned char *data = kept_file(&folder, name, &bytes);
    size_t record = (bytes - 32) / 5; /* or four, if no other run was about to end */
    for (size_t cut = 1; cut < bytes - 32; cut += record / 3 + 1)
        (void)measure_with(&folder, name, data, bytes - cut, false);
    assert_int_equal(measure_with(&folder, name, data, 32, false), RUNS);
    assert_int_equal(measure_with(&folder, name, data, 0, false), RUNS);
    assert_int_equal(measure_with(&folder, name, data, 31, true), RUNS);
    free(data);
    test_scratch_remove(&folder);
}

/* A changed byte in the head or in a row: all is measured again. In a size it may look like an end that is cut off. */
static void a_file_that_was_tampered_with_is_not_used(void **state)
{
    static const size_t places[] = {0, 8, 16, 31, 32, 40, 60, 100, 200};
    test_scratch folder;
    char name[64];
    size_t bytes;
    (void)state;
    test_scratch_make(&folder);
    stop_after(folder.path, 6);
    unsigned char *data = kept_file(&folder, name, &bytes);
    assert_true(bytes > 1000);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        data[places[i]] ^= 1;
        uint64_t measured = measure_with(&folder, name, data, bytes, true);
        check(measured == RUNS, "byte %zu: %llu runs", places[i], (unsigned long long)measured);
        data[places[i]] ^= 1;
    }
    data[bytes - 1] ^= 1;
    assert_int_equal(measure_with(&folder, name, data, bytes, true), RUNS);
    data[bytes - 1] ^= 1;
    data[48 + 6] ^= 1;
    assert_int_equal(measure_with(&folder, name, data, bytes, false), RUNS);
    data[48 + 6] ^= 1;
    assert_true(measure_with(&folder, name, data, bytes, false) <= RUNS - 6);
    free(data);
    test_scratch_remove(&folder);
}

static void no_place_is_no_error(void **state)
{
    static const char *const places[] = {"/proc/nowhere/vidi", "/dev/null/vidi"};
    lab_book book;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(measure(&book, places[i], "this", (counter){.measured = 0}, VIDI_OK), RUNS);
        lab_book_free(&book);
    }
    lab_keep_end(NULL, true);
    assert_int_equal(lab_keep_count(NULL), 0);
}

/* ---- other files ---- */

static const char *const old_names[] = {"lab-00000000000000000000000000000001", "lab-0000000000000000000000000000000x",
                                        "lab-100000000000000000000000000000011", "something"};

static void age(const test_scratch *folder, const char *name, int days)
{
    struct timespec when = {.tv_sec = time(NULL) - (time_t)days * 24 * 60 * 60};
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    assert_int_equal(utimensat(AT_FDCWD, path, (const struct timespec[]){when, when}, 0), 0);
}

static void begin_and_end(const char *folder, const char *what)
{
    lab_keep *keep = lab_keep_new(folder, "this", false);
    lab_keep_begin(keep, what);
    lab_keep_end(keep, true);
}

static void what_nobody_goes_on_with_is_removed(void **state)
{
    test_scratch folder;
    (void)state;
    test_scratch_make(&folder);
    for (size_t i = 0; i < sizeof old_names / sizeof *old_names; i++) {
        test_file_save(&folder, old_names[i], "x", 1);
        age(&folder, old_names[i], 29);
    }
    begin_and_end(folder.path, "another");
    assert_int_equal(test_folder_count(folder.path, "lab-"), 3);
    for (size_t i = 0; i < sizeof old_names / sizeof *old_names; i++)
        age(&folder, old_names[i], 31);
    begin_and_end(folder.path, "another");
    assert_int_equal(test_folder_count(folder.path, "lab-"), 2);
    assert_int_equal(test_folder_count(folder.path, old_names[0]), 0);
    assert_int_equal(test_folder_count(folder.path, "something"), 1);
    test_scratch_remove(&folder);
}

/* An old file that somebody goes on with is not removed by another, nor by himself. */
static void what_is_in_use_is_not_removed(void **state)
{
    test_scratch folder;
    char name[64];
    size_t bytes;
    (void)state;
    test_scratch_make(&folder);
    stop_after(folder.path, 6);
    free(kept_file(&folder, name, &bytes));
    age(&folder, name, 100);
    must_go_on(folder.path, 6);
    lab_keep *keep = lab_keep_new(folder.path, "this", false);
    lab_keep_begin(keep, "mine");
    lab_keep_add(keep, 0, 0, "row", 3);
    assert_int_equal(lab_keep_count(keep), 1);
    assert_int_equal(test_folder_count(folder.path, "lab-"), 2);
    DIR *entries = opendir(folder.path);
    struct dirent *entry;
    while ((entry = readdir(entries)))
        if (strncmp(entry->d_name, "lab-", 4) == 0)
            age(&folder, entry->d_name, 100);
    closedir(entries);
    begin_and_end(folder.path, "another");
    assert_int_equal(test_folder_count(folder.path, "lab-"), 1); /* the one that is open */
    lab_keep_end(keep, false);
    begin_and_end(folder.path, "another");
    assert_int_equal(test_folder_count(folder.path, "lab-"), 0);
    test_scratch_remove(&folder);
}

/* Makes and removes a file over and over: how often it was not there although it was ours. */
static int without_a_name(const char *folder)
{
    int count = 0;
    for (int i = 0; i < 8000; i++) {
        lab_keep *keep = lab_keep_new(folder, "this", false);
        lab_keep_begin(keep, "the same");
        lab_keep_add(keep, 0, 0, "row", 3);
        count += lab_keep_count(keep) > 0 && test_folder_count(folder, "lab-") == 0;
        lab_keep_end(keep, true);
    }
    return count;
}

/* Between opening a file and having it alone, the other may have removed it. */
static void nobody_keeps_a_file_that_has_no_name(void **state)
{
    test_scratch folder;
    int status;
    (void)state;
    test_scratch_make(&folder);
    pid_t child = fork();
    if (child == 0)
        _exit(without_a_name(folder.path) > 0);
    assert_int_equal(without_a_name(folder.path), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    test_scratch_remove(&folder);
}

/* ---- studies ---- */

static const char *const rows[] = {"a", "b", NULL}, *const columns[] = {"x", NULL};
static _Atomic uint64_t measured_runs;
static uint64_t fails_from = RUNS;
static bool apart;

static int measure_made_up(const lab_settings *settings, uint64_t run, double *numbers)
{
    atomic_fetch_add(&measured_runs, 1);
    if (run >= fails_from)
        return LAB_STOPPED;
    numbers[0] = (double)lab_run_start(settings->seed, run);
    numbers[1] = (double)run / 3;
    return VIDI_OK;
}

static int measure_apart(void *context, const lab_study *study, const lab_settings *settings, uint64_t run,
                         double *numbers)
{
    (void)context;
    return study->measure(settings, run, numbers);
}

/* Measures the study, which stops before run `fails`: how many it took. */
static uint64_t measure_runs(const lab_study *study, const char *folder, uint64_t runs, uint64_t fails)
{
    lab_settings settings = {
        .urls = 1000, .runs = runs, .seed = 1, .threads = 1, .part = 7, .run_apart = apart ? measure_apart : NULL};
    lab_keep *keep = settings.keep = lab_keep_new(folder, "this", false);
    lab_numbers numbers;
    lab_keep_begin(keep, "a study");
    measured_runs = 0;
    fails_from = fails;
    int code = lab_study_measure(&numbers, study, &settings);
    assert_int_equal(code, fails < runs ? LAB_STOPPED : VIDI_OK);
    for (uint64_t run = 0; run < runs && code == VIDI_OK; run++) {
        assert_true(numbers.numbers[2 * run] >= (double)lab_run_start(1, run));
        assert_true(numbers.numbers[2 * run + 1] * 3 >= (double)run);
    }
    lab_numbers_free(&numbers);
    lab_keep_end(keep, false);
    return measured_runs;
}

static uint64_t measure_study(const lab_study *study, const char *folder, uint64_t fails)
{
    return measure_runs(study, folder, RUNS, fails);
}

static void studies_go_on_and_times_of_one_process_only_if_they_are_complete(void **state)
{
    lab_study study = {.id = "made-up", .rows = rows, .columns = columns, .measure = measure_made_up}, timed = study;
    test_scratch folder;
    (void)state;
    timed.timed = true;
    test_scratch_make(&folder);
    assert_int_equal(measure_study(&study, folder.path, 5), 6);
    assert_int_equal(measure_study(&study, folder.path, RUNS), RUNS - 5);
    assert_int_equal(measure_study(&study, folder.path, RUNS), 0);
    test_scratch_empty(&folder);
    assert_int_equal(measure_study(&timed, folder.path, 5), 6);
    assert_int_equal(measure_runs(&timed, folder.path, 4, 4), 4);     /* not those that were done before the end */
    assert_int_equal(measure_study(&timed, folder.path, RUNS), RUNS); /* nor some of them from another time */
    assert_int_equal(measure_study(&timed, folder.path, RUNS), 0);
    test_scratch_remove(&folder);
}

static void times_of_several_processes_go_on_run_by_run(void **state)
{
    lab_study timed = {.id = "made-up", .rows = rows, .columns = columns, .measure = measure_made_up, .timed = true};
    test_scratch folder;
    (void)state;
    test_scratch_make(&folder);
    apart = true;
    assert_int_equal(measure_study(&timed, folder.path, 5), 6);
    assert_int_equal(measure_runs(&timed, folder.path, 4, 4), 0);
    assert_int_equal(measure_study(&timed, folder.path, RUNS), RUNS - 5);
    assert_int_equal(measure_study(&timed, folder.path, RUNS), 0);
    apart = false;
    test_scratch_remove(&folder);
}

/* A measurement in two stages that was stopped in either has the numbers and the length of one that was not. */
static void the_first_stage_goes_on_too(void **state)
{
    static const char *const names[] = {"further-delay"};
    lab_book whole, book;
    (void)state;
    for (int i = 0; i < 3; i++) {
        test_scratch folder;
        counter none = {.measured = 0}, first = {.measured = 0};
        lab_settings settings = settings_of(&none, NULL);
        settings.threads = 1;
        settings.runs = 24;
        settings.precision = 0.5;
        test_scratch_make(&folder);
        assert_int_equal(lab_book_measure(&whole, names, 1, &settings), VIDI_OK);
        uint64_t runs = whole.numbers[0].settings.runs;
        assert_in_range(runs, 17, 24);
        const uint64_t stops[] = {5, runs - LAB_FIRST_RUNS, 15}; /* as many are kept as the second stage has */
        uint64_t stop = first.stop_after = stops[i];
        settings.stop = &first.stop;
        settings.context = &first;
        settings.keep = lab_keep_new(folder.path, "this", false);
        assert_int_equal(lab_book_measure(&book, names, 1, &settings), LAB_STOPPED);
        lab_book_free(&book);
        lab_keep_end(settings.keep, false);
        none.measured = 0;
        settings.stop = NULL;
        settings.context = &none;
        settings.keep = lab_keep_new(folder.path, "this", false);
        assert_int_equal(lab_book_measure(&book, names, 1, &settings), VIDI_OK);
        assert_true(none.measured <= runs - stop);
        assert_int_equal(book.numbers[0].settings.runs, runs);
        assert_int_equal(book.tally.done, runs);
        assert_int_equal(book.tally.runs, runs);
        assert_memory_equal(book.numbers[0].numbers, whole.numbers[0].numbers,
                            runs * lab_study_rows(book.numbers[0].study) * lab_study_columns(book.numbers[0].study) *
                                sizeof(double));
        lab_book_free(&book);
        lab_book_free(&whole);
        lab_keep_end(settings.keep, true);
        test_scratch_remove(&folder);
    }
}

int main(int argc, char **argv)
{
    test_add("a stopped measurement goes on", a_stopped_measurement_goes_on, NULL);
    test_add("a killed measurement goes on", a_killed_measurement_goes_on, NULL);
    test_add("only the same runs are taken", only_the_same_runs_are_taken, NULL);
    test_add("two at a time do not share a file", two_at_a_time_do_not_share_a_file, NULL);
    test_add("what is forgotten is gone", what_is_forgotten_is_gone, NULL);
    test_add("fresh takes nothing", fresh_takes_nothing, NULL);
    test_add("every end that is cut off is survived", every_end_that_is_cut_off_is_survived, NULL);
    test_add("a file that was tampered with is not used", a_file_that_was_tampered_with_is_not_used, NULL);
    test_add("no place is no error", no_place_is_no_error, NULL);
    test_add("what nobody goes on with is removed", what_nobody_goes_on_with_is_removed, NULL);
    test_add("what is in use is not removed", what_is_in_use_is_not_removed, NULL);
    test_add("nobody keeps a file that has no name", nobody_keeps_a_file_that_has_no_name, NULL);
    test_add("studies go on, and times of one process only if they are complete",
             studies_go_on_and_times_of_one_process_only_if_they_are_complete, NULL);
    test_add("times of several processes go on run by run", times_of_several_processes_go_on_run_by_run, NULL);
    test_add("the first stage goes on, too", the_first_stage_goes_on_too, NULL);
    return test_run("lab/keep", argc, argv);
}
