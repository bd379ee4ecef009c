/*
 * Streams with correct checksums whose contents lie. Behind a checksum there is no friend: what cannot be is refused
 * before anything is made of it, and no number in a stream is believed so far that memory is allocated for it alone.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "set/forged/forged_cases.h"
#include "support/runner.h"

static void refuse_double(test_forge *forge, size_t at, double value, const char *what)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    refuse_number(forge, at, bits, what);
}

/* ---- arrays ---- */

static uint64_t words_of(uint64_t m)
{
    return (m + 63) / 64;
}

/* The arrays of m[i] bits that stand from `at` on: no bit behind the end of any gets through, and no wrong number. */
static void refuse_bits_behind(test_forge *forge, size_t at, const uint64_t *m, size_t arrays, const char *what)
{
    must_be_accepted(forge, what);
    for (size_t i = 0; i < arrays; i++) {
        uint64_t set = test_forge_get(forge, at);
        refuse_number(forge, at, set + 1, what);
        refuse_number(forge, at, set - 1, what);
        refuse_number(forge, at, m[i] + 1, what);
        refuse_number(forge, at, UINT64_MAX, what);
        size_t last = at + 8 * words_of(m[i]);
        assert_true(m[i] % 64 != 0);
        for (unsigned bit = m[i] % 64; bit < 64; bit++) {
            test_forge_put(forge, at, set + 1); /* as many as there are */
            refuse_number(forge, last, test_forge_get(forge, last) | UINT64_C(1) << bit, what);
            test_forge_put(forge, at, set);
        }
        at += 8 + 8 * words_of(m[i]);
    }
    assert_int_equal(at, forge->size);
}

static void no_bit_is_behind_the_end_of_an_array(void **state)
{
    const uint64_t one[] = {1001}, layers[] = {1001, 1001, 1001, 1001}, regions[] = {777, 224};
    (void)state;
    test_forge forge = forge_of("classic", "m=1001,k=3", 0, 0, 50);
    refuse_bits_behind(&forge, test_forge_find(&forge).filter.contents, one, 1, "classic");
    test_forge_free(&forge);
    forge = forge_of("multilayer", "m=1001,k=3,L=3", 0, 0, 50);
    refuse_bits_behind(&forge, test_forge_find(&forge).filter.contents, layers, 4, "multilayer");
    test_forge_free(&forge);
    forge = forge_of("eigen", "m=1001,m1=777,k=3,d=2", 0, 0, 50);
    refuse_bits_behind(&forge, test_forge_find(&forge).filter.contents, regions, 2, "eigen");
    test_forge_free(&forge);
}

static void no_bit_is_between_counters_or_behind_the_last(void **state)
{
    static const unsigned widths[] = {3, 5, 7, 12};
    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char params[64];
        unsigned width = widths[i], per_word = 64 / width;
        uint64_t words = 13, m = words * per_word - (per_word - 2); /* two counters are in the last word */
        snprintf(params, sizeof params, "m=%llu,k=3,width=%u", (unsigned long long)m, width);
        test_forge forge = forge_of("counting", params, 0, 0, 20);
        size_t at = test_forge_find(&forge).filter.contents + 8;
        assert_int_equal(forge.size - at, 8 * words);
        must_be_accepted(&forge, params);
        refuse_number(&forge, at - 8, test_forge_get(&forge, at - 8) + 1, "counters in use");
        refuse_number(&forge, at - 8, test_forge_get(&forge, at - 8) - 1, "counters in use");
        refuse_number(&forge, at - 8, UINT64_MAX, "counters in use");
        for (uint64_t word = 0; word < words; word++) {
            uint64_t kept = test_forge_get(&forge, at + 8 * word);
            for (unsigned bit = per_word * width; bit < 64; bit++) {
                refuse_number(&forge, at + 8 * word, kept | UINT64_C(1) << bit, "between counters");
            }
        }
        size_t last = at + 8 * (words - 1);
        for (unsigned counter = 2; counter < per_word; counter++) {
            for (unsigned bit = 0; bit < width; bit++) {
                uint64_t value = UINT64_C(1) << (counter * width + bit);
                refuse_number(&forge, last, test_forge_get(&forge, last) | value, "behind the last counter");
            }
        }
        test_forge_free(&forge);
    }
}

