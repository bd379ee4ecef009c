/* See subtable.h. */
#include "filters/fingerprint/subtable.h"

/*
 * The load factor at which a sub-table counts as full. Above LOAD, overflow costs much time and saves little memory.
 * Only small tables have wide distances: they are in the cache, where overflow costs less, and a slot is dear.
 */
#define LOAD 0.88
#define LOAD_OF_WIDE 1.1
/*
 * Room in the overflow table for each line of a sub-table that is almost full. When it is full, 0.318 hashes for each
 * line have overflowed, with any width of up to 6 bytes, as was measured.
 */
#define OVERFLOW_PER_LINE 0.35

/* Hashes per line of a full sub-table. */
static double full_line(unsigned width)
{
    return (width >= 7 ? LOAD_OF_WIDE : LOAD) * vidi__line_slots(width);
}

static uint64_t slab_count(uint64_t lines)
{
    return (lines + VIDI__SLAB_LINES - 1) / VIDI__SLAB_LINES;
}

static uint64_t lines_in_slab(const vidi__subtable *table, uint64_t slab)
{
    uint64_t left = table->lines - slab * VIDI__SLAB_LINES;
    return left < VIDI__SLAB_LINES ? left : VIDI__SLAB_LINES;
}

/* More lines than half the number of hashes would be useless. */
static uint64_t lines_most(uint64_t range)
{
    return range / 2;
}

uint64_t vidi__subtable_usual_limit(const vidi__subtable *shape)
{
    return (uint64_t)(full_line(shape->width) * (double)shape->lines);
}

/* Derives the other fields from the number of lines and the width. */
static void complete(vidi__subtable *shape)
{
    shape->ratio = (uint64_t)(((unsigned __int128)shape->lines << 64) / shape->range);
    /* A table has at least one line. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
    shape->inverse = UINT64_MAX / shape->ratio;
    shape->limit = vidi__subtable_usual_limit(shape);
    if (shape->limit < 1)
        shape->limit = 1;
    if (shape->lines == lines_most(shape->range))
        shape->limit = UINT64_MAX; /* a multiset that cannot grow further: the rest overflows */
}

/* The fewest lines whose distances fit the width. */
static uint64_t lines_least(uint64_t range, unsigned width)
{
    return width == 8 ? 1 : ((range - 1) >> 8 * width) + 1;
}

void vidi__subtable_fit(vidi__subtable *shape, uint64_t hashes)
{
    static const uint8_t widths[] = {3, 4, 5, 6, 7, 8};
    shape->lines = 0;
    for (size_t i = 0; i < VIDI__COUNT(widths); i++) {
        uint8_t width = widths[i];
        uint64_t lines = (uint64_t)((double)(hashes + 1) / full_line(width)) + 1;
        if (lines < lines_least(shape->range, width))
            lines = lines_least(shape->range, width);
        if (lines > lines_most(shape->range))
            lines = lines_most(shape->range);
        if (shape->lines && lines >= shape->lines)
            continue;
        shape->lines = lines;
        shape->width = width;
    }
    complete(shape);
}

static uint64_t lines_bytes(const vidi__subtable *table)
{
    return table->lines * VIDI__LINE_BYTES;
}

/* The lines, and the overflow table if it follows them. */
static uint64_t slabs_bytes(const vidi__subtable *table)
{
    return lines_bytes(table) + table->inside_room * sizeof(uint64_t);
}

/* With fewer slabs, rounding would change too much. */
#define FILLED_SLABS_LEAST 8
/*
 * The load factor of a sub-table that fills its slabs, before its lines are rounded, and the room in its overflow table
 * for each line. Four fifths of it suffice for what overflows at that load factor, as was measured.
 */
#define FILLED_LOAD 0.87
#define FILLED_OVERFLOW_PER_LINE 0.36

/*
 * The limit stays as it is: partitions of different sizes should be rebuilt at different times. The overflow table must
 * fit into one block, and so into the last slab.
 */
void vidi__subtable_fill_slabs(vidi__subtable *shape)
{
    const double line = VIDI__LINE_BYTES + FILLED_OVERFLOW_PER_LINE * sizeof(uint64_t);
    double wanted = (double)shape->lines * (LOAD / FILLED_LOAD) * line;
    uint64_t slabs = (uint64_t)(wanted / VIDI__SLAB_BYTES + 0.5), bytes = slabs * VIDI__SLAB_BYTES;
    uint64_t lines = (uint64_t)((double)bytes / line), limit = shape->limit;
    uint64_t room = (bytes - lines * VIDI__LINE_BYTES) / sizeof(uint64_t);
    if (shape->multiset || slabs < FILLED_SLABS_LEAST || room > VIDI__OVERFLOW_BLOCK ||
        lines < lines_least(shape->range, shape->width) || lines >= lines_most(shape->range))
        return;
    shape->lines = lines;
    shape->inside_room = (uint16_t)room;
    complete(shape);
    shape->limit = limit;
}

