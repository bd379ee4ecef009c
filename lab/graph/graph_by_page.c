/*
 * Whose pages are missing: those deep in a site, of small or large sites, with few or many links to them. A class of
 * pages is compared with all pages of the same crawls.
 */
#include "lab/engine/run_memory.h"
#include "lab/graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const lab_graph_form usual = {7.6, 0.75, 2.1};

/* The sorts of classes; each sort divides all pages. */
enum { BY_DEPTH, BY_SITE, BY_LINKS, SORTS };

#define MEAN_DEPTH 1000u /* stands for the mean depth of the graph, rounded */

/* Each class begins at `least` and ends where the next of its sort begins. */
static const struct class
{
    unsigned sort;
    uint32_t least;
} classes[] = {
    {BY_DEPTH, 0},
    {BY_DEPTH, MEAN_DEPTH - 2},
    {BY_DEPTH, MEAN_DEPTH - 1},
    {BY_DEPTH, MEAN_DEPTH},
    {BY_DEPTH, MEAN_DEPTH + 1},
    {BY_DEPTH, MEAN_DEPTH + 2},
    {BY_SITE, 0},
    {BY_SITE, 10},
    {BY_SITE, 100},
    {BY_SITE, 1000},
    {BY_LINKS, 0},
    {BY_LINKS, 2},
    {BY_LINKS, 4},
    {BY_LINKS, 10},
};

enum { CLASSES = sizeof classes / sizeof *classes };

/* Blocks of rows: what is shown, and the raw figures that it is made of. */
enum { MISSING, EXPECTED, PAGES, BLOCKS };

#define RAW(what)                                                                                                      \
    "3 or more below the mean depth" what, "2 below the mean depth" what, "1 below the mean depth" what,               \
        "mean depth" what, "1 above the mean depth" what, "2 or more above the mean depth" what,                       \
        "sites of 1 to 9 pages" what, "sites of 10 to 99 pages" what, "sites of 100 to 999 pages" what,                \
        "sites of 1,000 pages or more" what, "1 link to the page" what, "2 or 3 links to the page" what,               \
        "4 to 9 links to the page" what, "10 or more links to the page" what

static const char *const class_names[] = {RAW(""), RAW(": expected to be missing"), RAW(": pages"), NULL};

/* The class of a page among those of a sort. */
static size_t class_of(unsigned sort, uint32_t value)
{
    size_t found = 0;
    for (size_t i = 0; i < CLASSES; i++)
        if (classes[i].sort == sort && value >= classes[i].least)
            found = i;
    return found;
}

static uint32_t mean_depth(const lab_crawl *crawl)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < crawl->met_count; i++)
        sum += crawl->depth[crawl->met[i]];
    return (uint32_t)((sum + crawl->met_count / 2) / crawl->met_count);
}

/* [sort][page]: depth, where the mean is MEAN_DEPTH; pages of its site; and links to it. */
static int make_values(uint32_t **made, const lab_scene *scene)
{
    const lab_graph *graph = scene->graph;
    const lab_crawl *exact = &scene->exact[LAB_BREADTH_FIRST];
    uint32_t pages = graph->pages, mean = mean_depth(exact), *sites, *values;
    LAB_TRY(LAB_NEW(*made, (size_t)SORTS * pages));
    LAB_TRY(LAB_NEW(sites, graph->hosts));
    values = *made;
    for (uint32_t page = 0; page < pages; page++)
        sites[graph->host[page]]++;
    for (uint64_t i = 0; i < lab_graph_links(graph); i++)
        values[(size_t)BY_LINKS * pages + graph->to[i]]++;
    for (uint32_t page = 0; page < pages; page++) {
        values[(size_t)BY_DEPTH * pages + page] = exact->depth[page] + MEAN_DEPTH - mean;
        values[(size_t)BY_SITE * pages + page] = sites[graph->host[page]];
    }
    return VIDI_OK;
}

