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
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "crawler/base/web_url.h"
#include "crawler/fetch/libcurl.h"
#include "crawler/fetch/dns_cache.h"
#include "crawler/fetch/exchange_pool.h"

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
    size_t running;      /* exchanges that have not been reported */

    int64_t now;      /* microseconds of the machine's clock, when the loop last looked */
    int64_t timer_at; /* when libcurl wants to be called */
    int64_t check_at; /* no carrier is silent for too long before */
};

int64_t fetch_now_us(void)
{
    return (int64_t)(clock_now() / 1000);
}

static exchange *take_exchange(queue *from)
{
    return QUEUE_ITEM(queue_take(from), exchange, link);
}

/* ---- sockets ---- */

/* libcurl's interest in a socket has changed. */
static int on_interest(CURL *easy, curl_socket_t fd, int what, void *context, void *socket_context)
{
    downloader *downloader = context;
    uint32_t events = 0;
    char *by = NULL;

    (void)socket_context;
    if (what != CURL_POLL_REMOVE) {
        events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &by);
    }
    int error = sockets_want(&downloader->sockets, fd, events, by);
    if (error)
        downloader->error = error;
    return error ? -1 : 0;
}

static int on_close(void *context, curl_socket_t fd)
{
    downloader *downloader = context;

    sockets_forget(&downloader->sockets, fd);
    return close(fd);
}

static int on_timer(CURLM *multi, long ms, void *context)
{
    downloader *downloader = context;

    (void)multi;
    downloader->timer_at = ms < 0 ? NEVER : ms == 0 ? 0 : fetch_now_us() + (int64_t)ms * 1000;
    return 0;
}

/* ---- carriers ---- */

