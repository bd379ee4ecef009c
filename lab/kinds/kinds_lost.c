/*
 * Pages lost by every kind with the same memory. For 8 to 64 bits per URL, we make the set that loses least
 * (vidi_plan), insert n URLs, and count those that are VIDI_SEEN as lost. A second table has the losses that the set
 * itself reports (vidi_stats.expected_lost), which is all that a user ever sees.
 *
 * Theory is derived from how the sets are made (kinds_expected.c). `eigen` and `multilayer` have an upper bound
 * instead, because their losses depend on how similar the URLs are.
 */
#include <math.h>
#include <stdio.h>

#include "lab/kinds/kinds.h"

enum { PART = 10, SIZES = 5 };

static const double bits_of[SIZES] = {8, 16, 32, 48, 64};
static const char *const kind_sizes[] = {"8 bits", "16 bits", "32 bits", "48 bits", "64 bits", NULL};

static uint64_t urls_of(const lab_settings *settings)
{
    return lab_urls_part(settings, PART, 1);
}

/* Pages lost, counted or as reported by the set; NAN: the kind does not fit. */
static int lost_in(size_t kind, double bits, const lab_texts *texts, const lab_settings *settings, uint64_t run,
                   bool reported, double *number)
{
    vidi_plan_entry plan;
    vidi_stats stats = {.size = sizeof stats};
    LAB_OWN(lab_close) vidi_set *set = NULL;
    int64_t seen;
    bool fits;
    *number = (double)NAN;
    LAB_TRY(lab_kind_plan(&plan, &fits, lab_kind_names[kind], texts->count, bits));
    if (!fits)
        return VIDI_OK;
    LAB_TRY(lab_kind_make(&set, &plan, settings, run));
    LAB_TRY(seen = lab_texts_add(set, texts->urls, texts->count, NULL));
    LAB_TRY(vidi_stat(set, &stats));
    *number = reported ? stats.expected_lost : (double)seen;
    return VIDI_OK;
}

static int measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    bool reported = settings->study == &lab_study_kinds_expected;
    lab_texts texts;
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, urls_of(settings)));
    for (size_t kind = 0; kind < LAB_KINDS; kind++)
        for (size_t size = 0; size < SIZES; size++)
            LAB_TRY(lost_in(kind, bits_of[size], &texts, settings, run, reported, &numbers[kind * SIZES + size]));
    return VIDI_OK;
}

/* ---- verdicts ---- */

static bool fits_into(const lab_settings *settings, size_t row, size_t column, vidi_plan_entry *plan)
{
    bool fits = false;
    int code = lab_kind_plan(plan, &fits, lab_kind_names[row], urls_of(settings), bits_of[column]);
    return code == VIDI_OK && fits;
}

/* The plan of a cell. If the kind does not fit, the cell of the largest size at which it does not gets a remark. */
static bool plan_cell(const lab_settings *settings, size_t row, size_t column, vidi_plan_entry *plan, lab_entry *entry)
{
    vidi_plan_entry next;
    if (fits_into(settings, row, column, plan))
        return true;
    if (column + 1 == SIZES || fits_into(settings, row, column + 1, &next))
        snprintf(entry->remark, sizeof entry->remark, "it does not fit into so few bits");
    return false;
}

/* The interval follows from the count itself, because the expectation is unknown. */
static void judge_bound(lab_entry *entry, const double *numbers, lab_theory bound)
{
    double mean = entry->measured;
    lab_entry_count(entry, numbers, bound, LAB_PER_MILLION);
    bool exceeds = entry->z > LAB_Z_MOST;
    lab_entry_count(entry, numbers, (lab_theory){mean, mean, bound.asked}, LAB_PER_MILLION);
    entry->theory = LAB_PER_MILLION * bound.mean / bound.asked;
    entry->z = (double)NAN;
    entry->verdict = exceeds ? LAB_FAILS : LAB_NO_FIGURE;
    snprintf(entry->remark, sizeof entry->remark, "%s", exceeds ? "more than the upper bound" : "");
}

static void judge_lost(const lab_cell *cell, lab_entry *entry)
{
    vidi_plan_entry plan;
    lab_theory theory;
    if (!plan_cell(cell->settings, cell->row, cell->column, &plan, entry) ||
        !lab_kind_theory(&theory, &entry->theory_sort, &plan, plan.urls))
        return;
    if (entry->theory_sort == LAB_BOUND)
        judge_bound(entry, cell->numbers, theory);
    else
        lab_entry_count(entry, cell->numbers, theory, LAB_PER_MILLION);
}

static void judge_expected(const lab_cell *cell, lab_entry *entry)
{
    vidi_plan_entry plan;
    lab_theory theory;
    if (!plan_cell(cell->settings, cell->row, cell->column, &plan, entry) ||
        !lab_kind_theory(&theory, &entry->theory_sort, &plan, plan.urls))
        return;
    double scale = LAB_PER_MILLION / theory.asked;
    entry->theory = theory.mean * scale;
    lab_entry_scale(entry, scale);
}

LAB_STUDY(kinds_lost, "kinds-lost", "Pages lost, every kind in the same memory", "vidi",
          "A tenth of the URLs; each kind as vidi_plan plans it for the bits per URL of the column. Kinds that are "
          "not shown do not fit. Theory follows from how the bits are placed, not from the plan. For eigen and "
          "multilayer it is "
          "an upper bound, because their losses depend on how similar the URLs are.",
          "pages per million", lab_kind_names, kind_sizes, .runs_most = 10,
          .plot = {.x = "bits per URL", .y = "pages lost per million", .log_x = true, .log_y = true},
          .measure = measure, .judge = judge_lost);

LAB_STUDY(kinds_expected, "kinds-expected", "Pages lost, as reported by the sets", "vidi",
          "The same sets: expected_lost of vidi_stat, which is all that a user sees.", "pages per million",
          lab_kind_names, kind_sizes, .runs_most = 1,
          .plot = {.x = "bits per URL", .y = "pages lost per million", .log_x = true, .log_y = true},
          .measure = measure, .judge = judge_expected);
