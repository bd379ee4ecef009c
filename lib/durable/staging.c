/* See staging.h. */
#include "durable/staging.h"

#define SLOTS_LEAST 64
#define OPERATIONS_LEAST 64
#define BYTES_LEAST 4096
#define OPERATIONS_MOST (UINT64_C(1) << 31) /* the index and deltas have 32 bits */
/*
 * An index with more slots than SLOTS_KEEP, of which fewer than one in SLOTS_IDLE is used, is too large to clear each
 * time.
 */
#define SLOTS_KEEP 65536
#define SLOTS_IDLE 32
/* After a burst, a staging area that takes more than this part of the memory limit gives back what it does not need. */
#define KEEP_SHARE 64
/* Slots are prefetched for this many operations ahead while the index is built. */
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

static int resize_slots(vidi__staging *staging, uint64_t count)
{
    vidi__staging_slot *slots;
    if (count == staging->slot_count)
        return VIDI_OK;
    VIDI__TRY(vidi__alloc_zeroed(staging->memory, &slots, count * sizeof *slots, _Alignof(vidi__staging_slot)));
    free_slots(staging);
    staging->slots = slots;
    staging->slot_count = count;
    build_index(staging);
    return VIDI_OK;
}

/* ---- operations ---- */

/* Room for at least `needed`, doubling from `room`, or from `least` if that is 0. */
static uint64_t grown(uint64_t room, uint64_t needed, uint64_t least)
{
    room = room ? room : least;
    while (room < needed)
        room *= 2;
    return room;
}

static uint64_t operation_bytes(const vidi__staging *staging)
{
    return 1 + sizeof *staging->hash + (staging->keeps_bytes ? sizeof *staging->end : 0);
}

uint64_t vidi__staging_bytes(const vidi__staging *staging)
{
    return staging->room * operation_bytes(staging) + staging->bytes_room +
           staging->slot_count * sizeof *staging->slots;
}

/*
 * Changes the room for operations. All arrays are allocated before the first one is changed, so an error leaves the
 * staging area as it was.
 */
static int resize_operations(vidi__staging *staging, uint64_t room)
{
    unsigned char *kind = NULL;
    vidi__u128 *hash = NULL;
    uint64_t *end = NULL, end_bytes = staging->keeps_bytes ? room * sizeof *end : 0;
    if (room == staging->room)
        return VIDI_OK;
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

static int resize_bytes(vidi__staging *staging, uint64_t room)
{
    char *bytes;
    if (room == staging->bytes_room)
        return VIDI_OK;
    VIDI__TRY(vidi__alloc(staging->memory, &bytes, room, 1));
    if (staging->bytes)
        memcpy(bytes, staging->bytes, bytes_used(staging));
    vidi__release(staging->memory, staging->bytes, staging->bytes_room, 1);
    staging->bytes = bytes;
    staging->bytes_room = room;
    return VIDI_OK;
}

/* The sizes that the arrays need for this many more operations, with this many bytes together. */
typedef struct rooms {
    uint64_t operations, bytes, slots;
} rooms;

static rooms rooms_for(const vidi__staging *staging, uint64_t operations, uint64_t bytes)
{
    rooms wanted = {.operations = grown(staging->room, staging->count + operations, OPERATIONS_LEAST),
                    .slots = grown(staging->slot_count, 2 * (staging->slots_used + operations), SLOTS_LEAST)};
    if (staging->keeps_bytes)
        wanted.bytes = grown(staging->bytes_room, bytes_used(staging) + bytes, BYTES_LEAST);
    return wanted;
}

int vidi__staging_reserve(vidi__staging *staging, uint64_t operations, uint64_t bytes)
{
    if (staging->count + operations > OPERATIONS_MOST)
        return vidi__fail(VIDI_ELIMIT, "too many URLs wait for a commit; commit more often");
    rooms wanted = rooms_for(staging, operations, bytes);
    VIDI__TRY(resize_operations(staging, wanted.operations));
    VIDI__TRY(resize_bytes(staging, wanted.bytes));
    return resize_slots(staging, wanted.slots);
}

int vidi__staging_reserve_for_filter(vidi__staging *staging, uint64_t operations, uint64_t bytes)
{
    rooms wanted = rooms_for(staging, operations, bytes);
    vidi__staging then = {.keeps_bytes = staging->keeps_bytes,
                          .room = wanted.operations,
                          .bytes_room = wanted.bytes,
                          .slot_count = wanted.slots};
    uint64_t now = vidi__staging_bytes(staging), grows_to = vidi__staging_bytes(&then);
    int code = grows_to > now ? vidi__memory_check(staging->memory, 2 * grows_to) : VIDI_OK;
    if (code < 0 && staging->count > staging->logged)
        return vidi__fail(
            VIDI_ELIMIT, "the memory limit of %s leaves no room for more URLs while %llu wait for a commit",
            vidi__human_bytes(staging->memory->limit).text, (unsigned long long)(staging->count - staging->logged));
    return code < 0 ? code : vidi__staging_reserve(staging, operations, bytes);
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

/* Frees what is far more than the operations need. Without memory for smaller arrays, the large ones stay. */
static void shrink(vidi__staging *staging)
{
    uint64_t room = grown(0, 2 * staging->count, OPERATIONS_LEAST), slots = grown(0, 4 * staging->count, SLOTS_LEAST);
    uint64_t bytes = staging->keeps_bytes ? grown(0, 2 * bytes_used(staging), BYTES_LEAST) : 0;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    if (slots < staging->slot_count)
        (void)resize_slots(staging, slots);
    if (room < staging->room)
        (void)resize_operations(staging, room);
    if (bytes < staging->bytes_room)
        (void)resize_bytes(staging, bytes);
    vidi__quiet_end(&quiet, VIDI_OK);
}

void vidi__staging_drop(vidi__staging *staging, uint64_t operations)
{
    uint64_t left = staging->count - operations;
    bool idle = staging->slot_count > SLOTS_KEEP && staging->slots_used < staging->slot_count / SLOTS_IDLE;
    bool large = vidi__staging_bytes(staging) > staging->memory->limit / KEEP_SHARE;
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
    if (!left && (idle || large))
        vidi__staging_trim(staging);
    build_index(staging);
    if (left && (idle || large))
        shrink(staging);
}
