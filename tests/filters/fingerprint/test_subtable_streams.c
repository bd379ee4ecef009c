/*
 * Sub-tables in streams, which are not trusted, and under an allocator that refuses: failures leave everything as it
 * was.
 */
#include "filters/fingerprint/subtable_cases.h"

/* ---- what is true ---- */

static void check_comes_back(fixture *f, const vidi__subtable *shape, uint64_t hashes, uint64_t seed)
{
    list l;
    vidi__subtable *copy, *table = filled(f, &l, shape, hashes, seed);
    stream s = saved(table);
    for (unsigned known = 0; known < 2; known++) {
        uint64_t count = 1000;
        assert_int_equal(load(f, &s, shape, known, &copy, &count), VIDI_OK);
        assert_int_equal(s.at, s.size);
        assert_int_equal(count, 1000 + l.n);
        check_same(table, copy);
        check_holds(copy, &l);
        assert_true(copy->limit < UINT64_MAX); /* not from the shape */
        vidi__subtable_free(copy, &f->slabs);
    }
    for (uint64_t at = 0; at < s.size; at += 1 + s.size / 100) { /* a sink that refuses is heard */
        stream cut = {.writer = {stream_write}, .refuse_at = at};
        assert_int_equal(save(table, &cut.writer), VIDI_EIO);
        free(cut.data);
    }
    vidi__subtable_free(table, &f->slabs);
    list_free(&l);
    free(s.data);
}

static void a_stream_brings_a_table_back(void **state)
{
    static const struct {
        uint64_t range, lines, hashes;
    } rows[] = {{UINT64_C(1) << 54, 1, 0},
                {UINT64_C(1) << 54, 1, 5},
                {(UINT64_C(1) << 54) - 1, 1, 60},
                {UINT64_C(511) << 45, 4, 25},
                {UINT64_C(1) << 54, 2, 20},
                {UINT64_C(385) << 45, 300, 3000},
                {UINT64_C(1) << 46, 100, 1000},
                {UINT64_C(999999999989), 1000, 10500},
                {UINT64_C(257) << 30, 600, 5000},
                {UINT64_C(300) << 26, 700, 10400},
                {UINT64_C(1) << 30, 64, 1000},
                {UINT64_C(1) << 26, 300, 6000},
                {UINT64_C(67108859), 257, 5400},
                {UINT64_C(1) << 24, 255, 5000},
                {65537, 100, 2300}};
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < 2 * VIDI__COUNT(rows); i++) {
        uint64_t range = rows[i / 2].range, lines = rows[i / 2].lines;
        vidi__subtable shape = shape_of(range, lines, width_for(range, lines), i % 2);
        check_comes_back(&f, &shape, rows[i / 2].hashes, i);
    }
    end(&f);
}

/*
 * With displaced entries and without, with more room for what overflowed than there would be now, and with signatures
 * of the past.
 */
static void a_table_comes_back_after_removals_too(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    for (unsigned i = 0; i < 84; i++) {
        list l;
        uint64_t left = i / 6 * 3, lines = 1 + i % 3;
        vidi__subtable shape = shape_of(UINT64_C(507) << 45, lines, 8, i / 3 % 2);
        vidi__subtable *table = filled(&f, &l, &shape, 40 * lines, i);
        while (l.n > left) {
            uint64_t hash = l.hashes[2 * --l.n];
            for (uint64_t times = l.hashes[2 * l.n + 1]; times; times--)
                assert_true(vidi__subtable_remove(table, hash));
        }
        stream s = saved(table);
        vidi__subtable *copy = loaded(&f, &s, &shape, left);
        check_holds(copy, &l);
        vidi__subtable_free(copy, &f.slabs);
        vidi__subtable_free(table, &f.slabs);
        list_free(&l);
        free(s.data);
    }
    end(&f);
}

/* ---- lies about sizes ---- */

