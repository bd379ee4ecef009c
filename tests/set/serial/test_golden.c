/*
 * The golden files of tests/data/golden: what was written once is read for ever, as a copy and as a mapping, and what is
 * written now has the same bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cases.h"
#include "support/check.h"
#include "support/golden.h"
#include "support/maps.h"
#include "support/runner.h"

static const char *golden_folder(void)
{
    static char folder[4000];
    const char *source = getenv("VIDI_SOURCE");
    snprintf(folder, sizeof folder, "%s/tests/data/golden", source ? source : ".");
    return folder;
}

static test_stream file_at(const char *path, size_t most)
{
    test_stream stream = {0};
    static unsigned char data[65536];
    FILE *file = fopen(path, "rb");
    check(file != NULL, "%s cannot be opened", path);
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    check(size > 0 && size <= most, "%s has %zu bytes", path, size);
    assert_int_equal(test_stream_sink(&stream, data, size), 0);
    return stream;
}

static test_stream golden_file(const char *name)
{
    char path[4096];
    test_golden_path(path, sizeof path, golden_folder(), name);
    return file_at(path, strcmp(name, "blocked") == 0 ? 40960 : 8192); /* the least layer of blocked has 500 lines */
}

/* The first URLs and, of these small sets, none of the next. */
static void must_hold(const vidi_set *set, const vidi_set *made, unsigned urls)
{
    char room[GOLDEN_ROOM];
    for (unsigned i = 0; i < urls + 92; i++) {
        vidi_str url = test_golden_url(room, i);
        uint64_t times = 0, right = 0;
        int verdict = vidi_has(set, url);
        assert_int_equal(verdict, vidi_has(made, url));
        if (i < urls)
            assert_int_equal(verdict, VIDI_SEEN);
        assert_int_equal(vidi_count(set, url, &times), vidi_count(made, url, &right));
        assert_int_equal(times, right);
    }
}

static void must_have_statistics(const vidi_set *set, const vidi_set *made, unsigned urls)
{
    vidi_stats stats = test_stat(set), right = test_stat(made);
    assert_int_equal(stats.count, right.count);
    assert_in_range(stats.count, urls - 1, urls); /* a small filter may have taken one for another */
    assert_int_equal(stats.epoch, 1);
    assert_int_equal(stats.past_epochs, 1);
    assert_int_equal(stats.answered_new + stats.answered_seen, urls + 3);
    assert_string_equal(stats.params, right.params);
    assert_true(stats.fp_now == right.fp_now);
    assert_true(stats.expected_lost == right.expected_lost);
}

static void a_copy_is_as_it_was(void **state)
{
    test_stream stream = golden_file(*state);
    vidi_set *made = test_golden_set(*state), *set = NULL;
    int code = test_stream_read(&stream, &set, stream.size, NULL);
    check(code == VIDI_OK, "%d: %s", code, vidi_message());
    must_hold(set, made, test_golden_urls(*state));
    must_have_statistics(set, made, test_golden_urls(*state));
    assert_true(test_stat(set).fill == test_stat(made).fill);
    vidi_close(set);
    vidi_close(made);
    test_stream_free(&stream);
}

static void a_mapping_is_as_it_was(void **state)
{
    test_map map;
    test_stream stream = golden_file(*state);
    vidi_set *made = test_golden_set(*state);
    test_map_make(&map, stream.data, stream.size);
    vidi_set *set = test_map_set(&map);
    must_hold(set, made, test_golden_urls(*state));
    must_have_statistics(set, made, test_golden_urls(*state));
    assert_true(test_stat(set).fill == test_stat(made).fill);
    int code = vidi__set_verify(set);
    check(code == VIDI_OK, "%d: %s", code, vidi_message());
    vidi_close(set);
    vidi_close(made);
    test_map_free(&map);
    test_stream_free(&stream);
}

