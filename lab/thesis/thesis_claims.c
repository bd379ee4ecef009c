/*
 * The claims of the thesis: its research questions and the conclusions from its tables. Each is judged by our
 * measurements and by theory, never by the published figures.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/judge/judging.h"

/* ---- how random hash functions are ---- */

/* The thesis's equation (3.5) with m = n k M, in per cent. */
static double perfect_rate(double k, double multiplier)
{
    return 100 * pow(-expm1(-1 / multiplier), k);
}

enum { IMPERFECT_MOST = 80 };

/* Cells that are compared with perfectly random functions. */
typedef struct perfection {
    const lab_entry *entries[IMPERFECT_MOST];
    double perfect[IMPERFECT_MOST];
    size_t count;
} perfection;

/* Adds all cells of a table. Rows and columns begin with k and M, unless both are given. */
static void add_cells(perfection *cells, const lab_book *book, const char *id, double k, double multiplier)
{
    const lab_table *table = lab_book_find(book, id);
    for (size_t i = 0; table && i < table->rows * table->columns && cells->count < IMPERFECT_MOST; i++) {
        const lab_entry *entry = lab_book_entry(book, id, table->entries[i].row, table->entries[i].column);
        if (!entry)
            continue;
        cells->entries[cells->count] = entry;
        cells->perfect[cells->count++] = perfect_rate(k > 0 ? k : strtod(entry->row, NULL),
                                                      multiplier > 0 ? multiplier : strtod(entry->column, NULL));
    }
}

static lab_holding judge_imperfect(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    perfection cells = {.count = 0};
    size_t judged = 0, more = 0, open = 0;
    double low = INFINITY, high = 0, least = INFINITY;
    add_cells(&cells, book, "thesis-5.5", 1, 2.0);
    add_cells(&cells, book, "thesis-5.6", 2, 2.0);
    add_cells(&cells, book, "thesis-5.7", 3, 2.0);
    add_cells(&cells, book, "thesis-5.9", 0, 0);
    if (cells.count == 0)
        return LAB_UNJUDGED;
    for (size_t i = 0; i < cells.count; i++) {
        lab_entry perfect = lab_exact_entry(cells.perfect[i]);
        lab_ratio ratio = lab_ratio_of_rates_among(cells.entries[i], &perfect, cells.count);
        lab_comparison comparison = lab_compare(ratio, claim->margin);
        more += comparison == LAB_MORE;
        if (!ratio.known || !(ratio.low > 0) || ratio.high / ratio.low > 1 + claim->margin)
            continue; /* too wide to tell */
        judged++;
        open += comparison == LAB_OPEN;
        low = fmin(low, ratio.low);
        high = fmax(high, ratio.high);
        least = fmin(least, ratio.high);
    }
    if (judged == 0) {
        snprintf(sentence, room, "None of the %zu cells has enough counts", cells.count);
        return more ? LAB_HOLDS : LAB_UNJUDGED;
    }
    snprintf(sentence, room,
             "In the %zu of %zu cells that tell, the rate divided by that of (3.5) is between %.4f and %.4f (99 %% for "
             "all of them together), so imperfect functions add at most %.2g %%, and in the best measured cell at most "
             "%.2g %%",
             judged, cells.count, low, high, fmax(0, 100 * (high - 1)), fmax(0, 100 * (least - 1)));
    return more ? LAB_HOLDS : open ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
}

/* ---- all of them ---- */

/* The sentence about a contest of figures that should be equal. */
#define EQUAL(what)                                                                                                    \
    "[a~|None of the {a.count} " what " has enough counts{a.left_out}|In {a.judged} of {a.count} " what                \
    " the ratio that differs most from 1 is {a.farthest}{a.left_out}]"

#define QUESTION "the thesis, section 1.5"

