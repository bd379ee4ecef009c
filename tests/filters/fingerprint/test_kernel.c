/*
 * Batches of fingerprint, at every level of the processor: a thread that is alone gets the verdicts of single adds
 * and leaves the same bits; one that shares the table leaves the same contents; tables grow, partitions open and memory
 * runs out in the midst of both.
 */
#include "filters/fingerprint/kernels/kernel.h"
#include "filters/fingerprint/table_cases.h"

#define UNTOUCHED 99

/* Numbers that tables tell apart, so that their lines get every width while a few thousand hashes come in. */
static const uint64_t numbers[] = {UINT64_C(1) << 33, UINT64_C(1) << 41, UINT64_C(385) << 41, UINT64_C(1) << 57,
                                   UINT64_C(1) << 60};
static const size_t sizes[] = {0, 1, 2, 15, 16, 17, 31, 33, 47, 48, 49, 64, 65, 100, 777, VIDI__HASHES_MAX};

static void start(whole *w, uint64_t hashes, uint64_t reserved)
{
    whole_start(w, hashes, false);
    assert_int_equal(vidi__table_reserve(&w->table, reserved), VIDI_OK);
}

/*
 * A batch in which many hashes come again, half of them in this batch. Every fourth hash is in one corner of the table,
 * so that its sub-tables grow in the midst of batches.
 */
static void make_batch(vidi__u128 *hashes, size_t n, test_random *random, uint64_t range)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t number = test_below(random, range);
        uint64_t hash = vidi__mix(number);
        if (number % 4 == 0)
            hash = hash >> 8 | UINT64_C(0x2a) << 56;
        hashes[i] = (vidi__u128){number, test_below(random, 8) == 0 && i ? hashes[test_below(random, i)].hi : hash};
    }
}

static vidi__fingerprint_run run_of(vidi__table *table, const vidi__u128 *hashes, size_t n, uint8_t *verdicts, bool far)
{
    memset(verdicts, UNTOUCHED, n);
    return (vidi__fingerprint_run){.table = table, .hashes = hashes, .count = n, .verdicts = verdicts, .far = far};
}

static void check_lookups(const vidi__fingerprint_kernel *kernel, vidi__table *table, const vidi__u128 *hashes,
                          size_t n, bool far)
{
    uint8_t ring[VIDI__HASHES_MAX], shared[VIDI__HASHES_MAX];
    vidi__fingerprint_run run = run_of(table, hashes, n, ring, far);
    kernel->has(&run);
    run = run_of(table, hashes, n, shared, far);
    kernel->has_shared(&run);
    for (size_t i = 0; i < n; i++) {
        const vidi__place place = vidi__table_place(table, hashes[i].hi);
        bool seen = place.table && vidi__subtable_has(place.table, place.hash, &place.spot);
        check(ring[i] == (seen ? VIDI_SEEN : VIDI_NEW), "hash %d of %d: %d", (int)i, (int)n, ring[i]);
        assert_int_equal(shared[i], ring[i]);
    }
}

static void check_same_contents(const vidi__table *a, const vidi__table *b)
{
    list left = {0}, right = {0};
    assert_int_equal(vidi__table_walk(a, collect, &left), 0);
    assert_int_equal(vidi__table_walk(b, collect, &right), 0);
    list_settle(&left);
    list_settle(&right);
    assert_int_equal(left.n, right.n);
    assert_memory_equal(left.hashes, right.hashes, left.n * 2 * sizeof *left.hashes);
    list_free(&left);
    list_free(&right);
}

static void check_same_bits(const vidi__table *a, const vidi__table *b)
{
    stream left = stream_new(), right = stream_new();
    assert_int_equal(vidi__table_save(a, &left.writer), VIDI_OK);
    assert_int_equal(vidi__table_save(b, &right.writer), VIDI_OK);
    assert_int_equal(left.size, right.size);
    assert_memory_equal(left.data, right.data, left.size);
    free(left.data);
    free(right.data);
}

