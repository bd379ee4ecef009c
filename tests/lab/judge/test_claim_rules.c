/*
 * Claims as data: what each verb, rule and placeholder of claim_rules.h does, on small books; and every row of every
 * paper can be read, names cells that exist, and says something.
 */
#include <ctype.h>
#include <string.h>

#include "lab/books.h"
#include "lab/judge/claim_rules.h"
#include "support/runner.h"

#define T "kinds-time" /* a timed study, so that it has raw numbers */
#define ROW "blocked"
#define OTHER "classic"
#define ADD "add, 16 bits"
#define ASK "look up, 16 bits"

static made_book made;

/* A book in which A is 2, B is 1, C is 1.001 and D is 0; each has an interval of a thousandth. */
static lab_book *usual(void)
{
    static const made_figure figures[] = {
        {T, ROW, ADD, 2}, {T, OTHER, ADD, 1}, {T, ROW, ASK, 1.001}, {T, OTHER, ASK, 0}, {NULL, NULL, NULL, 0}};
    made_clear(&made);
    made.book.settings.urls = 1000;
    for (const made_figure *figure = figures; figure->table; figure++)
        made_put(&made, figure)->theory = 3;
    return &made.book;
}

#define CELLS T " @ " ROW " @ " ADD "; @ " OTHER "; @ " ROW " @ " ASK "; @ " OTHER

static char sentence[SENTENCE_ROOM];

static lab_holding judge(lab_claim claim)
{
    claim.cells = claim.cells ? claim.cells : CELLS;
    claim.sentence = claim.sentence ? claim.sentence : "{A 0f}";
    sentence[0] = 0;
    return lab_rule_judge(&claim, usual(), sentence, sizeof sentence);
}

#define MUST(wanted, ...)                                                                                              \
    do {                                                                                                               \
        lab_holding found = judge((lab_claim){__VA_ARGS__});                                                           \
        check(found == (wanted), "line %d: '%s', not '%s' (%s)", __LINE__, lab_holding_name(found),                    \
              lab_holding_name(wanted), sentence);                                                                     \
    } while (0)

#define SAYS(wanted, ...)                                                                                              \
    do {                                                                                                               \
        judge((lab_claim){__VA_ARGS__});                                                                               \
        check(strcmp(sentence, wanted) == 0, "'%s', not '%s'", sentence, wanted);                                      \
    } while (0)

static void a_verb_compares_within_the_margin(void **state)
{
    (void)state;
    MUST(LAB_HOLDS, .tests = {"more A/B"}, .margin = 0.5);
    MUST(LAB_DOES_NOT_HOLD, .tests = {"more B/A"}, .margin = 0.5);
    MUST(LAB_DOES_NOT_HOLD, .tests = {"more A/B"}, .margin = 1.5);
    MUST(LAB_UNJUDGED, .tests = {"more A/B"}, .margin = 1);
    MUST(LAB_DOES_NOT_HOLD, .tests = {"no-more A/B"}, .margin = 0.5);
    MUST(LAB_HOLDS, .tests = {"no-more B/A C/B"}, .margin = 0.5);
    MUST(LAB_HOLDS, .tests = {"equal C/B"}, .margin = 0.02);
    MUST(LAB_DOES_NOT_HOLD, .tests = {"equal A/B"}, .margin = 0.02);
    MUST(LAB_UNJUDGED, .tests = {"equal C/B"}, .margin = 0.0001);
    MUST(LAB_HOLDS, .tests = {"contest C/B"}, .margin = 0.02);
    MUST(LAB_DOES_NOT_HOLD, .tests = {"contest C/B A/B"}, .margin = 0.02);
    MUST(LAB_UNJUDGED, .tests = {"contest C/B"}, .margin = 0.0001);
    MUST(LAB_HOLDS, .tests = {"true A>B C>=1"});
    MUST(LAB_DOES_NOT_HOLD, .tests = {"true A>B C<1"});
}

static void options_change_what_is_compared(void **state)
{
    (void)state;
    MUST(LAB_HOLDS, .tests = {"equal A/B to 2"}, .margin = 0.02);
    MUST(LAB_HOLDS, .tests = {"equal A/B to 4/2 margin 0.02"});
    MUST(LAB_DOES_NOT_HOLD, .tests = {"equal A/B to 3 margin 0.02"});
    MUST(LAB_HOLDS, .tests = {"equal C/B margin 0.004"});
    MUST(LAB_UNJUDGED, .tests = {"equal C/B of 1000000000 margin 0.004"});
}

