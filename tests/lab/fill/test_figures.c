/* The reader of figures: that it takes what the report writes, and nothing else. */
#include <math.h>

#include "lab/fill/figures.h"
#include "lab/pages.h"
#include "support/runner.h"

#define HEAD LAB_FIGURES_HEAD "\n"

static void lines_become_records(void **state)
{
    static const char text[] =
        HEAD "a,\"r, \"\"1\"\"\",c,1.50,2,-3e-2,,1e3,3,agrees,0.5,chance,derived\nabout,cores,2,,,,,,,,,,\n";
    lab_figures figures;
    (void)state;
    check(lab_figures_read(&figures, text, strlen(text)) == 0, "%s", vidi_message());
    assert_int_equal(figures.count, 2);
    const lab_record *record = lab_figures_find(&figures, "a", "r, \"1\"", "c");
    check(record != NULL, "the cell is not there");
    assert_string_equal(record->published, "1.50");
    assert_string_equal(record->verdict, "agrees");
    assert_string_equal(record->basis, "chance");
    assert_string_equal(record->theory_sort, "derived");
    check(fabs(record->theory - 2) < 1e-12 && fabs(record->measured + 0.03) < 1e-12 && isnan(record->low) &&
              fabs(record->high - 1000) < 1e-12 && fabs(record->runs - 3) < 1e-12 && fabs(record->z - 0.5) < 1e-12,
          "a number is not what was written");
    check(!lab_figures_find(&figures, "a", "r", "c"), "a cell that is not there");
    lab_figures_free(&figures);
}

/* Each text differs in one thing from what is read. */
static void anything_else_is_an_error_that_names_the_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "line 1 is not"},
        {LAB_FIGURES_HEAD, "line 1 is not"},
        {"experiment,row\n", "line 1 is not"},
        {HEAD "a,b,c,,,,,,,,,\n", "line 2 does not have 13 fields"},
        {HEAD "a,b,c,,,,,,,,,,,\n", "line 2 does not have 13 fields"},
        {HEAD "a,b,c,,,,,,,,,,", "line 2 does not have 13 fields"},
        {HEAD "a,b,c,,,1 %,,,,,,,\n", "line 2: '1 %' is not a number"},
        {HEAD "a,b,c,,,nan,,,,,,,\n", "line 2: 'nan' is not a number"},
        {HEAD "a,b,c,,,1e999,,,,,,,\n", "line 2: '1e999' is not a number"},
        {HEAD "a,b,c,,,,,,,,,,\na,b,c,,,,,,,,,,\n", "line 3: a, b, c was there before"},
        {HEAD "a,\"b\n\n\",c,,,,,,,,,,\nb,b,c,,,,,,,,,,\na,b,c,,,,,,,,,,\nb,b,c,,,,,,,,,,\na,b,c,,,,,,,,,,\n",
         "line 7: b, b, c was there before"},
        {HEAD "a,\"b,c,,,,,,,,,,\n", "line 2: a quoted field does not end"},
        {HEAD "a,b\"c,,,,,,,,,,,\n", "line 2: a quote, carriage return or zero byte in a field"},
        {HEAD "a,b,c,,,,,,,,,,\r\n", "line 2: a quote, carriage return or zero byte in a field"},
        {HEAD "a,\"b\"c,d,,,,,,,,,,\n", "line 2 does not have 13 fields"},
        {HEAD "\n", "line 2 does not have 13 fields"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_figures figures;
        int code = lab_figures_read(&figures, cases[i].text, strlen(cases[i].text));
        lab_figures_free(&figures);
        check(code == VIDI_EFORMAT, "text %zu was read", i);
        check(strncmp(vidi_message(), cases[i].message, strlen(cases[i].message)) == 0, "text %zu: %s", i,
              vidi_message());
    }
}

/* Placeholders have these signs between their parts. */
static void every_name_can_stand_in_a_placeholder(void **state)
{
    lab_figures names;
    (void)state;
    check(lab_figures_names(&names) == 0, "%s", vidi_message());
    check(names.count > 1000, "too few names");
    for (size_t i = 0; i < names.count; i++) {
        const lab_record *record = &names.records[i];
        const char *const texts[] = {record->experiment, record->row, record->column};
        for (size_t j = 0; j < 3; j++)
            check(!strpbrk(texts[j], "|\n") && !strstr(texts[j], "}}") && !strstr(texts[j], " : ") &&
                      !strstr(texts[j], "  "),
                  "'%s' cannot stand in a placeholder", texts[j]);
        check(lab_figures_find(&names, texts[0], texts[1], texts[2]) == record, "%s, %s, %s is there twice", texts[0],
              texts[1], texts[2]);
    }
    lab_figures_free(&names);
}

static void no_experiment_is_called_like_other_lines(void **state)
{
    (void)state;
    check(!lab_experiment_find(LAB_ABOUT) && !lab_study_find(LAB_ABOUT), "an experiment is called about");
    check(!lab_experiment_find(LAB_CLAIM) && !lab_study_find(LAB_CLAIM), "an experiment is called claim");
}

int main(int argc, char **argv)
{
    test_add("lines become records", lines_become_records, NULL);
    test_add("anything else is an error that names the line", anything_else_is_an_error_that_names_the_line, NULL);
    test_add("every name can stand in a placeholder", every_name_can_stand_in_a_placeholder, NULL);
    test_add("no experiment is called like other lines", no_experiment_is_called_like_other_lines, NULL);
    return test_run("lab/figures", argc, argv);
}
