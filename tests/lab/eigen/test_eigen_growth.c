/* The eigenvalue paper's filter as the data grow, and beside a database. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/eigen/eigen.h"
#include "lab/tables.h"
#include "support/runner.h"

static lab_settings small(void)
{
    return (lab_settings){.urls = 40000, .runs = 2, .seed = 4, .threads = 2};
}

/* ---- growth ---- */

/* The cells "n in one filter" of classic and labels, other sites, with sets that are filled here. */
static void growth_counts_as_sets_filled_by_hand_do(void **state)
{
    enum { N = 2000, DEPTH = 10, ASKED = 2 * N, ROOM = N / 4, COLUMNS = 5, ROW = 2 };
    static const char *const kinds[] = {"classic", "eigen"};
    lab_settings settings = small();
    lab_numbers numbers = numbers_of("eigen-growth", &settings);
    char buffer[LAB_URL_ROOM], params[2][128];
    (void)state;
    assert_int_equal(settings.urls / 20, N);
    snprintf(params[0], sizeof params[0], "m=%d,k=3,hash=sip13", 32 * ROOM);
    snprintf(params[1], sizeof params[1], "m=%d,k=3,hash=sip13,m1=%d,d=1,g=labels", 32 * ROOM + (32 * ROOM + 2) / 3,
             32 * ROOM);
    for (size_t i = 0; i < 2; i++) {
        vidi_set *set;
        double seen = 0, counted = numbers.numbers[ROW * COLUMNS + 2 + i];
        assert_int_equal(lab_set_make(&set, &settings, 0, kinds[i], params[i], ROOM), VIDI_OK);
        for (uint64_t j = 0; j < N; j++)
            assert_true(vidi_add(set, (vidi_str){buffer, lab_deep_url(buffer, &settings, 0, j / DEPTH, j)}) >= 0);
        for (uint64_t j = 0; j < ASKED; j++) {
            size_t length = lab_deep_url(buffer, &settings, 0, N / DEPTH + j / DEPTH, N + ASKED + j);
            seen += vidi_has(set, (vidi_str){buffer, length}) == VIDI_SEEN;
        }
        vidi_close(set);
        check(fabs(seen - counted) < 0.5, "%s: %g, and again %g", kinds[i], counted, seen);
    }
    check(numbers.numbers[ROW * COLUMNS + 2] > 50, "only %g to compare", numbers.numbers[ROW * COLUMNS + 2]);
    lab_numbers_free(&numbers);
}

/* Pages of sites that were met have known features: the paper's filter sees exactly what the classic one does. */
static void known_sites_gain_nothing(void **state)
{
    lab_settings settings = small();
    lab_numbers numbers = numbers_of("eigen-growth", &settings);
    lab_table table = table_from(&numbers);
    (void)state;
    none_fails(&table);
    for (size_t row = 0; row < table.rows; row++)
        for (uint64_t run = 0; run < settings.runs; run++) {
            const double *cells = numbers.numbers + (run * table.rows + row) * table.columns;
            check(cells[0] == cells[1], "%s: %g and %g", numbers.study->rows[row], cells[0], cells[1]);
        }
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

/* ---- the database ---- */

/* Measuring fails if the database finds more or fewer new URLs than there are. */
static void a_database_is_measured(void **state)
{
    lab_settings settings = {.urls = 2000, .runs = 1, .seed = 1, .threads = 1};
    (void)state;
    if (!lab_eigen_has_database())
        skip();
    lab_table times = table_of("eigen-database", &settings), bytes = table_of("eigen-database-space", &settings);
    for (size_t i = 0; i < times.rows * times.columns; i++)
        check(times.entries[i].measured > 0, "%s takes no time", times.entries[i].row);
    double texts = 0, sqlite = entry_of(&bytes, "SQLite", "50 k")->measured;
    char buffer[LAB_URL_ROOM];
    for (uint64_t i = 0; i < 500; i++)
        texts += (double)lab_url(buffer, &settings, 0, i) / 500;
    check(sqlite > 2 * texts && sqlite < 6 * texts, "%g bytes for texts of %g, in a table and an index", sqlite, texts);
    lab_table_free(&times);
    lab_table_free(&bytes);
}

static bool lacking(void)
{
    return false;
}

static void a_build_without_the_library_says_so(void **state)
{
    lab_study study = *study_of("eigen-database");
    lab_settings settings = {.urls = 2000, .runs = 3, .seed = 1, .threads = 1};
    lab_numbers numbers;
    lab_table table;
    (void)state;
    study.has = lacking;
    assert_int_equal(lab_study_runs(&study, 3), 0);
    assert_int_equal(lab_study_measure(&numbers, &study, &settings), VIDI_OK);
    assert_int_equal(lab_table_of_numbers(&table, &numbers), VIDI_OK);
    for (size_t i = 0; i < table.rows * table.columns; i++)
        assert_int_equal(table.entries[i].verdict, LAB_NOT_BUILT);
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

int main(int argc, char **argv)
{
    test_add("growth counts as sets filled by hand do", growth_counts_as_sets_filled_by_hand_do, NULL);
    test_add("known sites gain nothing", known_sites_gain_nothing, NULL);
    test_add("a database is measured", a_database_is_measured, NULL);
    test_add("a build without the library says so", a_build_without_the_library_says_so, NULL);
    return test_run("lab/eigen_growth", argc, argv);
}
