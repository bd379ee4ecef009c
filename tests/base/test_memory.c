/*
 * The default allocator: zeroed where that is asked for, aligned, whole, and gone when it is released, for sizes on
 * both sides of those from which blocks come straight from the kernel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

static const uint64_t sizes[] = {1,           63,         64,           4095,           4096,
                                 4097,        100000,     512 * KIB,    MIB - 1,        MIB,
                                 MIB + 1,     MIB + 4095, MIB + 4096,   MIB + 4097,     1234567,
                                 2 * MIB - 1, 2 * MIB,    2 * MIB + 1,  2 * MIB + 4096, 3 * MIB - 5,
                                 4 * MIB - 1, 4 * MIB,    5 * MIB + 77, 7 * MIB + 12345};
static const size_t alignments[] = {1, 8, 16, 64, 4096, 8192, 65536, MIB, 2 * MIB};

typedef void block_test(vidi__memory *memory, uint64_t bytes, size_t alignment);

static void with_every_size_and_alignment(block_test *test)
{
    vidi__memory memory;
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    for (size_t i = 0; i < VIDI__COUNT(sizes); i++)
        for (size_t j = 0; j < VIDI__COUNT(alignments); j++)
            test(&memory, sizes[i], alignments[j]);
    assert_int_equal(vidi__memory_used(&memory), 0);
}

/* ---- contents ---- */

static bool is_filled_with(const unsigned char *block, uint64_t bytes, unsigned char with)
{
    return block[0] == with && memcmp(block, block + 1, (size_t)bytes - 1) == 0;
}

/* A block that was written to and released before is as likely as not the next one. */
static void check_zeroed(vidi__memory *memory, uint64_t bytes, size_t alignment)
{
    unsigned char *block;
    for (unsigned round = 0; round < 2; round++) {
        assert_int_equal(vidi__alloc_zeroed(memory, &block, bytes, alignment), VIDI_OK);
        check(is_filled_with(block, bytes, 0), "%d bytes: not zero", (int)bytes);
        memset(block, 0xee, (size_t)bytes);
        vidi__release(memory, block, bytes, alignment);
        assert_int_equal(vidi__alloc(memory, &block, bytes, alignment), VIDI_OK);
        memset(block, 0xdd, (size_t)bytes);
        vidi__release(memory, block, bytes, alignment);
    }
}

static void zeroed_blocks_are_zero(void **state)
{
    (void)state;
    with_every_size_and_alignment(check_zeroed);
}

static void check_aligned(vidi__memory *memory, uint64_t bytes, size_t alignment)
{
    for (unsigned zeroed = 0; zeroed < 2; zeroed++) {
        unsigned char *blocks[3];
        for (size_t i = 0; i < VIDI__COUNT(blocks); i++) {
            int code = zeroed ? vidi__alloc_zeroed(memory, &blocks[i], bytes, alignment)
                              : vidi__alloc(memory, &blocks[i], bytes, alignment);
            assert_int_equal(code, VIDI_OK);
            check((uintptr_t)blocks[i] % alignment == 0, "%d bytes at %p", (int)bytes, (void *)blocks[i]);
            if (bytes >= 2 * MIB) /* for the kernel to back it with large pages */
                assert_int_equal((uintptr_t)blocks[i] % (2 * MIB), 0);
            memset(blocks[i], (int)i + 1, (size_t)bytes);
        }
        for (size_t i = 0; i < VIDI__COUNT(blocks); i++) { /* all of it is there, and nobody else's */
            assert_true(is_filled_with(blocks[i], bytes, (unsigned char)(i + 1)));
            vidi__release(memory, blocks[i], bytes, alignment);
        }
    }
}

static void blocks_are_aligned_and_apart(void **state)
{
    (void)state;
    with_every_size_and_alignment(check_aligned);
}

/* ---- giving back ---- */

/* Pages of address space and of memory that this process has. */
typedef struct pages {
    long mapped, resident;
} pages;

static pages pages_now(void)
{
    pages now = {0, 0};
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        skip();
    assert_int_equal(fscanf(file, "%ld %ld", &now.mapped, &now.resident), 2);
    fclose(file);
    return now;
}

/* Is any page of it still mapped? */
static bool is_mapped(const void *block, uint64_t bytes)
{
    unsigned char there;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (uintptr_t at = (uintptr_t)block / page * page; at < (uintptr_t)block + bytes; at += page)
        if (mincore((void *)at, page, &there) == 0) /* NOLINT(performance-no-int-to-ptr) */
            return true;
    return false;
}

static void check_unmapped(vidi__memory *memory, uint64_t bytes, size_t alignment)
{
    unsigned char *block;
    if (bytes < MIB) /* which are the C library's */
        return;
    pages before = pages_now();
    assert_int_equal(vidi__alloc(memory, &block, bytes, alignment), VIDI_OK);
    memset(block, 1, (size_t)bytes);
    pages with = pages_now();
    long most = (long)(bytes / 4096) + 2;
    check(with.mapped - before.mapped <= most, "%d bytes at %d: %ld pages", (int)bytes, (int)alignment,
          with.mapped - before.mapped); /* what alignment leaves over is given back at once */
    vidi__release(memory, block, bytes, alignment);
    assert_false(is_mapped(block, bytes));
    assert_int_equal(pages_now().mapped, before.mapped);
}

