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
    lab_sequence sequence;
    lab_fitted fitted;
    lab_pass pass;
    int code = lab_sequence_make(&sequence, stream, order, settings, run);
    for (size_t kind = 0; kind < LAB_STREAM_KINDS && code == VIDI_OK; kind++) {
        numbers[kind] = (double)NAN;
        code = fit(&fitted, stream, lab_stream_kinds[kind], bits);
        if (code < 0 || !fitted.fits)
            continue;
        code = lab_stream_pass(&pass, stream, &sequence, &fitted, settings, run);
        numbers[kind] = take(&pass, stream);
    }
    lab_sequence_free(&sequence);
    return code;
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

static int measure(const lab_settings *settings, uint64_t run, double bits, lab_stream_order order, double *numbers)
{
    size_t streams = lab_streams_count(settings->streams);
    for (size_t i = 0; i < streams; i++)
        LAB_TRY(measure_stream(lab_stream_at(settings->streams, i), bits, order, settings, run, take_lost,
                               &numbers[i * LAB_STREAM_KINDS]));
    add_sums(numbers, streams, LAB_STREAM_KINDS);
    return VIDI_OK;
}

int lab_streams_8_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    return measure(settings, run, 8, LAB_FILE_ORDER, numbers);
}

int lab_streams_16_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    return measure(settings, run, 16, LAB_FILE_ORDER, numbers);
}

int lab_streams_64_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    return measure(settings, run, 64, LAB_FILE_ORDER, numbers);
}

int lab_streams_8_shuffled_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    return measure(settings, run, 8, LAB_SHUFFLED_LINES, numbers);
}

/* The difference that the repeats of a stream make. */
int lab_streams_repeats_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    size_t cells = (lab_streams_count(settings->streams) + 1) * LAB_STREAM_KINDS;
    double *once = malloc(cells * sizeof *once);
    if (!once)
        return lab_fail(VIDI_EMEMORY, "no memory for %zu cells", cells);
    int code = measure(settings, run, 8, LAB_FILE_ORDER, numbers);
    if (code == VIDI_OK)
        code = measure(settings, run, 8, LAB_EACH_ONCE, once);
    for (size_t i = 0; i < cells && code == VIDI_OK; i++)
        numbers[i] -= once[i];
    free(once);
    return code;
}

/* ---- memory ---- */

int lab_streams_memory_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    size_t streams = lab_streams_count(settings->streams);
    for (size_t i = 0; i < streams; i++)
        LAB_TRY(measure_stream(lab_stream_at(settings->streams, i), SMALLEST, LAB_FILE_ORDER, settings, run, take_peak,
                               &numbers[i * LAB_STREAM_KINDS]));
    for (size_t kind = 0; kind < LAB_STREAM_KINDS; kind++) /* sizes differ, so there is no sum */
        numbers[streams * LAB_STREAM_KINDS + kind] = (double)NAN;
    return VIDI_OK;
}

void lab_streams_memory_judge(const lab_cell *cell, lab_entry *entry)
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

static double bits_of(const lab_study *study)
{
    return study->measure == lab_streams_64_measure ? 64 : study->measure == lab_streams_16_measure ? 16 : 8;
}

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

void lab_streams_lost_judge(const lab_cell *cell, lab_entry *entry)
{
    const char *kind = lab_stream_kinds[cell->column];
    expected of = expect_row(cell->settings, cell->row, kind, bits_of(cell->study));
    if (isnan(entry->measured) && of.theory.asked > 0)
        snprintf(entry->remark, sizeof entry->remark, "in some runs it allocated more than its size");
    if (isnan(entry->measured) || !(of.theory.asked > 0))
        return;
    if (!of.known)
        lab_entry_scale(entry, LAB_PER_MILLION / of.theory.asked);
    else if (of.sort == LAB_BOUND)
        judge_bound(entry, of.theory);
    else
        lab_entry_count(entry, cell->numbers, of.theory, LAB_PER_MILLION);
    entry->theory_sort = of.sort;
    if (of.missing && !entry->remark[0])
        snprintf(entry->remark, sizeof entry->remark, "without %zu stream%s into whose memory it does not fit",
                 of.missing, of.missing == 1 ? "" : "s");
}

void lab_streams_repeats_judge(const lab_cell *cell, lab_entry *entry)
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
