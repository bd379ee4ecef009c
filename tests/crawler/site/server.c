/*
 * The server of a test site: one thread, epoll, HTTP/1.1 with keep-alive. See site.h.
 *
 * A connection reads a request, waits for the answer's delay, writes the response, and reads again. Broken answers are
 * written as bytes like all others; what they have in common is that the connection is closed after them.
 */
#include "site.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MOST_HEAD = 64 << 10, EVENTS = 64, CHUNK = 1000, MOST_BINDS = 200, DRIP_MS = 50, RAW_MS = 50 };

typedef struct site_connection {
    int fd, poll;
    uint8_t address;
    char *in;
    size_t in_length, in_room;
    /* The response on its way. */
    bool busy;            /* a request has come and is not answered yet */
    bool closes, endless; /* after the response; the body begins again */
    int64_t due;          /* real milliseconds at which the response begins */
    int64_t ends;         /* real milliseconds at which it is closed unless a request comes; 0: never */
    site_answer answer;
    site_text head; /* what comes before the body: also whole responses, if they are framed */
    size_t written; /* of head and body */
    size_t request; /* in the log */
    struct timespec since;
    struct site_connection *next, **here;
} site_connection;

static int64_t real_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int64_t real_us_since(const struct timespec *since)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)(time.tv_sec - since->tv_sec) * 1000000 + (time.tv_nsec - since->tv_nsec) / 1000;
}

static int64_t site_now(const site *site)
{
    return site->now ? site->now(site->now_context) : real_ms();
}

/* ---- the log ---- */

static char *cut_out(const char *from, size_t length)
{
    char *copy = site_memory(length + 1);
    memcpy(copy, from, length);
    return copy;
}

/* The value of a header field in a head that ends in a zero byte; copied. */
static char *field_of(const char *head, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
            const char *value = line + length + 1;
            value += strspn(value, " ");
            return cut_out(value, strcspn(value, "\r\n"));
        }
    }
    return NULL;
}

/* Requests on their way that have the same host, or the same address. Only connections can have one. */
static void count_company(const site *site, site_request *request)
{
    for (const site_connection *other = site->connections; other; other = other->next) {
        if (!other->busy)
            continue;
        const site_request *its = &site->log[other->request];
        request->with_host += strcmp(its->host, request->host) == 0;
        request->with_address += its->address == request->address;
    }
}

static void log_begin(site *site, site_connection *connection, const site_request *request)
{
    pthread_mutex_lock(&site->lock);
    if (site->log_count == site->log_room) {
        site->log_room = site->log_room * 2 + 256;
        site->log = realloc(site->log, site->log_room * sizeof *site->log);
        if (!site->log)
            exit(2);
    }
    site_request *entry = &site->log[site->log_count];
    *entry = *request;
    connection->request = site->log_count++;
    connection->busy = true;
    count_company(site, entry);
    if (site->log_file >= 0) {
        char *process = field_of(entry->head, "X-Process"); /* whoever has sent it, if tests want to know */
        dprintf(site->log_file, "%lld 127.0.1.%u %s %s %s %d %u %u %s\n", (long long)entry->began, entry->address,
                entry->host, entry->method, entry->target, entry->status, entry->with_host, entry->with_address,
                process ? process : "-");
        free(process);
    }
    pthread_mutex_unlock(&site->lock);
}

static void log_end(site *site, site_connection *connection)
{
    if (!connection->busy)
        return;
    pthread_mutex_lock(&site->lock);
    if (connection->request < site->log_count) {
        site->log[connection->request].ended = site_now(site);
        site->log[connection->request].took_us = real_us_since(&connection->since);
    }
    connection->busy = false;
    pthread_mutex_unlock(&site->lock);
}

static void log_free(site *site)
{
    for (size_t i = 0; i < site->log_count; i++)
        free(site->log[i].head), free(site->log[i].host), free(site->log[i].target), free(site->log[i].method);
    site->log_count = 0;
}

