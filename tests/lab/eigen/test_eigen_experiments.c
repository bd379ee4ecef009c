/*
 * The experiments on the eigenvalue paper: its deep URLs, its counts against sets that are filled here by hand, its
 * theory, its formulas, and the function that it prints.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash/functions.h"
#include "lab/eigen/eigen.h"
#include "lab/tables.h"
#include "support/runner.h"

static const char *const studies[] = {"eigen-fig-5",    "eigen-fig-5-oaat", "eigen-asked",   "eigen-formulas",
                                      "eigen-features", "eigen-shifts",     "eigen-similar", "eigen-time"};

enum { STUDIES = sizeof studies / sizeof *studies };

static lab_settings small(uint64_t seed)
{
    return (lab_settings){.urls = 20000, .runs = 3, .seed = seed, .threads = 2};
}

static size_t line_of(const char *const *names, const char *name)
{
    size_t line = 0;
    while (names[line] && strcmp(names[line], name) != 0)
        line++;
    check(names[line], "there is no line %s", name);
    return line;
}

static double *number_of(const lab_numbers *numbers, uint64_t run, const char *row, const char *column)
{
    const lab_study *study = numbers->study;
    size_t columns = lab_study_columns(study);
    return &numbers->numbers[(run * lab_study_rows(study) + line_of(study->rows, row)) * columns +
                             line_of(study->columns, column)];
}

/* ---- URLs ---- */

static uint64_t last_digits(const char *url, size_t length)
{
    uint64_t number = 0;
    for (size_t i = length - 10; i < length; i++)
        number = number * 10 + (uint64_t)(url[i] - '0');
    return number;
}

static void pages_of_a_site_differ_in_their_last_digits_alone(void **state)
{
    lab_settings settings = small(1);
    char first[LAB_URL_ROOM], other[LAB_URL_ROOM], letters[LAB_SITE_LETTERS];
    (void)state;
    size_t length = lab_deep_url(first, &settings, 2, 77, 0);
    for (uint64_t number = 1; number < 2000; number++) {
        assert_int_equal(lab_deep_url(other, &settings, 2, 77, number), length);
        assert_memory_equal(first, other, length - 10);
        assert_true(memcmp(first, other, length) != 0);
        assert_int_equal(last_digits(other, length) - last_digits(first, length), number);
    }
    lab_site_letters(letters, &settings, 2, 77);
    assert_memory_equal(first, "http://www.", 11);
    assert_true(first[11] == letters[0] && strncmp(first + 12, "press.", 6) == 0);
    assert_true(first[18] == letters[1] && strncmp(first + 19, "media.", 6) == 0);
    assert_true(first[25] == letters[2]);
}

/* ---- counts ---- */

static void act_by_hand(vidi_set *set, const lab_settings *settings, uint64_t run, uint64_t depth, bool asks,
                        bool others, double *seen)
{
    const uint64_t n = 1000;
    char url[LAB_URL_ROOM];
    for (uint64_t i = 0; i < n; i++) {
        uint64_t site = i / depth, number = 2 * depth * site + i % depth + (asks ? depth : 0);
        uint64_t from = asks && others ? n / depth + site : site;
        vidi_str text = {url, lab_deep_url(url, settings, run, from, number)};
        int verdict = asks ? vidi_has(set, text) : vidi_add(set, text);
        assert_true(verdict >= 0);
        *seen += verdict == VIDI_SEEN;
    }
}

static double count_by_hand(const lab_settings *settings, uint64_t run, uint64_t depth, bool others, const char *kind,
                            const char *params)
{
    vidi_set *set;
    double seen = 0, ignored = 0;
    assert_int_equal(lab_set_make(&set, settings, run, kind, params, 1000), VIDI_OK);
    act_by_hand(set, settings, run, depth, false, others, &ignored);
    act_by_hand(set, settings, run, depth, true, others, &seen);
    vidi_close(set);
    return seen;
}

typedef struct by_hand {
    const char *study, *row, *column, *kind, *params;
    uint64_t depth;
} by_hand;

