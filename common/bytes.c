/*
 * Growing bytes: see bytes.h. Room doubles, so that appending takes linear time in all.
 */
#include "common/bytes.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"

enum { FIRST_ROOM = 64 };

static void *resize(const bytes *all, size_t size)
{
    return all->resize ? all->resize(all->ptr, size) : realloc(all->ptr, size);
}

int bytes_reserve(bytes *to, size_t more)
{
    if (more <= to->room - to->len)
        return 0;
    size_t need = more <= SIZE_MAX / 2 - to->len ? to->len + more : 0; /* 0: too much */
    size_t room = to->room < FIRST_ROOM ? FIRST_ROOM : 2 * to->room;
    room = room < need ? need : room;
    char *grown = need ? resize(to, room) : NULL;
    if (!grown) {
        to->failed = true;
        return BYTES_NO_MEMORY;
    }
    to->ptr = grown;
    to->room = room;
    return 0;
}

int bytes_append(bytes *to, const void *from, size_t n)
{
    if (n == 0)
        return 0;
    int error = bytes_reserve(to, n);
    if (error)
        return error;
    memcpy(to->ptr + to->len, from, n);
    to->len += n;
    return 0;
}

int bytes_collect(void *context, const void *from, size_t n)
{
    return bytes_append(context, from, n);
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
    int error = n < 0 ? BYTES_NO_MEMORY : bytes_reserve(to, (size_t)n + 1);
    if (error)
        return error;
    va_start(values, format);
    vsnprintf(to->ptr + to->len, (size_t)n + 1, format, values);
    va_end(values);
    to->len += (size_t)n;
    return 0;
}

int bytes_append_percent(bytes *to, const char *text, size_t n, bool (*kept)(char c))
{
    size_t refused = 0;

    for (size_t i = 0; i < n; i++)
        refused += !kept(text[i]);
    if (refused > (SIZE_MAX - n) / 2)
        return BYTES_NO_MEMORY;
    int error = bytes_reserve(to, n + 2 * refused);
    if (error)
        return error;
    for (size_t i = 0; i < n; i++)
        if (kept(text[i]))
            to->ptr[to->len++] = text[i];
        else
            to->len += ascii_put_percent(to->ptr + to->len, text[i]);
    return 0;
}

void bytes_trim(bytes *all)
{
    char *ptr = all->len ? resize(all, all->len) : NULL;

    if (!ptr)
        return;
    all->ptr = ptr;
    all->room = all->len;
}

void bytes_free(bytes *all)
{
    if (all->resize)
        (void)all->resize(all->ptr, 0);
    else
        free(all->ptr);
    *all = (bytes){.resize = all->resize};
}

int bytes_append_decoded(bytes *to, const char *text, size_t n)
{
    int error = bytes_reserve(to, n);

    for (size_t i = 0; i < n && !error; i++) {
        int high = n - i > 2 && text[i] == '%' ? ascii_hex(text[i + 1]) : -1;
        int low = high >= 0 ? ascii_hex(text[i + 2]) : -1;
        char decoded = text[i];
        if (low >= 0)
            decoded = (char)(high << 4 | low);
        to->ptr[to->len++] = decoded;
        i += low >= 0 ? 2 : 0;
    }
    return error;
}
