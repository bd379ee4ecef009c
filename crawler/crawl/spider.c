/*
 * The spider's loop: see spider.h.
 */
#include "crawler/crawl/spider.h"

#include <stdlib.h>
#include <string.h>

enum {
    EVENTS = 256,       /* looked at before something new is begun */
    LONGEST = 1000,     /* milliseconds: a wait that nothing ends is looked at again after this */
    GATED = 20,         /* the same, while too much is on its way */
    HAND_OVER = 16,     /* pages that are handed to the readers together */
    SOON = 200,         /* milliseconds: a spider that waits for longer is starving */
    LAST_MOMENTS = 5000 /* milliseconds that requests get to end when the time is over */
};

/* ---- handing over ---- */

static void flush(spider *of)
{
    crawl *c = of->crawl;
    parcels pages = of->to_readers;

    of->to_readers = (parcels){0};
    if (pages.first && !mailbox_put(&c->to_readers, &pages))
        parcels_free(&pages);
    crawl_to_keeper(c, &of->to_keeper);
}

void spider_to_readers(spider *of, errand *page)
{
    crawl *c = of->crawl;

    atomic_fetch_add(&c->busy, 1);
    atomic_fetch_add(&c->errands, 1);
    atomic_fetch_add(&c->weight, page->weight);
    parcels_add(&of->to_readers, &page->parcel);
    if (of->to_readers.count >= HAND_OVER)
        flush(of);
}

void spider_to_keeper(spider *of, parcel *one)
{
    crawl *c = of->crawl;

    atomic_fetch_add(&c->busy, 1);
    if (one->kind == PARCEL_ERRAND) {
        atomic_fetch_add(&c->errands, 1);
        ((errand *)one)->weight = sizeof(errand);
        atomic_fetch_add(&c->weight, sizeof(errand));
    }
    parcels_add(&of->to_keeper, one);
}

static void take_in(spider *of)
{
    parcels arrived = {0};
    parcel *one;

    mailbox_take(&of->crawl->to_spider, &arrived, SIZE_MAX, 0);
    while ((one = parcels_remove(&arrived))) {
        if (one->kind == PARCEL_LOAD) {
            host_take_load(of, (load *)one);
            continue;
        }
        if (one->kind == PARCEL_CARD)
            host_take_card(of, (card *)one);
        else
            host_make_room(of);
        parcel_free(one);
    }
}

/* ---- asking ---- */

static bool start(spider *of, host *host, errand *asks)
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
    if (fetch_start(of->crawl->fetcher, &request) != VIDI_OK) {
        polite_return(of->manners, host->queue);
        errand_free(asks);
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
static void ask_around(spider *of)
{
    host *host;

    while (limits_allow(of) && (host = polite_next(of->manners, of->now))) {
        errand *asks = host_next(of, host);
        if (!asks)
            polite_return(of->manners, host->queue);
        else if (!start(of, host, asks))
            return;
        host_refresh(of, host);
    }
}

/* Something that was put off is due: looks at all hosts. */
static void wake_due(spider *of)
{
    if (of->now < of->next_due)
        return;
    of->next_due = INT64_MAX;
    for (size_t i = of->hosts.count; i-- > 0;) {
        if (i >= of->hosts.count) /* some were forgotten meanwhile */
            continue;
        host *host = of->list[i];
        for (const parcel *one = host->retries.first; one; one = one->next)
            if (((const errand *)one)->due > of->now)
                host_wake_at(of, ((const errand *)one)->due);
        host_refresh(of, host);
    }
}

/* ---- waiting ---- */

static int64_t earliest(const spider *of)
{
    int64_t when = polite_when(of->manners), deadline = limits_deadline(of);

    when = of->next_due < when ? of->next_due : when;
    return deadline < when ? deadline : when;
}

static void note_starving(spider *of, bool starving)
{
    crawl *c = of->crawl;

    if (atomic_exchange(&c->starving, starving) != starving && starving && atomic_load(&c->busy) > 0)
        mailbox_poke(&c->to_keeper);
}

/* Nothing is going on anywhere, so only time can change something. */
static bool skip_time(spider *of, int64_t until)
{
    crawl *c = of->crawl;

    if (!c->clock.skip || until == INT64_MAX || fetch_running(c->fetcher) > 0 || atomic_load(&c->busy) > 0)
        return false;
    take_in(of); /* what the keeper sent before it had nothing more to do */
    if (atomic_load(&c->busy) > 0 || fetch_running(c->fetcher) > 0 || earliest(of) != until)
        return false;
    c->clock.skip(c->clock.context, until);
    return true;
}

/* How long to wait for an event, in milliseconds. */
static int64_t patience(spider *of)
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

static void take_event(spider *of, const fetch_event *event)
{
    if (event->kind == FETCH_NAMED)
        answer_named(of, event);
    else
        answer_fetched(of, event->response);
}

static void listen(spider *of, int64_t ms)
{
    fetch_event event;
    int result = fetch_wait(of->crawl->fetcher, ms, &event);

    of->now = crawl_now(of->crawl);
    for (int i = 0; result > 0 && i < EVENTS; i++) {
        take_event(of, &event);
        result = fetch_wait(of->crawl->fetcher, 0, &event);
    }
    if (result > 0)
        take_event(of, &event);
    if (result < 0)
        crawl_fail(of->crawl, "cannot fetch: %s", vidi_strerror(result));
}

static void show_progress(spider *of)
{
    crawl *c = of->crawl;

    pthread_mutex_lock(&c->about);
    c->progress.pages_this_run = of->pages - of->pages_began;
    c->progress.bytes_this_run = of->bytes - of->bytes_began;
    c->progress.running = of->running;
    c->progress.hosts_waiting = polite_waiting(of->manners);
    pthread_mutex_unlock(&c->about);
}

/* At a limit, requests that have begun may end, as long as that does not take long. */
static bool is_over(const spider *of)
{
    crawl_ending ending = crawl_ends(of->crawl);

    if (ending != ENDING_LIMIT)
        return ending != ENDING_NOT;
    int64_t deadline = limits_deadline(of);
    return of->pages_running == 0 || (deadline != INT64_MAX && of->now - deadline >= LAST_MOMENTS);
}

static void loop(spider *of)
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

/* Requests that are still running end with the fetcher, which nobody asks about them any more. */
static void free_all(spider *of)
{
    while (of->on_their_way) {
        errand *asked = of->on_their_way;
        of->on_their_way = asked->behind;
        errand_free(asked);
    }
    polite_close(of->manners);
    for (size_t i = 0; i < of->hosts.count; i++)
        of->list[i]->queue = NULL;
    while (of->hosts.count > 0)
        host_free(of, of->list[of->hosts.count - 1]);
    free(of->list);
    id_map_free(&of->hosts);
    parcels_free(&of->to_keeper);
    parcels_free(&of->to_readers);
}

void spider_run(crawl *c)
{
    spider of = {.crawl = c, .next_due = INT64_MAX, .now = crawl_now(c)};
    polite_options manners = {.delay = c->options.delay, .per_host = c->options.per_host};

    pthread_mutex_lock(&c->about);
    of.pages = of.pages_began = c->progress.pages;
    of.bytes = of.bytes_began = c->progress.bytes;
    pthread_mutex_unlock(&c->about);
    if (polite_open(&of.manners, &manners) != VIDI_OK)
        crawl_no_memory(c);
    else
        loop(&of);
    free_all(&of);
}
