/* The list of experiments on memory and times in the thesis. costs_*.c measure them. */
#include "lab/thesis/costs.h"
#include "lab/thesis/salts.h"

#include <math.h>

const char *const lab_cost_rows[LAB_COST_ROWS + 1] = {"3 HF", "4 HF", "5 HF",  "6 HF", "7 HF",
                                                      "8 HF", "9 HF", "10 HF", NULL};
const char *const lab_cost_columns[LAB_COST_COLUMNS + 1] = {"1.7 M", "2.0 M", "2.5 M", "3.0 M", "4.0 M", "5.0 M", NULL};
const double lab_cost_multipliers[LAB_COST_COLUMNS] = {1.7, 2.0, 2.5, 3.0, 4.0, 5.0};
const char *const lab_collections[] = {"ArrayList", "HashSet", NULL};

void lab_cost_compare(lab_entry *entry, const char *printed, const char *base, double tolerance)
{
    lab_figure figure = lab_figure_read(printed), divisor = lab_figure_read(base);
    entry->printed = printed;
    if (!figure.given || !divisor.given)
        return;
    entry->published = figure.percent / divisor.percent;
    if (printed == base)
        return;
    entry->basis = LAB_BY_TOLERANCE;
    entry->verdict = fabs(entry->published - entry->measured) <= tolerance * entry->measured ? LAB_AGREES : LAB_DIFFERS;
}

static const char *const memory[] = {"memory", NULL};
static const char *const time[] = {"time", NULL};

#define EACH_MEMORY .rows = lab_cost_rows, .columns = lab_cost_columns, .unit = "kilobytes", .runs_most = 1
#define MEMORY(number, filters, how)                                                                                   \
    {                                                                                                                  \
        .id = "thesis-5." number, .title = "Memory of " filters, .source = "the thesis, section 5.5",                  \
        .note = "For 1,000,000 URLs, in kilobytes of 1,024 bytes. Theory is the bits alone. The published figures "    \
                "exceed it by a constant, whatever k and M: they agree if it is the same in all cells.",               \
        EACH_MEMORY, .measure = (how), .judge = lab_memory_judge, .plot.x = "M", .plot.y = "kilobytes"                 \
    }

#define RATIO "times the cell with 3 HF"
#define EACH_TIME                                                                                                      \
    .rows = lab_cost_rows, .columns = lab_cost_columns, .unit = RATIO, .timed = true, .runs_most = 15,                 \
    .judge = lab_time_judge, .plot = {.x = "hash functions k", .y = RATIO, .columns = true}
#define TIME(number, what, section, how)                                                                               \
    {                                                                                                                  \
        .id = "thesis-A." number, .title = (what), .source = "the thesis, " section,                                   \
        .note = "Jenkins, salted, one value after the other; a 400th of the URLs. Published figures are milliseconds " \
                "divided by those of 3 HF, and agree if they are within a fifth of ours. Theory: k/3.",                \
        EACH_TIME, .measure = (how)                                                                                    \
    }
#define BREAK(number, what, how)                                                                                       \
    {                                                                                                                  \
        .id = "thesis-A." number "-break", .title = what ", stopping at the first zero bit",                           \
        .source = "the thesis, algorithm 2 and section A.1.2",                                                         \
        .note =                                                                                                        \
            "The same filters, with lookups as in algorithm 2. Theory: (1 - f^kF) / (1 - f^3F), f = 1 - e^(-1/M). "    \
            "The published times grow with k, so the thesis's program did not stop early.",                            \
        EACH_TIME, .measure = (how)                                                                                    \
    }

#define EACH_COLLECTION                                                                                                \
    .source = "the thesis, section 5.6", .columns = time, .unit = "times the filter", .timed = true, .runs_most = 15,  \
    .judge = lab_time_collections_judge
#define INNER(number, what, how)                                                                                       \
    {                                                                                                                  \
        .id = "thesis-A." number "-inner", .title = what ", stopping at the first zero bit of each filter",            \
        .source = "the thesis, algorithm 4 and section A.1.2",                                                         \
        .note = "The same filters, with lookups as algorithm 4 is printed: its break leaves the inner loop, and the "  \
                "next filter is queried all the same. Theory: (1 - f^k) / (1 - f^3), f = 1 - e^(-1/M). The published " \
                "times grow with k, so the thesis's program did not stop like this either.",                           \
        EACH_TIME, .measure = (how)                                                                                    \
    }

