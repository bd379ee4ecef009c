/*
 * Arrays that grow by doubling.
 */
#ifndef VIDI_CRAWLER_BASE_LIST_H
#define VIDI_CRAWLER_BASE_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "vidi/vidi.h"

/* Makes room for `count` elements of a list that has room for *room. VIDI_OK or VIDI_EMEMORY. */
static inline int list_reserve_bytes(void **list, size_t *room, size_t count, size_t size)
{
    size_t wanted = *room ? *room : 16;

    if (count <= *room)
        return VIDI_OK;
    if (count > SIZE_MAX / 2 / size)
        return VIDI_EMEMORY;
    while (wanted < count)
        wanted *= 2;
    void *more = realloc(*list, wanted * size);
    if (!more)
        return VIDI_EMEMORY;
    *list = more;
    *room = wanted;
    return VIDI_OK;
}

#define list_reserve(list, room, count) list_reserve_bytes((void **)(list), room, count, sizeof **(list))

#endif
