/*
 * Rebuilding a sub-table in another shape (subtable.h). Growing spends its time here, so it is one pass in order: the
 * lines of a sub-table are in the order of their hashes, and so are those of the new one.
 *
 *     old lines     | i-1 | i | i+1 |                 line i holds hashes of its own and displaced ones of line i-1,
 *     hashes        ------------------------->        so the hashes to come are never below the first one of line i
 *     new lines     | closed | open: a ring of 16 | not reached yet
 *
 * While a new line is open, its address, its first hash and its head are in the ring. So a hash takes one
 * multiplication, which gives its line, a subtraction, and one write. When no more hashes can come, the line's head is
 * written, and the line is closed.
 *
 * Hashes that find their line full wait in a list; so do those of the old overflow table. They are inserted like any
 * other hash, a list full at a time. So rebuilding takes no memory beyond the new sub-table.
 */
#include "filters/fingerprint/subtable.h"

#define RING 16
/* The most new lines for one old line. Two old lines are being moved at a time, and one more new line may be open. */
#define LINES_FOR_ONE 4
#define COUNT_BITS 5
#define COUNT_MASK 31u
#define WAITING_MAX 512
/* How far ahead of the line that is being moved old lines are fetched. */
#define AHEAD 12
/* Room in the overflow table for each line. It lasts until the sub-table is 80 % full. */
#define OVERFLOW_ROOM_PER_LINE 0.17
#define OVERFLOW_LEAST 8
/* Stands for a first hash: anything from here on is out of range. */
#define NOWHERE (UINT64_MAX / 2)

typedef struct rebuilding {
    vidi__subtable *into;
    vidi__slabs *slabs;
    uint64_t from; /* hashes are reduced by this: the first hash that the new sub-table covers */

    uint64_t closed, opened; /* lines from `closed` to `opened` - 1 are open, at their number modulo RING */
    uint64_t upcoming;       /* the first hash of line `opened` */
    unsigned char *lines[RING];
    uint64_t firsts[RING];
    uint32_t heads[RING]; /* without their counts */
    uint64_t counts;      /* of the open lines, COUNT_BITS each, beginning with line `closed` */

    unsigned waiting;
    uint64_t hashes[WAITING_MAX];
} rebuilding;

static void open_line(rebuilding *self)
{
    unsigned at = self->opened % RING;
    self->lines[at] = vidi__subtable_line(self->into, self->opened);
    self->firsts[at] = self->upcoming;
    self->heads[at] = 0;
    self->upcoming = vidi__subtable_next_first(self->into, self->opened, self->upcoming);
    self->opened++;
}

static inline unsigned shift_of(const rebuilding *self, uint64_t line)
{
    return (unsigned)(line - self->closed) * COUNT_BITS;
}

static void write_heads(const rebuilding *self)
{
    for (uint64_t line = self->closed; line < self->opened; line++) {
        uint32_t count = self->counts >> shift_of(self, line) & COUNT_MASK;
        vidi__line_set_head(self->lines[line % RING], self->heads[line % RING] | count);
    }
}

static void read_heads(rebuilding *self)
{
    self->counts = 0;
    for (uint64_t line = self->closed; line < self->opened; line++) {
        uint32_t head = vidi__line_head(self->lines[line % RING]);
        self->counts |= (uint64_t)vidi__line_count(head) << shift_of(self, line);
        self->heads[line % RING] = head & ~COUNT_MASK;
    }
}

/*
 * Inserts the hashes that wait. Each of them belongs to a line that is open or closed, and may be displaced to the line
 * behind it, so that is opened, too.
 */
static int insert_waiting(rebuilding *self)
{
    int code = VIDI_OK;
    if (self->opened < self->into->lines)
        open_line(self);
    write_heads(self);
    for (unsigned i = 0; i < self->waiting && code == VIDI_OK; i++)
        code = vidi__subtable_insert(self->into, self->slabs, self->hashes[i], 1);
    read_heads(self);
    self->waiting = 0;
    return code;
}

/* Opens the lines of all hashes below `end`. */
static inline void open_until(rebuilding *self, uint64_t end)
{
    while (self->upcoming < end && self->opened < self->into->lines)
        open_line(self);
}

/* Closes the lines that have no hashes from `start` on. */
static inline void close_until(rebuilding *self, uint64_t start)
{
    for (; self->closed + 1 < self->opened && self->firsts[(self->closed + 1) % RING] <= start; self->closed++) {
        unsigned at = self->closed % RING;
        vidi__line_set_head(self->lines[at], self->heads[at] | (self->counts & COUNT_MASK));
        self->counts >>= COUNT_BITS;
    }
}

/*
 * Moves the entries of a line. `first` is the first hash of the line, `before` that of the previous line, to which its
 * displaced entries belong; both are reduced. Their lines are open.
 */
static VIDI__INLINE void move_line(rebuilding *self, const unsigned char *line, uint64_t first, uint64_t before,
                                   unsigned old_width, unsigned new_width)
{
    const unsigned slots = vidi__line_slots(new_width);
    const uint64_t range = self->into->range, ratio = self->into->ratio, closed = self->closed;
    uint64_t counts = self->counts;
    uint32_t displaced_slots = vidi__line_displaced(vidi__line_head(line), vidi__line_slots(old_width));
    unsigned waiting = self->waiting, skipped = 0;
    unsigned count = vidi__line_count(vidi__line_head(line));
    for (unsigned i = 0; i < count; i++) {
        uint64_t hash = (displaced_slots >> i & 1 ? before : first) + vidi__line_get(line, old_width, i);
        if (VIDI__UNLIKELY(hash >= range)) { /* of the other half */
            skipped++;
            continue;
        }
        uint64_t into = vidi__scale(hash, ratio);
        unsigned shift = (unsigned)(into - closed) * COUNT_BITS, slot = counts >> shift & COUNT_MASK;
        if (VIDI__UNLIKELY(slot == slots)) {
            self->hashes[waiting++] = hash;
            continue;
        }
        counts += UINT64_C(1) << shift;
        vidi__line_put(self->lines[into % RING], new_width, slot, hash - self->firsts[into % RING]);
    }
    self->counts = counts;
    self->into->used += count - skipped - (waiting - self->waiting);
    self->waiting = waiting;
}

