/*
 * Pages lost in a stream, by every kind in equal memory: in the order of the file, and with its lines shuffled.
 *
 * With a keyed hash it does not matter which URLs come, nor in which order: the losses follow from the number of
 * different URLs. A repeat changes nothing at all, because a URL that is there, or falsely seen, sets no bit. Theory is
 * therefore that of kinds-lost. For eigen and multilayer it is an upper bound, because their positions come from parts
 * of a URL, which other URLs may share.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/kinds/kinds.h"
#include "lab/streams/streams.h"

/* ---- measuring ---- */

#define SMALLEST 0.0 /* bits per URL: the smallest of the sizes that a kind fits into */

static int fit(lab_fitted *fitted, const lab_stream *stream, const char *kind, double bits)
{
    if (bits > SMALLEST)
        return lab_stream_fit(fitted, stream, kind, bits);
    fitted->fits = false;
    for (size_t i = 0; i < LAB_STREAM_SIZES && !fitted->fits; i++)
        LAB_TRY(lab_stream_fit(fitted, stream, kind, lab_stream_bits[i]));
    return VIDI_OK;
}

/* What a table has of a pass; NAN: it has nothing. */
typedef double take_number(const lab_pass *pass, const lab_stream *stream);

static double take_lost(const lab_pass *pass, const lab_stream *stream)
{
    (void)stream;
    return pass->exceeds ? (double)NAN : (double)pass->lost;
}

static double take_peak(const lab_pass *pass, const lab_stream *stream)
{
    return (double)pass->peak * 8 / (double)stream->count;
}

/* One stream, every kind; NAN: it does not fit. */
static int measure_stream(const lab_stream *stream, double bits, lab_stream_order order, const lab_settings *settings,
                          uint64_t run, take_number *take, double *numbers)
{
    LAB_OWN(lab_sequence_free) lab_sequence sequence = {0};
    lab_fitted fitted;
    lab_pass pass;
    LAB_TRY(lab_sequence_make(&sequence, stream, order, settings, run));
    for (size_t kind = 0; kind < LAB_STREAM_KINDS; kind++) {
        numbers[kind] = (double)NAN;
        LAB_TRY(fit(&fitted, stream, lab_stream_kinds[kind], bits));
        if (!fitted.fits)
            continue;
        LAB_TRY(lab_stream_pass(&pass, stream, &sequence, &fitted, settings, run));
        numbers[kind] = take(&pass, stream);
    }
    return VIDI_OK;
}

/* The sums of all rows before, without those of streams that a kind does not fit. */
static void add_sums(double *numbers, size_t rows, size_t columns)
{
    for (size_t column = 0; column < columns; column++) {
        double *sum = &numbers[rows * columns + column];
        *sum = (double)NAN;
        for (size_t row = 0; row < rows; row++)
            if (!isnan(numbers[row * columns + column]))
                *sum = (isnan(*sum) ? 0 : *sum) + numbers[row * columns + column];
    }
}

/* What the tables of losses differ in. */
typedef struct form {
    double bits; /* per different URL */
    lab_stream_order order;
} form;

static int measure_form(const lab_settings *settings, uint64_t run, form form, double *numbers)
{
    size_t streams = lab_streams_count(settings->streams);
    for (size_t i = 0; i < streams; i++)
        LAB_TRY(measure_stream(lab_stream_at(settings->streams, i), form.bits, form.order, settings, run, take_lost,
                               &numbers[i * LAB_STREAM_KINDS]));
    add_sums(numbers, streams, LAB_STREAM_KINDS);
    return VIDI_OK;
}

static int measure_lost(const lab_settings *settings, uint64_t run, double *numbers)
{
    return measure_form(settings, run, *(const form *)settings->study->with, numbers);
}

