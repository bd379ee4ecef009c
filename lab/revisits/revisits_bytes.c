/*
 * The peak memory of the ways to give a crawl an empty filter, in units of one filter. Policies can be compared at
 * equal peak memory only if this is known: vidi_rotate makes the new filter before it frees the old one, so two exist
 * at that moment, unless memory is allocated when it is first written to (VIDI_TOUCH_LATER) or the set is closed first.
 * With the previous epoch kept (VIDI_KEEP_PREVIOUS) three exist, unless that is dropped first.
 *
 * byte_meter.h counts the bytes. A filter has 8 bits for each of n URLs; each of three crawls adds all of them.
 */
#include <math.h>
#include <stdio.h>

#include "lab/engine/byte_meter.h"
#include "lab/revisits/revisits.h"

enum { PART = 10, CRAWLS = 3, BITS = 8, K = 6, WAYS = 6, SPARE = 8192 };

static const char *const ways[] = {"one filter, kept",
                                   "closed, and made anew with another key",
                                   "vidi_rotate",
                                   "vidi_rotate, VIDI_TOUCH_LATER",
                                   "vidi_rotate, VIDI_KEEP_PREVIOUS",
                                   "vidi_drop_previous, then the same",
                                   NULL};
static const char *const peaks[] = {"peak memory", NULL};

typedef enum way { KEPT, MADE_ANEW, ROTATED, TOUCHED_LATER, PREVIOUS_KEPT, PREVIOUS_DROPPED } way;

static const double filters_at_once[WAYS] = {1, 1, 2, 1, 3, 2};

/* ---- measuring ---- */

static int make(vidi_set **set, const lab_settings *settings, uint64_t run, const vidi_access *access, way way,
                uint64_t n)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    char params[64];
    snprintf(params, sizeof params, "m=%llu,k=%d", (unsigned long long)n * BITS, K);
    options.kind = "classic";
    options.params = params;
    options.capacity = n;
    options.access = access;
    options.flags = way >= PREVIOUS_KEPT ? VIDI_KEEP_PREVIOUS : 0;
    return lab_set_make_with(set, settings, run, options);
}

/* What happens between two crawls. */
static int next_crawl(vidi_set **set, const lab_settings *settings, uint64_t run, const vidi_access *access, way way,
                      uint64_t n, unsigned crawl)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    if (way == KEPT)
        return VIDI_OK;
    if (way == MADE_ANEW) {
        vidi_close(*set);
        return make(set, settings, run + crawl, access, way, n);
    }
    if (way == PREVIOUS_DROPPED && crawl > 1)
        LAB_TRY(vidi_drop_previous(*set));
    next.capacity = n;
    next.flags = way >= PREVIOUS_KEPT ? VIDI_KEEP_PREVIOUS : 0;
    return vidi_rotate(*set, &next);
}

static int peak_of(way way, const lab_texts *texts, const lab_settings *settings, uint64_t run, double *number)
{
    lab_meter meter;
    vidi_access access = VIDI_ACCESS_INIT;
    LAB_OWN(lab_close) vidi_set *set = NULL;
    lab_meter_init(&meter);
    access.allocator = &meter.allocator;
    access.flags = way == TOUCHED_LATER ? VIDI_TOUCH_LATER : 0;
    LAB_TRY(make(&set, settings, run, &access, way, texts->count));
    for (unsigned crawl = 0; crawl < CRAWLS; crawl++) {
        if (crawl > 0)
            LAB_TRY(next_crawl(&set, settings, run, &access, way, texts->count, crawl));
        LAB_TRY(lab_texts_add(set, texts->urls, texts->count, NULL));
    }
    *number = (double)meter.peak / ((double)texts->count * BITS / 8);
    return VIDI_OK;
}

static int measure_bytes(const lab_settings *settings, uint64_t run, double *numbers)
{
    lab_texts texts;
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, lab_urls_part(settings, PART, 1)));
    for (unsigned way = 0; way < WAYS; way++)
        LAB_TRY(peak_of((enum way)way, &texts, settings, run, &numbers[way]));
    return VIDI_OK;
}

/* Arrays end with a whole page, and a set has some kilobytes besides its filters. */
static void judge_bytes(const lab_cell *cell, lab_entry *entry)
{
    double spare = SPARE / ((double)lab_urls_part(cell->settings, PART, 1) * BITS / 8);
    entry->theory = filters_at_once[cell->row];
    if (entry->measured >= entry->theory && entry->measured <= entry->theory * (1 + spare))
        return;
    entry->verdict = LAB_FAILS;
    snprintf(entry->remark, sizeof entry->remark, "it takes %.3g times a filter, not %g", entry->measured,
             entry->theory);
}

LAB_STUDY(revisits_bytes, "revisits-bytes", "Peak memory of the ways to give a crawl an empty filter", "vidi",
          "A tenth of the URLs, 8 bits for each, three crawls; bytes that the set has allocated, and the number of "
          "filters that should exist at once.",
          "times the filter", ways, peaks, .runs_most = 1, .work = 0.2, .measure = measure_bytes, .judge = judge_bytes);
