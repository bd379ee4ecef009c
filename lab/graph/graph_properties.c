/* The graphs of the other tables: what was asked for and what came out. */
#include "lab/engine/run_memory.h"
#include "lab/graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 10, FILES = ROWS - 1 };
enum { PAGES, LINKS, LOCAL, ONE_LINK, NO_LINKS, LARGEST, EXPONENT, MEAN_DEPTH, DEEPEST, COLUMNS };

const char *const lab_graph_names[] = {"7.6 links, 75 % local, exponent 2.1",
                                       "1.7 links",
                                       "3 links",
                                       "15 links",
                                       "30 links",
                                       "50 % local",
                                       "95 % local",
                                       "exponent 2.7",
                                       "equally popular",
                                       "from files",
                                       NULL};
static const char *const fact_names[] = {"pages in reach",
                                         "links per page",
                                         "links within the host, %",
                                         "pages with one link to them, %",
                                         "pages without links, %",
                                         "largest host, % of the pages",
                                         "exponent of the links to a page",
                                         "mean depth",
                                         "greatest depth",
                                         NULL};

static const lab_graph_form forms[FILES] = {{7.6, 0.75, 2.1}, {1.7, 0.75, 2.1}, {3, 0.75, 2.1},
                                            {15, 0.75, 2.1},  {30, 0.75, 2.1},  {7.6, 0.5, 2.1},
                                            {7.6, 0.95, 2.1}, {7.6, 0.75, 2.7}, {7.6, 0.75, 0}};

/* ---- links to a page ---- */

enum { TAIL_PART = 100 }; /* the exponent is that of the hundredth of the pages with the most links */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Hill's estimate from the largest numbers, which it sorts; NAN if they are all equal. */
static double tail_exponent(uint32_t *numbers, uint32_t count)
{
    uint32_t tail = count / TAIL_PART + 1;
    double sum = 0;
    qsort(numbers, count, sizeof *numbers, by_number);
    if (tail >= count || numbers[count - 1 - tail] == 0)
        return NAN;
    for (uint32_t i = count - tail; i < count; i++)
        sum += log((double)numbers[i] / numbers[count - 1 - tail]);
    return sum > 0 ? 1 + tail / sum : (double)NAN;
}

static int count_links(const lab_graph *graph, double *facts)
{
    uint32_t *in, *hosts;
    double local = 0, one = 0, none = 0, largest = 0, pages = graph->pages;
    LAB_BLOCK;
    LAB_TRY(LAB_NEW(in, graph->pages));
    LAB_TRY(LAB_NEW(hosts, graph->hosts));
    for (uint32_t page = 0; page < graph->pages; page++) {
        none += graph->first[page] == graph->first[page + 1];
        largest = fmax(largest, ++hosts[graph->host[page]]);
        for (uint64_t i = graph->first[page]; i < graph->first[page + 1]; i++) {
            in[graph->to[i]]++;
            local += graph->host[graph->to[i]] == graph->host[page];
        }
    }
    for (uint32_t page = 0; page < graph->pages; page++)
        one += in[page] == 1;
    facts[LINKS] = (double)lab_graph_links(graph) / pages;
    facts[LOCAL] = 100 * local / (double)lab_graph_links(graph);
    facts[ONE_LINK] = 100 * one / pages;
    facts[NO_LINKS] = 100 * none / pages;
    facts[LARGEST] = 100 * largest / pages;
    facts[EXPONENT] = tail_exponent(in, graph->pages);
    return VIDI_OK;
}

static void count_depths(const lab_crawl *crawl, double *facts)
{
    double sum = 0, deepest = 0;
    for (uint32_t i = 0; i < crawl->met_count; i++) {
        sum += crawl->depth[crawl->met[i]];
        deepest = fmax(deepest, crawl->depth[crawl->met[i]]);
    }
    facts[PAGES] = crawl->met_count;
    facts[MEAN_DEPTH] = sum / crawl->met_count;
    facts[DEEPEST] = deepest;
}

static int measure_properties(const lab_settings *settings, uint64_t run, double *numbers)
{
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
        numbers[i] = NAN;
    for (size_t row = 0; row < ROWS; row++) {
        const lab_graph_form *form = row == FILES ? &lab_graph_of_files : &forms[row];
        if (lab_scene_pages(settings, form) == 0)
            continue;
        lab_scene scene = {.graph = NULL};
        LAB_BLOCK;
        LAB_TRY(lab_scene_set(&scene, form, settings, run));
        LAB_TRY(count_links(scene.graph, &numbers[row * COLUMNS]));
        count_depths(&scene.exact[LAB_BREADTH_FIRST], &numbers[row * COLUMNS]);
    }
    return VIDI_OK;
}

/* Theory is what was asked for. */
static void judge_properties(const lab_cell *cell, lab_entry *entry)
{
    if (cell->row == FILES)
        return;
    const lab_graph_form *form = &forms[cell->row];
    if (cell->column == PAGES)
        entry->theory = (double)lab_scene_pages(cell->settings, form);
    if (cell->column == LINKS)
        entry->theory = form->links;
    if (cell->column == LOCAL)
        entry->theory = 100 * form->local;
    if (cell->column == EXPONENT && form->exponent > 0)
        entry->theory = form->exponent;
}

LAB_STUDY(
    graph_properties, "graph-properties", "The link graphs of the following tables", "vidi",
    "A 25th of the URLs are pages. Rows differ from the first one in what their name says. Theory is what was "
    "asked for. Links that may leave their host stay by chance, too, so a few more do than were asked for. The "
    "exponent is Hill's estimate from the hundredth of the pages with the most links. The exponent that was asked "
    "for holds on each host; all hosts together have a larger one. The last row needs --graph.",
    "numbers, or per cent", lab_graph_names, fact_names, .runs_most = 5, .work = 0.6, .measure = measure_properties,
    .judge = judge_properties);
