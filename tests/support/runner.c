#include "support/runner.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/env.h"

enum { MOST_TESTS = 2048, NAME_ROOM = 400 };

static struct CMUnitTest tests[MOST_TESTS];
static char names[MOST_TESTS][NAME_ROOM];
static test_case cases[MOST_TESTS];
static size_t n_tests;

static void add(CMUnitTestFunction function, const void *state)
{
    if (n_tests >= MOST_TESTS) {
        fprintf(stderr, "tests: more than %d\n", MOST_TESTS);
        exit(2);
    }
    tests[n_tests].name = names[n_tests];
    tests[n_tests].test_func = function;
    tests[n_tests].initial_state = (void *)(uintptr_t)state;
    n_tests++;
}

void test_add(const char *promise, CMUnitTestFunction function, const void *state)
{
    snprintf(names[n_tests % MOST_TESTS], NAME_ROOM, "%s", promise);
    add(function, state);
}

void test_add_once(const char *promise, CMUnitTestFunction function, const void *state)
{
    if (!test_sanitized())
        test_add(promise, function, state);
}

static bool is_left_out(const test_case *which)
{
    return test_sanitized() && (which->traits & TEST_WEAK);
}

void test_add_cases(const char *promise, CMUnitTestFunction function, test_fits *fits)
{
    test_case which;
    for (size_t i = 0; test_case_at(i, &which); i++) {
        if (!is_left_out(&which) && (!fits || fits(&which))) {
            test_case *kept = &cases[n_tests % MOST_TESTS];
            *kept = which;
            snprintf(names[n_tests % MOST_TESTS], NAME_ROOM, "%s: %s", promise, test_case_name(kept));
            add(function, kept);
        }
    }
}

int test_run(const char *group, int argc, char **argv)
{
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return _cmocka_run_group_tests(group, tests, n_tests, NULL, NULL);
}
