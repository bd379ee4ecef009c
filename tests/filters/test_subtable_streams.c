/*
 * Sub-tables in streams, which are not trusted, and under an allocator that refuses: failures leave everything as it was.
 */
#include "filters/subtable_cases.h"

static void a_stream_brings_a_table_back(void **state)
{
    static const struct {
        unsigned bits;
        uint64_t lines, hashes;
    } rows[] = {{54, 1, 0},      {54, 1, 5},        {54, 1, 60},     {54, 4, 25},      {54, 300, 3000},
                {46, 100, 1000}, {40, 1000, 10500}, {38, 600, 5000}, {34, 700, 10400}, {30, 64, 1000},
                {26, 300, 6000}, {26, 257, 4800},   {24, 255, 5000}, {16, 100, 2000}};
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < 2 * VIDI__COUNT(rows); i++) {
        list l;
        vidi__subtable *copy;
        uint64_t lines = rows[i / 2].lines, count = 1000;
        vidi__subtable shape = shape_of(rows[i / 2].bits, lines, width_for(rows[i / 2].bits, lines), i % 2);
        vidi__subtable *table = filled(&f, &l, &shape, rows[i / 2].hashes, i);
        stream s = saved(table);
        for (unsigned known = 0; known < 2; known++) {
            count = 1000;
            assert_int_equal(load(&f, &s, &shape, known, &copy, &count), VIDI_OK);
            assert_int_equal(s.at, s.size);
            assert_int_equal(count, 1000 + l.n);
            check_same(table, copy);
            check_holds(copy, &l);
            assert_true(copy->limit < UINT64_MAX); /* not from the shape */
            vidi__subtable_free(copy, &f.chunks);
        }
        for (uint64_t at = 0; at < s.size; at += 1 + s.size / 100) { /* a sink that refuses is heard */
            stream cut = {.writer = {stream_write}, .refuse_at = at};
            assert_int_equal(vidi__subtable_save(table, &cut.writer), VIDI_EIO);
            free(cut.data);
        }
        vidi__subtable_free(table, &f.chunks);
        list_free(&l);
        free(s.data);
    }
    end(&f);
}

static void a_table_comes_back_after_removals_too(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    for (unsigned left = 0; left < 40; left += 3)
        for (unsigned multiset = 0; multiset < 2; multiset++) {
            list l;
            vidi__subtable *copy, shape = shape_of(54, 1, 8, multiset), *table = filled(&f, &l, &shape, 40, left);
            while (l.n > left) {
                uint64_t hash = l.hashes[2 * --l.n];
                for (uint64_t times = l.hashes[2 * l.n + 1]; times; times--)
                    assert_true(vidi__subtable_take(table, hash << 10));
            }
            stream s = saved(table);
            uint64_t count = 0;
            int code = load(&f, &s, &shape, true, &copy, &count);
            check(code == VIDI_OK, "%u left: %s", left, vidi_message());
            check_holds(copy, &l);
            assert_int_equal(count, left);
            vidi__subtable_free(copy, &f.chunks);
            vidi__subtable_free(table, &f.chunks);
            list_free(&l);
            free(s.data);
        }
    end(&f);
}

/* A stream that must be refused, with its length known and unknown, at no cost in memory. */
static void must_refuse(fixture *f, stream *s, const vidi__subtable *shape, const char *what)
{
    for (unsigned known = 0; known < 2; known++) {
        vidi__subtable *table;
        uint64_t count = 0, before = vidi__memory_used(&f->memory), largest = f->allocator.largest;
        f->allocator.largest = 0;
        int code = load(f, s, shape, known, &table, &count);
        check(code == VIDI_EFORMAT, "%s: %d, %s", what, code, vidi_message());
        assert_null(table);
        assert_int_equal(f->chunks.free_count, f->chunks.total);
        check(f->allocator.largest < (known ? 100 : 10000) * s->size + (8 << 20), "%s: %d bytes for a lie", what,
              (int)f->allocator.largest);
        if (known)
            assert_int_equal(vidi__memory_used(&f->memory), before);
        f->allocator.largest = largest;
    }
}

static stream altered(const stream *s, uint64_t at, uint64_t value)
{
    stream copy = *s;
    copy.data = malloc((size_t)s->size);
    assert_non_null(copy.data);
    memcpy(copy.data, s->data, (size_t)s->size);
    vidi__store64(copy.data + at, value);
    return copy;
}

