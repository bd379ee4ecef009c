/*
 * The fetcher's loop: see fetcher.h.
 */
#include "crawler/crawl/fetcher/fetcher.h"

#include <stdlib.h>
#include <string.h>

enum {
    EVENTS = 256,       /* looked at before something new is begun */
    LONGEST = 1000,     /* milliseconds: a wait that nothing ends is looked at again after this */
    GATED = 20,         /* the same, while too much is on its way */
    HAND_OVER = 16,     /* pages that are handed to the parsers together */
    SOON = 200,         /* milliseconds: a fetcher that waits for longer is starving */
    LAST_MOMENTS = 5000 /* milliseconds that requests get to end when the time is over */
};

/* ---- handing over ---- */

static void flush(fetcher *of)
{
    crawl *c = of->crawl;
    messages pages = of->to_parsers;

    of->to_parsers = (messages){0};
    if (pages.first && !message_queue_put(&c->to_parsers, &pages))
        messages_free(&pages);
    crawl_to_storage(c, &of->to_storage);
}

void fetcher_to_parsers(fetcher *of, fetch_job *page)
{
    crawl *c = of->crawl;

    atomic_fetch_add(&c->busy, 1);
    atomic_fetch_add(&c->fetch_jobs, 1);
    atomic_fetch_add(&c->weight, page->weight);
    messages_add(&of->to_parsers, &page->message);
    if (of->to_parsers.count >= HAND_OVER)
        flush(of);
}

void fetcher_to_storage(fetcher *of, message *one)
{
    crawl *c = of->crawl;

    atomic_fetch_add(&c->busy, 1);
    if (one->kind == MESSAGE_FETCH_JOB) {
        atomic_fetch_add(&c->fetch_jobs, 1);
        ((fetch_job *)one)->weight = sizeof(fetch_job);
        atomic_fetch_add(&c->weight, sizeof(fetch_job));
    }
    messages_add(&of->to_storage, one);
}

static void take_in(fetcher *of)
{
    messages arrived = {0};
    message *one;

    message_queue_take(&of->crawl->to_fetcher, &arrived, SIZE_MAX, 0);
    while ((one = messages_remove(&arrived))) {
        if (one->kind == MESSAGE_URL_BLOCK) {
            host_take_block(of, (url_block *)one);
            continue;
        }
        if (one->kind == MESSAGE_HOST_INFO)
            host_take_info(of, (host_info *)one);
        else
            host_make_room(of);
        message_free(one);
    }
}

/* ---- asking ---- */

static bool start(fetcher *of, host *host, fetch_job *asks)
{
    bool outside = asks->url.kind == FRONTIER_OUTSIDE && !asks->robots_for;
    fetch_request request = {.item = asks,
                             .url = asks->url.url,
                             .address = host->address,
                             .head = outside && !asks->by_get,
                             .headers = host->headers,
                             .header_count = host->header_count,
                             .may_cut = asks->robots_for || outside,
                             .is_fresh = asks->failures > 0};

    if (asks->robots_for)
        request.max_body = ROBOTS_LIMIT;
    else if (outside)
        request.max_body = CRAWL_OUTSIDE_BODY;
    if (fetch_start(of->crawl->downloader, &request) != VIDI_OK) {
        polite_return(of->politeness, host->queue);
        fetch_job_free(asks);
        crawl_no_memory(of->crawl);
        return false;
    }
    asks->behind = of->on_their_way;
    asks->before = NULL;
    if (asks->behind)
        asks->behind->before = asks;
    of->on_their_way = asks;
    of->running++;
    host->running++;
    of->pages_running += asks->robots_for == NULL;
    return true;
}

/* Begins what may be begun. */
static void ask_around(fetcher *of)
{
    host *host;

    while (limits_allow(of) && (host = polite_next(of->politeness, of->now))) {
        fetch_job *asks = host_next(of, host);
        if (!asks)
            polite_return(of->politeness, host->queue);
        else if (!start(of, host, asks))
            return;
        host_refresh(of, host);
    }
}

/* Something that was put off is due: looks at all hosts. */
static void wake_due(fetcher *of)
{
    if (of->now < of->next_due)
        return;
    of->next_due = INT64_MAX;
    for (size_t i = of->hosts.count; i-- > 0;) {
        if (i >= of->hosts.count) /* some were forgotten meanwhile */
            continue;
        host *host = of->list[i];
        for (const message *one = host->retries.first; one; one = one->next)
            if (((const fetch_job *)one)->due > of->now)
                host_wake_at(of, ((const fetch_job *)one)->due);
        host_refresh(of, host);
    }
}

/* ---- waiting ---- */

static int64_t earliest(const fetcher *of)
{
    int64_t when = polite_when(of->politeness), deadline = limits_deadline(of);

    when = of->next_due < when ? of->next_due : when;
    return deadline < when ? deadline : when;
}

