/*
 * The stage: what was answered but is not in the filter yet, in the order of the answers.
 *
 * A bit that was set in a filter cannot be taken back. So the filter of a durable set holds committed URLs only, and what
 * was added since waits here: until it is committed, and, while a snapshot of the filter is being written, until that
 * is done. A question goes to the filter and then here; whatever is here changes the filter's answer by `delta`.
 *
 *     steps    add a, add b, remove c, add d, …        applied to the filter in this order, and dropped
 *              |<-- logged -->|
 *     index    hash of a: +1, b: +1, c: -1, d: +1      what the steps come to, URL by URL
 *
 * Steps have numbers that never repeat, so that who waited for the disk finds its own again. Not safe for several
 * threads at once.
 */
#ifndef VIDI_DURABLE_STAGING_H
#define VIDI_DURABLE_STAGING_H

#include "base/memory.h"
#include "hash/hash.h"

typedef enum vidi__step_kind { VIDI__STEP_NONE, VIDI__STEP_ADD, VIDI__STEP_REMOVE } vidi__step_kind;

typedef struct vidi__stage_slot {
    uint32_t step; /* the first step of this URL, from 1; 0: empty */
    int32_t delta;
} vidi__stage_slot;

typedef struct vidi__stage {
    vidi__memory *memory;
    bool keeps_bytes;    /* the URLs themselves, besides their hashes */
    uint64_t first;      /* number of the first step that is here */
    uint64_t count;      /* steps that are here */
    uint64_t logged;     /* of them, in the log */
    int64_t net;         /* URLs that they add to the filter, less those that they take away */
    uint64_t room;       /* for steps */
    unsigned char *kind; /* vidi__step_kind of each */
    vidi__u128 *hash;    /* of each */
    uint64_t *end;       /* of each: where its bytes end, which begin where those of the step before end */
    char *bytes;
    uint64_t bytes_room;
    vidi__stage_slot *slots;
    uint64_t slot_count, slots_used; /* a power of two; at most half of them */
} vidi__stage;

void vidi__stage_init(vidi__stage *stage, vidi__memory *memory, bool keeps_bytes);
void vidi__stage_free(vidi__stage *stage);

/* Room for so many more steps with so many bytes together, so that vidi__stage_add cannot fail. */
int vidi__stage_reserve(vidi__stage *stage, uint64_t steps, uint64_t bytes);

/* By how much the steps change the number of times that the URL is in the filter. */
int32_t vidi__stage_delta(const vidi__stage *stage, vidi__u128 hash);

/* Brings the place where the hash is looked for into the cache. */
static inline void vidi__stage_prefetch(const vidi__stage *stage, vidi__u128 hash)
{
    if (stage->slots)
        __builtin_prefetch(&stage->slots[hash.lo & (stage->slot_count - 1)]);
}

/* The next step. There must be room. */
void vidi__stage_add(vidi__stage *stage, vidi__step_kind kind, vidi__u128 hash, vidi_str url);

/* Takes the steps from number `from` up to but not including `to` back, as far as they are still here. */
void vidi__stage_undo(vidi__stage *stage, uint64_t from, uint64_t to);

/* Drops the first steps: the filter has them now. After a rush it gives memory back. */
void vidi__stage_drop(vidi__stage *stage, uint64_t steps);

/* Gives all memory back if there are no steps. */
void vidi__stage_trim(vidi__stage *stage);

/* The bytes of the i-th step that is here. */
static inline vidi_str vidi__stage_url(const vidi__stage *stage, uint64_t i)
{
    if (!stage->keeps_bytes)
        return (vidi_str){NULL, 0};
    uint64_t begin = i ? stage->end[i - 1] : 0;
    return (vidi_str){stage->bytes + begin, (size_t)(stage->end[i] - begin)};
}

static inline uint64_t vidi__stage_next(const vidi__stage *stage)
{
    return stage->first + stage->count;
}

#endif
