/*
 * The fetcher's loop: see fetcher.h.
 */
#include "crawler/crawl/fetcher/fetcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVENTS = 256,       /* events that are handled before new requests are started */
    LONGEST = 1000,     /* milliseconds: longest wait for an event */
    GATED = 20,         /* milliseconds: longest wait while too much is fetched and not committed */
    HAND_OVER = 16,     /* pages that are handed to the parsers together */
    SOON = 200,         /* milliseconds: if nothing can be fetched for longer, storage is asked to hurry */
    CONDITION = 320,    /* room for a line of a conditional request */
    LAST_MOMENTS = 5000 /* milliseconds that requests get to end when the time is over */
};

/* ---- handing over ---- */

static void flush(fetcher *fetcher)
{
    crawl *c = fetcher->crawl;
    messages pages = fetcher->to_parsers;

    fetcher->to_parsers = (messages){0};
    if (pages.first && !message_queue_put(&c->to_parsers, &pages))
        messages_free(&pages);
    crawl_to_storage(c, &fetcher->to_storage);
}

void fetcher_to_parsers(fetcher *fetcher, fetch_job *page)
{
    crawl *c = fetcher->crawl;

    atomic_fetch_add(&c->busy, 1);
    atomic_fetch_add(&c->fetch_jobs, 1);
    atomic_fetch_add(&c->weight, page->weight);
    messages_add(&fetcher->to_parsers, &page->message);
    if (fetcher->to_parsers.count >= HAND_OVER)
        flush(fetcher);
}

void fetcher_to_storage(fetcher *fetcher, message *one)
{
    crawl *c = fetcher->crawl;

    atomic_fetch_add(&c->busy, 1);
    if (one->kind == MESSAGE_FETCH_JOB) {
        atomic_fetch_add(&c->fetch_jobs, 1);
        ((fetch_job *)one)->weight = sizeof(fetch_job);
        atomic_fetch_add(&c->weight, sizeof(fetch_job));
    }
    messages_add(&fetcher->to_storage, one);
}

static void take_in(fetcher *fetcher)
{
    messages arrived = {0};
    message *one;

    message_queue_take(&fetcher->crawl->to_fetcher, &arrived, SIZE_MAX, 0);
    while ((one = messages_remove(&arrived))) {
        if (one->kind == MESSAGE_URL_BLOCK) {
            host_take_block(fetcher, (url_block *)one);
            continue;
        }
        if (one->kind == MESSAGE_FETCH_JOB) {
            host_take_again(fetcher, (fetch_job *)one);
            continue;
        }
        if (one->kind == MESSAGE_HOST_INFO)
            host_take_info(fetcher, (host_info *)one);
        else if (one->kind == MESSAGE_HOST_LOST)
            host_lose(fetcher, ((host_request *)one)->host);
        else if (one->kind == MESSAGE_SITE_JUDGED)
            host_take_judgement(fetcher, (host_request *)one);
        else
            host_make_room(fetcher);
        message_free(one);
    }
}

/* ---- asking ---- */

/* The lines of a conditional request, in `text`. Returns how many. */
static size_t conditions(const fetcher *fetcher, const fetch_job *asks, char text[2][CONDITION], const char *lines[2])
{
    const known_page *known = atomic_load(&fetcher->crawl->distrusts_archive) ? NULL : asks->known;
    size_t count = 0;

    if (known && known->etag && snprintf(text[count], CONDITION, "If-None-Match: %s", known->etag) < CONDITION)
        count++;
    if (known && known->modified &&
        snprintf(text[count], CONDITION, "If-Modified-Since: %s", known->modified) < CONDITION)
        count++;
    for (size_t i = 0; i < count; i++)
        lines[i] = text[i];
    return count;
}

/* The host's headers have a place for this one. robots.txt is for everybody, and is asked for without cookies. */
static bool add_cookies(fetcher *fetcher, host *host, const fetch_job *asks, fetch_request *request)
{
    crawl *c = fetcher->crawl;

    fetcher->cookies.len = 0;
    if (!c->jar || asks->robots_for)
        return true;
    if (cookie_jar_line(c->jar, asks->url.url, crawl_date(c), &fetcher->cookies) != VIDI_OK) {
        crawl_no_memory(c);
        return false;
    }
    if (fetcher->cookies.len)
        host->headers[request->header_count++] = fetcher->cookies.ptr;
    return true;
}

