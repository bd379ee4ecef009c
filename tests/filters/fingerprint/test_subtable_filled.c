/*
 * Sub-tables that fill their slabs: the overflow table is behind the lines. They hold what others hold, give back what
 * they took, and move overflow out if it outgrows its place.
 */
#include "filters/fingerprint/subtable_cases.h"

/* A shape for so many hashes that fills its slabs, unless it cannot. */
static vidi__subtable filled_shape(uint64_t range, uint64_t hashes, bool multiset)
{
    vidi__subtable shape = {.range = range, .multiset = multiset};
    vidi__subtable_fit(&shape, hashes);
    vidi__subtable_fill_slabs(&shape);
    return shape;
}

/* Whole slabs if it is large enough, and the same number of hashes in about as many lines. */
static void a_filled_shape_takes_whole_slabs(void **state)
{
    unsigned filled_ones = 0;
    (void)state;
    for (uint64_t hashes = 1000; hashes < 200000; hashes += 777) {
        vidi__subtable plain = {.range = power_of_two(54)}, shape = filled_shape(power_of_two(54), hashes, false);
        vidi__subtable_fit(&plain, hashes);
        assert_int_equal(shape.limit, plain.limit);
        if (!shape.inside_room) {
            assert_int_equal(shape.lines, plain.lines);
            continue;
        }
        filled_ones++;
        assert_int_equal((shape.lines * VIDI__LINE_BYTES + 8 * shape.inside_room) % VIDI__SLAB_BYTES, 0);
        assert_true(shape.inside_room <= VIDI__OVERFLOW_BLOCK);
        double ratio = (double)shape.lines / (double)plain.lines;
        check(ratio > 0.93 && ratio < 1.09, "%d lines instead of %d", (int)shape.lines, (int)plain.lines);
    }
    assert_true(filled_ones > 30);
}

static void shapes_that_cannot_fill_slabs_stay_as_they_are(void **state)
{
    (void)state;
    assert_true(filled_shape(power_of_two(54), 30000, false).inside_room);
    assert_false(filled_shape(power_of_two(54), 30000, true).inside_room);   /* a multiset */
    assert_false(filled_shape(power_of_two(54), 5000, false).inside_room);   /* too small */
    assert_false(filled_shape(power_of_two(54), 500000, false).inside_room); /* overflow in several blocks */
    assert_false(filled_shape(5000, 30000, false).inside_room);              /* as many lines as are useful */
}

/* As many slabs as it has lines and overflow for, and nothing else but its head and its list. */
static void check_bytes(const fixture *f, const vidi__subtable *table)
{
    uint64_t pool = f->slabs.block_room * sizeof *f->slabs.blocks;
    uint64_t in_use = (f->slabs.total - f->slabs.free_count) * VIDI__SLAB_BYTES;
    for (uint64_t i = 0; i < f->slabs.block_count; i++)
        pool += f->slabs.blocks[i].size;
    assert_int_equal(vidi__memory_used(&f->memory) - pool + in_use, vidi__subtable_bytes(table));
}

/* Full to its limit. Some shapes have so few lines that overflow moves out, most have room for it. */
static void a_filled_table_holds_what_others_hold(void **state)
{
    static const struct {
        uint64_t range, hashes;
    } cases[] = {{UINT64_C(1) << 51, 25000}, {UINT64_C(1) << 51, 30000}, {UINT64_C(1) << 54, 24000}};
    unsigned inside = 0;
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(cases); i++) {
        fixture f;
        list l;
        uint64_t count = 0;
        begin(&f);
        const vidi__subtable shape = filled_shape(cases[i].range, cases[i].hashes, false);
        assert_true(shape.inside_room);
        vidi__subtable *table = filled(&f, &l, &shape, shape.limit, i);
        inside += table->overflow.inside;
        assert_true(table->overflow.used > shape.lines / 10);
        check_bytes(&f, table);
        check_holds(table, &l);
        assert_int_equal(vidi__subtable_verify(table, &count), VIDI_OK);
        assert_int_equal(count, l.n);

        stream s = saved(table);
        const vidi__subtable bare = {.range = shape.range};
        vidi__subtable *copy = loaded(&f, &s, &bare, l.n);
        check_same(table, copy);
        vidi__subtable_free(copy, &f.slabs);
        free(s.data);

        const vidi__subtable larger = filled_shape(shape.range, shape.limit * 4 / 3, false);
        vidi__subtable *fresh = rebuilt(&f, table, &larger, -1, &l, &l);
        assert_true(fresh->overflow.inside);
        vidi__subtable_free(fresh, &f.slabs);
        vidi__subtable_free(table, &f.slabs);
        list_free(&l);
        end(&f);
    }
    assert_true(inside >= 2);
}

/* Hashes that crowd in a few lines. */
static void overflow_that_outgrows_its_place_moves_out(void **state)
{
    fixture f;
    list l = {0};
    (void)state;
    begin(&f);
    const vidi__subtable shape = filled_shape(power_of_two(51), 25000, false);
    vidi__subtable *table = make(&f, &shape);
    for (uint64_t hash = 0; hash < 2 * shape.inside_room; hash++)
        put(&f, table, &l, hash, 1);
    list_settle(&l);
    assert_false(table->overflow.inside);
    check_bytes(&f, table);
    check_holds(table, &l);
    vidi__subtable_free(table, &f.slabs);
    list_free(&l);
    end(&f);
}

int main(int argc, char **argv)
{
    test_add("a filled shape takes whole slabs", a_filled_shape_takes_whole_slabs, NULL);
    test_add("shapes that cannot fill slabs stay as they are", shapes_that_cannot_fill_slabs_stay_as_they_are, NULL);
    test_add("a filled table holds what others hold", a_filled_table_holds_what_others_hold, NULL);
    test_add("overflow that outgrows its place moves out", overflow_that_outgrows_its_place_moves_out, NULL);
    return test_run("subtable_filled", argc, argv);
}
