/*
 * All pieces of a set, one behind the other, are a stream that vidi_read takes, with the same care as any other.
 */
#include <stdlib.h>
#include <string.h>

#include "support/access.h"
#include "support/alloc.h"
#include "support/env.h"
#include "support/folder.h"
#include "support/runner.h"
#include "support/same.h"
#include "support/streams.h"
#include "support/urls.h"

enum { SEED = 11, LEAST = 4096 };

static vidi_set *make_set(const test_case *which, uint64_t n)
{
    test_options made;
    vidi_set *set = NULL;
    test_case_options(&made, which, n, SEED);
    made.options.flags = VIDI_KEEP_PREVIOUS;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    if (test_case_rotates(which)) {
        test_add_urls(set, SEED, 0, 30);
        assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    }
    test_add_urls(set, SEED, 0, n);
    test_add_urls(set, SEED, 0, n / 4);
    return set;
}

/* The pieces of a set in one stream. Returns how many there are. */
static size_t write_pieces(test_stream *stream, const vidi_set *set, size_t most)
{
    uint64_t cursor = 0;
    size_t count = 0;
    *stream = (test_stream){0};
    do {
        assert_int_equal(vidi_piece_write(set, &cursor, most, test_stream_sink, stream), VIDI_OK);
        count++;
    } while (cursor);
    return count;
}

static uint64_t piece_size(const test_stream *stream, size_t at)
{
    uint64_t length = 0;
    assert_int_equal(vidi_piece_size(stream->data + at, stream->size - at, &length), VIDI_OK);
    return length;
}

static void pieces_in_one_stream_are_the_set(void **state)
{
    uint64_t n = test_case_few(*state, 500);
    vidi_set *set = make_set(*state, n), *copy = NULL;
    for (int way = 0; way < 4; way++) {
        test_stream stream;
        write_pieces(&stream, set, way == 3 ? 1 << 22 : LEAST);
        stream.piece = way == 1 ? 1000 : 0;
        int code = test_stream_read(&stream, &copy, way == 0 ? stream.size : 0, NULL);
        check(code == VIDI_OK, "way %d: %s", way, vidi_message());
        assert_int_equal(stream.at, stream.size);
        test_same_contents(set, copy);
        if (way == 0) {
            test_same_numbers(set, copy);
            test_same_answers(set, copy, SEED, 0, 2 * n);
        }
        vidi_close(copy);
        test_stream_free(&stream);
    }
    vidi_close(set);
}

/* A stream can be taken apart without knowing anything else. */
static void each_piece_says_its_length(void **state)
{
    vidi_set *set = make_set(*state, 300), *copy = NULL;
    test_stream stream;
    size_t count = write_pieces(&stream, set, LEAST), found = 0;
    for (size_t at = 0; at < stream.size; at += piece_size(&stream, at), found++) {
        uint64_t length = 0;
        assert_int_equal(vidi_piece_size(stream.data + at, VIDI_PIECE_HEAD, &length), VIDI_OK);
        assert_in_range(length, 1, LEAST);
        assert_int_equal(test_piece_read(&copy, stream.data + at, length, NULL), at + length < stream.size);
    }
    assert_int_equal(found, count);
    test_same_contents(set, copy);
    test_stream_free(&stream);
    vidi_close(copy);
    vidi_close(set);
}

static void what_is_not_a_piece_has_no_length(void **state)
{
    vidi_set *set = make_set(*state, 10);
    test_stream whole, stream;
    uint64_t length = 7;
    test_stream_write(&whole, set);
    write_pieces(&stream, set, LEAST);
    assert_int_equal(vidi_piece_size(whole.data, whole.size, &length), VIDI_EFORMAT);
    assert_int_equal(vidi_piece_size(stream.data, VIDI_PIECE_HEAD - 1, &length), VIDI_EARGUMENT);
    assert_int_equal(vidi_piece_size(NULL, VIDI_PIECE_HEAD, &length), VIDI_EARGUMENT);
    assert_int_equal(vidi_piece_size(stream.data, stream.size, NULL), VIDI_EARGUMENT);
    for (size_t at = 0; at < VIDI_PIECE_HEAD; at++) {
        stream.data[at] ^= 4;
        assert_int_equal(vidi_piece_size(stream.data, stream.size, &length), VIDI_EFORMAT);
        stream.data[at] ^= 4;
    }
    assert_int_equal(length, 7);
    test_stream_free(&stream);
    test_stream_free(&whole);
    vidi_close(set);
}

static void must_be_refused(test_stream *stream, uint64_t known, const vidi_access *access, const char *why)
{
    vidi_set *set = NULL;
    int code = test_stream_read(stream, &set, known, access);
    check(code == VIDI_EFORMAT, "%s: %d, %s", why, code, code < 0 ? vidi_message() : "accepted");
    assert_null(set);
}

/* Pieces in an order of one's own. */
static void put_together(test_stream *to, const test_stream *from, const size_t *order, size_t count)
{
    *to = (test_stream){0};
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        for (size_t skip = order[i]; skip; skip--)
            at += piece_size(from, at);
        assert_int_equal(test_stream_sink(to, from->data + at, piece_size(from, at)), 0);
    }
}

