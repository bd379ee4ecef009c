/*
 * A value's memory on a server whose allocator aligns as jemalloc does, and on one that aligns as libc's malloc does:
 * every block has the alignment that was asked for, all bytes are counted as the allocator counts them, and a limit
 * refuses before it asks the server.
 */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

#include "redis/server/memory.h"

/* ---- a server's allocator ---- */

/* How far the allocator's next block is from an address that is aligned to 64. */
static size_t (*misaligned_by)(size_t bytes);
static uint64_t blocks, asked;

static size_t by_nothing(size_t bytes)
{
    (void)bytes;
    return 0;
}

static size_t by_sixteen(size_t bytes)
{
    (void)bytes;
    return 16;
}

/* As jemalloc is built into the servers: it has sizes of 24, 40 and 56 bytes. */
static size_t by_eight(size_t bytes)
{
    return bytes % 16 ? 8 : 0;
}

/* As under the address sanitizer: every other block of one size. */
static size_t now_and_then(size_t bytes)
{
    return bytes == 64 && asked % 2 ? 32 : 0;
}

/* What stands before a block. */
typedef struct head {
    size_t bytes, shift;
} head;

static void *fake_alloc(size_t bytes)
{
    size_t shift = misaligned_by(bytes);
    char *block = aligned_alloc(64, (bytes + 2 * 64 + 63) / 64 * 64);
    assert_non_null(block);
    memcpy(block + 64 + shift - sizeof(head), &(head){bytes, shift}, sizeof(head));
    blocks++;
    asked++;
    return block + 64 + shift;
}

static head head_of(const void *block)
{
    head head;
    memcpy(&head, (const char *)block - sizeof head, sizeof head);
    return head;
}

static void *fake_calloc(size_t count, size_t bytes)
{
    return memset(fake_alloc(count * bytes), 0, count * bytes);
}

static void fake_free(void *block)
{
    blocks--;
    free((char *)block - 64 - head_of(block).shift);
}

static size_t fake_size(void *block)
{
    return (head_of(block).bytes + 15) / 16 * 16;
}

static void start(size_t (*misaligned)(size_t bytes))
{
    misaligned_by = misaligned;
    server = (server_api){.Alloc = fake_alloc, .Calloc = fake_calloc, .Free = fake_free, .MallocSize = fake_size};
    memory_start();
    memory_set_primary(true);
    memory_set_loading(false);
    assert_int_equal(blocks, 0);
}

/* ---- cases ---- */

#define BLOCKS 500

static void blocks_are_aligned_zeroed_and_counted(size_t (*misaligned)(size_t bytes))
{
    static void *at[BLOCKS];
    static size_t sizes[BLOCKS], alignments[BLOCKS];
    test_random random = {.state = 17};
    memory memory;
    start(misaligned);
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
    blocks_are_aligned_zeroed_and_counted(by_nothing);
}

static void on_an_allocator_that_aligns_what_is_a_multiple(void **state)
{
    (void)state;
    blocks_are_aligned_zeroed_and_counted(by_eight);
}

static void on_an_allocator_that_does_not(void **state)
{
    (void)state;
    blocks_are_aligned_zeroed_and_counted(by_sixteen);
}

static void on_an_allocator_that_sometimes_does(void **state)
{
    (void)state;
    blocks_are_aligned_zeroed_and_counted(now_and_then);
}

/* With the alignment of any type, as the claims ask. */
static void *allocate(memory *memory, size_t bytes)
{
    return memory->allocator.allocate(memory, bytes, _Alignof(max_align_t));
}

static void release(memory *memory, void *block, size_t bytes)
{
    memory->allocator.release(memory, block, bytes, _Alignof(max_align_t));
}

/* An allocator that showed only its good side at first: blocks that are misaligned are not used. */
static void luck_does_not_last(void **state)
{
    memory memory;
    (void)state;
    start(by_nothing);
    memory_init(&memory, 0);
    misaligned_by = now_and_then;
    for (int i = 0; i < 2; i++, asked++) {
        void *good = memory.allocator.allocate(&memory, 60, 64);
        assert_non_null(good);
        assert_true((uintptr_t)good % 64 == 0);
        memory.allocator.release(&memory, good, 60, 64);
    }
    misaligned_by = by_sixteen;
    assert_null(memory.allocator.allocate(&memory, 100, 64));
    assert_int_equal(blocks, 0);
    assert_int_equal(memory.used, 0);
    void *block = allocate(&memory, 100);
    assert_non_null(block);
    release(&memory, block, 100);
}

/* Blocks are rounded up; the owner of the memory counts, too. */
static void a_limit_is_never_exceeded(void **state)
{
    memory memory;
    (void)state;
    start(by_nothing);
    memory_init(&memory, 1000);
    void *owner = fake_alloc(200), *first = NULL;
    memory_add_owner(&memory, owner);
    assert_int_equal(memory.used, 208);
    assert_null(allocate(&memory, 800));
    assert_null(allocate(&memory, 785)); /* would be 800 */
    assert_int_equal(memory.used, 208);
    assert_non_null(first = allocate(&memory, 784));
    assert_int_equal(memory.used, 992);
    release(&memory, first, 784);
    memory_remove_owner(&memory, owner);
    assert_int_equal(memory.used, 0);
    fake_free(owner);
    assert_int_equal(blocks, 0);
}

static bool is_refused(memory *memory)
{
    uint64_t before = asked;
    void *block = allocate(memory, 500);
    bool refused = !block;
    assert_int_equal(asked - before, !refused); /* a limit asks nobody */
    assert_int_equal(memory->refused, refused);
    memory->refused = false;
    release(memory, block, 500);
    return refused;
}

static void a_limit_holds_on_a_primary_that_is_not_loading(void **state)
{
    memory memory;
    (void)state;
    start(by_nothing);
    memory_init(&memory, 1000);
    void *first = allocate(&memory, 600);
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
    release(&memory, first, 600);
    assert_false(is_refused(&memory));
    assert_null(allocate(&memory, SIZE_MAX - 10)); /* no number for it */
    assert_int_equal(blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_an_allocator_that_aligns),
        cmocka_unit_test(on_an_allocator_that_aligns_what_is_a_multiple),
        cmocka_unit_test(on_an_allocator_that_does_not),
        cmocka_unit_test(on_an_allocator_that_sometimes_does),
        cmocka_unit_test(luck_does_not_last),
        cmocka_unit_test(a_limit_is_never_exceeded),
        cmocka_unit_test(a_limit_holds_on_a_primary_that_is_not_loading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
