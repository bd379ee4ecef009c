/*
 * The sockets that libcurl waits for, and epoll, which does the waiting.
 *
 * A socket stays registered with epoll while its connection is kept open between two requests: libcurl's interest comes
 * and goes with each request, and two system calls for that would be a tenth of the work. If something happens on a
 * socket that libcurl is not interested in, it is taken out.
 */
#ifndef VIDI_CRAWLER_FETCH_SOCKETS_H
#define VIDI_CRAWLER_FETCH_SOCKETS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

typedef struct socket_watch {
    uint32_t registered; /* with epoll: EPOLLIN, EPOLLOUT; 0: nothing */
    uint32_t wanted;     /* by libcurl; 0: nothing */
    void *owner;
} socket_watch;

typedef struct sockets {
    int epoll;
    socket_watch *watches; /* by descriptor */
    size_t room;
} sockets;

/* VIDI_OK or VIDI_ESYSTEM. sockets_close in either case. */
int sockets_open(sockets *made);
void sockets_close(sockets *watched);

/* A descriptor of our own, to be read from. It has no watch. */
int sockets_add_reading(sockets *sockets, int fd);

/* libcurl wants these events of a socket; 0: none. VIDI_OK, VIDI_EMEMORY or VIDI_ESYSTEM. */
int sockets_want(sockets *sockets, int fd, uint32_t events, void *owner);
/* The socket is about to be closed, or has just been opened. */
void sockets_forget(sockets *sockets, int fd);

/* The watch of a socket that something has happened to. NULL: it is not watched. */
const socket_watch *sockets_happened(sockets *sockets, int fd);

#endif