static void count_classes(const lab_scene *scene, const uint32_t *values, const lab_crawl *crawl, size_t order,
                          double *numbers)
{
    uint32_t pages = scene->graph->pages;
    for (size_t i = 0; i < (size_t)BLOCKS * CLASSES; i++)
        numbers[i * LAB_ORDERS + order] = 0;
    for (unsigned sort = 0; sort < SORTS; sort++)
        for (uint32_t page = 0; page < pages; page++) {
            size_t class = class_of(sort, values[(size_t)sort * pages + page]);
            bool missing = crawl->lost[page] || crawl->position[page] == LAB_NEVER_MET;
            numbers[(MISSING * CLASSES + class) * LAB_ORDERS + order] += missing;
            numbers[(EXPECTED * CLASSES + class) * LAB_ORDERS + order] += 1 - scene->reached[page];
            numbers[(PAGES * CLASSES + class) * LAB_ORDERS + order]++;
        }
}

static int measure_order(lab_scene *scene, const uint32_t *values, lab_order order, double *numbers)
{
    lab_graph_filter filter = LAB_GRAPH_USUAL;
    lab_crawl crawl;
    double reported;
    LAB_TRY(lab_scene_exact(scene, order));
    LAB_TRY(lab_crawl_filtered(&crawl, scene->graph, order, filter, scene->settings, scene->run, &reported));
    lab_graph_expect(scene->dominator, &scene->exact[order], filter, scene->graph->pages, scene->reached);
    count_classes(scene, values, &crawl, order, numbers);
    return VIDI_OK;
}

static int measure_by_page(const lab_settings *settings, uint64_t run, double *numbers)
{
    lab_scene scene = {.graph = NULL};
    uint32_t *values;
    LAB_TRY(lab_scene_set(&scene, &usual, settings, run));
    LAB_TRY(make_values(&values, &scene));
    for (unsigned order = 0; order < LAB_ORDERS; order++)
        LAB_TRY(measure_order(&scene, values, (lab_order)order, numbers));
    return VIDI_OK;
}

/* A figure of a whole crawl: classes by depth divide all pages. */
static lab_graph_sum all_pages(const lab_numbers *all, size_t block, size_t column)
{
    lab_graph_sum sum = {.all = all};
    for (size_t i = 0; i < CLASSES && classes[i].sort == BY_DEPTH; i++)
        sum.sum += lab_graph_sum_of(all, block * CLASSES + i, column).sum;
    return sum;
}

static void judge_by_page(const lab_cell *cell, lab_entry *entry)
{
    if (cell->row >= CLASSES) {
        lab_graph_hide(entry);
        return;
    }
    double pages = lab_graph_sum_of(cell->all, PAGES * CLASSES + cell->row, cell->column).sum;
    double average = all_pages(cell->all, MISSING, cell->column).sum / all_pages(cell->all, PAGES, cell->column).sum;
    double expected_average =
        all_pages(cell->all, EXPECTED, cell->column).sum / all_pages(cell->all, PAGES, cell->column).sum;
    const lab_graph_sum missing[] = {lab_graph_sum_of(cell->all, cell->row, cell->column), {.all = NULL}};
    const lab_graph_sum in_class[] = {lab_graph_sum_of(cell->all, PAGES * CLASSES + cell->row, cell->column),
                                      {.all = NULL}};
    entry->theory =
        lab_graph_sum_of(cell->all, EXPECTED * CLASSES + cell->row, cell->column).sum / pages / expected_average;
    lab_graph_quotient(entry, missing, in_class);
    lab_entry_scale(entry, 1 / average);
}

LAB_STUDY(graph_by_page, "graph-by-page", "Whose pages are missing", "vidi",
          LAB_GRAPH_NOTE LAB_GRAPH_FILTER_NOTE
          "How often a page of that class is missing, directly lost or lost with others, divided by how "
          "often any page is. Depth is the number of links from a seed. " LAB_GRAPH_THEORY_NOTE,
          "times the average", class_names, lab_order_names, .work = 0.4, .measure = measure_by_page,
          .judge = judge_by_page);
