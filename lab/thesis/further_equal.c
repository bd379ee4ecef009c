/*
 * A larger array compared with more hash functions. The thesis (sections 5.6.2 and 6.1) prefers a larger M to a larger
 * k, but by m = n k M both cost the same memory. So we compare k with M at equal bits per URL: pages lost, and time.
 *
 * Times are for k salted values of Jenkins's function, as in the thesis, and for k values derived from one hash. In
 * both cases all k values are computed before the first bit is looked up.
 */
#include <stdio.h>

#include "lab/thesis/further.h"

enum { PART = 4, TIME_PART = 20 };

typedef struct shape {
    unsigned k;
    double multiplier;
} shape;

static const shape shapes[] = {{3, 2.0}, {3, 4.0}, {4, 3.0}, {6, 2.0}, {8, 1.5}, {12, 1.0}};
static const char *const equal_rows[] = {"3 HF, 2.0 M: 6 bits",
                                         "3 HF, 4.0 M: 12 bits",
                                         "4 HF, 3.0 M: 12 bits",
                                         "6 HF, 2.0 M: 12 bits",
                                         "8 HF, 1.5 M: 12 bits",
                                         "12 HF, 1.0 M: 12 bits",
                                         NULL};
static const char *const equal_columns[] = {"FP", NULL};
static const char *const equal_time_columns[] = {"salted, add",
                                                 "salted, look up known",
                                                 "salted, look up new",
                                                 "derived, add",
                                                 "derived, look up known",
                                                 "derived, look up new",
                                                 NULL};
enum { SHAPES = sizeof shapes / sizeof *shapes, DEEDS = 3, WAYS = 2 };

static int make(vidi_set **set, const shape *shape, bool salted, const lab_settings *settings, uint64_t run, uint64_t n)
{
    char params[80];
    snprintf(params, sizeof params, "k=%u,M=%.17g%s", shape->k, shape->multiplier,
             salted ? ",mode=salted,hash=jenkins" : "");
    return lab_set_make(set, settings, run, "classic", params, n);
}

static int measure_equal(const lab_settings *settings, uint64_t run, double *numbers)
{
    lab_texts texts;
    uint64_t n = lab_further_urls(settings, PART);
    int64_t seen;
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, 2 * n));
    for (size_t i = 0; i < SHAPES; i++) {
        LAB_OWN(lab_close) vidi_set *set = NULL;
        LAB_TRY(make(&set, &shapes[i], false, settings, run, n));
        LAB_TRY(lab_texts_add(set, texts.urls, n, NULL));
        LAB_TRY(seen = lab_texts_ask(set, texts.urls + n, n, NULL));
        numbers[i] = (double)seen;
    }
    return VIDI_OK;
}

static void judge_equal(const lab_cell *cell, lab_entry *entry)
{
    uint64_t n = lab_further_urls(cell->settings, PART);
    const shape *shape = &shapes[cell->row];
    lab_theory theory = lab_filter_theory(n, lab_bits((double)n, shape->k, shape->multiplier), shape->k, 1);
    lab_entry_count(entry, cell->numbers, theory, 100);
}

/* ---- time ---- */

static int64_t do_deed(vidi_set *set, unsigned deed, const lab_texts *texts)
{
    uint64_t n = texts->count / 2;
    if (deed == 0)
        return lab_texts_add(set, texts->urls, n, NULL);
    return lab_texts_ask(set, deed == 1 ? texts->urls : texts->urls + n, n, NULL);
}

static int time_deeds(vidi_set *set, const lab_texts *texts, double *numbers)
{
    uint64_t n = texts->count / 2;
    for (unsigned deed = 0; deed < DEEDS; deed++) {
        uint64_t start = lab_thread_time();
        LAB_TRY(do_deed(set, deed, texts));
        numbers[deed] = (double)(lab_thread_time() - start) / (double)n;
    }
    return VIDI_OK;
}

static int measure_equal_time(const lab_settings *settings, uint64_t run, double *numbers)
{
    lab_texts texts;
    uint64_t n = lab_further_urls(settings, TIME_PART);
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, 2 * n));
    for (size_t i = 0; i < SHAPES * WAYS; i++) {
        LAB_OWN(lab_close) vidi_set *set = NULL;
        LAB_TRY(make(&set, &shapes[i / WAYS], i % WAYS == 0, settings, run, n));
        LAB_TRY(time_deeds(set, &texts, numbers + i * DEEDS));
    }
    return VIDI_OK;
}

LAB_STUDY(further_equal_bits, "further-equal-bits",
          "More hash functions or a larger M, at equal memory, non-incremental", "the thesis, sections 5.6.2 and 6.1",
          "n is a quarter of the URLs. The first row has 6 bits per URL; the others spend twice as many on M or on k.",
          "%", equal_rows, equal_columns, .measure = measure_equal, .judge = judge_equal);

LAB_STUDY(further_equal_bits_time, "further-equal-bits-time",
          "More hash functions or a larger M, at equal memory: time", "the thesis, sections 5.6.2 and 6.1",
          "A twentieth of the URLs. Jenkins with k salts, as in the thesis, or k values derived from one hash.",
          "ns per URL", equal_rows, equal_time_columns, .timed = true, .runs_most = 10, .measure = measure_equal_time);
