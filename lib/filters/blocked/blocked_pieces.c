/* Layers in runs: see blocked_growth.h and filters/pieces.h. */
#include "filters/blocked/blocked_growth.h"
#include "filters/pieces.h"

static uint64_t words_of(const vidi__layer *layer)
{
    return vidi__layer_bytes(layer) / 8;
}

int vidi__layers_save_run(const vidi__layers *layers, vidi__run_out *run)
{
    uint64_t index;
    vidi__run_out inner = vidi__run_part(run, VIDI__ARRAY_BITS, &index);
    if (index >= vidi__layers_count(layers))
        return vidi__run_position_unknown();
    const vidi__layer *layer = layers->at[index];
    const uint64_t head[] = {index, layer->in.rows, layer->in.lines, layer->urls, vidi__layer_count(layer)};
    for (size_t i = 0; i < VIDI__COUNT(head); i++)
        VIDI__TRY(vidi__write_u64(run->writer, head[i]));
    inner.room -= sizeof head;
    VIDI__TRY(vidi__words_save_run(layer->in.words, &layer->lazy, words_of(layer), &inner));
    vidi__run_part_done(run, &inner, index, vidi__layers_count(layers));
    return VIDI_OK;
}

/* A layer that gets words, and the partition of the last one. Words come in order. */
typedef struct filling {
    vidi__layer *layer;
    unsigned partition;
} filling;

static int take_words(void *context, uint64_t first, const unsigned char *words, uint64_t count, bool apply)
{
    filling *self = context;
    vidi__layer *layer = self->layer;
    uint64_t row_words = (uint64_t)layer->in.lines * VIDI__LINE_WORDS;
    if (!apply)
        return vidi__layer_is_lazy(layer) ? vidi__lazy_touch_range(&layer->lazy, first, count) : VIDI_OK;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = first + i, *word = vidi__layer_at(layer, at), fresh = vidi__load64(words + 8 * i) & ~*word;
        while (at >= vidi__layer_row(layer, self->partition + 1) * row_words)
            self->partition++;
        *word |= fresh;
        atomic_fetch_add_explicit(&layer->zones->of[self->partition].ones, (uint64_t)__builtin_popcountll(fresh),
                                  memory_order_relaxed);
    }
    return VIDI_OK;
}

/*
 * The number of URLs is that of the other set, but as long as some of its bits are missing, within what the bits allow:
 * each URL has set at least one, and none more than it has.
 */
static void count_urls(vidi__layer *layer, uint64_t theirs)
{
    uint64_t ones = vidi__layer_ones(layer), each = (uint64_t)layer->in.lines * VIDI__BLOCKED_LANES;
    uint64_t least = ones / each + (ones % each != 0), count = vidi__layer_count(layer);
    count = count > theirs ? count : theirs;
    count = count < least ? least : count > ones ? ones : count;
    vidi__layer_set_count(layer, count);
}

int vidi__layers_load_run(vidi__layers *layers, vidi__run_in *run)
{
    uint64_t index, rows, lines, urls, count;
    VIDI__TRY(vidi__read_u64(run->reader, &index));
    VIDI__TRY(vidi__read_u64(run->reader, &rows));
    VIDI__TRY(vidi__read_u64(run->reader, &lines));
    VIDI__TRY(vidi__read_u64(run->reader, &urls));
    VIDI__TRY(vidi__read_u64(run->reader, &count));
    if (index > vidi__layers_count(layers) || index >= VIDI__BLOCKED_LAYERS_MAX)
        return vidi__damaged("a layer is missing");
    if (index == vidi__layers_count(layers))
        VIDI__TRY(vidi__layers_make_next(layers));
    filling self = {layers->at[index], 0};
    if (self.layer->in.rows != rows || self.layer->in.lines != lines || self.layer->urls != urls)
        return vidi__damaged("a layer has another shape than the set's");
    VIDI__TRY(vidi__layer_begin(self.layer, layers->memory));
    VIDI__TRY(vidi__words_load_run(words_of(self.layer), run, take_words, &self));
    if (!run->apply)
        return VIDI_OK;
    count_urls(self.layer, count);
    if (index == vidi__layers_count(layers))
        atomic_store(&layers->in_use, (unsigned)index + 1);
    return VIDI_OK;
}
