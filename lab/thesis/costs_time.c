/*
 * Times of the thesis's filters (tables A.1 to A.6), divided by those of the row with 3 functions in the same column.
 * These ratios show the cost of more functions on any machine.
 *
 * All filters of a table exist at the same time and take turns with a fifth of the URLs each, so a slow moment of the
 * machine affects all of them. We take the processor time of the thread, which other processes do not change.
 *
 * Theory counts hash values, which take most of the time. An add, and a lookup of all bits, compute kF of them: the
 * ratio is k/3. A lookup that stops at the first zero bit (algorithm 2) computes (1 - f^kF) / (1 - f), where
 * f = 1 - e^(-1/M) is the fill. That hardly depends on k: it is less than two for any k and F. Algorithm 4 as printed
 * stops at the first zero bit of each filter, and computes F (1 - f^k) / (1 - f): in proportion to F, but hardly more
 * with more functions.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/thesis/costs.h"
#include "lab/urls/run_urls.h"

#define TOLERANCE 0.2 /* between published ratios and ours */

enum { CELLS = LAB_COST_ROWS * LAB_COST_COLUMNS, TURNS = 5, PART = 400, URLS_LEAST = 500 };

typedef struct table {
    lab_texts texts; /* the first half is inserted, the second looked up */
    uint64_t n;
    lab_timed *filters[CELLS];
} table;

static int make_table(table *made, const lab_settings *settings, uint64_t run, unsigned members)
{
    made->n = lab_urls_part(settings, PART, URLS_LEAST);
    LAB_TRY(lab_texts_make(&made->texts, settings, run, 0, 2 * made->n));
    for (unsigned cell = 0; cell < CELLS; cell++)
        LAB_TRY(lab_timed_make(&made->filters[cell], settings, run, members, LAB_COST_K_LEAST + cell / LAB_COST_COLUMNS,
                               lab_cost_multipliers[cell % LAB_COST_COLUMNS], made->n));
    return VIDI_OK;
}

static void take_times(table *table, lab_deed deed, double *numbers)
{
    const vidi_str *urls = table->texts.urls + (deed == LAB_ADD ? 0 : table->n);
    uint64_t times[CELLS] = {0};
    if (deed != LAB_ADD)
        lab_timed_fill(table->filters, CELLS, table->texts.urls, table->n);
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        uint64_t first = table->n * turn / TURNS, last = table->n * (turn + 1) / TURNS;
        for (unsigned cell = 0; cell < CELLS; cell++) {
            uint64_t start = lab_thread_time();
            lab_timed_do(table->filters[cell], deed, urls + first, last - first);
            times[cell] += lab_thread_time() - start;
        }
    }
    for (unsigned cell = 0; cell < CELLS; cell++)
        numbers[cell] = (double)times[cell] / fmax(1, (double)times[cell % LAB_COST_COLUMNS]);
}

/* What the tables differ in. */
typedef struct way {
    unsigned members;
    lab_deed deed;
} way;

static int measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    const way *way = settings->study->with;
    table table;
    LAB_TRY(make_table(&table, settings, run, way->members));
    take_times(&table, way->deed, numbers);
    return VIDI_OK;
}

/* ---- verdicts ---- */

static bool stops_early(const way *way)
{
    return way->deed == LAB_ASK_BREAK || way->deed == LAB_ASK_INNER;
}

static double values_until_settled(double fill, double positions)
{
    return (1 - pow(fill, positions)) / (1 - fill);
}

static double theory_of(const lab_study *study, size_t row, size_t column)
{
    const way *way = study->with;
    double k = LAB_COST_K_LEAST + (double)row, together = way->deed == LAB_ASK_BREAK ? way->members : 1;
    double fill = -expm1(-1 / lab_cost_multipliers[column]);
    return stops_early(way)
               ? values_until_settled(fill, k * together) / values_until_settled(fill, LAB_COST_K_LEAST * together)
               : k / LAB_COST_K_LEAST;
}

/* A table with early stops is compared with the figures of the table without, whose id is the beginning of its own. */
static const char *printed(const lab_study *study, const char *row, const char *column)
{
    char id[32];
    snprintf(id, sizeof id, "%.*s", (int)strcspn(study->id + strlen("thesis-"), "-") + (int)strlen("thesis-"),
             study->id);
    return lab_published_find(lab_published_all, id, row, column);
}

