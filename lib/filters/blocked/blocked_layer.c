/* See blocked_layer.h. */
#include "filters/blocked/blocked_layer.h"

#include <math.h>

#define PAGE 4096

/* ---- rows and partitions ---- */

double vidi__layer_fp(const vidi__layer *layer, unsigned partition, double ones)
{
    const vidi__blocked_line *chance = &layer->chance[vidi__layer_has_more_rows(layer, partition)];
    return vidi__power(vidi__blocked_line_fp(chance, vidi__blocked_urls(chance, layer->lines, ones)), layer->lines);
}

/* A line says "seen" with the product of its lanes' shares of set bits; a draw, with the mean over the rows. */
double vidi__layer_fp_counted(const vidi__layer *layer, unsigned partition)
{
    uint64_t rows = vidi__layer_rows(layer, partition), stride = (uint64_t)layer->lines * VIDI__LINE_WORDS;
    uint64_t first = vidi__layer_row(layer, partition) * stride;
    double all = 1;
    for (unsigned draw = 0; draw < layer->lines; draw++) {
        double sum = 0;
        for (uint64_t row = 0; row < rows; row++) {
            const uint64_t *line = vidi__layer_at(layer, first + row * stride + (uint64_t)draw * VIDI__LINE_WORDS);
            double product = 1;
            for (unsigned lane = 0; lane < VIDI__BLOCKED_LANES; lane++)
                product *= __builtin_popcountll(line[lane]) / 64.0;
            sum += product;
        }
        all *= sum / (double)rows;
    }
    return all;
}

uint64_t vidi__layer_ones(const vidi__layer *layer)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        sum += atomic_load_explicit(&layer->ones[i], memory_order_relaxed);
    return sum;
}

static uint64_t count_in(const vidi__layer *layer, unsigned partition)
{
    const uint64_t row_words = (uint64_t)layer->lines * VIDI__LINE_WORDS;
    uint64_t end = vidi__layer_row(layer, partition + 1) * row_words, sum = 0;
    for (uint64_t word = vidi__layer_row(layer, partition) * row_words, count; word < end; word += count) {
        count = vidi__layer_span(layer, word, end - word);
        sum += vidi__popcount(vidi__layer_at(layer, word), count);
    }
    return sum;
}

int vidi__layer_verify(const vidi__layer *layer)
{
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        if (count_in(layer, i) != atomic_load_explicit(&layer->ones[i], memory_order_relaxed))
            return vidi__damaged("the number of set bits of a layer is wrong");
    return VIDI_OK;
}

/* ---- creation ---- */

/* Creates everything except the words. */
static int begin(vidi__layer **layer, const vidi__layer_config *config)
{
    vidi__layer *self;
    VIDI__TRY(vidi__alloc_zeroed(config->memory, layer, sizeof **layer, VIDI__CACHE_LINE));
    self = *layer;
    self->rows = (uint64_t)config->shape.rows;
    self->lines = config->shape.lines;
    self->prepare = config->plan.prepare;
    self->urls = config->plan.urls;
    uint64_t least = self->rows / VIDI__PARTITIONS;
    for (unsigned more = 0; more < 2; more++)
        self->chance[more] = vidi__blocked_line_of((double)(least + more));
    vidi__seed seed = vidi__seed_child(config->seed, "layer", config->index, 1);
    for (unsigned draw = 0; draw < VIDI__BLOCKED_LINES_MAX; draw++) {
        self->salts[draw].row = vidi__mix(vidi__load64(seed.key) + draw) | 1;
        self->salts[draw].bits = vidi__mix(vidi__load64(seed.key + 8) + draw) | 1;
    }
    return VIDI_OK;
}

int vidi__layer_make(vidi__layer **layer, const vidi__layer_config *config)
{
    VIDI__TRY(begin(layer, config));
    vidi__layer *self = *layer;
    uint64_t bytes = vidi__layer_bytes(self);
    int code = config->later ? vidi__lazy_init(&self->lazy, config->memory, bytes / 8, VIDI__LAZY_COARSE)
                             : vidi__alloc_zeroed(config->memory, &self->words, bytes, VIDI__CACHE_LINE);
    if (code < 0) {
        vidi__layer_free(self, config->memory);
        *layer = NULL;
    }
    return code;
}

void vidi__layer_free(vidi__layer *layer, vidi__memory *memory)
{
    if (!layer)
        return;
    vidi__release(memory, layer->words, vidi__layer_bytes(layer), VIDI__CACHE_LINE);
    vidi__lazy_free(&layer->lazy, memory);
    vidi__release(memory, layer, sizeof *layer, VIDI__CACHE_LINE);
}

