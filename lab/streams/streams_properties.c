/*
 * What the streams are: how many lines, URLs and hosts they have, and how many lines repeat an earlier one, also if
 * different spellings of one page count as one. Nothing here is random.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/streams/streams.h"

/* ---- what they are ---- */

enum { LINES, URLS, LINES_PER_URL, BYTES_PER_URL, HOSTS, LARGEST_HOST, COLUMNS };

static const char *const properties_columns[] = {
    "lines", "different URLs", "lines per URL", "bytes per URL", "hosts", "% of the URLs at the largest host", NULL};

/* The host as it is written: without user and port. Empty if there is none. */
static vidi_str host_of(vidi_str url)
{
    const char *end = url.ptr + url.len, *start = memmem(url.ptr, url.len, "://", 3), *at;
    if (!start)
        return (vidi_str){url.ptr, 0};
    start += 3;
    for (at = start; at < end && !strchr("/?#\\", *at); at++)
        if (*at == '@')
            start = at + 1;
    end = at;
    for (at = start; at < end && *at != ':'; at++)
        ;
    return (vidi_str){start, (size_t)(at - start)};
}

/* Hosts are counted like URLs: as a stream, by an exact set. */
static int count_hosts(const lab_stream *stream, double *hosts, double *largest)
{
    lab_streams *made;
    int code = lab_streams_make(&made, stream->count);
    if (code == VIDI_OK)
        code = lab_streams_begin(made, "hosts");
    for (uint64_t i = 0; i < stream->count && code >= 0; i++)
        code = lab_streams_add(made, host_of(lab_stream_url(stream, i)));
    *hosts = *largest = 0;
    if (code >= 0 && lab_streams_end(made) == VIDI_OK) { /* otherwise no line has a host */
        const lab_stream *list = lab_stream_at(made, 0);
        uint64_t *pages = calloc(list->count, sizeof *pages), most = 0;
        for (uint64_t i = 0; pages && i < list->lines; i++)
            most = ++pages[list->urls[i]] > most ? pages[list->urls[i]] : most;
        code = pages ? code : lab_fail(VIDI_EMEMORY, "no memory for %llu hosts", (unsigned long long)list->count);
        free(pages);
        *hosts = (double)list->count;
        *largest = (double)most;
    }
    lab_streams_free(made);
    return code < 0 ? code : VIDI_OK;
}

static int measure_properties(const lab_settings *settings, uint64_t run, double *numbers)
{
    size_t streams = lab_streams_count(settings->streams);
    double *all = &numbers[streams * COLUMNS], bytes = 0;
    (void)run;
    all[LINES] = all[URLS] = 0;
    all[HOSTS] = all[LARGEST_HOST] = (double)NAN;
    for (size_t i = 0; i < streams; i++) {
        const lab_stream *stream = lab_stream_at(settings->streams, i);
        double *row = &numbers[i * COLUMNS], largest, length = (double)stream->starts[stream->count];
        row[LINES] = (double)stream->lines;
        row[URLS] = (double)stream->count;
        row[LINES_PER_URL] = row[LINES] / row[URLS];
        row[BYTES_PER_URL] = length / row[URLS];
        LAB_TRY(count_hosts(stream, &row[HOSTS], &largest));
        row[LARGEST_HOST] = 100 * largest / row[URLS];
        all[LINES] += row[LINES];
        all[URLS] += row[URLS];
        bytes += length;
    }
    all[LINES_PER_URL] = all[LINES] / all[URLS];
    all[BYTES_PER_URL] = bytes / all[URLS];
    return VIDI_OK;
}

/* ---- repeats, by canonical form ---- */

enum { FORMS = 3 };

static const char *const forms[] = {"none", "whatwg", "crawl", NULL};

/* How many pages there are if a URL's canonical form is what counts. */
static int count_pages(const lab_stream *stream, const char *form, double *pages)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_stats stats = {.size = sizeof stats};
    LAB_OWN(lab_close) vidi_set *set = NULL;
    options.kind = "hashset";
    options.canon = form;
    LAB_TRY(vidi_create(&set, &options));
    for (uint64_t i = 0; i < stream->count; i++)
        LAB_TRY(vidi_add(set, lab_stream_url(stream, i)));
    LAB_TRY(vidi_stat(set, &stats));
    *pages = (double)stats.count;
    return VIDI_OK;
}

static int measure_canon(const lab_settings *settings, uint64_t run, double *numbers)
{
    size_t streams = lab_streams_count(settings->streams);
    double lines = 0, pages, all[FORMS] = {0};
    (void)run;
    for (size_t i = 0; i < streams; i++) {
        const lab_stream *stream = lab_stream_at(settings->streams, i);
        lines += (double)stream->lines;
        for (size_t form = 0; form < FORMS; form++) {
            if (lab_stopped(settings))
                return LAB_STOPPED;
            LAB_TRY(count_pages(stream, forms[form], &pages));
            numbers[i * FORMS + form] = 100 * (1 - pages / (double)stream->lines);
            all[form] += pages;
        }
    }
    for (size_t form = 0; form < FORMS; form++)
        numbers[streams * FORMS + form] = 100 * (1 - all[form] / lines);
    return VIDI_OK;
}

/* Without a canonical form, the lab's own exact set must count as many as the library's. */
static void judge_canon(const lab_cell *cell, lab_entry *entry)
{
    const lab_stream *stream = lab_stream_at(cell->settings->streams, cell->row);
    if (cell->column != 0 || !stream || stream->lines == 0)
        return;
    entry->theory = 100 * (1 - (double)stream->count / (double)stream->lines);
    if (fabs(entry->theory - entry->measured) > 1e-9) {
        entry->verdict = LAB_FAILS;
        snprintf(entry->remark, sizeof entry->remark, "the exact sets of the lab and of the library disagree");
    }
}

LAB_STUDY(
    streams_properties, .id = "streams-properties", .title = "The streams: real URLs in the order of their files",
    .note = "The first lines of each file, as many as --urls says. A URL is what its bytes say, in no canonical form.",
    .unit = "units of the column", LAB_STREAMS, .columns = properties_columns, .runs_most = 1, .work = 1,
    .measure = measure_properties);

LAB_STUDY(
    streams_canon, .id = "streams-canon", .title = "Lines that repeat an earlier page, by canonical form",
    .note = "An exact set of all URLs, in the canonical form of the column. Theory is the count of the lab's own exact "
            "set.",
    .unit = "% of the lines", LAB_STREAMS, .columns = forms, .runs_most = 1, .work = 6, .measure = measure_canon,
    .judge = judge_canon);
