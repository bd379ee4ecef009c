/* What follows from the crawls over link graphs. */
#include <math.h>
#include <stdio.h>

#include "lab/judge/judging.h"
#include "lab/graph/graph.h"

#define WHEN "graph-when"
#define WHOSE "graph-whose"
#define ORDER "graph-order"
#define ERRORS "graph-errors"
#define TOLD "graph-told"
#define LOCALITY "graph-locality"

#define SMALLEST_SITES "sites of 1 to 9 pages"
#define LARGEST_SITES "sites of 1,000 pages or more"
#define DEEPEST "2 or more above the mean depth"

/* Compares a cell with a number, as one of `among` comparisons. */
static lab_comparison compare_with(const lab_entry *entry, double number, double margin, size_t among)
{
    lab_entry exact = lab_exact_entry(number);
    return lab_compare(lab_ratio_of_rates_among(entry, &exact, among), margin);
}

/* A column of cells, one for each order; false if one is missing. */
static bool find_orders(const lab_book *book, const char *id, const char *row, const lab_entry *found[LAB_ORDERS])
{
    bool all = true;
    for (size_t i = 0; i < LAB_ORDERS; i++)
        all &= (found[i] = lab_book_entry(book, id, row, lab_order_names[i])) != NULL;
    return all;
}

/* ---- when and whose ---- */

#define LATE_FACTOR 3.0

static lab_holding judge_late(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *middle[LAB_ORDERS], *last[LAB_ORDERS];
    lab_outcomes more = {0};
    if (!find_orders(book, WHEN, "5th tenth", middle) || !find_orders(book, WHEN, "last tenth", last))
        return LAB_UNJUDGED;
    for (size_t i = 0; i < LAB_ORDERS; i++)
        lab_outcomes_add(
            &more, lab_compare(lab_ratio_to(lab_ratio_of_rates_among(last[i], middle[i], LAB_ORDERS), LATE_FACTOR),
                               claim->margin));
    snprintf(sentence, room,
             "Of a million pages met in the last tenth of the crawl, %.0f were lost breadth first, %.0f per host and "
             "%.0f best first; in the fifth tenth %.0f, %.0f and %.0f",
             last[0]->measured, last[1]->measured, last[2]->measured, middle[0]->measured, middle[1]->measured,
             middle[2]->measured);
    return lab_holds_if_all_more(&more);
}

#define DEEP_FACTOR 2.0
#define LARGE_FACTOR 1.5

static lab_holding judge_whose(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *deepest[LAB_ORDERS], *smallest[LAB_ORDERS], *largest[LAB_ORDERS];
    enum { COMPARISONS = 4 };
    lab_outcomes more = {0};
    if (!find_orders(book, WHOSE, DEEPEST, deepest) || !find_orders(book, WHOSE, SMALLEST_SITES, smallest) ||
        !find_orders(book, WHOSE, LARGEST_SITES, largest))
        return LAB_UNJUDGED;
    lab_outcomes_add(&more, compare_with(deepest[LAB_BREADTH_FIRST], DEEP_FACTOR, claim->margin, COMPARISONS));
    lab_outcomes_add(&more, compare_with(smallest[LAB_BREADTH_FIRST], 1, claim->margin, COMPARISONS));
    lab_outcomes_add(&more, compare_with(largest[LAB_PER_HOST], LARGE_FACTOR, claim->margin, COMPARISONS));
    lab_outcomes_add(&more,
                     lab_compare(lab_ratio_of_rates_among(largest[LAB_PER_HOST], smallest[LAB_PER_HOST], COMPARISONS),
                                 claim->margin));
    snprintf(sentence, room,
             "Breadth first, the deepest pages are missing %.2g times as often as the average, those of the smallest "
             "sites %.2f times and of the largest %.2f times; per host %.2g, %.2f and %.2f times",
             deepest[0]->measured, smallest[0]->measured, largest[0]->measured, deepest[1]->measured,
             smallest[1]->measured, largest[1]->measured);
    return lab_holds_if_all_more(&more);
}

#define RARE_FACTOR 2.0

static lab_holding judge_rare(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *one[LAB_ORDERS], *many[LAB_ORDERS];
    lab_outcomes more = {0};
    if (!find_orders(book, WHOSE, "1 link to the page", one) ||
        !find_orders(book, WHOSE, "10 or more links to the page", many))
        return LAB_UNJUDGED;
    for (size_t i = 0; i < LAB_ORDERS; i++)
        lab_outcomes_add(&more, compare_with(one[i], RARE_FACTOR, claim->margin, LAB_ORDERS));
    snprintf(sentence, room,
             "Pages with one link to them are missing %.2f times as often as the average breadth first, %.2f per host "
             "and %.2f best first; pages with ten or more %.2f, %.2f and %.2f times",
             one[0]->measured, one[1]->measured, one[2]->measured, many[0]->measured, many[1]->measured,
             many[2]->measured);
    return lab_holds_if_all_more(&more);
}

/* ---- how losses compound ---- */

