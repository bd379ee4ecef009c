/*
 * Processes a batch of hashes partition by partition. The topmost six bits of a hash select its partition. Each
 * partition has its own lock, so several threads can share a table.
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

#include <pthread.h>

#include "filters/filter.h"

#define VIDI__PARTITION_BITS 6
#define VIDI__PARTITIONS (1u << VIDI__PARTITION_BITS)
/* Hashes per wave, at most: about as many lines as the memory can deliver at once. */
#define VIDI__WAVE_MAX 48

static inline unsigned vidi__partition_of(uint64_t hash)
{
    return (unsigned)(hash >> (64 - VIDI__PARTITION_BITS));
}

typedef struct vidi__locks {
    unsigned made;
    struct {
        _Alignas(VIDI__CACHE_LINE) pthread_mutex_t lock;
    } of[VIDI__PARTITIONS];
} vidi__locks;

int vidi__locks_init(vidi__locks *locks);
/* Destroys the locks that were created, which may be fewer than all after an error. */
void vidi__locks_destroy(vidi__locks *locks);

/* The locks are const here because lookups hold a const filter. */
void vidi__locks_take(const vidi__locks *locks, unsigned partition);
void vidi__locks_release(const vidi__locks *locks, unsigned partition);

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

/* Processes up to VIDI__HASHES_MAX hashes. */
int vidi__batch_run(const vidi__locks *locks, const vidi__u128 *hashes, size_t n, const vidi__batch_ops *ops,
                    void *context);

#endif
