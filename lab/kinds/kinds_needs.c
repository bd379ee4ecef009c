/*
 * For every kind: bits per URL for an error rate, time per URL, and what happens when a set gets more URLs than it was
 * made for.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/kinds/kinds.h"

enum {
    ERRORS = 3,
    TIMES = 4,
    LOADS = 3,
    LIST_URLS = 2000,
    LIST_QUESTIONS = 100,
    PART = 20,
    URLS_TO_JUDGE = 40000, /* in smaller sets whole cache lines, and stages that end early, make more of a difference */
    TIME_PART = 10,
    GROWTH_PART = 40
};

#define MEMORY_TOLERANCE 0.01 /* whole cache lines */

static const double errors[ERRORS] = {1e-2, 1e-4, 1e-6};
static const double small = 16, large = 64; /* bits per URL */
static const unsigned loads[LOADS] = {1, 2, 4};

static const char *const kind_errors[] = {"1 in 100", "1 in 10,000", "1 in 1,000,000", NULL};
static const char *const kind_times[] = {"add, 16 bits", "look up, 16 bits", "add, 1 in 1,000,000",
                                         "look up, 1 in 1,000,000", NULL};
static const char *const kind_loads[] = {"as many", "2 times as many", "4 times as many", NULL};

static uint64_t urls_of(const lab_settings *settings, size_t kind, uint64_t part)
{
    uint64_t urls = lab_urls_part(settings, part, 1);
    return kind == LAB_KIND_LIST && urls > LIST_URLS ? LIST_URLS : urls;
}

/* ---- memory for an error rate ---- */

static int bits_for(size_t kind, double error, const lab_texts *texts, const lab_settings *settings, uint64_t run,
                    double *bits)
{
    uint64_t n = urls_of(settings, kind, PART);
    vidi_plan_entry plan;
    vidi_stats stats = {.size = sizeof stats};
    LAB_OWN(lab_close) vidi_set *set = NULL;
    LAB_TRY(lab_kind_plan_error(&plan, lab_kind_names[kind], n, error));
    LAB_TRY(lab_kind_make(&set, &plan, settings, run));
    LAB_TRY(lab_texts_add(set, texts->urls, n, NULL));
    LAB_TRY(vidi_stat(set, &stats));
    *bits = 8 * (double)stats.bytes / (double)n;
    return VIDI_OK;
}

static int measure_needs(const lab_settings *settings, uint64_t run, double *numbers)
{
    lab_texts texts;
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, urls_of(settings, 0, PART)));
    for (size_t kind = 0; kind < LAB_KINDS; kind++)
        for (size_t error = 0; error < ERRORS; error++)
            LAB_TRY(bits_for(kind, errors[error], &texts, settings, run, &numbers[kind * ERRORS + error]));
    return VIDI_OK;
}

static void judge_needs(const lab_cell *cell, lab_entry *entry)
{
    uint64_t n = urls_of(cell->settings, cell->row, PART);
    double bits;
    if (lab_kind_memory(&bits, &entry->theory_sort, lab_kind_names[cell->row], n, errors[cell->column]) < 0)
        return;
    entry->theory = bits / (double)n;
    if (entry->theory_sort == LAB_PLANNED || n < URLS_TO_JUDGE)
        return;
    if (fabs(entry->measured - entry->theory) <= MEMORY_TOLERANCE * entry->theory)
        return;
    entry->verdict = LAB_FAILS;
    snprintf(entry->remark, sizeof entry->remark, "the set takes %.4g bits per URL, not %.4g", entry->measured,
             entry->theory);
}

/* ---- time ---- */

static int time_in(size_t kind, const vidi_plan_entry *plan, const lab_texts *texts, const lab_settings *settings,
                   uint64_t run, double *add, double *ask)
{
    uint64_t n = plan->urls, asked = kind == LAB_KIND_LIST && n > LIST_QUESTIONS ? LIST_QUESTIONS : n;
    LAB_OWN(lab_close) vidi_set *set = NULL;
    LAB_TRY(lab_kind_make(&set, plan, settings, run));
    uint64_t start = lab_thread_time();
    LAB_TRY(lab_texts_add(set, texts->urls, n, NULL));
    uint64_t between = lab_thread_time();
    LAB_TRY(lab_texts_ask(set, texts->urls + texts->count / 2, asked, NULL));
    uint64_t end = lab_thread_time();
    *add = (double)(between - start) / (double)n;
    *ask = (double)(end - between) / (double)asked;
    return VIDI_OK;
}

/* Times of a set with 16 bits per URL, if that fits, and of a set for an error rate of one in a million. */
static int times_of(size_t kind, const lab_texts *texts, const lab_settings *settings, uint64_t run, double *numbers)
{
    uint64_t n = urls_of(settings, kind, TIME_PART);
    vidi_plan_entry plan;
    bool fits;
    numbers[0] = numbers[1] = (double)NAN;
    LAB_TRY(lab_kind_plan(&plan, &fits, lab_kind_names[kind], n, small));
    if (fits)
        LAB_TRY(time_in(kind, &plan, texts, settings, run, &numbers[0], &numbers[1]));
    LAB_TRY(lab_kind_plan_error(&plan, lab_kind_names[kind], n, errors[ERRORS - 1]));
    return time_in(kind, &plan, texts, settings, run, &numbers[2], &numbers[3]);
}

