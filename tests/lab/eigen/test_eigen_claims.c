/* The claims of the eigenvalue paper, on made-up figures. */
#include "lab/books.h"
#include "support/runner.h"

static const char *const studies[] = {"eigen-fig-5",    "eigen-fig-5-oaat",    "eigen-asked", "eigen-formulas",
                                      "eigen-shifts",   "eigen-similar",       "eigen-time",  "eigen-growth",
                                      "eigen-database", "eigen-database-space"};

enum { STUDIES = sizeof studies / sizeof *studies };

static void claims_follow_the_figures(void **state)
{
    lab_book book = book_of(studies, STUDIES);
    (void)state;
    for (const lab_claim *claim = lab_eigen_claims; claim->id; claim++)
        must_hold(&book, claim->id, LAB_UNJUDGED);

    book_set(&book, "eigen-fig-5", NULL, NULL, 0.0064);
    book_set(&book, "eigen-fig-5", NULL, "classic", 0.0717);
    book_set(&book, "eigen-fig-5", NULL, "labels", 0.0717);
    book_set(&book, "eigen-fig-5", NULL, "labels, equal bits", 0.16);
    book_set(&book, "eigen-fig-5-oaat", NULL, NULL, 0.0717);
    must_hold(&book, "eigen-depth", LAB_DOES_NOT_HOLD);
    must_hold(&book, "eigen-more-functions", LAB_DOES_NOT_HOLD);
    must_hold(&book, "eigen-equal-bits", LAB_DOES_NOT_HOLD);
    must_hold(&book, "eigen-deeper", LAB_DOES_NOT_HOLD);
    book_set(&book, "eigen-fig-5-oaat", "depth 10000", "classic", 0.09);
    must_hold(&book, "eigen-deeper", LAB_CONDITIONS);
    book_set(&book, "eigen-fig-5", NULL, "tail", 0.003);
    must_hold(&book, "eigen-more-functions", LAB_CONDITIONS);
    book_set(&book, "eigen-fig-5", NULL, "labels", 0.003);
    book_set(&book, "eigen-fig-5", NULL, "labels, equal bits", 0.03);
    must_hold(&book, "eigen-depth", LAB_HOLDS);
    must_hold(&book, "eigen-more-functions", LAB_HOLDS);
    must_hold(&book, "eigen-equal-bits", LAB_HOLDS);

    book_set(&book, "eigen-asked", NULL, NULL, 0.0717);
    must_hold(&book, "eigen-lower", LAB_DOES_NOT_HOLD);
    book_set(&book, "eigen-asked", "depth 10000", "labels", 0.0001);
    must_hold(&book, "eigen-lower", LAB_CONDITIONS);
    book_set(&book, "eigen-asked", NULL, "labels", 0.0001);
    must_hold(&book, "eigen-lower", LAB_HOLDS);
    lab_book_free(&book);
}

