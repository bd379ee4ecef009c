/*
 * robots.txt of a host: asked for before its first page and again when a day is over (RFC 9309). Up to five redirects
 * are followed, to other hosts, too: such a request takes its turn there. What was found is kept in the database.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/crawl/fetcher/fetcher.h"
#include "crawler/http/http.h"
#include "vidi/url.h"

enum {
    UNREACHABLE_TRIES = 3,
    UNPACKED = 4 * ROBOTS_LIMIT,
    SITEMAPS_MOST = 1000 /* Sitemap lines of one file that are followed */
};

/* ---- what is known ---- */

static bool is_stale(const fetcher *fetcher, const host *host)
{
    return robots_is_stale((robots_outcome)host->robots_outcome,
                           (crawl_date(fetcher->crawl) - host->robots_date) / 1000);
}

/* --ignore-robots: true for a host in one of the user's own networks. Its address must be known. */
static bool is_ignored(const fetcher *fetcher, const host *host)
{
    const crawl_options *o = &fetcher->crawl->options;

    if (!o->ignore_robots || fetch_address_is_public(&host->address))
        return false;
    for (size_t i = 0; i < o->net_count; i++)
        if (fetch_net_has(&o->nets[i], &host->address))
            return true;
    return false;
}

bool host_robots_is_known(fetcher *fetcher, host *host)
{
    if (is_ignored(fetcher, host))
        return true;
    if (host->robots_ready && is_stale(fetcher, host))
        host->robots_ready = false;
    if (!host->robots_ready)
        host_robots_ask(fetcher, host);
    return host->robots_ready;
}

void host_robots_ask(fetcher *fetcher, host *host)
{
    frontier_url url = {.host = host->id, .url = {host->robots_url, strlen(host->robots_url)}};

    if (host->robots_asked || host->dead || host->parked)
        return;
    if (fetcher->now < host->robots_due) {
        host_wake_at(fetcher, host->robots_due);
        return;
    }
    fetch_job *asks = fetch_job_make(&url, 0, 0);
    if (!asks) {
        crawl_no_memory(fetcher->crawl);
        return;
    }
    asks->host = asks->robots_for = host;
    host->robots_asked = true;
    messages_add(&host->direct, &asks->message);
}

/* ---- reading a file ---- */

typedef struct sitemaps {
    const fetcher *fetcher;
    const host *host;
    bytes *to;
    size_t count;
} sitemaps;

/* Keeps the URL of a sitemap if it is in scope. */
static int note_sitemap(void *context, vidi_str url)
{
    sitemaps *sitemaps = context;
    const crawl *c = sitemaps->fetcher->crawl;
    vidi_str base = {sitemaps->host->robots_url, strlen(sitemaps->host->robots_url)};
    char text[8192];
    size_t len = sizeof text;
    vidi_url parts = {.size = sizeof parts};

    if (c->options.no_sitemaps || sitemaps->count >= SITEMAPS_MOST)
        return VIDI_OK;
    if (vidi_url_parse(url, &base, text, &len, &parts) != VIDI_OK || parts.username.len || parts.password.len)
        return VIDI_OK;
    if (parts.fragment.ptr)
        len = (size_t)(parts.fragment.ptr - text) - 1;
    if (scope_check(c->scope, (vidi_str){text, len}) != SCOPE_IN)
        return VIDI_OK;
    sitemaps->count++;
    int error = bytes_append(sitemaps->to, text, len);
    return error ? error : bytes_append(sitemaps->to, "", 1);
}

static int parse(fetcher *fetcher, host *host, vidi_str file, bytes *found)
{
    sitemaps noted = {fetcher, host, found, 0};
    robots *rules;
    robots_options options = {
        .agent = fetcher->crawl->rules.agent, .sitemap = found ? note_sitemap : NULL, .context = &noted};
    int error = robots_parse(&rules, file, &options);

    if (error)
        return error;
    robots_free(host->rules);
    host->rules = rules;
    return VIDI_OK;
}

/* Passes the Crawl-delay of the file on to politeness. Parks the host if the delay is too long. */
static void obey_delay(fetcher *fetcher, host *host)
{
    double seconds = host->rules ? robots_delay(host->rules) : -1;
    char why[96];

    if (seconds > (double)fetcher->crawl->options.max_delay / 1000) {
        snprintf(why, sizeof why, "its robots.txt asks for %.6g seconds between two requests", seconds);
        host_park(fetcher, host, 0, why);
        return;
    }
    if (host->queue)
        polite_crawl_delay(fetcher->politeness, host->queue, seconds > 0 ? (int64_t)(seconds * 1000 + 0.5) : 0);
}

