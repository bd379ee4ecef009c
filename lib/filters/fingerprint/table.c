/* See table.h. */
#include "filters/fingerprint/table.h"

#include <math.h>

#define GROWTH 1.35       /* the default: from ten million URLs on, the table takes up to 7.5 bytes a URL */
#define GROWTH_SMALL 1.25 /* the default for a table of less than LARGE hashes, where memory matters more than moves */
#define LARGE 1e6
/*
 * From this many hashes on, overflow tables in small pages cost more time than moves do. So sub-tables fill their
 * slabs, which takes memory, and grow by less, which saves it.
 */
#define VERY_LARGE 1.6e7
#define GROWTH_VERY_LARGE 1.29
#define GROWTH_LEAST 1.04      /* skips the next size if rounding has made a sub-table full just below it */
#define FIRST_HASHES 24.0      /* the smallest size of a sub-table */
#define RANGE_LEAST (1u << 16) /* a sub-table with no more hashes to tell apart grows instead of splitting */
#define DEPTH_MAX 18 /* enough for a trillion URLs; a stream that lies about it costs at most 2 MiB per partition */
#define RESERVED_LINES_MAX 16384
#define SPREAD 3 /* standard deviations of spare room in reserved sub-tables */

/* A table with one partition: steps of growth, lines of a sub-table, and how many hashes may be reserved for it. */
#define GROWTH_OF_ONE 1.2
#define SMALL_LINES_MAX 128
#define SMALL_MOST 65536.0

/* ---- directories ---- */

static uint64_t entries_of(const vidi__partition *partition)
{
    return partition->directory ? UINT64_C(1) << partition->depth : 0;
}

/* The directory entry of a hash that was shifted left past its partition's bits. */
static uint64_t entry_of(const vidi__partition *partition, uint64_t rest)
{
    return partition->depth ? rest >> (64 - partition->depth) : 0;
}

/* Iterates over the sub-tables: start with *entry = 0. Returns NULL at the end. */
static vidi__subtable *next_subtable(const vidi__partition *partition, uint64_t *entry)
{
    if (*entry == entries_of(partition))
        return NULL;
    vidi__subtable *table = partition->directory[*entry];
    while (*entry < entries_of(partition) && partition->directory[*entry] == table)
        ++*entry;
    return table;
}

static void free_directory(vidi__table *table, vidi__partition *partition)
{
    uint64_t bytes = entries_of(partition) * sizeof *partition->directory;
    for (uint64_t entry = 0; entry < entries_of(partition);)
        vidi__subtable_free(next_subtable(partition, &entry), &table->slabs);
    vidi__release(table->slabs.memory, partition->directory, bytes, _Alignof(void *));
    partition->directory = NULL;
}

void vidi__table_init(vidi__table *table, vidi__memory *memory)
{
    table->partitions = &table->only;
    vidi__slabs_init(&table->slabs, memory);
}

static void free_divided(vidi__table *table)
{
    vidi__release(table->slabs.memory, table->divided, sizeof *table->divided, VIDI__CACHE_LINE);
    table->divided = NULL;
}

void vidi__table_close(vidi__table *table)
{
    if (!table->partitions)
        return;
    table->slabs.closing = true; /* a list of free slabs would be a write to each of them */
    for (unsigned i = 0; i < vidi__table_partitions(table); i++)
        free_directory(table, &table->partitions[i]);
    free_divided(table);
    vidi__slabs_close(&table->slabs);
}

static vidi__subtable shape_at(const vidi__table *table, unsigned depth, double hashes)
{
    vidi__subtable shape = {.depth = (uint16_t)depth,
                            .range = table->hashes >> (table->partition_bits + depth),
                            .multiset = table->multiset,
                            .portable = table->portable};
    vidi__subtable_fit(&shape, (uint64_t)hashes);
    return shape;
}

static bool too_large(const vidi__table *table, const vidi__subtable *shape)
{
    uint64_t most = vidi__table_is_divided(table) ? VIDI__SUBTABLE_LINES_MAX : SMALL_LINES_MAX;
    return shape->lines > most && shape->range > RANGE_LEAST && shape->depth < DEPTH_MAX;
}

/*
 * The shape of the 2^depth sub-tables of a partition that is reserved for this many hashes. They may be larger than
 * those that grow: batches then find more of what they need to locate a hash in the cache.
 */
