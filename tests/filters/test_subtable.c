/*
 * Sub-tables against sorted lists: a hash and its place determine each other, whatever the shape; rebuilding keeps every
 * bit; what spills is neither lost nor found twice.
 */
#include "filters/subtable_cases.h"

/* ---- places ---- */

/* Hashes at the borders of lines and of the whole, and random ones; none twice. */
static void interesting_hashes(list *l, unsigned bits, uint64_t lines, test_random *random)
{
    uint64_t end = power_of_two(bits);
    list_push(l, 0, 1);
    list_push(l, end - 1, 1);
    for (unsigned i = 0; i < 150; i++) {
        uint64_t line = i < 8 ? i : i < 16 ? lines - (i - 7) : test_below(random, lines), first;
        if (line >= lines)
            continue;
        first = first_of(bits, lines, line);
        list_push(l, first, 1);
        if (first)
            list_push(l, first - 1, 1);
        list_push(l, test_next(random) >> (64 - bits), 1);
    }
    list_settle(l);
    for (size_t i = 0; i < l->n; i++) {
        l->hashes[2 * i + 1] = 1;
        if (l->hashes[2 * i] >= end)
            l->n = i;
    }
}

static void check_places(fixture *f, unsigned bits, uint64_t lines, test_random *random)
{
    list l = {.bits = bits};
    interesting_hashes(&l, bits, lines, random);
    vidi__subtable shape = shape_of(bits, lines, width_for(bits, lines), false), *table = make(f, &shape);
    for (size_t i = 0; i < l.n; i++) {
        uint64_t at = i * 7919 % l.n, rest; /* in any order */
        if (l.n % 7919 == 0)
            at = i;
        rest = l.hashes[2 * at] << (64 - bits);
        assert_int_equal(vidi__subtable_add(table, &f->chunks, rest), VIDI_NEW);
        assert_int_equal(vidi__subtable_add(table, &f->chunks, rest), VIDI_SEEN);
    }
    assert_int_equal(table->used, l.n);
    check_holds(table, &l);
    for (size_t i = 0; i < l.n; i++)
        for (unsigned bit = 0; bit < bits; bit++) {
            uint64_t other = l.hashes[2 * i] ^ power_of_two(bit);
            check(vidi__subtable_has(table, other << (64 - bits)) == list_has(&l, other), "%u bits, %d lines: %llx",
                  bits, (int)lines, (unsigned long long)other);
        }
    vidi__subtable_free(table, &f->chunks);
    list_free(&l);
}

static void hash_and_place_determine_each_other(void **state)
{
    static const unsigned widths[] = {8, 12, 16, 24, 25, 26, 31, 32, 33, 40, 41, 47, 48, 49, 54, 60};
    static const uint64_t lines[] = {1, 2, 3, 4, 7, 63, 64, 65, 100, 255, 256, 257, 1000, 4095, 4096, 8191, 8192};
    test_random random = {1};
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < VIDI__COUNT(widths); i++)
        for (size_t j = 0; j < VIDI__COUNT(lines); j++)
            check_places(&f, widths[i], lines[j], &random);
    for (unsigned i = 0; i < 100; i++)
        check_places(&f, 8 + (unsigned)test_below(&random, 53), 1 + test_below(&random, 9000), &random);
    end(&f);
}

/* All hashes of a small range at once: a bijection. */
static void every_hash_of_a_range_has_a_place_of_its_own(void **state)
{
    static const uint64_t lines[] = {1, 3, 100, 255, 256, 257, 500, 1000, 5000};
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < VIDI__COUNT(lines); i++) {
        list l = {.bits = 12};
        vidi__subtable shape = shape_of(12, lines[i], 3, false), *table = make(&f, &shape);
        for (uint64_t hash = 0; hash < 4096; hash++) {
            assert_false(vidi__subtable_has(table, hash << 52));
            put(&f, table, &l, hash, 1);
        }
        list_settle(&l);
        check_holds(table, &l);
        for (uint64_t hash = 0; hash < 4096; hash += 2)
            assert_true(vidi__subtable_take(table, hash << 52));
        for (uint64_t hash = 0; hash < 4096; hash++)
            assert_int_equal(vidi__subtable_has(table, hash << 52), hash % 2);
        vidi__subtable_free(table, &f.chunks);
        list_free(&l);
    }
    end(&f);
}

