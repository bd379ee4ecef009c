/*
 * A batch of hashes, worked through partition by partition. The topmost six bits of a hash name its partition, each of
 * which has a lock of its own: that is how several threads share a table.
 *
 *     sort     the batch by partition, keeping its order within each: about 32 hashes a wave
 *     for each wave:   look_ahead    at its lines, which have been fetched: does any lead on to other memory?
 *                      fetch   the next wave: find its lines, and let the processor bring them
 *                      work    on this one
 *
 * So the memory is always busy with the lines of the next wave while the processor is busy with those of this one. No
 * thread waits for a lock while it holds another: where the next partition is taken, its lines are fetched later, when
 * this one has been let go. Threads begin at different partitions, to be out of each other's way.
 *
 * Two adds of one URL meet in one partition, and in a batch in their order, so exactly one of them is told NEW.
 */
#ifndef VIDI_FILTERS_BATCH_H
#define VIDI_FILTERS_BATCH_H

#include <pthread.h>

#include "filters/filter.h"

#define VIDI__PARTITION_BITS 6
#define VIDI__PARTITIONS (1u << VIDI__PARTITION_BITS)
#define VIDI__WAVE_MAX 48 /* hashes that are fetched together: about as many lines as can be on their way at once */

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
void vidi__locks_destroy(vidi__locks *locks); /* those that were made */

/* Of a filter that is const for those who ask; its locks are not. */
void vidi__locks_take(const vidi__locks *locks, unsigned partition);
void vidi__locks_release(const vidi__locks *locks, unsigned partition);

/* Hashes of one partition, whose lock is held: those at order[0] to order[count - 1] of the batch. */
typedef struct vidi__wave {
    unsigned partition;
    unsigned buffer; /* 0 or 1: which of two places what fetch found out may be kept in until work */
    const uint16_t *order;
    size_t count; /* at most VIDI__WAVE_MAX */
} vidi__wave;

/*
 * What a kind does; look_ahead may be NULL. work may return an error, which ends the run; another wave may have been
 * fetched for nothing.
 */
typedef struct vidi__batch_ops {
    void (*fetch)(void *context, const vidi__wave *wave);
    int (*work)(void *context, const vidi__wave *wave);
    void (*look_ahead)(void *context, const vidi__wave *wave);
} vidi__batch_ops;

/* Up to VIDI__HASHES_MAX hashes. */
int vidi__batch_run(const vidi__locks *locks, const vidi__u128 *hashes, size_t n, const vidi__batch_ops *ops,
                    void *context);

#endif