static void figures_are_cells_theory_numbers_and_times(void **state)
{
    (void)state;
    MUST(LAB_HOLDS, .tests = {"equal A'/(3)"}, .margin = 0.001);
    MUST(LAB_HOLDS, .tests = {"equal =A/(2)"}, .margin = 0.0001);
    MUST(LAB_UNJUDGED, .tests = {"equal A/(2)"}, .margin = 0.0001);
    MUST(LAB_HOLDS, .tests = {"equal A^2/(0.04)"}, .margin = 0.02); /* 2 % of 2 % */
    MUST(LAB_HOLDS, .tests = {"equal (A/B) to 2"}, .margin = 0.0001);
    MUST(LAB_HOLDS, .tests = {"equal A:B to 2"}, .margin = 0.1);
    MUST(LAB_HOLDS, .tests = {"equal A to 2"}, .margin = 0.1);
    MUST(LAB_HOLDS, .tests = {"equal 1:A to 1/2"}, .margin = 0.1);
    MUST(LAB_HOLDS, .tests = {"equal A%B to 2"}, .margin = 0.1);
    MUST(LAB_UNJUDGED, .tests = {"equal A:D to 2"}, .margin = 0.1);
}

static void a_cell_may_stand_for_several(void **state)
{
    (void)state;
    MUST(LAB_DOES_NOT_HOLD, .cells = CELLS "; @ " ROW "|" OTHER " @ " ADD, .tests = {"more E/C"}, .margin = 0.1);
    MUST(LAB_HOLDS, .cells = CELLS "; @ * but " OTHER " @ " ADD, .tests = {"more E/C"}, .margin = 0.1);
    SAYS("1.5 3 1",
         .cells = CELLS "; @ mean " ROW "|" OTHER " @ " ADD "; @ sum " ROW "|" OTHER "; @ least " ROW "|" OTHER,
         .tests = {"true 1"}, .sentence = "{E 1f} {F 0f} {G 0f}");
    MUST(LAB_HOLDS, .cells = CELLS "; @ mean " ROW "|" OTHER " @ " ADD, .tests = {"equal E/(1.5)"}, .margin = 0.01);
}

static void the_first_clause_that_is_met_decides(void **state)
{
    (void)state;
    MUST(LAB_CONDITIONS, .tests = {"more A/B B/A"}, .margin = 0.5, .rule = LAB_ALL_OR_SOME);
    MUST(LAB_DOES_NOT_HOLD, .tests = {"more B/A"}, .margin = 0.5, .rule = LAB_ALL_OR_SOME);
    MUST(LAB_CONDITIONS, .tests = {"more A/B", "more B/A"}, .margin = 0.5, .rule = "a- fails; b- conditions; holds");
    MUST(LAB_HOLDS, .tests = {"more A/B", "more B/A"}, .margin = 0.5, .rule = "a+ b+ fails; a+ b- holds; open");
    MUST(LAB_UNJUDGED, .tests = {"more A/B"}, .margin = 0.5, .rule = "a- holds; a? holds");
    MUST(LAB_CONDITIONS, .tests = {"equal A/B"}, .margin = 0.5, .rule = "a< fails; a> conditions; holds");
    MUST(LAB_CONDITIONS, .tests = {"contest C/B A/B"}, .margin = 0.001, .rule = "a0 conditions; holds");
}

static void what_is_missing_leaves_it_open_and_silent(void **state)
{
    static const char *const missing = CELLS "; @ no such row";
    (void)state;
    MUST(LAB_UNJUDGED, .cells = missing, .tests = {"more A/B"}, .margin = 0.5);
    check(!sentence[0], "it says '%s'", sentence);
    MUST(LAB_UNJUDGED, .cells = missing, .tests = {"contest C/B E/B"}, .margin = 0.02);
    check(!sentence[0], "it says '%s'", sentence);
    MUST(LAB_HOLDS, .cells = missing, .tests = {"contest C/B E/B"}, .margin = 0.02, .partial = true);
    MUST(LAB_UNJUDGED, .cells = missing, .tests = {"contest C/B", "more E/B"}, .margin = 0.02, .partial = true);
    MUST(LAB_UNJUDGED, .tests = {"more A/B"}, .margin = 0.5, .provided = "n>1000");
    MUST(LAB_HOLDS, .tests = {"more A/B"}, .margin = 0.5, .provided = "n>=1000");
    MUST(LAB_UNJUDGED, .tests = {"more A/B"}, .margin = 0.5, .urls_least = 1001);
    check(strstr(sentence, "Too few"), "it says '%s'", sentence);
}

