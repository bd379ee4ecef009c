/*
 * Lanes: adds that the filter has taken, on their way to the log.
 *
 *     thread ── lane ──┐
 *     thread ── lane ──┼── one record each ── log
 *     thread ── lane ──┘
 *
 * Threads that add one URL at a time would meet at the log's lock with every URL. So each has a lane of its own, which
 * it takes to the log when that has enough for a record. What is left is taken there by the log's thread before it
 * writes, within 100 ms of the first add, or by whoever must have everything in the log: those that sync, or that are
 * alone in the set.
 *
 * - An add holds the lock of its lane from before it goes to the filter until it is in the lane.
 * - A lane has room for a record reserved in the log, so no add that the filter has taken can fail to be logged.
 * - While somebody is alone in the set, all lanes are empty, so no record that others write overtakes them.
 * - Whoever takes all lanes to the log has all of them locked, and gives the last record a tally: of what lanes bring, it
 *   counts what comes before it and in it, and no more. A batch that goes to the log itself may be counted a moment
 *   before it is there. Other records of lanes have none.
 *
 * Locks: that of a lane, then the log's. Nobody waits for the disk while holding a lane.
 */
#include "durable/durable.h"

struct vidi__lane {
    vidi__mutex lock;
    uint32_t count, used; /* operations, and their bytes */
    vidi__open_log *log;  /* where room is reserved for them; NULL: nowhere, and the lane is empty */
    vidi__lane *next;
    unsigned char list[VIDI__LANE_BYTES];
};

/* Makes the slot's lane. NULL if there is no memory for it. */
static __attribute__((noinline)) vidi__lane *make_lane(vidi_set *set, vidi__slot *slot)
{
    vidi__lane *lane = vidi__alloc_if_possible(&set->memory, sizeof *lane);
    vidi__lane *_Atomic *lanes = &set->durable->lanes;
    if (!lane)
        return NULL;
    lane->next = atomic_load_explicit(lanes, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(lanes, &lane->next, lane, memory_order_release, memory_order_relaxed))
        continue;
    slot->lane = lane;
    return lane;
}

/* Takes a lane, which is locked, to the log. */
static void empty(vidi_set *set, vidi__lane *lane, bool with_tally)
{
    if (lane->count)
        vidi__record_append_list(set, lane->log, (vidi_str){(const char *)lane->list, lane->used}, with_tally);
    else if (lane->log)
        vidi__log_unreserve(lane->log->log, VIDI__LANE_ROOM);
    lane->count = lane->used = 0;
    lane->log = NULL;
}

vidi__lane *vidi__lane_begin(vidi_set *set, vidi__slot *slot, uint64_t count, uint64_t bytes)
{
    vidi__open_log *log = set->durable->log;
    if (count > VIDI__RECORD_MOST || bytes > VIDI__LANE_BYTES)
        return NULL;
    vidi__lane *lane = VIDI__LIKELY(slot->lane != NULL) ? slot->lane : make_lane(set, slot);
    if (!lane)
        return NULL;
    vidi__mutex_lock(&lane->lock);
    if (VIDI__UNLIKELY(lane->count + count > VIDI__RECORD_MOST || lane->used + bytes > VIDI__LANE_BYTES))
        empty(set, lane, false);
    if (VIDI__UNLIKELY(!lane->log) && vidi__log_reserve_now(log->log, VIDI__LANE_ROOM))
        lane->log = log;
    if (VIDI__LIKELY(lane->log && !vidi__log_has_failed(log->log)))
        return lane;
    vidi__mutex_unlock(&lane->lock);
    return NULL;
}

void vidi__lane_put(vidi_set *set, vidi__lane *lane, const vidi__record *record)
{
    lane->used += (uint32_t)vidi__record_store_list(set->durable, lane->list + lane->used, record);
    lane->count += (uint32_t)record->n;
}

bool vidi__lane_end(vidi__lane *lane)
{
    bool first = lane->count == 1;
    vidi__mutex_unlock(&lane->lock);
    return first;
}

void vidi__lane_empty(vidi_set *set, vidi__slot *slot)
{
    if (!slot->lane)
        return;
    vidi__mutex_lock(&slot->lane->lock);
    empty(set, slot->lane, false);
    vidi__mutex_unlock(&slot->lane->lock);
}

void vidi__lanes_empty(vidi_set *set)
{
    vidi__lane *all = atomic_load_explicit(&set->durable->lanes, memory_order_acquire), *lane, *last = NULL;
    for (lane = all; lane; lane = lane->next) {
        vidi__mutex_lock(&lane->lock);
        last = lane->count ? lane : last;
    }
    for (lane = all; lane; lane = lane->next)
        empty(set, lane, lane == last);
    for (lane = all; lane; lane = lane->next)
        vidi__mutex_unlock(&lane->lock);
}

void vidi__lanes_free(vidi_set *set)
{
    vidi__slot *slot;
    for (uint32_t at = 0; (slot = vidi__gate_next(&set->gate, &at)) != NULL;)
        slot->lane = NULL;
    for (vidi__lane *lane = set->durable->lanes, *next; lane; lane = next) {
        next = lane->next;
        vidi__release(&set->memory, lane, sizeof *lane, VIDI__CACHE_LINE);
    }
}