/* Three tables get the same batches: one hash at a time, alone, among others. Hashes are removed now and then. */
static void compare_ways(const vidi__fingerprint_kernel *kernel, uint64_t hashes, uint64_t reserved, bool far)
{
    whole singly, ringed, shared;
    vidi__u128 batch[VIDI__HASHES_MAX];
    uint8_t ring[VIDI__HASHES_MAX], among_others[VIDI__HASHES_MAX];
    test_random random = {hashes ^ reserved};
    start(&singly, hashes, reserved);
    start(&ringed, hashes, reserved);
    start(&shared, hashes, reserved);
    whole_share(&shared);
    for (size_t i = 0; i < 10 * VIDI__COUNT(sizes); i++) {
        size_t n = sizes[i % VIDI__COUNT(sizes)];
        make_batch(batch, n, &random, 60000);
        check_lookups(kernel, &ringed.table, batch, n, far);
        check_lookups(kernel, &shared.table, batch, n, far);
        vidi__fingerprint_run run = run_of(&ringed.table, batch, n, ring, far);
        assert_int_equal(kernel->add(&run), VIDI_OK);
        vidi__fingerprint_run shared_run = run_of(&shared.table, batch, n, among_others, far);
        assert_int_equal(kernel->add_shared(&shared_run), VIDI_OK);
        uint64_t fresh = 0;
        for (size_t j = 0; j < n; j++) {
            int verdict = vidi__table_add(&singly.table, batch[j].hi);
            check(ring[j] == verdict && among_others[j] == verdict, "hash %d of %d: %d alone, %d among others, not %d",
                  (int)j, (int)n, ring[j], among_others[j], verdict);
            fresh += verdict == VIDI_NEW;
        }
        assert_true(run.done == n && shared_run.done == n && run.fresh == fresh && shared_run.fresh == fresh);
        for (size_t j = 0; j < n && i % 2; j += 2) {
            whole *all[] = {&singly, &ringed, &shared};
            bool gone[3];
            for (size_t k = 0; k < 3; k++) {
                const vidi__place place = vidi__table_place(&all[k]->table, batch[j].hi);
                gone[k] = vidi__subtable_remove(place.table, place.hash);
            }
            assert_true(gone[0] == gone[1] && gone[1] == gone[2]);
        }
    }
    assert_true(vidi__table_is_divided(&ringed.table)); /* perhaps in the midst of a ring */
    check_same_bits(&singly.table, &ringed.table);
    check_same_contents(&singly.table, &shared.table);
    whole_finish(&singly);
    whole_finish(&ringed);
    whole_finish(&shared);
}

static void batches_do_what_single_adds_do(void **state)
{
    vidi__cpu_level level = *(const vidi__cpu_level *)*state;
    if (!vidi__cpu_has(level))
        skip();
    for (size_t i = 0; i < VIDI__COUNT(numbers); i++)
        for (unsigned way = 0; way < 4; way++)
            compare_ways(vidi__fingerprint_kernel_for(level), numbers[i], way % 2 ? 40000 : 0, way / 2);
}

/* Whichever allocation is refused: what has a verdict is in the table, what has none left no trace. */
static void an_error_leaves_each_hash_answered_or_untouched(void **state)
{
    enum { N = 1500 };
    static vidi__u128 batch[N];
    uint8_t verdicts[N];
    uint64_t refusals = 0;
    const vidi__fingerprint_kernel *kernel = vidi__fingerprint_kernel_for(vidi__cpu());
    (void)state;
    for (size_t i = 0; i < N; i++)
        batch[i] = (vidi__u128){0, i % 2 ? vidi__mix(i) : vidi__mix(i) >> 7};
    for (unsigned at = 1; at < 500; at += 1 + at / 12) {
        whole w;
        start(&w, UINT64_C(1) << 60, 0);
        vidi__fingerprint_run run = run_of(&w.table, batch, N, verdicts, false);
        if (at % 2 == 0)
            whole_share(&w);
        test_allocator_fail(&w.allocator, at, true);
        int code = at % 2 ? kernel->add(&run) : kernel->add_shared(&run);
        assert_int_equal(code, test_allocator_refused(&w.allocator) ? VIDI_EMEMORY : VIDI_OK);
        refusals += code < 0;
        uint64_t answered = 0;
        for (size_t i = 0; i < N; i++) {
            const vidi__place place = vidi__table_place(&w.table, batch[i].hi);
            bool there = place.table && vidi__subtable_has(place.table, place.hash, &place.spot);
            assert_int_equal(verdicts[i], there ? VIDI_NEW : UNTOUCHED);
            answered += there;
        }
        assert_true(run.done == answered && run.fresh == answered);
        whole_finish(&w);
    }
    assert_true(refusals > 10);
}

int main(int argc, char **argv)
{
    static const vidi__cpu_level levels[] = {VIDI__CPU_PORTABLE, VIDI__CPU_SSE2, VIDI__CPU_AVX2, VIDI__CPU_AVX512,
                                             VIDI__CPU_NEON};
    static char names[VIDI__COUNT(levels)][80];
    for (size_t i = 0; i < VIDI__COUNT(levels); i++) {
        snprintf(names[i], sizeof names[i], "batches do what single adds do: %s", vidi__cpu_name(levels[i]));
        test_add(names[i], batches_do_what_single_adds_do, (void *)&levels[i]);
    }
    test_add("an error leaves each hash answered or untouched", an_error_leaves_each_hash_answered_or_untouched, NULL);
    return test_run("fingerprint kernels", argc, argv);
}
