/*
 * The overflow table of a sub-table: the hashes that found both their line and the next one full. It is a small set, or
 * multiset, with open addressing, at most four fifths full.
 *
 *     home of a hash = floor(mix(hash + room) · room / 2^64); probing goes on from there to the first free entry
 *
 * The home depends on `room`, so each size orders the hashes differently. Otherwise, moving hashes in table order into
 * a table of another size would fill that table from one end. (Multiplying by an odd factor instead of mixing is not
 * enough: the orders of two sizes may then be almost proportional.)
 *
 * The entries are stored in slabs, as the lines are (slabs.h).
 *
 * A table over borrowed memory (base/stream.h) may hold anything. Lookups and walks are still safe and still end.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_OVERFLOW_H
#define VIDI_FILTERS_FINGERPRINT_OVERFLOW_H

#include "base/stream.h"
#include "filters/fingerprint/slabs.h"

/* Entries per block. */
#define VIDI__OVERFLOW_BLOCK (VIDI__SLAB_BYTES / sizeof(uint64_t))
/* The value of a free entry. No hash has it: hashes are below 2^60. */
#define VIDI__OVERFLOW_EMPTY UINT64_MAX

typedef struct vidi__overflow {
    uint64_t room, used;
    uint64_t **entries;
    uint64_t **times; /* in a multiset: how often each hash was added */
    bool inside;      /* the entries are in memory of the sub-table */
} vidi__overflow;

static inline uint64_t *vidi__overflow_at(uint64_t **blocks, uint64_t at)
{
    return &blocks[at / VIDI__OVERFLOW_BLOCK][at % VIDI__OVERFLOW_BLOCK];
}

static inline uint64_t vidi__overflow_home(const vidi__overflow *overflow, uint64_t hash)
{
    return vidi__scale(vidi__mix(hash + overflow->room), overflow->room);
}

/* Returns true if the table must grow before another hash can be inserted. */
static inline bool vidi__overflow_is_full(const vidi__overflow *overflow)
{
    return 5 * (overflow->used + 1) > 4 * overflow->room;
}

/* Prefetches the home of a hash. */
static inline void vidi__overflow_prefetch(const vidi__overflow *overflow, uint64_t hash)
{
    if (overflow->room)
        __builtin_prefetch(vidi__overflow_at(overflow->entries, vidi__overflow_home(overflow, hash)), 1);
}

/* How often the hash is in the table: 0 or 1, or more in a multiset. */
uint64_t vidi__overflow_times(const vidi__overflow *overflow, uint64_t hash);

/* Inserts the hash `times` times; *fresh tells whether it was absent before. An error leaves the table unchanged. */
int vidi__overflow_insert(vidi__overflow *overflow, vidi__slabs *slabs, bool multiset, uint64_t hash, uint64_t times,
                          bool *fresh);

/* Removes one occurrence; false if there is none. *last tells whether it was the only one. */
bool vidi__overflow_remove(vidi__overflow *overflow, uint64_t hash, bool *last);

/* Creates an empty table of at most a block in memory that the caller owns: `entries` is a list of one address. */
void vidi__overflow_place(vidi__overflow *overflow, uint64_t **entries, uint64_t room);

/* Makes a copy, in place of an empty table, of one that belongs to no multiset. */
int vidi__overflow_copy(vidi__overflow *copy, const vidi__overflow *overflow, vidi__slabs *slabs);

/* Changes the number of entries to `room`, which must be larger than `used`. */
int vidi__overflow_resize(vidi__overflow *overflow, vidi__slabs *slabs, bool multiset, uint64_t room);
void vidi__overflow_free(vidi__overflow *overflow, vidi__slabs *slabs);
uint64_t vidi__overflow_bytes(const vidi__overflow *overflow);

/*
 * Visits the hashes in table order. The walk starts after a free entry and wraps around, so inserting the hashes in
 * this order into a table of the same size reproduces it. Set *at to VIDI__OVERFLOW_EMPTY before the first call; the
 * result is false after the last hash.
 */
bool vidi__overflow_each(const vidi__overflow *overflow, uint64_t *at, uint64_t *left);

/*
 * Saved are all entries in table order, with 2^64-1 for a free one; then, in a multiset, the times of all entries, with
 * 0 for a free one. Loading expects `room` and `used` to be set, and borrows or copies the entries. Verification checks
 * that every entry is below `range` and reachable from its home, and that `used` is their number.
 */
int vidi__overflow_save(const vidi__overflow *overflow, vidi__writer *writer);
int vidi__overflow_load(vidi__overflow *overflow, vidi__slabs *slabs, bool multiset, vidi__reader *reader);
int vidi__overflow_verify(const vidi__overflow *overflow, uint64_t range);

#endif
