/* Bloom filters that grow: what they take before their first URL comes, and that they do everything by then. */
#include <stdio.h>

#include "support/alloc.h"
#include "support/check.h"
#include "support/runner.h"
#include "support/streams.h"

/* Of one host each, so that all forms tell them apart. */
static vidi_str url_at(char room[64], uint64_t i)
{
    return (vidi_str){room, (size_t)snprintf(room, 64, "http://h%llu.example.com/", (unsigned long long)i)};
}

static void add_range(vidi_set *set, uint64_t first, uint64_t end)
{
    char room[64];
    for (uint64_t i = first; i < end; i++)
        assert_int_equal(vidi_add(set, url_at(room, i)), VIDI_NEW);
}

static void must_hold(const vidi_set *set, uint64_t n)
{
    char room[64];
    for (uint64_t i = 0; i < n; i++)
        check(vidi_has(set, url_at(room, i)) == VIDI_SEEN, "URL %llu is forgotten", (unsigned long long)i);
    for (uint64_t i = n; i < n + 100; i++)
        assert_int_equal(vidi_has(set, url_at(room, i)), VIDI_NEW);
}

static vidi_set *growing_set(const char *kind, const vidi_allocator *allocator)
{
    const unsigned char key[VIDI_KEY_BYTES] = {9};
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set;
    access.allocator = allocator;
    options.kind = kind;
    options.key = key;
    options.access = &access;
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    return set;
}

/* Bloom filters that grow get their first bits with the first URL. Until then they can do whatever others can. */
static void empty_bloom_filters_take_little(void **state)
{
    const char *kind = *state;
    test_allocator watch;
    test_stream stream;
    vidi_set *copy;
    test_allocator_init(&watch);
    vidi_set *set = growing_set(kind, &watch.hook), *other = growing_set(kind, NULL);
    must_hold(set, 0);
    assert_true(test_stat(set).fp_now == 0 && test_stat(set).fill == 0);
    check(test_stat(set).memory_bytes <= 2048, "%llu bytes", (unsigned long long)test_stat(set).memory_bytes);
    assert_int_equal(test_stat(set).memory_bytes, watch.live_bytes);
    test_stream_write(&stream, set);
    assert_int_equal(test_stream_read(&stream, &copy, stream.size, NULL), VIDI_OK);
    test_stream_free(&stream);
    add_range(other, 0, 100);
    if (test_stat(set).can & VIDI_CAN_MERGE) {
        assert_int_equal(vidi_merge(other, set, 0), VIDI_OK);
        must_hold(other, 100);
        assert_int_equal(vidi_merge(set, other, 0), VIDI_OK);
        assert_int_equal(vidi_merge(copy, other, 0), VIDI_OK);
    } else {
        add_range(set, 0, 100);
        add_range(copy, 0, 100);
    }
    must_hold(set, 100);
    must_hold(copy, 100);
    assert_true(test_stat(set).fp_now > 0 && test_stat(set).fp_now == test_stat(copy).fp_now);
    vidi_close(set);
    vidi_close(other);
    vidi_close(copy);
    test_allocator_finish(&watch);
}

int main(int argc, char **argv)
{
    test_add("empty Bloom filters take little: blocked", empty_bloom_filters_take_little, "blocked");
    test_add("empty Bloom filters take little: scalable", empty_bloom_filters_take_little, "scalable");
    return test_run("small bloom", argc, argv);
}