enum { LINES_AT = 8, WIDTH_AT = 16, SPILLED_AT = 24, ROOM_AT = 32, FIRST_LINE = 40 };

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
                {SPILLED_AT, 1000},
                {SPILLED_AT, UINT64_C(1) << 32},
                {SPILLED_AT, UINT64_C(1) << 60},
                {SPILLED_AT, UINT64_MAX},
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
    vidi__subtable shape = shape_of(54, 10, 8, false), *table = filled(&f, &l, &shape, 80, 1);
    assert_true(table->spill_used > 10);
    stream s = saved(table);
    vidi__subtable_free(table, &f.chunks);
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

/* Room and number that pass each other's check, but whose bytes pass 2^64. */
static void sizes_that_overflow_are_refused(void **state)
{
    fixture f;
    list l;
    (void)state;
    begin(&f);
    for (unsigned shift = 30; shift < 63; shift++)
        for (uint64_t part = 2; part <= 8; part++) {
            vidi__subtable shape = shape_of(54, 10, 8, false), *table = filled(&f, &l, &shape, 80, 1);
            stream s = saved(table);
            vidi__subtable_free(table, &f.chunks);
            vidi__store64(s.data + ROOM_AT, UINT64_C(1) << shift);
            vidi__store64(s.data + SPILLED_AT, (UINT64_C(1) << shift) / 8 * part);
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
        vidi__subtable shape = shape_of(54, 3, 8, multiset), *table = filled(&f, &l, &shape, 30, 2);
        stream s = saved(table);
        vidi__subtable_free(table, &f.chunks);
        for (uint64_t whole = s.size; s.size--;)
            if (s.size >= 8)
                must_refuse(&f, &s, &shape, whole - s.size == 1 ? "the last byte cut" : "a cut");
        list_free(&l);
        free(s.data);
    }
    end(&f);
}

/* The line whose distances take all widths; the stream's table has one hash in each. */
static void what_does_not_belong_into_a_line_is_refused(void **state)
{
    static const struct {
        unsigned bits;
        uint64_t lines;
    } rows[] = {{54, 10}, {54, 100}, {46, 100}, {40, 300}, {33, 600}, {26, 300}, {16, 100}};
    fixture f;
    list l;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < VIDI__COUNT(rows); i++) {
        uint64_t lines = rows[i].lines;
        unsigned width = width_for(rows[i].bits, lines), slots = vidi__line_slots(width);
        vidi__subtable shape = shape_of(rows[i].bits, lines, width, false), *table = make(&f, &shape);
        stream s = saved(table);
        vidi__subtable_free(table, &f.chunks);
        for (uint64_t line = 0; line < lines; line += 1 + test_mix(line) % 9) {
            unsigned char *at = s.data + FIRST_LINE + line * VIDI__LINE_BYTES, kept[VIDI__LINE_BYTES];
            uint64_t span = first_of(rows[i].bits, lines, line + 1) - first_of(rows[i].bits, lines, line);
            memcpy(kept, at, sizeof kept);
            for (unsigned count = slots + 1; count < 32; count += 3) {
                vidi__line_set_head(at, count);
                must_refuse(&f, &s, &shape, "too many in a line");
            }
            vidi__line_set_head(at, 1);
            if (width == 8 || span < UINT64_C(1) << 8 * width) {
                vidi__line_put(at, width, 0, span);
                must_refuse(&f, &s, &shape, "one behind the last");
                vidi__line_put(at, width, 0, UINT64_MAX);
                must_refuse(&f, &s, &shape, "the largest");
            }
            vidi__line_put(at, width, 0, span - 1);
            vidi__subtable *fine;
            uint64_t count = 0;
            assert_int_equal(load(&f, &s, &shape, true, &fine, &count), VIDI_OK);
            l = (list){.bits = rows[i].bits};
            list_push(&l, first_of(rows[i].bits, lines, line + 1) - 1, 1);
            check_holds(fine, &l);
            list_free(&l);
            vidi__subtable_free(fine, &f.chunks);
            for (unsigned slot = 0; slot < slots; slot++)
                vidi__line_put(at, width, slot, slot);
            vidi__line_put(at, width, slots - 1, slots / 2);
            vidi__line_set_head(at, slots);
            must_refuse(&f, &s, &shape, "one twice in a line");
            shape.multiset = true; /* where it is fine */
            count = 0;
            assert_int_equal(load(&f, &s, &shape, true, &fine, &count), VIDI_OK);
            assert_int_equal(count, slots - 1);
            vidi__subtable_free(fine, &f.chunks);
            shape.multiset = false;
            memcpy(at, kept, sizeof kept);
        }
        free(s.data);
    }
    end(&f);
}

