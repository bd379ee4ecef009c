/*
 * Streams and pieces that somebody has changed, with correct checksums: whatever they say, reading them takes no more
 * than three times the bytes that were given, and 1 MiB. Every kind is tried, thousands of times.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "frame/frame.h"
#include "support/access.h"
#include "support/alloc.h"
#include "support/env.h"
#include "support/forge.h"
#include "support/random.h"
#include "support/reseal.h"
#include "support/runner.h"
#include "support/same.h"
#include "support/streams.h"
#include "support/urls.h"

enum { SEED = 17, HEAD = 64, MOST = 1 << 14 };

static vidi_set *make_set(const test_case *which)
{
    test_options made;
    vidi_set *set = NULL;
    test_case_options(&made, which, 100, SEED);
    made.options.flags = VIDI_KEEP_PREVIOUS;
    made.access.flags |= VIDI_TOUCH_LATER;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    if (test_case_rotates(which)) {
        test_add_urls(set, SEED, 0, 5);
        assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    }
    test_add_urls(set, SEED, 0, 60);
    return set;
}

static uint64_t odd_number(test_random *random, uint64_t old)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       UINT64_MAX,
                                       UINT64_C(1) << 63,
                                       UINT64_C(1) << 62,
                                       UINT64_C(1000000000000000000),
                                       UINT64_C(1) << 40,
                                       UINT64_C(1) << 32,
                                       100000000,
                                       1 << 20};
    uint64_t which = test_below(random, sizeof numbers / sizeof *numbers + 4);
    if (which < sizeof numbers / sizeof *numbers)
        return numbers[which];
    return which % 4 == 0 ? old + 1 : which % 4 == 1 ? old - 1 : which % 4 == 2 ? 2 * old : test_next(random);
}

/* Damages the payload in one to three places: a bit, a byte of a text, or a number at any address. */
static void damage(test_stream *stream, test_random *random)
{
    size_t table = 8 * ((stream->size + 65543) / 65544), end = stream->size - 32 - table;
    for (uint64_t times = 1 + test_below(random, 3); times; times--) {
        unsigned char *at = stream->data + HEAD + test_below(random, end - HEAD - 7);
        switch (test_below(random, 4)) {
        case 0:
            at[0] ^= (unsigned char)(1 << test_below(random, 8));
            break;
        case 1: /* digits of parameters become others */
            at[0] = (unsigned char)('0' + test_below(random, 10));
            break;
        default:
            at = stream->data + HEAD + (size_t)(at - stream->data - HEAD) / 8 * 8 + test_below(random, 8) % 3;
            at = at > stream->data + end - 8 ? stream->data + end - 8 : at;
            vidi__store64(at, odd_number(random, vidi__load64(at)));
        }
    }
    test_reseal(stream->data, stream->size);
}

static test_stream copy_of(const test_stream *stream)
{
    test_stream copy = {0};
    assert_int_equal(test_stream_sink(&copy, stream->data, stream->size), 0);
    return copy;
}

static void must_be_modest(const test_allocator *watch, uint64_t given, int code)
{
    uint64_t most = 3 * given + (1 << 20);
    check(watch->peak_bytes <= most, "%llu bytes for %llu given: %d, %s", (unsigned long long)watch->peak_bytes,
          (unsigned long long)given, code, code < 0 ? vidi_message() : "accepted");
}

static uint64_t trials(void)
{
    return test_long() ? 3000 : test_sanitized() ? 20 : 150;
}

static void read_damaged(const test_stream *stream, uint32_t flags, uint64_t limit)
{
    test_allocator watch;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *set = NULL;
    test_stream copy = *stream;
    test_allocator_init(&watch);
    access.allocator = &watch.hook;
    access.flags = flags;
    access.memory_limit = limit;
    int code = test_stream_read(&copy, &set, copy.size, &access);
    must_be_modest(&watch, copy.size, code);
    vidi_close(set);
    test_allocator_finish(&watch);
}

static void a_stream_takes_no_more_than_it_brings(void **state)
{
    vidi_set *set = make_set(*state);
    test_random random = {21};
    test_stream whole = {0};
    assert_int_equal(vidi_write(set, test_stream_sink, &whole, VIDI_WRITE_PREVIOUS), VIDI_OK);
    for (uint64_t i = 0; i < trials(); i++) {
        test_stream stream = copy_of(&whole);
        damage(&stream, &random);
        read_damaged(&stream, i % 2 ? VIDI_TOUCH_LATER : 0, i % 3 ? 0 : UINT64_C(1) << 40);
        test_stream_free(&stream);
    }
    test_stream_free(&whole);
    vidi_close(set);
}

