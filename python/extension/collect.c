/*
 * See collect.h.
 */
#include "collect.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Grows by half. The kernel moves pages of large blocks instead of copying them. */
static bool grow(vp_bytes *bytes, size_t size)
{
    size_t room = (bytes->len + size) / 2 * 3 + 64;
    char *ptr = size < SIZE_MAX / 4 - bytes->len ? realloc(bytes->ptr, room) : NULL;
    if (!ptr)
        return false;
    bytes->ptr = ptr;
    bytes->room = room;
    return true;
}

int vp_collect(void *context, const void *data, size_t size)
{
    vp_bytes *bytes = context;
    if (size == 0)
        return 0;
    if (size > bytes->room - bytes->len && !grow(bytes, size)) {
        bytes->is_short = true;
        return 1;
    }
    memcpy(bytes->ptr + bytes->len, data, size);
    bytes->len += size;
    return 0;
}

void vp_bytes_trim(vp_bytes *bytes)
{
    char *ptr = bytes->len ? realloc(bytes->ptr, bytes->len) : NULL;
    if (!ptr)
        return;
    bytes->ptr = ptr;
    bytes->room = bytes->len;
}

void vp_bytes_free(vp_bytes *bytes)
{
    free(bytes->ptr);
    *bytes = (vp_bytes){0};
}