static void claims_on_hashes_and_costs_follow_the_figures(void **state)
{
    lab_book book = book_of(studies, STUDIES);
    (void)state;
    book_set(&book, "eigen-similar", NULL, NULL, 0.0717);
    must_hold(&book, "eigen-cause", LAB_DOES_NOT_HOLD);
    book_set(&book, "eigen-similar", NULL, "one site", 0.1);
    must_hold(&book, "eigen-cause", LAB_HOLDS);

    book_set(&book, "eigen-shifts", NULL, NULL, 1);
    must_hold(&book, "eigen-shifts", LAB_DOES_NOT_HOLD);
    book_set(&book, "eigen-shifts", "one-at-a-time", "one site", 6);
    must_hold(&book, "eigen-shifts", LAB_CONDITIONS);
    book_set(&book, "eigen-shifts", "MurmurHash2", "one site", 0); /* without an interval */
    must_hold(&book, "eigen-shifts", LAB_CONDITIONS);
    book_set(&book, "eigen-shifts", NULL, "one site", 6);
    must_hold(&book, "eigen-shifts", LAB_HOLDS);

    book_set(&book, "eigen-formulas", NULL, NULL, 1e-3);
    must_hold(&book, "eigen-product", LAB_HOLDS);
    must_hold(&book, "eigen-formulas", LAB_DOES_NOT_HOLD);
    book_set(&book, "eigen-formulas", "(5) product, known sites", "measured", 2e-3);
    must_hold(&book, "eigen-product", LAB_DOES_NOT_HOLD);
    for (size_t i = 0; i < STUDIES; i++)
        for (size_t j = 0; j < book.tables[i].rows * book.tables[i].columns; j++)
            book.tables[i].entries[j].verdict = LAB_AGREES;
    must_hold(&book, "eigen-formulas", LAB_HOLDS);

    book_set(&book, "eigen-time", NULL, NULL, 50);
    must_hold(&book, "eigen-time", LAB_HOLDS);
    book_set(&book, "eigen-time", "labels", "look up", 110);
    must_hold(&book, "eigen-time", LAB_CONDITIONS);
    book_set(&book, "eigen-time", "labels", "look up", 1100);
    must_hold(&book, "eigen-time", LAB_DOES_NOT_HOLD);
    book.settings.urls = 1000;
    must_hold(&book, "eigen-time", LAB_UNJUDGED);
    must_hold(&book, "eigen-shifts", LAB_UNJUDGED);
    lab_book_free(&book);
}

static void claims_on_growth_follow_the_figures(void **state)
{
    static const char *const classic = "classic, other sites", *const labels = "labels, other sites";
    lab_book book = book_of(studies, STUDIES);
    (void)state;
    book_set(&book, "eigen-growth", NULL, NULL, 3);
    book_set(&book, "eigen-growth", NULL, labels, 0.3);
    must_hold(&book, "eigen-growth", LAB_DOES_NOT_HOLD); /* ten times, whatever the number */
    book_set(&book, "eigen-growth", "n/4 in one filter", labels, 1);
    must_hold(&book, "eigen-growth", LAB_CONDITIONS);
    book_set(&book, "eigen-growth", "n/4 in proportion", labels, 1);
    must_hold(&book, "eigen-growth", LAB_HOLDS);
    book_set(&book, "eigen-growth", "n in one filter", classic, 1); /* 3.3 times instead of 3 */
    must_hold(&book, "eigen-growth", LAB_HOLDS);
    lab_entry *few = &lab_book_find(&book, "eigen-growth")->entries[3];
    assert_string_equal(few->column, labels);
    few->low = 0.5;
    few->high = 2;
    must_hold(&book, "eigen-growth", LAB_UNJUDGED);
    lab_book_free(&book);
}

static void claims_on_databases_follow_the_figures(void **state)
{
    lab_book book = book_of(studies, STUDIES);
    (void)state;
    book_set(&book, "eigen-database", NULL, NULL, 300);
    must_hold(&book, "eigen-database", LAB_DOES_NOT_HOLD);
    book_set(&book, "eigen-database", "SQLite in a file", NULL, 3000);
    must_hold(&book, "eigen-database", LAB_CONDITIONS);
    book_set(&book, "eigen-database", "SQLite in memory", NULL, 2000);
    must_hold(&book, "eigen-database", LAB_HOLDS);
    book_set_raw(&book, "eigen-database", "labels", "12.5 k", 300, 0.99);
    must_hold(&book, "eigen-database", LAB_UNJUDGED);
    book_set(&book, "eigen-database-space", NULL, NULL, 5);
    must_hold(&book, "eigen-database-space", LAB_DOES_NOT_HOLD);
    book_set(&book, "eigen-database-space", "SQLite", NULL, 140);
    must_hold(&book, "eigen-database-space", LAB_HOLDS);
    lab_book_free(&book);
}

int main(int argc, char **argv)
{
    test_add("claims follow the figures", claims_follow_the_figures, NULL);
    test_add("claims on hashes and costs follow the figures", claims_on_hashes_and_costs_follow_the_figures, NULL);
    test_add("claims on growth follow the figures", claims_on_growth_follow_the_figures, NULL);
    test_add("claims on databases follow the figures", claims_on_databases_follow_the_figures, NULL);
    return test_run("lab/eigen_claims", argc, argv);
}
