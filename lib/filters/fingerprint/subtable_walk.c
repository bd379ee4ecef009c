/*
 * Walks over a sub-table (subtable.h): its hashes in blocks, or one by one.
 *
 * A line is decoded as a whole, without a branch for each slot, and what is not wanted is dropped afterwards, also
 * without branches. A multiset is walked slot by slot, because it reports copies once, with their number.
 */
#include "filters/fingerprint/subtable.h"

/* A block of as many hashes is handed over. One more line fits before that. */
#define FULL (VIDI__TAKE_MOST - VIDI__SLOTS_MAX)

/* A walk that reports the hashes from `from` to before `to`. */
typedef struct walk {
    const vidi__subtable *table;
    vidi__take_hashes *take;
    void *context;
    uint64_t from, to;
    unsigned count;
    uint64_t hashes[VIDI__TAKE_MOST];
    uint64_t times[VIDI__TAKE_MOST]; /* of a multiset */
} walk;

static int hand_over(walk *self)
{
    unsigned count = self->count;
    self->count = 0;
    return count ? self->take(self->context, self->hashes, self->table->multiset ? self->times : NULL, count) : 0;
}

static inline int hand_over_if_full(walk *self)
{
    return VIDI__UNLIKELY(self->count >= FULL) ? hand_over(self) : 0;
}

/* Adds those of n hashes that are wanted. They may stand where they are added, or elsewhere. */
static inline void add_wanted(walk *self, const uint64_t *hashes, unsigned n)
{
    uint64_t *to = self->hashes + self->count, from = self->from, wanted = self->to - from;
    unsigned kept = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t hash = hashes[i];
        to[kept] = hash;
        kept += hash - from < wanted;
    }
    self->count += kept;
}

/* Stores the hashes of a line. Slots that are not in use leave something after them. */
static VIDI__INLINE void decode(uint64_t *hashes, const unsigned char *line, unsigned width, uint64_t first)
{
    for (unsigned slot = 0; slot < vidi__line_slots(width); slot++)
        hashes[slot] = first + vidi__line_get(line, width, slot);
}

static void list_line(walk *self, const unsigned char *line, uint64_t first, uint64_t previous, bool all)
{
    const unsigned slots = vidi__line_slots(self->table->width);
    uint64_t *hashes = self->hashes + self->count;
    uint32_t head = vidi__line_head(line), displaced = vidi__line_displaced(head, slots);
    unsigned used = vidi__line_used(head, slots);
    switch (self->table->width) { /* the usual ones are compiled for themselves */
    case 5:
        decode(hashes, line, 5, first);
        break;
    case 6:
        decode(hashes, line, 6, first);
        break;
    default:
        decode(hashes, line, self->table->width, first);
        break;
    }
    for (; displaced; displaced &= displaced - 1)
        hashes[__builtin_ctz(displaced)] += previous - first;
    if (all)
        self->count += used;
    else
        add_wanted(self, hashes, used);
}

/*
 * Returns true if a walk reports the hash at this slot. A multiset may store a hash several times; it is reported at
 * the first slot in its own line, or else at the first in the next line.
 */
static bool reported_here(const vidi__subtable *table, const unsigned char *line, unsigned slot, uint64_t hash,
                          bool displaced)
{
    const vidi__spot own = vidi__subtable_spot(table, hash);
    if (displaced && vidi__subtable_match(table, own.line, own.distance, false))
        return false;
    uint32_t found = vidi__subtable_match(table, line, own.distance, displaced); /* 0 if this is not the hash's line */
    return found && (unsigned)__builtin_ctz(found) == slot;
}

static void list_multiple(walk *self, const unsigned char *line, uint64_t first, uint64_t previous)
{
    const vidi__subtable *table = self->table;
    uint32_t head = vidi__line_head(line);
    for (unsigned slot = 0; slot < vidi__line_used(head, vidi__line_slots(table->width)); slot++) {
        bool displaced = head & vidi__line_displaced_bit(slot);
        uint64_t hash = (displaced ? previous : first) + vidi__line_get(line, table->width, slot);
        if (hash < self->from || hash >= self->to || !reported_here(table, line, slot, hash, displaced))
            continue;
        self->hashes[self->count] = hash;
        self->times[self->count++] = vidi__subtable_times(table, hash);
    }
}

/*
 * Returns true if a line holds nothing but wanted hashes: all that can be in it are between the first hash of the line
 * before it and that of the line after it. Borrowed lines that were not verified may hold anything.
 */
static inline bool all_wanted(const walk *self, uint64_t line, uint64_t previous, uint64_t next)
{
    if (self->table->lent)
        return false;
    if (self->from == 0 && self->to == self->table->range)
        return true;
    return line && previous >= self->from && next <= self->to;
}

