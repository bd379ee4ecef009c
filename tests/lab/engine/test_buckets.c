/* Filling a filter part by part sets the bits that filling it value by value does. */
#include <stdio.h>
#include <stdlib.h>

#include "lab/engine/buckets.h"
#include "lab/engine/run_memory.h"
#include "lab/urls/mix.h"
#include "support/random.h"
#include "support/runner.h"

enum { VALUES = 60000, SLOTS = 3, EVERY_BIT = 1 << 22, BATCH = 1024 };

/* Some that are equal, some at both ends of what there is. */
static uint32_t value_at(uint64_t i)
{
    uint64_t bits = lab_mix(i);
    return i % 100 == 0 ? UINT32_MAX - (uint32_t)(i / 100) : i % 100 == 1 ? (uint32_t)i / 2 : (uint32_t)bits;
}

static vidi__inside_bloom *make_filter(uint64_t m, unsigned k)
{
    vidi__inside_bloom *filter;
    vidi__inside_seed seed = {.turn = 0};
    char params[64];
    snprintf(params, sizeof params, "hash=jenkins,m=%llu,k=%u", (unsigned long long)m, k);
    assert_int_equal(vidi__inside_bloom_make(&filter, params, 1, &seed), VIDI_OK);
    return filter;
}

/* Values below m are their own places. */
static void bits_are(const vidi__inside_bloom *filter, const unsigned char *wanted, uint64_t from, uint64_t to)
{
    uint64_t values[BATCH];
    bool set[BATCH];
    for (uint64_t first = from; first < to; first += BATCH) {
        size_t n = to - first < BATCH ? (size_t)(to - first) : BATCH;
        for (size_t i = 0; i < n; i++)
            values[i] = first + i;
        vidi__inside_bloom_lookup_each(filter, values, n, set);
        for (size_t i = 0; i < n; i++)
            if (set[i] != wanted[first + i])
                check(false, "m = %llu: bit %llu is %d", (unsigned long long)vidi__inside_bloom_size(filter),
                      (unsigned long long)(first + i), set[i]);
    }
}

static void compare(lab_buckets *buckets, unsigned k, uint64_t m)
{
    vidi__inside_bloom *filter = make_filter(m, k);
    unsigned char *wanted = calloc(m, 1);
    uint64_t count = 0;
    assert_non_null(wanted);
    for (uint64_t i = 0; i < VALUES * (uint64_t)k; i++) {
        uint64_t place = value_at(i) % m;
        count += !wanted[place];
        wanted[place] = 1;
    }
    lab_buckets_fill(buckets, filter);
    check(vidi__inside_bloom_bits_set(filter) == count, "m = %llu, k = %u: %llu bits set, not %llu",
          (unsigned long long)m, k, (unsigned long long)vidi__inside_bloom_bits_set(filter), (unsigned long long)count);
    if (m <= EVERY_BIT)
        bits_are(filter, wanted, 0, m);
    else
        for (uint64_t i = 0; i < VALUES * (uint64_t)k; i++)
            bits_are(filter, wanted, value_at(i) % m, value_at(i) % m + 1);
    free(wanted);
    vidi__inside_bloom_free(filter);
}

static void parts_set_what_single_values_do(void **state)
{
    static const uint64_t sizes[] = {1,       64,      100003,   (1 << 20) - 1, 1 << 20, (1 << 20) + 1,
                                     3000000, 4194304, 50000000, 1 << 28};
    lab_buckets buckets;
    LAB_BLOCK;
    (void)state;
    assert_int_equal(lab_buckets_make(&buckets, VALUES, SLOTS), VIDI_OK);
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        for (uint64_t i = 0; i < VALUES; i++)
            buckets.spare[i] = value_at(slot * (uint64_t)VALUES + i);
        lab_buckets_sort(&buckets, slot);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned k = 1; k <= SLOTS; k += 2)
            compare(&buckets, k, sizes[i]);
}

int main(int argc, char **argv)
{
    test_add("parts set what single values do", parts_set_what_single_values_do, NULL);
    return test_run("lab/buckets", argc, argv);
}
