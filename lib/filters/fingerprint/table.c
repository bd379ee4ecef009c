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
/* A divided table has 2^FEW_DEPTH sub-tables per partition before any has more than FEW_LINES_MAX lines. */
#define FEW_DEPTH 2
#define FEW_LINES_MAX 512
#define RESERVED_LINES_MAX 16384
/*
 * Some of the reserved sub-tables get more than their share of the hashes. They have spare room for some standard
 * deviations of that, and may become fuller than usual by some more.
 */
#define SPREAD 0.75
#define SPREAD_MOST 4

/* A table with one partition: steps of growth, lines of a sub-table, and how many hashes may be reserved for it. */
#define GROWTH_OF_ONE 1.2
#define SMALL_LINES_MAX 128
#define SMALL_MOST 65536.0

/* ---- directories ---- */

/* Number of entries in a directory; none if the partition is not open. */
static uint64_t entries_of(vidi__directory directory)
{
    return directory.entries ? UINT64_C(1) << directory.depth : 0;
}

/* The directory entry of a hash that was shifted left past its partition's bits. */
static uint64_t entry_of(vidi__directory directory, uint64_t rest)
{
    return directory.depth ? rest >> (64 - directory.depth) : 0;
}

static vidi__subtable *subtable_at(vidi__directory directory, uint64_t entry)
{
    return atomic_load_explicit(&directory.entries[entry], memory_order_relaxed);
}

static void set_entry(vidi__directory directory, uint64_t entry, vidi__subtable *table)
{
    atomic_store_explicit(&directory.entries[entry], table, memory_order_release);
}

/* Iterates over the sub-tables: start with *entry = 0. Returns NULL at the end. */
static vidi__subtable *next_subtable(vidi__directory directory, uint64_t *entry)
{
    if (*entry == entries_of(directory))
        return NULL;
    vidi__subtable *table = subtable_at(directory, *entry);
    while (*entry < entries_of(directory) && subtable_at(directory, *entry) == table)
        ++*entry;
    return table;
}

static uint64_t directory_bytes(unsigned depth)
{
    return sizeof(vidi__directory_head) + (sizeof(vidi__subtable *) << depth);
}

static vidi__directory_head *head_of(vidi__directory directory)
{
    return (vidi__directory_head *)(void *)directory.entries - 1;
}

/* Makes a directory without sub-tables. */
static int make_directory(vidi__table *table, unsigned depth, vidi__directory *made)
{
    vidi__directory_head *head;
    VIDI__TRY(vidi__alloc_zeroed(table->slabs.memory, &head, directory_bytes(depth), _Alignof(vidi__directory_head)));
    *made = (vidi__directory){(void *)(head + 1), depth};
    return VIDI_OK;
}

/* Frees a directory, and those that it has replaced. */
static void free_directories(vidi__table *table, uintptr_t word)
{
    while (word) {
        vidi__directory_head *head = head_of(vidi__directory_at(word));
        uint64_t bytes = directory_bytes(vidi__directory_at(word).depth);
        word = head->previous;
        vidi__release(table->slabs.memory, head, bytes, _Alignof(vidi__directory_head));
    }
}

/* Replaces the directory of a partition. The old one stays where it is if other threads may be looking at it. */
static void use_directory(vidi__table *table, vidi__partition *partition, vidi__directory directory)
{
    uintptr_t old = atomic_load_explicit(&partition->directory, memory_order_relaxed);
    atomic_store_explicit(&partition->directory, (uintptr_t)directory.entries | directory.depth, memory_order_release);
    if (vidi__table_is_shared(table))
        head_of(directory)->previous = old;
    else
        free_directories(table, old);
}

int vidi__table_new_directory(vidi__table *table, vidi__partition *partition, unsigned depth)
{
    vidi__directory made;
    VIDI__TRY(make_directory(table, depth, &made));
    use_directory(table, partition, made);
    return VIDI_OK;
}

/* Frees a partition's directories, but not its sub-tables. */
static void close_partition(vidi__table *table, vidi__partition *partition)
{
    free_directories(table, atomic_exchange_explicit(&partition->directory, 0, memory_order_relaxed));
}

