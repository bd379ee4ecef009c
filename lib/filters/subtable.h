/*
 * A part of a fingerprint table: the hashes that share a prefix, in lines (line.h) in the order of the hashes, and a
 * small table of those that found their line full.
 *
 *     hash  | prefix: which sub-table |  bits that vary here  |        left-aligned in 64 bits: `rest`
 *     line  = floor(rest · lines / 2^64)
 *     what is stored = the hash's distance from the first hash of its line
 *
 * So the bits that address a line are not stored, and hash and (line, distance) determine each other exactly, whatever
 * the number of lines: growing reproduces every bit. A distance takes 3, 4, 5, 6 or 8 bytes, the fewest that the number
 * of lines allows.
 *
 * A sub-table never grows in place. Rebuilding it makes one or two others from its hashes, in order, and either
 * succeeds as a whole or leaves it as it was. The lines are in chunks of 16 KiB, which come from and go back to a pool
 * (chunks.h): memory that was touched once is used again, and no large block is ever asked for. Only a table of less
 * than a chunk has a block of its own.
 */
#ifndef VIDI_FILTERS_SUBTABLE_H
#define VIDI_FILTERS_SUBTABLE_H

#include "base/stream.h"
#include "filters/chunks.h"
#include "filters/line.h"

#define VIDI__SUBTABLE_LINES_MAX 8192 /* 512 KiB: rebuilding takes well below a millisecond */

typedef struct vidi__subtable {
    uint64_t lines;
    unsigned char **chunks;
    unsigned depth; /* of the directory: bits of prefix within the partition */
    unsigned bits;  /* of a hash that vary here */
    unsigned width; /* bytes a distance */
    bool multiset;
    bool portable;
    uint64_t inverse; /* 2^64 / lines, for dividing by it */
    uint64_t used;    /* slots and spilled entries */
    uint64_t limit;   /* of used, when it is to be rebuilt */
    uint64_t *spill;  /* hashes that found their line full: open addressing, at most four fifths full */
    uint64_t *times;  /* how often each of them, in a multiset */
    uint64_t spill_room, spill_used;
} vidi__subtable;

/* An empty one. */
int vidi__subtable_make(vidi__subtable **table, vidi__chunks *chunks, const vidi__subtable *shape);
void vidi__subtable_free(vidi__subtable *table, vidi__chunks *chunks);

/* The address to prefetch for a hash. */
static inline unsigned char *vidi__subtable_line(const vidi__subtable *table, uint64_t rest)
{
    uint64_t line = vidi__scale(rest, table->lines);
    return table->chunks[line / VIDI__CHUNK_LINES] + line % VIDI__CHUNK_LINES * VIDI__LINE_BYTES;
}

/* How often the hash is there: 0 or 1, or more in a multiset. */
uint64_t vidi__subtable_times(const vidi__subtable *table, uint64_t rest);
bool vidi__subtable_has(const vidi__subtable *table, uint64_t rest);

/*
 * Adds a hash: VIDI_NEW or VIDI_SEEN (which a multiset stores all the same); VIDI__SUBTABLE_FULL if it has to be
 * rebuilt first.
 */
#define VIDI__SUBTABLE_FULL 0
int vidi__subtable_add(vidi__subtable *table, vidi__chunks *chunks, uint64_t rest);

/*
 * Puts a hash in so many times, whether it is there or not and however full it is; more than once only in a multiset.
 */
int vidi__subtable_put(vidi__subtable *table, vidi__chunks *chunks, uint64_t rest, uint64_t times);

/* Takes one away; false if there is none. */
bool vidi__subtable_take(vidi__subtable *table, uint64_t rest);

/* Calls visit once for every hash (rest, left-aligned) with its times, line by line; stops at anything but 0. */
typedef int vidi__subtable_visit(void *context, uint64_t rest, uint64_t times);
int vidi__subtable_walk(const vidi__subtable *table, vidi__subtable_visit *visit, void *context);

/* Puts all of one into a new one of another shape; prefix bits that are new select (bit: 0 or 1, or -1 for all). */
int vidi__subtable_rebuild(vidi__subtable **fresh, const vidi__subtable *old, vidi__chunks *chunks,
                           const vidi__subtable *shape, int bit);

/*
 * Saved: u64 depth, lines, width, number of spilled hashes, room for them; the lines as they are; the spilled hashes
 * (each with its times, in a multiset). Loading needs depth, bits, multiset and portable of the shape, refuses what
 * cannot be, and adds the number of different hashes to *count.
 */
int vidi__subtable_save(const vidi__subtable *table, vidi__writer *writer);
int vidi__subtable_load(vidi__subtable **table, vidi__chunks *chunks, const vidi__subtable *shape, vidi__reader *reader,
                        uint64_t *count);

uint64_t vidi__subtable_bytes(const vidi__subtable *table);

/*
 * Sets lines, width and limit for so many hashes, the least memory that takes them without being full. depth, bits,
 * multiset and portable are to be set before.
 */
void vidi__subtable_fit(vidi__subtable *shape, uint64_t hashes);

#endif
