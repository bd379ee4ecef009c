/*
 * Streams of sub-tables that lie about their lines and about what overflowed: no hash is where it does not belong, or
 * anywhere twice, or without what finds it.
 */
#include "filters/fingerprint/subtable_cases.h"

/* ---- lies about lines ---- */

/* Signatures of every hash that there may be, or of none. */
static void sign(stream *s, const vidi__subtable *shape, bool all)
{
    uint32_t bits = UINT32_MAX << (5 + vidi__line_slots(shape->width));
    for (uint64_t line = 0; line < shape->lines; line++) {
        uint32_t head = vidi__line_head(line_in(s, line));
        vidi__line_set_head(line_in(s, line), all ? head | bits : head & ~bits);
    }
}

/* The stream of an empty table with all signatures, into whose lines a test may write. */
typedef struct forgery {
    fixture *f;
    stream s;
    vidi__subtable shape;
    unsigned slots;
} forgery;

static forgery forge(fixture *f, uint64_t range, uint64_t lines)
{
    unsigned width = width_for(range, lines);
    forgery self = {.f = f, .shape = shape_of(range, lines, width, false), .slots = vidi__line_slots(width)};
    vidi__subtable *table = make(f, &self.shape);
    for (uint64_t line = 0; line < lines; line++)
        memset(vidi__subtable_line(table, line), 0, VIDI__LINE_BYTES);
    self.s = saved(table);
    sign(&self.s, &self.shape, true);
    vidi__subtable_free(table, &f->slabs);
    return self;
}

/* Writes a line of one's own or of displaced entries, with these distances; returns it. */
static unsigned char *forge_line(forgery *self, uint64_t line, bool displaced, unsigned count,
                                 const uint64_t *distances)
{
    unsigned char *at = line_in(&self->s, line);
    memset(at, 0, VIDI__LINE_BYTES);
    for (unsigned slot = 0; slot < count; slot++)
        vidi__line_append(at, self->shape.width, vidi__line_head(at), distances[slot], displaced);
    say_what_is_used(&self->s, self->shape.lines);
    sign(&self->s, &self->shape, true);
    return at;
}

static uint64_t span_of(const vidi__subtable *shape, uint64_t line)
{
    return first_of(shape, line + 1) - first_of(shape, line);
}

/*
 * Distances of the line's own, and of displaced entries of the line before: up to the last of that line, and not one
 * further.
 */
static void check_distances(forgery *self, uint64_t line, bool displaced)
{
    uint64_t lines = self->shape.lines, owner = displaced ? (line + lines - 1) % lines : line;
    uint64_t span = span_of(&self->shape, owner), largest = UINT64_MAX;
    unsigned width = self->shape.width;
    if (width == 8 || span < power_of_two(8 * width)) {
        forge_line(self, line, displaced, 1, &span);
        must_refuse(self->f, &self->s, &self->shape, "one behind the last");
        largest = width == 8 ? largest : power_of_two(8 * width) - 1;
        forge_line(self, line, displaced, 1, &largest);
        must_refuse(self->f, &self->s, &self->shape, "the largest");
    }
    span--;
    forge_line(self, line, displaced, 1, &span);
    must_accept(self->f, &self->s, &self->shape, 1);
    forge_line(self, line, displaced, 0, NULL);
}

static void check_counts(forgery *self, uint64_t line)
{
    uint64_t distances[32];
    for (unsigned i = 0; i < VIDI__COUNT(distances); i++)
        distances[i] = i;
    unsigned char *at = forge_line(self, line, false, self->slots, distances);
    for (unsigned count = self->slots + 1; count < 32; count++) {
        vidi__line_set_head(at, count);
        must_refuse(self->f, &self->s, &self->shape, "too many in a line");
    }
    for (unsigned count = 0; count < self->slots; count++) {
        vidi__line_set_head(at, count | vidi__line_displaced_bit(count));
        must_refuse(self->f, &self->s, &self->shape, "a displaced entry behind the last");
        vidi__line_set_head(at, count | vidi__line_displaced_bit(self->slots - 1));
        must_refuse(self->f, &self->s, &self->shape, "a displaced entry in the last slot");
    }
    distances[self->slots - 1] = self->slots / 2;
    for (unsigned displaced = 0; displaced < 2; displaced++) {
        forge_line(self, line, displaced, self->slots, distances);
        must_refuse(self->f, &self->s, &self->shape, "one twice in a line");
        self->shape.multiset = true; /* where it is fine */
        must_accept(self->f, &self->s, &self->shape, self->slots - 1);
        self->shape.multiset = false;
    }
    forge_line(self, line, false, 0, NULL);
}

