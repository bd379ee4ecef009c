/*
 * A segment of the index beside a log: the hashes that a stretch of the log adds, sorted, in a file of its own. A
 * reader maps it and looks hashes up where they lie, instead of reading that stretch of the log.
 *
 *     head    0  "vidiidx\n"             8  u32 version (1)           12  u32 0x01020304, the byte order
 *            16  u64 generation of the log  24  u64 its number        32  u64 its epoch    40  u64 identity of the set
 *            48  u64 from                56  u64 to: the stretch of the log, from one end of a record to another
 *            64  u64 checksum of the last record of the stretch      72  u64 hashes        80  u64 records
 *            88  u64 bundles that were taken before the stretch      96  u64 and up to its end
 *           104  48 bytes: the largest tally so far                  152  u64 1 if a note was found in the stretch
 *           160  u64 bytes of the last note     168  the note, at most 4,096 bytes; then zeros
 *          8176  u64 checksum of the blocks' list  8184  u64 checksum of the 8,184 bytes before
 *     hashes  8192  each u64 low half, u64 high half; sorted by the high half, then by the low one
 *     list    of each block of 256 hashes: u64 high half of its first hash, u64 checksum of the block
 *
 * A file is written under another name, synced and renamed, and never changes after that. Head and list are checked
 * when it is opened, a block when it is used for the first time. Nothing depends on a segment: whoever finds one
 * missing, damaged, or not fitting its log, reads the log.
 *
 * Checksums are the low half of SipHash-1-3-128 with a zero key.
 */
#ifndef VIDI_STORE_SEGMENT_H
#define VIDI_STORE_SEGMENT_H

#include <stdatomic.h>

#include "hash/hash.h"
#include "store/log.h"

enum { VIDI__SEGMENT_HEAD = 8192, VIDI__SEGMENT_BLOCK = 256, VIDI__SEGMENT_TALLY = 48, VIDI__SEGMENT_NOTE = 4096 };

/* What a segment says about its stretch of the log. */
typedef struct vidi__stretch {
    vidi__log_id log;
    uint64_t generation;
    uint64_t from, to;
    uint64_t last_check; /* the checksum that ends the last record */
    uint64_t hashes, records;
    uint64_t bundles_before, bundles;
    unsigned char tally[VIDI__SEGMENT_TALLY];
    bool has_note; /* a note was found; it may be empty */
    uint64_t note_bytes;
    unsigned char note[VIDI__SEGMENT_NOTE];
} vidi__stretch;

/* Names of files that belong to an index begin so, and those of files that are being written end so. */
#define VIDI__SEGMENT_PREFIX "index."
#define VIDI__SEGMENT_NEW ".new"

/* "index.000000000000002a.00000007" */
void vidi__segment_name(char name[40], uint64_t log, uint64_t serial);
/* The number of the log, and the serial number, in such a name; false if it is none. */
bool vidi__segment_parse(const char *name, uint64_t *log, uint64_t *serial);

/* ---- writing ---- */

/* Sorts hashes as they lie in a segment. `room` has room for as many. */
void vidi__segment_sort(vidi__u128 *hashes, uint64_t n, vidi__u128 *room);

/* Writes a segment of stretch->hashes hashes, which are sorted. */
int vidi__segment_write(vidi__memory *memory, int folder, uint64_t serial, const vidi__stretch *stretch,
                        const vidi__u128 *hashes);

/* How many segments can be merged at once. */
#define VIDI__SEGMENT_MERGE_MOST 8

struct vidi__segment;
/*
 * Writes one segment with everything of several, whose stretches follow each other. VIDI_EDAMAGED if a block of them is
 * damaged. Gives up with VIDI_ECANNOT when *stop becomes true.
 */
int vidi__segment_merge(vidi__memory *memory, int folder, uint64_t serial, struct vidi__segment *const *parts,
                        size_t count, const _Atomic bool *stop);

/* ---- reading ---- */

typedef struct vidi__segment {
    vidi__stretch stretch;
    uint64_t serial;
    const unsigned char *start; /* the mapping */
    uint64_t bytes;
    const _Atomic bool *lost; /* becomes true when a part of the mapping cannot be read */
    uint64_t blocks;
    _Atomic unsigned char *checked;     /* of each block: its checksum was found right */
    _Atomic(const vidi__u128 *) mended; /* the hashes in memory, if the file turned out to be damaged; else NULL */
} vidi__segment;

/* Maps a segment. VIDI_EDAMAGED if its head or list is damaged, VIDI_EABSENT if there is no such file. */
int vidi__segment_open(vidi__segment **segment, vidi__memory *memory, int folder, uint64_t log, uint64_t serial);
void vidi__segment_close(vidi__segment *segment, vidi__memory *memory);

/* Looks a few hashes up. VIDI_EDAMAGED if a block is damaged, or the file was truncated meanwhile. */
enum { VIDI__SEGMENT_GROUP = 32 };
int vidi__segment_has(vidi__segment *segment, const vidi__u128 *hashes, size_t n, bool *has);

/*
 * The hashes of a block, whose checksum is right. vidi__segment_intact must be asked after they were used, before the
 * result is believed: VIDI_EDAMAGED if the file was truncated meanwhile.
 */
int vidi__segment_block(vidi__segment *segment, uint64_t block, const vidi__u128 **hashes, uint64_t *n);
int vidi__segment_intact(const vidi__segment *segment);

/* Checks all blocks of the file, also those that were checked before. */
int vidi__segment_verify(vidi__segment *segment);

/* From now on these sorted hashes stand for those in the file. The segment owns them. */
void vidi__segment_mend(vidi__segment *segment, const vidi__u128 *hashes);

#endif
