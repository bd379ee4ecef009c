/*
 * A part of a fingerprint table: the hashes that share a prefix, in lines (line.h) in the order of the hashes, and a
 * few beside (overflow.h) for which there was no room.
 *
 *     hash      a number below `range`: what of the W bits is left behind the prefix
 *     line      = floor(hash · ratio / 2^64), where ratio = floor(2^64 · lines / range)
 *     stored    the hash's distance from the first hash of its line
 *
 * So the bits that address a line are not stored, and hash and (line, distance) determine each other exactly, whatever
 * the number of lines: growing reproduces every bit. A distance takes 3, 4, 5, 6 or 8 bytes, the fewest that the number
 * of lines allows.
 *
 *     full      a hash that finds its line full goes to the next one as a displaced entry (the first follows on the last), and
 *               where that is full too, beside; its own line then bears its signature
 *
 * A sub-table never grows in place. Rebuilding it makes one or two others from its hashes, in order, and either
 * succeeds as a whole or leaves it as it was. The lines are in chunks of 16 KiB, which come from and go back to a pool
 * (chunks.h): memory that was touched once is used again, and no large block is ever asked for.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_SUBTABLE_H
#define VIDI_FILTERS_FINGERPRINT_SUBTABLE_H

#include "base/stream.h"
#include "filters/fingerprint/line.h"
#include "filters/fingerprint/overflow.h"

#define VIDI__SUBTABLE_LINES_MAX 16384 /* 1 MiB: rebuilding takes one or two milliseconds */

/* What a question needs comes first, within one cache line. */
typedef struct vidi__subtable {
    uint64_t ratio;   /* of lines to hashes, times 2^64 */
    uint64_t inverse; /* 2^64 / ratio, for dividing by it: hashes a line, rounded down */
    unsigned char **chunks;
    uint64_t range;
    uint64_t used;  /* slots and overflowed entries */
    uint64_t limit; /* of used, when it is to be rebuilt */
    uint8_t width;  /* bytes a distance */
    bool multiset;
    bool portable;
    bool lent;      /* the lines are not ours: never written to, and perhaps never looked at */
    unsigned depth; /* of the directory: bits of prefix within the partition */
    vidi__overflow overflow;
    uint64_t lines;
} vidi__subtable;

/* Where a hash has its place. */
typedef struct vidi__spot {
    unsigned char *line;
    uint64_t distance;
} vidi__spot;

static inline unsigned char *vidi__subtable_line(const vidi__subtable *table, uint64_t line)
{
    return table->chunks[line / VIDI__CHUNK_LINES] + line % VIDI__CHUNK_LINES * VIDI__LINE_BYTES;
}

/*
 * hash · ratio = line · 2^64 + fraction, and the line's first hash is as many steps of `ratio` back as go into the
 * fraction. That division is a multiplication by a reciprocal, which gives one too few at most.
 */
static inline vidi__spot vidi__subtable_spot(const vidi__subtable *table, uint64_t hash)
{
    unsigned __int128 product = (unsigned __int128)hash * table->ratio;
    uint64_t line = (uint64_t)(product >> 64), fraction = (uint64_t)product;
    uint64_t distance = vidi__scale(fraction, table->inverse);
    distance += fraction - distance * table->ratio >= table->ratio;
    return (vidi__spot){vidi__subtable_line(table, line), distance};
}

/* The line behind that of a hash. */
static inline unsigned char *vidi__subtable_next_line(const vidi__subtable *table, uint64_t hash)
{
    uint64_t next = vidi__scale(hash, table->ratio) + 1;
    return vidi__subtable_line(table, next == table->lines ? 0 : next);
}

/* When the line has come: lets the processor bring the next one, if an add, or a question, may lead on to it. */
static inline void vidi__subtable_look_ahead(const vidi__subtable *table, uint64_t hash, const vidi__spot *spot,
                                             bool adding)
{
    uint32_t head = vidi__line_head(spot->line);
    unsigned slots = vidi__line_slots(table->width);
    if (adding ? vidi__line_count(head) == slots : vidi__line_has_signature(head, slots, spot->distance)) {
        const unsigned char *next = vidi__subtable_next_line(table, hash);
        __builtin_prefetch(next, 1);
        __asm__ volatile("" : : "r"(next)); /* gcc drops a loop that does nothing but prefetch */
    }
}

/* An empty one. */
int vidi__subtable_make(vidi__subtable **table, vidi__chunks *chunks, const vidi__subtable *shape);
void vidi__subtable_free(vidi__subtable *table, vidi__chunks *chunks);

/* How often the hash is there: 0 or 1, or more in a multiset. */
uint64_t vidi__subtable_times(const vidi__subtable *table, uint64_t hash);

/*
 * Puts a hash in so many times, whether it is there or not and however full it is; more than once only in a multiset.
 */
int vidi__subtable_insert(vidi__subtable *table, vidi__chunks *chunks, uint64_t hash, uint64_t times);

/* Takes one away; false if there is none. */
bool vidi__subtable_remove(vidi__subtable *table, uint64_t hash);

/* Calls visit once for every hash with its times, line by line; stops at anything but 0. */
typedef int vidi__subtable_visit(void *context, uint64_t hash, uint64_t times);
int vidi__subtable_walk(const vidi__subtable *table, vidi__subtable_visit *visit, void *context);

/*
 * Puts all of one into a new one of another shape; where that has half the range, only the hashes of the lower (0) or
 * upper (1) half, and -1 means all.
 */
int vidi__subtable_rebuild(vidi__subtable **fresh, const vidi__subtable *old, vidi__chunks *chunks,
                           const vidi__subtable *shape, int half);