uint64_t site_body_bytes(site *site)
{
    uint64_t sum = 0;
    pthread_mutex_lock(&site->lock);
    for (size_t i = 0; i < site->log_count; i++)
        sum += site->log[i].body;
    pthread_mutex_unlock(&site->lock);
    return sum;
}

void site_forget(site *site)
{
    bool serving = site->serving;
    site_stop(site);
    log_free(site);
    for (size_t i = 0; i < site->page_count; i++)
        site->pages[i]->requests = 0;
    if (serving)
        site_serve(site);
}

/* ---- requests ---- */

/* ---- conditions ---- */

/* The part of an ETag that counts for If-None-Match. */
static const char *opaque(const char *etag)
{
    return strncmp(etag, "W/", 2) == 0 ? etag + 2 : etag;
}

static time_t time_of(const char *date)
{
    struct tm parts = {0};
    return strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &parts) ? timegm(&parts) : 0;
}

/* Has the client this answer already? If-Modified-Since does not count beside If-None-Match (RFC 9110, 13.1.3). */
static bool client_has(const site_answer *answer, const char *head)
{
    char *tags = field_of(head, "If-None-Match"), *since = field_of(head, "If-Modified-Since");
    bool has = tags    ? answer->etag && strstr(tags, opaque(answer->etag))
               : since ? answer->modified && time_of(answer->modified) <= time_of(since)
                       : false;
    free(tags), free(since);
    return has;
}

static void heed_conditions(site_answer *answer, const char *head)
{
    if (answer->status != 200 || answer->conditions == SITE_IGNORES || !client_has(answer, head))
        return;
    bool terse = answer->conditions == SITE_TERSE;
    *answer = (site_answer){.status = 304,
                            .body = "",
                            .etag = terse ? NULL : answer->etag,
                            .modified = terse ? NULL : answer->modified,
                            .delay_ms = answer->delay_ms,
                            .owned = answer->owned};
}

/* ---- answers ---- */

static void answer_for(site *site, const char *host, const char *target, bool is_head, site_answer *answer)
{
    site_page *page = site_find(site, host, target);
    *answer = (site_answer){.status = 404, .type = "text/plain", .body = "not here\n", .length = 9};
    if (!page) {
        if (site->maker)
            site->maker(site->maker_context, site, host, target, answer);
        return;
    }
    pthread_mutex_lock(&site->lock);
    bool is_early = page->requests++ < page->early_times;
    pthread_mutex_unlock(&site->lock);
    *answer = is_early ? page->early : page->answer;
    if (is_head && page->no_head)
        *answer = (site_answer){.status = 405, .body = ""};
    if (!answer->body) {
        answer->body = page->text.length ? page->text.at : "";
        answer->length = page->text.length;
    }
}

static const char *words_of(int status)
{
    return status < 300 ? "OK" : status < 400 ? "Elsewhere" : status < 500 ? "Refused" : "Broken";
}

static void put_head(site_connection *to, const char *framing)
{
    const site_answer *answer = &to->answer;
    site_text_put(&to->head, "HTTP/1.1 %d %s\r\nServer: vidi-test-site\r\n", answer->status, words_of(answer->status));
    if (answer->type)
        site_text_put(&to->head, "Content-Type: %s\r\n", answer->type);
    if (answer->etag)
        site_text_put(&to->head, "ETag: %s\r\n", answer->etag);
    if (answer->modified)
        site_text_put(&to->head, "Last-Modified: %s\r\n", answer->modified);
    site_text_put(&to->head, "%s%s%s\r\n", answer->fields ? answer->fields : "", framing,
                  to->closes ? "Connection: close\r\n" : "");
}

static void put_chunks(site_connection *to)
{
    const site_answer *answer = &to->answer;
    for (size_t at = 0, length; at < answer->length; at += length) {
        length = answer->length - at < CHUNK ? answer->length - at : CHUNK;
        site_text_put(&to->head, "%zx\r\n", length);
        site_text_add(&to->head, answer->body + at, length);
        site_text_put(&to->head, "\r\n");
    }
    site_text_put(&to->head, "0\r\n\r\n");
}

