/* See subtable.h. */
#include "filters/subtable.h"

/* Hashes per slot when a table is full. Above, more would have to spill than the memory saved is worth. */
#define LOAD 0.90
#define EMPTY UINT64_MAX /* no hash: they have at most 60 bits */

static uint64_t chunk_count(uint64_t lines)
{
    return (lines + VIDI__CHUNK_LINES - 1) / VIDI__CHUNK_LINES;
}

static bool is_small(uint64_t lines)
{
    return lines < VIDI__CHUNK_LINES;
}

static inline unsigned char *line_at(const vidi__subtable *table, uint64_t line)
{
    return table->chunks[line / VIDI__CHUNK_LINES] + line % VIDI__CHUNK_LINES * VIDI__LINE_BYTES;
}

/* The hash as a number below 2^bits, and left-aligned again. */
static uint64_t hash_of(const vidi__subtable *table, uint64_t rest)
{
    return rest >> (64 - table->bits);
}

static uint64_t rest_of(const vidi__subtable *table, uint64_t hash)
{
    return hash << (64 - table->bits);
}

/* What follows from the number of lines and the width. */
static void complete(vidi__subtable *shape)
{
    shape->limit = (uint64_t)(LOAD * vidi__line_slots(shape->width) * (double)shape->lines);
    if (shape->limit < 1)
        shape->limit = 1;
    shape->inverse = UINT64_MAX / shape->lines;
}

/* Do distances fit the width? */
static bool fits(unsigned bits, uint64_t lines, unsigned width)
{
    return width == 8 || bits <= 8 * width || lines >= UINT64_C(1) << (bits - 8 * width);
}

void vidi__subtable_fit(vidi__subtable *shape, uint64_t hashes)
{
    static const unsigned char widths[] = {3, 4, 5, 6, 8};
    shape->lines = 0;
    for (size_t i = 0; i < VIDI__COUNT(widths); i++) {
        unsigned width = widths[i], slots = vidi__line_slots(width);
        uint64_t lines = (uint64_t)((double)hashes / (LOAD * slots)) + 1;
        if (!fits(shape->bits, lines, width))
            lines = UINT64_C(1) << (shape->bits - 8 * width);
        if (!is_small(lines)) /* a chunk is paid for as a whole */
            lines = chunk_count(lines) * VIDI__CHUNK_LINES;
        if (shape->lines && lines >= shape->lines)
            continue;
        shape->lines = lines;
        shape->width = width;
    }
    complete(shape);
}

/* All chunks, with empty lines. */
static int make_lines(vidi__subtable *table, vidi__chunks *chunks)
{
    uint64_t count = chunk_count(table->lines);
    VIDI__TRY(vidi__alloc_zeroed(chunks->memory, &table->chunks, count * sizeof *table->chunks, _Alignof(void *)));
    if (is_small(table->lines))
        return vidi__alloc_zeroed(chunks->memory, &table->chunks[0], table->lines * VIDI__LINE_BYTES, VIDI__LINE_BYTES);
    for (uint64_t i = 0; i < count; i++) {
        VIDI__TRY(vidi__chunks_take(chunks, &table->chunks[i]));
        for (unsigned line = 0; line < VIDI__CHUNK_LINES; line++)
            vidi__line_set_head(table->chunks[i] + line * VIDI__LINE_BYTES, 0);
    }
    return VIDI_OK;
}

int vidi__subtable_make(vidi__subtable **table, vidi__chunks *chunks, const vidi__subtable *shape)
{
    VIDI__TRY(vidi__alloc(chunks->memory, table, sizeof **table, VIDI__CACHE_LINE));
    **table = *shape;
    (*table)->chunks = NULL;
    (*table)->used = 0;
    (*table)->spill = (*table)->times = NULL;
    (*table)->spill_room = (*table)->spill_used = 0;
    int code = make_lines(*table, chunks);
    if (code < 0) {
        vidi__subtable_free(*table, chunks);
        *table = NULL;
    }
    return code;
}

static void free_spill(vidi__subtable *table, vidi__memory *memory)
{
    vidi__release(memory, table->spill, table->spill_room * 8, 8);
    vidi__release(memory, table->times, table->spill_room * 8, 8);
}