static void lying_sizes_are_refused(void **state)
{
    static const struct {
        uint64_t at, value;
    } lies[] = {{LINES_AT, 0},
                {LINES_AT, 11},
                {LINES_AT, 1000},
                {LINES_AT, UINT64_C(1) << 17},
                {LINES_AT, (UINT64_C(1) << 20) + 1},
                {LINES_AT, UINT64_C(1) << 40},
                {LINES_AT, UINT64_C(1) << 58},
                {LINES_AT, UINT64_MAX},
                {WIDTH_AT, 0},
                {WIDTH_AT, 1},
                {WIDTH_AT, 2},
                {WIDTH_AT, 3},
                {WIDTH_AT, 4},
                {WIDTH_AT, 5},
                {WIDTH_AT, 6},
                {WIDTH_AT, 7},
                {WIDTH_AT, 9},
                {WIDTH_AT, 255},
                {WIDTH_AT, (UINT64_C(1) << 32) + 8},
                {WIDTH_AT, UINT64_MAX},
                {OVERFLOW_AT, 1000},
                {OVERFLOW_AT, UINT64_C(1) << 32},
                {OVERFLOW_AT, UINT64_C(1) << 60},
                {OVERFLOW_AT, UINT64_MAX},
                {ROOM_AT, 0},
                {ROOM_AT, 1},
                {ROOM_AT, 1000},
                {ROOM_AT, UINT64_C(1) << 32},
                {ROOM_AT, UINT64_C(1) << 61},
                {ROOM_AT, UINT64_MAX}};
    fixture f;
    list l;
    (void)state;
    begin(&f);
    vidi__subtable shape = shape_of(UINT64_C(507) << 45, 10, 8, false), *table = filled(&f, &l, &shape, 90, 1);
    assert_true(table->overflow.used > 10);
    stream s = saved(table);
    vidi__subtable_free(table, &f.slabs);
    for (size_t i = 0; i < VIDI__COUNT(lies); i++) {
        char what[100];
        stream lie = altered(&s, lies[i].at, lies[i].value);
        snprintf(what, sizeof what, "%llu at %llu", (unsigned long long)lies[i].value, (unsigned long long)lies[i].at);
        must_refuse(&f, &lie, &shape, what);
        free(lie.data);
    }
    list_free(&l);
    free(s.data);
    end(&f);
}

/* Empty tables: more lines than are of use, and fewer than the distances of a width need. */
static void shapes_that_no_range_has_are_refused(void **state)
{
    static const struct {
        uint64_t range, lines, width;
        bool good;
    } rows[] = {{1001, 500, 3, true},
                {1001, 501, 3, false},
                {256, 128, 8, true},
                {256, 129, 8, false},
                {UINT64_C(100) << 24, 100, 3, true},
                {(UINT64_C(100) << 24) + 1, 100, 3, false},
                {(UINT64_C(100) << 24) + 1, 101, 3, true},
                {UINT64_C(3) << 48, 3, 6, true},
                {(UINT64_C(3) << 48) + 1, 3, 6, false},
                {(UINT64_C(1) << 54) - 1, 64, 6, true},
                {(UINT64_C(1) << 54) - 1, 63, 6, false},
                {(UINT64_C(1) << 54) - 1, 1, 8, true}};
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < VIDI__COUNT(rows); i++) {
        vidi__subtable shape = {.range = rows[i].range};
        stream s = stream_new();
        const uint64_t numbers[] = {0, rows[i].lines, rows[i].width, 0, 0, 0};
        static const unsigned char empty[VIDI__LINE_BYTES];
        for (size_t j = 0; j < VIDI__COUNT(numbers); j++)
            assert_int_equal(vidi__write_u64(&s.writer, numbers[j]), VIDI_OK);
        assert_int_equal(vidi__write_align(&s.writer), VIDI_OK);
        for (uint64_t line = 0; line < rows[i].lines; line++)
            assert_int_equal(stream_write(&s.writer, empty, sizeof empty), VIDI_OK);
        if (rows[i].good)
            must_accept(&f, &s, &shape, 0);
        else
            must_refuse(&f, &s, &shape, "a shape");
        free(s.data);
    }
    end(&f);
}

/* Room and number that pass each other's check, but whose bytes pass 2^64. */
static void sizes_that_overflow_are_refused(void **state)
{
    fixture f;
    list l;
    (void)state;
    begin(&f);
    for (unsigned shift = 30; shift < 63; shift++)
        for (uint64_t part = 2; part <= 8; part++) {
            vidi__subtable shape = shape_of(UINT64_C(1) << 54, 10, 8, false), *table = filled(&f, &l, &shape, 90, 1);
            stream s = saved(table);
            vidi__subtable_free(table, &f.slabs);
            vidi__store64(s.data + ROOM_AT, UINT64_C(1) << shift);
            vidi__store64(s.data + OVERFLOW_AT, (UINT64_C(1) << shift) / 8 * part);
            must_refuse(&f, &s, &shape, "an overflow");
            list_free(&l);
            free(s.data);
        }
    end(&f);
}

