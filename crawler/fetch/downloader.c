/*
 * The loop: see fetch.h. libcurl tells which sockets it waits for and when it wants to be called (its multi_socket
 * interface), epoll waits.
 *
 *     fetch_start -> waiting -> a carrier -> libcurl … -> done -> fetch_wait
 *
 * Connecting is timed by libcurl; silence and the total are timed here, by looking at all carriers when the first of
 * them may be due.
 *
 * Each request has a handle of libcurl of its own, never used before: libcurl 7.88.1 (Debian 12) keeps a pointer to the
 * last header of a handle's previous response, which is freed, and the server decides whether it is used (see
 * SECURITY.md). Connections and certificates are kept by the multi handle.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "crawler/base/url_parts.h"
#include "crawler/fetch/libcurl.h"
#include "crawler/fetch/dns_cache.h"
#include "crawler/fetch/pool.h"

enum {
    EVENTS = 64,    /* of epoll, read at a time */
    LONGEST = 60000 /* milliseconds of one epoll_wait */
};

static const int64_t NEVER = INT64_MAX;

struct downloader {
    fetch_rules rules;
    fetch_load load;
    dns_cache *dns;
    CURLM *multi;
    sockets sockets;
    int wake; /* an eventfd */
    atomic_bool woken;
    int error; /* a callback of libcurl has failed */

    carrier *carriers, *free;
    size_t carrier_count, busy;
    exchange_pool *pool;
    queue waiting, done; /* of exchanges */
    size_t running;      /* exchanges that have not been told */

    int64_t now;      /* microseconds of the machine's clock, when the loop last looked */
    int64_t timer_at; /* when libcurl wants to be called */
    int64_t check_at; /* no carrier is silent for too long before */
};

int64_t fetch_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static exchange *take_exchange(queue *from)
{
    return QUEUE_ITEM(queue_take(from), exchange, link);
}

/* ---- sockets ---- */

/* libcurl's interest in a socket has changed. */
static int on_interest(CURL *easy, curl_socket_t fd, int what, void *context, void *socket_context)
{
    downloader *of = context;
    uint32_t events = 0;
    char *by = NULL;

    (void)socket_context;
    if (what != CURL_POLL_REMOVE) {
        events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &by);
    }
    int error = sockets_want(&of->sockets, fd, events, by);
    if (error)
        of->error = error;
    return error ? -1 : 0;
}

static int on_close(void *context, curl_socket_t fd)
{
    downloader *of = context;

    sockets_forget(&of->sockets, fd);
    return close(fd);
}

static int on_timer(CURLM *multi, long ms, void *context)
{
    downloader *of = context;

    (void)multi;
    of->timer_at = ms < 0 ? NEVER : ms == 0 ? 0 : fetch_now_us() + (int64_t)ms * 1000;
    return 0;
}

/* ---- carriers ---- */

/* A free carrier with a new handle. NULL: all are busy, or there is no memory for another handle. */
static carrier *free_carrier(downloader *of)
{
    carrier *by = of->free;

    if (!by)
        return NULL;
    by->easy = curl_easy_init();
    if (!by->easy)
        return NULL;
    by->rules = &of->rules;
    by->load = &of->load;
    by->sockets = &of->sockets;
    curl_easy_setopt(by->easy, CURLOPT_PRIVATE, by);
    curl_easy_setopt(by->easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
    curl_easy_setopt(by->easy, CURLOPT_CLOSESOCKETDATA, of);
    of->free = by->next_free;
    of->busy++;
    return by;
}

/* Next time, another address of the host may do better. */
static void avoid_address(downloader *of, const exchange *with)
{
    url_parts url;

    if (url_split((vidi_str){with->origin, strlen(with->origin)}, &url))
        dns_cache_avoid(of->dns, url.host, &with->response.address);
}

static void release(downloader *of, carrier *by)
{
    exchange *with = by->with;

    if (by->unreachable)
        avoid_address(of, with);
    with->response.took_us = fetch_now_us() - by->began;
    exchange_drop_request(with);
    queue_put(&of->done, &with->link);
    curl_easy_cleanup(by->easy);
    by->easy = NULL;
    by->with = NULL;
    by->next_free = of->free;
    of->free = by;
    of->busy--;
}

static void begin(downloader *of, carrier *by, exchange *with)
{
    int64_t first = of->rules.silence_ms < of->rules.total_ms ? of->rules.silence_ms : of->rules.total_ms;

    with->response.date = of->rules.clock.date(of->rules.clock.context);
    if (carrier_take(by, with) != VIDI_OK || curl_multi_add_handle(of->multi, by->easy) != CURLM_OK) {
        carrier_finish(by, CURLE_OUT_OF_MEMORY);
        release(of, by);
        return;
    }
    if (by->began + first * 1000 < of->check_at)
        of->check_at = by->began + first * 1000;
}

static int begin_waiting(downloader *of)
{
    while (of->waiting.first) {
        carrier *by = free_carrier(of);
        if (!by)
            return of->busy ? VIDI_OK : VIDI_EMEMORY;
        begin(of, by, take_exchange(&of->waiting));
    }
    return VIDI_OK;
}

/* ---- the loop ---- */

static void collect_done(downloader *of)
{
    int left;

    for (CURLMsg *message; (message = curl_multi_info_read(of->multi, &left));) {
        carrier *by = NULL;
        CURLcode result = message->data.result;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&by);
        carrier_finish(by, result);
        curl_multi_remove_handle(of->multi, by->easy);
        release(of, by);
    }
}

