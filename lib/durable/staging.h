/*
 * The staging area: adds and removals that were answered but are not in the filter yet, in the order of the answers.
 *
 * A bit that was set in a filter cannot be taken back. So the filter of a durable set holds committed URLs only, and
 * operations wait here: until they are committed, and, while a snapshot of the filter is being written, until that is
 * done. A lookup asks the filter and then this table; `delta` corrects the filter's answer.
 *
 *     operations   add a, add b, remove c, add d, …        applied to the filter in this order, and dropped
 *                  |<-- logged -->|
 *     index        hash of a: +1, b: +1, c: -1, d: +1      the sum of the operations for each URL
 *
 * Operations have numbers that never repeat, so a caller that has waited for the disk finds its own again. Not safe for
 * several threads at once.
 */
#ifndef VIDI_DURABLE_STAGING_H
#define VIDI_DURABLE_STAGING_H

#include "base/memory.h"
#include "hash/hash.h"

typedef enum vidi__operation { VIDI__OP_NONE, VIDI__OP_ADD, VIDI__OP_REMOVE } vidi__operation;

typedef struct vidi__staging_slot {
    uint32_t operation; /* index of the URL's first operation, plus 1; 0: empty */
    int32_t delta;
} vidi__staging_slot;

typedef struct vidi__staging {
    vidi__memory *memory;
    bool keeps_bytes;    /* keeps the URLs themselves, besides their hashes */
    uint64_t first;      /* number of the first operation that is here */
    uint64_t count;      /* operations that are here */
    uint64_t logged;     /* how many of them are in the log */
    int64_t net;         /* URLs that they add to the filter, minus those that they remove */
    uint64_t room;       /* for operations */
    unsigned char *kind; /* vidi__operation of each */
    vidi__u128 *hash;    /* of each */
    uint64_t *end;       /* of each: where its bytes end; they begin where those of the operation before end */
    char *bytes;
    uint64_t bytes_room;
    vidi__staging_slot *slots;
    uint64_t slot_count, slots_used; /* slot_count is a power of two; at most half of the slots are used */
} vidi__staging;

void vidi__staging_init(vidi__staging *staging, vidi__memory *memory, bool keeps_bytes);
void vidi__staging_free(vidi__staging *staging);

/* Makes room for this many more operations, with this many bytes together, so that vidi__staging_add cannot fail. */
int vidi__staging_reserve(vidi__staging *staging, uint64_t operations, uint64_t bytes);
/* The same, but fails unless as much memory as the staging area takes is left afterwards: the filter will need it. */
int vidi__staging_reserve_for_filter(vidi__staging *staging, uint64_t operations, uint64_t bytes);

/* The memory that it takes. */
uint64_t vidi__staging_bytes(const vidi__staging *staging);

/*
 * The slot of the hash, or the empty slot where it would go. At least half of the slots are empty. There must be slots:
 * there are as long as there are operations, or room for them.
 */
static inline vidi__staging_slot *vidi__staging_find(const vidi__staging *staging, vidi__u128 hash)
{
    uint64_t mask = staging->slot_count - 1;
    for (uint64_t at = hash.lo & mask;; at = (at + 1) & mask) {
        vidi__staging_slot *slot = &staging->slots[at];
        if (!slot->operation)
            return slot;
        const vidi__u128 *there = &staging->hash[slot->operation - 1];
        if (there->lo == hash.lo && there->hi == hash.hi)
            return slot;
    }
}

/* By how much the operations change the number of times that the URL is in the filter. */
int32_t vidi__staging_delta(const vidi__staging *staging, vidi__u128 hash);

/* Prefetches the slot where the hash would be. */
static inline void vidi__staging_prefetch(const vidi__staging *staging, vidi__u128 hash)
{
    if (staging->slots)
        __builtin_prefetch(&staging->slots[hash.lo & (staging->slot_count - 1)]);
}

/* Adds an operation. There must be room. `slot` is that of its hash. */
void vidi__staging_add_at(vidi__staging *staging, vidi__staging_slot *slot, vidi__operation kind, vidi__u128 hash,
                          vidi_str url);
void vidi__staging_add(vidi__staging *staging, vidi__operation kind, vidi__u128 hash, vidi_str url);

/*
 * Undoes the operations from number `from` up to but not including `to`, as far as they are still here. Returns how
 * many that were.
 */
uint64_t vidi__staging_undo(vidi__staging *staging, uint64_t from, uint64_t to);

/* Drops the first operations, which the filter has now. Frees memory after a burst, and if the limit is near. */
void vidi__staging_drop(vidi__staging *staging, uint64_t operations);

/* Frees all memory if there are no operations. */
void vidi__staging_trim(vidi__staging *staging);

/* The bytes of the i-th operation that is here. */
static inline vidi_str vidi__staging_url(const vidi__staging *staging, uint64_t i)
{
    if (!staging->keeps_bytes)
        return (vidi_str){NULL, 0};
    uint64_t begin = i ? staging->end[i - 1] : 0;
    return (vidi_str){staging->bytes + begin, (size_t)(staging->end[i] - begin)};
}

/* The bytes of n operations from the i-th on. */
static inline void vidi__staging_urls(const vidi__staging *staging, uint64_t i, size_t n, vidi_str *urls)
{
    for (size_t j = 0; j < n; j++)
        urls[j] = vidi__staging_url(staging, i + j);
}

/* The number that the next operation will have. */
static inline uint64_t vidi__staging_next(const vidi__staging *staging)
{
    return staging->first + staging->count;
}

#endif
