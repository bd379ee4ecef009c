/*
 * Adds to the layers of the kind blocked while other threads use them.
 *
 * Most adds of a crawl are repeats, so an add first looks the URL up. Only for a URL that is missing it takes the lock
 * of the URL's partition, to which its lines in all layers belong. There it looks again, and sets the bits. The number of
 * layers is read under that lock, too, and it only grows. A thread that takes a partition's lock after another thread
 * sees at least the layers that the other has seen: the lock orders the two reads of the atomic number, so the later one
 * cannot return an older value. So a URL is always searched in the layer to which it was added, and of all threads that
 * add it exactly one is answered NEW, even while a layer is being added.
 *
 * What is missing of a batch is sorted by partition, so that each lock is taken once. By then all lines are in the
 * processor's cache, so locks are held for short.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_SHARED_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_SHARED_H

#include "filters/blocked/blocked_search.h"

vidi__added vidi__layers_add(vidi__layers *layers, vidi__u128 hash);
int vidi__layers_add_batch(vidi__layers *layers, const vidi__u128 *hashes, size_t n, uint8_t *verdicts,
                           vidi__tally *tally);

/* Begins to fetch what an add to this partition will write to, besides the URL's lines. */
static inline void vidi__layers_fetch(const vidi__layers *layers, unsigned partition)
{
    vidi__prefetch_to_write(vidi__layers_lock(layers, partition));
    vidi__prefetch_to_write(&vidi__layers_last(layers)->zones->of[partition]);
}

#endif
