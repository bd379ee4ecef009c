/*
 * A value's memory: everything comes from the server's allocator, is counted to the byte as that allocator counts it,
 * and may be limited.
 *
 * The limit (MAXMEMORY of VIDI.RESERVE) holds on a primary that is not loading. A replica, a server that reads its files
 * and one that a slot moves to must take what the primary took, whatever it is.
 */
#ifndef REDIS_MEMORY_H
#define REDIS_MEMORY_H

#include <stdatomic.h>

#include <vidi/vidi.h>

#include "common/bytes.h"
#include "server.h"

typedef struct memory {
    _Atomic uint64_t used;    /* bytes, as the server's allocator counts them; threads of the library allocate too */
    uint64_t limit;           /* 0: none */
    _Atomic bool refused;     /* the limit has refused a request since value_add began */
    vidi_allocator allocator; /* context is this struct: it must not move */
} memory;

/* Checks how the server's allocator aligns. Once, before anything else here. */
void memory_start(void);

void memory_init(memory *memory, uint64_t limit);

/* Counts the block that contains the memory itself, which was allocated before it. */
void memory_add_owner(memory *memory, void *block);
void memory_remove_owner(memory *memory, void *block);

/* Whether limits hold now; events of the server change it (module.c). */
bool memory_enforces(void);
bool memory_is_loading(void);
void memory_set_primary(bool primary);
void memory_set_loading(bool loading);

/* Whether the command that runs must be obeyed: it comes from a primary, or with a slot that moves to this one. */
void memory_set_obeying(bool obeying);

/*
 * For the time between the two, no limit holds: saving, copying and listing a set take some of its memory for a moment,
 * and must work when it is full. Pairs may be nested.
 */
void memory_lift_limits(void);
void memory_restore_limits(void);

/*
 * For the time between the two, large blocks that this thread releases are freed in the background (background.h). They
 * stop counting at once.
 */
void memory_free_in_background(void);
void memory_free_at_once(void);

/* For bytes that grow: the server's allocator, which does not return if there is no memory. No value counts them. */
void *memory_resize(void *block, size_t size);

/* Bytes that all values hold. */
uint64_t memory_total(void);

#endif
