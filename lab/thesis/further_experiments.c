/* The list of experiments on the further work that the thesis proposes. further_*.c measure them. */
#include "lab/thesis/further.h"

const lab_study lab_further_studies[] = {
    {"further-scalable", "Temporal strategy with a filter that grows, non-incremental", "the thesis, section 7.2.1",
     "n is a quarter of the URLs. classic: k = 4, M = 1.5, which is 5.6 % for n URLs; scalable: made to keep "
     "5.6 %.",
     "%", lab_scalable_rows, lab_scalable_columns, .measure = lab_scalable_measure, .judge = lab_scalable_judge},
    {"further-scalable-memory", "Temporal strategy with a filter that grows: memory", "the thesis, section 7.2.1",
     "The sets of further-scalable after n URLs, including room that the last stage still has.", "bits per URL",
     lab_scalable_rows, lab_scalable_memory_columns, .runs_most = 1, .measure = lab_scalable_memory_measure},
    {"further-revisit", "Revisits sized from the last count, non-incremental", "the thesis, section 7.2.1",
     "n is an eighth of the URLs, k = 4, M = 1.5. Each crawl after the first is sized for the number of URLs "
     "that were new to the previous one, times the headroom.",
     "%", lab_revisit_rows, lab_revisit_columns, .plot = {.x = "crawl", .y = "false positives (%)", .log_y = true},
     .measure = lab_revisit_measure, .judge = lab_revisit_judge},
    {"further-delay", "Temporal strategy, incremental: which pages wait, and for how many crawls",
     "the thesis, sections 4.2 and 5.7.1",
     "n is a quarter of the URLs. Jenkins, salted, k = 3, M = 2.0. The last tenth: pages that the first crawl "
     "meets last.",
     "%", lab_delay_rows, lab_delay_columns, .measure = lab_delay_measure, .judge = lab_delay_judge},
    {"further-equal-bits", "More hash functions or a larger M, at equal memory, non-incremental",
     "the thesis, sections 5.6.2 and 6.1",
     "n is a quarter of the URLs. The first row has 6 bits per URL; the others spend twice as many on M or on k.", "%",
     lab_equal_rows, lab_equal_columns, .measure = lab_equal_measure, .judge = lab_equal_judge},
    {"further-equal-bits-time", "More hash functions or a larger M, at equal memory: time",
     "the thesis, sections 5.6.2 and 6.1",
     "A twentieth of the URLs. Jenkins with k salts, as in the thesis, or k values derived from one hash.",
     "ns per URL", lab_equal_rows, lab_equal_time_columns, .timed = true, .runs_most = 10,
     .measure = lab_equal_time_measure},
    {"further-genetic", "Hash functions found by genetic search for a site's URLs, incremental",
     "the thesis, section 7.2.2",
     "Crawls of 2,048 URLs of one site (fewer below 131,072 URLs), k = 3 salts, M = 2.0; 40 generations of 48 "
     "programs; then four crawls with other URLs and other salts. Theory is that of an ideal function. The "
     "bred functions have no key: anyone who knows one and a salt can make URLs that collide.",
     "%", lab_genetic_rows, lab_genetic_columns, .runs_most = 20, .measure = lab_genetic_measure,
     .judge = lab_genetic_judge},
    {"further-genetic-time", "Hash functions found by genetic search: time", "the thesis, section 7.2.2",
     "One value for each URL, all URLs in one batch, without a salt. Programs take their steps for many URLs "
     "at once.",
     "ns per URL", lab_genetic_rows, lab_genetic_time_columns, .timed = true, .runs_most = 3,
     .measure = lab_genetic_time_measure},
    {"further-processes", "Spatial strategy split over processes, non-incremental", "the thesis, section 6.4",
     "n is a tenth of the URLs. Jenkins, salted, k = 3, M = 2.0 a member. Differing answers are counted in "
     "adds and lookups.",
     "%", lab_processes_rows, lab_processes_columns, .timed = true, /* fork needs that no other thread runs */
     .measure = lab_processes_measure, .judge = lab_processes_judge},
    {"further-processes-time", "Spatial strategy split over processes: time of a lookup", "the thesis, section 6.4",
     "All members are queried, in one set, and in processes on this machine over sockets.", "microseconds per URL",
     lab_processes_exchange_rows, lab_processes_ways, .timed = true, .runs_most = 5,
     .measure = lab_processes_time_measure},
    {"further-processes-messages", "Spatial strategy split over processes: messages", "the thesis, section 6.4",
     "Requests and answers between the deciding process and the members.", "messages per URL",
     lab_processes_exchange_rows, lab_processes_ways, .timed = true, .runs_most = 1,
     .measure = lab_processes_messages_measure, .judge = lab_processes_messages_judge},
    {.id = NULL},
};