static void put_huge_head(site_connection *to)
{
    site_text_put(&to->head, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 20000; i++)
        site_text_put(&to->head, "X-Field-%d: %0100d\r\n", i, i);
    site_text_put(&to->head, "\r\n");
}

/* Composes the response. What is left in answer.length comes after the head. */
static void compose(site_connection *to, bool is_head)
{
    site_answer *answer = &to->answer;
    site_manner manner = answer->manner;
    char framing[64];

    snprintf(framing, sizeof framing, "Content-Length: %zu\r\n", answer->length);
    if (answer->status == 304)
        *framing = 0;
    to->closes |= manner != SITE_WHOLE && manner != SITE_CHUNKED && manner != SITE_RAW;
    to->endless = manner == SITE_ENDLESS && !is_head;
    switch (manner) {
    case SITE_CHUNKED:
    case SITE_BAD_CHUNK:
        put_head(to, "Transfer-Encoding: chunked\r\n");
        if (manner == SITE_CHUNKED && !is_head)
            put_chunks(to);
        else if (!is_head)
            site_text_put(&to->head, "10\r\n0123456789abcdef\r\nxyz\r\n");
        answer->length = 0;
        break;
    case SITE_DRIPS:
        put_head(to, "");
        answer->length = 1;
        break;
    case SITE_ENDLESS:
    case SITE_UNTIL_CLOSE:
        put_head(to, "");
        break;
    case SITE_CUT_OFF:
        put_head(to, framing);
        answer->length /= 2;
        break;
    case SITE_GARBAGE:
        site_text_put(&to->head, "220 mail.example.org ESMTP\r\n250 hello\r\n");
        answer->length = 0;
        break;
    case SITE_HUGE_HEAD:
        put_huge_head(to);
        break;
    case SITE_CLOSES:
        answer->length = 0;
        break;
    case SITE_RAW:
    case SITE_RAW_CLOSE:
    case SITE_RAW_RESET:
        return;
    default:
        put_head(to, framing);
    }
    if (is_head)
        answer->length = 0;
}

/* ---- connections ---- */

static void connection_close(site *site, site_connection *connection)
{
    struct linger hard = {1, 0};

    log_end(site, connection);
    if (connection->answer.manner == SITE_RAW_RESET)
        setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    /* Closing alone does not end the events: a child that is being started may hold a copy of the socket. */
    epoll_ctl(connection->poll, EPOLL_CTL_DEL, connection->fd, NULL);
    close(connection->fd);
    *connection->here = connection->next;
    if (connection->next)
        connection->next->here = connection->here;
    free(connection->answer.owned);
    free(connection->in);
    site_text_free(&connection->head);
    free(connection);
}

static void watch(int poll, const site_connection *connection, bool writing)
{
    struct epoll_event event = {.events = writing ? EPOLLOUT : EPOLLIN, .data.ptr = (void *)(uintptr_t)connection};
    epoll_ctl(poll, EPOLL_CTL_MOD, connection->fd, &event);
}

/* Writes what the socket takes. 1: all is written, 0: more later, -1: the other side is gone. */
static int send_some(site_connection *to)
{
    for (;;) {
        size_t head = to->written < to->head.length ? to->head.length - to->written : 0;
        size_t body = to->written > to->head.length ? to->written - to->head.length : 0;
        if (to->endless && body >= to->answer.length)
            to->written = to->head.length, body = 0;
        struct iovec parts[2] = {{to->head.at + to->written, head},
                                 {(void *)(uintptr_t)(to->answer.body + body), to->answer.length - body}};
        if (head == 0 && body == to->answer.length)
            return 1;
        if (to->answer.piece && to->answer.piece < parts[1].iov_len)
            parts[1].iov_len = to->answer.piece;
        struct msghdr message = {.msg_iov = head ? parts : parts + 1, .msg_iovlen = head ? 2 : 1};
        ssize_t sent = sendmsg(to->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0)
            return errno == EAGAIN ? 0 : -1;
        to->written += (size_t)sent;
    }
}

