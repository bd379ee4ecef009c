/*
 * One connection: see connection.h.
 */
#include "fleet/redis/connection.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    READ_AT_ONCE = 64 << 10,
    TLS_AT_ONCE = 16 << 10,     /* a record */
    CIPHER_BACKLOG = 256 << 10, /* encrypted bytes that wait for the socket */
    NUMBER_ROOM = 32,           /* for the line with a length, and a line end */
    KEPT_ROOM = 1 << 20,        /* larger buffers are freed after a burst */
    READ_MOST = 1 << 20         /* bytes that one call reads, so that other connections have their turn */
};

static int fail(connection *link, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Closes the connection for this reason. */
static int fail(connection *link, int error, const char *format, ...)
{
    char text[REDIS_WHY - CONNECTION_LABEL - 2];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    connection_close(link);
    snprintf(link->why, sizeof link->why, "%s: %s", link->label, text);
    return error;
}

static int fail_system(connection *link, int number)
{
    char text[128];
    return fail(link, VIDI_EIO, "%s", strerror_r(number, text, sizeof text));
}

static int fail_memory(connection *link)
{
    return fail(link, VIDI_EMEMORY, "there is no memory left for the connection");
}

void connection_close(connection *link)
{
    if (link->state == CONNECTION_CLOSED && !link->addresses)
        return;
    if (link->fd >= 0)
        close(link->fd);
    if (link->addresses)
        freeaddrinfo(link->addresses);
    tls_end(link->session);
    bytes_free(&link->out);
    bytes_free(&link->cipher);
    bytes_free(&link->in);
    reply_reader_end(&link->reader);
    link->state = CONNECTION_CLOSED;
    link->fd = -1;
    link->session = NULL;
    link->addresses = link->next = NULL;
    link->out_at = link->cipher_at = link->in_at = 0;
}

/* ---- connecting ---- */

/* Replies are short and awaited, and a peer that has vanished must be noticed. Failures do no harm. */
static void tune(int fd)
{
    int yes = 1, idle = 30, interval = 10, probes = 3;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

/* Begins to connect to an address. 0 or an errno. */
static int dial(connection *link, int family, const struct sockaddr *address, socklen_t length)
{
    link->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->fd < 0)
        return errno;
    if (family != AF_UNIX)
        tune(link->fd);
    if (connect(link->fd, address, length) == 0 || errno == EINPROGRESS)
        return 0;
    int error = errno;
    close(link->fd);
    link->fd = -1;
    return error;
}

static int dial_unix(connection *link, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length >= sizeof address.sun_path)
        return fail(link, VIDI_EIO, "the path of a socket may have %zu bytes", sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, length + 1);
    int error = dial(link, AF_UNIX, (struct sockaddr *)&address, sizeof address);
    return error ? fail_system(link, error) : VIDI_OK;
}

/* Dials the next address of the host that can be dialled. */
static int dial_next(connection *link, int error, int64_t now)
{
    while (link->next) {
        struct addrinfo *to = link->next;
        link->next = to->ai_next;
        link->deadline = now + link->dial_ms;
        error = dial(link, to->ai_family, to->ai_addr, to->ai_addrlen);
        if (!error)
            return VIDI_OK;
    }
    return fail_system(link, error);
}

static int resolve(connection *link, uint16_t port)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    char service[8];

    snprintf(service, sizeof service, "%u", (unsigned)port);
    int error = getaddrinfo(link->host, service, &hints, &link->addresses);
    if (error == 0) {
        link->next = link->addresses;
        return VIDI_OK;
    }
    link->addresses = NULL;
    return fail(link, VIDI_EIO, "%s", error == EAI_SYSTEM ? "the name cannot be looked up" : gai_strerror(error));
}

