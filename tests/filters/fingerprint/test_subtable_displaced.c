/*
 * Sub-tables whose lines are full: a hash goes to the next line as a displaced entry, and where that is full too,
 * beside. It is found there, told of once, taken away and moved, and in a multiset every copy counts, wherever it is.
 */
#include "filters/fingerprint/subtable_cases.h"

/* The largest ranges that so few lines of each width take; 8 bytes take any. */
static uint64_t range_for(unsigned width, uint64_t lines)
{
    return width == 8 ? (UINT64_C(1) << 54) - 1 : lines * (power_of_two(8 * width) - 1) - lines / 2;
}

/* ---- one displaced entry ---- */

enum { LINES = 5 };

/* A line filled to the last slot, and one hash more than that: its distance is `slots`. */
typedef struct crowded {
    fixture f;
    vidi__subtable *table;
    list l;
    uint64_t line, next, first;
    uint64_t extra;
    unsigned slots;
} crowded;

static void crowd(crowded *self, unsigned width, uint64_t line, uint64_t lines)
{
    *self = (crowded){.line = line, .next = (line + 1) % lines, .slots = vidi__line_slots(width)};
    begin(&self->f);
    vidi__subtable shape = shape_of(range_for(width, lines), lines, width, false);
    shape.portable = line % 2;
    self->table = make(&self->f, &shape);
    self->first = first_of(&shape, line);
    self->extra = self->first + self->slots;
    for (uint64_t hash = self->first; hash < self->extra; hash++) {
        assert_int_equal(add(&self->f, self->table, hash), VIDI_NEW);
        list_push(&self->l, hash, 1);
    }
    assert_false(has(self->table, self->extra));
    assert_int_equal(add(&self->f, self->table, self->extra), VIDI_NEW);
    list_push(&self->l, self->extra, 1);
}

static void disperse(crowded *self)
{
    vidi__subtable_free(self->table, &self->f.slabs);
    list_free(&self->l);
    end(&self->f);
}

static void check_copies(const vidi__subtable *table, uint64_t hash, copies right)
{
    copies found = copies_of(table, hash);
    check(found.own == right.own && found.displaced == right.displaced && found.overflowed == right.overflowed,
          "%d in its line, %d in the next, %d beside; not %d, %d, %d", (int)found.own, (int)found.displaced,
          (int)found.overflowed, (int)right.own, (int)right.displaced, (int)right.overflowed);
}

typedef void crowd_test(crowded *self);

/* For each width, in each line: of the last one the next is the first. */
static void in_every_line(crowd_test *test)
{
    for (size_t i = 0; i < VIDI__COUNT(all_widths); i++)
        for (uint64_t line = 0; line < LINES; line++) {
            crowded self;
            crowd(&self, all_widths[i], line, LINES);
            test(&self);
            disperse(&self);
        }
}

static void check_found(crowded *self)
{
    check_copies(self->table, self->extra, (copies){.displaced = 1});
    assert_int_equal(add(&self->f, self->table, self->extra), VIDI_SEEN);
    check_copies(self->table, self->extra, (copies){.displaced = 1});
    assert_int_equal(displaced_in(self->table), 1);
    assert_int_equal(vidi__line_count(vidi__line_head(vidi__subtable_line(self->table, self->next))), 1);
    assert_int_equal(self->table->used, self->slots + 1);
    check_holds(self->table, &self->l);
}

static void a_displaced_entry_is_found_and_reported_once(void **state)
{
    (void)state;
    in_every_line(check_found);
}

/* The hash that has the displaced entry's distance in the line where the displaced entry is. */
static void check_not_confused(crowded *self)
{
    uint64_t other = first_of(self->table, self->next) + self->slots;
    assert_false(has(self->table, other));
    assert_int_equal(vidi__subtable_times(self->table, other), 0);
    assert_false(vidi__subtable_remove(self->table, other));
    assert_int_equal(add(&self->f, self->table, other), VIDI_NEW);
    assert_int_equal(add(&self->f, self->table, other), VIDI_SEEN);
    check_copies(self->table, other, (copies){.own = 1});
    check_copies(self->table, self->extra, (copies){.displaced = 1});
    list_push(&self->l, other, 1);
    list_settle(&self->l);
    check_holds(self->table, &self->l);
    assert_true(vidi__subtable_remove(self->table, self->extra));
    assert_false(has(self->table, self->extra));
    assert_true(has(self->table, other));
    assert_int_equal(add(&self->f, self->table, self->extra), VIDI_NEW);
    assert_true(vidi__subtable_remove(self->table, other));
    assert_false(has(self->table, other));
    assert_true(has(self->table, self->extra));
}