static vidi__subtable first_shape(const vidi__table *table, double hashes)
{
    unsigned depth = 0;
    bool divided = vidi__table_is_divided(table);
    vidi__subtable shape = shape_at(table, depth, hashes + (divided ? SPREAD * sqrt(hashes) : 0));
    while (too_large(table, &shape) && (!divided || shape.lines > RESERVED_LINES_MAX)) {
        hashes /= 2;
        shape = shape_at(table, ++depth, hashes + SPREAD * sqrt(hashes));
    }
    return shape;
}

static int open_partition(vidi__table *table, vidi__partition *partition, const vidi__subtable *shape)
{
    uint64_t entries = UINT64_C(1) << shape->depth;
    VIDI__TRY(vidi__alloc_zeroed(table->slabs.memory, &partition->directory, entries * sizeof *partition->directory,
                                 _Alignof(void *)));
    partition->depth = (uint16_t)shape->depth;
    for (uint64_t i = 0; i < entries; i++)
        VIDI__TRY(vidi__subtable_make(&partition->directory[i], &table->slabs, shape));
    return VIDI_OK;
}

static int double_directory(vidi__table *table, vidi__partition *partition)
{
    uint64_t entries = entries_of(partition);
    vidi__subtable **larger;
    VIDI__TRY(vidi__alloc(table->slabs.memory, &larger, 2 * entries * sizeof *larger, _Alignof(void *)));
    for (uint64_t i = 0; i < 2 * entries; i++)
        larger[i] = partition->directory[i / 2];
    vidi__release(table->slabs.memory, partition->directory, entries * sizeof *larger, _Alignof(void *));
    partition->directory = larger;
    partition->depth++;
    return VIDI_OK;
}

/* Replaces `old` by one or two others in the directory, and frees it. */
static void replace(vidi__table *table, vidi__partition *partition, uint64_t entry, vidi__subtable *old,
                    vidi__subtable *lower, vidi__subtable *upper)
{
    uint64_t span = UINT64_C(1) << (partition->depth - old->depth), first = entry & ~(span - 1);
    for (uint64_t i = 0; i < span; i++)
        partition->directory[first + i] = i < span / 2 || !upper ? lower : upper;
    vidi__subtable_free(old, &table->slabs);
    partition->changes++;
}

/* ---- growing ---- */

static double growth_at(const vidi__table *table, double hashes)
{
    if (table->growth > 0)
        return table->growth;
    if (!vidi__table_is_divided(table))
        return GROWTH_OF_ONE;
    if (hashes < LARGE)
        return GROWTH_SMALL;
    return hashes < VERY_LARGE ? GROWTH : GROWTH_VERY_LARGE;
}

/*
 * The smallest size of a sub-table of this partition that leaves some room beyond `hashes`. The sizes of a whole
 * partition form a geometric series that starts a little higher in each partition; a sub-table has its share of them.
 * Each growth goes back to the series, whatever rounding to lines and slabs did before, and a split is a growth like
 * any other.
 */
static double next_size(const vidi__table *table, const vidi__partition *partition, unsigned depth, double hashes)
{
    double whole = ldexp(hashes, (int)depth), phase = (double)(partition - table->partitions) / VIDI__PARTITIONS;
    double growth = growth_at(table, whole * vidi__table_partitions(table));
    double steps = ceil(log(whole * GROWTH_LEAST / FIRST_HASHES) / log(growth) - phase);
    return ldexp(FIRST_HASHES * pow(growth, fmax(steps, 0) + phase), -(int)depth);
}

/*
 * The shape of a sub-table at this depth that leaves room beyond `hashes`, and for the expected number if that is
 * larger.
 */
static vidi__subtable next_shape(const vidi__table *table, const vidi__partition *partition, unsigned depth,
                                 double hashes)
{
    double least = next_size(table, partition, depth, hashes);
    double each = (double)atomic_load_explicit(&table->expected, memory_order_relaxed) / vidi__table_partitions(table);
    double most = ldexp(each, -(int)depth);
    most += SPREAD * sqrt(most);
    return shape_at(table, depth, fmax(least, most));
}

/* Lets new sub-tables fill their slabs if the table is very large, all sub-tables being like the old one. */
static void fill_if_very_large(const vidi__table *table, const vidi__subtable *old, vidi__subtable *shape)
{
    if (ldexp((double)old->used, (int)(table->partition_bits + old->depth)) >= VERY_LARGE)
        vidi__subtable_fill_slabs(shape);
}

