/*
 * Memory in slabs: aligned, used again, in blocks that grow with the whole or are reserved ahead, as arrays, within
 * the limit, from any thread.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/fingerprint/slabs.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/random.h"
#include "support/runner.h"

enum { HUGE = 2 << 20 };

typedef struct fixture {
    test_allocator allocator;
    vidi__memory memory;
    vidi__slabs slabs;
} fixture;

static void begin(fixture *f, uint64_t limit)
{
    test_allocator_init(&f->allocator);
    assert_int_equal(vidi__memory_init(&f->memory, &f->allocator.hook, limit), VIDI_OK);
    vidi__slabs_init(&f->slabs, &f->memory);
}

static void end(fixture *f)
{
    vidi__slabs_close(&f->slabs);
    vidi__slabs_close(&f->slabs); /* which is nothing any more */
    assert_int_equal(vidi__memory_used(&f->memory), 0);
    test_allocator_finish(&f->allocator);
}

static unsigned char *take(fixture *f)
{
    unsigned char *slab;
    assert_int_equal(vidi__slabs_take(&f->slabs, &slab), VIDI_OK);
    return slab;
}

static int by_address(const void *a, const void *b)
{
    const unsigned char *x = *(unsigned char *const *)a, *y = *(unsigned char *const *)b;
    return x < y ? -1 : x > y;
}

static void slabs_are_aligned_and_do_not_overlap(void **state)
{
    enum { N = 3000 };
    static unsigned char *all[N];
    fixture f;
    (void)state;
    begin(&f, 0);
    for (size_t i = 0; i < N; i++) {
        all[i] = take(&f);
        assert_int_equal((uintptr_t)all[i] % VIDI__CACHE_LINE, 0);
        memset(all[i], (int)i, VIDI__SLAB_BYTES); /* the allocator finds what goes beyond */
    }
    qsort(all, N, sizeof *all, by_address);
    for (size_t i = 1; i < N; i++)
        assert_true(all[i] - all[i - 1] >= VIDI__SLAB_BYTES);
    end(&f);
}

static void what_was_given_back_is_taken_first(void **state)
{
    enum { N = 500 };
    unsigned char *all[N];
    test_random random = {1};
    fixture f;
    (void)state;
    begin(&f, 0);
    for (size_t i = 0; i < N; i++)
        all[i] = take(&f);
    uint64_t used = vidi__memory_used(&f.memory), calls = f.allocator.calls;
    for (unsigned round = 0; round < 50; round++) {
        size_t n = (size_t)test_below(&random, N + 1);
        for (size_t i = 0; i < n; i++) {
            memset(all[i], 0xee, VIDI__SLAB_BYTES);
            vidi__slabs_give(&f.slabs, all[i]);
        }
        assert_int_equal(f.slabs.free_count, n);
        for (size_t i = 0; i < n; i++)
            all[i] = take(&f);
        assert_int_equal(f.slabs.free_count, 0);
    }
    vidi__slabs_give(&f.slabs, NULL);
    assert_int_equal(f.slabs.free_count, 0);
    assert_int_equal(vidi__memory_used(&f.memory), used);
    assert_int_equal(f.allocator.calls, calls);
    qsort(all, N, sizeof *all, by_address);
    for (size_t i = 1; i < N; i++)
        assert_true(all[i] > all[i - 1]);
    end(&f);
}

/*
 * What is allocated ahead is a hundredth below 64 MiB and a block of 2 MiB above; no block is larger, and blocks are
 * few.
 */
static void blocks_grow_with_the_whole(void **state)
{
    enum { N = 8000 };
    fixture f;
    (void)state;
    begin(&f, 0);
    for (uint64_t i = 1; i <= N; i++) {
        take(&f);
        uint64_t taken = i * VIDI__SLAB_BYTES, used = vidi__memory_used(&f.memory);
        uint64_t ahead = taken < 32 * HUGE ? taken / 100 : HUGE;
        check(used <= taken + ahead + 3 * VIDI__SLAB_BYTES, "%d slabs, %d bytes", (int)i, (int)used);
    }
    assert_int_equal(f.slabs.total, N);
    check(f.slabs.block_count < 1000, "%d blocks", (int)f.slabs.block_count);
    assert_int_equal(f.allocator.largest, HUGE);
    end(&f);
}

