/*
 * counting: a Bloom filter of small counters (the counting notes; the thesis, section 3.4.1; Fan et al. 1998). An add
 * increments the URL's k counters, a remove decrements them, and a lookup takes their minimum.
 *
 *     | 0 0 2 0 0 1 0 3 | 0 1 0 0 ...   m counters of `width` bits (2 to 16, 4 by default), none across a 64-bit word
 *
 * - Positions that coincide count once. So an add changes a counter by at most one, and the minimum is never below the
 *   number of adds.
 * - A counter at its maximum sticks: its true value is unknown, so it is never decremented again. That can leave a
 *   removed URL "seen", but never makes a present one "new". No counter goes below zero.
 * - Removing an absent URL (some counter is 0) is an error. Removing a URL that is only falsely "seen" cannot be
 *   detected.
 *
 * Promises: no false negatives after any sequence of adds and legal removes (no more removes of a URL than adds).
 * fp_now = (share of counters that are not zero)^k, as exact as for the classic filter.
 */
#include "base/lazy.h"
#include "filters/bloom.h"
#include "filters/pieces.h"

typedef struct counting {
    vidi__filter base;
    vidi__positions positions;
    vidi__bloom shape;
    unsigned width;
    unsigned per_word;
    uint64_t limit;  /* the largest value of a counter */
    uint64_t *words; /* NULL if the array is lazy */
    vidi__lazy lazy;
    uint64_t used; /* counters that are not zero */
} counting;

static uint64_t words_of(uint64_t m, unsigned per_word)
{
    return m / per_word + (m % per_word != 0);
}

static uint64_t bytes_of(uint64_t m, unsigned per_word)
{
    return vidi__round_up(words_of(m, per_word) * 8, VIDI__CACHE_LINE);
}

static uint64_t *word_at(const counting *self, uint64_t word)
{
    return self->words ? &self->words[word] : vidi__lazy_at(&self->lazy, word);
}

/* To be called before the counter is written to. */
static int touch(counting *self, uint64_t place)
{
    return self->words ? VIDI_OK : vidi__lazy_touch(&self->lazy, self->base.memory, place / self->per_word);
}

static uint64_t get(const counting *self, uint64_t place)
{
    return *word_at(self, place / self->per_word) >> (place % self->per_word * self->width) & self->limit;
}

static void put(counting *self, uint64_t place, uint64_t value)
{
    unsigned shift = (unsigned)(place % self->per_word) * self->width;
    uint64_t *word = word_at(self, place / self->per_word);
    *word = (*word & ~(self->limit << shift)) | value << shift;
}

static void counting_destroy(vidi__filter *filter)
{
    counting *self = (counting *)filter;
    if (self->words) /* without them per_word may still be 0 */
        vidi__release(filter->memory, self->words, bytes_of(self->shape.m, self->per_word), VIDI__CACHE_LINE);
    vidi__lazy_free(&self->lazy, filter->memory);
    vidi__release(filter->memory, self, sizeof *self, VIDI__CACHE_LINE);
}

/* Checks that `used` is right, and that all bits outside of counters are zero. */
static int counting_verify(const vidi__filter *filter)
{
    const counting *self = (const counting *)filter;
    uint64_t used = 0;
    uint64_t mask = self->per_word * self->width == 64 ? 0 : ~UINT64_C(0) << self->per_word * self->width;
    uint64_t words = words_of(self->shape.m, self->per_word);
    for (uint64_t i = 0; i < words; i++)
        if (*word_at(self, i) & mask)
            return vidi__damaged("bits are set between counters");
    for (uint64_t place = self->shape.m; place < words * self->per_word; place++)
        if (get(self, place))
            return vidi__damaged("counters are set beyond the last");
    for (uint64_t place = 0; place < self->shape.m; place++)
        used += get(self, place) != 0;
    return used == self->used ? VIDI_OK : vidi__damaged("the number of counters in use is wrong");
}

