/*
 * A server on loopback that plays scripts: for each path it knows the bytes to send and what to do then. It records the
 * requests. A thread for each connection, so that a script can be slow or never end.
 */
#ifndef TESTS_CRAWLER_FETCH_PLAY_SERVER_H
#define TESTS_CRAWLER_FETCH_PLAY_SERVER_H

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"

typedef enum play_then {
    PLAY_KEEP,        /* wait for the next request */
    PLAY_CLOSE,       /* close the connection */
    PLAY_RESET,       /* close it with a reset */
    PLAY_WAIT,        /* send nothing until the client closes */
    PLAY_REPEAT,      /* send `more` again and again until the client closes */
    PLAY_DRIP,        /* the same with a few milliseconds in between */
    PLAY_CLOSE_SECOND /* as PLAY_KEEP, but a second request on the connection is not answered: it is closed */
} play_then;

typedef struct play_page {
    const char *path; /* up to the query; NULL: any other */
    const char *bytes;
    size_t length; /* 0: up to the zero */
    play_then then;
    const char *more;
} play_page;

enum { PLAY_CONNECTIONS = 1024, PLAY_REQUESTS = 4096 };

typedef struct play_server {
    const play_page *pages;
    size_t page_count;
    int family, fd, port;
    pthread_t thread;
    pthread_mutex_t lock;
    struct play_connection {
        struct play_server *server;
        int fd;
        pthread_t thread;
    } connections[PLAY_CONNECTIONS];
    size_t connection_count;
    char *requests[PLAY_REQUESTS]; /* heads as they came */
    size_t request_count;
} play_server;

static inline void play_record(play_server *server, const char *head, size_t n)
{
    pthread_mutex_lock(&server->lock);
    if (server->request_count < PLAY_REQUESTS)
        server->requests[server->request_count++] = strndup(head, n);
    pthread_mutex_unlock(&server->lock);
}

static inline const play_page *play_find(const play_server *server, const char *head)
{
    const char *path = strchr(head, ' ');
    size_t n = path ? strcspn(path + 1, " ?") : 0;

    for (size_t i = 0; path && i < server->page_count; i++)
        if (!server->pages[i].path ||
            (strlen(server->pages[i].path) == n && !memcmp(server->pages[i].path, path + 1, n)))
            return &server->pages[i];
    return NULL;
}

static inline bool play_send(int fd, const char *from, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, from, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        from += sent;
        n -= (size_t)sent;
    }
    return true;
}

static inline void play_wait(int fd)
{
    char byte[256];

    while (recv(fd, byte, sizeof byte, 0) > 0)
        ;
}

/* Answers; false: the connection is over. */
static inline bool play_answer(play_server *server, int fd, const char *head, size_t nth)
{
    const play_page *page = play_find(server, head);
    struct linger hard = {1, 0};

    if (!page || (page->then == PLAY_CLOSE_SECOND && nth > 0))
        return false;
    if (!play_send(fd, page->bytes, page->length ? page->length : strlen(page->bytes)))
        return false;
    if (page->then == PLAY_WAIT)
        play_wait(fd);
    while ((page->then == PLAY_REPEAT || page->then == PLAY_DRIP) && play_send(fd, page->more, strlen(page->more)))
        if (page->then == PLAY_DRIP)
            usleep(5000);
    if (page->then == PLAY_RESET)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    return page->then == PLAY_KEEP || page->then == PLAY_CLOSE_SECOND;
}

/* Reads requests, one after the other; they have no bodies. */
static inline void *play_connection(void *context)
{
    struct play_connection *own = context;
    char buffer[65536];
    size_t n = 0, nth = 0;

    for (;;) {
        buffer[n] = '\0';
        char *end = strstr(buffer, "\r\n\r\n");
        if (end) {
            size_t length = (size_t)(end - buffer) + 4;
            play_record(own->server, buffer, length);
            if (!play_answer(own->server, own->fd, buffer, nth++))
                break;
            n -= length;
            memmove(buffer, buffer + length, n);
            continue;
        }
        ssize_t got = n < sizeof buffer - 1 ? recv(own->fd, buffer + n, sizeof buffer - 1 - n, 0) : 0;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    pthread_mutex_lock(&own->server->lock);
    close(own->fd);
    own->fd = -1;
    pthread_mutex_unlock(&own->server->lock);
    return NULL;
}

static inline void *play_accept(void *context)
{
    play_server *server = context;

    for (int fd; (fd = accept(server->fd, NULL, NULL)) >= 0;) {
        pthread_mutex_lock(&server->lock);
        struct play_connection *one = &server->connections[server->connection_count];
        one->server = server;
        one->fd = fd;
        if (server->connection_count == PLAY_CONNECTIONS || pthread_create(&one->thread, NULL, play_connection, one))
            close(fd);
        else
            server->connection_count++;
        pthread_mutex_unlock(&server->lock);
    }
    return NULL;
}

/* A socket that listens at a port of the kernel's choice; *port tells which. */
static inline int play_listen(int family, int *port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    int failed =
        family == AF_INET ? bind(fd, (struct sockaddr *)&v4, sizeof v4) : bind(fd, (struct sockaddr *)&v6, sizeof v6);
    if (failed || listen(fd, 128) || getsockname(fd, (struct sockaddr *)&bound, &length)) {
        close(fd);
        return -1;
    }
    *port = ntohs(family == AF_INET ? ((struct sockaddr_in *)&bound)->sin_port
                                    : ((struct sockaddr_in6 *)&bound)->sin6_port);
    return fd;
}

/* NULL if this machine has no such loopback. */
static inline play_server *play_begin(int family, const play_page *pages, size_t count)
{
    play_server *server = calloc(1, sizeof *server);

    assert_non_null(server);
    server->pages = pages;
    server->page_count = count;
    server->family = family;
    pthread_mutex_init(&server->lock, NULL);
    server->fd = play_listen(family, &server->port);
    if (server->fd < 0) {
        free(server);
        return NULL;
    }
    assert_int_equal(pthread_create(&server->thread, NULL, play_accept, server), 0);
    return server;
}

static inline void play_end(play_server *server)
{
    if (!server)
        return;
    shutdown(server->fd, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->fd);
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->connection_count; i++)
        if (server->connections[i].fd >= 0)
            shutdown(server->connections[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&server->lock);
    for (size_t i = 0; i < server->connection_count; i++)
        pthread_join(server->connections[i].thread, NULL);
    for (size_t i = 0; i < server->request_count; i++)
        free(server->requests[i]);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

static inline size_t play_requests(play_server *server)
{
    pthread_mutex_lock(&server->lock);
    size_t n = server->request_count;
    pthread_mutex_unlock(&server->lock);
    return n;
}

static inline size_t play_connections(play_server *server)
{
    pthread_mutex_lock(&server->lock);
    size_t n = server->connection_count;
    pthread_mutex_unlock(&server->lock);
    return n;
}

/* The last request's head. */
static inline const char *play_last(play_server *server)
{
    pthread_mutex_lock(&server->lock);
    const char *last = server->request_count ? server->requests[server->request_count - 1] : "";
    pthread_mutex_unlock(&server->lock);
    return last;
}

#endif
