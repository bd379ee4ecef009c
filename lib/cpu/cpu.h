/*
 * What the processor can do, found out once; kernels for several levels are chosen by it at run time.
 *
 *   portable  C and nothing else
 *   sse2      what every x86-64 has
 *   avx2      256-bit vectors
 *   avx512    512-bit vectors: F, BW, DQ and VL
 *   neon      what every arm64 has
 *
 * Features count only if the operating system saves their registers.
 *
 * The environment variable VIDI_CPU narrows the choice, for tests and for comparisons. One word is the highest level
 * allowed ("avx2"); several, separated by commas, are the levels allowed ("portable,avx512"), besides `portable`, which
 * always is. Words that are no levels are ignored. Nothing raises the level above what the machine has.
 */
#ifndef VIDI_CPU_CPU_H
#define VIDI_CPU_CPU_H

#include <stdbool.h>

typedef enum vidi__cpu_level {
    VIDI__CPU_PORTABLE,
    VIDI__CPU_SSE2,
    VIDI__CPU_AVX2,
    VIDI__CPU_AVX512,
    VIDI__CPU_NEON,
    VIDI__CPU_LEVELS
} vidi__cpu_level;

/* The level to use. Any thread, any time; costs one load. */
vidi__cpu_level vidi__cpu(void);

/* True if this machine has the level, whatever VIDI_CPU says: for tests that go through all of them. */
bool vidi__cpu_has(vidi__cpu_level level);

const char *vidi__cpu_name(vidi__cpu_level level);

/* What vidi__cpu() says with the levels in `has` (bit 1 << level) if VIDI_CPU is `wanted`; NULL: not set. */
vidi__cpu_level vidi__cpu_choose(unsigned has, const char *wanted);

#endif
