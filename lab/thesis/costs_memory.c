/*
 * Memory of the thesis's URL caches (tables 5.10 to 5.13).
 *
 * Filters are made for 1,000,000 URLs, as in the thesis, whatever the settings: their size does not depend on the URLs
 * in them, and theory is m/8 bytes for each filter. Collections grow with their URLs, so we insert as many as is quick
 * and extrapolate.
 *
 * The thesis's figures are m/8 bytes in kilobytes of 1,024, plus a constant (about 38 for one filter, 41 for two and
 * three) that depends on neither k nor M: presumably other objects that its filter refers to. A cell is judged by that:
 * minus the median excess of its table, it must be m/8 up to rounding. If it is not while its neighbours are, it is a
 * misprint.
 */
#include <math.h>
#include <stdio.h>

#include "lab/thesis/costs.h"
#include "lab/urls/run_urls.h"
#include "lab/judge/distributions.h"

#define KILOBYTE 1024.0
#define ROUNDING 2.0 /* kilobytes: half of one for rounding, and the constant grows a little with k */

#define TOLERANCE 0.25 /* of a collection's memory */

enum { HASHSET_URLS = 100000, LIST_URLS = 4000, CACHE_LINE = 64 };

static unsigned members_of(const lab_study *study)
{
    return *(const unsigned *)study->with;
}

static int kilobytes_of_filter(const lab_settings *settings, uint64_t run, unsigned members, size_t cell,
                               double *kilobytes)
{
    lab_config config = {.functions = "jenkins",
                         .members = members,
                         .k = LAB_COST_K_LEAST + (unsigned)(cell / LAB_COST_COLUMNS),
                         .multiplier = lab_cost_multipliers[cell % LAB_COST_COLUMNS]};
    char params[256];
    const char *kind = lab_config_set(&config, params, sizeof params);
    vidi_stats stats = {.size = sizeof stats};
    LAB_OWN(lab_close) vidi_set *set = NULL;
    LAB_TRY(lab_set_make(&set, settings, run, kind, params, LAB_COST_URLS));
    LAB_TRY(vidi_stat(set, &stats));
    *kilobytes = (double)stats.bytes / KILOBYTE;
    return VIDI_OK;
}

static int measure_filters(const lab_settings *settings, uint64_t run, double *numbers)
{
    for (size_t cell = 0; cell < (size_t)LAB_COST_ROWS * LAB_COST_COLUMNS; cell++)
        LAB_TRY(kilobytes_of_filter(settings, run, members_of(settings->study), cell, &numbers[cell]));
    return VIDI_OK;
}

/* ---- verdicts on filters ---- */

static double bits_alone(const lab_study *study, size_t row, size_t column)
{
    double k = LAB_COST_K_LEAST + (double)row;
    return members_of(study) * lab_bits(LAB_COST_URLS, k, lab_cost_multipliers[column]) / 8 / KILOBYTE;
}

/* The median of the excess of the table's published figures over the bits alone. */
static double excess(const lab_study *study)
{
    double each[LAB_COST_ROWS * LAB_COST_COLUMNS] = {0};
    size_t count = 0;
    for (size_t row = 0; row < LAB_COST_ROWS; row++)
        for (size_t column = 0; column < LAB_COST_COLUMNS; column++) {
            lab_figure figure = lab_figure_read(
                lab_published_find(lab_published_all, study->id, lab_cost_rows[row], lab_cost_columns[column]));
            if (figure.given)
                each[count++] = figure.percent - bits_alone(study, row, column);
        }
    return lab_median(each, count);
}

