/*
 * Memory in chunks of 16 KiB, for tables that are rebuilt again and again at slightly other sizes. What one table gives
 * back the next one takes, so that memory is touched for the first time only as the whole grows. Chunks are cut from
 * blocks that grow with the whole: at 64 MiB and more they are of 2 MiB and, from the default allocator, aligned to it, so
 * that the kernel can back them with large pages.
 *
 * Safe to use from several threads at once.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_CHUNKS_H
#define VIDI_FILTERS_FINGERPRINT_CHUNKS_H

#include <pthread.h>

#include "base/memory.h"

#define VIDI__CHUNK_LINES 256 /* of 64 bytes */
#define VIDI__CHUNK_BYTES (VIDI__CHUNK_LINES * 64)

typedef struct vidi__chunk_block {
    unsigned char *bytes;
    uint64_t size, alignment;
} vidi__chunk_block;

typedef struct vidi__chunks {
    vidi__memory *memory;
    pthread_mutex_t lock;
    void *free; /* a list through the first bytes of each */
    uint64_t free_count, total;
    unsigned char *cut_from; /* the rest of the last block */
    uint64_t cut_left;
    vidi__chunk_block *blocks;
    uint64_t block_count, block_room;
} vidi__chunks;

int vidi__chunks_init(vidi__chunks *chunks, vidi__memory *memory);
void vidi__chunks_close(vidi__chunks *chunks);

/* One block ahead, for chunks of so many bytes together. */
int vidi__chunks_reserve(vidi__chunks *chunks, uint64_t bytes);

/* One chunk; its contents are anything. */
int vidi__chunks_take(vidi__chunks *chunks, unsigned char **chunk);
void vidi__chunks_give(vidi__chunks *chunks, unsigned char *chunk);

/*
 * An array of so many bytes in chunks, of which it gives the addresses; what is less than a chunk, at the end, is in a
 * block of its own. Contents are anything. To be freed with the same number of bytes; NULL is fine. On an error *blocks
 * is NULL.
 */
int vidi__chunks_array(vidi__chunks *chunks, void *blocks, uint64_t bytes);
void vidi__chunks_array_free(vidi__chunks *chunks, void *blocks, uint64_t bytes);

/* The same over memory that is borrowed (base/memory.h), which is in one piece: only the addresses are made. */
int vidi__chunks_array_over(vidi__chunks *chunks, void *blocks, const void *lent, uint64_t bytes);

uint64_t vidi__chunks_array_bytes(uint64_t bytes); /* that it takes altogether */

#endif
