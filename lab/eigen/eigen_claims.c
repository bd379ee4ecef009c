/*
 * The claims of the eigenvalue paper, judged by our measurements. Rates of several depths are combined, because the
 * cells of one depth have small counts.
 */
#include <math.h>
#include <stdio.h>

#include "lab/counting/counting.h"
#include "lab/eigen/eigen.h"
#include "lab/judge/judging.h"

/* ---- growth ---- */

/* How many times as many URLs of other sites the classic filter falsely sees. */
static lab_ratio advantage(const lab_book *book, const char *row)
{
    return lab_ratio_of_rates_among(lab_book_entry(book, "eigen-growth", row, "classic, other sites"),
                                    lab_book_entry(book, "eigen-growth", row, "labels, other sites"), 4);
}

/* The quotient of two ratios; their intervals are independent. */
static lab_ratio quotient(lab_ratio a, lab_ratio b)
{
    double value = a.value / b.value;
    if (!a.known || !b.known || !(b.low > 0) || !(a.low > 0))
        return (lab_ratio){value, 0, INFINITY, false};
    return (lab_ratio){value, value * exp(-hypot(log(a.value / a.low), log(b.high / b.value))),
                       value * exp(hypot(log(a.high / a.value), log(b.value / b.low))), true};
}

static lab_holding judge_growth(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    lab_ratio few = advantage(book, "n/4 in one filter"), all = advantage(book, "n in one filter");
    lab_ratio few_in_proportion = advantage(book, "n/4 in proportion");
    double same = lab_book_measured(book, "eigen-growth", "n in one filter", "labels, same sites");
    double same_classic = lab_book_measured(book, "eigen-growth", "n in one filter", "classic, same sites");
    char texts[3][LAB_RATIO_ROOM];
    if (isnan(few.value + all.value + few_in_proportion.value + same + same_classic))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Of pages of other sites the classic filter falsely sees %s times as many as the paper's after n/4 URLs, "
             "%s times if the filter is in proportion, and %s times after n: the more sites, the more features are "
             "known; of pages of the same sites both see %.3g and %.3g %%",
             lab_ratio_text(few, texts[0]), lab_ratio_text(few_in_proportion, texts[1]), lab_ratio_text(all, texts[2]),
             same_classic, same);
    lab_comparison filling = lab_compare(quotient(all, few), claim->margin);
    lab_comparison growing = lab_compare(quotient(all, few_in_proportion), claim->margin);
    if (filling == LAB_OPEN || growing == LAB_OPEN)
        return LAB_UNJUDGED;
    return filling != growing ? LAB_CONDITIONS : lab_holds_if_more(filling);
}

/* ---- formulas ---- */

static lab_holding judge_formulas(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_table *table = lab_book_find(book, "eigen-formulas");
    double highest = 0;
    size_t agree = 0, rows = table ? table->rows : 0;
    (void)claim;
    for (size_t i = 0; i < rows; i++) {
        const lab_entry *entry = lab_table_find(table, table->entries[i * table->columns].row, "as printed");
        if (!entry)
            return LAB_UNJUDGED;
        agree += entry->verdict == LAB_AGREES;
        highest = fmax(highest, entry->measured);
    }
    if (!(highest > 0))
        return LAB_UNJUDGED;
    snprintf(sentence, room, "%zu of %zu values are right; the highest \"probability\" is %.2g", agree, rows, highest);
    return agree == rows ? LAB_HOLDS : 2 * agree >= rows ? LAB_CONDITIONS : LAB_DOES_NOT_HOLD;
}

/* ---- all of them ---- */

/* A claim that fails with the paper's features holds with conditions if better features are shown to help. */
#define BETTER_FEATURES "a- b+ conditions; a- fails; a? open; holds"

