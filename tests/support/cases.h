/*
 * The kinds and parameters that tests iterate over, and functions that create sets from them.
 */
#ifndef TESTS_SUPPORT_CASES_H
#define TESTS_SUPPORT_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

enum test_trait {
    TEST_FULL = 1,       /* compared on all of VIDI_TEST_URLS; the others on a tenth */
    TEST_EXACT = 2,      /* keeps the URLs themselves, so it loses nothing */
    TEST_MULTISET = 4,   /* stores every add */
    TEST_WEAK = 8,       /* uses a hash function that is not keyed */
    TEST_LIBCRYPTO = 16, /* uses md5 or sha1, whose library has its own allocator */
    TEST_ANY_SIZE = 32   /* sets of different capacities can be merged */
};

typedef struct test_case {
    const char *kind;
    const char *params; /* "@x" stands for x times the number of URLs */
    double capacity;    /* times the number of URLs; 0: the kind's default */
    double error;       /* 0: the kind's default */
    unsigned traits;
} test_case;

/*
 * The index-th case; false after the last. First come all kinds that vidi_kind lists, without parameters, then the
 * table of parameters.
 */
bool test_case_at(size_t index, test_case *found);

/* Describes a case for messages: "classic k=3,M=2 error=0.01". Valid until the next call. */
const char *test_case_name(const test_case *which);

/* How many of n URLs such a set can take in reasonable time. list: n/50, at most 2e4; sorted: n/5, at most 2e5. */
uint64_t test_case_urls(const test_case *which, uint64_t n);

/* The same for tests in which the number matters less: list at most 2000, sorted at most 20000. */
uint64_t test_case_few(const test_case *which, uint64_t n);

/*
 * How far apart the bits are that a test flips, or the bytes at which it cuts, in what a set has written: 1 for a kind
 * without parameters, and in the long run; 7 for a kind with parameters, which change little of the format; eleven
 * times that under the sanitizers, which look for other mistakes. Always odd, so that every bit of a byte gets its
 * turn.
 */
size_t test_case_stride(const test_case *which);

/* A key that depends on the seed alone. */
void test_key(unsigned char key[VIDI_KEY_BYTES], uint64_t seed);

/* Options, and the memory that they point to. */
typedef struct test_options {
    vidi_options options; /* with `access` */
    vidi_access access;
    char params[256];
    unsigned char key[VIDI_KEY_BYTES];
} test_options;

/* The options of a case for n URLs. */
void test_case_options(test_options *made, const test_case *which, uint64_t n, uint64_t seed);

/* Creates a set of this case, or fails the test. */
vidi_set *test_case_set(const test_case *which, uint64_t n, uint64_t seed, const vidi_allocator *allocator);

/* The same for a set that compares bytes, for tests whose inputs are not URLs or that count bytes. */
vidi_set *test_case_bytes_set(const test_case *which, uint64_t n, uint64_t seed, const vidi_allocator *allocator);

/* Returns the statistics, or fails the test. */
vidi_stats test_stat(const vidi_set *set);

/* True if such a set has all these capabilities (bits of vidi_capability). */
bool test_case_can(const test_case *which, uint32_t can);

/* True if the set can be rotated. It cannot if it needs as many different functions as positions. */
bool test_case_rotates(const test_case *which);

/* True if there is a kind with this name. */
bool test_kind_exists(const char *name);

#endif
