/* Filling part by part marks what filling value by value does. */
#include <stdlib.h>
#include <string.h>

#include "filters/bloom.h"
#include "lab/engine/buckets.h"
#include "support/random.h"
#include "support/runner.h"

enum { VALUES = 60000, SLOTS = 3 };

static vidi__memory memory;

static vidi__bitmap empty(uint64_t m)
{
    vidi__bitmap bits;
    assert_int_equal(vidi__bitmap_init(&bits, &memory, m, NULL), VIDI_OK);
    return bits;
}

/* Some that are equal, some at both ends of what there is. */
static uint32_t value_at(uint64_t i)
{
    uint64_t bits = vidi__mix(i);
    return i % 100 == 0 ? UINT32_MAX - (uint32_t)(i / 100) : i % 100 == 1 ? (uint32_t)i / 2 : (uint32_t)bits;
}

static void compare(lab_buckets *buckets, unsigned k, uint64_t m)
{
    vidi__scheme scheme = {.k = k, .narrow = true};
    vidi__placing placing = vidi__scheme_placing(&scheme, m);
    vidi__bitmap found = empty(m), wanted = empty(m);
    for (uint64_t i = 0; i < VALUES * (uint64_t)k; i++)
        vidi__bitmap_mark(&wanted, value_at(i) % m);
    lab_buckets_fill(buckets, &found, &scheme);
    check(found.set == wanted.set, "m = %llu, k = %u: %llu marked, not %llu", (unsigned long long)m, k,
          (unsigned long long)found.set, (unsigned long long)wanted.set);
    assert_memory_equal(found.words, wanted.words, vidi__bitmap_bytes(m));
    assert_int_equal(vidi__placing_of(&placing, UINT32_MAX), UINT32_MAX % m);
    vidi__bitmap_free(&found, &memory);
    vidi__bitmap_free(&wanted, &memory);
}

static void parts_mark_what_single_values_do(void **state)
{
    static const uint64_t sizes[] = {1,       64,      100003,   (1 << 20) - 1, 1 << 20, (1 << 20) + 1,
                                     3000000, 4194304, 50000000, 1 << 28};
    lab_buckets buckets;
    (void)state;
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    assert_int_equal(lab_buckets_make(&buckets, VALUES, SLOTS), VIDI_OK);
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        for (uint64_t i = 0; i < VALUES; i++)
            buckets.spare[i] = value_at(slot * (uint64_t)VALUES + i);
        lab_buckets_sort(&buckets, slot);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned k = 1; k <= SLOTS; k += 2)
            compare(&buckets, k, sizes[i]);
    lab_buckets_free(&buckets);
}

int main(int argc, char **argv)
{
    test_add("parts mark what single values do", parts_mark_what_single_values_do, NULL);
    return test_run("lab/buckets", argc, argv);
}
