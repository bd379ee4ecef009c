/*
 * What the tests of batches share: batches of hashes, and a kind whose waves only note what is asked of them.
 */
#ifndef TESTS_FILTERS_BATCH_CASES_H
#define TESTS_FILTERS_BATCH_CASES_H

#include "filters/batch.h"
#include "support/check.h"
#include "support/random.h"
#include "support/runner.h"

/* A hash of this partition. */
static inline vidi__u128 hash_in(unsigned partition, test_random *random)
{
    return (vidi__u128){test_next(random), (uint64_t)partition << 58 | test_next(random) >> 6};
}

/* How a batch is spread over the partitions. */
typedef enum spread { EVERYWHERE, IN_ONE, IN_TWO, IN_FEW, AT_THE_ENDS, ONE_EACH, SPREADS } spread;

static inline unsigned partition_at(spread how, size_t i, test_random *random)
{
    static const unsigned few[] = {3, 4, 17, 40, 63}, ends[] = {0, 63};
    switch (how) {
    case IN_ONE:
        return 29;
    case IN_TWO:
        return 11 + (unsigned)test_below(random, 2);
    case IN_FEW:
        return few[test_below(random, VIDI__COUNT(few))];
    case AT_THE_ENDS:
        return ends[test_below(random, VIDI__COUNT(ends))];
    case ONE_EACH:
        return (unsigned)i % VIDI__PARTITIONS;
    default:
        return (unsigned)test_below(random, VIDI__PARTITIONS);
    }
}

static inline void spread_hashes(vidi__u128 *hashes, size_t n, spread how, uint64_t seed)
{
    test_random random = {seed};
    for (size_t i = 0; i < n; i++)
        hashes[i] = hash_in(partition_at(how, i, &random), &random);
}

/* Is the lock held by anybody, this thread included? */
static inline bool is_held(const vidi__locks *locks, unsigned partition)
{
    if (!vidi__locks_try(locks, partition))
        return true;
    vidi__locks_release(locks, partition);
    return false;
}

static inline unsigned held_locks(const vidi__locks *locks)
{
    unsigned held = 0;
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        held += is_held(locks, i);
    return held;
}

#endif
