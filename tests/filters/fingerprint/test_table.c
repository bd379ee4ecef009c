/*
 * The growing table of hashes: it tells S numbers apart and nothing else, for any S; it always makes room, whatever the
 * size, the range and the way hashes crowd; what is reserved hardly grows; and it comes back from a stream as it was.
 */
#include <math.h>

#include "filters/fingerprint/table_cases.h"
#include "support/env.h"

/* Tables of S numbers: powers of two, and g · 2^e of all kinds. */
static const uint64_t numbers[] = {UINT64_C(1) << 60,   UINT64_C(507) << 51, UINT64_C(257) << 44, UINT64_C(1) << 47,
                                   UINT64_C(385) << 31, UINT64_C(311) << 24, UINT64_C(1) << 32};

/* With 64 partitions from the beginning. */
static void start(whole *w, uint64_t hashes, bool multiset)
{
    whole_start(w, hashes, multiset);
    assert_int_equal(vidi__table_divide(&w->table), VIDI_OK);
}

/* The least hash of 64 bits that comes to a number; for the number behind the last, 2^64. */
static unsigned __int128 least_of(uint64_t number, uint64_t hashes)
{
    return (((unsigned __int128)number << 64) + hashes - 1) / hashes;
}

static bool seen(const vidi__table *table, uint64_t hash)
{
    const vidi__place place = vidi__table_place(table, hash);
    return place.table && vidi__subtable_has(place.table, place.hash, &place.spot);
}

/* ---- numbers ---- */

/* Adds every second number of those around some places, and asks for the first and the last hash of each. */
static void check_numbers(vidi__table *table, test_random *random)
{
    uint64_t most = table->hashes;
    for (unsigned i = 0; i < 600; i++) {
        uint64_t number = i < 192 ? most / 64 * (i / 3) + i % 3 : test_below(random, most);
        number = number / 2 * 2;
        uint64_t first = (uint64_t)least_of(number, most), last = (uint64_t)(least_of(number + 1, most) - 1);
        bool before = seen(table, first);
        assert_int_equal(seen(table, last), before);
        assert_int_equal(vidi__table_add(table, i % 2 ? first : last), before ? VIDI_SEEN : VIDI_NEW);
        assert_int_equal(vidi__table_add(table, i % 2 ? last : first), VIDI_SEEN);
        assert_true(seen(table, first) && seen(table, last));
        assert_false(seen(table, (uint64_t)least_of(number + 1, most))); /* the next, which is odd */
        assert_false(number && seen(table, first - 1));
    }
}

/* Opens some partitions as if they had split, into small sub-tables. */
static void open_deep(whole *w)
{
    enum { DEPTH = 4 };
    vidi__subtable shape = {.depth = DEPTH, .range = w->table.hashes >> (VIDI__PARTITION_BITS + DEPTH)};
    vidi__subtable_fit(&shape, 20);
    assert_int_equal(vidi__table_divide(&w->table), VIDI_OK);
    for (unsigned i = 0; i < VIDI__PARTITIONS; i += 9) {
        vidi__partition *partition = &w->table.partitions[i];
        assert_int_equal(vidi__table_new_directory(&w->table, partition, DEPTH), VIDI_OK);
        for (unsigned j = 0; j < 1u << DEPTH; j++) {
            vidi__subtable *part;
            assert_int_equal(vidi__subtable_make(&part, &w->table.slabs, &shape), VIDI_OK);
            vidi__directory_of(partition).entries[j] = part;
        }
    }
}

static void it_tells_numbers_apart_and_nothing_else(void **state)
{
    test_random random = {1};
    (void)state;
    for (size_t i = 0; i < 3 * VIDI__COUNT(numbers); i++) {
        whole w;
        whole_start(&w, numbers[i / 3], false);
        if (i % 3 == 1)
            assert_int_equal(vidi__table_reserve(&w.table, 70000), VIDI_OK);
        if (i % 3 == 2)
            open_deep(&w);
        check_numbers(&w.table, &random);
        whole_finish(&w);
    }
}

/* ---- listing ---- */

static int collect_hash(void *context, uint64_t hash, uint64_t times)
{
    list_push(context, hash, times);
    return 0;
}