/* Bodies that had to wait go on when there is room, or one of them when it is its turn. */
static void resume_paused(downloader *of)
{
    of->check_at = 0; /* their time runs again */
    for (size_t i = 0; i < of->carrier_count; i++) {
        if (of->load.leader && of->load.held >= of->load.limit)
            return;
        if (of->carriers[i].with && of->carriers[i].paused_at)
            carrier_resume(&of->carriers[i]);
    }
}

/* Ends an exchange that is not complete, and its connection. */
static void cut_off(downloader *of, carrier *by)
{
    curl_multi_remove_handle(of->multi, by->easy);
    release(of, by);
}

/* Ends exchanges that take too long, and finds out when to look again. */
static void check_times(downloader *of)
{
    int64_t silence = of->rules.silence_ms * 1000, total = of->rules.total_ms * 1000;

    if (of->now < of->check_at)
        return;
    of->check_at = NEVER;
    for (size_t i = 0; i < of->carrier_count; i++) {
        carrier *by = &of->carriers[i];
        if (!by->with)
            continue;
        int64_t silent_at = by->paused_at ? NEVER : by->heard + silence;
        int64_t over_at = by->paused_at ? NEVER : by->began + by->waited + total;
        int64_t due = silent_at < over_at ? silent_at : over_at;
        if (due > of->now) {
            of->check_at = due < of->check_at ? due : of->check_at;
            continue;
        }
        if (due == silent_at)
            carrier_give_up(by, FETCH_TIMEOUT, "no byte for %lld ms", (long long)of->rules.silence_ms);
        else
            carrier_give_up(by, FETCH_TIMEOUT, "not complete after %lld ms", (long long)of->rules.total_ms);
        cut_off(of, by);
    }
}

static int run_libcurl(downloader *of, curl_socket_t fd, int what)
{
    int running;
    CURLMcode result = curl_multi_socket_action(of->multi, fd, what, &running);

    if (of->error)
        return of->error;
    return result == CURLM_OK ? VIDI_OK : result == CURLM_OUT_OF_MEMORY ? VIDI_EMEMORY : VIDI_ESYSTEM;
}

static int run_timer(downloader *of)
{
    if (of->timer_at > of->now)
        return VIDI_OK;
    of->timer_at = NEVER;
    return run_libcurl(of, CURL_SOCKET_TIMEOUT, 0);
}

