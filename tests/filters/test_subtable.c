/*
 * Sub-tables against sorted lists: a hash and its place determine each other, whatever the shape; rebuilding keeps every
 * bit; what spills is neither lost nor found twice; failures leave everything as it was; streams are not trusted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/subtable.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

typedef struct fixture {
    test_allocator allocator;
    vidi__memory memory;
    vidi__chunks chunks;
} fixture;

static void begin(fixture *f)
{
    test_allocator_init(&f->allocator);
    assert_int_equal(vidi__memory_init(&f->memory, &f->allocator.hook, 0), VIDI_OK);
    assert_int_equal(vidi__chunks_init(&f->chunks, &f->memory), VIDI_OK);
}

static void end(fixture *f)
{
    assert_int_equal(f->chunks.free_count, f->chunks.total); /* every chunk came back */
    vidi__chunks_close(&f->chunks);
    assert_int_equal(vidi__memory_used(&f->memory), 0);
    test_allocator_finish(&f->allocator);
}

static uint64_t power_of_two(unsigned bits)
{
    return UINT64_C(1) << bits;
}

/* The least width for so many lines. */
static unsigned width_for(unsigned bits, uint64_t lines)
{
    static const unsigned widths[] = {3, 4, 5, 6, 8};
    size_t i = 0;
    while (widths[i] < 8 && bits > 8 * widths[i] && lines < power_of_two(bits - 8 * widths[i]))
        i++;
    return widths[i];
}

static vidi__subtable shape_of(unsigned bits, uint64_t lines, unsigned width, bool multiset)
{
    vidi__subtable shape = {.lines = lines, .bits = bits, .width = width, .multiset = multiset};
    shape.portable = lines % 2;
    shape.inverse = UINT64_MAX / lines;
    shape.limit = UINT64_MAX;
    return shape;
}

static vidi__subtable *make(fixture *f, const vidi__subtable *shape)
{
    vidi__subtable *table;
    assert_int_equal(vidi__subtable_make(&table, &f->chunks, shape), VIDI_OK);
    return table;
}

/* ---- lists of hashes to compare with ---- */

typedef struct list {
    uint64_t *hashes; /* pairs: a hash and its times */
    size_t n, room;
    unsigned bits;
} list;

static void list_push(list *l, uint64_t hash, uint64_t times)
{
    if (l->n == l->room) {
        l->room = 2 * l->room + 64;
        l->hashes = realloc(l->hashes, l->room * 2 * sizeof *l->hashes);
        assert_non_null(l->hashes);
    }
    l->hashes[2 * l->n] = hash;
    l->hashes[2 * l->n++ + 1] = times;
}

