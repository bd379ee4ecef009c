/*
 * Lets an allocation of the code under test fail: for programs that are linked with --wrap=malloc,--wrap=calloc and
 * --wrap=realloc (tests/CMakeLists.txt). For one file of a program.
 *
 *     for (long at = 0, error = VIDI_EMEMORY; error; at++) {
 *         countdown = at;
 *         error = what_is_tested();
 *         countdown = -1;
 *     }
 */
#ifndef TESTS_CRAWLER_SCARCE_MEMORY_H
#define TESTS_CRAWLER_SCARCE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

static _Atomic long countdown = -1; /* the allocation that fails; negative: none */

static bool fails(void)
{
    return countdown >= 0 && countdown-- == 0;
}

/* The linker's names: what the code calls, and what the C library has. */
void *__wrap_malloc(size_t bytes);
void *__real_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__real_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return fails() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __real_realloc(old, bytes);
}

#endif