static void judge(const lab_cell *cell, lab_entry *entry)
{
    entry->theory = theory_of(cell->study, cell->row, cell->column);
    lab_cost_compare(entry, printed(cell->study, entry->row, entry->column),
                     printed(cell->study, lab_cost_rows[0], entry->column), TOLERANCE);
    const way *way = cell->study->with;
    bool early = stops_early(way);
    if (early)
        entry->basis = LAB_COUNTERFACTUAL;
    if (entry->verdict != LAB_DIFFERS)
        return;
    if (early && cell->row + 1 == LAB_COST_ROWS)
        snprintf(entry->remark, sizeof entry->remark,
                 "algorithm %s stops early, which would give %.2f and not the published %.2f: the program looked at "
                 "every bit",
                 way->deed == LAB_ASK_INNER ? "4" : "2", entry->theory, entry->published);
    else if (!early)
        snprintf(entry->remark, sizeof entry->remark, "k/3 is %.2f, and %s differs from it more", entry->theory,
                 fabs(entry->published / entry->theory - 1) > fabs(entry->measured / entry->theory - 1)
                     ? "the published ratio"
                     : "our ratio");
}

#define RATIO "times the cell with 3 HF"
#define EACH(count, how)                                                                                               \
    .unit = RATIO, .rows = lab_cost_rows, .columns = lab_cost_columns, .timed = true, .runs_most = 15,                 \
    .plot = {.x = "hash functions k", .y = RATIO, .columns = true}, .with = &(const way){count, how},                  \
    .measure = measure, .judge = judge
#define EVERY_BIT(number, what, where, count, how)                                                                     \
    {                                                                                                                  \
        .id = "thesis-A." number, .title = (what), .source = "the thesis, " where,                                     \
        .note = "Jenkins, salted, one value after the other; a 400th of the URLs. Published figures are milliseconds " \
                "divided by those of 3 HF, and agree if they are within a fifth of ours. Theory: k/3.",                \
        EACH(count, how)                                                                                               \
    }
#define BREAK(number, what, count)                                                                                     \
    {                                                                                                                  \
        .id = "thesis-A." number "-break", .title = what ", stopping at the first zero bit",                           \
        .source = "the thesis, algorithm 2 and section A.1.2",                                                         \
        .note =                                                                                                        \
            "The same filters, with lookups as in algorithm 2. Theory: (1 - f^kF) / (1 - f^3F), f = 1 - e^(-1/M). "    \
            "The published times grow with k, so the thesis's program did not stop early.",                            \
        EACH(count, LAB_ASK_BREAK)                                                                                     \
    }
#define INNER(number, what, count)                                                                                     \
    {                                                                                                                  \
        .id = "thesis-A." number "-inner", .title = what ", stopping at the first zero bit of each filter",            \
        .source = "the thesis, algorithm 4 and section A.1.2",                                                         \
        .note = "The same filters, with lookups as algorithm 4 is printed: its break leaves the inner loop, and the "  \
                "next filter is queried all the same. Theory: (1 - f^k) / (1 - f^3), f = 1 - e^(-1/M). The published " \
                "times grow with k, so the thesis's program did not stop like this either.",                           \
        EACH(count, LAB_ASK_INNER)                                                                                     \
    }

#define ONE "Time to query one filter"
#define TWO "Time to query two filters"
#define THREE "Time to query three filters"

const lab_study lab_study_thesis_A_1 = EVERY_BIT("1", ONE ", every bit", "section A.1.2", 1, LAB_ASK_EAGER);
const lab_study lab_study_thesis_A_2 = EVERY_BIT("2", TWO ", every bit", "section A.1.2", 2, LAB_ASK_EAGER);
const lab_study lab_study_thesis_A_3 = EVERY_BIT("3", THREE ", every bit", "section A.1.2", 3, LAB_ASK_EAGER);
const lab_study lab_study_thesis_A_1_break = BREAK("1", ONE, 1);
const lab_study lab_study_thesis_A_2_break = BREAK("2", TWO, 2);
const lab_study lab_study_thesis_A_3_break = BREAK("3", THREE, 3);
const lab_study lab_study_thesis_A_2_inner = INNER("2", TWO, 2);
const lab_study lab_study_thesis_A_3_inner = INNER("3", THREE, 3);
const lab_study lab_study_thesis_A_4 = EVERY_BIT("4", "Time to add to one filter", "section A.1.3", 1, LAB_ADD);
const lab_study lab_study_thesis_A_5 = EVERY_BIT("5", "Time to add to two filters", "section A.1.3", 2, LAB_ADD);
const lab_study lab_study_thesis_A_6 = EVERY_BIT("6", "Time to add to three filters", "section A.1.3", 3, LAB_ADD);
