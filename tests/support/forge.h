/*
 * Forged streams: the payload of a stream as bytes that a test may change, sealed again with correct checksums. What the
 * library then says is what it thinks of the contents. docs/FORMAT.md describes them.
 *
 * The zeros before an array are not among the bytes. The forge remembers where arrays begin, as bytes before them come
 * and go, and puts the zeros there when it seals.
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
    size_t size; /* as it was taken; 0 of one that was appended */
} test_forge_array;

typedef struct test_forge {
    unsigned char *bytes;
    size_t size;
    size_t room;
    test_forge_array *arrays; /* in order */
    size_t array_count;
} test_forge;

/* Where the parts of a filter begin. */
typedef struct test_forge_filter {
    size_t kind;   /* a text */
    size_t params; /* a text */
    size_t capacity;
    size_t error;
    size_t count;
    size_t contents;
} test_forge_filter;

/* Where the parts of a payload begin. */
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

/* Puts other bytes, as many or not, in the place of some. */
void test_forge_replace(test_forge *forge, size_t at, size_t size, const void *with, size_t with_size);

/* Leaves so many. */
void test_forge_cut(test_forge *forge, size_t size);

/* Bytes at the end. */
void test_forge_append(test_forge *forge, const void *bytes, size_t size);
void test_forge_append_from(test_forge *forge, const test_forge *other, size_t from); /* its arrays too */
void test_forge_append_array(test_forge *forge); /* what is appended next is the beginning of one */
void test_forge_append_u64(test_forge *forge, uint64_t value);
void test_forge_append_text(test_forge *forge, const char *text);

/* Gives a parameter of the filter that begins at `at` another value; fails the test if it has none of that name. */
void test_forge_param(test_forge *forge, size_t at, const char *name, const char *value);

/* The file offset of a byte of the payload, when sealed. */
size_t test_forge_sealed_at(const test_forge *forge, size_t at);

/* The payload as a stream; to be freed with test_stream_free. */
void test_forge_seal(const test_forge *forge, test_stream *stream);

#endif
