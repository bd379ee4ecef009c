#include "support/streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "vidi/transfer.h"

void test_stream_free(test_stream *stream)
{
    free(stream->data);
    memset(stream, 0, sizeof *stream);
}

static void reserve(test_stream *stream, size_t more)
{
    size_t room = stream->room ? stream->room : 4096;
    while (room - stream->size < more) {
        room *= 2;
    }
    if (room != stream->room) {
        stream->data = realloc(stream->data, room);
        stream->room = room;
    }
    if (!stream->data) {
        fprintf(stderr, "tests: no memory for a stream\n");
        exit(2);
    }
}

int test_stream_sink(void *context, const void *data, size_t size)
{
    test_stream *stream = context;
    if (++stream->calls == stream->fail_at) {
        return 1;
    }
    reserve(stream, size);
    memcpy(stream->data + stream->size, data, size);
    stream->size += size;
    if (size > stream->largest) {
        stream->largest = size;
    }
    return 0;
}

int64_t test_stream_source(void *context, void *data, size_t size)
{
    test_stream *stream = context;
    size_t n = stream->size - stream->at;
    if (++stream->calls == stream->fail_at) {
        return -1;
    }
    if (n > size) {
        n = size;
    }
    if (stream->piece && n > stream->piece) {
        n = stream->piece;
    }
    if (n) {
        memcpy(data, stream->data + stream->at, n);
    }
    stream->at += n;
    return (int64_t)n;
}

void test_stream_write(test_stream *stream, const vidi_set *set)
{
    memset(stream, 0, sizeof *stream);
    int result = vidi_write(set, test_stream_sink, stream, 0);
    check(result == VIDI_OK, "vidi_write: %d, %s", result, vidi_message());
}

int test_stream_read(test_stream *stream, vidi_set **set, uint64_t stream_bytes, const vidi_access *access)
{
    stream->at = 0;
    stream->calls = 0;
    return vidi_read(set, test_stream_source, stream, stream_bytes, NULL, access);
}