static int measure_time(const lab_settings *settings, uint64_t run, double *numbers)
{
    lab_texts texts;
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, 2 * urls_of(settings, 0, TIME_PART)));
    for (size_t kind = 0; kind < LAB_KINDS; kind++)
        LAB_TRY(times_of(kind, &texts, settings, run, &numbers[kind * TIMES]));
    return VIDI_OK;
}

/* ---- more URLs than planned ---- */

/* Plans for 16 bits per URL; kinds that do not fit get 64, or what they need. */
static int plan_growth(vidi_plan_entry *plan, size_t kind, uint64_t n)
{
    bool fits;
    LAB_TRY(lab_kind_plan(plan, &fits, lab_kind_names[kind], n, small));
    if (!fits)
        LAB_TRY(lab_kind_plan(plan, &fits, lab_kind_names[kind], n, large));
    return fits ? VIDI_OK : lab_kind_plan_error(plan, lab_kind_names[kind], n, errors[ERRORS - 1]);
}

static int grow(size_t kind, const lab_texts *texts, const lab_settings *settings, uint64_t run, bool in_bits,
                double *numbers)
{
    uint64_t n = urls_of(settings, kind, GROWTH_PART), done = 0, lost = 0;
    vidi_plan_entry plan;
    vidi_stats stats = {.size = sizeof stats};
    LAB_OWN(lab_close) vidi_set *set = NULL;
    LAB_TRY(plan_growth(&plan, kind, n));
    LAB_TRY(lab_kind_make(&set, &plan, settings, run));
    for (size_t i = 0; i < LOADS; i++) {
        int64_t seen = lab_texts_add(set, texts->urls + done, loads[i] * n - done, NULL);
        LAB_TRY(seen < 0 ? (int)seen : vidi_stat(set, &stats));
        done = loads[i] * n;
        lost += (uint64_t)seen;
        numbers[i] = in_bits ? 8 * (double)stats.bytes / (double)done : (double)lost;
    }
    return VIDI_OK;
}

static int measure_growth(const lab_settings *settings, uint64_t run, double *numbers)
{
    bool in_bits = settings->study == &lab_study_kinds_growth_bits;
    lab_texts texts;
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, loads[LOADS - 1] * urls_of(settings, 0, GROWTH_PART)));
    for (size_t kind = 0; kind < LAB_KINDS; kind++)
        LAB_TRY(grow(kind, &texts, settings, run, in_bits, &numbers[kind * LOADS]));
    return VIDI_OK;
}

/* Adds a remark to kinds that do not grow, at the first load where that matters. */
static void judge_growth(const lab_cell *cell, lab_entry *entry)
{
    uint64_t n = urls_of(cell->settings, cell->row, GROWTH_PART), urls = loads[cell->column] * n;
    vidi_plan_entry plan;
    lab_theory theory;
    bool planned = plan_growth(&plan, cell->row, n) == VIDI_OK;
    if (planned && lab_kind_theory(&theory, &entry->theory_sort, &plan, urls) && entry->theory_sort == LAB_DERIVED) {
        lab_entry_count(entry, cell->numbers, theory, LAB_PER_MILLION);
    } else {
        entry->theory_sort = LAB_DERIVED;
        lab_entry_scale(entry, LAB_PER_MILLION / (double)urls);
        entry->low = fmax(0, entry->low);
    }
    if (cell->column == 1 && planned && !entry->remark[0])
        snprintf(entry->remark, sizeof entry->remark, "%s",
                 plan.can & VIDI_CAN_GROW ? "it grows" : "it does not grow, so it loses more and more");
}

LAB_STUDY(kinds_time, "kinds-time", "Time per URL, every kind in the same memory", "vidi",
          "A tenth of the URLs, in batches of 256, processor time of one thread. Kinds that are not shown do not "
          "fit into 16 bits. In the last two columns a set is as large as that error rate requires; `list` has "
          "2,000 URLs, because its time grows with their number. With more URLs than fit into the caches, all take "
          "longer, most of all kinds that touch many places: try --urls 1e8.",
          "ns per URL", lab_kind_names, kind_times, .timed = true, .runs_most = 10, .measure = measure_time);

LAB_STUDY(kinds_needs, "kinds-needs", "Memory for an error rate", "vidi",
          "A twentieth of the URLs (`list`: 2,000). Bits per URL of a set made for that error rate, after all "
          "insertions. Theory is the smallest set of that kind that keeps the rate, by formula; within 1 % the set "
          "agrees. For fingerprint and the three kinds that keep URLs it is planned: what vidi_plan says, which "
          "assumes that URLs are 80 bytes long.",
          "bits per URL", lab_kind_names, kind_errors, .runs_most = 1, .measure = measure_needs, .judge = judge_needs);

LAB_STUDY(kinds_growth, "kinds-growth", "Pages lost when a set gets more URLs than it was made for", "vidi",
          "Made for a fortieth of the URLs, with 16 bits per URL (kinds that do not fit: 64, or what they need). "
          "There is no theory for the further layers of blocked, nor for eigen and multilayer.",
          "pages per million", lab_kind_names, kind_loads, .runs_most = 10, .measure = measure_growth,
          .judge = judge_growth);

LAB_STUDY(kinds_growth_bits, "kinds-growth-bits", "Memory when a set gets more URLs than it was made for", "vidi",
          "The same sets.", "bits per URL", lab_kind_names, kind_loads, .runs_most = 1, .measure = measure_growth);