static void the_same_bytes_are_written_today(void **state)
{
    test_stream stream = golden_file(*state), now;
    vidi_set *made = test_golden_set(*state);
    assert_non_null(made);
    assert_int_equal(test_golden_write(&now, made, *state), VIDI_OK);
    assert_int_equal(now.size, stream.size);
    assert_memory_equal(now.data, stream.data, stream.size);
    vidi_close(made);
    test_stream_free(&now);
    test_stream_free(&stream);
}

/* Large tables have 64 partitions. This one is small, so that its file is; it is written again with the same bytes. */
static void a_table_in_partitions_stays_as_it_is(void **state)
{
    char path[4096];
    test_map map;
    test_stream now;
    vidi_set *made = test_golden_set("fingerprint"), *set = NULL;
    (void)state;
    snprintf(path, sizeof path, "%s/v1-fingerprint-divided.vidi", golden_folder());
    test_stream stream = file_at(path, 4096);
    test_map_make(&map, stream.data, stream.size);
    assert_int_equal(test_stream_read(&stream, &set, stream.size, NULL), VIDI_OK);
    vidi_set *mapped = test_map_set(&map);
    assert_int_equal(test_golden_write(&now, set, "fingerprint"), VIDI_OK);
    assert_int_equal(now.size, stream.size);
    assert_memory_equal(now.data, stream.data, stream.size);
    must_hold(set, made, 8);
    must_hold(mapped, made, 8);
    must_have_statistics(set, made, 8);
    must_have_statistics(mapped, made, 8);
    assert_int_equal(vidi__set_verify(mapped), VIDI_OK);
    assert_int_equal(vidi_merge(made, mapped, 0), VIDI_OK);
    assert_int_equal(test_stat(made).count, 8);
    vidi_close(set);
    vidi_close(mapped);
    vidi_close(made);
    test_stream_free(&now);
    test_map_free(&map);
    test_stream_free(&stream);
}

static void the_previous_epoch_is_as_it_was(void **state)
{
    char room[GOLDEN_ROOM];
    test_stream stream = golden_file(*state);
    vidi_set *set = NULL;
    assert_int_equal(test_stream_read(&stream, &set, stream.size, NULL), VIDI_OK);
    assert_int_equal(vidi_has_previous(set, test_golden_url(room, 0)), VIDI_SEEN);
    for (unsigned i = 1; i < 8; i++)
        assert_int_equal(vidi_has_previous(set, test_golden_url(room, i)), VIDI_NEW);
    vidi_close(set);
    test_stream_free(&stream);
}

static void every_kind_has_a_file(void **state)
{
    vidi_kind_info info = {.size = sizeof info};
    (void)state;
    for (size_t i = 0; vidi_kind(i, &info) == VIDI_OK; i++) {
        char pieces[64];
        test_stream stream = golden_file(info.name);
        test_stream_free(&stream);
        snprintf(pieces, sizeof pieces, "%s-pieces", info.name);
        stream = golden_file(pieces);
        test_stream_free(&stream);
    }
}

int main(int argc, char **argv)
{
    test_add("every kind has a file", every_kind_has_a_file, NULL);
    test_add("a table in partitions stays as it is", a_table_in_partitions_stays_as_it_is, NULL);
    for (size_t i = 0; test_golden_name(i); i++) {
        char promise[100];
        const char *kind = test_golden_name(i);
        snprintf(promise, sizeof promise, "a copy is as it was: %s", kind);
        test_add(promise, a_copy_is_as_it_was, kind);
        snprintf(promise, sizeof promise, "a mapping is as it was: %s", kind);
        if (test_golden_can_be_mapped(kind))
            test_add(promise, a_mapping_is_as_it_was, kind);
        snprintf(promise, sizeof promise, "the previous epoch is as it was: %s", kind);
        if (test_golden_keeps_previous(kind))
            test_add(promise, the_previous_epoch_is_as_it_was, kind);
        snprintf(promise, sizeof promise, "the same bytes are written today: %s", kind);
        test_add(promise, the_same_bytes_are_written_today, kind);
    }
    return test_run("golden", argc, argv);
}
