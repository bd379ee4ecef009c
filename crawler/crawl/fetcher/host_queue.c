/*
 * A host in the fetcher's memory: see fetcher.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/base/list.h"
#include "crawler/crawl/fetcher/fetcher.h"

enum {
    AHEAD_FIRST = 25,      /* URLs of a host to have in memory at first; doubled when it runs out of them */
    AHEAD_MOST = 2000,     /* limit of that number */
    LONG_WAIT = 60 * 1000, /* milliseconds; a host that waits for longer is handed back if others need its place */
    RETRIES_MOST = 100,    /* while this many URLs of a host wait for a retry, no other is started */
    NAME_LIFETIME = 5 * 60 * 1000 /* milliseconds until the address is looked up again */
};

/* ---- making and freeing ---- */

static int add_headers(fetcher *fetcher, host *host)
{
    crawl *c = fetcher->crawl;
    vidi_str url = {host->robots_url, strlen(host->robots_url)};

    host->headers = calloc(c->options.header_count + c->login_count + 1, sizeof *host->headers);
    if (!host->headers)
        return VIDI_EMEMORY;
    if (!scope_is_seeds_origin(c->scope, url))
        return VIDI_OK;
    for (size_t i = 0; i < c->options.header_count; i++)
        host->headers[host->header_count++] = c->options.headers[i];
    for (size_t i = 0; i < c->login_count; i++)
        if (strcmp(c->logins[i].origin, host->origin) == 0)
            host->headers[host->header_count++] = c->logins[i].header;
    return VIDI_OK;
}

static int fill_in(fetcher *fetcher, host *host, vidi_str url)
{
    vidi_url parts;

    if (!web_url_view(url, &parts))
        return VIDI_EARGUMENT;
    vidi_str origin = web_url_origin(&parts);
    host->origin = strndup(origin.ptr, origin.len);
    if (!host->origin || asprintf(&host->robots_url, "%s/robots.txt", host->origin) < 0) {
        host->robots_url = NULL;
        return VIDI_EMEMORY;
    }
    host->name = (vidi_str){host->robots_url + (parts.host.ptr - url.ptr), parts.host.len};
    return add_headers(fetcher, host);
}

static int add_to_list(fetcher *fetcher, host *host)
{
    size_t count = fetcher->hosts.count;

    if (list_reserve(&fetcher->list, &fetcher->list_room, count + 1) != VIDI_OK ||
        id_map_put(&fetcher->hosts, host->id, host) != VIDI_OK)
        return VIDI_EMEMORY;
    host->at = count;
    fetcher->list[count] = host;
    return VIDI_OK;
}

static void free_parts(host *host)
{
    messages_free(&host->url_blocks);
    free(host->ranked);
    messages_free(&host->retries);
    messages_free(&host->direct);
    robots_free(host->rules);
    free(host->headers);
    free(host->robots_url);
    free(host->origin);
    free(host);
}

host *host_of(fetcher *fetcher, uint64_t id, vidi_str url)
{
    host *found = id_map_get(&fetcher->hosts, id);

    if (found)
        return found;
    found = calloc(1, sizeof *found);
    if (!found)
        return NULL;
    found->id = id;
    found->resolved_at = -1;
    found->robots_outcome = -1;
    found->lost_at = -1;
    found->ahead = AHEAD_FIRST;
    if (fill_in(fetcher, found, url) == VIDI_OK && add_to_list(fetcher, found) == VIDI_OK)
        return found;
    free_parts(found);
    return NULL;
}

void host_free(fetcher *fetcher, host *host)
{
    size_t last = fetcher->hosts.count - 1;

    if (host->queue)
        polite_remove(fetcher->politeness, host->queue);
    fetcher->lost -= host->lost_at >= 0;
    fetcher->list[host->at] = fetcher->list[last];
    fetcher->list[host->at]->at = host->at;
    id_map_remove(&fetcher->hosts, host->id);
    free_parts(host);
}

/* ---- what it needs ---- */

