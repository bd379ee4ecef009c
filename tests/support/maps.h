/*
 * Streams as somebody would map them: in memory that cannot be written to and ends where the stream ends, or nearly so.
 */
#ifndef TESTS_SUPPORT_MAPS_H
#define TESTS_SUPPORT_MAPS_H

#include <stddef.h>

#include "set/set.h"
#include "support/streams.h"

typedef struct test_map {
    unsigned char *bytes;
    size_t size;
    size_t whole; /* pages and all */
} test_map;

/* Copies the stream; behind its last page comes one that nobody may touch. */
void test_map_make(test_map *map, const unsigned char *data, size_t size);
void test_map_free(test_map *map);

/* Changes one bit, however protected it is. */
void test_map_flip(test_map *map, size_t bit);

/* Maps the set, or fails the test. */
vidi_set *test_map_set(const test_map *map);

#endif
