/*
 * Sets over a mapping: they answer as copies do, change nothing, and whatever the mapping holds they come to no harm;
 * verification finds what reading a copy would have found.
 */
#include <string.h>

#include "support/access.h"
#include "support/alloc.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/env.h"
#include "support/forge.h"
#include "support/maps.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/urls.h"

static vidi_set *filled_set(const test_case *which, uint64_t n)
{
    enum { PART = 512 };
    test_batch batch;
    uint8_t verdicts[PART];
    vidi_set *set = test_case_set(which, n, 1, NULL);
    test_batch_init(&batch, PART);
    for (uint64_t at = 0; at < n; at += batch.n) {
        test_batch_fill(&batch, test_url, 1, at, n - at < PART ? (size_t)(n - at) : PART);
        assert_int_equal(vidi_add_batch(set, batch.urls, batch.n, verdicts, NULL), VIDI_OK);
    }
    test_batch_free(&batch);
    return set;
}

static test_map map_of(const vidi_set *set)
{
    test_map map;
    test_stream stream;
    test_stream_write(&stream, set);
    test_map_make(&map, stream.data, stream.size);
    test_stream_free(&stream);
    return map;
}

static int count_entries(void *context, const vidi_entry *entry)
{
    uint64_t *sum = context;
    sum[0]++;
    sum[1] += entry->hash[1] * 31 + entry->times;
    return 0;
}

static int write_nowhere(void *context, const void *data, size_t size)
{
    (void)data;
    *(size_t *)context += size;
    return 0;
}

/* Asks for some that were added and some that were not. */
static void ask(const vidi_set *set, uint64_t first, uint64_t n)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = first; i < first + n; i++) {
        vidi_str url = {room, test_url(room, sizeof room, 1, i)};
        uint64_t times;
        int verdict = vidi_has(set, url);
        assert_true(verdict == VIDI_NEW || verdict == VIDI_SEEN);
        vidi_count(set, url, &times);
    }
}

static void ask_batch(const vidi_set *set, uint64_t n)
{
    test_batch batch;
    uint8_t verdicts[1000];
    test_batch_init(&batch, 1000);
    test_batch_fill(&batch, test_url, 1, n / 2, 1000);
    assert_int_equal(vidi_has_batch(set, batch.urls, 1000, verdicts), VIDI_OK);
    test_batch_free(&batch);
}

/* All that may be done to a set that nobody has verified. */
static void use(const vidi_set *set, vidi_set *like)
{
    uint64_t sum[2] = {0};
    size_t size = 0;
    vidi_stats stats = test_stat(set);
    check(stats.fp_now >= 0 && stats.fp_now <= 1, "fp_now %g", stats.fp_now);
    check(stats.fill >= 0 && stats.fill <= 1, "fill %g", stats.fill);
    ask(set, 0, 30);
    ask_batch(set, 30);
    vidi_iterate(set, count_entries, sum);
    assert_int_equal(vidi_write(set, write_nowhere, &size, 0), VIDI_OK);
    if (like && test_stat(set).can & VIDI_CAN_MERGE)
        like->now.filter->kind->merge(like->now.filter, set->now.filter); /* which vidi_merge refuses to do */
}

static void the_same_answers(const vidi_set *mapped, const vidi_set *copy, uint64_t n)
{
    test_batch batch;
    enum { MANY = 1000 };
    uint8_t one[MANY], two[MANY];
    test_batch_init(&batch, MANY);
    for (uint64_t done = 0; done < 2 * n; done += MANY) {
        test_batch_fill(&batch, test_url, 1, done, MANY);
        assert_int_equal(vidi_has_batch(mapped, batch.urls, MANY, one), VIDI_OK);
        assert_int_equal(vidi_has_batch(copy, batch.urls, MANY, two), VIDI_OK);
        assert_memory_equal(one, two, MANY);
        for (size_t i = 0; i < MANY; i += 50) {
            uint64_t a = 0, b = 0;
            assert_int_equal(vidi_has(mapped, batch.urls[i]), one[i]);
            assert_int_equal(vidi_count(mapped, batch.urls[i], &a), vidi_count(copy, batch.urls[i], &b));
            assert_int_equal(a, b);
        }
    }
    test_batch_free(&batch);
}

static void the_same_statistics(const vidi_set *mapped, const vidi_set *copy)
{
    vidi_stats a = test_stat(mapped), b = test_stat(copy);
    assert_int_equal(a.count, b.count);
    assert_int_equal(a.capacity, b.capacity);
    assert_int_equal(a.stages, b.stages);
    assert_true(a.fp_now == b.fp_now && a.fill == b.fill && a.expected_lost == b.expected_lost);
    assert_string_equal(a.params, b.params);
    assert_string_equal(a.hash, b.hash);
    uint64_t one[2] = {0}, two[2] = {0};
    assert_int_equal(vidi_iterate(mapped, count_entries, one), vidi_iterate(copy, count_entries, two));
    assert_true(one[0] == two[0] && one[1] == two[1]);
}

