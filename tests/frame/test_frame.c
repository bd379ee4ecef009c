/* The frame around everything that is written: what goes in comes out, and nothing else does. */
#include <stdio.h>
#include <stdlib.h>

#include "frame/mapped.h"
#include "support/check.h"
#include "support/streams.h"

#define BLOCK VIDI__BLOCK_BYTES
#define HEAD VIDI__HEAD_BYTES

static void fill(unsigned char *data, size_t bytes, unsigned salt)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i * 31 + (i >> 8) + 7 * (i >> 16) + salt);
}

static void write_bytes(test_stream *stream, size_t bytes, unsigned salt)
{
    vidi__memory memory;
    vidi__frame_writer *writer = malloc(sizeof *writer);
    unsigned char *data = malloc(bytes + 1);
    fill(data, bytes, salt);
    *stream = (test_stream){0};
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    assert_int_equal(vidi__frame_begin(writer, &memory, test_stream_sink, stream, (vidi__frame_head){salt, 0}),
                     VIDI_OK);
    for (size_t at = 0, piece = 1; at < bytes; at += piece, piece = piece * 3 + 1) {
        piece = piece < bytes - at ? piece : bytes - at;
        assert_int_equal(vidi__write(&writer->base, data + at, piece), VIDI_OK);
    }
    assert_int_equal(vidi__frame_end(writer), VIDI_OK);
    vidi__frame_writer_free(writer);
    assert_int_equal(vidi__memory_used(&memory), 0);
    free(data);
    free(writer);
}

/* VIDI_OK if exactly those bytes come back, in pieces that grow. */
static int read_bytes(test_stream *stream, size_t bytes, unsigned salt, uint64_t known)
{
    vidi__memory memory;
    vidi__frame_reader *reader = malloc(sizeof *reader);
    unsigned char *data = calloc(1, bytes + 1), *expected = malloc(bytes + 1);
    fill(expected, bytes, salt);
    stream->at = 0;
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    int code = vidi__frame_open(reader, &memory, test_stream_source, stream, known);
    for (size_t at = 0, piece = 5; at < bytes && code == VIDI_OK; at += piece, piece = piece * 4 + 1) {
        piece = piece < bytes - at ? piece : bytes - at;
        code = vidi__read(&reader->base, data + at, piece);
    }
    if (code == VIDI_OK)
        code = vidi__frame_close(reader);
    if (code == VIDI_OK)
        assert_memory_equal(data, expected, bytes);
    vidi__frame_reader_free(reader);
    assert_int_equal(vidi__memory_used(&memory), 0);
    free(expected);
    free(data);
    free(reader);
    return code;
}

/* The stream where a mapping of exactly its length would be. */
static unsigned char *mapping_of(const test_stream *stream)
{
    unsigned char *bytes = aligned_alloc(VIDI__CACHE_LINE, vidi__round_up(stream->size + 1, VIDI__CACHE_LINE));
    memcpy(bytes, stream->data, stream->size);
    return bytes;
}

static int map_bytes(const test_stream *stream, bool verify)
{
    vidi__mapped mapped;
    unsigned char *bytes = mapping_of(stream);
    int code = vidi__frame_map(&mapped, bytes, stream->size);
    if (code == VIDI_OK && verify)
        code = vidi__mapped_verify(&mapped, 0, mapped.blocks);
    free(bytes);
    return code;
}

static void any_number_of_bytes_comes_back(void **state)
{
    static const size_t sizes[] = {0,         1,         7,         BLOCK - HEAD - 1, BLOCK - HEAD, BLOCK - HEAD + 1,
                                   BLOCK - 1, BLOCK + 1, 2 * BLOCK, 3 * BLOCK - HEAD, 5 * BLOCK + 5};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(sizes); i++) {
        test_stream stream;
        write_bytes(&stream, sizes[i], 1);
        assert_true(stream.largest <= BLOCK);
        assert_int_equal(read_bytes(&stream, sizes[i], 1, stream.size), VIDI_OK);
        stream.piece = 1000;
        assert_int_equal(read_bytes(&stream, sizes[i], 1, 0), VIDI_OK);
        assert_int_equal(map_bytes(&stream, true), VIDI_OK);
        test_stream_free(&stream);
    }
}

