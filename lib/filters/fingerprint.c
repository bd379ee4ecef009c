/*
 * fingerprint: a growing table of hash remainders. W bits of a URL's hash (60 by default) are kept exactly, but most of
 * them as the place where the rest is stored: about 7 bytes a URL from ten million on, one cache line a question, and a
 * page lost only if two URLs agree in all W bits.
 *
 *     hash  | 6 bits: partition | directory: sub-table | rest: line and distance (subtable.h) |   W bits
 *
 *     partition  a lock, and a directory of 2^depth entries; several may name the same sub-table
 *     sub-table  grows by a fifth when it is full, and splits in two when it would pass 512 KiB
 *
 * Each partition has sizes of its own to grow to, spread over that fifth, so that they grow one after the other and not
 * all at once: memory follows the number of URLs closely, and no add waits for more than one of them to be rebuilt.
 *
 * Threads: what a batch adds is sorted by partition first, and each partition is locked once for all that is its own.
 * Two adds of one URL meet in one partition, so exactly one of them is told NEW.
 *
 * Parameters: bits (W), multiset=on (every add is stored and can be removed), hash. An error rate asked for together
 * with a capacity makes W as small as that allows.
 *
 * Promises: no false negative. fp_now = count / 2^W, exactly: whatever the size of the table. An attacker without the
 * key does no better than chance, since partition, sub-table, line and distance are all the keyed hash.
 */
#include <math.h>

#include "cpu/cpu.h"
#include "filters/filter.h"
#include "filters/subtable.h"

#define PARTITION_BITS 6
#define PARTITIONS (1u << PARTITION_BITS)
#define GROWTH 1.19
#define GROWTH_LEAST 1.04 /* where rounding has made a sub-table full just below its next size, that is left out */
#define FIRST_HASHES 24.0 /* the least that a sub-table is made for */
#define BITS_MIN 32
#define BITS_MAX 60
#define SPLIT_BITS 16 /* with so few bits left, a sub-table grows on instead of splitting */
#define AHEAD 32      /* lines on their way from memory at once */

typedef struct fp_partition {
    _Alignas(VIDI__CACHE_LINE) pthread_mutex_t lock;
    vidi__subtable **directory;
    unsigned depth;
} fp_partition;

typedef struct fingerprint {
    vidi__filter base;
    vidi__chunks chunks;
    unsigned bits;
    bool multiset;
    bool portable;
    unsigned locks_made;
    fp_partition partitions[PARTITIONS];
} fingerprint;

/* ---- directories ---- */

static uint64_t entries_of(const fp_partition *partition)
{
    return partition->directory ? UINT64_C(1) << partition->depth : 0;
}

/* The entry of a hash, without its partition's bits and left-aligned. */
static uint64_t entry_of(const fp_partition *partition, uint64_t rest)
{
    return partition->depth ? rest >> (64 - partition->depth) : 0;
}

static void free_directory(fingerprint *self, fp_partition *partition)
{
    const vidi__subtable *last = NULL;
    for (uint64_t i = 0; i < entries_of(partition); i++) {
        vidi__subtable *table = partition->directory[i];
        if (table != last) /* equal ones stand side by side */
            vidi__subtable_free(table, &self->chunks);
        last = table;
    }
    vidi__release(self->base.memory, partition->directory, entries_of(partition) * sizeof *partition->directory,
                  _Alignof(void *));
    partition->directory = NULL;
}

static void fingerprint_destroy(vidi__filter *filter)
{
    fingerprint *self = (fingerprint *)filter;
    for (unsigned i = 0; i < PARTITIONS; i++)
        free_directory(self, &self->partitions[i]);
    while (self->locks_made)
        pthread_mutex_destroy(&self->partitions[--self->locks_made].lock);
    vidi__chunks_close(&self->chunks);
    vidi__release(filter->memory, self, sizeof *self, VIDI__CACHE_LINE);
}

static vidi__subtable shape_at(const fingerprint *self, unsigned depth, double hashes)
{
    vidi__subtable shape = {.depth = depth,
                            .bits = self->bits - PARTITION_BITS - depth,
                            .multiset = self->multiset,
                            .portable = self->portable};
    vidi__subtable_fit(&shape, (uint64_t)hashes);
    return shape;
}

