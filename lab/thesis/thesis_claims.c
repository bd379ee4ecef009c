/*
 * The claims of the thesis: its research questions and the conclusions from its tables. Each is judged by our
 * measurements and by theory, never by the published figures.
 */
#include "lab/thesis/thesis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Judges the claim that a strategy loses fewer pages than its alternative: comparison says whether that loses more. */
static lab_holding holding_of(lab_comparison comparison, lab_holding if_more)
{
    return comparison == LAB_MORE ? if_more : comparison == LAB_OPEN ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
}

static const char *const multipliers[] = {"1.7 M", "2.0 M", "2.5 M", "3.0 M", "4.0 M", "5.0 M", NULL};

/* ---- the research questions ---- */

static lab_holding judge_temporal(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *one = lab_book_entry(book, "thesis-5.9", "3 HF", "1.7 M");
    const lab_entry *both = lab_book_entry(book, "thesis-5.16", "3 HF", "1.7 M");
    if (!one || !both)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "With 3 functions and M = 1.7 one crawl loses %.3g %%, and both of two crawls with different salts lose "
             "%.3g %%, the square of it; each crawl alone still loses %.3g %%, and these pages come one crawl late",
             one->measured, both->measured, one->measured);
    return holding_of(lab_compare(lab_ratio_of_rates(one, both), claim->margin), LAB_HOLDS);
}

static lab_holding judge_spatial(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *one = lab_book_entry(book, "thesis-5.9", "3 HF", "2.0 M");
    const lab_entry *two = lab_book_entry(book, "thesis-5.18", "3 HF", "2.0 M");
    const lab_entry *joined = lab_book_entry(book, "thesis-5.9", "6 HF", "2.0 M");
    if (!one || !two || !joined)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "With 3 functions and M = 2.0 one filter loses %.3g %% and two lose %.3g %%, but they take twice the "
             "memory and twice the hash values; one filter with 6 functions takes as much and loses %.3g %%",
             one->measured, two->measured, joined->measured);
    return holding_of(lab_compare(lab_ratio_of_rates(one, two), claim->margin),
                      lab_compare(lab_ratio_of_rates(joined, two), claim->margin) == LAB_MORE ? LAB_HOLDS
                                                                                              : LAB_CONDITIONS);
}

static lab_holding judge_both_strategies(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *temporal = lab_book_entry(book, "thesis-5.16", "3 HF", "1.7 M");
    const lab_entry *spatial = lab_book_entry(book, "thesis-5.18", "3 HF", "1.7 M");
    const lab_entry *combined = lab_book_entry(book, "thesis-5.20", "3 HF", "1.7 M");
    const lab_entry *joined = lab_book_entry(book, "thesis-5.16", "6 HF", "1.7 M");
    if (!temporal || !spatial || !combined || !joined)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "With 3 functions and M = 1.7 two filters in two crawls lose %.3g %%, two crawls alone %.3g %% and two "
             "filters alone %.3g %%; but two crawls with one equally large filter of 6 functions lose %.3g %%",
             combined->measured, temporal->measured, spatial->measured, joined->measured);
    lab_holding if_more =
        lab_compare(lab_ratio_of_rates(joined, combined), claim->margin) == LAB_MORE ? LAB_HOLDS : LAB_CONDITIONS;
    lab_holding without_filters =
        holding_of(lab_compare(lab_ratio_of_rates(temporal, combined), claim->margin), if_more);
    return without_filters == if_more
               ? holding_of(lab_compare(lab_ratio_of_rates(spatial, combined), claim->margin), if_more)
               : without_filters;
}

/* Compares different functions, the first row of a table, with each salted function. */
static void add_salted(lab_contest *contest, const lab_book *book, const char *id)
{
    const lab_table *table = lab_book_find(book, id);
    for (size_t i = 1; table && i < table->rows; i++)
        lab_contest_add(contest, lab_book_entry(book, id, table->entries[0].row, "FP"),
                        lab_book_entry(book, id, table->entries[i * table->columns].row, "FP"), id);
}

lab_holding lab_claim_equal(const lab_claim *claim, lab_contest *contest, const char *what, char *sentence, size_t room)
{
    char ratio[LAB_RATIO_ROOM];
    if (contest->count == 0)
        return LAB_UNJUDGED;
    lab_contest_judge(contest, claim->margin);
    if (contest->judged == 0)
        snprintf(sentence, room, "None of the %zu %s has enough counts%s", contest->count, what, contest->left_out);
    else
        snprintf(sentence, room, "In %zu of %zu %s the ratio that differs most from 1 is %s%s", contest->judged,
                 contest->count, what, lab_ratio_text(contest->farthest, ratio), contest->left_out);
    return lab_holds_if_equal(contest->relation);
}

