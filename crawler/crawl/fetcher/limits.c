/*
 * The limits of a run: see crawl.h. URLs beyond a limit stay in the queue, so the same command with a higher limit
 * continues the crawl.
 */
#include "crawler/crawl/fetcher/fetcher.h"

bool limits_gate(const fetcher *of)
{
    const crawl *c = of->crawl;

    return atomic_load(&c->weight) + fetch_held(c->downloader) >= CRAWL_WEIGHT ||
           atomic_load(&c->fetch_jobs) + of->pages_running >= CRAWL_PAGES + c->options.connections;
}

bool limits_allow(const fetcher *of)
{
    const crawl *c = of->crawl;
    const crawl_options *o = &c->options;

    if (crawl_ends(c) != ENDING_NOT || of->running >= o->connections || limits_gate(of))
        return false;
    /* Requests that are on their way may become pages, all of them. */
    return !o->max_pages || of->pages + of->pages_running < o->max_pages;
}

void limits_check(fetcher *of)
{
    const crawl_options *o = &of->crawl->options;

    if (o->max_pages && of->pages >= o->max_pages)
        crawl_end_at(of->crawl, "--max-pages");
    else if (o->max_bytes && of->bytes >= o->max_bytes)
        crawl_end_at(of->crawl, "--max-bytes");
    else if (of->now >= limits_deadline(of))
        crawl_end_at(of->crawl, "--max-time");
}

int64_t limits_deadline(const fetcher *of)
{
    int64_t most = of->crawl->options.max_time;

    return most > 0 ? of->crawl->began + most : INT64_MAX;
}
