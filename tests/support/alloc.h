/*
 * An allocator that checks the library's requests. It counts calls, checks that no alignment exceeds the 64 bytes that
 * vidi.h promises, checks that blocks are released with the size and alignment they were allocated with, detects writes
 * just outside a block, and can refuse the n-th request. Memory that need not be zeroed is filled with a pattern, and so is
 * the beginning of a block that is released. Safe for threads.
 */
#ifndef TESTS_SUPPORT_ALLOC_H
#define TESTS_SUPPORT_ALLOC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "vidi/vidi.h"

typedef struct test_allocator {
    vidi_allocator hook;  /* what options.allocator points to */
    pthread_mutex_t lock; /* protects everything below */
    uint64_t calls;       /* to allocate and allocate_zeroed */
    uint64_t refused;     /* calls that were refused */
    uint64_t live_blocks;
    uint64_t live_bytes;
    uint64_t peak_bytes; /* most live bytes at once; tests may reset it to live_bytes */
    uint64_t largest;    /* the largest request */
    uint64_t faults;     /* wrong releases, too large alignments, overruns */
    uint64_t fail_at;    /* the call with this number (from 1) is refused; 0: none */
    bool fail_on;        /* also refuses all calls after fail_at */
} test_allocator;

void test_allocator_init(test_allocator *allocator);

/* Fails the test if there was a fault or something is still allocated. */
void test_allocator_finish(test_allocator *allocator);

/* Refuses the n-th call from now (counted from 1), and all after it if `on`. 0: refuses none. */
void test_allocator_fail(test_allocator *allocator, uint64_t n, bool on);

/* Number of calls refused since the last test_allocator_fail. */
uint64_t test_allocator_refused(test_allocator *allocator);
uint64_t test_allocator_live(test_allocator *allocator);
uint64_t test_allocator_peak(test_allocator *allocator);

#endif
