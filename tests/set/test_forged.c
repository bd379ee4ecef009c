/*
 * Streams with correct checksums whose contents lie. Behind a checksum there is no friend: what cannot be is refused
 * before anything is made of it, and no number in a stream is believed so far that memory is allocated for it alone.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/alloc.h"
#include "support/check.h"
#include "support/forge.h"
#include "support/runner.h"
#include "support/urls.h"

#define MOST_AT_ONCE ((uint64_t)2 << 20) /* bytes of a single allocation, for streams of a few hundred bytes */

/* ---- reading of what was forged ---- */

/* What vidi_read says of it. Everything that was allocated must have been released, and nothing large among it. */
static int read_with(const test_forge *forge, bool length_known, uint64_t memory_limit, uint64_t *largest)
{
    test_stream stream;
    test_allocator allocator;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set = NULL;
    test_forge_seal(forge, &stream);
    test_allocator_init(&allocator);
    options.allocator = &allocator.hook;
    options.memory_limit = memory_limit;
    int result = test_stream_read(&stream, &set, length_known ? stream.size : 0, &options);
    assert_true((result == VIDI_OK) == (set != NULL));
    if (set) { /* that it was accepted is for the caller to judge; that it holds together is not */
        vidi_add(set, test_str("http://example.org/a/b/c/d?e=f"));
        vidi_has(set, test_str("http://example.org/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t"));
    }
    *largest = allocator.largest;
    vidi_close(set);
    test_allocator_finish(&allocator);
    test_stream_free(&stream);
    return result;
}

static void must_be_refused(const test_forge *forge, const char *what, uint64_t which)
{
    for (int known = 0; known < 2; known++) {
        uint64_t largest;
        int result = read_with(forge, known, 0, &largest);
        check(result == VIDI_EFORMAT, "%s %llu, length %s: %d, %s", what, (unsigned long long)which,
              known ? "known" : "unknown", result, result < 0 ? vidi_message() : "accepted");
        uint64_t most = forge->size * 2 > MOST_AT_ONCE ? forge->size * 2 : MOST_AT_ONCE;
        check(largest <= most, "%s %llu, length %s: %llu bytes at once", what, (unsigned long long)which,
              known ? "known" : "unknown", (unsigned long long)largest);
        result = read_with(forge, known, 100000, &largest);
        check(result == VIDI_EFORMAT || result == VIDI_ELIMIT || result == VIDI_EMEMORY, "%s %llu, within 100 kB: %d",
              what, (unsigned long long)which, result);
        check(largest <= 100000, "%s %llu, within 100 kB: %llu bytes at once", what, (unsigned long long)which,
              (unsigned long long)largest);
    }
}

static void must_be_accepted(const test_forge *forge, const char *what)
{
    for (int known = 0; known < 2; known++) {
        uint64_t largest;
        int result = read_with(forge, known, 0, &largest);
        check(result == VIDI_OK, "%s, which is no lie: %d, %s", what, result, vidi_message());
    }
}

/* ---- what is forged: small sets under one key, with n URLs ---- */

static vidi_set *set_of(const char *kind, const char *params, uint64_t capacity, double error, uint64_t n)
{
    char room[TEST_URL_ROOM];
    unsigned char key[VIDI_KEY_BYTES];
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set = NULL;
    test_key(key, 1);
    options.kind = kind;
    options.params = params;
    options.capacity = capacity;
    options.error = error;
    options.key = key;
    int result = vidi_create(&set, &options);
    check(result == VIDI_OK, "%s %s: %d, %s", kind, params ? params : "", result, vidi_message());
    for (uint64_t i = 0; i < n; i++) {
        vidi_str url = {room, test_url(room, sizeof room, 1, i)};
        assert_true(vidi_add(set, url) > 0);
    }
    return set;
}