static list listed(const vidi__table *table)
{
    list l = {0};
    assert_int_equal(vidi__table_walk(table, collect_hash, &l), 0);
    return l;
}

/* By the least hash of each number, so that a table of any size and depth takes it in as the same number. */
static void it_lists_the_least_hash_of_each_number(void **state)
{
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(numbers); i++) {
        whole w, other;
        list right = {0};
        test_random random = {i};
        whole_start(&w, numbers[i], false);
        start(&other, numbers[i], false);
        assert_int_equal(vidi__table_reserve(&other.table, 70000), VIDI_OK);
        for (unsigned n = 0; n < 20000; n++) {
            uint64_t hash = test_next(&random);
            if (vidi__table_add(&w.table, hash) == VIDI_NEW)
                list_push(&right, (uint64_t)least_of(vidi__scale(hash, numbers[i]), numbers[i]), 1);
        }
        list mine = listed(&w.table);
        for (size_t j = 0; j < mine.n; j++)
            assert_int_equal(vidi__table_add(&other.table, mine.hashes[2 * j]), VIDI_NEW);
        list again = listed(&other.table);
        list_settle(&right);
        list_settle(&mine);
        list_settle(&again);
        assert_int_equal(mine.n, right.n);
        assert_memory_equal(mine.hashes, right.hashes, mine.n * 2 * sizeof *mine.hashes);
        assert_int_equal(again.n, right.n);
        assert_memory_equal(again.hashes, right.hashes, mine.n * 2 * sizeof *mine.hashes);
        list_free(&right);
        list_free(&mine);
        list_free(&again);
        whole_finish(&w);
        whole_finish(&other);
    }
}

static int stop_at_third(void *context, uint64_t hash, uint64_t times)
{
    (void)hash;
    (void)times;
    return ++*(unsigned *)context == 3 ? 42 : 0;
}

static void a_visitor_ends_the_listing(void **state)
{
    whole w;
    unsigned told = 0;
    (void)state;
    start(&w, UINT64_C(1) << 60, false);
    for (uint64_t i = 1; i < 6; i++)
        assert_int_equal(vidi__table_add(&w.table, test_mix(i)), VIDI_NEW);
    assert_int_equal(vidi__table_walk(&w.table, stop_at_third, &told), 42);
    assert_int_equal(told, 3);
    whole_finish(&w);
}

/* ---- growing ---- */

/* Of the sub-table of a hash: is there room for one more? */
static bool has_room(const vidi__table *table, uint64_t hash)
{
    const vidi__subtable *part = vidi__table_place(table, hash).table;
    return part->used < part->limit;
}

/*
 * Hashes of one partition, one by one: every size from 1 on. Whenever a sub-table grows there is room for a
 * twenty-fifth more, so that it grows seldom.
 */
static void grow_one_by_one(uint64_t hashes, unsigned partition, bool multiset, uint64_t most)
{
    whole w;
    test_random random = {hashes + partition};
    uint64_t changes = 0, grown = 0, in_partition = hashes / VIDI__PARTITIONS, n = 0;
    const vidi__subtable *last = NULL;
    start(&w, hashes, multiset);
    const vidi__partition *at = &w.table.partitions[partition];
    most = !multiset && most > in_partition * 3 / 4 ? in_partition * 3 / 4 : most;
    while (n < most) {
        uint64_t number = in_partition * partition + test_below(&random, in_partition);
        uint64_t hash = (uint64_t)least_of(number, hashes);
        int verdict = vidi__table_add(&w.table, hash);
        assert_true(verdict == VIDI_NEW || verdict == VIDI_SEEN);
        n += verdict == VIDI_NEW || multiset;
        const vidi__subtable *part = vidi__table_place(&w.table, hash).table;
        if (part == last || vidi__directory_of(at).depth) /* with several sub-tables, it need not have grown */
            continue;
        last = part;
        check(part->limit >= part->used + part->used / 25, "%d of %d: room for %d", (int)part->used, (int)in_partition,
              (int)part->limit);
        check(grown == 0 || n >= grown + grown / 25, "grown at %d and again at %d", (int)grown, (int)n);
        changes++;
        grown = n;
    }
    assert_true(has_room(&w.table, (uint64_t)least_of(in_partition * partition, hashes)));
    assert_true(changes < 40);
    whole_finish(&w);
}

