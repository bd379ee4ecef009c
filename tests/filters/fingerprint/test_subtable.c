/*
 * Sub-tables against sorted lists: a hash and its place determine each other, whatever the range and the number of
 * lines; shapes are the smallest that serve; rebuilding keeps every bit.
 */
#include "filters/fingerprint/subtable_cases.h"

/* ---- places ---- */

/* Ranges of all sizes, of which few are powers of two: what is left of S numbers, and numbers nobody would choose. */
static const uint64_t ranges[] = {
    256,
    257,
    1000,
    4095,
    4096,
    65537,
    UINT64_C(507) << 7,
    (UINT64_C(1) << 24) - 1,
    UINT64_C(1) << 24,
    (UINT64_C(1) << 24) + 1,
    UINT64_C(300000007),
    (UINT64_C(1) << 32) + 1,
    UINT64_C(257) << 25,
    UINT64_C(1) << 40,
    (UINT64_C(1) << 40) + 1,
    UINT64_C(511) << 32,
    UINT64_C(999999999989),
    (UINT64_C(1) << 48) - 1,
    (UINT64_C(1) << 48) + 1,
    UINT64_C(1) << 58,
    UINT64_C(385) << 45,
    (UINT64_C(1) << 54) - 1,
    UINT64_C(1) << 54,
};

enum { LINES_MOST = 20000 };

/* Gives a shape lines of some memory: for places alone, without a table. */
static void fake_lines(vidi__subtable *shape)
{
    static unsigned char memory[LINES_MOST / VIDI__SLAB_LINES + 1][VIDI__SLAB_BYTES];
    static unsigned char *slabs[VIDI__COUNT(memory)];
    for (size_t i = 0; i < VIDI__COUNT(slabs); i++)
        slabs[i] = memory[i];
    shape->slabs = slabs;
}

/* The line is that of the definition, and the distance leads back to its first hash. */
static void check_spot(const vidi__subtable *shape, uint64_t hash)
{
    const vidi__spot spot = vidi__subtable_spot(shape, hash);
    uint64_t line = line_of(shape, hash), first = hash - spot.distance;
    check(line < shape->lines && spot.line == vidi__subtable_line(shape, line), "%llx of %llx: not in line %d of %d",
          (unsigned long long)hash, (unsigned long long)shape->range, (int)line, (int)shape->lines);
    check(spot.distance <= hash && line_of(shape, first) == line && (!first || line_of(shape, first - 1) + 1 == line),
          "%llx of %llx in %d lines: distance %llx", (unsigned long long)hash, (unsigned long long)shape->range,
          (int)shape->lines, (unsigned long long)spot.distance);
    check(shape->width == 8 || spot.distance >> 8 * shape->width == 0, "%llx of %llx in %d lines: %llx is too far",
          (unsigned long long)hash, (unsigned long long)shape->range, (int)shape->lines,
          (unsigned long long)spot.distance);
}

/* The hashes on both sides of the borders of lines, of the first and the last ones among them. */
static void check_borders(const vidi__subtable *shape, test_random *random)
{
    check_spot(shape, 0);
    check_spot(shape, shape->range - 1);
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t line = i < 10 ? i : i < 20 ? shape->lines - (i - 10) : test_below(random, shape->lines);
        uint64_t first = first_of(shape, line <= shape->lines ? line : 0);
        if (first)
            check_spot(shape, first - 1);
        if (first < shape->range)
            check_spot(shape, first);
        check_spot(shape, test_below(random, shape->range));
    }
}

/* With the fewest lines that a width takes, where distances are the largest, and with more. */
static void distances_fit_their_width(void **state)
{
    test_random random = {1};
    unsigned tight = 0;
    (void)state;
    for (unsigned i = 0; i < 4000; i++) {
        uint64_t range = i < VIDI__COUNT(ranges) ? ranges[i] : 256 + (test_next(&random) >> (10 + i % 46));
        for (size_t j = 0; j < VIDI__COUNT(all_widths); j++) {
            unsigned width = all_widths[j];
            uint64_t least = width == 8 ? 1 : ((range - 1) >> 8 * width) + 1;
            for (uint64_t lines = least; lines <= least + 2 && lines <= range / 2 && lines <= LINES_MOST; lines++) {
                vidi__subtable shape = shape_of(range, lines, width, false);
                fake_lines(&shape);
                check_borders(&shape, &random);
                tight += lines == least;
            }
        }
    }
    assert_true(tight > 10000);
}