static void a_displaced_entry_is_not_the_next_lines_own_hash(void **state)
{
    (void)state;
    in_every_line(check_not_confused);
}

static void check_taken(crowded *self)
{
    assert_true(vidi__subtable_remove(self->table, self->extra));
    assert_false(has(self->table, self->extra));
    assert_false(vidi__subtable_remove(self->table, self->extra));
    assert_int_equal(displaced_in(self->table), 0);
    assert_int_equal(self->table->used, self->slots);
    self->l.n--;
    check_holds(self->table, &self->l);
    /* Its line has room again, and still bears the signature: what is added now is in the line. */
    assert_true(vidi__subtable_remove(self->table, self->first));
    assert_int_equal(add(&self->f, self->table, self->extra), VIDI_NEW);
    check_copies(self->table, self->extra, (copies){.own = 1});
    assert_int_equal(add(&self->f, self->table, self->extra), VIDI_SEEN);
}

static void a_displaced_entry_that_is_removed_is_gone(void **state)
{
    (void)state;
    in_every_line(check_taken);
}

/* Its line has room again: it is neither added there nor forgotten. */
static void check_stays(crowded *self)
{
    for (uint64_t hash = self->first; hash < self->extra; hash++) {
        assert_true(vidi__subtable_remove(self->table, hash));
        assert_int_equal(add(&self->f, self->table, self->extra), VIDI_SEEN);
    }
    check_copies(self->table, self->extra, (copies){.displaced = 1});
    assert_int_equal(self->table->used, 1);
}

static void a_displaced_entry_stays_seen_when_its_line_empties(void **state)
{
    (void)state;
    in_every_line(check_stays);
}

/* The next line is filled with its own, and the one after that with nothing. */
static void check_overflows(crowded *self)
{
    uint64_t first = first_of(self->table, self->next);
    for (uint64_t hash = first; hash < first + self->slots - 1; hash++)
        put(&self->f, self->table, &self->l, hash, 1);
    assert_int_equal(self->table->overflow.used, 0);
    uint64_t more[] = {self->extra + 1, first + self->slots};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(add(&self->f, self->table, more[i]), VIDI_NEW);
        assert_int_equal(add(&self->f, self->table, more[i]), VIDI_SEEN);
        list_push(&self->l, more[i], 1);
    }
    check_copies(self->table, more[0], (copies){.overflowed = 1});
    check_copies(self->table, more[1], (copies){.displaced = 1}); /* of the next line, in the one behind */
    assert_int_equal(self->table->overflow.used, 1);
    assert_int_equal(displaced_in(self->table), 2);
    list_settle(&self->l);
    check_holds(self->table, &self->l);
    assert_true(vidi__subtable_remove(self->table, more[0]));
    assert_false(has(self->table, more[0]));
    assert_int_equal(self->table->overflow.used, 0);
}

static void what_finds_the_next_line_full_too_overflows(void **state)
{
    (void)state;
    in_every_line(check_overflows);
}

static void a_table_of_one_line_has_no_displaced_entries(void **state)
{
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(all_widths); i++) {
        crowded self;
        crowd(&self, all_widths[i], 0, 1);
        check_copies(self.table, self.extra, (copies){.overflowed = 1});
        for (uint64_t hash = self.extra + 1; hash < self.extra + 20; hash++)
            put(&self.f, self.table, &self.l, hash, 1);
        assert_int_equal(displaced_in(self.table), 0);
        assert_int_equal(self.table->overflow.used, 20);
        assert_int_equal(vidi__line_count(vidi__line_head(self.table->slabs[0])), self.slots);
        check_holds(self.table, &self.l);
        while (self.l.n) {
            uint64_t gone = self.l.hashes[2 * --self.l.n];
            assert_true(vidi__subtable_remove(self.table, gone));
            check_holds(self.table, &self.l);
        }
        disperse(&self);
    }
}

