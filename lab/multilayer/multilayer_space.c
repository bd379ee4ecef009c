/*
 * multilayer-space: the memory that the searches and filters of the multi-layer paper take, in bytes per URL. Filters
 * are so large that a classic filter loses a tenth when it is full, as in multilayer-false.
 */
#include <math.h>
#include <stdio.h>

#include "lab/multilayer/multilayer.h"

enum { LIST, SORTED, HASHSET, CLASSIC, LAYERED, ROWS };

static const char *const space_rows[] = {"linear search", "binary search", "hash table", "classic", "multilayer", NULL};
static const char *const space_columns[] = {"bytes", NULL};

static double bits(const lab_settings *settings)
{
    return lab_multilayer_bits((double)lab_multilayer_urls(settings, LAB_LAYERS_PART), LAB_LAYERS_MOST);
}

static int make(vidi_set **set, const lab_settings *settings, uint64_t run, size_t row)
{
    static const char *const kinds[ROWS] = {"list", "sorted", "hashset", "classic", "multilayer"};
    if (row < CLASSIC)
        return lab_set(set, settings, run, kinds[row], 0, "multiset=off");
    return lab_set(set, settings, run, kinds[row], 0, "m=%.0f,k=%d%s", bits(settings), LAB_LAYERS_K,
                   row == LAYERED ? LAB_LAYERS_PARAMS : "");
}

/* A list compares each new URL with all others, so it gets fewer. */
static int fill(vidi_set *set, const lab_settings *settings, uint64_t run, size_t row, double *bytes)
{
    enum { LIST_URLS = 2000 };
    uint64_t n = lab_multilayer_urls(settings, LAB_LAYERS_PART);
    vidi_stats stats = {.size = sizeof stats};
    char buffer[LAB_URL_ROOM];
    n = row == LIST && n > LIST_URLS ? LIST_URLS : n;
    for (uint64_t i = 0; i < n; i++)
        LAB_TRY(vidi_add(set, lab_multilayer_url(buffer, settings, run, i)));
    LAB_TRY(vidi_stat(set, &stats));
    *bytes = (double)stats.bytes / (double)n;
    return VIDI_OK;
}

static int measure_space(const lab_settings *settings, uint64_t run, double *numbers)
{
    for (size_t row = 0; row < ROWS; row++) {
        vidi_set *set;
        LAB_BLOCK;
        LAB_TRY(make(&set, settings, run, row));
        LAB_TRY(fill(set, settings, run, row, &numbers[row]));
    }
    return VIDI_OK;
}

/* Chance plays no part in a filter's bits; what it takes besides is rounded away in the table. */
static void judge_space(const lab_cell *cell, lab_entry *entry)
{
    double layer = bits(cell->settings) / 8 / (double)lab_multilayer_urls(cell->settings, LAB_LAYERS_PART);
    if (cell->row >= CLASSIC)
        entry->theory = cell->row == CLASSIC ? layer : (LAB_LAYERS + 1) * layer;
}

LAB_STUDY(multilayer_space, "multilayer-space", "Memory per URL", "the multi-layer paper, section 1.1 and conclusion",
          LAB_LAYERS_SCALED
          "50,000 URLs, 2,000 for linear search; k = 3, m = 4.8 n per layer. Theory is the bits alone.",
          "bytes per URL", space_rows, space_columns, .runs_most = 3, .work = 0.1, .measure = measure_space,
          .judge = judge_space);
