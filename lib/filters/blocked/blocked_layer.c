/* See blocked_layer.h. */
#include "filters/blocked/blocked_layer.h"

#include <math.h>

#define PAGE 4096

/* ---- rows and partitions ---- */

double vidi__layer_fp(const vidi__layer *layer, unsigned partition, double ones)
{
    const vidi__blocked_line *chance = &layer->chance[vidi__layer_has_more_rows(layer, partition)];
    return vidi__power(vidi__blocked_line_fp(chance, vidi__blocked_urls(chance, layer->in.lines, ones)),
                       layer->in.lines);
}

/* A line says "seen" with the product of its lanes' shares of set bits; a draw, with the mean over the rows. */
double vidi__layer_fp_counted(const vidi__layer *layer, unsigned partition)
{
    uint64_t rows = vidi__layer_rows(layer, partition), stride = (uint64_t)layer->in.lines * VIDI__LINE_WORDS;
    uint64_t first = vidi__layer_row(layer, partition) * stride;
    double all = 1;
    for (unsigned draw = 0; draw < layer->in.lines; draw++) {
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
        sum += vidi__layer_ones_in(layer, i);
    return sum;
}

static uint64_t count_in(const vidi__layer *layer, unsigned partition)
{
    const uint64_t row_words = (uint64_t)layer->in.lines * VIDI__LINE_WORDS;
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
        if (count_in(layer, i) != vidi__layer_ones_in(layer, i))
            return vidi__damaged("the number of set bits of a layer is wrong");
    return VIDI_OK;
}

/* ---- room ---- */

/*
 * A zone claims this fraction of what is left until the next layer is prepared or used, so that threads seldom meet at
 * the layer's number. The last URLs are claimed one by one, so hardly any room stays unused.
 */
#define ROOM_SHARE (16 * VIDI__PARTITIONS)

bool vidi__layer_claim(vidi__layer *layer, vidi__zone *zone)
{
    uint64_t claimed = atomic_load_explicit(&layer->claimed, memory_order_relaxed), more;
    if (atomic_load_explicit(&zone->room, memory_order_relaxed))
        return true;
    do {
        if (claimed >= layer->urls)
            return false;
        more = ((claimed < layer->prepare ? layer->prepare : layer->urls) - claimed) / ROOM_SHARE + 1;
        more = more < UINT32_MAX ? more : UINT32_MAX;
    } while (!atomic_compare_exchange_weak_explicit(&layer->claimed, &claimed, claimed + more, memory_order_relaxed,
                                                    memory_order_relaxed));
    atomic_store_explicit(&zone->room, (uint32_t)more, memory_order_relaxed);
    if (!atomic_load_explicit(&layer->lent, memory_order_relaxed))
        atomic_store_explicit(&layer->lent, true, memory_order_relaxed);
    return true;
}

uint64_t vidi__layer_count(const vidi__layer *layer)
{
    uint64_t room = 0;
    for (unsigned i = 0; layer->zones && i < VIDI__PARTITIONS; i++)
        room += atomic_load_explicit(&layer->zones->of[i].room, memory_order_relaxed);
    return atomic_load_explicit(&layer->claimed, memory_order_relaxed) - room;
}

void vidi__layer_set_count(vidi__layer *layer, uint64_t count)
{
    for (unsigned i = 0; layer->zones && i < VIDI__PARTITIONS; i++)
        atomic_store_explicit(&layer->zones->of[i].room, 0, memory_order_relaxed);
    atomic_store_explicit(&layer->claimed, count, memory_order_relaxed);
    atomic_store_explicit(&layer->lent, false, memory_order_relaxed);
}

/* ---- creation ---- */

/* Creates everything except the words. */
static int begin(vidi__layer **layer, const vidi__layer_config *config)
{
    vidi__layer *self;
    VIDI__TRY(vidi__alloc_zeroed(config->memory, layer, sizeof **layer, VIDI__CACHE_LINE));
    self = *layer;
    self->in.rows = (uint64_t)config->shape.rows;
    self->in.lines = config->shape.lines;
    self->prepare = config->plan.prepare;
    self->urls = config->plan.urls;
    uint64_t least = self->in.rows / VIDI__PARTITIONS;
    for (unsigned more = 0; more < 2; more++)
        self->chance[more] = vidi__blocked_line_of((double)(least + more));
    vidi__seed seed = vidi__seed_child(config->seed, "layer", config->index, 1);
    for (unsigned draw = 0; draw < VIDI__BLOCKED_LINES_MAX; draw++) {
        self->in.salts[draw].row = vidi__mix(vidi__load64(seed.key) + draw) | 1;
        self->in.salts[draw].bits = vidi__mix(vidi__load64(seed.key + 8) + draw) | 1;
    }
    return VIDI_OK;
}

static int begin_zones(vidi__layer *layer, vidi__memory *memory)
{
    return vidi__alloc_zeroed(memory, &layer->zones, sizeof *layer->zones, VIDI__CACHE_LINE);
}

int vidi__layer_begin_slowly(vidi__layer *layer, vidi__memory *memory)
{
    uint64_t *words;
    VIDI__TRY(begin_zones(layer, memory));
    if (layer->in.words != vidi__lazy_zeros)
        return VIDI_OK;
    int code = vidi__alloc_zeroed(memory, &words, vidi__layer_bytes(layer), VIDI__CACHE_LINE);
    if (code < 0) {
        vidi__release(memory, layer->zones, sizeof *layer->zones, VIDI__CACHE_LINE);
        layer->zones = NULL;
        return code;
    }
    layer->in.words = words;
    return VIDI_OK;
}

int vidi__layer_make(vidi__layer **layer, const vidi__layer_config *config)
{
    VIDI__TRY(begin(layer, config));
    vidi__layer *self = *layer;
    uint64_t bytes = vidi__layer_bytes(self);
    bool blank = config->blank && bytes <= VIDI__LAZY_BYTES;
    int code = VIDI_OK;
    if (config->later)
        code = vidi__lazy_init(&self->lazy, config->memory, bytes / 8, VIDI__LAZY_COARSE);
    else if (blank)
        self->in.words = vidi__lazy_zeros;
    else
        code = vidi__alloc_zeroed(config->memory, &self->in.words, bytes, VIDI__CACHE_LINE);
    self->in.pieces = self->lazy.pieces;
    if (code == VIDI_OK && !blank)
        code = begin_zones(self, config->memory);
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
    if (layer->in.words != vidi__lazy_zeros)
        vidi__release(memory, layer->in.words, vidi__layer_bytes(layer), VIDI__CACHE_LINE);
    vidi__lazy_free(&layer->lazy, memory);
    vidi__release(memory, layer->zones, sizeof *layer->zones, VIDI__CACHE_LINE);
    vidi__release(memory, layer, sizeof *layer, VIDI__CACHE_LINE);
}

void vidi__layer_touch(vidi__layer *layer, uint64_t bytes)
{
    uint64_t all = vidi__layer_bytes(layer), to = bytes < all ? bytes : all;
    if (vidi__layer_is_lazy(layer) || layer->in.words == vidi__lazy_zeros)
        return;
    uint64_t at = atomic_load_explicit(&layer->touched, memory_order_relaxed);
    for (; at < to; at += PAGE)
        *(volatile uint64_t *)(layer->in.words + at / 8) = 0;
    atomic_store_explicit(&layer->touched, at, memory_order_relaxed);
}

int vidi__layer_touch_url(vidi__layer *layer, vidi__memory *memory, vidi__u128 hash)
{
    for (unsigned i = 0; i < layer->in.lines; i++)
        VIDI__TRY(vidi__lazy_touch(&layer->lazy, memory, vidi__blocked_word(&layer->in, hash, i)));
    return VIDI_OK;
}

/* ---- saving, loading, merging ---- */

int vidi__layer_save_head(const vidi__layer *layer, vidi__writer *writer)
{
    VIDI__TRY(vidi__write_u64(writer, layer->in.rows));
    VIDI__TRY(vidi__write_u64(writer, layer->in.lines));
    VIDI__TRY(vidi__write_u64(writer, layer->urls));
    VIDI__TRY(vidi__write_u64(writer, vidi__layer_count(layer)));
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        VIDI__TRY(vidi__write_u64(writer, vidi__layer_ones_in(layer, i)));
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
    uint64_t ones = vidi__layer_ones(layer), urls = vidi__layer_count(layer);
    if (urls > ones || ones > urls * layer->in.lines * VIDI__BLOCKED_LANES)
        return vidi__damaged("the number of URLs of a layer does not match its set bits");
    return VIDI_OK;
}

static int read_ones(vidi__layer *layer, vidi__reader *reader)
{
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++) {
        uint64_t ones;
        VIDI__TRY(vidi__read_u64(reader, &ones));
        if (ones > vidi__layer_rows(layer, i) * layer->in.lines * VIDI__BLOCKED_BITS)
            return vidi__damaged("a layer claims more set bits than it has bits");
        atomic_store_explicit(&layer->zones->of[i].ones, ones, memory_order_relaxed);
    }
    return check_count(layer);
}

