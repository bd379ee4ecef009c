/* Experiments: memory and times of the thesis. What they measure is in costs_*.c. */
#include "lab/costs.h"

const char *const lab_cost_rows[LAB_COST_ROWS + 1] = {"3 HF", "4 HF", "5 HF",  "6 HF", "7 HF",
                                                      "8 HF", "9 HF", "10 HF", NULL};
const char *const lab_cost_columns[LAB_COST_COLUMNS + 1] = {"1.7 M", "2.0 M", "2.5 M", "3.0 M", "4.0 M", "5.0 M", NULL};
const double lab_cost_multipliers[LAB_COST_COLUMNS] = {1.7, 2.0, 2.5, 3.0, 4.0, 5.0};
const char *const lab_collections[] = {"ArrayList", "HashSet", NULL};

static const char *const memory[] = {"memory", NULL};
static const char *const time[] = {"time", NULL};

#define EACH_MEMORY .rows = lab_cost_rows, .columns = lab_cost_columns, .unit = "kilobytes", .runs_most = 1
#define MEMORY(number, filters, how)                                                                                   \
    {                                                                                                                  \
        .id = "thesis-5." number, .title = "Memory of " filters, .source = "the thesis, section 5.5",                  \
        .note = "For 1,000,000 URLs, of 1,024 bytes each. Theory is the bits alone. The published figures have a "     \
                "constant on top, whatever k and M: they agree if it is the same in all cells of the table.",          \
        EACH_MEMORY, .measure = (how), .judge = lab_judge_memory, .plot = {                                            \
            "M",                                                                                                       \
            "kilobytes",                                                                                               \
            false,                                                                                                     \
            false,                                                                                                     \
            false,                                                                                                     \
            NULL                                                                                                       \
        }                                                                                                              \
    }

#define RATIO "times the cell with 3 HF"
#define EACH_TIME                                                                                                      \
    .rows = lab_cost_rows, .columns = lab_cost_columns, .unit = RATIO, .timed = true, .runs_most = 15,                 \
    .judge = lab_judge_time, .plot = {"hash functions", RATIO, true, false, false, NULL}
#define TIME(number, what, section, how)                                                                               \
    {                                                                                                                  \
        .id = "thesis-A." number, .title = (what), .source = "the thesis, " section,                                   \
        .note = "Jenkins, salted, one value after the other; a 400th of the URLs. Published: its milliseconds "        \
                "divided by those of 3 HF. Theory: k/3. They agree within a fifth of ours.",                           \
        EACH_TIME, .measure = (how)                                                                                    \
    }
#define BREAK(number, what, how)                                                                                       \
    {                                                                                                                  \
        .id = "thesis-A." number "-break", .title = what ", ended by the first unmarked bit",                          \
        .source = "the thesis, algorithm 2 and section A.1.2",                                                         \
        .note = "The same filters, asked as algorithm 2 says. Theory: (1 - f^kF) / (1 - f^3F), f = 1 - e^(-1/M). The " \
                "published times grow with k: its program did not break.",                                             \
        EACH_TIME, .measure = (how)                                                                                    \
    }

#define EACH_COLLECTION .rows = lab_collections, .columns = time, .unit = "times the filter", .timed = true
#define COLLECTION(number, what, base, how)                                                                            \
    {                                                                                                                  \
        .id = "thesis-5." number, .title = (what), .source = "the thesis, section 5.6",                                \
        .note = "Ours are `list` (100 questions to 5,000 URLs, reckoned for 1,000,000, as in section 5.6.2) and "      \
                "`hashset` (a tenth of the URLs). Divided by the time of 3 HF, 2.0 M (published: table " base ").",    \
        EACH_COLLECTION, .runs_most = 15, .measure = (how), .judge = lab_judge_time_collections                        \
    }

const lab_study lab_thesis_costs[] = {
    MEMORY("10", "one filter", lab_memory_one),
    MEMORY("11", "two filters", lab_memory_two),
    MEMORY("12", "three filters", lab_memory_three),
    {.id = "thesis-5.13",
     .title = "Memory of an ArrayList and a HashSet",
     .source = "the thesis, section 5.5",
     .note = "Published: Java's. Ours are `list` and `hashset`, reckoned for 1,000,000 URLs from 4,000 and 100,000.",
     .unit = "kilobytes",
     .rows = lab_collections,
     .columns = memory,
     .runs_most = 10,
     .measure = lab_memory_collections,
     .judge = lab_judge_memory_collections},
    COLLECTION("14", "Time to add to an ArrayList and a HashSet", "A.4", lab_time_add_collections),
    COLLECTION("15", "Time to query an ArrayList and a HashSet", "A.1", lab_time_ask_collections),
    TIME("1", "Time to query one filter, every position", "section A.1.2", lab_time_ask_one),
    TIME("2", "Time to query two filters, every position", "section A.1.2", lab_time_ask_two),
    TIME("3", "Time to query three filters, every position", "section A.1.2", lab_time_ask_three),
    BREAK("1", "Time to query one filter", lab_time_break_one),
    BREAK("2", "Time to query two filters", lab_time_break_two),
    BREAK("3", "Time to query three filters", lab_time_break_three),
    TIME("4", "Time to add to one filter", "section A.1.3", lab_time_add_one),
    TIME("5", "Time to add to two filters", "section A.1.3", lab_time_add_two),
    TIME("6", "Time to add to three filters", "section A.1.3", lab_time_add_three),
    {.id = "thesis-A-filters",
     .title = "Time of two and three filters against one",
     .source = "the thesis, sections A.1.2 and A.1.3",
     .note = "3 HF, 2.0 M, from tables A.1 to A.6; a hundredth of the URLs. Theory: the number of filters, or, for a "
             "question "
             "that ends with the first unmarked bit, (1 - f^3F) / (1 - f^3). They agree within a fifth of ours.",
     .unit = "times one filter",
     .rows = lab_member_rows,
     .columns = lab_member_columns,
     .timed = true,
     .runs_most = 15,
     .measure = lab_time_members,
     .judge = lab_judge_members},
    {.id = NULL},
};
