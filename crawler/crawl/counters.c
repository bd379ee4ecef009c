/*
 * Counters of a crawl: see counters.h.
 */
#include "crawler/crawl/counters.h"

#include <stddef.h>

/* The counters that `meta` has, by name. */
static const struct {
    const char *name;
    size_t at; /* in the struct */
} kept[] = {{"urls", offsetof(counters, urls)},          {"outcomes", offsetof(counters, outcomes)},
            {"pages", offsetof(counters, pages)},        {"bytes", offsetof(counters, bytes)},
            {"errors", offsetof(counters, errors)},      {"seeds_fetched", offsetof(counters, seeds_fetched)},
            {"synced_to", offsetof(counters, synced_to)}};

enum { KEPT = sizeof kept / sizeof kept[0] };

int counters_read(crawl *crawl, counters *counts)
{
    int error = db_get(crawl->db, "seconds_ms", &crawl->seconds_ms);

    *counts = (counters){0};
    for (size_t i = 0; i < KEPT && (error == VIDI_OK || error == VIDI_EABSENT); i++)
        error = db_get(crawl->db, kept[i].name, (int64_t *)((char *)counts + kept[i].at));
    counts->synced_to = crawl->synced_to;
    return error == VIDI_EABSENT ? VIDI_OK : error;
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
    int64_t run = crawl_now(crawl) - crawl->began;
    int error = VIDI_OK;

    for (size_t i = 0; i < KEPT && error == VIDI_OK; i++)
        error = db_set(crawl->db, kept[i].name, *(const int64_t *)((const char *)counts + kept[i].at));
    if (error == VIDI_OK)
        error = db_set(crawl->db, "seconds_ms", crawl->seconds_ms + run);
    if (error == VIDI_OK && stats)
        error = db_visit_lost(crawl->db, stats->expected_lost, stats->fp_meaning);
    if (error == VIDI_OK)
        error = write_archive(crawl);
    if (error == VIDI_OK && crawl->ends)
        error = db_mark(crawl->db, true);
    if (error == VIDI_OK && crawl->ends) /* what is left waits for parked hosts or budgets, and --revisit does not */
        error = db_set(crawl->db, "exhausted", crawl_ends(crawl) == ENDING_DONE);
    if (error == VIDI_OK && crawl->ends && counts->urls == counts->outcomes)
        error = db_visit_end(crawl->db, crawl_date(crawl));
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
