/*
 * Examines the contents of a sub-table that were read from a file: any bytes may be there, with right checksums.
 *
 * Nearly every line is right, so each is first looked at as a whole, with vector instructions and without branches:
 *
 *     distances    are all of them smaller than the line is long, which is the same as leading back to the line?
 *     low halves   do any two slots have the same low 32 bits?
 *
 * Only a line of which that cannot be said is examined slot by slot. Chance makes the low halves of two slots equal in
 * one of 2^25 lines. Multisets, and lines of the widths that only small tables or few bits lead to, always are.
 */
#include "filters/fingerprint/subtable.h"

/* Vectors that every compiler for every machine knows; without vector instructions they are loops. */
typedef uint32_t four __attribute__((vector_size(16)));
typedef int32_t four_signed __attribute__((vector_size(16)));
typedef uint64_t two __attribute__((vector_size(16)));

/* A line that is examined. */
typedef struct examined {
    const unsigned char *at;
    uint64_t number, before; /* of the line, and of the one before it */
    uint64_t first;          /* hash of the line */
    uint64_t span[2];        /* how many hashes belong to the two lines */
} examined;

static inline unsigned slots_of(const vidi__subtable *table)
{
    return vidi__line_slots(table->width);
}

static int check_head(const vidi__subtable *table, const unsigned char *line)
{
    uint32_t head = vidi__line_head(line), displaced_slots = vidi__line_displaced(head, slots_of(table));
    unsigned used = vidi__line_count(head);
    if (used > slots_of(table) || displaced_slots >> used || (displaced_slots && table->lines == 1))
        return vidi__damaged("a line claims more entries than it has slots");
    return VIDI_OK;
}

/* A hash that is not in its own line must have its signature there: otherwise lookups would not find it. */
static int check_signature(const vidi__subtable *table, const unsigned char *own, uint64_t distance)
{
    bool has = vidi__line_has_signature(vidi__line_head(own), slots_of(table), distance);
    return has ? VIDI_OK : vidi__damaged("a line lacks a signature");
}

/* ---- slot by slot ---- */

/*
 * Checks that every distance leads back to this line, or to the previous one for a displaced entry, and that a plain
 * set holds no hash twice.
 */
static int check_slots(const vidi__subtable *table, const examined *line, uint64_t *count)
{
    const unsigned char *at = line->at;
    for (unsigned slot = 0; slot < vidi__line_count(vidi__line_head(at)); slot++) {
        bool displaced = vidi__line_head(at) & vidi__line_displaced_bit(slot);
        uint64_t distance = vidi__line_get(at, table->width, slot);
        if (distance >= line->span[displaced])
            return vidi__damaged("a line holds a hash that belongs to another line");
        const unsigned char *own = vidi__subtable_line(table, displaced ? line->before : line->number);
        uint32_t equal = vidi__subtable_match(table, at, distance, displaced);
        bool reported = (unsigned)__builtin_ctz(equal) == slot &&
                        (!displaced || !vidi__subtable_match(table, own, distance, false));
        if (!reported && !table->multiset)
            return vidi__damaged("a line holds a hash twice");
        if (displaced)
            VIDI__TRY(check_signature(table, own, distance));
        *count += reported;
    }
    return VIDI_OK;
}

/* ---- the line as a whole ---- */

