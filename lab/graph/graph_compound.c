/*
 * How losses compound: pages missing for each page that is directly lost. Depends on how many links a page has, how
 * many of them stay on the host, how unequal pages are, the order of the crawl and the filter.
 */
#include "lab/engine/run_memory.h"
#include "lab/graph/graph.h"

#include <math.h>
#include <string.h>

/* The blocks of rows of each study: what is shown, and the raw figures that it is made of. */
enum { MISSING, LOST, EXPECTED_MISSING, EXPECTED_LOST, BLOCKS };

#define RAW_3(a, b, c, what) a what, b what, c what
#define ROWS_3(a, b, c)                                                                                                \
    {                                                                                                                  \
        a, b, c, RAW_3(a, b, c, ": lost directly"), RAW_3(a, b, c, ": expected to be missing"),                        \
            RAW_3(a, b, c, ": expected to be lost"), NULL                                                              \
    }
#define RAW_4(a, b, c, d, what) a what, b what, c what, d what
#define ROWS_4(a, b, c, d)                                                                                             \
    {                                                                                                                  \
        a, b, c, d, RAW_4(a, b, c, d, ": lost directly"), RAW_4(a, b, c, d, ": expected to be missing"),               \
            RAW_4(a, b, c, d, ": expected to be lost"), NULL                                                           \
    }

enum { LINKS = 5, SOURCES = LINKS + 2, LOCALITIES = 3, POPULARITIES = 3, FILTERS = 4 };

#define EACH_LINKS "1.7 links", "3 links", "7.6 links", "15 links", "30 links"

static const char *const link_columns[] = {EACH_LINKS, NULL};
static const char *const source_columns[] = {EACH_LINKS, "from files", "from files, seeds first", NULL};
static const char *const locality_rows[] = ROWS_3("50 % local", "75 % local", "95 % local");
static const char *const order_rows[] = ROWS_3("breadth first", "per host", "best first");
static const char *const popularity_rows[] = ROWS_3("exponent 2.1", "exponent 2.7", "equally popular");
static const char *const error_rows[] = ROWS_4("4 bits", "6 bits", "8 bits", "12 bits");

static const lab_graph_form by_locality[LOCALITIES][LINKS] = {
    {{1.7, 0.50, 2.1}, {3, 0.50, 2.1}, {7.6, 0.50, 2.1}, {15, 0.50, 2.1}, {30, 0.50, 2.1}},
    {{1.7, 0.75, 2.1}, {3, 0.75, 2.1}, {7.6, 0.75, 2.1}, {15, 0.75, 2.1}, {30, 0.75, 2.1}},
    {{1.7, 0.95, 2.1}, {3, 0.95, 2.1}, {7.6, 0.95, 2.1}, {15, 0.95, 2.1}, {30, 0.95, 2.1}},
};
static const lab_graph_form by_popularity[POPULARITIES][LINKS] = {
    {{1.7, 0.75, 2.1}, {3, 0.75, 2.1}, {7.6, 0.75, 2.1}, {15, 0.75, 2.1}, {30, 0.75, 2.1}},
    {{1.7, 0.75, 2.7}, {3, 0.75, 2.7}, {7.6, 0.75, 2.7}, {15, 0.75, 2.7}, {30, 0.75, 2.7}},
    {{1.7, 0.75, 0}, {3, 0.75, 0}, {7.6, 0.75, 0}, {15, 0.75, 0}, {30, 0.75, 0}},
};
static const lab_graph_form *const sources[SOURCES] = {&by_locality[1][0],
                                                       &by_locality[1][1],
                                                       &by_locality[1][2],
                                                       &by_locality[1][3],
                                                       &by_locality[1][4],
                                                       &lab_graph_of_files,
                                                       &lab_graph_of_files_seeds_first};

/*
 * After the rows that are shown come rows of the same cells' raw figures: pages lost directly, and expected pages
 * missing and lost. They serve the judging and --raw, and are in no table.
 */

/* Crawls for one cell and takes down its raw figures, the blocks of which are `step` apart. */
static int measure_cell(lab_scene *scene, lab_order order, lab_graph_filter filter, double *cell, size_t step)
{
    lab_scene_losses losses;
    LAB_TRY(lab_scene_crawl(scene, order, filter, &losses));
    cell[MISSING * step] = losses.missing;
    cell[LOST * step] = losses.lost;
    cell[EXPECTED_MISSING * step] = losses.expected.missing;
    cell[EXPECTED_LOST * step] = losses.expected.lost;
    return VIDI_OK;
}

/* A graph for each cell, breadth first. */
static int measure_forms(const lab_settings *settings, uint64_t run, double *numbers)
{
    const lab_graph_form *forms = settings->study->with;
    size_t cells = lab_study_rows(settings->study) / BLOCKS * LINKS;
    for (size_t i = 0; i < cells; i++) {
        lab_scene scene = {.graph = NULL};
        LAB_BLOCK;
        LAB_TRY(lab_scene_set(&scene, &forms[i], settings, run));
        LAB_TRY(measure_cell(&scene, LAB_BREADTH_FIRST, LAB_GRAPH_USUAL, &numbers[i], cells));
    }
    return VIDI_OK;
}

