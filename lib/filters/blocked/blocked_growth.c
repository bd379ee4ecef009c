/* See blocked_growth.h. */
#include "filters/blocked/blocked_growth.h"

#include <math.h>

#include "base/clock.h"

#define STEP_BYTES ((uint64_t)1 << 20) /* touched between two readings of the clock */
#define AHEAD 1.1                      /* touching stays ahead of what is needed by this factor */

int vidi__layers_init(vidi__layers *layers)
{
    if (pthread_mutex_init(&layers->growth, NULL))
        return vidi__fail(VIDI_ESYSTEM, "cannot create a lock: the system has no more of them");
    layers->growth_made = true;
    return VIDI_OK;
}

void vidi__layers_free(vidi__layers *layers)
{
    for (unsigned i = 0; i < VIDI__BLOCKED_LAYERS_MAX; i++)
        vidi__layer_free(layers->at[i], layers->memory);
    if (layers->growth_made)
        pthread_mutex_destroy(&layers->growth);
}

static int make_layer(vidi__layers *layers, unsigned index, vidi__blocked_layer_plan plan, vidi__blocked_shape shape)
{
    vidi__layer_config config = {layers->memory, &layers->seed, index, plan, shape, layers->later, false};
    config.blank = index == 0 && !layers->plan.capacity;
    VIDI__TRY(vidi__layer_make(&layers->at[index], &config));
    atomic_store_explicit(&layers->made, index + 1, memory_order_release);
    return VIDI_OK;
}

static bool next_is_made(const vidi__layers *layers)
{
    return vidi__layers_count(layers) < atomic_load_explicit(&layers->made, memory_order_relaxed);
}

/* Creates the layer after those in use unless it exists. The caller holds the mutex. */
static int make_next(vidi__layers *layers)
{
    unsigned index = vidi__layers_count(layers);
    if (next_is_made(layers))
        return VIDI_OK;
    if (index == VIDI__BLOCKED_LAYERS_MAX)
        return vidi__fail(VIDI_ELIMIT, "all %d layers are full; create the set with a larger capacity", index);
    vidi__blocked_layer_plan plan = vidi__blocked_layer_at(&layers->plan, index);
    vidi__blocked_shape shape = vidi__blocked_shape_for((double)plan.urls, plan.share, layers->plan.lines);
    if (shape.rows == 0)
        return vidi__fail(VIDI_ELIMIT, "%.3g URLs at an error rate of %.3g need more memory than any machine has",
                          (double)plan.urls, plan.share);
    return make_layer(layers, index, plan, shape);
}

int vidi__layers_make_next(vidi__layers *layers)
{
    return make_next(layers);
}

int vidi__layers_begin(vidi__layers *layers)
{
    VIDI__TRY(make_next(layers));
    vidi__layer_touch(layers->at[0], UINT64_MAX);
    atomic_store(&layers->in_use, 1);
    atomic_store(&layers->settled, 1);
    return VIDI_OK;
}

void vidi__layers_settle(vidi__layers *layers, bool alone)
{
    unsigned count = vidi__layers_count(layers);
    const vidi__layer *last = layers->at[count - 1];
    for (unsigned i = 0; last->zones && i < VIDI__PARTITIONS; i++) {
        if (!alone)
            vidi__mutex_lock(vidi__layers_lock(layers, i));
        if (count > 1 || vidi__layer_ones_in(last, i)) /* otherwise the first add does it */
            vidi__zone_refresh(layers->at, count, i, alone);
        if (!alone)
            vidi__mutex_unlock(vidi__layers_lock(layers, i));
    }
    atomic_store_explicit(&layers->settled, count, memory_order_release);
}

int vidi__layers_advance(vidi__layers *layers, unsigned full, bool alone)
{
    int code = VIDI_OK;
    pthread_mutex_lock(&layers->growth);
    if (vidi__layers_count(layers) == full + 1 && (code = make_next(layers)) == VIDI_OK) {
        vidi__layer_touch(layers->at[full + 1], UINT64_MAX);
        atomic_store_explicit(&layers->refused, false, memory_order_relaxed);
        atomic_store_explicit(&layers->in_use, full + 2, memory_order_release);
        vidi__layers_settle(layers, alone);
    }
    pthread_mutex_unlock(&layers->growth);
    return code;
}

/* ---- the next layer, ahead of time ---- */

/*
 * Returns true if it is time to prepare the next layer. If so, *share is how far the last one has filled since that
 * time began.
 */
