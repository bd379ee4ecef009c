/*
 * What the processor can do. It is detected once, and kernels are chosen by it at run time.
 *
 *     portable  plain C
 *     sse2      what every x86-64 has
 *     avx2      256-bit vectors
 *     avx512    512-bit vectors: F, BW, DQ and VL; and BMI2
 *     neon      what every arm64 has
 *
 * A feature counts only if the operating system saves its registers.
 *
 * The environment variable VIDI_CPU restricts the choice, for tests and comparisons. One word is the highest level
 * allowed ("avx2"). Several words, separated by commas, are the levels allowed ("portable,avx512"), in addition to
 * `portable`, which always is. Words that are not levels are ignored. Nothing raises the level above what the machine
 * has.
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

/* The level to use. Any thread may call it at any time; it costs one load. */
vidi__cpu_level vidi__cpu(void);

/* Does this machine have the level, regardless of VIDI_CPU? For tests that go through all levels. */
bool vidi__cpu_has(vidi__cpu_level level);

const char *vidi__cpu_name(vidi__cpu_level level);

/*
 * What vidi__cpu() returns if the machine has the levels `has` (bit 1 << level) and VIDI_CPU is `wanted` (NULL: not
 * set).
 */
vidi__cpu_level vidi__cpu_choose(unsigned has, const char *wanted);

#endif
