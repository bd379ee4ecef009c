/*
 * khash: a set of 64-bit hashes made of C macros, as used in bioinformatics. URLs are hashed with XXH3. khash cannot
 * prefetch, but its struct is public: in batches, the first slot that a lookup would read is prefetched here.
 */
#include "bench/subjects.h"

#ifdef BENCH_HAVE_KHASH
#include "peer_groups.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <khash.h>
KHASH_SET_INIT_INT64(words) /* NOLINT: the peer's own code */
#pragma GCC diagnostic pop

static void *make(const bench_recipe *recipe)
{
    khash_t(words) *set = kh_init(words);
    if (!set)
        return bench_refuse("no memory");
    if (!recipe->capacity)
        return set;
    /* It grows when 77 % of a power of two slots are full. */
    if (kh_resize(words, set, (khint_t)((double)recipe->capacity / 0.77 + 1)) < 0) {
        kh_destroy(words, set);
        return bench_refuse("no memory for %llu hashes", (unsigned long long)recipe->capacity);
    }
    bench_touch(set->keys, set->n_buckets * sizeof *set->keys);
    return set;
}

static void close_set(void *self)
{
    kh_destroy(words, (khash_t(words) *)self);
}

static int64_t take(khash_t(words) * set, uint64_t word, bool adds)
{
    int fresh;
    if (!adds)
        return kh_get(words, set, word) != kh_end(set);
    kh_put(words, set, word, &fresh);
    return fresh == 0;
}

static int64_t singly(khash_t(words) * set, const bench_work *work, bool adds)
{
    int64_t seen = 0;
    for (size_t i = 0; i < work->count; i++)
        seen += take(set, work->urls ? bench_peer_hash(work->urls[i]) : work->words[i], adds);
    return seen;
}

static void prefetch(const khash_t(words) * set, uint64_t word)
{
    if (!set->n_buckets)
        return;
    khint_t place = kh_int64_hash_func(word) & (set->n_buckets - 1);
    __builtin_prefetch(&set->keys[place], 1);
    __builtin_prefetch(&set->flags[place >> 4], 1);
}

static int64_t take_group(void *self, const uint64_t *words, size_t n, bool adds)
{
    khash_t(words) *set = self;
    int64_t seen = 0;
    for (size_t i = 0; i < n && i < BENCH_PEER_AHEAD; i++)
        prefetch(set, words[i]);
    for (size_t i = 0; i < n; i++) {
        if (i + BENCH_PEER_AHEAD < n)
            prefetch(set, words[i + BENCH_PEER_AHEAD]);
        seen += take(set, words[i], adds);
    }
    return seen;
}

static int64_t add_singly(void *self, const bench_work *work)
{
    return singly(self, work, true);
}

static int64_t has_singly(void *self, const bench_work *work)
{
    return singly(self, work, false);
}

static int64_t add_in_groups(void *self, const bench_work *work)
{
    return bench_in_groups(self, work, true, take_group);
}

static int64_t has_in_groups(void *self, const bench_work *work)
{
    return bench_in_groups(self, work, false, take_group);
}

static bench_weight weigh(void *self)
{
    const khash_t(words) *set = self;
    return (bench_weight){set->n_buckets * sizeof *set->keys + set->n_buckets / 4, -1, 1};
}

static const bench_class classes[2] = {{make, close_set, add_singly, has_singly, weigh},
                                       {make, close_set, add_in_groups, has_in_groups, weigh}};

const bench_class *bench_khash(bool batched)
{
    return &classes[batched];
}
#else
const bench_class *bench_khash(bool batched)
{
    (void)batched;
    return NULL;
}
#endif
