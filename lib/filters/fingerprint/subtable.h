/*
 * A sub-table of a fingerprint table. It holds the hashes that share a prefix, in lines (line.h) ordered by hash.
 * Hashes that find no room in the lines go to an overflow table (overflow.h).
 *
 *     hash      a number below `range`: what is left of the W bits after the prefix
 *     line      = floor(hash · ratio / 2^64), where ratio = floor(2^64 · lines / range)
 *     stored    the distance of the hash from the first hash of its line
 *
 * So the bits that address a line are not stored. A hash and its (line, distance) determine each other exactly,
 * whatever the number of lines is, so growing preserves every bit. A distance takes 3 to 8 bytes, the fewest
 * that the number of lines allows.
 *
 * A hash that finds its line full is displaced to the next line (the first line follows the last). If that is full too,
 * it goes to the overflow table. Either way its own line gets its signature, so lookups know when to look elsewhere.
 *
 * A sub-table never grows in place. Rebuilding it creates one or two others from its hashes, in order. That either
 * succeeds as a whole or leaves the old one as it was. Lines are stored in slabs of 16 KiB that come from a pool and
 * go back to it (slabs.h): memory that was touched once is used again, and no large block is ever allocated. In a very
 * large table, the overflow table is in the last of these slabs, too.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_SUBTABLE_H
#define VIDI_FILTERS_FINGERPRINT_SUBTABLE_H

#include "filters/filter.h"
#include "filters/fingerprint/line.h"
#include "filters/fingerprint/overflow.h"

#define VIDI__SLOTS_MAX 20 /* of a line of any width */
/* 256 KiB: an old and a new one fit into a core's cache together, and rebuilding takes a tenth of a millisecond. */
#define VIDI__SUBTABLE_LINES_MAX 4096

/*
 * A sub-table. The first cache line is what it takes to find a line, and never changes. The second one is what adds
 * change, under `lock` if several threads share the table.
 */
typedef struct vidi__subtable {
    uint64_t ratio;   /* lines / range, times 2^64 */
    uint64_t inverse; /* 2^64 / ratio, for dividing by ratio: hashes per line, rounded down */
    unsigned char **slabs;
    uint64_t range;
    uint64_t lines;
    uint64_t *inside; /* an overflow table that fits after the lines, into their last slab */
    unsigned char
        *adjacent; /* the first slab, to which some are adjacent: saves large tables a cache miss in `slabs` */
    uint16_t adjacent_slabs; /* how many */
    uint16_t depth;          /* length of the prefix after the partition's bits */
    uint8_t width;           /* bytes per distance */
    bool multiset;
    bool portable;
    bool lent; /* the lines are borrowed: never written to, and perhaps never verified */
    _Alignas(VIDI__CACHE_LINE) vidi__mutex lock;
    bool retired;         /* it was replaced, and is freed when nobody looks at it any more; `waiting` is in use */
    uint16_t inside_room; /* entries at `inside` */
    union {
        struct {
            uint64_t used;  /* slots in use, and entries of the overflow table */
            uint64_t limit; /* the sub-table is rebuilt when `used` reaches this */
        };
        struct {
            struct vidi__subtable *next;
            uint32_t era; /* in which it was replaced */
        } waiting;
    };
    vidi__overflow overflow;
} vidi__subtable;
_Static_assert(sizeof(vidi__subtable) == 128, "two cache lines");

/* Where a hash belongs: its line, and its distance from the line's first hash. */
typedef struct vidi__spot {
    unsigned char *line;
    uint64_t distance;
} vidi__spot;

static inline unsigned char *vidi__subtable_line(const vidi__subtable *table, uint64_t line)
{
    if (VIDI__LIKELY(line / VIDI__SLAB_LINES < table->adjacent_slabs))
        return table->adjacent + line * VIDI__LINE_BYTES;
    return table->slabs[line / VIDI__SLAB_LINES] + line % VIDI__SLAB_LINES * VIDI__LINE_BYTES;
}

/*
 * hash · ratio = line · 2^64 + fraction. The distance is floor(fraction / ratio). The division is a multiplication by
 * the reciprocal, whose result is at most one too small.
 */