/* Ranges and lines that distances of all widths come from. */
static const struct {
    uint64_t range, lines;
} shapes[] = {{UINT64_C(1) << 54, 10},       {UINT64_C(507) << 45, 2},   {(UINT64_C(1) << 54) - 1, 100},
              {UINT64_C(999999999989), 100}, {UINT64_C(257) << 32, 300}, {UINT64_C(300) << 26, 600},
              {UINT64_C(1) << 26, 300},      {UINT64_C(1000003), 100}};

static void what_does_not_belong_into_a_line_is_refused(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < VIDI__COUNT(shapes); i++) {
        forgery self = forge(&f, shapes[i].range, shapes[i].lines);
        for (uint64_t line = 0, step; line < shapes[i].lines; line += step) {
            check_distances(&self, line, false);
            check_distances(&self, line, true);
            check_counts(&self, line);
            step = line + 40 > shapes[i].lines && line + 1 < shapes[i].lines ? shapes[i].lines - 1 - line
                                                                             : 1 + test_mix(line) % 39;
        }
        free(self.s.data);
    }
    end(&f);
}

/* Every two slots of a line with `count` entries, and every slot. */
static void check_slots(forgery *self, uint64_t line, bool displaced, unsigned count)
{
    uint64_t lines = self->shape.lines, span = span_of(&self->shape, displaced ? (line + lines - 1) % lines : line);
    bool fits = self->shape.width == 8 || span < power_of_two(8 * self->shape.width);
    uint64_t distances[VIDI__SLOTS_MAX] = {0};
    for (unsigned i = 0; i < count; i++)
        distances[i] = span - 1 - i * (span / 40);
    unsigned char *at = forge_line(self, line, displaced, count, distances);
    must_accept(self->f, &self->s, &self->shape, count);
    for (unsigned i = count; i < self->slots; i++) /* what is in other slots does not matter */
        vidi__line_put(at, self->shape.width, i, i % 2 ? UINT64_MAX : distances[0]);
    must_accept(self->f, &self->s, &self->shape, count);
    for (unsigned i = 0; i < count; i++) {
        uint64_t good = distances[i];
        for (unsigned j = 0; j < i; j++) {
            distances[i] = distances[j];
            forge_line(self, line, displaced, count, distances);
            must_refuse(self->f, &self->s, &self->shape, "one in two slots");
        }
        distances[i] = span;
        forge_line(self, line, displaced, count, distances);
        if (fits)
            must_refuse(self->f, &self->s, &self->shape, "one of the next line");
        distances[i] = good;
    }
    forge_line(self, line, displaced, 0, NULL);
}

/* Distances that differ in their upper halves alone. */
static void check_upper_halves(forgery *self, uint64_t line)
{
    uint64_t span = span_of(&self->shape, line), distances[VIDI__SLOTS_MAX] = {0};
    unsigned count = 0;
    for (; count < self->slots && ((uint64_t)count << 32 | 5) < span; count++)
        distances[count] = (uint64_t)count << 32 | 5;
    forge_line(self, line, false, count, distances);
    must_accept(self->f, &self->s, &self->shape, count);
    forge_line(self, line, false, 0, NULL);
}

