/*
 * The reference that sets are compared with: an exact multiset of strings, simple and independent of the library.
 */
#ifndef TESTS_SUPPORT_ORACLE_H
#define TESTS_SUPPORT_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "vidi/vidi.h"

typedef struct test_oracle test_oracle;

test_oracle *test_oracle_new(void);
void test_oracle_free(test_oracle *oracle);

/* Adds the string once more. True if it was absent. */
bool test_oracle_add(test_oracle *oracle, vidi_str url);

/* Removes the string once. False if it was absent. */
bool test_oracle_remove(test_oracle *oracle, vidi_str url);

/* How often the string was added and not removed. */
uint64_t test_oracle_times(const test_oracle *oracle, vidi_str url);

/* The number of distinct strings. */
uint64_t test_oracle_count(const test_oracle *oracle);

#endif
