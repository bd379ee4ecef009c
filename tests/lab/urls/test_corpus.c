/* URLs from files: each once, all of a run different, and theory holds for them as for synthetic ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/cells.h"
#include "lab/engine/study.h"
#include "support/runner.h"

enum { LINES = 5000 };

/* The index-th URL of our files. */
static void line_at(char *line, size_t room, size_t index)
{
    snprintf(line, room, "http://host%zu.example/%s/page-%zu", index % 97, index % 2 ? "a" : "b", index);
}

static void add(lab_corpus *corpus, const char *line)
{
    assert_int_equal(lab_corpus_add(corpus, (vidi_str){line, strlen(line)}), VIDI_OK);
}

/* LINES different URLs from `first` on, with repeats, and lines that are left out. */
static lab_corpus *read_from(size_t first)
{
    static const char *const files[] = {"first", "second"};
    lab_corpus *corpus;
    char line[100], more[400];
    assert_int_equal(lab_corpus_make(&corpus, files, 2), VIDI_OK);
    for (size_t i = 0; i < LINES; i++) {
        line_at(line, sizeof line, (first + i) % LINES);
        add(corpus, line);
        if (i % 100 != 7)
            continue;
        add(corpus, line);
        add(corpus, "");
        snprintf(more, sizeof more, "%s%s1", line, LAB_CORPUS_AGAIN);
        add(corpus, more);
        snprintf(more, sizeof more, "http://long.example/%0300d", 1);
        add(corpus, more);
    }
    assert_int_equal(lab_corpus_end(corpus), VIDI_OK);
    return corpus;
}

static lab_corpus *read_all(void)
{
    return read_from(0);
}

static void each_line_is_there_once(void **state)
{
    lab_corpus *corpus = read_all();
    static unsigned char seen[LINES];
    char url[LAB_URL_ROOM + 1], line[100];
    (void)state;
    assert_int_equal(lab_corpus_count(corpus), LINES);
    assert_string_equal(lab_corpus_file(corpus, 0), "first");
    assert_string_equal(lab_corpus_file(corpus, 1), "second");
    assert_null(lab_corpus_file(corpus, 2));
    for (uint64_t i = 0; i < LINES; i++) {
        url[lab_corpus_url(url, corpus, 12345, i)] = 0;
        const char *number = strrchr(url, '-');
        assert_non_null(number);
        size_t index = strtoul(number + 1, NULL, 10);
        assert_true(index < LINES && !seen[index]);
        line_at(line, sizeof line, index);
        assert_string_equal(url, line);
        seen[index] = 1;
    }
    lab_corpus_free(corpus);
}

/* Three times as many as there are: all different, and those within are lines. */
static void urls_beyond_the_end_are_new_ones(void **state)
{
    lab_corpus *corpus = read_all();
    lab_settings settings = {.urls = LINES, .seed = 4, .corpus = corpus};
    vidi_options options = VIDI_OPTIONS_INIT;
    char url[LAB_URL_ROOM];
    vidi_set *set;
    (void)state;
    options.kind = "hashset";
    options.canon = "none";
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    for (uint64_t i = 0; i < 3 * LINES; i++) {
        vidi_str text = {url, lab_url(url, &settings, 2, i)};
        check(vidi_add(set, text) == VIDI_NEW, "URL %llu again: %.*s", (unsigned long long)i, (int)text.len, url);
        bool again = memmem(url, text.len, LAB_CORPUS_AGAIN, strlen(LAB_CORPUS_AGAIN)) != NULL;
        assert_int_equal(again, i >= LINES);
    }
    vidi_close(set);
    lab_corpus_free(corpus);
}

static void runs_have_orders_of_their_own(void **state)
{
    lab_corpus *corpus = read_all();
    lab_settings settings = {.seed = 1, .corpus = corpus};
    char a[LAB_URL_ROOM], b[LAB_URL_ROOM];
    unsigned same = 0;
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        size_t length = lab_url(a, &settings, 0, i);
        same += length == lab_url(b, &settings, 1, i) && memcmp(a, b, length) == 0;
    }
    check(same < 20, "%u of 1000 are the same in both runs", same);
    lab_corpus_free(corpus);
}

