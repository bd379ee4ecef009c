/*
 * The memory of a set: the user's allocator (or ours), an account of what is in use, and a limit that is never
 * exceeded.
 *
 * The limit is checked before the allocator is called. So a filter of a petabyte fails with a message at once, instead
 * of being ended by the kernel's out-of-memory killer later. If the user sets no limit, it is the machine's memory.
 *
 * Some memory of a set may be borrowed: it belongs to a mapping of the user's. Borrowed memory is not accounted for,
 * releasing it does nothing, and it is never written to.
 */
#ifndef VIDI_BASE_MEMORY_H
#define VIDI_BASE_MEMORY_H

#include <stdatomic.h>

#include "base/base.h"

typedef struct vidi__memory {
    vidi_allocator hook;
    uint64_t limit;
    _Atomic uint64_t aside; /* bytes of the limit that stay free */
    _Atomic uint64_t used;
    uint64_t promised;    /* words of arrays that are allocated later; their owner is alone when it changes */
    const void *borrowed; /* start of the mapping; NULL if there is none */
    uint64_t borrowed_bytes;
} vidi__memory;

/* allocator NULL: the default one; limit 0: the machine's memory. */
int vidi__memory_init(vidi__memory *memory, const vidi_allocator *allocator, uint64_t limit);

/*
 * VIDI_OK, or VIDI_ELIMIT or VIDI_EMEMORY, with *out = NULL. 0 bytes give NULL. An alignment of more than 64 is a hint,
 * for large pages: the default allocator follows it, the user's is asked for 64.
 */
int vidi__alloc(vidi__memory *memory, void *out, uint64_t bytes, size_t alignment);
int vidi__alloc_zeroed(vidi__memory *memory, void *out, uint64_t bytes, size_t alignment);

/* Zeroed bytes at a cache line, for what the caller can do without: if there is no memory, NULL and no message. */
void *vidi__alloc_if_possible(vidi__memory *memory, uint64_t bytes);

/* bytes and alignment must be the same as at allocation. NULL is allowed. */
void vidi__release(vidi__memory *memory, void *ptr, uint64_t bytes, size_t alignment);

/*
 * Accounts for an array of this many words that is allocated when it is written to (lazy.h), and its end. VIDI_ELIMIT
 * if all such arrays of the set together are larger than both the memory of this machine and the limit: they could
 * never be filled, and even the list of their pieces might be large.
 */
int vidi__promise(vidi__memory *memory, uint64_t words);
void vidi__promise_end(vidi__memory *memory, uint64_t words);

/* Keeps this many bytes of the limit free from now on: allocations fail before they are used. */
void vidi__memory_put_aside(vidi__memory *memory, uint64_t bytes);

/* VIDI_OK if this many more bytes would stay within the limit, otherwise VIDI_ELIMIT with a message. */
int vidi__memory_check(const vidi__memory *memory, uint64_t bytes);

/*
 * Allocates a larger block that begins with the old contents, and releases the old one. An error leaves *ptr unchanged.
 */
int vidi__regrow(vidi__memory *memory, void *ptr, uint64_t old_bytes, uint64_t new_bytes, size_t alignment);

static inline bool vidi__memory_is_borrowed(const vidi__memory *memory, const void *ptr)
{
    return (uint64_t)((uintptr_t)ptr - (uintptr_t)memory->borrowed) < memory->borrowed_bytes;
}

static inline uint64_t vidi__memory_used(const vidi__memory *memory)
{
    return atomic_load_explicit(&memory->used, memory_order_relaxed);
}

#endif
