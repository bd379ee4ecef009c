/*
 * Counts work: how often a branch of the counted code runs, and how many bytes memcpy and the like handle for it. A test
 * that includes this compiles the code under test with -fsanitize-coverage=trace-pc and is linked with
 * --wrap (tests/CMakeLists.txt).
 */
#ifndef TESTS_CRAWLER_COUNTED_H
#define TESTS_CRAWLER_COUNTED_H

#include <stddef.h>
#include <stdint.h>

static uint64_t work;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    work++;
}

/* The linker's names: what the code under test calls, and what the C library has. */
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memchr(const void *in, int byte, size_t bytes);
void *__real_memchr(const void *in, int byte, size_t bytes);
void *__wrap_memrchr(const void *in, int byte, size_t bytes);
void *__real_memrchr(const void *in, int byte, size_t bytes);
int __wrap_memcmp(const void *a, const void *b, size_t bytes);
int __real_memcmp(const void *a, const void *b, size_t bytes);
void *__wrap_memmem(const void *in, size_t in_bytes, const void *what, size_t bytes);
void *__real_memmem(const void *in, size_t in_bytes, const void *what, size_t bytes);

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    work += bytes;
    return __real_memcpy(to, from, bytes);
}

/* What is looked through ends at the byte that is found. */
void *__wrap_memchr(const void *in, int byte, size_t bytes)
{
    const char *found = __real_memchr(in, byte, bytes);
    work += found ? (size_t)(found - (const char *)in) : bytes;
    return (void *)(uintptr_t)found;
}

void *__wrap_memrchr(const void *in, int byte, size_t bytes)
{
    work += bytes;
    return __real_memrchr(in, byte, bytes);
}

int __wrap_memcmp(const void *a, const void *b, size_t bytes)
{
    work += bytes;
    return __real_memcmp(a, b, bytes);
}

/* The C library searches in linear time. */
void *__wrap_memmem(const void *in, size_t in_bytes, const void *what, size_t bytes)
{
    const char *found = __real_memmem(in, in_bytes, what, bytes);
    work += bytes + (found ? (size_t)(found - (const char *)in) : in_bytes);
    return (void *)(uintptr_t)found;
}

#endif
