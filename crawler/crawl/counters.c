/*
 * Counters of a crawl: see counters.h.
 */
#include "crawler/crawl/counters.h"

#include <stdio.h>
#include <string.h>

#include "crawler/base/url_parts.h"

enum { NAMES = 7 };

/* The counters in the order of the struct, which has nothing else. */
static const char *const names[NAMES] = {"urls", "outcomes", "pages", "bytes", "errors", "seeds_fetched", "synced_to"};

static void spread(const counters *counts, uint64_t values[NAMES])
{
    values[0] = counts->urls;
    values[1] = counts->outcomes;
    values[2] = counts->pages;
    values[3] = counts->bytes;
    values[4] = counts->errors;
    values[5] = counts->seeds_fetched;
    values[6] = counts->synced_to;
}

int counters_read(crawl *crawl, counters *counts)
{
    int64_t values[NAMES] = {0};
    int64_t seconds_ms = 0;

    for (size_t i = 0; i < NAMES; i++) {
        int error = db_get(crawl->db, names[i], &values[i]);
        if (error && error != VIDI_EABSENT)
            return error;
    }
    int error = db_get(crawl->db, "seconds_ms", &seconds_ms);
    if (error && error != VIDI_EABSENT)
        return error;
    crawl->seconds_ms = seconds_ms;
    *counts = (counters){.urls = (uint64_t)values[0],
                         .outcomes = (uint64_t)values[1],
                         .pages = (uint64_t)values[2],
                         .bytes = (uint64_t)values[3],
                         .errors = (uint64_t)values[4],
                         .seeds_fetched = (uint64_t)values[5],
                         .synced_to = crawl->synced_to};
    return VIDI_OK;
}

static int write_stats(crawl *crawl, const vidi_stats *stats)
{
    char lost[40];

    snprintf(lost, sizeof lost, "%.17g", stats->expected_lost);
    int error = db_set_text(crawl->db, "expected_lost", (vidi_str){lost, strlen(lost)});
    return error ? error : db_set(crawl->db, "fp_meaning", stats->fp_meaning);
}

static int write_archive(crawl *crawl)
{
    if (!crawl->archive)
        return VIDI_OK;
    archive_place end = archive_end(crawl->archive);
    uint64_t mark;
    int error = archive_mark(crawl->archive, &mark);
    if (error == VIDI_OK)
        error = db_set(crawl->db, "archive_mark", (int64_t)mark);
    if (error == VIDI_OK)
        error = db_set(crawl->db, "archive_file", end.file);
    return error ? error : db_set(crawl->db, "archive_length", (int64_t)end.length);
}

int counters_write(crawl *crawl, const counters *counts, const vidi_stats *stats)
{
    uint64_t values[NAMES];
    int64_t run = crawl_now(crawl) - crawl->began;
    int error = VIDI_OK;

    spread(counts, values);
    for (size_t i = 0; i < NAMES && error == VIDI_OK; i++)
        error = db_set(crawl->db, names[i], (int64_t)values[i]);
    if (error == VIDI_OK)
        error = db_set(crawl->db, "seconds_ms", crawl->seconds_ms + run);
    if (error == VIDI_OK && stats)
        error = write_stats(crawl, stats);
    if (error == VIDI_OK)
        error = write_archive(crawl);
    if (error == VIDI_OK && crawl->ends)
        error = db_mark(crawl->db, true);
    return error ? error : output_commit(&crawl->output, crawl->db, crawl->ends);
}

void counters_show(crawl *crawl, const counters *counts)
{
    pthread_mutex_lock(&crawl->about);
    crawl->progress.pages = counts->pages;
    crawl->progress.bytes = counts->bytes;
    crawl->progress.errors = counts->errors;
    crawl->progress.queue = counts->urls - counts->outcomes;
    crawl->progress.seeds_fetched = counts->seeds_fetched;
    pthread_mutex_unlock(&crawl->about);
}

int url_host_key(const url_keys *keys, vidi_str url, uint64_t *key)
{
    url_parts parts;

    if (!url_split(url, &parts))
        return VIDI_EARGUMENT;
    return url_keys_make(keys, &parts.origin, 1, key);
}
