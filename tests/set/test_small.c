/*
 * Small sets of the default kind: what they take, at every size and in every canonical form that is used as it is; and
 * that nothing is lost when a small table becomes a large one.
 */
#include <pthread.h>

#include <stdio.h>

#include "support/alloc.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/env.h"
#include "support/maps.h"
#include "support/runner.h"
#include "support/urls.h"

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
    for (uint64_t i = 0; i < n; i += 1 + n / 20000)
        check(vidi_has(set, url_at(room, i)) == VIDI_SEEN, "URL %llu is forgotten", (unsigned long long)i);
    for (uint64_t i = n; i < n + 100; i++)
        assert_int_equal(vidi_has(set, url_at(room, i)), VIDI_NEW);
}

static vidi_set *set_with(const char *canon, unsigned char seed, uint64_t capacity, const vidi_allocator *allocator)
{
    const unsigned char key[VIDI_KEY_BYTES] = {seed};
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set;
    access.allocator = allocator;
    options.canon = canon;
    options.capacity = capacity;
    options.key = key;
    options.access = &access;
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    return set;
}

/* The most bytes that a set of this many URLs may take: 1 KiB, 2.5 KiB, then 14 bytes a URL, then 10. */
static double most_bytes(uint64_t n)
{
    if (n == 0)
        return 1024;
    if (n <= 100)
        return 2560;
    if (n < 1000)
        return 2560 + (14000.0 - 2560) * (double)(n - 100) / 900;
    return (n < 10000 ? 14.0 : 10.0) * (double)n;
}

static void check_bytes(const vidi_set *set, const test_allocator *watch, const char *canon, uint64_t n)
{
    uint64_t bytes = test_stat(set).memory_bytes;
    check((double)bytes <= most_bytes(n), "%s: %llu bytes for %llu URLs", canon ? canon : "the default form",
          (unsigned long long)bytes, (unsigned long long)n);
    assert_int_equal(bytes, watch->live_bytes);
}

static void grow_and_check(const char *canon, unsigned char seed, uint64_t most)
{
    test_allocator watch;
    test_allocator_init(&watch);
    vidi_set *set = set_with(canon, seed, 0, &watch.hook);
    check_bytes(set, &watch, canon, 0);
    for (uint64_t n = 0; n < most;) {
        uint64_t next = n + 1 + n / 200;
        add_range(set, n, next);
        n = next;
        check_bytes(set, &watch, canon, n);
    }
    vidi_close(set);
    test_allocator_finish(&watch);
}

static void a_set_takes_little_at_every_size(void **state)
{
    const uint64_t most = test_sanitized() ? 20000 : 120000;
    (void)state;
    for (unsigned char seed = 0; seed < 2; seed++)
        grow_and_check(NULL, seed, most);
}

static void a_set_takes_little_in_every_plain_form(void **state)
{
    static const char *const forms[] = {"none", "whatwg", "crawl", "w3lib", "surt", "key=host"};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        grow_and_check(forms[i], 3, 1500);
}

/* Room for all of them from the beginning: they never take more than a set that grew. */
static void a_reserved_set_takes_little(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 120000; n += 1 + n / 2) {
        test_allocator watch;
        test_allocator_init(&watch);
        vidi_set *set = set_with(NULL, 4, n, &watch.hook);
        add_range(set, 0, n);
        check_bytes(set, &watch, "reserved", n);
        vidi_close(set);
        test_allocator_finish(&watch);
    }
}

/* Servers make thousands of sets. A set, its filter and the handle of its form: nothing else is asked for. */
static void making_a_set_asks_for_memory_three_times(void **state)
{
    test_allocator watch;
    (void)state;
    test_allocator_init(&watch);
    vidi_set *set = set_with("crawl", 5, 0, &watch.hook);
    assert_int_equal(watch.calls, 3);
    vidi_close(set);
    test_allocator_finish(&watch);
}