const lab_claim lab_eigen_claims[] = {
    {"eigen-depth", "the eigenvalue paper, section 3 and figure 5",
     "Deep in a site, features of the host reduce the rate of false positives",
     "eigen-fig-5 eigen-fig-5-oaat eigen-features", .margin = 0.05,
     .margin_reason = "these tables have a twentieth of the URLs",
     .cells = "eigen-fig-5 @ mean * @ classic; @@ labels; @@ tail", .tests = {"more A/B"},
     .sentence = "Of further pages of the same sites {A 3g} % are falsely seen without and {B 3g} % with the features "
                 "of the paper's table 1, which all pages of a site share, and {C 2g} % with features that differ from "
                 "page to page"},
    {"eigen-lower", "the eigenvalue paper, section 4", "The eigenvalue extension reduces false positives in general",
     "eigen-asked eigen-fig-5", .margin = 0.05, .margin_reason = "these tables have a twentieth of the URLs",
     .cells = "eigen-asked @ mean * @ classic; @ mean depth 1 @ labels; @ mean depth 10000; @ mean * @ 4 functions; "
              "eigen-fig-5 @@ labels",
     .tests = {"more A/C", "more D/B A/E of 1"}, .rule = "a- fails; a? open; b- conditions; b? open; holds",
     .sentence = "Of pages of other sites the paper's filter falsely sees {C 2g} % after few sites and {B 2g} % after "
                 "many, the classic filter {A 3g} %, and with the same bits and one more function {D 2g} %; of pages "
                 "of the same sites the paper's filter falsely sees {E 3g} %"},
    {"eigen-more-functions", "the eigenvalue paper, section 2.3",
     "Among similar URLs, features do more than as many further hash functions", "eigen-fig-5", .margin = 0.05,
     .margin_reason = "these tables have a twentieth of the URLs",
     .cells = "eigen-fig-5 @ mean * @ labels; @@ tail; @@ 4 functions", .tests = {"more C/A", "more C/B"},
     .rule = BETTER_FEATURES,
     .sentence = "With the same bits, a fourth function of the URL itself gives {C 2g} %, of the best features, which "
                 "differ on every page, {B 2g} %, and of the paper's features {A 2g} %"},
    {"eigen-equal-bits", "the eigenvalue paper, section 2.3",
     "The gain comes from the algorithm, and it costs little space", "eigen-fig-5", .margin = 0.05,
     .margin_reason = "these tables have a twentieth of the URLs",
     .cells = "eigen-fig-5 @ mean * @ classic; @@ labels, equal bits; @@ tail, equal bits; @@ 4 functions, equal bits",
     .tests = {"more A/B", "more D/C"}, .rule = BETTER_FEATURES,
     .sentence = "Without the extra third of bits the paper's filter gives {B 3g} % and the classic filter {A 3g} %; "
                 "the best features give {C 2g} %, and so does a fourth function ({D 2g} %)"},
    {"eigen-deeper", "the eigenvalue paper, section 3",
     "The deeper the crawl of a site, the more URLs the classic filter falsely sees", "eigen-fig-5 eigen-fig-5-oaat",
     .margin = 0.1, .margin_reason = "it compares single depths, which have few counts",
     .cells = "eigen-fig-5 @ mean depth 1|depth 10 @ classic; @ mean depth 1000|depth 10000; eigen-fig-5-oaat @ mean "
              "depth 1; @ mean depth 10000",
     .tests = {"more B/A", "more D/C"}, .rule = "a? open; b? open; a- b- fails; a+ b+ holds; conditions",
     .sentence = "Depths of 1 and 10 give {A 3f} %, depths of 1,000 and 10,000 {B 3f} %, plus or minus {A.spread 3f}; "
                 "with one-at-a-time depth 1 gives {C 3f} % and depth 10,000 {D 3f} %, plus or minus {C.spread 3f}[a- "
                 "b-|: the rate depends on the number of URLs, not on where they come from]"},
    {"eigen-cause", "the eigenvalue paper, section 3", "False positives are mostly caused by similar URLs",
     "eigen-similar", .margin = 0.05, .margin_reason = "these tables have a twentieth of the URLs",
     .cells = "eigen-similar @ mean * @ many sites; @@ one site", .tests = {"more B/A"},
     .sentence = "Over four hash functions, {B 3g} % of similar URLs are falsely seen among similar URLs, and {A 3g} % "
                 "of other URLs among others (plus or minus {B.spread 1g})"},
    {"eigen-shifts", "the eigenvalue paper, section 3", "Shifts lose bits, so hash functions ignore small differences",
     "eigen-shifts eigen-similar", .margin = 1,
     .margin_reason = "our reading of \"likely\": at least twice as many collisions as by chance",
     .urls_least = 300000, /* fewer URLs have hardly any pair with equal 32-bit values */
     .cells =
         "eigen-shifts @ one-at-a-time @ one site; @ Jenkins's lookup2; @ MurmurHash2; eigen-similar @ one-at-a-time",
     .tests = {"more A~(1) of 3", "more B~(1) C~(1) of 3"}, /* chance gives 1 */
     .rule = "a- fails; a? open; b- conditions; b? open; holds",
     .sentence =
         "Each step of one-at-a-time can be undone, so no shift loses information; URLs of one site collide {A "
         "2g} times as often as by chance with it, {B 2g} times with lookup2 and {C 2g} times with MurmurHash2, "
         "which also shift; in a filter, where chance collisions are far more likely, {D 2g} % are falsely seen "
         "as usual"},
    {"eigen-product", "the eigenvalue paper, formula (5)",
     "The rate is that of the classic filter times that of the features, so it is never higher",
     "eigen-formulas eigen-features", .margin = 0.05, .margin_reason = "these tables have a twentieth of the URLs",
     .cells = "eigen-formulas @ mean (5) product, known sites @ as printed; @@ measured; @ mean (5) product, all "
              "features new",
     .tests = {"more B/A", "more C/A"}, .rule = "a? open; a- b? open; a+ fails; b+ conditions; holds",
     .sentence = "Formula (5) gives {A 2g}; the rate is {C 2g} if features are new and {B 2g} if they are known, "
                 "because a known feature always passes"},
    {"eigen-formulas", "the eigenvalue paper, section 2.3", "Formulas (1) to (6) describe the two filters",
     "eigen-formulas", .judge = judge_formulas},
    {"eigen-best-k", "the eigenvalue paper, section 2.3",
     "More hash functions help up to k = (m/n) ln 2 and no further", "counting-k", .judge = lab_claim_best_k,
     .margin = LAB_RATE_MARGIN},
    {"eigen-time", "the eigenvalue paper, section 2.3",
     "A URL still takes constant time, and not much more than before", "eigen-time", .margin = 0.5,
     .margin_reason = "our reading of \"not much more\"",
     .cells = "eigen-time @ classic @ look up; @ 4 functions; @ labels",
     .urls_least = 100000,                       /* with fewer URLs, times are dominated by the cold start */
     .tests = {"more C:A", "more C:A margin 4"}, /* five times is no longer "not much more" under any condition */
     .rule = "a? open; b? open; a- holds; b- conditions; fails",
     .sentence = "A lookup takes {C 0f} ns, with the classic filter {A 0f}: a ratio of {a}; with four functions it is "
                 "{B/A 1f}: features have to be found and hashed first"},
    {"eigen-growth", "the eigenvalue paper, section 3",
     "The more data, the more obvious is the advantage of the eigenvalue extension", "eigen-growth",
     .judge = judge_growth, .margin = 0.05, .margin_reason = "this table has a twentieth of the URLs"},
    {"eigen-database", "the eigenvalue paper, section 3",
     "To find out whether a URL was met, a database takes much longer than the filter", "eigen-database",
     .margin = LAB_TIME_MARGIN,
     .cells = "eigen-database @ SQLite in memory @ 50 k; @ SQLite in a file; @ hash table; @ labels; @ SQLite in "
              "memory @ 3.125 k|12.5 k; @ SQLite in a file; @ labels",
     .tests = {"more B:D A:D E:G F:G"}, .rule = LAB_ALL_OR_SOME,
     .sentence = "For 50,000 URLs a step takes {A 0f} ns with SQLite in memory, {B 0f} in a file without waiting for "
                 "the disk, {C 0f} with a hash table, which is as exact, and {D 0f} with the paper's filter: a ratio "
                 "of {a} for the file"},
    {"eigen-database-space", "the eigenvalue paper, section 3", "A database takes much more space than the filter",
     "eigen-database-space", .margin = LAB_RATE_MARGIN,
     .cells = "eigen-database-space @ SQLite @ 50 k; @ hash table; @ labels", .tests = {"more (A/C)"},
     .sentence = "SQLite takes {A 0f} bytes per URL, a hash table {B 0f} and the paper's filter {C 3g}"},
    {.id = NULL},
};