const lab_study lab_costs_studies[] = {
    MEMORY("10", "one filter", lab_memory_one_measure),
    MEMORY("11", "two filters", lab_memory_two_measure),
    MEMORY("12", "three filters", lab_memory_three_measure),
    {"thesis-5.13", "Memory of an ArrayList and a HashSet", "the thesis, section 5.5",
     "The published figures are Java's. We measure `list` and `hashset` with 4,000 and 100,000 URLs and "
     "extrapolate to 1,000,000.",
     "kilobytes", lab_collections, memory, .runs_most = 10, .measure = lab_memory_collections_measure,
     .judge = lab_memory_collections_judge},
    {.id = "thesis-5.14",
     .title = "Time to add to an ArrayList and a HashSet",
     .note = "ArrayList: an array to which copies of the URLs are appended without a lookup, as Java's list does. "
             "HashSet: `hashset`. A list that looks up first: `list`, with 5,000 URLs, extrapolated to 1,000,000. All "
             "are divided by the time of 3 HF, 2.0 M (published: table A.4). Published figures agree if they are "
             "within half of ours.",
     EACH_COLLECTION,
     .rows = lab_add_rows,
     .measure = lab_time_add_collections_measure},
    {.id = "thesis-5.15",
     .title = "Time to query an ArrayList and a HashSet",
     .note = "We measure `list` (100 lookups in 5,000 URLs, extrapolated to 1,000,000 as in section 5.6.2) and "
             "`hashset` (a tenth of the URLs), divided by the time of 3 HF, 2.0 M (published: table A.1). Published "
             "figures agree if they are within half of ours.",
     EACH_COLLECTION,
     .rows = lab_collections,
     .measure = lab_time_ask_collections_measure},
    TIME("1", "Time to query one filter, every bit", "section A.1.2", lab_time_ask_one_measure),
    TIME("2", "Time to query two filters, every bit", "section A.1.2", lab_time_ask_two_measure),
    TIME("3", "Time to query three filters, every bit", "section A.1.2", lab_time_ask_three_measure),
    BREAK("1", "Time to query one filter", lab_time_break_one_measure),
    BREAK("2", "Time to query two filters", lab_time_break_two_measure),
    BREAK("3", "Time to query three filters", lab_time_break_three_measure),
    INNER("2", "Time to query two filters", lab_time_inner_two_measure),
    INNER("3", "Time to query three filters", lab_time_inner_three_measure),
    TIME("4", "Time to add to one filter", "section A.1.3", lab_time_add_one_measure),
    TIME("5", "Time to add to two filters", "section A.1.3", lab_time_add_two_measure),
    TIME("6", "Time to add to three filters", "section A.1.3", lab_time_add_three_measure),
    {.id = "thesis-A-filters",
     .title = "Time of two and three filters compared with one",
     .source = "the thesis, sections A.1.2 and A.1.3",
     .note = "3 HF, 2.0 M, from tables A.1 to A.6; a hundredth of the URLs. Algorithm 4 as printed stops at the "
             "first zero bit of each filter; its text says that it ends there. Theory: the number of filters, but for "
             "lookups that end at the first zero bit (1 - f^3F) / (1 - f^3). Published figures agree if they are "
             "within a fifth of ours.",
     .unit = "times one filter",
     .rows = lab_member_rows,
     .columns = lab_member_columns,
     .timed = true,
     .runs_most = 15,
     .measure = lab_time_members_measure,
     .judge = lab_time_members_judge},
    {"thesis-hash-time", "Time of the four hash functions", "the thesis, sections 5.4 and 5.4.3",
     "A fiftieth of the URLs. The thesis discards MD5 and SHA-1 because they take longer, but prints no times. "
     "Ours are OpenSSL's, which use the processor's instructions for SHA-1 if it has them.",
     "ns per value", lab_hash_time_rows, lab_hash_time_columns, .timed = true, .runs_most = 15,
     .needs = "jenkins+murmur2+md5+sha1", .measure = lab_hash_time_measure},
    {"thesis-salt-place", "Salts before and after the URL, non-incremental", "the thesis, sections 1.5 and 4.1",
     "A quarter of the URLs. Theory: with salts after the URL, URLs with the same 32-bit state collide for "
     "every salt; one-at-a-time, which is not the thesis's, reads byte by byte.",
     "%", lab_salt_rows, lab_salt_columns, .runs_most = 40, .measure = lab_salt_measure, .judge = lab_salt_judge},
    {"thesis-salt-place-time", "Salts before and after the URL: time", "the thesis, sections 1.5 and 4.1",
     "A fiftieth of the URLs. If salts come after the URL, what was computed of the URL serves for all of "
     "them. Theory counts the bytes that are read, and leaves out what each value costs besides.",
     "times the salt before", lab_salt_time_rows, lab_salt_time_columns, .timed = true, .runs_most = 15,
     .measure = lab_salt_time_measure, .judge = lab_salt_time_judge},
    {.id = NULL},
};
