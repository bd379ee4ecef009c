/* The filters people use now: what they promise, each by itself. */
#include <stdlib.h>
#include <string.h>

#include "lab/urls/mix.h"
#include "lab/peers/peer_filters.h"
#include "support/check.h"
#include "support/runner.h"

enum { KEYS = 3000 };

static uint64_t keys[2 * KEYS]; /* those of the first half are added */

static void make_keys(void)
{
    for (uint64_t i = 0; i < (uint64_t)2 * KEYS; i++)
        keys[i] = lab_mix(i + 17);
}

static lab_peer_keys from(size_t first, size_t count)
{
    return (lab_peer_keys){keys + first, 1, count};
}

/* ---- cuckoo ---- */

static lab_cuckoo *cuckoo_of(uint64_t buckets, unsigned bits, size_t count)
{
    lab_cuckoo *filter;
    assert_int_equal(lab_cuckoo_make(&filter, buckets, bits, NULL), VIDI_OK);
    assert_true(lab_cuckoo_add(filter, from(0, count), NULL) >= 0);
    return filter;
}

static void a_cuckoo_filter_finds_every_key_with_any_width_and_size(void **state)
{
    const uint64_t sizes[] = {lab_cuckoo_buckets_for(KEYS), 1024};
    (void)state;
    make_keys();
    for (unsigned bits = 6; bits <= LAB_CUCKOO_BITS_MOST; bits++)
        for (size_t i = 0; i < 2; i++) {
            lab_cuckoo *filter = cuckoo_of(sizes[i], bits, KEYS);
            check(lab_cuckoo_has(filter, from(0, KEYS), NULL) == KEYS, "%u bits: a key is lost", bits);
            double wrong = (double)lab_cuckoo_has(filter, from(KEYS, KEYS), NULL), expected = 8.0 * KEYS;
            for (unsigned bit = 0; bit < bits; bit++)
                expected /= 2;
            check(wrong < 1.5 * expected + 10, "%u bits: %g are falsely seen, not %g", bits, wrong, expected);
            check(lab_cuckoo_bytes(filter) <= sizes[i] * 4 * bits / 8 + 9, "%u bits: %llu bytes", bits,
                  (unsigned long long)lab_cuckoo_bytes(filter));
            lab_cuckoo_free(filter);
        }
}

static void a_full_cuckoo_filter_says_so_and_loses_nothing(void **state)
{
    lab_cuckoo *filter;
    size_t added = 0;
    int64_t code = 0;
    (void)state;
    make_keys();
    assert_int_equal(lab_cuckoo_make(&filter, 512, 12, NULL), VIDI_OK);
    while (added < KEYS && (code = lab_cuckoo_add(filter, from(added, 1), NULL)) >= 0)
        added++;
    assert_int_equal(code, VIDI_ELIMIT);
    check((double)added > 0.95 * 2048, "%zu of 2,048 slots are taken", added);
    assert_int_equal(lab_cuckoo_has(filter, from(0, added), NULL), added);
    assert_int_equal(lab_cuckoo_remove(filter, from(0, 1000)), 1000);
    assert_true(lab_cuckoo_has(filter, from(1000, added - 1000), NULL) >= (int64_t)(added - 1000) - 5);
    assert_true(lab_cuckoo_has(filter, from(0, 1000), NULL) < 20);
    lab_cuckoo_free(filter);
}

static void merged_cuckoo_filters_know_the_keys_of_both(void **state)
{
    (void)state;
    make_keys();
    for (unsigned bits = 12; bits <= 36; bits += 12) {
        lab_cuckoo *filter = cuckoo_of(800, bits, KEYS / 2), *other, *smaller;
        assert_int_equal(lab_cuckoo_make(&other, 800, bits, NULL), VIDI_OK);
        assert_int_equal(lab_cuckoo_make(&smaller, 700, bits, NULL), VIDI_OK);
        assert_true(lab_cuckoo_add(other, from(KEYS / 2, KEYS / 2), NULL) >= 0);
        assert_int_equal(lab_cuckoo_merge(filter, other), VIDI_OK);
        assert_int_equal(lab_cuckoo_has(filter, from(0, KEYS), NULL), KEYS);
        assert_int_equal(lab_cuckoo_merge(filter, smaller), VIDI_ECANNOT);
        lab_cuckoo_free(filter);
        lab_cuckoo_free(other);
        lab_cuckoo_free(smaller);
    }
}