void vidi__layer_touch(vidi__layer *layer, uint64_t bytes)
{
    uint64_t all = vidi__layer_bytes(layer), to = bytes < all ? bytes : all;
    if (vidi__layer_is_lazy(layer))
        return;
    for (; layer->touched < to; layer->touched += PAGE)
        *(volatile uint64_t *)(layer->words + layer->touched / 8) = 0;
}

int vidi__layer_touch_url(vidi__layer *layer, vidi__memory *memory, const vidi__u128 *hash)
{
    unsigned partition = vidi__partition_of(hash->hi);
    for (unsigned i = 0; i < layer->lines; i++) {
        vidi__blocked_draw draw = vidi__layer_draw(layer, i, partition, NULL);
        VIDI__TRY(vidi__lazy_touch(&layer->lazy, memory, draw.begin + vidi__blocked_row(&draw, hash) * draw.stride));
    }
    return VIDI_OK;
}

/* ---- saving, loading, merging ---- */

static void set_count(vidi__layer *layer, uint64_t count)
{
    atomic_store(&layer->count, count);
    atomic_store(&layer->claimed, count);
}

int vidi__layer_save_head(const vidi__layer *layer, vidi__writer *writer)
{
    VIDI__TRY(vidi__write_u64(writer, layer->rows));
    VIDI__TRY(vidi__write_u64(writer, layer->lines));
    VIDI__TRY(vidi__write_u64(writer, layer->urls));
    VIDI__TRY(vidi__write_u64(writer, atomic_load(&layer->count)));
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        VIDI__TRY(vidi__write_u64(writer, atomic_load(&layer->ones[i])));
    return VIDI_OK;
}

int vidi__layer_save(const vidi__layer *layer, vidi__writer *writer)
{
    uint64_t words = vidi__layer_bytes(layer) / 8;
    VIDI__TRY(vidi__layer_save_head(layer, writer));
    VIDI__TRY(vidi__write_align(writer));
    for (uint64_t word = 0, count; word < words; word += count) {
        count = vidi__layer_span(layer, word, words - word);
        VIDI__TRY(vidi__write_words(writer, vidi__layer_at(layer, word), count));
    }
    return VIDI_OK;
}

/* Each URL answered NEW has set at least one bit, and no URL sets more bits than it has. */
static int check_count(const vidi__layer *layer)
{
    uint64_t ones = vidi__layer_ones(layer), urls = atomic_load(&layer->count);
    if (urls > ones || ones > urls * layer->lines * VIDI__BLOCKED_LANES)
        return vidi__damaged("the number of URLs of a layer does not match its set bits");
    return VIDI_OK;
}

static int read_ones(vidi__layer *layer, vidi__reader *reader)
{
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++) {
        uint64_t ones;
        VIDI__TRY(vidi__read_u64(reader, &ones));
        if (ones > vidi__layer_rows(layer, i) * layer->lines * VIDI__BLOCKED_BITS)
            return vidi__damaged("a layer claims more set bits than it has bits");
        atomic_store_explicit(&layer->ones[i], ones, memory_order_relaxed);
    }
    return check_count(layer);
}

static int read_words(vidi__layer *layer, const vidi__layer_config *config, vidi__reader *reader)
{
    uint64_t words = vidi__layer_bytes(layer) / 8;
    bool lazily = config->later && !vidi__lends(reader);
    VIDI__TRY(read_ones(layer, reader));
    VIDI__TRY(lazily ? vidi__lazy_read(&layer->lazy, config->memory, words, VIDI__LAZY_COARSE, reader)
                     : vidi__read_array(reader, config->memory, words, words, &layer->words));
    layer->touched = vidi__layer_bytes(layer);
    return vidi__must_examine(reader) ? vidi__layer_verify(layer) : VIDI_OK;
}