static void growing_always_makes_room(void **state)
{
    static const unsigned partitions[] = {0, 1, 20, 63};
    static const uint64_t small[] = {256, 257, 300, 1000, 4097, 20011, 100003};
    (void)state;
    for (unsigned multiset = 0; multiset < 2; multiset++)
        for (size_t i = 0; i < VIDI__COUNT(partitions); i++) {
            for (size_t j = 0; j < VIDI__COUNT(numbers); j++)
                grow_one_by_one(numbers[j], partitions[i], multiset, 5000);
            for (size_t j = 0; j < VIDI__COUNT(small); j++)
                grow_one_by_one(small[j] * VIDI__PARTITIONS, partitions[i], multiset, 5000);
        }
    for (unsigned partition = 0; partition < VIDI__PARTITIONS; partition += 5) /* on to where sizes are in slabs */
        grow_one_by_one(UINT64_C(1) << 60, partition, false, 25000);
}

/* Every number there is, in a table that cannot split any more. */
static void a_table_holds_all_the_numbers_there_are(void **state)
{
    static const uint64_t small[] = {256, 257, 1000, 3001};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(small); i++) {
        whole w;
        uint64_t hashes = small[i] * VIDI__PARTITIONS;
        start(&w, hashes, false);
        for (uint64_t number = 0; number < hashes; number++) /* in some order */
            assert_int_equal(vidi__table_add(&w.table, (uint64_t)least_of(number * 7 % hashes, hashes)), VIDI_NEW);
        for (uint64_t number = 0; number < hashes; number++)
            assert_int_equal(vidi__table_add(&w.table, (uint64_t)least_of(number, hashes)), VIDI_SEEN);
        list l = listed(&w.table);
        assert_int_equal(l.n, hashes);
        list_free(&l);
        whole_finish(&w);
    }
}

/* A multiset with many copies of each: more slots than a sub-table should have, but nothing to split by. */
static void a_table_that_tells_few_apart_does_not_split(void **state)
{
    enum { RANGE = 1 << 16, COPIES = 12 };
    whole w;
    uint64_t hashes = (uint64_t)RANGE * VIDI__PARTITIONS;
    (void)state;
    start(&w, hashes, true);
    const vidi__partition *at = &w.table.partitions[9];
    for (uint64_t copy = 0; copy < COPIES; copy++)
        for (uint64_t number = 0; number < RANGE; number++)
            assert_int_equal(vidi__table_add(&w.table, (uint64_t)least_of(9 * RANGE + number, hashes)),
                             copy ? VIDI_SEEN : VIDI_NEW);
    assert_int_equal(vidi__directory_of(at).depth, 0);
    const vidi__subtable *only = vidi__directory_of(at).entries[0];
    assert_true(only->lines > VIDI__SUBTABLE_LINES_MAX);
    for (uint64_t number = 0; number < RANGE; number++)
        assert_int_equal(vidi__subtable_times(only, number), COPIES);
    whole_finish(&w);
}

/* A hash of partition 9 whose next bits are all equal: zeros, or ones. */
static uint64_t hash_in_corner(test_random *random, unsigned prefix, bool upper)
{
    uint64_t corner = upper ? (UINT64_C(1) << prefix) - 1 : 0;
    return UINT64_C(9) << 58 | corner << (58 - prefix) | test_next(random) >> (6 + prefix);
}