void host_wake_at(fetcher *fetcher, int64_t due)
{
    if (due < fetcher->next_due)
        fetcher->next_due = due;
}

static bool has_pages(const host *host)
{
    return host->unstarted > 0 || host->retries.first;
}

static bool has_due_retry(const fetcher *fetcher, const host *host)
{
    for (const message *one = host->retries.first; one; one = one->next)
        if (((const fetch_job *)one)->due <= fetcher->now)
            return true;
    return false;
}

static bool name_is_old(const fetcher *fetcher, const host *host)
{
    return host->resolved_at < 0 || fetcher->now - host->resolved_at > NAME_LIFETIME;
}

static void ask_name(fetcher *fetcher, host *host)
{
    if (host->resolving || host->running > 0)
        return;
    if (fetcher->now < host->resolve_due) {
        host_wake_at(fetcher, host->resolve_due);
        return;
    }
    if (fetch_resolve(fetcher->crawl->downloader, host->name, host) == VIDI_OK)
        host->resolving = true;
    else
        crawl_no_memory(fetcher->crawl);
}

/* Sends the storage thread a request about a host. *urls: those that come back; it takes them over. NULL: none. */
static void send_request(fetcher *fetcher, message_kind kind, uint64_t host, uint64_t count, bytes *urls)
{
    host_request *made = host_request_make(kind, host, count);

    if (made) {
        if (urls)
            made->urls = *urls;
        fetcher_to_storage(fetcher, &made->message);
        return;
    }
    if (urls)
        bytes_free(urls);
    crawl_no_memory(fetcher->crawl);
}

static void ask_for_more(fetcher *fetcher, host *host)
{
    uint64_t ahead = order_ahead(fetcher, host);

    if (!host->in_host_table || host->asked || host->unstarted >= ahead || host->parked)
        return;
    host->asked = true;
    host->ran_dry = host->unstarted == 0;
    send_request(fetcher, MESSAGE_WANT_URLS, host->id, 2 * ahead - host->unstarted, NULL);
}

/* True if --max-host-pages is reached, counting requests that are running. A continuous crawl has no such limit. */
static bool is_at_its_limit(const fetcher *fetcher, const host *host)
{
    const crawl_options *options = &fetcher->crawl->options;

    return !options->continuous && host->pages + host->running >= options->max_host_pages;
}

/* True if its site may be crawled. If that is not known, asks the storage thread, which knows the site's address. */
static bool is_judged(fetcher *fetcher, host *host)
{
    if (host->judged || !crawl_has_sites(fetcher->crawl) || host->address.length == 0) /* a proxy knows it */
        return true;
    host_info *news = host->judging || !host->in_host_table ? NULL : host_info_make(fetcher, host);
    if (!news)
        return false;
    news->address = response_key(fetcher, host->address.bytes, host->address.length);
    host->judging = true;
    fetcher_to_storage(fetcher, &news->message);
    return false;
}

/* True if a request to the host could be started now. */
static bool wants_a_turn(fetcher *fetcher, host *host)
{
    if (host->direct.first)
        return true;
    if (is_at_its_limit(fetcher, host) || !has_pages(host) || !is_judged(fetcher, host))
        return false;
    if (!host_robots_is_known(fetcher, host))
        return host->direct.first != NULL;
    return has_due_retry(fetcher, host) || (host->unstarted > 0 && host->retries.count < RETRIES_MOST);
}

static void give_up_all(fetcher *fetcher, host *host);

void host_refresh(fetcher *fetcher, host *host)
{
    if (is_at_its_limit(fetcher, host) && host->running == 0 && has_pages(host) && !host->parked)
        host_park(fetcher, host, 0, "as many pages as --max-host-pages allows are fetched");
    if (host->parked) {
        host_leave_if_over(fetcher, host);
        return;
    }
    if (host->dead)
        give_up_all(fetcher, host);
    ask_for_more(fetcher, host);
    bool needs = host->direct.first || has_pages(host);
    bool old = needs && name_is_old(fetcher, host);
    if (old)
        ask_name(fetcher, host);
    if (host->queue)
        polite_want(fetcher->politeness, host->queue, !old && !host->resolving && wants_a_turn(fetcher, host));
}

