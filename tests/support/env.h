/*
 * Environment variables that control a test run:
 *   VIDI_TEST_URLS   number of URLs in the big comparisons (default 1000000); sanitizer runs use fewer
 *   VIDI_TEST_LONG   1: test everything, however long it takes
 *   VIDI_TESTDATA    a folder with corpus/NAME.txt.zst: real URLs, one a line; tests that need it are skipped
 *                    without it
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

/* Sanitizer builds are about ten times slower, so tests of speed and memory mean nothing there. */
bool test_sanitized(void);

/* The folder with real data, or NULL. */
const char *test_data(void);

/* Called with each line, without its newline. A result other than 0 stops reading. */
typedef int test_line(void *context, vidi_str line);

/* The path of the index-th corpus file, sorted by name; false after the last, or without data. */
bool test_corpus_path(size_t index, char *path, size_t room);

/* Reads a zstd file line by line. Returns 0, the visitor's result if not 0, or -1 if the file cannot be read. */
int test_corpus_read(const char *path, test_line *visit, void *context);

#endif
