/*
 * How a sub-table is rebuilt in another shape. Growing spends its time here, so it is one pass in order: the lines of a
 * sub-table are in the order of their hashes, and so are those of the new one.
 *
 *     old lines     | i-1 | i | i+1 |              the hashes of line i, with those that it displaced to line i+1
 *     hashes        -------------------->
 *     new lines     | closed | open | ...          are distributed over the lines that they belong to
 *
 * One new line is open at a time. Its distances are collected as words in `stage`. When the old lines have come to its
 * end, they are written, and the line is closed. So there is neither a division nor a branch for each hash:
 *
 *     decode   the hashes of an old line as words
 *     append   to the stage those that belong to the open line
 *     encode   the stage as a line
 *
 * These three are written once for each instruction set (rebuild_portable.c, rebuild_avx2.c), and give the same bits.
 * The pass around them is in rebuild_pass.h, the rest in rebuild.c.
 *
 * Hashes that find their line full wait in a list; it is inserted, as single hashes are, when it is full, and at the
 * end. Rebuilding takes no memory beyond the new sub-table.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_KERNELS_REBUILD_H
#define VIDI_FILTERS_FINGERPRINT_KERNELS_REBUILD_H

#include "filters/fingerprint/subtable.h"

/* Words that a line is decoded to, with those that it displaced: a multiple of the lanes of any vector. */
#define VIDI__REBUILD_HASHES 48
/* What a hash that does not exist is decoded to: it belongs to no line. */
#define VIDI__REBUILD_NOWHERE (UINT64_MAX / 4)
/* Distances of the open line. After any append there is room for another one. */
#define VIDI__REBUILD_STAGE (3 * VIDI__REBUILD_HASHES)
#define VIDI__REBUILD_WAITING 512

typedef struct vidi__rebuilding {
    vidi__subtable *into;
    vidi__slabs *slabs;
    uint64_t from; /* the first hash that the new sub-table covers; hashes are reduced by it */

    uint64_t line, start, end; /* the open line and the hashes that belong to it */
    uint32_t signatures;       /* its signature bits */
    unsigned count;            /* distances in the stage */
    uint64_t stage[VIDI__REBUILD_STAGE];

    unsigned waiting;
    uint64_t hashes[VIDI__REBUILD_WAITING];
} vidi__rebuilding;

/* Moves what is in the lines of the old sub-table. */
typedef int vidi__rebuild_pass(vidi__rebuilding *self, const vidi__subtable *old);
vidi__rebuild_pass vidi__rebuild_pass_portable, vidi__rebuild_pass_avx2;

/* vidi__subtable_rebuild with a pass of the caller's choice. */
int vidi__rebuild_with(vidi__rebuild_pass *pass, vidi__subtable **fresh, const vidi__subtable *old, vidi__slabs *slabs,
                       const vidi__subtable *shape, int half);

/* Called when the stage is nearly full: what the line has no room for goes to the overflow table. */
int vidi__rebuild_crowded(vidi__rebuilding *self);

/* Called when the open line was written and has no room for some of its hashes: lets them wait. */
int vidi__rebuild_wait(vidi__rebuilding *self);

#endif
