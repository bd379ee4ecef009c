/*
 * The cost of a second and a third filter (the thesis, by comparing tables A.1 to A.6): times divided by that of one
 * filter, for 3 functions and M = 2.0. An add, and a lookup of every bit, take F times as long. So does a lookup as in
 * algorithm 4 as printed, which goes on with the next filter after a zero bit; its text says that the algorithm ends
 * there. A lookup that does so hardly ever reaches the second filter.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/thesis/costs.h"
#include "lab/urls/run_urls.h"

#define MULTIPLIER 2.0
#define TOLERANCE 0.2

enum { MEMBERS = 3, DEEDS = 4, PART = 100, URLS_LEAST = 500, TURNS = 5 };

static const char *const member_rows[] = {"1 filter", "2 filters", "3 filters", NULL};
static const char *const member_columns[] = {"add", "query, every bit", "query, first zero bit of each filter",
                                             "query, first zero bit", NULL};

static const lab_deed deeds[DEEDS] = {LAB_ADD, LAB_ASK_EAGER, LAB_ASK_INNER, LAB_ASK_BREAK};
static const char *const tables[DEEDS][MEMBERS] = {{"thesis-A.4", "thesis-A.5", "thesis-A.6"},
                                                   {"thesis-A.1", "thesis-A.2", "thesis-A.3"},
                                                   {"thesis-A.1", "thesis-A.2", "thesis-A.3"},
                                                   {"thesis-A.1", "thesis-A.2", "thesis-A.3"}};

/* The filters take turns, as in costs_time.c. They are full when URLs are looked up. */
static void take_times(lab_timed *const *filters, const lab_texts *texts, double *numbers)
{
    uint64_t n = texts->count / 2, times[MEMBERS * DEEDS] = {0};
    for (unsigned deed = 0; deed < DEEDS; deed++)
        for (uint64_t turn = 0; turn < TURNS; turn++)
            for (unsigned i = 0; i < MEMBERS; i++) {
                uint64_t first = n * turn / TURNS, last = n * (turn + 1) / TURNS;
                const vidi_str *urls = texts->urls + (deeds[deed] == LAB_ADD ? 0 : n);
                uint64_t start = lab_thread_time();
                lab_timed_do(filters[i], deeds[deed], urls + first, last - first);
                times[i * DEEDS + deed] += lab_thread_time() - start;
            }
    for (unsigned i = 0; i < MEMBERS * DEEDS; i++)
        numbers[i] = (double)times[i] / fmax(1, (double)times[i % DEEDS]);
}

static int measure_time_members(const lab_settings *settings, uint64_t run, double *numbers)
{
    uint64_t n = lab_urls_part(settings, PART, URLS_LEAST);
    lab_timed *filters[MEMBERS];
    lab_texts texts;
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, 2 * n));
    for (unsigned i = 0; i < MEMBERS; i++)
        LAB_TRY(lab_timed_make(&filters[i], settings, run, i + 1, LAB_COST_K_LEAST, MULTIPLIER, n));
    take_times(filters, &texts, numbers);
    return VIDI_OK;
}

static void judge_time_members(const lab_cell *cell, lab_entry *entry)
{
    double members = (double)cell->row + 1, fill = -expm1(-1 / MULTIPLIER);
    entry->theory = deeds[cell->column] != LAB_ASK_BREAK
                        ? members
                        : (1 - pow(fill, LAB_COST_K_LEAST * members)) / (1 - pow(fill, LAB_COST_K_LEAST));
    lab_cost_compare(entry, lab_published_find(lab_published_all, tables[cell->column][cell->row], "3 HF", "2.0 M"),
                     lab_published_find(lab_published_all, tables[cell->column][0], "3 HF", "2.0 M"), TOLERANCE);
    bool other =
        deeds[cell->column] == LAB_ASK_BREAK || deeds[cell->column] == LAB_ASK_INNER; /* than the thesis's program */
    if (entry->printed) /* the tables of times have these figures, too */
        entry->basis = other ? LAB_COUNTERFACTUAL : LAB_REPEATED;
    if (entry->verdict == LAB_DIFFERS && deeds[cell->column] == LAB_ASK_BREAK)
        snprintf(entry->remark, sizeof entry->remark,
                 "the thesis's program queried every filter, whatever the first one answered");
}

LAB_STUDY(thesis_A_filters, .id = "thesis-A-filters", .title = "Time of two and three filters compared with one",
          .source = "the thesis, sections A.1.2 and A.1.3",
          .note =
              "3 HF, 2.0 M, from tables A.1 to A.6; a hundredth of the URLs. Algorithm 4 as printed stops at the "
              "first zero bit of each filter; its text says that it ends there. Theory: the number of filters, but for "
              "lookups that end at the first zero bit (1 - f^3F) / (1 - f^3). Published figures agree if they are "
              "within a fifth of ours.",
          .unit = "times one filter", .rows = member_rows, .columns = member_columns, .timed = true, .runs_most = 15,
          .measure = measure_time_members, .judge = judge_time_members);
