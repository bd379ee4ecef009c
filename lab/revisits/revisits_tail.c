/*
 * The tail: pages that are missed again and again. Totals hide it, because a policy that misses the same pages in each
 * crawl and one that misses others each time have the same total. With 4 bits per page and no churn, we count the pages
 * that no crawl has fetched so far, and those that more than half of the crawls missed; in a different order each time,
 * and for some policies in the same.
 */
#include "lab/revisits/revisits.h"

enum { PART = 50, POLICIES = 8, HORIZONS = 5, HALVES = 3 };
#define BITS 4

static const lab_policy policies[POLICIES] = {
    {.name = LAB_KEPT, .every = 0, .filters = 1},
    {.name = LAB_EVERY_5, .every = 5, .filters = 1},
    {.name = LAB_EVERY_2, .every = 2, .filters = 1},
    {.name = LAB_EACH_CRAWL, .every = 1, .filters = 1},
    {.name = LAB_EACH_IN_ORDER, .every = 1, .filters = 1, .same_order = true},
    {.name = LAB_TWO_EPOCHS, .every = 1, .filters = 2},
    {.name = LAB_EMPTIED, .every = 1, .filters = 1, .same_salts = true},
    {.name = LAB_EMPTIED_IN_ORDER, .every = 1, .filters = 1, .same_salts = true, .same_order = true},
};
static const char *const orders[] = {LAB_KEPT,       LAB_EVERY_5,          LAB_EVERY_2,
                                     LAB_EACH_CRAWL, LAB_EACH_IN_ORDER,    LAB_TWO_EPOCHS,
                                     LAB_EMPTIED,    LAB_EMPTIED_IN_ORDER, NULL};

static const unsigned horizons[HORIZONS] = {1, 2, 5, 10, LAB_REVISITS_MOST};
static const unsigned halves[HALVES] = {5, 10, LAB_REVISITS_MOST};
static const char *const half_names[] = {"5 crawls", "10 crawls", "20 crawls", NULL};

static lab_revisits revisits_of(const lab_settings *settings, size_t policy)
{
    return (lab_revisits){policies[policy], lab_urls_part(settings, PART, 1), 0, BITS};
}

static unsigned more_than_half(unsigned crawls)
{
    return crawls / 2 + 1;
}

/* ---- measuring ---- */

typedef struct counts {
    uint64_t pages;
    double *never, *half; /* NULL: not counted */
} counts;

static double count_often(const lab_revisits_world *world, uint64_t pages, unsigned least)
{
    double count = 0;
    for (uint64_t i = 0; i < pages; i++)
        count += world->times[i] >= least;
    return count;
}

static void count(const lab_revisits_world *world, unsigned crawls, double missed, void *context)
{
    const counts *counts = context;
    (void)missed;
    for (size_t i = 0; i < HORIZONS && counts->never; i++)
        if (horizons[i] == crawls)
            counts->never[i] = count_often(world, counts->pages, crawls);
    for (size_t i = 0; i < HALVES && counts->half; i++)
        if (halves[i] == crawls)
            counts->half[i] = count_often(world, counts->pages, more_than_half(crawls));
}

static int measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    bool half = settings->study == &lab_study_revisits_half;
    lab_revisits_world world;
    lab_revisits revisits = revisits_of(settings, 0);
    LAB_TRY(lab_revisits_world_make(&world, settings, run, revisits.pages, 0));
    for (size_t i = 0; i < POLICIES; i++) {
        counts counts = {revisits.pages, half ? NULL : numbers + i * HORIZONS, half ? numbers + i * HALVES : NULL};
        revisits.policy = policies[i];
        LAB_TRY(lab_revisits_crawl(&world, &revisits, LAB_REVISITS_MOST, count, &counts));
    }
    return VIDI_OK;
}

/* ---- judging ---- */

static void judge_never(const lab_cell *cell, lab_entry *entry)
{
    lab_revisits revisits = revisits_of(cell->settings, cell->row);
    lab_entry_count(entry, cell->numbers, lab_revisits_often(&revisits, horizons[cell->column], horizons[cell->column]),
                    LAB_PER_MILLION);
}

static void judge_half(const lab_cell *cell, lab_entry *entry)
{
    lab_revisits revisits = revisits_of(cell->settings, cell->row);
    lab_entry_count(entry, cell->numbers,
                    lab_revisits_often(&revisits, halves[cell->column], more_than_half(halves[cell->column])),
                    LAB_PER_MILLION);
}

LAB_STUDY(revisits_never, "revisits-never", "Pages that no crawl has fetched so far, with 4 bits per page", "vidi",
          "A fiftieth of the URLs are pages, which never change. In a different order each time, unless the row "
          "says otherwise.",
          "pages per million", orders, lab_revisits_crawls, .work = 0.2,
          .plot = {.x = "crawls", .y = "pages never fetched per million", .log_x = true, .log_y = true},
          .measure = measure, .judge = judge_never);

LAB_STUDY(revisits_half, "revisits-half", "Pages that more than half of the crawls missed, with 4 bits per page",
          "vidi", "The same crawls.", "pages per million", orders, half_names, .work = 0.2,
          .plot = {.x = "crawls", .y = "pages missed in most crawls per million", .log_x = true, .log_y = true},
          .measure = measure, .judge = judge_half);
