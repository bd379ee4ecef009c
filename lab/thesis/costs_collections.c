/*
 * Times of `list` and `hashset`, which stand for the thesis's ArrayList and HashSet (tables 5.14 and 5.15), divided by
 * the time of a filter with 3 functions and M = 2.0, which the thesis compares them with.
 *
 * A lookup in a list takes time in proportion to its length. As in section 5.6.2, we time 100 lookups, in a shorter
 * list, and extrapolate to 1,000,000 URLs. Our list looks a URL up before it adds it, as a URL cache must, so adding
 * 1,000,000 URLs takes half as long as 1,000,000 lookups. Java's list appends without a lookup.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/thesis/costs.h"
#include "lab/engine/run_urls.h"

#define TOLERANCE 0.5 /* languages and hash functions differ, so only the magnitude can agree */

enum { PART = 10, LIST_URLS = 5000, QUESTIONS = 100 };

/* Nanoseconds per URL. */
typedef struct pace {
    double add, ask;
} pace;

static int pace_of_list(const lab_texts *texts, uint64_t n, const lab_settings *settings, uint64_t run, pace *pace)
{
    uint64_t count = n < LIST_URLS ? n : LIST_URLS, asked = n < QUESTIONS ? n : QUESTIONS;
    double add = 0, ask = 0;
    vidi_set *set;
    LAB_TRY(lab_set_make(&set, settings, run, "list", NULL, count));
    int code = lab_texts_time_adds(set, texts->urls, count, &add);
    if (code == VIDI_OK)
        code = lab_texts_time_lookups(set, texts->urls + n, asked, &ask);
    vidi_close(set);
    pace->ask = ask / (double)asked * LAB_COST_URLS / (double)count;
    pace->add = pace->ask / 2;
    return code;
}

static int pace_of_hashset(const lab_texts *texts, uint64_t n, const lab_settings *settings, uint64_t run, pace *pace)
{
    double add = 0, ask = 0;
    vidi_set *set;
    LAB_TRY(lab_set_make(&set, settings, run, "hashset", NULL, n));
    int code = lab_texts_time_adds(set, texts->urls, n, &add);
    if (code == VIDI_OK)
        code = lab_texts_time_lookups(set, texts->urls + n, n, &ask);
    vidi_close(set);
    *pace = (struct pace){add / (double)n, ask / (double)n};
    return code;
}

static int pace_of_filter(const lab_texts *texts, uint64_t n, const lab_settings *settings, uint64_t run, pace *pace)
{
    lab_timed *filter;
    int code = lab_timed_make(&filter, settings, run, 1, LAB_COST_K_LEAST, 2.0, n);
    if (code == VIDI_OK) {
        uint64_t start = lab_thread_time();
        lab_timed_do(filter, LAB_ADD, texts->urls, n);
        uint64_t between = lab_thread_time();
        lab_timed_do(filter, LAB_ASK_EAGER, texts->urls + n, n);
        uint64_t end = lab_thread_time();
        *pace = (struct pace){(double)(between - start) / (double)n, (double)(end - between) / (double)n};
    }
    lab_timed_free(filter);
    return code;
}

static int measure(const lab_settings *settings, uint64_t run, bool asks, double *numbers)
{
    uint64_t n = lab_urls_part(settings, PART, 1);
    pace list = {0, 0}, hashset = {0, 0}, filter = {1, 1};
    lab_texts texts;
    int code = lab_texts_make(&texts, settings, run, 0, 2 * n);
    if (code == VIDI_OK)
        code = pace_of_list(&texts, n, settings, run, &list);
    if (code == VIDI_OK)
        code = pace_of_hashset(&texts, n, settings, run, &hashset);
    if (code == VIDI_OK)
        code = pace_of_filter(&texts, n, settings, run, &filter);
    lab_texts_free(&texts);
    numbers[0] = asks ? list.ask / fmax(1, filter.ask) : list.add / fmax(1, filter.add);
    numbers[1] = asks ? hashset.ask / fmax(1, filter.ask) : hashset.add / fmax(1, filter.add);
    return code;
}

int lab_time_add_collections_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    return measure(settings, run, false, numbers);
}

int lab_time_ask_collections_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    return measure(settings, run, true, numbers);
}

/* ---- verdicts ---- */

static const char *reason(bool is_list, bool asks)
{
    if (!is_list)
        return "a hash value took the thesis's program about a microsecond and takes ours far less, so the table "
               "itself "
               "accounts for a larger share";
    return asks ? "the thesis's program took 22 ns for a comparison and 1,071 ns for a hash value; both are cheaper "
                  "here, "
                  "hash values even more so"
                : "Java's list appends without a lookup, ours looks up first, as a URL cache must";
}

void lab_time_collections_judge(const lab_study *study, const lab_settings *settings, size_t row, size_t column,
                                const double *numbers, lab_entry *entry)
{
    bool asks = study->measure == lab_time_ask_collections_measure;
    const char *base_table = asks ? "thesis-A.1" : "thesis-A.4";
    (void)settings;
    (void)column;
    (void)numbers;
    lab_cost_compare(entry, lab_published_find(lab_published_all, study->id, entry->row, entry->column),
                     lab_published_find(lab_published_all, base_table, "3 HF", "2.0 M"), TOLERANCE);
    if (entry->verdict == LAB_DIFFERS)
        snprintf(entry->remark, sizeof entry->remark, "%s", reason(row == 0, asks));
}