static test_forge forge_of(const char *kind, const char *params, uint64_t capacity, double error, uint64_t n)
{
    test_forge forge;
    vidi_set *set = set_of(kind, params, capacity, error, n);
    test_forge_take(&forge, set);
    vidi_close(set);
    return forge;
}

/* Changes a number, has the stream refused, and changes it back. */
static void refuse_number(test_forge *forge, size_t at, uint64_t value, const char *what)
{
    uint64_t kept = test_forge_get(forge, at);
    assert_true(kept != value);
    test_forge_put(forge, at, value);
    must_be_refused(forge, what, value);
    test_forge_put(forge, at, kept);
}

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

/* The arrays of m[i] bits that stand from `at` on: no bit behind the end of any gets through. */
static void refuse_bits_behind(test_forge *forge, size_t at, const uint64_t *m, size_t arrays, const char *what)
{
    must_be_accepted(forge, what);
    for (size_t i = 0; i < arrays; i++) {
        size_t last = at + 8 * (words_of(m[i]) - 1);
        assert_true(m[i] % 64 != 0);
        for (unsigned bit = m[i] % 64; bit < 64; bit++) {
            refuse_number(forge, last, test_forge_get(forge, last) | UINT64_C(1) << bit, what);
        }
        at += 8 * words_of(m[i]);
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
        size_t at = test_forge_find(&forge).filter.contents;
        assert_int_equal(forge.size - at, 8 * words);
        must_be_accepted(&forge, params);
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

static void the_count_of_a_member_is_the_number_of_its_urls(void **state)
{
    static const char *const outer[] = {"spatial", "scalable"};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        char params[64];
        snprintf(params, sizeof params, "inner=%s", exact_kinds[i / 2]);
        test_forge forge = forge_of(outer[i % 2], params, 100, 0, 20);
        must_be_accepted(&forge, params);
        test_forge_filter member = test_forge_filter_at(&forge, test_forge_find(&forge).filter.contents + 8);
        refuse_number(&forge, member.count, 19, params);
        refuse_number(&forge, member.count, 21, params);
        refuse_number(&forge, member.contents, 21, params);
        refuse_number(&forge, member.contents, UINT64_C(1) << 50, params);
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

/* ---- filters inside of filters ---- */

typedef struct recipe {
    const char *kind, *params;
    uint64_t capacity;
    double error;
} recipe;

enum { MOST_MEMBERS = 3 };

/* The set `outer`, but with these filters in it, after a number: the stages, or the questions without agreement. */
static test_forge assemble(const recipe *outer, uint64_t number, const recipe *const *inner, size_t n)
{
    test_forge forge = forge_of(outer->kind, outer->params, outer->capacity, outer->error, 5);
    forge.size = test_forge_find(&forge).filter.contents;
    test_forge_append_u64(&forge, number);
    for (size_t i = 0; i < n; i++) {
        test_forge member = forge_of(inner[i]->kind, inner[i]->params, inner[i]->capacity, inner[i]->error, 5);
        size_t at = test_forge_find(&member).filter.kind;
        test_forge_append(&forge, member.bytes + at, member.size - at);
        test_forge_free(&member);
    }
    return forge;
}

typedef struct pair {
    const char *promise;
    recipe outer, a, b;
} pair;

static void two_that_do_not_fit_are_refused(void **state)
{
    const pair *which = *state;
    const recipe *same[] = {&which->a, &which->a}, *mixed[] = {&which->a, &which->b},
                 *turned[] = {&which->b, &which->a};
    uint64_t number = strcmp(which->outer.kind, "scalable") == 0 ? 2 : 0;
    test_forge forge = assemble(&which->outer, number, same, 2);
    must_be_accepted(&forge, which->a.params);
    test_forge_free(&forge);
    forge = assemble(&which->outer, number, mixed, 2);
    must_be_refused(&forge, which->b.params, 0);
    test_forge_free(&forge);
    forge = assemble(&which->outer, number, turned, 2);
    must_be_refused(&forge, which->b.params, 1);
    test_forge_free(&forge);
}

#define SPATIAL(params)                                                                                                \
    {                                                                                                                  \
        "spatial", params, 0, 0                                                                                        \
    }
#define SCALABLE(params)                                                                                               \
    {                                                                                                                  \
        "scalable", params, 50, 0.01                                                                                   \
    }

static const pair pairs[] = {
    {"spatial: a member of another kind",
     SPATIAL("F=2,inner=classic,m=1000,k=3"),
     {"classic", "m=1000,k=3", 0, 0},
     {"counting", "m=1000,k=3", 0, 0}},
    {"spatial: a member that keeps URLs",
     SPATIAL("F=2,inner=classic,m=1000,k=3"),
     {"classic", "m=1000,k=3", 0, 0},
     {"hashset", NULL, 0, 0}},
    {"spatial: multilayer L=16 next to L=1",
     SPATIAL("F=2,inner=multilayer,m=1000,k=3,L=16"),
     {"multilayer", "m=1000,k=3,L=16", 0, 0},
     {"multilayer", "m=1000,k=3,L=1", 0, 0}},
    {"spatial: multilayer that strips the scheme next to one that keeps it",
     SPATIAL("F=2,inner=multilayer,m=1000,k=3,scheme=keep"),
     {"multilayer", "m=1000,k=3,scheme=keep", 0, 0},
     {"multilayer", "m=1000,k=3,scheme=strip", 0, 0}},
    {"spatial: classic of=url next to of=segments",
     SPATIAL("F=2,inner=classic,m=1000,k=3"),
     {"classic", "m=1000,k=3", 0, 0},
     {"classic", "m=1000,k=3,of=segments", 0, 0}},
    {"spatial: classic derived next to salted",
     SPATIAL("F=2,inner=classic,m=1000,k=3"),
     {"classic", "m=1000,k=3", 0, 0},
     {"classic", "m=1000,k=3,mode=salted", 0, 0}},
    {"spatial: eigen g=tail next to g=ends",
     SPATIAL("F=2,inner=eigen,m=1000,k=3,g=tail"),
     {"eigen", "m=1000,k=3,g=tail", 0, 0},
     {"eigen", "m=1000,k=3,g=ends", 0, 0}},
    {"spatial: spatial of hashset next to spatial of classic",
     SPATIAL("F=2,inner=spatial,inner.F=2,inner.inner=hashset"),
     {"spatial", "F=2,inner=hashset", 0, 0},
     {"spatial", "F=2,inner=classic,m=1000,k=3", 0, 0}},
    {"spatial: spatial of counting next to spatial of classic",
     SPATIAL("F=2,inner=spatial,inner.F=2,inner.inner=counting,m=1000,k=3"),
     {"spatial", "F=2,inner=counting,m=1000,k=3", 0, 0},
     {"spatial", "F=2,inner=classic,m=1000,k=3", 0, 0}},
    {"scalable: a stage of another kind",
     SCALABLE("inner=classic,k=3"),
     {"classic", "k=3", 50, 0.005},
     {"counting", "k=3", 50, 0.005}},
    {"scalable: a stage that keeps URLs",
     SCALABLE("inner=classic,k=3"),
     {"classic", "k=3", 50, 0.005},
     {"hashset", NULL, 0, 0}},
    {"scalable: multilayer L=16 next to L=1",
     SCALABLE("inner=multilayer,k=3,L=16"),
     {"multilayer", "k=3,L=16", 50, 0.005},
     {"multilayer", "k=3,L=1", 50, 0.005}},
    {"scalable: classic of=url next to of=segments",
     SCALABLE("inner=classic,k=3"),
     {"classic", "k=3", 50, 0.005},
     {"classic", "k=3,of=segments", 50, 0.005}},
    {"scalable: classic derived next to salted",
     SCALABLE("inner=classic,k=3"),
     {"classic", "k=3", 50, 0.005},
     {"classic", "k=3,mode=salted", 50, 0.005}},
    {"scalable: eigen g=tail next to g=ends",
     SCALABLE("inner=eigen,k=3,g=tail"),
     {"eigen", "k=3,g=tail", 50, 0.005},
     {"eigen", "k=3,g=ends", 50, 0.005}},
    {"scalable: spatial of hashset next to spatial of classic",
     SCALABLE("inner=spatial,inner.inner=hashset"),
     {"spatial", "F=2,inner=hashset", 50, 0.005},
     {"spatial", "F=2,inner=classic,k=3", 50, 0.005}},
};

static void the_number_of_stages_or_members_is_theirs(void **state)
{
    (void)state;
    test_forge forge = forge_of("scalable", "inner=classic,k=3", 50, 0.01, 20);
    size_t at = test_forge_find(&forge).filter.contents;
    assert_int_equal(test_forge_get(&forge, at), 1);
    refuse_number(&forge, at, 0, "stages");
    refuse_number(&forge, at, 2, "stages");
    refuse_number(&forge, at, 64, "stages");
    refuse_number(&forge, at, 65, "stages");
    refuse_number(&forge, at, UINT64_C(1) << 32 | 1, "stages");
    refuse_number(&forge, at, UINT64_MAX, "stages");
    test_forge_free(&forge);

    static const char *const members[] = {"0", "1", "3", "16", "17", "4294967298"};
    forge = forge_of("spatial", "F=2,m=1000,k=3", 0, 0, 20);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        test_forge lie;
        test_forge_copy(&lie, &forge);
        test_forge_param(&lie, test_forge_find(&lie).filter.kind, "F", members[i]);
        must_be_refused(&lie, members[i], i);
        test_forge_free(&lie);
    }
    test_forge_free(&forge);
}

/* Puts so many more filters with one inside around the filter, each of the kind `outer`. */
static void wrap(test_forge *forge, const char *outer, const char *params, uint64_t number, unsigned times)
{
    test_forge around = {0};
    test_forge_filter inner = test_forge_find(forge).filter;
    uint64_t capacity = test_forge_get(forge, inner.capacity), error = test_forge_get(forge, inner.error);
    uint64_t count = test_forge_get(forge, inner.count);
    for (unsigned i = 0; i < times; i++) {
        test_forge_append_text(&around, outer);
        test_forge_append_text(&around, params);
        test_forge_append_u64(&around, capacity);
        test_forge_append_u64(&around, error);
        test_forge_append_u64(&around, count);
        test_forge_append_u64(&around, number);
    }
    test_forge_replace(forge, inner.kind, 0, around.bytes, around.size);
    test_forge_free(&around);
}

static void three_levels_are_the_deepest(void **state)
{
    static const unsigned more[] = {1, 2, 3, 50, 5000};
    (void)state;
    test_forge spatial =
        forge_of("spatial",
                 "F=1,inner=spatial,inner.F=1,inner.inner=spatial,inner.inner.F=1,inner.inner.inner=classic,m=1000,k=3",
                 0, 0, 20);
    test_forge scalable =
        forge_of("scalable", "inner=scalable,inner.inner=scalable,inner.inner.inner=classic,k=3", 50, 0.01, 20);
    must_be_accepted(&spatial, "spatial, three levels");
    must_be_accepted(&scalable, "scalable, three levels");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        test_forge lie;
        test_forge_copy(&lie, &spatial);
        wrap(&lie, "spatial", "F=1,eager=off,inner=spatial", 0, more[i]);
        must_be_refused(&lie, "spatial, levels more", more[i]);
        test_forge_free(&lie);
        test_forge_copy(&lie, &scalable);
        wrap(&lie, "scalable", "growth=2,tighten=0.5,inner=scalable", 1, more[i]);
        must_be_refused(&lie, "scalable, levels more", more[i]);
        test_forge_free(&lie);
    }
    test_forge_free(&spatial);
    test_forge_free(&scalable);
}

/* ---- fingerprint ---- */

enum { PARTITIONS = 64, PARTITION_BITS = 6 };
#define NOT_OPEN UINT64_MAX

/* A sub-table in a payload. */
typedef struct table {
    size_t at; /* five numbers */
    uint64_t depth, lines, width, spilled, room;
    size_t first_line;
    size_t first_spilled; /* each of 8 bytes, or 16 in a multiset */
    size_t end;
    unsigned bits;
} table;

static table table_at(const test_forge *forge, size_t at, unsigned hash_bits, bool multiset)
{
    table found = {.at = at,
                   .depth = test_forge_get(forge, at),
                   .lines = test_forge_get(forge, at + 8),
                   .width = test_forge_get(forge, at + 16),
                   .spilled = test_forge_get(forge, at + 24),
                   .room = test_forge_get(forge, at + 32),
                   .first_line = at + 40};
    found.first_spilled = found.first_line + 64 * found.lines;
    found.end = found.first_spilled + found.spilled * (multiset ? 16 : 8);
    found.bits = hash_bits - PARTITION_BITS - (unsigned)found.depth;
    return found;
}

/* The first sub-table with at least so many spilled hashes; fails the test if there is none. */
static table find_table(const test_forge *forge, unsigned hash_bits, bool multiset, uint64_t spilled)
{
    size_t at = test_forge_find(forge).filter.contents;
    for (unsigned i = 0; i < PARTITIONS; i++) {
        uint64_t depth = test_forge_get(forge, at);
        at += 8;
        for (uint64_t entry = 0; depth != NOT_OPEN && entry < UINT64_C(1) << depth;) {
            table found = table_at(forge, at, hash_bits, multiset);
            if (found.spilled >= spilled) {
                return found;
            }
            entry += UINT64_C(1) << (depth - found.depth);
            at = found.end;
        }
    }
    fail_msg("no sub-table has %llu spilled hashes", (unsigned long long)spilled);
    return (table){0};
}

/* A line in use, from the beginning or from the end: its number. */
static uint64_t used_line(const test_forge *forge, const table *in, unsigned least)
{
    for (uint64_t line = 0; line < in->lines; line++) {
        if ((forge->bytes[in->first_line + 64 * line + 60] & 31u) >= least) {
            return line;
        }
    }
    fail_msg("no line has %u hashes", least);
    return 0;
}

/* The parts of a distance, as lib/filters/line.h lays them out. */
static void distance_parts(uint64_t width, unsigned slot, size_t at[2], unsigned bytes[2])
{
    static const unsigned char low[9] = {0, 0, 0, 2, 4, 4, 4, 0, 8}, high_at[9] = {0, 0, 0, 40, 0, 48, 40, 0, 0};
    bytes[0] = low[width];
    bytes[1] = (unsigned)width - low[width];
    at[0] = (size_t)slot * bytes[0];
    at[1] = high_at[width] + (size_t)slot * bytes[1];
}

static uint64_t get_distance(const unsigned char *line, uint64_t width, unsigned slot)
{
    size_t at[2];
    unsigned bytes[2], shift = 0;
    uint64_t distance = 0;
    distance_parts(width, slot, at, bytes);
    for (int part = 0; part < 2; part++) {
        for (unsigned i = 0; i < bytes[part]; i++, shift += 8) {
            distance |= (uint64_t)line[at[part] + i] << shift;
        }
    }
    return distance;
}

static void put_distance(unsigned char *line, uint64_t width, unsigned slot, uint64_t distance)
{
    size_t at[2];
    unsigned bytes[2];
    distance_parts(width, slot, at, bytes);
    for (int part = 0; part < 2; part++) {
        for (unsigned i = 0; i < bytes[part]; i++, distance >>= 8) {
            line[at[part] + i] = (unsigned char)distance;
        }
    }
}

static uint64_t first_hash(const table *in, uint64_t line)
{
    unsigned __int128 start = (unsigned __int128)line << in->bits;
    return (uint64_t)((start + in->lines - 1) / in->lines);
}

/* Tables of all widths: few hashes and many, of many bits and few. */
static const struct {
    const char *params;
    unsigned bits;
    uint64_t n;
} prints[] = {
    {"bits=60", 60, 40}, {"bits=60", 60, 40000}, {"bits=47", 47, 8000}, {"bits=40", 40, 8000}, {"bits=32", 32, 40000},
};

enum { PRINTS = sizeof prints / sizeof *prints };

static void the_count_is_the_number_of_hashes(void **state)
{
    (void)state;
    for (size_t i = 0; i < PRINTS; i++) {
        test_forge forge = forge_of("fingerprint", prints[i].params, 0, 0, prints[i].n);
        test_forge_filter filter = test_forge_find(&forge).filter;
        uint64_t count = test_forge_get(&forge, filter.count);
        must_be_accepted(&forge, prints[i].params);
        refuse_number(&forge, filter.count, count - 1, "count");
        refuse_number(&forge, filter.count, count + 1, "count");
        refuse_number(&forge, filter.count, 0, "count");
        refuse_number(&forge, filter.count, UINT64_MAX, "count");
        table first = find_table(&forge, prints[i].bits, false, 0);
        unsigned char *line = forge.bytes + first.first_line + 64 * used_line(&forge, &first, 1);
        line[60]--;
        must_be_refused(&forge, "a hash is missing", i);
        test_forge_free(&forge);
    }
}

static void a_line_holds_no_more_than_it_can(void **state)
{
    (void)state;
    for (size_t i = 0; i < PRINTS; i++) {
        test_forge forge = forge_of("fingerprint", prints[i].params, 0, 0, prints[i].n);
        table first = find_table(&forge, prints[i].bits, false, 0);
        unsigned char *line = forge.bytes + first.first_line;
        unsigned char kept = line[60];
        static const unsigned slots[9] = {0, 0, 0, 20, 15, 12, 10, 0, 7};
        for (unsigned count = slots[first.width] + 1; count < 32; count++) {
            line[60] = (unsigned char)((kept & ~31u) | count);
            must_be_refused(&forge, "hashes in a line", count);
        }
        test_forge_free(&forge);
    }
}

static void a_distance_leads_to_its_line(void **state)
{
    unsigned tried = 0;
    (void)state;
    for (size_t i = 0; i < PRINTS; i++) {
        test_forge forge = forge_of("fingerprint", prints[i].params, 0, 0, prints[i].n);
        table first = find_table(&forge, prints[i].bits, false, 0);
        uint64_t number = used_line(&forge, &first, 1);
        unsigned char *line = forge.bytes + first.first_line + 64 * number;
        unsigned slot = (line[60] & 31u) - 1;
        uint64_t span = first_hash(&first, number + 1) - first_hash(&first, number);
        uint64_t most = first.width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * first.width) - 1;
        assert_true(get_distance(line, first.width, slot) < span);
        if (span - 1 <= most) {
            put_distance(line, first.width, slot, span - 1);
            must_be_accepted(&forge, "the last distance");
        }
        if (span <= most) {
            put_distance(line, first.width, slot, span);
            must_be_refused(&forge, "distance", span);
            put_distance(line, first.width, slot, most);
            must_be_refused(&forge, "distance", most);
            tried++;
        }
        test_forge_free(&forge);
    }
    assert_true(tried >= 2);
}