/* What jemalloc makes of a request of 16 KiB or more: it has four sizes for each power of two. */
static uint64_t size_of_jemalloc(uint64_t size)
{
    uint64_t power = VIDI__SLAB_BYTES;
    while (2 * power <= size)
        power *= 2;
    return (size + power / 4 - 1) / (power / 4) * (power / 4);
}

static void blocks_have_sizes_that_waste_nothing(void **state)
{
    enum { N = 6000 };
    fixture f;
    (void)state;
    begin(&f, 0);
    for (uint64_t i = 0; i < N; i++)
        take(&f);
    for (uint64_t i = 0; i < f.slabs.block_count; i++)
        assert_int_equal(f.slabs.blocks[i].size, size_of_jemalloc(f.slabs.blocks[i].size));
    end(&f);
}

static void large_blocks_are_aligned_for_large_pages(void **state)
{
    enum { N = 6000 };
    uint64_t huge = 0, total = 0;
    fixture f;
    (void)state;
    begin(&f, 0);
    assert_int_equal(vidi__memory_init(&f.memory, NULL, 0), VIDI_OK); /* a promise of the default allocator's alone */
    for (uint64_t i = 0; i < N; i++)
        take(&f);
    for (uint64_t i = 0; i < f.slabs.block_count; i++) {
        const vidi__slab_block *block = &f.slabs.blocks[i];
        assert_int_equal(block->size % VIDI__SLAB_BYTES, 0);
        assert_int_equal((uintptr_t)block->bytes % block->alignment, 0);
        if (total >= (uint64_t)65 << 20)
            assert_int_equal(block->size, HUGE);
        if (block->size == HUGE)
            assert_int_equal((uintptr_t)block->bytes % HUGE, 0);
        huge += block->size == HUGE;
        total += block->size;
    }
    assert_true(huge > 5);
    end(&f);
}

static void the_limit_is_kept_and_what_is_there_stays_usable(void **state)
{
    enum { LIMIT = 1000000 };
    unsigned char *slab, *last = NULL;
    uint64_t n = 0;
    fixture f;
    (void)state;
    begin(&f, LIMIT);
    int code;
    while ((code = vidi__slabs_take(&f.slabs, &slab)) == VIDI_OK) {
        last = slab;
        n++;
    }
    assert_int_equal(code, VIDI_ELIMIT);
    assert_null(slab);
    assert_true(n > 55 && vidi__memory_used(&f.memory) <= LIMIT);
    assert_int_equal(f.slabs.total, n);
    vidi__slabs_give(&f.slabs, last);
    assert_ptr_equal(take(&f), last);
    assert_int_equal(vidi__slabs_take(&f.slabs, &slab), VIDI_ELIMIT);
    f.memory.limit = 2 * LIMIT;
    assert_non_null(take(&f));
    end(&f);
}

static void a_refused_block_costs_nothing(void **state)
{
    fixture f;
    (void)state;
    for (uint64_t refused = 1; refused < 60; refused++) {
        begin(&f, 0);
        test_allocator_fail(&f.allocator, refused, false);
        unsigned char *slab;
        uint64_t taken = 0;
        while (vidi__slabs_take(&f.slabs, &slab) == VIDI_OK)
            taken++;
        assert_null(slab);
        assert_int_equal(f.slabs.total, taken);
        for (unsigned i = 0; i < 40; i++)
            memset(take(&f), 1, VIDI__SLAB_BYTES);
        end(&f);
    }
}

/* ---- blocks that are prepared ---- */

/* Prepares as much as is wanted; returns how many blocks there are ahead. */
static uint64_t prepare_all(fixture *f)
{
    while (vidi__slabs_prepare(&f->slabs))
        assert_true(vidi__slabs_want_more(&f->slabs));
    assert_false(vidi__slabs_want_more(&f->slabs));
    return f->slabs.ahead_count;
}

