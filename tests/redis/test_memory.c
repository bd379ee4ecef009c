/*
 * A value's memory on a server whose allocator aligns as jemalloc does, and on one that aligns as libc's malloc does:
 * every block has the alignment that was asked for, all bytes are counted as the allocator counts them, and a limit
 * refuses before it asks the server.
 */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

#include "redis/memory.h"

/* ---- a server's allocator ---- */

static size_t misaligned_by; /* 16: no block is aligned to more than 16 */
static uint64_t blocks, asked;

static void *fake_alloc(size_t bytes)
{
    char *block = aligned_alloc(64, (bytes + 2 * 64 + 63) / 64 * 64);
    assert_non_null(block);
    memcpy(block + misaligned_by, &bytes, sizeof bytes); /* before the block: its size */
    blocks++;
    asked++;
    return block + 64 + misaligned_by;
}

static void *fake_calloc(size_t count, size_t bytes)
{
    return memset(fake_alloc(count * bytes), 0, count * bytes);
}

static void fake_free(void *block)
{
    blocks--;
    free((char *)block - 64 - misaligned_by);
}

static size_t fake_size(void *block)
{
    size_t bytes;
    memcpy(&bytes, (char *)block - 64, sizeof bytes);
    return (bytes + 15) / 16 * 16;
}

static void start(bool aligned)
{
    misaligned_by = aligned ? 0 : 16;
    server = (server_api){.Alloc = fake_alloc, .Calloc = fake_calloc, .Free = fake_free, .MallocSize = fake_size};
    memory_start();
    memory_set_primary(true);
    memory_set_loading(false);
    assert_int_equal(blocks, 0);
}

/* ---- cases ---- */

#define BLOCKS 500

static void blocks_are_aligned_zeroed_and_counted(bool aligned)
{
    static void *at[BLOCKS];
    static size_t sizes[BLOCKS], alignments[BLOCKS];
    test_random random = {.state = 17};
    memory memory;
    start(aligned);
    memory_init(&memory, 0);
    const vidi_allocator *allocator = &memory.allocator;
    for (size_t i = 0; i < BLOCKS; i++) {
        sizes[i] = i < 200 ? i : test_below(&random, 100000);
        alignments[i] = (size_t)1 << test_below(&random, 7);
        at[i] = i % 2 ? allocator->allocate_zeroed(allocator->context, sizes[i], alignments[i])
                      : allocator->allocate(allocator->context, sizes[i], alignments[i]);
        assert_non_null(at[i]);
        check((uintptr_t)at[i] % alignments[i] == 0, "%zu bytes are not aligned to %zu", sizes[i], alignments[i]);
        for (size_t j = 0; i % 2 && j < sizes[i]; j++)
            assert_int_equal(((unsigned char *)at[i])[j], 0);
        memset(at[i], 0xff, sizes[i]);
    }
    assert_int_equal(blocks, BLOCKS);
    assert_true(memory.used > 0);
    assert_int_equal(memory_total(), memory.used);
    for (size_t i = 0; i < BLOCKS; i++)
        allocator->release(allocator->context, at[i], sizes[i], alignments[i]);
    assert_int_equal(blocks, 0);
    assert_int_equal(memory.used, 0);
    assert_int_equal(memory_total(), 0);
}

static void on_an_allocator_that_aligns(void **state)
{
    (void)state;
    blocks_are_aligned_zeroed_and_counted(true);
}

static void on_an_allocator_that_does_not(void **state)
{
    (void)state;
    blocks_are_aligned_zeroed_and_counted(false);
}

/* A block that is misaligned although the first ones were not: refused, because nothing would know how to free it. */
static void luck_does_not_last(void **state)
{
    memory memory;
    (void)state;
    start(true);
    memory_init(&memory, 0);
    misaligned_by = 16;
    assert_null(memory.allocator.allocate(&memory, 100, 64));
    assert_int_equal(blocks, 0);
    assert_int_equal(memory.used, 0);
    void *block = memory_allocate(&memory, 100);
    assert_non_null(block);
    memory_release(&memory, block, 100);
}

static bool is_refused(memory *memory)
{
    uint64_t before = asked;
    void *block = memory_allocate(memory, 500);
    bool refused = !block;
    assert_int_equal(asked - before, !refused); /* a limit asks nobody */
    assert_int_equal(memory->refused, refused);
    memory->refused = false;
    memory_release(memory, block, 500);
    return refused;
}

static void a_limit_holds_on_a_primary_that_is_not_loading(void **state)
{
    memory memory;
    (void)state;
    start(true);
    memory_init(&memory, 1000);
    void *first = memory_allocate(&memory, 600);
    assert_non_null(first);
    assert_true(is_refused(&memory));
    memory_set_primary(false);
    assert_false(is_refused(&memory));
    memory_set_primary(true);
    memory_set_loading(true);
    assert_false(is_refused(&memory));
    memory_set_loading(false);
    memory_lift_limits();
    memory_lift_limits();
    memory_restore_limits();
    assert_false(is_refused(&memory));
    memory_restore_limits();
    assert_true(is_refused(&memory));
    memory_release(&memory, first, 600);
    assert_false(is_refused(&memory));
    assert_null(memory_allocate(&memory, SIZE_MAX - 10)); /* no number for it */
    assert_int_equal(blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_an_allocator_that_aligns),
        cmocka_unit_test(on_an_allocator_that_does_not),
        cmocka_unit_test(luck_does_not_last),
        cmocka_unit_test(a_limit_holds_on_a_primary_that_is_not_loading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
