/*
 * Who is in a set: the rules by which its gate (base/gate.h) lets threads in.
 *
 *     one thread      has the gate to itself. It is alone in the set, and goes in and out with plain stores.
 *     another comes   to add or to look up: the gate becomes SHARED. A concurrent kind then gets its locks ready, if it
 *                     has any (vidi__kind.share). For all other work on such a kind the other thread closes the gate
 *                     once, and the first thread has it to itself again afterwards.
 *     many threads    each asks from time to time whether the others have done anything lately. If they have not, it
 *                     closes the gate and has it to itself.
 *
 * Kinds that are not concurrent take turns once the gate is SHARED: adds under a mutex, and lookups, too, until there
 * were so many of them in a row that they may run in parallel (`reading`). The next add closes the gate to end that. So
 * neither adds nor lookups pay for closing the gate often (BRAVO: Dice and Kogan, 2019).
 */
#include "set/set.h"

/* Calls after which a thread asks whether it is alone again, and the share of them that others may make. */
#define PATIENCE 8192
#define OTHERS_SHARE 64

/* Lookups in a row, without an add between them, from which on they run in parallel. */
#define LOOKUPS_IN_A_ROW 256

/* ---- sums ---- */

static uint64_t take(_Atomic uint64_t *sum)
{
    uint64_t value = atomic_load_explicit(sum, memory_order_relaxed);
    atomic_store_explicit(sum, 0, memory_order_relaxed);
    return value;
}

/* Brings what all threads have added to the log, and what they have counted to the epoch; the caller is alone. */
static void gather(vidi_set *set)
{
    vidi__epoch *now = &set->now;
    vidi__slot *slot;
    if (set->persistence)
        set->persistence->to_log(set);
    for (uint32_t at = 0; (slot = vidi__gate_next(&set->gate, &at)) != NULL;) {
        vidi__counter_add(&now->answered_new, take(&slot->fresh));
        vidi__counter_add(&now->answered_seen, take(&slot->seen));
        vidi__counter_add(&now->asked, take(&slot->asked));
        if (now->filter)
            vidi__counter_add(&now->filter->count, take(&slot->count));
        vidi__epoch_lose(now, atomic_load_explicit(&slot->lost, memory_order_relaxed));
        atomic_store_explicit(&slot->lost, 0, memory_order_relaxed);
    }
}

vidi__counts vidi__counts_of(const vidi_set *set, const vidi__epoch *epoch)
{
    const vidi__slot *slot;
    vidi__counts all = {
        .fresh = atomic_load_explicit(&epoch->answered_new, memory_order_relaxed),
        .seen = atomic_load_explicit(&epoch->answered_seen, memory_order_relaxed),
        .invalid = atomic_load_explicit(&epoch->answered_invalid, memory_order_relaxed),
        .asked = atomic_load_explicit(&epoch->asked, memory_order_relaxed),
        .removed = atomic_load_explicit(&epoch->removed, memory_order_relaxed),
        .lost = vidi__epoch_lost(epoch),
    };
    for (uint32_t at = 0; epoch == &set->now && (slot = vidi__gate_next(&set->gate, &at)) != NULL;) {
        all.fresh += atomic_load_explicit(&slot->fresh, memory_order_relaxed);
        all.seen += atomic_load_explicit(&slot->seen, memory_order_relaxed);
        all.asked += atomic_load_explicit(&slot->asked, memory_order_relaxed);
        all.lost += atomic_load_explicit(&slot->lost, memory_order_relaxed);
    }
    return all;
}

/* ---- alone ---- */

vidi__slot *vidi__lock_alone(const vidi_set *set)
{
    vidi_set *self = (vidi_set *)set; /* readers see the set as const, but lock it */
    vidi__slot *slot = vidi__gate_enter_alone(&self->gate);
    if (!slot) {
        vidi__gate_close(&self->gate);
        slot = &self->gate.own;
    }
    gather(self);
    return slot;
}

/*
 * Gets the filter ready for several threads. Without memory for that, and in other kinds, adds take turns. So they do
 * while the filter is frozen, because it is being read by a thread that is not in the set (vidi__set_ready comes then).
 */
static void share(vidi_set *set)
{
    vidi__filter *filter = set->now.filter;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    bool parallel = filter->can & VIDI_IS_CONCURRENT && !set->frozen &&
                    (!filter->kind->share || filter->kind->share(filter, &set->gate) >= 0);
    vidi__quiet_end(&quiet, VIDI_OK);
    filter->gate = parallel ? &set->gate : NULL;
    set->in_turn = !parallel;
    atomic_store_explicit(&set->reading, false, memory_order_relaxed);
}

void vidi__set_ready(vidi_set *set)
{
    uint32_t state = atomic_load_explicit(&set->gate.state, memory_order_relaxed);
    if ((state & ~(uint32_t)VIDI__GATE_CLOSED) == VIDI__GATE_SHARED && !set->read_only)
        share(set);
}

/* ---- together ---- */

/* The slow way in. NULL: not without being alone. */
static vidi__slot *join(vidi_set *set)
{
    return vidi__gate_join(&set->gate, &set->memory);
}

/* From now on all threads may come in; the caller is alone. */
static void let_all_in(vidi_set *set)
{
    if (!set->read_only)
        share(set);
    vidi__gate_give(&set->gate, VIDI__GATE_SHARED);
}

