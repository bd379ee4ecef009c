/* The frames around everything that is written: what goes in comes out, and nothing else does. */
#include <stdlib.h>

#include "store/frame.h"
#include "support/check.h"
#include "support/streams.h"

#define PAYLOAD (VIDI__BLOCK_BYTES - 16)

static void fill(unsigned char *data, size_t bytes, unsigned salt)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i * 31 + (i >> 8) + salt);
}

static void write_bytes(test_stream *stream, size_t bytes, unsigned salt)
{
    vidi__frame_writer *writer = malloc(sizeof *writer);
    unsigned char *data = malloc(bytes + 1);
    fill(data, bytes, salt);
    *stream = (test_stream){0};
    assert_int_equal(vidi__frame_begin(writer, test_stream_sink, stream), VIDI_OK);
    for (size_t at = 0, piece = 1; at < bytes; at += piece, piece = piece * 3 + 1) {
        piece = piece < bytes - at ? piece : bytes - at;
        assert_int_equal(vidi__write(&writer->base, data + at, piece), VIDI_OK);
    }
    assert_int_equal(vidi__frame_end(writer), VIDI_OK);
    free(data);
    free(writer);
}

/* VIDI_OK if exactly those bytes come back. */
static int read_bytes(test_stream *stream, size_t bytes, unsigned salt, uint64_t known)
{
    vidi__frame_reader *reader = malloc(sizeof *reader);
    unsigned char *data = calloc(1, bytes + 1), *expected = malloc(bytes + 1);
    fill(expected, bytes, salt);
    stream->at = 0;
    int code = vidi__frame_open(reader, test_stream_source, stream, known);
    if (code == VIDI_OK)
        code = vidi__read(&reader->base, data, bytes);
    if (code == VIDI_OK)
        code = vidi__frame_close(reader);
    if (code == VIDI_OK)
        assert_memory_equal(data, expected, bytes);
    free(expected);
    free(data);
    free(reader);
    return code;
}

static void any_number_of_bytes_comes_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 7, PAYLOAD - 1, PAYLOAD, PAYLOAD + 1, 2 * PAYLOAD, 3 * PAYLOAD + 5};
    for (size_t i = 0; i < VIDI__COUNT(sizes); i++) {
        test_stream stream;
        write_bytes(&stream, sizes[i], 1);
        assert_true(stream.largest <= VIDI__BLOCK_BYTES);
        assert_int_equal(read_bytes(&stream, sizes[i], 1, stream.size), VIDI_OK);
        stream.piece = 1000;
        assert_int_equal(read_bytes(&stream, sizes[i], 1, 0), VIDI_OK);
        test_stream_free(&stream);
    }
}

static void blocks_cannot_change_places(void **state)
{
    (void)state;
    test_stream stream;
    unsigned char block[VIDI__BLOCK_BYTES];
    write_bytes(&stream, 3 * PAYLOAD, 1);
    memcpy(block, stream.data + 32, sizeof block);
    memcpy(stream.data + 32, stream.data + 32 + sizeof block, sizeof block);
    memcpy(stream.data + 32 + sizeof block, block, sizeof block);
    assert_int_equal(read_bytes(&stream, 3 * PAYLOAD, 1, stream.size), VIDI_EFORMAT);
    test_stream_free(&stream);
}

static void blocks_of_another_stream_do_not_fit(void **state)
{
    (void)state;
    test_stream one, two;
    write_bytes(&one, 2 * PAYLOAD, 1);
    write_bytes(&two, 2 * PAYLOAD, 2);
    memcpy(one.data + 32, two.data + 32, VIDI__BLOCK_BYTES);
    assert_int_equal(read_bytes(&one, 2 * PAYLOAD, 1, one.size), VIDI_EFORMAT);
    test_stream_free(&one);
    test_stream_free(&two);
}

static void too_few_and_too_many_bytes_are_noticed(void **state)
{
    (void)state;
    test_stream stream;
    write_bytes(&stream, 1000, 1);
    assert_int_equal(read_bytes(&stream, 999, 1, stream.size), VIDI_EFORMAT);
    assert_int_equal(read_bytes(&stream, 1001, 1, stream.size), VIDI_EFORMAT);
    assert_int_equal(read_bytes(&stream, 1001, 1, 0), VIDI_EFORMAT);
    assert_int_equal(read_bytes(&stream, 1000, 1, stream.size + 1), VIDI_EFORMAT);
    assert_int_equal(read_bytes(&stream, 1000, 1, stream.size - 1), VIDI_EFORMAT);
    test_stream_free(&stream);
}

static void other_files_and_versions_are_refused_by_name(void **state)
{
    (void)state;
    test_stream stream;
    write_bytes(&stream, 10, 1);
    stream.data[0] = 'V';
    assert_int_equal(read_bytes(&stream, 10, 1, 0), VIDI_EFORMAT);
    assert_non_null(strstr(vidi_message(), "not written by vidi"));
    test_stream_free(&stream);
}

static void a_failing_sink_or_source_is_an_io_error(void **state)
{
    (void)state;
    test_stream stream;
    vidi__frame_writer *writer = malloc(sizeof *writer);
    stream = (test_stream){.fail_at = 1};
    assert_int_equal(vidi__frame_begin(writer, test_stream_sink, &stream), VIDI_EIO);
    free(writer);
    test_stream_free(&stream);
    write_bytes(&stream, 10, 1);
    stream.calls = 0;
    stream.fail_at = 2;
    assert_int_equal(read_bytes(&stream, 10, 1, 0), VIDI_EIO);
    test_stream_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_bytes_comes_back),
        cmocka_unit_test(blocks_cannot_change_places),
        cmocka_unit_test(blocks_of_another_stream_do_not_fit),
        cmocka_unit_test(too_few_and_too_many_bytes_are_noticed),
        cmocka_unit_test(other_files_and_versions_are_refused_by_name),
        cmocka_unit_test(a_failing_sink_or_source_is_an_io_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
