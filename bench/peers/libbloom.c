/*
 * libbloom: Debian's Bloom filter for C. It computes its own hashes, so it cannot be measured on ready hashes. Its
 * sizes are ints, so it cannot take part from 2^31 bits on.
 */
#include "bench/subjects.h"

#ifdef BENCH_HAVE_LIBBLOOM
#include <bloom.h>
#include <limits.h>
#include <math.h>
#include <string.h>

static struct bloom one;

static void *make(const bench_recipe *recipe)
{
    double bits = -log(recipe->error) / (log(2) * log(2)) * (double)recipe->capacity;
    if (recipe->capacity > INT_MAX || bits > INT_MAX)
        return bench_refuse("%.2g bits are too many for its int", bits);
    if (bloom_init(&one, (int)recipe->capacity, recipe->error))
        return bench_refuse("it refuses %llu entries", (unsigned long long)recipe->capacity);
    bench_touch(one.bf, (size_t)one.bytes);
    return &one;
}

static void close_bloom(void *self)
{
    bloom_free(self);
}

static int64_t add(void *self, const bench_work *work)
{
    int64_t seen = 0;
    for (size_t i = 0; i < work->count; i++)
        seen += bloom_add(self, work->urls[i].ptr, (int)work->urls[i].len);
    return seen;
}

static int64_t has(void *self, const bench_work *work)
{
    int64_t seen = 0;
    for (size_t i = 0; i < work->count; i++)
        seen += bloom_check(self, work->urls[i].ptr, (int)work->urls[i].len);
    return seen;
}

static bench_weight weigh(void *self)
{
    return (bench_weight){(size_t)((struct bloom *)self)->bytes, -1, 1};
}

static const bench_class class = {make, close_bloom, add, has, weigh};

const bench_class *bench_libbloom(void)
{
    return &class;
}
#else
const bench_class *bench_libbloom(void)
{
    return NULL;
}
#endif
