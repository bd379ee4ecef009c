/*
 * What this process of a fleet may not fetch any more: see fetcher.h.
 *
 * Hosts change hands only when nothing is being fetched from them, and the others wait for that. So a host that is lost
 * gets no new requests, and requests to it that last are ended. If the lease of the process itself is about to end, all
 * of them are, because the others do not wait then. Their URLs stay in the queue.
 */
#include "crawler/crawl/fetcher/fetcher.h"

enum { LAST_REQUESTS = 10 * 1000 /* milliseconds that requests to a lost host may take */ };

/* ---- hosts ---- */

/* Requests for robots.txt that were not sent. Those for other hosts find out that this one does not answer. */
static void drop_direct(fetcher *fetcher, host *host)
{
    fetch_job *asked;

    while ((asked = (fetch_job *)messages_remove(&host->direct))) {
        fetch_response none = {.item = asked, .failure = FETCH_CONNECT, .may_pass = true, .why = "it is not ours"};
        host_robots_arrived(fetcher, asked, &none);
    }
}

void host_lose(fetcher *fetcher, uint64_t id)
{
    host *host = id_map_get(&fetcher->hosts, id);

    if (!host || !host->in_host_table || host->lost_at >= 0) /* it has been given back already */
        return;
    host->lost_at = fetcher->now;
    host->parked = true;
    fetcher->lost++;
    host->running++; /* keeps it in memory */
    drop_direct(fetcher, host);
    host->running--;
    if (host->queue)
        polite_want(fetcher->politeness, host->queue, false);
    host_wake_at(fetcher, fetcher->now + LAST_REQUESTS);
    host_leave_if_over(fetcher, host);
}

/* ---- requests ---- */

static void end_request(fetcher *fetcher, fetch_job *asked)
{
    host *via = asked->host;
    uint64_t id = via->id;

    if (!fetch_cancel(fetcher->crawl->downloader, asked))
        return;
    LIST_REMOVE(asked, running);
    fetcher->running--;
    via->running--;
    if (via->queue)
        polite_done(fetcher->politeness, via->queue, fetcher->now, 0);
    if (asked->robots_for) {
        messages_add(&via->direct, &asked->message);
        via->running++; /* keeps it in memory */
        if (via->lost_at >= 0)
            drop_direct(fetcher, via);
        via->running--;
    } else {
        fetcher->pages_running--;
        host_retry(fetcher, via, asked, fetcher->now);
    }
    via = id_map_get(&fetcher->hosts, id);
    if (via && via->in_host_table)
        host_refresh(fetcher, via);
    else if (via)
        host_leave_if_over(fetcher, via);
}

void lost_requests_end(fetcher *fetcher)
{
    bool all = fetcher->now >= limits_lease(fetcher);

    if (!fetcher->crawl->fleet || (!all && fetcher->lost == 0))
        return;
    for (fetch_job *one = LIST_FIRST(&fetcher->in_flight), *next; one; one = next) {
        next = LIST_NEXT(one, running);
        if (all || (one->host->lost_at >= 0 && fetcher->now - one->host->lost_at >= LAST_REQUESTS))
            end_request(fetcher, one);
    }
}

int64_t lost_requests_due(const fetcher *fetcher)
{
    return fetcher->running > 0 ? limits_lease(fetcher) : INT64_MAX;
}