static void a_place_of_any_hash_leads_back_to_it(void **state)
{
    test_random random = {2};
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t range = 256 + (test_next(&random) >> (10 + i % 46));
        uint64_t most = range / 2 < LINES_MOST ? range / 2 : LINES_MOST;
        uint64_t lines = i % 8 ? 1 + test_below(&random, most) : most;
        vidi__subtable shape = shape_of(range, lines, width_for(range, lines), false);
        fake_lines(&shape);
        check_borders(&shape, &random);
    }
}

/* Hashes at the borders of lines and of the whole, and random ones; none twice. */
static void interesting_hashes(list *l, const vidi__subtable *shape, test_random *random)
{
    list_push(l, 0, 1);
    list_push(l, shape->range - 1, 1);
    for (uint64_t i = 0; i < 120; i++) {
        uint64_t line = i < 8 ? i : i < 16 ? shape->lines - (i - 7) : test_below(random, shape->lines);
        uint64_t first = first_of(shape, line < shape->lines ? line : 0);
        list_push(l, first, 1);
        list_push(l, first ? first - 1 : 1, 1);
        list_push(l, test_below(random, shape->range), 1);
    }
    list_settle(l);
    for (size_t i = 0; i < l->n; i++)
        l->hashes[2 * i + 1] = 1;
}

static void check_places(fixture *f, uint64_t range, uint64_t lines, test_random *random)
{
    list l = {0};
    vidi__subtable shape = shape_of(range, lines, width_for(range, lines), false), *table = make(f, &shape);
    interesting_hashes(&l, &shape, random);
    for (size_t i = 0; i < l.n; i++) {
        uint64_t at = l.n % 7919 ? i * 7919 % l.n : i; /* in any order */
        assert_int_equal(add(f, table, l.hashes[2 * at]), VIDI_NEW);
        assert_int_equal(add(f, table, l.hashes[2 * at]), VIDI_SEEN);
    }
    assert_int_equal(table->used, l.n);
    check_holds(table, &l);
    for (size_t i = 0; i < l.n; i++)
        for (unsigned bit = 0; power_of_two(bit) < range; bit++) {
            uint64_t other = l.hashes[2 * i] ^ power_of_two(bit);
            if (other < range)
                check(has(table, other) == list_has(&l, other), "range %llx, %d lines: %llx", (unsigned long long)range,
                      (int)lines, (unsigned long long)other);
        }
    vidi__subtable_free(table, &f->slabs);
    list_free(&l);
}

static void hash_and_place_determine_each_other(void **state)
{
    static const uint64_t lines[] = {1, 2, 3, 7, 64, 100, 128, 255, 256, 257, 1000, 4095, 8192};
    test_random random = {3};
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < VIDI__COUNT(ranges); i++)
        for (size_t j = 0; j < VIDI__COUNT(lines); j++)
            if (lines[j] <= ranges[i] / 2)
                check_places(&f, ranges[i], lines[j], &random);
    end(&f);
}

/* All hashes of a small range at once: a bijection. */
static void every_hash_of_a_range_has_a_place_of_its_own(void **state)
{
    static const struct {
        uint64_t range, lines;
    } rows[] = {{4096, 1},   {4096, 256}, {4096, 2048}, {4095, 3},    {4095, 100}, {4095, 2047},
                {4097, 257}, {4097, 500}, {4097, 2048}, {5003, 1000}, {1021, 510}, {256, 128}};
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < 2 * VIDI__COUNT(rows); i++) {
        list l = {0};
        uint64_t range = rows[i / 2].range;
        vidi__subtable shape = shape_of(range, rows[i / 2].lines, i % 2 ? 8 : 3, false), *table = make(&f, &shape);
        for (uint64_t hash = 0; hash < range; hash++) {
            assert_false(has(table, hash));
            put(&f, table, &l, hash, 1);
        }
        check_holds(table, &l);
        for (uint64_t hash = 0; hash < range; hash += 2)
            assert_true(vidi__subtable_remove(table, hash));
        for (uint64_t hash = 0; hash < range; hash++)
            assert_int_equal(has(table, hash), hash % 2);
        assert_int_equal(table->used, range / 2);
        vidi__subtable_free(table, &f.slabs);
        list_free(&l);
    }
    end(&f);
}

/* ---- shapes ---- */

/* How full a sub-table may be: those with wide distances are small, and fuller. */
static double load_of(unsigned width)
{
    return width >= 7 ? 1.1 : 0.88;
}