/* Each split puts all hashes into one half, until there is room in that. */
static void crowd_a_corner(uint64_t hashes, unsigned prefix, bool upper, uint64_t n)
{
    uint64_t fresh = 0;
    whole w;
    test_random random = {prefix}, same = {prefix};
    start(&w, hashes, false);
    const vidi__partition *at = &w.table.partitions[9];
    for (uint64_t i = 0; i < n; i++) {
        int verdict = vidi__table_add(&w.table, hash_in_corner(&random, prefix, upper));
        assert_true(verdict == VIDI_NEW || verdict == VIDI_SEEN);
        fresh += verdict == VIDI_NEW;
    }
    assert_true(fresh > n * 8 / 10);
    unsigned depth = vidi__directory_of(at).depth;
    check(depth >= 4 && depth <= prefix + 6, "depth %u", depth);
    const vidi__subtable *part = vidi__table_place(&w.table, hash_in_corner(&random, prefix, upper)).table;
    assert_true(part->used < part->limit && part->lines <= VIDI__SUBTABLE_LINES_MAX);
    list l = listed(&w.table);
    assert_int_equal(l.n, fresh);
    list_free(&l);
    for (uint64_t i = 0; i < n; i++)
        assert_true(seen(&w.table, hash_in_corner(&same, prefix, upper)));
    whole_finish(&w);
}

static void hashes_that_share_a_prefix_split_it_away(void **state)
{
    (void)state;
    crowd_a_corner(UINT64_C(1) << 60, 10, false, 200000);
    crowd_a_corner(UINT64_C(507) << 42, 10, true, 240000);
    crowd_a_corner(UINT64_C(1) << 32, 4, true, 320000);
}

/* Sub-tables of several depths side by side: hashes crowd in some places and are thin in others. */
static void sub_tables_of_different_depths_stand_side_by_side(void **state)
{
    uint64_t n = test_sanitized() ? 200000 : 500000;
    whole w;
    test_random random = {3}, same = {3};
    unsigned depths = 0;
    (void)state;
    start(&w, UINT64_C(1) << 60, false);
    const vidi__partition *at = &w.table.partitions[9];
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(vidi__table_add(&w.table, hash_in_corner(&random, i % 4 ? 3 : 0, true)), VIDI_NEW);
    const vidi__directory directory = vidi__directory_of(at);
    for (uint64_t i = 0; i < UINT64_C(1) << directory.depth; i++) {
        const vidi__subtable *part = directory.entries[i];
        uint64_t span = UINT64_C(1) << (directory.depth - part->depth);
        depths |= 1u << part->depth;
        assert_ptr_equal(part, directory.entries[i / span * span]);
        assert_int_equal(part->range, (UINT64_C(1) << 54) >> part->depth);
    }
    check(__builtin_popcount(depths) > 1, "depths %x", depths);
    list right = {0}, mine = listed(&w.table);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t hash = hash_in_corner(&same, i % 4 ? 3 : 0, true);
        assert_true(seen(&w.table, hash));
        list_push(&right, hash >> 4 << 4, 1);
    }
    list_settle(&right);
    list_settle(&mine);
    assert_int_equal(mine.n, n);
    assert_memory_equal(mine.hashes, right.hashes, n * 2 * sizeof *mine.hashes);
    list_free(&right);
    list_free(&mine);
    whole_finish(&w);
}

/* Places that were found before stay good until something has changed. */
static void a_place_is_good_until_its_sub_table_is_replaced(void **state)
{
    enum { AHEAD = 40 };
    whole w;
    test_random random = {4};
    uint64_t hashes[AHEAD], used_again = 0;
    vidi__place places[AHEAD];
    (void)state;
    start(&w, UINT64_C(507) << 42, false);
    vidi__partition *at = &w.table.partitions[9];
    assert_int_equal(vidi__table_open(&w.table, at), VIDI_OK);
    for (unsigned round = 0; round < 2000; round++) {
        for (unsigned i = 0; i < AHEAD; i++) {
            hashes[i] = hash_in_corner(&random, 0, false);
            places[i] = vidi__place_of(at, hashes[i]);
        }
        for (unsigned i = 0; i < AHEAD; i++) {
            const vidi__place now = vidi__place_of(at, hashes[i]);
            bool good = now.table == places[i].table;
            used_again += good;
            assert_int_equal(vidi__table_add_at(&w.table, at, hashes[i], good ? &places[i] : &now), VIDI_NEW);
        }
        for (unsigned i = 0; i < AHEAD; i++)
            assert_true(seen(&w.table, hashes[i]));
    }
    assert_true(w.table.replaced > 20 && used_again > 2000 * AHEAD * 9 / 10);
    whole_finish(&w);
}

/* ---- reserving ---- */