/*
 * To be called when `slabs` is known. If most of them are not adjacent, none count: then nobody could predict which
 * lines are.
 */
static void find_adjacent(vidi__subtable *table)
{
    uint64_t count = 1, all = slab_count(table->lines);
    table->adjacent = table->slabs[0];
    while (count < all && table->slabs[count] == table->slabs[count - 1] + VIDI__SLAB_BYTES)
        count++;
    table->adjacent_slabs = count >= all - all / 4 ? (uint16_t)count : 0;
}

/* The overflow table ends where the last slab ends. */
static void place_overflow(vidi__subtable *table)
{
    unsigned char *last = table->slabs[slabs_bytes(table) / VIDI__SLAB_BYTES - 1];
    table->inside = (uint64_t *)(void *)(last + VIDI__SLAB_BYTES) - table->inside_room;
    vidi__overflow_place(&table->overflow, &table->inside, table->inside_room);
}

int vidi__subtable_alloc(vidi__subtable **table, vidi__slabs *slabs, const vidi__subtable *shape)
{
    VIDI__TRY(vidi__alloc_zeroed(slabs->memory, table, sizeof **table, VIDI__CACHE_LINE));
    memcpy(*table, shape, offsetof(vidi__subtable, lock)); /* others may be taking the shape's lock */
    (*table)->lent = false;
    (*table)->inside_room = shape->inside_room;
    (*table)->limit = shape->limit;
    int code = vidi__slabs_array(slabs, &(*table)->slabs, slabs_bytes(*table));
    if (code < 0) {
        vidi__subtable_free(*table, slabs);
        *table = NULL;
        return code;
    }
    find_adjacent(*table);
    if (shape->inside_room)
        place_overflow(*table);
    return VIDI_OK;
}

int vidi__subtable_make(vidi__subtable **table, vidi__slabs *slabs, const vidi__subtable *shape)
{
    VIDI__TRY(vidi__subtable_alloc(table, slabs, shape));
    for (uint64_t line = 0; line < shape->lines; line++)
        vidi__line_set_head(vidi__subtable_line(*table, line), 0);
    return VIDI_OK;
}

void vidi__subtable_free(vidi__subtable *table, vidi__slabs *slabs)
{
    if (!table)
        return;
    vidi__slabs_array_free(slabs, table->slabs, slabs_bytes(table));
    vidi__overflow_free(&table->overflow, slabs);
    vidi__release(slabs->memory, table, sizeof *table, VIDI__CACHE_LINE);
}

uint64_t vidi__subtable_bytes(const vidi__subtable *table)
{
    return vidi__slabs_array_bytes(slabs_bytes(table)) + vidi__overflow_bytes(&table->overflow) + sizeof *table;
}

int vidi__subtable_copy(vidi__subtable **copy, const vidi__subtable *table, vidi__slabs *slabs)
{
    VIDI__TRY(vidi__subtable_alloc(copy, slabs, table));
    int code = vidi__overflow_copy(&(*copy)->overflow, &table->overflow, slabs);
    if (code < 0) {
        vidi__subtable_free(*copy, slabs);
        return code;
    }
    for (uint64_t line = 0; line < table->lines; line += VIDI__SLAB_LINES)
        memcpy(vidi__subtable_line(*copy, line), vidi__subtable_line(table, line),
               lines_in_slab(table, line / VIDI__SLAB_LINES) * VIDI__LINE_BYTES);
    (*copy)->used = table->used;
    return VIDI_OK;
}

/* ---- lookup, insert, remove ---- */

static inline unsigned slots_of(const vidi__subtable *table)
{
    return vidi__line_slots(table->width);
}

static inline uint32_t match(const vidi__subtable *table, const unsigned char *line, uint64_t distance, bool displaced)
{
    return vidi__subtable_match(table, line, distance, displaced);
}

static uint32_t match_next(const vidi__subtable *table, uint64_t hash, const vidi__spot *at)
{
    return match(table, vidi__subtable_next_line(table, hash), at->distance, true);
}

static bool has_signature(const vidi__subtable *table, const vidi__spot *at)
{
    return vidi__line_has_signature(vidi__line_head(at->line), slots_of(table), at->distance);
}