/* No width would do with fewer lines. */
static void check_smallest(const vidi__subtable *shape, uint64_t hashes)
{
    uint64_t fewer = shape->lines - 1;
    for (size_t i = 0; i < VIDI__COUNT(all_widths); i++) {
        bool fits = fewer && width_fits(shape->range, fewer, all_widths[i]);
        double room = load_of(all_widths[i]) * vidi__line_slots(all_widths[i]) * (double)fewer;
        check(!fits || room <= (double)hashes + 1, "range %llx, %d hashes: %d lines of width %u were enough",
              (unsigned long long)shape->range, (int)hashes, (int)fewer, all_widths[i]);
    }
}

static void check_fit(uint64_t range, uint64_t hashes, unsigned *reached)
{
    vidi__subtable shape = {.range = range};
    vidi__subtable_fit(&shape, hashes);
    *reached |= 1u << shape.width;
    const vidi__subtable right = shape_of(range, shape.lines, shape.width, false);
    assert_int_equal(shape.ratio, right.ratio);
    assert_int_equal(shape.inverse, right.inverse);
    assert_true(width_fits(range, shape.lines, shape.width));
    assert_true(shape.lines <= range / 2);
    assert_true(shape.limit >= hashes && shape.limit);
    uint64_t slots = shape.lines * vidi__line_slots(shape.width);
    if (shape.lines == range / 2)
        assert_true(shape.limit == UINT64_MAX); /* it cannot grow, so it is never full */
    else
        assert_true((double)shape.limit <= load_of(shape.width) * (double)slots);
    check_smallest(&shape, hashes);
}

static void the_shape_is_the_smallest_that_holds_all(void **state)
{
    unsigned reached = 0;
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(ranges); i++)
        for (uint64_t hashes = 1; hashes < 250000; hashes += 1 + hashes / 9)
            check_fit(ranges[i], hashes, &reached);
    assert_int_equal(reached, 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 8);
}

static void a_full_table_says_so_and_stays_as_it_is(void **state)
{
    test_random random = {4};
    fixture f;
    (void)state;
    begin(&f);
    for (unsigned multiset = 0; multiset < 2; multiset++) {
        list l = {0};
        vidi__subtable shape = {.range = (UINT64_C(1) << 40) - 87, .multiset = multiset};
        vidi__subtable_fit(&shape, 500);
        vidi__subtable *table = make(&f, &shape);
        assert_true(table->limit >= 500 && table->limit < 520);
        while (l.n < table->limit) {
            uint64_t hash = test_below(&random, shape.range);
            assert_int_equal(add(&f, table, hash), VIDI_NEW);
            list_push(&l, hash, 1);
        }
        list_settle(&l);
        assert_int_equal(l.n, table->limit);
        for (size_t i = 0; i < l.n; i++) {
            assert_int_equal(add(&f, table, l.hashes[2 * i]), multiset ? VIDI__SUBTABLE_FULL : VIDI_SEEN);
            assert_int_equal(add(&f, table, l.hashes[2 * i] ^ 1), VIDI__SUBTABLE_FULL);
        }
        assert_int_equal(table->used, l.n);
        check_holds(table, &l);
        vidi__subtable_free(table, &f.slabs);
        list_free(&l);
    }
    end(&f);
}

/* What the pool of slabs takes for itself, with all its slabs. */
static uint64_t bytes_of_pool(const fixture *f)
{
    uint64_t bytes = f->slabs.block_room * sizeof *f->slabs.blocks;
    for (uint64_t i = 0; i < f->slabs.block_count; i++)
        bytes += f->slabs.blocks[i].size;
    return bytes;
}

static void its_bytes_are_what_it_allocated(void **state)
{
    static const uint64_t lines[] = {1, 255, 256, 1000};
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < 4 * VIDI__COUNT(lines); i++) {
        list l = {0};
        vidi__subtable shape = shape_of(999983, lines[i / 4], 3, i % 2), *table = make(&f, &shape);
        for (uint64_t n = 0; n < (i & 2 ? 9000u : 60u); n++) /* most of them overflow, in the end in slabs */
            put(&f, table, &l, n, 1);
        uint64_t in_use = (f.slabs.total - f.slabs.free_count) * VIDI__SLAB_BYTES;
        assert_int_equal(vidi__memory_used(&f.memory) - bytes_of_pool(&f) + in_use, vidi__subtable_bytes(table));
        vidi__subtable_free(table, &f.slabs);
        list_free(&l);
    }
    vidi__subtable_free(NULL, &f.slabs);
    end(&f);
}

/* ---- rebuilding ---- */

/* A table on its way through many shapes, and what it should hold. */
typedef struct journey {
    fixture f;
    test_random random;
    vidi__subtable *table;
    list l;
} journey;