static void what_is_reserved_hardly_grows(void **state)
{
    static const uint64_t sizes[] = {2000, 10000, 123456, 600000};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(sizes); i++)
        for (size_t j = 0; j < 3; j++) {
            whole w;
            uint64_t n = test_urls_at_most(sizes[i]);
            test_random random = {i * 3 + j};
            whole_start(&w, numbers[j], false);
            assert_int_equal(vidi__table_reserve(&w.table, n), VIDI_OK);
            for (uint64_t k = 0; k < n; k++)
                assert_int_equal(vidi__table_add(&w.table, test_next(&random)), VIDI_NEW);
            check(w.table.replaced <= 2, "%d hashes: %d sub-tables grew", (int)n, (int)w.table.replaced);
            whole_finish(&w);
        }
}

/* However much it is: what no machine has is refused by one request, before anything smaller is taken. */
static void what_is_reserved_is_asked_for_at_once(void **state)
{
    static const uint64_t sizes[] = {UINT64_C(1) << 24, UINT64_C(1) << 34, UINT64_C(1) << 44, UINT64_C(1) << 49,
                                     UINT64_C(1) << 50, UINT64_C(1) << 54, UINT64_C(1) << 58};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(sizes); i++) {
        whole w;
        whole_start(&w, UINT64_C(1) << 60, false);
        w.memory.limit = UINT64_MAX;
        test_allocator_fail(&w.allocator, 4, true);
        int code = vidi__table_reserve(&w.table, sizes[i]);
        test_allocator_fail(&w.allocator, 0, false);
        assert_int_equal(code, VIDI_EMEMORY);
        check((double)w.allocator.largest >= 3.0 * (double)sizes[i], "%g URLs: %g bytes asked for", (double)sizes[i],
              (double)w.allocator.largest);
        whole_finish(&w);
    }
}

/* ---- memory ---- */

static void its_bytes_are_what_it_allocated(void **state)
{
    (void)state;
    for (unsigned multiset = 0; multiset < 2; multiset++) {
        whole w;
        test_random random = {5};
        whole_start(&w, UINT64_C(311) << 40, multiset);
        for (uint64_t n = 0; n < 120000; n++) {
            assert_int_equal(vidi__table_add(&w.table, test_next(&random)), VIDI_NEW);
            if (n % 5000 != 4999)
                continue;
            vidi__table_stats stats = {0};
            for (unsigned i = 0; i < vidi__table_partitions(&w.table); i++)
                vidi__table_stat(&w.table, i, &stats);
            const vidi__slabs *slabs = &w.table.slabs;
            uint64_t pool = slabs->block_room * sizeof *slabs->blocks;
            for (uint64_t i = 0; i < slabs->block_count; i++)
                pool += slabs->blocks[i].size;
            uint64_t in_use = (slabs->total - slabs->free_count) * VIDI__SLAB_BYTES;
            assert_int_equal(stats.bytes, vidi__memory_used(&w.memory) - pool + in_use);
            assert_true(stats.used == (double)n + 1 && stats.slots > stats.used);
        }
        assert_true(vidi__table_is_divided(&w.table));
        whole_finish(&w);
    }
}

/*
 * Not all at once: while the whole grows by a third, each of the 256 sub-tables grows once, but few of them at the same
 * time.
 */
static void partitions_grow_one_after_the_other(void **state)
{
    whole w;
    test_random random = {6};
    uint64_t n = 0, changes = 0, all = 0, most = 0;
    (void)state;
    if (test_sanitized())
        skip();
    start(&w, UINT64_C(1) << 60, false);
    for (double next = 3e6; next < 4.1e6; next *= 1.03) {
        for (; n < (uint64_t)next; n++)
            assert_int_equal(vidi__table_add(&w.table, test_next(&random)), VIDI_NEW);
        uint64_t grown = w.table.replaced - changes;
        changes += grown;
        if (next > 3e6) {
            all += grown;
            most = grown > most ? grown : most;
        }
    }
    check(all > 220 && all < 300 && most <= 50, "%d grew, up to %d at a time", (int)all, (int)most);
    whole_finish(&w);
}

static double bytes_of(const vidi__table *table)
{
    vidi__table_stats stats = {0};
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        vidi__table_stat(table, i, &stats);
    return (double)stats.bytes;
}

