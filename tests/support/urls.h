/*
 * Synthetic URLs, the same on every machine and in every run.
 *
 * test_url looks like a crawl: a few hosts have most of the URLs (Zipf), paths have one to six segments from each
 * site's own small vocabulary, and one URL in six has a query. Each (seed, index) gives a distinct URL: the end shows
 * the index and the host shows the seed. All URLs of a seed share hosts and segments, so URLs that were never added
 * (higher indices) are as similar to the added ones as URLs of a real site are.
 *
 * test_deep_url gives deep URLs of one site that differ only in a number at the end.
 */
#ifndef TESTS_SUPPORT_URLS_H
#define TESTS_SUPPORT_URLS_H

#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

enum { TEST_URL_ROOM = 256 }; /* no URL of either family is longer */

/* Writes a URL without a final zero byte into buffer and returns its length; 0 if room is less than TEST_URL_ROOM. */
typedef size_t test_url_maker(char *buffer, size_t room, uint64_t seed, uint64_t index);

test_url_maker test_url;
test_url_maker test_deep_url;

/* n URLs in one block of memory. */
typedef struct test_batch {
    vidi_str *urls;
    char *arena;
    size_t n;
    size_t room;
} test_batch;

/* Allocates room for n URLs, or exits the test program if there is no memory. Free it with test_batch_free. */
void test_batch_init(test_batch *batch, size_t room);
void test_batch_free(test_batch *batch);

/* Empties the batch, then puts the URLs first .. first + n - 1 into it; n is at most the room. */
void test_batch_fill(test_batch *batch, test_url_maker *make, uint64_t seed, uint64_t first, size_t n);

/* Puts one more URL at the end of the batch, which must have room. */
void test_batch_push(test_batch *batch, test_url_maker *make, uint64_t seed, uint64_t index);

/* A string literal, or any C string, as a vidi_str. */
vidi_str test_str(const char *text);

#endif
