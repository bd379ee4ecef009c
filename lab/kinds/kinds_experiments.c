/* The list of experiments with all kinds, with equal memory and over time. kinds_*.c measure them. */
#include "lab/kinds/kinds.h"

#define OURS "vidi"
#define PER_MILLION "pages per million"

const lab_study lab_kinds_studies[] = {
    {"kinds-lost", "Pages lost, every kind in the same memory", OURS,
     "A tenth of the URLs; each kind as vidi_plan plans it for so many bits per URL. Kinds that are not shown "
     "do not fit. Theory follows from how the bits are placed, not from the plan. For eigen and multilayer it is "
     "an upper bound, because their losses depend on how similar the URLs are.",
     PER_MILLION, lab_kind_names, lab_kind_sizes, .runs_most = 10,
     .plot = {.x = "bits per URL", .y = "pages lost per million", .log_x = true, .log_y = true},
     .measure = lab_kinds_lost_measure, .judge = lab_kinds_lost_judge},
    {"kinds-told", "Pages lost, as reported by the sets", OURS,
     "The same sets: expected_lost of vidi_stat, which is all that a user sees.", PER_MILLION, lab_kind_names,
     lab_kind_sizes, .runs_most = 1,
     .plot = {.x = "bits per URL", .y = "pages lost per million", .log_x = true, .log_y = true},
     .measure = lab_kinds_told_measure, .judge = lab_kinds_told_judge},
    {"kinds-time", "Time per URL, every kind in the same memory", OURS,
     "A tenth of the URLs, in batches of 256, processor time of one thread. Kinds that are not shown do not "
     "fit into 16 bits. In the last two columns a set is as large as that error rate requires; `list` has "
     "2,000 URLs, because its time grows with their number. With more URLs than fit into the caches, all take "
     "longer, most of all kinds that touch many places: try --urls 1e8.",
     "ns per URL", lab_kind_names, lab_kind_times, .timed = true, .runs_most = 10, .measure = lab_kinds_time_measure},
    {"kinds-needs", "Memory for an error rate", OURS,
     "A twentieth of the URLs (`list`: 2,000). Bits per URL of a set made for that error rate, after all "
     "insertions. Theory is the smallest set of that kind that keeps the rate, by formula; within 1 % the set "
     "agrees. For fingerprint and the three kinds that keep URLs it is planned: what vidi_plan says, which "
     "assumes that URLs are 80 bytes long.",
     "bits per URL", lab_kind_names, lab_kind_errors, .runs_most = 1, .measure = lab_kinds_needs_measure,
     .judge = lab_kinds_needs_judge},
    {"kinds-growth", "Pages lost when a set gets more URLs than it was made for", OURS,
     "Made for a fortieth of the URLs, with 16 bits per URL (kinds that do not fit: 64, or what they need). "
     "There is no theory for the further layers of blocked, nor for eigen and multilayer.",
     PER_MILLION, lab_kind_names, lab_kind_loads, .runs_most = 10, .measure = lab_kinds_growth_measure,
     .judge = lab_kinds_growth_judge},
    {"kinds-growth-bits", "Memory when a set gets more URLs than it was made for", OURS, "The same sets.",
     "bits per URL", lab_kind_names, lab_kind_loads, .runs_most = 1, .measure = lab_kinds_growth_bits_measure},
    {"kinds-recrawl", "Pages of the first crawl that no crawl has fetched, over ten crawls",
     OURS ", after the thesis, sections 4.2 to 4.4",
     "A 25th of the URLs, and a twentieth of these more with each crawl, in a different order each time; every "
     "set is made for the tenth crawl. Theory with new salts: the product of the shares that the crawls lose, "
     "p^e after e crawls; with the same salts: a page that shares bits with many others is lost again.",
     PER_MILLION, lab_strategies, lab_crawls,
     .plot = {.x = "crawls", .y = "pages never fetched per million", .log_y = true},
     .measure = lab_kinds_recrawl_measure, .judge = lab_kinds_recrawl_judge},
    {"kinds-recrawl-all", "Pages that no crawl has fetched, over ten crawls, including new pages",
     OURS ", after the thesis, sections 4.2 to 4.4",
     "The same crawls: of a million pages that they have met so far. Most of them are new in the last crawl, and "
     "have had only one chance.",
     PER_MILLION, lab_strategies, lab_crawls,
     .plot = {.x = "crawls", .y = "pages never fetched per million", .log_y = true},
     .measure = lab_kinds_recrawl_all_measure, .judge = lab_kinds_recrawl_all_judge},
    {"kinds-delay", "By how many crawls a page is delayed", OURS ", after the thesis, section 4.2",
     "The same crawls: of a million pages of the first crawl, those that it did not fetch.", PER_MILLION,
     lab_strategies, lab_delays, .measure = lab_kinds_delay_measure, .judge = lab_kinds_delay_judge},
    {"kinds-which", "Which pages are delayed, by their position in the first crawl",
     OURS ", after the thesis, section 5.7.1",
     "A tenth of the URLs, two crawls with different salts, 3 functions, M = 2.0. Of a million pages of that "
     "tenth.",
     PER_MILLION, lab_tenth_names, lab_delayed_columns,
     .plot = {.x = "tenth of the first crawl",
              .y = "pages delayed per million",
              .columns = true,
              .log_y = true,
              .along = (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
     .measure = lab_kinds_delayed_measure, .judge = lab_kinds_delayed_judge},
    {.id = NULL},
};
