/*
 * A tour of the interface: calls every function of vidi.h that does something, on a set of one case, in memory or in a
 * folder, in such a way that it succeeds. Tests use it for promises about all calls: they can check after each.
 */
#ifndef TESTS_SUPPORT_TOUR_H
#define TESTS_SUPPORT_TOUR_H

#include "support/cases.h"

typedef struct test_tour {
    const test_case *which;
    uint64_t urls;                   /* number of URLs to add, at least 100 */
    const char *folder;              /* an empty folder for the sets; NULL: they are in memory */
    unsigned flags;                  /* vidi_option_flags of those in a folder */
    uint32_t invalid;                /* VIDI_KEEP_INVALID or VIDI_DROP_INVALID */
    const vidi_allocator *allocator; /* NULL: the default */

    /* Called after every call with its text and its result (VIDI_OK if it returns nothing). May be NULL. */
    void (*after)(void *context, const char *call, int result);
    /* True if this error was planned; then the call is repeated. NULL: no error is planned. */
    bool (*planned)(void *context, int error);
    void *context;
} test_tour;

/* Fails the test if a call fails and this was not planned. */
void test_tour_run(const test_tour *tour);

#endif
