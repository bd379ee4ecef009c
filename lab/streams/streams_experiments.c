/* The list of experiments with streams of real URLs. streams_*.c measure them. */
#include "lab/streams/streams.h"

#define OURS "vidi"
#define PER_MILLION "pages per million different URLs"
#define STREAMS .rows = lab_streams_any_rows, .streams = true
#define LOST                                                                                                           \
    STREAMS, .source = OURS, .unit = PER_MILLION, .columns = lab_stream_kinds, .work = 5,                              \
             .judge = lab_streams_lost_judge

const lab_study lab_streams_studies[] = {
    {.id = "streams-what",
     .title = "The streams: real URLs in the order of their files",
     .source = OURS,
     .note = "The first lines of each file, as many as --urls says. A URL is what its bytes say, in no canonical form.",
     .unit = "units of the column",
     STREAMS,
     .columns = lab_streams_properties_columns,
     .runs_most = 1,
     .work = 1,
     .measure = lab_streams_properties_measure},
    {.id = "streams-canon",
     .title = "Lines that repeat an earlier page, by canonical form",
     .source = OURS,
     .note =
         "An exact set of all URLs, in the canonical form of the column. Theory is the count of the lab's own exact "
         "set.",
     .unit = "% of the lines",
     STREAMS,
     .columns = lab_streams_forms,
     .runs_most = 1,
     .work = 6,
     .measure = lab_streams_canon_measure,
     .judge = lab_streams_canon_judge},
    {.id = "streams-8",
     .title = "Pages lost in streams, every kind in 8 bits per different URL",
     .note = "In the order of the file, with its repeats. 8 bits are the peak of all that a set allocates, measured; "
             "kinds that are not shown do not fit. For eigen and multilayer theory is an upper bound.",
     LOST,
     .runs_most = 10,
     .measure = lab_streams_8_measure},
    {.id = "streams-16",
     .title = "Pages lost in streams, every kind in 16 bits per different URL",
     .note = "As streams-8.",
     LOST,
     .runs_most = 10,
     .measure = lab_streams_16_measure},
    {.id = "streams-64",
     .title = "Pages lost in streams, every kind in 64 bits per different URL",
     .note = "As streams-8. Two runs, because sets with 40 positions per URL take long.",
     LOST,
     .runs_most = 2,
     .measure = lab_streams_64_measure},
    {.id = "streams-8-shuffled",
     .title = "Pages lost in shuffled streams, every kind in 8 bits per different URL",
     .note = "As streams-8, but with the lines of a file in random order, a different one in each run.",
     LOST,
     .runs_most = 10,
     .measure = lab_streams_8_shuffled_measure},
    {.id = "streams-repeats",
     .title = "What the repeats of a stream change",
     .source = OURS,
     .note = "Pages lost with the repeats, minus pages lost if each URL comes once, in its first place. In 8 bits per "
             "URL, with the same key. A URL that a filter has, or falsely sees, changes nothing in it, so the "
             "difference must be zero.",
     .unit = "pages",
     STREAMS,
     .columns = lab_stream_kinds,
     .runs_most = 1,
     .work = 7,
     .measure = lab_streams_repeats_measure,
     .judge = lab_streams_repeats_judge},
    {.id = "streams-memory",
     .title = "Memory of the sets, measured",
     .source = OURS,
     .note = "The peak of what a set allocates while the stream is added, for the smallest of the three sizes that the "
             "kind fits into, which is the bound. Other tables of streams leave out sets whose peak exceeds their size "
             "by more than 0.5 % and a kilobyte.",
     .unit = "bits per different URL",
     STREAMS,
     .columns = lab_stream_kinds,
     .runs_most = 1,
     .work = 5,
     .measure = lab_streams_memory_measure,
     .judge = lab_streams_memory_judge},
    {.id = "streams-when",
     .title = "When in a stream pages are lost",
     .source = OURS,
     .note =
         "The classic filter of streams-8. Pages lost in each tenth of the lines, per million different URLs of the "
         "whole stream: the columns of a row add up to its cell in streams-8.",
     .unit = PER_MILLION,
     STREAMS,
     .columns = lab_streams_tenths,
     .runs_most = 10,
     .work = 0.5,
     .measure = lab_streams_by_tenth_measure,
     .judge = lab_streams_by_tenth_judge},
    {.id = NULL},
};