/* ---- moving ---- */

/* Into all kinds of shapes, of the same range. */
static void check_moves(crowded *self)
{
    static const uint64_t lines[] = {LINES, LINES + 1, 2 * LINES, 3, 400};
    for (size_t i = 0; i < VIDI__COUNT(lines); i++)
        for (size_t j = 0; j < VIDI__COUNT(all_widths); j++) {
            if (!width_fits(self->table->range, lines[i], all_widths[j]))
                continue;
            vidi__subtable shape = shape_of(self->table->range, lines[i], all_widths[j], false);
            vidi__subtable *fresh = rebuilt(&self->f, self->table, &shape, -1, &self->l, &self->l);
            assert_int_equal(fresh->used, self->slots + 1);
            vidi__subtable_free(fresh, &self->f.slabs);
        }
}

static void rebuilding_moves_displaced_entries(void **state)
{
    (void)state;
    in_every_line(check_moves);
}

/*
 * Halves of a table of 4 lines whose second and fourth are crowded: their displaced entries are in the other half's
 * first line.
 */
static void splitting_moves_displaced_entries_to_their_own_half(void **state)
{
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(all_widths); i++)
        for (uint64_t line = 1; line < 4; line += 2) {
            unsigned width = all_widths[i];
            crowded self;
            crowd(&self, width, line, 4);
            uint64_t range = self.table->range & ~UINT64_C(1);
            self.table->range = range; /* which changes no place */
            vidi__subtable shape = shape_of(range / 2, 3, width, false);
            list mine = half_of(&self.l, range, line > 1), none = {0};
            assert_int_equal(mine.n, self.slots + 1);
            vidi__subtable_free(rebuilt(&self.f, self.table, &shape, line > 1, &self.l, &mine), &self.f.slabs);
            vidi__subtable_free(rebuilt(&self.f, self.table, &shape, line < 2, &self.l, &none), &self.f.slabs);
            list_free(&mine);
            disperse(&self);
        }
}

/*
 * Filled until it says so: few displaced entries, hardly anything beside, all found, and so after growing by a quarter.
 */
static void a_full_table_has_displaced_entries_and_hardly_overflows(void **state)
{
    static const uint64_t ranges[] = {(UINT64_C(1) << 54) - 1, UINT64_C(509) << 37, UINT64_C(257) << 28,
                                      UINT64_C(1000000007), 3000017};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(ranges); i++) {
        fixture f;
        list l = {0};
        test_random random = {i};
        begin(&f);
        vidi__subtable shape = {.range = ranges[i]};
        vidi__subtable_fit(&shape, 30000);
        vidi__subtable *table = make(&f, &shape), *larger;
        for (uint64_t hash; hash = test_below(&random, ranges[i]), add(&f, table, hash) != VIDI__SUBTABLE_FULL;)
            if (!l.n || hash != l.hashes[2 * l.n - 2])
                list_push(&l, hash, 1);
        list_settle(&l);
        for (size_t j = 0; j < l.n; j++)
            l.hashes[2 * j + 1] = 1;
        assert_int_equal(table->used, l.n);
        assert_int_equal(l.n, table->limit);
        check(displaced_in(table) > l.n / 40 && displaced_in(table) < l.n / 6, "%d displaced entries of %d",
              (int)displaced_in(table), (int)l.n);
        check(table->overflow.used > 0 && table->overflow.used < l.n / 25, "%d of %d overflowed",
              (int)table->overflow.used, (int)l.n);
        vidi__subtable_fit(&shape, l.n * 5 / 4);
        larger = rebuilt(&f, table, &shape, -1, &l, &l);
        assert_int_equal(larger->used, l.n);
        vidi__subtable_free(larger, &f.slabs);
        vidi__subtable_free(table, &f.slabs);
        list_free(&l);
        end(&f);
    }
}

/* ---- random changes, against a model ---- */

