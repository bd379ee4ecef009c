/*
 * Streams: whole ones come back in pieces of any size; of damaged ones not a single length or bit gets through.
 */
#include <string.h>

#include "support/alloc.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/streams.h"
#include "support/urls.h"
#include "vidi/transfer.h"

static void add_some(vidi_set *set, uint64_t seed, uint64_t n)
{
    enum { PART = 512 };
    test_batch batch;
    uint8_t verdicts[PART];
    test_batch_init(&batch, PART);
    for (uint64_t at = 0; at < n; at += batch.n) {
        test_batch_fill(&batch, test_url, seed, at, n - at < PART ? (size_t)(n - at) : PART);
        assert_int_equal(vidi_add_batch(set, batch.urls, batch.n, verdicts, NULL), VIDI_OK);
    }
    test_batch_free(&batch);
}

static void must_hold(const vidi_set *set, const vidi_set *original, uint64_t seed, uint64_t n)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < 2 * n; i++) {
        vidi_str url = {room, test_url(room, sizeof room, seed, i)};
        assert_int_equal(vidi_has(set, url), vidi_has(original, url));
    }
}

/* A stream of a set of n URLs, in its second epoch, so that there is a history to write. */
static vidi_set *small_set(const test_case *which, test_stream *stream, uint64_t n)
{
    vidi_set *set = test_case_set(which, n, 1, NULL);
    add_some(set, 1, n);
    if (test_case_rotates(which)) {
        assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
        add_some(set, 1, n);
    }
    test_stream_write(stream, set);
    return set;
}

/* Damage is found, whether the length is known or not, and what was allocated meanwhile is in proportion and freed. */
static void must_be_refused(test_stream *stream, uint64_t stream_bytes, const char *what, uint64_t which)
{
    test_allocator allocator;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *set = (vidi_set *)&allocator;
    test_allocator_init(&allocator);
    access.allocator = &allocator.hook;
    int result = test_stream_read(stream, &set, stream_bytes, &access);
    check(result == VIDI_EFORMAT || result == VIDI_EIO, "%s %llu: %d, %s", what, (unsigned long long)which, result,
          result < 0 ? vidi_message() : "accepted");
    assert_null(set);
    if (stream_bytes) {
        check(allocator.peak_bytes <= 64 * stream_bytes + (1 << 20), "%s %llu: %llu bytes for a stream of %llu", what,
              (unsigned long long)which, (unsigned long long)allocator.peak_bytes, (unsigned long long)stream_bytes);
    }
    test_allocator_finish(&allocator);
}

static void no_truncation_gets_through(void **state)
{
    test_stream stream;
    vidi_set *set = small_set(*state, &stream, 12);
    size_t whole = stream.size;
    size_t step = (whole > 20000 ? whole / 10007 : 1) * test_case_stride(*state);
    for (size_t size = 0; size < whole; size += step) {
        stream.size = size;
        must_be_refused(&stream, 0, "length", size);
        must_be_refused(&stream, size, "known length", size);
        must_be_refused(&stream, whole, "promised length", size);
    }
    stream.size = whole;
    must_be_refused(&stream, whole - 1, "too short a promise", whole);
    must_be_refused(&stream, 1, "too short a promise", whole);
    test_stream_free(&stream);
    vidi_close(set);
}