/* The first sub-tables of a partition: one, or as many as `hashes` need. */
static int open_partition(fingerprint *self, fp_partition *partition, double hashes)
{
    unsigned depth = 0;
    while (shape_at(self, depth, hashes).lines > VIDI__SUBTABLE_LINES_MAX &&
           self->bits - PARTITION_BITS - depth > SPLIT_BITS) {
        depth++;
        hashes /= 2;
    }
    if (depth)
        hashes += 5 * sqrt(hashes); /* some get more than their share */
    vidi__subtable shape = shape_at(self, depth, hashes);
    uint64_t entries = UINT64_C(1) << depth;
    VIDI__TRY(vidi__alloc_zeroed(self->base.memory, &partition->directory, entries * sizeof *partition->directory,
                                 _Alignof(void *)));
    partition->depth = depth;
    for (uint64_t i = 0; i < entries; i++)
        VIDI__TRY(vidi__subtable_make(&partition->directory[i], &self->chunks, &shape));
    return VIDI_OK;
}

static int double_directory(fingerprint *self, fp_partition *partition)
{
    uint64_t entries = entries_of(partition);
    vidi__subtable **larger;
    VIDI__TRY(vidi__alloc(self->base.memory, &larger, 2 * entries * sizeof *larger, _Alignof(void *)));
    for (uint64_t i = 0; i < 2 * entries; i++)
        larger[i] = partition->directory[i / 2];
    vidi__release(self->base.memory, partition->directory, entries * sizeof *larger, _Alignof(void *));
    partition->directory = larger;
    partition->depth++;
    return VIDI_OK;
}

/* Lets the entries that name `old` name one or two others instead, and frees it. */
static void replace(fingerprint *self, fp_partition *partition, uint64_t entry, vidi__subtable *old,
                    vidi__subtable *lower, vidi__subtable *upper)
{
    uint64_t span = UINT64_C(1) << (partition->depth - old->depth), first = entry & ~(span - 1);
    for (uint64_t i = 0; i < span; i++)
        partition->directory[first + i] = i < span / 2 || !upper ? lower : upper;
    vidi__subtable_free(old, &self->chunks);
}

/*
 * The least size of this partition that so many hashes leave some room in: a ladder of equal steps, which for each
 * partition begins a little higher than for the one before. Sizes go back to it at each step, whatever rounding to lines
 * and chunks has done to them.
 */
static double next_size(const fingerprint *self, const fp_partition *partition, double hashes)
{
    double phase = (double)(partition - self->partitions) / PARTITIONS;
    double steps = ceil(log(hashes * GROWTH_LEAST / FIRST_HASHES) / log(GROWTH) - phase);
    return FIRST_HASHES * pow(GROWTH, fmax(steps, 0) + phase);
}

static int split(fingerprint *self, fp_partition *partition, uint64_t rest)
{
    vidi__subtable *old = partition->directory[entry_of(partition, rest)], *lower, *upper;
    vidi__subtable shape = shape_at(self, old->depth + 1, next_size(self, partition, (double)old->used / 2));
    if (old->depth == partition->depth)
        VIDI__TRY(double_directory(self, partition));
    VIDI__TRY(vidi__subtable_rebuild(&lower, old, &self->chunks, &shape, 0));
    int code = vidi__subtable_rebuild(&upper, old, &self->chunks, &shape, 1);
    if (code < 0) {
        vidi__subtable_free(lower, &self->chunks);
        return code;
    }
    replace(self, partition, entry_of(partition, rest), old, lower, upper);
    return VIDI_OK;
}

/* The sub-table of this hash is full. */
static int grow(fingerprint *self, fp_partition *partition, uint64_t rest)
{
    uint64_t entry = entry_of(partition, rest);
    vidi__subtable *old = partition->directory[entry], *fresh;
    vidi__subtable shape = shape_at(self, old->depth, next_size(self, partition, (double)old->used));
    if (shape.lines > VIDI__SUBTABLE_LINES_MAX && shape.bits > SPLIT_BITS)
        return split(self, partition, rest);
    VIDI__TRY(vidi__subtable_rebuild(&fresh, old, &self->chunks, &shape, -1));
    replace(self, partition, entry, old, fresh, NULL);
    return VIDI_OK;
}

