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

vidi__subtable vidi__fingerprint_nowhere = {.width = 8};
_Alignas(VIDI__LINE_BYTES) unsigned char vidi__fingerprint_no_line[VIDI__LINE_BYTES];