static void a_sentence_has_figures_and_conditions(void **state)
{
    (void)state;
    SAYS("2.00 2 3 1.5 20", .tests = {"true 1"}, .sentence = "{A 2f} {A 3g} {A.theory 0f} {(A+B)/2 1f} {A*10 auto}");
    SAYS("1 2 7 3", .tests = {"true 1"}, .sentence = "{min(A,B) 0f} {max(A,B) 0f} {abs(B-8) 0f} {log2(8) 0f}");
    SAYS("yes, no: it is 2.00", .tests = {"more A/B", "more B/A"}, .margin = 0.5,
         .sentence = "[a+|yes|no], [b+|yes|no]: it is [a+ b-|{A 2f}|[a+|?|??]]");
    SAYS("2.0 0.5, 1 of 2", .tests = {"true 1", "more A/B B/A", "contest A/B C/B margin 0.001"}, .margin = 0.5,
         .sentence = "{b 1f} {b1 1f}, {c.judged} of {c.count}");
    judge((lab_claim){.tests = {"more A/B"}, .margin = 0.5, .sentence = "{a}"});
    check(strcmp(sentence, "2.00 (2.00 to 2.00)") == 0, "'%s'", sentence);
}

/* A book of everything that is no stream, in which every figure is 1. */
static lab_book whole_book(void)
{
    enum { MOST = 256 };
    const char *ids[MOST];
    size_t count = 0;
    for (size_t i = 0; lab_experiment_at(i); i++)
        ids[count++] = lab_experiment_at(i)->id;
    for (size_t i = 0; lab_study_at(i); i++)
        if (!lab_study_at(i)->streams)
            ids[count++] = lab_study_at(i)->id;
    check(count < MOST, "%zu experiments", count);
    lab_book book = book_of(ids, count);
    for (size_t i = 0; i < count; i++) {
        book_set(&book, ids[i], NULL, NULL, 1);
        for (size_t j = 0; j < book.tables[i].rows * book.tables[i].columns; j++)
            book.tables[i].entries[j].theory = book.tables[i].entries[j].published = 1;
        book.tables[i].id = lab_study_find(ids[i]) ? lab_study_find(ids[i])->id : lab_experiment_find(ids[i])->id;
    }
    return book;
}

/* Whether every placeholder ends, and has no format or a known one. */
static bool placeholders_end(const char *text)
{
    while ((text = strchr(text, '{'))) {
        size_t length = strcspn(++text, "{}[]|"), before = strcspn(text, " ");
        const char *format = before < length ? text + before + 1 : NULL, *end = text + length;
        if (*end != '}' || (format && strncmp(format, "auto}", 5) != 0 &&
                            !(isdigit((unsigned char)format[0]) && strchr("fg", format[1]) && format + 2 == end)))
            return false;
    }
    return true;
}

static void every_row_can_be_read(void **state)
{
    const lab_claim *claim;
    lab_book book = whole_book();
    size_t rows = 0;
    (void)state;
    for (size_t i = 0; (claim = lab_claim_at(i)); i++) {
        if (claim->judge || strncmp(claim->id, "streams-", 8) == 0)
            continue;
        check(placeholders_end(claim->sentence), "%s: %s", claim->id, claim->sentence);
        sentence[0] = 0;
        lab_claim_judged(claim, &book, sentence, sizeof sentence);
        check(sentence[0] && !strpbrk(sentence, "{}[]@") && !strstr(sentence, "nan"), "%s: '%s'", claim->id, sentence);
        rows++;
    }
    check(rows > 80, "only %zu claims are rows", rows);
    for (size_t i = 0; i < book.count; i++)
        free(book.tables[i].entries);
    for (size_t i = 0; i < book.study_count; i++)
        free(book.numbers[i].numbers);
    free(book.tables);
    free(book.numbers);
}

int main(int argc, char **argv)
{
    test_add("a verb compares within the margin", a_verb_compares_within_the_margin, NULL);
    test_add("options change what is compared", options_change_what_is_compared, NULL);
    test_add("figures are cells, theory, numbers and times", figures_are_cells_theory_numbers_and_times, NULL);
    test_add("a cell may stand for several", a_cell_may_stand_for_several, NULL);
    test_add("the first clause that is met decides", the_first_clause_that_is_met_decides, NULL);
    test_add("what is missing leaves it open and silent", what_is_missing_leaves_it_open_and_silent, NULL);
    test_add("a sentence has figures and conditions", a_sentence_has_figures_and_conditions, NULL);
    test_add("every row can be read", every_row_can_be_read, NULL);
    int failures = test_run("lab/claim_rules", argc, argv);
    made_clear(&made);
    return failures;
}
