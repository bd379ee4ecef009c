/*
 * Compares two sets that must be the same: copies, and what was written and read again.
 */
#ifndef TESTS_SUPPORT_SAME_H
#define TESTS_SUPPORT_SAME_H

#include "vidi/vidi.h"

/* Adds URLs of test_url, from `first` on. */
void test_add_urls(vidi_set *set, uint64_t seed, uint64_t first, uint64_t n);

/* Whether both have the same parameters, counters and history. */
void test_same_numbers(const vidi_set *a, const vidi_set *b);

/* Whether both give the same answers, and count alike, for n URLs of test_url, from `first` on. */
void test_same_answers(const vidi_set *a, const vidi_set *b, uint64_t seed, uint64_t first, uint64_t n);

/* Whether `copy` has seen every one of these URLs that `set` has seen. */
void test_holds_all(const vidi_set *copy, const vidi_set *set, uint64_t seed, uint64_t first, uint64_t n);

/* Whether the content digests are equal, if the kind has them. */
void test_same_contents(const vidi_set *a, const vidi_set *b);

#endif
