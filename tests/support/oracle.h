/*
 * The truth that sets are compared with: an exact set of strings, as simple as possible and independent of the library.
 */
#ifndef TESTS_SUPPORT_ORACLE_H
#define TESTS_SUPPORT_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "vidi/vidi.h"

typedef struct test_oracle test_oracle;

test_oracle *test_oracle_new(void);
void test_oracle_free(test_oracle *oracle);

/* Adds one more of it; true if there was none. */
bool test_oracle_add(test_oracle *oracle, vidi_str url);

/* Takes one away; false if there was none. */
bool test_oracle_remove(test_oracle *oracle, vidi_str url);

/* How many of it there are. */
uint64_t test_oracle_times(const test_oracle *oracle, vidi_str url);

/* Different strings that are in it. */
uint64_t test_oracle_count(const test_oracle *oracle);

#endif
