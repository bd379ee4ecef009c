/*
 * Sets of a kind with its parameters under a key from a seed, and URLs to add to them.
 */
#ifndef TESTS_SET_FIT_CASES_H
#define TESTS_SET_FIT_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/cases.h"
#include "support/check.h"
#include "support/env.h"
#include "support/urls.h"
#include "vidi/vidi.h"

/* A kind and its parameters, and those of its hashing. */
typedef struct shape {
    const char *kind, *params;
    uint64_t capacity;
    double error;
    bool hashes; /* takes mode */
} shape;

static inline vidi_str url_at(char *room, uint64_t seed, uint64_t index)
{
    return (vidi_str){room, test_url(room, TEST_URL_ROOM, seed, index)};
}

static inline int make(vidi_set **set, const char *kind, const char *params, uint64_t capacity, double error,
                       uint64_t seed)
{
    unsigned char key[VIDI_KEY_BYTES];
    vidi_options options = VIDI_OPTIONS_INIT;
    test_key(key, seed);
    options.kind = kind;
    options.params = params;
    options.capacity = capacity;
    options.error = error;
    options.key = key;
    return vidi_create(set, &options);
}

static inline vidi_set *must_make(const char *kind, const char *params, uint64_t capacity, double error, uint64_t seed)
{
    vidi_set *set = NULL;
    int result = make(&set, kind, params, capacity, error, seed);
    check(result == VIDI_OK, "%s %s: %d, %s", kind, params ? params : "", result, vidi_message());
    return set;
}

static inline void add_range(vidi_set *set, uint64_t seed, uint64_t first, uint64_t n)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = first; i < first + n; i++) {
        assert_true(vidi_add(set, url_at(room, seed, i)) > 0);
    }
}

static inline bool can_merge(const test_case *which)
{
    return test_case_can(which, VIDI_CAN_MERGE);
}

/* Kinds that keep their URLs merge across keys and members: see test_merge_urls.c. */
static inline bool merges_hashes(const test_case *which)
{
    return can_merge(which) && !(which->traits & TEST_EXACT);
}

#endif