/*
 * Saved in three parts, between which the parts of others may stand:
 *
 *     head      u64 depth, lines, width, slots and overflowed hashes in use, number of overflowed hashes, room for them
 *     lines     as they are, aligned; where no slot is in use, zeros
 *     overflowed   the table of the hashes beside (overflow.h), as it is
 *
 * Loading needs depth (which the caller has read), range, multiset and portable of the shape, and refuses what cannot
 * be. After the head there is a sub-table that must be used for nothing but loading the rest, or be freed; *announced
 * grows by what its rest takes in the stream, and is refused when it is more than is left. Lines and overflowed hashes
 * add the number of different hashes to *count.
 *
 * What is lent is not looked at: *count grows by what is said to be in use.
 */
int vidi__subtable_save_head(const vidi__subtable *table, vidi__writer *writer);
int vidi__subtable_save_lines(const vidi__subtable *table, vidi__writer *writer);
int vidi__subtable_save_overflow(const vidi__subtable *table, vidi__writer *writer);
int vidi__subtable_load_head(vidi__subtable **table, vidi__chunks *chunks, const vidi__subtable *shape,
                             vidi__reader *reader, uint64_t *announced);
int vidi__subtable_load_lines(vidi__subtable *table, vidi__chunks *chunks, vidi__reader *reader, uint64_t *count);
int vidi__subtable_load_overflow(vidi__subtable *table, vidi__chunks *chunks, vidi__reader *reader, uint64_t *count);

/* Is what was lent as a copy would have to be, and signed? Adds the number of different hashes to *count. */
int vidi__subtable_verify(const vidi__subtable *table, uint64_t *count);

uint64_t vidi__subtable_bytes(const vidi__subtable *table);

/*
 * Sets lines, width and limit for so many hashes, the least memory that takes them without being full. depth, range,
 * multiset and portable are to be set before.
 */
void vidi__subtable_fit(vidi__subtable *shape, uint64_t hashes);

/* ---- the short way: in its own line, or not there at all ---- */

/* Compiled once for each width, as a constant. */
#define VIDI__FOR_WIDTH(width, expression)                                                                             \
    switch (width) {                                                                                                   \
    case 3:                                                                                                            \
        return expression(3);                                                                                          \
    case 4:                                                                                                            \
        return expression(4);                                                                                          \
    case 5:                                                                                                            \
        return expression(5);                                                                                          \
    case 6:                                                                                                            \
        return expression(6);                                                                                          \
    default:                                                                                                           \
        return expression(8);                                                                                          \
    }

/* Its own line bears its signature: is it in the next, or beside? */
bool vidi__subtable_has_elsewhere(const vidi__subtable *table, uint64_t hash, const vidi__spot *spot);

static VIDI__INLINE bool vidi__subtable_in_own_line(const vidi__subtable *table, const vidi__spot *spot, unsigned width)
{
    uint32_t displaced_slots = vidi__line_displaced(vidi__line_head(spot->line), vidi__line_slots(width));
    return vidi__line_match(spot->line, width, spot->distance, table->portable) & ~displaced_slots;
}

static VIDI__INLINE bool vidi__subtable_has_as(const vidi__subtable *table, uint64_t hash, const vidi__spot *spot,
                                               unsigned width)
{
    if (vidi__subtable_in_own_line(table, spot, width))
        return true;
    return VIDI__UNLIKELY(
               vidi__line_has_signature(vidi__line_head(spot->line), vidi__line_slots(width), spot->distance)) &&
           vidi__subtable_has_elsewhere(table, hash, spot);
}

static inline bool vidi__subtable_has(const vidi__subtable *table, uint64_t hash, const vidi__spot *spot)
{
#define VIDI__HAS(width) vidi__subtable_has_as(table, hash, spot, width)
    VIDI__FOR_WIDTH(table->width, VIDI__HAS)
#undef VIDI__HAS
}

/* Where it is not that easy: the line is full, something is not in it that should be, or it is a multiset. */
int vidi__subtable_add_slowly(vidi__subtable *table, vidi__chunks *chunks, uint64_t hash, const vidi__spot *spot,
                              bool seen);

static VIDI__INLINE int vidi__subtable_add_as(vidi__subtable *table, vidi__chunks *chunks, uint64_t hash,
                                              const vidi__spot *spot, unsigned width)
{
    const unsigned slots = vidi__line_slots(width);
    uint32_t head = vidi__line_head(spot->line);
    bool seen = vidi__subtable_in_own_line(table, spot, width);
    if (VIDI__UNLIKELY(vidi__line_count(head) == slots || vidi__line_has_signature(head, slots, spot->distance) ||
                       table->used >= table->limit || table->multiset))
        return vidi__subtable_add_slowly(table, chunks, hash, spot, seen);
    if (seen)
        return VIDI_SEEN;
    vidi__line_append(spot->line, width, head, spot->distance, false);
    table->used++;
    return VIDI_NEW;
}

/*
 * Adds a hash: VIDI_NEW or VIDI_SEEN (which a multiset stores all the same); VIDI__SUBTABLE_FULL if it has to be
 * rebuilt first.
 */
#define VIDI__SUBTABLE_FULL 0
static inline int vidi__subtable_add(vidi__subtable *table, vidi__chunks *chunks, uint64_t hash, const vidi__spot *spot)
{
#define VIDI__ADD(width) vidi__subtable_add_as(table, chunks, hash, spot, width)
    VIDI__FOR_WIDTH(table->width, VIDI__ADD)
#undef VIDI__ADD
}

#endif