static inline vidi__spot vidi__subtable_spot(const vidi__subtable *table, uint64_t hash)
{
    unsigned __int128 product = (unsigned __int128)hash * table->ratio;
    uint64_t line = (uint64_t)(product >> 64), fraction = (uint64_t)product;
    uint64_t distance = vidi__scale(fraction, table->inverse);
    distance += fraction - distance * table->ratio >= table->ratio;
    return (vidi__spot){vidi__subtable_line(table, line), distance};
}

/* The first hash of a line: the smallest whose product reaches the line. */
static inline uint64_t vidi__subtable_first(const vidi__subtable *table, uint64_t line)
{
    unsigned __int128 start = (unsigned __int128)line << 64;
    /* A table has at least one line. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
    return (uint64_t)((start + table->ratio - 1) / table->ratio);
}

/* The first hash of the last line, whose displaced entries are in the first line. */
static inline uint64_t vidi__subtable_last_first(const vidi__subtable *table)
{
    return vidi__subtable_first(table, table->lines - 1);
}

/* The first hash of the next line, from the first hash of this one: `inverse` hashes further, or one or two more. */
static inline uint64_t vidi__subtable_next_first(const vidi__subtable *table, uint64_t line, uint64_t first)
{
    first += table->inverse;
    while (vidi__scale(first, table->ratio) <= line)
        first++;
    return first;
}

/* The line after the one that a hash belongs to. */
static inline unsigned char *vidi__subtable_next_line(const vidi__subtable *table, uint64_t hash)
{
    uint64_t next = vidi__scale(hash, table->ratio) + 1;
    return vidi__subtable_line(table, next == table->lines ? 0 : next);
}

/* The slots of a line that hold this distance, either among its own entries or among its displaced ones. */
static inline uint32_t vidi__subtable_match(const vidi__subtable *table, const unsigned char *line, uint64_t distance,
                                            bool displaced)
{
    uint32_t head = vidi__line_head(line), displaced_slots = vidi__line_displaced(head, vidi__line_slots(table->width));
    return vidi__line_match(line, head, table->width, distance, table->portable) &
           (displaced ? displaced_slots : ~displaced_slots);
}

/* Creates an empty sub-table of this shape. */
int vidi__subtable_make(vidi__subtable **table, vidi__slabs *slabs, const vidi__subtable *shape);

/* The same without initializing the lines: the caller writes every head before anything else happens. */
int vidi__subtable_alloc(vidi__subtable **table, vidi__slabs *slabs, const vidi__subtable *shape);
void vidi__subtable_free(vidi__subtable *table, vidi__slabs *slabs);

/* How often the hash is in the sub-table: 0 or 1, or more in a multiset. */
uint64_t vidi__subtable_times(const vidi__subtable *table, uint64_t hash);

/*
 * Inserts a hash `times` times, even if it is present and however full the sub-table is. Only a multiset may insert a
 * hash more than once.
 */
int vidi__subtable_insert(vidi__subtable *table, vidi__slabs *slabs, uint64_t hash, uint64_t times);

/* Removes one occurrence of the hash; false if there is none. */
bool vidi__subtable_remove(vidi__subtable *table, uint64_t hash);

/*
 * Calls visit once for every hash, with its times, line by line. A result other than 0 ends the walk and is returned.
 * See subtable_walk.c.
 */
typedef int vidi__subtable_visit(void *context, uint64_t hash, uint64_t times);
int vidi__subtable_walk(const vidi__subtable *table, vidi__subtable_visit *visit, void *context);

/* Passes a block on, hash by hash. The context is a vidi__visiting. */
typedef struct vidi__visiting {
    vidi__subtable_visit *visit;
    void *context;
} vidi__visiting;
int vidi__visit_each(void *context, uint64_t *hashes, const uint64_t *times, unsigned n);

/*
 * The same in blocks, for the hashes from `from` to before `to`. Looks at no more lines than these need, but at all
 * overflow. A multiset takes its time.
 */
int vidi__subtable_list(const vidi__subtable *table, uint64_t from, uint64_t to, vidi__take_hashes *take,
                        void *context);

/*
 * Creates a copy of a sub-table that is no multiset, to rebuild while others go on adding to the original; and calls
 * visit for every hash that the original has got since.
 */
int vidi__subtable_copy(vidi__subtable **copy, const vidi__subtable *table, vidi__slabs *slabs);
int vidi__subtable_walk_newer(const vidi__subtable *table, const vidi__subtable *copy, vidi__subtable_visit *visit,
                              void *context);

/*
 * Creates a sub-table of another shape with the hashes of `old`. If `shape` has half the range, `half` selects the
 * lower (0) or the upper (1) half of the hashes; -1 takes all. See rebuild.c.
 */
int vidi__subtable_rebuild(vidi__subtable **fresh, const vidi__subtable *old, vidi__slabs *slabs,
                           const vidi__subtable *shape, int half);

/*
 * Saved in three parts, which need not be adjacent:
 *
 *     head      u64 depth, lines, width, used (slots and overflow entries), overflow entries, overflow room
 *     lines     as they are, aligned; zeros in slots that are not in use
 *     overflow  the overflow table (overflow.h), as it is
 *
 * Loading takes depth (which the caller has read), range, multiset and portable from `shape`, and rejects what cannot
 * be valid. After its head is loaded, a sub-table may only be loaded further or freed. *announced grows by the size of
 * the other two parts; loading fails if that is more than the stream has left. Loading lines and overflow adds the
 * number of different hashes to *count.
 *
 * Borrowed lines, and those of a trusted reader, are not examined: *count then grows by the number of slots that are
 * said to be in use.
 */
int vidi__subtable_save_head(const vidi__subtable *table, vidi__writer *writer);
int vidi__subtable_save_lines(const vidi__subtable *table, vidi__writer *writer);
int vidi__subtable_save_overflow(const vidi__subtable *table, vidi__writer *writer);
int vidi__subtable_load_head(vidi__subtable **table, vidi__slabs *slabs, const vidi__subtable *shape,
                             vidi__reader *reader, uint64_t *announced);
int vidi__subtable_load_lines(vidi__subtable *table, vidi__slabs *slabs, vidi__reader *reader, uint64_t *count);
int vidi__subtable_load_overflow(vidi__subtable *table, vidi__slabs *slabs, vidi__reader *reader, uint64_t *count);

/* Checks borrowed lines as loading a copy would, signatures included. Adds the number of different hashes to *count. */
int vidi__subtable_verify(const vidi__subtable *table, uint64_t *count);

/* The two halves of that: the lines first, since the other half relies on them. See subtable_check.c. */
int vidi__subtable_check_lines(const vidi__subtable *table, uint64_t *count);
int vidi__subtable_check_overflow(const vidi__subtable *table, uint64_t *count);

uint64_t vidi__subtable_bytes(const vidi__subtable *table);

/*
 * Sets lines, width and limit so that the sub-table takes `hashes` hashes in the least memory. The caller has set
 * depth, range, multiset and portable.
 */
void vidi__subtable_fit(vidi__subtable *shape, uint64_t hashes);

/* How many hashes a sub-table of this shape usually gets before it is rebuilt. */
uint64_t vidi__subtable_usual_limit(const vidi__subtable *shape);

/*
 * Makes a shape of a quarter of the usual limit or more fill whole slabs: with some more or fewer lines, and with its
 * overflow table after them. There it is in a large page, as the lines are, and has its final size from the start.
 */
void vidi__subtable_fill_slabs(vidi__subtable *shape);

/* Room of the overflow table of a sub-table with this many lines when this many hashes have overflowed. */
uint64_t vidi__subtable_overflow_room(uint64_t lines, uint64_t hashes);

/* ---- the fast path: the hash is in its own line or absent ---- */

/* Compiles `expression` once per width, with the width as a constant. */
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
    case 7:                                                                                                            \
        return expression(7);                                                                                          \
    default:                                                                                                           \
        return expression(8);                                                                                          \
    }

