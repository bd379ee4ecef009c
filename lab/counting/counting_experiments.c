/*
 * The list of experiments on the counting notes. counting_*.c measure them. Those on k and on the errors of counters
 * are tables of configurations (experiments.c).
 */
#include "lab/counting/counting.h"

enum { PART = 10, URLS_LEAST = 1000 };

uint64_t lab_counting_urls(const lab_settings *settings)
{
    return lab_urls_part(settings, PART, URLS_LEAST);
}

const lab_study lab_counting_studies[] = {
    {"notes-space", "Memory of Bloom filters, of hashes and of URLs", "the counting notes",
     "A tenth of the URLs is inserted. Stored hashes and one hash are computed, since the sets would be too large.",
     "bits per URL", lab_space_rates, lab_space_ways, .runs_most = 3,
     .plot = {.x = "false positives",
              .y = "bits per URL",
              .columns = true,
              .log_x = true,
              .log_y = true,
              .along = lab_space_rates_along},
     .measure = lab_space_measure, .judge = lab_space_judge},
    {"notes-counters", "Counters of several widths: insert, delete and lookup", "the counting notes",
     "A tenth of the URLs is inserted, k = 3, kn/m = ln 2. Full and still seen: after all were deleted. "
     "Forgotten: after deleting a fiftieth as many URLs that were never inserted.",
     "%, memory: times that of bits", lab_counter_widths, lab_counter_columns, .measure = lab_counters_measure,
     .judge = lab_counters_judge},
    {.id = NULL},
};
