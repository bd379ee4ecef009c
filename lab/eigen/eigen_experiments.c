/* The list of experiments on the eigenvalue paper. eigen_*.c measure them; claims are in eigen_claims.c. */
#include "lab/eigen/eigen.h"

#define AGAINST_DEPTH                                                                                                  \
    .plot.x = "URLs taken from one site in a row", .plot.y = "falsely seen (%)", .plot.columns = true,                 \
    .plot.log_x = true, .plot.log_y = true
#define SIZES                                                                                                          \
    "A twentieth of the URLs is inserted, m/n = 32, k = 3, d = 1; labels, tail and 4 functions have a third more "     \
    "bits, unless their name says equal bits. "

const lab_study lab_eigen_studies[] = {
    {"eigen-fig-5", "False positives against crawl depth", "the eigenvalue paper, figure 5",
     SIZES
     "Further pages of the same sites are looked up. SipHash-1-3. The paper prints the figure without its numbers.",
     "%", lab_eigen_depths, lab_eigen_filters, AGAINST_DEPTH, .measure = lab_eigen_depths_measure,
     .judge = lab_eigen_depths_judge},
    {"eigen-fig-5-oaat", "False positives against crawl depth, with the paper's example of a hash function",
     "the eigenvalue paper, figure 5", SIZES "One-at-a-time, salted. The paper prints the figure without its numbers.",
     "%", lab_eigen_few_depths, lab_eigen_filters, .runs_most = 30, AGAINST_DEPTH,
     .measure = lab_eigen_depths_oaat_measure, .judge = lab_eigen_depths_oaat_judge},
    {"eigen-asked", "False positives against crawl depth, looking up pages of other sites",
     "the eigenvalue paper, section 2.3",
     SIZES "SipHash-1-3. Three letters give 17,576 features: with many sites all of them are known and reject nothing.",
     "%", lab_eigen_few_depths, lab_eigen_filters, .measure = lab_eigen_asked_measure, .judge = lab_eigen_asked_judge},
    {"eigen-formulas", "The formulas as printed, and what they should say", "the eigenvalue paper, section 2.3",
     "A twentieth of the URLs is inserted, m/n = 32 and k = 3; from (4) on with a third more bits and d = 1. In "
     "the column 'as printed' the measured value is that of the paper's formula, and theory the right one.",
     "share, (3): bits per URL", lab_eigen_formulas, lab_eigen_formula_columns, .measure = lab_eigen_formulas_measure,
     .judge = lab_eigen_formulas_judge},
    {"eigen-features", "Different features of different URLs", "the eigenvalue paper, section 3 and table 1",
     "A twentieth of the URLs. Formula (4) assumes as many different features as URLs: 100 %.", "% of the URLs",
     lab_eigen_features, lab_eigen_similar, .measure = lab_eigen_features_measure, .judge = lab_eigen_features_judge},
    {"eigen-shifts", "Pairs of URLs with the same hash value of 32 bits", "the eigenvalue paper, section 3",
     "URLs of one site differ only in the last digits. 1 is chance.", "times chance", lab_eigen_functions,
     lab_eigen_similar, .runs_most = 30, .measure = lab_eigen_shifts_measure, .judge = lab_eigen_shifts_judge},
    {"eigen-similar", "False positives of the classic filter, on similar URLs and on others",
     "the eigenvalue paper, section 3",
     "A twentieth of the URLs is inserted, m/n = 32, k = 3. URLs of one site differ only in the last digits.", "%",
     lab_eigen_hashes, lab_eigen_similar, .measure = lab_eigen_similar_measure, .judge = lab_eigen_similar_judge},
    {"eigen-time", "Time per URL", "the eigenvalue paper, section 2.3",
     "A twentieth of the URLs is inserted, depth 100, m/n = 32, and a third more bits for all but the first.",
     "ns per URL", lab_eigen_timed, lab_eigen_deeds, .timed = true, .runs_most = 9, .measure = lab_eigen_time_measure},
    {"eigen-growth", "False positives as the number of URLs grows", "the eigenvalue paper, section 3",
     "n is a twentieth of the URLs, ten pages a site; twice as many are looked up. In one filter: it is made for "
     "n URLs, with m/n = 8, k = 3, d = 1, and a third more bits for labels and tail. In proportion: the filter "
     "is smaller by as much. SipHash-1-3.",
     "%", lab_eigen_growth_rows, lab_eigen_growth_columns, .runs_most = 40, .measure = lab_eigen_growth_measure,
     .judge = lab_eigen_growth_judge},
    {"eigen-database", "Time to insert a URL or to find that it is there, with a database",
     "the eigenvalue paper, section 3",
     "Numbers of URLs are for --urls 1e6 and scale with it; each comes twice, in random order. SQLite with a "
     "unique index, a prepared statement, 1,000 URLs in a transaction, all pages in its cache, and without "
     "fsync. Hash table: the kind hashset, as exact as the database. Filters: m/n = 32, k = 3, d = 1.",
     "ns per URL", lab_eigen_database_rows, lab_eigen_database_columns,
     .plot = {.x = "URLs (thousands)", .y = "ns per URL", .log_x = true, .log_y = true}, .timed = true, .runs_most = 9,
     .has = lab_eigen_has_database, .measure = lab_eigen_database_measure},
    {"eigen-database-space", "Bytes per URL, with a database", "the eigenvalue paper, section 3",
     "The sets of eigen-database after all URLs. SQLite: the pages of table and index. Theory is the filters' "
     "bits alone.",
     "bytes per URL", lab_eigen_database_space_rows, lab_eigen_database_columns, .runs_most = 1,
     .has = lab_eigen_has_database, .measure = lab_eigen_database_space_measure,
     .judge = lab_eigen_database_space_judge},
    {.id = NULL},
};