/* A small pool stays small; a large one gets a 64th more, and 16 MiB at most. */
static void as_much_is_prepared_as_is_promised(void **state)
{
    fixture f;
    (void)state;
    begin(&f, 0);
    for (uint64_t slabs = 1; slabs <= 80000; slabs++) {
        if (slabs > 10000)
            slabs += 5000, f.slabs.total += 5000; /* as if they had been taken */
        take(&f);
        uint64_t used = vidi__memory_used(&f.memory), total = f.slabs.total * VIDI__SLAB_BYTES;
        if (slabs % 1000 && slabs < 10000)
            continue;
        uint64_t ahead = prepare_all(&f);
        uint64_t most = total / HUGE / 64 + 1;
        assert_int_equal(ahead, total < (uint64_t)64 << 20 ? 0 : most < 8 ? most : 8);
        assert_true(vidi__memory_used(&f.memory) - used <= ahead * HUGE + 65536);
    }
    assert_int_equal(f.slabs.ahead_count, 8);
    end(&f);
}

/* What was given back comes first, then the rest of the newest block, then what was prepared; nothing is asked for. */
static void what_is_prepared_is_used_when_nothing_is_free(void **state)
{
    enum { N = 5000 };
    unsigned char *slab = NULL;
    fixture f;
    (void)state;
    begin(&f, 0);
    for (unsigned i = 0; i < N; i++)
        slab = take(&f);
    assert_int_equal(prepare_all(&f), 1);
    vidi__slabs_give(&f.slabs, slab);
    uint64_t calls = f.allocator.calls, rest = f.slabs.cut_left / VIDI__SLAB_BYTES, whole = HUGE / VIDI__SLAB_BYTES;
    assert_ptr_equal(take(&f), slab);
    for (uint64_t i = 0; i < rest; i++)
        memset(take(&f), 1, VIDI__SLAB_BYTES);
    assert_int_equal(f.slabs.ahead_count, 1);
    for (uint64_t i = 0; i < whole; i++)
        memset(take(&f), 2, VIDI__SLAB_BYTES);
    assert_int_equal(f.slabs.ahead_count, 0);
    assert_int_equal(f.allocator.calls, calls);
    take(&f);
    assert_true(f.allocator.calls > calls);
    end(&f);
}

static void what_cannot_be_prepared_costs_nothing(void **state)
{
    fixture f;
    (void)state;
    begin(&f, 0);
    for (unsigned i = 0; i < 5000; i++)
        take(&f);
    f.memory.limit = vidi__memory_used(&f.memory) + HUGE - 1;
    uint64_t used = vidi__memory_used(&f.memory);
    assert_int_equal(vidi__slabs_prepare(&f.slabs), 0);
    assert_int_equal(f.slabs.ahead_count, 0);
    assert_true(vidi__memory_used(&f.memory) - used < 65536); /* the list of blocks may have grown */
    f.memory.limit = UINT64_MAX;
    assert_int_equal(prepare_all(&f), 1);
    end(&f);
}

/* ---- a block ahead ---- */

static void what_is_reserved_is_asked_for_once(void **state)
{
    static const uint64_t sizes[] = {1, 2, 7, 127, 128, 129, 1000};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(sizes); i++) {
        fixture f;
        uint64_t bytes = sizes[i] * VIDI__SLAB_BYTES;
        begin(&f, 0);
        assert_int_equal(vidi__slabs_reserve(&f.slabs, bytes + VIDI__SLAB_BYTES - 1), VIDI_OK); /* whole slabs */
        assert_int_equal(f.allocator.largest, bytes);
        assert_int_equal(f.slabs.total, 0);
        uint64_t calls = f.allocator.calls;
        unsigned char *first = take(&f);
        assert_int_equal((uintptr_t)first % VIDI__CACHE_LINE, 0);
        for (uint64_t n = 1; n < sizes[i]; n++) {
            unsigned char *slab = take(&f);
            assert_ptr_equal(slab, first + n * VIDI__SLAB_BYTES);
            memset(slab, 7, VIDI__SLAB_BYTES);
        }
        assert_int_equal(f.allocator.calls, calls);
        memset(take(&f), 8, VIDI__SLAB_BYTES); /* beyond it goes on as always */
        assert_true(f.allocator.calls > calls);
        end(&f);
    }
}

static void less_than_a_slab_is_not_reserved(void **state)
{
    fixture f;
    (void)state;
    begin(&f, 0);
    assert_int_equal(vidi__slabs_reserve(&f.slabs, 0), VIDI_OK);
    assert_int_equal(vidi__slabs_reserve(&f.slabs, VIDI__SLAB_BYTES - 1), VIDI_OK);
    assert_int_equal(f.allocator.calls, 0);
    end(&f);
}