const lab_claim lab_thesis_claims[] = {
    {"thesis-temporal", QUESTION, "New salts for a revisit reduce false positives", "thesis-5.9 thesis-5.16",
     .margin = LAB_RATE_MARGIN, .cells = "thesis-5.9 @ 3 HF @ 1.7 M; thesis-5.16", .tests = {"more A/B"},
     .sentence = "With 3 functions and M = 1.7 one crawl loses {A 3g} %, and both of two crawls with different salts "
                 "lose {B 3g} %, the square of it; each crawl alone still loses {A 3g} %, and these pages come one "
                 "crawl late"},
    {"thesis-spatial", QUESTION, "Several filters with different salts reduce false positives",
     "thesis-5.9 thesis-5.18", .margin = LAB_RATE_MARGIN,
     .cells = "thesis-5.9 @ 3 HF @ 2.0 M; thesis-5.18; thesis-5.9 @ 6 HF", .tests = {"more A/B", "more C/B"},
     .rule = "a- fails; a? open; b+ holds; conditions",
     .sentence =
         "With 3 functions and M = 2.0 one filter loses {A 3g} % and two lose {B 3g} %, but they take twice the "
         "memory and twice the hash values; one filter with 6 functions takes as much and loses {C 3g} %"},
    {"thesis-spatio-temporal", QUESTION, "Both strategies together reduce false positives more than each alone",
     "thesis-5.16 thesis-5.18 thesis-5.20", .margin = LAB_RATE_MARGIN,
     .cells = "thesis-5.16 @ 3 HF @ 1.7 M; thesis-5.18; thesis-5.20; thesis-5.16 @ 6 HF",
     .tests = {"more A/C", "more B/C", "more D/C"},
     .rule = "a- fails; a? open; b- fails; b? open; c+ holds; conditions",
     .sentence = "With 3 functions and M = 1.7 two filters in two crawls lose {C 3g} %, two crawls alone {A 3g} % and "
                 "two filters alone {B 3g} %; but two crawls with one equally large filter of 6 functions lose {D 3g} "
                 "%"},
    {"thesis-salts", QUESTION, "One function with k salts is as good as k different functions",
     "thesis-5.2 thesis-5.3 thesis-5.6 thesis-5.7", .margin = LAB_RATE_MARGIN, .partial = true,
     .cells = "thesis-5.2 @ Jenkins and MurmurHash @ FP; @ * but Jenkins and MurmurHash; thesis-5.3 @ Jenkins and "
              "MurmurHash and SHA-1; @ * but Jenkins and MurmurHash and SHA-1; thesis-5.6 @ Jenkins and MurmurHash; @ "
              "* but Jenkins and MurmurHash; thesis-5.7 @ Jenkins and MurmurHash and SHA-1; @ * but Jenkins and "
              "MurmurHash and SHA-1",
     .tests = {"contest A/B C/D E/F G/H"},
     .sentence = EQUAL("comparisons of different functions with one salted function")},
    {"thesis-other-functions", QUESTION,
     "Other hash functions in the second crawl or in each filter reduce false positives as much as new salts do",
     "thesis-temporal-functions thesis-spatial-functions", .margin = LAB_RATE_MARGIN, .partial = true,
     .cells = "thesis-temporal-functions @ 2 HF: Jenkins, new salts @ non-incremental|incremental; @ 2 HF: Jenkins, "
              "then MurmurHash; @ 2 HF: Jenkins and MurmurHash, then MD5 and SHA-1; @ 3 HF: Jenkins, new salts; @ 3 "
              "HF: Jenkins, then MurmurHash; thesis-spatial-functions @ 2 filters: Jenkins, new salts; @ 2 filters: "
              "Jenkins, MurmurHash; @ 3 filters: Jenkins, new salts; @ 3 filters: Jenkins, MurmurHash, SHA-1",
     .tests = {"contest A/B A/C D/E F/G H/I"}, .sentence = EQUAL("comparisons of new salts with other functions")},
    {"thesis-other-combination", QUESTION,
     "A different combination of hash functions for a revisit reduces false positives",
     "thesis-5.6 thesis-kept-functions", .margin = LAB_RATE_MARGIN,
     .cells = "thesis-5.6 @ Jenkins and MurmurHash @ FP; thesis-kept-functions @ 2 HF: none kept; @ 2 HF: one kept; @ "
              "3 HF: two kept",
     .tests = {"more A/C", "more C/B"}, .rule = "a? open; a+ b? open; a- fails; b+ conditions; holds",
     .sentence = "With 2 functions and M = 2.0 one crawl loses {A 3g} %, and both of two crawls lose {B 3g} % if the "
                 "second has other functions, but {C 3g} % if one of the two is kept, {b} times as much; with 3 "
                 "functions of which two are kept it is {D 3g} %"},
    {"thesis-imperfect", "the thesis, section 3.5.3",
     "Hash functions are not perfectly random, so the rate is higher in reality than equation (3.5) says",
     "thesis-5.5 thesis-5.6 thesis-5.7 thesis-5.9", .judge = judge_imperfect, .margin = LAB_RATE_MARGIN},
    {"thesis-same-values", "the thesis, section 4.2",
     "In the worst case a URL collides in every crawl, and its page is never fetched", "thesis-salt-place",
     .margin = LAB_RATE_MARGIN,
     .cells = "thesis-salt-place @ MurmurHash @ 8 HF, 5.0 M, salt before; @@ 8 HF, 5.0 M, salt after; @ one-at-a-time",
     .tests = {"more B/A'", "more A/A'"}, .rule = "b+ holds; a+ conditions; a? open; fails",
     .sentence = "With 8 functions and M = 5.0, chance gives {A.theory 2g} %, and MurmurHash with salts before the URL "
                 "{A 2g} %; with salts after it, {B 2g} % ({a} times chance), because URLs with the same 32-bit state "
                 "collide for every salt, and {C 2g} % with a function that reads byte by byte"},
    {"thesis-worst-case", "the thesis, section 5.2.2", "The non-incremental approach shows the worst case",
     "thesis-5.9 thesis-5.16 thesis-5.17 thesis-5.18 thesis-fig-5.1", .margin = LAB_RATE_MARGIN,
     .cells = "thesis-5.9 @ 3 HF @ 2.0 M; thesis-5.17 @@ 1 filter 2.0 M; thesis-5.16 @@ 2.0 M; thesis-fig-5.1 @@ same "
              "order; thesis-5.18 @@ 2.0 M; thesis-5.17 @@ 2 filters 2.0 M",
     .tests = {"more A/B C/D E/F"},
     .sentence = "With 3 functions and M = 2.0, a full filter errs {a 2f} times as often as one that fills up does on "
                 "average, two crawls together {a1 2f} times and two filters {a2 2f} times"},
    {"thesis-doubling", "the thesis, sections 5.4.1 and 5.4.2",
     "A second function with twice the bits reduces the rate to almost a fourth if incremental, and to less "
     "than half if not",
     "thesis-5.1 thesis-5.2 thesis-5.5 thesis-5.6", .margin = 0.15, .margin_reason = "our reading of \"almost\"",
     .cells = "thesis-5.1 @ Jenkins @ FP; thesis-5.2 @ Jenkins (seeded); thesis-5.5 @ Jenkins; thesis-5.6 @ Jenkins "
              "(seeded)",
     .tests = {"equal A/B of 2 to 4", "more C/D of 2 to 2 margin 0"},
     .rule = "a? open; b? open; a+ b+ holds; a+ conditions; b+ conditions; fails",
     .sentence = "With M = 2.0, two functions and twice the bits divide the rate of one function by {a} if "
                 "incremental, and by {b} if not"},
    {"thesis-late", "the thesis, section 5.8.1",
     "With three functions the rate is relatively high after about 600,000 of 1,000,000 URLs",
     "thesis-fig-A.1 thesis-fig-A.2 thesis-fig-A.3 thesis-fig-A.4", .margin = LAB_RATE_MARGIN,
     .cells = "thesis-fig-A.1 @ 3 HF @ first 60 %; @@ all; thesis-fig-A.2 @@ first 60 %; @@ all; thesis-fig-A.3 @@ "
              "first 60 %; @@ all; thesis-fig-A.4 @@ first 60 %; @@ all; thesis-fig-A.2 @ 6 HF @ first 60 %; @@ all",
     /* What is lost late is more than half if 0.6 times what the first 60 % lose is less than half of what all lose. */
     .tests = {"more B/A D/C F/E H/G of 1 to 1.2", "more J/I to 1.2"},
     .rule = "a- fails; a? open; b? open; b+ conditions; holds",
     .sentence = "With 3 functions, one filter and M = 2.0, {C 3g} % of the first 60 % of the URLs are lost and {D 3g} "
                 "% of all: {100*(1-0.6*C/D) 0f} % of the lost pages come after 600,000 URLs; but nothing begins "
                 "there, because the rate grows with every URL, and with 6 functions {100*(1-0.6*I/J) 0f} % come after "
                 "them"},
    {"thesis-only-temporal", "the thesis, sections 5.9 and 6.5",
     "With equally many functions in all, several filters in two crawls lose as many pages as one filter in two "
     "crawls",
     "thesis-5.16 thesis-5.20 thesis-5.21", .margin = 0.05, .margin_reason = "pages that both crawls lose are few",
     .partial = true,
     /* Cells that lose fewer pages cannot tell, and more pairs would make every interval wider. */
     .cells = "thesis-5.16 @ 4 HF @ 1.7 M|2.0 M|2.5 M; thesis-5.20 @ 2 HF; thesis-5.16 @ 6 HF @ 1.7 M; thesis-5.20 @ 3 "
              "HF; thesis-5.21 @ 2 HF",
     .tests = {"contest A/B C/D C/E"},
     .sentence = EQUAL("pairs of one filter with F k functions and F filters with k in two crawls")},
    {"thesis-filters-or-functions", "the thesis, sections 5.8 and 6.4",
     "F filters of k functions lose as many pages as one filter of F k functions",
     "thesis-5.9 thesis-5.17 thesis-5.18 thesis-5.19", .margin = LAB_RATE_MARGIN, .partial = true,
     .cells = "thesis-5.9 @ 6 HF @ 1.7 M|2.0 M|2.5 M|3.0 M|4.0 M|5.0 M; thesis-5.18 @ 3 HF; thesis-5.9 @ 8 HF; "
              "thesis-5.18 @ 4 HF; thesis-5.9 @ 10 HF; thesis-5.18 @ 5 HF; thesis-5.9 @ 9 HF; thesis-5.19 @ 3 HF; "
              "thesis-5.17 @ 6 HF @ 1 filter 1.7 M|1 filter 2.0 M; @ 3 HF @ 2 filters 1.7 M|2 filters 2.0 M; @ 6 HF; @ "
              "4 HF @ 3 filters 1.7 M|3 filters 2.0 M",
     .tests = {"contest A/B C/D E/F G/H I/J K/L"},
     .sentence = EQUAL("pairs of one filter with F k functions and F filters with k")},
    {"thesis-jenkins", "the thesis, section 5.4.3", "Jenkins's function performs best in the incremental tests",
     "thesis-5.1 thesis-5.2 thesis-5.3", .margin = LAB_RATE_MARGIN, .partial = true,
     .cells = "thesis-5.1 @ Jenkins @ FP; @ * but Jenkins; thesis-5.2 @ Jenkins (seeded); @ * but Jenkins (seeded); "
              "thesis-5.3 @ Jenkins (seeded); @ * but Jenkins (seeded)",
     .tests = {"contest A/B C/D E/F"}, .rule = "a+ fails; a> fails; a? open; a0 open; holds",
     .sentence = "Of {a.count} other functions or combinations {a.equal} lose as many pages as Jenkins's, {a.below} "
                 "lose more and {a.above} fewer[a+|: chance decides which of the equal ones is ahead]{a.left_out}"},
    {"thesis-hash-time", "the thesis, sections 5.4 and 5.4.3",
     "Jenkins's function and MurmurHash are faster than MD5 and SHA-1", "thesis-hash-time", .margin = LAB_TIME_MARGIN,
     .cells = "thesis-hash-time @ Jenkins @ salt and URL; @ MurmurHash; @ MD5; @ SHA-1",
     .tests = {"more C:A C:B D:A D:B"},
     .sentence = "MD5 takes {a} times as long as Jenkins's function and {a1} times as long as MurmurHash, SHA-1 {a2} "
                 "and {a3} times"},
    {"thesis-pages-missed", "the thesis, section 5.7.1",
     "What two crawls miss follows from how full the filter is: with 3 functions and M = 2.0 some 640 pages in "
     "1,000,000",
     "thesis-fig-5.1", .margin = LAB_RATE_MARGIN,
     /* Judged by theory, which knows how full the filters are; the printed number is judged in its table. */
     .cells = "thesis-fig-5.1 @ 3 HF @ same order; @@ other order", .tests = {"equal A/A'", "equal B/A"},
     .rule = "a- fails; a? open; b? open; b+ holds; conditions",
     .sentence = "{A 3g} % (theory: {A.theory 3g} %) if both crawls meet the URLs in the same order, so that the same "
                 "pages meet full filters twice, but {B 3g} % if the second crawl has a different order"},
    {"thesis-delay", "the thesis, section 4.2", "A page that is falsely seen is fetched by a later crawl",
     "further-delay", .margin = LAB_RATE_MARGIN,
     .cells = "further-delay @ by 1 crawl or more @ same order; @ by 2 crawls or more; @@ other order; @ by 3 crawls "
              "or more @ same order; @ by 1 crawl or more @ last tenth, same order",
     .tests = {"more A/B", "true B>=D"}, .rule = "a? open; a+ b+ holds; fails",
     .sentence =
         "With 3 functions and M = 2.0, {A 3g} % of all pages wait for the second crawl, {B 3g} % for the third "
         "({C 3g} % if each crawl has a different order) and {D 3g} % for longer; of the tenth that a crawl "
         "meets last, {E 3g} % wait"},
    {"thesis-multiplier", "the thesis, sections 5.6.2 and 6.1",
     "It is better to increase M than the number of hash functions", "further-equal-bits further-equal-bits-time",
     .margin = LAB_TIME_MARGIN, .margin_reason = "of times; 2 % of rates",
     .cells = "further-equal-bits @ 3 HF, 4.0 M: 12 bits @ FP; @ 6 HF, 2.0 M: 12 bits; further-equal-bits-time @ 3 HF, "
              "4.0 M: 12 bits @ salted, look up known; @ 6 HF, 2.0 M: 12 bits; @@ derived, look up known",
     .tests = {"more A/B margin 0.02", "equal C:D"}, .rule = "a? open; a+ b? open; a- holds; b< conditions; fails",
     .sentence = "With 12 bits per URL, M = 4.0 with 3 functions loses {A 3g} % and M = 2.0 with 6 functions {B 3g} %; "
                 "a lookup takes {C 3g} and {D 3g} ns with salted functions (a ratio of {b}), and {E 3g} ns with 6 "
                 "values derived from one hash"},
    {"thesis-memory", "the thesis, sections 5.5 and 6.1",
     "A Bloom filter needs far less memory than an ArrayList or a HashSet", "thesis-5.10 thesis-5.13",
     .cells = "thesis-5.10 @ 3 HF @ 2.0 M; @ 10 HF @ 5.0 M; thesis-5.13 @ ArrayList @ memory; @ HashSet",
     .tests = {"true B*2<min(C,D)", "true A<min(C,D)"}, .rule = "a+ holds; b+ conditions; fails",
     .sentence = "1,000,000 URLs take {A 0f} kilobytes in a filter with 3 functions and M = 2.0 and {B 0f} in the "
                 "largest of the table, but {C 0f} in a list and {D 0f} in a hash set, which lose no pages"},
    {"thesis-memory-filters", "the thesis, section 5.5", "Memory grows in proportion to the number of filters",
     "thesis-5.10 thesis-5.11 thesis-5.12", .margin = 0.02,
     .margin_reason = "memory is counted exactly; headers do not grow",
     .cells = "thesis-5.10 @ 3 HF @ 2.0 M; thesis-5.11; thesis-5.12", .tests = {"equal (B/A/2) (C/A/3)"},
     .sentence = "Two filters with 3 functions and M = 2.0 take {B/A 3g} times the memory of one, three take {C/A 3g} "
                 "times"},
    {"thesis-time-functions", "the thesis, section 5.6.1",
     "The time to add grows linearly with the number of functions", "thesis-A.4", .margin = 0.3,
     .margin_reason = "adding a URL also takes time that does not depend on the functions",
     .cells = "thesis-A.4 @ 10 HF @ 2.0 M; @ 3 HF", .tests = {"equal A:B to 10/3"},
     .sentence = "The time to add with 10 functions, divided by that with 3, is {a}; linear growth would be 10/3"},
    {"thesis-time-query", "the thesis, sections 3.5.1 and 5.6.2",
     "The time to query grows linearly with the number of functions", "thesis-A.1 thesis-A.1-break", .margin = 0.3,
     .margin_reason = "a lookup also takes time that does not depend on the functions",
     .cells = "thesis-A.1 @ 10 HF @ 2.0 M; @ 3 HF; thesis-A.1-break @ 10 HF; @ 3 HF",
     .tests = {"equal A:B to 10/3", "equal C:D to 10/3"}, .rule = "a? open; b? open; a- fails; b+ holds; conditions",
     .sentence = "The time with 10 functions, divided by that with 3, is {a} if every bit is looked up, but {b} if a "
                 "lookup stops at the first zero bit, as the thesis's algorithm 2 does; linear growth would be 10/3"},
    {"thesis-early-exit", "the thesis, section 4.3 and algorithm 4",
     "A lookup in several filters ends at the first zero bit", "thesis-A-filters", .margin = LAB_TIME_MARGIN,
     /* The table gives times divided by that of one filter: 1 if a lookup ends at the first zero bit. */
     .cells = "thesis-A-filters @ 3 filters @ query, first zero bit of each filter; @@ query, first zero bit",
     .tests = {"equal A", "equal B"}, .rule = "a- fails; a? open; holds",
     .sentence =
         "A lookup in three filters takes {a} times as long as in one if algorithm 4 is carried out as printed, "
         "where a zero bit ends the loop over one filter's functions only, and {b} times if it ends the "
         "lookup"},
    {"thesis-time-multiplier", "the thesis, section 6.1", "A larger M takes hardly more time",
     "further-equal-bits-time", .margin = 0.3, .margin_reason = "our reading of \"hardly\"",
     .cells = "further-equal-bits-time @ 3 HF, 2.0 M: 6 bits @ salted, look up known; @ 3 HF, 4.0 M: 12 bits",
     .tests = {"no-more B:A"},
     .sentence = "With 3 functions a lookup takes {A 3g} ns with M = 2.0 and {B 3g} ns with M = 4.0: a ratio of {a}"},
    {"thesis-hashset-time", "the thesis, sections 5.6 and 6.1", "A Bloom filter is slower than a HashSet",
     "thesis-5.14 thesis-5.15", .margin = LAB_TIME_MARGIN, .cells = "thesis-5.14 @ HashSet @ time; thesis-5.15",
     .tests = {"equal A", "equal B"}, .rule = "a? open; b? open; a< b< holds; a< conditions; b< conditions; fails",
     .sentence =
         "The time of a hash set, divided by that of a filter with 3 salted functions, is {a} to add and {b} to "
         "query"},
    {"thesis-list-time", "the thesis, section 5.6", "An ArrayList is fastest to add to, but too slow to query",
     "thesis-5.14 thesis-5.15", .margin = LAB_TIME_MARGIN,
     /* A list is the fastest to add to if both the filter and the hash set take longer. */
     .cells = "thesis-5.14 @ ArrayList @ time; @ HashSet; @ a list that looks up first; thesis-5.15 @ ArrayList",
     .tests = {"more 1:A", "more B:A", "more D to 100"},
     .rule = "c? open; a? b? open; a? b+ open; a+ b? open; a+ b+ c+ holds; a+ b+ conditions; c+ conditions; fails",
     .sentence = "To append to a list takes {A auto} times as long as to add to a filter with 3 salted functions, and "
                 "to add to a hash set {B auto} times; but a URL cache must look up first, which makes it {C auto} "
                 "times; a query of a list takes {D auto} times as long"},
    {"thesis-scalable", "the thesis, section 7.2.1",
     "If the number of URLs is unknown, new salts may gain as much with a scalable filter",
     "further-scalable further-scalable-memory", .margin = 0.1, .margin_reason = "pages that both crawls lose are few",
     .cells = "further-scalable @ scalable, first stage n / 10 @ first crawl; @@ both crawls; @ classic, for n URLs; @ "
              "classic, for a tenth of n; further-scalable-memory @ scalable, first stage n / 10 @ bits per URL; @ "
              "classic, for n URLs",
     .tests = {"equal B/A^2", "more D/B", "true E>F"},
     .rule = "a- fails; b- fails; a? open; b? open; c+ conditions; holds",
     .sentence = "A scalable filter that starts with room for a tenth of the URLs loses {A 3g} % in one crawl and {B "
                 "3g} % in both; a classic filter made for the right number loses {C 3g} % in both, and one made for a "
                 "tenth of it {D 3g} %; but the scalable filter takes {E 3g} bits per URL instead of {F 3g}"},
    {"thesis-revisit", "the thesis, section 7.2.1",
     "The count of the last crawl tells how large the filter for the revisit should be", "further-revisit",
     .margin = LAB_RATE_MARGIN,
     .cells = "further-revisit @ first for n, headroom 1 @ crawl 1; @ first for 4 n, headroom 1 @ crawl 2; @ first for "
              "0.25 n, headroom 1 @ crawl 1; @@ crawl 2; @@ crawl 3",
     .tests = {"equal B/A", "more D/A"}, .rule = "a- fails; a? open; b+ conditions; b? open; holds",
     .sentence = "After a first filter four times too large, the second crawl loses {B 3g} %, as it should ({A 3g} %); "
                 "after one four times too small, which lost {C 3g} % and so counted too few, it loses {D 3g} %, and "
                 "only the third crawl gets down to {E 3g} %"},
    {"thesis-genetic", "the thesis, section 7.2.2",
     "A hash function bred for the known URLs of a site has hardly any collisions among its new ones",
     "further-genetic further-genetic-time", .margin = LAB_RATE_MARGIN,
     .cells = "further-genetic @ found @ training crawl; @@ next crawls; @ sip13; further-genetic-time @ found @ a "
              "hash value; @ sip13",
     .tests = {"more C/B", "more B/(B.theory/10) margin 0"}, .rule = "a+ b+ conditions; a+ b- holds; a- b+ fails; open",
     .sentence = "The bred function loses {A 3g} % of the crawl it was bred for, but {B 3g} % of the next ones, where "
                 "an ideal function loses {B.theory 3g} % and sip13, which knows nothing of the site, {C 3g} %[a-|: it "
                 "learnt the URLs, not the site]; it takes {D 3g} ns per URL, sip13 {E 3g} ns, and it has no key "
                 "against attackers"},
    {"thesis-processes", "the thesis, section 6.4",
     "Filters on several machines, with one that decides, do what one filter does with less memory on each",
     "further-processes further-processes-time further-processes-messages", .margin = LAB_TIME_MARGIN,
     .cells = "further-processes @ 2 processes @ processes; @@ answers that differ; further-processes-time @ 2 members "
              "@ processes, 1 URL at a time; @@ processes, 4096 URLs at a time; @@ one set, 4096 URLs at a time; "
              "further-processes-messages @@ processes, 1 URL at a time",
     .tests = {"true B>0", "more C:E to 2"}, .rule = "a+ fails; b? open; b+ conditions; holds",
     .sentence = "Two processes with one member each lose {A 3g} %, and [a+|some answers differ from those of one "
                 "set|every answer equals that of one set]; but a lookup takes {F 3g} messages and {C 3g} "
                 "microseconds, {D 3g} with 4,096 URLs in a message, and {E 3g} in one set"},
    {.id = NULL},
};
