/*
 * The layers of the kind blocked, and how there come to be more of them.
 *
 *     layer 0   | row | row | row | …                                            full: asked, no longer added to
 *     layer 1   | row | row | row | row | row | row | row | row | …              adds go here
 *     layer 2   (made ahead, and touched page by page while layer 1 fills)       used by nobody yet
 *
 * A layer is full after so many URLs answered NEW. Who adds claims room for as many as might be NEW, and gives back
 * what was not. So no layer gets more than its number, with any number of threads, and a batch changes layers at the
 * same URL as single adds do.
 *
 * New memory is slow at its first touch (about half a gigabyte a second), and that comes two megabytes at a time. If
 * adds went to a new layer at once, each URL of a batch would wait for two megabytes. So the next layer is made ahead
 * and touched in order, a little after each batch (`tend`) or when there is time (`step`), and used when that is done.
 *
 * Layers are made, touched and put into use under a mutex, which is only ever waited for by threads that hold no lock
 * of a partition. The number of layers in use only ever grows.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_GROWTH_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_GROWTH_H

#include "filters/blocked/blocked_layer.h"

typedef struct vidi__layers {
    vidi__memory *memory;
    vidi__seed seed;
    vidi__blocked_plan plan;
    pthread_mutex_t growth;
    bool growth_made;
    bool refused;            /* the next layer could not be made ahead of time: wait until it is needed */
    _Atomic unsigned in_use; /* at least one, once they have been begun or read */
    _Atomic unsigned made;   /* those, and perhaps the next */
    vidi__layer *at[VIDI__BLOCKED_LAYERS_MAX];
} vidi__layers;

/* memory, seed and plan must be set. On error, free them. */
int vidi__layers_init(vidi__layers *layers);
void vidi__layers_free(vidi__layers *layers);
int vidi__layers_begin(vidi__layers *layers); /* with the first, touched */

static inline unsigned vidi__layers_count(const vidi__layers *layers)
{
    return atomic_load_explicit(&layers->in_use, memory_order_acquire);
}

static inline vidi__layer *vidi__layers_last(const vidi__layers *layers)
{
    return layers->at[vidi__layers_count(layers) - 1];
}

uint64_t vidi__layers_urls(const vidi__layers *layers);
void vidi__layers_stat(const vidi__layers *layers, vidi__filter_stats *stats);

/* Room in the last layer, which `index` tells, for at least one URL and for n at most: a new layer if it is full. */
int vidi__layers_claim(vidi__layers *layers, size_t n, unsigned *index, uint64_t *taken);

/* So many URLs have been put into layer `index`, where room for `taken` was claimed. */
void vidi__layers_settle(vidi__layers *layers, unsigned index, uint64_t taken, uint64_t used);

/* After adds: prepares the next layer as far as it must be by now. */
void vidi__layers_prepare_next(vidi__layers *layers);

/* Prepares it for so long: 1 if there is more to do. */
int vidi__layers_step(vidi__layers *layers, uint64_t budget_ns);

/* u64 number of layers, and the layers. */
int vidi__layers_save(const vidi__layers *layers, vidi__writer *writer);
int vidi__layers_load(vidi__layers *layers, vidi__reader *reader);

/* The marks of all of them; for what was lent. */
int vidi__layers_verify(const vidi__layers *layers);

/* Adds what is in others of the same plan. VIDI_EDIFFERS if some layers are not alike. */
int vidi__layers_merge(vidi__layers *into, const vidi__layers *from);

#endif
