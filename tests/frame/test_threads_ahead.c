/* A frame that a thread reads ahead: what comes out is the same, and so is what is found wrong. */
#include <stdio.h>
#include <stdlib.h>

#include "frame/ahead.h"
#include "support/check.h"
#include "support/streams.h"

#define BLOCK VIDI__BLOCK_BYTES
#define LEAST ((size_t)4 << 20) /* no thread reads less */

static void write_bytes(test_stream *stream, size_t bytes)
{
    vidi__memory memory;
    vidi__frame_writer *writer = malloc(sizeof *writer);
    unsigned char *data = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i * 31 + (i >> 8) + 7 * (i >> 16));
    *stream = (test_stream){0};
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    assert_int_equal(vidi__frame_begin(writer, &memory, test_stream_sink, stream, (vidi__frame_head){5, 0}), VIDI_OK);
    assert_int_equal(vidi__write(&writer->base, data, bytes), VIDI_OK);
    assert_int_equal(vidi__frame_end(writer), VIDI_OK);
    vidi__frame_writer_free(writer);
    free(data);
    free(writer);
}

typedef struct reading {
    size_t stop;    /* how many bytes of the payload are read; the frame is closed if these are all */
    uint64_t limit; /* of the memory; 0: none */
    bool threaded;  /* whether there was a thread */
} reading;

static int read_payload(vidi__frame_reader *reader, const unsigned char *expected, size_t bytes)
{
    unsigned char *data = calloc(1, bytes + 1);
    int code = VIDI_OK;
    for (size_t at = 0, piece = 5; at < bytes && code == VIDI_OK; at += piece, piece = piece * 4 % 100003 + 1) {
        piece = piece < bytes - at ? piece : bytes - at;
        code = vidi__read(&reader->base, data + at, piece);
    }
    if (code == VIDI_OK)
        assert_memory_equal(data, expected, bytes);
    free(data);
    return code;
}

static int read_ahead(test_stream *stream, size_t bytes, reading *how)
{
    vidi__memory memory;
    vidi__frame_reader *reader = malloc(sizeof *reader);
    stream->at = 0;
    stream->calls = 0;
    assert_int_equal(vidi__memory_init(&memory, NULL, how->limit), VIDI_OK);
    int code = vidi__frame_open(reader, &memory, test_stream_source, stream, stream->size);
    if (code == VIDI_OK)
        code = vidi__frame_read_ahead(reader);
    how->threaded = reader->ahead != NULL;
    if (code == VIDI_OK)
        code = read_payload(reader, stream->data + VIDI__HEAD_BYTES, how->stop);
    if (code == VIDI_OK && how->stop == bytes)
        code = vidi__frame_close(reader);
    vidi__frame_reader_free(reader);
    assert_int_equal(vidi__memory_used(&memory), 0);
    free(reader);
    return code;
}

static void any_number_of_bytes_comes_back(void **state)
{
    static const size_t sizes[] = {LEAST - 1, LEAST, LEAST + BLOCK - VIDI__HEAD_BYTES, 2 * LEAST + 12345};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(sizes); i++) {
        test_stream stream;
        reading how = {.stop = sizes[i]};
        write_bytes(&stream, sizes[i]);
        assert_int_equal(read_ahead(&stream, sizes[i], &how), VIDI_OK);
        assert_int_equal(how.threaded, sizes[i] >= LEAST);
        stream.piece = 10007;
        assert_int_equal(read_ahead(&stream, sizes[i], &how), VIDI_OK);
        test_stream_free(&stream);
    }
}

/* Also in the last block, which is shorter, and in the table after it. */
static void the_damaged_block_is_named(void **state)
{
    const size_t bytes = LEAST + 1000, blocks = LEAST / BLOCK + 1;
    test_stream stream;
    reading how = {.stop = bytes};
    (void)state;
    write_bytes(&stream, bytes);
    for (size_t block = 0; block < blocks; block++) {
        const size_t places[] = {block * BLOCK + (block ? 0 : VIDI__HEAD_BYTES), VIDI__HEAD_BYTES + bytes + 8 * block};
        char name[32];
        snprintf(name, sizeof name, "block %zu ", block);
        for (size_t i = 0; i < VIDI__COUNT(places); i++) {
            stream.data[places[i]] ^= 1;
            /* The payload is compared with what the stream has, so this is the checksum's finding. */
            check(read_ahead(&stream, bytes, &how) == VIDI_EFORMAT, "%s at %zu", name, places[i]);
            assert_non_null(strstr(vidi_message(), name));
            stream.data[places[i]] ^= 1;
        }
    }
    test_stream_free(&stream);
}

static void a_source_that_fails_is_reported_by_the_caller(void **state)
{
    const size_t bytes = LEAST + 1000;
    test_stream stream;
    reading how = {.stop = bytes};
    (void)state;
    write_bytes(&stream, bytes);
    assert_int_equal(read_ahead(&stream, bytes, &how), VIDI_OK);
    uint64_t calls = stream.calls;
    for (stream.fail_at = 1; stream.fail_at <= calls; stream.fail_at++) {
        assert_int_equal(read_ahead(&stream, bytes, &how), VIDI_EIO);
        assert_non_null(strstr(vidi_message(), "source"));
    }
    stream.fail_at = 0;
    test_stream_free(&stream);
}

/* Whatever the thread is doing then: waiting for room, reading, or not begun. */
static void it_ends_when_the_caller_stops(void **state)
{
    const size_t bytes = 3 * LEAST;
    test_stream stream;
    (void)state;
    write_bytes(&stream, bytes);
    for (size_t stop = 0; stop < bytes; stop = stop * 3 + 1) {
        reading how = {.stop = stop};
        assert_int_equal(read_ahead(&stream, bytes, &how), VIDI_OK);
        assert_true(how.threaded);
    }
    test_stream_free(&stream);
}

/* A limit that has room for the contents alone is not spent on reading them faster. */
static void tight_memory_is_read_without_a_thread(void **state)
{
    test_stream stream;
    reading how = {.stop = LEAST, .limit = LEAST + LEAST / 8 + vidi__ahead_bytes() - 1};
    (void)state;
    write_bytes(&stream, LEAST);
    assert_int_equal(read_ahead(&stream, LEAST, &how), VIDI_OK);
    assert_false(how.threaded);
    how.limit++;
    assert_int_equal(read_ahead(&stream, LEAST, &how), VIDI_OK);
    assert_true(how.threaded);
    test_stream_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_bytes_comes_back),
        cmocka_unit_test(the_damaged_block_is_named),
        cmocka_unit_test(a_source_that_fails_is_reported_by_the_caller),
        cmocka_unit_test(it_ends_when_the_caller_stops),
        cmocka_unit_test(tight_memory_is_read_without_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
