/*
 * A growing table of hashes, divided by prefix:
 *
 *     hash  | 6 bits: partition | directory: sub-table | rest: a number below the sub-table's range (subtable.h)
 *
 *     partition  a directory of 2^depth entries; several entries may share a sub-table
 *     sub-table  grows when it is full (`growth` says by how much), and splits in two when it would be too large: more
 *                than 256 KiB, or more than 32 KiB as long as there are few
 *
 * A small table has one partition, whose directory begins with the first bit of the hash. Only one thread at a time may
 * add to it. Its sub-tables are small, fuller than those of a large one, and grow in smaller steps, since
 * moving hashes within the cache is cheap. When it outgrows 64 of them it divides: each partition takes over the
 * sub-tables of its prefix as they are.
 *
 * Each partition has its own series of sizes, spread over that third, so the partitions grow one after the other and
 * not all at once. Memory follows the number of hashes closely, and no add waits for more than one sub-table to be
 * rebuilt. Growing by the factor g takes (g - 1) / ln g times the memory of a full table, and moves each hash
 * 1 / (g - 1) times.
 *
 * A hash of 64 bits maps to one of S numbers, floor(hash · S / 2^64), and the table tells all S numbers apart. S is
 * g · 2^e with a small g. So S is divisible by every power of two that prefixes lead to: prefixes are whole bits, but
 * log2(S) need not be a whole number.
 *
 * Threads: a table that several threads use is divided, and has 1,024 sub-tables or more as soon as it is large enough,
 * so that threads seldom meet. Adds look first, and hold the lock of their sub-table if the hash is not there. A thread
 * that fills a sub-table rebuilds it while others work in other sub-tables; only then it takes the lock of the
 * partition, too, to change the directory. Lookups take no lock, unless the hash may be in the overflow table. So what
 * was replaced must stay where it is until nobody looks at it any more: sub-tables until all threads have left the gate
 * (base/gate.h), directories, which are small, until the end.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_TABLE_H
#define VIDI_FILTERS_FINGERPRINT_TABLE_H

#include "filters/filter.h"
#include "filters/fingerprint/subtable.h"
#include "filters/partition.h"

/* The sub-tables of a partition: 2^depth entries. */
typedef struct vidi__directory {
    vidi__subtable *_Atomic *entries; /* NULL until the partition is opened */
    unsigned depth;
} vidi__directory;

typedef struct vidi__partition {
    _Atomic uintptr_t directory; /* its address and, in the bits that alignment leaves free, its depth; 0: none */
    uint16_t bits;               /* how many bits of a hash lead to the partition */
    vidi__mutex lock;            /* for changes of the directory, while several threads add */
} vidi__partition;

/* What comes before the entries of a directory. */
typedef struct vidi__directory_head {
    _Alignas(32) uintptr_t previous; /* the directory that this one has replaced; 0: none */
} vidi__directory_head;

static inline vidi__directory vidi__directory_at(uintptr_t word)
{
    const uintptr_t depth = _Alignof(vidi__directory_head) - 1;
    /* The address of what comes after a head. NOLINTNEXTLINE(performance-no-int-to-ptr) */
    return (vidi__directory){(vidi__subtable * _Atomic *)(word & ~depth), (unsigned)(word & depth)};
}

static inline vidi__directory vidi__directory_of(const vidi__partition *partition)
{
    return vidi__directory_at(atomic_load_explicit(&partition->directory, memory_order_acquire));
}

/* Partitions of a table that is divided. */
typedef struct vidi__divided {
    vidi__partition partitions[VIDI__PARTITIONS];
} vidi__divided;