#define FEW_FACTOR 2.0

static lab_holding judge_few(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *found[LAB_ORDERS];
    lab_outcomes more = {0};
    for (size_t i = 0; i < LAB_ORDERS; i++)
        if (!(found[i] = lab_book_entry(book, ORDER, lab_order_names[i], "1.7 links")))
            return LAB_UNJUDGED;
    for (size_t i = 0; i < LAB_ORDERS; i++)
        lab_outcomes_add(&more, compare_with(found[i], FEW_FACTOR, claim->margin, LAB_ORDERS));
    snprintf(sentence, room,
             "With 1.7 links per page, %.2f pages are missing for each page lost breadth first, %.2f per host and %.2f "
             "best first",
             found[0]->measured, found[1]->measured, found[2]->measured);
    return lab_holds_if_all_more(&more);
}

/* The claim is about the usual 75 % of links within the host; if it fails with 95 %, it has conditions. */
static lab_holding judge_many(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const columns[] = {"15 links", "30 links"};
    enum { COMPARISONS = 2 * LAB_ORDERS + 1 };
    const lab_entry *local = lab_book_entry(book, LOCALITY, "95 % local", columns[0]), *most = NULL;
    lab_outcomes costly = {0};
    for (size_t i = 0; i < 2 * LAB_ORDERS; i++) {
        const lab_entry *entry = lab_book_entry(book, ORDER, lab_order_names[i / 2], columns[i % 2]);
        if (!entry || !local)
            return LAB_UNJUDGED;
        lab_outcomes_add(&costly, compare_with(entry, 1, claim->margin, COMPARISONS));
        most = most && most->measured > entry->measured ? most : entry;
    }
    snprintf(sentence, room,
             "With 15 links per page or more, 75 %% of them within the host, at most %.3f pages are missing for each "
             "page lost (%s, %s); if 95 %% of 15 links stay within the host, %.3f",
             most->measured, most->row, most->column, local->measured);
    lab_comparison strict = compare_with(local, 1, claim->margin, COMPARISONS);
    lab_holding usually = lab_holds_if_none_more(&costly);
    if (usually != LAB_HOLDS)
        return usually;
    return strict == LAB_MORE ? LAB_CONDITIONS : strict == LAB_OPEN ? LAB_UNJUDGED : LAB_HOLDS;
}

/* How many pages are missing per host, compared with breadth first, over the same graphs: run by run if it can be. */
static lab_ratio per_host_with_few(const lab_book *book, const lab_entry *per_host, const lab_entry *breadth_first)
{
    lab_cell_name cell = {ORDER, per_host->row, per_host->column};
    lab_cell_name base = {ORDER, breadth_first->row, breadth_first->column};
    lab_ratio paired = lab_ratio_of_times(book, &cell, &base);
    return paired.known ? paired : lab_ratio_of_rates(per_host, breadth_first);
}

/* The order may matter if there are hardly any links; that is a condition. */
static lab_holding judge_order(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const columns[] = {"7.6 links", "15 links", "30 links"};
    const lab_entry *few = lab_book_entry(book, ORDER, "breadth first", "1.7 links");
    const lab_entry *few_per_host = lab_book_entry(book, ORDER, "per host", "1.7 links");
    lab_contest contest = {.count = 0};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (size_t order = LAB_PER_HOST; order < LAB_ORDERS; order++)
            lab_contest_add(&contest, lab_book_entry(book, ORDER, lab_order_names[LAB_BREADTH_FIRST], columns[i]),
                            lab_book_entry(book, ORDER, lab_order_names[order], columns[i]), ORDER);
    if (!few || !few_per_host || contest.count == 0)
        return LAB_UNJUDGED;
    lab_contest_judge(&contest, claim->margin);
    lab_ratio ratio = per_host_with_few(book, few_per_host, few);
    char text[LAB_RATIO_ROOM], farthest[LAB_RATIO_ROOM];
    snprintf(sentence, room,
             "With 7.6 links per page or more, breadth first compared with the other orders has %s times as many pages "
             "missing for each page lost, where they differ most; with 1.7 links, per host misses %s times as many as "
             "breadth first%s",
             lab_ratio_text(contest.farthest, farthest), lab_ratio_text(ratio, text), contest.left_out);
    if (contest.relation != LAB_EQUAL)
        return contest.relation == LAB_TOO_LITTLE ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
    lab_relation relation = lab_relate(ratio, claim->margin);
    return relation == LAB_EQUAL ? LAB_HOLDS : relation == LAB_TOO_LITTLE ? LAB_UNJUDGED : LAB_CONDITIONS;
}