/* Returns true if the hash is in the next line or in the overflow table. Called if its own line has its signature. */
bool vidi__subtable_has_elsewhere(const vidi__subtable *table, uint64_t hash, vidi__spot spot);

/* Returns true if the hash is one of the entries of its own line that this head counts. */
static VIDI__INLINE bool vidi__subtable_in_own_line(const vidi__subtable *table, const vidi__spot *spot, uint32_t head,
                                                    unsigned width)
{
    uint32_t displaced_slots = vidi__line_displaced(head, vidi__line_slots(width));
    return vidi__line_match(spot->line, head, width, spot->distance, table->portable) & ~displaced_slots;
}

static VIDI__INLINE bool vidi__subtable_has_as(const vidi__subtable *table, uint64_t hash, const vidi__spot *spot,
                                               unsigned width)
{
    uint32_t head = vidi__line_head(spot->line);
    if (vidi__subtable_in_own_line(table, spot, head, width))
        return true;
    return VIDI__UNLIKELY(vidi__line_has_signature(head, vidi__line_slots(width), spot->distance)) &&
           vidi__subtable_has_elsewhere(table, hash, *spot);
}

static VIDI__INLINE bool vidi__subtable_has(const vidi__subtable *table, uint64_t hash, const vidi__spot *spot)
{
#define VIDI__HAS(width) vidi__subtable_has_as(table, hash, spot, width)
    VIDI__FOR_WIDTH(table->width, VIDI__HAS)
#undef VIDI__HAS
}