static lab_holding judge_salts(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const ids[] = {"thesis-5.2", "thesis-5.3", "thesis-5.6", "thesis-5.7"};
    lab_contest contest = {.count = 0};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        add_salted(&contest, book, ids[i]);
    return lab_claim_equal(claim, &contest, "comparisons of different functions with one salted function", sentence,
                           room);
}

/* ---- conclusions ---- */

/* Compares one filter of F k functions with F filters of k functions. */
static void add_joined(lab_contest *contest, const lab_book *book, const char *joined, const char *id,
                       const char *split)
{
    for (size_t i = 0; multipliers[i]; i++)
        lab_contest_add(contest, lab_book_entry(book, "thesis-5.9", joined, multipliers[i]),
                        lab_book_entry(book, id, split, multipliers[i]), id);
}

static lab_holding judge_filters_or_functions(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "thesis-5.17";
    static const char *const incremental[][4] = {{"6 HF", "1 filter 1.7 M", "3 HF", "2 filters 1.7 M"},
                                                 {"6 HF", "1 filter 2.0 M", "3 HF", "2 filters 2.0 M"},
                                                 {"6 HF", "2 filters 1.7 M", "4 HF", "3 filters 1.7 M"},
                                                 {"6 HF", "2 filters 2.0 M", "4 HF", "3 filters 2.0 M"}};
    lab_contest contest = {.count = 0};
    add_joined(&contest, book, "6 HF", "thesis-5.18", "3 HF");
    add_joined(&contest, book, "8 HF", "thesis-5.18", "4 HF");
    add_joined(&contest, book, "10 HF", "thesis-5.18", "5 HF");
    add_joined(&contest, book, "9 HF", "thesis-5.19", "3 HF");
    for (size_t i = 0; i < sizeof incremental / sizeof *incremental; i++)
        lab_contest_add(&contest, lab_book_entry(book, id, incremental[i][0], incremental[i][1]),
                        lab_book_entry(book, id, incremental[i][2], incremental[i][3]), id);
    return lab_claim_equal(claim, &contest, "pairs of one filter with F k functions and F filters with k", sentence,
                           room);
}

/* Compares the other functions of a table with Jenkins's. */
static void add_rivals(lab_contest *contest, const lab_book *book, const char *id, const char *jenkins)
{
    const lab_table *table = lab_book_find(book, id);
    const lab_entry *ours = lab_book_entry(book, id, jenkins, "FP");
    for (size_t i = 0; table && i < table->rows; i++) {
        const char *row = table->entries[i * table->columns].row;
        if (strcmp(row, jenkins) != 0)
            lab_contest_add(contest, ours, lab_book_entry(book, id, row, "FP"), id);
    }
}

/* Jenkins's function is best if it loses less than every other; one that is as good refutes the claim. */
static lab_holding judge_choice_of_function(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    lab_contest contest = {.count = 0};
    add_rivals(&contest, book, "thesis-5.1", "Jenkins");
    add_rivals(&contest, book, "thesis-5.2", "Jenkins (seeded)");
    add_rivals(&contest, book, "thesis-5.3", "Jenkins (seeded)");
    if (contest.count == 0)
        return LAB_UNJUDGED;
    lab_contest_judge(&contest, claim->margin);
    snprintf(sentence, room,
             "Of %zu other functions or combinations %zu lose as many pages as Jenkins's, %zu lose more and %zu "
             "fewer%s%s",
             contest.count, contest.equal, contest.below, contest.above,
             contest.equal ? ": chance decides which of the equal ones is ahead" : "", contest.left_out);
    if (contest.below == contest.count)
        return LAB_HOLDS;
    return contest.equal + contest.above > 0 ? LAB_DOES_NOT_HOLD : LAB_UNJUDGED;
}

/* Judged by theory, which knows how full the filters are; the printed number is judged in its table. */
static lab_holding judge_pages_missed(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *same = lab_book_entry(book, "thesis-fig-5.1", "3 HF", "same order");
    const lab_entry *other = lab_book_entry(book, "thesis-fig-5.1", "3 HF", "other order");
    if (!same || !other)
        return LAB_UNJUDGED;
    lab_entry theory = lab_exact_entry(same->theory);
    lab_relation right = lab_relate(lab_ratio_of_rates(same, &theory), claim->margin);
    lab_relation matters = lab_relate(lab_ratio_of_rates(other, same), claim->margin);
    snprintf(sentence, room,
             "%.3g %% (theory: %.3g %%) if both crawls meet the URLs in the same order, so that the same pages meet "
             "full filters twice, but %.3g %% if the second crawl has a different order",
             same->measured, same->theory, other->measured);
    if (right == LAB_ABOVE || right == LAB_BELOW)
        return LAB_DOES_NOT_HOLD;
    if (right == LAB_TOO_LITTLE || matters == LAB_TOO_LITTLE)
        return LAB_UNJUDGED;
    return matters == LAB_EQUAL ? LAB_HOLDS : LAB_CONDITIONS;
}

