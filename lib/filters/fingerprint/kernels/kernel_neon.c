/* The kernel of fingerprint for NEON, which every arm64 has. */
#include "filters/fingerprint/kernels/kernel.h"

#if defined(__aarch64__)

#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define KERNEL vidi__fingerprint_neon
#define line_match vidi__line_match_neon

#include "filters/fingerprint/kernels/kernel_loops.h"

#else
typedef int vidi__fingerprint_neon_not_built; /* ISO C forbids an empty file */
#endif