/* ---- one hash, under its partition's lock ---- */

static unsigned partition_of(uint64_t hash)
{
    return (unsigned)(hash >> (64 - PARTITION_BITS));
}

/* The W bits, without those of the partition, left-aligned. */
static uint64_t rest_of(const fingerprint *self, uint64_t hash)
{
    return hash >> (64 - self->bits) << (64 - self->bits) << PARTITION_BITS;
}

static uint64_t rest_in(const vidi__subtable *table, uint64_t rest)
{
    return rest << table->depth;
}

static int add_hash(fingerprint *self, fp_partition *partition, uint64_t rest)
{
    for (;;) {
        vidi__subtable *table = partition->directory[entry_of(partition, rest)];
        int verdict = vidi__subtable_add(table, &self->chunks, rest_in(table, rest));
        if (VIDI__LIKELY(verdict != VIDI__SUBTABLE_FULL))
            return verdict;
        VIDI__TRY(grow(self, partition, rest));
    }
}

static bool has_hash(const fp_partition *partition, uint64_t rest)
{
    if (!partition->directory)
        return false;
    const vidi__subtable *table = partition->directory[entry_of(partition, rest)];
    return vidi__subtable_has(table, rest_in(table, rest));
}

static int ready(fingerprint *self, fp_partition *partition)
{
    if (VIDI__LIKELY(partition->directory != NULL))
        return VIDI_OK;
    int code = open_partition(self, partition, next_size(self, partition, 1));
    if (code < 0)
        free_directory(self, partition);
    return code;
}

static void prefetch(const fp_partition *partition, uint64_t rest)
{
    const vidi__subtable *table = partition->directory[entry_of(partition, rest)];
    __builtin_prefetch(vidi__subtable_line(table, rest_in(table, rest)), 1);
}

/* ---- batches ---- */

/* A batch in the order of its partitions; within one, in its own order. */
typedef struct sorted_batch {
    uint16_t start[PARTITIONS + 1];
    uint16_t order[VIDI__HASHES_MAX];
} sorted_batch;

static void sort_batch(sorted_batch *sorted, const vidi__u128 *hashes, size_t n)
{
    uint16_t next[PARTITIONS];
    memset(sorted->start, 0, sizeof sorted->start);
    for (size_t i = 0; i < n; i++)
        sorted->start[partition_of(hashes[i].hi) + 1]++;
    for (unsigned i = 0; i < PARTITIONS; i++)
        sorted->start[i + 1] = (uint16_t)(sorted->start[i + 1] + sorted->start[i]);
    memcpy(next, sorted->start, sizeof next);
    for (size_t i = 0; i < n; i++)
        sorted->order[next[partition_of(hashes[i].hi)]++] = (uint16_t)i;
}

static int add_part(fingerprint *self, fp_partition *partition, const vidi__u128 *hashes, const uint16_t *order,
                    size_t n, uint8_t *verdicts, vidi__tally *tally)
{
    uint64_t fresh = 0, before = vidi__filter_count(&self->base);
    int code = ready(self, partition);
    for (size_t done = 0; done < n && code == VIDI_OK; done += AHEAD) {
        size_t end = n - done < AHEAD ? n : done + AHEAD;
        for (size_t i = done; i < end; i++)
            prefetch(partition, rest_of(self, hashes[order[i]].hi));
        for (size_t i = done; i < end; i++) {
            int verdict = add_hash(self, partition, rest_of(self, hashes[order[i]].hi));
            if (VIDI__UNLIKELY(verdict < 0)) {
                code = verdict;
                break;
            }
            verdicts[order[i]] = (uint8_t)verdict;
            fresh += verdict == VIDI_NEW;
            tally->seen += verdict == VIDI_SEEN;
        }
    }
    tally->fresh += fresh;
    tally->lost += ldexp((double)before * (double)fresh + (double)fresh * ((double)fresh - 1) / 2, -(int)self->bits);
    vidi__filter_counted(&self->base, (int64_t)fresh);
    return code;
}