int vidi__layer_load(vidi__layer **layer, const vidi__layer_config *config, vidi__reader *reader)
{
    uint64_t rows, lines, urls, count;
    vidi__layer_config read = *config;
    *layer = NULL;
    VIDI__TRY(vidi__read_u64(reader, &rows));
    VIDI__TRY(vidi__read_u64(reader, &lines));
    VIDI__TRY(vidi__read_u64(reader, &urls));
    VIDI__TRY(vidi__read_u64(reader, &count));
    if (lines < 1 || lines > VIDI__BLOCKED_LINES_MAX || (config->shape.lines && lines != config->shape.lines))
        return vidi__damaged("a layer has the wrong number of lines");
    if (rows < VIDI__PARTITIONS || rows > VIDI__BLOCKED_ROWS_MAX || rows > reader->left / (lines * VIDI__CACHE_LINE))
        return vidi__damaged("a layer has too few rows, or more than the data can hold");
    if (urls < 1 || urls > VIDI__CAPACITY_MAX || count > rows * lines * VIDI__BLOCKED_BITS)
        return vidi__damaged("the number of URLs of a layer is out of range");
    read.shape = (vidi__blocked_shape){(double)rows, (unsigned)lines};
    read.plan.urls = urls;
    read.plan.prepare = config->plan.prepare < urls ? config->plan.prepare : urls;
    VIDI__TRY(begin(layer, &read));
    set_count(*layer, count);
    int code = read_words(*layer, config, reader);
    if (code < 0) {
        vidi__layer_free(*layer, config->memory);
        *layer = NULL;
    }
    return code;
}

/* Estimates how many URLs have set this many bits. */
static double estimate(const vidi__layer *layer)
{
    double sum = 0;
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++) {
        bool more = vidi__layer_rows(layer, i) > layer->rows / VIDI__PARTITIONS;
        sum += vidi__blocked_urls(&layer->chance[more], layer->lines, (double)atomic_load(&layer->ones[i]));
    }
    return sum;
}

void vidi__layer_merge_numbers(vidi__layer *into, const uint64_t *ones, uint64_t urls)
{
    uint64_t before = atomic_load(&into->count);
    double estimated = estimate(into);
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        atomic_store_explicit(&into->ones[i], ones[i], memory_order_relaxed);
    double least = (double)(before > urls ? before : urls);
    double most = fmin((double)(before + urls), (double)vidi__layer_ones(into));
    set_count(into, (uint64_t)fmin(fmax((double)before + ceil(estimate(into) - estimated), least), most));
}

/* How many words from this one on are contiguous in both layers. */
static uint64_t span_of_both(const vidi__layer *a, const vidi__layer *b, uint64_t word)
{
    return vidi__layer_span(a, word, vidi__layer_span(b, word, vidi__layer_bytes(a) / 8 - word));
}

static void join(uint64_t *into, const uint64_t *from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        into[i] |= from[i];
}

int vidi__layer_touch_for_merge(vidi__layer *into, vidi__memory *memory, const vidi__layer *from)
{
    uint64_t words = vidi__layer_bytes(into) / 8;
    if (!vidi__layer_is_lazy(into))
        return VIDI_OK;
    for (uint64_t word = 0, count; word < words; word += count) {
        count = span_of_both(into, from, word);
        if (vidi__popcount(vidi__layer_at(from, word), count))
            VIDI__TRY(vidi__lazy_touch(&into->lazy, memory, word));
    }
    return VIDI_OK;
}

void vidi__layer_merge(vidi__layer *into, const vidi__layer *from)
{
    uint64_t words = vidi__layer_bytes(into) / 8, ones[VIDI__PARTITIONS];
    for (uint64_t word = 0, count; word < words; word += count) {
        count = span_of_both(into, from, word);
        if (into->words || vidi__lazy_is_touched(&into->lazy, word)) /* else there is nothing to merge */
            join(vidi__layer_at(into, word), vidi__layer_at(from, word), count);
    }
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        ones[i] = count_in(into, i);
    vidi__layer_merge_numbers(into, ones, atomic_load(&from->count));
}

/* The number of bits of a partition that are set in at least one of two layers. */
static uint64_t union_of(const vidi__layer *a, const vidi__layer *b, unsigned partition)
{
    uint64_t row_words = (uint64_t)a->lines * VIDI__LINE_WORDS, sum = 0;
    uint64_t from = vidi__layer_row(a, partition) * row_words, to = vidi__layer_row(a, partition + 1) * row_words;
    for (uint64_t word = from, count; word < to; word += count) {
        const uint64_t *one = vidi__layer_at(a, word), *other = vidi__layer_at(b, word);
        count = vidi__layer_span(a, word, vidi__layer_span(b, word, to - word));
        for (uint64_t i = 0; i < count; i++)
            sum += (uint64_t)__builtin_popcountll(one[i] | other[i]);
    }
    return sum;
}

double vidi__layer_fp_merged(const vidi__layer *a, const vidi__layer *b, unsigned partition)
{
    return vidi__layer_fp(a, partition, (double)union_of(a, b, partition));
}
