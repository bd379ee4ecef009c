/*
 * A clock that stands still until the test moves it, in place of the log's own (store/clock.h).
 *
 * A thread that waits on this clock is woken by a signal, or when the test moves the clock to the time it waits for. So
 * a test about time needs no time: it waits until the log's thread sleeps until a certain moment, moves the clock there,
 * and sees what the thread does.
 */
#ifndef TESTS_SUPPORT_CLOCK_H
#define TESTS_SUPPORT_CLOCK_H

#include <stdint.h>

#include "store/clock.h"

#define TEST_MS UINT64_C(1000000)
#define TEST_SECOND (1000 * TEST_MS)

/* While no log is open. */
void test_clock_begin(void);
void test_clock_end(void);

uint64_t test_clock_now(void);
/* Wakes all threads whose time has come with that. */
void test_clock_forward(uint64_t nanoseconds);
/*
 * How many threads wait until exactly this time (VIDI__NEVER: for a signal alone). A thread that was signalled, and is
 * not awake yet, still counts.
 */
unsigned test_clock_sleepers(uint64_t until);
/* Returns when there are so many. */
void test_clock_await(uint64_t until, unsigned threads);

#endif
