/* The claims of the multi-layer paper: judged by the figures, on made-up books and on one that was measured. */
#include <stdio.h>
#include <string.h>

#include "lab/books.h"
#include "lab/multilayer/multilayer.h"
#include "support/runner.h"

#define CROSS "multilayer-cross"
#define FORMULA "multilayer-formula"
#define ADDRESSES "multilayer-addresses"
#define EQUAL "multilayer-equal"
#define BEYOND "URLs with such an address"
#define AS_PAPER "multilayer, as the paper"
#define LAYERED "multilayer, m per layer"
#define BEST "classic, 5 m, best k"
#define NUMBER "m = 4.8 n, number appended"
#define OTHER "m = 4.8 n, other URLs"
#define KNOWN "m = 4.8 n, known segments"

/* About what comes out. */
static const made_figure usual[] = {
    {"multilayer-comparisons", "linear search", "URLs that are not", 50000},
    {"multilayer-comparisons", "binary search", "URLs that are not", 15.6},
    {CROSS, "a segment of another", "classic of segments", 100},
    {CROSS, "a segment of another", "classic of URLs", 10},
    {CROSS, "a segment of another", "layers without the XOR", 100},
    {CROSS, "a segment of another", AS_PAPER, 10},
    {CROSS, "new page", "classic of segments", 60},
    {CROSS, "permuted", AS_PAPER, 100},
    {CROSS, "permuted", "multilayer, layers salted", 10},
    {CROSS, "shortened by an equal pair", AS_PAPER, 100},
    {ADDRESSES, "m = 16829152, the original", BEYOND, 3.6},
    {ADDRESSES, "m = 4872584, the study's runs", BEYOND, 66},
    {ADDRESSES, "m = 16777216, a power of two", BEYOND, 0},
    {FORMULA, "the paper's formula", "m = 2.4 n", 1.74},
    {FORMULA, "all segments new", "m = 2.4 n", 0.63},
    {FORMULA, "last segment new", "m = 2.4 n", 13.2},
    {FORMULA, "new page of one directory", "m = 2.4 n", 16.8},
    {FORMULA, "new host alone", "m = 2.4 n", 36.3},
    {FORMULA, "all segments known", "m = 2.4 n", 36.3},
    {"multilayer-original", "3.5 M", "classic", 350000},
    {"multilayer-original", "3.5 M", "multilayer", 4000},
    {EQUAL, NUMBER, LAYERED, 0.3},
    {EQUAL, NUMBER, "classic, 5 m", 0.16},
    {EQUAL, NUMBER, BEST, 0.001},
    {EQUAL, OTHER, LAYERED, 0.1},
    {EQUAL, OTHER, "classic, 5 m", 0.16},
    {EQUAL, OTHER, BEST, 0.001},
    {EQUAL, KNOWN, "classic, m", 10},
    {EQUAL, KNOWN, LAYERED, 10},
    {EQUAL, KNOWN, "classic, 5 m", 0.16},
    {EQUAL, KNOWN, BEST, 0.001},
    {EQUAL, "m = 16.8 n, other URLs", "classic, m", 0.43},
    {EQUAL, "m = 16.8 n, other URLs", LAYERED, 0.002},
    {EQUAL, OTHER, "classic, m", 10},
    {"multilayer-space", "linear search", "bytes", 80},
    {"multilayer-space", "binary search", "bytes", 85},
    {"multilayer-space", "hash table", "bytes", 120},
    {"multilayer-space", "classic", "bytes", 0.6},
    {"multilayer-space", "multilayer", "bytes", 3},
    {"multilayer-slower", "3.5 M", "insert ratio", 4},
    {"multilayer-slower", "3.5 M", "lookup ratio", 5},
    {"multilayer-query", "linear search", "50 k", 9000},
    {"multilayer-query", "binary search", "50 k", 300},
    {"multilayer-query", "hash table", "50 k", 80},
    {"multilayer-query", "classic", "50 k", 70},
    {"multilayer-query", "multilayer", "50 k", 400},
};

enum { USUAL = sizeof usual / sizeof *usual, OTHERWISE_MAX = 5 };

/* A claim, with some figures other than usual. */
typedef struct verdict {
    const char *claim;
    lab_holding holding;
    made_figure otherwise[OTHERWISE_MAX + 1];
} verdict;

