/*
 * The layers of the kind blocked, and how their number grows.
 *
 *     layer 0   | row | row | row | …                                            full: only for lookups
 *     layer 1   | row | row | row | row | row | row | row | row | …              adds go here
 *     layer 2   (created ahead, and touched page by page while layer 1 fills)    not in use yet
 *
 * A layer is full after a fixed number of NEW answers. A thread that is alone knows how many are missing, so a batch
 * changes layers at the same URL as single adds do. Among other threads, partitions claim room for some URLs at a time.
 * So no layer gets more URLs than it should, with any number of threads, and hardly fewer.
 *
 * The first touch of new memory is slow (about half a gigabyte per second), and the kernel does it two megabytes at a
 * time. If adds went to a new layer at once, each URL of a batch would wait for two megabytes. So the next layer is
 * created ahead and touched in order, a little after each batch (vidi__layers_prepare_next) or when there is time
 * (step), and is put into use after that.
 *
 * Layers are created, touched and put into use under a mutex. Only threads that hold no partition's lock wait for it.
 * The number of layers in use only grows. Whoever puts one into use takes the lock of each partition once after that.
 * Then no thread adds to an older layer any more, and the new one is called settled.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_GROWTH_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_GROWTH_H

#include <pthread.h>

#include "filters/blocked/blocked_chance.h"

typedef struct vidi__layers {
    vidi__memory *memory;
    const vidi__blocked_kernel *kernel;
    vidi__seed seed;
    vidi__blocked_plan plan;
    pthread_mutex_t growth;
    bool growth_made;
    bool later;               /* words of layers are lazy (VIDI_TOUCH_LATER) */
    _Atomic bool refused;     /* the next layer could not be created ahead of time: wait until it is needed */
    _Atomic unsigned in_use;  /* layers in use; at least one after begin or load */
    _Atomic unsigned settled; /* of them: all bits of those before the last of these are there */
    _Atomic unsigned made;    /* layers that exist: those in use, and perhaps the next */
    vidi__layer *at[VIDI__BLOCKED_LAYERS_MAX];
} vidi__layers;

/* The caller has set memory, seed, plan and `later`. Call vidi__layers_free even after an error. */
int vidi__layers_init(vidi__layers *layers);
void vidi__layers_free(vidi__layers *layers);
/* Creates the first layer and touches its memory. */
int vidi__layers_begin(vidi__layers *layers);

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
/* One of the layers in use. */
void vidi__layers_stage(const vidi__layers *layers, unsigned index, vidi_stage_stats *stats);

/* Puts the next layer into use if the last one is number `full`. The caller holds no partition's lock. */
int vidi__layers_advance(vidi__layers *layers, unsigned full, bool alone);

/* Brings what is known about the last layer up to date, and settles the others. */
void vidi__layers_settle(vidi__layers *layers, bool alone);

/* The locks of partitions. */
static inline vidi__mutex *vidi__layers_lock(const vidi__layers *layers, unsigned partition)
{
    return &layers->at[0]->zones->of[partition].lock;
}

/* Called after adds: prepares the next layer as far as it should be by now. */
void vidi__layers_prepare_next(vidi__layers *layers);

/* Touches lazy words and prepares the next layer for this long: 1 if there is more to do. */
int vidi__layers_step(vidi__layers *layers, uint64_t budget_ns);

/* Creates the layer after those in use unless it exists. No add may be running. */
int vidi__layers_make_next(vidi__layers *layers);

/*
 * Runs (filters/pieces.h): u64 number of the layer, u64 rows, lines, and URLs that it has room for, u64 URLs in it, and
 * a run of its words. Loading one of a layer that is not there yet puts it into use (blocked_pieces.c).
 */
int vidi__layers_save_run(const vidi__layers *layers, vidi__run_out *run);
int vidi__layers_load_run(vidi__layers *layers, vidi__run_in *run);

/* Saved are u64 number of layers, and the layers. */
int vidi__layers_save(const vidi__layers *layers, vidi__writer *writer);
int vidi__layers_load(vidi__layers *layers, vidi__reader *reader);

/* Verifies borrowed layers. */
int vidi__layers_verify(const vidi__layers *layers);

/* VIDI_EDIFFERS if the plans or some layers differ in shape. */
int vidi__layers_check_alike(const vidi__layers *into, const vidi__layers *from);

/* Merges layers of the same plan. VIDI_EDIFFERS if some layers differ in shape. */
int vidi__layers_merge(vidi__layers *into, const vidi__layers *from);

/* The probability of a false "seen" after such a merge. */
int vidi__layers_fp_merged(const vidi__layers *into, const vidi__layers *from, double *fp);

#endif
