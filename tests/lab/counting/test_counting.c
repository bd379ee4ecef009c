/*
 * The experiments on the counting notes: memory against formulas and against sets made here, counters against theory in
 * mean and spread, and the claims on made-up figures.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/books.h"
#include "lab/tables.h"
#include "support/runner.h"

/* ---- space ---- */

static void memory_is_that_of_the_formulas(void **state)
{
    lab_settings settings = {.urls = 20000, .runs = 1, .seed = 6, .threads = 1};
    lab_numbers numbers = numbers_of("counting-space", &settings);
    lab_table table = table_from(&numbers);
    char url[LAB_URL_ROOM];
    double bytes = 0, n = 2000;
    (void)state;
    none_fails(&table);
    for (uint64_t i = 0; i < 2000; i++)
        bytes += (double)lab_url(url, &settings, 0, i);
    assert_true(fabs(entry_of(&table, "error 1e-6", "URLs")->measured - (8 * bytes / n + log2(n))) < 1e-6);
    /* 1.44 log2(1/p) and log2(n/p), of which a bit may be missing or too many. */
    assert_true(fabs(entry_of(&table, "error 1e-4", "Bloom filter")->measured / (log2(1e4) / M_LN2) - 1) < 0.03);
    assert_true(fabs(entry_of(&table, "error 1e-4", "stored hashes")->measured - log2(n * 1e4)) < 1);
    assert_true(fabs(entry_of(&table, "error 1e-2", "one hash")->measured / 99.5 - 1) < 0.02);
    assert_true(entry_of(&table, "error 1e-9", "hashset")->measured > entry_of(&table, "error 1e-9", "URLs")->measured);
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

static void a_set_that_is_too_large_fails(void **state)
{
    lab_settings settings = {.urls = 20000, .runs = 1, .seed = 6, .threads = 1};
    lab_numbers numbers = numbers_of("counting-space", &settings);
    lab_table table = table_from(&numbers);
    (void)state;
    numbers.numbers[0] *= 1.1;
    lab_table wasteful = table_from(&numbers);
    assert_int_equal(lab_table_find(&table, "error 1e-2", "Bloom filter")->verdict, LAB_NO_FIGURE);
    assert_int_equal(lab_table_find(&wasteful, "error 1e-2", "Bloom filter")->verdict, LAB_FAILS);
    lab_table_free(&table);
    lab_table_free(&wasteful);
    lab_numbers_free(&numbers);
}

/* ---- counters ---- */

/* Of a cell's numbers: variance between runs, against that which theory took for the interval. */
static void must_spread(const lab_table *table, const lab_numbers *numbers, const char *row, const char *column,
                        double asked, double tolerance)
{
    const lab_entry *entry = lab_table_find(table, row, column);
    size_t cells = table->rows * table->columns, cell = (size_t)(entry - table->entries);
    double runs = (double)numbers->settings.runs, sum = 0, squares = 0;
    for (uint64_t run = 0; run < numbers->settings.runs; run++) {
        sum += numbers->numbers[run * cells + cell];
        squares += pow(numbers->numbers[run * cells + cell], 2);
    }
    double found = (squares - sum * sum / runs) / (runs - 1);
    double half = (entry->high - entry->low) / 2 / 1.959963985 / 100 * asked;
    double theory = half * half * runs;
    check(fabs(found / theory - 1) < tolerance, "%s, %s: variance %g, not %g", row, column, found, theory);
    check(fabs(entry->z) < 4.1, "%s, %s: z = %g", row, column, entry->z);
}

static void counters_have_mean_and_spread_of_theory(void **state)
{
    lab_settings settings = {.urls = 10000, .runs = 600, .seed = 2, .threads = 2};
    lab_numbers numbers = numbers_of("counting-counters", &settings);
    lab_table table = table_from(&numbers);
    (void)state;
    none_fails(&table);
    must_spread(&table, &numbers, "2 bits", "full", ceil(3000 / M_LN2), 0.2);
    must_spread(&table, &numbers, "2 bits", "still seen", 63, 0.3);
    must_spread(&table, &numbers, "4 bits", "too large", 63, 0.2);
    must_spread(&table, &numbers, "4 bits", "forgotten", 1000, 0.3);
    assert_true(entry_of(&table, "2 bits", "full")->measured > 3);
    assert_true(fabs(entry_of(&table, "8 bits", "full")->measured) <= 0);
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

/* The same, by hand: which URLs does a filter forget when others are deleted? */
static void forgotten_urls_are_forgotten_by_a_set_made_by_hand(void **state)
{
    lab_settings settings = {.urls = 20000, .runs = 4, .seed = 9, .threads = 1};
    lab_numbers numbers = numbers_of("counting-counters", &settings);
    lab_table table = table_from(&numbers);
    double sum = 0;
    char url[LAB_URL_ROOM];
    (void)state;
    for (uint64_t run = 0; run < settings.runs; run++) {
        vidi_set *set;
        double missing = 0;
        assert_int_equal(lab_set_make(&set, &settings, run, "counting", "m=8657,k=3,width=4", 2000), VIDI_OK);
        for (uint64_t i = 0; i < 2000; i++)
            assert_true(vidi_add(set, lab_url_text(url, &settings, run, i)) >= 0);
        for (uint64_t i = 2000; i < 2040; i++)
            vidi_remove(set, lab_url_text(url, &settings, run, i));
        for (uint64_t i = 0; i < 2000; i++)
            missing += vidi_has(set, lab_url_text(url, &settings, run, i)) == VIDI_NEW;
        vidi_close(set);
        size_t cell = (size_t)(lab_table_find(&table, "4 bits", "forgotten") - table.entries);
        double found = numbers.numbers[run * table.rows * table.columns + cell];
        check(fabs(found - missing) < 0.5, "run %llu: %g, by hand %g", (unsigned long long)run, found, missing);
        sum += missing;
    }
    check(sum > 10, "only %g URLs were forgotten", sum);
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

static void counters_that_are_off_fail(void **state)
{
    static const char *const columns[] = {"memory", "full", "too large", "forgotten"};
    lab_settings settings = {.urls = 200000, .runs = 2, .seed = 3, .threads = 2};
    lab_numbers numbers = numbers_of("counting-counters", &settings);
    lab_table table = table_from(&numbers);
    (void)state;
    none_fails(&table);
    for (size_t i = 0; i < settings.runs * table.rows * table.columns; i++)
        numbers.numbers[i] *= 2;
    lab_table broken = table_from(&numbers);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        check(lab_table_find(&broken, "2 bits", columns[i])->verdict == LAB_FAILS, "%s is not noticed", columns[i]);
    lab_table_free(&table);
    lab_table_free(&broken);
    lab_numbers_free(&numbers);
}

/* ---- claims ---- */

static const char *const tables[] = {"counting-k", "counting-errors", "counting-space", "counting-counters"};

enum { TABLES = sizeof tables / sizeof *tables };

/* Rates as the formula gives them. */
static void set_rates_of_k(lab_book *book)
{
    for (unsigned bits = 4; bits <= 12; bits += 4)
        for (unsigned k = 1; k <= 12; k++) {
            char row[16], column[16];
            snprintf(row, sizeof row, "k = %u", k);
            snprintf(column, sizeof column, "%u bits", bits);
            book_set(book, "counting-k", row, column, 100 * pow(1 - exp(-(double)k / bits), k));
        }
}

static void claims_on_k_follow_the_figures(void **state)
{
    lab_book book = book_of(tables, TABLES);
    (void)state;
    for (const lab_claim *claim = lab_counting_claims; claim->id; claim++)
        if (strcmp(claim->id, "counting-formula") != 0)
            must_hold(&book, claim->id, LAB_UNJUDGED);
    set_rates_of_k(&book);
    must_hold(&book, "counting-formula", LAB_HOLDS);
    must_hold(&book, "counting-best-k", LAB_HOLDS);
    must_hold(&book, "counting-larger-k", LAB_CONDITIONS);
    must_hold(&book, "eigen-best-k", LAB_HOLDS);
    book_set(&book, "counting-k", "k = 12", NULL, 0.001);
    must_hold(&book, "counting-best-k", LAB_DOES_NOT_HOLD);
    must_hold(&book, "counting-larger-k", LAB_HOLDS);
    book_set(&book, "counting-k", "k = 1", NULL, 0.0001);
    must_hold(&book, "counting-larger-k", LAB_DOES_NOT_HOLD);
    book.tables[0].entries[5].verdict = LAB_FAILS;
    must_hold(&book, "counting-formula", LAB_DOES_NOT_HOLD);
    lab_book_free(&book);
}

static void claims_on_counters_and_space_follow_the_figures(void **state)
{
    lab_book book = book_of(tables, TABLES);
    (void)state;
    book_set(&book, "counting-errors", NULL, NULL, 6.1);
    must_hold(&book, "counting-same-error", LAB_HOLDS);
    book_set(&book, "counting-errors", "3 HF", "counters after deleting", 6.2);
    must_hold(&book, "counting-same-error", LAB_DOES_NOT_HOLD);

    book_set(&book, "counting-counters", NULL, NULL, 0);
    must_hold(&book, "counting-deleting", LAB_HOLDS);
    must_hold(&book, "counting-lookup", LAB_HOLDS);
    must_hold(&book, "counting-larger", LAB_DOES_NOT_HOLD);
    book_set(&book, "counting-counters", NULL, NULL, 4);
    must_hold(&book, "counting-deleting", LAB_CONDITIONS);
    must_hold(&book, "counting-lookup", LAB_CONDITIONS);
    must_hold(&book, "counting-larger", LAB_HOLDS);

    book_set(&book, "counting-space", NULL, NULL, 500);
    book_set(&book, "counting-space", NULL, "Bloom filter", 10);
    must_hold(&book, "counting-space", LAB_HOLDS);
    must_hold(&book, "counting-hashes", LAB_HOLDS);
    book_set(&book, "counting-space", "error 1e-9", "Bloom filter", 400);
    must_hold(&book, "counting-space", LAB_CONDITIONS);
    must_hold(&book, "counting-hashes", LAB_CONDITIONS);
    book_set(&book, "counting-space", NULL, "Bloom filter", 700);
    must_hold(&book, "counting-space", LAB_DOES_NOT_HOLD);
    must_hold(&book, "counting-hashes", LAB_DOES_NOT_HOLD);
    lab_book_free(&book);
}

int main(int argc, char **argv)
{
    test_add("memory is that of the formulas", memory_is_that_of_the_formulas, NULL);
    test_add("a set that is too large fails", a_set_that_is_too_large_fails, NULL);
    test_add_once("counters have mean and spread of theory", counters_have_mean_and_spread_of_theory, NULL);
    test_add("forgotten URLs are forgotten by a set made by hand", forgotten_urls_are_forgotten_by_a_set_made_by_hand,
             NULL);
    test_add("counters that are off fail", counters_that_are_off_fail, NULL);
    test_add("claims on k follow the figures", claims_on_k_follow_the_figures, NULL);
    test_add("claims on counters and space follow the figures", claims_on_counters_and_space_follow_the_figures, NULL);
    return test_run("lab/counting", argc, argv);
}