static int fingerprint_add_hashes(vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts,
                                  vidi__tally *tally)
{
    fingerprint *self = (fingerprint *)filter;
    sorted_batch sorted;
    sort_batch(&sorted, hashes, n);
    for (unsigned i = 0; i < PARTITIONS; i++) {
        fp_partition *partition = &self->partitions[i];
        size_t count = (size_t)(sorted.start[i + 1] - sorted.start[i]);
        if (!count)
            continue;
        pthread_mutex_lock(&partition->lock);
        int code = add_part(self, partition, hashes, sorted.order + sorted.start[i], count, verdicts, tally);
        pthread_mutex_unlock(&partition->lock);
        VIDI__TRY(code);
    }
    return VIDI_OK;
}

static void has_part(const fingerprint *self, const fp_partition *partition, const vidi__u128 *hashes,
                     const uint16_t *order, size_t n, uint8_t *verdicts)
{
    for (size_t done = 0; done < n; done += AHEAD) {
        size_t end = n - done < AHEAD ? n : done + AHEAD;
        for (size_t i = done; i < end && partition->directory; i++)
            prefetch(partition, rest_of(self, hashes[order[i]].hi));
        for (size_t i = done; i < end; i++) {
            bool seen = has_hash(partition, rest_of(self, hashes[order[i]].hi));
            verdicts[order[i]] = seen ? VIDI_SEEN : VIDI_NEW;
        }
    }
}

static pthread_mutex_t *lock_of(const fp_partition *partition)
{
    return (pthread_mutex_t *)&partition->lock;
}

static int fingerprint_has_hashes(const vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts)
{
    const fingerprint *self = (const fingerprint *)filter;
    sorted_batch sorted;
    sort_batch(&sorted, hashes, n);
    for (unsigned i = 0; i < PARTITIONS; i++) {
        const fp_partition *partition = &self->partitions[i];
        size_t count = (size_t)(sorted.start[i + 1] - sorted.start[i]);
        if (!count)
            continue;
        pthread_mutex_lock(lock_of(partition));
        has_part(self, partition, hashes, sorted.order + sorted.start[i], count, verdicts);
        pthread_mutex_unlock(lock_of(partition));
    }
    return VIDI_OK;
}

/* ---- single items ---- */

static int fingerprint_add(vidi__filter *filter, const vidi__item *item)
{
    fingerprint *self = (fingerprint *)filter;
    fp_partition *partition = &self->partitions[partition_of(item->url.hash.hi)];
    pthread_mutex_lock(&partition->lock);
    int code = ready(self, partition);
    if (code == VIDI_OK)
        code = add_hash(self, partition, rest_of(self, item->url.hash.hi));
    pthread_mutex_unlock(&partition->lock);
    if (code == VIDI_NEW)
        vidi__filter_counted(filter, 1);
    return code;
}

static int fingerprint_has(const vidi__filter *filter, const vidi__item *item)
{
    uint8_t verdict;
    fingerprint_has_hashes(filter, &item->url.hash, 1, &verdict);
    return verdict;
}

static int fingerprint_times(const vidi__filter *filter, const vidi__item *item, uint64_t *times)
{
    const fingerprint *self = (const fingerprint *)filter;
    const fp_partition *partition = &self->partitions[partition_of(item->url.hash.hi)];
    uint64_t rest = rest_of(self, item->url.hash.hi);
    pthread_mutex_lock(lock_of(partition));
    *times = 0;
    if (partition->directory) {
        const vidi__subtable *table = partition->directory[entry_of(partition, rest)];
        *times = vidi__subtable_times(table, rest_in(table, rest));
    }
    pthread_mutex_unlock(lock_of(partition));
    return VIDI_OK;
}

