/* See staging.h. */
#include "durable/staging.h"

#define SLOTS_LEAST 64
#define OPERATIONS_MOST (UINT64_C(1) << 31) /* the index and deltas have 32 bits */
/*
 * An index with more slots than SLOTS_KEEP, of which fewer than one in SLOTS_IDLE is used, is too large to clear each
 * time.
 */
#define SLOTS_KEEP 65536
#define SLOTS_IDLE 32
/* Slots are prefetched for so many operations ahead while the index is built. */
#define INDEX_AHEAD 16

void vidi__staging_init(vidi__staging *staging, vidi__memory *memory, bool keeps_bytes)
{
    *staging = (vidi__staging){.memory = memory, .keeps_bytes = keeps_bytes};
}

static void free_slots(vidi__staging *staging)
{
    vidi__release(staging->memory, staging->slots, staging->slot_count * sizeof *staging->slots,
                  _Alignof(vidi__staging_slot));
    staging->slots = NULL;
    staging->slot_count = staging->slots_used = 0;
}

void vidi__staging_free(vidi__staging *staging)
{
    if (!staging->memory)
        return;
    vidi__release(staging->memory, staging->kind, staging->room, 1);
    vidi__release(staging->memory, staging->hash, staging->room * sizeof *staging->hash, _Alignof(vidi__u128));
    if (staging->keeps_bytes)
        vidi__release(staging->memory, staging->end, staging->room * sizeof *staging->end, _Alignof(uint64_t));
    vidi__release(staging->memory, staging->bytes, staging->bytes_room, 1);
    free_slots(staging);
    vidi__staging_init(staging, staging->memory, staging->keeps_bytes);
}

static uint64_t bytes_used(const vidi__staging *staging)
{
    return staging->keeps_bytes && staging->count ? staging->end[staging->count - 1] : 0;
}

/* ---- the index ---- */

static void count_at(vidi__staging *staging, vidi__staging_slot *slot, uint64_t i, int32_t delta)
{
    if (!slot->operation) {
        slot->operation = (uint32_t)i + 1;
        staging->slots_used++;
    }
    slot->delta += delta;
    staging->net += delta;
}

static void count_operation(vidi__staging *staging, uint64_t i, int32_t delta)
{
    count_at(staging, vidi__staging_find(staging, staging->hash[i]), i, delta);
}

static int32_t delta_of(unsigned char kind)
{
    return kind == VIDI__OP_ADD ? 1 : kind == VIDI__OP_REMOVE ? -1 : 0;
}

static void build_index(vidi__staging *staging)
{
    staging->slots_used = 0;
    staging->net = 0;
    if (!staging->slots) /* then there are no operations either */
        return;
    memset(staging->slots, 0, staging->slot_count * sizeof *staging->slots);
    for (uint64_t i = 0; i < staging->count; i++) {
        if (i + INDEX_AHEAD < staging->count)
            vidi__staging_prefetch(staging, staging->hash[i + INDEX_AHEAD]);
        if (staging->kind[i] != VIDI__OP_NONE)
            count_operation(staging, i, delta_of(staging->kind[i]));
    }
}

static int reserve_slots(vidi__staging *staging, uint64_t operations)
{
    uint64_t wanted = staging->slot_count ? staging->slot_count : SLOTS_LEAST;
    while (wanted < 2 * (staging->slots_used + operations))
        wanted *= 2;
    if (wanted == staging->slot_count)
        return VIDI_OK;
    vidi__staging_slot *slots;
    VIDI__TRY(vidi__alloc_zeroed(staging->memory, &slots, wanted * sizeof *slots, _Alignof(vidi__staging_slot)));
    free_slots(staging);
    staging->slots = slots;
    staging->slot_count = wanted;
    build_index(staging);
    return VIDI_OK;
}

/* ---- operations ---- */

/* All arrays are allocated before the first one is changed, so an error leaves the staging area as it was. */
static int reserve_operations(vidi__staging *staging, uint64_t operations)
{
    uint64_t needed = staging->count + operations, room = staging->room ? staging->room : 64;
    if (needed <= staging->room)
        return VIDI_OK;
    while (room < needed)
        room *= 2;
    unsigned char *kind = NULL;
    vidi__u128 *hash = NULL;
    uint64_t *end = NULL, end_bytes = staging->keeps_bytes ? room * sizeof *end : 0;
    int code = vidi__alloc(staging->memory, &kind, room, 1);
    if (code == VIDI_OK)
        code = vidi__alloc(staging->memory, &hash, room * sizeof *hash, _Alignof(vidi__u128));
    if (code == VIDI_OK)
        code = vidi__alloc(staging->memory, &end, end_bytes, _Alignof(uint64_t));
    if (code < 0) {
        vidi__release(staging->memory, kind, room, 1);
        vidi__release(staging->memory, hash, room * sizeof *hash, _Alignof(vidi__u128));
        return code;
    }
    if (staging->count && kind && hash) {
        memcpy(kind, staging->kind, staging->count);
        memcpy(hash, staging->hash, staging->count * sizeof *hash);
        if (end)
            memcpy(end, staging->end, staging->count * sizeof *end);
    }
    vidi__release(staging->memory, staging->kind, staging->room, 1);
    vidi__release(staging->memory, staging->hash, staging->room * sizeof *hash, _Alignof(vidi__u128));
    if (staging->keeps_bytes)
        vidi__release(staging->memory, staging->end, staging->room * sizeof *end, _Alignof(uint64_t));
    staging->kind = kind;
    staging->hash = hash;
    staging->end = end;
    staging->room = room;
    return VIDI_OK;
}

