/*
 * Memory of a set: the user's allocator (or ours), an account of what is in use, and a limit that is never passed.
 *
 * The limit is checked before the allocator is asked, so that a filter of a petabyte is refused with a sentence and not
 * by the kernel's out-of-memory killer later on. Without a limit of the user's, the machine's memory is the limit.
 *
 * Some of what a set uses may not be its own but lie in a mapping of the user's: that is borrowed. It is in no account,
 * may be released like anything else (which does nothing), and is never written to.
 */
#ifndef VIDI_BASE_MEMORY_H
#define VIDI_BASE_MEMORY_H

#include <stdatomic.h>

#include "base/base.h"

typedef struct vidi__memory {
    vidi_allocator hook;
    uint64_t limit;
    _Atomic uint64_t used;
    const void *borrowed; /* where the mapping is; NULL: there is none */
    uint64_t borrowed_bytes;
} vidi__memory;

/* allocator NULL: the default one; limit 0: the machine's memory. */
int vidi__memory_init(vidi__memory *memory, const vidi_allocator *allocator, uint64_t limit);

/*
 * VIDI_OK, VIDI_ELIMIT or VIDI_EMEMORY; *out is NULL then. bytes may be 0, which gives NULL. An alignment of more than 64
 * is a wish, for the sake of large pages: the default allocator fulfils it, the user's is asked for 64.
 */
int vidi__alloc(vidi__memory *memory, void *out, uint64_t bytes, size_t alignment);
int vidi__alloc_zeroed(vidi__memory *memory, void *out, uint64_t bytes, size_t alignment);

/* Same bytes and alignment as at allocation. NULL is fine. */
void vidi__release(vidi__memory *memory, void *ptr, uint64_t bytes, size_t alignment);

/* Would so many more bytes stay below the limit? VIDI_ELIMIT with a sentence if not. */
int vidi__memory_check(const vidi__memory *memory, uint64_t bytes);

/* A larger block with the old contents in front; the old one is released. On error *ptr stays as it was. */
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