static void no_flipped_bit_gets_through(void **state)
{
    test_stream stream;
    vidi_set *set = small_set(*state, &stream, 12);
    size_t bits = stream.size * 8;
    size_t step = (bits > 80000 ? bits / 40009 : 1) * test_case_stride(*state);
    for (size_t bit = 0; bit < bits; bit += step) {
        stream.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        must_be_refused(&stream, bit & 1 ? stream.size : 0, "bit", bit);
        stream.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    vidi_set *again = NULL;
    assert_int_equal(test_stream_read(&stream, &again, stream.size, NULL), VIDI_OK);
    vidi_close(again);
    test_stream_free(&stream);
    vidi_close(set);
}

/* Two pieces of the same stream, each of them whole, in each other's place. */
static void no_exchanged_bytes_get_through(void **state)
{
    test_stream stream;
    vidi_set *set = small_set(*state, &stream, 40);
    test_random random = {5};
    for (int i = 0; i < 300; i++) {
        size_t length = 1 + test_below(&random, 64);
        size_t a = test_below(&random, stream.size - length);
        size_t b = test_below(&random, stream.size - length);
        unsigned char kept[64], other[64];
        memcpy(kept, stream.data + a, length);
        memcpy(other, stream.data + b, length);
        bool overlap = a < b + length && b < a + length;
        if (overlap || memcmp(kept, other, length) == 0) {
            continue;
        }
        memcpy(stream.data + a, other, length);
        memcpy(stream.data + b, kept, length);
        must_be_refused(&stream, stream.size, "exchange", (uint64_t)i);
        memcpy(stream.data + a, kept, length);
        memcpy(stream.data + b, other, length);
    }
    test_stream_free(&stream);
    vidi_close(set);
}

static void garbage_is_refused(void **state)
{
    unsigned char data[4096];
    test_random random = {6};
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        size_t size = test_below(&random, sizeof data);
        for (size_t j = 0; j < size; j++) {
            data[j] = (unsigned char)(i == 0 ? 0 : i == 1 ? 0xff : test_next(&random));
        }
        test_stream stream = {.data = data, .size = size};
        must_be_refused(&stream, i & 1 ? size : 0, "garbage", i);
    }
}

static void pieces_may_have_any_size(void **state)
{
    static const size_t pieces[] = {1, 2, 7, 63, 4096, 0};
    test_stream stream;
    vidi_set *set = small_set(*state, &stream, 200);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        vidi_set *copy = NULL;
        stream.piece = pieces[i];
        int result = test_stream_read(&stream, &copy, i & 1 ? stream.size : 0, NULL);
        check(result == VIDI_OK, "pieces of %zu: %d, %s", pieces[i], result, vidi_message());
        must_hold(copy, set, 1, 200);
        vidi_close(copy);
    }
    test_stream_free(&stream);
    vidi_close(set);
}

static void pieces_are_64_kilobytes_at_most(void **state)
{
    test_stream stream;
    vidi_set *set = small_set(*state, &stream, test_case_few(*state, test_urls_at_most(1000000) / 10));
    assert_true(stream.largest <= 65536);
    vidi_set *copy = NULL;
    assert_int_equal(test_stream_read(&stream, &copy, stream.size, NULL), VIDI_OK);
    must_hold(copy, set, 1, 2000);
    vidi_close(copy);
    test_stream_free(&stream);
    vidi_close(set);
}

static void a_failing_sink_is_an_error(void **state)
{
    test_stream stream;
    vidi_set *set = small_set(*state, &stream, 12);
    uint64_t calls = stream.calls;
    for (uint64_t n = 1; n <= calls; n++) {
        test_stream broken = {.fail_at = n};
        assert_int_equal(vidi_write(set, test_stream_sink, &broken, 0), VIDI_EIO);
        assert_int_equal(broken.calls, n);
        test_stream_free(&broken);
    }
    test_stream again;
    test_stream_write(&again, set);
    assert_int_equal(again.size, stream.size);
    test_stream_free(&again);
    test_stream_free(&stream);
    vidi_close(set);
}

static void a_failing_source_is_an_error(void **state)
{
    test_stream stream;
    vidi_set *set = small_set(*state, &stream, 12);
    stream.piece = 50;
    for (uint64_t n = 1; n <= stream.size / stream.piece; n++) {
        vidi_set *copy = set;
        stream.fail_at = n;
        assert_int_equal(test_stream_read(&stream, &copy, 0, NULL), VIDI_EIO);
        assert_null(copy);
    }
    test_stream_free(&stream);
    vidi_close(set);
}

/* A source that says it gave more than it was asked for must not be believed. */
static int64_t boasting_source(void *context, void *data, size_t size)
{
    int64_t given = test_stream_source(context, data, size);
    return given > 0 ? (int64_t)size + 1 : given;
}

