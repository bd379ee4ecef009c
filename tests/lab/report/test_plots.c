/* Plots: that a point is where its numbers say, and that whatever is drawn can be told apart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/pages.h"
#include "lab/report/html.h"
#include "lab/report/html_reader.h"
#include "lab/report/made_tables.h"
#include "lab/report/report.h"
#include "lab/report/svg.h"
#include "support/runner.h"

/* The centres of the circles of that class, in their order: those of the first curve. */
static size_t circles(const char *text, const char *class, double x[], double y[], size_t most)
{
    char start[64];
    size_t count = 0;
    snprintf(start, sizeof start, "<circle class=\"%s\" cx=\"", class);
    for (; (text = strstr(text, start)) && count < most; count++) {
        text += strlen(start);
        check(sscanf(text, "%lf\" cy=\"%lf\"", &x[count], &y[count]) == 2, "an odd circle: %.60s", text);
    }
    return count;
}

static void points_are_where_their_numbers_say(void **state)
{
    lab_table table = make_table();
    double x[8], y[8], ours_x[8], ours_y[8];
    (void)state;
    assert_true(lab_svg_can(&table));
    char *text = plot_of(&table, false);
    must_be_well_formed(text);
    /* One more of each is in the legend. */
    assert_int_equal(circles(text, "hollow", x, y, 8), COLUMNS + 1);
    assert_int_equal(circles(text, "full", ours_x, ours_y, 8), COLUMNS + 2);
    for (size_t i = 0; i < COLUMNS; i++)
        check(fabs(x[i] - ours_x[i]) < 0.11 && fabs(y[i] - ours_y[i]) < 0.11, "point %zu is in two places", i);
    for (size_t i = 2; i < COLUMNS; i++) {
        check(fabs((x[i] - x[i - 1]) - (x[1] - x[0])) < 0.25, "x is not logarithmic");
        check(fabs((y[i] - y[i - 1]) - (y[1] - y[0])) < 0.25, "y is not logarithmic");
    }
    check(x[1] > x[0] + 20 && y[1] < y[0] - 20, "not to the right and up");
    free(text);
    table.plot.log_x = table.plot.log_y = false;
    text = plot_of(&table, false);
    assert_int_equal(circles(text, "hollow", x, y, 8), COLUMNS + 1);
    check(fabs((x[2] - x[0]) / (x[3] - x[0]) - 99.0 / 999) < 0.005, "x is not linear");
    check(fabs((y[2] - y[0]) / (y[3] - y[0]) - 99.0 / 999) < 0.005, "y is not linear");
    free(text);
}

/* The centres of filled marks whose points have this number, one a curve. */
static size_t marks_of(const char *text, const char *column, double x[], size_t most)
{
    size_t count = 0;
    for (; (text = strstr(text, column)) && count < most; count++) {
        const char *bar = strstr(text, "class=\"bar\" d=\"M");
        check(bar && sscanf(bar, "class=\"bar\" d=\"M%lf", &x[count]) == 1, "no bar: %.60s", text);
        text += strlen(column);
    }
    return count;
}

/* Three curves of the same values, all of which are to be seen; others stay where they belong. */
static void marks_do_not_hide_one_another(void **state)
{
    lab_table table = make_table();
    double same[8], other[8];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        lab_entry *entry = &entries[i * COLUMNS + 1];
        entry->measured = entry->theory = 10;
        entry->low = 9;
        entry->high = 11;
    }
    char *text = plot_of(&table, false);
    assert_int_equal(marks_of(text, ", 10 URLs: ", same, 8), ROWS);
    assert_int_equal(marks_of(text, ", 100 URLs: ", other, 8), ROWS);
    check(same[1] - same[0] > 5 && same[1] - same[0] < 8, "the second lies on the first");
    check(same[0] - same[2] > 5 && same[0] - same[2] < 8, "the third lies on the first");
    check(fabs(other[1] - other[0]) < 0.11 && fabs(other[2] - other[0]) < 0.11, "those with room stand aside");
    free(text);
}

static void curves_are_rows_or_columns(void **state)
{
    lab_table table = make_table();
    (void)state;
    char *text = plot_of(&table, false);
    assert_int_equal(occurrences(text, "<g class=\"c"), 2 * ROWS); /* once more in the legend */
    check(strstr(text, ">100</text>"), "the axis has no tick at 100");
    free(text);
    table.plot.columns = true; /* now the points have names, and no numbers */
    text = plot_of(&table, false);
    assert_int_equal(occurrences(text, "<g class=\"c"), 2 * COLUMNS);
    check(strstr(text, ">first</text>"), "the axis does not name its points");
    must_be_well_formed(text);
    free(text);
    static const double along[] = {2, 4, 6};
    table.plot.along = along;
    table.plot.log_x = false;
    text = plot_of(&table, false);
    check(strstr(text, ">4</text>") && !strstr(text, ">first</text>"), "the axis has no tick at 4");
    free(text);
}

