/*
 * The index beside a log: segments (store/segment.h), each with the hashes that a stretch of the log adds. A reader
 * that maps the snapshot opens them instead of reading those stretches, and reads only what the log has after the last
 * one. So it opens as fast with a long log as with a short one.
 *
 *     log       |head|--------------------------- records -----------------------------|
 *     segments       |------ 64 chunks ------|-- 16 --|-- 16 --|- 4 -|- 4 -|1|1|  tail
 *
 * A thread of the writer's writes a segment each time that another chunk of the log was synced, and merges four of a
 * size into one, so there are few: at most three of each size. It reads the log for that, so adds have no part in it.
 * While it works it needs at most 8.3 MiB of memory, and 66 KB for each million hashes that it merges. All this is done
 * as well as possible: after an error the log is indexed no further, and a reader reads the rest of it.
 *
 * Only logs of sets whose log has nothing but hashes, and no removals, are indexed.
 */
#ifndef VIDI_DURABLE_LOG_INDEX_H
#define VIDI_DURABLE_LOG_INDEX_H

#include "durable/durable.h"
#include "store/segment.h"

/* ---- hashes from records (gather.c) ---- */

/* What was committed in a stretch of a log. Bundles are treated as in replay.c. */
typedef struct vidi__gather {
    vidi__stretch *stretch; /* grows with each record that is taken, up to the last place where no bundle is open */
    vidi__log_found found;
    vidi__u128 *hashes; /* first those that were taken, then those of the open bundle */
    uint64_t room, n, held;
    uint64_t most; /* ends the reading when this many were taken */
    bool open;     /* a bundle without a note so far */
    uint64_t records, bundle, attempt, taken;
} vidi__gather;

/*
 * Reads the log from stretch->from on, but not beyond `to`, and adds to the stretch. At most `most` hashes are taken,
 * and those of one record or bundle more. VIDI_ECANNOT if the stretch cannot be indexed, VIDI_EDAMAGED if it is
 * damaged.
 */
int vidi__gather_read(vidi__gather *self, vidi__memory *memory, int folder, uint64_t to);

/* ---- the writer's side (index_build.c) ---- */

typedef struct vidi__index_builder vidi__index_builder;

/* Hashes of a chunk; only tests change it, while no set is open. */
extern uint64_t vidi__index_chunk;

/* NULL if there is no memory: then there is no index. */
vidi__index_builder *vidi__index_begin(vidi__memory *memory, int folder, const vidi__log_id *id);
/* The log was synced up to this length. */
void vidi__index_synced(void *builder, uint64_t length);
/* Ends the thread: at once, or when it has caught up with the log. */
void vidi__index_end(vidi__index_builder *builder, bool catches_up);

/* Opens the segments of a log that follow each other from its first record on, and fit it; none is no error. */
enum { VIDI__SEGMENTS_MOST = 64 };
int vidi__index_open(vidi__memory *memory, int folder, const vidi__log_id *id, vidi__segment **segments, size_t *count);

/* ---- the reader's side (index_read.c) ---- */

/*
 * Uses the index of a log, if it has one that fits, for the replay that is beginning: *from becomes the place from
 * which to read the log, and *records the number of records before it. Without an index they stay as they are.
 */
int vidi__index_use(vidi_set *set, int folder, const vidi__log_id *id, vidi__replay *replay, uint64_t *from,
                    uint64_t *records);
/* The number of hashes in all segments. */
uint64_t vidi__index_count(const vidi_set *set);
void vidi__index_close(vidi_set *set);
/* Looks these hashes, at most VIDI__SEGMENT_GROUP, up in the segments. Damaged segments are mended from the log. */
int vidi__index_has(vidi_set *set, const vidi__u128 *hashes, size_t n, bool *has);
/* Visits all hashes, block by block. */
typedef int vidi__index_visit(void *context, const vidi__u128 *hashes, uint64_t n);
int vidi__index_iterate(const vidi_set *set, vidi__index_visit *visit, void *context);
/* Checks every byte of the segments, and that the log has the same. */
int vidi__index_verify(const vidi_set *set);

#endif