static void a_hash_is_in_a_line_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < PRINTS; i++) {
        test_forge forge = forge_of("fingerprint", prints[i].params, 0, 0, prints[i].n);
        table first = find_table(&forge, prints[i].bits, false, 0);
        if (prints[i].n > 1000) {
            unsigned char *line = forge.bytes + first.first_line + 64 * used_line(&forge, &first, 2);
            put_distance(line, first.width, 0, get_distance(line, first.width, 1));
            must_be_refused(&forge, prints[i].params, i);
        }
        test_forge_free(&forge);
    }
}

static void a_spilled_hash_is_there_once(void **state)
{
    (void)state;
    for (int multiset = 0; multiset < 2; multiset++) {
        size_t step = multiset ? 16 : 8;
        test_forge forge = forge_of("fingerprint", multiset ? "multiset=on" : NULL, 0, 0, 40000);
        must_be_accepted(&forge, "fingerprint");
        table in = find_table(&forge, 60, multiset, 2);
        uint64_t kept = test_forge_get(&forge, in.first_spilled);
        assert_true(kept >> in.bits == 0);
        refuse_number(&forge, in.first_spilled + step, kept, "spilled hash");
        refuse_number(&forge, in.first_spilled, kept | UINT64_C(1) << in.bits, "spilled hash");
        refuse_number(&forge, in.first_spilled, UINT64_MAX, "spilled hash");
        refuse_number(&forge, in.first_spilled, UINT64_MAX - 1, "spilled hash");
        uint64_t number = used_line(&forge, &in, 1);
        uint64_t distance = get_distance(forge.bytes + in.first_line + 64 * number, in.width, 0);
        refuse_number(&forge, in.first_spilled, first_hash(&in, number) + distance, "hash of a line");
        if (multiset) {
            refuse_number(&forge, in.first_spilled + 8, 0, "times");
        }
        test_forge_free(&forge);
    }
}