/* Splits the sub-table at this entry of the directory, whose number doubles if the directory does. */
static int split(vidi__table *table, vidi__partition *partition, uint64_t entry)
{
    vidi__subtable *old = partition->directory[entry], *lower, *upper;
    vidi__subtable shape = next_shape(table, partition, old->depth + 1, (double)old->used / 2);
    if (too_large(table, &shape)) { /* it will split again before it is full */
        double most = (double)old->used / (too_large(table, old) ? 2 : 1);
        shape = shape_at(table, old->depth + 1, next_size(table, partition, old->depth + 1, most));
    }
    if (old->depth == partition->depth) {
        VIDI__TRY(double_directory(table, partition));
        entry *= 2;
    }
    fill_if_very_large(table, old, &shape);
    VIDI__TRY(vidi__subtable_rebuild(&lower, old, &table->slabs, &shape, 0));
    int code = vidi__subtable_rebuild(&upper, old, &table->slabs, &shape, 1);
    if (code < 0) {
        vidi__subtable_free(lower, &table->slabs);
        return code;
    }
    replace(table, partition, entry, old, lower, upper);
    return VIDI_OK;
}

/* ---- dividing ---- */

/* Splits the sub-tables of the only partition until each belongs to one of the 64 new partitions. */
static int split_for_partitions(vidi__table *table)
{
    vidi__partition *only = &table->only;
    for (uint64_t entry = 0; entry < entries_of(only);) {
        const vidi__subtable *part = only->directory[entry];
        if (part->depth >= VIDI__PARTITION_BITS) {
            next_subtable(only, &entry);
            continue;
        }
        uint64_t first = entry << (part->depth == only->depth); /* where it is if the directory doubles */
        VIDI__TRY(split(table, only, entry));
        entry = first;
    }
    return VIDI_OK;
}

/* Gives a partition its part of the only one's directory. The sub-tables there stay where they are. */
static int take_over(vidi__table *table, vidi__partition *partition, uint64_t index)
{
    const vidi__partition *only = &table->only;
    unsigned depth = only->depth - VIDI__PARTITION_BITS;
    uint64_t bytes = sizeof(void *) << depth;
    VIDI__TRY(vidi__alloc(table->slabs.memory, &partition->directory, bytes, _Alignof(void *)));
    memcpy(partition->directory, only->directory + (index << depth), bytes);
    partition->depth = (uint16_t)depth;
    partition->changes = only->changes + 1;
    return VIDI_OK;
}

/* Makes 64 partitions that are not in use yet. */
static int make_divided(vidi__table *table, vidi__divided **made)
{
    VIDI__TRY(vidi__alloc_zeroed(table->slabs.memory, made, sizeof **made, VIDI__CACHE_LINE));
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        (*made)->partitions[i].bits = VIDI__PARTITION_BITS;
    return VIDI_OK;
}

static void use_divided(vidi__table *table, vidi__divided *made)
{
    table->divided = made;
    table->partitions = made->partitions;
    table->partition_bits = VIDI__PARTITION_BITS;
}

/* Makes 64 partitions of a table that is still empty. */
static int divide_empty(vidi__table *table)
{
    vidi__divided *made;
    VIDI__TRY(make_divided(table, &made));
    use_divided(table, made);
    return VIDI_OK;
}

/* Gives the sub-tables of the only partition to those that are made for them. */
static int hand_over(vidi__table *table, vidi__divided *made)
{
    vidi__partition *only = &table->only;
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        VIDI__TRY(take_over(table, &made->partitions[i], i));
    const vidi__subtable *last = NULL;
    for (uint64_t entry = 0; entry < entries_of(only); entry++) {
        vidi__subtable *part = only->directory[entry];
        if (part != last)
            part->depth = (uint16_t)(part->depth - VIDI__PARTITION_BITS);
        last = part;
    }
    vidi__release(table->slabs.memory, only->directory, entries_of(only) * sizeof *only->directory, _Alignof(void *));
    *only = (vidi__partition){0};
    return VIDI_OK;
}