void host_robots_from(fetcher *fetcher, host *host, const host_info *known)
{
    host->robots_reached = known->robots_reached;
    if (fetcher->crawl->options.ignore_robots) /* whether that is meant for this host, its address will tell */
        return;
    if (known->robots_outcome != ROBOTS_READ && known->robots_outcome != ROBOTS_ALLOW_ALL)
        return;
    host->robots_outcome = known->robots_outcome;
    host->robots_date = known->robots_date;
    if (known->robots_outcome == ROBOTS_READ && parse(fetcher, host, bytes_str(&known->robots), NULL) != VIDI_OK) {
        crawl_no_memory(fetcher->crawl);
        return;
    }
    host->robots_ready = !known->robots_of_last_visit; /* if it is too old, host_robots_is_known will tell */
    if (host->robots_ready && !is_stale(fetcher, host))
        obey_delay(fetcher, host);
}

/* ---- telling the storage thread ---- */

static host_info *robots_info_make(fetcher *fetcher, const host *host)
{
    host_info *news = host_info_make(fetcher, host);

    if (!news)
        return NULL;
    news->has_robots = true;
    news->robots_outcome = host->robots_outcome;
    news->robots_date = host->robots_date;
    news->robots_reached = host->robots_reached;
    return news;
}

/* The file has been read, or does not exist: pages can be requested from the host. */
static void settle(fetcher *fetcher, host *host, robots_outcome outcome, vidi_str file)
{
    host->robots_outcome = (int)outcome;
    host->robots_date = host->robots_reached = crawl_date(fetcher->crawl);
    host->robots_ready = true;
    host->robots_failures = 0;
    host_info *news = robots_info_make(fetcher, host);
    if (!news)
        return;
    int error = VIDI_OK;
    if (outcome == ROBOTS_READ) {
        error = parse(fetcher, host, file, &news->sitemaps);
        if (error == VIDI_OK)
            error = bytes_append(&news->robots, file.ptr, file.len < ROBOTS_LIMIT ? file.len : ROBOTS_LIMIT);
    } else {
        robots_free(host->rules);
        host->rules = NULL;
    }
    if (error)
        crawl_no_memory(fetcher->crawl);
    if (host->in_host_table)
        fetcher_to_storage(fetcher, &news->message);
    else
        message_free(&news->message);
    obey_delay(fetcher, host);
}

/* ---- what an answer means ---- */

/* The database remembers since when the file cannot be reached: after a month it counts as missing. */
static void note_unreachable(fetcher *fetcher, host *host)
{
    host->robots_outcome = ROBOTS_DENY_ALL;
    host->robots_date = crawl_date(fetcher->crawl);
    if (!host->robots_reached)
        host->robots_reached = host->robots_date;
    host_info *news = robots_info_make(fetcher, host);
    if (news)
        fetcher_to_storage(fetcher, &news->message);
}

/* The host is left alone until another run, because what its rules are is not known. */
static void park_unreachable(fetcher *fetcher, host *host, int64_t not_before, const char *why)
{
    note_unreachable(fetcher, host);
    host_park(fetcher, host, not_before, why);
}

/* True if the request has not left this machine, its network, or its proxy: that says nothing about the host. */
static bool is_offline(const fetch_response *response)
{
    return response->no_proxy || (response->failure == FETCH_CONNECT &&
                                  (response->os_error == ENETUNREACH || response->os_error == ENETDOWN));
}

/* The file cannot be reached: tries again later, and at last gives up. */
static void come_later(fetcher *fetcher, host *host, const fetch_response *response)
{
    int64_t wait = back_off_after(host->robots_failures);
    char why[200];

    if (response->failure == FETCH_MEMORY) /* that says nothing about the host; the crawl is about to end */
        return;
    if (host->dead || host->parked) /* it waits for nothing any more */
        return;
    host->robots_failures++;
    bool silent = response->failure != FETCH_FINE;
    if (silent && (!response->may_pass || host->robots_failures > host_retries(fetcher, host, response))) {
        snprintf(why, sizeof why, "robots.txt: %.150s", response->why);
        host_is_silent(fetcher, host, fetch_reason(response->failure),
                       response->failure == FETCH_CONNECT ? response->why : why, is_offline(response));
        return;
    }
    if (silent)
        wait = (int64_t)1000 << (2 * (host->robots_failures < 4 ? host->robots_failures - 1 : 3));
    else {
        int64_t asked =
            http_retry_after(http_value(bytes_str(&response->head), "retry-after"), crawl_date(fetcher->crawl));
        if (asked > BACK_OFF_MOST || host->robots_failures >= UNREACHABLE_TRIES) {
            snprintf(why, sizeof why, "its robots.txt cannot be reached (status %d)", response->status);
            park_unreachable(fetcher, host, asked > 0 ? crawl_date(fetcher->crawl) + asked : 0, why);
            return;
        }
        wait = asked >= 0 ? asked : wait;
        if (host->queue)
            polite_back_off(fetcher->politeness, host->queue, fetcher->now + wait);
    }
    host->robots_due = fetcher->now + wait;
    host_wake_at(fetcher, host->robots_due);
}

