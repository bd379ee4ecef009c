/*
 * Growing bytes: see bytes.h. Room doubles, so that appending takes linear time in all.
 */
#include "crawler/base/bytes.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

int bytes_reserve(bytes *to, size_t more)
{
    if (more <= to->room - to->len)
        return VIDI_OK;
    if (more > SIZE_MAX / 2 - to->len)
        return VIDI_EMEMORY;
    size_t room = to->room < FIRST_ROOM ? FIRST_ROOM : 2 * to->room;
    if (room < to->len + more)
        room = to->len + more;
    char *grown = realloc(to->ptr, room);
    if (!grown)
        return VIDI_EMEMORY;
    to->ptr = grown;
    to->room = room;
    return VIDI_OK;
}

int bytes_append(bytes *to, const void *from, size_t n)
{
    if (n == 0)
        return VIDI_OK;
    int error = bytes_reserve(to, n);
    if (error)
        return error;
    memcpy(to->ptr + to->len, from, n);
    to->len += n;
    return VIDI_OK;
}

int bytes_append_str(bytes *to, vidi_str text)
{
    return bytes_append(to, text.ptr, text.len);
}

int bytes_append_text(bytes *to, const char *text)
{
    return bytes_append(to, text, strlen(text));
}

int bytes_append_format(bytes *to, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    int n = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (n < 0)
        return VIDI_EMEMORY;
    int error = bytes_reserve(to, (size_t)n + 1);
    if (error)
        return error;
    va_start(values, format);
    vsnprintf(to->ptr + to->len, (size_t)n + 1, format, values);
    va_end(values);
    to->len += (size_t)n;
    return VIDI_OK;
}

void bytes_free(bytes *of)
{
    free(of->ptr);
    *of = (bytes){0};
}
