/*
 * A string of bytes that grows. Begins as {0}. Every function that appends returns VIDI_OK or VIDI_EMEMORY; after
 * VIDI_EMEMORY the bytes are as they were before the call.
 */
#ifndef VIDI_CRAWLER_BASE_BYTES_H
#define VIDI_CRAWLER_BASE_BYTES_H

#include <stdarg.h>
#include <stddef.h>

#include "vidi/vidi.h"

typedef struct bytes {
    char *ptr;
    size_t len, room;
} bytes;

/* Makes room for `more` bytes after the present ones. */
int bytes_reserve(bytes *to, size_t more);
int bytes_append(bytes *to, const void *from, size_t n);
int bytes_append_str(bytes *to, vidi_str text);
int bytes_append_text(bytes *to, const char *text);
int bytes_append_format(bytes *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Frees the memory; the bytes are then {0} again. */
void bytes_free(bytes *of);

static inline vidi_str bytes_str(const bytes *of)
{
    return (vidi_str){of->ptr, of->len};
}

#endif