static const verdict verdicts[] = {
    {"multilayer-search", LAB_HOLDS, {{0}}},
    {"multilayer-search", LAB_DOES_NOT_HOLD, {{"multilayer-comparisons", "binary search", "URLs that are not", 200}}},
    {"multilayer-algorithms", LAB_DOES_NOT_HOLD, {{0}}},
    {"multilayer-algorithms", LAB_HOLDS, {{CROSS, "a segment of another", "classic of segments", 10}}},
    {"multilayer-xor", LAB_CONDITIONS, {{0}}},
    {"multilayer-xor", LAB_DOES_NOT_HOLD, {{CROSS, "a segment of another", AS_PAPER, 90}}},
    {"multilayer-xor",
     LAB_HOLDS,
     {{CROSS, "permuted", AS_PAPER, 11}, {CROSS, "shortened by an equal pair", AS_PAPER, 9}}},
    {"multilayer-addresses", LAB_CONDITIONS, {{0}}},
    {"multilayer-addresses", LAB_DOES_NOT_HOLD, {{ADDRESSES, "m = 16777216, a power of two", BEYOND, 1}}},
    {"multilayer-addresses",
     LAB_HOLDS,
     {{ADDRESSES, "m = 16829152, the original", BEYOND, 0}, {ADDRESSES, "m = 4872584, the study's runs", BEYOND, 0}}},
    {"multilayer-formula", LAB_DOES_NOT_HOLD, {{0}}},
    {"multilayer-formula",
     LAB_HOLDS,
     {{FORMULA, "all segments new", "m = 2.4 n", 1.7},
      {FORMULA, "last segment new", "m = 2.4 n", 1.8},
      {FORMULA, "new page of one directory", "m = 2.4 n", 1.7},
      {FORMULA, "new host alone", "m = 2.4 n", 1.7},
      {FORMULA, "all segments known", "m = 2.4 n", 1.7}}},
    {"multilayer-larger-m", LAB_HOLDS, {{0}}},
    {"multilayer-larger-m", LAB_CONDITIONS, {{EQUAL, "m = 16.8 n, other URLs", "classic, m", 12}}},
    {"multilayer-less-space", LAB_HOLDS, {{0}}},
    {"multilayer-less-space", LAB_CONDITIONS, {{"multilayer-space", "multilayer", "bytes", 100}}},
    {"multilayer-less-space", LAB_DOES_NOT_HOLD, {{"multilayer-space", "multilayer", "bytes", 200}}},
    {"multilayer-more-space", LAB_HOLDS, {{0}}},
    {"multilayer-more-space", LAB_DOES_NOT_HOLD, {{"multilayer-space", "multilayer", "bytes", 0.6}}},
    {"multilayer-fewer", LAB_CONDITIONS, {{0}}},
    {"multilayer-fewer", LAB_HOLDS, {{EQUAL, KNOWN, LAYERED, 1}}},
    {"multilayer-fewer", LAB_DOES_NOT_HOLD, {{"multilayer-original", "3.5 M", "multilayer", 360000}}},
    {"multilayer-slower", LAB_HOLDS, {{0}}},
    {"multilayer-slower", LAB_CONDITIONS, {{"multilayer-slower", "3.5 M", "lookup ratio", 1}}},
    {"multilayer-slower",
     LAB_DOES_NOT_HOLD,
     {{"multilayer-slower", "3.5 M", "lookup ratio", 1}, {"multilayer-slower", "3.5 M", "insert ratio", 1}}},
    {"multilayer-same-time", LAB_DOES_NOT_HOLD, {{0}}},
    {"multilayer-same-time",
     LAB_HOLDS,
     {{"multilayer-slower", "3.5 M", "lookup ratio", 1}, {"multilayer-slower", "3.5 M", "insert ratio", 1}}},
    {"multilayer-traditional", LAB_CONDITIONS, {{0}}},
    {"multilayer-traditional",
     LAB_HOLDS,
     {{"multilayer-query", "multilayer", "50 k", 60}, {"multilayer-query", "hash table", "50 k", 100}}},
    {"multilayer-traditional", LAB_DOES_NOT_HOLD, {{"multilayer-query", "multilayer", "50 k", 20000}}},
    {"multilayer-best", LAB_DOES_NOT_HOLD, {{0}}},
    {"multilayer-best", LAB_CONDITIONS, {{EQUAL, NUMBER, LAYERED, 0.0001}}},
    {"multilayer-best",
     LAB_HOLDS,
     {{EQUAL, NUMBER, LAYERED, 0}, {EQUAL, OTHER, LAYERED, 0}, {EQUAL, KNOWN, LAYERED, 0}}},
};

static double value_of(const made_figure *usually, const verdict *verdict)
{
    for (const made_figure *other = verdict->otherwise; other->table; other++)
        if (strcmp(other->table, usually->table) == 0 && strcmp(other->row, usually->row) == 0 &&
            strcmp(other->column, usually->column) == 0)
            return other->measured;
    return usually->measured;
}

static lab_holding judge(const verdict *verdict, char *sentence, size_t room)
{
    static made_book made;
    made_clear(&made);
    for (size_t i = 0; i < USUAL; i++) {
        made_figure figure = usual[i];
        figure.measured = value_of(&usual[i], verdict);
        made_put(&made, &figure);
    }
    return lab_claim_judged(claim_of(verdict->claim), &made.book, sentence, room);
}