/* ---- what comes next ---- */

static fetch_job *due_retry(fetcher *fetcher, host *host)
{
    messages kept = {0};
    fetch_job *found = NULL;
    message *one;

    while ((one = messages_remove(&host->retries))) {
        if (!found && ((fetch_job *)one)->due <= fetcher->now)
            found = (fetch_job *)one;
        else
            messages_add(&kept, one);
    }
    host->retries = kept;
    return found;
}

/* The next URL of the blocks, as a fetch job. NULL: there is none, or no memory. */
static fetch_job *next_of_blocks(fetcher *fetcher, host *host)
{
    url_block *block;

    if (host->unstarted == 0)
        return NULL;
    size_t at = order_take(fetcher, host, &block);
    fetch_job *made = fetch_job_make(&block->urls[at], block->number, block->level);
    if (!made) {
        crawl_no_memory(fetcher->crawl);
        return NULL;
    }
    made->host = host;
    if (block->known) {
        made->known = block->known[at];
        block->known[at] = NULL;
    }
    block->at++;
    host->unstarted--;
    if (block->at == block->count) {
        messages_remove_one(&host->url_blocks, &block->message);
        message_free(&block->message);
    }
    host->ran_dry = host->ran_dry || (host->asked && host->unstarted == 0);
    return made;
}

/* Returns true if robots.txt allows the URL. If not, records its outcome. */
static bool is_allowed(fetcher *fetcher, host *host, fetch_job *page)
{
    int verdict = host->rules ? robots_check(host->rules, page->url.url, NULL) : ROBOTS_ALLOWED;

    if (verdict == ROBOTS_ALLOWED)
        return true;
    if (verdict == ROBOTS_DENIED) {
        host_unfetched(fetcher, page, "robots", NULL);
    } else { /* that says nothing about the URL, which stays in the queue */
        crawl_no_memory(fetcher->crawl);
        fetch_job_free(page);
    }
    return false;
}

fetch_job *host_next(fetcher *fetcher, host *host)
{
    fetch_job *next = (fetch_job *)messages_remove(&host->direct);

    if (next)
        return next;
    if (host->parked || is_at_its_limit(fetcher, host) || !is_judged(fetcher, host) ||
        !host_robots_is_known(fetcher, host))
        return (fetch_job *)messages_remove(&host->direct);
    next = due_retry(fetcher, host);
    while (!next && host->unstarted > 0 && host->retries.count < RETRIES_MOST) {
        next = next_of_blocks(fetcher, host);
        if (!next)
            return NULL;
        if (!is_allowed(fetcher, host, next))
            next = NULL;
    }
    return next;
}

void host_retry(fetcher *fetcher, host *host, fetch_job *again, int64_t due)
{
    again->due = due;
    messages_add(&host->retries, &again->message);
    host_wake_at(fetcher, due);
}

/* ---- URLs that will not be fetched ---- */

void host_unfetched(fetcher *fetcher, fetch_job *page, const char *reason, const char *error)
{
    page->reason = reason;
    if (error)
        snprintf(page->error, sizeof page->error, "%s", error);
    if (!page->date)
        page->date = crawl_date(fetcher->crawl);
    page->host = NULL;
    fetcher_to_storage(fetcher, &page->message);
}

static void give_up_all(fetcher *fetcher, host *host)
{
    fetch_job *page;

    while ((page = (fetch_job *)messages_remove(&host->retries)))
        host_unfetched(fetcher, page, host->dead, host->dead_error);
    while (host->unstarted > 0 && (page = next_of_blocks(fetcher, host)))
        host_unfetched(fetcher, page, host->dead, host->dead_error);
}

