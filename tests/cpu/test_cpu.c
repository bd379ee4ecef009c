/* What VIDI_CPU allows, and that nothing raises the level above what the machine has. */
#include <stdlib.h>

#include "support/check.h"

#include "base/base.h"
#include "cpu/cpu.h"
#include "vidi/vidi.h"

enum {
    OLD = 1 << VIDI__CPU_PORTABLE | 1 << VIDI__CPU_SSE2,
    USUAL = OLD | 1 << VIDI__CPU_AVX2,
    BIG = USUAL | 1 << VIDI__CPU_AVX512,
    ARM = 1 << VIDI__CPU_PORTABLE | 1 << VIDI__CPU_NEON,
    NONE = 1 << VIDI__CPU_PORTABLE
};

typedef struct choice {
    unsigned has;
    const char *wanted;
    vidi__cpu_level level;
} choice;

static void check_choices(const choice *choices, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        vidi__cpu_level level = vidi__cpu_choose(choices[i].has, choices[i].wanted);
        check(level == choices[i].level, "VIDI_CPU=%s with levels %x gives %s", choices[i].wanted, choices[i].has,
              vidi__cpu_name(level));
    }
}

static void without_a_wish_the_best_is_taken(void **state)
{
    (void)state;
    static const choice choices[] = {
        {BIG, NULL, VIDI__CPU_AVX512}, {USUAL, NULL, VIDI__CPU_AVX2},    {OLD, NULL, VIDI__CPU_SSE2},
        {ARM, NULL, VIDI__CPU_NEON},   {NONE, NULL, VIDI__CPU_PORTABLE}, {BIG, "", VIDI__CPU_AVX512},
    };
    check_choices(choices, VIDI__COUNT(choices));
}

static void one_word_is_the_highest_level(void **state)
{
    (void)state;
    static const choice choices[] = {
        {BIG, "avx512", VIDI__CPU_AVX512},     {BIG, "avx2", VIDI__CPU_AVX2},         {BIG, "sse2", VIDI__CPU_SSE2},
        {BIG, "portable", VIDI__CPU_PORTABLE}, {ARM, "portable", VIDI__CPU_PORTABLE}, {ARM, "neon", VIDI__CPU_NEON},
        {ARM, "avx512", VIDI__CPU_PORTABLE},   {BIG, "neon", VIDI__CPU_PORTABLE},
    };
    check_choices(choices, VIDI__COUNT(choices));
}

static void a_list_is_what_is_allowed(void **state)
{
    (void)state;
    static const choice choices[] = {
        {BIG, "portable,avx2", VIDI__CPU_AVX2},
        {BIG, "avx2,portable", VIDI__CPU_AVX2},
        {USUAL, "portable,avx512", VIDI__CPU_PORTABLE},
        {BIG, "portable,sse2,avx2,avx512", VIDI__CPU_AVX512},
        {USUAL, "sse2,avx512", VIDI__CPU_SSE2},
        {ARM, "sse2,neon", VIDI__CPU_NEON},
        {BIG, "sse2,neon", VIDI__CPU_SSE2},
    };
    check_choices(choices, VIDI__COUNT(choices));
}

static void nothing_raises_the_level(void **state)
{
    (void)state;
    static const choice choices[] = {
        {USUAL, "avx512", VIDI__CPU_AVX2},
        {OLD, "avx512,avx2", VIDI__CPU_PORTABLE},
        {NONE, "avx512", VIDI__CPU_PORTABLE},
        {NONE, "portable,sse2,avx2,avx512,neon", VIDI__CPU_PORTABLE},
    };
    check_choices(choices, VIDI__COUNT(choices));
}

static void unknown_words_are_ignored(void **state)
{
    (void)state;
    static const choice choices[] = {
        {BIG, "fast", VIDI__CPU_AVX512},      {BIG, "avx2,fast", VIDI__CPU_AVX2}, {BIG, "fast,avx2", VIDI__CPU_AVX2},
        {BIG, ",,,", VIDI__CPU_AVX512},       {BIG, ",avx2,", VIDI__CPU_AVX2},    {BIG, "AVX2", VIDI__CPU_AVX512},
        {BIG, "avx", VIDI__CPU_AVX512},       {BIG, "avx25", VIDI__CPU_AVX512},   {BIG, "avx2 ", VIDI__CPU_AVX512},
        {USUAL, "avx2,fast", VIDI__CPU_AVX2},
    };
    check_choices(choices, VIDI__COUNT(choices));
}

static void users_are_told_the_level_in_use(void **state)
{
    (void)state;
    assert_string_equal(vidi_cpu(), vidi__cpu_name(vidi__cpu()));
}

static void the_environment_is_heard(void **state)
{
    (void)state;
    unsigned has = 0;
    for (unsigned level = 0; level < VIDI__CPU_LEVELS; level++)
        has |= (unsigned)vidi__cpu_has((vidi__cpu_level)level) << level;
    assert_true(has & 1 << VIDI__CPU_PORTABLE);
#if defined(__x86_64__)
    assert_true(has & 1 << VIDI__CPU_SSE2);
#endif
    vidi__cpu_level expected = vidi__cpu_choose(has, getenv("VIDI_CPU"));
    assert_int_equal(vidi__cpu(), expected);
    assert_int_equal(setenv("VIDI_CPU", "portable", 1), 0); /* once known, it stays */
    assert_int_equal(vidi__cpu(), expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_wish_the_best_is_taken), cmocka_unit_test(one_word_is_the_highest_level),
        cmocka_unit_test(a_list_is_what_is_allowed),        cmocka_unit_test(nothing_raises_the_level),
        cmocka_unit_test(unknown_words_are_ignored),        cmocka_unit_test(the_environment_is_heard),
        cmocka_unit_test(users_are_told_the_level_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