enum { HASHES = 300, CHANGES = 4000 };

/* A few hashes, far more than fit into the lines, and how often each should be there. */
typedef struct model {
    fixture f;
    test_random random;
    vidi__subtable *table;
    uint64_t range;
    uint64_t times[HASHES];
    unsigned mixtures; /* a bit for each way in which copies of one hash have been spread over the three places */
} model;

static list model_list(const model *self)
{
    list l = {0};
    for (uint64_t hash = 0; hash < self->range; hash++)
        if (self->times[hash])
            list_push(&l, hash, self->times[hash]);
    return l;
}

static void change(model *self, bool growing)
{
    bool multiset = self->table->multiset;
    uint64_t hash = test_below(&self->random, self->range), *times = &self->times[hash];
    uint64_t what = test_below(&self->random, 10);
    if (what < (growing ? 4u : 1u) && (multiset || !*times)) {
        uint64_t more = multiset ? 1 + test_below(&self->random, 25) : 1;
        assert_int_equal(vidi__subtable_insert(self->table, &self->f.slabs, hash, more), VIDI_OK);
        *times += more;
    } else if (what < (growing ? 7u : 2u)) {
        assert_int_equal(add(&self->f, self->table, hash), *times ? VIDI_SEEN : VIDI_NEW);
        *times += multiset || !*times;
    } else {
        for (uint64_t n = multiset ? 1 + test_below(&self->random, 12) : 1; n; n--) {
            assert_int_equal(vidi__subtable_remove(self->table, hash), *times > 0);
            *times -= *times > 0;
        }
    }
    copies are = copies_of(self->table, hash);
    assert_int_equal(are.own + are.displaced + are.overflowed, *times);
    assert_int_equal(vidi__subtable_times(self->table, hash), *times);
    assert_int_equal(has(self->table, hash), *times > 0);
    self->mixtures |= 1u << ((are.own > 0) | (are.displaced > 0) << 1 | (are.overflowed > 0) << 2);
}

/* Slots and entries, counted. */
static void check_used(const model *self)
{
    uint64_t used = self->table->overflow.used;
    for (uint64_t line = 0; line < self->table->lines; line++)
        used += vidi__line_count(vidi__line_head(vidi__subtable_line(self->table, line)));
    assert_int_equal(self->table->used, used);
}

/* Into another shape, or through a stream. */
static void move(model *self, const list *l)
{
    vidi__subtable *old = self->table, shape = *old;
    if (test_below(&self->random, 2) && old->overflow.used <= 60 * old->lines) { /* more is not believed */
        stream s = saved(old);
        self->table = loaded(&self->f, &s, &shape, l->n);
        self->table->limit = UINT64_MAX;
        free(s.data);
    } else {
        uint64_t lines = 1 + test_below(&self->random, 7);
        shape = shape_of(self->range, lines, old->width, old->multiset);
        self->table = rebuilt(&self->f, old, &shape, -1, l, l);
    }
    vidi__subtable_free(old, &self->f.slabs);
}

static void check_halves(model *self, const list *l)
{
    for (int half = 0; half < 2 && self->range % 2 == 0; half++) {
        list mine = half_of(l, self->range, half);
        vidi__subtable shape =
            shape_of(self->range / 2, 1 + self->table->lines / 2, self->table->width, self->table->multiset);
        vidi__subtable_free(rebuilt(&self->f, self->table, &shape, half, l, &mine), &self->f.slabs);
        list_free(&mine);
    }
}

static unsigned change_randomly(bool multiset, uint64_t seed)
{
    model self = {.random = {seed}};
    begin(&self.f);
    self.range = 256 + test_below(&self.random, HASHES - 256);
    unsigned width = all_widths[seed / 2 % VIDI__COUNT(all_widths)];
    uint64_t lines = 1 + test_below(&self.random, 6);
    vidi__subtable shape = shape_of(self.range, lines, width, multiset);
    self.table = make(&self.f, &shape);
    for (unsigned n = 0; n < CHANGES; n++) {
        change(&self, n / 500 % 2 == 0);
        if (n % 100 == 99) {
            list l = model_list(&self);
            check_used(&self);
            check_holds(self.table, &l);
            check_halves(&self, &l);
            if (n % 500 == 299)
                move(&self, &l);
            list_free(&l);
        }
    }
    for (uint64_t hash = 0; hash < self.range; hash++)
        for (; self.times[hash]; self.times[hash]--)
            assert_true(vidi__subtable_remove(self.table, hash));
    assert_int_equal(self.table->used + self.table->overflow.used, 0);
    list none = {0};
    check_holds(self.table, &none);
    vidi__subtable_free(self.table, &self.f.slabs);
    end(&self.f);
    return self.mixtures;
}

