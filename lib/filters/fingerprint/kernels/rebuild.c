/* See rebuild.h. */
#include "filters/fingerprint/kernels/rebuild.h"

#include "cpu/cpu.h"

/* Room in the overflow table for each line. It lasts until the sub-table is 80 % full. */
#define OVERFLOW_ROOM_PER_LINE 0.17
#define OVERFLOW_LEAST 8

static unsigned slots_of(const vidi__rebuilding *self)
{
    return vidi__line_slots(self->into->width);
}

int vidi__rebuild_crowded(vidi__rebuilding *self)
{
    const unsigned slots = slots_of(self);
    vidi__subtable *into = self->into;
    for (; self->count > slots; self->count--) {
        uint64_t distance = self->stage[self->count - 1];
        bool fresh;
        VIDI__TRY(
            vidi__overflow_insert(&into->overflow, self->slabs, into->multiset, self->start + distance, 1, &fresh));
        into->used += fresh;
        self->signatures |= vidi__line_signature(slots, distance);
    }
    return VIDI_OK;
}

/* Inserts the hashes that wait. Their lines are closed, and so are the lines after these. */
static int insert_waiting(vidi__rebuilding *self)
{
    for (unsigned i = 0; i < self->waiting; i++)
        VIDI__TRY(vidi__subtable_insert(self->into, self->slabs, self->hashes[i], 1));
    self->waiting = 0;
    return VIDI_OK;
}

int vidi__rebuild_wait(vidi__rebuilding *self)
{
    if (self->waiting + VIDI__REBUILD_STAGE > VIDI__REBUILD_WAITING)
        VIDI__TRY(insert_waiting(self));
    for (unsigned i = slots_of(self); i < self->count; i++)
        self->hashes[self->waiting++] = self->start + self->stage[i];
    return VIDI_OK;
}

static int move_overflow(const vidi__rebuilding *self, const vidi__overflow *old)
{
    for (uint64_t at = VIDI__OVERFLOW_EMPTY, left; vidi__overflow_each(old, &at, &left);) {
        uint64_t hash = *vidi__overflow_at(old->entries, at) - self->from;
        uint64_t times = old->times ? *vidi__overflow_at(old->times, at) : 1;
        if (hash < self->into->range)
            VIDI__TRY(vidi__subtable_insert(self->into, self->slabs, hash, times));
    }
    return VIDI_OK;
}

static int move_all(vidi__rebuilding *self, const vidi__subtable *old, vidi__rebuild_pass *pass)
{
    VIDI__TRY(pass(self, old));
    VIDI__TRY(insert_waiting(self));
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

int vidi__rebuild_with(vidi__rebuild_pass *pass, vidi__subtable **fresh, const vidi__subtable *old, vidi__slabs *slabs,
                       const vidi__subtable *shape, int half)
{
    VIDI__TRY(vidi__subtable_alloc(fresh, slabs, shape));
    vidi__rebuilding self;
    self.into = *fresh;
    self.slabs = slabs;
    self.from = half == 1 ? shape->range : 0;
    self.line = self.start = 0;
    self.end = vidi__subtable_next_first(self.into, 0, 0);
    self.signatures = 0;
    self.count = self.waiting = 0;
    memset(self.stage, 0, sizeof self.stage); /* lines are written with what is in it, also beyond their count */
    int code = VIDI_OK;
    uint64_t room = overflow_room(old, shape, half);
    if (room > (*fresh)->overflow.room)
        code = vidi__overflow_resize(&(*fresh)->overflow, slabs, shape->multiset, room);
    if (code == VIDI_OK)
        code = move_all(&self, old, pass);
    if (code < 0) {
        vidi__subtable_free(*fresh, slabs);
        *fresh = NULL;
    }
    return code;
}

static vidi__rebuild_pass *best_pass(void)
{
#if defined(__x86_64__)
    if (vidi__cpu() == VIDI__CPU_AVX2 || vidi__cpu() == VIDI__CPU_AVX512)
        return vidi__rebuild_pass_avx2;
#endif
    return vidi__rebuild_pass_portable;
}

int vidi__subtable_rebuild(vidi__subtable **fresh, const vidi__subtable *old, vidi__slabs *slabs,
                           const vidi__subtable *shape, int half)
{
    return vidi__rebuild_with(best_pass(), fresh, old, slabs, shape, half);
}
