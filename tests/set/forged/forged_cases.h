/*
 * Streams with correct checksums whose contents lie: what is forged, and how it must be refused.
 */
#ifndef TESTS_SET_FORGED_CASES_H
#define TESTS_SET_FORGED_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/alloc.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/forge.h"
#include "support/maps.h"
#include "support/urls.h"
#include "vidi/vidi.h"

#define MOST_AT_ONCE (((uint64_t)2 << 20) + 64) /* bytes of a single allocation, for streams of a few hundred bytes */

/* ---- reading of what was forged ---- */

/* What vidi_read says of it. Everything that was allocated must have been released, and nothing large among it. */
static inline int read_with(const test_forge *forge, bool length_known, uint64_t memory_limit, uint64_t *largest)
{
    test_stream stream;
    test_allocator allocator;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *set = NULL;
    test_forge_seal(forge, &stream);
    test_allocator_init(&allocator);
    access.allocator = &allocator.hook;
    access.memory_limit = memory_limit;
    int result = test_stream_read(&stream, &set, length_known ? stream.size : 0, &access);
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

static inline int visit_some(void *context, const vidi_entry *entry)
{
    (void)entry;
    return ++*(uint64_t *)context == 1000;
}

/* In a mapping it is found at the latest by verification, and does no harm until then. */
static inline void must_be_found(const test_forge *forge, const char *what, uint64_t which)
{
    test_stream stream;
    test_map map;
    vidi_set *set;
    test_forge_seal(forge, &stream);
    test_map_make(&map, stream.data, stream.size);
    int result = vidi__set_map(&set, map.bytes, map.size, NULL);
    if (result == VIDI_OK) {
        uint64_t visited = 0, times;
        vidi_has(set, test_str("http://example.org/a/b/c/d?e=f"));
        vidi_count(set, test_str("http://example.org/a/b/c/d?e=f"), &times);
        vidi_iterate(set, visit_some, &visited);
        result = vidi__set_verify(set);
    }
    check(result == VIDI_EFORMAT, "%s %llu, mapped: %d, %s", what, (unsigned long long)which, result,
          result < 0 ? vidi_message() : "accepted");
    vidi_close(set);
    test_map_free(&map);
    test_stream_free(&stream);
}

static inline void must_be_refused(const test_forge *forge, const char *what, uint64_t which)
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
    must_be_found(forge, what, which);
}

static inline void must_be_accepted(const test_forge *forge, const char *what)
{
    for (int known = 0; known < 2; known++) {
        uint64_t largest;
        int result = read_with(forge, known, 0, &largest);
        check(result == VIDI_OK, "%s, which is no lie: %d, %s", what, result, vidi_message());
    }
}

/* ---- what is forged: small sets under one key, with n URLs ---- */

static inline vidi_set *set_of(const char *kind, const char *params, uint64_t capacity, double error, uint64_t n)
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

static inline test_forge forge_of(const char *kind, const char *params, uint64_t capacity, double error, uint64_t n)
{
    test_forge forge;
    vidi_set *set = set_of(kind, params, capacity, error, n);
    test_forge_take(&forge, set);
    vidi_close(set);
    return forge;
}

/* Changes a number, has the stream refused, and changes it back. */
static inline void refuse_number(test_forge *forge, size_t at, uint64_t value, const char *what)
{
    uint64_t kept = test_forge_get(forge, at);
    assert_true(kept != value);
    test_forge_put(forge, at, value);
    must_be_refused(forge, what, value);
    test_forge_put(forge, at, kept);
}

#endif