static void released_blocks_go_back_to_the_kernel(void **state)
{
    (void)state;
    pages_now(); /* what the C library allocates for itself is there from now on */
    with_every_size_and_alignment(check_unmapped);
}

/* Thousands of blocks of all sizes, gigabytes in all: address space and memory are in the end as before. */
static void nothing_stays_behind(void **state)
{
    enum { ROUNDS = 3000 };
    vidi__memory memory;
    test_random random = {1};
    struct {
        unsigned char *block;
        uint64_t bytes;
        size_t alignment;
    } held[8] = {0};
    (void)state;
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    pages before = pages_now();
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t i = (size_t)test_below(&random, VIDI__COUNT(held));
        vidi__release(&memory, held[i].block, held[i].bytes, held[i].alignment);
        held[i].bytes = 1 + test_below(&random, 5 * MIB);
        held[i].alignment = alignments[test_below(&random, VIDI__COUNT(alignments))];
        assert_int_equal(vidi__alloc(&memory, &held[i].block, held[i].bytes, held[i].alignment), VIDI_OK);
        held[i].block[0] = held[i].block[held[i].bytes - 1] = 1;
    }
    for (size_t i = 0; i < VIDI__COUNT(held); i++)
        vidi__release(&memory, held[i].block, held[i].bytes, held[i].alignment);
    assert_int_equal(vidi__memory_used(&memory), 0);
    if (test_sanitized()) /* whose allocator keeps small blocks for a while */
        return;
    pages after = pages_now();
    check(after.mapped - before.mapped < 4096, "%ld pages more than before", after.mapped - before.mapped);
    check(after.resident - before.resident < 4096, "%ld pages more in memory", after.resident - before.resident);
}

/* What nobody has written to costs no memory. */
static void zeroed_memory_is_not_touched(void **state)
{
    enum { BYTES = 64 * MIB };
    vidi__memory memory;
    unsigned char *block;
    (void)state;
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    pages before = pages_now();
    assert_int_equal(vidi__alloc_zeroed(&memory, &block, BYTES, 64), VIDI_OK);
    pages with = pages_now();
    check(with.resident - before.resident < 1024, "%ld pages were touched", with.resident - before.resident);
    vidi__release(&memory, block, BYTES, 64);
}

static void absurd_sizes_are_refused(void **state)
{
    static const uint64_t absurd[] = {UINT64_C(1) << 50, UINT64_C(1) << 60, SIZE_MAX / 2 - 2 * MIB,
                                      SIZE_MAX / 2 - 1,  SIZE_MAX / 2,      SIZE_MAX - 4096,
                                      SIZE_MAX};
    vidi__memory memory;
    unsigned char *block;
    (void)state;
    assert_int_equal(vidi__memory_init(&memory, NULL, UINT64_MAX), VIDI_OK);
    if (test_sanitized())
        skip();
    for (size_t i = 0; i < 2 * VIDI__COUNT(absurd); i++) {
        int code = vidi__alloc(&memory, &block, absurd[i / 2], i % 2 ? 64 : 2 * MIB);
        assert_true(code == VIDI_EMEMORY || code == VIDI_ELIMIT);
        assert_null(block);
        assert_int_equal(vidi__memory_used(&memory), 0);
    }
}

/* From small blocks to those of the kernel and on: what was in front stays. */
static void growing_keeps_the_contents(void **state)
{
    vidi__memory memory;
    unsigned char *block = NULL;
    uint64_t bytes = 0;
    (void)state;
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    for (size_t i = 0; i < VIDI__COUNT(sizes); i++) {
        assert_int_equal(vidi__regrow(&memory, &block, bytes, sizes[i], 64), VIDI_OK);
        assert_int_equal(vidi__memory_used(&memory), sizes[i]);
        assert_true(!bytes || is_filled_with(block, bytes, (unsigned char)i));
        bytes = sizes[i];
        memset(block, (int)i + 1, (size_t)bytes);
    }
    vidi__release(&memory, block, bytes, 64);
    assert_int_equal(vidi__memory_used(&memory), 0);
}

int main(int argc, char **argv)
{
    test_add("zeroed blocks are zero", zeroed_blocks_are_zero, NULL);
    test_add("blocks are aligned and apart", blocks_are_aligned_and_apart, NULL);
    test_add("released blocks go back to the kernel", released_blocks_go_back_to_the_kernel, NULL);
    test_add("nothing stays behind", nothing_stays_behind, NULL);
    test_add("zeroed memory is not touched", zeroed_memory_is_not_touched, NULL);
    test_add("absurd sizes are refused", absurd_sizes_are_refused, NULL);
    test_add("growing keeps the contents", growing_keeps_the_contents, NULL);
    return test_run("memory of the default", argc, argv);
}