/* The same for adds and lookups: this thread comes often, and so it shares the gate from now on. */
static vidi__slot *join_to_stay(vidi_set *set)
{
    vidi__slot *slot = join(set);
    if (slot)
        return slot;
    slot = vidi__lock_alone(set);
    let_all_in(set);
    return slot;
}

/*
 * The same for all else, which comes seldom, so that a concurrent kind need not get ready for it. NULL: this thread is
 * alone. What is done in other kinds may take long, and lookups go on meanwhile.
 */
static vidi__slot *join_for_once(vidi_set *set)
{
    vidi__slot *slot = join(set);
    if (slot)
        return slot;
    vidi__lock_alone(set);
    if (set->now.filter->can & VIDI_IS_CONCURRENT)
        return NULL;
    let_all_in(set);
    vidi__gate_open(&set->gate);
    slot = join(set);
    if (!slot)
        vidi__lock_alone(set);
    return slot;
}

static void take_turn(vidi_set *set, vidi__slot *slot)
{
    vidi__mutex_lock(&set->turns);
    slot->holds = true;
}

static void end_turn(vidi_set *set, vidi__slot *slot)
{
    slot->holds = false;
    vidi__mutex_unlock(&set->turns);
}

vidi__slot *vidi__lock_to_add_slowly(vidi_set *set, vidi__slot *slot)
{
    slot = slot ? slot : join_to_stay(set);
    if (!set->in_turn || vidi__set_is_alone(set))
        return slot;
    take_turn(set, slot);
    set->lookups = 0;
    if (!atomic_load_explicit(&set->reading, memory_order_relaxed))
        return slot;
    end_turn(set, slot);
    vidi__gate_leave(&set->gate, slot);
    slot = vidi__lock_alone(set);
    atomic_store_explicit(&set->reading, false, memory_order_relaxed);
    return slot;
}

vidi__slot *vidi__lock_to_look_slowly(const vidi_set *set, vidi__slot *slot)
{
    vidi_set *self = (vidi_set *)set;
    slot = slot ? slot : join_to_stay(self);
    if (!set->in_turn || vidi__set_is_alone(set) || atomic_load_explicit(&set->reading, memory_order_acquire))
        return slot;
    take_turn(self, slot);
    if (++self->lookups >= LOOKUPS_IN_A_ROW)
        atomic_store_explicit(&self->reading, true, memory_order_release);
    return slot;
}

void vidi__lock_shared(const vidi_set *set)
{
    vidi_set *self = (vidi_set *)set;
    vidi__slot *slot = vidi__gate_enter(&self->gate);
    if (!slot && !(slot = join_for_once(self)))
        return;
    if (!set->in_turn || vidi__set_is_alone(set) || atomic_load_explicit(&set->reading, memory_order_acquire))
        return;
    take_turn(self, slot);
    atomic_store_explicit(&self->reading, true, memory_order_release);
    end_turn(self, slot);
}

void vidi__lock_still(const vidi_set *set)
{
    vidi__lock_shared(set);
    if (vidi__set_is_alone(set) || !(set->now.filter->can & VIDI_IS_CONCURRENT))
        return;
    vidi__unlock(set);
    vidi__lock_alone(set);
}

int vidi__lock_whole(const vidi_set *set)
{
    vidi__lock_still(set);
    int code = set->persistence ? set->persistence->catch_up((vidi_set *)set) : VIDI_OK;
    if (code != VIDI_EBUSY)
        return code;
    vidi__unlock(set);
    vidi__lock_alone(set);
    return set->persistence->catch_up((vidi_set *)set);
}

/* ---- out ---- */

/* Has this thread done nearly everything lately? Then the gate becomes its own. */
static void ask_if_alone(vidi_set *set, vidi__slot *mine)
{
    uint64_t others = 0;
    const vidi__slot *slot;
    for (uint32_t at = 0; (slot = vidi__gate_next(&set->gate, &at)) != NULL;)
        if (slot != mine)
            others += atomic_load_explicit(&slot->fresh, memory_order_relaxed) +
                      atomic_load_explicit(&slot->seen, memory_order_relaxed) +
                      atomic_load_explicit(&slot->asked, memory_order_relaxed);
    bool quiet = others - mine->others <= PATIENCE / OTHERS_SHARE;
    mine->patience = PATIENCE;
    mine->others = others;
    if (!quiet || !vidi__gate_try_close(&set->gate)) /* this must not wait: the caller may be what others wait for */
        return;
    gather(set);
    vidi__gate_give(&set->gate, vidi__thread);
    set->in_turn = false;
    vidi__gate_open(&set->gate);
}

void vidi__unlock_slowly(vidi_set *set, vidi__slot *slot, size_t calls)
{
    if (set->gate.exclusive) {
        vidi__gate_open(&set->gate);
        return;
    }
    slot->patience = (int16_t)(slot->patience - (calls < PATIENCE ? (int)calls : PATIENCE));
    bool asks = slot->patience <= 0;
    if (slot->holds)
        end_turn(set, slot);
    vidi__gate_leave(&set->gate, slot);
    if (VIDI__UNLIKELY(asks))
        ask_if_alone(set, slot);
}

void vidi__unlock(const vidi_set *set)
{
    vidi_set *self = (vidi_set *)set;
    if (self->gate.exclusive)
        vidi__gate_open(&self->gate);
    else
        vidi__gate_leave(&self->gate, vidi__gate_mine(&self->gate));
}
