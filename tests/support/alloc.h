/*
 * An allocator that watches the library: it counts, checks that no alignment is above the 64 bytes that vidi.h promises
 * and that what is released has the size and alignment of what was allocated, finds writes just outside a block, and can
 * refuse the n-th request. Memory that was not asked for zeroed is filled with a pattern. Safe for threads.
 */
#ifndef TESTS_SUPPORT_ALLOC_H
#define TESTS_SUPPORT_ALLOC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "vidi/vidi.h"

typedef struct test_allocator {
    vidi_allocator hook;  /* what options.allocator points to */
    pthread_mutex_t lock; /* over everything below */
    uint64_t calls;       /* of allocate and allocate_zeroed */
    uint64_t refused;     /* of those */
    uint64_t live_blocks;
    uint64_t live_bytes;
    uint64_t peak_bytes; /* the most that were live at once; may be set back to live_bytes */
    uint64_t largest;    /* the largest request */
    uint64_t faults;     /* wrong releases, absurd alignments, overwritten edges */
    uint64_t fail_at;    /* the call with this number (from 1) is refused; 0: none */
    bool fail_on;        /* … and so are all after it */
} test_allocator;

void test_allocator_init(test_allocator *allocator);

/* Fails the test if there was a fault or something is still allocated. */
void test_allocator_finish(test_allocator *allocator);

/* From now on the n-th call (from 1) is refused, and all after it if `on`. 0: none. */
void test_allocator_fail(test_allocator *allocator, uint64_t n, bool on);

/* Calls that were refused since the last test_allocator_fail. */
uint64_t test_allocator_refused(test_allocator *allocator);
uint64_t test_allocator_live(test_allocator *allocator);
uint64_t test_allocator_peak(test_allocator *allocator);

#endif