/* Tells the hosts that wait for a robots.txt from this one that none will come. */
static void refuse_direct(fetcher *fetcher, host *host, const char *error)
{
    fetch_job *asked;

    while ((asked = (fetch_job *)messages_remove(&host->direct))) {
        fetch_response none = {.item = asked, .failure = FETCH_CONNECT};
        snprintf(none.why, sizeof none.why, "%.150s", error);
        host_robots_arrived(fetcher, asked, &none);
    }
}

void host_give_up(fetcher *fetcher, host *host, const char *reason, const char *error)
{
    host->dead = reason;
    snprintf(host->dead_error, sizeof host->dead_error, "%s", error);
    refuse_direct(fetcher, host, error);
    if (host->in_host_table)
        host_refresh(fetcher, host);
    else
        host_leave_if_over(fetcher, host);
}

/* ---- leaving ---- */

/* URLs that go back to the storage thread, if that must know which they are. */
typedef struct returned {
    fetcher *fetcher;
    bytes urls;
} returned;

static void list_url(void *context, vidi_str url)
{
    returned *self = context;

    if (self->fetcher->crawl->fleet &&
        (bytes_append_str(&self->urls, url) != VIDI_OK || bytes_append(&self->urls, "", 1) != VIDI_OK))
        crawl_no_memory(self->fetcher->crawl);
}

/* Forgets the host; its URLs go back to the storage thread. */
static void give_back(fetcher *fetcher, host *host)
{
    returned back = {.fetcher = fetcher};

    if (fetcher->crawl->fleet)
        order_each(fetcher, host, list_url, &back);
    for (const message *one = host->retries.first; one; one = one->next)
        list_url(&back, ((const fetch_job *)one)->url.url);
    send_request(fetcher, MESSAGE_HOST_LEFT, host->id, host->unstarted + host->retries.count, &back.urls);
    host_free(fetcher, host);
}

static bool is_in_use(const host *host)
{
    return host->running > 0 || host->resolving || host->direct.first || host->robots_asked;
}

void host_leave_if_over(fetcher *fetcher, host *host)
{
    if (is_in_use(host) || (host->in_host_table && !host->parked))
        return;
    if (host->in_host_table)
        give_back(fetcher, host);
    else
        host_free(fetcher, host);
}

host_info *host_info_make(fetcher *fetcher, const host *host)
{
    host_info *news = calloc(1, sizeof *news);

    if (news)
        news->message.kind = MESSAGE_HOST_INFO;
    if (!news || bytes_append_format(&news->origin, "%s/", host->origin) != VIDI_OK) {
        message_free(news ? &news->message : NULL);
        crawl_no_memory(fetcher->crawl);
        return NULL;
    }
    news->host = host->id;
    return news;
}

void host_park(fetcher *fetcher, host *host, int64_t not_before, const char *why)
{
    host_info *news = host_info_make(fetcher, host);

    if (!news)
        return;
    news->not_before = not_before;
    snprintf(news->parked, sizeof news->parked, "%s", why);
    host->parked = true;
    if (host->queue)
        polite_want(fetcher->politeness, host->queue, host->direct.first != NULL);
    crawl_warn(fetcher->crawl, "%s is left alone for now: %s", host->origin, why);
    fetcher_to_storage(fetcher, &news->message);
}

bool host_has_answered(const host *host)
{
    return host->pages > 0 || host->robots_reached > 0;
}

/* A port of this machine that refuses, or a proxy, gets a second to come up, as if it was started just before. */
unsigned host_retries(const fetcher *fetcher, const host *host, const fetch_response *response)
{
    unsigned usual = fetcher->crawl->options.retries;
    bool refuses = response->failure == FETCH_CONNECT && response->os_error == ECONNREFUSED &&
                   fetch_address_is_loopback(&response->address);

    return (refuses || response->no_proxy) && usual > 1 && !host_has_answered(host) ? 1 : usual;
}

void host_is_silent(fetcher *fetcher, host *host, const char *reason, const char *error, bool is_offline)
{
    if (!host_has_answered(host) && !is_offline) {
        host_give_up(fetcher, host, reason, error);
        return;
    }
    if (!host->parked)
        host_park(fetcher, host, 0, error);
    host->running++; /* keeps the host in memory during the loop */
    refuse_direct(fetcher, host, error);
    host->running--;
}

