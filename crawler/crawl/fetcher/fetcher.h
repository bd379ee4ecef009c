/*
 * The fetcher: the one thread that fetches. It keeps hosts in memory and knows when each may get its next request.
 *
 *   fetcher.c          its loop
 *   host_queue.c      a host in memory: its URLs, and which is requested next
 *   responses.c         what an answer, or its absence, means for the URL and for the host
 *   host_robots.c    robots.txt of a host
 *   limits.c          when no request may be started
 *   lost_hosts.c      with --fleet: what this process may not fetch any more
 *   url_order.c       which URL of a host goes first
 */
#ifndef VIDI_CRAWLER_CRAWL_FETCHER_FETCHER_H
#define VIDI_CRAWLER_CRAWL_FETCHER_FETCHER_H

#include "crawler/base/web_url.h"
#include "crawler/crawl/id_map.h"
#include "crawler/crawl/crawl_state.h"
#include "crawler/politeness/politeness.h"
#include "crawler/robots/robots.h"

/* A URL of a block that was not taken yet, and its place in the order: the highest goes first. */
typedef struct ranked_url {
    uint64_t rank;
    url_block *block;
    size_t at;
} ranked_url;

typedef struct host {
    uint64_t id;
    char *origin;
    vidi_str name; /* "example.org", in robots_url */
    char *robots_url;
    bool in_host_table; /* storage has handed it over; if not, it is here only for another host's robots.txt */
    size_t at;          /* place in the list of hosts */
    const char **headers;
    size_t header_count;

    /* the name */
    bool resolving;      /* it is being looked up */
    int64_t resolved_at; /* when the address was found; negative: never */
    int64_t resolve_due; /* earliest time of the next lookup */
    unsigned resolve_failures;
    fetch_address address;
    bool judged, judging; /* with --scope any: its site may be crawled; the storage thread was asked */

    /* turns */
    polite_queue *queue; /* NULL: the address is not known */
    int64_t not_until;   /* it has asked to be left alone until then */
    unsigned running;    /* requests */

    /* URLs */
    messages url_blocks;
    uint64_t unstarted; /* URLs in loads */
    ranked_url *ranked; /* `unstarted` of them; not in the order of age */
    size_t ranked_room;
    uint64_t taken;   /* since their ranks were computed */
    messages retries; /* fetch jobs that are tried again when they are due */
    messages direct;  /* requests for a robots.txt, this host's or another's */
    uint64_t ahead;   /* URLs to have in store; with fewer, the storage thread is asked for more */
    bool asked;       /* the storage thread was asked for more, and has not answered */
    bool ran_dry;     /* the last URL was taken while the storage thread had not answered */

    /* robots.txt */
    robots *rules; /* NULL: everything is allowed, if robots_ready */
    bool robots_ready, robots_asked;
    int robots_outcome; /* -1: never asked for */
    int64_t robots_date, robots_reached;
    int64_t robots_due; /* earliest time of the next request */
    unsigned robots_failures;

    /* its history */
    uint64_t pages;       /* fetched, over all runs */
    unsigned failures;    /* requests in a row without any answer */
    unsigned overloads;   /* answers of 429 or 503 in a row */
    bool refused;         /* one of its URLs was given up for that, and no other has been answered since */
    const char *dead;     /* why none of its URLs can be fetched: a reason; NULL: it is alive */
    char dead_error[200]; /* the sentence about it */
    bool parked;
    int64_t lost_at; /* with --fleet: when another process got it; negative: it is ours */
} host;

typedef struct fetcher {
    crawl *crawl;
    polite *politeness;
    id_map hosts;
    host **list;
    size_t list_room;
    LIST_HEAD(, fetch_job) in_flight;  /* running requests */
    unsigned lost;                     /* hosts that are lost and still here */
    unsigned running;                  /* their number */
    uint64_t pages_running;            /* running requests for pages, not for robots.txt */
    uint64_t pages, bytes;             /* over all runs, committed or not */
    uint64_t pages_began, bytes_began; /* when the run began */
    int64_t paced_to_us;               /* when the last page would have been requested at an even pace */
    int64_t next_due;                  /* when something is tried again; INT64_MAX: never */
    int64_t now;                       /* of this round */
    messages to_parsers, to_storage;
    bytes cookies; /* the header of a request */
} fetcher;

/* ---- host_queue.c ---- */

/* Finds or makes the host. NULL: no memory. */
host *host_of(fetcher *fetcher, uint64_t id, vidi_str url);
void host_free(fetcher *fetcher, host *host);
/* Call it after every change: asks for the address, the robots.txt, turns or more URLs, as the host needs them. */
void host_refresh(fetcher *fetcher, host *host);
/* The next request to the host, whose turn has come; NULL: none. */
fetch_job *host_next(fetcher *fetcher, host *host);
/* Tries a URL again at `due`. */
void host_retry(fetcher *fetcher, host *host, fetch_job *again, int64_t due);
void host_wake_at(fetcher *fetcher, int64_t due);
/* Gives the host up: all its URLs get this outcome. */
void host_give_up(fetcher *fetcher, host *host, const char *reason, const char *error);
/* True if it has ever answered, in this run or an earlier one. */
bool host_has_answered(const host *host);
/*
 * It does not answer. If it has answered before, it is parked, because it may come back, or the network of this machine
 * is gone; so it is if `is_offline`: the failure says nothing about the host. Otherwise it is given up. The caller then
 * calls host_refresh, if the host is still there.
 */