/* ---- all of them ---- */

#define QUESTION "the thesis, section 1.5"

const lab_claim lab_thesis_claims[] = {
    {.id = "thesis-temporal",
     .source = QUESTION,
     .text = "New salts for a revisit reduce false positives",
     .evidence = "thesis-5.9 thesis-5.16",
     .judge = judge_temporal,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-spatial",
     .source = QUESTION,
     .text = "Several filters with different salts reduce false positives",
     .evidence = "thesis-5.9 thesis-5.18",
     .judge = judge_spatial,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-spatio-temporal",
     .source = QUESTION,
     .text = "Both strategies together reduce false positives more than each alone",
     .evidence = "thesis-5.16 thesis-5.18 thesis-5.20",
     .judge = judge_both_strategies,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-salts",
     .source = QUESTION,
     .text = "One function with k salts is as good as k different functions",
     .evidence = "thesis-5.2 thesis-5.3 thesis-5.6 thesis-5.7",
     .judge = judge_salts,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-other-functions",
     .source = QUESTION,
     .text =
         "Other hash functions in the second crawl or in each filter reduce false positives as much as new salts do",
     .evidence = "thesis-temporal-functions thesis-spatial-functions",
     .judge = lab_claim_other_functions,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-other-combination",
     .source = QUESTION,
     .text = "A different combination of hash functions for a revisit reduces false positives",
     .evidence = "thesis-5.6 thesis-kept-functions",
     .judge = lab_claim_other_combination,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-imperfect",
     .source = "the thesis, section 3.5.3",
     .text = "Hash functions are not perfectly random, so the rate is higher in reality than equation (3.5) says",
     .evidence = "thesis-5.5 thesis-5.6 thesis-5.7 thesis-5.9",
     .judge = lab_claim_imperfect,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-same-values",
     .source = "the thesis, section 4.2",
     .text = "In the worst case a URL collides in every crawl, and its page is never fetched",
     .evidence = "thesis-salt-place",
     .judge = lab_claim_same_values,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-worst-case",
     .source = "the thesis, section 5.2.2",
     .text = "The non-incremental approach shows the worst case",
     .evidence = "thesis-5.9 thesis-5.16 thesis-5.17 thesis-5.18 thesis-fig-5.1",
     .judge = lab_claim_worst_case,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-doubling",
     .source = "the thesis, sections 5.4.1 and 5.4.2",
     .text = "A second function with twice the bits reduces the rate to almost a fourth if incremental, and to less "
             "than half if not",
     .evidence = "thesis-5.1 thesis-5.2 thesis-5.5 thesis-5.6",
     .judge = lab_claim_doubling,
     .margin = 0.15,
     .margin_reason = "our reading of \"almost\""},
    {.id = "thesis-late",
     .source = "the thesis, section 5.8.1",
     .text = "With three functions the rate is relatively high after about 600,000 of 1,000,000 URLs",
     .evidence = "thesis-fig-A.1 thesis-fig-A.2 thesis-fig-A.3 thesis-fig-A.4",
     .judge = lab_claim_late,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-only-temporal",
     .source = "the thesis, sections 5.9 and 6.5",
     .text =
         "With equally many functions in all, several filters in two crawls lose as many pages as one filter in two "
         "crawls",
     .evidence = "thesis-5.16 thesis-5.20 thesis-5.21",
     .judge = lab_claim_only_temporal,
     .margin = 0.05,
     .margin_reason = "pages that both crawls lose are few"},
    {.id = "thesis-filters-or-functions",
     .source = "the thesis, sections 5.8 and 6.4",
     .text = "F filters of k functions lose as many pages as one filter of F k functions",
     .evidence = "thesis-5.9 thesis-5.17 thesis-5.18 thesis-5.19",
     .judge = judge_filters_or_functions,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-jenkins",
     .source = "the thesis, section 5.4.3",
     .text = "Jenkins's function performs best in the incremental tests",
     .evidence = "thesis-5.1 thesis-5.2 thesis-5.3",
     .judge = judge_choice_of_function,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-hash-time",
     .source = "the thesis, sections 5.4 and 5.4.3",
     .text = "Jenkins's function and MurmurHash are faster than MD5 and SHA-1",
     .evidence = "thesis-hash-time",
     .judge = lab_claim_hash_time,
     .margin = LAB_TIME_MARGIN},
    {.id = "thesis-pages-missed",
     .source = "the thesis, section 5.7.1",
     .text = "What two crawls miss follows from how full the filter is: with 3 functions and M = 2.0 some 640 pages in "
             "1,000,000",
     .evidence = "thesis-fig-5.1",
     .judge = judge_pages_missed,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-delay",
     .source = "the thesis, section 4.2",
     .text = "A page that is falsely seen is fetched by a later crawl",
     .evidence = "further-delay",
     .judge = lab_claim_delay,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-multiplier",
     .source = "the thesis, sections 5.6.2 and 6.1",
     .text = "It is better to increase M than the number of hash functions",
     .evidence = "further-equal-bits further-equal-bits-time",
     .judge = lab_claim_multiplier,
     .margin = LAB_TIME_MARGIN,
     .margin_reason = "of times; 2 % of rates"},
    {.id = "thesis-memory",
     .source = "the thesis, sections 5.5 and 6.1",
     .text = "A Bloom filter needs far less memory than an ArrayList or a HashSet",
     .evidence = "thesis-5.10 thesis-5.13",
     .judge = lab_claim_memory},
    {.id = "thesis-memory-filters",
     .source = "the thesis, section 5.5",
     .text = "Memory grows in proportion to the number of filters",
     .evidence = "thesis-5.10 thesis-5.11 thesis-5.12",
     .judge = lab_claim_memory_filters,
     .margin = 0.02,
     .margin_reason = "memory is counted exactly; headers do not grow"},
    {.id = "thesis-time-functions",
     .source = "the thesis, section 5.6.1",
     .text = "The time to add grows linearly with the number of functions",
     .evidence = "thesis-A.4",
     .judge = lab_claim_time_functions,
     .margin = 0.3,
     .margin_reason = "adding a URL also takes time that does not depend on the functions"},
    {.id = "thesis-time-query",
     .source = "the thesis, sections 3.5.1 and 5.6.2",
     .text = "The time to query grows linearly with the number of functions",
     .evidence = "thesis-A.1 thesis-A.1-break",
     .judge = lab_claim_time_break,
     .margin = 0.3,
     .margin_reason = "a lookup also takes time that does not depend on the functions"},
    {.id = "thesis-early-exit",
     .source = "the thesis, section 4.3 and algorithm 4",
     .text = "A lookup in several filters ends at the first zero bit",
     .evidence = "thesis-A-filters",
     .judge = lab_claim_early_exit,
     .margin = LAB_TIME_MARGIN},
    {.id = "thesis-time-multiplier",
     .source = "the thesis, section 6.1",
     .text = "A larger M takes hardly more time",
     .evidence = "further-equal-bits-time",
     .judge = lab_claim_time_multiplier,
     .margin = 0.3,
     .margin_reason = "our reading of \"hardly\""},
    {.id = "thesis-hashset-time",
     .source = "the thesis, sections 5.6 and 6.1",
     .text = "A Bloom filter is slower than a HashSet",
     .evidence = "thesis-5.14 thesis-5.15",
     .judge = lab_claim_hashset_time,
     .margin = LAB_TIME_MARGIN},
    {.id = "thesis-list-time",
     .source = "the thesis, section 5.6",
     .text = "An ArrayList is fastest to add to, but too slow to query",
     .evidence = "thesis-5.14 thesis-5.15",
     .judge = lab_claim_list_time,
     .margin = LAB_TIME_MARGIN},
    {.id = "thesis-scalable",
     .source = "the thesis, section 7.2.1",
     .text = "If the number of URLs is unknown, new salts may gain as much with a scalable filter",
     .evidence = "further-scalable further-scalable-memory",
     .judge = lab_claim_scalable,
     .margin = 0.1,
     .margin_reason = "pages that both crawls lose are few"},
    {.id = "thesis-revisit",
     .source = "the thesis, section 7.2.1",
     .text = "The count of the last crawl tells how large the filter for the revisit should be",
     .evidence = "further-revisit",
     .judge = lab_claim_revisit,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-genetic",
     .source = "the thesis, section 7.2.2",
     .text = "A hash function bred for the known URLs of a site has hardly any collisions among its new ones",
     .evidence = "further-genetic further-genetic-time",
     .judge = lab_claim_genetic,
     .margin = LAB_RATE_MARGIN},
    {.id = "thesis-processes",
     .source = "the thesis, section 6.4",
     .text = "Filters on several machines, with one that decides, do what one filter does with less memory on each",
     .evidence = "further-processes further-processes-time further-processes-messages",
     .judge = lab_claim_processes,
     .margin = LAB_TIME_MARGIN},
    {.id = NULL},
};
