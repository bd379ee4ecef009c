/*
 * A tour of the interface: calls every function of vidi.h that does something, on a set of one case, in memory or in a
 * folder, in such a way that it succeeds. For promises that hold for every call: the test looks on after each.
 */
#ifndef TESTS_SUPPORT_TOUR_H
#define TESTS_SUPPORT_TOUR_H

#include "support/cases.h"

typedef struct test_tour {
    const test_case *which;
    uint64_t urls;                   /* that are added: at least 100 */
    const char *folder;              /* an empty folder that the sets live in; NULL: they live in memory */
    unsigned flags;                  /* vidi_option_flags of those in a folder */
    uint32_t invalid;                /* VIDI_KEEP_INVALID or VIDI_DROP_INVALID */
    const vidi_allocator *allocator; /* NULL: the default */

    /* Called after every call with its text and what it returned; VIDI_OK if that is nothing. May be NULL. */
    void (*after)(void *context, const char *call, int result);
    /* Was this error planned? Then the same call is made once more. NULL: no error is. */
    bool (*planned)(void *context, int error);
    void *context;
} test_tour;

/* Fails the test if a call fails and that was not planned. */
void test_tour_run(const test_tour *tour);

#endif
