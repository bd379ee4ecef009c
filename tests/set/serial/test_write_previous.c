/*
 * Streams with the previous epoch (VIDI_WRITE_PREVIOUS): both epochs come back, also into a folder, and streams without
 * it stay what they were.
 */
#include <string.h>

#include "set/set.h"
#include "support/access.h"
#include "support/folder.h"
#include "support/runner.h"
#include "support/same.h"
#include "support/streams.h"
#include "support/urls.h"

enum { SEED = 6, URLS = 120, HEAD = 64, FOOT = 32, VERSION = 8 };

/* In its third epoch: 0 to n were in the second, n/2 on are in the third. */
static vidi_set *make_set(const test_case *which, const char *path)
{
    test_options made;
    vidi_set *set = NULL;
    test_case_options(&made, which, URLS, SEED);
    made.options.path = path;
    made.options.flags = VIDI_KEEP_PREVIOUS;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    test_add_urls(set, SEED, 0, 3);
    assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    test_add_urls(set, SEED, 0, URLS);
    assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    test_add_urls(set, SEED, URLS / 2, URLS);
    return set;
}

static void write_with(test_stream *stream, const vidi_set *set, unsigned flags)
{
    *stream = (test_stream){0};
    int result = vidi_write(set, test_stream_sink, stream, flags);
    check(result == VIDI_OK, "%d: %s", result, vidi_message());
}

static void same_previous(const vidi_set *a, const vidi_set *b)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < 2 * URLS; i++) {
        vidi_str url = {room, test_url(room, sizeof room, SEED, i)};
        int answer = vidi_has_previous(a, url);
        assert_true(answer > 0);
        assert_int_equal(vidi_has_previous(b, url), answer);
        assert_true(i >= URLS || answer == VIDI_SEEN);
    }
}

static void both_epochs_come_back(void **state)
{
    test_stream stream;
    vidi_set *set = make_set(*state, NULL), *copy = NULL;
    write_with(&stream, set, VIDI_WRITE_PREVIOUS);
    assert_int_equal(stream.data[VERSION], 1);
    for (int known = 0; known < 2; known++) {
        int result = test_stream_read(&stream, &copy, known ? stream.size : 0, NULL);
        check(result == VIDI_OK, "%d: %s", result, vidi_message());
        if (!known) /* the answers below are counted */
            test_same_numbers(set, copy);
        same_previous(set, copy);
        test_same_answers(set, copy, SEED, 0, 2 * URLS);
        vidi_close(copy);
    }
    test_stream_free(&stream);
    vidi_close(set);
}

/* Of another kind, and with another hash. */
static void a_previous_epoch_of_another_kind_comes_back(void **state)
{
    vidi_options options = VIDI_OPTIONS_INIT, next = VIDI_OPTIONS_INIT;
    vidi_set *set = NULL, *copy = NULL;
    test_stream stream;
    (void)state;
    options.kind = "classic";
    options.params = "hash=xxh3";
    options.capacity = URLS;
    options.flags = next.flags = VIDI_KEEP_PREVIOUS;
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    test_add_urls(set, SEED, 0, URLS);
    next.kind = "eigen";
    assert_int_equal(vidi_rotate(set, &next), VIDI_OK);
    test_add_urls(set, SEED, URLS / 2, URLS);
    write_with(&stream, set, VIDI_WRITE_PREVIOUS);
    assert_int_equal(test_stream_read(&stream, &copy, 0, NULL), VIDI_OK);
    same_previous(set, copy);
    vidi_close(copy);
    assert_int_equal(vidi_copy(&copy, set, NULL), VIDI_OK);
    same_previous(set, copy);
    vidi_close(copy);
    test_stream_free(&stream);
    vidi_close(set);
}

static size_t payload_of(const test_stream *stream)
{
    uint64_t payload, blocks;
    assert_int_equal(vidi__frame_shape(stream->size, &payload, &blocks), VIDI_OK);
    return (size_t)payload;
}

/* Streams differ in their random generation, and so in their checksums, but not in the payload. */
static void same_payload(const test_stream *a, const test_stream *b)
{
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->data[VERSION], b->data[VERSION]);
    assert_memory_equal(a->data + HEAD, b->data + HEAD, payload_of(a));
}

static void other_streams_stay_as_they_were(void **state)
{
    test_stream plain, without, none;
    vidi_set *set = make_set(*state, NULL);
    test_stream_write(&plain, set);
    write_with(&without, set, 0);
    same_payload(&plain, &without);
    assert_int_equal(plain.data[VERSION], 1);
    assert_int_equal(vidi_drop_previous(set), VIDI_OK);
    write_with(&none, set, VIDI_WRITE_PREVIOUS);
    same_payload(&plain, &none);
    test_stream_free(&plain);
    test_stream_free(&without);
    test_stream_free(&none);
    vidi_close(set);
}