/* A free carrier with a new handle. NULL: all are busy, or there is no memory for another handle. */
static carrier *free_carrier(downloader *downloader)
{
    carrier *by = downloader->free;

    if (!by)
        return NULL;
    by->easy = curl_easy_init();
    if (!by->easy)
        return NULL;
    by->rules = &downloader->rules;
    by->load = &downloader->load;
    by->sockets = &downloader->sockets;
    curl_easy_setopt(by->easy, CURLOPT_PRIVATE, by);
    curl_easy_setopt(by->easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
    curl_easy_setopt(by->easy, CURLOPT_CLOSESOCKETDATA, downloader);
    downloader->free = by->next_free;
    downloader->busy++;
    return by;
}

/* Next time, another address of the host may do better. */
static void avoid_address(downloader *downloader, const exchange *with)
{
    vidi_url url;

    if (web_url_view((vidi_str){with->origin, strlen(with->origin)}, &url))
        dns_cache_avoid(downloader->dns, url.host, &with->response.address);
}

static void release(downloader *downloader, carrier *by)
{
    exchange *with = by->with;

    if (by->unreachable)
        avoid_address(downloader, with);
    with->response.took_us = fetch_now_us() - by->began;
    exchange_drop_request(with);
    queue_put(&downloader->done, &with->link);
    curl_easy_cleanup(by->easy);
    by->easy = NULL;
    by->with = NULL;
    by->next_free = downloader->free;
    downloader->free = by;
    downloader->busy--;
}

static void begin(downloader *downloader, carrier *by, exchange *with)
{
    int64_t first = downloader->rules.silence_ms < downloader->rules.total_ms ? downloader->rules.silence_ms
                                                                              : downloader->rules.total_ms;

    with->response.date = downloader->rules.clock.date(downloader->rules.clock.context);
    if (carrier_take(by, with) != VIDI_OK || curl_multi_add_handle(downloader->multi, by->easy) != CURLM_OK) {
        carrier_finish(by, CURLE_OUT_OF_MEMORY);
        release(downloader, by);
        return;
    }
    if (by->began + first * 1000 < downloader->check_at)
        downloader->check_at = by->began + first * 1000;
}

static int begin_waiting(downloader *downloader)
{
    while (downloader->waiting.first) {
        carrier *by = free_carrier(downloader);
        if (!by)
            return downloader->busy ? VIDI_OK : VIDI_EMEMORY;
        begin(downloader, by, take_exchange(&downloader->waiting));
    }
    return VIDI_OK;
}

/* ---- the loop ---- */

/*
 * libcurl goes on using a connection of HTTP/2 after a stream on it has failed, or was cut off by us. The connection may
 * be broken, and what is still coming of a large body would come before the next response: it is not used again.
 */
static void drop_connection(const carrier *by)
{
    curl_socket_t fd = CURL_SOCKET_BAD;

    if (curl_easy_getinfo(by->easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK && fd != CURL_SOCKET_BAD)
        shutdown(fd, SHUT_RDWR);
}

static void collect_done(downloader *downloader)
{
    int left;

    for (CURLMsg *message; (message = curl_multi_info_read(downloader->multi, &left));) {
        carrier *by = NULL;
        CURLcode result = message->data.result;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&by);
        carrier_finish(by, result);
        if (by->with->response.failure != FETCH_FINE || by->with->response.is_cut)
            drop_connection(by);
        curl_multi_remove_handle(downloader->multi, by->easy);
        release(downloader, by);
    }
}

/* Bodies that had to wait go on when there is room, or one of them when it is its turn. */
static void resume_paused(downloader *downloader)
{
    downloader->check_at = 0; /* their time runs again */
    for (size_t i = 0; i < downloader->carrier_count; i++) {
        if (downloader->load.leader && downloader->load.held >= downloader->load.limit)
            return;
        if (downloader->carriers[i].with && downloader->carriers[i].paused_at)
            carrier_resume(&downloader->carriers[i]);
    }
}

/* Ends an exchange that is not complete, and its connection. */
static void cut_off(downloader *downloader, carrier *by)
{
    curl_easy_setopt(by->easy, CURLOPT_FORBID_REUSE, 1L);
    curl_multi_remove_handle(downloader->multi, by->easy);
    release(downloader, by);
}

/* Ends exchanges that take too long, and finds out when to look again. */
static void check_times(downloader *downloader)
{
    int64_t silence = downloader->rules.silence_ms * 1000, total = downloader->rules.total_ms * 1000;

    if (downloader->now < downloader->check_at)
        return;
    downloader->check_at = NEVER;
    for (size_t i = 0; i < downloader->carrier_count; i++) {
        carrier *by = &downloader->carriers[i];
        if (!by->with)
            continue;
        int64_t silent_at = by->paused_at ? NEVER : by->heard + silence;
        int64_t over_at = by->paused_at ? NEVER : by->began + by->waited + total;
        int64_t due = silent_at < over_at ? silent_at : over_at;
        if (due > downloader->now) {
            downloader->check_at = due < downloader->check_at ? due : downloader->check_at;
            continue;
        }
        if (due == silent_at)
            carrier_give_up(by, FETCH_TIMEOUT, "no byte for %lld ms", (long long)downloader->rules.silence_ms);
        else
            carrier_give_up(by, FETCH_TIMEOUT, "not complete after %lld ms", (long long)downloader->rules.total_ms);
        cut_off(downloader, by);
    }
}

static int run_libcurl(downloader *downloader, curl_socket_t fd, int what)
{
    int running;
    fetch_reading_now = (fetch_reading){.sockets = &downloader->sockets};
    CURLMcode result = curl_multi_socket_action(downloader->multi, fd, what, &running);
    fetch_reading_now = (fetch_reading){0};

    if (downloader->error)
        return downloader->error;
    return result == CURLM_OK ? VIDI_OK : result == CURLM_OUT_OF_MEMORY ? VIDI_EMEMORY : VIDI_ESYSTEM;
}

static int run_timer(downloader *downloader)
{
    if (downloader->timer_at > downloader->now)
        return VIDI_OK;
    downloader->timer_at = NEVER;
    return run_libcurl(downloader, CURL_SOCKET_TIMEOUT, 0);
}

static int on_socket(downloader *downloader, int fd, uint32_t events)
{
    int what = (events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (events & EPOLLERR ? CURL_CSELECT_ERR : 0);
    const socket_watch *watch = sockets_happened(&downloader->sockets, fd);

    if (!watch)
        return VIDI_OK;
    carrier *by = watch->owner;
    if (by && by->with && carrier_is_fooled(by, fd)) {
        carrier_give_up(by, FETCH_BROKEN, "nothing comes but framing");
        cut_off(downloader, by);
        return VIDI_OK;
    }
    if (by)
        by->heard = downloader->now;
    return run_libcurl(downloader, fd, what);
}

static int on_event(downloader *downloader, const struct epoll_event *event)
{
    int fd = event->data.fd;
    uint64_t count;

    if (fd == downloader->wake) {
        (void)!read(fd, &count, sizeof count); /* fetch_wait looks at `woken` */
        return VIDI_OK;
    }
    if (fd == dns_cache_fd(downloader->dns)) {
        dns_cache_collect(downloader->dns);
        return VIDI_OK;
    }
    return on_socket(downloader, fd, event->events);
}

/* Milliseconds until the first of them, rounded up. */
static int time_left(const downloader *downloader, int64_t until)
{
    int64_t first = until < downloader->timer_at ? until : downloader->timer_at;

    first = first < downloader->check_at ? first : downloader->check_at;
    if (first == NEVER)
        return -1;
    int64_t ms = (first - downloader->now + 999) / 1000;
    return ms < 0 ? 0 : ms > LONGEST ? LONGEST : (int)ms;
}

static bool has_event(const downloader *downloader)
{
    return downloader->done.first || dns_cache_has_next(downloader->dns);
}

/* Lets libcurl work, and waits for something to happen unless something has. */
static int turn(downloader *downloader, int64_t until)
{
    struct epoll_event events[EVENTS];

    int error = begin_waiting(downloader);
    if (!error)
        error = run_timer(downloader);
    if (error)
        return error;
    collect_done(downloader);
    int n =
        epoll_wait(downloader->sockets.epoll, events, EVENTS, has_event(downloader) ? 0 : time_left(downloader, until));
    if (n < 0 && errno != EINTR)
        return VIDI_ESYSTEM;
    downloader->now = fetch_now_us();
    for (int i = 0; i < n && !error; i++)
        error = on_event(downloader, &events[i]);
    check_times(downloader);
    collect_done(downloader);
    if (downloader->load.paused && (!downloader->load.leader || downloader->load.held < downloader->load.limit))
        resume_paused(downloader);
    return error;
}

static bool take_event(downloader *downloader, fetch_event *event)
{
    if (dns_cache_next(downloader->dns, event))
        return true;
    if (!downloader->done.first)
        return false;
    exchange *one = take_exchange(&downloader->done);
    *event = (fetch_event){.kind = FETCH_DONE, .item = one->response.item, .response = &one->response};
    downloader->load.held -= one->response.head.len + one->response.body.len;
    downloader->running--;
    return true;
}

int fetch_wait(downloader *downloader, int64_t ms, fetch_event *event)
{
    if (take_event(downloader, event))
        return 1;
    downloader->now = fetch_now_us();
    int64_t until = ms < 0 || ms > NEVER / 2000 ? NEVER : downloader->now + ms * 1000;
    for (;;) {
        int error = turn(downloader, until);
        if (error)
            return error;
        if (take_event(downloader, event))
            return 1;
        if (atomic_exchange(&downloader->woken, false) || downloader->now >= until)
            return 0;
    }
}

void fetch_wake(downloader *downloader)
{
    static const uint64_t one = 1;

    if (!atomic_exchange(&downloader->woken, true)) /* otherwise the descriptor is readable already, or about to be */
        (void)!write(downloader->wake, &one, sizeof one);
}

/* ---- requests ---- */

int fetch_resolve(downloader *downloader, vidi_str host, void *item)
{
    return dns_cache_ask(downloader->dns, host, item);
}

int fetch_start(downloader *downloader, const fetch_request *request)
{
    exchange *one;
    int error = exchange_make(&one, downloader->pool, &downloader->rules, request);

    if (error)
        return error;
    queue_put(&downloader->waiting, &one->link);
    downloader->running++;
    return VIDI_OK;
}

/* Takes the exchange for the item out of the queue. NULL: it is not there. */
static exchange *remove_from(queue *all, const void *item)
{
    exchange *found = NULL;
    queue kept = {0};

    while (all->first) {
        exchange *one = take_exchange(all);
        if (!found && one->response.item == item)
            found = one;
        else
            queue_put(&kept, &one->link);
    }
    *all = kept;
    return found;
}

/* Its response, which is not complete, becomes one that is done. */
static void end_carrier_of(downloader *downloader, const void *item)
{
    for (size_t i = 0; i < downloader->carrier_count; i++) {
        carrier *by = &downloader->carriers[i];
        if (!by->with || by->with->response.item != item)
            continue;
        carrier_give_up(by, FETCH_BROKEN, "ended");
        cut_off(downloader, by);
        return;
    }
}

bool fetch_cancel(downloader *downloader, const void *item)
{
    exchange *one = remove_from(&downloader->waiting, item);

    if (!one) {
        end_carrier_of(downloader, item);
        one = remove_from(&downloader->done, item);
        if (!one)
            return false;
        downloader->load.held -= one->response.head.len + one->response.body.len;
    }
    downloader->running--;
    exchange_free(one);
    return true;
}

size_t fetch_running(const downloader *downloader)
{
    return downloader->running + dns_cache_running(downloader->dns);
}

uint64_t fetch_held(const downloader *downloader)
{
    return downloader->load.held;
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
    if (!error && options->proxy)
        error = fetch_proxy_open(&to->proxy, options->proxy);
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

static int open_carriers(downloader *downloader, unsigned connections)
{
    size_t most = most_sockets();

    downloader->pool = pool_open();
    downloader->carrier_count = connections ? connections : FETCH_CONNECTIONS;
    downloader->carrier_count = downloader->carrier_count < most ? downloader->carrier_count : most;
    downloader->carriers = calloc(downloader->carrier_count, sizeof *downloader->carriers);
    if (!downloader->pool || !downloader->carriers)
        return VIDI_EMEMORY;
    downloader->load.share = downloader->load.limit / downloader->carrier_count;
    for (size_t i = downloader->carrier_count; i-- > 0;) {
        downloader->carriers[i].next_free = downloader->free;
        downloader->free = &downloader->carriers[i];
    }
    return VIDI_OK;
}

static int open_multi(downloader *downloader)
{
    int error = libcurl_load();

    if (error)
        return error;
    downloader->multi = curl_multi_init();
    if (!downloader->multi)
        return VIDI_EMEMORY;
    curl_multi_setopt(downloader->multi, CURLMOPT_SOCKETFUNCTION, on_interest);
    curl_multi_setopt(downloader->multi, CURLMOPT_SOCKETDATA, downloader);
    curl_multi_setopt(downloader->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(downloader->multi, CURLMOPT_TIMERDATA, downloader);
    /* One request at a time on a connection, with HTTP/2, too: politeness counts them, and none can hold up another. */
    curl_multi_setopt(downloader->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    curl_multi_setopt(downloader->multi, CURLMOPT_MAXCONNECTS, 2 * (long)downloader->carrier_count);
    curl_multi_setopt(downloader->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)most_sockets()); /* kept ones, too */
    return VIDI_OK;
}

static int open_events(downloader *downloader)
{
    int error = sockets_open(&downloader->sockets);

    if (error)
        return error;
    downloader->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (downloader->wake < 0 || sockets_add_reading(&downloader->sockets, downloader->wake))
        return VIDI_ESYSTEM;
    return sockets_add_reading(&downloader->sockets, dns_cache_fd(downloader->dns));
}

int fetch_open(downloader **made, const fetch_options *options)
{
    downloader *downloader = calloc(1, sizeof *downloader);

    *made = NULL;
    if (!downloader)
        return VIDI_EMEMORY;
    downloader->sockets.epoll = downloader->wake = -1;
    downloader->timer_at = downloader->check_at = NEVER;
    downloader->load.limit = or_default(options->max_held, FETCH_MAX_HELD);
    int error = copy_rules(&downloader->rules, options);
    if (!error)
        error = dns_cache_open(&downloader->dns, options, &downloader->rules.guard, downloader->rules.proxy.resolves);
    if (!error)
        error = open_events(downloader);
    if (!error)
        error = open_carriers(downloader, options->connections);
    if (!error)
        error = open_multi(downloader);
    if (error) {
        fetch_close(downloader);
        return error;
    }
    *made = downloader;
    return VIDI_OK;
}

static void close_carriers(downloader *downloader)
{
    for (size_t i = 0; i < downloader->carrier_count && downloader->carriers; i++) {
        carrier *by = &downloader->carriers[i];
        if (by->with)
            curl_multi_remove_handle(downloader->multi, by->easy);
        exchange_free(by->with);
        curl_easy_cleanup(by->easy);
    }
    free(downloader->carriers);
}

static void free_list(queue *all)
{
    while (all->first)
        exchange_free(take_exchange(all));
}

void fetch_close(downloader *downloader)
{
    if (!downloader)
        return;
    close_carriers(downloader);
    curl_multi_cleanup(downloader->multi);
    free_list(&downloader->waiting);
    free_list(&downloader->done);
    pool_close(downloader->pool);
    dns_cache_close(downloader->dns);
    sockets_close(&downloader->sockets);
    if (downloader->wake >= 0)
        close(downloader->wake);
    fetch_guard_close(&downloader->rules.guard);
    fetch_proxy_close(&downloader->rules.proxy);
    bytes_free(&downloader->rules.lines);
    free(downloader->rules.agent);
    free(downloader->rules.ca_file);
    free(downloader);
}