static void add_some(journey *self, uint64_t more)
{
    bool multiset = self->table->multiset;
    for (uint64_t i = 0; i < more; i++) {
        uint64_t hash = test_below(&self->random, self->table->range);
        if (!has(self->table, hash) || multiset)
            put(&self->f, self->table, &self->l, hash, multiset ? 1 + test_below(&self->random, 4) : 1);
    }
    list_settle(&self->l);
    check_holds(self->table, &self->l);
}

static void go_on_with(journey *self, vidi__subtable *table)
{
    vidi__subtable_free(self->table, &self->f.slabs);
    self->table = table;
}

/* Into both halves; goes on with one of them. */
static void go_on_with_half(journey *self)
{
    int half = (int)test_below(&self->random, 2);
    vidi__subtable *old = self->table, shape = *old;
    list mine = half_of(&self->l, old->range, half), other = half_of(&self->l, old->range, !half);
    shape.range /= 2;
    shape.depth++;
    vidi__subtable_fit(&shape, 1 + (uint64_t)(0.6 * (double)old->used));
    vidi__subtable_free(rebuilt(&self->f, old, &shape, !half, &self->l, &other), &self->f.slabs);
    go_on_with(self, rebuilt(&self->f, old, &shape, half, &self->l, &mine));
    list_free(&self->l);
    list_free(&other);
    self->l = mine;
}

static void go_on_larger(journey *self, double factor, bool widest)
{
    vidi__subtable shape = *self->table;
    vidi__subtable_fit(&shape, (uint64_t)((double)self->table->used * factor) + 1);
    if (widest) /* any width that fits is as good */
        shape.width = 8;
    go_on_with(self, rebuilt(&self->f, self->table, &shape, -1, &self->l, &self->l));
}

/* Grows 30 times at whatever lines and widths come, with splits in between while the range can be halved. */
static unsigned grow_from(uint64_t range, bool multiset, uint64_t seed)
{
    journey self = {.random = {seed}};
    unsigned reached = 0;
    begin(&self.f);
    vidi__subtable shape = {.range = range, .multiset = multiset, .portable = seed == 3};
    vidi__subtable_fit(&shape, 20);
    self.table = make(&self.f, &shape);
    for (unsigned growth = 0; growth < 30; growth++) {
        add_some(&self, growth < 20 ? 10 + self.l.n / 4 : test_below(&self.random, 100));
        reached |= 1u << self.table->width;
        if (growth % 5 == 4 && self.table->range % 2 == 0 && self.table->range > 1 << 22)
            go_on_with_half(&self);
        else
            go_on_larger(&self, growth == 28 ? 0.3 : 1.2, growth == 25);
    }
    vidi__subtable_free(self.table, &self.f.slabs);
    list_free(&self.l);
    end(&self.f);
    return reached;
}

static void growth_keeps_every_bit(void **state)
{
    static const uint64_t starts[] = {UINT64_C(1) << 60,   UINT64_C(507) << 38, UINT64_C(2) * 549755813881,
                                      UINT64_C(257) << 27, UINT64_C(1) << 26,   UINT64_C(511) << 45,
                                      8 * 1000003,         UINT64_C(1000000007)};
    unsigned reached = 0;
    (void)state;
    for (uint64_t seed = 0; seed < VIDI__COUNT(starts); seed++)
        reached |= grow_from(starts[seed], seed % 2, seed);
    assert_int_equal(reached, 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 8);
}

/* Every hash there is, halved until the range is odd: each half holds what is its own. */
static void halves_of_any_range_hold_what_is_theirs(void **state)
{
    static const uint64_t odd[] = {257, 1001, 4099};
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < 2 * VIDI__COUNT(odd); i++) {
        uint64_t range = 2 * odd[i / 2];
        for (uint64_t lines = 1; lines <= range / 2; lines += 1 + lines * 2) {
            list l = {0};
            vidi__subtable shape = shape_of(range, lines, 3, i % 2), *table = make(&f, &shape);
            for (uint64_t hash = 0; hash < range; hash++)
                put(&f, table, &l, hash, i % 2 ? 1 + hash % 5 : 1);
            for (int half = 0; half < 2; half++) {
                list mine = half_of(&l, range, half);
                vidi__subtable next = shape_of(range / 2, lines / 2 + 1, 3, i % 2);
                vidi__subtable_free(rebuilt(&f, table, &next, half, &l, &mine), &f.slabs);
                list_free(&mine);
            }
            vidi__subtable_free(table, &f.slabs);
            list_free(&l);
        }
    }
    end(&f);
}

/* ---- walking ---- */

typedef struct stopping {
    unsigned told, stop_at;
} stopping;