/* True if nothing can be fetched from the host for long. Sends the storage thread the date when something can. */
static bool waits_long(fetcher *fetcher, const host *host)
{
    int64_t until = host->queue ? polite_when_queue(fetcher->politeness, host->queue) : host->resolve_due;

    until = host->robots_due > until ? host->robots_due : until;
    if (until - fetcher->now <= LONG_WAIT)
        return false;
    host_info *news = host_info_make(fetcher, host);
    if (!news)
        return false;
    news->not_before = crawl_date(fetcher->crawl) + (until - fetcher->now);
    fetcher_to_storage(fetcher, &news->message);
    return true;
}

void host_make_room(fetcher *fetcher)
{
    for (size_t i = fetcher->hosts.count; i-- > 0;) {
        host *host = fetcher->list[i];
        if (!host->in_host_table || is_in_use(host) || host->parked)
            continue;
        if (has_pages(host) && !waits_long(fetcher, host))
            continue;
        give_back(fetcher, host);
    }
}

/* ---- from the storage thread ---- */

void host_take_info(fetcher *fetcher, host_info *known)
{
    host *host = host_of(fetcher, known->host, bytes_str(&known->origin));

    if (!host) {
        crawl_no_memory(fetcher->crawl);
        return;
    }
    host->in_host_table = true;
    host->pages = known->pages;
    if (!host->robots_ready)
        host_robots_from(fetcher, host, known);
    int64_t wait = known->not_before > 0 ? known->not_before - crawl_date(fetcher->crawl) : 0;
    wait = known->wait > wait ? known->wait : wait;
    if (wait > 0)
        host->not_until = fetcher->now + wait;
    if (host->queue && wait > 0)
        polite_back_off(fetcher->politeness, host->queue, host->not_until);
    host_refresh(fetcher, host);
}

void host_take_again(fetcher *fetcher, fetch_job *page)
{
    host *host = id_map_get(&fetcher->hosts, page->url.host);

    free(page->known);
    page->known = NULL;
    if (!host || !host->in_host_table) { /* its block is handed out again */
        returned back = {.fetcher = fetcher};
        list_url(&back, page->url.url);
        send_request(fetcher, MESSAGE_HOST_LEFT, page->url.host, 1, &back.urls);
        fetch_job_free(page);
        return;
    }
    page->host = host;
    host_retry(fetcher, host, page, fetcher->now);
    host_refresh(fetcher, host);
}

void host_take_judgement(fetcher *fetcher, const host_request *judged)
{
    host *host = id_map_get(&fetcher->hosts, judged->host);

    if (!host)
        return;
    host->judging = false;
    host->judged = true;
    if (judged->count == 0)
        host_refresh(fetcher, host);
    else if (!host->dead && !host->parked)
        host_give_up(fetcher, host, "farm", "more sites share its address than --max-address-sites allows");
}

void host_take_block(fetcher *fetcher, url_block *urls)
{
    host *host = id_map_get(&fetcher->hosts, urls->host);

    if (!host || !host->in_host_table) { /* it was on its way when the host left */
        returned back = {.fetcher = fetcher};
        for (size_t i = 0; i < urls->count; i++)
            list_url(&back, urls->urls[i].url);
        send_request(fetcher, MESSAGE_HOST_LEFT, urls->host, urls->count, &back.urls);
        message_free(&urls->message);
        return;
    }
    if (host->ran_dry && host->ahead < AHEAD_MOST)
        host->ahead *= 2;
    host->asked = host->ran_dry = false;
    if (!order_add(fetcher, host, urls)) {
        crawl_no_memory(fetcher->crawl);
        message_free(&urls->message);
        return;
    }
    host->unstarted += urls->count;
    messages_add(&host->url_blocks, &urls->message);
    host_refresh(fetcher, host);
}