static int read_words(vidi__layer *layer, const vidi__layer_config *config, vidi__reader *reader)
{
    uint64_t words = vidi__layer_bytes(layer) / 8;
    bool lazily = config->later && !vidi__lends(reader);
    VIDI__TRY(begin_zones(layer, config->memory));
    VIDI__TRY(read_ones(layer, reader));
    VIDI__TRY(lazily ? vidi__lazy_read(&layer->lazy, config->memory, words, VIDI__LAZY_COARSE, reader)
                     : vidi__read_array(reader, config->memory, words, words, &layer->in.words));
    layer->in.pieces = layer->lazy.pieces;
    atomic_store_explicit(&layer->touched, vidi__layer_bytes(layer), memory_order_relaxed);
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
    vidi__layer_set_count(*layer, count);
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
        bool more = vidi__layer_rows(layer, i) > layer->in.rows / VIDI__PARTITIONS;
        sum += vidi__blocked_urls(&layer->chance[more], layer->in.lines, (double)vidi__layer_ones_in(layer, i));
    }
    return sum;
}

void vidi__layer_merge_numbers(vidi__layer *into, const uint64_t *ones, uint64_t urls)
{
    uint64_t before = vidi__layer_count(into);
    double estimated = estimate(into);
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        atomic_store_explicit(&into->zones->of[i].ones, ones[i], memory_order_relaxed);
    double least = (double)(before > urls ? before : urls);
    double most = fmin((double)(before + urls), (double)vidi__layer_ones(into));
    vidi__layer_set_count(into, (uint64_t)fmin(fmax((double)before + ceil(estimate(into) - estimated), least), most));
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
    VIDI__TRY(vidi__layer_begin(into, memory));
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
        if (into->in.words || vidi__lazy_is_touched(&into->lazy, word)) /* else there is nothing to merge */
            join(vidi__layer_at(into, word), vidi__layer_at(from, word), count);
    }
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        ones[i] = count_in(into, i);
    vidi__layer_merge_numbers(into, ones, vidi__layer_count(from));
}

/* The number of bits of a partition that are set in at least one of two layers. */
static uint64_t union_of(const vidi__layer *a, const vidi__layer *b, unsigned partition)
{
    uint64_t row_words = (uint64_t)a->in.lines * VIDI__LINE_WORDS, sum = 0;
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
