#include "cpu/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "vidi/vidi.h"

/* A level, and the levels that are allowed if it is the highest, as bits: x86-64 and arm64 each have a ladder. */
static const struct {
    const char *name;
    unsigned up_to;
} levels[VIDI__CPU_LEVELS] = {
    [VIDI__CPU_PORTABLE] = {"portable", 1 << VIDI__CPU_PORTABLE},
    [VIDI__CPU_SSE2] = {"sse2", 1 << VIDI__CPU_PORTABLE | 1 << VIDI__CPU_SSE2},
    [VIDI__CPU_AVX2] = {"avx2", 1 << VIDI__CPU_PORTABLE | 1 << VIDI__CPU_SSE2 | 1 << VIDI__CPU_AVX2},
    [VIDI__CPU_AVX512] = {"avx512",
                          1 << VIDI__CPU_PORTABLE | 1 << VIDI__CPU_SSE2 | 1 << VIDI__CPU_AVX2 | 1 << VIDI__CPU_AVX512},
    [VIDI__CPU_NEON] = {"neon", 1 << VIDI__CPU_PORTABLE | 1 << VIDI__CPU_NEON},
};

/*
 * The levels of this machine, as bits. The thread sanitizer gets the portable one alone: it would report vectors that
 * are loaded while another thread stores a part of them that is not looked at.
 */
static unsigned detect(void)
{
    unsigned has = 1 << VIDI__CPU_PORTABLE;
#if defined(__SANITIZE_THREAD__)
    return has;
#elif defined(__x86_64__)
    __builtin_cpu_init();
    has |= 1 << VIDI__CPU_SSE2;
    if (__builtin_cpu_supports("avx2"))
        has |= 1 << VIDI__CPU_AVX2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2"))
        has |= 1 << VIDI__CPU_AVX512;
#elif defined(__aarch64__)
    has |= 1 << VIDI__CPU_NEON;
#endif
    return has;
}

const char *vidi__cpu_name(vidi__cpu_level level)
{
    return levels[level].name;
}

bool vidi__cpu_has(vidi__cpu_level level)
{
    return detect() >> level & 1;
}

vidi__cpu_level vidi__cpu_choose(unsigned has, const char *wanted)
{
    unsigned named = 0, up_to = 0, count = 0;
    for (const char *at = wanted; at && *at;) {
        size_t length = strcspn(at, ",");
        for (unsigned i = 0; i < VIDI__CPU_LEVELS; i++)
            if (strlen(levels[i].name) == length && memcmp(levels[i].name, at, length) == 0) {
                named |= 1U << i;
                up_to = levels[i].up_to;
                count++;
            }
        at += length;
        at += *at == ',';
    }
    if (count)
        has &= count == 1 ? up_to : named;
    vidi__cpu_level best = VIDI__CPU_PORTABLE;
    for (unsigned i = 0; i < VIDI__CPU_LEVELS; i++)
        if (has >> i & 1)
            best = (vidi__cpu_level)i;
    return best;
}

vidi__cpu_level vidi__cpu(void)
{
    static _Atomic int known = -1; /* threads that get here at the same time all compute the same value */
    int level = atomic_load_explicit(&known, memory_order_relaxed);
    if (VIDI__UNLIKELY(level < 0)) {
        level = (int)vidi__cpu_choose(detect(), getenv("VIDI_CPU"));
        atomic_store_explicit(&known, level, memory_order_relaxed);
    }
    return (vidi__cpu_level)level;
}

const char *vidi_cpu(void)
{
    return vidi__cpu_name(vidi__cpu());
}