typedef enum followed {
    FOLLOWED,
    LEADS_NOWHERE, /* it is not a URL that can be fetched */
    LEADS_TO_DEAD  /* nothing is fetched from the host that it leads to */
} followed;

/* Follows a redirect: the request goes to the host that it leads to. */
static followed follow(fetcher *fetcher, fetch_job *asked, vidi_str location)
{
    char text[8192];
    size_t len = sizeof text;
    vidi_url parts = {.size = sizeof parts};
    frontier_url url = {0};

    if (vidi_url_parse(location, &asked->url.url, text, &len, &parts) != VIDI_OK || parts.username.len)
        return LEADS_NOWHERE;
    if (parts.fragment.ptr)
        len = (size_t)(parts.fragment.ptr - text) - 1;
    url.url = (vidi_str){text, len};
    if (!web_url_view(url.url, &parts) || scope_port_is_bad(web_url_port(&parts)))
        return LEADS_NOWHERE;
    if (url_host_key(fetcher->crawl->keys, url.url, &url.host) != VIDI_OK)
        return LEADS_TO_DEAD;
    host *there = host_of(fetcher, url.host, url.url);
    fetch_job *next = there ? fetch_job_make(&url, 0, 0) : NULL;
    if (!next || there->dead || there->parked) {
        fetch_job_free(next);
        return LEADS_TO_DEAD;
    }
    next->host = there;
    next->robots_for = asked->robots_for;
    next->redirects = asked->redirects + 1;
    messages_add(&there->direct, &next->message);
    if (there != asked->robots_for)
        host_refresh(fetcher, there);
    return FOLLOWED;
}

/*
 * Decodes the file. False: it cannot be decoded, so what it forbids is unknown. The beginning of a file that is
 * packed and too large is enough.
 */
static bool decode(fetcher *fetcher, const fetch_response *response, bytes *content, vidi_str *file)
{
    http_unpacked how = http_unpack(bytes_str(&response->head), bytes_str(&response->body), UNPACKED, content);

    if (how == HTTP_NO_MEMORY)
        crawl_no_memory(fetcher->crawl);
    *file = bytes_str(how == HTTP_AS_IT_IS ? &response->body : content);
    return how == HTTP_AS_IT_IS || how == HTTP_UNPACKED || (how == HTTP_DAMAGED && response->is_cut);
}

static robots_outcome decide(fetcher *fetcher, const host *host, const fetch_job *asked, int status, vidi_str location)
{
    int64_t date = crawl_date(fetcher->crawl);
    robots_answer answer = {.status = status,
                            .redirects = asked->redirects,
                            .has_location = location.ptr != NULL,
                            .has_cached = host->rules != NULL,
                            .unreachable_for = host->robots_reached ? (date - host->robots_reached) / 1000 : 0};

    return robots_decide(&answer);
}

/* Follows a redirect. False if the file has not come yet: a request to the new place is waiting. */
static bool redirect(fetcher *fetcher, host *host, fetch_job *asked, vidi_str location)
{
    fetch_response none = {.failure = FETCH_CONNECT, .why = "it leads to a host that nothing can be fetched from"};

    switch (follow(fetcher, asked, location)) {
    case FOLLOWED:
        return false;
    case LEADS_NOWHERE:
        settle(fetcher, host, ROBOTS_ALLOW_ALL, (vidi_str){0});
        return true;
    default:
        come_later(fetcher, host, &none);
        return true;
    }
}

void host_robots_arrived(fetcher *fetcher, fetch_job *asked, const fetch_response *response)
{
    host *host = asked->robots_for;
    vidi_str location = http_value(bytes_str(&response->head), "location"), file = {0};
    bytes content = {0};
    robots_outcome outcome =
        decide(fetcher, host, asked, response->failure == FETCH_FINE ? response->status : 0, location);
    bool over = true, undecoded = outcome == ROBOTS_READ && !decode(fetcher, response, &content, &file);

    if (undecoded)
        outcome = decide(fetcher, host, asked, 0, location);
    host->robots_asked = false;
    if (outcome == ROBOTS_FOLLOW) {
        over = redirect(fetcher, host, asked, location);
    } else if (outcome == ROBOTS_READ) {
        settle(fetcher, host, ROBOTS_READ, file);
    } else if (outcome == ROBOTS_ALLOW_ALL) {
        settle(fetcher, host, ROBOTS_ALLOW_ALL, (vidi_str){0});
    } else if (outcome == ROBOTS_KEEP_CACHED) {
        host->robots_ready = true;
        host->robots_outcome = ROBOTS_READ;
        host->robots_date = crawl_date(fetcher->crawl);
    } else if (undecoded) {
        park_unreachable(fetcher, host, 0, "its robots.txt has a Content-Encoding that cannot be undone");
    } else {
        come_later(fetcher, host, response);
    }
    bytes_free(&content);
    host->robots_asked = host->robots_asked || !over;
    fetch_job_free(asked);
    host_refresh(fetcher, host);
}