/* A form that two sets share outlives both of them, and a list of the user's is not shared. */
static void forms_are_shared_and_outlive_their_sets(void **state)
{
    char out[64];
    size_t len = sizeof out;
    vidi_canon *plain, *own;
    (void)state;
    vidi_close(set_with("crawl", 6, 0, NULL));
    assert_int_equal(vidi_canon_create(&plain, "crawl", NULL, NULL), VIDI_OK);
    assert_int_equal(vidi_canon_create(&own, "crawl", "mine\n", NULL), VIDI_OK);
    vidi_close(set_with("crawl", 6, 0, NULL));
    assert_int_equal(vidi_url_canon(plain, test_str("http://h/?mine=1&utm_source=2"), NULL, out, &len), VIDI_OK);
    assert_int_equal(len, strlen("http://h/?mine=1"));
    len = sizeof out;
    assert_int_equal(vidi_url_canon(own, test_str("http://h/?mine=1&utm_source=2"), NULL, out, &len), VIDI_OK);
    assert_int_equal(len, strlen("http://h/?utm_source=2"));
    vidi_canon_close(plain);
    vidi_canon_close(own);
}

/* ---- from one partition to 64 ---- */

static const uint64_t sizes[] = {0, 1, 30, 700, 9000, 60000, 130000};

static void *has_one(void *set)
{
    (void)vidi_has(set, test_str("http://another.thread/"));
    return NULL;
}

/* By growing; and, at any size, when another thread comes. */
static void nothing_is_lost_when_a_table_divides(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned threads = 0; threads < 2; threads++) {
            vidi_set *set = set_with(NULL, 7, threads ? 0 : sizes[i] / 2, NULL);
            add_range(set, 0, sizes[i]);
            pthread_t thread;
            if (threads) {
                assert_int_equal(pthread_create(&thread, NULL, has_one, set), 0);
                assert_int_equal(pthread_join(thread, NULL), 0);
            }
            add_range(set, sizes[i], sizes[i] + 100);
            must_hold(set, sizes[i] + 100);
            assert_int_equal(test_stat(set).count, sizes[i] + 100);
            vidi_close(set);
        }
}

static void streams_bring_back_every_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        vidi_set *set = set_with(NULL, 8, 0, NULL), *copy;
        test_stream stream;
        test_map map;
        add_range(set, 0, sizes[i]);
        test_stream_write(&stream, set);
        assert_int_equal(test_stream_read(&stream, &copy, stream.size, NULL), VIDI_OK);
        test_map_make(&map, stream.data, stream.size);
        vidi_set *mapped = test_map_set(&map);
        must_hold(copy, sizes[i]);
        must_hold(mapped, sizes[i]);
        assert_int_equal(vidi__set_verify(mapped), VIDI_OK);
        assert_int_equal(test_stat(copy).bytes, test_stat(set).bytes);
        add_range(copy, sizes[i], sizes[i] + 100);
        vidi_close(mapped);
        vidi_close(copy);
        vidi_close(set);
        test_map_free(&map);
        test_stream_free(&stream);
    }
}

static void tables_of_all_sizes_merge(void **state)
{
    enum { SIZES = sizeof sizes / sizeof *sizes };
    (void)state;
    for (size_t i = 0; i < SIZES; i += 2)
        for (size_t j = 0; j < SIZES; j += 2) {
            uint64_t more = sizes[i] > sizes[j] ? sizes[i] : sizes[j];
            vidi_set *into = set_with(NULL, 9, 0, NULL), *from = set_with(NULL, 9, 0, NULL);
            add_range(into, 0, sizes[i]);
            add_range(from, 0, sizes[j]);
            assert_int_equal(vidi_merge(into, from, 0), VIDI_OK);
            assert_int_equal(test_stat(into).count, more);
            must_hold(into, more);
            vidi_close(into);
            vidi_close(from);
        }
}

int main(int argc, char **argv)
{
    test_add("a set takes little at every size", a_set_takes_little_at_every_size, NULL);
    test_add("a set takes little in every plain form", a_set_takes_little_in_every_plain_form, NULL);
    test_add("a reserved set takes little", a_reserved_set_takes_little, NULL);
    test_add("making a set asks for memory three times", making_a_set_asks_for_memory_three_times, NULL);
    test_add("forms are shared and outlive their sets", forms_are_shared_and_outlive_their_sets, NULL);
    test_add("nothing is lost when a table divides", nothing_is_lost_when_a_table_divides, NULL);
    test_add("streams bring back every size", streams_bring_back_every_size, NULL);
    test_add("tables of all sizes merge", tables_of_all_sizes_merge, NULL);
    return test_run("small", argc, argv);
}