static void a_boasting_source_is_an_error(void **state)
{
    test_stream stream;
    vidi_set *set = small_set(*state, &stream, 12);
    vidi_set *copy = set;
    stream.at = 0;
    assert_true(vidi_read(&copy, boasting_source, &stream, 0, NULL, NULL) < 0);
    assert_null(copy);
    test_stream_free(&stream);
    vidi_close(set);
}

static void the_history_travels(void **state)
{
    test_stream stream;
    vidi_set *set = small_set(*state, &stream, 100);
    vidi_set *copy = NULL;
    assert_int_equal(test_stream_read(&stream, &copy, 0, NULL), VIDI_OK);
    vidi_stats stats = test_stat(set);
    assert_int_equal(test_stat(copy).epoch, stats.epoch);
    assert_int_equal(test_stat(copy).past_epochs, stats.past_epochs);
    for (uint64_t i = 0; i < stats.past_epochs; i++) {
        vidi_epoch_stats a = {.size = sizeof a}, b = {.size = sizeof b};
        assert_int_equal(vidi_epoch_stat(set, i, &a), VIDI_OK);
        assert_int_equal(vidi_epoch_stat(copy, i, &b), VIDI_OK);
        assert_int_equal(a.epoch, b.epoch);
        assert_int_equal(a.capacity, b.capacity);
        assert_int_equal(a.count, b.count);
        assert_int_equal(a.bytes, b.bytes);
        assert_int_equal(a.answered_new, b.answered_new);
        assert_int_equal(a.answered_seen, b.answered_seen);
        assert_true(a.fp_end == b.fp_end && a.expected_lost == b.expected_lost);
    }
    test_stream_free(&stream);
    vidi_close(set);
    vidi_close(copy);
}

/* A set that was read has the next epoch of the set that was written. */
static void the_next_epoch_is_the_same(void **state)
{
    test_stream stream;
    vidi_set *set = small_set(*state, &stream, 200);
    vidi_set *copy = NULL;
    assert_int_equal(test_stream_read(&stream, &copy, 0, NULL), VIDI_OK);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
        int result = vidi_rotate(copy, NULL);
        check(result == VIDI_OK, "%d: %s", result, vidi_message());
        assert_string_equal(test_stat(set).hash, test_stat(copy).hash);
        assert_int_equal(test_stat(set).capacity, test_stat(copy).capacity);
        add_some(set, 1, 300);
        add_some(copy, 1, 300);
        must_hold(copy, set, 1, 600);
    }
    test_stream_free(&stream);
    vidi_close(set);
    vidi_close(copy);
}

static void a_limit_holds_for_reading(void **state)
{
    test_stream stream;
    test_allocator allocator;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *set = small_set(*state, &stream, 5000);
    vidi_set *copy = set;
    test_allocator_init(&allocator);
    access.allocator = &allocator.hook;
    access.memory_limit = 1000;
    assert_int_equal(test_stream_read(&stream, &copy, stream.size, &access), VIDI_ELIMIT);
    assert_null(copy);
    assert_true(allocator.peak_bytes <= 1000);
    access.memory_limit = 64 << 20;
    assert_int_equal(test_stream_read(&stream, &copy, stream.size, &access), VIDI_OK);
    assert_int_equal(test_stat(copy).memory_limit, 64 << 20);
    vidi_close(copy);
    test_allocator_finish(&allocator);
    test_stream_free(&stream);
    vidi_close(set);
}

static void a_bad_access_is_refused_in_reading(void **state)
{
    test_stream stream;
    vidi_set *set = small_set(*state, &stream, 12);
    for (int i = 0; i < 5; i++) {
        vidi_access access = VIDI_ACCESS_INIT;
        vidi_set *copy = set;
        access.size = i == 0 ? 3 : sizeof access;
        access.flags = i == 1 ? VIDI_READ_ONLY : i == 2 ? 1u << 20 : 0;
        access.sync = i == 3 ? VIDI_SYNC_NEVER + 1 : 0;
        access.invalid = i == 4 ? VIDI_FAIL_INVALID + 1 : 0;
        int result = test_stream_read(&stream, &copy, 0, &access);
        check(result == VIDI_EOPTION || result == VIDI_EARGUMENT, "access %d: %d", i, result);
        assert_null(copy);
    }
    test_stream_free(&stream);
    vidi_close(set);
}