static int fingerprint_remove(vidi__filter *filter, const vidi__item *item)
{
    fingerprint *self = (fingerprint *)filter;
    fp_partition *partition = &self->partitions[partition_of(item->url.hash.hi)];
    uint64_t rest = rest_of(self, item->url.hash.hi);
    vidi__subtable *table = partition->directory ? partition->directory[entry_of(partition, rest)] : NULL;
    if (!table || !vidi__subtable_take(table, rest_in(table, rest)))
        return vidi__fail(VIDI_EABSENT, "the URL is not in the set, so it cannot be removed");
    if (!vidi__subtable_has(table, rest_in(table, rest)))
        vidi__filter_counted(filter, -1);
    return VIDI_OK;
}

/* ---- the whole ---- */

/* A walk over all hashes, complete again: 64 bits of which the first W count. */
typedef struct whole_walk {
    vidi__subtable_visit *visit;
    void *context;
    uint64_t prefix;
    unsigned shift;
} whole_walk;

static int visit_whole(void *context, uint64_t rest, uint64_t times)
{
    const whole_walk *self = context;
    return self->visit(self->context, self->prefix | rest >> self->shift, times);
}

static int walk_partition(const fingerprint *self, unsigned index, vidi__subtable_visit *visit, void *context)
{
    const fp_partition *partition = &self->partitions[index];
    const vidi__subtable *last = NULL;
    for (uint64_t i = 0; i < entries_of(partition); i++) {
        const vidi__subtable *table = partition->directory[i];
        if (table == last)
            continue;
        last = table;
        uint64_t prefix = (uint64_t)index << (64 - PARTITION_BITS);
        if (partition->depth)
            prefix |= i << (64 - PARTITION_BITS - partition->depth);
        whole_walk walk = {visit, context, prefix, PARTITION_BITS + table->depth};
        int code = vidi__subtable_walk(table, visit_whole, &walk);
        if (code)
            return code;
    }
    return 0;
}

static int walk_all(const fingerprint *self, vidi__subtable_visit *visit, void *context)
{
    for (unsigned i = 0; i < PARTITIONS; i++) {
        int code = walk_partition(self, i, visit, context);
        if (code)
            return code;
    }
    return 0;
}

typedef struct listing {
    vidi_visitor visitor;
    void *context;
} listing;

static int list_hash(void *context, uint64_t hash, uint64_t times)
{
    const listing *self = context;
    vidi_entry entry = {.hash = {0, hash}, .times = times};
    return self->visitor(self->context, &entry);
}

static int fingerprint_iterate(const vidi__filter *filter, vidi_visitor visitor, void *context)
{
    listing self = {visitor, context};
    return walk_all((const fingerprint *)filter, list_hash, &self);
}

/* Adds a hash that another table, or a stream, has so many times. */
static int take_in(void *context, uint64_t hash, uint64_t times)
{
    fingerprint *self = context;
    fp_partition *partition = &self->partitions[partition_of(hash)];
    VIDI__TRY(ready(self, partition));
    uint64_t rest = rest_of(self, hash);
    int verdict = add_hash(self, partition, rest);
    VIDI__TRY(verdict);
    if (verdict == VIDI_NEW)
        vidi__filter_counted(&self->base, 1);
    vidi__subtable *table = partition->directory[entry_of(partition, rest)];
    if (self->multiset && times > 1)
        return vidi__subtable_put(table, &self->chunks, rest_in(table, rest), times - 1);
    return 0;
}

static int fingerprint_merge(vidi__filter *into, const vidi__filter *from)
{
    VIDI__TRY(vidi__filter_same_shape(into, from));
    return walk_all((const fingerprint *)from, take_in, into);
}

static double fingerprint_fp_now(const vidi__filter *filter)
{
    return ldexp((double)vidi__filter_count(filter), -(int)((const fingerprint *)filter)->bits);
}