static void what_cannot_have_spilled_is_refused(void **state)
{
    fixture f;
    list l;
    (void)state;
    begin(&f);
    for (unsigned multiset = 0; multiset < 2; multiset++) {
        vidi__subtable shape = shape_of(54, 1, 8, multiset), *table = make(&f, &shape);
        unsigned entry = multiset ? 16 : 8;
        l = (list){.bits = 54};
        for (uint64_t hash = 100; hash < 112; hash++)
            put(&f, table, &l, hash, 1);
        assert_int_equal(table->spill_used, 5);
        stream s = saved(table);
        vidi__subtable_free(table, &f.chunks);
        const struct {
            uint64_t at, value;
            bool plain_only;
        } lies[] = {{0, UINT64_C(1) << 54, false},
                    {0, UINT64_MAX, false},
                    {0, UINT64_C(1) << 63, false},
                    {0, vidi__load64(s.data + s.size - entry), false},
                    {1, vidi__load64(s.data + s.size - 5 * entry), false},
                    {2, 103, true}};
        for (size_t i = 0; i < VIDI__COUNT(lies); i++) {
            stream lie = altered(&s, FIRST_LINE + VIDI__LINE_BYTES + lies[i].at * entry, lies[i].value);
            if (!multiset || !lies[i].plain_only)
                must_refuse(&f, &lie, &shape, "a spilled hash");
            free(lie.data);
        }
        if (multiset) {
            stream lie = altered(&s, FIRST_LINE + VIDI__LINE_BYTES + 8, 0);
            must_refuse(&f, &lie, &shape, "spilled no times");
            free(lie.data);
        }
        list_free(&l);
        free(s.data);
    }
    end(&f);
}

/* A line's signature comes from what spilled, not from the stream: without it a spilled hash would never be found. */
static void forged_signatures_hide_nothing(void **state)
{
    fixture f;
    list l;
    (void)state;
    begin(&f);
    vidi__subtable shape = shape_of(54, 4, 8, false), *table = filled(&f, &l, &shape, 60, 3), *copy;
    stream s = saved(table);
    for (unsigned line = 0; line < 4; line++) {
        unsigned char *at = s.data + FIRST_LINE + line * VIDI__LINE_BYTES;
        vidi__line_set_head(at, vidi__line_count(vidi__line_head(at)));
    }
    uint64_t count = 0;
    assert_int_equal(load(&f, &s, &shape, true, &copy, &count), VIDI_OK);
    check_holds(copy, &l);
    vidi__subtable_free(copy, &f.chunks);
    vidi__subtable_free(table, &f.chunks);
    list_free(&l);
    free(s.data);
    end(&f);
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
        unsigned bits = 10 + (unsigned)test_below(&random, 45);
        uint64_t lines = 1 + test_below(&random, 6);
        vidi__subtable shape = shape_of(bits, lines, width_for(bits, lines), round % 2), *copy;
        vidi__subtable *table = filled(&f, &l, &shape, 60, round);
        stream s = saved(table);
        vidi__subtable_free(table, &f.chunks);
        for (unsigned n = 0; n < 200; n++) {
            stream bad = altered(&s, 0, 0);
            for (uint64_t some = 1 + test_below(&random, 3); some; some--)
                bad.data[8 + test_below(&random, s.size - 8)] ^= (unsigned char)(1 + test_below(&random, 255));
            uint64_t count = 0;
            int code = load(&f, &bad, &shape, n % 2, &copy, &count);
            assert_true(code == VIDI_OK || code == VIDI_EFORMAT);
            if (code == VIDI_OK) {
                list found = {.bits = bits};
                assert_int_equal(vidi__subtable_walk(copy, collect, &found), 0);
                list_settle(&found);
                assert_int_equal(found.n, count);
                check_holds(copy, &found);
                list_free(&found);
                vidi__subtable_free(copy, &f.chunks);
            }
            free(bad.data);
        }
        list_free(&l);
        free(s.data);
    }
    end(&f);
}

/* ---- memory that is refused ---- */