static bool start(fetcher *fetcher, host *host, fetch_job *asks)
{
    char text[2][CONDITION];
    const char *lines[2];
    bool outside = asks->url.kind == FRONTIER_OUTSIDE && !asks->robots_for;
    fetch_request request = {.item = asks,
                             .url = asks->url.url,
                             .address = host->address,
                             .head = outside && !asks->by_get,
                             .headers = host->headers,
                             .header_count = host->header_count,
                             .may_cut = asks->robots_for || outside,
                             .is_fresh = asks->failures > 0};

    if (!add_cookies(fetcher, host, asks, &request)) {
        polite_return(fetcher->politeness, host->queue);
        fetch_job_free(asks);
        return false;
    }
    request.extra = lines;
    request.extra_count = conditions(fetcher, asks, text, lines);
    if (asks->robots_for)
        request.max_body = ROBOTS_LIMIT;
    else if (outside)
        request.max_body = CRAWL_OUTSIDE_BODY;
    if (fetch_start(fetcher->crawl->downloader, &request) != VIDI_OK) {
        polite_return(fetcher->politeness, host->queue);
        fetch_job_free(asks);
        crawl_no_memory(fetcher->crawl);
        return false;
    }
    LIST_INSERT_HEAD(&fetcher->in_flight, asks, running);
    fetcher->running++;
    host->running++;
    fetcher->pages_running += asks->robots_for == NULL;
    if (!asks->robots_for)
        limits_count_page(fetcher);
    return true;
}

/* Begins what may be begun. */
static void ask_around(fetcher *fetcher)
{
    host *host;

    while (limits_allow(fetcher) && limits_next_page(fetcher) <= fetcher->now &&
           (host = polite_next(fetcher->politeness, fetcher->now))) {
        fetch_job *asks = host_next(fetcher, host);
        if (!asks)
            polite_return(fetcher->politeness, host->queue);
        else if (!start(fetcher, host, asks))
            return;
        host_refresh(fetcher, host);
    }
}

/* Something that was put off is due: looks at all hosts. */
static void wake_due(fetcher *fetcher)
{
    if (fetcher->now < fetcher->next_due)
        return;
    fetcher->next_due = INT64_MAX;
    for (size_t i = fetcher->hosts.count; i-- > 0;) {
        if (i >= fetcher->hosts.count) /* some were forgotten meanwhile */
            continue;
        host *host = fetcher->list[i];
        for (const message *one = host->retries.first; one; one = one->next)
            if (((const fetch_job *)one)->due > fetcher->now)
                host_wake_at(fetcher, ((const fetch_job *)one)->due);
        host_refresh(fetcher, host);
    }
}

/* ---- waiting ---- */

static int64_t earliest(const fetcher *fetcher)
{
    int64_t when = polite_when(fetcher->politeness), deadline = limits_deadline(fetcher);
    int64_t turn = atomic_load(&fetcher->crawl->next_turn), page = limits_next_page(fetcher);
    int64_t lease = lost_requests_due(fetcher);

    deadline = lease < deadline ? lease : deadline;
    when = page > when ? page : when;
    when = fetcher->next_due < when ? fetcher->next_due : when;
    if (fetcher->crawl->clock.skip && turn < when) /* otherwise the storage thread looks at the clock */
        when = turn;
    return deadline < when ? deadline : when;
}

static void note_hunger(fetcher *fetcher, crawl_hunger hunger)
{
    crawl *c = fetcher->crawl;

    if (atomic_exchange(&c->hunger, (int)hunger) != (int)hunger && hunger != HUNGER_NONE && atomic_load(&c->busy) > 0)
        message_queue_wake(&c->to_storage);
}

/* Nothing is going on anywhere, so only time can change something. */
static bool skip_time(fetcher *fetcher, int64_t until)
{
    crawl *c = fetcher->crawl;

    if (!c->clock.skip || until == INT64_MAX || fetch_running(c->downloader) > 0 || atomic_load(&c->busy) > 0)
        return false;
    take_in(fetcher); /* what the storage thread sent before it had nothing more to do */
    if (atomic_load(&c->busy) > 0 || fetch_running(c->downloader) > 0 || earliest(fetcher) != until)
        return false;
    c->clock.skip(c->clock.context, until);
    message_queue_wake(&c->to_storage);
    return true;
}

