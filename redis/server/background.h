/*
 * Frees blocks of the server's memory in a thread, so that dropping a large set does not hold up the server: returning
 * memory to the kernel takes 0.1 to 0.4 milliseconds for each MB.
 *
 * The thread is started when it is first needed, then waits for more. These functions may be called from any thread,
 * but not in a child process (BGSAVE): it does not have the thread, and the lock may be taken in its copy. A child
 * drops nothing, so it has no reason to call them.
 */
#ifndef REDIS_BACKGROUND_H
#define REDIS_BACKGROUND_H

#include <stddef.h>
#include <stdint.h>

/* Hands over a block from the server's allocator, which takes this many bytes. */
void background_free(void *block, size_t bytes);

/* Wakes the thread up. Call it after handing over blocks; otherwise they may stay allocated for long. */
void background_start(void);

/* Bytes that were handed over and are not freed yet. */
uint64_t background_bytes(void);

#endif