int connection_begin(connection *link, const connection_how *how, const char *host, uint16_t port, int64_t now)
{
    *link = (connection){
        .state = CONNECTION_CONNECTING, .fd = -1, .how = how, .deadline = now + how->connect_ms, .active_at = now};
    reply_reader_begin(&link->reader, how->arena);
    snprintf(link->host, sizeof link->host, "%s", host);
    address_label(link->label, sizeof link->label, host, port);
    if (port == 0)
        return dial_unix(link, host);
    int error = resolve(link, port);
    if (error)
        return error;
    int64_t addresses = 0;
    for (const struct addrinfo *each = link->addresses; each; each = each->ai_next)
        addresses++;
    link->dial_ms = how->connect_ms / addresses + 1;
    return dial_next(link, ECONNREFUSED, now);
}

/* ---- bytes ---- */

/* Writes a part of a buffer to the socket. True: all is written; false: the socket takes no more. */
static bool write_out(connection *link, bytes *from, size_t *at, int64_t now)
{
    while (*at < from->len) {
        ssize_t n = send(link->fd, from->ptr + *at, from->len - *at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) { /* the reason is found by reading, after the replies that have come */
            link->is_deaf = link->is_deaf || errno != EAGAIN;
            return false;
        }
        *at += (size_t)n;
        link->active_at = now;
    }
    *at = from->len = 0;
    if (from->room > KEPT_ROOM)
        bytes_free(from);
    return true;
}

static int flush_plain(connection *link, int64_t now)
{
    size_t before = link->out_at, all = link->out.len;
    bool whole = write_out(link, &link->out, &link->out_at, now);
    link->handed += (whole ? all : link->out_at) - before;
    return VIDI_OK;
}

/* Encrypts what may be sent, and writes. */
static int flush_tls(connection *link, int64_t now)
{
    for (;;) {
        int n = 0;
        while (link->state >= CONNECTION_GREETING && link->out_at < link->out.len &&
               link->cipher.len - link->cipher_at < CIPHER_BACKLOG) {
            size_t left = link->out.len - link->out_at;
            n = tls_write(link->session, link->out.ptr + link->out_at, left < TLS_AT_ONCE ? left : TLS_AT_ONCE);
            if (n < 0)
                return fail(link, VIDI_EIO, "TLS: the session has ended");
            if (n == 0)
                break;
            link->out_at += (size_t)n;
            link->handed += (size_t)n;
            if (tls_drain(link->session, &link->cipher))
                return fail_memory(link);
        }
        if (tls_drain(link->session, &link->cipher))
            return fail_memory(link);
        if (link->out_at == link->out.len) {
            link->out.len = link->out_at = 0;
            if (link->out.room > KEPT_ROOM)
                bytes_free(&link->out);
        }
        if (!write_out(link, &link->cipher, &link->cipher_at, now) || n <= 0)
            return VIDI_OK;
    }
}

static int flush(connection *link, int64_t now)
{
    if (link->is_deaf)
        return VIDI_OK;
    return link->session ? flush_tls(link, now) : flush_plain(link, now);
}

/* Room for more input after what was not read yet. */
static int make_room(connection *link)
{
    if (link->in_at == link->in.len) {
        link->in.len = 0;
    } else if (link->in_at > 0) {
        memmove(link->in.ptr, link->in.ptr + link->in_at, link->in.len - link->in_at);
        link->in.len -= link->in_at;
    }
    link->in_at = 0;
    return bytes_reserve(&link->in, READ_AT_ONCE) ? fail_memory(link) : VIDI_OK;
}

/* Nothing more comes. What has come is read first. */
static int end_of_input(connection *link, int number, const char *why)
{
    if (link->in_at < link->in.len) {
        link->has_ended = true;
        return VIDI_OK;
    }
    if (why && why[0])
        return fail(link, VIDI_EIO, "%s", why);
    return number ? fail_system(link, number) : fail(link, VIDI_EIO, "the server has closed the connection");
}

/* Takes from libssl what it has decrypted. */
static int decrypt(connection *link)
{
    char why[REDIS_WHY];
    for (;;) {
        int error = make_room(link);
        if (error)
            return error;
        int n = tls_read(link->session, link->in.ptr + link->in.len, READ_AT_ONCE, why);
        if (n < 0)
            return end_of_input(link, 0, why);
        if (n == 0)
            return VIDI_OK;
        link->in.len += (size_t)n;
    }
}