static void fingerprint_stat(const vidi__filter *filter, vidi__filter_stats *stats)
{
    const fingerprint *self = (const fingerprint *)filter;
    double slots = 0, used = 0;
    for (unsigned i = 0; i < PARTITIONS; i++) {
        const fp_partition *partition = &self->partitions[i];
        const vidi__subtable *last = NULL;
        pthread_mutex_lock(lock_of(partition));
        for (uint64_t j = 0; j < entries_of(partition); j++) {
            const vidi__subtable *table = partition->directory[j];
            if (table != last) {
                stats->bytes += vidi__subtable_bytes(table);
                slots += (double)(table->lines * vidi__line_slots(table->width) + table->spill_used);
                used += (double)table->used;
            }
            last = table;
        }
        stats->bytes += entries_of(partition) * sizeof *partition->directory;
        pthread_mutex_unlock(lock_of(partition));
    }
    stats->fill = slots > 0 ? used / slots : 0;
}

static void fingerprint_describe(const vidi__filter *filter, vidi__text *text)
{
    const fingerprint *self = (const fingerprint *)filter;
    vidi__text_add(text, "bits=%u,multiset=%s,hash=%s", self->bits, self->multiset ? "on" : "off",
                   filter->item_hash->name);
}

static void fingerprint_hash_names(const vidi__filter *filter, vidi__text *text)
{
    vidi__text_add(text, "%s", filter->item_hash->name);
}

/* ---- saving: for each partition u64 depth of the directory, or NOT_OPEN, and then its sub-tables in order ---- */

#define NOT_OPEN UINT64_MAX
#define DEPTH_MAX 18 /* a trillion URLs; a stream of unknown length that lies costs no more than 2 MiB a partition */

static int save_partition(const fp_partition *partition, vidi__writer *writer)
{
    const vidi__subtable *last = NULL;
    VIDI__TRY(vidi__write_u64(writer, partition->directory ? partition->depth : NOT_OPEN));
    for (uint64_t i = 0; i < entries_of(partition); i++) {
        const vidi__subtable *table = partition->directory[i];
        if (table != last)
            VIDI__TRY(vidi__subtable_save(table, writer));
        last = table;
    }
    return VIDI_OK;
}

static int fingerprint_save(const vidi__filter *filter, vidi__writer *writer)
{
    const fingerprint *self = (const fingerprint *)filter;
    for (unsigned i = 0; i < PARTITIONS; i++)
        VIDI__TRY(save_partition(&self->partitions[i], writer));
    return VIDI_OK;
}

/* The sub-table that begins at this entry; returns in *next where the following one begins. */
static int load_table(fingerprint *self, fp_partition *partition, uint64_t entry, vidi__reader *reader, uint64_t *next)
{
    uint64_t depth, count = 0;
    vidi__subtable *table;
    VIDI__TRY(vidi__read_u64(reader, &depth));
    uint64_t span = depth <= partition->depth ? UINT64_C(1) << (partition->depth - depth) : 0;
    if (!span || entry % span)
        return vidi__damaged("a directory has a gap");
    vidi__subtable shape = shape_at(self, (unsigned)depth, 1);
    VIDI__TRY(vidi__subtable_load(&table, &self->chunks, &shape, reader, &count));
    for (uint64_t i = 0; i < span; i++)
        partition->directory[entry + i] = table;
    vidi__filter_counted(&self->base, (int64_t)count);
    *next = entry + span;
    return VIDI_OK;
}

static int load_partition(fingerprint *self, fp_partition *partition, vidi__reader *reader)
{
    uint64_t depth;
    VIDI__TRY(vidi__read_u64(reader, &depth));
    if (depth == NOT_OPEN)
        return VIDI_OK;
    if (depth > DEPTH_MAX || depth + PARTITION_BITS + 8 > self->bits || (UINT64_C(8) << depth) > reader->left)
        return vidi__damaged("a directory is too deep");
    partition->depth = (unsigned)depth;
    VIDI__TRY(vidi__alloc_zeroed(self->base.memory, &partition->directory, sizeof(void *) << depth, _Alignof(void *)));
    for (uint64_t entry = 0; entry < entries_of(partition);)
        VIDI__TRY(load_table(self, partition, entry, reader, &entry));
    return VIDI_OK;
}

static int load(fingerprint *self, vidi__reader *reader)
{
    for (unsigned i = 0; i < PARTITIONS; i++)
        VIDI__TRY(load_partition(self, &self->partitions[i], reader));
    return VIDI_OK;
}