/* Even the list of the pieces of an array is not made before the array is known to be there. */
static void an_array_that_is_not_there_takes_nothing(void **state)
{
    static const char *const kinds[] = {"classic", "counting", "multilayer"};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        test_case which = {.kind = kinds[i], .capacity = 1, .error = 0.01};
        vidi_set *set = make_set(&which);
        test_forge forge;
        test_stream stream;
        test_forge_take(&forge, set);
        test_forge_param(&forge, test_forge_find(&forge).filter.kind, "m", "9000000000000");
        test_forge_seal(&forge, &stream);
        read_damaged(&stream, VIDI_TOUCH_LATER, UINT64_C(1) << 50);
        test_stream_free(&stream);
        test_forge_free(&forge);
        vidi_close(set);
    }
}

/* The pieces of a set, all of which are taken but for the damaged one, which may be. */
static void read_pieces(const test_stream *pieces, size_t count, size_t damaged, test_random *random)
{
    test_allocator watch;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *set = NULL;
    uint64_t given = 0;
    int code = 1;
    test_allocator_init(&watch);
    access.allocator = &watch.hook;
    access.flags = VIDI_TOUCH_LATER;
    for (size_t i = 0; i < count && code > 0; i++) {
        test_stream piece = copy_of(&pieces[i]);
        if (i == damaged)
            damage(&piece, random);
        given += piece.size;
        code = test_piece_read(&set, piece.data, piece.size, &access);
        must_be_modest(&watch, given, code);
        test_stream_free(&piece);
    }
    vidi_close(set);
    test_allocator_finish(&watch);
}

static void pieces_take_no_more_than_they_bring(void **state)
{
    enum { PIECES = 64 };
    vidi_set *set = make_set(*state);
    test_random random = {22};
    test_stream pieces[PIECES] = {{0}};
    uint64_t cursor = 0;
    size_t count = 0;
    do {
        assert_true(count < PIECES);
        assert_int_equal(vidi_piece_write(set, &cursor, MOST, test_stream_sink, &pieces[count++]), VIDI_OK);
    } while (cursor);
    for (uint64_t i = 0; i < trials(); i++)
        read_pieces(pieces, count, (size_t)(i % 2 ? 0 : test_below(&random, count)), &random);
    for (size_t i = 0; i < count; i++)
        test_stream_free(&pieces[i]);
    vidi_close(set);
}

/* A piece in a stream that says a wrong length, in a head whose checksum is right. */
static void a_false_length_of_a_piece_takes_nothing(void **state)
{
    static const uint64_t lengths[] = {0, 63, 64, 103, 1 << 20, UINT64_C(1) << 40, UINT64_MAX};
    test_case which = {.kind = "classic", .capacity = 1, .error = 0.01};
    vidi_set *set = make_set(&which);
    (void)state;
    for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
        test_stream stream = {0};
        test_allocator watch;
        vidi_access access = VIDI_ACCESS_INIT;
        vidi_set *read = NULL;
        uint64_t cursor = 0;
        do
            assert_int_equal(vidi_piece_write(set, &cursor, MOST, test_stream_sink, &stream), VIDI_OK);
        while (cursor);
        vidi__store64(stream.data + 24, lengths[i / 2]);
        vidi__store64(stream.data + 56, vidi__frame_sum(0, 0, stream.data, 56));
        test_allocator_init(&watch);
        access.allocator = &watch.hook;
        int code = test_stream_read(&stream, &read, i % 2 ? stream.size : 0, &access);
        check(code == VIDI_EFORMAT, "%d", code);
        must_be_modest(&watch, stream.size, code);
        test_allocator_finish(&watch);
        test_stream_free(&stream);
    }
    vidi_close(set);
}

int main(int argc, char **argv)
{
    test_add_cases("a stream takes no more than it brings", a_stream_takes_no_more_than_it_brings, NULL);
    test_add("an array that is not there takes nothing", an_array_that_is_not_there_takes_nothing, NULL);
    test_add_cases("pieces take no more than they bring", pieces_take_no_more_than_they_bring, NULL);
    test_add("a false length of a piece takes nothing", a_false_length_of_a_piece_takes_nothing, NULL);
    return test_run("untrusted", argc, argv);
}