/* Growing by the factor g: ln 4 / ln g times while the table quadruples, in (g - 1) / ln g times the memory. */
static void the_growth_factor_is_kept(void **state)
{
    static const double factors[] = {1.1, 1.36, 1.5, 2, 4};
    enum { FROM = 40000, TO = 4 * FROM, STEP = 2000 };
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(factors); i++) {
        whole w;
        test_random random = {7};
        uint64_t changes = 0;
        double growth = factors[i], sum = 0, most = 0;
        start(&w, UINT64_C(1) << 60, false);
        w.table.growth = growth;
        for (uint64_t n = 1; n <= TO; n++) {
            assert_int_equal(vidi__table_add(&w.table, test_next(&random)), VIDI_NEW);
            if (n == FROM)
                changes = w.table.replaced;
            if (n > FROM && n % STEP == 0) {
                sum += bytes_of(&w.table) / (double)n;
                most = fmax(most, bytes_of(&w.table) / (double)n);
            }
        }
        double grown = (double)(w.table.replaced - changes) / VIDI__PARTITIONS, right = log(4) / log(growth);
        check(fabs(grown - right) <= 0.1 * right + 0.1, "growth=%g: %g times, not %g", growth, grown, right);
        double each = sum * STEP / (TO - FROM), full = 64 / (0.88 * 10), planned = full * (growth - 1) / log(growth);
        check(each > 0.97 * planned && most < 1.12 * planned, "growth=%g: %g bytes each, up to %g, not %g", growth,
              each, most, planned);
        whole_finish(&w);
    }
}

/* ---- streams ---- */

static void fill_for_stream(whole *w, unsigned which)
{
    test_random random = {which};
    if (which == 0)
        return;
    for (uint64_t i = 0; i < 30000; i++) {
        int verdict = vidi__table_add(&w->table, which == 1 ? hash_in_corner(&random, 0, false) : test_next(&random));
        assert_true(verdict == VIDI_NEW || verdict == VIDI_SEEN);
    }
    for (uint64_t i = 0; which == 3 && i < 200000; i++)
        vidi__table_add(&w->table, hash_in_corner(&random, 2, true));
}

static void check_same_tables(const vidi__table *a, const vidi__table *b)
{
    assert_int_equal(a->partition_bits, b->partition_bits);
    for (unsigned i = 0; i < vidi__table_partitions(a); i++) {
        const vidi__directory x = vidi__directory_of(&a->partitions[i]), y = vidi__directory_of(&b->partitions[i]);
        assert_int_equal(x.entries == NULL, y.entries == NULL);
        for (uint64_t j = 0; x.entries && j < UINT64_C(1) << x.depth; j++) {
            const vidi__subtable *mine = x.entries[j], *other = y.entries[j];
            assert_int_equal(x.depth, y.depth);
            assert_int_equal(mine->depth, other->depth);
            check_same_lines(mine, other);
            assert_true(!j || (mine == x.entries[j - 1]) == (other == y.entries[j - 1]));
        }
    }
}

/* Empty; with one partition open; all; and with directories; the same with only one partition. */
static void a_stream_brings_a_table_back(void **state)
{
    (void)state;
    for (unsigned test = 0; test < 32; test++) {
        whole w, copy;
        unsigned which = test % 16;
        bool multiset = which % 2, known = which / 2 % 2;
        uint64_t count = 7, hashes = numbers[which / 4];
        whole_start(&w, hashes, multiset);
        if (test < 16)
            assert_int_equal(vidi__table_divide(&w.table), VIDI_OK);
        whole_start(&copy, hashes, multiset);
        fill_for_stream(&w, which / 4);
        stream s = stream_new();
        assert_int_equal(vidi__table_save(&w.table, &s.writer), VIDI_OK);
        stream_rewind(&s, known);
        int code = vidi__table_load(&copy.table, &s.reader, &count);
        check(code == VIDI_OK, "%u: %s", test, vidi_message());
        assert_int_equal(s.at, s.size);
        list right = listed(&w.table), mine = listed(&copy.table);
        assert_int_equal(count, 7 + right.n);
        assert_int_equal(mine.n, right.n);
        if (mine.n)
            assert_memory_equal(mine.hashes, right.hashes, mine.n * 2 * sizeof *mine.hashes);
        check_same_tables(&w.table, &copy.table);
        list_free(&right);
        list_free(&mine);
        free(s.data);
        whole_finish(&w);
        whole_finish(&copy);
    }
}