static void free_partition(vidi__table *table, vidi__partition *partition)
{
    vidi__directory directory = vidi__directory_of(partition);
    for (uint64_t entry = 0; entry < entries_of(directory);)
        vidi__subtable_free(next_subtable(directory, &entry), &table->slabs);
    close_partition(table, partition);
}

void vidi__table_init(vidi__table *table, vidi__memory *memory)
{
    table->partitions = &table->only;
    vidi__slabs_init(&table->slabs, memory);
}

/* ---- sub-tables that were replaced ---- */

/* When so much of the memory waits, it is asked whether any can be freed. */
#define RETIRED_SHARE 64

/* Frees those that no thread looks at any more. Returns true if there were any. */
static bool free_retired(vidi__table *table)
{
    vidi__mutex_lock(&table->retiring);
    vidi__subtable *all = table->retired, *left = NULL, *old;
    bool freed = false;
    table->retired = NULL;
    table->retired_bytes = 0;
    vidi__mutex_unlock(&table->retiring);
    uint32_t safe = all ? vidi__gate_safe_era(table->gate) : 0;
    while ((old = all) != NULL) {
        all = old->waiting.next;
        if (vidi__era_is_before(old->waiting.era, safe)) {
            vidi__subtable_free(old, &table->slabs);
            freed = true;
        } else {
            old->waiting.next = left;
            left = old;
        }
    }
    vidi__mutex_lock(&table->retiring);
    while ((old = left) != NULL) {
        left = old->waiting.next;
        old->waiting.next = table->retired;
        table->retired = old;
        table->retired_bytes += vidi__subtable_bytes(old);
    }
    vidi__mutex_unlock(&table->retiring);
    return freed;
}

/* Frees a sub-table that is in no directory any more: at once, or later if others may look at it. */
static void retire(vidi__table *table, vidi__subtable *old)
{
    if (!vidi__table_is_shared(table)) {
        vidi__subtable_free(old, &table->slabs);
        return;
    }
    old->retired = true;
    vidi__mutex_lock(&table->retiring);
    old->waiting.next = table->retired;
    old->waiting.era = vidi__gate_retire(table->gate);
    table->retired = old;
    table->retired_bytes += vidi__subtable_bytes(old);
    vidi__mutex_unlock(&table->retiring);
}

/* To be called by a thread that holds no lock, when it has retired something. */
static void free_retired_if_many(vidi__table *table)
{
    vidi__mutex_lock(&table->retiring);
    bool many = table->retired_bytes > vidi__memory_used(table->slabs.memory) / RETIRED_SHARE;
    vidi__mutex_unlock(&table->retiring);
    if (many)
        free_retired(table);
}

/* ---- the end ---- */

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
        free_partition(table, &table->partitions[i]);
    for (vidi__subtable *old; (old = table->retired) != NULL;) {
        table->retired = old->waiting.next;
        vidi__subtable_free(old, &table->slabs);
    }
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
    uint64_t most = !vidi__table_is_divided(table) ? SMALL_LINES_MAX
                    : shape->depth < FEW_DEPTH     ? FEW_LINES_MAX
                                                   : VIDI__SUBTABLE_LINES_MAX;
    return shape->lines > most && shape->range > RANGE_LEAST && shape->depth < DEPTH_MAX;
}

/* The shape of a sub-table at this depth that gets its share of hashes: about so many. */
static vidi__subtable shape_of_share(const vidi__table *table, unsigned depth, double hashes)
{
    vidi__subtable shape = shape_at(table, depth, hashes + SPREAD * sqrt(hashes));
    uint64_t limit = (uint64_t)(hashes + SPREAD_MOST * sqrt(hashes));
    if (shape.limit < limit)
        shape.limit = limit;
    return shape;
}

/*
 * The shape of the 2^depth sub-tables of a partition that is reserved for this many hashes. They may be larger than
 * those that grow: batches then find more of what they need to locate a hash in the cache.
 */
static vidi__subtable first_shape(const vidi__table *table, double hashes)
{
    unsigned depth = 0;
    bool divided = vidi__table_is_divided(table);
    vidi__subtable shape = divided ? shape_of_share(table, depth, hashes) : shape_at(table, depth, hashes);
    while (too_large(table, &shape) && (!divided || depth < FEW_DEPTH || shape.lines > RESERVED_LINES_MAX)) {
        hashes /= 2;
        shape = shape_of_share(table, ++depth, hashes);
    }
    return shape;
}

