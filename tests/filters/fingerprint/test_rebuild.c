/*
 * Rebuilding: whatever the shapes of the old and the new sub-table and however its hashes crowd, the new one holds
 * exactly what it should and the old one stays as it was.
 */
#include "filters/fingerprint/kernels/rebuild.h"

#include "cpu/cpu.h"
#include "filters/fingerprint/subtable_cases.h"

/* How the hashes of a table are spread. */
typedef enum spread { EVENLY, CROWDED, AT_BORDERS, SPREADS } spread;

static uint64_t random_hash(test_random *random, const vidi__subtable *shape, spread how)
{
    if (how == CROWDED) /* many in a few lines, the last and the first among them, so that most overflow */
        return (shape->range - 3 + test_below(random, shape->range / 50 + 7)) % shape->range;
    if (how == AT_BORDERS) {
        uint64_t first = first_of(shape, test_below(random, shape->lines));
        return (first + shape->range - 1 + test_below(random, 3)) % shape->range;
    }
    return test_below(random, shape->range);
}

static vidi__subtable *spread_over(fixture *f, list *l, const vidi__subtable *shape, uint64_t hashes, spread how)
{
    test_random random = {hashes + how};
    vidi__subtable *table = make(f, shape);
    *l = (list){0};
    for (uint64_t tries = 0; tries < hashes; tries++) {
        uint64_t hash = random_hash(&random, shape, how);
        if (shape->multiset || !has(table, hash))
            put(f, table, l, hash, shape->multiset && tries % 5 == 0 ? 1 + test_below(&random, 30) : 1);
    }
    list_settle(l);
    return table;
}

/* Signatures are where they must be, and no distance is wrong: as if the lines had been mapped. */
static void check_verified(vidi__subtable *table, const list *wanted)
{
    uint64_t count = 0;
    table->lent = true; /* so that missing signatures are errors */
    assert_int_equal(vidi__subtable_verify(table, &count), VIDI_OK);
    table->lent = false;
    assert_int_equal(count, wanted->n);
}

/* Every instruction set leaves the same lines. */
static void check_passes_agree(fixture *f, const vidi__subtable *old, const vidi__subtable *shape, int half)
{
#if defined(__x86_64__)
    vidi__subtable *plain, *vectors;
    if (!vidi__cpu_has(VIDI__CPU_AVX2))
        return;
    assert_int_equal(vidi__rebuild_with(vidi__rebuild_pass_portable, &plain, old, &f->slabs, shape, half), VIDI_OK);
    assert_int_equal(vidi__rebuild_with(vidi__rebuild_pass_avx2, &vectors, old, &f->slabs, shape, half), VIDI_OK);
    check_same_lines(plain, vectors);
    vidi__subtable_free(plain, &f->slabs);
    vidi__subtable_free(vectors, &f->slabs);
#else
    (void)f, (void)old, (void)shape, (void)half;
#endif
}

static void rebuild_and_check(fixture *f, const vidi__subtable *old, const list *all, const vidi__subtable *shape,
                              int half)
{
    list wanted = half < 0 ? *all : half_of(all, old->range, half);
    vidi__subtable *fresh = rebuilt(f, old, shape, half, all, &wanted);
    check_verified(fresh, &wanted);
    check_passes_agree(f, old, shape, half);
    vidi__subtable_free(fresh, &f->slabs);
    if (half >= 0)
        list_free(&wanted);
}

/* Into lines of the same and of every other width, from a third of the lines to eight times as many. */
static void rebuild_into_all(fixture *f, const vidi__subtable *old, const list *all)
{
    static const double factors[] = {0.3, 1.36, 2.7, 4.1, 8};
    for (size_t i = 0; i < VIDI__COUNT(all_widths) * VIDI__COUNT(factors); i++) {
        unsigned width = all_widths[i / VIDI__COUNT(factors)];
        for (int half = -1; half < 2; half++) {
            uint64_t range = half < 0 ? old->range : old->range / 2;
            uint64_t lines =
                (uint64_t)((double)old->lines * factors[i % VIDI__COUNT(factors)] * (half < 0 ? 1 : 0.5)) + 1;
            if (!width_fits(range, lines, width))
                continue;
            vidi__subtable shape = shape_of(range, lines < range / 2 ? lines : range / 2, width, old->multiset);
            rebuild_and_check(f, old, all, &shape, half);
        }
    }
}

static void any_shape_becomes_any_other(void **state)
{
    static const uint64_t all_lines[] = {1, 2, 70};
    fixture f;
    (void)state;
    begin(&f);
    for (size_t i = 0; i < VIDI__COUNT(all_widths); i++)
        for (size_t j = 0; j < VIDI__COUNT(all_lines); j++)
            for (unsigned k = 0; k < 2 * SPREADS; k++) {
                unsigned width = all_widths[i];
                uint64_t lines = all_lines[j], range = (UINT64_C(3) << (width == 8 ? 50 : 18)) + 2 * lines;
                vidi__subtable shape = shape_of(range, lines, width, k % 2);
                list l;
                vidi__subtable *old = spread_over(&f, &l, &shape, lines * vidi__line_slots(width) * 9 / 10, k / 2);
                rebuild_into_all(&f, old, &l);
                vidi__subtable_free(old, &f.slabs);
                list_free(&l);
            }
    end(&f);
}

/* More hashes wait for a place than the list holds. */
static void hashes_that_share_a_line_are_moved(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    for (unsigned multiset = 0; multiset < 2; multiset++) {
        list l;
        vidi__subtable shape = shape_of(UINT64_C(1) << 24, 400, 5, multiset);
        vidi__subtable *old = spread_over(&f, &l, &shape, 6000, CROWDED);
        assert_true(old->overflow.used > 2000);
        for (uint64_t lines = 100; lines <= 1600; lines *= 4) {
            vidi__subtable larger = shape_of(shape.range, lines, 4, multiset);
            rebuild_and_check(&f, old, &l, &larger, -1);
        }
        vidi__subtable_free(old, &f.slabs);
        list_free(&l);
    }
    end(&f);
}

int main(int argc, char **argv)
{
    test_add("any shape becomes any other", any_shape_becomes_any_other, NULL);
    test_add("hashes that share a line are moved", hashes_that_share_a_line_are_moved, NULL);
    return test_run("rebuild", argc, argv);
}