static int load(counting *self, const vidi__config *config)
{
    uint64_t room = bytes_of(self->shape.m, self->per_word) / 8, words = words_of(self->shape.m, self->per_word);
    VIDI__TRY(vidi__read_u64(config->reader, &self->used));
    if (self->used > self->shape.m)
        return vidi__damaged("the number of counters in use is too large");
    bool lazily = config->touch_later && !vidi__lends(config->reader);
    VIDI__TRY(lazily ? vidi__lazy_read(&self->lazy, config->memory, words, VIDI__LAZY_FINE, config->reader)
                     : vidi__read_array(config->reader, config->memory, words, room, &self->words));
    return vidi__must_examine(config->reader) ? counting_verify(&self->base) : VIDI_OK;
}

static int counting_create(vidi__filter **filter, const vidi__config *config)
{
    counting *self;
    uint64_t width = 4;
    VIDI__TRY(vidi__filter_alloc(&self, sizeof *self, &vidi__kind_counting, config));
    *filter = &self->base;
    VIDI__TRY(vidi__params_u64(config->params, "width", 2, 16, &width));
    VIDI__TRY(vidi__bloom_read(&self->shape, config));
    VIDI__TRY(vidi__bloom_setup(&self->base, config, &self->shape, &self->positions));
    self->width = (unsigned)width;
    self->per_word = 64 / self->width;
    self->limit = (UINT64_C(1) << width) - 1;
    self->base.stores_every_add = true;
    if (config->reader)
        return load(self, config);
    if (config->touch_later)
        return vidi__lazy_init(&self->lazy, config->memory, words_of(self->shape.m, self->per_word), VIDI__LAZY_FINE);
    return vidi__alloc_zeroed(config->memory, &self->words, bytes_of(self->shape.m, self->per_word), VIDI__CACHE_LINE);
}

/* The item's places without duplicates; returns how many. */
static unsigned places_of(const counting *self, const vidi__item *item, uint64_t *places)
{
    uint64_t values[VIDI__K_MAX];
    unsigned count = 0;
    vidi__positions_values(&self->positions, &item->url, values);
    for (unsigned i = 0; i < self->shape.k; i++) {
        uint64_t place = vidi__positions_place(&self->positions, values[i], self->shape.m);
        unsigned known = 0;
        while (known < count && places[known] != place)
            known++;
        if (known == count)
            places[count++] = place;
    }
    return count;
}

static uint64_t minimum(const counting *self, const uint64_t *places, unsigned count)
{
    uint64_t least = self->limit;
    for (unsigned i = 0; i < count; i++) {
        uint64_t value = get(self, places[i]);
        least = value < least ? value : least;
    }
    return least;
}

static int counting_add(vidi__filter *filter, const vidi__item *item)
{
    counting *self = (counting *)filter;
    uint64_t places[VIDI__K_MAX];
    unsigned count = places_of(self, item, places);
    bool seen = minimum(self, places, count) > 0;
    for (unsigned i = 0; !self->words && i < count; i++)
        VIDI__TRY(touch(self, places[i]));
    for (unsigned i = 0; i < count; i++) {
        uint64_t value = get(self, places[i]);
        self->used += value == 0;
        if (value < self->limit)
            put(self, places[i], value + 1);
    }
    if (seen)
        return VIDI_SEEN;
    vidi__filter_add_count(filter, 1);
    return VIDI_NEW;
}

static int counting_has(const vidi__filter *filter, const vidi__item *item)
{
    const counting *self = (const counting *)filter;
    uint64_t places[VIDI__K_MAX];
    unsigned count = places_of(self, item, places);
    return minimum(self, places, count) ? VIDI_SEEN : VIDI_NEW;
}

static int counting_times(const vidi__filter *filter, const vidi__item *item, uint64_t *times)
{
    const counting *self = (const counting *)filter;
    uint64_t places[VIDI__K_MAX];
    unsigned count = places_of(self, item, places);
    *times = minimum(self, places, count);
    return VIDI_OK;
}

static int counting_remove(vidi__filter *filter, const vidi__item *item)
{
    counting *self = (counting *)filter;
    uint64_t places[VIDI__K_MAX];
    unsigned count = places_of(self, item, places);
    if (minimum(self, places, count) == 0)
        return vidi__fail(VIDI_EABSENT, "the URL is not in the set, so it cannot be removed");
    for (unsigned i = 0; i < count; i++) {
        uint64_t value = get(self, places[i]);
        if (value == self->limit)
            continue;
        put(self, places[i], value - 1);
        self->used -= value == 1;
    }
    if (self->used == 0)
        atomic_store_explicit(&filter->count, 0, memory_order_relaxed);
    else if (minimum(self, places, count) == 0 && vidi__filter_count(filter))
        vidi__filter_add_count(filter, -1);
    return VIDI_OK;
}