/* ---- making ---- */

/* The fewest bits that keep an error rate at so many URLs. */
static double bits_for(double urls, double error)
{
    return fmax(BITS_MIN, ceil(log2(urls / error) - 1e-9));
}

static int configure(fingerprint *self, const vidi__config *config)
{
    uint64_t bits = BITS_MAX;
    unsigned multiset = 0;
    if (config->error > 0 && config->capacity) {
        double needed = bits_for((double)config->capacity, config->error);
        if (needed > BITS_MAX)
            return vidi__fail(VIDI_EOPTION, "an error rate of %g for %llu URLs needs %.0f bits of hash; %d is the most",
                              config->error, (unsigned long long)config->capacity, needed, BITS_MAX);
        bits = (uint64_t)needed;
    }
    VIDI__TRY(vidi__params_u64(config->params, "bits", BITS_MIN, BITS_MAX, &bits));
    VIDI__TRY(vidi__params_choice(config->params, "multiset", "off|on", &multiset));
    VIDI__TRY(vidi__filter_check_hash(config));
    self->bits = (unsigned)bits;
    self->multiset = multiset == 1;
    self->portable = vidi__cpu() == VIDI__CPU_PORTABLE;
    self->base.needs.what = VIDI__NEED_HASH;
    self->base.withstands = config->item_hash->withstands;
    return VIDI_OK;
}

/* Hashes a line, with `slots` slots and Poisson's `mean` of hashes, that find it full. */
static double spilled(double mean, unsigned slots)
{
    double chance = exp(-mean), sum = 0;
    for (unsigned x = 0; x < slots + 60; x++) {
        if (x > slots)
            sum += (x - slots) * chance;
        chance *= mean / (x + 1);
    }
    return sum;
}

/* Memory of a table that is made for so many URLs. */
static double bytes_for(double urls, unsigned bits)
{
    fingerprint made = {.bits = bits};
    double each = urls / PARTITIONS, tables = PARTITIONS;
    each = each < FIRST_HASHES ? FIRST_HASHES * GROWTH : each + 5 * sqrt(each);
    unsigned depth = 0;
    for (; shape_at(&made, depth, each).lines > VIDI__SUBTABLE_LINES_MAX && bits - PARTITION_BITS - depth > SPLIT_BITS;
         depth++) {
        each /= 2;
        tables *= 2;
    }
    if (depth)
        each += 5 * sqrt(each);
    vidi__subtable shape = shape_at(&made, depth, each);
    double lines = (double)shape.lines, mean = urls / tables / lines;
    double chunks = ceil(lines / (double)VIDI__CHUNK_LINES);
    double room = shape.lines < VIDI__CHUNK_LINES ? lines * VIDI__LINE_BYTES : chunks * VIDI__CHUNK_BYTES;
    double spill = lines * spilled(mean, vidi__line_slots(shape.width)) * 8 / 0.78;
    return tables * (room + spill + chunks * sizeof(void *) + sizeof(vidi__subtable));
}

/* Sub-tables for all URLs that are expected, so that none has to grow. */
static int reserve(fingerprint *self, uint64_t capacity)
{
    double each = (double)capacity / PARTITIONS;
    if (each < FIRST_HASHES)
        return VIDI_OK;
    VIDI__TRY(vidi__memory_check(self->base.memory, (uint64_t)fmin(bytes_for((double)capacity, self->bits), 0x1p62)));
    for (unsigned i = 0; i < PARTITIONS; i++)
        VIDI__TRY(open_partition(self, &self->partitions[i], each + 5 * sqrt(each)));
    return VIDI_OK;
}

static int fingerprint_create(vidi__filter **filter, const vidi__config *config)
{
    fingerprint *self;
    VIDI__TRY(vidi__filter_alloc(&self, sizeof *self, &vidi__kind_fingerprint, config));
    *filter = &self->base;
    VIDI__TRY(configure(self, config));
    VIDI__TRY(vidi__chunks_init(&self->chunks, config->memory));
    for (; self->locks_made < PARTITIONS; self->locks_made++)
        if (pthread_mutex_init(&self->partitions[self->locks_made].lock, NULL))
            return vidi__fail(VIDI_ESYSTEM, "the system gives no more locks");
    if (config->reader)
        return load(self, config->reader);
    return config->capacity ? reserve(self, config->capacity) : VIDI_OK;
}