typedef struct vidi__table {
    vidi__slabs slabs;
    uint64_t hashes; /* S: how many hashes the table tells apart */
    bool multiset;
    bool portable;
    double growth;               /* the factor by which sub-tables grow; 0: the default */
    unsigned partition_bits;     /* VIDI__PARTITION_BITS, or 0 as long as there is one partition */
    vidi__partition *partitions; /* 2^partition_bits of them: `only`, or those in `divided` */
    vidi__partition only;
    vidi__divided *divided;  /* NULL as long as there is one partition */
    vidi__gate *gate;        /* of the threads that use the table; NULL: only one at a time does */
    vidi__mutex retiring;    /* for the next two */
    vidi__subtable *retired; /* list of sub-tables that were replaced */
    uint64_t retired_bytes;
    _Atomic uint64_t replaced; /* how many sub-tables have grown or split so far */
    /* Hint: hashes expected in all, 0 if unknown. Sub-tables that must grow then grow to that size at once. */
    _Atomic uint64_t expected;
} vidi__table;

/* Initializes an empty table with one partition. The caller has set hashes, multiset, portable and growth. */
void vidi__table_init(vidi__table *table, vidi__memory *memory);
void vidi__table_close(vidi__table *table);

/*
 * Makes 64 partitions, with the hashes that are in the table. An error leaves all hashes where they can be found. No
 * other thread may use the table meanwhile. A table with one partition does so itself when it has grown.
 */
int vidi__table_divide(vidi__table *table);

static inline bool vidi__table_is_divided(const vidi__table *table)
{
    return table->partition_bits;
}

static inline unsigned vidi__table_partitions(const vidi__table *table)
{
    return 1u << table->partition_bits;
}

/* Returns true if other threads may be in the table. */
static inline bool vidi__table_is_shared(const vidi__table *table)
{
    return table->gate && table->gate->shared;
}

/* Makes an empty directory of this depth the partition's, in place of the one that it has. */
int vidi__table_new_directory(vidi__table *table, vidi__partition *partition, unsigned depth);

/* Creates sub-tables for this many hashes, so that hardly any has to grow. */
int vidi__table_reserve(vidi__table *table, uint64_t hashes);

/*
 * Hint: the table may get this many hashes. If that fits into memory, sub-tables that must grow go to that size at
 * once.
 */
void vidi__table_expect(vidi__table *table, uint64_t hashes);

/*
 * Memory of a table that was reserved for this many URLs and tells `hashes` hashes apart, and the lines that an add
 * touches while it fills.
 */
double vidi__table_bytes_for(double urls, uint64_t hashes);
double vidi__table_lines_for(double urls, uint64_t hashes);

/* Opens the partition unless it is open. */
int vidi__table_open(vidi__table *table, vidi__partition *partition);

/* Gets ready for the threads that go through this gate; the caller is alone. */
int vidi__table_share(vidi__table *table, vidi__gate *gate);

static inline vidi__partition *vidi__table_partition(vidi__table *table, uint64_t hash)
{
    return &table->partitions[hash >> 1 >> (63 - table->partition_bits)];
}

/* Where a hash belongs. */
typedef struct vidi__place {
    vidi__subtable *table; /* NULL if the partition is not open */
    uint64_t hash;         /* the hash within the sub-table */
    vidi__spot spot;
} vidi__place;

/* Finds where a hash belongs. The partition must be open. */
static inline vidi__place vidi__place_of(const vidi__partition *partition, uint64_t hash)
{
    const vidi__directory directory = vidi__directory_of(partition);
    uint64_t rest = hash << partition->bits;
    vidi__subtable *_Atomic *entry = &directory.entries[rest >> 1 >> (63 - directory.depth)];
    vidi__place place = {.table = atomic_load_explicit(entry, memory_order_acquire)};
    place.hash = vidi__scale(rest << place.table->depth, place.table->range);
    place.spot = vidi__subtable_spot(place.table, place.hash);
    return place;
}

static inline bool vidi__partition_is_open(const vidi__partition *partition)
{
    return atomic_load_explicit(&partition->directory, memory_order_relaxed);
}

/* The same for any partition. */
vidi__place vidi__table_place(const vidi__table *table, uint64_t hash);

/* Adds a hash whose sub-table is full: makes room first. */
int vidi__table_add_growing(vidi__table *table, vidi__partition *partition, uint64_t hash);

/*
 * Adds a hash to its partition, which must be open: VIDI_NEW, VIDI_SEEN or an error. `place` must be the hash's place;
 * it is valid until its sub-table is replaced, or the table is divided.
 */