/* Receives into `in`, or into libssl. */
static int receive(connection *link, int64_t now)
{
    if (link->has_ended)
        return end_of_input(link, 0, NULL);
    for (size_t total = 0; total < READ_MOST;) {
        char *to, encrypted[TLS_AT_ONCE];
        size_t room;
        if (link->session) {
            to = encrypted;
            room = sizeof encrypted;
        } else {
            int error = make_room(link);
            if (error)
                return error;
            to = link->in.ptr + link->in.len;
            room = READ_AT_ONCE;
        }
        ssize_t n = recv(link->fd, to, room, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0 && total > 0)
            break; /* the next call will see it again */
        if (n <= 0)
            return end_of_input(link, n < 0 ? errno : 0, NULL);
        link->active_at = now;
        total += (size_t)n;
        if (!link->session)
            link->in.len += (size_t)n;
        else if (tls_feed(link->session, encrypted, (size_t)n))
            return fail_memory(link);
        if ((size_t)n < room)
            break;
    }
    return link->session && link->state >= CONNECTION_GREETING ? decrypt(link) : VIDI_OK;
}

/* ---- commands and replies ---- */

/* Writes the mark, the number and the end of the line; there is room. Returns where it ends. */
static char *put_number(char *to, char mark, size_t number)
{
    char digits[20];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    *to++ = mark;
    while (n)
        *to++ = digits[--n];
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

int connection_put(connection *link, const vidi_str *words, size_t count, int64_t now)
{
    size_t before = link->out.len, needed = NUMBER_ROOM;
    for (size_t i = 0; i < count; i++) {
        if (words[i].len > SIZE_MAX / 4 || needed > SIZE_MAX / 4)
            return VIDI_EMEMORY;
        needed += words[i].len + NUMBER_ROOM;
    }
    if (bytes_reserve(&link->out, needed))
        return VIDI_EMEMORY;
    char *at = put_number(link->out.ptr + before, '*', count);
    for (size_t i = 0; i < count; i++) {
        at = put_number(at, '$', words[i].len);
        if (words[i].len)
            memcpy(at, words[i].ptr, words[i].len);
        at += words[i].len;
        *at++ = '\r';
        *at++ = '\n';
    }
    link->out.len = (size_t)(at - link->out.ptr);
    if (link->expects == 0)
        link->active_at = now;
    link->put += link->out.len - before;
    link->expects++;
    return VIDI_OK;
}

size_t connection_backlog(const connection *link)
{
    return link->out.len - link->out_at;
}

int connection_next(connection *link, const redis_reply **reply)
{
    if (link->state == CONNECTION_CLOSED)
        return 0;
    if (link->in_at == link->in.len)
        return link->has_ended ? end_of_input(link, 0, NULL) : 0;
    const char *at = link->in.ptr + link->in_at;
    if (link->expects == 0)
        return fail(link, VIDI_EIO, "the server has sent something that nobody asked for");
    int result = reply_read(&link->reader, &at, link->in.ptr + link->in.len, reply);
    if (result == VIDI_EMEMORY)
        return fail_memory(link);
    if (result < 0)
        return fail(link, VIDI_EIO,
                    result == VIDI_ELIMIT ? "the server has sent a reply that is too large"
                                          : "the server has sent something that is not a reply");
    link->in_at = (size_t)(at - link->in.ptr);
    link->expects -= (uint64_t)result;
    return result || !link->has_ended ? result : end_of_input(link, 0, NULL);
}

/* ---- the way to being ready ---- */

static int greet(connection *link, int64_t now)
{
    const connection_how *how = link->how;
    vidi_str words[3] = {{"AUTH", 4}};
    size_t count = 1;

    link->state = CONNECTION_GREETING;
    if (!how->password) {
        link->state = CONNECTION_READY;
        return VIDI_OK;
    }
    if (how->user)
        words[count++] = (vidi_str){how->user, strlen(how->user)};
    words[count++] = (vidi_str){how->password, strlen(how->password)};
    return connection_put(link, words, count, now) ? fail_memory(link) : VIDI_OK;
}

static int hear_greeting(connection *link)
{
    const redis_reply *reply;
    int result = connection_next(link, &reply);
    if (result <= 0)
        return result;
    if (reply->type == REDIS_ERROR) {
        return fail(link, VIDI_EIO, "the server does not accept user or password: %.120s", reply->text.ptr);
    }
    link->state = CONNECTION_READY;
    return VIDI_OK;
}

static int shake_hands(connection *link, int64_t now)
{
    char why[REDIS_WHY];
    int result = tls_shake_hands(link->session, why);
    if (result < 0) {
        flush(link, now); /* the alert, if possible */
        if (link->state == CONNECTION_CLOSED)
            return VIDI_EIO;
        return fail(link, VIDI_EIO, "%s", why);
    }
    return result ? greet(link, now) : VIDI_OK;
}

static int connected(connection *link, int64_t now)
{
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &length))
        error = errno;
    if (error) {
        close(link->fd);
        link->fd = -1;
        return dial_next(link, error, now);
    }
    if (link->addresses)
        freeaddrinfo(link->addresses);
    link->addresses = link->next = NULL;
    link->active_at = now;
    link->deadline = now + link->how->connect_ms;
    if (!link->how->tls)
        return greet(link, now);
    link->state = CONNECTION_SHAKING;
    return tls_begin(&link->session, link->how->tls, link->host) ? fail_memory(link) : VIDI_OK;
}