static void it_answers_as_a_copy_does(void **state)
{
    const test_case *which = *state;
    uint64_t n = test_case_few(which, test_urls_at_most(test_sanitized() ? 5000 : which->params ? 20000 : 100000));
    vidi_set *set = filled_set(which, n), *copy = NULL;
    test_stream stream;
    test_stream_write(&stream, set);
    test_map map = map_of(set);
    assert_int_equal(test_stream_read(&stream, &copy, stream.size, NULL), VIDI_OK);
    vidi_set *mapped = test_map_set(&map);
    the_same_statistics(mapped, copy);
    the_same_answers(mapped, copy, n);
    int code = vidi__set_verify(mapped);
    check(code == VIDI_OK, "%d: %s", code, vidi_message());
    vidi_close(mapped);
    vidi_close(copy);
    vidi_close(set);
    test_stream_free(&stream);
    test_map_free(&map);
}

/* What it writes is what it was mapped from, but for the generation. */
static void it_writes_what_it_was_mapped_from(void **state)
{
    uint64_t n = test_case_few(*state, 3000);
    vidi_set *set = filled_set(*state, n);
    test_map map = map_of(set);
    vidi_set *mapped = test_map_set(&map);
    test_forge one, two;
    test_forge_take(&one, set);
    test_forge_take(&two, mapped);
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.bytes, two.bytes, one.size);
    test_forge_free(&one);
    test_forge_free(&two);
    vidi_close(mapped);
    vidi_close(set);
    test_map_free(&map);
}

static void nothing_of_it_can_be_changed(void **state)
{
    vidi_set *set = filled_set(*state, 20);
    test_map map = map_of(set);
    vidi_set *mapped = test_map_set(&map);
    vidi_str url = test_str("http://example.org/");
    uint8_t verdict = 0;
    assert_int_equal(vidi_add(mapped, url), VIDI_ECANNOT);
    assert_non_null(strstr(vidi_message(), "read-only"));
    assert_int_equal(vidi_add_batch(mapped, &url, 1, &verdict, NULL), VIDI_ECANNOT);
    assert_int_equal(verdict, VIDI_UNTRIED);
    assert_int_equal(vidi_remove(mapped, url), VIDI_ECANNOT);
    assert_int_equal(vidi_rotate(mapped, NULL), VIDI_ECANNOT);
    assert_int_equal(test_step(mapped, 1000), VIDI_ECANNOT);
    assert_int_equal(vidi_merge(mapped, set, 0), VIDI_ECANNOT);
    if (test_case_can(*state, VIDI_CAN_MERGE))
        assert_int_equal(vidi_merge(set, mapped, 0), VIDI_OK);
    vidi_close(mapped);
    vidi_close(set);
    test_map_free(&map);
}

static bool has_arrays(const test_case *which)
{
    return !(which->traits & (TEST_EXACT | TEST_LIBCRYPTO)) && !strstr(test_case_name(which), "hashset") &&
           !strstr(test_case_name(which), "list") && !strstr(test_case_name(which), "sorted");
}

/* The arrays are nobody's memory. */
static void its_arrays_take_no_memory(void **state)
{
    uint64_t n = test_case_few(*state, 50000);
    vidi_set *set = filled_set(*state, n);
    test_map map = map_of(set);
    test_allocator allocator;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *mapped;
    test_allocator_init(&allocator);
    access.allocator = &allocator.hook;
    assert_int_equal(vidi__set_map(&mapped, map.bytes, map.size, &access), VIDI_OK);
    vidi_stats stats = test_stat(mapped);
    check(stats.memory_bytes < stats.bytes / 4 + 100000, "%llu bytes of its own, of %llu",
          (unsigned long long)stats.memory_bytes, (unsigned long long)stats.bytes);
    vidi_close(mapped);
    test_allocator_finish(&allocator);
    vidi_close(set);
    test_map_free(&map);
}

/* ---- damage ---- */

static void every_truncation_is_refused(void **state)
{
    vidi_set *set = filled_set(*state, 12), *mapped;
    test_stream stream;
    test_stream_write(&stream, set);
    size_t step = (stream.size > 20000 ? stream.size / 5003 : 1) * test_case_stride(*state);
    for (size_t size = 0; size < stream.size; size += step) {
        test_map map;
        test_map_make(&map, stream.data, size ? size : 1);
        int code = vidi__set_map(&mapped, map.bytes, size, NULL);
        check(code == VIDI_EFORMAT, "%zu of %zu bytes: %d", size, stream.size, code);
        assert_null(mapped);
        test_map_free(&map);
    }
    test_stream_free(&stream);
    vidi_close(set);
}