static void a_table_has_a_shape_that_can_be(void **state)
{
    (void)state;
    test_forge forge = forge_of("fingerprint", NULL, 0, 0, 40000);
    table in = find_table(&forge, 60, false, 2);
    static const uint64_t lines[] = {0, 1, UINT64_C(1) << 17, (UINT64_C(1) << 17) + 1, UINT64_C(1) << 58, UINT64_MAX};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        refuse_number(&forge, in.at + 8, lines[i], "lines");
    }
    refuse_number(&forge, in.at + 8, in.lines + 1, "lines");
    refuse_number(&forge, in.at + 8, in.lines - 1, "lines");
    for (uint64_t width = 0; width < 10; width++) {
        if (width != in.width && (width < in.width || width == 7 || width > 8)) {
            refuse_number(&forge, in.at + 16, width, "bytes a distance");
        }
    }
    refuse_number(&forge, in.at + 16, UINT64_C(1) << 32 | 6, "bytes a distance");
    refuse_number(&forge, in.at + 24, in.spilled - 1, "spilled");
    refuse_number(&forge, in.at + 24, in.spilled + 1, "spilled");
    refuse_number(&forge, in.at + 24, UINT64_C(1) << 61, "spilled");
    refuse_number(&forge, in.at + 24, UINT64_MAX, "spilled");
    refuse_number(&forge, in.at + 32, 0, "room");
    refuse_number(&forge, in.at + 32, in.spilled, "room");
    refuse_number(&forge, in.at + 32, UINT64_C(1) << 40, "room");
    refuse_number(&forge, in.at + 32, UINT64_MAX, "room");
    test_forge_free(&forge);
}