/*
 * Moves the lines that hold hashes of the new sub-table, but not what is displaced from the last line to the first. The
 * widths are constants where this is inlined, if they are common.
 */
static VIDI__INLINE int move_lines(rebuilding *self, const vidi__subtable *old, unsigned old_width, unsigned new_width)
{
    uint64_t line = vidi__scale(self->from, old->ratio);
    uint64_t last = vidi__scale(self->from + self->into->range - 1, old->ratio);
    uint64_t first = vidi__subtable_first(old, line) - self->from; /* wraps around if the line is in both halves */
    uint64_t before = NOWHERE;
    for (uint64_t end = last + 2 < old->lines ? last + 2 : old->lines; line < end; line++) {
        uint64_t next = vidi__subtable_next_first(old, line, first + self->from) - self->from;
        if (line + AHEAD < old->lines)
            __builtin_prefetch(vidi__subtable_line(old, line + AHEAD));
        if (VIDI__UNLIKELY(self->waiting > WAITING_MAX - VIDI__SLOTS_MAX))
            VIDI__TRY(insert_waiting(self));
        open_until(self, next);
        move_line(self, vidi__subtable_line(old, line), first, before, old_width, new_width);
        if (first < self->into->range)
            close_until(self, first);
        before = first;
        first = next;
    }
    open_until(self, UINT64_MAX);
    return insert_waiting(self);
}

static int move_all_lines(rebuilding *self, const vidi__subtable *old)
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

/* Inserts a hash of the old sub-table if the new one covers it. */
static int insert(const rebuilding *self, uint64_t hash, uint64_t times)
{
    hash -= self->from;
    return hash < self->into->range ? vidi__subtable_insert(self->into, self->slabs, hash, times) : VIDI_OK;
}

/* Moves the entries of the first line that are displaced from the last one. */
static int move_around(const rebuilding *self, const vidi__subtable *old)
{
    const unsigned char *line = vidi__subtable_line(old, 0);
    uint32_t displaced_slots = vidi__line_displaced(vidi__line_head(line), vidi__line_slots(old->width));
    for (uint64_t first = vidi__subtable_last_first(old); displaced_slots; displaced_slots &= displaced_slots - 1) {
        unsigned slot = (unsigned)__builtin_ctz(displaced_slots);
        VIDI__TRY(insert(self, first + vidi__line_get(line, old->width, slot), 1));
    }
    return VIDI_OK;
}

static int move_overflow(const rebuilding *self, const vidi__overflow *old)
{
    for (uint64_t at = VIDI__OVERFLOW_EMPTY, left; vidi__overflow_each(old, &at, &left);)
        VIDI__TRY(
            insert(self, *vidi__overflow_at(old->entries, at), old->times ? *vidi__overflow_at(old->times, at) : 1));
    return VIDI_OK;
}

static int insert_visited(void *context, uint64_t hash, uint64_t times)
{
    return insert(context, hash, times);
}

/* For a sub-table with so many more lines that the ring is too small: every hash is inserted alone. */
static int move_singly(rebuilding *self, const vidi__subtable *old)
{
    for (uint64_t line = 0; line < self->into->lines; line++)
        vidi__line_set_head(vidi__subtable_line(self->into, line), 0);
    return vidi__subtable_walk(old, insert_visited, self);
}

static int move_all(rebuilding *self, const vidi__subtable *old)
{
    if (self->into->ratio / LINES_FOR_ONE > old->ratio)
        return move_singly(self, old);
    VIDI__TRY(move_all_lines(self, old));
    VIDI__TRY(move_around(self, old));
    return move_overflow(self, &old->overflow);
}

/*
 * Room for what overflows until the new sub-table is nearly full (subtable.c gives it the rest then), and for what
 * overflows at once, if that is more. Small sub-tables begin without.
 */
static uint64_t overflow_room(const vidi__subtable *old, const vidi__subtable *shape, int half)
{
    uint64_t room = (uint64_t)((double)shape->lines * OVERFLOW_ROOM_PER_LINE);
    uint64_t least = old->overflow.used / (half < 0 ? 2 : 4);
    if (room < least)
        room = least;
    return room < OVERFLOW_LEAST ? 0 : room;
}

int vidi__subtable_rebuild(vidi__subtable **fresh, const vidi__subtable *old, vidi__slabs *slabs,
                           const vidi__subtable *shape, int half)
{
    VIDI__TRY(vidi__subtable_alloc(fresh, slabs, shape));
    rebuilding self;
    self.into = *fresh;
    self.slabs = slabs;
    self.from = half == 1 ? shape->range : 0;
    self.closed = self.opened = self.upcoming = 0;
    self.counts = 0;
    self.waiting = 0;
    int code = vidi__overflow_resize(&(*fresh)->overflow, slabs, shape->multiset, overflow_room(old, shape, half));
    if (code == VIDI_OK)
        code = move_all(&self, old);
    if (code < 0) {
        vidi__subtable_free(*fresh, slabs);
        *fresh = NULL;
    }
    return code;
}
