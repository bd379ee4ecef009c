/* The experiments with many URLs, with few: they fit theory, whatever the seed, and what is broken is noticed. */
#include <math.h>

#include "lab/engine/study.h"
#include "support/env.h"
#include "support/runner.h"

static const char *const ids[] = {"large-lost"};

static void every_cell_fits_theory(void **state)
{
    lab_settings settings = {.urls = test_sanitized() ? 3000 : 20000, .runs = 5, .threads = 2};
    (void)state;
    for (settings.seed = 1; settings.seed <= 3; settings.seed++) {
        lab_book book;
        assert_int_equal(lab_book_measure(&book, ids, 1, &settings), VIDI_OK);
        lab_family_test test = lab_book_judge(&book);
        assert_int_equal(test.cells, 6);
        check(test.beyond == 0, "seed %llu: |z| = %.1f", (unsigned long long)settings.seed, test.largest);
        lab_book_free(&book);
    }
}

/* Half as many more than were counted contradict theory. */
static void losses_that_theory_does_not_explain_are_noticed(void **state)
{
    const lab_study *study = lab_study_find(ids[0]);
    lab_settings settings = {.urls = 3000, .runs = 3, .seed = 1, .threads = 1};
    lab_numbers numbers;
    lab_table table;
    (void)state;
    assert_int_equal(lab_study_measure(&numbers, study, &settings), VIDI_OK);
    for (uint64_t run = 0; run < 3; run++)
        numbers.numbers[run * 10] *= 1.5;
    assert_int_equal(lab_table_of_numbers(&table, &numbers), VIDI_OK);
    assert_int_equal(table.entries[0].verdict, LAB_FAILS);
    assert_int_not_equal(table.entries[1].verdict, LAB_FAILS);
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

/* What has no theory is still a share of the URLs: blocked is made for 1 %, and fingerprint loses nothing. */
static void kinds_lose_what_they_were_made_for(void **state)
{
    lab_settings settings = {.urls = test_sanitized() ? 3000 : 20000, .runs = 3, .seed = 1, .threads = 2};
    lab_book book;
    (void)state;
    assert_int_equal(lab_book_measure(&book, ids, 1, &settings), VIDI_OK);
    double blocked = lab_book_measured(&book, ids[0], "blocked for 1 %", "falsely seen");
    check(blocked > 0.5 && blocked < 1.2, "%g %%", blocked);
    assert_true(lab_book_measured(&book, ids[0], "fingerprint", "falsely seen") <= 0);
    assert_true(isnan(lab_book_entry(&book, ids[0], "blocked for 1 %", "lost")->theory));
    lab_book_free(&book);
}

int main(int argc, char **argv)
{
    test_add("every cell fits theory", every_cell_fits_theory, NULL);
    test_add("losses that theory does not explain are noticed", losses_that_theory_does_not_explain_are_noticed, NULL);
    test_add("kinds lose what they were made for", kinds_lose_what_they_were_made_for, NULL);
    return test_run("lab/large", argc, argv);
}