static void the_mark_is_that_of_the_urls(void **state)
{
    lab_corpus *one = read_from(0), *same = read_from(0), *other = read_from(1);
    (void)state;
    assert_true(lab_corpus_mark(one) == lab_corpus_mark(same));
    assert_true(lab_corpus_mark(one) != lab_corpus_mark(other));
    lab_corpus_free(one);
    lab_corpus_free(same);
    lab_corpus_free(other);
}

/* What can be wrong is said, and what to do. */
static void must_say(int code, const char *what)
{
    check(code < 0 && strstr(vidi_message(), what), "%d, '%s' without '%s'", code, vidi_message(), what);
}

static void what_is_missing_is_said(void **state)
{
    static const char *const counting[] = {"counting-errors"}, *const plain[] = {"thesis-5.5"};
    lab_corpus *corpus = read_all(), *none;
    (void)state;
    assert_int_equal(lab_corpus_make(&none, NULL, 0), VIDI_OK);
    must_say(lab_corpus_end(none), "no URLs");
    lab_corpus_free(none);
    lab_settings settings = {.urls = 2501, .runs = 1, .seed = 1, .threads = 1, .corpus = corpus};
    lab_book book;
    must_say(lab_book_measure(&book, plain, 1, &settings), "5000 different URLs, and runs of 2501 need 5002");
    assert_non_null(strstr(vidi_message(), "--urls 2500"));
    lab_book_free(&book);
    settings.urls = 2500;
    assert_int_equal(lab_book_measure(&book, plain, 1, &settings), VIDI_OK);
    lab_book_free(&book);
    must_say(lab_book_measure(&book, counting, 1, &settings), "--urls 2000");
    lab_book_free(&book);
    settings.urls = 2000;
    assert_int_equal(lab_book_measure(&book, counting, 1, &settings), VIDI_OK);
    lab_book_free(&book);
    lab_corpus_free(corpus);
}

static void every_cell_fits_theory(void **state)
{
    static lab_config configs[CELLS_MAX];
    lab_corpus *corpus = read_all();
    size_t count = all_cells(configs);
    lab_settings settings = {.urls = 2000, .runs = 20, .seed = 2, .threads = 2, .corpus = corpus};
    (void)state;
    lab_results results = measure(configs, count, &settings);
    for (size_t i = 0; i < count; i++) {
        lab_finding finding = lab_judge(&configs[i], &results, i, NULL);
        check(finding.fits, "cell %zu (%s, k = %u, M = %g): theory %g %%, measured %g %%, z = %.2f", i,
              configs[i].functions, configs[i].k, configs[i].multiplier, finding.theory, finding.measured, finding.z);
    }
    lab_results_free(&results);
    lab_corpus_free(corpus);
}

/* Different functions have no salts: on the same URLs all runs are the same, and judged as one. */
static void shared_urls_without_salts_are_judged_as_one_run(void **state)
{
    lab_corpus *corpus = read_all();
    lab_config configs[] = {{"jenkins+murmur2", 2, 2.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0},
                            {"jenkins", 2, 2.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0}};
    lab_settings settings = {.urls = 2000, .runs = 16, .seed = 2, .threads = 2, .corpus = corpus};
    (void)state;
    lab_results results = measure(configs, 2, &settings);
    for (size_t i = 0; i < 2; i++) {
        lab_finding finding = lab_judge(&configs[i], &results, i, NULL);
        double one = lab_theory_of(&configs[i], settings.urls).variance;
        check(finding.expected.variance >= one * (i ? 1 : 16) && finding.expected.variance <= one * (i ? 1 : 16),
              "configuration %zu: variance %g, of one run %g", i, finding.expected.variance, one);
    }
    lab_results_free(&results);
    lab_corpus_free(corpus);
}

int main(int argc, char **argv)
{
    test_add("each line is there once", each_line_is_there_once, NULL);
    test_add("URLs beyond the end are new ones", urls_beyond_the_end_are_new_ones, NULL);
    test_add("runs have orders of their own", runs_have_orders_of_their_own, NULL);
    test_add("the mark is that of the URLs", the_mark_is_that_of_the_urls, NULL);
    test_add("what is missing is said", what_is_missing_is_said, NULL);
    test_add_once("every cell fits theory", every_cell_fits_theory, NULL);
    test_add("shared URLs without salts are judged as one run", shared_urls_without_salts_are_judged_as_one_run, NULL);
    return test_run("lab/corpus", argc, argv);
}