/* Of a pipe of unknown length, the bytes behind the stream are left to whom they belong. */
static void nothing_behind_the_stream_is_taken(void **state)
{
    test_stream stream;
    (void)state;
    write_bytes(&stream, 2 * BLOCK, 1);
    size_t whole = stream.size;
    assert_int_equal(test_stream_sink(&stream, "and more", 8), 0);
    assert_int_equal(read_bytes(&stream, 2 * BLOCK, 1, 0), VIDI_OK);
    assert_int_equal(stream.at, whole);
    assert_int_equal(read_bytes(&stream, 2 * BLOCK, 1, whole), VIDI_OK);
    assert_int_equal(stream.at, whole);
    assert_int_equal(read_bytes(&stream, 2 * BLOCK, 1, whole + 8), VIDI_EFORMAT);
    test_stream_free(&stream);
}

static void the_length_tells_where_the_payload_ends(void **state)
{
    uint64_t last = 0, payload, blocks, lengths = 0;
    (void)state;
    for (uint64_t size = 0; size < 4 * BLOCK; size++) {
        if (vidi__frame_shape(size, &payload, &blocks) < 0)
            continue;
        assert_int_equal(HEAD + payload + 8 * blocks + VIDI__FOOT_BYTES, size);
        assert_int_equal(blocks, (HEAD + payload + BLOCK - 1) / BLOCK);
        assert_int_equal(payload, lengths ? last + 1 : 0);
        last = payload;
        lengths++;
    }
    assert_int_equal(vidi__frame_shape(UINT64_MAX, &payload, &blocks), VIDI_OK);
}

/* The message names the block, whichever way it is read. */
static void the_first_damaged_block_is_named(void **state)
{
    test_stream stream;
    (void)state;
    write_bytes(&stream, 5 * BLOCK, 1);
    for (size_t block = 0; block < 6; block++) {
        char name[32];
        snprintf(name, sizeof name, "block %zu ", block);
        size_t at = block * BLOCK + (block ? 0 : HEAD);
        stream.data[at] ^= 1;
        assert_int_equal(read_bytes(&stream, 5 * BLOCK, 1, block & 1 ? stream.size : 0), VIDI_EFORMAT);
        assert_non_null(strstr(vidi_message(), name));
        assert_int_equal(map_bytes(&stream, false), VIDI_OK);
        assert_int_equal(map_bytes(&stream, true), VIDI_EFORMAT);
        assert_non_null(strstr(vidi_message(), name));
        stream.data[at] ^= 1;
    }
    test_stream_free(&stream);
}

/* In pieces, as somebody in the background would. */
static void blocks_are_verified_one_by_one(void **state)
{
    test_stream stream;
    vidi__mapped mapped;
    (void)state;
    write_bytes(&stream, 5 * BLOCK, 1);
    stream.data[3 * BLOCK] ^= 4;
    unsigned char *bytes = mapping_of(&stream);
    assert_int_equal(vidi__frame_map(&mapped, bytes, stream.size), VIDI_OK);
    assert_int_equal(mapped.blocks, 6);
    for (uint64_t block = 0; block < 6; block++)
        assert_int_equal(vidi__mapped_verify(&mapped, block, 1), block == 3 ? VIDI_EFORMAT : VIDI_OK);
    assert_int_equal(vidi__mapped_verify(&mapped, 4, 2), VIDI_OK);
    assert_int_equal(vidi__mapped_verify(&mapped, 6, 0), VIDI_OK);
    assert_int_equal(vidi__mapped_verify(&mapped, 6, 1), VIDI_EARGUMENT);
    assert_int_equal(vidi__mapped_verify(&mapped, 1, UINT64_MAX), VIDI_EARGUMENT);
    free(bytes);
    test_stream_free(&stream);
}