static int open_partition(vidi__table *table, vidi__partition *partition, const vidi__subtable *shape)
{
    vidi__subtable *part;
    VIDI__TRY(vidi__table_new_directory(table, partition, shape->depth));
    vidi__directory directory = vidi__directory_of(partition);
    for (uint64_t i = 0; i < entries_of(directory); i++) {
        VIDI__TRY(vidi__subtable_make(&part, &table->slabs, shape));
        set_entry(directory, i, part);
    }
    return VIDI_OK;
}

static int double_directory(vidi__table *table, vidi__partition *partition)
{
    vidi__directory old = vidi__directory_of(partition), larger;
    VIDI__TRY(make_directory(table, old.depth + 1, &larger));
    for (uint64_t i = 0; i < entries_of(larger); i++)
        set_entry(larger, i, subtable_at(old, i / 2));
    use_directory(table, partition, larger);
    return VIDI_OK;
}

/*
 * Replaces a sub-table by one or two others: `hash` leads to it. The directory may have doubled meanwhile, since only
 * the sub-table was locked.
 */
static int replace(vidi__table *table, vidi__partition *partition, uint64_t hash, vidi__subtable *old,
                   vidi__subtable *lower, vidi__subtable *upper)
{
    int code = VIDI_OK;
    vidi__mutex_lock(&partition->lock);
    if (upper && vidi__directory_of(partition).depth == old->depth)
        code = double_directory(table, partition);
    if (code == VIDI_OK) {
        vidi__directory directory = vidi__directory_of(partition);
        uint64_t span = UINT64_C(1) << (directory.depth - old->depth);
        uint64_t first = entry_of(directory, hash << partition->bits) & ~(span - 1);
        for (uint64_t i = 0; i < span; i++)
            set_entry(directory, first + i, i < span / 2 || !upper ? lower : upper);
    }
    vidi__mutex_unlock(&partition->lock);
    if (code < 0) {
        vidi__subtable_free(lower, &table->slabs);
        vidi__subtable_free(upper, &table->slabs);
        return code;
    }
    retire(table, old);
    atomic_fetch_add_explicit(&table->replaced, 1, memory_order_relaxed);
    return VIDI_OK;
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
    double share = ldexp(each, -(int)depth);
    return share > least ? shape_of_share(table, depth, share) : shape_at(table, depth, least);
}

/* Lets new sub-tables fill their slabs if the table is very large, all sub-tables being like the old one. */
static void fill_if_very_large(const vidi__table *table, const vidi__subtable *old, vidi__subtable *shape)
{
    if (ldexp((double)old->used, (int)(table->partition_bits + old->depth)) >= VERY_LARGE)
        vidi__subtable_fill_slabs(shape);
}

/* What takes the place of a sub-table: one, or two halves. */
typedef struct successors {
    vidi__subtable *lower, *upper; /* upper is NULL if there is one */
} successors;

/* Makes two halves of a sub-table. */
static int make_halves(vidi__table *table, const vidi__partition *partition, const vidi__subtable *old,
                       successors *made)
{
    vidi__subtable shape = next_shape(table, partition, old->depth + 1, (double)old->used / 2);
    if (too_large(table, &shape)) { /* it will split again before it is full */
        double most = (double)old->used / (too_large(table, old) ? 2 : 1);
        shape = shape_at(table, old->depth + 1, next_size(table, partition, old->depth + 1, most));
    }
    fill_if_very_large(table, old, &shape);
    VIDI__TRY(vidi__subtable_rebuild(&made->lower, old, &table->slabs, &shape, 0));
    int code = vidi__subtable_rebuild(&made->upper, old, &table->slabs, &shape, 1);
    if (code < 0)
        vidi__subtable_free(made->lower, &table->slabs);
    return code;
}

/* Splits the sub-table that a hash leads to; the caller is alone. */
static int split(vidi__table *table, vidi__partition *partition, uint64_t hash, vidi__subtable *old)
{
    successors made = {0};
    VIDI__TRY(make_halves(table, partition, old, &made));
    return replace(table, partition, hash, old, made.lower, made.upper);
}