static void what_cannot_be_reserved_is_refused(void **state)
{
    fixture f;
    (void)state;
    begin(&f, 1000000);
    assert_int_equal(vidi__slabs_reserve(&f.slabs, 2000000), VIDI_ELIMIT);
    assert_int_equal(vidi__slabs_reserve(&f.slabs, UINT64_MAX), VIDI_ELIMIT);
    for (uint64_t n = 1; n < 3; n++) {
        test_allocator_fail(&f.allocator, n, false);
        int code = vidi__slabs_reserve(&f.slabs, 500000);
        assert_int_equal(code, test_allocator_refused(&f.allocator) ? VIDI_EMEMORY : VIDI_OK);
    }
    test_allocator_fail(&f.allocator, 0, false);
    memset(take(&f), 1, VIDI__SLAB_BYTES);
    end(&f);
}

/* ---- arrays ---- */

static const uint64_t array_sizes[] = {0, 1, 8, 64, 100, 16383, 16384, 16385, 32768, 100000, 128 * 16384, 3000000};

static void write_array(unsigned char **array, uint64_t bytes, uint64_t seed)
{
    for (uint64_t at = 0; at < bytes; at++)
        array[at / VIDI__SLAB_BYTES][at % VIDI__SLAB_BYTES] = (unsigned char)(test_mix(seed) + at * 7);
}

static void check_array(unsigned char **array, uint64_t bytes, uint64_t seed)
{
    for (uint64_t at = 0; at < bytes; at++)
        assert_int_equal(array[at / VIDI__SLAB_BYTES][at % VIDI__SLAB_BYTES], (unsigned char)(test_mix(seed) + at * 7));
    for (uint64_t at = 0; at < bytes; at += VIDI__SLAB_BYTES)
        assert_int_equal((uintptr_t)array[at / VIDI__SLAB_BYTES] % VIDI__CACHE_LINE, 0);
}

/* Side by side, so that none may write into another; twice, so that the second use is of memory that was used. */
static void arrays_of_any_size_are_apart_and_aligned(void **state)
{
    unsigned char **arrays[VIDI__COUNT(array_sizes)];
    fixture f;
    (void)state;
    begin(&f, 0);
    for (unsigned round = 0; round < 2; round++) {
        uint64_t in_use = 0;
        for (size_t i = 0; i < VIDI__COUNT(array_sizes); i++) {
            assert_int_equal(vidi__slabs_array(&f.slabs, &arrays[i], array_sizes[i]), VIDI_OK);
            assert_int_equal(arrays[i] != NULL, array_sizes[i] != 0);
            uint64_t slabs = array_sizes[i] / VIDI__SLAB_BYTES;
            assert_int_equal(f.slabs.total - f.slabs.free_count - in_use, slabs); /* the rest by itself */
            in_use += slabs;
            write_array(arrays[i], array_sizes[i], i);
        }
        for (size_t i = 0; i < VIDI__COUNT(array_sizes); i++)
            check_array(arrays[i], array_sizes[i], i);
        for (size_t i = 0; i < VIDI__COUNT(array_sizes); i++)
            vidi__slabs_array_free(&f.slabs, arrays[i], array_sizes[i]);
        assert_int_equal(f.slabs.free_count, f.slabs.total);
    }
    vidi__slabs_array_free(&f.slabs, NULL, 5000);
    end(&f);
}

static void the_bytes_of_an_array_are_what_it_takes(void **state)
{
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(array_sizes); i++) {
        fixture f;
        void *array;
        begin(&f, 0);
        assert_int_equal(vidi__slabs_array(&f.slabs, &array, array_sizes[i]), VIDI_OK);
        uint64_t bytes = vidi__memory_used(&f.memory);
        bytes -= f.slabs.block_room * sizeof *f.slabs.blocks; /* the pool's own, and what it has ahead */
        bytes -= f.slabs.cut_left;
        assert_int_equal(vidi__slabs_array_bytes(array_sizes[i]), bytes);
        vidi__slabs_array_free(&f.slabs, array, array_sizes[i]);
        end(&f);
    }
}