static void cells_count_as_sets_filled_by_hand_do(void **state)
{
    static const by_hand cells[] = {
        {"eigen-fig-5", "depth 10", "classic", "classic", "m=32000,k=3", 10},
        {"eigen-fig-5", "depth 10", "labels", "eigen", "m=42667,m1=32000,k=3,d=1,g=labels", 10},
        {"eigen-fig-5", "depth 1", "tail", "eigen", "m=42667,m1=32000,k=3,d=1,g=tail", 1},
        {"eigen-fig-5", "depth 100", "4 functions", "classic", "m=42667,k=4", 100},
        {"eigen-fig-5", "depth 1000", "labels, equal bits", "eigen", "m=32000,k=3,d=1,g=labels", 1000},
        {"eigen-fig-5", "depth 1000", "tail, equal bits", "eigen", "m=32000,k=3,d=1,g=tail", 1000},
        {"eigen-fig-5", "depth 10", "4 functions, equal bits", "classic", "m=32000,k=4", 10},
        {"eigen-fig-5-oaat", "depth 100", "classic", "classic", "m=32000,k=3,hash=oaat", 100},
        {"eigen-asked", "depth 1", "labels, equal bits", "eigen", "m=32000,k=3,d=1,g=labels", 1},
    };
    lab_settings settings = small(4);
    lab_numbers numbers = {0};
    double sum = 0;
    (void)state;
    settings.runs = 20;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        if (!numbers.study || strcmp(numbers.study->id, cells[i].study) != 0) {
            lab_numbers_free(&numbers);
            numbers = numbers_of(cells[i].study, &settings);
        }
        for (uint64_t run = 0; run < settings.runs; run++) {
            bool others = strcmp(cells[i].study, "eigen-asked") == 0;
            double wanted = count_by_hand(&settings, run, cells[i].depth, others, cells[i].kind, cells[i].params);
            double found = *number_of(&numbers, run, cells[i].row, cells[i].column);
            check(fabs(found - wanted) < 0.5, "%s, %s, %s: %g, by hand %g", cells[i].study, cells[i].row,
                  cells[i].column, found, wanted);
            sum += wanted;
        }
    }
    lab_numbers_free(&numbers);
    check(sum > 20, "only %g false positives to compare", sum);
}

/* The paper's features are the same for all pages of a site: not one false positive less. */
static void features_of_the_host_change_nothing_deep_in_a_site(void **state)
{
    lab_settings settings = small(2);
    double sum = 0;
    (void)state;
    settings.runs = 25;
    lab_numbers numbers = numbers_of("eigen-fig-5", &settings);
    for (uint64_t run = 0; run < settings.runs; run++)
        for (size_t row = 0; row < lab_study_rows(numbers.study); row++) {
            double classic = *number_of(&numbers, run, numbers.study->rows[row], "classic");
            double labels = *number_of(&numbers, run, numbers.study->rows[row], "labels");
            check(fabs(classic - labels) < 0.5, "%s: %g and %g", numbers.study->rows[row], classic, labels);
            sum += classic;
        }
    check(sum > 30, "only %g false positives", sum);
    lab_numbers_free(&numbers);
}

/* ---- theory ---- */

static void all_cells_fit_theory(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t i = 0; i < STUDIES; i++) {
            lab_settings settings = small(seed);
            lab_table table = table_of(studies[i], &settings);
            none_fails(&table);
            lab_table_free(&table);
        }
}

/* A filter that forgets its second region is the classic one, and must be found out. */
static void a_filter_without_its_second_region_fails(void **state)
{
    lab_settings settings = {.urls = 400000, .runs = 3, .seed = 1, .threads = 2};
    lab_numbers numbers = numbers_of("eigen-asked", &settings);
    (void)state;
    lab_table sound = table_from(&numbers);
    for (uint64_t run = 0; run < settings.runs; run++) {
        *number_of(&numbers, run, "depth 1", "tail") = *number_of(&numbers, run, "depth 1", "classic");
        *number_of(&numbers, run, "depth 100", "labels") = *number_of(&numbers, run, "depth 100", "classic");
    }
    lab_table broken = table_from(&numbers);
    assert_int_not_equal(lab_table_find(&sound, "depth 1", "tail")->verdict, LAB_FAILS);
    assert_int_equal(lab_table_find(&broken, "depth 1", "tail")->verdict, LAB_FAILS);
    assert_int_equal(lab_table_find(&broken, "depth 100", "labels")->verdict, LAB_FAILS);
    lab_table_free(&sound);
    lab_table_free(&broken);
    lab_numbers_free(&numbers);
}

