/*
 * Forged streams: a test can change the payload of a stream and seal it again with correct checksums. So it tests how
 * the library checks the contents, which docs/FORMAT.md describes.
 *
 * The bytes do not include the zeros before arrays. The forge keeps track of where arrays begin when bytes before them
 * are added or removed, and inserts the zeros when it seals.
 */
#ifndef TESTS_SUPPORT_FORGE_H
#define TESTS_SUPPORT_FORGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/stream.h"
#include "support/streams.h"
#include "vidi/vidi.h"

typedef struct test_forge_array {
    size_t at;
    size_t size; /* in the original stream; 0 if it was appended */
} test_forge_array;

typedef struct test_forge {
    unsigned char *bytes;
    size_t size;
    size_t room;
    test_forge_array *arrays; /* in order */
    size_t array_count;
} test_forge;

/* Offsets of the parts of a filter. */
typedef struct test_forge_filter {
    size_t kind;   /* a text */
    size_t params; /* a text */
    size_t capacity;
    size_t error;
    size_t count;
    size_t contents;
} test_forge_filter;

/* Offsets of the parts of a payload. */
typedef struct test_forge_places {
    size_t epoch;
    size_t member;
    size_t recipe;   /* a text: the kind */
    size_t answered; /* the first of five numbers */
    size_t lost;
    size_t past; /* number of past epochs; 64 bytes for each follow */
    test_forge_filter filter;
} test_forge_places;

/* Writes the set and takes its payload, or fails the test. */
void test_forge_take(test_forge *forge, const vidi_set *set);
void test_forge_copy(test_forge *to, const test_forge *from);
void test_forge_free(test_forge *forge);

test_forge_places test_forge_find(const test_forge *forge);
test_forge_filter test_forge_filter_at(const test_forge *forge, size_t at);

uint64_t test_forge_get(const test_forge *forge, size_t at);
void test_forge_put(test_forge *forge, size_t at, uint64_t value);
void test_forge_put_double(test_forge *forge, size_t at, double value);

/* Replaces some bytes with others, of the same number or not. */
void test_forge_replace(test_forge *forge, size_t at, size_t size, const void *with, size_t with_size);

/* Truncates the payload to this size. */
void test_forge_cut(test_forge *forge, size_t size);

/* Append bytes at the end. */
void test_forge_append(test_forge *forge, const void *bytes, size_t size);
void test_forge_append_from(test_forge *forge, const test_forge *other, size_t from); /* includes its arrays */
void test_forge_append_array(test_forge *forge); /* the next bytes appended begin an array */
void test_forge_append_u64(test_forge *forge, uint64_t value);
void test_forge_append_text(test_forge *forge, const char *text);

/* Changes a parameter of the filter that begins at `at`; fails the test if it has no parameter of that name. */
void test_forge_param(test_forge *forge, size_t at, const char *name, const char *value);

/* The offset in the sealed stream of a byte of the payload. */
size_t test_forge_sealed_at(const test_forge *forge, size_t at);

/* The sealed stream. Free it with test_stream_free. */
void test_forge_seal(const test_forge *forge, test_stream *stream);

#endif
