/*
 * Which pages are delayed: those that come late. A filter with 3 functions and M = 2.0 is empty when a crawl begins and
 * has 39 % of its bits set when it ends, so three tenths of the pages that a crawl loses are in the last tenth of its
 * URLs. We make two crawls of the same n URLs with different salts; tenths refer to the order of the first crawl. If
 * the second crawl has the same order, the last tenth is unlucky twice; in a different order, luck is dealt again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/kinds/kinds.h"

#define PARAMS "k=3,M=2.0"
#define M 2.0

enum { PART = 10, COLUMNS = 3, K = 3 };

const char *const lab_tenth_names[] = {"1st tenth", "2nd tenth", "3rd tenth", "4th tenth",  "5th tenth", "6th tenth",
                                       "7th tenth", "8th tenth", "9th tenth", "last tenth", NULL};
const char *const lab_delayed_columns[] = {"by one crawl or more", "by two or more, same order",
                                           "by two or more, other order", NULL};

static uint64_t urls_of(const lab_settings *settings)
{
    return lab_urls_part(settings, PART, 1);
}

typedef struct two {
    lab_texts texts;
    uint32_t *order;
    vidi_str *queue;
    uint8_t *verdicts
        [COLUMNS]; /* of the first crawl, of the second in the same order, and of the second in a different order */
} two;

static int make_two(two *made, const lab_settings *settings, uint64_t run)
{
    uint64_t n = urls_of(settings);
    LAB_TRY(LAB_NEW(made->order, n));
    LAB_TRY(LAB_NEW(made->queue, n));
    for (unsigned i = 0; i < COLUMNS; i++)
        LAB_TRY(LAB_NEW(made->verdicts[i], n));
    lab_shuffle(made->order, n, settings->seed, run, 1);
    return lab_texts_make(&made->texts, settings, run, 0, n);
}

/* Makes the first crawl, then the second. */
static int crawl(two *two, const lab_settings *settings, uint64_t run, bool other_order)
{
    uint64_t n = two->texts.count;
    LAB_OWN(lab_close) vidi_set *set = NULL;
    vidi_options next = VIDI_OPTIONS_INIT;
    next.capacity = n;
    LAB_TRY(lab_set_make(&set, settings, run, "classic", PARAMS, n));
    LAB_TRY(vidi_add_batch(set, two->texts.urls, n, two->verdicts[0], NULL));
    LAB_TRY(vidi_rotate(set, &next));
    for (uint64_t i = 0; i < n; i++)
        two->queue[i] = two->texts.urls[other_order ? two->order[i] : i];
    return vidi_add_batch(set, two->queue, n, two->verdicts[1 + other_order], NULL);
}

static uint64_t tenth_of(uint64_t i, uint64_t n)
{
    uint64_t tenth = 0;
    while (i >= n * (tenth + 1) / LAB_TENTHS)
        tenth++;
    return tenth;
}

static void count(const two *two, double *numbers)
{
    uint64_t n = two->texts.count;
    for (size_t i = 0; i < (size_t)LAB_TENTHS * COLUMNS; i++)
        numbers[i] = 0;
    for (uint64_t i = 0; i < n; i++) {
        bool first = two->verdicts[0][i] == VIDI_SEEN;
        numbers[tenth_of(i, n) * COLUMNS] += first;
        numbers[tenth_of(i, n) * COLUMNS + 1] += first && two->verdicts[1][i] == VIDI_SEEN;
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t url = two->order[i];
        numbers[tenth_of(url, n) * COLUMNS + 2] +=
            two->verdicts[0][url] == VIDI_SEEN && two->verdicts[2][i] == VIDI_SEEN;
    }
}

static int measure_delayed(const lab_settings *settings, uint64_t run, double *numbers)
{
    two two;
    LAB_TRY(make_two(&two, settings, run));
    LAB_TRY(crawl(&two, settings, run, false));
    LAB_TRY(crawl(&two, settings, run, true));
    count(&two, numbers);
    return VIDI_OK;
}

/* The expected number of pages in the first `tenths` tenths that `crawls` crawls in the same order all lose. */
static double lost_until(uint64_t n, unsigned tenths, unsigned crawls)
{
    return tenths ? lab_filling_theory(n * tenths / LAB_TENTHS, lab_bits((double)n, K, M), K, crawls).mean : 0;
}

static void judge_delayed(const lab_cell *cell, lab_entry *entry)
{
    uint64_t n = urls_of(cell->settings);
    unsigned tenths = (unsigned)cell->row + 1, crawls = cell->column == 1 ? 2 : 1;
    uint64_t before = n * cell->row / LAB_TENTHS, until = n * tenths / LAB_TENTHS;
    double asked = (double)(until - before);
    double mean = lost_until(n, tenths, crawls) - lost_until(n, tenths - 1, crawls);
    if (cell->column == 2)
        mean *= lost_until(n, LAB_TENTHS, 1) / (double)n;
    if (asked > 0)
        lab_entry_count(entry, cell->numbers, (lab_theory){mean, mean * (1 - mean / asked), asked}, LAB_PER_MILLION);
}

LAB_STUDY(kinds_by_tenth, "kinds-by-tenth", "Which pages are delayed, by their position in the first crawl",
          "vidi, after the thesis, section 5.7.1",
          "A tenth of the URLs, two crawls with different salts, 3 functions, M = 2.0. Of a million pages of that "
          "tenth.",
          "pages per million", lab_tenth_names, lab_delayed_columns,
          .plot = {.x = "tenth of the first crawl",
                   .y = "pages delayed per million",
                   .columns = true,
                   .log_y = true,
                   .along = (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
          .measure = measure_delayed, .judge = judge_delayed);