static void every_cut_is_noticed(void **state)
{
    fixture f;
    list l;
    (void)state;
    begin(&f);
    for (unsigned multiset = 0; multiset < 2; multiset++) {
        vidi__subtable shape = shape_of(UINT64_C(1) << 54, 3, 8, multiset), *table = filled(&f, &l, &shape, 30, 2);
        stream s = saved(table);
        vidi__subtable_free(table, &f.slabs);
        for (uint64_t whole = s.size; s.size--;)
            if (s.size >= 8)
                must_refuse(&f, &s, &shape, whole - s.size == 1 ? "the last byte cut" : "a cut");
        list_free(&l);
        free(s.data);
    }
    end(&f);
}

/* ---- chance ---- */

static void check_damaged(fixture *f, stream *bad, const vidi__subtable *shape, bool known)
{
    vidi__subtable *copy;
    uint64_t count = 0;
    int code = load(f, bad, shape, known, &copy, &count);
    assert_true(code == VIDI_OK || code == VIDI_EFORMAT);
    if (code < 0)
        return;
    list found = {0};
    assert_int_equal(vidi__subtable_walk(copy, collect, &found), 0);
    list_settle(&found);
    assert_int_equal(found.n, count);
    check_holds(copy, &found);
    list_free(&found);
    vidi__subtable_free(copy, &f->slabs);
}

/* Random bytes changed: refused, or a table that keeps its rules. */
static void damaged_streams_do_no_harm(void **state)
{
    test_random random = {5};
    fixture f;
    list l;
    (void)state;
    begin(&f);
    for (unsigned round = 0; round < 40; round++) {
        uint64_t range = 256 + (test_next(&random) >> (10 + test_below(&random, 45)));
        uint64_t lines = 1 + test_below(&random, 6);
        vidi__subtable shape = shape_of(range, lines, width_for(range, lines), round % 2);
        vidi__subtable *table = filled(&f, &l, &shape, 30 + 10 * lines, round);
        stream s = saved(table);
        vidi__subtable_free(table, &f.slabs);
        for (unsigned n = 0; n < 200; n++) {
            stream bad = altered(&s, 0, 0);
            for (uint64_t some = 1 + test_below(&random, 3); some; some--)
                bad.data[8 + test_below(&random, s.size - 8)] ^= (unsigned char)(1 + test_below(&random, 255));
            check_damaged(&f, &bad, &shape, n % 2);
            free(bad.data);
        }
        list_free(&l);
        free(s.data);
    }
    end(&f);
}

/* ---- memory that is refused ---- */

/* A table with what it should hold, under an allocator that refuses each request once. */
typedef struct refused {
    fixture f;
    list l;
    vidi__subtable shape, *table;
} refused;

static uint64_t refuse_making(refused *self, bool on)
{
    vidi__subtable *other;
    uint64_t n = 0;
    int code;
    do {
        test_allocator_fail(&self->f.allocator, ++n, on);
        code = vidi__subtable_make(&other, &self->f.slabs, &self->shape);
        test_allocator_fail(&self->f.allocator, 0, false);
    } while (code == VIDI_EMEMORY && !other);
    assert_int_equal(code, VIDI_OK);
    vidi__subtable_free(other, &self->f.slabs);
    return n;
}

/* All of it, or one half. */
static uint64_t refuse_rebuilding(refused *self, int half)
{
    uint64_t lines = self->shape.lines + self->shape.lines / 3, n = 0;
    uint64_t range = half < 0 ? self->shape.range : self->shape.range / 2;
    vidi__subtable next = shape_of(range, lines, self->shape.width, self->shape.multiset), *other;
    list wanted = half < 0 ? (list){0} : half_of(&self->l, self->shape.range, half);
    int code;
    do {
        test_allocator_fail(&self->f.allocator, ++n, half == 0);
        code = vidi__subtable_rebuild(&other, self->table, &self->f.slabs, &next, half);
        test_allocator_fail(&self->f.allocator, 0, false);
        check_holds(self->table, &self->l);
    } while (code == VIDI_EMEMORY && !other);
    assert_int_equal(code, VIDI_OK);
    check_holds(other, half < 0 ? &self->l : &wanted);
    vidi__subtable_free(other, &self->f.slabs);
    list_free(&wanted);
    return n;
}