static void blocks_cannot_change_places(void **state)
{
    test_stream stream;
    unsigned char block[BLOCK];
    (void)state;
    write_bytes(&stream, 4 * BLOCK, 1);
    memcpy(block, stream.data + BLOCK, BLOCK);
    memcpy(stream.data + BLOCK, stream.data + 2 * BLOCK, BLOCK);
    memcpy(stream.data + 2 * BLOCK, block, BLOCK);
    assert_int_equal(read_bytes(&stream, 4 * BLOCK, 1, stream.size), VIDI_EFORMAT);
    assert_int_equal(map_bytes(&stream, true), VIDI_EFORMAT);
    test_stream_free(&stream);
}

static void blocks_of_another_stream_do_not_fit(void **state)
{
    test_stream one, two;
    (void)state;
    write_bytes(&one, 2 * BLOCK, 1);
    write_bytes(&two, 2 * BLOCK, 2);
    size_t table = HEAD + 2 * BLOCK + 8;
    memcpy(one.data + BLOCK, two.data + BLOCK, BLOCK);
    memcpy(one.data + table, two.data + table, 8); /* with its checksum */
    assert_int_equal(read_bytes(&one, 2 * BLOCK, 1, one.size), VIDI_EFORMAT);
    assert_int_equal(map_bytes(&one, false), VIDI_EFORMAT);
    test_stream_free(&one);
    test_stream_free(&two);
}

static void too_few_and_too_many_bytes_are_noticed(void **state)
{
    test_stream stream;
    (void)state;
    write_bytes(&stream, 1000, 1);
    assert_int_equal(read_bytes(&stream, 999, 1, stream.size), VIDI_EFORMAT);
    assert_int_equal(read_bytes(&stream, 1001, 1, stream.size), VIDI_EFORMAT);
    assert_int_equal(read_bytes(&stream, 999, 1, 0), VIDI_EFORMAT);
    assert_int_equal(read_bytes(&stream, 1001, 1, 0), VIDI_EFORMAT);
    assert_int_equal(read_bytes(&stream, 1000, 1, stream.size + 1), VIDI_EFORMAT);
    assert_int_equal(read_bytes(&stream, 1000, 1, stream.size - 1), VIDI_EFORMAT);
    test_stream_free(&stream);
}