/* Hashes that share more bits than any number of random ones would: the directory gets as deep as a stream may say. */
static void what_was_saved_can_be_loaded_however_hashes_crowd(void **state)
{
    enum { PREFIX = 20, N = 400000 };
    whole w, copy;
    test_random random = {7};
    uint64_t count = 0, fresh = 0;
    (void)state;
    whole_start(&w, UINT64_C(1) << 60, false);
    whole_start(&copy, UINT64_C(1) << 60, false);
    for (unsigned i = 0; i < N; i++)
        fresh += vidi__table_add(&w.table, hash_in_corner(&random, PREFIX, false)) == VIDI_NEW;
    stream s = stream_new();
    assert_int_equal(vidi__table_save(&w.table, &s.writer), VIDI_OK);
    stream_rewind(&s, true);
    int code = vidi__table_load(&copy.table, &s.reader, &count);
    free(s.data);
    check(code == VIDI_OK, "depth %u: %s", vidi__directory_of(&w.table.partitions[9]).depth, vidi_message());
    assert_int_equal(count, fresh);
    whole_finish(&w);
    whole_finish(&copy);
}

/* Lines that adding this hash touches: its own, the next one if that is full, and one beside if both are. */
static unsigned lines_touched(const vidi__table *table, uint64_t hash)
{
    const vidi__place place = vidi__table_place(table, hash);
    unsigned slots = place.table ? vidi__line_slots(place.table->width) : 0;
    if (!place.table || vidi__line_count(vidi__line_head(place.spot.line)) < slots)
        return 1;
    const unsigned char *next = vidi__subtable_next_line(place.table, place.hash);
    return vidi__line_count(vidi__line_head(next)) < slots ? 2 : 3;
}

/* Lines that filling a table touches, per add. */
static double lines_for(uint64_t hashes, uint64_t n, uint64_t seed)
{
    uint64_t sum = 0;
    test_random random = {seed};
    whole w;
    whole_start(&w, hashes, false);
    assert_int_equal(vidi__table_reserve(&w.table, n), VIDI_OK);
    for (uint64_t added = 0; added < n; added++) {
        uint64_t hash = test_next(&random);
        sum += lines_touched(&w.table, hash);
        assert_true(vidi__table_add(&w.table, hash) > 0);
    }
    whole_finish(&w);
    return (double)sum / (double)n;
}

/* What a plan says of a table's speed: lines per add, from empty to full; of small tables, on average. */
static void an_add_touches_as_many_lines_as_planned(void **state)
{
    static const uint64_t sizes[] = {2000, 200000, 700000};
    const size_t some = test_sanitized() ? 2 : VIDI__COUNT(sizes);
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(numbers) * some; i++) {
        uint64_t hashes = numbers[i / some], n = sizes[i % some];
        unsigned tables = n < 10000 ? 20 : 1;
        double touched = 0, planned = vidi__table_lines_for((double)n, hashes);
        for (unsigned j = 0; j < tables; j++)
            touched += lines_for(hashes, n, 20 * i + j) / tables;
        check(fabs(planned - touched) <= 0.02, "%g numbers, %g URLs: %g lines, planned %g", (double)hashes, (double)n,
              touched, planned);
    }
}

/* ---- threads ---- */

/* Sub-tables wait as long as another thread may look at them. Then they are memory, also for a thread that is alone. */
static void an_only_thread_frees_what_others_have_replaced(void **state)
{
    test_random random = {7};
    whole w;
    (void)state;
    whole_start(&w, UINT64_C(1) << 60, false);
    whole_share(&w);
    for (unsigned i = 0; i < 20000; i++)
        assert_int_equal(vidi__table_add_shared(&w.table, test_next(&random)), VIDI_NEW);
    assert_non_null(w.table.retired);
    vidi__gate_leave(&w.gate, vidi__gate_slot(&w.gate));
    vidi__gate_close(&w.gate);
    w.memory.limit = vidi__memory_used(&w.memory);
    for (uint64_t replaced = w.table.replaced; w.table.replaced == replaced;)
        assert_int_equal(vidi__table_add(&w.table, test_next(&random)), VIDI_NEW);
    assert_null(w.table.retired);
    vidi__gate_open(&w.gate);
    whole_finish(&w);
}

