/*
 * A pool of memory in chunks of 16 KiB, for tables that are rebuilt again and again at slightly different sizes. What
 * one table gives back, the next one takes, so new memory is touched only when the total grows. Chunks are cut from
 * blocks, whose size grows with the total. From 64 MiB on, blocks are 2 MiB. The default allocator aligns them to 2 MiB,
 * so that the kernel can back them with large pages.
 *
 * Safe to use from several threads at once.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_SLABS_H
#define VIDI_FILTERS_FINGERPRINT_SLABS_H

#include <pthread.h>

#include "base/memory.h"

/* Lines of 64 bytes per chunk. */
#define VIDI__CHUNK_LINES 256
#define VIDI__CHUNK_BYTES (VIDI__CHUNK_LINES * 64)

typedef struct vidi__chunk_block {
    unsigned char *bytes;
    uint64_t size, alignment;
} vidi__chunk_block;

typedef struct vidi__chunks {
    vidi__memory *memory;
    pthread_mutex_t lock;
    void *free; /* list of free chunks, linked through their first bytes */
    uint64_t free_count, total;
    unsigned char *cut_from; /* the unused rest of the newest block */
    uint64_t cut_left;
    vidi__chunk_block *blocks;
    uint64_t block_count, block_room;
} vidi__chunks;

int vidi__chunks_init(vidi__chunks *chunks, vidi__memory *memory);
void vidi__chunks_close(vidi__chunks *chunks);

/* Allocates one block for chunks of `bytes` bytes in total. */
int vidi__chunks_reserve(vidi__chunks *chunks, uint64_t bytes);

/* Takes a chunk from the pool. Its contents are undefined. */
int vidi__chunks_take(vidi__chunks *chunks, unsigned char **chunk);
void vidi__chunks_give(vidi__chunks *chunks, unsigned char *chunk);

/*
 * Allocates an array of `bytes` bytes as a list of chunks; *blocks receives the list of their addresses. A rest of less
 * than a chunk gets an allocation of its own. The contents are undefined; on an error *blocks is NULL. Free the array
 * with the same number of bytes; freeing NULL is allowed.
 */
int vidi__chunks_array(vidi__chunks *chunks, void *blocks, uint64_t bytes);
void vidi__chunks_array_free(vidi__chunks *chunks, void *blocks, uint64_t bytes);

/* The same over borrowed memory (base/memory.h), which is contiguous: only the list of addresses is allocated. */
int vidi__chunks_array_over(vidi__chunks *chunks, void *blocks, const void *lent, uint64_t bytes);

/* Bytes that an array takes in total, its list of addresses included. */
uint64_t vidi__chunks_array_bytes(uint64_t bytes);

#endif