static int by_hash(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Sorted, with each hash once and all its times. */
static void list_settle(list *l)
{
    size_t n = 0;
    if (l->n)
        qsort(l->hashes, l->n, 2 * sizeof *l->hashes, by_hash);
    for (size_t i = 0; i < l->n; i++) {
        if (n && l->hashes[2 * n - 2] == l->hashes[2 * i]) {
            l->hashes[2 * n - 1] += l->hashes[2 * i + 1];
            continue;
        }
        memmove(&l->hashes[2 * n++], &l->hashes[2 * i], 2 * sizeof *l->hashes);
    }
    l->n = n;
}

static void list_free(list *l)
{
    free(l->hashes);
    memset(l, 0, sizeof *l);
}

static int collect(void *context, uint64_t rest, uint64_t times)
{
    list *l = context;
    assert_int_equal(rest << l->bits, 0);
    list_push(l, rest >> (64 - l->bits), times);
    return 0;
}

/* Does the table hold exactly this (settled) list? */
static void check_holds(const vidi__subtable *table, const list *wanted)
{
    list found = {.bits = table->bits};
    assert_int_equal(vidi__subtable_walk(table, collect, &found), 0);
    size_t told = found.n;
    list_settle(&found);
    assert_int_equal(told, found.n); /* each told of once */
    assert_int_equal(found.n, wanted->n);
    for (size_t i = 0; i < wanted->n; i++) {
        uint64_t hash = wanted->hashes[2 * i], times = wanted->hashes[2 * i + 1], rest = hash << (64 - table->bits);
        check(found.hashes[2 * i] == hash, "bits %u, lines %d: %llx, not %llx", table->bits, (int)table->lines,
              (unsigned long long)found.hashes[2 * i], (unsigned long long)hash);
        assert_int_equal(found.hashes[2 * i + 1], times);
        assert_true(vidi__subtable_has(table, rest));
        assert_int_equal(vidi__subtable_times(table, rest), times);
    }
    list_free(&found);
}

static bool list_has(const list *l, uint64_t hash)
{
    return l->n && bsearch(&hash, l->hashes, l->n, 2 * sizeof *l->hashes, by_hash);
}

static void put(fixture *f, vidi__subtable *table, list *l, uint64_t hash, uint64_t times)
{
    assert_int_equal(vidi__subtable_put(table, &f->chunks, hash << (64 - table->bits), times), VIDI_OK);
    list_push(l, hash, times);
}

/* ---- places ---- */

/* The first hash of a line, found by definition. */
static uint64_t first_of(unsigned bits, uint64_t lines, uint64_t line)
{
    unsigned __int128 start = (unsigned __int128)line << bits;
    return (uint64_t)((start + lines - 1) / lines);
}

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
        assert_ptr_equal(vidi__subtable_line(table, a), table->chunks[line_a / VIDI__CHUNK_LINES] +
                                                            line_a % VIDI__CHUNK_LINES * VIDI__LINE_BYTES);
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
            static const unsigned widths[] = {3, 4, 5, 6, 8};
            for (size_t i = 0; i < VIDI__COUNT(widths); i++) {
                uint64_t fewer = shape.lines - 1;
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

static list half_of(const list *l, int bit)
{
    list half = {.bits = l->bits - 1};
    for (size_t i = 0; i < l->n; i++)
        if ((int)(l->hashes[2 * i] >> (l->bits - 1)) == bit)
            list_push(&half, l->hashes[2 * i] & (power_of_two(half.bits) - 1), l->hashes[2 * i + 1]);
    list_settle(&half);
    return half;
}

/* Rebuilds in the shape and checks it, and also that the old one is as before; it is then freed. */
static vidi__subtable *rebuilt(fixture *f, vidi__subtable *old, const vidi__subtable *shape, int bit, const list *wanted)
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

/* ---- streams ---- */

typedef struct stream {
    vidi__writer writer;
    vidi__reader reader;
    unsigned char *data;
    uint64_t size, room, at, refuse_at;
} stream;

static int stream_write(vidi__writer *writer, const void *data, uint64_t bytes)
{
    stream *s = (stream *)((char *)writer - offsetof(stream, writer));
    if (s->size + bytes > s->refuse_at)
        return VIDI_EIO;
    if (s->size + bytes > s->room) {
        s->room = (s->size + bytes) * 2;
        s->data = realloc(s->data, (size_t)s->room);
        assert_non_null(s->data);
    }
    memcpy(s->data + s->size, data, (size_t)bytes);
    s->size += bytes;
    return VIDI_OK;
}

static int stream_read(vidi__reader *reader, void *data, uint64_t bytes)
{
    stream *s = (stream *)((char *)reader - offsetof(stream, reader));
    if (bytes > s->size - s->at)
        return vidi__fail(VIDI_EFORMAT, "the stream ends");
    memcpy(data, s->data + s->at, (size_t)bytes);
    s->at += bytes;
    if (reader->left != UINT64_MAX)
        reader->left -= bytes;
    return VIDI_OK;
}

static stream saved(const vidi__subtable *table)
{
    stream s = {.writer = {stream_write}, .reader = {stream_read, 0}, .refuse_at = UINT64_MAX};
    assert_int_equal(vidi__subtable_save(table, &s.writer), VIDI_OK);
    return s;
}

static int load(fixture *f, stream *s, const vidi__subtable *shape, bool known, vidi__subtable **table, uint64_t *count)
{
    uint64_t depth;
    s->at = 0;
    s->reader.left = known ? s->size : UINT64_MAX;
    *table = NULL;
    VIDI__TRY(vidi__read_u64(&s->reader, &depth));
    return vidi__subtable_load(table, &f->chunks, shape, &s->reader, count);
}

/* Fills a new table with random hashes until so many have spilled, or so many are in it. */
static vidi__subtable *filled(fixture *f, list *l, const vidi__subtable *shape, uint64_t hashes, uint64_t seed)
{
    test_random random = {seed};
    vidi__subtable *table = make(f, shape);
    *l = (list){.bits = shape->bits};
    while (l->n < hashes) {
        uint64_t hash = test_next(&random) >> (64 - l->bits);
        if (!vidi__subtable_has(table, hash << (64 - l->bits)))
            put(f, table, l, hash, shape->multiset && l->n % 3 == 0 ? 1 + test_below(&random, 30) : 1);
    }
    list_settle(l);
    return table;
}

static void check_same(const vidi__subtable *a, const vidi__subtable *b)
{
    assert_int_equal(a->lines, b->lines);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->used, b->used);
    assert_int_equal(a->inverse, b->inverse);
    assert_int_equal(a->spill_used, b->spill_used);
    assert_int_equal(a->spill_room, b->spill_room);
    for (uint64_t i = 0; i < a->spill_room; i++)
        assert_int_equal(a->spill[i], b->spill[i]);
}

static void a_stream_brings_a_table_back(void **state)
{
    static const struct {
        unsigned bits;
        uint64_t lines, hashes;
    } rows[] = {{54, 1, 0},      {54, 1, 5},        {54, 1, 60},      {54, 4, 25},      {54, 300, 3000},
                {46, 100, 1000}, {40, 1000, 10500}, {38, 600, 5000},  {34, 700, 10400}, {30, 64, 1000},
                {26, 300, 6000}, {26, 257, 4800},   {24, 255, 5000},  {16, 100, 2000}};
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
        } lies[] = {{0, UINT64_C(1) << 54, false},     {0, UINT64_MAX, false},
                    {0, UINT64_C(1) << 63, false},     {0, vidi__load64(s.data + s.size - entry), false},
                    {1, vidi__load64(s.data + s.size - 5 * entry), false}, {2, 103, true}};
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
    return test_run("subtable", argc, argv);
}
