/*
 * Bytes that are collected while a set is locked: its stream, or what it lists. Plain memory: Python's own allocator
 * may start a garbage collection, and that may run code that asks the same set.
 */
#ifndef VIDI_PYTHON_COLLECT_H
#define VIDI_PYTHON_COLLECT_H

#include <stdbool.h>
#include <stddef.h>

/* Begins as {0}. */
typedef struct vp_bytes {
    char *ptr;
    size_t len, room;
    bool is_short; /* there was no memory for more; the library's own error says only that the sink failed */
} vp_bytes;

/* A vidi_sink: appends to the vp_bytes that is its context. 1 if there is no memory. */
int vp_collect(void *context, const void *data, size_t size);

/* Gives back the room that is not used. */
void vp_bytes_trim(vp_bytes *bytes);

void vp_bytes_free(vp_bytes *bytes);

#endif