/* Takes a request from the bytes that have come: false if it is not complete yet. */
static bool begin_request(site *site, site_connection *connection)
{
    char *end = connection->in_length ? memmem(connection->in, connection->in_length, "\r\n\r\n", 4) : NULL;
    if (!end)
        return false;
    size_t length = (size_t)(end + 4 - connection->in);
    site_request request = {.head = cut_out(connection->in, length),
                            .began = site_now(site),
                            .ended = INT64_MAX,
                            .address = connection->address};
    memmove(connection->in, end + 4, connection->in_length -= length);

    const char *line = request.head, *blank = line + strcspn(line, " \r");
    const char *target = blank + (*blank == ' ');
    request.method = cut_out(line, (size_t)(blank - line));
    request.target = cut_out(target, strcspn(target, " \r"));
    char *host = field_of(request.head, "Host");
    request.host = host ? host : site_copy("");
    request.host[strcspn(request.host, ":")] = 0;

    bool is_head = strcmp(request.method, "HEAD") == 0;
    clock_gettime(CLOCK_MONOTONIC, &connection->since);
    answer_for(site, request.host, request.target, is_head, &connection->answer);
    heed_conditions(&connection->answer, request.head);
    request.status = connection->answer.status;
    request.body = is_head ? 0 : connection->answer.length / (connection->answer.manner == SITE_CUT_OFF ? 2 : 1);
    connection->head.length = connection->written = 0;
    connection->closes = connection->endless = false;
    connection->ends = 0;
    compose(connection, is_head);
    connection->due = connection->answer.delay_ms ? real_ms() + connection->answer.delay_ms : 0;
    if (connection->answer.manner == SITE_SILENT)
        connection->due = INT64_MAX;
    log_begin(site, connection, &request);
    return true;
}

/* Goes on as far as it can without waiting. False: the connection is closed. */
static bool proceed(site *site, int poll, site_connection *connection)
{
    for (;;) {
        if (!connection->busy && !begin_request(site, connection)) {
            watch(poll, connection, false);
            return true;
        }
        if (connection->due > real_ms())
            return true;
        connection->due = 0;
        int sent = send_some(connection);
        if (sent == 0) {
            watch(poll, connection, true);
            return true;
        }
        if (sent == 1 && connection->answer.manner == SITE_DRIPS) {
            connection->written = connection->head.length; /* the same byte again, later */
            connection->due = real_ms() + DRIP_MS;
            watch(poll, connection, false);
            return true;
        }
        bool goes_on = sent == 1 && !connection->closes;
        free(connection->answer.owned);
        connection->answer.owned = NULL;
        log_end(site, connection);
        if (connection->answer.manner == SITE_RAW)
            connection->ends = real_ms() + RAW_MS;
        if (!goes_on) {
            connection_close(site, connection);
            return false;
        }
    }
}

static void receive(site *site, int poll, site_connection *connection)
{
    if (connection->in_room - connection->in_length < 4096 && connection->in_room < MOST_HEAD) {
        connection->in_room += 8192;
        connection->in = realloc(connection->in, connection->in_room);
        if (!connection->in)
            exit(2);
    }
    ssize_t got = recv(connection->fd, connection->in + connection->in_length,
                       connection->in_room - connection->in_length, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
        connection_close(site, connection);
        return;
    }
    connection->in_length += got > 0 ? (size_t)got : 0;
    proceed(site, poll, connection);
}

