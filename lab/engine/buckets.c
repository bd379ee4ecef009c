/* Sorts values with two passes of a radix sort, and fills a filter with them part by part. See buckets.h. */
#include "lab/engine/buckets.h"

#include <string.h>

#include "lab/engine/run_memory.h"

/* A bucket is 2^18 values wide, a part of a filter 2^20 bits: an eighth of a megabyte. */
enum { WIDTH = 18, COUNT = 1 << (32 - WIDTH), DIGIT = (32 - WIDTH) / 2, DIGITS = 1 << DIGIT, PART = 1 << 20 };

int lab_buckets_make(lab_buckets *buckets, uint64_t n, unsigned slots)
{
    *buckets = (lab_buckets){.n = n};
    LAB_TRY(LAB_NEW(buckets->values, n * slots));
    LAB_TRY(LAB_NEW(buckets->spare, n));
    return LAB_NEW(buckets->begins, slots * (COUNT + UINT64_C(1)));
}

/* One pass of a radix sort: by the digit that begins at bit `shift`. */
static void sort_by(uint32_t *to, const uint32_t *from, uint64_t n, unsigned shift)
{
    uint64_t at[DIGITS + 1] = {0};
    for (uint64_t i = 0; i < n; i++)
        at[(from[i] >> shift) % DIGITS + 1]++;
    for (unsigned i = 0; i < DIGITS; i++)
        at[i + 1] += at[i];
    for (uint64_t i = 0; i < n; i++)
        to[at[(from[i] >> shift) % DIGITS]++] = from[i];
}

void lab_buckets_sort(lab_buckets *buckets, unsigned slot)
{
    uint32_t *sorted = buckets->values + slot * buckets->n;
    uint64_t *begins = buckets->begins + slot * (COUNT + UINT64_C(1)), n = buckets->n;
    sort_by(sorted, buckets->spare, n, WIDTH);
    sort_by(buckets->spare, sorted, n, WIDTH + DIGIT);
    memcpy(sorted, buckets->spare, n * sizeof *sorted);
    for (uint64_t i = 0, bucket = 0; bucket <= COUNT; bucket++) {
        while (i < n && sorted[i] >> WIDTH < bucket)
            i++;
        begins[bucket] = i;
    }
}

/*
 * The bucket of a value, where a part begins. Parts may begin a little early, as long as each ends where the next
 * begins.
 */
static uint64_t bucket_of(uint64_t value)
{
    return value >> 32 ? COUNT : value >> WIDTH;
}

/* Inserts the values of one slot that lie in a part of the filter. */
static void fill_part(const lab_buckets *buckets, unsigned slot, vidi__inside_bloom *filter, uint64_t part)
{
    const uint32_t *values = buckets->values + slot * buckets->n;
    const uint64_t *begins = buckets->begins + slot * (COUNT + UINT64_C(1)), m = vidi__inside_bloom_size(filter);
    const uint64_t end = part + PART < m ? part + PART : m;
    if (m <= PART) { /* the filter is one part */
        vidi__inside_bloom_insert_each(filter, values, buckets->n);
        return;
    }
    for (uint64_t time = 0; time >> 32 == 0; time += m) {
        uint64_t from = begins[bucket_of(time + part)], to = begins[bucket_of(time + end)];
        vidi__inside_bloom_insert_each(filter, values + from, to - from);
    }
}

void lab_buckets_fill(const lab_buckets *buckets, vidi__inside_bloom *filter)
{
    for (uint64_t part = 0; part < vidi__inside_bloom_size(filter); part += PART)
        for (unsigned slot = 0; slot < vidi__inside_bloom_k(filter); slot++)
            fill_part(buckets, slot, filter, part);
}
