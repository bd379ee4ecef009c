/*
 * multilayer-comparisons: the number of comparisons of the searches in the multi-layer paper's section 1.1. The kinds
 * `list` and `sorted` do not count comparisons, so the searches are written again here. (`sorted` has a second, shorter
 * array for the latest URLs, and searches it as well.)
 *
 * A binary search over n sorted URLs, made once for each of them, takes exactly ((n+1) d - 2^d + 1) / n comparisons on
 * average, where d = floor(log2 n) + 1 is the depth of the search tree. For missing URLs it takes d or d - 1. A linear
 * search takes (n+1)/2 and n.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/multilayer/multilayer.h"

enum { LINEAR, BINARY, ROWS };
enum { PRESENT, ABSENT, COLUMNS };
enum { LINEAR_ASKED = 100 };

static const char *const comparisons_rows[] = {"linear search", "binary search", NULL};
static const char *const comparisons_columns[] = {"URLs that are there", "URLs that are not", NULL};

static int compare(vidi_str a, vidi_str b)
{
    int order = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int by_bytes(const void *a, const void *b)
{
    return compare(*(const vidi_str *)a, *(const vidi_str *)b);
}

static uint64_t search_linearly(const lab_multilayer_pool *pool, vidi_str url)
{
    uint64_t made = 0;
    while (made < pool->count && compare(pool->urls[made++], url) != 0)
        ;
    return made;
}

static uint64_t search_halving(const lab_multilayer_pool *sorted, vidi_str url)
{
    uint64_t low = 0, high = sorted->count, made = 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int order = compare(sorted->urls[middle], url);
        made++;
        if (order == 0)
            break;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return made;
}

/* The mean over the URLs of the pool, or over `most` of them at equal distances. */
static double mean_of(uint64_t (*search)(const lab_multilayer_pool *, vidi_str), const lab_multilayer_pool *in,
                      const lab_multilayer_pool *asked, uint64_t count)
{
    double sum = 0;
    count = count < asked->count ? count : asked->count;
    for (uint64_t i = 0; i < count; i++)
        sum += (double)search(in, asked->urls[asked->count * i / count]);
    return sum / (double)count;
}

static int measure_comparisons(const lab_settings *settings, uint64_t run, double *numbers)
{
    uint64_t n = lab_multilayer_urls(settings, LAB_LAYERS_PART);
    lab_multilayer_pool in, others;
    LAB_TRY(lab_multilayer_pool_make(&in, settings, run, (lab_multilayer_choice){0, 1, n, false}));
    LAB_TRY(lab_multilayer_pool_make(&others, settings, run, (lab_multilayer_choice){n, 1, n, false}));
    numbers[LINEAR * COLUMNS + PRESENT] = mean_of(search_linearly, &in, &in, LINEAR_ASKED);
    numbers[LINEAR * COLUMNS + ABSENT] = mean_of(search_linearly, &in, &others, LINEAR_ASKED);
    qsort(in.urls, n, sizeof *in.urls, by_bytes);
    numbers[BINARY * COLUMNS + PRESENT] = mean_of(search_halving, &in, &in, n);
    numbers[BINARY * COLUMNS + ABSENT] = mean_of(search_halving, &in, &others, n);
    return VIDI_OK;
}

static void judge_comparisons(const lab_cell *cell, lab_entry *entry)
{
    double n = (double)lab_multilayer_urls(cell->settings, LAB_LAYERS_PART), depth = floor(log2(n)) + 1;
    double tolerance =
        cell->settings->corpus ? 0.02 : 1e-9; /* a corpus may have URLs that differ only in their scheme */
    if (cell->row == LINEAR)
        entry->theory = cell->column == PRESENT ? (n + 1) / 2 : n;
    else
        entry->theory = cell->column == PRESENT ? ((n + 1) * depth - exp2(depth) + 1) / n : depth;
    if (cell->row == LINEAR && cell->column == PRESENT)
        tolerance = 1.0 / LINEAR_ASKED; /* only URLs at equal distances are looked up */
    if (cell->row == BINARY && cell->column == ABSENT)
        tolerance = 1 / depth; /* some lookups take one comparison less */
    if (fabs(entry->measured - entry->theory) > tolerance * entry->theory)
        entry->verdict = LAB_FAILS;
}

LAB_STUDY(multilayer_comparisons, "multilayer-comparisons", "Comparisons of linear and binary search",
          "the multi-layer paper, section 1.1",
          LAB_LAYERS_SCALED
          "50,000 URLs. The kinds list and sorted do not count comparisons, so the lab has its own searches. "
          "Linear search looks up 100 URLs.",
          "comparisons", comparisons_rows, comparisons_columns, .runs_most = 1, .measure = measure_comparisons,
          .judge = judge_comparisons);