static void the_previous_epoch_is_not_written(void **state)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set = NULL, *copy = NULL;
    test_stream stream;
    vidi_str url = test_str("http://example.org/old");
    (void)state;
    options.flags = VIDI_KEEP_PREVIOUS;
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    assert_int_equal(vidi_add(set, url), VIDI_NEW);
    assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    assert_int_equal(vidi_has_previous(set, url), VIDI_SEEN);
    test_stream_write(&stream, set);
    assert_int_equal(test_stream_read(&stream, &copy, 0, NULL), VIDI_OK);
    assert_int_equal(vidi_has_previous(copy, url), VIDI_ECANNOT);
    assert_int_equal(vidi_add(copy, url), VIDI_NEW);
    assert_int_equal(vidi_rotate(copy, NULL), VIDI_OK);
    assert_int_equal(vidi_has_previous(copy, url), VIDI_SEEN);
    test_stream_free(&stream);
    vidi_close(set);
    vidi_close(copy);
}

static bool is_small_format(const test_case *which)
{
    return !(which->traits & TEST_LIBCRYPTO);
}

/* A source that has more than the set: nothing of it is read, unless the end is asked for. */
static void what_follows_a_stream_is_left_or_refused(void **state)
{
    (void)state;
    for (int length_known = 0; length_known < 2; length_known++)
        for (int more = 0; more < 2; more++)
            for (int to_end = 0; to_end < 2; to_end++) {
                test_stream stream = {0};
                vidi_access access = VIDI_ACCESS_INIT;
                vidi_set *set, *copy;
                assert_int_equal(vidi_create(&set, NULL), VIDI_OK);
                assert_int_equal(vidi_add(set, test_str("http://example.org/")), VIDI_NEW);
                test_stream_write(&stream, set);
                size_t size = stream.size;
                if (more)
                    assert_int_equal(test_stream_sink(&stream, "vidi", 4), 0);
                access.flags = to_end ? VIDI_READ_TO_END : 0;
                int result = test_stream_read(&stream, &copy, length_known ? size : 0, &access);
                assert_int_equal(result, more && to_end ? VIDI_EFORMAT : VIDI_OK);
                assert_true(stream.at == size || (more && to_end && stream.at == size + 1));
                vidi_close(set);
                vidi_close(copy);
                test_stream_free(&stream);
            }
}

int main(int argc, char **argv)
{
    test_add_cases("no truncation gets through", no_truncation_gets_through, is_small_format);
    test_add_cases("no flipped bit gets through", no_flipped_bit_gets_through, is_small_format);
    test_add_cases("no exchanged bytes get through", no_exchanged_bytes_get_through, NULL);
    test_add("garbage is refused", garbage_is_refused, NULL);
    test_add_cases("pieces may have any size", pieces_may_have_any_size, NULL);
    test_add_cases("pieces are 64 kilobytes at most", pieces_are_64_kilobytes_at_most, NULL);
    test_add_cases("a failing sink is an error", a_failing_sink_is_an_error, NULL);
    test_add_cases("a failing source is an error", a_failing_source_is_an_error, NULL);
    test_add_cases("a boasting source is an error", a_boasting_source_is_an_error, NULL);
    test_add_cases("the history travels", the_history_travels, NULL);
    test_add_cases("the next epoch is the same", the_next_epoch_is_the_same, test_case_rotates);
    test_add_cases("a limit holds for reading", a_limit_holds_for_reading, NULL);
    test_add_cases("other options are refused in reading", a_bad_access_is_refused_in_reading, NULL);
    test_add("the previous epoch is not written", the_previous_epoch_is_not_written, NULL);
    test_add("what follows a stream is left or refused", what_follows_a_stream_is_left_or_refused, NULL);
    return test_run("stream", argc, argv);
}
