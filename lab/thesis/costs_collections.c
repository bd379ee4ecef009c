/*
 * Times of `list` and `hashset`, which stand for the thesis's ArrayList and HashSet (tables 5.14 and 5.15), divided by
 * the time of a filter with 3 functions and M = 2.0, which the thesis compares them with.
 *
 * Java's list appends without looking anything up; our kind `list` looks a URL up before it adds it, as a URL cache
 * must. So table 5.14 has both: an array to which copies of URLs are appended, for the published figure, and `list`.
 *
 * A lookup in a list takes time in proportion to its length, and so does an add that looks up first. As in section
 * 5.6.2, we time 100 lookups, in a shorter list, and extrapolate to 1,000,000 URLs. The adds that fill the shorter list
 * are extrapolated likewise: on average they meet half of its length, as adds to the long list meet half of that.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/thesis/costs.h"
#include "lab/urls/run_urls.h"

#define TOLERANCE 0.5 /* languages and hash functions differ, so only the magnitude can agree */

enum { PART = 10, LIST_URLS = 5000, QUESTIONS = 100 };

static const char *const add_rows[] = {"ArrayList", "HashSet", "a list that looks up first", NULL};

/* Nanoseconds per URL. */
typedef struct pace {
    double add, ask;
} pace;

/* ---- a list that appends, and grows by half as Java's list does ---- */

int lab_appended_add(lab_appended *list, vidi_str url)
{
    LAB_TRY(lab_grow(&list->ends, list->count + 1, &list->ends_room, sizeof *list->ends));
    LAB_TRY(lab_grow(&list->bytes, list->used + url.len, &list->bytes_room, 1));
    memcpy(list->bytes + list->used, url.ptr, url.len);
    list->used += url.len;
    list->ends[list->count++] = list->used;
    return VIDI_OK;
}

vidi_str lab_appended_at(const lab_appended *list, size_t index)
{
    size_t begin = index ? list->ends[index - 1] : 0;
    return (vidi_str){list->bytes + begin, list->ends[index] - begin};
}

void lab_appended_free(lab_appended *list)
{
    free(list->ends);
    free(list->bytes);
    memset(list, 0, sizeof *list);
}

/* ---- times ---- */

static int pace_of_appends(const lab_texts *texts, uint64_t n, double *add)
{
    LAB_OWN(lab_appended_free) lab_appended list = {.count = 0};
    uint64_t start = lab_thread_time();
    for (uint64_t i = 0; i < n; i++)
        LAB_TRY(lab_appended_add(&list, texts->urls[i]));
    *add = (double)(lab_thread_time() - start) / (double)n;
    return VIDI_OK;
}

static int pace_of_list(const lab_texts *texts, uint64_t n, const lab_settings *settings, uint64_t run, pace *pace)
{
    uint64_t count = n < LIST_URLS ? n : LIST_URLS, asked = n < QUESTIONS ? n : QUESTIONS;
    double add = 0, ask = 0, longer = LAB_COST_URLS / (double)count;
    LAB_OWN(lab_close) vidi_set *set = NULL;
    LAB_TRY(lab_set_make(&set, settings, run, "list", NULL, count));
    LAB_TRY(lab_texts_time_adds(set, texts->urls, count, &add));
    LAB_TRY(lab_texts_time_lookups(set, texts->urls + n, asked, &ask));
    *pace = (struct pace){add / (double)count * longer, ask / (double)asked * longer};
    return VIDI_OK;
}

static int pace_of_hashset(const lab_texts *texts, uint64_t n, const lab_settings *settings, uint64_t run, pace *pace)
{
    double add = 0, ask = 0;
    LAB_OWN(lab_close) vidi_set *set = NULL;
    LAB_TRY(lab_set_make(&set, settings, run, "hashset", NULL, n));
    LAB_TRY(lab_texts_time_adds(set, texts->urls, n, &add));
    LAB_TRY(lab_texts_time_lookups(set, texts->urls + n, n, &ask));
    *pace = (struct pace){add / (double)n, ask / (double)n};
    return VIDI_OK;
}