static double fill(const counting *self)
{
    return (double)self->used / (double)self->shape.m;
}

static double counting_fp_now(const vidi__filter *filter)
{
    const counting *self = (const counting *)filter;
    return vidi__power(fill(self), self->shape.k);
}

static void counting_stat(const vidi__filter *filter, vidi__filter_stats *stats)
{
    const counting *self = (const counting *)filter;
    stats->bytes = self->words ? bytes_of(self->shape.m, self->per_word) : self->lazy.bytes;
    stats->fill = fill(self);
    stats->k = self->shape.k;
}

static void counting_describe(const vidi__filter *filter, vidi__text *text)
{
    const counting *self = (const counting *)filter;
    vidi__text_add(text, "m=%llu,k=%u,width=%u,", (unsigned long long)self->shape.m, self->shape.k, self->width);
    vidi__positions_describe(&self->positions, text);
}

static int counting_save(const vidi__filter *filter, vidi__writer *writer)
{
    const counting *self = (const counting *)filter;
    uint64_t words = words_of(self->shape.m, self->per_word);
    VIDI__TRY(vidi__write_u64(writer, self->used));
    VIDI__TRY(vidi__write_align(writer));
    for (uint64_t word = 0, count; word < words; word += count) {
        count = self->words ? words : vidi__lazy_span(&self->lazy, word);
        VIDI__TRY(vidi__write_words(writer, word_at(self, word), count));
    }
    return VIDI_OK;
}

static int counting_save_run(const vidi__filter *filter, vidi__run_out *run)
{
    const counting *self = (const counting *)filter;
    return vidi__words_save_run(self->words, &self->lazy, words_of(self->shape.m, self->per_word), run);
}

/* Returns true if all counters of this word exist, and the bits that belong to none are 0. */
static bool is_valid(const counting *self, uint64_t index, uint64_t word)
{
    uint64_t left = self->shape.m - index * self->per_word;
    unsigned bits = (left < self->per_word ? (unsigned)left : self->per_word) * self->width;
    return bits == 64 || !(word >> bits);
}

/* Adds the counters of a word to those that are there. */
static void add_counters(counting *self, uint64_t index, uint64_t word)
{
    for (uint64_t place = index * self->per_word; word; place++, word >>= self->width) {
        uint64_t before = get(self, place), sum = before + (word & self->limit);
        put(self, place, sum < self->limit ? sum : self->limit);
        self->used += before == 0 && sum != 0;
    }
}

static int take_counters(void *context, uint64_t first, const unsigned char *words, uint64_t count, bool apply)
{
    counting *self = context;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t word = vidi__load64(words + 8 * i);
        if (apply)
            add_counters(self, first + i, word);
        else if (!is_valid(self, first + i, word))
            return vidi__damaged("bits are set outside of the counters");
    }
    return self->words || apply ? VIDI_OK : vidi__lazy_touch_range(&self->lazy, first, count);
}

static int counting_load_run(vidi__filter *filter, vidi__run_in *run)
{
    counting *self = (counting *)filter;
    return vidi__words_load_run(words_of(self->shape.m, self->per_word), run, take_counters, self);
}

static int counting_merge(vidi__filter *into, const vidi__filter *from)
{
    counting *self = (counting *)into;
    uint64_t before = self->used;
    VIDI__TRY(vidi__filter_same_shape(into, from));
    for (uint64_t place = 0; !self->words && place < self->shape.m; place++)
        if (get((const counting *)from, place))
            VIDI__TRY(touch(self, place));
    self->used = 0;
    for (uint64_t place = 0; place < self->shape.m; place++) {
        uint64_t more = get((const counting *)from, place), sum = get(self, place) + more;
        if (more)
            put(self, place, sum < self->limit ? sum : self->limit);
        self->used += sum != 0;
    }
    vidi__bloom_merged(into, from, (vidi__bloom_growth){before, self->used}, self->shape.m, self->shape.k);
    return VIDI_OK;
}

