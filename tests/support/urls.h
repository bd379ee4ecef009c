/*
 * Synthetic URLs, the same on every machine and in every run.
 *
 * test_url looks like a crawl: few hosts get most URLs (Zipf), one to six path segments out of each site's own small
 * vocabulary, one URL in six with a query. The URL is distinct for each (seed, index): the index can be read off its
 * end and the seed off its host. URLs of one seed share hosts and segments whatever their indices, so that "never
 * added" URLs (indices beyond those added) are as like the added ones as URLs of real sites are.
 *
 * test_deep_url is one site, deep, with URLs that differ in nothing but a number at the end.
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

/* n URLs in one piece of memory. */
typedef struct test_batch {
    vidi_str *urls;
    char *arena;
    size_t n;
    size_t room;
} test_batch;

/* Room for n URLs; exits the test program if there is no memory. test_batch_free releases it. */
void test_batch_init(test_batch *batch, size_t room);
void test_batch_free(test_batch *batch);

/* Empties the batch, then puts the URLs first .. first + n - 1 into it; n is at most the room. */
void test_batch_fill(test_batch *batch, test_url_maker *make, uint64_t seed, uint64_t first, size_t n);

/* Puts one more URL at the end of the batch, which must have room. */
void test_batch_push(test_batch *batch, test_url_maker *make, uint64_t seed, uint64_t index);

/* A string literal, or any C string, as a vidi_str. */
vidi_str test_str(const char *text);

#endif