int vidi__table_divide(vidi__table *table)
{
    vidi__divided *made;
    if (vidi__table_is_divided(table))
        return VIDI_OK;
    if (!table->only.directory)
        return divide_empty(table);
    VIDI__TRY(split_for_partitions(table));
    VIDI__TRY(make_divided(table, &made));
    int code = hand_over(table, made);
    if (code == VIDI_OK) {
        use_divided(table, made);
        return VIDI_OK;
    }
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        vidi__release(table->slabs.memory, made->partitions[i].directory,
                      entries_of(&made->partitions[i]) * sizeof(void *), _Alignof(void *));
    vidi__release(table->slabs.memory, made, sizeof *made, VIDI__CACHE_LINE);
    return code;
}

/* Returns true if the table is too large for one partition, or expected to be. */
static bool outgrows_one(const vidi__table *table, const vidi__subtable *shape)
{
    if (vidi__table_is_divided(table))
        return false;
    return (double)atomic_load_explicit(&table->expected, memory_order_relaxed) > SMALL_MOST ||
           (too_large(table, shape) && shape->depth >= VIDI__PARTITION_BITS);
}

/* Makes room in the sub-table of this hash, which is full, or divides the table. */
static int grow(vidi__table *table, vidi__partition *partition, uint64_t hash)
{
    uint64_t entry = entry_of(partition, hash << partition->bits);
    vidi__subtable *old = partition->directory[entry], *fresh;
    vidi__subtable shape = next_shape(table, partition, old->depth, (double)old->used);
    if (outgrows_one(table, &shape))
        return vidi__table_divide(table);
    if (too_large(table, &shape))
        return split(table, partition, entry);
    fill_if_very_large(table, old, &shape);
    VIDI__TRY(vidi__subtable_rebuild(&fresh, old, &table->slabs, &shape, -1));
    replace(table, partition, entry, old, fresh, NULL);
    return VIDI_OK;
}

int vidi__table_open(vidi__table *table, vidi__partition *partition)
{
    if (VIDI__LIKELY(partition->directory != NULL))
        return VIDI_OK;
    vidi__subtable shape = shape_at(table, 0, next_size(table, partition, 0, 1));
    int code = open_partition(table, partition, &shape);
    if (code < 0)
        free_directory(table, partition);
    partition->changes++;
    return code;
}

/* ---- hashes ---- */

vidi__place vidi__table_place(const vidi__table *table, uint64_t hash)
{
    const vidi__partition *partition = vidi__table_partition((vidi__table *)table, hash);
    return partition->directory ? vidi__place_of(partition, hash) : (vidi__place){.table = NULL};
}

/* Towards what is expected; if there is no memory for that, without the hint. */
static int grow_as_expected(vidi__table *table, vidi__partition *partition, uint64_t hash)
{
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    int code = grow(table, partition, hash);
    if ((code == VIDI_ELIMIT || code == VIDI_EMEMORY) && atomic_exchange(&table->expected, 0))
        code = grow(table, partition, hash);
    return vidi__quiet_end(&quiet, code);
}

int vidi__table_add_growing(vidi__table *table, vidi__partition *partition, uint64_t hash)
{
    int verdict = VIDI__SUBTABLE_FULL;
    while (verdict == VIDI__SUBTABLE_FULL) {
        VIDI__TRY(grow_as_expected(table, partition, hash));
        partition = vidi__table_partition(table, hash); /* another one if the table has divided */
        const vidi__place place = vidi__place_of(partition, hash);
        verdict = vidi__subtable_add(place.table, &table->slabs, place.hash, &place.spot);
    }
    return verdict;
}

int vidi__table_add(vidi__table *table, uint64_t hash)
{
    vidi__partition *partition = vidi__table_partition(table, hash);
    VIDI__TRY(vidi__table_open(table, partition));
    const vidi__place place = vidi__place_of(partition, hash);
    return vidi__table_add_at(table, partition, hash, &place);
}

int vidi__table_add_times(vidi__table *table, uint64_t hash, uint64_t times)
{
    int verdict = vidi__table_add(table, hash);
    VIDI__TRY(verdict);
    if (!table->multiset || times == 1)
        return verdict;
    const vidi__place place = vidi__table_place(table, hash);
    VIDI__TRY(vidi__subtable_insert(place.table, &table->slabs, place.hash, times - 1));
    return verdict;
}

vidi__table_part vidi__table_part_of(const vidi__table *table, uint64_t hash)
{
    const vidi__partition *partition = vidi__table_partition((vidi__table *)table, hash);
    if (!partition->directory)
        return (vidi__table_part){NULL, table->partition_bits};
    const vidi__subtable *part = partition->directory[entry_of(partition, hash << partition->bits)];
    return (vidi__table_part){part, partition->bits + part->depth};
}

