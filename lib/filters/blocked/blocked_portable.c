/* The kernel of blocked in plain C, and the choice between the kernels. */
#include "filters/blocked/blocked_kernel.h"

#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define KERNEL vidi__blocked_portable

enum { LANES = 8, LANE_BITS = 6 };

INLINE uint64_t bit_of(uint64_t word, unsigned lane)
{
    return UINT64_C(1) << (word >> (LANE_BITS * lane) & 63);
}

/* Loads and stores are atomic, at no cost, because lookups run in parallel with adds. */
INLINE unsigned missing_bits(const uint64_t *line, uint64_t word)
{
    unsigned count = 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        count += !(__atomic_load_n(&line[lane], __ATOMIC_RELAXED) & bit_of(word, lane));
    return count;
}

INLINE unsigned set_bits(uint64_t *line, uint64_t word)
{
    unsigned count = missing_bits(line, word);
    for (unsigned lane = 0; lane < LANES; lane++)
        __atomic_store_n(&line[lane], line[lane] | bit_of(word, lane), __ATOMIC_RELAXED);
    return count;
}

#include "filters/blocked/blocked_lanes.h"

const vidi__blocked_kernel *vidi__blocked_kernel_for(vidi__cpu_level level)
{
#if defined(__SANITIZE_THREAD__)
    return &vidi__blocked_portable;
#elif defined(__x86_64__)
    if (level == VIDI__CPU_AVX512)
        return &vidi__blocked_avx512;
    if (level == VIDI__CPU_AVX2)
        return &vidi__blocked_avx2;
#elif defined(__aarch64__)
    if (level == VIDI__CPU_NEON)
        return &vidi__blocked_neon;
#endif
    (void)level;
    return &vidi__blocked_portable;
}
