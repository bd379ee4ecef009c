/*
 * Claims as data: the cells that a claim rests on, what is asked of them, what follows, and the sentence that says so.
 *
 *   .cells = "thesis-5.9 @ 3 HF @ 2.0 M; thesis-5.18; thesis-5.9 @ 6 HF",
 *   .tests = {"more A/B", "more C/B"},
 *   .rule = "a- fails; a? open; b+ holds; conditions",
 *   .sentence = "One filter loses {A 3g} %, two lose {B 3g} %, one with 6 functions {C 3g} %; the ratio is {a}",
 *
 * Cells are called A, B, C … in the order of the list: study, row and column. What is empty or left out is the same as
 * in the cell before ("@@ 1.7 M": only the column changes). A row or column may be several names: "1.7 M|2.0 M", "*"
 * for all rows, "* but NAME" for the other rows. Then the cell stands for each of them in turn, or for one number:
 * "mean a|b" (with a symmetric interval), "sum a|b", "least a|b".
 *
 * Tests are called a, b, c …: a verb, pairs of figures, and options.
 *
 *   more A/B       A is more than B by more than the margin          A/B   rates, with the intervals of both
 *   no-more A/B    it is not                                         A~B   the same; without an interval: exact
 *   equal A/B      their ratio is within the margin                  A:B   times, compared run by run
 *   contest A/B    the same for pairs with power (judging.h)         A%B   run by run if that is known, or rates
 *   true E         the expression is not zero                        A     ratios already, run by run; 1:A the inverse
 *
 *   of N           the ratio is one of N that are judged together; otherwise one of those in the test
 *   to N           the ratio is compared with N and not with 1
 *   margin N       in place of the claim's
 *
 * A figure is a cell, its theory (A'), the cell as an exact number (=A), its square in per cent (A^2), or an expression
 * in parentheses; such an expression alone is an exact ratio. Expressions have numbers, n (the number of URLs), cells,
 * + - * / < > <= >=, min, max, abs, log2, and the fields .theory, .published, .high and .spread of a cell. Only `to`,
 * `margin` and expressions between parentheses may contain the sign of a pair; there are no spaces in them.
 *
 * A rule is a list of clauses; the first whose conditions are met decides. a+: some pair of test a came out as the verb
 * says; a-: some did not; a?: some is undecided; a> and a<: some is above or below, where equality was asked for; a0: a
 * contest left a pair out; a~: it judged none. Without a rule a claim fails if some pair is not as claimed, is open if
 * some is undecided, and holds otherwise.
 *
 * In the sentence, {E 3g} is an expression with three digits, {E 1f} with one decimal, {E auto} with two decimals below
 * 10 and none above; {a}, {a1} is the first or second ratio of test a with its interval, {a1 2f} its value alone;
 * {a.count}, {a.judged}, {a.equal}, {a.above}, {a.below}, {a.farthest} and {a.left_out} are what a contest found.
 * [a- b+|text|other text] is there if the conditions are met; the other text may be left out.
 */
#ifndef VIDI_LAB_JUDGE_CLAIM_RULES_H
#define VIDI_LAB_JUDGE_CLAIM_RULES_H

#include "lab/judge/judging.h"

enum { LAB_CLAIM_CELLS = 24, LAB_TEST_PAIRS = LAB_CONTEST_PAIRS, LAB_NAME_ROOM = 256 };

typedef struct lab_cell_text {
    char study[LAB_NAME_ROOM], row[LAB_NAME_ROOM], column[LAB_NAME_ROOM];
} lab_cell_text;

/* What a test found. */
typedef struct lab_test_result {
    char outcomes[8]; /* of "+-?<>0~", those that occurred */
    lab_ratio ratios[LAB_TEST_PAIRS];
    size_t pairs; /* in a contest, also those that the book lacks */
    lab_contest contest;
} lab_test_result;

/* A claim while it is judged. */
typedef struct lab_judgement {
    const lab_claim *claim;
    const lab_book *book;
    size_t count;
    lab_entry cells[LAB_CLAIM_CELLS]; /* those that are one number */
    bool found[LAB_CLAIM_CELLS];      /* with all that they stand for */
    lab_test_result tests[LAB_CLAIM_TESTS];
} lab_judgement;

/* Judges a claim by its rule, as lab_claim_judge says. */
lab_claim_judge lab_rule_judge;

/* ---- claim_cells.c ---- */

void lab_cells_find(lab_judgement *judgement);

/* How many cells a cell stands for, and one of them with its name: false if the book lacks it. */
size_t lab_cell_count(const lab_judgement *judgement, size_t cell);
bool lab_cell_at(const lab_judgement *judgement, size_t cell, size_t index, lab_entry *entry, lab_cell_text *name);

/* ---- claim_sentences.c ---- */

/* The value of the expression at *at, which becomes its end. */
double lab_expression(const lab_judgement *judgement, const char **at);

/* Whether the tests came out as the text says: "a- b+". */
bool lab_outcomes_met(const lab_judgement *judgement, const char *from, const char *to);

void lab_sentence_write(const lab_judgement *judgement, char *sentence, size_t room);

#endif
