/*
 * Mapped files that vanish: a file that is truncated while it is mapped, or whose disk fails, gives SIGBUS at the next
 * access, which would end the whole process. The guard turns that into an error of the set that was mapped.
 *
 * Its signal handler recognises addresses in ranges that were registered here. It maps zero pages over the range from
 * the fault on, so that the access succeeds, and sets the range's flag. The code that reads a mapping tolerates any
 * bytes, and its callers look at the flag before they believe the answer.
 *
 * The handler is installed with the first range and stays. SIGBUS for any other address, or sent with kill(2), goes on
 * to the handler that was there before, or takes the default action. A handler that somebody installs later replaces
 * this one, unless it passes on what is not its own; and a thread that blocks SIGBUS is killed by the kernel.
 */
#ifndef VIDI_STORE_GUARD_H
#define VIDI_STORE_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Registers a mapping. VIDI_EMEMORY or VIDI_ESYSTEM if that is not possible. *lost points to a flag that becomes true
 * when a part of the mapping could not be read; it is valid until vidi__guard_remove.
 */
int vidi__guard_add(const void *start, size_t bytes, const _Atomic bool **lost);

/* Forgets a mapping, before it is unmapped. Does nothing if it is not registered. */
void vidi__guard_remove(const void *start);

#endif