/* An array that the stream says is large: nobody allocates it before the stream has shown that it is there. */
static void no_length_of_an_array_is_believed(void **state)
{
    static const struct {
        const char *kind, *params, *name;
    } arrays[] = {
        {"classic", "m=1000,k=3", "m"},         {"counting", "m=1000,k=3", "m"},
        {"multilayer", "m=1000,k=3", "m"},      {"eigen", "m=1000,m1=700,k=3,d=1", "m"},
        {"spatial", "m=1000,k=3", "m"},         {"spatial", "inner=counting,m=1000,k=3", "m"},
        {"scalable", "inner=classic,k=3", "m"},
    };
    static const unsigned powers[] = {14, 24, 28, 31, 33, 40, 48};
    (void)state;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        uint64_t capacity = strcmp(arrays[i].kind, "scalable") == 0 ? 50 : 0;
        test_forge forge = forge_of(arrays[i].kind, arrays[i].params, capacity, 0, 20);
        must_be_accepted(&forge, arrays[i].params);
        for (size_t j = 0; j < sizeof powers / sizeof *powers; j++) {
            char value[32];
            test_forge lie;
            snprintf(value, sizeof value, "%llu", 1ull << powers[j]);
            test_forge_copy(&lie, &forge);
            size_t at = test_forge_find(&lie).filter.kind;
            if (arrays[i].kind[0] == 's') { /* the first member or stage, behind a number */
                at = test_forge_filter_at(&lie, at).contents + 8;
            }
            test_forge_param(&lie, at, arrays[i].name, value);
            for (int known = 0; known < 2; known++) {
                uint64_t largest = 0;
                int result = read_with(&lie, known, 0, &largest);
                bool too_large = powers[j] >= 33; /* the machine's own memory may already say so */
                check(result == VIDI_EFORMAT || (too_large && result == VIDI_ELIMIT), "%s m=2^%u, length %s: %d, %s",
                      arrays[i].kind, powers[j], known ? "known" : "unknown", result,
                      result < 0 ? vidi_message() : "accepted");
                check(largest <= MOST_AT_ONCE, "%s m=2^%u, length %s: %llu bytes at once", arrays[i].kind, powers[j],
                      known ? "known" : "unknown", (unsigned long long)largest);
                result = read_with(&lie, known, 1 << 20, &largest);
                check(result == VIDI_EFORMAT || result == VIDI_ELIMIT || result == VIDI_EMEMORY,
                      "%s m=2^%u within 1 MiB: %d", arrays[i].kind, powers[j], result);
                check(largest <= 1 << 20, "%s m=2^%u within 1 MiB: %llu bytes at once", arrays[i].kind, powers[j],
                      (unsigned long long)largest);
            }
            test_forge_free(&lie);
        }
        test_forge_free(&forge);
    }
}

/* ---- numbers of the set ---- */

static const double no_numbers[] = {-1, -1e-300, -INFINITY, NAN};

static void pages_lost_are_a_number_and_not_negative(void **state)
{
    (void)state;
    test_forge forge = forge_of("classic", "m=1000,k=3", 0, 0, 50);
    must_be_accepted(&forge, "classic");
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) {
        refuse_double(&forge, test_forge_find(&forge).lost, no_numbers[i], "pages lost");
        refuse_double(&forge, test_forge_find(&forge).lost, -NAN, "pages lost");
    }
    test_forge_free(&forge);
}

static test_forge forge_with_a_past(void)
{
    test_forge forge;
    vidi_set *set = set_of("classic", "M=4,k=3", 100, 0, 100);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
        assert_int_equal(vidi_add(set, test_str("http://example.org/")), VIDI_NEW);
    }
    test_forge_take(&forge, set);
    vidi_close(set);
    return forge;
}

static void past_epochs_have_numbers_that_are_not_negative(void **state)
{
    (void)state;
    test_forge forge = forge_with_a_past();
    size_t past = test_forge_find(&forge).past;
    assert_int_equal(test_forge_get(&forge, past), 3);
    must_be_accepted(&forge, "three epochs");
    for (size_t epoch = 0; epoch < 3; epoch++) {
        for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) {
            size_t at = past + 8 + 64 * epoch + 48;
            refuse_double(&forge, at, no_numbers[i], "fp_end");
            refuse_double(&forge, at + 8, no_numbers[i], "expected_lost of a past epoch");
        }
    }
    test_forge_free(&forge);
}

static void a_past_probability_is_one_at_most(void **state)
{
    (void)state;
    test_forge forge = forge_with_a_past();
    size_t past = test_forge_find(&forge).past;
    refuse_double(&forge, past + 8 + 48, 1.5, "fp_end");
    refuse_double(&forge, past + 8 + 48, INFINITY, "fp_end");
    test_forge_free(&forge);
}

static void the_number_of_past_epochs_is_not_believed(void **state)
{
    (void)state;
    test_forge forge = forge_with_a_past();
    size_t past = test_forge_find(&forge).past;
    refuse_number(&forge, past, 2, "past epochs");
    refuse_number(&forge, past, 4, "past epochs");
    refuse_number(&forge, past, UINT64_C(1) << 40, "past epochs");
    refuse_number(&forge, past, UINT64_C(1) << 58, "past epochs");
    refuse_number(&forge, past, UINT64_MAX, "past epochs");
    test_forge_free(&forge);
}

/*
 * In mode derived the positions come from the item's hash. A filter that names another function than the one that items
 * are hashed with would have vidi_stats.hash and hash_trust say what is not so.
 */
