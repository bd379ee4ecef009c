/*
 * A list of tests that is built at run time: one test for each promise and case, so that a report names both.
 */
#ifndef TESTS_SUPPORT_RUNNER_H
#define TESTS_SUPPORT_RUNNER_H

#include "support/cases.h"
#include "support/check.h"

/* Adds a test; *state is `state`, which the test only reads. */
void test_add(const char *promise, CMUnitTestFunction function, const void *state);

/*
 * The same for a test that is about numbers or answers which are alike in every build: it is left out under the
 * sanitizers, where it would take ten times as long over code that other tests run there.
 */
void test_add_once(const char *promise, CMUnitTestFunction function, const void *state);

/*
 * Adds the test once for each case that `fits` (NULL: for each); *state is its test_case. Under the sanitizers without
 * those that differ from another case in a weak hash function only: tests/hash runs these there.
 */
typedef bool test_fits(const test_case *which);
void test_add_cases(const char *promise, CMUnitTestFunction function, test_fits *fits);

/* Runs the tests added, or those that match a pattern given as the program's argument. Returns main's result. */
int test_run(const char *group, int argc, char **argv);

#endif