static void add_signature(const vidi__subtable *table, unsigned char *line, uint64_t distance)
{
    vidi__line_set_head(line, vidi__line_head(line) | vidi__line_signature(slots_of(table), distance));
}

bool vidi__subtable_has_elsewhere(const vidi__subtable *table, uint64_t hash, vidi__spot spot)
{
    return match_next(table, hash, &spot) || vidi__overflow_times(&table->overflow, hash);
}

uint64_t vidi__subtable_times(const vidi__subtable *table, uint64_t hash)
{
    const vidi__spot at = vidi__subtable_spot(table, hash);
    uint64_t times = (uint64_t)__builtin_popcount(match(table, at.line, at.distance, false));
    if (has_signature(table, &at))
        times +=
            (uint64_t)__builtin_popcount(match_next(table, hash, &at)) + vidi__overflow_times(&table->overflow, hash);
    return times;
}

/*
 * The overflow table gets a quarter of the room that it needs when the sub-table is almost full, then all of it, then a
 * little more. So few hashes are moved, and a sub-table that is never filled wastes little.
 */
uint64_t vidi__subtable_overflow_room(uint64_t lines, uint64_t hashes)
{
    uint64_t most = (uint64_t)(OVERFLOW_PER_LINE * (double)lines) + 8;
    if (!hashes)
        return 0;
    vidi__overflow overflow = {.room = most / 4 + 8, .used = hashes - 1};
    if (vidi__overflow_is_full(&overflow))
        overflow.room = most;
    while (vidi__overflow_is_full(&overflow))
        overflow.room += overflow.room / 4 + 1;
    return overflow.room;
}

static int insert_overflow(vidi__subtable *table, vidi__slabs *slabs, uint64_t hash, uint64_t times)
{
    vidi__overflow *overflow = &table->overflow;
    bool fresh;
    if (VIDI__UNLIKELY(vidi__overflow_is_full(overflow)))
        VIDI__TRY(vidi__overflow_resize(overflow, slabs, table->multiset,
                                        vidi__subtable_overflow_room(table->lines, overflow->used + 1)));
    VIDI__TRY(vidi__overflow_insert(overflow, slabs, table->multiset, hash, times, &fresh));
    table->used += fresh;
    return VIDI_OK;
}

int vidi__subtable_overflow(vidi__subtable *table, vidi__slabs *slabs, uint64_t hash)
{
    return insert_overflow(table, slabs, hash, 1);
}

static uint64_t room_in(const vidi__subtable *table, const unsigned char *line)
{
    return slots_of(table) - vidi__line_count(vidi__line_head(line));
}

/* Stores as many of `times` copies as the line has room for; returns how many are left. */
static uint64_t fill(vidi__subtable *table, unsigned char *line, uint64_t distance, uint64_t times, bool displaced)
{
    for (uint64_t room = room_in(table, line); times && room; times--, room--) {
        vidi__line_append(line, table->width, vidi__line_head(line), distance, displaced);
        table->used++;
    }
    return times;
}

/* Inserts several copies of a hash. */
static int insert_copies(vidi__subtable *table, vidi__slabs *slabs, uint64_t hash, const vidi__spot *at, uint64_t times)
{
    unsigned char *next = vidi__subtable_next_line(table, hash);
    uint64_t here = room_in(table, at->line), there = next == at->line ? 0 : room_in(table, next);
    uint64_t beside = times > here + there ? times - here - there : 0;
    if (beside) /* first, because it can fail */
        VIDI__TRY(insert_overflow(table, slabs, hash, beside));
    if (times > here)
        add_signature(table, at->line, at->distance);
    times = fill(table, at->line, at->distance, times - beside, false);
    fill(table, next, at->distance, times, true);
    return VIDI_OK;
}

/* Inserts one: most hashes that do not take the fast path end here. */
static VIDI__INLINE int insert_as(vidi__subtable *table, vidi__slabs *slabs, uint64_t hash, const vidi__spot *at,
                                  unsigned width)
{
    const unsigned slots = vidi__line_slots(width);
    const uint32_t head = vidi__line_head(at->line);
    if (vidi__line_count(head) < slots) {
        vidi__line_append(at->line, width, head, at->distance, false);
        table->used++;
        return VIDI_OK;
    }
    unsigned char *next = vidi__subtable_next_line(table, hash);
    const uint32_t next_head = vidi__line_head(next);
    if (vidi__line_count(next_head) < slots) {
        vidi__line_append(next, width, next_head, at->distance, true);
        table->used++;
    } else {
        VIDI__TRY(insert_overflow(table, slabs, hash, 1));
    }
    vidi__line_set_head(at->line, head | vidi__line_signature(slots, at->distance));
    return VIDI_OK;
}