uint64_t vidi__table_least_hash(const vidi__table *table, uint64_t number)
{
    if (VIDI__LIKELY(!(table->hashes & (table->hashes - 1)))) /* a power of two, as it is by default */
        return number << (64 - __builtin_ctzll(table->hashes));
    return (uint64_t)((((unsigned __int128)number << 64) + table->hashes - 1) / table->hashes);
}

uint64_t vidi__table_kept(const vidi__table *table, uint64_t hash)
{
    return vidi__table_least_hash(table, vidi__scale(hash, table->hashes));
}

/* A walk over one partition. `first` is the number at which the current sub-table starts. */
typedef struct whole_walk {
    const vidi__table *table;
    vidi__subtable_visit *visit;
    void *context;
    uint64_t first;
} whole_walk;

static int visit_whole(void *context, uint64_t hash, uint64_t times)
{
    const whole_walk *walk = context;
    return walk->visit(walk->context, vidi__table_least_hash(walk->table, walk->first + hash), times);
}

/* All hashes of a partition of this table. */
static int walk_own(const vidi__table *table, unsigned partition, vidi__subtable_visit *visit, void *context)
{
    whole_walk walk = {table, visit, context, partition * (table->hashes >> table->partition_bits)};
    const vidi__subtable *part;
    for (uint64_t entry = 0; (part = next_subtable(&table->partitions[partition], &entry)) != NULL;) {
        int code = vidi__subtable_walk(part, visit_whole, &walk);
        if (code)
            return code;
        walk.first += part->range;
    }
    return 0;
}

int vidi__table_walk(const vidi__table *table, vidi__subtable_visit *visit, void *context)
{
    int code = 0;
    for (unsigned i = 0; i < vidi__table_partitions(table) && !code; i++)
        code = walk_own(table, i, visit, context);
    return code;
}

/* Hands on the hashes of one partition of a table that is not divided. */
typedef struct sieve {
    vidi__subtable_visit *visit;
    void *context;
    unsigned partition;
} sieve;

static int visit_own(void *context, uint64_t hash, uint64_t times)
{
    const sieve *self = context;
    return vidi__partition_of(hash) == self->partition ? self->visit(self->context, hash, times) : 0;
}

int vidi__table_walk_partition(const vidi__table *table, unsigned partition, vidi__subtable_visit *visit, void *context)
{
    if (vidi__table_is_divided(table))
        return walk_own(table, partition, visit, context);
    return walk_own(table, 0, visit_own, &(sieve){visit, context, partition});
}

void vidi__table_stat(const vidi__table *table, unsigned partition, vidi__table_stats *stats)
{
    const vidi__subtable *part;
    for (uint64_t entry = 0; (part = next_subtable(&table->partitions[partition], &entry)) != NULL;) {
        stats->bytes += vidi__subtable_bytes(part);
        stats->slots += (double)(part->lines * vidi__line_slots(part->width) + part->overflow.used);
        stats->used += (double)part->used;
    }
    stats->bytes += entries_of(&table->partitions[partition]) * sizeof(vidi__subtable *);
    if (partition == 0 && table->divided)
        stats->bytes += sizeof *table->divided;
}

/* ---- sizing ---- */

/*
 * Expected number of hashes per line that find both it and the next line full. The number of hashes of a line is
 * Poisson with this mean. Two lines behave nearly like one of twice the size; the factor 0.8 was measured.
 */
static double overflow_per_line(double mean, unsigned slots)
{
    double chance = exp(-2 * mean), sum = 0;
    for (unsigned x = 0; x < 2 * slots + 80; x++) {
        if (x > 2 * slots)
            sum += (x - 2 * slots) * chance;
        chance *= 2 * mean / (x + 1);
    }
    return 0.8 * sum / 2;
}

/* A table as it would be made for this many URLs, without memory, and the shape of its sub-tables. */
static vidi__table table_for(double urls, uint64_t hashes, vidi__subtable *shape)
{
    vidi__table made = {.hashes = hashes, .partition_bits = urls > SMALL_MOST ? VIDI__PARTITION_BITS : 0};
    *shape = first_shape(&made, fmax(urls / vidi__table_partitions(&made), FIRST_HASHES));
    return made;
}

