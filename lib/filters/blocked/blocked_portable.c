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

INLINE unsigned missing_bits(const uint64_t *line, uint64_t word)
{
    unsigned count = 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        count += !(line[lane] & bit_of(word, lane));
    return count;
}

INLINE unsigned set_bits(uint64_t *line, uint64_t word)
{
    unsigned count = missing_bits(line, word);
    for (unsigned lane = 0; lane < LANES; lane++)
        line[lane] |= bit_of(word, lane);
    return count;
}

#include "filters/blocked/blocked_lanes.h"

const vidi__blocked_kernel *vidi__blocked_kernel_for(vidi__cpu_level level)
{
#if defined(__x86_64__)
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
