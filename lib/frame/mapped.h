/*
 * A stream (frame.h) that is in memory as a whole, like a mapped file. Reading from it copies small values and lends
 * arrays.
 *
 * Opening reads head, table and foot and nothing between, so the time depends only on the size of the table.
 * vidi__mapped_verify verifies the payload, in pieces, at any later time. Until then the payload may be anything, and
 * its users must expect that.
 */
#ifndef VIDI_FRAME_MAPPED_H
#define VIDI_FRAME_MAPPED_H

#include "frame/frame.h"

typedef struct vidi__mapped {
    vidi__reader base;
    const unsigned char *bytes;
    vidi__frame_head head;
    uint64_t payload, blocks;
} vidi__mapped;

/* The bytes must be aligned to a cache line, and must neither move nor change. */
int vidi__frame_map(vidi__mapped *mapped, const void *bytes, uint64_t size);

/* The same for bytes at any address. Arrays in them are not aligned. */
int vidi__frame_over(vidi__mapped *mapped, const void *bytes, uint64_t size);

/* Checks that all of the payload was read. */
int vidi__mapped_close(const vidi__mapped *mapped);

/*
 * Verifies `count` blocks, beginning with block number `from` (the first is 0). VIDI_EFORMAT names the first damaged
 * one.
 */
int vidi__mapped_verify(const vidi__mapped *mapped, uint64_t from, uint64_t count);

#endif