/* One graph for each column, and a way to crawl it for each row. */
typedef struct way {
    lab_order order;
    lab_graph_filter filter;
} way;

static const way orders[] = {{LAB_BREADTH_FIRST, {3, 6}}, {LAB_PER_HOST, {3, 6}}, {LAB_BEST_FIRST, {3, 6}}};
static const way filters[] = {{LAB_BREADTH_FIRST, {3, 4}},
                              {LAB_BREADTH_FIRST, {3, 6}},
                              {LAB_BREADTH_FIRST, {3, 8}},
                              {LAB_BREADTH_FIRST, {3, 12}}};

static int measure_ways(const lab_settings *settings, uint64_t run, double *numbers)
{
    const way *ways = settings->study->with;
    size_t rows = lab_study_rows(settings->study) / BLOCKS;
    for (size_t i = 0; i < BLOCKS * rows * SOURCES; i++)
        numbers[i] = NAN;
    for (size_t column = 0; column < SOURCES; column++) {
        if (lab_scene_pages(settings, sources[column]) == 0)
            continue;
        lab_scene scene = {.graph = NULL};
        LAB_BLOCK;
        LAB_TRY(lab_scene_set(&scene, sources[column], settings, run));
        for (size_t row = 0; row < rows; row++)
            LAB_TRY(measure_cell(&scene, ways[row].order, ways[row].filter, &numbers[row * SOURCES + column],
                                 rows * SOURCES));
    }
    return VIDI_OK;
}

static void judge_compound(const lab_cell *cell, lab_entry *entry)
{
    size_t rows = lab_study_rows(cell->study) / BLOCKS;
    if (cell->row >= rows) {
        lab_graph_hide(entry);
        return;
    }
    const lab_graph_sum missing[] = {lab_graph_sum_of(cell->all, cell->row, cell->column), {.all = NULL}};
    const lab_graph_sum lost[] = {lab_graph_sum_of(cell->all, LOST * rows + cell->row, cell->column), {.all = NULL}};
    entry->theory = lab_graph_sum_of(cell->all, EXPECTED_MISSING * rows + cell->row, cell->column).sum /
                    lab_graph_sum_of(cell->all, EXPECTED_LOST * rows + cell->row, cell->column).sum;
    lab_graph_quotient(entry, missing, lost);
}

#define COMPOUND "pages missing for each page lost"
#define FROM_FILES                                                                                                     \
    "The last two columns need --graph: the crawler gets a seed when nothing is left to fetch, or all of them first. "

LAB_STUDY(graph_locality, "graph-locality", "How losses compound: links per page, and links within the host", "vidi",
          LAB_GRAPH_NOTE LAB_GRAPH_FILTER_NOTE
          "Breadth first. 1.00: each lost page costs itself alone. " LAB_GRAPH_THEORY_NOTE,
          COMPOUND, locality_rows, link_columns, .runs_most = 40, .work = 1.2,
          .plot = {.x = "links per page", .y = COMPOUND, .log_x = true, .along = (const double[]){1.7, 3, 7.6, 15, 30}},
          .with = by_locality, .measure = measure_forms, .judge = judge_compound);

LAB_STUDY(graph_popularity, "graph-popularity", "How losses compound: how unequal pages are", "vidi",
          LAB_GRAPH_NOTE LAB_GRAPH_FILTER_NOTE
          "Breadth first. With a smaller exponent fewer pages have most of the links, and more pages "
          "have only one. " LAB_GRAPH_THEORY_NOTE,
          COMPOUND, popularity_rows, link_columns, .runs_most = 40, .work = 1.2, .with = by_popularity,
          .measure = measure_forms, .judge = judge_compound);

LAB_STUDY(graph_order, "graph-order", "How losses compound: the order of the crawl", "vidi",
          LAB_GRAPH_NOTE LAB_GRAPH_FILTER_NOTE FROM_FILES LAB_GRAPH_THEORY_NOTE, COMPOUND, order_rows, source_columns,
          .runs_most = 40, .work = 0.9, .with = orders, .measure = measure_ways, .judge = judge_compound);

LAB_STUDY(graph_errors, "graph-errors", "How losses compound: the size of the filter", "vidi",
          LAB_GRAPH_NOTE
          "Breadth first, filters of 3 functions. Rows are bits per page; such filters lose 4.6, 1.8, 0.86 and 0.29 "
          "% of the pages they are asked about. " FROM_FILES LAB_GRAPH_THEORY_NOTE,
          COMPOUND, error_rows, source_columns, .runs_most = 40, .work = 0.9, .with = filters, .measure = measure_ways,
          .judge = judge_compound);