static void known_features_leave_the_first_region_alone(void **state)
{
    static const lab_eigen_filter labels = {"labels", "labels", 3, 1, true}, classic = {"classic", NULL, 3, 0, false};
    lab_theory known = lab_eigen_theory(&labels, 50000, 17, 50000), plain = lab_eigen_theory(&classic, 50000, 0, 0);
    lab_theory fresh = lab_eigen_theory(&labels, 50000, 50000, 0);
    (void)state;
    assert_true(fabs(known.mean - plain.mean) < 1e-9 * plain.mean);
    assert_true(fabs(known.variance - plain.variance) < 1e-9 * plain.variance);
    assert_true(fabs(plain.mean / 50000 - pow(1 - exp(-3.0 / 32), 3)) < 1e-4 * plain.mean / 50000);
    assert_true(fabs(fresh.mean / 50000 - pow(1 - exp(-3.0 / 32), 4)) < 1e-3 * fresh.mean / 50000);
}

/* ---- formulas ---- */

static void formulas_are_taken_by_the_letter(void **state)
{
    lab_settings settings = small(1);
    lab_numbers numbers = numbers_of("eigen-formulas", &settings);
    (void)state;
    lab_table table = table_from(&numbers);
    double ones = 1 - exp(-3.0 / 32), features = 1 - exp(-1 / (32 * 4 / 3.0)), first = 1 - exp(-3 / (32 * 4 / 3.0));
    const struct {
        const char *row;
        double printed;
        lab_verdict verdict;
    } wanted[] = {
        {"(1) bits that stay 0, k = 3", ones, LAB_DIFFERS},
        {"(1) bits that stay 0, k = 22", 1 - exp(-22.0 / 32), LAB_DIFFERS},
        {"(2) falsely seen, k = 3", ones * ones * ones, LAB_AGREES},
        {"(4) features falsely known", features, LAB_DIFFERS},
        {"(5) product, all features new", first * first * first * features, LAB_DIFFERS},
        {"(5) product, known sites", first * first * first * features, LAB_DIFFERS},
        {"(6) as one exponent", pow(features, 3 * log(first)), LAB_DIFFERS},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const lab_entry *entry = lab_table_find(&table, wanted[i].row, "as printed");
        assert_non_null(entry);
        check(fabs(entry->measured / wanted[i].printed - 1) < 1e-9, "%s: %g, not %g", wanted[i].row, entry->measured,
              wanted[i].printed);
        assert_int_equal(entry->verdict, wanted[i].verdict);
        assert_int_equal(entry->basis, LAB_BY_TOLERANCE);
    }
    assert_true(isnan(lab_table_find(&table, "(3) m/n for that rate", "as printed")->measured));
    assert_true(lab_table_find(&table, "(6) as one exponent", "as printed")->measured > 1);
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

/* ---- features ---- */

/* Of the lab's hosts, which have one label, the paper's feature is a letter. */
static void features_are_counted_as_by_hand(void **state)
{
    lab_settings settings = small(5);
    lab_numbers numbers = numbers_of("eigen-features", &settings);
    char url[LAB_URL_ROOM + 1];
    (void)state;
    for (uint64_t run = 0; run < settings.runs; run++) {
        bool met[256] = {false};
        double letters = 0;
        for (uint64_t i = 0; i < 1000; i++) {
            url[lab_url(url, &settings, run, i)] = 0;
            const char *host = strstr(url, "//") + 2;
            unsigned char letter = (unsigned char)(strncmp(host, "www.", 4) == 0 ? host[4] : host[0]);
            bool has_two_labels = strstr(host, ".co.uk/") != NULL; /* its "co" counts as a label */
            letters += !met[has_two_labels ? letter + 128 : letter];
            met[has_two_labels ? letter + 128 : letter] = true;
        }
        assert_true(fabs(*number_of(&numbers, run, "labels", "many sites") - letters) < 0.5);
        assert_true(fabs(*number_of(&numbers, run, "labels", "one site") - 1) < 0.5);
        assert_true(fabs(*number_of(&numbers, run, "tail", "one site") - 1000) < 0.5);
    }
    *number_of(&numbers, 1, "tail", "one site") = 999;
    lab_table table = table_from(&numbers);
    assert_int_equal(lab_table_find(&table, "tail", "one site")->verdict, LAB_FAILS);
    assert_int_equal(lab_table_find(&table, "ends", "one site")->verdict, LAB_NO_FIGURE);
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

/* ---- shifts ---- */

/* x ^ x >> shift, backwards: the top bits are as they were, and give those below. */
static uint32_t undo_right(uint32_t x, unsigned shift)
{
    uint32_t result = x;
    for (unsigned done = shift; done < 32; done += shift)
        result = x ^ result >> shift;
    return result;
}

/* x + (x << shift), backwards: the low bits are as they were, and give those above. */
static uint32_t undo_left(uint32_t x, unsigned shift)
{
    uint32_t result = x;
    for (unsigned done = shift; done < 32; done += shift)
        result = x - (result << shift);
    return result;
}

/* "Shift operations cause data to lose accuracy": the last byte can be told from the value and what came before. */
static void one_at_a_time_loses_nothing_by_its_shifts(void **state)
{
    lab_settings settings = small(1);
    char url[LAB_URL_ROOM];
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        size_t length = lab_url(url, &settings, 0, i);
        vidi_str all = {url, length}, shorter = {url, length - 1};
        uint32_t h = undo_left(vidi__oaat(&all, 1, 0), 15), before = undo_left(vidi__oaat(&shorter, 1, 0), 15);
        h = undo_left(undo_right(h, 11), 3);
        before = undo_left(undo_right(before, 11), 3);
        h = undo_left(undo_right(h, 6), 10);
        check(h - before == (unsigned char)url[length - 1], "%.*s: %u", (int)length, url, h - before);
    }
}

static void as_printed_only_lengths_count(void **state)
{
    lab_settings settings = small(3);
    lab_numbers numbers = numbers_of("eigen-shifts", &settings);
    char url[LAB_URL_ROOM];
    (void)state;
    for (uint64_t run = 0; run < settings.runs; run++) {
        double lengths[LAB_URL_ROOM] = {0}, pairs = 0, n = (double)settings.urls;
        for (uint64_t i = 0; i < settings.urls; i++)
            pairs += lengths[lab_url(url, &settings, run, i)]++;
        assert_true(fabs(*number_of(&numbers, run, "one-at-a-time, as printed", "many sites") - pairs) < 0.5);
        assert_true(fabs(*number_of(&numbers, run, "one-at-a-time, as printed", "one site") - n * (n - 1) / 2) < 0.5);
    }
    lab_numbers_free(&numbers);
}

int main(int argc, char **argv)
{
    test_add("pages of a site differ in their last digits alone", pages_of_a_site_differ_in_their_last_digits_alone,
             NULL);
    test_add("cells count as sets filled by hand do", cells_count_as_sets_filled_by_hand_do, NULL);
    test_add("features of the host change nothing deep in a site", features_of_the_host_change_nothing_deep_in_a_site,
             NULL);
    test_add_once("all cells fit theory", all_cells_fit_theory, NULL);
    test_add("a filter without its second region fails", a_filter_without_its_second_region_fails, NULL);
    test_add("known features leave the first region alone", known_features_leave_the_first_region_alone, NULL);
    test_add("formulas are taken by the letter", formulas_are_taken_by_the_letter, NULL);
    test_add("features are counted as by hand", features_are_counted_as_by_hand, NULL);
    test_add("one-at-a-time loses nothing by its shifts", one_at_a_time_loses_nothing_by_its_shifts, NULL);
    test_add("as printed only lengths count", as_printed_only_lengths_count, NULL);
    return test_run("lab/eigen", argc, argv);
}