static inline int insert_at(vidi__subtable *table, vidi__slabs *slabs, uint64_t hash, const vidi__spot *at)
{
#define INSERT(width) insert_as(table, slabs, hash, at, width)
    VIDI__FOR_WIDTH(table->width, INSERT)
#undef INSERT
}

int vidi__subtable_insert(vidi__subtable *table, vidi__slabs *slabs, uint64_t hash, uint64_t times)
{
    const vidi__spot at = vidi__subtable_spot(table, hash);
    return times == 1 ? insert_at(table, slabs, hash, &at) : insert_copies(table, slabs, hash, &at, times);
}

int vidi__subtable_add_slowly(vidi__subtable *table, vidi__slabs *slabs, uint64_t hash, vidi__spot spot, bool seen)
{
    seen = seen || (has_signature(table, &spot) && vidi__subtable_has_elsewhere(table, hash, spot));
    if (seen && !table->multiset)
        return VIDI_SEEN;
    if (VIDI__UNLIKELY(table->used >= table->limit))
        return VIDI__SUBTABLE_FULL;
    VIDI__TRY(insert_at(table, slabs, hash, &spot));
    return seen ? VIDI_SEEN : VIDI_NEW;
}

/* Removes one entry with this distance from the line, either one of its own or a displaced one. */
static bool remove_from(vidi__subtable *table, unsigned char *line, uint64_t distance, bool displaced)
{
    uint32_t found = match(table, line, distance, displaced);
    if (!found)
        return false;
    vidi__line_remove(line, table->width, (unsigned)__builtin_ctz(found));
    table->used--;
    return true;
}

bool vidi__subtable_remove(vidi__subtable *table, uint64_t hash)
{
    const vidi__spot at = vidi__subtable_spot(table, hash);
    if (has_signature(table, &at)) {
        bool gone;
        if (vidi__overflow_remove(&table->overflow, hash, &gone)) {
            table->used -= gone;
            return true;
        }
        if (remove_from(table, vidi__subtable_next_line(table, hash), at.distance, true))
            return true;
    }
    return remove_from(table, at.line, at.distance, false);
}

/* ---- saving and loading ---- */

/*
 * Limits for what a stream may claim. No sub-table reaches them. One that cannot split keeps growing, but has few bits
 * left. And even if a whole sub-table's hashes fell into one half of it, that half would hold at most twice as many as
 * it should.
 */
#define LINES_LIMIT (UINT64_C(1) << 17)
#define OVERFLOW_LIMIT 64

/* The largest overflow table that a stream may ask for: larger than any that we build. */
static uint64_t overflow_room_max(uint64_t lines)
{
    return 2 * OVERFLOW_LIMIT * lines + 16;
}

int vidi__subtable_save_head(const vidi__subtable *table, vidi__writer *writer)
{
    const vidi__overflow *overflow = &table->overflow;
    VIDI__TRY(vidi__write_u64(writer, table->depth));
    VIDI__TRY(vidi__write_u64(writer, table->lines));
    VIDI__TRY(vidi__write_u64(writer, table->width));
    VIDI__TRY(vidi__write_u64(writer, table->used));
    VIDI__TRY(vidi__write_u64(writer, overflow->used));
    return vidi__write_u64(writer, overflow->room);
}

/* For each number of slots in use, the bits of a line that carry data. The other bits hold stale memory. */
typedef struct used_bits {
    uint64_t bits[VIDI__SLOTS_MAX + 1][VIDI__LINE_BYTES / 8];
} used_bits;

static void find_used_bits(used_bits *all, unsigned width)
{
    unsigned char line[VIDI__LINE_BYTES] = {0};
    vidi__line_set_head(line, UINT32_MAX);
    for (unsigned used = 0; used <= vidi__line_slots(width); used++) {
        memcpy(all->bits[used], line, sizeof line);
        if (used < vidi__line_slots(width))
            vidi__line_put(line, width, used, UINT64_MAX);
    }
}

int vidi__subtable_save_lines(const vidi__subtable *table, vidi__writer *writer)
{
    used_bits all = {0};
    uint64_t clean[VIDI__SLAB_BYTES / 8];
    find_used_bits(&all, table->width);
    VIDI__TRY(vidi__write_align(writer));
    for (uint64_t i = 0; i < slab_count(table->lines); i++) {
        uint64_t lines = lines_in_slab(table, i);
        memcpy(clean, table->slabs[i], lines * VIDI__LINE_BYTES);
        for (uint64_t line = 0; line < lines; line++) {
            uint64_t *words = clean + line * (VIDI__LINE_BYTES / 8);
            unsigned used = vidi__line_used(vidi__line_head((const unsigned char *)words), slots_of(table));
            for (unsigned word = 0; word < VIDI__LINE_BYTES / 8; word++)
                words[word] &= all.bits[used][word];
        }
        VIDI__TRY(vidi__write(writer, clean, lines * VIDI__LINE_BYTES));
    }
    return VIDI_OK;
}