short connection_events(const connection *link)
{
    if (link->state == CONNECTION_CLOSED)
        return 0;
    if (link->state == CONNECTION_CONNECTING)
        return POLLOUT;
    if (link->is_deaf)
        return POLLIN;
    bool has_output = link->cipher_at < link->cipher.len ||
                      (link->out_at < link->out.len && (!link->session || link->state >= CONNECTION_GREETING));
    return (short)(has_output ? POLLIN | POLLOUT : POLLIN);
}

int64_t connection_due(const connection *link)
{
    if (link->state == CONNECTION_CLOSED || (link->state == CONNECTION_READY && link->expects == 0))
        return INT64_MAX;
    return link->state == CONNECTION_READY ? link->active_at + link->how->reply_ms : link->deadline;
}

/* Time is over for what is being waited for. */
static int time_over(connection *link, int64_t now)
{
    if (link->state == CONNECTION_CONNECTING && link->next) {
        close(link->fd);
        link->fd = -1;
        return dial_next(link, ETIMEDOUT, now);
    }
    if (link->state == CONNECTION_CONNECTING)
        return fail(link, VIDI_EIO, "no connection within %lld ms", (long long)link->how->connect_ms);
    if (link->state == CONNECTION_SHAKING)
        return fail(link, VIDI_EIO, "no TLS session within %lld ms; perhaps the server has TLS on another port",
                    (long long)link->how->connect_ms);
    return fail(link, VIDI_EIO, "no reply within %lld ms",
                (long long)(link->state == CONNECTION_READY ? link->how->reply_ms : link->how->connect_ms));
}

int connection_work(connection *link, short events, int64_t now)
{
    int error = VIDI_OK;
    if (link->state == CONNECTION_CONNECTING) {
        if (events)
            error = connected(link, now);
    } else if (events & (POLLIN | POLLHUP | POLLERR)) {
        error = receive(link, now);
    }
    if (!error && link->state == CONNECTION_SHAKING)
        error = shake_hands(link, now);
    if (!error && link->session && link->state == CONNECTION_GREETING && link->in_at == link->in.len)
        error = decrypt(link);
    if (!error && link->state == CONNECTION_GREETING)
        error = hear_greeting(link);
    if (!error && link->state > CONNECTION_CONNECTING)
        error = flush(link, now);
    if (!error && now >= connection_due(link))
        error = time_over(link, now);
    return error;
}