/* Adds a hash with as little memory as it takes: how much more than is in use. */
static uint64_t add_with_least(whole *w, uint64_t hash)
{
    uint64_t more = 0;
    w->memory.limit = vidi__memory_used(&w->memory);
    for (int code; (code = vidi__table_add(&w->table, hash)) != VIDI_NEW; w->memory.limit += VIDI__CACHE_LINE) {
        assert_int_equal(code, VIDI_ELIMIT);
        more += VIDI__CACHE_LINE;
    }
    return more;
}

/* Where one thread has enough memory to make a sub-table grow, so has one among others. */
static void growing_among_others_needs_no_more_memory(void **state)
{
    test_random random = {11};
    whole alone, shared;
    uint64_t hash, more = 0;
    (void)state;
    start(&alone, UINT64_C(1) << 60, false);
    start(&shared, UINT64_C(1) << 60, false);
    for (unsigned i = 0; i < 20000; i++) {
        hash = test_next(&random);
        assert_int_equal(vidi__table_add(&alone.table, hash), VIDI_NEW);
        assert_int_equal(vidi__table_add(&shared.table, hash), VIDI_NEW);
    }
    for (uint64_t replaced = alone.table.replaced;;) {
        hash = test_next(&random);
        more = add_with_least(&alone, hash);
        if (alone.table.replaced > replaced)
            break;
        assert_int_equal(vidi__table_add(&shared.table, hash), VIDI_NEW);
    }
    whole_share(&shared);
    shared.memory.limit = vidi__memory_used(&shared.memory) + more;
    assert_int_equal(vidi__table_add_shared(&shared.table, hash), VIDI_NEW);
    whole_finish(&alone);
    whole_finish(&shared);
}

int main(int argc, char **argv)
{
    test_add("it tells numbers apart and nothing else", it_tells_numbers_apart_and_nothing_else, NULL);
    test_add("it lists the least hash of each number", it_lists_the_least_hash_of_each_number, NULL);
    test_add("a visitor ends the listing", a_visitor_ends_the_listing, NULL);
    test_add("growing always makes room", growing_always_makes_room, NULL);
    test_add("a table holds all the numbers there are", a_table_holds_all_the_numbers_there_are, NULL);
    test_add("a table that tells few apart does not split", a_table_that_tells_few_apart_does_not_split, NULL);
    test_add("hashes that share a prefix split it away", hashes_that_share_a_prefix_split_it_away, NULL);
    test_add("sub-tables of different depths stand side by side", sub_tables_of_different_depths_stand_side_by_side,
             NULL);
    test_add("a place is good until its sub-table is replaced", a_place_is_good_until_its_sub_table_is_replaced, NULL);
    test_add("what is reserved hardly grows", what_is_reserved_hardly_grows, NULL);
    test_add("what is reserved is asked for at once", what_is_reserved_is_asked_for_at_once, NULL);
    test_add("an add touches as many lines as planned", an_add_touches_as_many_lines_as_planned, NULL);
    test_add("its bytes are what it allocated", its_bytes_are_what_it_allocated, NULL);
    test_add("partitions grow one after the other", partitions_grow_one_after_the_other, NULL);
    test_add("the growth factor is kept", the_growth_factor_is_kept, NULL);
    test_add("an only thread frees what others have replaced", an_only_thread_frees_what_others_have_replaced, NULL);
    test_add("growing among others needs no more memory", growing_among_others_needs_no_more_memory, NULL);
    test_add("a stream brings a table back", a_stream_brings_a_table_back, NULL);
    test_add("what was saved can be loaded however hashes crowd", what_was_saved_can_be_loaded_however_hashes_crowd,
             NULL);
    return test_run("table", argc, argv);
}