/* How long to wait for an event, in milliseconds. */
static int64_t patience(fetcher *fetcher)
{
    if (crawl_ends(fetcher->crawl) != ENDING_NOT)
        return GATED;
    if (!limits_allow(fetcher)) {
        note_hunger(fetcher, limits_gate(fetcher) ? HUNGER_COMMIT : HUNGER_NONE);
        return GATED;
    }
    int64_t until = earliest(fetcher), wait = until == INT64_MAX ? LONGEST : until - fetcher->now;
    flush(fetcher);
    note_hunger(fetcher, wait <= SOON                                    ? HUNGER_NONE
                         : fetch_running(fetcher->crawl->downloader) > 0 ? HUNGER_URLS
                                                                         : HUNGER_COMMIT);
    if (wait > 0 && skip_time(fetcher, until))
        return 0;
    if (fetcher->crawl->clock.skip && (wait > 5 || atomic_load(&fetcher->crawl->next_turn) <= fetcher->now))
        return 5; /* the storage thread wakes this one when it has looked */
    return wait < 0 ? 0 : wait < LONGEST ? wait : LONGEST;
}

/* ---- the loop ---- */

static void take_event(fetcher *fetcher, const fetch_event *event)
{
    if (event->kind == FETCH_RESOLVED)
        address_arrived(fetcher, event);
    else
        response_arrived(fetcher, event->response);
}

static void listen(fetcher *fetcher, int64_t ms)
{
    fetch_event event;
    int result = fetch_wait(fetcher->crawl->downloader, ms, &event);

    fetcher->now = crawl_now(fetcher->crawl);
    for (int i = 0; result > 0 && i < EVENTS; i++) {
        take_event(fetcher, &event);
        result = fetch_wait(fetcher->crawl->downloader, 0, &event);
    }
    if (result > 0)
        take_event(fetcher, &event);
    if (result < 0)
        crawl_fail(fetcher->crawl, "cannot fetch: %s", vidi_strerror(result));
}

static void show_progress(fetcher *fetcher)
{
    crawl *c = fetcher->crawl;

    pthread_mutex_lock(&c->about);
    c->progress.pages_this_run = fetcher->pages - fetcher->pages_began;
    c->progress.bytes_this_run = fetcher->bytes - fetcher->bytes_began;
    c->progress.running = fetcher->running;
    c->progress.hosts_waiting = polite_waiting(fetcher->politeness);
    pthread_mutex_unlock(&c->about);
}

/* At a limit, requests that have begun may end, as long as that does not take long. */
static bool is_over(const fetcher *fetcher)
{
    crawl_ending ending = crawl_ends(fetcher->crawl);

    if (ending != ENDING_LIMIT)
        return ending != ENDING_NOT;
    int64_t deadline = limits_deadline(fetcher);
    return fetcher->pages_running == 0 || (deadline != INT64_MAX && fetcher->now - deadline >= LAST_MOMENTS);
}

static void loop(fetcher *fetcher)
{
    while (!is_over(fetcher)) {
        fetcher->now = crawl_now(fetcher->crawl);
        take_in(fetcher);
        wake_due(fetcher);
        lost_requests_end(fetcher);
        limits_check(fetcher);
        ask_around(fetcher);
        show_progress(fetcher);
        flush(fetcher);
        if (!is_over(fetcher))
            listen(fetcher, patience(fetcher));
    }
    flush(fetcher);
    show_progress(fetcher);
}

/* Requests that are still running end with the downloader, whose report nobody reads any more. */
static void free_all(fetcher *fetcher)
{
    fetch_job *asked;

    while ((asked = LIST_FIRST(&fetcher->in_flight))) {
        LIST_REMOVE(asked, running);
        fetch_job_free(asked);
    }
    polite_close(fetcher->politeness);
    for (size_t i = 0; i < fetcher->hosts.count; i++)
        fetcher->list[i]->queue = NULL;
    while (fetcher->hosts.count > 0)
        host_free(fetcher, fetcher->list[fetcher->hosts.count - 1]);
    free(fetcher->list);
    id_map_free(&fetcher->hosts);
    messages_free(&fetcher->to_storage);
    messages_free(&fetcher->to_parsers);
    bytes_free(&fetcher->cookies);
}

void fetcher_run(crawl *c)
{
    fetcher fetcher = {.crawl = c, .next_due = INT64_MAX, .now = crawl_now(c)};
    polite_options politeness = {.delay = c->options.delay, .per_host = c->options.per_host};

    pthread_mutex_lock(&c->about);
    fetcher.pages = fetcher.pages_began = c->progress.pages;
    fetcher.bytes = fetcher.bytes_began = c->progress.bytes;
    pthread_mutex_unlock(&c->about);
    if (polite_open(&fetcher.politeness, &politeness) != VIDI_OK)
        crawl_no_memory(c);
    else
        loop(&fetcher);
    free_all(&fetcher);
}