/* The difference that the repeats of a stream make. */
static int measure_repeats(const lab_settings *settings, uint64_t run, double *numbers)
{
    size_t cells = (lab_streams_count(settings->streams) + 1) * LAB_STREAM_KINDS;
    LAB_OWN(lab_release) double *once = malloc(cells * sizeof *once);
    if (!once)
        return lab_fail(VIDI_EMEMORY, "no memory for %zu cells", cells);
    LAB_TRY(measure_form(settings, run, (form){8, LAB_FILE_ORDER}, numbers));
    LAB_TRY(measure_form(settings, run, (form){8, LAB_EACH_ONCE}, once));
    for (size_t i = 0; i < cells; i++)
        numbers[i] -= once[i];
    return VIDI_OK;
}

/* ---- memory ---- */

static int measure_memory(const lab_settings *settings, uint64_t run, double *numbers)
{
    size_t streams = lab_streams_count(settings->streams);
    for (size_t i = 0; i < streams; i++)
        LAB_TRY(measure_stream(lab_stream_at(settings->streams, i), SMALLEST, LAB_FILE_ORDER, settings, run, take_peak,
                               &numbers[i * LAB_STREAM_KINDS]));
    for (size_t kind = 0; kind < LAB_STREAM_KINDS; kind++) /* sizes differ, so there is no sum */
        numbers[streams * LAB_STREAM_KINDS + kind] = (double)NAN;
    return VIDI_OK;
}

static void judge_memory(const lab_cell *cell, lab_entry *entry)
{
    const lab_stream *stream = lab_stream_at(cell->settings->streams, cell->row);
    lab_fitted fitted;
    if (!stream || fit(&fitted, stream, lab_stream_kinds[cell->column], SMALLEST) < 0 || !fitted.fits)
        return;
    double urls = (double)stream->count;
    entry->theory = (double)fitted.budget * 8 / urls;
    entry->theory_sort = LAB_BOUND;
    if (lab_stream_exceeds(entry->measured * urls / 8, (double)fitted.budget)) {
        entry->verdict = LAB_FAILS;
        snprintf(entry->remark, sizeof entry->remark, "more than the %g bits that it was given", entry->theory);
    }
}

/* ---- verdicts ---- */

/* What theory says about a row: one stream, or all that this kind fits. */
typedef struct expected {
    lab_theory theory;
    lab_theory_sort sort;
    bool known;
    size_t missing; /* streams that it does not fit */
} expected;

static void expect_stream(expected *sum, const lab_stream *stream, const char *kind, double bits)
{
    lab_fitted fitted;
    lab_theory theory = {0, 0, 0};
    if (lab_stream_fit(&fitted, stream, kind, bits) < 0 || !fitted.fits) {
        sum->missing++;
        return;
    }
    sum->known &= lab_kind_theory(&theory, &sum->sort, &fitted.plan, stream->count);
    sum->theory.mean += theory.mean;
    sum->theory.variance += theory.variance;
    sum->theory.asked += (double)stream->count;
}

static expected expect_row(const lab_settings *settings, size_t row, const char *kind, double bits)
{
    size_t streams = lab_streams_count(settings->streams);
    expected sum = {.known = true};
    for (size_t i = 0; i < streams; i++)
        if (row == i || row == streams)
            expect_stream(&sum, lab_stream_at(settings->streams, i), kind, bits);
    return sum;
}

/*
 * URLs that share parts are lost together, so runs vary more than independent losses would. The interval is the wider
 * one of what the runs show and of what independent losses would give.
 */
static void judge_bound(lab_entry *entry, lab_theory bound)
{
    double unit = LAB_PER_MILLION / bound.asked, runs = (double)entry->runs;
    double chance = LAB_INTERVAL_Z * sqrt(fmax(entry->measured, 1) / runs);
    double spread = fmax(chance, entry->high - entry->measured);
    entry->low = fmax(0, entry->measured - spread);
    entry->high = entry->measured + spread;
    lab_entry_scale(entry, unit);
    entry->theory = bound.mean * unit;
    if (entry->low > entry->theory) {
        entry->verdict = LAB_FAILS;
        snprintf(entry->remark, sizeof entry->remark, "more than the upper bound");
    }
}