/* Refused when it is opened or when it is verified; and in between nothing that it is asked does any harm. */
static void every_flipped_bit_is_found(void **state)
{
    vidi_set *set = filled_set(*state, 12);
    test_map map = map_of(set);
    size_t bits = map.size * 8, step = (bits > 40000 ? bits / 5003 : 1) * test_case_stride(*state), opened = 0;
    for (size_t bit = 0; bit < bits; bit += step) {
        vidi_set *mapped;
        test_map_flip(&map, bit);
        int code = vidi__set_map(&mapped, map.bytes, map.size, NULL);
        check(code == VIDI_OK || code == VIDI_EFORMAT, "bit %zu: %d, %s", bit, code, vidi_message());
        if (code == VIDI_OK) {
            if (opened++ % 16 == 0)
                use(mapped, NULL);
            else
                ask(mapped, 0, 5);
            assert_int_equal(vidi__set_verify(mapped), VIDI_EFORMAT);
        }
        vidi_close(mapped);
        test_map_flip(&map, bit);
    }
    test_map_free(&map);
    vidi_close(set);
}

/* A set into which anything was merged is still one that can be written and read. */
static void must_be_whole(const vidi_set *set)
{
    test_stream stream;
    vidi_set *copy;
    test_stream_write(&stream, set);
    int code = test_stream_read(&stream, &copy, stream.size, NULL);
    check(code == VIDI_OK, "%d: %s", code, vidi_message());
    vidi_close(copy);
    test_stream_free(&stream);
}

/* All ones; anything; and, for lines, anything but heads that claim as much as they can, or only heads changed. */
static void scribble(test_random *random, unsigned char *array, size_t size, unsigned round)
{
    for (size_t i = 0; i < size; i++) {
        bool head = i % 64 >= 60;
        if (round == 0)
            array[i] = 0xff;
        else if (round % 4 == 1)
            array[i] = (unsigned char)test_next(random);
        else if (round % 4 == 2)
            array[i] = (unsigned char)(test_next(random) | (head ? 0xff : 0));
        else if (head)
            array[i] = (unsigned char)(round % 4 == 3 ? test_next(random) : array[i] | 31);
    }
}

/* Bytes of arrays at random, or all ones: whatever the set says, it says it and ends. */
static void any_bytes_in_arrays_do_no_harm(void **state)
{
    test_random random = {11};
    uint64_t n = test_case_few(*state, 2000);
    vidi_set *set = filled_set(*state, n);
    test_forge forge;
    test_forge_take(&forge, set);
    for (unsigned round = 0; round < 24 && forge.array_count; round++) {
        test_forge lie;
        test_stream stream;
        test_map map;
        vidi_set *mapped, *like = filled_set(*state, 1), *other = filled_set(*state, 1);
        test_forge_copy(&lie, &forge);
        for (size_t i = 0; i < lie.array_count; i++)
            scribble(&random, lie.bytes + lie.arrays[i].at, lie.arrays[i].size, round);
        if (strcmp(((const test_case *)*state)->kind, "fingerprint") == 0) /* its lines, and all that overflowed */
            scribble(&random, lie.bytes + lie.arrays[0].at, lie.size - lie.arrays[0].at, round);
        test_forge_seal(&lie, &stream);
        test_map_make(&map, stream.data, stream.size);
        int code = vidi__set_map(&mapped, map.bytes, map.size, NULL);
        check(code == VIDI_OK || code == VIDI_EFORMAT, "round %u: %d, %s", round, code, vidi_message());
        if (code == VIDI_OK) {
            use(mapped, like);
            if (test_case_can(*state, VIDI_CAN_MERGE))
                vidi_merge(other, mapped, 0);
            must_be_whole(other);
            assert_int_equal(vidi__set_verify_blocks(mapped, 0, vidi__set_blocks(mapped)), VIDI_OK);
            code = vidi__set_verify_contents(mapped); /* other bits may happen to be as many */
            check(code == VIDI_EFORMAT || (round && code == VIDI_OK), "round %u: %d", round, code);
        }
        vidi_close(mapped);
        vidi_close(like);
        vidi_close(other);
        test_map_free(&map);
        test_stream_free(&stream);
        test_forge_free(&lie);
    }
    test_forge_free(&forge);
    vidi_close(set);
}

static bool is_small_format(const test_case *which)
{
    return !(which->traits & TEST_LIBCRYPTO);
}

int main(int argc, char **argv)
{
    test_add_cases("it answers as a copy does", it_answers_as_a_copy_does, is_small_format);
    test_add_cases("it writes what it was mapped from", it_writes_what_it_was_mapped_from, is_small_format);
    test_add_cases("nothing of it can be changed", nothing_of_it_can_be_changed, NULL);
    test_add_cases("its arrays take no memory", its_arrays_take_no_memory, has_arrays);
    test_add_cases("every truncation is refused", every_truncation_is_refused, is_small_format);
    test_add_cases("every flipped bit is found", every_flipped_bit_is_found, is_small_format);
    test_add_cases("any bytes in arrays do no harm", any_bytes_in_arrays_do_no_harm, has_arrays);
    return test_run("map", argc, argv);
}