static void every_slot_of_a_line_is_examined(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < VIDI__COUNT(shapes); i++) {
        forgery self = forge(&f, shapes[i].range, shapes[i].lines);
        for (unsigned count = 1; count <= self.slots; count++) {
            check_slots(&self, 0, count % 2, count);
            check_slots(&self, shapes[i].lines - 1, false, count);
        }
        check_upper_halves(&self, 1);
        free(self.s.data);
    }
    end(&f);
}

/* In its own line and as a displaced entry in the next: of the last line the next is the first. */
static void a_hash_is_not_in_its_line_and_the_next(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < VIDI__COUNT(shapes); i++) {
        forgery self = forge(&f, shapes[i].range, shapes[i].lines);
        uint64_t some[] = {0, self.shape.lines / 2, self.shape.lines - 1};
        for (size_t j = 0; j < VIDI__COUNT(some); j++) {
            const uint64_t own[] = {17, 18, 19}, displaced[] = {20, 18};
            uint64_t next = (some[j] + 1) % self.shape.lines;
            forge_line(&self, some[j], false, 3, own);
            forge_line(&self, next, true, 2, displaced);
            must_refuse(&f, &self.s, &self.shape, "in two lines");
            self.shape.multiset = true; /* where it is fine */
            must_accept(&f, &self.s, &self.shape, 4);
            self.shape.multiset = false;
            forge_line(&self, next, true, 1, displaced);
            must_accept(&f, &self.s, &self.shape, 4);
            forge_line(&self, next, false, 2, displaced); /* which are other hashes */
            must_accept(&f, &self.s, &self.shape, 5);
            forge_line(&self, some[j], false, 0, NULL);
            forge_line(&self, next, false, 0, NULL);
        }
        free(self.s.data);
    }
    end(&f);
}

static void a_table_of_one_line_has_no_displaced_entries(void **state)
{
    static const uint64_t ranges[] = {
        1000, UINT64_C(1) << 24, UINT64_C(1) << 32, UINT64_C(1) << 40, UINT64_C(1) << 48, UINT64_C(1) << 54};
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < VIDI__COUNT(ranges); i++) {
        forgery self = forge(&f, ranges[i], 1);
        const uint64_t distances[] = {5, 6};
        unsigned char *at = forge_line(&self, 0, false, 2, distances);
        must_accept(&f, &self.s, &self.shape, 2);
        for (unsigned slot = 0; slot < 2; slot++) {
            vidi__line_set_head(at, 2 | vidi__line_displaced_bit(slot));
            for (unsigned multiset = 0; multiset < 2; multiset++) {
                self.shape.multiset = multiset;
                must_refuse(&f, &self.s, &self.shape, "a displaced entry of its own");
            }
        }
        free(self.s.data);
    }
    end(&f);
}

/* ---- lies about what overflowed ---- */