static void random_changes_lose_nothing(void **state)
{
    unsigned mixtures = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++)
        mixtures |= change_randomly(false, seed);
    assert_int_equal(mixtures, 1u << 0 | 1u << 1 | 1u << 2 | 1u << 4); /* in one place at most */
}

static void a_multiset_counts_copies_wherever_they_are(void **state)
{
    unsigned mixtures = 0;
    (void)state;
    for (uint64_t seed = 100; seed < 130; seed++)
        mixtures |= change_randomly(true, seed);
    assert_int_equal(mixtures, 0xff);
}

static void a_multiset_counts_beyond_the_slots_of_two_lines(void **state)
{
    static const uint64_t many = UINT64_C(1) << 60;
    (void)state;
    for (uint64_t lines = 1; lines < 4; lines++) {
        fixture f;
        begin(&f);
        vidi__subtable shape = shape_of((UINT64_C(1) << 54) - 3, lines, 8, true), *table = make(&f, &shape);
        uint64_t hash = shape.range - 1; /* in the last line, whose displaced entries are in the first */
        for (uint64_t i = 0; i < 1000; i++) {
            assert_int_equal(add(&f, table, hash), i ? VIDI_SEEN : VIDI_NEW);
            assert_int_equal(vidi__subtable_times(table, hash), i + 1);
        }
        assert_int_equal(table->overflow.used, 1);
        assert_int_equal(table->used, (lines > 1 ? 14 : 7) + 1); /* many of one URL do not make it grow */
        assert_int_equal(vidi__subtable_insert(table, &f.slabs, hash - 1, many), VIDI_OK);
        for (uint64_t i = 1000; i > 0; i--) {
            assert_int_equal(vidi__subtable_times(table, hash), i);
            assert_true(vidi__subtable_remove(table, hash));
        }
        assert_false(vidi__subtable_remove(table, hash));
        assert_int_equal(vidi__subtable_times(table, hash - 1), many);
        vidi__subtable_free(table, &f.slabs);
        end(&f);
    }
}

int main(int argc, char **argv)
{
    test_add("a displaced entry is found and reported once", a_displaced_entry_is_found_and_reported_once, NULL);
    test_add("a displaced entry is not the next line's own hash", a_displaced_entry_is_not_the_next_lines_own_hash,
             NULL);
    test_add("a displaced entry that is removed is gone", a_displaced_entry_that_is_removed_is_gone, NULL);
    test_add("a displaced entry stays seen when its line empties", a_displaced_entry_stays_seen_when_its_line_empties,
             NULL);
    test_add("what finds the next line full too overflows", what_finds_the_next_line_full_too_overflows, NULL);
    test_add("a table of one line has no displaced entries", a_table_of_one_line_has_no_displaced_entries, NULL);
    test_add("rebuilding moves displaced entries", rebuilding_moves_displaced_entries, NULL);
    test_add("splitting moves displaced entries to their own half", splitting_moves_displaced_entries_to_their_own_half,
             NULL);
    test_add("a full table has displaced entries and hardly overflows",
             a_full_table_has_displaced_entries_and_hardly_overflows, NULL);
    test_add("random changes lose nothing", random_changes_lose_nothing, NULL);
    test_add("a multiset counts copies wherever they are", a_multiset_counts_copies_wherever_they_are, NULL);
    test_add("a multiset counts beyond the slots of two lines", a_multiset_counts_beyond_the_slots_of_two_lines, NULL);
    return test_run("subtable displaced", argc, argv);
}
