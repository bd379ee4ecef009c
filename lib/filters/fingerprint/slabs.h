/*
 * A pool of memory in slabs of 16 KiB, for tables that are rebuilt again and again at slightly different sizes. What
 * one table gives back, the next one takes, so new memory is touched only when the total grows. Slabs are cut from
 * blocks, whose size grows with the total. From 64 MiB on, blocks are 2 MiB. The default allocator aligns them to 2
 * MiB, so that the kernel can back them with large pages.
 *
 * The first touch of new memory is slow: the kernel clears half a gigabyte to one and a half a second, so it may take
 * longer than filling the memory. A caller with time to spare, or another thread, prepares blocks ahead: they are
 * allocated, touched, and put into use when no slab is free. Prepared is at most a 64th of the total, and 16 MiB.
 *
 * Safe to use from several threads at once.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_SLABS_H
#define VIDI_FILTERS_FINGERPRINT_SLABS_H

#include "base/mutex.h"
#include "base/memory.h"

/* Lines of 64 bytes per slab. */
#define VIDI__SLAB_LINES 256
#define VIDI__SLAB_BYTES (VIDI__SLAB_LINES * 64)

typedef struct vidi__slab_block {
    unsigned char *bytes;
    uint64_t size, alignment;
} vidi__slab_block;

typedef struct vidi__slabs {
    vidi__memory *memory;
    vidi__mutex lock;
    void *free; /* list of free slabs, linked through their first bytes */
    uint64_t free_count, total;
    unsigned char *cut_from; /* the unused rest of the newest block */
    uint64_t cut_left;
    vidi__slab_block *blocks;
    uint64_t block_count, block_room;
    void *ahead; /* list of prepared blocks of 2 MiB, linked through their first bytes */
    uint64_t ahead_count;
    bool closing; /* slabs that are given back are left alone: their blocks will be released soon */
} vidi__slabs;

void vidi__slabs_init(vidi__slabs *slabs, vidi__memory *memory);
void vidi__slabs_close(vidi__slabs *slabs);

/* Allocates one block for slabs of `bytes` bytes in total. */
int vidi__slabs_reserve(vidi__slabs *slabs, uint64_t bytes);

/*
 * Prepares one block ahead, if one is wanted: 1 if another one is, 0 if not. Does nothing for a pool of less than
 * 64 MiB, nor if there is no memory; then adds will tell.
 */
int vidi__slabs_prepare(vidi__slabs *slabs);
bool vidi__slabs_want_more(vidi__slabs *slabs);

/* Takes a slab from the pool. Its contents are undefined. */
int vidi__slabs_take(vidi__slabs *slabs, unsigned char **slab);
void vidi__slabs_give(vidi__slabs *slabs, unsigned char *slab);

/*
 * Allocates an array of `bytes` bytes as a list of slabs; *blocks receives the list of their addresses. A rest of less
 * than a slab gets an allocation of its own. The contents are undefined; on an error *blocks is NULL. Free the array
 * with the same number of bytes; freeing NULL is allowed.
 */
int vidi__slabs_array(vidi__slabs *slabs, void *blocks, uint64_t bytes);
void vidi__slabs_array_free(vidi__slabs *slabs, void *blocks, uint64_t bytes);

/* The same over borrowed memory (base/memory.h), which is contiguous: only the list of addresses is allocated. */
int vidi__slabs_array_over(vidi__slabs *slabs, void *blocks, const void *lent, uint64_t bytes);

/* Bytes that an array takes in total, its list of addresses included. */
uint64_t vidi__slabs_array_bytes(uint64_t bytes);

#endif
