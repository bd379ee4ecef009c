/*
 * A string of bytes that grows. Begins as {0}, or with a `resize` of its own.
 *
 * Functions that append return 0, or BYTES_NO_MEMORY: then the bytes are as they were before the call, and `failed` is
 * set, for callers that check once at the end.
 */
#ifndef VIDI_COMMON_BYTES_H
#define VIDI_COMMON_BYTES_H

#include <stdbool.h>
#include <stddef.h>

enum { BYTES_NO_MEMORY = -3 }; /* the same as VIDI_EMEMORY, so that users of the library can return it */

typedef struct bytes {
    char *ptr;
    size_t len, room;
    bool failed; /* something could not be appended */
    /* Does what realloc does, and frees if the size is 0. NULL: realloc and free. */
    void *(*resize)(void *block, size_t size);
} bytes;

/* Makes room for `more` bytes after the present ones. */
int bytes_reserve(bytes *to, size_t more);
int bytes_append(bytes *to, const void *from, size_t n);
int bytes_append_text(bytes *to, const char *text);
int bytes_append_format(bytes *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends the text, with %XX in place of each byte that `kept` refuses. */
int bytes_append_percent(bytes *to, const char *text, size_t n, bool (*kept)(char c));
/* Appends the text with each %XX decoded; a '%' that is not followed by two digits stays. */
int bytes_append_decoded(bytes *to, const char *text, size_t n);

/* bytes_append in the form of a vidi_sink, whose context are the bytes. */
int bytes_collect(void *context, const void *from, size_t n);

/* Frees room that is not used, if there is any content. */
void bytes_trim(bytes *all);

/* Frees the memory; the bytes are then empty again. */
void bytes_free(bytes *all);

#endif
