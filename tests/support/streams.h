/*
 * Streams in memory for vidi_write and vidi_read, in pieces of any size. They fail on request.
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
    size_t at;      /* position of the reader */
    size_t piece;   /* most bytes that one read returns; 0: as many as requested */
    size_t largest; /* largest piece that was written */
    uint64_t calls;
    uint64_t fail_at; /* the call with this number (from 1) fails; 0: none */
} test_stream;

void test_stream_free(test_stream *stream);

/* A vidi_sink and a vidi_source. */
int test_stream_sink(void *context, const void *data, size_t size);
int64_t test_stream_source(void *context, void *data, size_t size);

/* Writes the set into an empty stream, or fails the test. */
void test_stream_write(test_stream *stream, const vidi_set *set);

/* Reads a set from the beginning of the stream. Returns vidi_read's result. */
int test_stream_read(test_stream *stream, vidi_set **set, uint64_t stream_bytes, const vidi_access *access);

#endif
