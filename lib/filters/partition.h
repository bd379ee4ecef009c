/*
 * Growing kinds divide their hashes by the topmost six bits into 64 partitions, which grow, or are locked, one by one.
 */
#ifndef VIDI_FILTERS_PARTITION_H
#define VIDI_FILTERS_PARTITION_H

#include <stdint.h>

#define VIDI__PARTITION_BITS 6
#define VIDI__PARTITIONS (1u << VIDI__PARTITION_BITS)

static inline unsigned vidi__partition_of(uint64_t hash)
{
    return (unsigned)(hash >> (64 - VIDI__PARTITION_BITS));
}

#endif