static void what_a_scale_cannot_show_is_left_out(void **state)
{
    lab_table table = make_table();
    double x[8], y[8];
    (void)state;
    entries[0].measured = entries[0].low = entries[0].theory = 0;
    entries[5].measured = entries[5].low = entries[5].high = entries[5].theory = NAN;
    char *text = plot_of(&table, false);
    assert_int_equal(circles(text, "full", x, y, 8), COLUMNS + 1);
    check(strstr(text, "bar none"), "the interval of a zero is not there");
    assert_int_equal(circles(text, "hollow", x, y, 8), COLUMNS + 1);
    check(fabs((x[2] - x[1]) - (x[1] - x[0])) < 0.25, "what was published is not in its place");
    check(!strstr(text, "nan") && !strstr(text, "inf"), "a place that is no number");
    must_be_well_formed(text);
    free(text);
    for (size_t i = 2 * COLUMNS; i < 3 * COLUMNS; i++)
        entries[i].measured = entries[i].low = entries[i].high = entries[i].theory = NAN;
    text = plot_of(&table, false);
    check(!strstr(text, "third"), "the legend names a curve without points");
    free(text);
    text = report_of(&table, 1);
    assert_int_equal(occurrences(text, "rowspan="), 2);
    free(text);
}

/* A bound is no prediction, and neither is what the library says about itself: both are drawn and named otherwise. */
static void bounds_and_plans_look_unlike_theory(void **state)
{
    lab_table table = make_table();
    (void)state;
    char *text = plot_of(&table, false);
    check(!strstr(text, "at most") && !strstr(text, "planned"), "a bound that is none");
    free(text);
    for (size_t i = 0; i < COLUMNS; i++) {
        entries[COLUMNS + i].theory_sort = LAB_BOUND;
        entries[2 * COLUMNS + i].theory_sort = LAB_PLANNED;
    }
    text = plot_of(&table, false);
    must_be_well_formed(text);
    check(strstr(text, ">theory</text>") && strstr(text, ">at most</text>") && strstr(text, ">planned</text>"),
          "the legend does not name them");
    assert_int_equal(occurrences(text, "class=\"theory bound\" d=\"M"), 2); /* one in the legend */
    assert_int_equal(occurrences(text, "class=\"theory planned\" d=\"M"), 2);
    check(strstr(lab_svg_rules, ".bound{stroke-dasharray") && strstr(lab_svg_rules, ".planned{stroke-dasharray"),
          "their lines look like theory");
    assert_int_equal(occurrences(text, "v7m-2.5 -3l2.5 3l2.5 -3"), COLUMNS + 1); /* arrows, one in the legend */
    free(text);
    text = report_of(&table, 1);
    must_be_well_formed(text);
    assert_int_equal(occurrences(text, "<td class=\"theory\"><i class=\"sort\">at most</i> "), COLUMNS);
    assert_int_equal(occurrences(text, "<td class=\"theory\"><i class=\"sort\">planned</i> "), COLUMNS);
    free(text);
}

static void a_plot_alone_is_a_file(void **state)
{
    lab_table table = make_table();
    (void)state;
    table.title = "A title that is far too long to fit on one line of the plot, so that it takes two of them";
    char *text = plot_of(&table, true);
    must_be_well_formed(text);
    check(strncmp(text, "<svg ", 5) == 0 && strstr(text, "xmlns=\"http://www.w3.org/2000/svg\""), "no SVG file");
    check(strstr(text, "prefers-color-scheme:dark"), "it is not for dark pages");
    assert_int_equal(occurrences(text, "class=\"head\""), 2);
    free(text);
}

int main(int argc, char **argv)
{
    test_add("bounds and plans look unlike theory", bounds_and_plans_look_unlike_theory, NULL);
    test_add("points are where their numbers say", points_are_where_their_numbers_say, NULL);
    test_add("marks do not hide one another", marks_do_not_hide_one_another, NULL);
    test_add("curves are rows or columns", curves_are_rows_or_columns, NULL);
    test_add("what a scale cannot show is left out", what_a_scale_cannot_show_is_left_out, NULL);
    test_add("a plot alone is a file", a_plot_alone_is_a_file, NULL);
    return test_run("lab/plots", argc, argv);
}
