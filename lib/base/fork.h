/*
 * What happens in a child that fork() makes of a process that writes to sets.
 *
 * The lock of a folder belongs to the open file, which the child shares: if the writer ended, the set would stay locked
 * until the child ends too. So the child closes its copies of the locks, which does not unlock them in the parent. And
 * it has none of the threads that write the set's log, so its calls on such a set must fail. They compare a number that
 * grows with each fork, which costs one load.
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
