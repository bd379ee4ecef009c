/*
 * Processes a batch of hashes partition by partition, for sets that several threads share. The topmost six bits of a
 * hash select its partition, and each partition has its own lock.
 *
 *     sort the batch by partition, keeping its order within each partition
 *     split each partition's hashes into waves: about 32 hashes each in a full batch
 *     for each wave:   look_ahead   its lines have arrived: prefetch other memory that they lead to
 *                      fetch        locate and prefetch the lines of the next wave
 *                      work         process this wave
 *
 * So memory is busy with the lines of the next wave while the processor works on this one. No thread waits for a lock
 * while it holds another: if the next partition is locked, its lines are fetched after this partition is released.
 * Threads start at different partitions, so that they rarely meet.
 *
 * Two adds of one URL meet in one partition, and within a batch they keep their order. So exactly one of them is
 * answered NEW.
 */
#ifndef VIDI_FILTERS_BATCH_H
#define VIDI_FILTERS_BATCH_H

#include "base/mutex.h"
#include "filters/filter.h"

#define VIDI__PARTITION_BITS 6
#define VIDI__PARTITIONS (1u << VIDI__PARTITION_BITS)
/* Hashes per wave, at most: about as many lines as the memory can deliver at once. */
#define VIDI__WAVE_MAX 48

static inline unsigned vidi__partition_of(uint64_t hash)
{
    return (unsigned)(hash >> (64 - VIDI__PARTITION_BITS));
}

/* All bytes zero are free locks. Each has a cache line of its own, so that threads do not wait for their neighbours. */
typedef struct vidi__locks {
    struct {
        _Alignas(VIDI__CACHE_LINE) vidi__mutex lock;
    } of[VIDI__PARTITIONS];
} vidi__locks;

/* The locks to take for a call on this filter: NULL, which stands for none, if the caller is alone. */
static inline const vidi__locks *vidi__locks_needed(const vidi__filter *filter, const vidi__locks *locks)
{
    return vidi__filter_is_alone(filter) ? NULL : locks;
}

/* The locks are const here because lookups hold a const filter. NULL: the caller is alone, so nothing is locked. */
static inline void vidi__locks_take(const vidi__locks *locks, unsigned partition)
{
    if (locks)
        vidi__mutex_lock((vidi__mutex *)&locks->of[partition].lock);
}

static inline bool vidi__locks_try(const vidi__locks *locks, unsigned partition)
{
    return !locks || vidi__mutex_try((vidi__mutex *)&locks->of[partition].lock);
}

static inline void vidi__locks_release(const vidi__locks *locks, unsigned partition)
{
    if (locks)
        vidi__mutex_unlock((vidi__mutex *)&locks->of[partition].lock);
}

/*
 * Up to VIDI__WAVE_MAX hashes of one partition, whose lock is held: those at order[0] to order[count - 1] of the batch.
 */
typedef struct vidi__wave {
    unsigned partition;
    unsigned buffer; /* 0 or 1: which of two buffers may carry results of fetch to work */
    const uint16_t *order;
    size_t count;
} vidi__wave;

/*
 * A kind's callbacks. look_ahead may be NULL. An error from work ends the run; another wave may already have been
 * fetched then.
 */
typedef struct vidi__batch_ops {
    void (*fetch)(void *context, const vidi__wave *wave);
    int (*work)(void *context, const vidi__wave *wave);
    void (*look_ahead)(void *context, const vidi__wave *wave);
} vidi__batch_ops;

/* Processes up to VIDI__HASHES_MAX hashes. locks NULL: the caller is alone. */
int vidi__batch_run(const vidi__locks *locks, const vidi__u128 *hashes, size_t n, const vidi__batch_ops *ops,
                    void *context);

#endif