void vidi__subtable_free(vidi__subtable *table, vidi__chunks *chunks)
{
    if (!table)
        return;
    if (table->chunks && is_small(table->lines))
        vidi__release(chunks->memory, table->chunks[0], table->lines * VIDI__LINE_BYTES, VIDI__LINE_BYTES);
    else if (table->chunks)
        for (uint64_t i = 0; i < chunk_count(table->lines); i++)
            vidi__chunks_give(chunks, table->chunks[i]);
    vidi__release(chunks->memory, table->chunks, chunk_count(table->lines) * sizeof *table->chunks, _Alignof(void *));
    free_spill(table, chunks->memory);
    vidi__release(chunks->memory, table, sizeof *table, VIDI__CACHE_LINE);
}

uint64_t vidi__subtable_bytes(const vidi__subtable *table)
{
    uint64_t lines = is_small(table->lines) ? table->lines : chunk_count(table->lines) * VIDI__CHUNK_LINES;
    return lines * VIDI__LINE_BYTES + table->spill_room * (table->times ? 16 : 8) +
           chunk_count(table->lines) * sizeof *table->chunks + sizeof *table;
}

/* ---- a hash's line and its distance from the line's first hash ---- */

typedef struct spot {
    unsigned char *line;
    uint64_t distance;
    uint32_t sign; /* its bit of the head's signature */
} spot;

/*
 * rest · lines = line · 2^64 + fraction. The fraction, in units of the hash, divided by the number of lines is the
 * distance. The division is a multiplication by a reciprocal that is at most one too small.
 */
static inline spot spot_of(const vidi__subtable *table, uint64_t rest)
{
    unsigned __int128 product = (unsigned __int128)rest * table->lines;
    uint64_t line = (uint64_t)(product >> 64), fraction = (uint64_t)product >> (64 - table->bits);
    uint64_t distance = vidi__scale(fraction, table->inverse);
    distance += fraction - distance * table->lines >= table->lines;
    return (spot){
        .line = line_at(table, line),
        .distance = distance,
        .sign = vidi__line_sign((unsigned)(distance * UINT64_C(0x9e3779b97f4a7c15) >> 60)),
    };
}