/* ---- binary fuse ---- */

static void a_binary_fuse_filter_finds_every_key_of_any_number(void **state)
{
    static const size_t counts[] = {0, 1, 2, 3, 10, 100, 999, KEYS};
    (void)state;
    make_keys();
    for (unsigned arity = 3; arity <= 4; arity++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (unsigned bits = 1; bits <= LAB_FUSE_BITS_MOST; bits += 15) {
                lab_fuse *filter;
                assert_int_equal(lab_fuse_make(&filter, i % 2 ? counts[i] : 0, arity, bits, NULL), VIDI_OK);
                assert_int_equal(lab_fuse_collect(filter, from(0, counts[i])), VIDI_OK);
                assert_int_equal(lab_fuse_freeze(filter), VIDI_OK);
                assert_int_equal(lab_fuse_has(filter, from(0, counts[i]), NULL), counts[i]);
                int64_t wrong = lab_fuse_has(filter, from(KEYS, KEYS), NULL);
                check(bits > 1 ? wrong < 10 : wrong > KEYS * 2 / 5 && wrong < KEYS * 3 / 5,
                      "%u-wise, %u bits, %zu keys: %lld are falsely seen", arity, bits, counts[i], (long long)wrong);
                lab_fuse_free(filter);
            }
}

/* The sizes of the paper, with a million keys. */
static void a_binary_fuse_filter_has_the_size_of_its_paper(void **state)
{
    (void)state;
    check(lab_fuse_places(1000000, 3) >= 1125000 && lab_fuse_places(1000000, 3) < 1135000, "3-wise: %llu places",
          (unsigned long long)lab_fuse_places(1000000, 3));
    check(lab_fuse_places(1000000, 4) >= 1075000 && lab_fuse_places(1000000, 4) < 1085000, "4-wise: %llu places",
          (unsigned long long)lab_fuse_places(1000000, 4));
}

static void a_finished_binary_fuse_filter_takes_nothing_more(void **state)
{
    lab_fuse *filter;
    (void)state;
    make_keys();
    assert_int_equal(lab_fuse_make(&filter, 100, 3, 8, NULL), VIDI_OK);
    assert_int_equal(lab_fuse_has(filter, from(0, 1), NULL), VIDI_ECANNOT);
    assert_int_equal(lab_fuse_collect(filter, from(0, 100)), VIDI_OK);
    assert_int_equal(lab_fuse_freeze(filter), VIDI_OK);
    assert_int_equal(lab_fuse_collect(filter, from(100, 1)), VIDI_ECANNOT);
    assert_int_equal(lab_fuse_freeze(filter), VIDI_ECANNOT);
    assert_int_equal(lab_fuse_has(filter, from(0, 100), NULL), 100);
    lab_fuse_free(filter);
}

static void equal_keys_are_refused(void **state)
{
    lab_fuse *filter;
    (void)state;
    make_keys();
    assert_int_equal(lab_fuse_make(&filter, 0, 3, 8, NULL), VIDI_OK);
    assert_int_equal(lab_fuse_collect(filter, from(0, 100)), VIDI_OK);
    assert_int_equal(lab_fuse_collect(filter, from(50, 1)), VIDI_OK);
    assert_int_equal(lab_fuse_freeze(filter), VIDI_EARGUMENT);
    lab_fuse_free(filter);
}

/* ---- RocksDB ---- */

/* The bits of the description, set one by one. */
static void mark_plainly(uint32_t *words, uint32_t lines, unsigned probes, uint64_t key)
{
    uint32_t *line = words + (size_t)(((key & UINT32_MAX) * lines) >> 32) * 16, h = (uint32_t)(key >> 32);
    for (unsigned i = 0; i < probes; i++, h *= UINT32_C(0x9e3779b9)) {
        unsigned bit = h >> 23;
        line[bit / 32] |= UINT32_C(1) << bit % 32;
    }
}

static bool matches_plainly(const uint32_t *words, uint32_t lines, unsigned probes, uint64_t key)
{
    const uint32_t *line = words + (size_t)(((key & UINT32_MAX) * lines) >> 32) * 16;
    uint32_t h = (uint32_t)(key >> 32);
    for (unsigned i = 0; i < probes; i++, h *= UINT32_C(0x9e3779b9))
        if (!(line[h >> 28] >> (h >> 23) % 32 & 1))
            return false;
    return true;
}

static void rocksdb_sets_and_finds_the_bits_of_its_description(void **state)
{
    enum { LINES = 61 };
    static uint32_t plain[LINES * 16];
    static bool seen[2 * KEYS];
    uint32_t *words = lab_peer_allocate(NULL, LINES * LAB_PEER_LINE);
    (void)state;
    make_keys();
    assert_non_null(words);
    for (unsigned probes = 1; probes <= 24; probes++) {
        lab_rocksdb filter = {words, LINES, probes};
        memset(words, 0, LINES * LAB_PEER_LINE);
        memset(plain, 0, sizeof plain);
        lab_rocksdb_add(&filter, from(0, KEYS / 2), NULL);
        for (size_t i = 0; i < KEYS / 2; i++)
            mark_plainly(plain, LINES, probes, keys[i]);
        check(memcmp(plain, words, sizeof plain) == 0, "%u probes: other bits are set", probes);
        lab_rocksdb_has(&filter, from(0, (size_t)2 * KEYS), seen);
        for (size_t i = 0; i < (size_t)2 * KEYS; i++)
            check(seen[i] == matches_plainly(plain, LINES, probes, keys[i]), "%u probes: key %zu", probes, i);
    }
    lab_peer_release(NULL, words, LINES * LAB_PEER_LINE);
}

/* Its documentation names the probes for 10 bits, its tests those for 16. */
static void rocksdb_takes_as_many_probes_as_it_says(void **state)
{
    (void)state;
    assert_int_equal(lab_rocksdb_probes(10), 6);
    assert_int_equal(lab_rocksdb_probes(16), 9);
    assert_int_equal(lab_rocksdb_probes(1), 1);
    assert_int_equal(lab_rocksdb_probes(100), 24);
    for (double rate = 0.01; rate > 1e-5; rate /= 10) {
        double bits = lab_rocksdb_bits(rate);
        assert_true(lab_rocksdb_rate(bits, lab_rocksdb_probes(bits)) <= rate);
        assert_true(lab_rocksdb_rate(bits - 0.2, lab_rocksdb_probes(bits - 0.2)) > rate);
    }
}

/* ---- hash set ---- */

/* Adds and removes at random, next to an array that says what is there. */
static void a_hash_set_knows_exactly_what_is_in_it(void **state)
{
    enum { STEPS = 60000 };
    static bool there[KEYS];
    lab_swiss *table;
    uint64_t random = 5, word, known = 0, listed = 0;
    (void)state;
    make_keys();
    memset(there, 0, sizeof there);
    assert_int_equal(lab_swiss_make(&table, 0, NULL), VIDI_OK);
    for (unsigned step = 0; step < STEPS; step++) {
        random = lab_mix(random + step);
        size_t i = random % KEYS;
        switch (random >> 32 & 3) {
        case 0:
            check(lab_swiss_remove(table, from(i, 1)) == there[i], "step %u: removed", step);
            known -= there[i];
            there[i] = false;
            break;
        case 1:
            check(lab_swiss_has(table, from(i, 1), NULL) == there[i], "step %u: looked up", step);
            break;
        default:
            check(lab_swiss_add(table, from(i, 1), NULL) == there[i], "step %u: added", step);
            known += !there[i];
            there[i] = true;
        }
    }
    for (uint64_t at = 0; lab_swiss_next(table, &at, &word); listed++) {
    }
    assert_int_equal(listed, known);
    lab_swiss_free(table);
}

static void a_hash_set_doubles_at_seven_eighths(void **state)
{
    lab_swiss *table;
    (void)state;
    make_keys();
    assert_int_equal(lab_swiss_make(&table, 1792, NULL), VIDI_OK);
    assert_int_equal(lab_swiss_slots(table), 2048);
    assert_int_equal(lab_swiss_add(table, from(0, 1792), NULL), 0);
    assert_int_equal(lab_swiss_slots(table), 2048);
    assert_int_equal(lab_swiss_bytes(table), 2048 * 9);
    assert_int_equal(lab_swiss_add(table, from(1792, 1), NULL), 0);
    assert_int_equal(lab_swiss_slots(table), 4096);
    assert_int_equal(lab_swiss_has(table, from(0, 1793), NULL), 1793);
    lab_swiss_free(table);
}

/* ---- memory ---- */

/* Refuses one of its calls, and counts what is not given back. */
typedef struct scarce {
    unsigned calls, refused;
    size_t held;
} scarce;

static void *scarce_allocate(void *context, size_t bytes, size_t alignment)
{
    scarce *memory = context;
    (void)alignment;
    if (memory->calls++ == memory->refused)
        return NULL;
    memory->held += bytes;
    return lab_peer_allocate(NULL, bytes);
}

static void scarce_release(void *context, void *ptr, size_t bytes, size_t alignment)
{
    (void)alignment;
    ((scarce *)context)->held -= bytes;
    lab_peer_release(NULL, ptr, bytes);
}

/* Returns the first error. */
static int64_t use_all(const vidi_allocator *memory)
{
    lab_cuckoo *cuckoo = NULL;
    lab_fuse *fuse = NULL;
    lab_swiss *swiss = NULL;
    int64_t code = lab_cuckoo_make(&cuckoo, 1000, 12, memory);
    if (code >= 0)
        code = lab_fuse_make(&fuse, 0, 3, 8, memory);
    if (code >= 0)
        code = lab_fuse_collect(fuse, from(0, KEYS));
    if (code >= 0)
        code = lab_fuse_freeze(fuse);
    if (code >= 0)
        code = lab_swiss_make(&swiss, 0, memory);
    if (code >= 0)
        code = lab_swiss_add(swiss, from(0, 100), NULL);
    lab_cuckoo_free(cuckoo);
    lab_fuse_free(fuse);
    lab_swiss_free(swiss);
    return code;
}

static void every_refused_allocation_is_an_error_and_nothing_leaks(void **state)
{
    bool done = false;
    (void)state;
    make_keys();
    for (unsigned refused = 0; !done; refused++) {
        scarce scarce = {.refused = refused};
        vidi_allocator memory = {sizeof memory, scarce_allocate, scarce_allocate, scarce_release, &scarce};
        int64_t code = use_all(&memory);
        done = scarce.calls <= refused;
        check(code == (done ? 0 : VIDI_EMEMORY), "call %u refused: %lld", refused, (long long)code);
        check(scarce.held == 0, "call %u refused: %zu bytes are not given back", refused, scarce.held);
        assert_true(refused < 100);
    }
}

int main(int argc, char **argv)
{
    test_add("a cuckoo filter finds every key with any width and size",
             a_cuckoo_filter_finds_every_key_with_any_width_and_size, NULL);
    test_add("a full cuckoo filter says so and loses nothing", a_full_cuckoo_filter_says_so_and_loses_nothing, NULL);
    test_add("merged cuckoo filters know the keys of both", merged_cuckoo_filters_know_the_keys_of_both, NULL);
    test_add("a binary fuse filter finds every key of any number", a_binary_fuse_filter_finds_every_key_of_any_number,
             NULL);
    test_add("a binary fuse filter has the size of its paper", a_binary_fuse_filter_has_the_size_of_its_paper, NULL);
    test_add("a finished binary fuse filter takes nothing more", a_finished_binary_fuse_filter_takes_nothing_more,
             NULL);
    test_add("equal keys are refused", equal_keys_are_refused, NULL);
    test_add("rocksdb sets and finds the bits of its description", rocksdb_sets_and_finds_the_bits_of_its_description,
             NULL);
    test_add("rocksdb takes as many probes as it says", rocksdb_takes_as_many_probes_as_it_says, NULL);
    test_add("a hash set knows exactly what is in it", a_hash_set_knows_exactly_what_is_in_it, NULL);
    test_add("a hash set doubles at seven eighths", a_hash_set_doubles_at_seven_eighths, NULL);
    test_add("every refused allocation is an error and nothing leaks",
             every_refused_allocation_is_an_error_and_nothing_leaks, NULL);
    return test_run("lab/peers", argc, argv);
}