static int pace_of_filter(const lab_texts *texts, uint64_t n, const lab_settings *settings, uint64_t run, pace *pace)
{
    lab_timed *filter;
    LAB_TRY(lab_timed_make(&filter, settings, run, 1, LAB_COST_K_LEAST, 2.0, n));
    uint64_t start = lab_thread_time();
    lab_timed_do(filter, LAB_ADD, texts->urls, n);
    uint64_t between = lab_thread_time();
    lab_timed_do(filter, LAB_ASK_EAGER, texts->urls + n, n);
    uint64_t end = lab_thread_time();
    *pace = (struct pace){(double)(between - start) / (double)n, (double)(end - between) / (double)n};
    return VIDI_OK;
}

/* What each of the two tables needs: the filter and the collections. */
typedef struct paces {
    double append; /* time to append */
    pace list, hashset, filter;
} paces;

static int take_paces(const lab_settings *settings, uint64_t run, paces *paces)
{
    uint64_t n = lab_urls_part(settings, PART, 1);
    lab_texts texts;
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, 2 * n));
    LAB_TRY(pace_of_appends(&texts, n, &paces->append));
    LAB_TRY(pace_of_list(&texts, n, settings, run, &paces->list));
    LAB_TRY(pace_of_hashset(&texts, n, settings, run, &paces->hashset));
    return pace_of_filter(&texts, n, settings, run, &paces->filter);
}

static int measure_time_add_collections(const lab_settings *settings, uint64_t run, double *numbers)
{
    paces paces = {.append = 0};
    LAB_TRY(take_paces(settings, run, &paces));
    double filter = fmax(1, paces.filter.add);
    numbers[0] = paces.append / filter;
    numbers[1] = paces.hashset.add / filter;
    numbers[2] = paces.list.add / filter;
    return VIDI_OK;
}

static int measure_time_ask_collections(const lab_settings *settings, uint64_t run, double *numbers)
{
    paces paces = {.append = 0};
    LAB_TRY(take_paces(settings, run, &paces));
    double filter = fmax(1, paces.filter.ask);
    numbers[0] = paces.list.ask / filter;
    numbers[1] = paces.hashset.ask / filter;
    return VIDI_OK;
}

/* ---- verdicts ---- */

static const char *reason(bool is_list, bool asks)
{
    if (is_list && asks)
        return "the thesis's program took 22 ns for a comparison and 1,071 ns for a hash value; both are cheaper "
               "here, hash values even more so";
    return "a hash value took the thesis's program about a microsecond and takes ours far less, so the collection "
           "itself accounts for a larger share";
}

static void judge_time_collections(const lab_cell *cell, lab_entry *entry)
{
    bool asks = cell->study == &lab_study_thesis_5_15;
    const char *base_table = asks ? "thesis-A.1" : "thesis-A.4";
    lab_cost_compare(entry, lab_published_find(lab_published_all, cell->study->id, entry->row, entry->column),
                     lab_published_find(lab_published_all, base_table, "3 HF", "2.0 M"), TOLERANCE);
    if (entry->verdict == LAB_DIFFERS)
        snprintf(entry->remark, sizeof entry->remark, "%s", reason(cell->row == 0, asks));
}

static const char *const time[] = {"time", NULL};

#define EACH                                                                                                           \
    .source = "the thesis, section 5.6", .columns = time, .unit = "times the filter", .timed = true, .runs_most = 15,  \
    .judge = judge_time_collections

LAB_STUDY(thesis_5_14, .id = "thesis-5.14", .title = "Time to add to an ArrayList and a HashSet",
          .note =
              "ArrayList: an array to which copies of the URLs are appended without a lookup, as Java's list does. "
              "HashSet: `hashset`. A list that looks up first: `list`, with 5,000 URLs, extrapolated to 1,000,000. All "
              "are divided by the time of 3 HF, 2.0 M (published: table A.4). Published figures agree if they are "
              "within half of ours.",
          EACH, .rows = add_rows, .measure = measure_time_add_collections);

LAB_STUDY(thesis_5_15, .id = "thesis-5.15", .title = "Time to query an ArrayList and a HashSet",
          .note =
              "We measure `list` (100 lookups in 5,000 URLs, extrapolated to 1,000,000 as in section 5.6.2) and "
              "`hashset` (a tenth of the URLs), divided by the time of 3 HF, 2.0 M (published: table A.1). Published "
              "figures agree if they are within half of ours.",
          EACH, .rows = lab_collections, .measure = measure_time_ask_collections);
