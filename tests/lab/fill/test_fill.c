/*
 * Texts that are filled with figures: every placeholder and format, errors with their lines, and lines of 100 columns.
 */
#include "lab/fill/figures.h"
#include "lab/pages.h"
#include "support/runner.h"

static const char csv[] =
    LAB_FIGURES_HEAD "\n"
                     "t-1,3 HF,1.7 M,6.1041,6.09231,6.0923,6.05,6.13,100,agrees,0.5,chance,derived\n"
                     "t-1,3 HF,2.0 M,,,12345.678,,,3,measured,,,\n"
                     "t-1,small,x,0.00003,3.31e-05,0.0000331,,,3,differs,,tolerance,\n"
                     "t-2,a,b,4,,1.6e13,,,3,agrees,,repeated,\n"
                     "t-2,a,c,,,0,,,3,fails,9,counterfactual,\n"
                     "t-2,a,d,,,,,,0,not built,,,\n"
                     "t-3,large,x,,,1e70,,,,,,,\n"
                     "t-3,less,x,,,-1e70,,,,,,,\n"
                     "about,urls,,,,1000000,,,,,,,\n"
                     "about,largest z,,,,2.6789,,,,,,,\n"
                     "about,duration,,,,1382,,,,,,,\n"
                     "about,processor,Some CPU,,,,,,,,,,\n"
                     "claim,t-large,\"the paper, 1\",,,,,,,holds,,,\n"
                     "claim,t-some,\"the paper, 2\",,,,,,,holds with conditions,,,\n"
                     "claim,u-none,\"the paper, 3\",,,,,,,does not hold,,,\n";

/* All digits of the number that is nearest to 1e70. */
#define LARGE "10,000,000,000,000,000,725,314,363,815,292,351,261,583,744,096,465,219,555,182,101,554,790,400"

typedef struct problems {
    char text[2048];
} problems;

static void note_problem(void *context, size_t line, const char *sentence)
{
    problems *problems = context;
    size_t used = strlen(problems->text);
    snprintf(problems->text + used, sizeof problems->text - used, "%zu: %s\n", line, sentence);
}

/* Fills the template; the caller frees the text. */
static char *filled(const char *template, problems *problems)
{
    lab_figures figures;
    page page;
    problems->text[0] = 0;
    check(lab_figures_read(&figures, csv, strlen(csv)) == 0, "%s", vidi_message());
    start(&page);
    size_t count = lab_fill_text(page.to, template, &figures, note_problem, problems);
    assert_int_equal(count, occurrences(problems->text, "\n"));
    lab_figures_free(&figures);
    return end(&page);
}

static void must_fill(const char *template, const char *expected)
{
    problems problems;
    char *text = filled(template, &problems);
    check(!problems.text[0], "%s: %s", template, problems.text);
    check(strcmp(text, expected) == 0, "%s gives '%s', not '%s'", template, text, expected);
    free(text);
}

