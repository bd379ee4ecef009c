/*
 * Sockets and epoll: see sockets.h.
 */
#include "crawler/fetch/sockets.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vidi/vidi.h"

enum { FIRST_ROOM = 64 };

int sockets_open(sockets *made)
{
    *made = (sockets){.epoll = epoll_create1(EPOLL_CLOEXEC)};
    return made->epoll >= 0 ? VIDI_OK : VIDI_ESYSTEM;
}

void sockets_close(sockets *of)
{
    if (of->epoll >= 0)
        close(of->epoll);
    free(of->watches);
    *of = (sockets){.epoll = -1};
}

int sockets_add_reading(sockets *of, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    return epoll_ctl(of->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? VIDI_OK : VIDI_ESYSTEM;
}

/* The watch of a socket; NULL: no memory. */
static socket_watch *get(sockets *of, int fd)
{
    size_t room = of->room ? of->room : FIRST_ROOM;

    if ((size_t)fd < of->room)
        return &of->watches[fd];
    while (room <= (size_t)fd)
        room *= 2;
    socket_watch *grown = realloc(of->watches, room * sizeof *grown);
    if (!grown)
        return NULL;
    memset(grown + of->room, 0, (room - of->room) * sizeof *grown);
    of->watches = grown;
    of->room = room;
    return &of->watches[fd];
}

int sockets_want(sockets *of, int fd, uint32_t events, void *owner)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    socket_watch *one = get(of, fd);

    if (!one)
        return VIDI_EMEMORY;
    one->wanted = events;
    one->owner = owner;
    if (events == 0 || one->registered == events)
        return VIDI_OK;
    if (epoll_ctl(of->epoll, one->registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) < 0)
        return VIDI_ESYSTEM;
    one->registered = events;
    return VIDI_OK;
}

/* Closing takes it out of epoll, too. */
void sockets_forget(sockets *of, int fd)
{
    if ((size_t)fd < of->room)
        of->watches[fd] = (socket_watch){0};
}

const socket_watch *sockets_happened(sockets *of, int fd)
{
    socket_watch *one = &of->watches[fd];

    if (one->wanted)
        return one;
    if (one->registered) /* otherwise it was closed after epoll had told us */
        epoll_ctl(of->epoll, EPOLL_CTL_DEL, fd, NULL);
    one->registered = 0;
    return NULL;
}
