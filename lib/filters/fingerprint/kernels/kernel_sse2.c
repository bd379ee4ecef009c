/* The kernel of fingerprint for SSE2, which every x86-64 has. */
#include "filters/fingerprint/kernels/kernel.h"

#if defined(__x86_64__)

#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define KERNEL vidi__fingerprint_sse2
#define line_match vidi__line_match_sse2

#include "filters/fingerprint/kernels/kernel_loops.h"

#else
typedef int vidi__fingerprint_sse2_not_built; /* ISO C forbids an empty file */
#endif