static void note_starving(fetcher *of, bool starving)
{
    crawl *c = of->crawl;

    if (atomic_exchange(&c->starving, starving) != starving && starving && atomic_load(&c->busy) > 0)
        message_queue_wake(&c->to_storage);
}

/* Nothing is going on anywhere, so only time can change something. */
static bool skip_time(fetcher *of, int64_t until)
{
    crawl *c = of->crawl;

    if (!c->clock.skip || until == INT64_MAX || fetch_running(c->downloader) > 0 || atomic_load(&c->busy) > 0)
        return false;
    take_in(of); /* what the storage thread sent before it had nothing more to do */
    if (atomic_load(&c->busy) > 0 || fetch_running(c->downloader) > 0 || earliest(of) != until)
        return false;
    c->clock.skip(c->clock.context, until);
    return true;
}

/* How long to wait for an event, in milliseconds. */
static int64_t patience(fetcher *of)
{
    if (crawl_ends(of->crawl) != ENDING_NOT)
        return GATED;
    if (!limits_allow(of)) {
        note_starving(of, limits_gate(of));
        return GATED;
    }
    int64_t until = earliest(of), wait = until == INT64_MAX ? LONGEST : until - of->now;
    note_starving(of, wait > SOON);
    flush(of);
    if (wait > 0 && skip_time(of, until))
        return 0;
    if (of->crawl->clock.skip && wait > 5)
        return 5;
    return wait < 0 ? 0 : wait < LONGEST ? wait : LONGEST;
}

/* ---- the loop ---- */

static void take_event(fetcher *of, const fetch_event *event)
{
    if (event->kind == FETCH_RESOLVED)
        address_arrived(of, event);
    else
        response_arrived(of, event->response);
}

static void listen(fetcher *of, int64_t ms)
{
    fetch_event event;
    int result = fetch_wait(of->crawl->downloader, ms, &event);

    of->now = crawl_now(of->crawl);
    for (int i = 0; result > 0 && i < EVENTS; i++) {
        take_event(of, &event);
        result = fetch_wait(of->crawl->downloader, 0, &event);
    }
    if (result > 0)
        take_event(of, &event);
    if (result < 0)
        crawl_fail(of->crawl, "cannot fetch: %s", vidi_strerror(result));
}

static void show_progress(fetcher *of)
{
    crawl *c = of->crawl;

    pthread_mutex_lock(&c->about);
    c->progress.pages_this_run = of->pages - of->pages_began;
    c->progress.bytes_this_run = of->bytes - of->bytes_began;
    c->progress.running = of->running;
    c->progress.hosts_waiting = polite_waiting(of->politeness);
    pthread_mutex_unlock(&c->about);
}

/* At a limit, requests that have begun may end, as long as that does not take long. */
static bool is_over(const fetcher *of)
{
    crawl_ending ending = crawl_ends(of->crawl);

    if (ending != ENDING_LIMIT)
        return ending != ENDING_NOT;
    int64_t deadline = limits_deadline(of);
    return of->pages_running == 0 || (deadline != INT64_MAX && of->now - deadline >= LAST_MOMENTS);
}

static void loop(fetcher *of)
{
    while (!is_over(of)) {
        of->now = crawl_now(of->crawl);
        take_in(of);
        wake_due(of);
        limits_check(of);
        ask_around(of);
        show_progress(of);
        flush(of);
        if (!is_over(of))
            listen(of, patience(of));
    }
    flush(of);
    show_progress(of);
}

/* Requests that are still running end with the downloader, which nobody asks about them any more. */
static void free_all(fetcher *of)
{
    while (of->on_their_way) {
        fetch_job *asked = of->on_their_way;
        of->on_their_way = asked->behind;
        fetch_job_free(asked);
    }
    polite_close(of->politeness);
    for (size_t i = 0; i < of->hosts.count; i++)
        of->list[i]->queue = NULL;
    while (of->hosts.count > 0)
        host_free(of, of->list[of->hosts.count - 1]);
    free(of->list);
    id_map_free(&of->hosts);
    messages_free(&of->to_storage);
    messages_free(&of->to_parsers);
}

void fetcher_run(crawl *c)
{
    fetcher of = {.crawl = c, .next_due = INT64_MAX, .now = crawl_now(c)};
    polite_options politeness = {.delay = c->options.delay, .per_host = c->options.per_host};

    pthread_mutex_lock(&c->about);
    of.pages = of.pages_began = c->progress.pages;
    of.bytes = of.bytes_began = c->progress.bytes;
    pthread_mutex_unlock(&c->about);
    if (polite_open(&of.politeness, &politeness) != VIDI_OK)
        crawl_no_memory(c);
    else
        loop(&of);
    free_all(&of);
}
