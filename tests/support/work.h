/*
 * Counts the work that code does, for tests that must not use a clock. The code is compiled again into the test with
 * -fsanitize-coverage=trace-pc, so that it calls __sanitizer_cov_trace_pc at every branch, and the linker puts the
 * functions below, which count the bytes, in place of the C library's (tests/CMakeLists.txt). For one file of a program.
 */
#ifndef TESTS_SUPPORT_WORK_H
#define TESTS_SUPPORT_WORK_H

#include <stddef.h>
#include <stdint.h>

static uint64_t work;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    work++;
}

/* The linker's names: what the library calls, and what the C library has. */
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__real_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memchr(const void *in, int byte, size_t bytes);
void *__real_memchr(const void *in, int byte, size_t bytes);
int __wrap_memcmp(const void *a, const void *b, size_t bytes);
int __real_memcmp(const void *a, const void *b, size_t bytes);

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    work += bytes;
    return __real_memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    work += bytes;
    return __real_memmove(to, from, bytes);
}

/* What is looked through ends at the byte that is found. */
void *__wrap_memchr(const void *in, int byte, size_t bytes)
{
    const char *found = __real_memchr(in, byte, bytes);
    work += found ? (size_t)(found - (const char *)in) : bytes;
    return (void *)(uintptr_t)found;
}

int __wrap_memcmp(const void *a, const void *b, size_t bytes)
{
    work += bytes;
    return __real_memcmp(a, b, bytes);
}

#endif
