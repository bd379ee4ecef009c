/*
 * A growing table of hashes, by their prefixes:
 *
 *     hash  | 6 bits: partition | directory: sub-table | rest: a number below the sub-table's range (subtable.h)
 *
 *     partition  a directory of 2^depth entries; several may name the same sub-table
 *     sub-table  grows by a quarter when it is full, and splits in two when it would pass 1 MiB
 *
 * Each partition has sizes of its own to grow to, spread over that quarter, so that they grow one after the other and
 * not all at once: memory follows the number of hashes closely, and no add waits for more than one sub-table to be
 * rebuilt.
 *
 * A hash of 64 bits comes to one of S numbers, floor(hash · S / 2^64), and of these no two are confused. S = g · 2^e
 * with a small g, so that it divides by any power of two that prefixes come to: prefixes are whole bits, S need not be.
 *
 * Partitions share no memory but the pool of chunks, which has a lock of its own: each may be used by another thread.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_TABLE_H
#define VIDI_FILTERS_FINGERPRINT_TABLE_H

#include "filters/batch.h"
#include "filters/fingerprint/subtable.h"

typedef struct vidi__partition {
    vidi__subtable **directory; /* NULL: not open yet */
    unsigned depth;
    uint64_t changes; /* grows with each sub-table that is replaced */
} vidi__partition;

typedef struct vidi__table {
    vidi__chunks chunks;
    uint64_t hashes; /* that can be told apart: S */
    bool multiset;
    bool portable;
    _Atomic uint64_t expected; /* hashes in all; what grows goes there in one step. 0: nobody knows */
    vidi__partition partitions[VIDI__PARTITIONS];
} vidi__table;

/* hashes, multiset and portable are set already. */
int vidi__table_init(vidi__table *table, vidi__memory *memory);
void vidi__table_close(vidi__table *table);

/* Sub-tables for so many hashes, so that hardly any has to grow. */
int vidi__table_reserve(vidi__table *table, uint64_t hashes);

/* A hint: it may come to so many. What has to grow goes there in one step, if memory has room for that. */
void vidi__table_expect(vidi__table *table, uint64_t hashes);

/* Memory of a table that is made for so many, with S numbers; and the lines that an add touches while it fills. */
double vidi__table_bytes_for(double urls, uint64_t hashes);
double vidi__table_lines_for(double urls, uint64_t hashes);

/* Opens the partition if it is not. */
int vidi__table_open(vidi__table *table, vidi__partition *partition);

static inline vidi__partition *vidi__table_partition(vidi__table *table, uint64_t hash)
{
    return &table->partitions[vidi__partition_of(hash)];
}

/* Where a hash belongs. */
typedef struct vidi__place {
    vidi__subtable *table; /* NULL: the partition is not open */
    uint64_t hash;         /* what is left of it there */
    vidi__spot spot;
} vidi__place;

/* The partition is open. */
static inline vidi__place vidi__place_of(const vidi__partition *partition, uint64_t hash)
{
    uint64_t rest = hash << VIDI__PARTITION_BITS;
    vidi__place place = {.table = partition->directory[partition->depth ? rest >> (64 - partition->depth) : 0]};
    place.hash = vidi__scale(rest << place.table->depth, place.table->range);
    place.spot = vidi__subtable_spot(place.table, place.hash);
    return place;
}

/* The same, of any partition. */
vidi__place vidi__table_place(const vidi__table *table, uint64_t hash);

/* Its sub-table is full: makes room first. */
int vidi__table_add_growing(vidi__table *table, vidi__partition *partition, uint64_t hash);

/*
 * Adds a hash to its partition, which is open: VIDI_NEW, VIDI_SEEN or an error. `place` is its place as long as the
 * partition's `changes` are what they were.
 */
static inline int vidi__table_add_at(vidi__table *table, vidi__partition *partition, uint64_t hash,
                                     const vidi__place *place)
{
    int verdict = vidi__subtable_add(place->table, &table->chunks, place->hash, &place->spot);
    return VIDI__LIKELY(verdict != VIDI__SUBTABLE_FULL) ? verdict : vidi__table_add_growing(table, partition, hash);
}

int vidi__table_add(vidi__table *table, uint64_t hash);

/* Calls visit for every hash, by the least of 64 bits that comes to its number, in order but for those of one line. */
int vidi__table_walk(const vidi__table *table, vidi__subtable_visit *visit, void *context);

typedef struct vidi__table_stats {
    uint64_t bytes;
    double slots, used;
} vidi__table_stats;

/* Adds one partition to the statistics. */
void vidi__table_stat(const vidi__table *table, unsigned partition, vidi__table_stats *stats);

/*
 * Saved: for each partition u64 depth of the directory, or 2^64 - 1 if it is not open, and then the heads of its
 * sub-tables in order; the lines of all sub-tables; the overflowed hashes of all. So who maps a file reads its
 * beginning and its end to open it, and nothing between. Loading adds the number of different hashes to *count; of
 * lines that are lent, that of all in use.
 */
int vidi__table_save(const vidi__table *table, vidi__writer *writer);
int vidi__table_load(vidi__table *table, vidi__reader *reader, uint64_t *count);

/* Is what was lent as it should be? Adds the number of different hashes to *count. */
int vidi__table_verify(const vidi__table *table, uint64_t *count);

#endif
