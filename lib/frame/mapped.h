/*
 * A stream (frame.h) that lies in memory as a whole, as a mapped file does. Reading from it copies small things and
 * lends arrays where they are.
 *
 * Opening looks at head, table and foot and at nothing between: it takes as long for a terabyte as for its table.
 * Whether the payload is what was written is for vidi__mapped_verify to say, in pieces, whenever there is time. Until
 * then it may hold anything, and who uses it must be prepared for that.
 */
#ifndef VIDI_FRAME_MAPPED_H
#define VIDI_FRAME_MAPPED_H

#include "frame/frame.h"

typedef struct vidi__mapped {
    vidi__reader base;
    const unsigned char *bytes;
    uint64_t generation;
    uint64_t payload, blocks;
} vidi__mapped;

/* The bytes must be aligned to a cache line, stay where they are and stay as they are. */
int vidi__frame_map(vidi__mapped *mapped, const void *bytes, uint64_t size);

/* All of the payload was read. */
int vidi__mapped_close(const vidi__mapped *mapped);

/*
 * Are so many blocks, from this one on (0 is the first), as they were written? VIDI_EFORMAT names the first that is
 * not.
 */
int vidi__mapped_verify(const vidi__mapped *mapped, uint64_t from, uint64_t count);

#endif