static void no_damage_gets_through(void **state)
{
    const test_case *which = *state;
    test_stream stream;
    vidi_set *set = make_set(which, NULL);
    write_with(&stream, set, VIDI_WRITE_PREVIOUS);
    size_t whole = stream.size;
    for (size_t at = 0; at < whole; at += whole / 300 + 1) {
        vidi_set *copy = set;
        stream.data[at] ^= 16;
        assert_int_equal(test_stream_read(&stream, &copy, at & 1 ? whole : 0, NULL), VIDI_EFORMAT);
        assert_null(copy);
        stream.data[at] ^= 16;
        stream.size = at;
        copy = set;
        assert_int_equal(test_stream_read(&stream, &copy, 0, NULL), VIDI_EFORMAT);
        assert_null(copy);
        stream.size = whole;
    }
    test_stream_free(&stream);
    vidi_close(set);
}

static void it_cannot_be_mapped(void **state)
{
    static const test_case which = {"fingerprint", NULL, 0, 0, 0};
    static _Alignas(64) unsigned char bytes[1 << 18];
    test_stream stream;
    vidi_set *set = make_set(&which, NULL), *mapped = set;
    (void)state;
    write_with(&stream, set, VIDI_WRITE_PREVIOUS);
    assert_true(stream.size <= sizeof bytes);
    memcpy(bytes, stream.data, stream.size);
    assert_int_equal(vidi__set_map(&mapped, bytes, stream.size, NULL), VIDI_EFORMAT);
    assert_null(mapped);
    assert_int_equal(vidi_write(set, test_stream_sink, &stream, 2), VIDI_EARGUMENT);
    assert_int_equal(vidi_write(NULL, test_stream_sink, &stream, 0), VIDI_EARGUMENT);
    assert_int_equal(vidi_write(set, NULL, &stream, 0), VIDI_EARGUMENT);
    test_stream_free(&stream);
    vidi_close(set);
}

/* From a set in a folder to a stream, and from there into another folder, which is then opened in every way. */
static void folders_give_and_take_it(void **state)
{
    static const unsigned ways[] = {0, VIDI_READ_ONLY, VIDI_READ_ONLY | VIDI_NO_MAP};
    char folder[TEST_PATH], from[TEST_PATH], to[TEST_PATH];
    test_folder_new(folder, false);
    test_path(from, folder, "from");
    test_path(to, folder, "to");
    vidi_set *plain = make_set(*state, NULL);
    vidi_close(make_set(*state, from));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        test_stream stream = {0};
        vidi_set *set = NULL, *copy = NULL;
        assert_int_equal(test_open(&set, from, ways[i]), VIDI_OK);
        int result = vidi_write(set, test_stream_sink, &stream, VIDI_WRITE_PREVIOUS);
        if (ways[i] == VIDI_READ_ONLY && result == VIDI_ECANNOT) { /* its log is not in the file that is mapped */
            vidi_close(set);
            test_stream_free(&stream);
            continue;
        }
        check(result == VIDI_OK, "way %zu: %d, %s", i, result, vidi_message());
        assert_int_equal(vidi_read(&copy, test_stream_source, &stream, stream.size, to, NULL), VIDI_OK);
        same_previous(plain, copy);
        test_add_urls(copy, SEED, 3 * URLS, 10);
        vidi_close(copy);
        for (size_t j = 0; j < sizeof ways / sizeof *ways; j++) {
            assert_int_equal(test_open(&copy, to, ways[j]), VIDI_OK);
            same_previous(plain, copy);
            test_holds_all(copy, plain, SEED, 0, 2 * URLS);
            assert_int_equal(test_stat(copy).epoch, 2);
            assert_int_equal(test_stat(copy).past_epochs, 2);
            vidi_close(copy);
        }
        vidi_close(set);
        test_stream_free(&stream);
        test_folder_remove(to);
    }
    vidi_close(plain);
    test_folder_remove(folder);
}

static bool is_plain(const test_case *which)
{
    return !which->params && which->error == 0;
}

int main(int argc, char **argv)
{
    test_add_cases("both epochs come back", both_epochs_come_back, test_case_rotates);
    test_add("a previous epoch of another kind comes back", a_previous_epoch_of_another_kind_comes_back, NULL);
    test_add_cases("other streams stay as they were", other_streams_stay_as_they_were, is_plain);
    test_add_cases("no damage gets through", no_damage_gets_through, is_plain);
    test_add("it cannot be mapped", it_cannot_be_mapped, NULL);
    test_add_cases("folders give and take it", folders_give_and_take_it, is_plain);
    return test_run("previous epoch in streams", argc, argv);
}
