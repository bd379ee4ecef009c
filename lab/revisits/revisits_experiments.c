/* The list of experiments with revisits. revisits.h explains the policies; revisits_*.c measure them. */
#include "lab/revisits/revisits.h"

#define OURS "vidi"
#define MISSED "page-crawls per million"
#define WORLD "A fiftieth of the URLs are pages; each crawl meets them in an order of its own. "
#define GONE "A filter that is kept also keeps the pages that are gone."

/* A table of page-crawls missed over time; a table of page-crawls missed in 20 crawls. */
#define OVER_TIME(name, what, remark, function)                                                                        \
    {                                                                                                                  \
        .id = (name), .title = "Page-crawls missed with 8 bits per page, if " what, .source = OURS,                    \
        .note = WORLD remark, .unit = MISSED, .rows = lab_revisits_policies, .columns = lab_revisits_crawls,           \
        .work = 0.2, .plot = {.x = "crawls", .y = "page-crawls missed per million", .log_x = true, .log_y = true},     \
        .measure = (function), .judge = lab_revisits_churn_judge                                                       \
    }
#define IN_ALL(name, bits, function)                                                                                   \
    {                                                                                                                  \
        .id = (name), .title = "Page-crawls missed in 20 crawls with " bits " bits per page", .source = OURS,          \
        .note = WORLD GONE, .unit = MISSED, .rows = lab_revisits_policies, .columns = lab_revisits_churns,             \
        .work = 0.8, .plot = {.x = "churn in %", .y = "page-crawls missed per million", .log_y = true},                \
        .measure = (function), .judge = lab_revisits_bits_judge                                                        \
    }

const lab_study lab_revisits_studies[] = {
    OVER_TIME("revisits-churn-0", "pages never change",
              "A page-crawl is missed if a page exists and that crawl does not fetch it.",
              lab_revisits_churn_0_measure),
    OVER_TIME("revisits-churn-1", "1 % of the pages is replaced between crawls", GONE, lab_revisits_churn_1_measure),
    OVER_TIME("revisits-churn-10", "10 % of the pages are replaced between crawls", GONE,
              lab_revisits_churn_10_measure),
    OVER_TIME("revisits-churn-50", "half of the pages are replaced between crawls", GONE,
              lab_revisits_churn_50_measure),
    IN_ALL("revisits-4-bits", "4", lab_revisits_4_measure),
    IN_ALL("revisits-16-bits", "16", lab_revisits_16_measure),
    {"revisits-never", "Pages that no crawl has fetched so far, with 4 bits per page", OURS,
     "A fiftieth of the URLs are pages, which never change. In a different order each time, unless the row "
     "says otherwise.",
     "pages per million", lab_revisits_orders, lab_revisits_crawls, .work = 0.2,
     .plot = {.x = "crawls", .y = "pages never fetched per million", .log_x = true, .log_y = true},
     .measure = lab_revisits_never_measure, .judge = lab_revisits_never_judge},
    {"revisits-half", "Pages that more than half of the crawls missed, with 4 bits per page", OURS, "The same crawls.",
     "pages per million", lab_revisits_orders, lab_revisits_halves, .work = 0.2,
     .plot = {.x = "crawls", .y = "pages missed in most crawls per million", .log_x = true, .log_y = true},
     .measure = lab_revisits_half_measure, .judge = lab_revisits_half_judge},
    {"revisits-bytes", "Peak memory of the ways to give a crawl an empty filter", OURS,
     "A tenth of the URLs, 8 bits for each, three crawls; bytes that the set has allocated, and the number of "
     "filters that should exist at once.",
     "times the filter", lab_revisits_ways, lab_revisits_peaks, .runs_most = 1, .work = 0.2,
     .measure = lab_revisits_bytes_measure, .judge = lab_revisits_bytes_judge},
    {.id = NULL},
};