static inline int vidi__table_add_at(vidi__table *table, vidi__partition *partition, uint64_t hash,
                                     const vidi__place *place)
{
    int verdict = vidi__subtable_add(place->table, &table->slabs, place->hash, &place->spot);
    return VIDI__LIKELY(verdict != VIDI__SUBTABLE_FULL) ? verdict : vidi__table_add_growing(table, partition, hash);
}

int vidi__table_add(vidi__table *table, uint64_t hash);

/* For threads that share the table: an add, and the rest of a lookup for which a glance was not enough. */
int vidi__table_add_shared(vidi__table *table, uint64_t hash);
int vidi__table_has_shared(const vidi__table *table, uint64_t hash);

/* How often the hash is in the table: 0 or 1, or more in a multiset. */
uint64_t vidi__table_times(const vidi__table *table, uint64_t hash);

/* The same, several times; a table that is no multiset takes the hash once. */
int vidi__table_add_times(vidi__table *table, uint64_t hash, uint64_t times);

/*
 * Calls visit for every hash, in order except within a line. The hash passed is the smallest 64-bit hash that maps to
 * the stored number.
 */
int vidi__table_walk(const vidi__table *table, vidi__subtable_visit *visit, void *context);

/* The same in blocks. */
int vidi__table_list(const vidi__table *table, vidi__take_hashes *take, void *context);

/* The same for the hashes of one of 64 partitions, even if the table is not divided. */
int vidi__table_walk_partition(const vidi__table *table, unsigned partition, vidi__subtable_visit *visit,
                               void *context);

/* The sub-table that a hash belongs to; NULL if its partition is not open. It has all hashes with this prefix. */
typedef struct vidi__table_part {
    const vidi__subtable *table;
    unsigned prefix_bits;
} vidi__table_part;
vidi__table_part vidi__table_part_of(const vidi__table *table, uint64_t hash);

/* The smallest hash that maps to the number. All its prefixes are right; it maps to the same number in any table. */
uint64_t vidi__table_least_hash(const vidi__table *table, uint64_t number);

/* The same for n numbers, each counted from `first`. */
void vidi__table_least_hashes(const vidi__table *table, uint64_t first, uint64_t *numbers, unsigned n);

/*
 * Runs (filters/pieces.h): u64 how many hashes the table tells apart, then lists: u64 how many hashes, and these as
 * vidi__table_walk names them, with multiset=on each followed by its u64 times; 0 ends the run. Loading adds the number
 * of hashes that were not there to *fresh (table_pieces.c).
 */
int vidi__table_save_run(const vidi__table *table, vidi__run_out *run);
int vidi__table_load_run(vidi__table *table, vidi__run_in *run, uint64_t *fresh);

/* The hash by which vidi__table_walk names one that is in the table. */
uint64_t vidi__table_kept(const vidi__table *table, uint64_t hash);

typedef struct vidi__table_stats {
    uint64_t bytes;
    double slots, used;
} vidi__table_stats;

/* Adds one partition to the statistics, the first one together with what all share. */
void vidi__table_stat(const vidi__table *table, unsigned partition, vidi__table_stats *stats);

/*
 * Saved are, for each partition, u64 depth of the directory (2^64 - 1 if it is not open) and the heads of its
 * sub-tables in order; before them, u64 2^64 - 2 if there is only one partition. Then the lines of all sub-tables; then
 * all overflow tables. So opening a mapped file reads only its beginning and its end. Loading adds the number of
 * different hashes to *count, or, of borrowed lines, the number in use.
 */
int vidi__table_save(const vidi__table *table, vidi__writer *writer);
/* The three parts of one partition: its heads with the depth before them, its lines, its overflow. */
typedef int vidi__table_save_fn(const vidi__table *table, unsigned partition, vidi__writer *writer);
vidi__table_save_fn vidi__table_save_heads, vidi__table_save_lines, vidi__table_save_overflow;
int vidi__table_load(vidi__table *table, vidi__reader *reader, uint64_t *count);

/* Verifies borrowed contents. Adds the number of different hashes to *count. */
int vidi__table_verify(const vidi__table *table, uint64_t *count);

#endif
