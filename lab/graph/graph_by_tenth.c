/*
 * When pages are lost: by the tenth of the crawl in which they are met, and how that compares with what the set
 * reports. The order of the crawl plays no part, because a filter knows only how many URLs it has.
 */
#include "lab/engine/run_memory.h"
#include "lab/graph/graph.h"

#include <math.h>
#include <string.h>

const char *const lab_order_names[] = {"breadth first", "per host", "best first", NULL};

static const lab_graph_form usual = {7.6, 0.75, 2.1};

/* ---- by tenths ---- */

enum { MET = LAB_TENTHS }; /* the row of pages met, which is not shown */

static const char *const tenths[] = {"1st tenth", "2nd tenth", "3rd tenth", "4th tenth",  "5th tenth", "6th tenth",
                                     "7th tenth", "8th tenth", "9th tenth", "last tenth", "pages met", NULL};

static void count_tenths(const lab_crawl *crawl, size_t order, double *numbers)
{
    uint64_t met = crawl->met_count, tenth = 0;
    numbers[MET * LAB_ORDERS + order] = (double)met;
    for (uint64_t i = 0; i < LAB_TENTHS; i++)
        numbers[i * LAB_ORDERS + order] = 0;
    for (uint64_t i = 0; i < met; i++) {
        while (i >= met * (tenth + 1) / LAB_TENTHS)
            tenth++;
        numbers[tenth * LAB_ORDERS + order] += crawl->lost[crawl->met[i]];
    }
}

static int measure_by_tenth(const lab_settings *settings, uint64_t run, double *numbers)
{
    lab_graph graph;
    double reported;
    LAB_TRY(lab_graph_synthetic(&graph, &usual, lab_scene_pages(settings, &usual), settings, run));
    for (size_t order = 0; order < LAB_ORDERS; order++) {
        lab_crawl crawl;
        LAB_BLOCK;
        LAB_TRY(lab_crawl_filtered(&crawl, &graph, (lab_order)order, LAB_GRAPH_USUAL, settings, run, &reported));
        count_tenths(&crawl, order, numbers);
    }
    return VIDI_OK;
}

/* The expected losses among the first `met` pages that are met. */
static double lost_until(double met, uint64_t pages)
{
    lab_graph_filter filter = LAB_GRAPH_USUAL;
    return met < 1 ? 0 : lab_filling_theory((uint64_t)met, lab_graph_filter_bits(filter, pages), filter.k, 1).mean;
}

/* Few pages are lost, nearly independently of one another. */
static void judge_by_tenth(const lab_cell *cell, lab_entry *entry)
{
    if (cell->row == MET) {
        lab_graph_hide(entry);
        return;
    }
    uint64_t pages = lab_scene_pages(cell->settings, &usual);
    double met = lab_graph_sum_of(cell->all, MET, cell->column).sum / (double)entry->runs;
    double before = floor(met * (double)cell->row / LAB_TENTHS),
           until = floor(met * (double)(cell->row + 1) / LAB_TENTHS);
    double mean = lost_until(until, pages) - lost_until(before, pages), asked = until - before;
    if (asked > 0)
        lab_entry_count(entry, cell->numbers, (lab_theory){mean, mean * (1 - mean / asked), asked}, LAB_PER_MILLION);
}

/* ---- as reported ---- */

enum { ROWS = 6 };
enum { LOST, REPORTED, LOST_WITH, COLUMNS };

static const char *const expected_rows[] = {"1.7 links", "3 links",    "7.6 links", "15 links",
                                            "30 links",  "from files", NULL};
static const char *const expected_columns[] = {"lost directly", "reported", "lost with them", NULL};

static const lab_graph_form few = {1.7, 0.75, 2.1}, some = {3, 0.75, 2.1}, more = {15, 0.75, 2.1},
                            many = {30, 0.75, 2.1};
static const lab_graph_form *const forms[ROWS] = {&few, &some, &usual, &more, &many, &lab_graph_of_files};

static int measure_expected(const lab_settings *settings, uint64_t run, double *numbers)
{
    for (size_t row = 0; row < ROWS; row++) {
        LAB_BLOCK;
        lab_scene scene = {.graph = NULL};
        lab_scene_losses losses = {.lost = NAN, .reported = NAN, .lost_with = NAN};
        if (lab_scene_pages(settings, forms[row]) > 0) {
            LAB_TRY(lab_scene_set(&scene, forms[row], settings, run));
            LAB_TRY(lab_scene_crawl(&scene, LAB_BREADTH_FIRST, LAB_GRAPH_USUAL, &losses));
        }
        numbers[row * COLUMNS + LOST] = losses.lost;
        numbers[row * COLUMNS + REPORTED] = losses.reported;
        numbers[row * COLUMNS + LOST_WITH] = losses.lost_with;
    }
    return VIDI_OK;
}

/* All pages of these graphs are in reach, so those that are not lost with others are met. */
static void judge_expected(const lab_cell *cell, lab_entry *entry)
{
    lab_graph_filter filter = LAB_GRAPH_USUAL;
    uint64_t pages = lab_scene_pages(cell->settings, forms[cell->row]);
    double with = lab_graph_sum_of(cell->all, cell->row, LOST_WITH).sum / (double)entry->runs;
    if (pages == 0 || isnan(with)) {
        lab_graph_hide(entry);
        return;
    }
    lab_theory theory =
        lab_filling_theory((uint64_t)((double)pages - with), lab_graph_filter_bits(filter, pages), filter.k, 1);
    theory.asked = (double)pages;
    if (cell->column == LOST)
        lab_entry_count(entry, cell->numbers, theory, LAB_PER_MILLION);
    else
        lab_entry_scale(entry, LAB_PER_MILLION / (double)pages);
    if (cell->column == REPORTED)
        entry->theory = theory.mean / (double)pages * LAB_PER_MILLION;
}

LAB_STUDY(graph_by_tenth, "graph-by-tenth", "When pages are lost, by tenths of the crawl", "vidi",
          LAB_GRAPH_NOTE LAB_GRAPH_FILTER_NOTE
          "Of a million pages that are first met in that tenth of the crawl, those that are directly "
          "lost. Breadth first takes the page that was met first, per host takes the hosts in turn, "
          "best first takes the page with the most links met so far.",
          "pages per million", tenths, lab_order_names, .work = 0.3,
          .plot = {.x = "tenth of the crawl",
                   .y = "pages lost per million",
                   .columns = true,
                   .log_y = true,
                   .along = (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
          .measure = measure_by_tenth, .judge = judge_by_tenth);

LAB_STUDY(graph_expected, "graph-expected", "Pages lost, and what the set reports", "vidi",
          LAB_GRAPH_NOTE LAB_GRAPH_FILTER_NOTE
          "Breadth first. Of a million pages: those that the filter lost, expected_lost of vidi_stat, and "
          "those that were never met because all ways to them lead through lost pages.",
          "pages per million", expected_rows, expected_columns, .work = 0.4, .measure = measure_expected,
          .judge = judge_expected);
