/*
 * What fork() leaves a child of sets that its parent writes to.
 *
 * The lock of a folder belongs to the open file, which the child shares: as long as the child lived, the set would stay
 * locked after its writer has ended. So the child closes its copies of the locks, which does not unlock them in the
 * parent. And it has none of the threads that write the set's log, so its calls on such a set must fail. They notice by
 * a number that grows with each fork, at the cost of a load.
 */
#ifndef VIDI_BASE_FORK_H
#define VIDI_BASE_FORK_H

#include <stdatomic.h>

/* 1 in the first process that uses the library, and one more in each child. Never 0. */
extern _Atomic unsigned vidi__fork_generation;

/* From now on, children close this file at once; until vidi__fork_forget, which must come before it is closed. */
void vidi__fork_watch(int file);
void vidi__fork_forget(int file);

#endif