/* The most URLs that the memory holds with so many bits. */
static double urls_within(double memory, unsigned bits)
{
    double low = 0, high = memory;
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        if (bytes_for(middle, bits) <= memory)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* W for an error rate when full, or for pages lost until then: n / 2^W, and the sum of it, n² / 2^(W+1). */
static double bits_wanted(const vidi__want *want, double urls)
{
    double bits = BITS_MIN;
    if (want->error > 0)
        bits = fmax(bits, bits_for(urls, want->error));
    if (want->lost > 0)
        bits = fmax(bits, ceil(log2(urls * urls / 2 / want->lost) - 1e-9));
    return want->error > 0 || want->lost > 0 ? bits : BITS_MAX;
}

static int fingerprint_plan(const vidi__want *want, vidi__planned *planned)
{
    double urls = (double)want->urls, bits;
    uint64_t given = 0;
    VIDI__TRY(vidi__params_u64(want->params, "bits", BITS_MIN, BITS_MAX, &given));
    if (!(want->error > 0) && !(want->lost > 0) && !given && !(want->urls && want->memory))
        return vidi__fail(VIDI_EOPTION,
                          "the request says too little: give an error rate, pages lost at most, or both URLs "
                          "and memory");
    if (want->k || want->multiplier > 0 || want->members > 1)
        return vidi__fail(VIDI_EOPTION, "fingerprint has no positions, so that k and M mean nothing to it");
    if (!want->urls)
        for (unsigned w = BITS_MIN; w <= BITS_MAX; w++) { /* more bits, fewer URLs: the least that keeps the demand */
            urls = urls_within((double)want->memory, w);
            if (bits_wanted(want, urls) <= w)
                break;
        }
    bits = given ? (double)given : bits_wanted(want, urls);
    if (urls < 1 || bits > BITS_MAX || (given && bits < bits_wanted(want, urls)))
        return vidi__fail(VIDI_EOPTION, "fingerprint keeps at most %d bits of a hash, which are too few for the demand",
                          BITS_MAX);
    double bytes = bytes_for(urls, (unsigned)bits);
    if (want->memory && bytes > (double)want->memory)
        return vidi__fail(VIDI_EOPTION, "fingerprint needs %s", vidi__human_bytes((uint64_t)bytes).text);
    planned->urls = (uint64_t)urls;
    planned->bytes = (uint64_t)bytes;
    planned->error = ldexp(urls, -(int)bits);
    planned->lost = ldexp(urls * urls / 2, -(int)bits);
    vidi__text text = vidi__text_in(planned->params, sizeof planned->params);
    vidi__text_add(&text, "capacity=%llu", (unsigned long long)planned->urls);
    if (!given)
        vidi__text_add(&text, ",bits=%.0f", bits);
    return VIDI_OK;
}

const vidi__kind vidi__kind_fingerprint = {
    .name = "fingerprint",
    .summary = "growing table of hash remainders: loses practically nothing in about 7 bytes a URL",
    .can = VIDI_CAN_DELETE | VIDI_CAN_COUNT | VIDI_CAN_MERGE | VIDI_CAN_ITERATE | VIDI_CAN_GROW | VIDI_IS_CONCURRENT,
    .create = fingerprint_create,
    .destroy = fingerprint_destroy,
    .add = fingerprint_add,
    .has = fingerprint_has,
    .add_hashes = fingerprint_add_hashes,
    .has_hashes = fingerprint_has_hashes,
    .fp_now = fingerprint_fp_now,
    .stat = fingerprint_stat,
    .describe = fingerprint_describe,
    .hash_names = fingerprint_hash_names,
    .save = fingerprint_save,
    .plan = fingerprint_plan,
    .remove = fingerprint_remove,
    .times = fingerprint_times,
    .merge = fingerprint_merge,
    .iterate = fingerprint_iterate,
};