double vidi__table_bytes_for(double urls, uint64_t hashes)
{
    vidi__subtable shape;
    vidi__table made = table_for(urls, hashes, &shape);
    double tables = ldexp(vidi__table_partitions(&made), (int)shape.depth), lines = (double)shape.lines;
    double overflow = lines * overflow_per_line(urls / tables / lines, vidi__line_slots(shape.width));
    double room = (double)vidi__subtable_overflow_room(shape.lines, (uint64_t)overflow);
    return tables * ((double)vidi__subtable_bytes(&shape) + 8 * room + (double)sizeof(void *)) +
           (vidi__table_is_divided(&made) ? (double)sizeof(vidi__divided) : 0);
}

/* Probability that a line with this many slots is full, by the Poisson distribution. */
static double full_line(double mean, unsigned slots)
{
    double chance = exp(-mean), full = 1;
    for (unsigned x = 0; x < slots; x++) {
        full -= chance;
        chance *= mean / (x + 1);
    }
    return fmax(full, 0);
}

/*
 * An add touches its own line, the next one if that is full, and a place beside if both are. Lines also get what the
 * line before has no room for: together that makes 1.5 times the chance of a full line, and more if that is likely, as
 * was measured.
 */
double vidi__table_lines_for(double urls, uint64_t hashes)
{
    enum { STEPS = 32 };
    vidi__subtable shape;
    vidi__table made = table_for(urls, hashes, &shape);
    double mean = urls / ldexp(vidi__table_partitions(&made), (int)shape.depth) / (double)shape.lines, sum = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        double full = full_line(mean * (i + 0.5) / STEPS, vidi__line_slots(shape.width));
        sum += 1.5 * full * (1 + 0.7 * full);
    }
    return 1 + sum / STEPS;
}

int vidi__table_reserve(vidi__table *table, uint64_t hashes)
{
    if ((double)hashes < FIRST_HASHES)
        return VIDI_OK;
    VIDI__TRY(vidi__memory_check(table->slabs.memory,
                                 (uint64_t)fmin(vidi__table_bytes_for((double)hashes, table->hashes), 0x1p62)));
    if ((double)hashes > SMALL_MOST)
        VIDI__TRY(vidi__table_divide(table));
    vidi__subtable shape = first_shape(table, (double)hashes / vidi__table_partitions(table));
    uint64_t tables = (uint64_t)vidi__table_partitions(table) << shape.depth;
    VIDI__TRY(vidi__slabs_reserve(&table->slabs, tables * (shape.lines / VIDI__SLAB_LINES) * VIDI__SLAB_BYTES));
    for (unsigned i = 0; i < vidi__table_partitions(table); i++)
        VIDI__TRY(open_partition(table, &table->partitions[i], &shape));
    return VIDI_OK;
}

void vidi__table_expect(vidi__table *table, uint64_t hashes)
{
    vidi__quiet quiet;
    double bytes = vidi__table_bytes_for((double)hashes, table->hashes);
    vidi__quiet_begin(&quiet);
    bool fits = vidi__memory_check(table->slabs.memory, (uint64_t)fmin(bytes, 0x1p62)) == VIDI_OK;
    vidi__quiet_end(&quiet, VIDI_OK);
    atomic_store_explicit(&table->expected, fits ? hashes : 0, memory_order_relaxed);
}

/* ---- saving ---- */

#define NOT_OPEN UINT64_MAX
#define ONE_PARTITION (UINT64_MAX - 1)

typedef int save_part(const vidi__subtable *part, vidi__writer *writer);

static int save_partition(const vidi__partition *partition, save_part *save, vidi__writer *writer)
{
    const vidi__subtable *part;
    for (uint64_t entry = 0; (part = next_subtable(partition, &entry)) != NULL;)
        VIDI__TRY(save(part, writer));
    return VIDI_OK;
}

int vidi__table_save_heads(const vidi__table *table, unsigned partition, vidi__writer *writer)
{
    const vidi__partition *part = &table->partitions[partition];
    VIDI__TRY(vidi__write_u64(writer, part->directory ? part->depth : NOT_OPEN));
    return save_partition(part, vidi__subtable_save_head, writer);
}

int vidi__table_save_lines(const vidi__table *table, unsigned partition, vidi__writer *writer)
{
    return save_partition(&table->partitions[partition], vidi__subtable_save_lines, writer);
}