/* Makes what has room for more hashes than `old`. */
static int make_successors(vidi__table *table, const vidi__partition *partition, const vidi__subtable *old,
                           successors *made)
{
    vidi__subtable shape = next_shape(table, partition, old->depth, (double)old->used);
    if (too_large(table, &shape))
        return make_halves(table, partition, old, made);
    fill_if_very_large(table, old, &shape);
    return vidi__subtable_rebuild(&made->lower, old, &table->slabs, &shape, -1);
}

/* ---- dividing ---- */

/* Splits the sub-tables of the only partition until each belongs to one of the 64 new partitions. */
static int split_for_partitions(vidi__table *table)
{
    vidi__partition *only = &table->only;
    for (uint64_t entry = 0; entry < entries_of(vidi__directory_of(only));) {
        vidi__directory directory = vidi__directory_of(only);
        vidi__subtable *part = subtable_at(directory, entry);
        if (part->depth >= VIDI__PARTITION_BITS) {
            next_subtable(directory, &entry);
            continue;
        }
        VIDI__TRY(split(table, only, directory.depth ? entry << (64 - directory.depth) : 0, part));
        entry <<= vidi__directory_of(only).depth > directory.depth;
    }
    return VIDI_OK;
}

/* Gives a partition its part of the only one's directory. The sub-tables there stay where they are. */
static int take_over(vidi__table *table, vidi__partition *partition, uint64_t index)
{
    vidi__directory all = vidi__directory_of(&table->only);
    unsigned depth = all.depth - VIDI__PARTITION_BITS;
    VIDI__TRY(vidi__table_new_directory(table, partition, depth));
    vidi__directory mine = vidi__directory_of(partition);
    for (uint64_t i = 0; i < entries_of(mine); i++)
        set_entry(mine, i, subtable_at(all, (index << depth) + i));
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
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        VIDI__TRY(take_over(table, &made->partitions[i], i));
    vidi__directory all = vidi__directory_of(&table->only);
    for (uint64_t entry = 0; entry < entries_of(all);) {
        vidi__subtable *part = next_subtable(all, &entry);
        part->depth = (uint16_t)(part->depth - VIDI__PARTITION_BITS);
    }
    close_partition(table, &table->only);
    return VIDI_OK;
}

int vidi__table_divide(vidi__table *table)
{
    vidi__divided *made;
    if (vidi__table_is_divided(table))
        return VIDI_OK;
    if (!vidi__partition_is_open(&table->only))
        return divide_empty(table);
    VIDI__TRY(split_for_partitions(table));
    VIDI__TRY(make_divided(table, &made));
    int code = hand_over(table, made);
    if (code == VIDI_OK) {
        use_divided(table, made);
        return VIDI_OK;
    }
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        close_partition(table, &made->partitions[i]);
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
static int grow(vidi__table *table, vidi__partition *partition, uint64_t hash, vidi__subtable *old)
{
    successors made = {0};
    vidi__subtable shape = next_shape(table, partition, old->depth, (double)old->used);
    if (outgrows_one(table, &shape))
        return vidi__table_divide(table);
    VIDI__TRY(make_successors(table, partition, old, &made));
    return replace(table, partition, hash, old, made.lower, made.upper);
}

/* Adds what came to a sub-table after it was copied to its successors. */
typedef struct catching_up {
    vidi__table *table;
    successors to;
} catching_up;

static int catch_up(void *context, uint64_t hash, uint64_t times)
{
    const catching_up *self = context;
    uint64_t half = self->to.lower->range;
    bool upper = hash >= half;
    return vidi__subtable_insert(upper ? self->to.upper : self->to.lower, &self->table->slabs,
                                 upper ? hash - half : hash, times);
}

/*
 * The same while others use the table. The caller holds the lock of the sub-table, which is let go while a copy is
 * rebuilt: so they wait for the copying only, and go on adding to the sub-table, which is as good as any other if it is
 * a little too full. Multisets are rebuilt under the lock.
 */
static int grow_shared(vidi__table *table, vidi__partition *partition, uint64_t hash, vidi__subtable *old)
{
    vidi__subtable *copy;
    catching_up self = {.table = table};
    if (table->multiset)
        return grow(table, partition, hash, old);
    VIDI__TRY(vidi__subtable_copy(&copy, old, &table->slabs));
    uint64_t limit = old->limit;
    old->limit = UINT64_MAX; /* so nobody else makes it grow */
    vidi__mutex_unlock(&old->lock);
    int code = make_successors(table, partition, copy, &self.to);
    vidi__mutex_lock(&old->lock);
    old->limit = limit;
    if (code == VIDI_OK && (code = vidi__subtable_walk_newer(old, copy, catch_up, &self)) < 0) {
        vidi__subtable_free(self.to.lower, &table->slabs);
        vidi__subtable_free(self.to.upper, &table->slabs);
    }
    if (code == VIDI_OK)
        code = replace(table, partition, hash, old, self.to.lower, self.to.upper);
    vidi__subtable_free(copy, &table->slabs);
    return code;
}

int vidi__table_open(vidi__table *table, vidi__partition *partition)
{
    if (VIDI__LIKELY(vidi__partition_is_open(partition)))
        return VIDI_OK;
    vidi__subtable shape = shape_at(table, 0, next_size(table, partition, 0, 1));
    int code = open_partition(table, partition, &shape);
    if (code < 0)
        free_partition(table, partition);
    return code;
}

/* All partitions are opened, so that two threads never open one. */
int vidi__table_share(vidi__table *table, vidi__gate *gate)
{
    VIDI__TRY(vidi__table_divide(table));
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++) {
        VIDI__TRY(vidi__table_open(table, &table->partitions[i]));
    }
    table->gate = gate;
    return VIDI_OK;
}

