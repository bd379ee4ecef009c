/*
 * Streams in memory, for vidi_write and vidi_read: in pieces of any size, and failing when told to.
 */
#ifndef TESTS_SUPPORT_STREAMS_H
#define TESTS_SUPPORT_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

typedef struct test_stream {
    unsigned char *data;
    size_t size;
    size_t room;
    size_t at;      /* of the reader */
    size_t piece;   /* the reader gives at most so many bytes at a time; 0: as many as asked for */
    size_t largest; /* piece that was written */
    uint64_t calls;
    uint64_t fail_at; /* the call with this number (from 1) fails; 0: none */
} test_stream;

void test_stream_free(test_stream *stream);

/* A vidi_sink and a vidi_source. */
int test_stream_sink(void *context, const void *data, size_t size);
int64_t test_stream_source(void *context, void *data, size_t size);

/* Writes the set into an empty stream, or fails the test. */
void test_stream_write(test_stream *stream, const vidi_set *set);

/* Reads a set from the beginning of the stream: what vidi_read returned. */
int test_stream_read(test_stream *stream, vidi_set **set, uint64_t stream_bytes, const vidi_access *access);

#endif
