/*
 * Filters of a hundred million URLs, far more than in the papers' tables: whether theory still holds where m has 30
 * bits and counts are in the millions.
 *
 * The other experiments keep the hash values of a run in memory, 100 bytes a URL and more. Here URLs are made on the
 * fly, in batches that go through the public interface into all sets at once: memory is that of the sets alone, about
 * 12 bytes a URL. Hash functions of 32 bits have too few values for such filters, and the library refuses them. So the
 * papers' configurations have a function of 128 bits in place of Jenkins's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/engine/study.h"

enum { BATCH = 256, SUBJECTS = 5 };

typedef struct subject {
    const char *kind, *params;
    double error;        /* 0: follows from the parameters */
    unsigned k, filters; /* of the theory; 0: there is none of the lab's own */
    double bits;         /* m/n of a filter */
} subject;

/* In the order of rows. */
static const subject subjects[SUBJECTS] = {
    {.kind = "classic", .params = "k=3,M=2,mode=salted,hash=sip13", .k = 3, .filters = 1, .bits = 6},
    {.kind = "spatial", .params = "F=2,k=3,M=2,mode=salted,hash=sip13", .k = 3, .filters = 2, .bits = 6},
    {.kind = "classic", .params = "k=7,M=2", .k = 7, .filters = 1, .bits = 14},
    {.kind = "blocked", .params = "", .error = 0.01},
    {.kind = "fingerprint", .params = ""},
};

static const char *const rows[] = {"classic, k = 3, M = 2", "2 filters, k = 3, M = 2",
                                   "classic, k = 7, M = 2", "blocked for 1 %",
                                   "fingerprint",           NULL};
static const char *const columns[] = {"lost", "falsely seen", NULL};

_Static_assert(sizeof rows / sizeof *rows == SUBJECTS + 1, "each subject has a row");

enum { LOST, SEEN, COLUMNS };

/* The sets of a run, and how many URLs each has falsely seen. */
typedef struct workload {
    vidi_set *sets[SUBJECTS];
    double counts[SUBJECTS * COLUMNS];
    char bytes[BATCH * LAB_URL_ROOM];
    vidi_str urls[BATCH];
} workload;

static void make_batch(workload *work, const lab_settings *settings, uint64_t run, uint64_t first, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        work->urls[i] = lab_url_text(work->bytes + used, settings, run, first + i);
        used += work->urls[i].len;
    }
}

/* Adds or looks up a batch in every set. */
static int pass_batch(workload *work, size_t count, int column)
{
    uint8_t verdicts[BATCH];
    for (size_t i = 0; i < SUBJECTS; i++) {
        LAB_TRY(column == LOST ? vidi_add_batch(work->sets[i], work->urls, count, verdicts, NULL)
                               : vidi_has_batch(work->sets[i], work->urls, count, verdicts));
        for (size_t j = 0; j < count; j++)
            work->counts[i * COLUMNS + (size_t)column] += verdicts[j] == VIDI_SEEN;
    }
    return VIDI_OK;
}

static int make_sets(workload *work, const lab_settings *settings, uint64_t run)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        vidi_options options = VIDI_OPTIONS_INIT;
        options.kind = subjects[i].kind;
        options.params = subjects[i].params;
        options.error = subjects[i].error;
        options.capacity = settings->urls;
        LAB_TRY(lab_set_with(&work->sets[i], settings, run, options));
    }
    return VIDI_OK;
}

/* Inserts the first n URLs of the run, and looks up the n others. */
static int pass_all(workload *work, const lab_settings *settings, uint64_t run)
{
    const uint64_t n = settings->urls;
    for (int column = LOST; column <= SEEN; column++)
        for (uint64_t first = 0; first < n; first += BATCH) {
            size_t count = n - first < BATCH ? (size_t)(n - first) : BATCH;
            if (lab_stopped(settings))
                return LAB_STOPPED;
            make_batch(work, settings, run, (uint64_t)column * n + first, count);
            LAB_TRY(pass_batch(work, count, column));
        }
    return VIDI_OK;
}

static int measure_large(const lab_settings *settings, uint64_t run, double *numbers)
{
    workload *work;
    LAB_TRY(LAB_NEW(work, 1));
    LAB_TRY(make_sets(work, settings, run));
    LAB_TRY(pass_all(work, settings, run));
    memcpy(numbers, work->counts, sizeof work->counts);
    return VIDI_OK;
}

static void judge_large(const lab_cell *cell, lab_entry *entry)
{
    const subject *subject = &subjects[cell->row];
    double n = (double)cell->settings->urls, m = ceil(n * subject->bits);
    if (subject->k == 0)
        lab_entry_scale(entry, 100 / n);
    else if (cell->column == LOST)
        lab_entry_count(entry, cell->numbers, lab_filling_theory(cell->settings->urls, m, subject->k, subject->filters),
                        100);
    else
        lab_entry_count(entry, cell->numbers, lab_filter_theory(cell->settings->urls, m, subject->k, subject->filters),
                        100);
}

LAB_STUDY(large_lost, "large-lost", "False positives of filters with very many URLs", "vidi",
          "Made for --urls 1e8, and measured only if it is named. All URLs are inserted, then as many others are "
          "looked up; URLs are made on the fly. The configurations of the thesis have a hash function of 128 bits, "
          "because 32 bits are too few for such filters.",
          "%", rows, columns, .only_named = true, .work = 2, .measure = measure_large, .judge = judge_large);
