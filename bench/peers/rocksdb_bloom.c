/*
 * RocksDB's blocked Bloom filter ("FastLocalBloom", its default since format_version 5), which the lab has written from
 * its description (lab/peers/rocksdb_lines.c). Its own classes cannot take part: since RocksDB 7.0 they are internal,
 * and a filter is built once from all keys, while the job here is to ask and add in turn. `make bench-peers` compares
 * both.
 *
 * URLs are hashed with XXH3, 256 at a time, then prefetched 16 ahead, in 2 MiB pages: as the other peers and vidi.
 */
#include "bench/subjects.h"

#ifdef BENCH_HAVE_XXHASH
#include <math.h>

#include "lab/peers/peer_filters.h"
#include "peer_groups.h"

#define LINE_BITS 512

static lab_rocksdb one;

static void *make(const bench_recipe *recipe)
{
    double bits = lab_rocksdb_bits(recipe->error), lines = ceil(bits * (double)recipe->capacity / LINE_BITS);
    if (lines > UINT32_MAX)
        return bench_refuse("%.2g lines are too many for its 32 bits", lines);
    one = (lab_rocksdb){.lines = (uint32_t)lines, .probes = lab_rocksdb_probes(bits)};
    one.words = bench_map((size_t)one.lines * BENCH_LINE, true, true);
    return one.words ? &one : bench_refuse("no memory for %llu keys", (unsigned long long)recipe->capacity);
}

static void close_bloom(void *self)
{
    lab_rocksdb *bloom = self;
    bench_unmap(bloom->words, (size_t)bloom->lines * BENCH_LINE);
}

static int64_t take_group(void *self, const uint64_t *hashes, size_t n, bool adds)
{
    lab_peer_keys keys = {hashes, 1, n};
    return adds ? lab_rocksdb_add(self, keys, NULL) : lab_rocksdb_has(self, keys, NULL);
}

static int64_t add(void *self, const bench_work *work)
{
    return bench_in_groups(self, work, true, take_group);
}

static int64_t has(void *self, const bench_work *work)
{
    return bench_in_groups(self, work, false, take_group);
}

static bench_weight weigh(void *self)
{
    return (bench_weight){(size_t)((lab_rocksdb *)self)->lines * BENCH_LINE, -1, 1};
}

static const bench_class class = {make, close_bloom, add, has, weigh};

const bench_class *bench_rocksdb(void)
{
    return &class;
}
#else
const bench_class *bench_rocksdb(void)
{
    return NULL;
}
#endif
