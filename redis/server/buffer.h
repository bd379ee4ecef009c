/*
 * Bytes that are collected: a piece of a set on its way into a reply.
 */
#ifndef REDIS_BUFFER_H
#define REDIS_BUFFER_H

#include <stddef.h>

/* Begins as {0}. */
typedef struct buffer {
    char *bytes;
    size_t len, room;
} buffer;

/* A vidi_sink: appends to the buffer that is its context. */
int buffer_collect(void *context, const void *data, size_t size);
void buffer_free(buffer *buffer);

#endif