static void streams_that_are_not_all_pieces_in_order_are_refused(void **state)
{
    static const struct {
        const char *why;
        size_t count, order[5];
    } wrong[] = {{"without its end", 2, {0, 1}}, {"without its beginning", 2, {1, 2}},
                 {"swapped", 4, {0, 2, 1, 3}},   {"one left out", 2, {0, 2}},
                 {"one twice", 4, {0, 1, 1, 2}}, {"the first again", 4, {0, 1, 0, 1}}};
    vidi_set *set = make_set(*state, 600);
    test_stream stream, whole;
    assert_true(write_pieces(&stream, set, LEAST) > 3);
    test_stream_write(&whole, set);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        test_stream forged;
        put_together(&forged, &stream, wrong[i].order, wrong[i].count);
        must_be_refused(&forged, forged.size, NULL, wrong[i].why);
        must_be_refused(&forged, 0, NULL, wrong[i].why);
        test_stream_free(&forged);
    }
    test_stream mixed;
    put_together(&mixed, &stream, (size_t[]){0, 1}, 2);
    assert_int_equal(test_stream_sink(&mixed, whole.data, whole.size), 0);
    must_be_refused(&mixed, 0, NULL, "a whole set instead of a piece");
    test_stream_free(&mixed);
    test_stream_free(&stream);
    test_stream_free(&whole);
    vidi_close(set);
}

static void nothing_may_follow_where_the_end_is_known(void **state)
{
    vidi_set *set = make_set(*state, 100), *copy = NULL;
    vidi_access access = VIDI_ACCESS_INIT;
    test_stream stream;
    access.flags = VIDI_READ_TO_END;
    write_pieces(&stream, set, LEAST);
    size_t whole = stream.size;
    assert_int_equal(test_stream_read(&stream, &copy, 0, &access), VIDI_OK);
    vidi_close(copy);
    assert_int_equal(test_stream_sink(&stream, "more", 4), 0);
    assert_int_equal(test_stream_read(&stream, &copy, 0, NULL), VIDI_OK);
    assert_int_equal(stream.at, whole); /* the rest belongs to somebody else */
    vidi_close(copy);
    must_be_refused(&stream, 0, &access, "bytes behind the end");
    must_be_refused(&stream, stream.size, NULL, "a length beyond the end");
    must_be_refused(&stream, whole - 1, NULL, "a length before the end");
    test_stream_free(&stream);
    vidi_close(set);
}

static void no_damage_gets_through(void **state)
{
    vidi_set *set = make_set(*state, 20);
    test_stream stream;
    size_t stride = test_case_stride(*state) * (test_long() ? 1 : 97);
    write_pieces(&stream, set, LEAST);
    for (size_t at = 0, whole = stream.size; at < whole; at += stride) {
        stream.data[at] ^= (unsigned char)(1 << at % 8);
        must_be_refused(&stream, at % 2 ? whole : 0, NULL, "a bit flipped");
        stream.data[at] ^= (unsigned char)(1 << at % 8);
        stream.size = at;
        must_be_refused(&stream, at % 2 ? at : 0, NULL, "cut off");
        stream.size = whole;
    }
    test_stream_free(&stream);
    vidi_close(set);
}

static void errors_of_source_and_allocator_come_through(void **state)
{
    vidi_set *set = make_set(*state, 300), *copy = NULL;
    vidi_access access = VIDI_ACCESS_INIT;
    test_allocator allocator;
    test_stream stream;
    test_allocator_init(&allocator);
    access.allocator = &allocator.hook;
    write_pieces(&stream, set, LEAST);
    stream.calls = 0;
    stream.fail_at = 4;
    assert_int_equal(test_stream_read(&stream, &copy, 0, &access), VIDI_EIO);
    stream.fail_at = 0;
    for (uint64_t i = 1;; i++) {
        test_allocator_fail(&allocator, i, false);
        int code = test_stream_read(&stream, &copy, i % 2 ? 0 : stream.size, &access);
        if (code == VIDI_OK)
            break;
        check(code == VIDI_EMEMORY, "allocation %d: %d, %s", (int)i, code, vidi_message());
        assert_null(copy);
    }
    test_allocator_fail(&allocator, 0, false);
    test_same_contents(set, copy);
    vidi_close(copy);
    test_allocator_finish(&allocator);
    test_stream_free(&stream);
    vidi_close(set);
}

static void the_set_may_live_in_a_folder(void **state)
{
    char folder[TEST_PATH], path[TEST_PATH];
    vidi_set *set = make_set(*state, 200), *copy = NULL;
    test_stream stream;
    test_folder_new(folder, false);
    test_path(path, folder, "set");
    write_pieces(&stream, set, LEAST);
    assert_int_equal(vidi_read(&copy, test_stream_source, &stream, 0, path, NULL), VIDI_OK);
    vidi_close(copy);
    assert_int_equal(test_open(&copy, path, 0), VIDI_OK);
    test_same_contents(set, copy);
    test_same_answers(set, copy, SEED, 0, 400);
    vidi_close(copy);
    test_stream_free(&stream);
    vidi_close(set);
    test_folder_remove(folder);
}

static bool is_plain(const test_case *which)
{
    return !which->params && which->error == 0;
}

static bool is_default(const test_case *which)
{
    return is_plain(which) && strcmp(which->kind, "fingerprint") == 0;
}

int main(int argc, char **argv)
{
    test_add_cases("pieces in one stream are the set", pieces_in_one_stream_are_the_set, NULL);
    test_add_cases("each piece says its length", each_piece_says_its_length, is_plain);
    test_add_cases("what is not a piece has no length", what_is_not_a_piece_has_no_length, is_default);
    test_add_cases("streams that are not all pieces in order are refused",
                   streams_that_are_not_all_pieces_in_order_are_refused, is_default);
    test_add_cases("nothing may follow where the end is known", nothing_may_follow_where_the_end_is_known, is_plain);
    test_add_cases("no damage gets through", no_damage_gets_through, is_plain);
    test_add_cases("errors of source and allocator come through", errors_of_source_and_allocator_come_through,
                   is_default);
    test_add_cases("the set may live in a folder", the_set_may_live_in_a_folder, is_plain);
    return test_run("pieces stream", argc, argv);
}