static void claims_are_judged_by_figures(void **state)
{
    lab_book empty = {.count = 0};
    (void)state;
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        char sentence[512] = "";
        lab_holding holding = judge(&verdicts[i], sentence, sizeof sentence);
        check(holding == verdicts[i].holding, "verdict %zu, %s: %s (%s)", i, verdicts[i].claim,
              lab_holding_name(holding), sentence);
        check(strlen(sentence) > 40 && strlen(sentence) < 400, "%s: '%s'", verdicts[i].claim, sentence);
        assert_int_equal(lab_claim_judged(claim_of(verdicts[i].claim), &empty, sentence, sizeof sentence),
                         LAB_UNJUDGED);
    }
}

/* The published count of the paper's own runs, beside what the program counts here, give or take. */
static lab_holding judge_own(double published, double give, char *sentence, size_t room)
{
    lab_entry entry = {.row = "1562978 rows",
                       .column = "classic",
                       .published = published,
                       .measured = 39300,
                       .low = 39300 - give,
                       .high = 39300 + give,
                       .runs = 2};
    lab_table table = {.id = "multilayer-program", .entries = &entry, .rows = 1, .columns = 1};
    lab_book book = {.tables = &table, .count = 1};
    return lab_claim_judged(claim_of("multilayer-own"), &book, sentence, room);
}

static void the_papers_own_count_is_too_large(void **state)
{
    char sentence[512];
    lab_book empty = {.count = 0};
    (void)state;
    assert_int_equal(judge_own(50600, 200, sentence, sizeof sentence), LAB_DOES_NOT_HOLD);
    assert_int_equal(judge_own(39300, 200, sentence, sizeof sentence), LAB_HOLDS);
    assert_int_equal(judge_own(50600, 15000, sentence, sizeof sentence), LAB_UNJUDGED);
    assert_int_equal(lab_claim_judged(claim_of("multilayer-own"), &empty, sentence, sizeof sentence), LAB_UNJUDGED);
}

/* Figures that differ as the claims say, but with intervals as wide as few runs give, prove nothing. */
static void wide_intervals_prove_nothing(void **state)
{
    static const char *const claims[] = {"multilayer-xor",
                                         "multilayer-fewer",
                                         "multilayer-formula",
                                         "multilayer-algorithms",
                                         "multilayer-best",
                                         "multilayer-larger-m",
                                         NULL};
    static made_book made;
    (void)state;
    for (size_t c = 0; claims[c]; c++) {
        char sentence[512] = "";
        made_clear(&made);
        for (size_t i = 0; i < USUAL; i++) {
            lab_entry *entry = made_put(&made, &usual[i]);
            entry->low = 0;
            entry->high = 1000 * entry->measured;
        }
        lab_holding holding = lab_claim_judged(claim_of(claims[c]), &made.book, sentence, sizeof sentence);
        check(holding == LAB_UNJUDGED, "%s: %s", claims[c], lab_holding_name(holding));
    }
}

/* All of them at once, from figures that were measured. */
static void measured_books_have_the_cells_of_all_claims(void **state)
{
    static const char *const ids[] = {"multilayer-comparisons", "multilayer-original",  "multilayer-quarter",
                                      "multilayer-formula",     "multilayer-addresses", "multilayer-equal",
                                      "multilayer-cross",       "multilayer-own",       "multilayer-query",
                                      "multilayer-slower",      "multilayer-false",     "multilayer-insert",
                                      "multilayer-space",       "multilayer-program",   "counting-k"};
    lab_book book;
    char sentence[512];
    size_t judged = 0;
    (void)state;
    lab_settings settings = {.urls = 10000, .runs = 1, .seed = 6, .threads = 2};
    int code = lab_book_measure(&book, ids, sizeof ids / sizeof *ids, &settings);
    check(code == VIDI_OK, "measuring: %s", vidi_message());
    for (const lab_claim *claim = lab_multilayer_claims; claim->id; claim++, judged++) {
        lab_claim_judged(claim, &book, sentence, sizeof sentence);
        check(sentence[0], "%s does not find its cells", claim->id);
        char evidence[256];
        snprintf(evidence, sizeof evidence, "%s", claim->evidence);
        for (char *rest = evidence, *id; (id = strtok_r(rest, " ", &rest));)
            check(lab_book_find(&book, id) != NULL, "%s has no table %s", claim->id, id);
    }
    assert_int_equal(judged, 15);
    lab_book_free(&book);
}

int main(int argc, char **argv)
{
    test_add("claims are judged by figures", claims_are_judged_by_figures, NULL);
    test_add("the paper's own count is too large", the_papers_own_count_is_too_large, NULL);
    test_add("wide intervals prove nothing", wide_intervals_prove_nothing, NULL);
    test_add("measured books have the cells of all claims", measured_books_have_the_cells_of_all_claims, NULL);
    return test_run("lab/multilayer_claims", argc, argv);
}