static uint64_t refuse_loading(refused *self)
{
    stream s = saved(self->table);
    vidi__subtable *other;
    uint64_t n = 0, count;
    int code;
    do {
        test_allocator_fail(&self->f.allocator, ++n, false);
        count = 0;
        code = load(&self->f, &s, &self->shape, n % 2, &other, &count);
        test_allocator_fail(&self->f.allocator, 0, false);
    } while (code == VIDI_EMEMORY && !other);
    assert_int_equal(code, VIDI_OK);
    check_holds(other, &self->l);
    vidi__subtable_free(other, &self->f.slabs);
    free(s.data);
    return n;
}

/* Puts hashes into the first lines, which overflow, until room for what overflows was refused twice. */
static void refuse_putting(refused *self, unsigned which)
{
    unsigned refusals = 0;
    for (uint64_t hash = 0; hash < 20000 && refusals < 2; hash++) {
        if (has(self->table, hash))
            continue;
        uint64_t used = self->table->used;
        test_allocator_fail(&self->f.allocator, 1 + which * (hash % 2), true);
        int code = vidi__subtable_insert(self->table, &self->f.slabs, hash, 1);
        test_allocator_fail(&self->f.allocator, 0, false);
        if (code == VIDI_EMEMORY) {
            refusals++;
            list_settle(&self->l);
            assert_int_equal(self->table->used, used);
            assert_false(has(self->table, hash));
            check_holds(self->table, &self->l);
            code = vidi__subtable_insert(self->table, &self->f.slabs, hash, 1);
        }
        assert_int_equal(code, VIDI_OK);
        list_push(&self->l, hash, 1);
    }
    list_settle(&self->l);
    check_holds(self->table, &self->l);
    assert_int_equal(refusals, 2);
}

static void refused_memory_changes_nothing(void **state)
{
    static const struct {
        uint64_t range, lines, hashes;
    } rows[] = {{UINT64_C(507) << 45, 3, 60}, {UINT64_C(257) << 32, 600, 7000}};
    (void)state;
    for (unsigned i = 0; i < 2 * VIDI__COUNT(rows); i++) {
        uint64_t range = rows[i / 2].range, lines = rows[i / 2].lines, rebuilds = 0;
        refused self;
        begin(&self.f);
        self.shape = shape_of(range, lines, width_for(range, lines), i % 2);
        self.table = filled(&self.f, &self.l, &self.shape, rows[i / 2].hashes, i);
        assert_true(displaced_in(self.table) && self.table->overflow.used);
        uint64_t made = refuse_making(&self, i % 3 == 0);
        for (int half = -1; half < 2; half++)
            rebuilds += refuse_rebuilding(&self, half);
        uint64_t loads = refuse_loading(&self);
        refuse_putting(&self, i % 2);
        check(made > 2 && rebuilds > 9 && loads > 3, "%d, %d, %d refused", (int)made, (int)rebuilds, (int)loads);
        vidi__subtable_free(self.table, &self.f.slabs);
        list_free(&self.l);
        end(&self.f);
    }
}

int main(int argc, char **argv)
{
    test_add("a stream brings a table back", a_stream_brings_a_table_back, NULL);
    test_add("a table comes back after removals too", a_table_comes_back_after_removals_too, NULL);
    test_add("lying sizes are refused", lying_sizes_are_refused, NULL);
    test_add("shapes that no range has are refused", shapes_that_no_range_has_are_refused, NULL);
    test_add("sizes that overflow are refused", sizes_that_overflow_are_refused, NULL);
    test_add("every cut is noticed", every_cut_is_noticed, NULL);
    test_add("damaged streams do no harm", damaged_streams_do_no_harm, NULL);
    test_add("refused memory changes nothing", refused_memory_changes_nothing, NULL);
    return test_run("subtable streams", argc, argv);
}