int vidi__subtable_save_overflow(const vidi__subtable *table, vidi__writer *writer)
{
    return vidi__overflow_save(&table->overflow, writer);
}

/* ---- loading ---- */

/* Loads a copy of the lines. */
static int copy_lines(vidi__subtable *table, vidi__slabs *slabs, vidi__reader *reader, uint64_t *count)
{
    VIDI__TRY(vidi__slabs_array(slabs, &table->slabs, lines_bytes(table)));
    find_adjacent(table);
    for (uint64_t i = 0; i < slab_count(table->lines); i++)
        VIDI__TRY(vidi__read(reader, table->slabs[i], lines_in_slab(table, i) * VIDI__LINE_BYTES));
    if (!vidi__must_examine(reader)) {
        *count += table->used;
        return VIDI_OK;
    }
    return vidi__subtable_check_lines(table, count);
}

int vidi__subtable_load_lines(vidi__subtable *table, vidi__slabs *slabs, vidi__reader *reader, uint64_t *count)
{
    const void *lent;
    VIDI__TRY(vidi__read_align(reader));
    if (lines_bytes(table) > reader->left)
        return vidi__damaged("a sub-table is larger than the data");
    if (!table->lent)
        return copy_lines(table, slabs, reader, count);
    VIDI__TRY(vidi__lend(reader, lines_bytes(table), &lent));
    *count += table->used;
    VIDI__TRY(vidi__slabs_array_over(slabs, &table->slabs, lent, lines_bytes(table)));
    find_adjacent(table);
    return VIDI_OK;
}

/* Comes after the lines: only now has the stream proved to be long enough for memory in proportion to them. */
int vidi__subtable_load_overflow(vidi__subtable *table, vidi__slabs *slabs, vidi__reader *reader, uint64_t *count)
{
    VIDI__TRY(vidi__overflow_load(&table->overflow, slabs, table->multiset, reader));
    return vidi__must_examine(reader) ? vidi__subtable_check_overflow(table, count) : VIDI_OK;
}

static int check_shape(const vidi__subtable *table, uint64_t width, uint64_t overflowed, uint64_t room)
{
    if (width > 8 || !vidi__line_slots((unsigned)width) || !table->lines || table->lines > LINES_LIMIT ||
        overflowed > OVERFLOW_LIMIT * table->lines || table->lines > lines_most(table->range) ||
        table->lines < lines_least(table->range, (unsigned)width) || room > overflow_room_max(table->lines) ||
        5 * overflowed > 4 * room || table->used < overflowed ||
        table->used - overflowed > table->lines * vidi__line_slots((unsigned)width))
        return vidi__damaged("a sub-table has an impossible shape");
    return VIDI_OK;
}

int vidi__subtable_load_head(vidi__subtable **table, vidi__slabs *slabs, const vidi__subtable *shape,
                             vidi__reader *reader, uint64_t *announced)
{
    vidi__subtable wanted = *shape;
    uint64_t width, overflowed, room;
    *table = NULL;
    VIDI__TRY(vidi__read_u64(reader, &wanted.lines));
    VIDI__TRY(vidi__read_u64(reader, &width));
    VIDI__TRY(vidi__read_u64(reader, &wanted.used));
    VIDI__TRY(vidi__read_u64(reader, &overflowed));
    VIDI__TRY(vidi__read_u64(reader, &room));
    VIDI__TRY(check_shape(&wanted, width, overflowed, room));
    *announced += lines_bytes(&wanted) + room * (wanted.multiset ? 16 : 8);
    if (*announced > reader->left)
        return vidi__damaged("sub-tables are larger than the data");
    wanted.width = (uint8_t)width;
    complete(&wanted);
    wanted.lent = vidi__lends(reader);
    wanted.slabs = NULL;
    wanted.inside_room = 0;
    wanted.overflow = (vidi__overflow){.room = room, .used = overflowed}; /* the entries are loaded later */
    VIDI__TRY(vidi__alloc(slabs->memory, table, sizeof **table, VIDI__CACHE_LINE));
    **table = wanted;
    return VIDI_OK;
}
