/* The kernel of fingerprint in plain C, and the choice among all. */
#include "filters/fingerprint/kernels/kernel.h"

#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define KERNEL vidi__fingerprint_portable
#define line_match vidi__line_match_portable

#include "filters/fingerprint/kernels/kernel_loops.h"

const vidi__fingerprint_kernel *vidi__fingerprint_kernel_for(vidi__cpu_level level)
{
    switch (level) {
#if defined(__x86_64__)
    case VIDI__CPU_SSE2:
        return &vidi__fingerprint_sse2;
    case VIDI__CPU_AVX2:
        return &vidi__fingerprint_avx2;
    case VIDI__CPU_AVX512:
        return &vidi__fingerprint_avx512;
#elif defined(__aarch64__)
    case VIDI__CPU_NEON:
        return &vidi__fingerprint_neon;
#endif
    default:
        return &vidi__fingerprint_portable;
    }
}

vidi__subtable vidi__fingerprint_nowhere = {.width = 8, .retired = true};
_Alignas(VIDI__LINE_BYTES) unsigned char vidi__fingerprint_no_line[VIDI__LINE_BYTES];

/* From this many hashes on, it pays to sort a batch. */
#define SORTED_LEAST 256
/* By so many of their first bits hashes are sorted. */
#define SORT_BITS 10

/* Two threads that are at the same point of their orders are in different buckets: their numbers times an odd one. */
static unsigned bucket_of(vidi__u128 hash)
{
    return (unsigned)(hash.hi >> (64 - SORT_BITS)) ^ vidi__thread * 633 % (1u << SORT_BITS);
}

static void sort(const vidi__fingerprint_run *run, uint16_t *order)
{
    uint16_t next[1u << SORT_BITS] = {0};
    for (size_t i = 0; i < run->count; i++)
        next[bucket_of(run->hashes[i])]++;
    for (uint16_t first = 0, bucket = 0; bucket < 1u << SORT_BITS; bucket++) {
        uint16_t count = next[bucket];
        next[bucket] = first;
        first = (uint16_t)(first + count);
    }
    for (size_t i = 0; i < run->count; i++)
        order[next[bucket_of(run->hashes[i])]++] = (uint16_t)i;
}

void vidi__fingerprint_order(const vidi__fingerprint_run *run, uint16_t *order)
{
    if (run->count >= SORTED_LEAST) {
        sort(run, order);
        return;
    }
    for (size_t i = 0; i < run->count; i++)
        order[i] = (uint16_t)i;
}