static void figures_take_the_place_of_placeholders(void **state)
{
    static const char *const cases[][2] = {
        {"a {{t-1|3 HF|1.7 M}} b\n", "a 6.09 b\n"},
        {"{{t-1|3 HF|1.7 M|theory}}\n", "6.09\n"},
        {"{{t-1|3 HF|1.7 M|theory|.4}}\n", "6.0923\n"},
        {"{{t-1|3 HF|1.7 M|.1}}\n", "6.1\n"},
        {"{{t-1|3 HF|1.7 M|published}}\n", "6.1041\n"},
        {"{{t-1|3 HF|1.7 M|published|.2}}\n", "6.10\n"},
        {"{{t-1|3 HF|1.7 M|low}} to {{t-1|3 HF|1.7 M|high}}\n", "6.05 to 6.13\n"},
        {"{{t-1|3 HF|1.7 M|runs}} {{t-1|3 HF|1.7 M|verdict}} {{t-1|3 HF|1.7 M|z|.1}}\n", "100 agrees 0.5\n"},
        {"{{t-1|3 HF|2.0 M}} {{t-1|3 HF|2.0 M|,}} {{t-1|3 HF|2.0 M|.1}} {{t-1|3 HF|2.0 M|1}}\n",
         "12,300 12,346 12,345.7 10,000\n"},
        {"{{t-1|small|x}} {{t-1|small|x|2}} {{t-1|small|x|published}}\n", "0.0000331 0.000033 0.00003\n"},
        {"{{t-2|a|b|2}} {{t-2|a|c}}\n", "1.6e13 0\n"},
        {"{{ratio t-1|3 HF|2.0 M : t-1|3 HF|1.7 M|,}}\n", "2,026\n"},
        {"{{ratio t-1|3 HF|1.7 M : t-1|3 HF|1.7 M|theory|.3}}\n", "1.000\n"},
        {"{{t-1|3\nHF|1.7\n  M}}\n", "6.09\n"},
        {"{{t-3|large|x}} {{t-3|less|x|2}}\n", "1.00e70 -1.0e70\n"},
        {"{{t-3|large|x|,}}\n", LARGE "\n"},
        {"{{t-3|less|x|.1}}\n", "-" LARGE ".0\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        must_fill(cases[i][0], cases[i][1]);
}

/* What a table only repeats, or what a paper did not do, is no second figure. */
static void cells_and_claims_are_counted(void **state)
{
    static const char *const cases[][2] = {
        {"{{count cells *}} {{count tested *}} {{count published *}}\n", "7 2 2\n"},
        {"{{count agrees *}} {{count agrees t-1}} {{count differs *}}\n", "1 1 1\n"},
        {"{{count fails *}} {{count not built t-*}} {{count measured t-1 t-2}}\n", "1 1 1\n"},
        {"{{count chance *}} {{count tolerance *}} {{count fitted *}} {{count unjudged t-[12]}}\n", "1 1 0 0\n"},
        {"{{claims all}} {{claims holds}} {{claims holds with conditions}}\n", "3 1 1\n"},
        {"{{claims does not hold}} {{claims does not hold t-*}} {{claims all t-*}}\n", "1 0 2\n"},
        {"{{claims too little was measured}}\n", "0\n"},
        {"{{about urls}} {{about largest z|.1}} {{about duration}} {{about processor}}\n",
         "1,000,000 2.7 23 minutes Some CPU\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        must_fill(cases[i][0], cases[i][1]);
}

static void what_cannot_be_filled_is_named_with_its_line(void **state)
{
    problems problems;
    (void)state;
    free(filled(
        "one\n{{t-1|4 HF|1.7 M}} and\n{{t-1|3 HF\n|1.7 M|nothing}}\n{{t-1|3 HF|1.7 M|.22}}\n{{t-1|small|x|low}}\n"
        "{{ratio t-1|3 HF|1.7 M : t-2|a|c}}\n{{ratio t-1|small|x}}\n{{count pretty *}}\n{{count agrees "
        "u-*}}\n{{claims all u-1}}\n{{about weather}}\n{{t-1}}\n{{t-2|a|d}}\n{{t-1|3 HF|2.0 "
        "M|published}}\n{{t-1|3 HF|1.7 M",
        &problems));
    assert_string_equal(problems.text, "2: there is no cell t-1|4 HF|1.7 M\n"
                                       "3: there is no field 'nothing'\n"
                                       "5: there is no field '.22'\n"
                                       "6: t-1|small|x has no low value\n"
                                       "7: t-2|a|c is 0: there is no ratio\n"
                                       "8: a ratio is 'ratio CELL : CELL', not 't-1|small|x'\n"
                                       "9: nothing is counted by 'count pretty *'\n"
                                       "10: no experiment matches 'count agrees u-*'\n"
                                       "11: there is no 'claims all u-1'\n"
                                       "12: nothing is known about 'weather'\n"
                                       "13: 't-1' is not ID|ROW|COLUMN, with a field and a format if necessary\n"
                                       "14: t-2|a|d has no measured value\n"
                                       "15: t-1|3 HF|2.0 M has no published\n"
                                       "16: a placeholder does not end\n");
}

static void a_placeholder_that_goes_too_far_is_named_once(void **state)
{
    enum { MANY = 200000, ROOM = 2 * MANY + 32 };
    problems problems;
    char *braces = calloc(MANY + 1, 1), *template = malloc(ROOM);
    (void)state;
    assert_true(braces && template);
    memset(braces, '{', MANY);
    snprintf(template, ROOM, "%s}}\n{{t-2|a|e}}\n%s", braces, braces);
    free(filled(template, &problems));
    assert_string_equal(problems.text, "1: the placeholder is too long\n"
                                       "2: there is no cell t-2|a|e\n"
                                       "3: a placeholder does not end\n");
    free(template);
    free(braces);
}

/* ---- lines ---- */

static void must_wrap(const char *text, const char *expected)
{
    page page;
    start(&page);
    lab_wrap(page.to, text);
    char *wrapped = end(&page);
    check(strcmp(wrapped, expected) == 0, "'%s' became '%s'", text, wrapped);
    free(wrapped);
}

#define TEN "123456789 "
#define NINETY TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void paragraphs_and_list_items_are_wrapped(void **state)
{
    (void)state;
    must_wrap(NINETY "1234567890\n", NINETY "1234567890\n");
    must_wrap(NINETY "12345678901\n", TEN TEN TEN TEN TEN TEN TEN TEN "123456789\n12345678901\n");
    must_wrap("one\ntwo\n\nthree\n", "one two\n\nthree\n");
    must_wrap("- " NINETY "1234567890\n- next\n  line\n",
              "- " TEN TEN TEN TEN TEN TEN TEN TEN "123456789\n  1234567890\n- next line\n");
    must_wrap("12. a\n    b\n", "12. a b\n");
    must_wrap("- a\n  - b\n    c\n", "- a\n  - b c\n");
    /* Columns are characters: a hundred of two bytes each. */
    must_wrap("ääääääääääääääääääääääääääääääääääääääääääääääääää ääääääääääääääääääääääääääääääääääääääääääääääääé\n",
              "ääääääääääääääääääääääääääääääääääääääääääääääääää ääääääääääääääääääääääääääääääääääääääääääääääääé\n");
}

static void other_lines_stay(void **state)
{
    static const char *const texts[] = {
        "# " NINETY NINETY "\n",
        "| " NINETY NINETY "|\n|---|\n",
        "```sh\n" NINETY NINETY "\n\nx\ny\n```\n",
        "<!-- a\n" NINETY NINETY "\n-->\n",
        "\n\n\n",
        "a\n\n```\nb\n```\n\nc\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        must_wrap(texts[i], texts[i]);
}

/* "m - m1" at the end of a line would become an item of a list, and 5 % stay together. */
static void no_line_begins_with_another_meaning(void **state)
{
    static const char *const words[] = {"-", "+", "*", "%", "1.", "12)", "#", ">", "|x", "---", "=="};
    char text[256], expected[256];
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(text, sizeof text, "%s123456 abc %s x\n", NINETY, words[i]);
        snprintf(expected, sizeof expected, "%s123456\nabc %s x\n", NINETY, words[i]);
        must_wrap(text, expected);
    }
    must_wrap(NINETY "12345 abc\n% x\n", NINETY "12345\nabc % x\n");
}

/* A placeholder at the beginning of a line may become a number with a full stop, which begins no item of a list. */
static void a_figure_at_the_end_of_a_sentence_stays_in_it(void **state)
{
    (void)state;
    must_wrap("It takes\n13. Others take\n1. That is all.\n", "It takes 13. Others take 1. That is all.\n");
    must_wrap("- It takes\n  13. Others take less.\n- x\n", "- It takes 13. Others take less.\n- x\n");
    must_wrap("1. It takes\n   13. Others take less.\n2. x\n", "1. It takes 13. Others take less.\n2. x\n");
    must_wrap("a\n\n1. b\n2. c\n", "a\n\n1. b\n2. c\n");
}

int main(int argc, char **argv)
{
    test_add("figures take the place of placeholders", figures_take_the_place_of_placeholders, NULL);
    test_add("cells and claims are counted", cells_and_claims_are_counted, NULL);
    test_add("what cannot be filled is named with its line", what_cannot_be_filled_is_named_with_its_line, NULL);
    test_add("a placeholder that goes too far is named once", a_placeholder_that_goes_too_far_is_named_once, NULL);
    test_add("paragraphs and list items are wrapped", paragraphs_and_list_items_are_wrapped, NULL);
    test_add("other lines stay", other_lines_stay, NULL);
    test_add("no line begins with another meaning", no_line_begins_with_another_meaning, NULL);
    test_add("a figure at the end of a sentence stays in it", a_figure_at_the_end_of_a_sentence_stays_in_it, NULL);
    return test_run("lab/fill", argc, argv);
}
