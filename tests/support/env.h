/*
 * What the surroundings ask of a test run:
 *   VIDI_TEST_URLS   URLs of the big comparisons (1000000); sanitizer runs ask for fewer
 *   VIDI_TEST_LONG   1: everything, however long it takes
 *   VIDI_TESTDATA    a folder with corpus/NAME.txt.zst: real URLs, one a line; tests that need them are skipped without
 */
#ifndef TESTS_SUPPORT_ENV_H
#define TESTS_SUPPORT_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

uint64_t test_urls(void);
uint64_t test_urls_at_most(uint64_t most);
bool test_long(void);

/* The sanitizer builds run some ten times slower; tests of speed and of memory mean nothing there. */
bool test_sanitized(void);

/* The folder with real data, or NULL. */
const char *test_data(void);

/* Called with each line, without its end; anything but 0 stops the reading. */
typedef int test_line(void *context, vidi_str line);

/* The path of the index-th corpus file in the order of names; false beyond the last, or without data. */
bool test_corpus_path(size_t index, char *path, size_t room);

/* Reads a zstd file line by line, lines of any length. 0, what the visitor returned, or -1 when it cannot be read. */
int test_corpus_read(const char *path, test_line *visit, void *context);

#endif