/* Theory is compared as an exact number: it was derived from the same graphs as the measurement. */
static lab_holding judge_dominators(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const rows[] = {"6 bits", "8 bits", "12 bits"};
    static const char *const columns[] = {"1.7 links", "3 links", "7.6 links", "15 links", "30 links"};
    enum { ROWS = sizeof rows / sizeof *rows, COLUMNS = sizeof columns / sizeof *columns };
    const lab_entry *few = lab_book_entry(book, ERRORS, rows[0], columns[0]);
    lab_contest contest = {.count = 0};
    lab_entry theory[ROWS * COLUMNS];
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
        const lab_entry *entry = lab_book_entry(book, ERRORS, rows[i / COLUMNS], columns[i % COLUMNS]);
        if (!entry || !(entry->theory > 0))
            return LAB_UNJUDGED;
        theory[i] = lab_exact_entry(entry->theory);
        theory[i].row = entry->row;
        theory[i].column = entry->column;
        lab_contest_add(&contest, entry, &theory[i], ERRORS);
    }
    lab_contest_judge(&contest, claim->margin);
    char text[LAB_RATIO_ROOM];
    snprintf(sentence, room,
             "With 1.7 links per page and 6 bits, %.2f pages are missing for each page lost, and %.2f were expected; "
             "of all pairs that were judged, measurement divided by theory is %s where it differs most from 1%s",
             few->measured, few->theory, lab_ratio_text(contest.farthest, text), contest.left_out);
    return lab_holds_if_equal(contest.relation);
}

static lab_holding judge_told(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const rows[] = {"1.7 links", "3 links", "7.6 links", "15 links", "30 links"};
    const lab_entry *with = lab_book_entry(book, TOLD, rows[0], "lost with them");
    const lab_entry *told = lab_book_entry(book, TOLD, rows[0], "reported");
    lab_contest contest = {.count = 0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        lab_contest_add(&contest, lab_book_entry(book, TOLD, rows[i], "reported"),
                        lab_book_entry(book, TOLD, rows[i], "lost directly"), TOLD);
    if (!with || !told || contest.count == 0)
        return LAB_UNJUDGED;
    lab_contest_judge(&contest, claim->margin);
    char text[LAB_RATIO_ROOM];
    snprintf(sentence, room,
             "What sets report, divided by what they lost, is %s where it differs most from 1; with 1.7 links per "
             "page, a set reports %.0f pages in a million, and %.0f more were lost with them%s",
             lab_ratio_text(contest.farthest, text), told->measured, with->measured, contest.left_out);
    lab_comparison on_top = lab_compare(lab_ratio_of_rates(with, told), 0);
    if (contest.relation == LAB_ABOVE || contest.relation == LAB_BELOW || on_top == LAB_NOT_MORE)
        return LAB_DOES_NOT_HOLD;
    return contest.relation == LAB_TOO_LITTLE || on_top == LAB_OPEN ? LAB_UNJUDGED : LAB_HOLDS;
}

const lab_claim lab_graph_claims[] = {
    {.id = "graph-late",
     .source = "vidi",
     .text = "In whatever order a crawl goes, it loses the pages that it meets late: at least three times as many in "
             "its last tenth as in the middle",
     .evidence = WHEN,
     .judge = judge_late},
    {.id = "graph-whose",
     .source = "vidi",
     .text = "Breadth first loses deep pages and small sites; taking hosts in turn saves small sites and loses the "
             "large ones' pages instead",
     .evidence = WHOSE,
     .judge = judge_whose,
     .margin = LAB_RATE_MARGIN,
     .margin_reason = "the usual one for rates; the deepest pages must be missing twice as often as the average, and "
                      "those of the largest sites 1.5 times as often"},
    {.id = "graph-rare",
     .source = "vidi",
     .text = "Pages with a single link to them are missing at least twice as often as the average page",
     .evidence = WHOSE,
     .judge = judge_rare},
    {.id = "graph-few",
     .source = "vidi",
     .text =
         "With fewer than two links per page, a lost page costs on average at least one other, which is never found",
     .evidence = ORDER,
     .judge = judge_few},
    {.id = "graph-many",
     .source = "vidi",
     .text = "With 15 links per page or more, a lost page costs hardly more than itself",
     .evidence = ORDER " " LOCALITY,
     .judge = judge_many,
     .margin = 0.05,
     .margin_reason = "five more pages for a hundred lost ones count as hardly any"},
    {.id = "graph-order",
     .source = "vidi",
     .text = "The order of the crawl decides whose pages are missing, not how many",
     .evidence = ORDER " " WHOSE,
     .judge = judge_order,
     .margin = 0.05,
     .margin_reason = "the tables have a 25th of the URLs and forty runs"},
    {.id = "graph-dominators",
     .source = "vidi",
     .text =
         "How many pages are missing for each page lost follows from the graph alone: from the pages that every way "
         "to a page leads through",
     .evidence = ERRORS,
     .judge = judge_dominators,
     .margin = 0.1,
     .margin_reason = "theory leaves out pages that two losses cut off together"},
    {.id = "graph-told",
     .source = "vidi",
     .text = "A set reports the pages that it lost itself; pages that are never found because of them come on top",
     .evidence = TOLD,
     .judge = judge_told,
     .margin = 0.05,
     .margin_reason = "the table has a 25th of the URLs"},
    {.id = NULL},
};
