/*
 * What a response, or its absence, means for the URL and for its host.
 *
 *   no answer (connect, timeout, broken)    the URL is tried again, 1, 4 and 16 seconds later; a host that never
 *                                           answers is left alone for a while, and then all its URLs share the outcome;
 *                                           one that has answered before is parked: perhaps our network is gone
 *   another failure (tls, not HTTP …)       that is what became of the URL: it would fail again
 *   429, 503                                the host is left alone, as long as it asks for, and the URL is tried again
 *   anything else                           that is what became of the URL
 */
#include <stdio.h>
#include <string.h>

#include "crawler/crawl/fetcher/fetcher.h"
#include "crawler/http/http.h"

enum {
    SILENT_TIMES = 5,      /* unanswered requests in a row after which the host is left alone for a while */
    DEAD_TIMES = 10,       /* unanswered requests in a row after which the host counts as dead */
    OVERLOADS_MOST = 5,    /* times that a URL is tried again after 429 or 503 */
    NAME_AGAIN = 30 * 1000 /* milliseconds until a name that was not found is looked up once more */
};

/* ---- names ---- */

uint64_t response_key(const fetcher *fetcher, const void *bytes, size_t n)
{
    vidi_str text = {bytes, n};
    uint64_t key = 1;

    if (url_keys_make(fetcher->crawl->keys, &text, 1, &key) != VIDI_OK)
        crawl_no_memory(fetcher->crawl);
    return key;
}

static void set_address(fetcher *fetcher, host *host, const fetch_address *address)
{
    bool same = host->queue && address->length == host->address.length &&
                memcmp(address->bytes, host->address.bytes, address->length) == 0;

    host->address = *address;
    host->resolved_at = fetcher->now;
    if (same)
        return;
    if (host->queue)
        polite_remove(fetcher->politeness, host->queue);
    uint64_t name = response_key(fetcher, host->name.ptr, host->name.len);
    host->queue = polite_add(fetcher->politeness, name,
                             address->length ? response_key(fetcher, address->bytes, address->length) : name, host);
    if (!host->queue) {
        crawl_no_memory(fetcher->crawl);
        return;
    }
    if (host->not_until > fetcher->now)
        polite_back_off(fetcher->politeness, host->queue, host->not_until);
    double seconds = host->rules ? robots_delay(host->rules) : -1;
    if (seconds > 0)
        polite_crawl_delay(fetcher->politeness, host->queue, (int64_t)(seconds * 1000 + 0.5));
}

static void address_refused(fetcher *fetcher, host *host, const char *why)
{
    crawl_warn(fetcher->crawl, "%s: %s", host->origin, why);
    host_give_up(fetcher, host, fetch_reason(FETCH_ADDRESS), why);
}

void address_arrived(fetcher *fetcher, const fetch_event *event)
{
    host *host = event->item;

    host->resolving = false;
    if (event->failure == FETCH_FINE) {
        host->resolve_failures = 0;
        set_address(fetcher, host, &event->address);
    } else if (event->failure == FETCH_ADDRESS) {
        address_refused(fetcher, host, event->why);
        return;
    } else if (!event->may_pass || host->resolve_failures++ > 0 || fetcher->crawl->options.retries == 0) {
        uint64_t id = host->id;
        host_is_silent(fetcher, host, fetch_reason(FETCH_NAME), event->why, event->may_pass);
        host = id_map_get(&fetcher->hosts, id); /* it may have been forgotten meanwhile */
        if (!host)
            return;
    } else {
        host->resolve_due = fetcher->now + NAME_AGAIN;
    }
    host_refresh(fetcher, host);
}

/* ---- pages ---- */

/* What a response says goes into the outcome, whether it came as a whole or not: it is a page of the limits' count. */
static void take_facts(fetcher *fetcher, host *host, fetch_job *page, const fetch_response *response)
{
    if (response->status != 0) {
        host->pages++;
        fetcher->pages++;
        fetcher->bytes += response->body.len;
    }
    page->status = response->status;
    page->body_bytes = response->body.len;
    page->date = response->date;
    page->took_us = response->took_us;
}

static void unfetched(fetcher *fetcher, fetch_job *page, const fetch_response *response)
{
    host_unfetched(fetcher, page, fetch_reason(response->failure), response->why);
}

/* The host has failed to answer once more. */
static void note_silence(fetcher *fetcher, host *host)
{
    char why[200];

    host->failures++;
    if (host->failures == SILENT_TIMES && host->queue)
        polite_back_off(fetcher->politeness, host->queue, fetcher->now + BACK_OFF);
    if (host->failures < DEAD_TIMES || host->dead || host->parked)
        return;
    snprintf(why, sizeof why, "the host did not answer %u requests in a row", host->failures);
    if (host_has_answered(host)) {
        host_park(fetcher, host, 0, why);
        return;
    }
    host->dead = "connect";
    snprintf(host->dead_error, sizeof host->dead_error, "%s", why);
    crawl_warn(fetcher->crawl, "%s: %s; its other URLs are not tried", host->origin, why);
}