static void lines_are_in_the_order_of_hashes(void **state)
{
    test_random random = {2};
    fixture f;
    (void)state;
    begin(&f);
    vidi__subtable shape = shape_of(40, 777, 4, false), *table = make(&f, &shape);
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t a = test_next(&random), b = test_next(&random), line_a = vidi__scale(a, 777);
        assert_ptr_equal(vidi__subtable_line(table, a),
                         table->chunks[line_a / VIDI__CHUNK_LINES] + line_a % VIDI__CHUNK_LINES * VIDI__LINE_BYTES);
        assert_true(a < b ? line_a <= vidi__scale(b, 777) : line_a >= vidi__scale(b, 777));
    }
    vidi__subtable_free(table, &f.chunks);
    end(&f);
}

/* ---- shapes ---- */

static void the_shape_is_the_smallest_that_holds_all(void **state)
{
    unsigned reached = 0;
    (void)state;
    for (unsigned bits = 8; bits <= 60; bits++)
        for (uint64_t hashes = 1; hashes < 200000; hashes += 1 + hashes / 7) {
            vidi__subtable shape = {.bits = bits};
            vidi__subtable_fit(&shape, hashes);
            reached |= 1u << shape.width;
            assert_true(shape.limit >= hashes);
            assert_int_equal(shape.inverse, UINT64_MAX / shape.lines);
            assert_true(shape.width >= width_for(bits, shape.lines));
            uint64_t slots = shape.lines * vidi__line_slots(shape.width);
            assert_true(shape.limit < slots || (shape.lines == 1 && shape.limit <= slots));
            bool whole = shape.lines >= VIDI__CHUNK_LINES; /* then in whole chunks, which are paid for anyway */
            assert_true(!whole || shape.lines % VIDI__CHUNK_LINES == 0);
            static const unsigned widths[] = {3, 4, 5, 6, 8};
            for (size_t i = 0; i < VIDI__COUNT(widths); i++) {
                uint64_t fewer = shape.lines - (whole ? VIDI__CHUNK_LINES : 1);
                bool fits = fewer && widths[i] >= width_for(bits, fewer);
                double room = 0.9 * vidi__line_slots(widths[i]) * (double)fewer;
                check(!fits || room <= (double)hashes, "%u bits, %d hashes: %d lines of width %u were enough", bits,
                      (int)hashes, (int)fewer, widths[i]);
            }
        }
    assert_int_equal(reached, 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 8);
}

static void a_full_table_says_so_and_stays_as_it_is(void **state)
{
    test_random random = {3};
    fixture f;
    (void)state;
    begin(&f);
    for (unsigned multiset = 0; multiset < 2; multiset++) {
        list l = {.bits = 40};
        vidi__subtable shape = {.bits = 40, .multiset = multiset};
        vidi__subtable_fit(&shape, 500);
        vidi__subtable *table = make(&f, &shape);
        uint64_t limit = table->limit, first = 0;
        assert_true(limit >= 500 && limit < 520);
        for (uint64_t i = 0; i < limit; i++) {
            uint64_t hash = test_next(&random) >> 24;
            first = i ? first : hash;
            assert_int_equal(vidi__subtable_add(table, &f.chunks, hash << 24), VIDI_NEW);
            list_push(&l, hash, 1);
        }
        list_settle(&l);
        assert_int_equal(vidi__subtable_add(table, &f.chunks, test_next(&random) >> 24 << 24), VIDI__SUBTABLE_FULL);
        assert_int_equal(vidi__subtable_add(table, &f.chunks, first << 24), multiset ? VIDI__SUBTABLE_FULL : VIDI_SEEN);
        check_holds(table, &l);
        vidi__subtable_free(table, &f.chunks);
        list_free(&l);
    }
    end(&f);
}

