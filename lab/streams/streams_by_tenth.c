/*
 * When in a stream pages are lost. A filter is empty at first, so late URLs are lost more often; but in most streams
 * new URLs become rare. We count the losses in each tenth of the lines, for the classic filter with 8 bits per URL. The
 * columns of a row add up to its cell in streams-8.
 *
 * Theory: between the tenths the filter has got known numbers of different URLs, and a URL that comes at a moment is
 * lost with the probability of the fill at that moment.
 */
#include <math.h>

#include "lab/kinds/kinds.h"
#include "lab/streams/streams.h"

#define KIND "classic"
#define BITS 8.0

const char *const lab_streams_tenths[] = {"1st tenth", "2nd", "3rd", "4th",        "5th", "6th",
                                          "7th",       "8th", "9th", "last tenth", NULL};

static int measure_stream(const lab_stream *stream, const lab_settings *settings, uint64_t run, double *numbers)
{
    LAB_OWN(lab_sequence_free) lab_sequence sequence = {0};
    lab_fitted fitted;
    lab_pass pass;
    for (size_t tenth = 0; tenth < LAB_TENTHS; tenth++)
        numbers[tenth] = (double)NAN;
    LAB_TRY(lab_stream_fit(&fitted, stream, KIND, BITS));
    if (!fitted.fits)
        return VIDI_OK;
    LAB_TRY(lab_sequence_make(&sequence, stream, LAB_FILE_ORDER, settings, run));
    LAB_TRY(lab_stream_pass(&pass, stream, &sequence, &fitted, settings, run));
    for (size_t tenth = 0; tenth < LAB_TENTHS; tenth++)
        numbers[tenth] = (double)pass.lost_in[tenth];
    return VIDI_OK;
}

static int measure_by_tenth(const lab_settings *settings, uint64_t run, double *numbers)
{
    size_t streams = lab_streams_count(settings->streams);
    double *all = &numbers[streams * LAB_TENTHS];
    for (size_t tenth = 0; tenth < LAB_TENTHS; tenth++)
        all[tenth] = 0;
    for (size_t i = 0; i < streams; i++) {
        double *row = &numbers[i * LAB_TENTHS];
        LAB_TRY(measure_stream(lab_stream_at(settings->streams, i), settings, run, row));
        for (size_t tenth = 0; tenth < LAB_TENTHS && !isnan(row[0]); tenth++)
            all[tenth] += row[tenth];
    }
    return VIDI_OK;
}

/* How many different URLs the first lines have. */
static uint64_t urls_until(const lab_stream *stream, uint64_t lines)
{
    uint64_t urls = 0;
    for (uint64_t i = 0; i < lines; i++)
        urls += stream->urls[i] == urls;
    return urls;
}

/* The pages that a filter for the whole stream loses among its first `urls` URLs. */
static double lost_until(const vidi_plan_entry *plan, uint64_t urls)
{
    lab_theory theory = {0, 0, 0};
    lab_theory_sort sort;
    return urls > 0 && lab_kind_theory(&theory, &sort, plan, urls) ? theory.mean : 0;
}

static void expect_stream(lab_theory *sum, const lab_stream *stream, size_t tenth)
{
    lab_fitted fitted;
    if (lab_stream_fit(&fitted, stream, KIND, BITS) < 0 || !fitted.fits)
        return;
    uint64_t before = urls_until(stream, stream->lines * tenth / LAB_TENTHS);
    uint64_t until = urls_until(stream, stream->lines * (tenth + 1) / LAB_TENTHS);
    double mean = lost_until(&fitted.plan, until) - lost_until(&fitted.plan, before);
    sum->mean += mean;
    sum->variance += mean;
    sum->asked += (double)stream->count;
}

static void judge_by_tenth(const lab_cell *cell, lab_entry *entry)
{
    size_t streams = lab_streams_count(cell->settings->streams);
    lab_theory sum = {0, 0, 0};
    for (size_t i = 0; i < streams; i++)
        if (cell->row == i || cell->row == streams)
            expect_stream(&sum, lab_stream_at(cell->settings->streams, i), cell->column);
    if (sum.asked > 0 && !isnan(entry->measured))
        lab_entry_count(entry, cell->numbers, sum, LAB_PER_MILLION);
}

LAB_STUDY(
    streams_by_tenth, .id = "streams-by-tenth", .title = "When in a stream pages are lost",
    .note = "The classic filter of streams-8. Pages lost in each tenth of the lines, per million different URLs of the "
            "whole stream: the columns of a row add up to its cell in streams-8.",
    .unit = LAB_PER_URLS, LAB_STREAMS, .columns = lab_streams_tenths, .runs_most = 10, .work = 0.5,
    .measure = measure_by_tenth, .judge = judge_by_tenth);
