/* See staging.h. */
#include "durable/staging.h"

#define SLOTS_LEAST 64
#define STEPS_MOST (UINT64_C(1) << 31) /* numbers of steps and deltas are 32-bit */
/* An index of more slots than that, of which not even one in so many was used, is too large to be cleared each time. */
#define SLOTS_KEEP 65536
#define SLOTS_IDLE 32
/* Slots that are on their way to the cache while the index is built. */
#define INDEX_AHEAD 16

void vidi__stage_init(vidi__stage *stage, vidi__memory *memory, bool keeps_bytes)
{
    *stage = (vidi__stage){.memory = memory, .keeps_bytes = keeps_bytes};
}

static void free_slots(vidi__stage *stage)
{
    vidi__release(stage->memory, stage->slots, stage->slot_count * sizeof *stage->slots, _Alignof(vidi__stage_slot));
    stage->slots = NULL;
    stage->slot_count = stage->slots_used = 0;
}

void vidi__stage_free(vidi__stage *stage)
{
    if (!stage->memory)
        return;
    vidi__release(stage->memory, stage->kind, stage->room, 1);
    vidi__release(stage->memory, stage->hash, stage->room * sizeof *stage->hash, _Alignof(vidi__u128));
    if (stage->keeps_bytes)
        vidi__release(stage->memory, stage->end, stage->room * sizeof *stage->end, _Alignof(uint64_t));
    vidi__release(stage->memory, stage->bytes, stage->bytes_room, 1);
    free_slots(stage);
    vidi__stage_init(stage, stage->memory, stage->keeps_bytes);
}

static uint64_t bytes_used(const vidi__stage *stage)
{
    return stage->keeps_bytes && stage->count ? stage->end[stage->count - 1] : 0;
}

/* ---- the index ---- */

/* Where the hash is, or the empty slot where it would go. At least half of the slots are empty. */
static vidi__stage_slot *find(const vidi__stage *stage, vidi__u128 hash)
{
    uint64_t mask = stage->slot_count - 1;
    for (uint64_t at = hash.lo & mask;; at = (at + 1) & mask) {
        vidi__stage_slot *slot = &stage->slots[at];
        if (!slot->step)
            return slot;
        const vidi__u128 *there = &stage->hash[slot->step - 1];
        if (there->lo == hash.lo && there->hi == hash.hi)
            return slot;
    }
}

static void count_step(vidi__stage *stage, uint64_t i, int32_t delta)
{
    vidi__stage_slot *slot = find(stage, stage->hash[i]);
    if (!slot->step) {
        slot->step = (uint32_t)i + 1;
        stage->slots_used++;
    }
    slot->delta += delta;
    stage->net += delta;
}

static int32_t delta_of(unsigned char kind)
{
    return kind == VIDI__STEP_ADD ? 1 : kind == VIDI__STEP_REMOVE ? -1 : 0;
}

static void build_index(vidi__stage *stage)
{
    stage->slots_used = 0;
    stage->net = 0;
    if (!stage->slots) /* then there are no steps either */
        return;
    memset(stage->slots, 0, stage->slot_count * sizeof *stage->slots);
    for (uint64_t i = 0; i < stage->count; i++) {
        if (i + INDEX_AHEAD < stage->count)
            vidi__stage_prefetch(stage, stage->hash[i + INDEX_AHEAD]);
        if (stage->kind[i] != VIDI__STEP_NONE)
            count_step(stage, i, delta_of(stage->kind[i]));
    }
}

static int reserve_slots(vidi__stage *stage, uint64_t steps)
{
    uint64_t wanted = stage->slot_count ? stage->slot_count : SLOTS_LEAST;
    while (wanted < 2 * (stage->slots_used + steps))
        wanted *= 2;
    if (wanted == stage->slot_count)
        return VIDI_OK;
    vidi__stage_slot *slots;
    VIDI__TRY(vidi__alloc_zeroed(stage->memory, &slots, wanted * sizeof *slots, _Alignof(vidi__stage_slot)));
    free_slots(stage);
    stage->slots = slots;
    stage->slot_count = wanted;
    build_index(stage);
    return VIDI_OK;
}

/* ---- steps ---- */

