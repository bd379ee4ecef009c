/*
 * vidi_read with a path: the set lives in that folder from then on, and nothing is made of what is damaged.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/access.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/streams.h"

static char folder[TEST_PATH], path[TEST_PATH];

static int set_up(void **state)
{
    (void)state;
    test_folder_new(folder, false);
    test_path(path, folder, "set");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static vidi_str url(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

/* A set with one URL, in its second epoch, as a stream. */
static void write_one(test_stream *stream)
{
    vidi_set *set;
    assert_int_equal(vidi_create(&set, NULL), VIDI_OK);
    assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    assert_int_equal(vidi_add(set, url("http://a/")), VIDI_NEW);
    test_stream_write(stream, set);
    vidi_close(set);
}

static int read_to_path(test_stream *stream, vidi_set **set, uint64_t bytes)
{
    stream->at = 0;
    stream->calls = 0;
    return vidi_read(set, test_stream_source, stream, bytes, path, NULL);
}

static bool is_there(void)
{
    struct stat about;
    return stat(path, &about) == 0;
}

static void what_is_added_after_reading_is_found_again(void **state)
{
    test_stream stream;
    vidi_set *set;
    vidi_stats stats = {.size = sizeof stats};
    (void)state;
    write_one(&stream);
    assert_int_equal(read_to_path(&stream, &set, stream.size), VIDI_OK);
    assert_int_equal(vidi_add(set, url("http://a/")), VIDI_SEEN);
    assert_int_equal(vidi_add(set, url("http://b/")), VIDI_NEW);
    vidi_close(set);
    assert_int_equal(vidi_open(&set, path, NULL), VIDI_OK);
    assert_int_equal(vidi_has(set, url("http://a/")), VIDI_SEEN);
    assert_int_equal(vidi_has(set, url("http://b/")), VIDI_SEEN);
    assert_int_equal(vidi_has(set, url("http://c/")), VIDI_NEW);
    assert_int_equal(vidi_stat(set, &stats), VIDI_OK);
    assert_int_equal(stats.epoch, 1);
    assert_int_equal(stats.past_epochs, 1);
    vidi_close(set);
    test_stream_free(&stream);
}

static void nothing_is_made_of_damage(void **state)
{
    test_stream stream;
    vidi_set *set;
    (void)state;
    write_one(&stream);
    size_t whole = stream.size;
    for (size_t size = 0; size < whole; size += 7) {
        stream.size = size;
        assert_true(read_to_path(&stream, &set, 0) < 0);
        assert_null(set);
        assert_false(is_there());
    }
    stream.size = whole;
    for (size_t at = 0; at < whole; at += 7) {
        stream.data[at] ^= 1;
        assert_int_equal(read_to_path(&stream, &set, whole), VIDI_EFORMAT);
        assert_false(is_there());
        stream.data[at] ^= 1;
    }
    stream.fail_at = 2;
    stream.piece = 10;
    assert_int_equal(read_to_path(&stream, &set, whole), VIDI_EIO);
    assert_false(is_there());
    test_stream_free(&stream);
}

static void a_set_that_is_there_stays(void **state)
{
    test_stream stream;
    vidi_set *set, *other;
    vidi_options options = VIDI_OPTIONS_INIT;
    (void)state;
    options.path = path;
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    assert_int_equal(vidi_add(set, url("http://mine/")), VIDI_NEW);
    write_one(&stream);
    assert_int_equal(read_to_path(&stream, &other, stream.size), VIDI_EEXIST);
    assert_null(other);
    vidi_close(set);
    assert_int_equal(read_to_path(&stream, &other, stream.size), VIDI_EEXIST);
    assert_non_null(strstr(vidi_message(), path));
    assert_null(other);
    assert_int_equal(test_open(&set, path, VIDI_READ_ONLY), VIDI_OK);
    assert_int_equal(vidi_has(set, url("http://mine/")), VIDI_SEEN);
    assert_int_equal(vidi_has(set, url("http://a/")), VIDI_NEW);
    vidi_close(set);
    test_stream_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_added_after_reading_is_found_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_made_of_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_set_that_is_there_stays, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("reading into a folder", tests, NULL, NULL);
}