static bool next_is_due(const vidi__layers *layers, double *share)
{
    const vidi__layer *last = vidi__layers_last(layers);
    uint64_t count = atomic_load_explicit(&last->claimed, memory_order_relaxed);
    if (count > last->prepare && count - last->prepare <= VIDI__PARTITIONS)
        count = vidi__layer_count(last); /* without the room that some partitions have claimed */
    if (count <= last->prepare)
        return false;
    *share = count < last->urls ? (double)(count - last->prepare) / (double)(last->urls - last->prepare) : 1;
    return true;
}

/* A failure here is not reported and leaves the message alone: creation is tried again when the layer is needed. */
static void make_ahead(vidi__layers *layers)
{
    vidi__quiet quiet;
    if (next_is_made(layers) || atomic_load_explicit(&layers->refused, memory_order_relaxed))
        return;
    vidi__quiet_begin(&quiet);
    atomic_store_explicit(&layers->refused, make_next(layers) < 0, memory_order_relaxed);
    vidi__quiet_end(&quiet, VIDI_OK);
}

/* How far the next layer should be touched. */
static uint64_t wanted(const vidi__layer *next, double share)
{
    double all = (double)vidi__layer_bytes(next);
    return (uint64_t)fmin(AHEAD * share * all, all);
}

/* Returns true if there is something to do. Otherwise threads that add need not meet at the mutex. */
static bool is_behind(const vidi__layers *layers, double share)
{
    unsigned count = vidi__layers_count(layers);
    if (atomic_load_explicit(&layers->made, memory_order_acquire) <= count)
        return !atomic_load_explicit(&layers->refused, memory_order_relaxed);
    const vidi__layer *next = layers->at[count];
    return !vidi__layer_is_lazy(next) &&
           atomic_load_explicit(&next->touched, memory_order_relaxed) < wanted(next, share);
}

void vidi__layers_prepare_next(vidi__layers *layers)
{
    double share;
    if (!next_is_due(layers, &share) || !is_behind(layers, share) || pthread_mutex_trylock(&layers->growth) != 0)
        return; /* or another thread is preparing it */
    make_ahead(layers);
    if (next_is_due(layers, &share) && next_is_made(layers)) {
        vidi__layer *next = layers->at[vidi__layers_count(layers)];
        vidi__layer_touch(next, wanted(next, share));
    }
    pthread_mutex_unlock(&layers->growth);
}

/* Touches a little of a layer: 1 if there is more to do. */
static int touch_some(vidi__layer *layer, vidi__memory *memory)
{
    if (vidi__layer_is_lazy(layer)) {
        VIDI__TRY(vidi__lazy_touch_next(&layer->lazy, memory));
        return layer->lazy.untouched != 0;
    }
    uint64_t touched = atomic_load_explicit(&layer->touched, memory_order_relaxed);
    vidi__layer_touch(layer, touched + STEP_BYTES);
    return touched + STEP_BYTES < vidi__layer_bytes(layer);
}

/* The layer that has memory left to touch: the last one, if it is lazy, then the next, if it is due; or NULL. */
static int layer_to_touch(vidi__layers *layers, uint64_t budget_ns, vidi__layer **layer)
{
    double share;
    *layer = vidi__layers_last(layers);
    if ((*layer)->lazy.untouched)
        return 1;
    *layer = NULL;
    if (!next_is_due(layers, &share) || !budget_ns)
        return next_is_due(layers, &share);
    VIDI__TRY(make_next(layers));
    *layer = layers->at[vidi__layers_count(layers)];
    return 1;
}

int vidi__layers_step(vidi__layers *layers, uint64_t budget_ns)
{
    uint64_t begin = vidi__clock_ns();
    vidi__layer *layer;
    int more = layer_to_touch(layers, budget_ns, &layer);
    if (!budget_ns)
        return more;
    while (more > 0 && layer) {
        more = touch_some(layer, layers->memory);
        if (vidi__clock_ns() - begin >= budget_ns)
            return more;
    }
    return more;
}

/* ---- all layers ---- */

uint64_t vidi__layers_urls(const vidi__layers *layers)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < vidi__layers_count(layers); i++)
        sum += vidi__layer_count(layers->at[i]);
    return sum;
}

void vidi__layers_stat(const vidi__layers *layers, vidi__filter_stats *stats)
{
    uint64_t ones = 0, bits = 0;
    unsigned count = vidi__layers_count(layers), made = atomic_load_explicit(&layers->made, memory_order_acquire);
    for (unsigned i = 0; i < made; i++)
        stats->bytes += vidi__layer_allocated(layers->at[i]);
    for (unsigned i = 0; i < count; i++) {
        ones += vidi__layer_ones(layers->at[i]);
        bits += vidi__layer_bytes(layers->at[i]) * 8;
        stats->lines_touched += layers->at[i]->in.lines;
    }
    stats->fill = (double)ones / (double)bits;
    stats->stages = count;
}