/* Each array grows on its own; `room` follows when all have. So an array may be larger than it says after an error… */
static int reserve_steps(vidi__stage *stage, uint64_t steps)
{
    uint64_t needed = stage->count + steps, room = stage->room ? stage->room : 64;
    if (needed <= stage->room)
        return VIDI_OK;
    while (room < needed)
        room *= 2;
    /* … which is why all are allocated before the first is changed. */
    unsigned char *kind = NULL;
    vidi__u128 *hash = NULL;
    uint64_t *end = NULL, end_bytes = stage->keeps_bytes ? room * sizeof *end : 0;
    int code = vidi__alloc(stage->memory, &kind, room, 1);
    if (code == VIDI_OK)
        code = vidi__alloc(stage->memory, &hash, room * sizeof *hash, _Alignof(vidi__u128));
    if (code == VIDI_OK)
        code = vidi__alloc(stage->memory, &end, end_bytes, _Alignof(uint64_t));
    if (code < 0) {
        vidi__release(stage->memory, kind, room, 1);
        vidi__release(stage->memory, hash, room * sizeof *hash, _Alignof(vidi__u128));
        return code;
    }
    if (stage->count && kind && hash) {
        memcpy(kind, stage->kind, stage->count);
        memcpy(hash, stage->hash, stage->count * sizeof *hash);
        if (end)
            memcpy(end, stage->end, stage->count * sizeof *end);
    }
    vidi__release(stage->memory, stage->kind, stage->room, 1);
    vidi__release(stage->memory, stage->hash, stage->room * sizeof *hash, _Alignof(vidi__u128));
    if (stage->keeps_bytes)
        vidi__release(stage->memory, stage->end, stage->room * sizeof *end, _Alignof(uint64_t));
    stage->kind = kind;
    stage->hash = hash;
    stage->end = end;
    stage->room = room;
    return VIDI_OK;
}

static int reserve_bytes(vidi__stage *stage, uint64_t bytes)
{
    uint64_t needed = bytes_used(stage) + bytes, room = stage->bytes_room ? stage->bytes_room : 4096;
    if (!stage->keeps_bytes || needed <= stage->bytes_room)
        return VIDI_OK;
    while (room < needed)
        room *= 2;
    VIDI__TRY(vidi__regrow(stage->memory, &stage->bytes, stage->bytes_room, room, 1));
    stage->bytes_room = room;
    return VIDI_OK;
}

int vidi__stage_reserve(vidi__stage *stage, uint64_t steps, uint64_t bytes)
{
    if (stage->count + steps > STEPS_MOST)
        return vidi__fail(VIDI_ELIMIT, "too many URLs wait for a commit; commit more often");
    VIDI__TRY(reserve_steps(stage, steps));
    VIDI__TRY(reserve_bytes(stage, bytes));
    return reserve_slots(stage, steps);
}

int32_t vidi__stage_delta(const vidi__stage *stage, vidi__u128 hash)
{
    if (!stage->count)
        return 0;
    const vidi__stage_slot *slot = find(stage, hash);
    return slot->step ? slot->delta : 0;
}

void vidi__stage_add(vidi__stage *stage, vidi__step_kind kind, vidi__u128 hash, vidi_str url)
{
    uint64_t i = stage->count;
    stage->kind[i] = (unsigned char)kind;
    stage->hash[i] = hash;
    if (stage->keeps_bytes) {
        uint64_t begin = bytes_used(stage);
        if (url.len)
            memcpy(stage->bytes + begin, url.ptr, url.len);
        stage->end[i] = begin + url.len;
    }
    stage->count++;
    count_step(stage, i, delta_of((unsigned char)kind));
}

void vidi__stage_undo(vidi__stage *stage, uint64_t from, uint64_t to)
{
    for (uint64_t number = from < stage->first ? stage->first : from; number < to; number++) {
        uint64_t i = number - stage->first;
        if (i >= stage->count)
            break;
        count_step(stage, i, -delta_of(stage->kind[i]));
        stage->kind[i] = VIDI__STEP_NONE;
    }
}

void vidi__stage_trim(vidi__stage *stage)
{
    uint64_t first = stage->first;
    if (stage->count)
        return;
    vidi__stage_free(stage);
    stage->first = first;
}

/* If there is no memory for a smaller index, the large one serves. */
static void shrink_slots(vidi__stage *stage)
{
    vidi__stage_slot *slots;
    uint64_t wanted = SLOTS_LEAST;
    while (wanted < 4 * stage->count)
        wanted *= 2;
    if (wanted >= stage->slot_count ||
        vidi__alloc_zeroed(stage->memory, &slots, wanted * sizeof *slots, _Alignof(vidi__stage_slot)) < 0)
        return;
    free_slots(stage);
    stage->slots = slots;
    stage->slot_count = wanted;
}

void vidi__stage_drop(vidi__stage *stage, uint64_t steps)
{
    uint64_t left = stage->count - steps;
    bool idle = stage->slot_count > SLOTS_KEEP && stage->slots_used < stage->slot_count / SLOTS_IDLE;
    if (!steps)
        return;
    if (left) {
        if (stage->keeps_bytes) {
            uint64_t cut = stage->end[steps - 1];
            memmove(stage->bytes, stage->bytes + cut, bytes_used(stage) - cut);
            for (uint64_t i = 0; i < left; i++)
                stage->end[i] = stage->end[steps + i] - cut;
        }
        memmove(stage->kind, stage->kind + steps, left);
        memmove(stage->hash, stage->hash + steps, left * sizeof *stage->hash);
    }
    stage->first += steps;
    stage->count = left;
    stage->logged = stage->logged > steps ? stage->logged - steps : 0;
    if (idle && !left)
        vidi__stage_trim(stage);
    else if (idle)
        shrink_slots(stage);
    build_index(stage);
}