static void positions_come_from_the_hash_that_the_filter_names(void **state)
{
    static const char *const kinds[][2] = {
        {"classic", "m=1000,k=3,hash="},    {"counting", "m=1000,k=3,hash="}, {"eigen", "m=1000,k=3,hash="},
        {"multilayer", "m=1000,k=3,hash="}, {"spatial", "m=1000,k=3,hash="},
    };
    static const char *const functions[] = {"sip13", "xxh3"};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof kinds / sizeof *kinds; i++) {
        char params[64];
        snprintf(params, sizeof params, "%s%s", kinds[i / 2][1], functions[i % 2]);
        test_forge forge = forge_of(kinds[i / 2][0], params, 0, 0, 20);
        must_be_accepted(&forge, params);
        test_forge_filter filter = test_forge_find(&forge).filter;
        test_forge_param(&forge, filter.kind, "hash", functions[1 - i % 2]);
        if (strcmp(kinds[i / 2][0], "spatial") == 0) {
            filter = test_forge_filter_at(&forge, filter.kind);
            test_forge_param(&forge, filter.contents + 8, "hash", functions[1 - i % 2]);
        }
        must_be_refused(&forge, kinds[i / 2][0], i);
        test_forge_free(&forge);
    }
}

/* ---- exact kinds ---- */

static const char *const exact_kinds[] = {"hashset", "list", "sorted"};

static void the_count_is_the_number_of_urls(void **state)
{
    static const char *const params[] = {"multiset=off", "multiset=on"};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        const char *kind = exact_kinds[i / 2];
        test_forge forge = forge_of(kind, params[i % 2], 0, 0, 20);
        test_forge_filter filter = test_forge_find(&forge).filter;
        must_be_accepted(&forge, kind);
        static const uint64_t counts[] = {0, 1, 19, 21, UINT64_C(1) << 40, UINT64_MAX};
        for (size_t j = 0; j < sizeof counts / sizeof *counts; j++) {
            refuse_number(&forge, filter.count, counts[j], kind);
            refuse_number(&forge, filter.contents, counts[j], kind);
        }
        /* both lie alike, and the stream is too short or too long for them */
        for (size_t j = 0; j < sizeof counts / sizeof *counts; j++) {
            test_forge lie;
            test_forge_copy(&lie, &forge);
            test_forge_put(&lie, filter.count, counts[j]);
            test_forge_put(&lie, filter.contents, counts[j]);
            must_be_refused(&lie, kind, counts[j]);
            test_forge_free(&lie);
        }
        test_forge_free(&forge);
    }
}

/* hashset: two u64 of hash, u64 times, u64 length, bytes; the others without the hash. */
static void lengths_and_times_of_urls_are_not_believed(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        test_forge forge = forge_of(exact_kinds[i], NULL, 0, 0, 20);
        size_t at = test_forge_find(&forge).filter.contents + 8 + (i == 0 ? 16 : 0);
        refuse_number(&forge, at, 0, "times");
        refuse_number(&forge, at, 2, "times");
        refuse_number(&forge, at + 8, test_forge_get(&forge, at + 8) + 1, "length");
        refuse_number(&forge, at + 8, UINT64_C(1) << 26, "length");
        refuse_number(&forge, at + 8, UINT64_C(1) << 31, "length");
        refuse_number(&forge, at + 8, UINT64_C(1) << 62, "length");
        refuse_number(&forge, at + 8, UINT64_MAX, "length");
        test_forge_free(&forge);
    }
}

static void a_url_is_there_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        test_forge forge = forge_of(exact_kinds[i], NULL, 0, 0, 2);
        test_forge_filter filter = test_forge_find(&forge).filter;
        size_t head = (i == 0 ? 16 : 0) + 16, first = filter.contents + 8;
        size_t size = head + test_forge_get(&forge, first + head - 8);
        size_t second = first + size;
        size_t second_size = head + test_forge_get(&forge, second + head - 8);
        unsigned char kept[1024];
        assert_true(size <= sizeof kept);
        memcpy(kept, forge.bytes + first, size);
        test_forge_replace(&forge, second, second_size, kept, size);
        must_be_refused(&forge, exact_kinds[i], 2);
        test_forge_free(&forge);
    }
}

int main(int argc, char **argv)
{
    test_add("no bit is behind the end of an array", no_bit_is_behind_the_end_of_an_array, NULL);
    test_add("no bit is between counters or behind the last", no_bit_is_between_counters_or_behind_the_last, NULL);
    test_add("no length of an array is believed", no_length_of_an_array_is_believed, NULL);
    test_add("pages lost are a number and not negative", pages_lost_are_a_number_and_not_negative, NULL);
    test_add("past epochs have numbers that are not negative", past_epochs_have_numbers_that_are_not_negative, NULL);
    test_add("a past probability is one at most", a_past_probability_is_one_at_most, NULL);
    test_add("the number of past epochs is not believed", the_number_of_past_epochs_is_not_believed, NULL);
    test_add("positions come from the hash that the filter names", positions_come_from_the_hash_that_the_filter_names,
             NULL);
    test_add("the count is the number of URLs", the_count_is_the_number_of_urls, NULL);
    test_add("lengths and times of URLs are not believed", lengths_and_times_of_urls_are_not_believed, NULL);
    test_add("a URL is there once", a_url_is_there_once, NULL);
    return test_run("forged", argc, argv);
}