static void refused_memory_changes_nothing(void **state)
{
    static const struct {
        unsigned bits;
        uint64_t lines, hashes;
    } rows[] = {{54, 3, 40}, {40, 600, 5500}};
    for (size_t i = 0; i < 2 * VIDI__COUNT(rows); i++) {
        fixture f;
        list l, half;
        begin(&f);
        unsigned bits = rows[i / 2].bits;
        uint64_t lines = rows[i / 2].lines, made = 0, rebuilds = 0, loads = 0, puts = 0, count = 0;
        vidi__subtable shape = shape_of(bits, lines, width_for(bits, lines), i % 2), *other;
        vidi__subtable *table = filled(&f, &l, &shape, rows[i / 2].hashes, i);
        stream s = saved(table);
        do {
            test_allocator_fail(&f.allocator, ++made, i % 3 == 0);
        } while (vidi__subtable_make(&other, &f.chunks, &shape) == VIDI_EMEMORY && !other);
        test_allocator_fail(&f.allocator, 0, false);
        vidi__subtable_free(other, &f.chunks);
        for (int bit = -1; bit < 2; bit++) {
            vidi__subtable next = shape;
            next.bits -= bit >= 0;
            next.depth += bit >= 0;
            next.lines = lines + lines / 3;
            next.inverse = UINT64_MAX / next.lines;
            uint64_t n = 0;
            int code;
            do {
                test_allocator_fail(&f.allocator, ++n, bit == 0);
                code = vidi__subtable_rebuild(&other, table, &f.chunks, &next, bit);
                test_allocator_fail(&f.allocator, 0, false);
                check_holds(table, &l);
            } while (code == VIDI_EMEMORY && !other);
            assert_int_equal(code, VIDI_OK);
            if (bit >= 0) {
                half = half_of(&l, bit);
                check_holds(other, &half);
                list_free(&half);
            } else {
                check_holds(other, &l);
            }
            vidi__subtable_free(other, &f.chunks);
            rebuilds += n;
        }
        int code;
        do {
            test_allocator_fail(&f.allocator, ++loads, false);
            count = 0;
            code = load(&f, &s, &shape, loads % 2, &other, &count);
            test_allocator_fail(&f.allocator, 0, false);
        } while (code == VIDI_EMEMORY && !other);
        assert_int_equal(code, VIDI_OK);
        check_holds(other, &l);
        vidi__subtable_free(other, &f.chunks);
        for (uint64_t hash = 0; hash < 5000 && puts < 2; hash++) { /* into the first lines, which spill */
            if (vidi__subtable_has(table, hash << (64 - bits)))
                continue;
            uint64_t used = table->used;
            test_allocator_fail(&f.allocator, 1 + i % 2 * (hash % 2), true);
            code = vidi__subtable_put(table, &f.chunks, hash << (64 - bits), 1);
            test_allocator_fail(&f.allocator, 0, false);
            if (code == VIDI_EMEMORY) {
                puts++;
                list_settle(&l);
                assert_int_equal(table->used, used);
                assert_false(vidi__subtable_has(table, hash << (64 - bits)));
                check_holds(table, &l);
                code = vidi__subtable_put(table, &f.chunks, hash << (64 - bits), 1);
            }
            assert_int_equal(code, VIDI_OK);
            list_push(&l, hash, 1);
        }
        list_settle(&l);
        check_holds(table, &l);
        check(made > 2 && rebuilds > 9 && loads > 3 && puts == 2, "%d, %d, %d, %d refused", (int)made, (int)rebuilds,
              (int)loads, (int)puts);
        vidi__subtable_free(table, &f.chunks);
        list_free(&l);
        free(s.data);
        end(&f);
    }
    (void)state;
}

int main(int argc, char **argv)
{
    test_add("a stream brings a table back", a_stream_brings_a_table_back, NULL);
    test_add("a table comes back after removals too", a_table_comes_back_after_removals_too, NULL);
    test_add("lying sizes are refused", lying_sizes_are_refused, NULL);
    test_add("sizes that overflow are refused", sizes_that_overflow_are_refused, NULL);
    test_add("every cut is noticed", every_cut_is_noticed, NULL);
    test_add("what does not belong into a line is refused", what_does_not_belong_into_a_line_is_refused, NULL);
    test_add("what cannot have spilled is refused", what_cannot_have_spilled_is_refused, NULL);
    test_add("forged signatures hide nothing", forged_signatures_hide_nothing, NULL);
    test_add("damaged streams do no harm", damaged_streams_do_no_harm, NULL);
    test_add("refused memory changes nothing", refused_memory_changes_nothing, NULL);
    return test_run("subtable streams", argc, argv);
}