static void judge_lost(const lab_cell *cell, lab_entry *entry)
{
    const char *kind = lab_stream_kinds[cell->column];
    expected expected = expect_row(cell->settings, cell->row, kind, ((const form *)cell->study->with)->bits);
    if (isnan(entry->measured) && expected.theory.asked > 0)
        snprintf(entry->remark, sizeof entry->remark, "in some runs it allocated more than its size");
    if (isnan(entry->measured) || !(expected.theory.asked > 0))
        return;
    if (!expected.known)
        lab_entry_scale(entry, LAB_PER_MILLION / expected.theory.asked);
    else if (expected.sort == LAB_BOUND)
        judge_bound(entry, expected.theory);
    else
        lab_entry_count(entry, cell->numbers, expected.theory, LAB_PER_MILLION);
    entry->theory_sort = expected.sort;
    if (expected.missing && !entry->remark[0])
        snprintf(entry->remark, sizeof entry->remark, "without %zu stream%s into whose memory it does not fit",
                 expected.missing, expected.missing == 1 ? "" : "s");
}

static void judge_repeats(const lab_cell *cell, lab_entry *entry)
{
    if (isnan(entry->measured))
        return;
    entry->theory = 0;
    for (uint64_t run = 0; run < entry->runs; run++)
        if (fabs(cell->numbers[run]) > 0)
            entry->verdict = LAB_FAILS;
    if (entry->verdict == LAB_FAILS)
        snprintf(entry->remark, sizeof entry->remark, "repeats changed what was lost");
}

#define LOST                                                                                                           \
    LAB_STREAMS, .unit = LAB_PER_URLS, .columns = lab_stream_kinds, .work = 5, .measure = measure_lost,                \
                 .judge = judge_lost

LAB_STUDY(streams_8, .id = "streams-8", .title = "Pages lost in streams, every kind in 8 bits per different URL",
          .note =
              "In the order of the file, with its repeats. 8 bits are the peak of all that a set allocates, measured; "
              "kinds that are not shown do not fit. For eigen and multilayer theory is an upper bound.",
          LOST, .runs_most = 10, .with = &(const form){8, LAB_FILE_ORDER});

LAB_STUDY(streams_16, .id = "streams-16", .title = "Pages lost in streams, every kind in 16 bits per different URL",
          .note = "As streams-8.", LOST, .runs_most = 10, .with = &(const form){16, LAB_FILE_ORDER});

LAB_STUDY(streams_64, .id = "streams-64", .title = "Pages lost in streams, every kind in 64 bits per different URL",
          .note = "As streams-8. Two runs, because sets with 40 positions per URL take long.", LOST, .runs_most = 2,
          .with = &(const form){64, LAB_FILE_ORDER});

LAB_STUDY(streams_8_shuffled, .id = "streams-8-shuffled",
          .title = "Pages lost in shuffled streams, every kind in 8 bits per different URL",
          .note = "As streams-8, but with the lines of a file in random order, a different one in each run.", LOST,
          .runs_most = 10, .with = &(const form){8, LAB_SHUFFLED_LINES});

LAB_STUDY(streams_repeats, .id = "streams-repeats", .title = "What the repeats of a stream change",
          .note =
              "Pages lost with the repeats, minus pages lost if each URL comes once, in its first place. In 8 bits per "
              "URL, with the same key. A URL that a filter has, or falsely sees, changes nothing in it, so the "
              "difference must be zero.",
          .unit = "pages", LAB_STREAMS, .columns = lab_stream_kinds, .runs_most = 1, .work = 7,
          .measure = measure_repeats, .judge = judge_repeats);

LAB_STUDY(
    streams_memory, .id = "streams-memory", .title = "Memory of the sets, measured",
    .note = "The peak of what a set allocates while the stream is added, for the smallest of the three sizes that the "
            "kind fits into, which is the bound. Other tables of streams leave out sets whose peak exceeds their size "
            "by more than 0.5 % and a kilobyte.",
    .unit = "bits per different URL", LAB_STREAMS, .columns = lab_stream_kinds, .runs_most = 1, .work = 5,
    .measure = measure_memory, .judge = judge_memory);