/* ---- hashes ---- */

vidi__place vidi__table_place(const vidi__table *table, uint64_t hash)
{
    const vidi__partition *partition = vidi__table_partition((vidi__table *)table, hash);
    return vidi__partition_is_open(partition) ? vidi__place_of(partition, hash) : (vidi__place){.table = NULL};
}

static bool is_short(int code)
{
    return code == VIDI_ELIMIT || code == VIDI_EMEMORY;
}

/*
 * Towards what is expected. If there is no memory for that: among other threads without a copy, so that they wait for
 * all of it, and then without the hint.
 */
static int grow_as_expected(vidi__table *table, vidi__partition *partition, uint64_t hash, vidi__subtable *old)
{
    bool shared = vidi__table_is_shared(table);
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    int code = shared ? grow_shared(table, partition, hash, old) : grow(table, partition, hash, old);
    if (is_short(code) && (free_retired(table) || shared))
        code = grow(table, partition, hash, old);
    if (is_short(code) && atomic_exchange(&table->expected, 0))
        code = grow(table, partition, hash, old);
    return vidi__quiet_end(&quiet, code);
}

int vidi__table_add_growing(vidi__table *table, vidi__partition *partition, uint64_t hash)
{
    int verdict = VIDI__SUBTABLE_FULL;
    while (verdict == VIDI__SUBTABLE_FULL) {
        VIDI__TRY(grow_as_expected(table, partition, hash, vidi__place_of(partition, hash).table));
        partition = vidi__table_partition(table, hash); /* another one if the table has divided */
        const vidi__place place = vidi__place_of(partition, hash);
        verdict = vidi__subtable_add(place.table, &table->slabs, place.hash, &place.spot);
    }
    return verdict;
}

/* The current place of a hash, whose sub-table is locked. The partition is open. */
static vidi__place lock_place(const vidi__table *table, uint64_t hash)
{
    for (;;) {
        const vidi__place place = vidi__table_place(table, hash);
        vidi__mutex_lock(&place.table->lock);
        if (VIDI__LIKELY(!place.table->retired))
            return place;
        vidi__mutex_unlock(&place.table->lock);
    }
}

/* Most adds of a crawl are repeats, which need no lock. */
int vidi__table_add_shared(vidi__table *table, uint64_t hash)
{
    int verdict = VIDI__SUBTABLE_FULL;
    const vidi__place first = vidi__table_place(table, hash);
    if (!table->multiset && vidi__subtable_glance(first.table, &first.spot) == VIDI_SEEN)
        return VIDI_SEEN;
    while (verdict == VIDI__SUBTABLE_FULL) {
        const vidi__place place = lock_place(table, hash);
        verdict = vidi__subtable_add(place.table, &table->slabs, place.hash, &place.spot);
        if (VIDI__UNLIKELY(verdict == VIDI__SUBTABLE_FULL)) {
            int code = grow_as_expected(table, vidi__table_partition(table, hash), hash, place.table);
            verdict = code < 0 ? code : VIDI__SUBTABLE_FULL;
        }
        vidi__mutex_unlock(&place.table->lock);
        if (VIDI__UNLIKELY(verdict == VIDI__SUBTABLE_FULL))
            free_retired_if_many(table);
    }
    return verdict;
}

