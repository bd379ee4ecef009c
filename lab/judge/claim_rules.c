/* Judges claims by their rules: the tests, and what follows from them. See claim_rules.h. */
#include "lab/judge/claim_rules.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_ROOM = 128 };

/* ---- figures and pairs ---- */

/* One side of a pair, as the test names it. */
typedef struct figure {
    int cell;     /* -1: an expression */
    char how;     /* '=', '\'' or '^', or 0: the cell itself */
    double value; /* of the expression */
} figure;

typedef struct pair {
    figure a, b;
    char sign; /* between them; 0: there is no b */
} pair;

static figure read_figure(const lab_judgement *judgement, const char **at)
{
    figure figure = {-1, 0, 0};
    if (!isupper((unsigned char)**at) && **at != '=') {
        bool closed = **at == '(';
        *at += closed;
        figure.value = lab_expression(judgement, at);
        *at += closed;
        return figure;
    }
    if (**at == '=')
        figure.how = *(*at)++;
    figure.cell = *(*at)++ - 'A';
    if (**at == '\'')
        figure.how = *(*at)++;
    if (**at == '^') {
        figure.how = '^';
        *at += 2; /* ^2 */
    }
    return figure;
}

static pair read_pair(const lab_judgement *judgement, const char *word)
{
    pair pair = {.a = read_figure(judgement, &word)};
    pair.sign = *word;
    if (*word++)
        pair.b = read_figure(judgement, &word);
    return pair;
}

static size_t figure_count(const lab_judgement *judgement, const figure *figure)
{
    return figure->cell < 0 ? 1 : lab_cell_count(judgement, (size_t)figure->cell);
}

/* How many pairs a pair stands for, if its cells stand for several. */
static size_t pair_count(const lab_judgement *judgement, const pair *pair)
{
    size_t a = figure_count(judgement, &pair->a), b = pair->sign ? figure_count(judgement, &pair->b) : 1;
    return a > 1 && b > 1 ? (a < b ? a : b) : a > b ? a : b;
}

/* One figure with the name of its cell. */
typedef struct operand {
    lab_entry entry;
    lab_cell_text name;
} operand;

/* In per cent. */
static lab_entry squared(lab_entry entry)
{
    entry.measured *= entry.measured / 100;
    entry.low *= entry.low / 100;
    entry.high *= entry.high / 100;
    return entry;
}

static lab_entry exact_like(const lab_entry *entry, double value)
{
    lab_entry exact = lab_exact_entry(value);
    exact.row = entry->row;
    exact.column = entry->column;
    return exact;
}

static bool operand_find(const lab_judgement *judgement, const figure *figure, size_t index, operand *operand)
{
    if (figure->cell < 0) {
        operand->entry = lab_exact_entry(figure->value);
        return true;
    }
    size_t count = figure_count(judgement, figure);
    if (!lab_cell_at(judgement, (size_t)figure->cell, count > 1 ? index : 0, &operand->entry, &operand->name))
        return false;
    if (figure->how == '^')
        operand->entry = squared(operand->entry);
    else if (figure->how)
        operand->entry =
            exact_like(&operand->entry, figure->how == '=' ? operand->entry.measured : operand->entry.theory);
    return true;
}

/* ---- ratios ---- */

static lab_ratio inverse(lab_ratio ratio)
{
    return (lab_ratio){1 / ratio.value, 1 / ratio.high, 1 / ratio.low, ratio.known};
}

/* What has no interval is exact. */
static lab_entry certain(const lab_entry *entry)
{
    return entry->high > entry->low ? *entry : lab_exact_entry(entry->measured);
}

static lab_ratio times(const lab_book *book, const operand *a, const operand *b)
{
    lab_cell_name cell = {a->name.study, a->name.row, a->name.column}, base;
    if (b)
        base = (lab_cell_name){b->name.study, b->name.row, b->name.column};
    return lab_ratio_of_times(book, &cell, b ? &base : NULL);
}

static lab_ratio ratio_of(const lab_book *book, const pair *pair, const operand *a, const operand *b, size_t among)
{
    lab_ratio ratio;
    lab_entry certain_a, certain_b;
    switch (pair->sign) {
    case 0:
        return pair->a.cell < 0 ? lab_exact_ratio(pair->a.value) : times(book, a, NULL);
    case ':':
        return pair->a.cell < 0 ? inverse(times(book, b, NULL)) : times(book, a, b);
    case '%':
        ratio = times(book, a, b);
        return ratio.known ? ratio : lab_ratio_of_rates_among(&a->entry, &b->entry, among);
    case '~':
        if (pair->b.cell < 0 && !(a->entry.high > a->entry.low))
            return lab_exact_ratio(a->entry.measured / pair->b.value);
        certain_a = certain(&a->entry);
        certain_b = certain(&b->entry);
        return lab_ratio_of_rates_among(&certain_a, &certain_b, among);
    default:
        return lab_ratio_of_rates_among(&a->entry, &b->entry, among);
    }
}