/*
 * Looks at the line alone, while another thread may be adding: VIDI_SEEN, VIDI_NEW, or VIDI_UNTRIED if the hash may be
 * elsewhere.
 */
static VIDI__INLINE int vidi__subtable_glance_as(const vidi__subtable *table, const vidi__spot *spot, unsigned width)
{
    uint32_t head = vidi__line_head(spot->line);
    if (vidi__subtable_in_own_line(table, spot, head, width))
        return VIDI_SEEN;
    return vidi__line_has_signature(head, vidi__line_slots(width), spot->distance) ? VIDI_UNTRIED : VIDI_NEW;
}

static VIDI__INLINE int vidi__subtable_glance(const vidi__subtable *table, const vidi__spot *spot)
{
#define VIDI__GLANCE(width) vidi__subtable_glance_as(table, spot, width)
    VIDI__FOR_WIDTH(table->width, VIDI__GLANCE)
#undef VIDI__GLANCE
}

/* Puts a hash, which is absent, into the overflow table of a plain set. Its line must get its signature. */
int vidi__subtable_overflow(vidi__subtable *table, vidi__slabs *slabs, uint64_t hash);

/* The slow path: the line is full or has the hash's signature, the sub-table is full, or it is a multiset. */
int vidi__subtable_add_slowly(vidi__subtable *table, vidi__slabs *slabs, uint64_t hash, vidi__spot spot, bool seen);

static VIDI__INLINE int vidi__subtable_add_as(vidi__subtable *table, vidi__slabs *slabs, uint64_t hash,
                                              const vidi__spot *spot, unsigned width)
{
    const unsigned slots = vidi__line_slots(width);
    uint32_t head = vidi__line_head(spot->line);
    bool seen = vidi__subtable_in_own_line(table, spot, head, width);
    if (VIDI__UNLIKELY(vidi__line_count(head) == slots || vidi__line_has_signature(head, slots, spot->distance) ||
                       table->used >= table->limit || table->multiset))
        return vidi__subtable_add_slowly(table, slabs, hash, *spot, seen);
    if (seen)
        return VIDI_SEEN;
    vidi__line_append(spot->line, width, head, spot->distance, false);
    table->used++;
    return VIDI_NEW;
}

/*
 * Adds a hash: VIDI_NEW or VIDI_SEEN (a multiset stores it either way), or VIDI__SUBTABLE_FULL if the sub-table must be
 * rebuilt first.
 */
#define VIDI__SUBTABLE_FULL 0
static inline int vidi__subtable_add(vidi__subtable *table, vidi__slabs *slabs, uint64_t hash, const vidi__spot *spot)
{
#define VIDI__ADD(width) vidi__subtable_add_as(table, slabs, hash, spot, width)
    VIDI__FOR_WIDTH(table->width, VIDI__ADD)
#undef VIDI__ADD
}

#endif
