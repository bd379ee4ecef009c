/*
 * Streams as if they were mapped from a file: in read-only memory that ends where the stream ends, or shortly after.
 */
#ifndef TESTS_SUPPORT_MAPS_H
#define TESTS_SUPPORT_MAPS_H

#include <stddef.h>

#include "set/set.h"
#include "support/streams.h"

typedef struct test_map {
    unsigned char *bytes;
    size_t size;
    size_t whole; /* whole mapping, including the guard page */
} test_map;

/* Copies the stream. After its last page comes a page that cannot be accessed. */
void test_map_make(test_map *map, const unsigned char *data, size_t size);
void test_map_free(test_map *map);

/* Changes one bit, although the memory is read-only. */
void test_map_flip(test_map *map, size_t bit);

/* Maps the set, or fails the test. */
vidi_set *test_map_set(const test_map *map);

#endif