/* True if the URL is tried again. A failed connection says nothing about the URL while the host may still come back. */
static bool is_worth_another_try(const fetcher *fetcher, const host *host, const fetch_job *page,
                                 const fetch_response *response)
{
    unsigned tries = host_retries(fetcher, host, response);

    if (response->failure == FETCH_CONNECT && host_has_answered(host))
        tries += DEAD_TIMES;
    return response->may_pass && page->failures < tries;
}

static void no_answer(fetcher *fetcher, host *host, fetch_job *page, fetch_response *response)
{
    if (response->failure == FETCH_CONNECT || response->failure == FETCH_TIMEOUT)
        note_silence(fetcher, host);
    if (response->failure == FETCH_MEMORY) { /* that says nothing about the URL, which stays in the queue */
        crawl_fail(fetcher->crawl, "cannot fetch: %s", response->why);
        fetch_job_free(page);
    } else if (host->parked && response->status == 0) {
        host_retry(fetcher, host, page, fetcher->now); /* in another run */
    } else if (host->dead) {
        host_unfetched(fetcher, page, fetch_reason(response->failure), host->dead_error);
    } else if (is_worth_another_try(fetcher, host, page, response)) {
        unsigned shift = 2 * (page->failures < 4 ? page->failures : 4);
        page->failures++;
        host_retry(fetcher, host, page, fetcher->now + ((int64_t)1000 << shift));
    } else {
        take_facts(fetcher, host, page, response);
        unfetched(fetcher, page, response);
    }
}

/*
 * 429 or 503: the whole host is left alone. True if the URL is tried again. One URL may be given up, but if the
 * next one is refused, too, the host itself refuses, and its URLs wait for another run.
 */
static bool overloaded(fetcher *fetcher, host *host, fetch_job *page, const fetch_response *response)
{
    vidi_str value = http_value(bytes_str(&response->head), "retry-after");
    int64_t asked = value.ptr ? http_retry_after(value, crawl_date(fetcher->crawl)) : -1;
    char why[96];

    if (asked > BACK_OFF_MOST) {
        snprintf(why, sizeof why, "it asks to come back in %lld minutes (status %d)", (long long)(asked / 60000),
                 response->status);
        if (!host->parked)
            host_park(fetcher, host, crawl_date(fetcher->crawl) + asked, why);
        return true;
    }
    if (asked < 0)
        asked = back_off_after(host->overloads);
    if (host->refused) {
        snprintf(why, sizeof why, "it keeps answering with status %d", response->status);
        if (!host->parked)
            host_park(fetcher, host, 0, why);
        return true;
    }
    host->overloads++;
    if (host->queue)
        polite_back_off(fetcher->politeness, host->queue, fetcher->now + asked);
    host->refused = page->overloads++ >= OVERLOADS_MOST;
    return !host->refused;
}

/* HEAD is not enough to call a link broken. */
static bool try_by_get(fetch_job *page, const fetch_response *response)
{
    if (page->url.kind != FRONTIER_OUTSIDE || page->by_get)
        return false;
    page->by_get = response->failure != FETCH_FINE || response->status >= 400;
    return page->by_get;
}

static void page_arrived(fetcher *fetcher, host *host, fetch_job *page, fetch_response *response)
{
    bool overload = response->failure == FETCH_FINE && (response->status == 429 || response->status == 503);
    crawl *c = fetcher->crawl;

    if (c->jar && cookie_jar_take(c->jar, page->url.url, crawl_date(c), &response->head, &page->cookies) != VIDI_OK)
        crawl_no_memory(c);
    if (response->status != 0)
        host->failures = 0;
    if (overload ? overloaded(fetcher, host, page, response) : try_by_get(page, response)) {
        host_retry(fetcher, host, page, fetcher->now);
    } else if (response->failure != FETCH_FINE) {
        no_answer(fetcher, host, page, response);
    } else {
        if (!overload) {
            host->overloads = 0;
            host->refused = false;
        }
        take_facts(fetcher, host, page, response);
        page->response = response;
        page->host = NULL;
        page->weight = sizeof *page + response->body.room + response->head.room + response->sent.room;
        fetcher_to_parsers(fetcher, page);
        return;
    }
    fetch_response_free(response);
}

void response_arrived(fetcher *fetcher, fetch_response *response)
{
    fetch_job *asked = response->item;
    host *via = asked->host;
    uint64_t id = via->id;

    LIST_REMOVE(asked, running);
    fetcher->running--;
    via->running--;
    if (response->status == 0 && (response->failure == FETCH_CONNECT || response->failure == FETCH_TIMEOUT))
        via->resolved_at = -1; /* the host may have another address */
    if (via->queue)
        polite_done(fetcher->politeness, via->queue, fetcher->now, response->took_us / 1000);
    if (asked->robots_for) {
        if (response->failure == FETCH_MEMORY)
            crawl_no_memory(fetcher->crawl);
        if (response->status != 0)
            via->failures = 0;
        host_robots_arrived(fetcher, asked, response);
        fetch_response_free(response);
    } else {
        fetcher->pages_running--;
        page_arrived(fetcher, via, asked, response);
    }
    via = id_map_get(&fetcher->hosts, id); /* it may have been forgotten meanwhile */
    if (!via)
        return;
    if (via->in_host_table)
        host_refresh(fetcher, via);
    else
        host_leave_if_over(fetcher, via);
}
