/*
 * The limits of a run: see crawl.h. URLs beyond a limit stay in the queue, so the same command with a higher limit
 * continues the crawl.
 */
#include "crawler/crawl/fetcher/fetcher.h"

bool limits_gate(const fetcher *fetcher)
{
    const crawl *c = fetcher->crawl;

    return atomic_load(&c->weight) + fetch_held(c->downloader) >= CRAWL_WEIGHT ||
           atomic_load(&c->fetch_jobs) + fetcher->pages_running >= CRAWL_PAGES + c->options.connections;
}

/* True if the fleet is not paused, and this process belongs to it. */
static bool fleet_allows(const fetcher *fetcher)
{
    const struct fleet *fleet = fetcher->crawl->fleet;

    return !fleet || (fleet_now() < fleet_may_fetch_until(fleet) && !fleet_is_out(fleet) &&
                      fleet_state_now(fleet) == FLEET_RUNNING);
}

int64_t limits_lease(const fetcher *fetcher)
{
    const struct fleet *fleet = fetcher->crawl->fleet;

    if (!fleet)
        return INT64_MAX;
    int64_t left = fleet_is_out(fleet) ? 0 : fleet_may_fetch_until(fleet) - fleet_now();
    return fetcher->now + (left > 0 ? left : 0);
}

bool limits_allow(const fetcher *fetcher)
{
    const crawl *c = fetcher->crawl;
    const crawl_options *o = &c->options;

    if (crawl_ends(c) != ENDING_NOT || fetcher->running >= o->connections || limits_gate(fetcher) ||
        !fleet_allows(fetcher))
        return false;
    /* Requests that are on their way may become pages, all of them. */
    return !o->max_pages || fetcher->pages + fetcher->pages_running < o->max_pages;
}

void limits_check(fetcher *fetcher)
{
    const crawl_options *o = &fetcher->crawl->options;

    if (o->max_pages && fetcher->pages >= o->max_pages)
        crawl_end_at(fetcher->crawl, "--max-pages");
    else if (o->max_bytes && fetcher->bytes >= o->max_bytes)
        crawl_end_at(fetcher->crawl, "--max-bytes");
    else if (fetcher->now >= limits_deadline(fetcher))
        crawl_end_at(fetcher->crawl, "--max-time");
}

int64_t limits_deadline(const fetcher *fetcher)
{
    int64_t most = fetcher->crawl->options.max_time;

    return most > 0 ? fetcher->crawl->began + most : INT64_MAX;
}

int64_t limits_next_page(const fetcher *fetcher)
{
    int64_t due = fetcher->paced_to_us - atomic_load(&fetcher->crawl->pace_ahead_us);

    return atomic_load(&fetcher->crawl->pace_us) > 0 && due > 0 ? (due + 999) / 1000 : 0;
}

void limits_count_page(fetcher *fetcher)
{
    int64_t now = fetcher->now * 1000, from = fetcher->paced_to_us > now ? fetcher->paced_to_us : now;

    fetcher->paced_to_us = from + atomic_load(&fetcher->crawl->pace_us);
}
