/*
 * A clock that stands still until the test moves it. It replaces the log's own clock (store/clock.h).
 *
 * A thread that waits on this clock is woken by a signal, or when the test moves the clock to the time it waits for. So
 * a test about time takes no time: it waits until the log's thread sleeps until a certain moment, moves the clock
 * there, and checks what the thread does.
 */
#ifndef TESTS_SUPPORT_CLOCK_H
#define TESTS_SUPPORT_CLOCK_H

#include <stdint.h>

#include "store/clock.h"

#define TEST_MS UINT64_C(1000000)
#define TEST_SECOND (1000 * TEST_MS)

/* Call these only while no log is open. */
void test_clock_begin(void);
void test_clock_end(void);

uint64_t test_clock_now(void);
/* Moves the clock and wakes all threads whose time has come. */
void test_clock_forward(uint64_t nanoseconds);
/*
 * The number of threads that wait until exactly this time (VIDI__NEVER: only for a signal). A thread that was signalled
 * but is not awake yet still counts.
 */
unsigned test_clock_sleepers(uint64_t until);
/* Waits until there are this many. */
void test_clock_await(uint64_t until, unsigned threads);

/*
 * Waits until all threads of the process but the caller sleep on this clock and have nothing left to do: each is woken
 * once, and has looked. What they do at all then depends on the calls alone, not on the scheduler.
 */
void test_clock_settle(void);

#endif