void vidi__layers_stage(const vidi__layers *layers, unsigned index, vidi_stage_stats *stats)
{
    const vidi__layer *layer = layers->at[index];
    stats->capacity = layer->urls;
    stats->count = vidi__layer_count(layer);
    stats->bytes = vidi__layer_allocated(layer);
    stats->error = vidi__blocked_layer_at(&layers->plan, index).share;
    stats->k = layer->in.lines * VIDI__BLOCKED_LANES;
}

int vidi__layers_save(const vidi__layers *layers, vidi__writer *writer)
{
    unsigned count = vidi__layers_count(layers);
    VIDI__TRY(vidi__write_u64(writer, count));
    for (unsigned i = 0; i < count; i++)
        VIDI__TRY(vidi__layer_save(layers->at[i], writer));
    return VIDI_OK;
}

int vidi__layers_load(vidi__layers *layers, vidi__reader *reader)
{
    uint64_t count;
    VIDI__TRY(vidi__read_u64(reader, &count));
    if (count < 1 || count > VIDI__BLOCKED_LAYERS_MAX)
        return vidi__damaged("a blocked filter has no layers, or too many");
    for (unsigned i = 0; i < count; i++) {
        vidi__layer_config config = {.memory = layers->memory, .seed = &layers->seed, .index = i};
        config.later = layers->later;
        config.plan = vidi__blocked_layer_at(&layers->plan, i);
        config.shape.lines = layers->plan.lines;
        VIDI__TRY(vidi__layer_load(&layers->at[i], &config, reader));
    }
    atomic_store(&layers->in_use, (unsigned)count);
    atomic_store(&layers->made, (unsigned)count);
    return VIDI_OK;
}

int vidi__layers_verify(const vidi__layers *layers)
{
    for (unsigned i = 0; i < vidi__layers_count(layers); i++)
        VIDI__TRY(vidi__layer_verify(layers->at[i]));
    return VIDI_OK;
}

int vidi__layers_check_alike(const vidi__layers *into, const vidi__layers *from)
{
    const vidi__blocked_plan *a = &into->plan, *b = &from->plan;
    if (a->capacity != b->capacity || a->error != b->error)
        return vidi__fail(VIDI_EDIFFERS,
                          "one blocked set is for %llu URLs and an error rate of %g, the other for %llu and %g",
                          (unsigned long long)a->capacity, a->error, (unsigned long long)b->capacity, b->error);
    for (unsigned i = 0; i < atomic_load(&into->made) && i < vidi__layers_count(from); i++) {
        const vidi__layer *x = into->at[i], *y = from->at[i];
        if (x->in.rows != y->in.rows || x->in.lines != y->in.lines)
            return vidi__fail(VIDI_EDIFFERS, "layer %u has %llu rows of %u lines in one set, %llu of %u in the other",
                              i, (unsigned long long)x->in.rows, x->in.lines, (unsigned long long)y->in.rows,
                              y->in.lines);
    }
    return VIDI_OK;
}

int vidi__layers_merge(vidi__layers *into, const vidi__layers *from)
{
    unsigned count = vidi__layers_count(from);
    VIDI__TRY(vidi__layers_check_alike(into, from));
    for (unsigned i = atomic_load(&into->made); i < count; i++) {
        const vidi__layer *like = from->at[i];
        VIDI__TRY(make_layer(into, i, (vidi__blocked_layer_plan){like->prepare, like->urls, 0},
                             (vidi__blocked_shape){(double)like->in.rows, like->in.lines}));
    }
    for (unsigned i = 0; i < count; i++)
        VIDI__TRY(vidi__layer_touch_for_merge(into->at[i], into->memory, from->at[i]));
    for (unsigned i = 0; i < count; i++)
        vidi__layer_merge(into->at[i], from->at[i]);
    if (count > vidi__layers_count(into))
        atomic_store(&into->in_use, count);
    return VIDI_OK;
}

static double fp_of_partition(const vidi__layers *into, const vidi__layers *from, unsigned partition)
{
    unsigned a = vidi__layers_count(into), b = vidi__layers_count(from);
    double fp = 0;
    for (unsigned i = 0; i < a || i < b; i++) {
        const vidi__layer *one = i < a ? into->at[i] : from->at[i], *other = i < b ? from->at[i] : one;
        fp += (1 - fp) * vidi__layer_fp_merged(one, other, partition);
    }
    return fp;
}

int vidi__layers_fp_merged(const vidi__layers *into, const vidi__layers *from, double *fp)
{
    VIDI__TRY(vidi__layers_check_alike(into, from));
    *fp = 0;
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        *fp += fp_of_partition(into, from, i) / VIDI__PARTITIONS;
    return VIDI_OK;
}