static inline four load_four(const unsigned char *from)
{
    four loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

/* The bits of four distances above their low 32; those of slots that the line does not have are meaningless. */
static VIDI__INLINE four high_halves(const unsigned char *line, unsigned width, unsigned i)
{
    four high = {0, 0, 0, 0};
    for (unsigned lane = 0; lane < 4; lane++) {
        unsigned slot = 4 * i + lane;
        if (width == 5)
            high[lane] = line[48 + slot];
        if (width == 6)
            high[lane] = vidi__load16(line + 40 + 2 * slot);
        if (width == 7)
            high[lane] = vidi__load16(line + 32 + 2 * slot) | (uint32_t)line[48 + slot] << 16;
    }
    return high;
}

static inline four turned(four v, unsigned by)
{
    return by == 1   ? (four){v[1], v[2], v[3], v[0]}
           : by == 2 ? (four){v[2], v[3], v[0], v[1]}
                     : (four){v[3], v[0], v[1], v[2]};
}

static inline bool any_bit(four v)
{
    two halves = (two)v;
    return halves[0] | halves[1];
}

/* Lanes of all ones where two of up to 16 numbers are equal. */
static VIDI__INLINE four equal_pairs(const four *v, unsigned vectors)
{
    four equal = {0, 0, 0, 0};
    for (unsigned a = 0; a < vectors; a++) {
        four one = turned(v[a], 1), half = turned(v[a], 2), three = turned(v[a], 3);
        equal |= (four)(v[a] == one) | (four)(v[a] == half);
        for (unsigned b = a + 1; b < vectors; b++)
            equal |= (four)(v[b] == v[a]) | (four)(v[b] == one) | (four)(v[b] == half) | (four)(v[b] == three);
    }
    return equal;
}

/*
 * Returns true if all distances of the `used` slots are below `span`, and the low halves of them differ from each
 * other. Slots that are not in use get low halves of their own instead of what is there.
 */
static VIDI__INLINE bool is_plain(const unsigned char *line, unsigned width, unsigned used, uint64_t span)
{
    enum { MOST = 4 };
    const unsigned vectors = (vidi__line_slots(width) + 3) / 4;
    const four_signed lanes = {0, 1, 2, 3};
    const four filling = {0x9e3779b9, 0x3c6ef372, 0xdaa66d2b, 0x78dde6e4};
    four low[MOST];
    two below = {UINT64_MAX, UINT64_MAX};
    for (unsigned i = 0; i < vectors; i++) {
        four loaded = load_four(line + 16 * i);
        four unused = (four)(lanes + 4 * (int32_t)i >= (int32_t)used);
        four kept = loaded & ~unused, high = high_halves(line, width, i) & ~unused;
        below &= (two)(four){kept[0], high[0], kept[1], high[1]} - span;
        below &= (two)(four){kept[2], high[2], kept[3], high[3]} - span;
        low[i] = kept | (unused & (filling + 0x1b873593 * i));
    }
    return (below[0] & below[1]) >> 63 && !any_bit(equal_pairs(low, vectors));
}

/* The fast check for plain sets. False means only that the slots must be looked at. */
static bool is_in_order(const vidi__subtable *table, const examined *line)
{
    unsigned used = vidi__line_count(vidi__line_head(line->at));
    uint64_t span = line->span[0] < line->span[1] ? line->span[0] : line->span[1];
    switch (table->width) {
    case 4:
        return is_plain(line->at, 4, used, span);
    case 5:
        return is_plain(line->at, 5, used, span);
    case 6:
        return is_plain(line->at, 6, used, span);
    case 7:
        return is_plain(line->at, 7, used, span);
    default:
        return false;
    }
}

/* The entries of a line in order that the previous line displaced. They are not in both. */
static int check_displaced(const vidi__subtable *table, const examined *line)
{
    uint32_t displaced = vidi__line_displaced(vidi__line_head(line->at), slots_of(table));
    const unsigned char *own = vidi__subtable_line(table, line->before);
    for (; displaced; displaced &= displaced - 1) {
        uint64_t distance = vidi__line_get(line->at, table->width, (unsigned)__builtin_ctz(displaced));
        if (vidi__subtable_match(table, own, distance, false))
            return vidi__damaged("a line holds a hash twice");
        VIDI__TRY(check_signature(table, own, distance));
    }
    return VIDI_OK;
}

static int check_line(const vidi__subtable *table, const examined *line, uint64_t *count)
{
    if (VIDI__UNLIKELY(table->multiset || !is_in_order(table, line)))
        return check_slots(table, line, count);
    *count += vidi__line_count(vidi__line_head(line->at));
    return check_displaced(table, line);
}

/* ---- lines and overflow ---- */

/* The hash after the last one of a line. */
static uint64_t end_of(const vidi__subtable *table, uint64_t line, uint64_t first)
{
    uint64_t next = vidi__subtable_next_first(table, line, first);
    return next < table->range ? next : table->range;
}

/* The heads come first, since the check of a line looks at the one before it, and of the first at the last. */
int vidi__subtable_check_lines(const vidi__subtable *table, uint64_t *count)
{
    uint64_t used = table->overflow.used, last = table->lines - 1, last_first = vidi__subtable_last_first(table);
    examined line = {.before = last, .span = {0, table->range - last_first}};
    for (uint64_t i = 0; i < table->lines; i++)
        VIDI__TRY(check_head(table, vidi__subtable_line(table, i)));
    for (; line.number < table->lines; line.number++) {
        uint64_t end = end_of(table, line.number, line.first);
        line.at = vidi__subtable_line(table, line.number);
        line.span[0] = end - line.first;
        VIDI__TRY(check_line(table, &line, count));
        used += vidi__line_count(vidi__line_head(line.at));
        line.before = line.number;
        line.span[1] = line.span[0];
        line.first = end;
    }
    return used == table->used ? VIDI_OK : vidi__damaged("the number of entries of a sub-table is wrong");
}

static int check_overflowed(const vidi__subtable *table, uint64_t hash, uint64_t *count)
{
    const vidi__spot at = vidi__subtable_spot(table, hash);
    bool in_line = vidi__subtable_match(table, at.line, at.distance, false) ||
                   vidi__subtable_match(table, vidi__subtable_next_line(table, hash), at.distance, true);
    if (in_line && !table->multiset)
        return vidi__damaged("an overflowed hash is stored twice");
    *count += !in_line;
    return check_signature(table, at.line, at.distance);
}

/* Prefetches the two lines of each hash, then looks at them. */
static int check_group(const vidi__subtable *table, const uint64_t *hashes, unsigned n, uint64_t *count)
{
    for (unsigned i = 0; i < n; i++) {
        __builtin_prefetch(vidi__subtable_spot(table, hashes[i]).line);
        __builtin_prefetch(vidi__subtable_next_line(table, hashes[i]));
    }
    for (unsigned i = 0; i < n; i++)
        VIDI__TRY(check_overflowed(table, hashes[i], count));
    return VIDI_OK;
}

/* The overflow table is read after all lines, which are not in the cache any more. */
int vidi__subtable_check_overflow(const vidi__subtable *table, uint64_t *count)
{
    enum { GROUP = 32 };
    uint64_t hashes[GROUP];
    unsigned n = 0;
    VIDI__TRY(vidi__overflow_verify(&table->overflow, table->range));
    for (uint64_t at = 0; at < table->overflow.room; at++) {
        hashes[n] = *vidi__overflow_at(table->overflow.entries, at);
        n += hashes[n] != VIDI__OVERFLOW_EMPTY;
        if (n == GROUP) {
            VIDI__TRY(check_group(table, hashes, n, count));
            n = 0;
        }
    }
    return check_group(table, hashes, n, count);
}

int vidi__subtable_verify(const vidi__subtable *table, uint64_t *count)
{
    VIDI__TRY(vidi__subtable_check_lines(table, count));
    return vidi__subtable_check_overflow(table, count);
}