/* The first hash of a line: the least whose product reaches it. */
static uint64_t first_hash(const vidi__subtable *table, uint64_t line)
{
    unsigned __int128 start = (unsigned __int128)line << table->bits;
    /* A table has at least one line. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
    return (uint64_t)((start + table->lines - 1) / table->lines);
}

/* ---- what found its line full ---- */

/* Another order for each room: what comes from a larger table in its order would fill a smaller one from one end. */
static uint64_t spill_home(const vidi__subtable *table, uint64_t hash)
{
    return vidi__scale(vidi__mix(hash + table->spill_room), table->spill_room);
}

static uint64_t spill_next(const vidi__subtable *table, uint64_t at)
{
    return at + 1 == table->spill_room ? 0 : at + 1;
}

/* Where the hash is, or the free entry where it would go. There is always a free one. */
static uint64_t spill_find(const vidi__subtable *table, uint64_t hash)
{
    uint64_t at = spill_home(table, hash);
    while (table->spill[at] != hash && table->spill[at] != EMPTY)
        at = spill_next(table, at);
    return at;
}

static uint64_t spill_times(const vidi__subtable *table, uint64_t hash)
{
    if (!table->spill_used)
        return 0;
    uint64_t at = spill_find(table, hash);
    if (table->spill[at] == EMPTY)
        return 0;
    return table->times ? table->times[at] : 1;
}

static int spill_resize(vidi__subtable *table, vidi__memory *memory, uint64_t room)
{
    vidi__subtable larger = *table;
    larger.spill_room = room;
    larger.times = NULL;
    VIDI__TRY(vidi__alloc(memory, &larger.spill, larger.spill_room * 8, 8));
    if (table->multiset) {
        int code = vidi__alloc(memory, &larger.times, larger.spill_room * 8, 8);
        if (code < 0) {
            vidi__release(memory, larger.spill, larger.spill_room * 8, 8);
            return code;
        }
    }
    memset(larger.spill, 0xff, larger.spill_room * 8);
    for (uint64_t i = 0; i < table->spill_room; i++) {
        if (table->spill[i] == EMPTY)
            continue;
        uint64_t at = spill_find(&larger, table->spill[i]);
        larger.spill[at] = table->spill[i];
        if (larger.times)
            larger.times[at] = table->times[i];
    }
    free_spill(table, memory);
    *table = larger;
    return VIDI_OK;
}

static int spill_put(vidi__subtable *table, vidi__memory *memory, uint64_t hash, uint64_t times)
{
    if (5 * (table->spill_used + 1) > 4 * table->spill_room)
        VIDI__TRY(spill_resize(table, memory, table->spill_room + table->spill_room / 4 + 8));
    uint64_t at = spill_find(table, hash);
    if (table->spill[at] == hash) {
        if (table->times)
            table->times[at] += times;
        return VIDI_OK;
    }
    table->spill[at] = hash;
    if (table->times)
        table->times[at] = times;
    table->spill_used++;
    table->used++;
    return VIDI_OK;
}

/* Steps from one entry on to another, around the end. */
static uint64_t spill_steps(const vidi__subtable *table, uint64_t from, uint64_t to)
{
    return to >= from ? to - from : to + table->spill_room - from;
}

/* Closes the gap, so that every hash is still reached from where its search begins. */
static void spill_close_gap(vidi__subtable *table, uint64_t gap)
{
    for (uint64_t at = spill_next(table, gap); table->spill[at] != EMPTY; at = spill_next(table, at)) {
        if (spill_steps(table, spill_home(table, table->spill[at]), at) < spill_steps(table, gap, at))
            continue;
        table->spill[gap] = table->spill[at];
        if (table->times)
            table->times[gap] = table->times[at];
        gap = at;
    }
    table->spill[gap] = EMPTY;
}

static bool spill_take(vidi__subtable *table, uint64_t hash)
{
    if (!table->spill_used)
        return false;
    uint64_t at = spill_find(table, hash);
    if (table->spill[at] == EMPTY)
        return false;
    if (table->times && --table->times[at])
        return true;
    spill_close_gap(table, at);
    table->spill_used--;
    table->used--;
    return true;
}

/* ---- questions and changes ---- */

static inline bool has_at(const vidi__subtable *table, const spot at, uint64_t rest)
{
    if (vidi__line_match(at.line, table->width, at.distance, table->portable))
        return true;
    return VIDI__UNLIKELY(vidi__line_head(at.line) & at.sign) && spill_times(table, hash_of(table, rest));
}

bool vidi__subtable_has(const vidi__subtable *table, uint64_t rest)
{
    return has_at(table, spot_of(table, rest), rest);
}

uint64_t vidi__subtable_times(const vidi__subtable *table, uint64_t rest)
{
    const spot at = spot_of(table, rest);
    uint32_t found = vidi__line_match(at.line, table->width, at.distance, table->portable);
    uint64_t times = (uint64_t)__builtin_popcount(found);
    if (vidi__line_head(at.line) & at.sign)
        times += spill_times(table, hash_of(table, rest));
    return times;
}

static int put_at(vidi__subtable *table, vidi__chunks *chunks, const spot at, uint64_t rest, uint64_t times)
{
    uint32_t head = vidi__line_head(at.line);
    unsigned slots = vidi__line_slots(table->width), room = slots - vidi__line_count(head);
    if (VIDI__UNLIKELY(times > room)) { /* first, because it can fail */
        VIDI__TRY(spill_put(table, chunks->memory, hash_of(table, rest), times - room));
        head |= at.sign;
        times = room;
    }
    table->used += times;
    for (; times; times--)
        vidi__line_put(at.line, table->width, vidi__line_count(head++), at.distance);
    vidi__line_set_head(at.line, head);
    return VIDI_OK;
}

int vidi__subtable_put(vidi__subtable *table, vidi__chunks *chunks, uint64_t rest, uint64_t times)
{
    return put_at(table, chunks, spot_of(table, rest), rest, times);
}

int vidi__subtable_add(vidi__subtable *table, vidi__chunks *chunks, uint64_t rest)
{
    const spot at = spot_of(table, rest);
    bool seen = has_at(table, at, rest);
    if (seen && !table->multiset)
        return VIDI_SEEN;
    if (VIDI__UNLIKELY(table->used >= table->limit))
        return VIDI__SUBTABLE_FULL;
    VIDI__TRY(put_at(table, chunks, at, rest, 1));
    return seen ? VIDI_SEEN : VIDI_NEW;
}

bool vidi__subtable_take(vidi__subtable *table, uint64_t rest)
{
    const spot at = spot_of(table, rest);
    uint32_t head = vidi__line_head(at.line);
    if (head & at.sign && spill_take(table, hash_of(table, rest)))
        return true;
    uint32_t found = vidi__line_match(at.line, table->width, at.distance, table->portable);
    if (!found)
        return false;
    unsigned last = vidi__line_count(head) - 1;
    uint64_t moved = vidi__line_get(at.line, table->width, last);
    vidi__line_put(at.line, table->width, (unsigned)__builtin_ctz(found), moved);
    vidi__line_set_head(at.line, head - 1);
    table->used--;
    return true;
}

/*
 * The spilled hashes in the order of their table, from a free entry on and around the end: put in again in this order
 * they come to stand where they stood. Begins with *at = EMPTY; false at the end.
 */
static bool spill_each(const vidi__subtable *table, uint64_t *at, uint64_t *left)
{
    if (*at == EMPTY) {
        *left = table->spill_used;
        for (*at = 0; *left && table->spill[*at] != EMPTY;)
            ++*at;
    }
    if (!*left)
        return false;
    do {
        *at = spill_next(table, *at);
    } while (table->spill[*at] == EMPTY);
    --*left;
    return true;
}

static int walk_line(const vidi__subtable *table, uint64_t line, vidi__subtable_visit *visit, void *context)
{
    const unsigned char *at = table->chunks[line / VIDI__CHUNK_LINES] + line % VIDI__CHUNK_LINES * VIDI__LINE_BYTES;
    unsigned count = vidi__line_count(vidi__line_head(at));
    uint64_t first = count ? first_hash(table, line) : 0, times = 1;
    for (unsigned slot = 0; slot < count; slot++) {
        uint64_t distance = vidi__line_get(at, table->width, slot), rest = rest_of(table, first + distance);
        if (table->multiset) {
            uint32_t equal = vidi__line_match(at, table->width, distance, table->portable);
            if ((unsigned)__builtin_ctz(equal) != slot)
                continue;
            times = vidi__subtable_times(table, rest);
        }
        int code = visit(context, rest, times);
        if (code)
            return code;
    }
    return 0;
}

int vidi__subtable_walk(const vidi__subtable *table, vidi__subtable_visit *visit, void *context)
{
    for (uint64_t line = 0; line < table->lines; line++) {
        int code = walk_line(table, line, visit, context);
        if (code)
            return code;
    }
    for (uint64_t at = EMPTY, left; spill_each(table, &at, &left);) {
        uint64_t rest = rest_of(table, table->spill[at]), times = table->times ? table->times[at] : 1;
        if (table->multiset && vidi__subtable_times(table, rest) != times)
            continue; /* its line has it too, and has told of all */
        int code = visit(context, rest, times);
        if (code)
            return code;
    }
    return 0;
}

/* ---- rebuilding ---- */

typedef struct rebuilding {
    vidi__subtable *into;
    vidi__chunks *chunks;
    unsigned shift; /* bits of prefix that are new */
    int bit;        /* which of the two halves, or -1 */
} rebuilding;

static inline bool belongs(const rebuilding *self, uint64_t rest)
{
    return self->bit < 0 || (int)(rest >> 63) == self->bit;
}

/*
 * All lines, in order. This is what growing costs, so it is compiled once for each width that stays the same, as a
 * constant, and once for any two.
 */
static inline __attribute__((always_inline)) int move_lines(const rebuilding *self, const vidi__subtable *old,
                                                            unsigned old_width, unsigned new_width)
{
    vidi__subtable *into = self->into;
    const unsigned slots = vidi__line_slots(new_width);
    for (uint64_t line = 0; line < old->lines; line++) {
        const unsigned char *from = line_at(old, line);
        unsigned count = vidi__line_count(vidi__line_head(from));
        uint64_t first = count ? first_hash(old, line) : 0;
        for (unsigned i = 0; i < count; i++) {
            uint64_t rest = rest_of(old, first + vidi__line_get(from, old_width, i));
            if (!belongs(self, rest))
                continue;
            const spot at = spot_of(into, rest << self->shift);
            uint32_t head = vidi__line_head(at.line);
            if (VIDI__UNLIKELY(vidi__line_count(head) == slots)) {
                VIDI__TRY(put_at(into, self->chunks, at, rest << self->shift, 1));
                continue;
            }
            vidi__line_put(at.line, new_width, vidi__line_count(head), at.distance);
            vidi__line_set_head(at.line, head + 1);
            into->used++;
        }
    }
    return VIDI_OK;
}

static int move_all_lines(const rebuilding *self, const vidi__subtable *old)
{
    unsigned from = old->width, to = self->into->width;
    if (from == 3 && to == 3)
        return move_lines(self, old, 3, 3);
    if (from == 5 && to == 5)
        return move_lines(self, old, 5, 5);
    if (from == 6 && to == 6)
        return move_lines(self, old, 6, 6);
    return move_lines(self, old, from, to);
}

static int move_spilled(const rebuilding *self, const vidi__subtable *old)
{
    for (uint64_t i = 0; i < old->spill_room; i++) {
        uint64_t rest = rest_of(old, old->spill[i]);
        if (old->spill[i] != EMPTY && belongs(self, rest))
            VIDI__TRY(
                vidi__subtable_put(self->into, self->chunks, rest << self->shift, old->times ? old->times[i] : 1));
    }
    return VIDI_OK;
}

int vidi__subtable_rebuild(vidi__subtable **fresh, const vidi__subtable *old, vidi__chunks *chunks,
                           const vidi__subtable *shape, int bit)
{
    VIDI__TRY(vidi__subtable_make(fresh, chunks, shape));
    rebuilding self = {*fresh, chunks, shape->depth - old->depth, bit};
    int code = spill_resize(*fresh, chunks->memory, old->spill_used / (bit < 0 ? 2 : 4) + 8);
    if (code == VIDI_OK)
        code = move_all_lines(&self, old);
    if (code == VIDI_OK)
        code = move_spilled(&self, old);
    if (code < 0) {
        vidi__subtable_free(*fresh, chunks);
        *fresh = NULL;
    }
    return code;
}

/* ---- saving and loading ---- */

/*
 * More lines than any table gets to: those that cannot split grow on, but have few bits left. And more spilled hashes a
 * line: even if all of a table went to one half of it, that would be twice as full as it should be at most.
 */
#define LINES_LIMIT (UINT64_C(1) << 17)
#define SPILLED_LIMIT 64

/* Room for spilled hashes that a stream may ask for. There may be more after many have been taken away. */
static uint64_t spill_room_most(uint64_t spilled, uint64_t lines)
{
    return 2 * (spilled + lines) + 8;
}

static uint64_t lines_in_chunk(const vidi__subtable *table, uint64_t chunk)
{
    uint64_t left = table->lines - chunk * VIDI__CHUNK_LINES;
    return left < VIDI__CHUNK_LINES ? left : VIDI__CHUNK_LINES;
}

int vidi__subtable_save(const vidi__subtable *table, vidi__writer *writer)
{
    VIDI__TRY(vidi__write_u64(writer, table->depth));
    VIDI__TRY(vidi__write_u64(writer, table->lines));
    VIDI__TRY(vidi__write_u64(writer, table->width));
    VIDI__TRY(vidi__write_u64(writer, table->spill_used));
    uint64_t most = spill_room_most(table->spill_used, table->lines);
    VIDI__TRY(vidi__write_u64(writer, table->spill_room < most ? table->spill_room : most));
    for (uint64_t i = 0; i < chunk_count(table->lines); i++)
        VIDI__TRY(vidi__write(writer, table->chunks[i], lines_in_chunk(table, i) * VIDI__LINE_BYTES));
    for (uint64_t at = EMPTY, left; spill_each(table, &at, &left);) {
        VIDI__TRY(vidi__write_u64(writer, table->spill[at]));
        if (table->multiset)
            VIDI__TRY(vidi__write_u64(writer, table->times[at]));
    }
    return VIDI_OK;
}

/* One line: every distance leads back to this line, and in a plain set no two are equal. Signatures are made anew. */
static int check_line(vidi__subtable *table, uint64_t line, unsigned char *at, uint64_t *count)
{
    unsigned used = vidi__line_count(vidi__line_head(at));
    uint64_t first = first_hash(table, line), end = first_hash(table, line + 1);
    if (used > vidi__line_slots(table->width))
        return vidi__damaged("a line holds more than it can");
    vidi__line_set_head(at, used);
    for (unsigned i = 0; i < used; i++) {
        uint64_t distance = vidi__line_get(at, table->width, i);
        uint32_t equal = vidi__line_match(at, table->width, distance, table->portable);
        bool repeated = (equal & (equal - 1)) != 0;
        if (distance >= end - first || (repeated && !table->multiset))
            return vidi__damaged("a line holds what does not belong there");
        *count += (unsigned)__builtin_ctz(equal) == i; /* the first of its equals */
    }
    table->used += used;
    return VIDI_OK;
}

static int load_lines(vidi__subtable *table, vidi__reader *reader, uint64_t *count)
{
    for (uint64_t i = 0; i < chunk_count(table->lines); i++) {
        VIDI__TRY(vidi__read(reader, table->chunks[i], lines_in_chunk(table, i) * VIDI__LINE_BYTES));
        for (uint64_t j = 0; j < lines_in_chunk(table, i); j++)
            VIDI__TRY(check_line(table, i * VIDI__CHUNK_LINES + j, table->chunks[i] + j * VIDI__LINE_BYTES, count));
    }
    return VIDI_OK;
}

static int load_spilled(vidi__subtable *table, vidi__chunks *chunks, vidi__reader *reader, uint64_t *count)
{
    uint64_t hash, times = 1;
    VIDI__TRY(vidi__read_u64(reader, &hash));
    if (table->multiset)
        VIDI__TRY(vidi__read_u64(reader, &times));
    if (hash >> table->bits || !times)
        return vidi__damaged("a spilled hash is out of range");
    const spot at = spot_of(table, rest_of(table, hash));
    bool in_line = vidi__line_match(at.line, table->width, at.distance, table->portable) != 0;
    if (spill_times(table, hash) || (in_line && !table->multiset))
        return vidi__damaged("a spilled hash is there twice");
    VIDI__TRY(spill_put(table, chunks->memory, hash, times));
    vidi__line_set_head(at.line, vidi__line_head(at.line) | at.sign);
    *count += !in_line;
    return VIDI_OK;
}

static int load_contents(vidi__subtable *table, vidi__chunks *chunks, vidi__reader *reader, uint64_t room,
                         uint64_t spilled, uint64_t *count)
{
    VIDI__TRY(load_lines(table, reader, count));
    if (room) /* only now, when the stream has been seen to be as long as the lines that this is in proportion to */
        VIDI__TRY(spill_resize(table, chunks->memory, room));
    for (; spilled; spilled--)
        VIDI__TRY(load_spilled(table, chunks, reader, count));
    return VIDI_OK;
}

int vidi__subtable_load(vidi__subtable **table, vidi__chunks *chunks, const vidi__subtable *shape, vidi__reader *reader,
                        uint64_t *count)
{
    vidi__subtable wanted = *shape;
    uint64_t width, spilled, room;
    *table = NULL;
    VIDI__TRY(vidi__read_u64(reader, &wanted.lines));
    VIDI__TRY(vidi__read_u64(reader, &width));
    VIDI__TRY(vidi__read_u64(reader, &spilled));
    VIDI__TRY(vidi__read_u64(reader, &room));
    if (width > 8 || !vidi__line_slots((unsigned)width) || !wanted.lines || wanted.lines > LINES_LIMIT ||
        wanted.lines > reader->left / VIDI__LINE_BYTES || spilled > reader->left / 8 ||
        spilled > SPILLED_LIMIT * wanted.lines || !fits(wanted.bits, wanted.lines, (unsigned)width) ||
        room > spill_room_most(spilled, wanted.lines) || 5 * spilled > 4 * room)
        return vidi__damaged("a sub-table has an impossible shape");
    wanted.width = (unsigned)width;
    complete(&wanted);
    VIDI__TRY(vidi__subtable_make(table, chunks, &wanted));
    int code = load_contents(*table, chunks, reader, room, spilled, count);
    if (code < 0) {
        vidi__subtable_free(*table, chunks);
        *table = NULL;
    }
    return code;
}