int vidi__table_has_shared(const vidi__table *table, uint64_t hash)
{
    const vidi__place place = lock_place(table, hash);
    bool seen = vidi__subtable_has(place.table, place.hash, &place.spot);
    vidi__mutex_unlock(&place.table->lock);
    return seen ? VIDI_SEEN : VIDI_NEW;
}

uint64_t vidi__table_times(const vidi__table *table, uint64_t hash)
{
    if (!vidi__partition_is_open(vidi__table_partition((vidi__table *)table, hash)))
        return 0;
    if (!vidi__table_is_shared(table)) {
        const vidi__place place = vidi__table_place(table, hash);
        return vidi__subtable_times(place.table, place.hash);
    }
    const vidi__place place = lock_place(table, hash);
    uint64_t times = vidi__subtable_times(place.table, place.hash);
    vidi__mutex_unlock(&place.table->lock);
    return times;
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
    vidi__directory directory = vidi__directory_of(partition);
    if (!directory.entries)
        return (vidi__table_part){NULL, table->partition_bits};
    const vidi__subtable *part = subtable_at(directory, entry_of(directory, hash << partition->bits));
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

void vidi__table_least_hashes(const vidi__table *table, uint64_t first, uint64_t *numbers, unsigned n)
{
    unsigned shift = 64 - (unsigned)__builtin_ctzll(table->hashes);
    if (VIDI__LIKELY(!(table->hashes & (table->hashes - 1))))
        for (unsigned i = 0; i < n; i++)
            numbers[i] = (first + numbers[i]) << shift;
    else
        for (unsigned i = 0; i < n; i++)
            numbers[i] = vidi__table_least_hash(table, first + numbers[i]);
}

/* A list of one partition. `first` is the number at which the current sub-table starts. */
typedef struct whole_list {
    const vidi__table *table;
    vidi__take_hashes *take;
    void *context;
    uint64_t first;
} whole_list;

static int take_whole(void *context, uint64_t *hashes, const uint64_t *times, unsigned n)
{
    const whole_list *list = context;
    vidi__table_least_hashes(list->table, list->first, hashes, n);
    return list->take(list->context, hashes, times, n);
}

/* All hashes of a partition of this table. */
static int list_own(const vidi__table *table, unsigned partition, vidi__take_hashes *take, void *context)
{
    whole_list list = {table, take, context, partition * (table->hashes >> table->partition_bits)};
    const vidi__subtable *part;
    for (uint64_t entry = 0;
         (part = next_subtable(vidi__directory_of(&table->partitions[partition]), &entry)) != NULL;) {
        int code = vidi__subtable_list(part, 0, part->range, take_whole, &list);
        if (code)
            return code;
        list.first += part->range;
    }
    return 0;
}

int vidi__table_list(const vidi__table *table, vidi__take_hashes *take, void *context)
{
    int code = 0;
    for (unsigned i = 0; i < vidi__table_partitions(table) && !code; i++)
        code = list_own(table, i, take, context);
    return code;
}

int vidi__table_walk(const vidi__table *table, vidi__subtable_visit *visit, void *context)
{
    return vidi__table_list(table, vidi__visit_each, &(vidi__visiting){visit, context});
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
        return list_own(table, partition, vidi__visit_each, &(vidi__visiting){visit, context});
    sieve self = {visit, context, partition};
    return list_own(table, 0, vidi__visit_each, &(vidi__visiting){visit_own, &self});
}

void vidi__table_stat(const vidi__table *table, unsigned partition, vidi__table_stats *stats)
{
    const vidi__subtable *part;
    for (uint64_t entry = 0;
         (part = next_subtable(vidi__directory_of(&table->partitions[partition]), &entry)) != NULL;) {
        stats->bytes += vidi__subtable_bytes(part);
        stats->slots += (double)(part->lines * vidi__line_slots(part->width) + part->overflow.used);
        stats->used += (double)part->used;
    }
    for (uintptr_t word = table->partitions[partition].directory; word;
         word = head_of(vidi__directory_at(word))->previous)
        stats->bytes += directory_bytes(vidi__directory_at(word).depth);
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
#define RESERVED_SLABS 128 /* 2 MiB: the least that is allocated at once when a table is loaded */

typedef int save_part(const vidi__subtable *part, vidi__writer *writer);

static int save_partition(const vidi__partition *partition, save_part *save, vidi__writer *writer)
{
    const vidi__subtable *part;
    for (uint64_t entry = 0; (part = next_subtable(vidi__directory_of(partition), &entry)) != NULL;)
        VIDI__TRY(save(part, writer));
    return VIDI_OK;
}

int vidi__table_save_heads(const vidi__table *table, unsigned partition, vidi__writer *writer)
{
    const vidi__partition *part = &table->partitions[partition];
    VIDI__TRY(vidi__write_u64(writer, vidi__partition_is_open(part) ? vidi__directory_of(part).depth : NOT_OPEN));
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
static int load_head(vidi__table *table, vidi__directory directory, uint64_t entry, vidi__reader *reader,
                     uint64_t *announced, uint64_t *next)
{
    uint64_t depth;
    vidi__subtable *part;
    VIDI__TRY(vidi__read_u64(reader, &depth));
    uint64_t span = depth <= directory.depth ? UINT64_C(1) << (directory.depth - depth) : 0;
    if (!span || entry % span)
        return vidi__damaged("a directory has a gap");
    vidi__subtable shape = shape_at(table, (unsigned)depth, 1);
    VIDI__TRY(vidi__subtable_load_head(&part, &table->slabs, &shape, reader, announced));
    for (uint64_t i = 0; i < span; i++)
        set_entry(directory, entry + i, part);
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
    VIDI__TRY(vidi__table_new_directory(table, partition, (unsigned)depth));
    vidi__directory directory = vidi__directory_of(partition);
    for (uint64_t entry = 0; entry < entries_of(directory);)
        VIDI__TRY(load_head(table, directory, entry, reader, announced, &entry));
    return VIDI_OK;
}

typedef int load_part(vidi__subtable *part, vidi__slabs *slabs, vidi__reader *reader, uint64_t *count);

static int load_parts(vidi__table *table, load_part *load, vidi__reader *reader, uint64_t *count)
{
    vidi__subtable *part;
    for (unsigned i = 0; i < vidi__table_partitions(table); i++)
        for (uint64_t entry = 0; (part = next_subtable(vidi__directory_of(&table->partitions[i]), &entry)) != NULL;)
            VIDI__TRY(load(part, &table->slabs, reader, count));
    return VIDI_OK;
}

/*
 * Allocates the slabs of all sub-tables, whose heads were loaded, as one block: in large pages, which are touched sooner.
 * If there is no memory for that, they are allocated one by one, and whoever loads them will tell.
 */
static void reserve_slabs(vidi__table *table, const vidi__reader *reader)
{
    const vidi__subtable *part;
    uint64_t slabs = 0;
    vidi__quiet quiet;
    for (unsigned i = 0; i < vidi__table_partitions(table); i++)
        for (uint64_t entry = 0; (part = next_subtable(vidi__directory_of(&table->partitions[i]), &entry)) != NULL;)
            slabs += part->lines / VIDI__SLAB_LINES + part->overflow.room / VIDI__OVERFLOW_BLOCK;
    if (slabs < RESERVED_SLABS || reader->left == UINT64_MAX || vidi__lends(reader))
        return;
    vidi__quiet_begin(&quiet);
    (void)vidi__slabs_reserve(&table->slabs, slabs * VIDI__SLAB_BYTES);
    vidi__quiet_end(&quiet, VIDI_OK);
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
    reserve_slabs(table, reader);
    VIDI__TRY(load_parts(table, vidi__subtable_load_lines, reader, count));
    return load_parts(table, vidi__subtable_load_overflow, reader, count);
}

int vidi__table_verify(const vidi__table *table, uint64_t *count)
{
    const vidi__subtable *part;
    for (unsigned i = 0; i < vidi__table_partitions(table); i++)
        for (uint64_t entry = 0; (part = next_subtable(vidi__directory_of(&table->partitions[i]), &entry)) != NULL;)
            VIDI__TRY(vidi__subtable_verify(part, count));
    return VIDI_OK;
}