static void a_refused_array_leaves_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(array_sizes); i++) {
        uint64_t at = 0;
        int code = VIDI_EMEMORY;
        while (code < 0) {
            fixture f;
            void *array = &f;
            begin(&f, 0);
            at++;
            test_allocator_fail(&f.allocator, at, at % 2);
            code = vidi__slabs_array(&f.slabs, &array, array_sizes[i]);
            assert_int_equal(code, test_allocator_refused(&f.allocator) ? VIDI_EMEMORY : VIDI_OK);
            assert_int_equal(array != NULL, code == VIDI_OK && array_sizes[i]);
            vidi__slabs_array_free(&f.slabs, array, array_sizes[i]);
            assert_int_equal(f.slabs.free_count, f.slabs.total);
            end(&f);
        }
        assert_true(at > (array_sizes[i] ? 2u : 0u));
    }
}

/* ---- threads ---- */

typedef struct worker {
    fixture *f;
    pthread_t thread;
    unsigned number;
    unsigned wrong;
} worker;

static void *take_and_give(void *context)
{
    worker *me = context;
    unsigned char *mine[50] = {0};
    test_random random = {me->number};
    for (unsigned n = 0; n < 30000; n++) {
        unsigned i = (unsigned)test_below(&random, VIDI__COUNT(mine));
        if (mine[i]) {
            me->wrong += mine[i][8] != me->number || mine[i][VIDI__SLAB_BYTES - 1] != i;
            vidi__slabs_give(&me->f->slabs, mine[i]);
            mine[i] = NULL;
        } else {
            me->wrong += vidi__slabs_take(&me->f->slabs, &mine[i]) != VIDI_OK;
            mine[i][8] = (unsigned char)me->number;
            mine[i][VIDI__SLAB_BYTES - 1] = (unsigned char)i;
        }
    }
    return NULL;
}

static void no_slab_goes_to_two_threads(void **state)
{
    worker workers[4] = {0};
    fixture f;
    (void)state;
    begin(&f, 0);
    for (unsigned i = 0; i < VIDI__COUNT(workers); i++) {
        workers[i] = (worker){.f = &f, .number = i + 1};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, take_and_give, &workers[i]), 0);
    }
    for (unsigned i = 0; i < VIDI__COUNT(workers); i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    assert_true(f.slabs.total <= 4 * 50);
    end(&f);
}

int main(int argc, char **argv)
{
    test_add("slabs are aligned and do not overlap", slabs_are_aligned_and_do_not_overlap, NULL);
    test_add("what was given back is taken first", what_was_given_back_is_taken_first, NULL);
    test_add("blocks grow with the whole", blocks_grow_with_the_whole, NULL);
    test_add("blocks have sizes that waste nothing", blocks_have_sizes_that_waste_nothing, NULL);
    test_add("large blocks are aligned for large pages", large_blocks_are_aligned_for_large_pages, NULL);
    test_add("the limit is kept and what is there stays usable", the_limit_is_kept_and_what_is_there_stays_usable,
             NULL);
    test_add("a refused block costs nothing", a_refused_block_costs_nothing, NULL);
    test_add("as much is prepared as is promised", as_much_is_prepared_as_is_promised, NULL);
    test_add("what is prepared is used when nothing is free", what_is_prepared_is_used_when_nothing_is_free, NULL);
    test_add("what cannot be prepared costs nothing", what_cannot_be_prepared_costs_nothing, NULL);
    test_add("what is reserved is asked for once", what_is_reserved_is_asked_for_once, NULL);
    test_add("less than a slab is not reserved", less_than_a_slab_is_not_reserved, NULL);
    test_add("what cannot be reserved is refused", what_cannot_be_reserved_is_refused, NULL);
    test_add("arrays of any size are apart and aligned", arrays_of_any_size_are_apart_and_aligned, NULL);
    test_add("the bytes of an array are what it takes", the_bytes_of_an_array_are_what_it_takes, NULL);
    test_add("a refused array leaves nothing", a_refused_array_leaves_nothing, NULL);
    test_add("no slab goes to two threads", no_slab_goes_to_two_threads, NULL);
    return test_run("slabs", argc, argv);
}