/* An overflowed hash is changed to one that is out of range, that overflowed already, or that is in a line. */
static void check_overflowed(fixture *f, uint64_t lines, bool multiset)
{
    const uint64_t range = UINT64_C(507) << 45, kept = lines > 1 ? 14 : 7;
    list l = {0};
    vidi__subtable shape = shape_of(range, lines, 8, multiset), *table = make(f, &shape);
    for (uint64_t hash = 100; hash < 105 + kept; hash++) /* 7 in the line, 7 in the next if there is one, 5 beside */
        put(f, table, &l, hash, 1);
    assert_int_equal(table->overflow.used, 5);
    stream s = saved(table);
    sign(&s, &shape, true);
    uint64_t overflowed[5], n = 0;
    for (uint64_t at = VIDI__OVERFLOW_EMPTY, left; vidi__overflow_each(&table->overflow, &at, &left);)
        overflowed[n++] = *vidi__overflow_at(table->overflow.entries, at);
    assert_int_equal(n, 5);
    uint64_t first = FIRST_LINE + lines * VIDI__LINE_BYTES, room = table->overflow.room;
    vidi__subtable_free(table, &f->slabs);
    const struct {
        uint64_t at, value;
        bool plain_only;
    } lies[] = {{0, range, false},         {0, UINT64_MAX, false},    {0, UINT64_C(1) << 63, false},
                {0, overflowed[4], false}, {1, overflowed[0], false}, {2, 103, true}, /* in its line */
                {3, 100 + kept - 1, true}, /* a displaced entry, if there are any */
                {4, 100 + kept - 3, true}};
    for (size_t i = 0; i < VIDI__COUNT(lies); i++) {
        uint64_t told[5];
        stream lie = altered(&s, 0, 0);
        memcpy(told, overflowed, sizeof told);
        told[lies[i].at] = lies[i].value;
        lay_overflow(&lie, lines, told, 5);
        if (!multiset || !lies[i].plain_only)
            must_refuse(f, &lie, &shape, "an overflowed hash");
        else
            must_accept(f, &lie, &shape, kept + 4); /* one that is also in a line */
        free(lie.data);
    }
    if (multiset) {
        stream lie = altered(&s, 0, 0);
        memset(lie.data + first + 8 * room, 0, 8 * room);
        must_refuse(f, &lie, &shape, "overflowed no times");
        free(lie.data);
    }
    for (uint64_t at = 0; at < room;
         at++) { /* one that is not where it is looked for, and a table without a free entry */
        stream lie = altered(&s, 0, 0);
        uint64_t hash = vidi__load64(s.data + first + 8 * at), next = first + 8 * ((at + 1) % room);
        vidi__store64(lie.data + first + 8 * at, vidi__load64(s.data + next));
        vidi__store64(lie.data + next, hash);
        if (memcmp(lie.data, s.data, s.size) != 0 && hash != vidi__load64(s.data + next)) {
            vidi__subtable *copy;
            uint64_t count = 0;
            if (load(f, &lie, &shape, true, &copy, &count) == VIDI_OK) /* where both may stand in either order */
                check_holds(copy, &l);
            vidi__subtable_free(copy, &f->slabs);
        }
        memset(lie.data + first, 7, 8 * room);
        must_refuse(f, &lie, &shape, "full");
        free(lie.data);
    }
    list_free(&l);
    free(s.data);
}

static void what_cannot_have_overflowed_is_refused(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    for (uint64_t lines = 1; lines < 4; lines++)
        for (unsigned multiset = 0; multiset < 2; multiset++)
            check_overflowed(&f, lines, multiset);
    end(&f);
}

/* Without its signature in its own line, a displaced entry or an overflowed hash would never be found. */
static void a_line_without_a_signature_is_refused(void **state)
{
    fixture f;
    list l;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < 2 * VIDI__COUNT(all_widths); i++) {
        unsigned width = all_widths[i / 2], slots = vidi__line_slots(width);
        vidi__subtable shape = shape_of(999983, 40, width, false);
        vidi__subtable *table = filled(&f, &l, &shape, slots * 41, i);
        assert_true(displaced_in(table) > 10 && table->overflow.used > 10);
        stream s = saved(table);
        sign(&s, &shape, i % 2);
        if (i % 2) { /* more of them than needed do no harm */
            vidi__subtable *copy = loaded(&f, &s, &shape, l.n);
            check_holds(copy, &l);
            vidi__subtable_free(copy, &f.slabs);
        } else {
            must_refuse(&f, &s, &shape, "no signatures");
        }
        vidi__subtable_free(table, &f.slabs);
        list_free(&l);
        free(s.data);
    }
    end(&f);
}

int main(int argc, char **argv)
{
    test_add("what does not belong into a line is refused", what_does_not_belong_into_a_line_is_refused, NULL);
    test_add("every slot of a line is examined", every_slot_of_a_line_is_examined, NULL);
    test_add("a hash is not in its line and the next", a_hash_is_not_in_its_line_and_the_next, NULL);
    test_add("a table of one line has no displaced entries", a_table_of_one_line_has_no_displaced_entries, NULL);
    test_add("what cannot have overflowed is refused", what_cannot_have_overflowed_is_refused, NULL);
    test_add("a line without a signature is refused", a_line_without_a_signature_is_refused, NULL);
    return test_run("forged subtable", argc, argv);
}