void host_is_silent(fetcher *fetcher, host *host, const char *reason, const char *error, bool is_offline);
/* How often a request without an answer is sent again. */
unsigned host_retries(const fetcher *fetcher, const host *host, const fetch_response *response);
/* Leaves the host alone for the rest of this run; its URLs stay in the queue. not_before: a date, or 0. */
void host_park(fetcher *fetcher, host *host, int64_t not_before, const char *why);
/* A host info that has only the host's id and origin. NULL: no memory, which ends the crawl. */
host_info *host_info_make(fetcher *fetcher, const host *host);
/* Forgets the host if nothing keeps it in memory. */
void host_leave_if_over(fetcher *fetcher, host *host);
/* Gives a URL an outcome without a response. */
void host_unfetched(fetcher *fetcher, fetch_job *page, const char *reason, const char *error);
void host_take_block(fetcher *fetcher, url_block *urls);
/* Requests a page once more, whole: it has not changed, but its body in the archive cannot be read. */
void host_take_again(fetcher *fetcher, fetch_job *page);
void host_take_info(fetcher *fetcher, host_info *known); /* the host info stays the caller's */
/* What the storage thread says about the host's site. */
void host_take_judgement(fetcher *fetcher, const host_request *judged);
/* Gives hosts back that have nothing to do. */
void host_make_room(fetcher *fetcher);

/* ---- lost_hosts.c ---- */

/* The host is another process's now: nothing more is begun, and it is given back when its requests have ended. */
void host_lose(fetcher *fetcher, uint64_t id);
/* With a fleet, ends requests that must not go on: when the lease is about to end, and those to lost hosts that last. */
void lost_requests_end(fetcher *fetcher);
/* When that has to be done next; INT64_MAX: never. */
int64_t lost_requests_due(const fetcher *fetcher);

/* ---- responses.c ---- */

/* A key, 63 bits. If there is no memory, that ends the crawl. */
uint64_t response_key(const fetcher *fetcher, const void *bytes, size_t n);
void address_arrived(fetcher *fetcher, const fetch_event *event);
void response_arrived(fetcher *fetcher, fetch_response *response);

/* ---- waiting for a host that does not serve ---- */

/* Milliseconds. A Retry-After above the second parks the host. */
enum { BACK_OFF = 30 * 1000, BACK_OFF_MOST = 10 * 60 * 1000 };

/* How long to wait after this many failures before the present one: doubles each time, up to the most. */
static inline int64_t back_off_after(unsigned failures)
{
    int64_t wait = (int64_t)BACK_OFF << (failures < 5 ? failures : 5);
    return wait < BACK_OFF_MOST ? wait : BACK_OFF_MOST;
}

/* ---- host_robots.c ---- */

/* True if robots.txt is known, so that pages may be requested. If not, requests it as soon as that is allowed. */
bool host_robots_is_known(fetcher *fetcher, host *host);
void host_robots_from(fetcher *fetcher, host *host, const host_info *known);
void host_robots_arrived(fetcher *fetcher, fetch_job *asked, const fetch_response *response);
/* Asks for robots.txt, unless it is being asked for already. */
void host_robots_ask(fetcher *fetcher, host *host);

/* ---- url_order.c ---- */

/* URLs of the host to have in memory. */
uint64_t order_ahead(const fetcher *fetcher, const host *host);
/* A block has come, whose URLs are not in `unstarted` yet. False: no memory. */
bool order_add(fetcher *fetcher, host *host, url_block *block);
/* Calls `take` with each URL of the host's blocks that was not taken. */
void order_each(const fetcher *fetcher, const host *host, void (*take)(void *context, vidi_str url), void *context);
/* Chooses the next URL of the host, which has some: its block, and its place there. The caller counts it. */
size_t order_take(fetcher *fetcher, host *host, url_block **block);

/* ---- limits.c ---- */

/* True if too much is fetched but not committed: no request may be started. */
bool limits_gate(const fetcher *fetcher);
/* True if a request may be started now. */
bool limits_allow(const fetcher *fetcher);
/* Ends the run if a limit is reached. */
void limits_check(fetcher *fetcher);
/* By the clock: when the next page may be requested. That is the pace of --budget, which limits_allow does not know. */
int64_t limits_next_page(const fetcher *fetcher);
/* A page is requested. */
void limits_count_page(fetcher *fetcher);
/* By the clock: until when the fleet lets this process fetch; INT64_MAX without a fleet. */
int64_t limits_lease(const fetcher *fetcher);
/* When the time is over; INT64_MAX: never. */
int64_t limits_deadline(const fetcher *fetcher);

/* ---- fetcher.c ---- */

void fetcher_to_parsers(fetcher *fetcher, fetch_job *page);
void fetcher_to_storage(fetcher *fetcher, message *one);

#endif