static void its_bytes_are_what_it_allocated(void **state)
{
    static const uint64_t lines[] = {1, 255, 256, 1000};
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < 2 * VIDI__COUNT(lines); i++) {
        list l = {.bits = 20};
        bool small = lines[i / 2] < VIDI__CHUNK_LINES;
        vidi__subtable shape = shape_of(20, lines[i / 2], 3, i % 2), *table = make(&f, &shape);
        uint64_t chunks = small ? 0 : (lines[i / 2] + VIDI__CHUNK_LINES - 1) / VIDI__CHUNK_LINES;
        for (uint64_t n = 0; n < 60; n++)
            put(&f, table, &l, n, 1);
        uint64_t others = f.chunks.block_room * sizeof *f.chunks.blocks;
        for (uint64_t n = 0; n < f.chunks.block_count; n++)
            others += f.chunks.blocks[n].size;
        assert_int_equal(vidi__memory_used(&f.memory) - others + chunks * VIDI__CHUNK_BYTES,
                         vidi__subtable_bytes(table));
        vidi__subtable_free(table, &f.chunks);
        list_free(&l);
    }
    vidi__subtable_free(NULL, &f.chunks);
    end(&f);
}

/* ---- rebuilding ---- */

/* Rebuilds in the shape and checks it, and also that the old one is as before; it is then freed. */
static vidi__subtable *rebuilt(fixture *f, vidi__subtable *old, const vidi__subtable *shape, int bit,
                               const list *wanted)
{
    vidi__subtable *fresh;
    assert_int_equal(vidi__subtable_rebuild(&fresh, old, &f->chunks, shape, bit), VIDI_OK);
    check_holds(fresh, wanted);
    return fresh;
}

/* Grows 30 times at whatever lines and widths come; with splits in between while there are bits left. */
static void growth_keeps_every_bit(void **state)
{
    fixture f;
    unsigned reached = 0;
    (void)state;
    begin(&f);
    for (uint64_t seed = 0; seed < 6; seed++) {
        test_random random = {seed};
        static const unsigned starts[] = {54, 47, 41, 34, 26, 54};
        bool multiset = seed % 2;
        list l = {.bits = starts[seed]};
        vidi__subtable shape = {.bits = l.bits, .multiset = multiset, .portable = seed == 3};
        vidi__subtable_fit(&shape, 20);
        vidi__subtable *table = make(&f, &shape);
        for (unsigned growth = 0; growth < 30; growth++) {
            uint64_t more = growth < 20 ? 10 + l.n / 4 : test_below(&random, 100);
            for (uint64_t i = 0; i < more; i++) {
                uint64_t hash = test_next(&random) >> (64 - l.bits);
                if (!vidi__subtable_has(table, hash << (64 - l.bits)) || multiset)
                    put(&f, table, &l, hash, multiset ? 1 + test_below(&random, 4) : 1);
            }
            list_settle(&l);
            check_holds(table, &l);
            reached |= 1u << table->width;
            if (growth % 5 == 4 && l.bits > 24) { /* into both halves; goes on with one */
                int bit = (int)test_below(&random, 2);
                list mine = half_of(&l, bit), other = half_of(&l, !bit);
                shape.bits--;
                shape.depth++;
                vidi__subtable_fit(&shape, 1 + (uint64_t)(0.6 * (double)table->used));
                vidi__subtable *left = rebuilt(&f, table, &shape, !bit, &other);
                vidi__subtable *right = rebuilt(&f, table, &shape, bit, &mine);
                check_holds(table, &l);
                vidi__subtable_free(table, &f.chunks);
                vidi__subtable_free(left, &f.chunks);
                list_free(&l);
                list_free(&other);
                table = right;
                l = mine;
                continue;
            }
            vidi__subtable_fit(&shape, (uint64_t)((double)table->used * (growth == 28 ? 0.3 : 1.2)) + 1);
            if (growth == 25) /* any width that fits is as good */
                shape.width = 8;
            vidi__subtable *fresh = rebuilt(&f, table, &shape, -1, &l);
            check_holds(table, &l);
            vidi__subtable_free(table, &f.chunks);
            table = fresh;
        }
        vidi__subtable_free(table, &f.chunks);
        list_free(&l);
    }
    end(&f);
    assert_int_equal(reached, 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 8);
}