/* Walks `left` lines from this one on. After the last line comes the first. */
static int list_lines(walk *self, uint64_t line, uint64_t left)
{
    const vidi__subtable *table = self->table;
    uint64_t previous = vidi__subtable_first(table, line ? line - 1 : table->lines - 1);
    for (uint64_t first = vidi__subtable_first(table, line), next; left; left--) {
        next = vidi__subtable_next_first(table, line, first);
        if (table->multiset)
            list_multiple(self, vidi__subtable_line(table, line), first, previous);
        else
            list_line(self, vidi__subtable_line(table, line), first, previous, all_wanted(self, line, previous, next));
        int code = hand_over_if_full(self);
        if (code)
            return code;
        previous = first;
        first = line + 1 < table->lines ? next : 0;
        line = line + 1 < table->lines ? line + 1 : 0;
    }
    return 0;
}

/* A free entry is out of range, as everything is that was not verified and cannot be a hash. */
static int list_overflow(walk *self)
{
    const vidi__overflow *overflow = &self->table->overflow;
    for (uint64_t at = 0, n; overflow->used && at < overflow->room; at += n) {
        uint64_t block = VIDI__OVERFLOW_BLOCK - at % VIDI__OVERFLOW_BLOCK, left = overflow->room - at;
        n = left < block ? left : block;
        n = n < VIDI__TAKE_MOST - self->count ? n : VIDI__TAKE_MOST - self->count;
        add_wanted(self, vidi__overflow_at(overflow->entries, at), (unsigned)n);
        int code = hand_over_if_full(self);
        if (code)
            return code;
    }
    return 0;
}

static int list_multiple_overflow(walk *self)
{
    const vidi__overflow *overflow = &self->table->overflow;
    for (uint64_t at = VIDI__OVERFLOW_EMPTY, left; vidi__overflow_each(overflow, &at, &left);) {
        uint64_t hash = *vidi__overflow_at(overflow->entries, at), times = *vidi__overflow_at(overflow->times, at);
        if (hash < self->from || hash >= self->to || !times)
            continue; /* the latter if it is borrowed and not verified */
        if (vidi__subtable_times(self->table, hash) != times)
            continue; /* a line holds it too and has reported all copies */
        self->hashes[self->count] = hash;
        self->times[self->count++] = times;
        int code = hand_over_if_full(self);
        if (code)
            return code;
    }
    return 0;
}

/*
 * A hash is in its own line or displaced to the next one. So the line after the range is visited too, unless it is the
 * line that the range began with.
 */
int vidi__subtable_list(const vidi__subtable *table, uint64_t from, uint64_t to, vidi__take_hashes *take, void *context)
{
    walk self;
    self.table = table;
    self.take = take;
    self.context = context;
    self.from = from;
    self.to = to;
    self.count = 0;
    uint64_t line = vidi__scale(from, table->ratio), left = vidi__scale(to - 1, table->ratio) - line + 2;
    int code = list_lines(&self, line, left < table->lines ? left : table->lines);
    if (!code)
        code = table->multiset ? list_multiple_overflow(&self) : list_overflow(&self);
    return code ? code : hand_over(&self);
}

/* ---- one by one ---- */

int vidi__visit_each(void *context, uint64_t *hashes, const uint64_t *times, unsigned n)
{
    const vidi__visiting *self = context;
    for (unsigned i = 0; i < n; i++) {
        int code = self->visit(self->context, hashes[i], times ? times[i] : 1);
        if (code)
            return code;
    }
    return 0;
}

int vidi__subtable_walk(const vidi__subtable *table, vidi__subtable_visit *visit, void *context)
{
    return vidi__subtable_list(table, 0, table->range, vidi__visit_each, &(vidi__visiting){visit, context});
}

/* ---- what a sub-table has got since it was copied ---- */

static int visit_from(const vidi__subtable *table, const unsigned char *line, unsigned slot, uint64_t first,
                      uint64_t previous, vidi__subtable_visit *visit, void *context)
{
    uint32_t head = vidi__line_head(line);
    int code = 0;
    for (; slot < vidi__line_count(head) && !code; slot++) {
        uint64_t start = head & vidi__line_displaced_bit(slot) ? previous : first;
        code = visit(context, start + vidi__line_get(line, table->width, slot), 1);
    }
    return code;
}

int vidi__subtable_walk_newer(const vidi__subtable *table, const vidi__subtable *copy, vidi__subtable_visit *visit,
                              void *context)
{
    int code = 0;
    for (uint64_t line = 0, first = 0, previous = vidi__subtable_last_first(table); line < table->lines; line++) {
        unsigned known = vidi__line_count(vidi__line_head(vidi__subtable_line(copy, line)));
        code = visit_from(table, vidi__subtable_line(table, line), known, first, previous, visit, context);
        if (code)
            return code;
        previous = first;
        first = vidi__subtable_next_first(table, line, first);
    }
    bool more = table->overflow.used > copy->overflow.used;
    for (uint64_t at = VIDI__OVERFLOW_EMPTY, left;
         more && vidi__overflow_each(&table->overflow, &at, &left) && !code;) {
        uint64_t hash = *vidi__overflow_at(table->overflow.entries, at);
        code = vidi__overflow_times(&copy->overflow, hash) ? 0 : visit(context, hash, 1);
    }
    return code;
}