/* ---- tests ---- */

typedef struct test {
    char verb[WORD_ROOM];
    pair pairs[LAB_CLAIM_CELLS]; /* in an expression that should be true, a is its value */
    size_t count;
    size_t among; /* ratios that are judged together */
    double to, margin;
} test;

static double number_of(const lab_judgement *judgement, const char *word)
{
    return lab_expression(judgement, &word);
}

static test read_test(const lab_judgement *judgement, const char *text)
{
    test test = {.to = 1, .margin = judgement->claim->margin};
    char word[WORD_ROOM], option = 0;
    size_t all = 0;
    int length;
    sscanf(text, "%127s%n", test.verb, &length);
    for (text += length; sscanf(text, "%127s%n", word, &length) == 1; text += length) {
        if (option == 'o')
            test.among = (size_t)number_of(judgement, word);
        else if (option == 't')
            test.to = number_of(judgement, word);
        else if (option == 'm')
            test.margin = number_of(judgement, word);
        bool is_option = islower((unsigned char)word[0]) && isalpha((unsigned char)word[1]) && !strchr(word, '(');
        if (!option && !is_option && test.count < LAB_CLAIM_CELLS) {
            pair value = {.a = {-1, 0, number_of(judgement, word)}};
            pair next = test.verb[0] == 't' ? value : read_pair(judgement, word);
            test.pairs[test.count++] = next;
            all += pair_count(judgement, &next);
        }
        option = word[option || !is_option ? strlen(word) : 0]; /* its first letter */
    }
    test.among = test.among ? test.among : all;
    return test;
}

static void note(lab_test_result *result, char outcome)
{
    size_t length = strlen(result->outcomes);
    if (!strchr(result->outcomes, outcome) && length + 1 < sizeof result->outcomes)
        result->outcomes[length] = outcome;
}

static void note_ratio(lab_test_result *result, const test *test, lab_ratio ratio)
{
    lab_ratio to = lab_ratio_to(ratio, test->to);
    if (strcmp(test->verb, "equal") == 0) {
        lab_relation relation = lab_relate(to, test->margin);
        note(result, "?+--"[relation]); /* too little, equal, above, below */
        if (relation == LAB_ABOVE || relation == LAB_BELOW)
            note(result, relation == LAB_ABOVE ? '>' : '<');
    } else {
        lab_comparison comparison = lab_compare(to, test->margin);
        note(result, (strcmp(test->verb, "more") == 0 ? "-+?" : "+-?")[comparison]); /* not more, more, open */
    }
    result->ratios[result->pairs++] = ratio;
}

/* The pairs of a contest; those that the book lacks are left out. */
typedef struct contestants {
    operand a[LAB_CONTEST_PAIRS], b[LAB_CONTEST_PAIRS];
} contestants;

static void add_contestants(const lab_judgement *judgement, lab_contest *contest, contestants *contestants,
                            const pair *pair)
{
    size_t count = pair_count(judgement, pair);
    for (size_t i = 0; i < count && contest->count < LAB_CONTEST_PAIRS; i++) {
        operand *a = &contestants->a[contest->count], *b = &contestants->b[contest->count];
        if (operand_find(judgement, &pair->a, i, a) && operand_find(judgement, &pair->b, i, b) &&
            !isnan(a->entry.measured + b->entry.measured))
            lab_contest_add(contest, &a->entry, &b->entry, b->name.study);
    }
}

static void hold_contest(const lab_judgement *judgement, const test *test, lab_test_result *result)
{
    lab_contest *contest = &result->contest;
    contestants *contestants = calloc(1, sizeof *contestants);
    for (size_t i = 0; i < test->count && contestants; i++) {
        result->pairs += pair_count(judgement, &test->pairs[i]);
        add_contestants(judgement, contest, contestants, &test->pairs[i]);
    }
    lab_contest_judge(contest, test->margin);
    free(contestants);
    if (contest->equal)
        note(result, '+');
    if (contest->above + contest->below)
        note(result, '-');
    if (contest->above)
        note(result, '>');
    if (contest->below)
        note(result, '<');
    if (contest->judged > contest->equal + contest->above + contest->below || contest->judged == 0)
        note(result, '?');
    if (contest->judged < contest->count)
        note(result, '0');
    if (contest->judged == 0)
        note(result, '~');
}

static void compare_pairs(const lab_judgement *judgement, const test *test, lab_test_result *result)
{
    operand a, b;
    for (size_t i = 0; i < test->count; i++) {
        const pair *pair = &test->pairs[i];
        size_t count = pair_count(judgement, pair);
        for (size_t j = 0; j < count && result->pairs < LAB_TEST_PAIRS; j++)
            if (operand_find(judgement, &pair->a, j, &a) && (!pair->sign || operand_find(judgement, &pair->b, j, &b)))
                note_ratio(result, test, ratio_of(judgement->book, pair, &a, &b, test->among));
    }
}