static void accept_all(site *site, int poll, unsigned number)
{
    for (int fd; (fd = accept4(site->listeners[number], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        site_connection *connection = site_memory(sizeof *connection);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
        int yes = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        site->accepted++;
        connection->fd = fd;
        connection->poll = poll;
        connection->address = (uint8_t)(number + 1);
        connection->next = site->connections;
        connection->here = &site->connections;
        if (connection->next)
            connection->next->here = &connection->next;
        site->connections = connection;
        epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
    }
}

/* Begins the responses whose delay is over, and ends connections. Returns milliseconds until the next one, or -1. */
static int begin_due(site *site, int poll)
{
    int64_t now = real_ms(), next = INT64_MAX;
    for (site_connection *each = site->connections, *after; each; each = after) {
        after = each->next;
        int64_t due = each->busy ? each->due : each->ends;
        if (due == 0)
            continue;
        if (due > now)
            next = due < next ? due : next;
        else if (each->busy)
            proceed(site, poll, each);
        else
            connection_close(site, each);
    }
    return next == INT64_MAX ? -1 : (int)(next - now);
}

static void *serve(void *context)
{
    site *site = context;
    struct epoll_event events[EVENTS];
    int poll = epoll_create1(EPOLL_CLOEXEC);
    bool stopped = false;

    for (unsigned i = 0; i <= site->addresses; i++) { /* the last one is the wake-up call */
        int fd = i < site->addresses ? site->listeners[i] : site->wake;
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = i};
        epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
    }
    while (!stopped) {
        int count = epoll_wait(poll, events, EVENTS, begin_due(site, poll));
        for (int i = 0; i < count; i++) {
            site_connection *connection = events[i].data.ptr;
            if (events[i].data.u64 == site->addresses)
                stopped = true;
            else if (events[i].data.u64 < site->addresses)
                accept_all(site, poll, (unsigned)events[i].data.u64);
            else if (connection->busy && connection->due == 0)
                proceed(site, poll, connection);
            else
                receive(site, poll, connection); /* also while a request waits: its end shows there */
        }
    }
    while (site->connections)
        connection_close(site, site->connections);
    close(poll);
    return NULL;
}

void site_serve(site *site)
{
    site->serving = pthread_create(&site->thread, NULL, serve, site) == 0;
}

void site_stop(site *site)
{
    uint64_t one = 1;
    if (!site->serving)
        return;
    if (write(site->wake, &one, sizeof one) == sizeof one)
        pthread_join(site->thread, NULL);
    if (read(site->wake, &one, sizeof one) != sizeof one)
        abort();
    site->serving = false;
}

/* ---- opening ---- */

static int listen_on(unsigned number, int port)
{
    int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in name = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(0x7f000100u + number)};
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0 && listen(fd, 1024) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool bind_all(site *site)
{
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    unsigned bound = 0;
    site->port = 0;
    for (; bound < site->addresses; bound++) {
        site->listeners[bound] = listen_on(bound + 1, site->port);
        if (site->listeners[bound] < 0)
            break;
        getsockname(site->listeners[bound], (struct sockaddr *)&name, &length);
        site->port = ntohs(name.sin_port);
    }
    for (unsigned i = 0; i < bound && bound < site->addresses; i++)
        close(site->listeners[i]);
    return bound == site->addresses;
}

site *site_open(unsigned addresses)
{
    site *site = site_memory(sizeof *site);
    site->addresses = addresses;
    site->listeners = site_memory(addresses * sizeof *site->listeners);
    site->log_file = -1;
    site->wake = eventfd(0, EFD_CLOEXEC);
    pthread_mutex_init(&site->lock, NULL);
    for (int tries = 0; !bind_all(site); tries++) { /* the first address's free port may be taken on another */
        if (tries == MOST_BINDS) {
            fprintf(stderr, "the test site finds no port that is free on 127.0.1.1 to 127.0.1.%u\n", addresses);
            exit(2);
        }
    }
    return site;
}

void site_close(site *site)
{
    if (!site)
        return;
    site_stop(site);
    for (unsigned i = 0; i < site->addresses; i++)
        close(site->listeners[i]);
    close(site->wake);
    log_free(site);
    for (size_t i = 0; i < site->page_count; i++) {
        site_page *page = site->pages[i];
        site_text_free(&page->text);
        free(page->target), free(page->url), free(page->fields), free(page->edges), free(page);
    }
    pthread_mutex_destroy(&site->lock);
    free(site->log), free(site->pages), free(site->table), free(site->listeners), free(site);
}
