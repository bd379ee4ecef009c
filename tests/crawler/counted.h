/*
 * Counts work as support/work.h does, and that of two more functions that search.
 */
#ifndef TESTS_CRAWLER_COUNTED_H
#define TESTS_CRAWLER_COUNTED_H

#include "support/work.h"

void *__wrap_memrchr(const void *in, int byte, size_t bytes);
void *__real_memrchr(const void *in, int byte, size_t bytes);
void *__wrap_memmem(const void *in, size_t in_bytes, const void *what, size_t bytes);
void *__real_memmem(const void *in, size_t in_bytes, const void *what, size_t bytes);

void *__wrap_memrchr(const void *in, int byte, size_t bytes)
{
    work += bytes;
    return __real_memrchr(in, byte, bytes);
}

/* The C library searches in linear time. */
void *__wrap_memmem(const void *in, size_t in_bytes, const void *what, size_t bytes)
{
    const char *found = __real_memmem(in, in_bytes, what, bytes);
    work += bytes + (found ? (size_t)(found - (const char *)in) : in_bytes);
    return (void *)(uintptr_t)found;
}

#endif