static int stop(void *context, uint64_t hash, uint64_t times)
{
    stopping *self = context;
    (void)hash;
    (void)times;
    return ++self->told == self->stop_at ? 42 : 0;
}

static void a_visitor_ends_the_walk_wherever_it_is(void **state)
{
    list l = {0};
    fixture f;
    (void)state;
    begin(&f);
    vidi__subtable shape = shape_of(1001, 2, 8, false), *table = make(&f, &shape);
    for (uint64_t hash = 0; hash < 17; hash++) /* 7 in the line, 7 in the next, 3 beside */
        put(&f, table, &l, hash, 1);
    assert_int_equal(displaced_in(table), 7);
    assert_int_equal(table->overflow.used, 3);
    for (unsigned i = 1; i <= 17; i++) {
        stopping self = {0, i};
        assert_int_equal(vidi__subtable_walk(table, stop, &self), 42);
        assert_int_equal(self.told, i);
    }
    vidi__subtable_free(table, &f.slabs);
    list_free(&l);
    end(&f);
}

/* What a list of a range may and does tell. */
typedef struct ranged {
    uint64_t from, to;
    list *found;
} ranged;

static int collect_block(void *context, uint64_t *hashes, const uint64_t *times, unsigned n)
{
    const ranged *self = context;
    check(n > 0 && n <= VIDI__TAKE_MOST, "a block of %u", n);
    for (unsigned i = 0; i < n; i++) {
        check(hashes[i] >= self->from && hashes[i] < self->to, "%llx is outside", (unsigned long long)hashes[i]);
        list_push(self->found, hashes[i], times ? times[i] : 1);
    }
    return 0;
}

/* Lists the ranges between two cuts each; together they must tell what the table holds, once. */
static void check_cuts(const vidi__subtable *table, const list *wanted, uint64_t cuts, uint64_t seed)
{
    test_random random = {seed};
    list found = {0};
    for (uint64_t from = 0, to; from < table->range; from = to) {
        to = from + 1 + test_below(&random, 2 * (table->range / cuts + 1));
        to = to < table->range ? to : table->range;
        ranged self = {from, to, &found};
        assert_int_equal(vidi__subtable_list(table, from, to, collect_block, &self), 0);
    }
    size_t told = found.n;
    list_settle(&found);
    check(told == wanted->n && found.n == wanted->n, "%d hashes were told, not %d", (int)told, (int)wanted->n);
    assert_memory_equal(found.hashes, wanted->hashes, 2 * wanted->n * sizeof *wanted->hashes);
    list_free(&found);
}

static void ranges_tell_what_is_in_them_and_once(void **state)
{
    static const uint64_t cuts[] = {1, 2, 7, 60, 1000};
    fixture f;
    list l;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < 2 * VIDI__COUNT(all_widths); i++) {
        unsigned width = all_widths[i / 2], slots = vidi__line_slots(width);
        vidi__subtable shape = shape_of(UINT64_C(999999999989) >> (width < 5 ? 12 : 0), 60 + i % 5, width, i % 2);
        vidi__subtable *table = filled(&f, &l, &shape, slots * 61, i);
        assert_true(displaced_in(table) > 10 && table->overflow.used > 10);
        for (size_t j = 0; j < VIDI__COUNT(cuts); j++)
            check_cuts(table, &l, cuts[j], i + j);
        vidi__subtable_free(table, &f.slabs);
        list_free(&l);
    }
    end(&f);
}

int main(int argc, char **argv)
{
    test_add("distances fit their width", distances_fit_their_width, NULL);
    test_add("a place of any hash leads back to it", a_place_of_any_hash_leads_back_to_it, NULL);
    test_add("hash and place determine each other", hash_and_place_determine_each_other, NULL);
    test_add("every hash of a range has a place of its own", every_hash_of_a_range_has_a_place_of_its_own, NULL);
    test_add("the shape is the smallest that holds all", the_shape_is_the_smallest_that_holds_all, NULL);
    test_add("a full table says so and stays as it is", a_full_table_says_so_and_stays_as_it_is, NULL);
    test_add("its bytes are what it allocated", its_bytes_are_what_it_allocated, NULL);
    test_add("growth keeps every bit", growth_keeps_every_bit, NULL);
    test_add("halves of any range hold what is theirs", halves_of_any_range_hold_what_is_theirs, NULL);
    test_add("ranges tell what is in them, and once", ranges_tell_what_is_in_them_and_once, NULL);
    test_add("a visitor ends the walk wherever it is", a_visitor_ends_the_walk_wherever_it_is, NULL);
    return test_run("subtable", argc, argv);
}