static int on_socket(downloader *of, int fd, uint32_t events)
{
    int what = (events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (events & EPOLLERR ? CURL_CSELECT_ERR : 0);
    const socket_watch *watch = sockets_happened(&of->sockets, fd);

    if (!watch)
        return VIDI_OK;
    carrier *by = watch->owner;
    if (by && by->with && carrier_is_fooled(by, fd)) {
        carrier_give_up(by, FETCH_BROKEN, "nothing comes but framing");
        cut_off(of, by);
        return VIDI_OK;
    }
    if (by)
        by->heard = of->now;
    return run_libcurl(of, fd, what);
}

static int on_event(downloader *of, const struct epoll_event *event)
{
    int fd = event->data.fd;
    uint64_t count;

    if (fd == of->wake) {
        (void)!read(fd, &count, sizeof count); /* fetch_wait looks at `woken` */
        return VIDI_OK;
    }
    if (fd == dns_cache_fd(of->dns)) {
        dns_cache_collect(of->dns);
        return VIDI_OK;
    }
    return on_socket(of, fd, event->events);
}

/* Milliseconds until the first of them, rounded up. */
static int time_left(const downloader *of, int64_t until)
{
    int64_t first = until < of->timer_at ? until : of->timer_at;

    first = first < of->check_at ? first : of->check_at;
    if (first == NEVER)
        return -1;
    int64_t ms = (first - of->now + 999) / 1000;
    return ms < 0 ? 0 : ms > LONGEST ? LONGEST : (int)ms;
}

static bool has_event(const downloader *of)
{
    return of->done.first || dns_cache_has_next(of->dns);
}

/* Lets libcurl work, and waits for something to happen unless something has. */
static int turn(downloader *of, int64_t until)
{
    struct epoll_event events[EVENTS];

    int error = begin_waiting(of);
    if (!error)
        error = run_timer(of);
    if (error)
        return error;
    collect_done(of);
    int n = epoll_wait(of->sockets.epoll, events, EVENTS, has_event(of) ? 0 : time_left(of, until));
    if (n < 0 && errno != EINTR)
        return VIDI_ESYSTEM;
    of->now = fetch_now_us();
    for (int i = 0; i < n && !error; i++)
        error = on_event(of, &events[i]);
    check_times(of);
    collect_done(of);
    if (of->load.paused && (!of->load.leader || of->load.held < of->load.limit))
        resume_paused(of);
    return error;
}

static bool take_event(downloader *of, fetch_event *event)
{
    if (dns_cache_next(of->dns, event))
        return true;
    if (!of->done.first)
        return false;
    exchange *one = take_exchange(&of->done);
    *event = (fetch_event){.kind = FETCH_DONE, .item = one->response.item, .response = &one->response};
    of->load.held -= one->response.head.len + one->response.body.len;
    of->running--;
    return true;
}

int fetch_wait(downloader *of, int64_t ms, fetch_event *event)
{
    if (take_event(of, event))
        return 1;
    of->now = fetch_now_us();
    int64_t until = ms < 0 || ms > NEVER / 2000 ? NEVER : of->now + ms * 1000;
    for (;;) {
        int error = turn(of, until);
        if (error)
            return error;
        if (take_event(of, event))
            return 1;
        if (atomic_exchange(&of->woken, false) || of->now >= until)
            return 0;
    }
}

void fetch_wake(downloader *of)
{
    static const uint64_t one = 1;

    if (!atomic_exchange(&of->woken, true)) /* otherwise the descriptor is readable already, or about to be */
        (void)!write(of->wake, &one, sizeof one);
}

/* ---- requests ---- */

int fetch_resolve(downloader *of, vidi_str host, void *item)
{
    return dns_cache_ask(of->dns, host, item);
}

int fetch_start(downloader *of, const fetch_request *request)
{
    exchange *one;
    int error = exchange_make(&one, of->pool, &of->rules, request);

    if (error)
        return error;
    queue_put(&of->waiting, &one->link);
    of->running++;
    return VIDI_OK;
}

size_t fetch_running(const downloader *of)
{
    return of->running + dns_cache_running(of->dns);
}

uint64_t fetch_held(const downloader *of)
{
    return of->load.held;
}

/* ---- opening and closing ---- */

static int copy_text(char **to, const char *from)
{
    if (!from)
        return VIDI_OK;
    if (!fetch_is_line(from))
        return VIDI_EARGUMENT;
    *to = strdup(from);
    return *to ? VIDI_OK : VIDI_EMEMORY;
}

static uint64_t or_default(uint64_t value, uint64_t usual)
{
    return value ? value : usual;
}

static int copy_rules(fetch_rules *to, const fetch_options *options)
{
    to->max_body = or_default(options->max_body, FETCH_MAX_BODY);
    to->max_head = or_default(options->max_head, FETCH_MAX_HEAD);
    to->connect_ms = options->connect_ms > 0 ? options->connect_ms : FETCH_CONNECT_MS;
    to->silence_ms = options->silence_ms > 0 ? options->silence_ms : FETCH_SILENCE_MS;
    to->total_ms = options->total_ms > 0 ? options->total_ms : FETCH_TOTAL_MS;
    to->clock = options->clock ? *options->clock : crawl_clock_real;
    int error = copy_text(&to->agent, options->agent);
    if (!error)
        error = copy_text(&to->ca_file, options->ca_file);
    if (!error && to->ca_file && access(to->ca_file, R_OK) != 0)
        error = VIDI_EIO;
    if (!error)
        error = fetch_rules_set_headers(to);
    return error ? error : fetch_guard_open(&to->guard, options);
}

/* How many sockets there may be, of all files that the process may open: the others are those of the caller. */
static size_t most_sockets(void)
{
    enum { FILES_OF_OTHERS = 64, ENOUGH = 1 << 16 };
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur > ENOUGH)
        return ENOUGH;
    size_t most = (size_t)files.rlim_cur;
    most -= most / 2 < FILES_OF_OTHERS ? most / 2 : FILES_OF_OTHERS;
    return most ? most : 1;
}

