/* What follows from the crawls over link graphs. */
#include <stdio.h>

#include "lab/graph/graph.h"
#include "lab/judge/judging.h"

#define WHEN "graph-by-tenth"
#define WHOSE "graph-by-page"
#define ORDER "graph-order"
#define ERRORS "graph-errors"
#define REPORTED "graph-expected"
#define LOCALITY "graph-locality"

/* Compares a cell with a number, as one of `among` comparisons. */
static lab_comparison compare_with(const lab_entry *entry, double number, double margin, size_t among)
{
    lab_entry exact = lab_exact_entry(number);
    return lab_compare(lab_ratio_of_rates_among(entry, &exact, among), margin);
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

/* ---- all of them ---- */

#define LINKS "1.7 links|3 links|7.6 links|15 links|30 links"

const lab_claim lab_graph_claims[] = {
    {"graph-late", "vidi",
     "In whatever order a crawl goes, it loses the pages that it meets late: at least three times as many in "
     "its last tenth as in the middle",
     WHEN,
     .cells = WHEN " @ last tenth @ breadth first; @@ per host; @@ best first; @ 5th tenth @ breadth first; @@ per "
                   "host; @@ best first",
     .tests = {"more A/D B/E C/F to 3"},
     .sentence = "Of a million pages met in the last tenth of the crawl, {A 0f} were lost breadth first, {B 0f} per "
                 "host and {C 0f} best first; in the fifth tenth {D 0f}, {E 0f} and {F 0f}"},
    {"graph-by-page", "vidi",
     "Breadth first loses deep pages and small sites; taking hosts in turn saves small sites and loses the "
     "large ones' pages instead",
     WHOSE, .margin = LAB_RATE_MARGIN,
     .margin_reason = "the usual one for rates; the deepest pages must be missing twice as often as the average, and "
                      "those of the largest sites 1.5 times as often",
     .cells = WHOSE
     " @ 2 or more above the mean depth @ breadth first; @ sites of 1 to 9 pages; @ sites of 1,000 pages or more; @ 2 "
     "or more above the mean depth @ per host; @ sites of 1 to 9 pages; @ sites of 1,000 pages or more",
     .tests = {"more A/(2) B/(1) F/(1.5) F/E"},
     .sentence = "Breadth first, the deepest pages are missing {A 2g} times as often as the average, those of the "
                 "smallest sites {B 2f} times and of the largest {C 2f} times; per host {D 2g}, {E 2f} and {F 2f} "
                 "times"},
    {"graph-rare", "vidi", "Pages with a single link to them are missing at least twice as often as the average page",
     WHOSE,
     .cells = WHOSE " @ 1 link to the page @ breadth first; @@ per host; @@ best first; @ 10 or more links to the page "
                    "@ breadth first; @@ per host; @@ best first",
     .tests = {"more A/(2) B/(2) C/(2)"},
     .sentence = "Pages with one link to them are missing {A 2f} times as often as the average breadth first, {B 2f} "
                 "per host and {C 2f} best first; pages with ten or more {D 2f}, {E 2f} and {F 2f} times"},
    {"graph-few", "vidi",
     "With fewer than two links per page, a lost page costs on average at least one other, which is never found", ORDER,
     .cells = ORDER " @ breadth first @ 1.7 links; @ per host; @ best first", .tests = {"more A/(2) B/(2) C/(2)"},
     .sentence = "With 1.7 links per page, {A 2f} pages are missing for each page lost breadth first, {B 2f} per host "
                 "and {C 2f} best first"},
    {"graph-many", "vidi", "With 15 links per page or more, a lost page costs hardly more than itself",
     ORDER " " LOCALITY, .judge = judge_many, .margin = 0.05,
     .margin_reason = "five more pages for a hundred lost ones count as hardly any"},
    {"graph-order", "vidi", "The order of the crawl decides whose pages are missing, not how many", ORDER " " WHOSE,
     .margin = 0.05, .margin_reason = "the tables have a 25th of the URLs and forty runs", .partial = true,
     /* The order may matter if there are hardly any links; that is a condition. */
     .cells =
         ORDER " @ breadth first @ 1.7 links; @ per host; @ breadth first @ 7.6 links; @ per host|best first; @ "
               "breadth first @ 15 links; @ per host|best first; @ breadth first @ 30 links; @ per host|best first",
     .tests = {"contest C/D E/F G/H", "equal B%A"}, .rule = "a- fails; a? open; b? open; b- conditions; holds",
     .sentence = "With 7.6 links per page or more, breadth first compared with the other orders has {a.farthest} times "
                 "as many pages missing for each page lost, where they differ most; with 1.7 links, per host misses "
                 "{b} times as many as breadth first{a.left_out}"},
    {"graph-dominators", "vidi",
     "How many pages are missing for each page lost follows from the graph alone: from the pages that every way "
     "to a page leads through",
     ERRORS, .margin = 0.1, .margin_reason = "theory leaves out pages that two losses cut off together",
     /* Theory is compared as an exact number: it was derived from the same graphs as the measurement. */
     .cells = ERRORS " @ 6 bits @ " LINKS "; @ 8 bits; @ 12 bits; @ 6 bits @ 1.7 links",
     .tests = {"contest A/A' B/B' C/C'"},
     .sentence = "With 1.7 links per page and 6 bits, {D 2f} pages are missing for each page lost, and {D.theory 2f} "
                 "were expected; of all pairs that were judged, measurement divided by theory is {a.farthest} where it "
                 "differs most from 1{a.left_out}"},
    {"graph-expected", "vidi",
     "A set reports the pages that it lost itself; pages that are never found because of them come on top", REPORTED,
     .margin = 0.05, .margin_reason = "the table has a 25th of the URLs", .partial = true,
     .cells = REPORTED " @ 1.7 links @ lost with them; @@ reported; @ " LINKS "; @@ lost directly",
     .tests = {"contest C/D", "more A/B margin 0"},
     .sentence = "What sets report, divided by what they lost, is {a.farthest} where it differs most from 1; with 1.7 "
                 "links per page, a set reports {B 0f} pages in a million, and {A 0f} more were lost with "
                 "them{a.left_out}"},
    {.id = NULL},
};