/* An empty set whose first partition has a directory of this depth and empty sub-tables of those depths. */
static test_forge with_directory(uint64_t depth, const uint64_t *depths, size_t n)
{
    static const unsigned char empty_line[64];
    test_forge forge = forge_of("fingerprint", NULL, 0, 0, 0);
    forge.size = test_forge_find(&forge).filter.contents;
    test_forge_append_u64(&forge, depth);
    for (size_t i = 0; i < n; i++) {
        const uint64_t numbers[] = {depths[i], 1, 8, 0, 0};
        for (size_t j = 0; j < 5; j++) {
            test_forge_append_u64(&forge, numbers[j]);
        }
        test_forge_append(&forge, empty_line, sizeof empty_line);
    }
    for (unsigned i = 1; i < PARTITIONS; i++) {
        test_forge_append_u64(&forge, NOT_OPEN);
    }
    return forge;
}

static void sub_tables_leave_no_gap(void **state)
{
    static const struct {
        uint64_t depth;
        uint64_t tables[8];
        size_t n;
        bool good;
    } directories[] = {
        {0, {0}, 1, true},          {1, {1, 1}, 2, true},
        {2, {1, 2, 2}, 3, true},    {2, {2, 2, 1}, 3, true},
        {3, {3, 3, 2, 1}, 4, true}, {1, {1, 0}, 2, false}, /* one too large for its place */
        {2, {2, 1, 2}, 3, false},                          /* across the middle */
        {2, {2, 0}, 2, false},      {3, {3, 2, 3, 2, 2}, 5, false},
        {0, {1}, 1, false},                                   /* deeper than the directory */
        {1, {2, 2, 1}, 3, false},   {1, {1}, 1, false},       /* not complete: the next partition comes instead */
        {2, {1, 2}, 2, false},      {1, {1, 1, 1}, 3, false}, /* one too many */
        {0, {0, 0}, 2, false},      {1, {UINT64_MAX}, 1, false},
        {1, {64, 64}, 2, false},    {1, {UINT64_C(1) << 32, 1}, 2, false},
        {0, {0}, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        test_forge forge = with_directory(directories[i].depth, directories[i].tables, directories[i].n);
        if (directories[i].good) {
            must_be_accepted(&forge, "a directory");
        } else {
            must_be_refused(&forge, "directory", i);
        }
        test_forge_free(&forge);
    }
}

/* However deep it says it is, no directory is made that the stream is too short for. */
static void the_depth_of_a_directory_is_not_believed(void **state)
{
    static const uint64_t depths[] = {
        60, 5, 12, 18, 20, 22, 24, 25, 32, 46, 54, 63, 64, 100, UINT64_C(1) << 32, UINT64_MAX - 1};
    (void)state;
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        const uint64_t tables[] = {depths[i], depths[i]};
        test_forge forge = with_directory(depths[i], tables, 2);
        must_be_refused(&forge, "depth", depths[i]);
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
    test_add("the count of a member is the number of its URLs", the_count_of_a_member_is_the_number_of_its_urls, NULL);
    test_add("lengths and times of URLs are not believed", lengths_and_times_of_urls_are_not_believed, NULL);
    test_add("a URL is there once", a_url_is_there_once, NULL);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char promise[200];
        snprintf(promise, sizeof promise, "two that do not fit are refused: %s", pairs[i].promise);
        test_add(promise, two_that_do_not_fit_are_refused, &pairs[i]);
    }
    test_add("the number of stages or members is theirs", the_number_of_stages_or_members_is_theirs, NULL);
    test_add("three levels are the deepest", three_levels_are_the_deepest, NULL);
    test_add("fingerprint: the count is the number of hashes", the_count_is_the_number_of_hashes, NULL);
    test_add("fingerprint: a line holds no more than it can", a_line_holds_no_more_than_it_can, NULL);
    test_add("fingerprint: a distance leads to its line", a_distance_leads_to_its_line, NULL);
    test_add("fingerprint: a hash is in a line once", a_hash_is_in_a_line_once, NULL);
    test_add("fingerprint: a spilled hash is there once", a_spilled_hash_is_there_once, NULL);
    test_add("fingerprint: a table has a shape that can be", a_table_has_a_shape_that_can_be, NULL);
    test_add("fingerprint: sub-tables leave no gap", sub_tables_leave_no_gap, NULL);
    test_add("fingerprint: the depth of a directory is not believed", the_depth_of_a_directory_is_not_believed, NULL);
    return test_run("forged", argc, argv);
}