/* No bit of any part, and no length, gets through; what opens in a mapping does not pass verification. */
static void no_bit_and_no_length_gets_through(void **state)
{
    test_stream stream;
    (void)state;
    write_bytes(&stream, 300, 1);
    for (size_t bit = 0; bit < 8 * stream.size; bit++) {
        stream.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_equal(read_bytes(&stream, 300, 1, bit & 1 ? stream.size : 0), VIDI_EFORMAT);
        assert_int_equal(map_bytes(&stream, true), VIDI_EFORMAT);
        stream.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    size_t whole = stream.size;
    for (stream.size = 0; stream.size < whole; stream.size++) {
        assert_int_equal(read_bytes(&stream, 300, 1, stream.size), VIDI_EFORMAT);
        assert_int_equal(read_bytes(&stream, 300, 1, 0), VIDI_EFORMAT);
        assert_int_equal(map_bytes(&stream, false), VIDI_EFORMAT);
    }
    test_stream_free(&stream);
}

static void a_mapping_is_aligned(void **state)
{
    test_stream stream;
    vidi__mapped mapped;
    (void)state;
    write_bytes(&stream, 10, 1);
    unsigned char *bytes = aligned_alloc(VIDI__CACHE_LINE, 1024);
    memcpy(bytes + 8, stream.data, stream.size);
    assert_int_equal(vidi__frame_map(&mapped, bytes + 8, stream.size), VIDI_EARGUMENT);
    assert_int_equal(vidi__frame_map(&mapped, NULL, stream.size), VIDI_EARGUMENT);
    free(bytes);
    test_stream_free(&stream);
}

/* Reads the first `size` bytes of a stream, and maps them; both must fail with this message. */
static void must_say(const test_stream *stream, size_t size, const char *message)
{
    test_stream cut = {.data = stream->data, .size = size};
    for (int known = 0; known <= 1; known++) {
        check(read_bytes(&cut, 10, 1, known ? size : 0) == VIDI_EFORMAT, "read %zu bytes", size);
        check(strstr(vidi_message(), message) != NULL, "reading %zu bytes: %s", size, vidi_message());
    }
    check(map_bytes(&cut, false) == VIDI_EFORMAT, "mapped %zu bytes", size);
    check(strstr(vidi_message(), message) != NULL, "mapping %zu bytes: %s", size, vidi_message());
}

static void what_does_not_begin_as_a_set_is_not_called_damaged(void **state)
{
    char text[256];
    test_stream other = {.data = (unsigned char *)text}, stream;
    (void)state;
    memset(text, 'x', sizeof text);
    for (size_t size = 0; size < sizeof text; size++)
        must_say(&other, size, "not a vidi set");
    write_bytes(&stream, 10, 1);
    for (size_t size = 0; size < 8; size++)
        must_say(&stream, size, "not a vidi set");
    for (size_t size = 8; size < stream.size; size++)
        must_say(&stream, size, "damaged: ");
    test_stream_free(&stream);
}

static void other_files_and_versions_are_refused_by_name(void **state)
{
    test_stream stream;
    (void)state;
    write_bytes(&stream, 10, 1);
    stream.data[0] = 'V';
    assert_int_equal(read_bytes(&stream, 10, 1, 0), VIDI_EFORMAT);
    assert_non_null(strstr(vidi_message(), "not a vidi set"));
    stream.data[0] = 'v';
    stream.data[8] = 2; /* planted: what a later vidi may write */
    vidi__store64(stream.data + 56, vidi__frame_sum(0, 0, stream.data, 56));
    assert_int_equal(map_bytes(&stream, false), VIDI_EFORMAT);
    assert_non_null(strstr(vidi_message(), "format version 2;"));
    assert_non_null(strstr(vidi_message(), "knows version 1 alone"));
    stream.data[8] = 1;
    stream.data[40] = 1; /* what is reserved is zero */
    vidi__store64(stream.data + 56, vidi__frame_sum(0, 0, stream.data, 56));
    assert_int_equal(map_bytes(&stream, false), VIDI_EFORMAT);
    test_stream_free(&stream);
}

static void a_failing_sink_or_source_is_an_io_error(void **state)
{
    vidi__memory memory;
    test_stream stream = {.fail_at = 1};
    vidi__frame_writer *writer = malloc(sizeof *writer);
    (void)state;
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    assert_int_equal(vidi__frame_begin(writer, &memory, test_stream_sink, &stream, (vidi__frame_head){0, 0}), VIDI_OK);
    assert_int_equal(vidi__frame_end(writer), VIDI_EIO);
    vidi__frame_writer_free(writer);
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
        cmocka_unit_test(nothing_behind_the_stream_is_taken),
        cmocka_unit_test(the_length_tells_where_the_payload_ends),
        cmocka_unit_test(the_first_damaged_block_is_named),
        cmocka_unit_test(blocks_are_verified_one_by_one),
        cmocka_unit_test(blocks_cannot_change_places),
        cmocka_unit_test(blocks_of_another_stream_do_not_fit),
        cmocka_unit_test(too_few_and_too_many_bytes_are_noticed),
        cmocka_unit_test(no_bit_and_no_length_gets_through),
        cmocka_unit_test(a_mapping_is_aligned),
        cmocka_unit_test(what_does_not_begin_as_a_set_is_not_called_damaged),
        cmocka_unit_test(other_files_and_versions_are_refused_by_name),
        cmocka_unit_test(a_failing_sink_or_source_is_an_io_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