static void judge_filters(const lab_cell *cell, lab_entry *entry)
{
    entry->theory = bits_alone(cell->study, cell->row, cell->column);
    entry->printed = lab_published_find(lab_published_all, cell->study->id, entry->row, entry->column);
    lab_figure figure = lab_figure_read(entry->printed);
    /* Ours is m/8 for each filter, rounded up to whole cache lines. */
    double rounding = members_of(cell->study) * CACHE_LINE / KILOBYTE;
    if (entry->measured < entry->theory - 1e-6 || entry->measured > entry->theory + rounding) {
        entry->verdict = LAB_FAILS;
        snprintf(entry->remark, sizeof entry->remark, "our filter is not as large as its bits");
        return;
    }
    if (!figure.given)
        return;
    double constant = excess(cell->study);
    entry->published = figure.percent;
    entry->basis = LAB_FITTED; /* the constant comes from the published figures */
    entry->verdict = LAB_AGREES;
    if (fabs(figure.percent - entry->theory - constant) > ROUNDING) {
        entry->verdict = LAB_MISPRINT;
        snprintf(entry->remark, sizeof entry->remark,
                 "the other cells exceed their bits by %.0f kilobytes, which would give %.0f here%s", constant,
                 entry->theory + constant,
                 figure.percent < entry->theory ? "; the printed figure is less than the bits alone" : "");
    }
}

/* ---- collections ---- */

/* Kilobytes of a set with 1,000,000 URLs, extrapolated from `count`. */
static int kilobytes_of_urls(const lab_settings *settings, uint64_t run, const char *kind, uint64_t count,
                             double *kilobytes)
{
    char url[LAB_URL_ROOM];
    vidi_stats stats = {.size = sizeof stats};
    LAB_OWN(lab_close) vidi_set *set = NULL;
    LAB_TRY(lab_set_make(&set, settings, run, kind, NULL, count));
    for (uint64_t i = 0; i < count; i++)
        LAB_TRY(vidi_add(set, lab_url_text(url, settings, run, i)));
    LAB_TRY(vidi_stat(set, &stats));
    *kilobytes = (double)stats.bytes / KILOBYTE * LAB_COST_URLS / (double)count;
    return VIDI_OK;
}

static int measure_memory_collections(const lab_settings *settings, uint64_t run, double *numbers)
{
    uint64_t all = settings->urls;
    LAB_TRY(kilobytes_of_urls(settings, run, "list", all < LIST_URLS ? all : LIST_URLS, &numbers[0]));
    return kilobytes_of_urls(settings, run, "hashset", all < HASHSET_URLS ? all : HASHSET_URLS, &numbers[1]);
}

static void judge_memory_collections(const lab_cell *cell, lab_entry *entry)
{
    lab_entry_published(entry, cell->study, TOLERANCE);
    if (entry->verdict == LAB_DIFFERS)
        snprintf(entry->remark, sizeof entry->remark,
                 "Java takes %.1f times as much: an object for each URL, with two bytes for each character, and a "
                 "reference to it",
                 entry->published / entry->measured);
}

#define FILTERS(number, filters, count)                                                                                \
    {                                                                                                                  \
        .id = "thesis-5." number, .title = "Memory of " filters, .source = "the thesis, section 5.5",                  \
        .note = "For 1,000,000 URLs, in kilobytes of 1,024 bytes. Theory is the bits alone. The published figures "    \
                "exceed it by a constant, whatever k and M: they agree if it is the same in all cells.",               \
        .unit = "kilobytes", .rows = lab_cost_rows, .columns = lab_cost_columns, .runs_most = 1, .plot.x = "M",        \
        .plot.y = "kilobytes", .with = &(const unsigned){count}, .measure = measure_filters, .judge = judge_filters    \
    }

const lab_study lab_study_thesis_5_10 = FILTERS("10", "one filter", 1);
const lab_study lab_study_thesis_5_11 = FILTERS("11", "two filters", 2);
const lab_study lab_study_thesis_5_12 = FILTERS("12", "three filters", 3);

static const char *const memory[] = {"memory", NULL};

LAB_STUDY(thesis_5_13, "thesis-5.13", "Memory of an ArrayList and a HashSet", "the thesis, section 5.5",
          "The published figures are Java's. We measure `list` and `hashset` with 4,000 and 100,000 URLs and "
          "extrapolate to 1,000,000.",
          "kilobytes", lab_collections, memory, .runs_most = 10, .measure = measure_memory_collections,
          .judge = judge_memory_collections);