static int reserve_bytes(vidi__staging *staging, uint64_t bytes)
{
    uint64_t needed = bytes_used(staging) + bytes, room = staging->bytes_room ? staging->bytes_room : 4096;
    if (!staging->keeps_bytes || needed <= staging->bytes_room)
        return VIDI_OK;
    while (room < needed)
        room *= 2;
    VIDI__TRY(vidi__regrow(staging->memory, &staging->bytes, staging->bytes_room, room, 1));
    staging->bytes_room = room;
    return VIDI_OK;
}

int vidi__staging_reserve(vidi__staging *staging, uint64_t operations, uint64_t bytes)
{
    if (staging->count + operations > OPERATIONS_MOST)
        return vidi__fail(VIDI_ELIMIT, "too many URLs wait for a commit; commit more often");
    VIDI__TRY(reserve_operations(staging, operations));
    VIDI__TRY(reserve_bytes(staging, bytes));
    return reserve_slots(staging, operations);
}

int32_t vidi__staging_delta(const vidi__staging *staging, vidi__u128 hash)
{
    if (!staging->count)
        return 0;
    const vidi__staging_slot *slot = vidi__staging_find(staging, hash);
    return slot->operation ? slot->delta : 0;
}

static void store_bytes(vidi__staging *staging, uint64_t i, vidi_str url)
{
    uint64_t begin = bytes_used(staging);
    if (url.len)
        memcpy(staging->bytes + begin, url.ptr, url.len);
    staging->end[i] = begin + url.len;
}

void vidi__staging_add_at(vidi__staging *staging, vidi__staging_slot *slot, vidi__operation kind, vidi__u128 hash,
                          vidi_str url)
{
    uint64_t i = staging->count;
    staging->kind[i] = (unsigned char)kind;
    staging->hash[i] = hash;
    if (staging->keeps_bytes)
        store_bytes(staging, i, url);
    staging->count++;
    count_at(staging, slot, i, delta_of((unsigned char)kind));
}

void vidi__staging_add(vidi__staging *staging, vidi__operation kind, vidi__u128 hash, vidi_str url)
{
    vidi__staging_add_at(staging, vidi__staging_find(staging, hash), kind, hash, url);
}

uint64_t vidi__staging_undo(vidi__staging *staging, uint64_t from, uint64_t to)
{
    uint64_t undone = 0;
    for (uint64_t number = from < staging->first ? staging->first : from; number < to; number++) {
        uint64_t i = number - staging->first;
        if (i >= staging->count)
            break;
        if (staging->kind[i] == VIDI__OP_NONE)
            continue;
        count_operation(staging, i, -delta_of(staging->kind[i]));
        staging->kind[i] = VIDI__OP_NONE;
        undone++;
    }
    return undone;
}

void vidi__staging_trim(vidi__staging *staging)
{
    uint64_t first = staging->first;
    if (staging->count)
        return;
    vidi__staging_free(staging);
    staging->first = first;
}

/* If there is no memory for a smaller index, the large one serves. */
static void shrink_slots(vidi__staging *staging)
{
    vidi__staging_slot *slots;
    uint64_t wanted = SLOTS_LEAST;
    while (wanted < 4 * staging->count)
        wanted *= 2;
    if (wanted >= staging->slot_count ||
        vidi__alloc_zeroed(staging->memory, &slots, wanted * sizeof *slots, _Alignof(vidi__staging_slot)) < 0)
        return;
    free_slots(staging);
    staging->slots = slots;
    staging->slot_count = wanted;
}

void vidi__staging_drop(vidi__staging *staging, uint64_t operations)
{
    uint64_t left = staging->count - operations;
    bool idle = staging->slot_count > SLOTS_KEEP && staging->slots_used < staging->slot_count / SLOTS_IDLE;
    if (!operations)
        return;
    if (left) {
        if (staging->keeps_bytes) {
            uint64_t cut = staging->end[operations - 1];
            memmove(staging->bytes, staging->bytes + cut, bytes_used(staging) - cut);
            for (uint64_t i = 0; i < left; i++)
                staging->end[i] = staging->end[operations + i] - cut;
        }
        memmove(staging->kind, staging->kind + operations, left);
        memmove(staging->hash, staging->hash + operations, left * sizeof *staging->hash);
    }
    staging->first += operations;
    staging->count = left;
    staging->logged = staging->logged > operations ? staging->logged - operations : 0;
    if (idle && !left)
        vidi__staging_trim(staging);
    else if (idle)
        shrink_slots(staging);
    build_index(staging);
}