typedef struct stopping {
    unsigned told, stop_at;
} stopping;

static int stop(void *context, uint64_t rest, uint64_t times)
{
    stopping *self = context;
    (void)rest;
    (void)times;
    return ++self->told == self->stop_at ? 42 : 0;
}

static void a_visitor_ends_the_walk_in_lines_and_in_what_spilled(void **state)
{
    list l = {.bits = 54};
    fixture f;
    (void)state;
    begin(&f);
    vidi__subtable shape = shape_of(54, 1, 8, false), *table = make(&f, &shape);
    for (uint64_t hash = 0; hash < 10; hash++) /* 7 in the line */
        put(&f, table, &l, hash, 1);
    for (unsigned i = 1; i <= 10; i++) {
        stopping self = {0, i};
        assert_int_equal(vidi__subtable_walk(table, stop, &self), 42);
        assert_int_equal(self.told, i);
    }
    vidi__subtable_free(table, &f.chunks);
    list_free(&l);
    end(&f);
}

/* ---- what found its line full ---- */

/* Random puts and takes of hashes of a few lines, far more than fit, with the model's answers at every step. */
static void random_spilling(fixture *f, bool multiset, uint64_t seed)
{
    enum { HASHES = 300 };
    test_random random = {seed};
    uint64_t times[HASHES] = {0}, count = 0;
    vidi__subtable shape = shape_of(54, 1 + test_below(&random, 4), 8, multiset), *table = make(f, &shape);
    for (unsigned n = 0; n < 6000; n++) {
        uint64_t i = test_below(&random, HASHES), rest = test_mix(i * 77 + 1) >> 10 << 10;
        bool growing = n / 1000 % 2 == 0;
        if (test_below(&random, 10) < (growing ? 8u : 2u)) {
            uint64_t more = multiset ? 1 + test_below(&random, 12) : 1;
            if (multiset || !times[i]) {
                assert_int_equal(vidi__subtable_put(table, &f->chunks, rest, more), VIDI_OK);
                times[i] += more;
                count += more;
            }
        } else {
            assert_int_equal(vidi__subtable_take(table, rest), times[i] > 0);
            count -= times[i] > 0;
            times[i] -= times[i] > 0;
        }
        assert_int_equal(vidi__subtable_times(table, rest), times[i]);
        assert_int_equal(vidi__subtable_has(table, rest), times[i] > 0);
        if (n % 100 == 0)
            for (uint64_t j = 0; j < HASHES; j++)
                assert_int_equal(vidi__subtable_times(table, test_mix(j * 77 + 1) >> 10 << 10), times[j]);
        if (!multiset)
            assert_int_equal(table->used, count);
    }
    for (uint64_t j = 0; j < HASHES; j++)
        for (; times[j]; times[j]--)
            assert_true(vidi__subtable_take(table, test_mix(j * 77 + 1) >> 10 << 10));
    assert_int_equal(table->used, 0);
    assert_int_equal(table->spill_used, 0);
    list none = {.bits = 54};
    check_holds(table, &none);
    vidi__subtable_free(table, &f->chunks);
}

static void what_spills_is_neither_lost_nor_found_twice(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    for (uint64_t seed = 0; seed < 24; seed++)
        random_spilling(&f, seed % 2, seed);
    end(&f);
}