static int counting_fp_merged(const vidi__filter *into, const vidi__filter *from, uint64_t more, double *fp)
{
    const counting *self = (const counting *)into, *other = (const counting *)from;
    uint64_t used = 0;
    VIDI__TRY(vidi__filter_same_shape(into, from));
    for (uint64_t place = 0; place < self->shape.m; place++)
        used += get(self, place) != 0 || get(other, place) != 0;
    *fp = vidi__bloom_fp_after(used, self->shape.m, self->shape.k, more);
    return VIDI_OK;
}

/* ---- the union of several filters, which is written without being made ---- */

static void join_counters(uint64_t *words, const uint64_t *more, size_t n, const void *context)
{
    const counting *self = context;
    for (size_t i = 0; i < n; i++) {
        uint64_t sums = 0;
        for (unsigned shift = 0; shift < self->per_word * self->width; shift += self->width) {
            uint64_t sum = (words[i] >> shift & self->limit) + (more[i] >> shift & self->limit);
            sums |= (sum < self->limit ? sum : self->limit) << shift;
        }
        words[i] = sums;
    }
}

static uint64_t measure_counters(const uint64_t *words, size_t n, const void *context)
{
    const counting *self = context;
    uint64_t used = 0;
    for (size_t i = 0; i < n; i++)
        for (unsigned shift = 0; words[i] && shift < self->per_word * self->width; shift += self->width)
            used += (words[i] >> shift & self->limit) != 0;
    return used;
}

static const uint64_t *counters_of(const vidi__filter *filter, const void *context)
{
    (void)context;
    return ((const counting *)filter)->words;
}

static vidi__joint joint_of(const counting *self)
{
    return (vidi__joint){join_counters, measure_counters, counters_of, .context = self,
                         .words = words_of(self->shape.m, self->per_word)};
}

static int counting_unite(vidi__union *all)
{
    const counting *self = (const counting *)all->parts[0];
    return vidi__bloom_unite(all, joint_of(self), self->shape.m, self->shape.k);
}

static int counting_save_union(const vidi__union *all, vidi__writer *writer)
{
    return vidi__bloom_save_union(all, joint_of((const counting *)all->parts[0]), writer);
}

static double counter_bits(const void *context, unsigned k)
{
    (void)k;
    return 64.0 / *(const unsigned *)context;
}

static int counting_plan(const vidi__want *want, vidi__planned *planned)
{
    vidi__bloom shape;
    uint64_t width = 4;
    VIDI__TRY(vidi__params_u64(want->params, "width", 2, 16, &width));
    unsigned per_word = 64 / (unsigned)width;
    VIDI__TRY(vidi__bloom_plan(want, counter_bits, &per_word, &shape));
    while (want->memory && bytes_of(shape.m, per_word) > want->memory && shape.m > 8 * per_word)
        shape.m -= 8 * per_word; /* a width that does not divide 64 leaves part of a cache line unused */
    vidi__bloom_planned(want, &shape, planned);
    planned->bytes = bytes_of(shape.m, per_word);
    return VIDI_OK;
}

static int counting_step(vidi__filter *filter, uint64_t budget_ns)
{
    return vidi__lazy_step(&((counting *)filter)->lazy, budget_ns);
}

const vidi__kind vidi__kind_counting = {
    .name = "counting",
    .summary = "Bloom filter of counters, which can delete and count",
    .can = VIDI_CAN_DELETE | VIDI_CAN_COUNT | VIDI_CAN_MERGE | VIDI_STORES_EVERY_ADD,
    .create = counting_create,
    .destroy = counting_destroy,
    .add = counting_add,
    .has = counting_has,
    .fp_now = counting_fp_now,
    .stat = counting_stat,
    .describe = counting_describe,
    .save = counting_save,
    .save_run = counting_save_run,
    .load_run = counting_load_run,
    .verify = counting_verify,
    .plan = counting_plan,
    .remove = counting_remove,
    .times = counting_times,
    .merge = counting_merge,
    .fp_merged = counting_fp_merged,
    .unite = counting_unite,
    .save_union = counting_save_union,
    .step = counting_step,
};