int vidi__table_save_overflow(const vidi__table *table, unsigned partition, vidi__writer *writer)
{
    return save_partition(&table->partitions[partition], vidi__subtable_save_overflow, writer);
}

int vidi__table_save(const vidi__table *table, vidi__writer *writer)
{
    static vidi__table_save_fn *const parts[] = {vidi__table_save_heads, vidi__table_save_lines,
                                                 vidi__table_save_overflow};
    if (!vidi__table_is_divided(table))
        VIDI__TRY(vidi__write_u64(writer, ONE_PARTITION));
    for (size_t part = 0; part < VIDI__COUNT(parts); part++)
        for (unsigned i = 0; i < vidi__table_partitions(table); i++)
            VIDI__TRY(parts[part](table, i, writer));
    return VIDI_OK;
}

/* Loads the sub-table that begins at this entry; *next is where the following one begins. */
static int load_head(vidi__table *table, vidi__partition *partition, uint64_t entry, vidi__reader *reader,
                     uint64_t *announced, uint64_t *next)
{
    uint64_t depth;
    vidi__subtable *part;
    VIDI__TRY(vidi__read_u64(reader, &depth));
    uint64_t span = depth <= partition->depth ? UINT64_C(1) << (partition->depth - depth) : 0;
    if (!span || entry % span)
        return vidi__damaged("a directory has a gap");
    vidi__subtable shape = shape_at(table, (unsigned)depth, 1);
    VIDI__TRY(vidi__subtable_load_head(&part, &table->slabs, &shape, reader, announced));
    for (uint64_t i = 0; i < span; i++)
        partition->directory[entry + i] = part;
    *next = entry + span;
    return VIDI_OK;
}

/* Loads the heads of a partition whose directory has this depth. */
static int load_heads(vidi__table *table, vidi__partition *partition, uint64_t depth, vidi__reader *reader,
                      uint64_t *announced)
{
    if (depth == NOT_OPEN)
        return VIDI_OK;
    if (depth > DEPTH_MAX || table->hashes >> (depth + table->partition_bits) < 256 ||
        (UINT64_C(8) << depth) > reader->left)
        return vidi__damaged("a directory is too deep");
    partition->depth = (uint16_t)depth;
    VIDI__TRY(
        vidi__alloc_zeroed(table->slabs.memory, &partition->directory, sizeof(void *) << depth, _Alignof(void *)));
    for (uint64_t entry = 0; entry < entries_of(partition);)
        VIDI__TRY(load_head(table, partition, entry, reader, announced, &entry));
    return VIDI_OK;
}

typedef int load_part(vidi__subtable *part, vidi__slabs *slabs, vidi__reader *reader, uint64_t *count);

static int load_parts(vidi__table *table, load_part *load, vidi__reader *reader, uint64_t *count)
{
    vidi__subtable *part;
    for (unsigned i = 0; i < vidi__table_partitions(table); i++)
        for (uint64_t entry = 0; (part = next_subtable(&table->partitions[i], &entry)) != NULL;)
            VIDI__TRY(load(part, &table->slabs, reader, count));
    return VIDI_OK;
}

int vidi__table_load(vidi__table *table, vidi__reader *reader, uint64_t *count)
{
    uint64_t announced = 0, depth;
    VIDI__TRY(vidi__read_u64(reader, &depth));
    if (depth == ONE_PARTITION)
        VIDI__TRY(vidi__read_u64(reader, &depth));
    else
        VIDI__TRY(divide_empty(table));
    for (unsigned i = 0; i < vidi__table_partitions(table); i++) {
        if (i)
            VIDI__TRY(vidi__read_u64(reader, &depth));
        VIDI__TRY(load_heads(table, &table->partitions[i], depth, reader, &announced));
    }
    VIDI__TRY(load_parts(table, vidi__subtable_load_lines, reader, count));
    return load_parts(table, vidi__subtable_load_overflow, reader, count);
}

int vidi__table_verify(const vidi__table *table, uint64_t *count)
{
    const vidi__subtable *part;
    for (unsigned i = 0; i < vidi__table_partitions(table); i++)
        for (uint64_t entry = 0; (part = next_subtable(&table->partitions[i], &entry)) != NULL;)
            VIDI__TRY(vidi__subtable_verify(part, count));
    return VIDI_OK;
}
