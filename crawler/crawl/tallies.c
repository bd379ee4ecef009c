/*
 * Counters of a crawl: see tallies.h.
 */
#include "crawler/crawl/tallies.h"

#include <stdio.h>
#include <string.h>

#include "crawler/base/url_parts.h"

enum { NAMES = 7 };

/* The counters in the order of the struct, which has nothing else. */
static const char *const names[NAMES] = {"urls", "outcomes", "pages", "bytes", "errors", "seeds_fetched", "synced_to"};

static void spread(const tallies *counts, uint64_t values[NAMES])
{
    values[0] = counts->urls;
    values[1] = counts->outcomes;
    values[2] = counts->pages;
    values[3] = counts->bytes;
    values[4] = counts->errors;
    values[5] = counts->seeds_fetched;
    values[6] = counts->synced_to;
}

int tallies_read(crawl *of, tallies *counts)
{
    int64_t values[NAMES] = {0};
    int64_t seconds_ms = 0;

    for (size_t i = 0; i < NAMES; i++) {
        int error = ledger_get(of->ledger, names[i], &values[i]);
        if (error && error != VIDI_EABSENT)
            return error;
    }
    int error = ledger_get(of->ledger, "seconds_ms", &seconds_ms);
    if (error && error != VIDI_EABSENT)
        return error;
    of->seconds_ms = seconds_ms;
    *counts = (tallies){.urls = (uint64_t)values[0],
                        .outcomes = (uint64_t)values[1],
                        .pages = (uint64_t)values[2],
                        .bytes = (uint64_t)values[3],
                        .errors = (uint64_t)values[4],
                        .seeds_fetched = (uint64_t)values[5],
                        .synced_to = of->synced_to};
    return VIDI_OK;
}

static int write_stats(crawl *of, const vidi_stats *stats)
{
    char lost[40];

    snprintf(lost, sizeof lost, "%.17g", stats->expected_lost);
    int error = ledger_set_text(of->ledger, "expected_lost", (vidi_str){lost, strlen(lost)});
    return error ? error : ledger_set(of->ledger, "fp_meaning", stats->fp_meaning);
}

static int write_archive(crawl *of)
{
    if (!of->archive)
        return VIDI_OK;
    archive_place end = archive_end(of->archive);
    uint64_t mark;
    int error = archive_mark(of->archive, &mark);
    if (error == VIDI_OK)
        error = ledger_set(of->ledger, "archive_mark", (int64_t)mark);
    if (error == VIDI_OK)
        error = ledger_set(of->ledger, "archive_file", end.file);
    return error ? error : ledger_set(of->ledger, "archive_length", (int64_t)end.length);
}

int tallies_write(crawl *of, const tallies *counts, const vidi_stats *stats)
{
    uint64_t values[NAMES];
    int64_t run = crawl_now(of) - of->began;
    int error = VIDI_OK;

    spread(counts, values);
    for (size_t i = 0; i < NAMES && error == VIDI_OK; i++)
        error = ledger_set(of->ledger, names[i], (int64_t)values[i]);
    if (error == VIDI_OK)
        error = ledger_set(of->ledger, "seconds_ms", of->seconds_ms + run);
    if (error == VIDI_OK && stats)
        error = write_stats(of, stats);
    if (error == VIDI_OK)
        error = write_archive(of);
    if (error == VIDI_OK && of->ends)
        error = ledger_mark(of->ledger, true);
    return error ? error : output_commit(&of->output, of->ledger, of->ends);
}

void tallies_show(crawl *of, const tallies *counts)
{
    pthread_mutex_lock(&of->about);
    of->progress.pages = counts->pages;
    of->progress.bytes = counts->bytes;
    of->progress.errors = counts->errors;
    of->progress.queue = counts->urls - counts->outcomes;
    of->progress.seeds_fetched = counts->seeds_fetched;
    pthread_mutex_unlock(&of->about);
}

int tallies_host_key(const url_keys *keys, vidi_str url, uint64_t *key)
{
    url_parts parts;

    if (!url_split(url, &parts))
        return VIDI_EARGUMENT;
    return url_keys_make(keys, &parts.origin, 1, key);
}
