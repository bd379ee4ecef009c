/*
 * Sockets and epoll: see sockets.h.
 */
#include "crawler/fetch/sockets.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crawler/base/list.h"

int sockets_open(sockets *made)
{
    *made = (sockets){.epoll = epoll_create1(EPOLL_CLOEXEC)};
    return made->epoll >= 0 ? VIDI_OK : VIDI_ESYSTEM;
}

void sockets_close(sockets *watched)
{
    if (watched->epoll >= 0)
        close(watched->epoll);
    free(watched->watches);
    *watched = (sockets){.epoll = -1};
}

int sockets_add_reading(sockets *sockets, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    return epoll_ctl(sockets->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? VIDI_OK : VIDI_ESYSTEM;
}

/* The watch of a socket; NULL: no memory. */
static socket_watch *get(sockets *sockets, int fd)
{
    size_t had = sockets->room;

    if (list_reserve(&sockets->watches, &sockets->room, (size_t)fd + 1) != VIDI_OK)
        return NULL;
    memset(sockets->watches + had, 0, (sockets->room - had) * sizeof *sockets->watches);
    return &sockets->watches[fd];
}

int sockets_want(sockets *sockets, int fd, uint32_t events, void *owner)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    socket_watch *one = get(sockets, fd);

    if (!one)
        return VIDI_EMEMORY;
    one->wanted = events;
    one->owner = owner;
    if (events == 0 || one->registered == events)
        return VIDI_OK;
    if (epoll_ctl(sockets->epoll, one->registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) < 0)
        return VIDI_ESYSTEM;
    one->registered = events;
    return VIDI_OK;
}

/* Closing takes it out of epoll, too. */
void sockets_forget(sockets *sockets, int fd)
{
    if ((size_t)fd < sockets->room)
        sockets->watches[fd] = (socket_watch){0};
}

const socket_watch *sockets_happened(sockets *sockets, int fd)
{
    socket_watch *one = &sockets->watches[fd];

    if (one->wanted)
        return one;
    if (one->registered) /* otherwise it was closed after epoll had reported it */
        epoll_ctl(sockets->epoll, EPOLL_CTL_DEL, fd, NULL);
    one->registered = 0;
    return NULL;
}
