/*
 * The pass over the lines of an old sub-table (rebuild.h). Compiled once per instruction set: the file that includes
 * this defines INLINE (for functions), PASS (the name), and the functions decode, append and encode.
 *
 *     INLINE void decode(uint64_t *hashes, const unsigned char *line, unsigned width, uint32_t own, uint64_t first)
 *     INLINE unsigned append(uint64_t *stage, unsigned count, const uint64_t *hashes, unsigned n, uint64_t start,
 *                            uint64_t length)
 *     INLINE void encode(unsigned char *line, unsigned width, const uint64_t *stage, uint32_t head)
 */

/* How far ahead of the line that is being moved old lines are fetched. */
#define AHEAD 24
/* decode writes as many words, whatever the number of slots. */
#define DECODED(slots) (((slots) + 3) / 4 * 4)

/*
 * Decodes the hashes that a line displaced to the next one, and fills up to a multiple of four. Returns the number of
 * words.
 */
INLINE unsigned decode_displaced(uint64_t *hashes, const unsigned char *next, unsigned width, uint64_t first)
{
    uint32_t displaced = vidi__line_displaced(vidi__line_head(next), vidi__line_slots(width));
    unsigned n = 0;
    for (; VIDI__UNLIKELY(displaced); displaced &= displaced - 1)
        hashes[n++] = first + vidi__line_get(next, width, (unsigned)__builtin_ctz(displaced));
    while (n % 4)
        hashes[n++] = VIDI__REBUILD_NOWHERE;
    return n;
}

/* Writes the open line and opens the next one. */
INLINE int close_line(vidi__rebuilding *self, unsigned width)
{
    const unsigned slots = vidi__line_slots(width);
    unsigned used = self->count < slots ? self->count : slots;
    encode(vidi__subtable_line(self->into, self->line), width, self->stage, used | self->signatures);
    self->into->used += used;
    if (VIDI__UNLIKELY(self->count > slots))
        VIDI__TRY(vidi__rebuild_wait(self));
    self->count = 0;
    self->signatures = 0;
    self->start = self->end;
    self->end = vidi__subtable_next_first(self->into, ++self->line, self->start);
    return VIDI_OK;
}

/* Distributes decoded hashes, all of them below `next`. */
INLINE int distribute(vidi__rebuilding *self, const uint64_t *hashes, unsigned n, uint64_t next, unsigned width)
{
    if (VIDI__UNLIKELY(self->count > VIDI__REBUILD_STAGE - 2 * VIDI__REBUILD_HASHES))
        VIDI__TRY(vidi__rebuild_crowded(self));
    for (;;) {
        uint64_t end = self->end < self->into->range ? self->end : self->into->range;
        self->count = append(self->stage, self->count, hashes, n, self->start, end - self->start);
        if (self->end >= next || self->line + 1 >= self->into->lines)
            return VIDI_OK;
        VIDI__TRY(close_line(self, width));
    }
}

/* The widths are constants where this is inlined, if they are common. */
INLINE int move_lines(vidi__rebuilding *self, const vidi__subtable *old, unsigned old_width, unsigned new_width)
{
    uint64_t hashes[VIDI__REBUILD_HASHES];
    const unsigned slots = vidi__line_slots(old_width);
    uint64_t line = vidi__scale(self->from, old->ratio);
    uint64_t last = vidi__scale(self->from + self->into->range - 1, old->ratio);
    uint64_t first = vidi__subtable_first(old, line) - self->from; /* wraps around if the line is in both halves */
    const unsigned char *at = vidi__subtable_line(old, line);
    for (; line <= last; line++) {
        uint64_t next = vidi__subtable_next_first(old, line, first + self->from) - self->from;
        const unsigned char *next_line = vidi__subtable_line(old, line + 1 == old->lines ? 0 : line + 1);
        if (line + AHEAD < old->lines)
            __builtin_prefetch(vidi__subtable_line(old, line + AHEAD));
        uint32_t head = vidi__line_head(at), in_use = (UINT32_C(1) << vidi__line_count(head)) - 1;
        decode(hashes, at, old_width, in_use & ~vidi__line_displaced(head, slots), first);
        unsigned n = DECODED(slots);
        n += decode_displaced(hashes + n, next_line, old_width, first);
        VIDI__TRY(distribute(self, hashes, n, next, new_width));
        first = next;
        at = next_line;
    }
    while (self->line < self->into->lines)
        VIDI__TRY(close_line(self, new_width));
    return VIDI_OK;
}

int PASS(vidi__rebuilding *self, const vidi__subtable *old)
{
    unsigned from = old->width, to = self->into->width;
    if (from == 5 && to == 5)
        return move_lines(self, old, 5, 5);
    if (from == 6 && to == 6)
        return move_lines(self, old, 6, 6);
    if (from == 6 && to == 5)
        return move_lines(self, old, 6, 5);
    return move_lines(self, old, from, to);
}