static int open_carriers(downloader *of, unsigned connections)
{
    size_t most = most_sockets();

    of->pool = pool_open();
    of->carrier_count = connections ? connections : FETCH_CONNECTIONS;
    of->carrier_count = of->carrier_count < most ? of->carrier_count : most;
    of->carriers = calloc(of->carrier_count, sizeof *of->carriers);
    if (!of->pool || !of->carriers)
        return VIDI_EMEMORY;
    of->load.share = of->load.limit / of->carrier_count;
    for (size_t i = of->carrier_count; i-- > 0;) {
        of->carriers[i].next_free = of->free;
        of->free = &of->carriers[i];
    }
    return VIDI_OK;
}

static int open_multi(downloader *of)
{
    int error = libcurl_load();

    if (error)
        return error;
    of->multi = curl_multi_init();
    if (!of->multi)
        return VIDI_EMEMORY;
    curl_multi_setopt(of->multi, CURLMOPT_SOCKETFUNCTION, on_interest);
    curl_multi_setopt(of->multi, CURLMOPT_SOCKETDATA, of);
    curl_multi_setopt(of->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(of->multi, CURLMOPT_TIMERDATA, of);
    curl_multi_setopt(of->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    curl_multi_setopt(of->multi, CURLMOPT_MAXCONNECTS, 2 * (long)of->carrier_count);
    curl_multi_setopt(of->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)most_sockets()); /* kept ones, too */
    return VIDI_OK;
}

static int open_events(downloader *of)
{
    int error = sockets_open(&of->sockets);

    if (error)
        return error;
    of->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (of->wake < 0 || sockets_add_reading(&of->sockets, of->wake))
        return VIDI_ESYSTEM;
    return sockets_add_reading(&of->sockets, dns_cache_fd(of->dns));
}

int fetch_open(downloader **made, const fetch_options *options)
{
    downloader *of = calloc(1, sizeof *of);

    *made = NULL;
    if (!of)
        return VIDI_EMEMORY;
    of->sockets.epoll = of->wake = -1;
    of->timer_at = of->check_at = NEVER;
    of->load.limit = or_default(options->max_held, FETCH_MAX_HELD);
    int error = copy_rules(&of->rules, options);
    if (!error)
        error = dns_cache_open(&of->dns, options, &of->rules.guard);
    if (!error)
        error = open_events(of);
    if (!error)
        error = open_carriers(of, options->connections);
    if (!error)
        error = open_multi(of);
    if (error) {
        fetch_close(of);
        return error;
    }
    *made = of;
    return VIDI_OK;
}

static void close_carriers(downloader *of)
{
    for (size_t i = 0; i < of->carrier_count && of->carriers; i++) {
        carrier *by = &of->carriers[i];
        if (by->with)
            curl_multi_remove_handle(of->multi, by->easy);
        exchange_free(by->with);
        curl_easy_cleanup(by->easy);
    }
    free(of->carriers);
}

static void free_list(queue *all)
{
    while (all->first)
        exchange_free(take_exchange(all));
}

void fetch_close(downloader *of)
{
    if (!of)
        return;
    close_carriers(of);
    curl_multi_cleanup(of->multi);
    free_list(&of->waiting);
    free_list(&of->done);
    pool_close(of->pool);
    dns_cache_close(of->dns);
    sockets_close(&of->sockets);
    if (of->wake >= 0)
        close(of->wake);
    fetch_guard_close(&of->rules.guard);
    bytes_free(&of->rules.lines);
    free(of->rules.agent);
    free(of->rules.ca_file);
    free(of);
}
