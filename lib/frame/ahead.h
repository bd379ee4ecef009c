/*
 * Reads the blocks of a frame ahead in a thread of its own, which also makes their checksums, while the caller examines
 * what came before.
 *
 *     source  ->  checksum  ->  | block | block | … | block |  ->  frame.c
 *             a thread                    512 KiB                  the caller's thread
 */
#ifndef VIDI_FRAME_AHEAD_H
#define VIDI_FRAME_AHEAD_H

#include "frame/frame.h"

typedef struct vidi__ahead vidi__ahead;

/*
 * Starts reading the payload, of which `left` bytes follow the head. Until vidi__ahead_end, which must come even after
 * an error, the source and its context belong to the thread.
 */
int vidi__ahead_begin(vidi__ahead **ahead, vidi__memory *memory, vidi_source source, void *context, uint64_t generation,
                      const unsigned char head[VIDI__HEAD_BYTES], uint64_t left);

/*
 * Waits for the next block and lends it until the next call. The first block begins with the head. An error of the
 * source, if that gave all blocks before.
 */
int vidi__ahead_next(vidi__ahead *ahead, const unsigned char **block, size_t *bytes, uint64_t *sum);

/* Ends the thread, whether it has read everything or not. NULL is allowed. */
void vidi__ahead_end(vidi__ahead *ahead, vidi__memory *memory);

/* Bytes of memory that it takes. */
uint64_t vidi__ahead_bytes(void);

#endif
