/*
 * The golden files of tests/data/golden: what was written as version 1 is read for ever, as a copy and as a mapping,
 * and what is written now has the same bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cases.h"
#include "support/check.h"
#include "support/golden.h"
#include "support/maps.h"
#include "support/runner.h"

static test_stream golden_file(const char *kind)
{
    char path[4096], folder[4000];
    const char *source = getenv("VIDI_SOURCE");
    test_stream stream = {0};
    static unsigned char data[65536];
    size_t most = strcmp(kind, "blocked") == 0 ? 40960 : 4096; /* the least layer of blocked has 500 lines */
    snprintf(folder, sizeof folder, "%s/tests/data/golden", source ? source : ".");
    test_golden_path(path, sizeof path, folder, kind);
    FILE *file = fopen(path, "rb");
    check(file != NULL, "%s cannot be opened", path);
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    check(size > 0 && size <= most, "%s has %zu bytes", path, size);
    assert_int_equal(test_stream_sink(&stream, data, size), 0);
    return stream;
}

/* The first URLs and, of these small sets, none of the next. */
static void must_hold(const vidi_set *set, const vidi_set *made)
{
    char room[GOLDEN_ROOM];
    for (unsigned i = 0; i < 100; i++) {
        vidi_str url = test_golden_url(room, i);
        uint64_t times = 0, right = 0;
        int verdict = vidi_has(set, url);
        assert_int_equal(verdict, vidi_has(made, url));
        if (i < GOLDEN_URLS)
            assert_int_equal(verdict, VIDI_SEEN);
        assert_int_equal(vidi_count(set, url, &times), vidi_count(made, url, &right));
        assert_int_equal(times, right);
    }
}

static void must_have_statistics(const vidi_set *set, const vidi_set *made)
{
    vidi_stats stats = test_stat(set), right = test_stat(made);
    assert_int_equal(stats.count, right.count);
    assert_in_range(stats.count, GOLDEN_URLS - 1, GOLDEN_URLS); /* a small filter may have taken one for another */
    assert_int_equal(stats.epoch, 1);
    assert_int_equal(stats.past_epochs, 1);
    assert_int_equal(stats.answered_new + stats.answered_seen, GOLDEN_URLS + 3);
    assert_string_equal(stats.params, right.params);
    assert_true(stats.fp_now == right.fp_now && stats.fill == right.fill);
    assert_true(stats.expected_lost == right.expected_lost);
}

static void a_copy_is_as_it_was(void **state)
{
    test_stream stream = golden_file(*state);
    vidi_set *made = test_golden_set(*state), *set = NULL;
    int code = test_stream_read(&stream, &set, stream.size, NULL);
    check(code == VIDI_OK, "%d: %s", code, vidi_message());
    must_hold(set, made);
    must_have_statistics(set, made);
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
    must_hold(set, made);
    must_have_statistics(set, made);
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
    assert_int_equal(test_golden_write(&now, made), VIDI_OK);
    assert_int_equal(now.size, stream.size);
    assert_memory_equal(now.data, stream.data, stream.size);
    vidi_close(made);
    test_stream_free(&now);
    test_stream_free(&stream);
}

static void every_kind_has_a_file(void **state)
{
    vidi_kind_info info = {.size = sizeof info};
    (void)state;
    for (size_t i = 0; vidi_kind(i, &info) == VIDI_OK; i++) {
        test_stream stream = golden_file(info.name);
        test_stream_free(&stream);
    }
}

int main(int argc, char **argv)
{
    test_add("every kind has a file", every_kind_has_a_file, NULL);
    for (size_t i = 0; test_golden_kind(i); i++) {
        char promise[100];
        const char *kind = test_golden_kind(i);
        snprintf(promise, sizeof promise, "a copy is as it was: %s", kind);
        test_add(promise, a_copy_is_as_it_was, kind);
        snprintf(promise, sizeof promise, "a mapping is as it was: %s", kind);
        test_add(promise, a_mapping_is_as_it_was, kind);
        snprintf(promise, sizeof promise, "the same bytes are written today: %s", kind);
        test_add(promise, the_same_bytes_are_written_today, kind);
    }
    return test_run("golden", argc, argv);
}
