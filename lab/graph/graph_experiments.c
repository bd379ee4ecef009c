/* The list of experiments with crawls over link graphs. graph_*.c measure them. */
#include "lab/graph/graph.h"

#define OURS "vidi"
#define COMPOUND "pages missing for each page lost"
#define GRAPHS                                                                                                         \
    "A 25th of the URLs are the pages of a synthetic graph with 7.6 links per page, 75 % of them within the host. "    \
    "On each host, links to a page have a power law of exponent 2.1. Rows and columns say what differs. "
#define FILTER "The filter has 3 functions and 6 bits per page. "
#define EXPECTED                                                                                                       \
    "Theory follows from the graph alone: a page is missing if it is lost, or one of the pages that every way to it "  \
    "leads through. It leaves out pages that two losses cut off together, so it is a little low if many are lost."

#define FROM_FILES                                                                                                     \
    "The last two columns need --graph: the crawler gets a seed when nothing is left to fetch, or all of them first. "

enum { RUNS_MOST = 40 };

const lab_study lab_graph_studies[] = {
    {"graph-what", "The link graphs of the following tables", OURS,
     "A 25th of the URLs are pages. Rows differ from the first one in what their name says. Theory is what was "
     "asked for. Links that may leave their host stay by chance, too, so a few more do than were asked for. The "
     "exponent is Hill's estimate from the hundredth of the pages with the most links. The exponent that was asked "
     "for holds on each host; all hosts together have a larger one. The last row needs --graph.",
     "numbers, or per cent", lab_graph_names, lab_graph_facts, .runs_most = 5, .work = 0.6,
     .measure = lab_graph_properties_measure, .judge = lab_graph_properties_judge},
    {"graph-when", "When pages are lost, by tenths of the crawl", OURS,
     GRAPHS FILTER "Of a million pages that are first met in that tenth of the crawl, those that are directly "
                   "lost. Breadth first takes the page that was met first, per host takes the hosts in turn, "
                   "best first takes the page with the most links met so far.",
     "pages per million", lab_graph_tenths, lab_order_names, .work = 0.3,
     .plot = {.x = "tenth of the crawl",
              .y = "pages lost per million",
              .columns = true,
              .log_y = true,
              .along = (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
     .measure = lab_graph_by_tenth_measure, .judge = lab_graph_by_tenth_judge},
    {"graph-whose", "Whose pages are missing", OURS,
     GRAPHS FILTER "How often a page of that class is missing, directly lost or lost with others, divided by how "
                   "often any page is. Depth is the number of links from a seed. " EXPECTED,
     "times the average", lab_graph_classes, lab_order_names, .work = 0.4, .measure = lab_graph_by_page_measure,
     .judge = lab_graph_by_page_judge},
    {"graph-locality", "How losses compound: links per page, and links within the host", OURS,
     GRAPHS FILTER "Breadth first. 1.00: each lost page costs itself alone. " EXPECTED, COMPOUND,
     lab_graph_locality_rows, lab_graph_link_columns, .runs_most = RUNS_MOST, .work = 1.2,
     .plot = {.x = "links per page", .y = COMPOUND, .log_x = true, .along = (const double[]){1.7, 3, 7.6, 15, 30}},
     .measure = lab_graph_locality_measure, .judge = lab_graph_compound_judge},
    {"graph-popularity", "How losses compound: how unequal pages are", OURS,
     GRAPHS FILTER "Breadth first. With a smaller exponent fewer pages have most of the links, and more pages "
                   "have only one. " EXPECTED,
     COMPOUND, lab_graph_popularity_rows, lab_graph_link_columns, .runs_most = RUNS_MOST, .work = 1.2,
     .measure = lab_graph_popularity_measure, .judge = lab_graph_compound_judge},
    {"graph-order", "How losses compound: the order of the crawl", OURS, GRAPHS FILTER FROM_FILES EXPECTED, COMPOUND,
     lab_graph_order_rows, lab_graph_source_columns, .runs_most = RUNS_MOST, .work = 0.9,
     .measure = lab_graph_order_measure, .judge = lab_graph_compound_judge},
    {"graph-errors", "How losses compound: the size of the filter", OURS,
     GRAPHS "Breadth first, filters of 3 functions with so many bits per page, which lose 4.6, 1.8, 0.86 and 0.29 "
            "% of the pages they are asked about. " FROM_FILES EXPECTED,
     COMPOUND, lab_graph_error_rows, lab_graph_source_columns, .runs_most = RUNS_MOST, .work = 0.9,
     .measure = lab_graph_error_measure, .judge = lab_graph_compound_judge},
    {"graph-told", "Pages lost, and what the set reports", OURS,
     GRAPHS FILTER "Breadth first. Of a million pages: those that the filter lost, expected_lost of vidi_stat, and "
                   "those that were never met because all ways to them lead through lost pages.",
     "pages per million", lab_graph_told_rows, lab_graph_told_columns, .work = 0.4, .measure = lab_graph_told_measure,
     .judge = lab_graph_told_judge},
    {.id = NULL},
};