static bool is_contest(const char *test)
{
    return strncmp(test, "contest", strlen("contest")) == 0;
}

static void make_test(lab_judgement *judgement, size_t index)
{
    test test = read_test(judgement, judgement->claim->tests[index]);
    lab_test_result *result = &judgement->tests[index];
    if (is_contest(test.verb))
        hold_contest(judgement, &test, result);
    else if (strcmp(test.verb, "true") == 0)
        for (size_t i = 0; i < test.count; i++)
            note(result, test.pairs[i].a.value != 0 ? '+' : '-');
    else
        compare_pairs(judgement, &test, result);
}

/* ---- rules ---- */

static lab_holding named_holding(const char *word)
{
    return word[0] == 'h'   ? LAB_HOLDS
           : word[0] == 'c' ? LAB_CONDITIONS
           : word[0] == 'f' ? LAB_DOES_NOT_HOLD
                            : LAB_UNJUDGED;
}

/* What the first clause says whose conditions are met. */
static lab_holding follow(const lab_judgement *judgement, const char *rule)
{
    for (const char *end;; rule = end + 1) {
        end = rule + strcspn(rule, ";");
        const char *verdict = end;
        while (verdict > rule && verdict[-1] != ' ')
            verdict--;
        if (lab_outcomes_met(judgement, rule, verdict))
            return named_holding(verdict);
        if (!*end)
            return LAB_UNJUDGED;
    }
}

static bool some_test(const lab_judgement *judgement, char outcome)
{
    for (size_t i = 0; i < LAB_CLAIM_TESTS; i++)
        if (strchr(judgement->tests[i].outcomes, outcome))
            return true;
    return false;
}

/* ---- what is needed ---- */

/* Whether the text names the cell; in a sentence, between braces. */
static bool names_cell(const char *text, char cell, bool braces)
{
    bool inside = !braces;
    for (; text && *text; text++) {
        if (braces && strchr("{}", *text))
            inside = *text == '{';
        if (inside && *text == cell)
            return true;
    }
    return false;
}

/* In a partial claim, contests leave out what is missing. */
static bool is_needed(const lab_claim *claim, char cell)
{
    if (!claim->partial || names_cell(claim->sentence, cell, true))
        return true;
    for (size_t i = 0; i < LAB_CLAIM_TESTS && claim->tests[i]; i++)
        if (!is_contest(claim->tests[i]) && names_cell(claim->tests[i], cell, false))
            return true;
    return false;
}

static bool has_all(const lab_judgement *judgement)
{
    const lab_claim *claim = judgement->claim;
    for (size_t i = 0; i < judgement->count; i++)
        if (!judgement->found[i] && is_needed(claim, (char)('A' + i)))
            return false;
    return !claim->provided || number_of(judgement, claim->provided) != 0;
}

/* Whether a contest lacks pairs that it needs. */
static bool lacks_pairs(const lab_judgement *judgement)
{
    for (size_t i = 0; i < LAB_CLAIM_TESTS && judgement->claim->tests[i]; i++) {
        const lab_test_result *result = &judgement->tests[i];
        bool some = result->contest.count > 0, all = result->contest.count == result->pairs;
        if (is_contest(judgement->claim->tests[i]) && !(judgement->claim->partial ? some : all))
            return true;
    }
    return false;
}

static lab_holding judge(lab_judgement *judgement, char *sentence, size_t room)
{
    const lab_claim *claim = judgement->claim;
    lab_cells_find(judgement);
    if (!has_all(judgement))
        return LAB_UNJUDGED;
    if (judgement->book->settings.urls < claim->urls_least) {
        snprintf(sentence, room, "Too few URLs or runs to tell");
        return LAB_UNJUDGED;
    }
    for (size_t i = 0; i < LAB_CLAIM_TESTS && claim->tests[i]; i++)
        make_test(judgement, i);
    if (lacks_pairs(judgement))
        return LAB_UNJUDGED;
    lab_sentence_write(judgement, sentence, room);
    if (claim->rule)
        return follow(judgement, claim->rule);
    return some_test(judgement, '-') ? LAB_DOES_NOT_HOLD : some_test(judgement, '?') ? LAB_UNJUDGED : LAB_HOLDS;
}

lab_holding lab_rule_judge(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    lab_judgement *judgement = calloc(1, sizeof *judgement);
    if (!judgement)
        return LAB_UNJUDGED;
    judgement->claim = claim;
    judgement->book = book;
    lab_holding holding = judge(judgement, sentence, room);
    free(judgement);
    return holding;
}