/* In the smallest table of spilled hashes, whose clusters reach around its end in most cases: any order of removal. */
static void gaps_close_around_the_end(void **state)
{
    enum { MORE = 6 }; /* 7 fit into the line, 6 into 8 places for what spills */
    unsigned around = 0;
    fixture f;
    (void)state;
    begin(&f);
    for (uint64_t seed = 0; seed < 3000; seed++) {
        test_random random = {seed};
        list l = {.bits = 54};
        vidi__subtable shape = shape_of(54, 1, 8, false), *table = make(&f, &shape);
        for (unsigned i = 0; i < 7 + MORE; i++)
            put(&f, table, &l, test_next(&random) >> 10, 1);
        assert_int_equal(table->spill_used, MORE);
        assert_int_equal(table->spill_room, 8);
        around += table->spill[0] != UINT64_MAX && table->spill[7] != UINT64_MAX;
        for (unsigned left = 7 + MORE; left; left--) {
            uint64_t which = test_below(&random, left), gone = l.hashes[2 * which];
            assert_true(vidi__subtable_take(table, gone << 10));
            assert_false(vidi__subtable_has(table, gone << 10));
            assert_false(vidi__subtable_take(table, gone << 10));
            memcpy(&l.hashes[2 * which], &l.hashes[2 * (left - 1)], 2 * sizeof *l.hashes);
            l.n--;
            for (size_t i = 0; i < l.n; i++)
                assert_true(vidi__subtable_has(table, l.hashes[2 * i] << 10));
        }
        vidi__subtable_free(table, &f.chunks);
        list_free(&l);
    }
    assert_true(around > 300);
    end(&f);
}

static void a_multiset_counts_beyond_the_slots_of_a_line(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    vidi__subtable shape = shape_of(54, 1, 8, true), *table = make(&f, &shape);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(vidi__subtable_add(table, &f.chunks, UINT64_C(77) << 10), i ? VIDI_SEEN : VIDI_NEW);
        assert_int_equal(vidi__subtable_times(table, UINT64_C(77) << 10), i + 1);
    }
    assert_int_equal(table->spill_used, 1);
    assert_int_equal(table->used, 8); /* a line and one: many of one URL do not make it grow */
    assert_int_equal(vidi__subtable_put(table, &f.chunks, UINT64_C(78) << 10, UINT64_C(1) << 60), VIDI_OK);
    assert_int_equal(vidi__subtable_times(table, UINT64_C(78) << 10), UINT64_C(1) << 60);
    for (uint64_t i = 1000; i > 0; i--) {
        assert_int_equal(vidi__subtable_times(table, UINT64_C(77) << 10), i);
        assert_true(vidi__subtable_take(table, UINT64_C(77) << 10));
    }
    assert_false(vidi__subtable_take(table, UINT64_C(77) << 10));
    assert_int_equal(vidi__subtable_times(table, UINT64_C(78) << 10), UINT64_C(1) << 60);
    vidi__subtable_free(table, &f.chunks);
    end(&f);
}

int main(int argc, char **argv)
{
    test_add("hash and place determine each other", hash_and_place_determine_each_other, NULL);
    test_add("every hash of a range has a place of its own", every_hash_of_a_range_has_a_place_of_its_own, NULL);
    test_add("lines are in the order of hashes", lines_are_in_the_order_of_hashes, NULL);
    test_add("the shape is the smallest that holds all", the_shape_is_the_smallest_that_holds_all, NULL);
    test_add("a full table says so and stays as it is", a_full_table_says_so_and_stays_as_it_is, NULL);
    test_add("its bytes are what it allocated", its_bytes_are_what_it_allocated, NULL);
    test_add("growth keeps every bit", growth_keeps_every_bit, NULL);
    test_add("a visitor ends the walk", a_visitor_ends_the_walk_in_lines_and_in_what_spilled, NULL);
    test_add("what spills is neither lost nor found twice", what_spills_is_neither_lost_nor_found_twice, NULL);
    test_add("gaps close around the end", gaps_close_around_the_end, NULL);
    test_add("a multiset counts beyond the slots of a line", a_multiset_counts_beyond_the_slots_of_a_line, NULL);
    return test_run("subtable", argc, argv);
}
