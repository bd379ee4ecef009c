/* See gate.h. The barrier, the queue, the gate. */
#include "base/gate.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- the barrier ---- */

_Atomic bool vidi__gate_exchanges;
static _Atomic bool all_exchange; /* and no thread has a store on its way that is no exchange */

static bool membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

/*
 * Every thread of the process passes a full barrier. The kernel may refuse in a child of fork(), which must register
 * again, or because a filter of system calls was installed in the meantime. Then time must do: a processor keeps a
 * store to itself for far less than this.
 */
static void pass_barrier(void)
{
    const struct timespec long_enough = {.tv_nsec = 20000000};
    if (atomic_load_explicit(&all_exchange, memory_order_acquire) || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
        (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)))
        return;
    atomic_store_explicit(&vidi__gate_exchanges, true, memory_order_seq_cst);
    (void)nanosleep(&long_enough, NULL);
    atomic_store_explicit(&all_exchange, true, memory_order_release);
}

/* The era in which a thread went in, or 0, after the barrier. An exchange, for kernels without one. */
static uint32_t era_inside(vidi__slot *slot)
{
    return atomic_fetch_add_explicit(&slot->inside, 0, memory_order_acq_rel);
}

/* ---- the queue ---- */

/* Those who wait are woken by their numbers: if all were, a queue of n threads would take n² wake-ups. */
static uint32_t bit_of(uint32_t number)
{
    return UINT32_C(1) << number % 32;
}

static void queue_up(vidi__gate *gate)
{
    uint32_t mine = atomic_fetch_add_explicit(&gate->next, 1, memory_order_relaxed), now;
    while ((now = atomic_load_explicit(&gate->serving, memory_order_acquire)) != mine)
        vidi__wait_while(&gate->serving, now, bit_of(mine));
}

static void let_next(vidi__gate *gate)
{
    uint32_t now = atomic_fetch_add_explicit(&gate->serving, 1, memory_order_seq_cst) + 1;
    if (atomic_load_explicit(&gate->next, memory_order_seq_cst) != now)
        vidi__wake(&gate->serving, INT_MAX, bit_of(now));
}

/* ---- the gate ---- */

/* Once. The kernel may take milliseconds to register if other threads are running: too long for an add. */
static void prepare(void)
{
    bool refused = !membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    atomic_store_explicit(&vidi__gate_exchanges, refused, memory_order_relaxed);
    atomic_store_explicit(&all_exchange, refused, memory_order_relaxed);
}

void vidi__gate_init(vidi__gate *gate)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    atomic_init(&gate->state, VIDI__GATE_NOBODY);
    atomic_init(&gate->first, VIDI__GATE_NOBODY);
    atomic_init(&gate->era, 1);
}

void vidi__gate_free(vidi__gate *gate, vidi__memory *memory)
{
    vidi__slots *slots = atomic_load_explicit(&gate->slots, memory_order_acquire);
    for (unsigned i = 0; slots && i < VIDI__CHUNKS; i++)
        vidi__release(memory, slots->chunks[i], VIDI__SLOTS_OF_CHUNK * sizeof(vidi__slot), VIDI__CACHE_LINE);
    vidi__release(memory, slots, sizeof *slots, VIDI__CACHE_LINE);
}

/* The slot of this thread, made if there is none. NULL: there is no memory, or the thread has no number. */
static vidi__slot *make_slot(vidi__gate *gate, vidi__memory *memory)
{
    vidi__slots *slots = atomic_load_explicit(&gate->slots, memory_order_relaxed);
    if (vidi__gate_slot(gate) || vidi__thread == VIDI__THREADS_MAX)
        return vidi__gate_slot(gate);
    if (!slots)
        atomic_store_explicit(&gate->slots, slots = vidi__alloc_if_possible(memory, sizeof *slots),
                              memory_order_release);
    vidi__slot *chunk = slots ? vidi__alloc_if_possible(memory, VIDI__SLOTS_OF_CHUNK * sizeof *chunk) : NULL;
    if (chunk)
        atomic_store_explicit(&slots->chunks[vidi__thread / VIDI__SLOTS_OF_CHUNK], chunk, memory_order_release);
    return chunk ? vidi__gate_slot(gate) : NULL;
}

vidi__slot *vidi__gate_join(vidi__gate *gate, vidi__memory *memory)
{
    if (vidi__thread == VIDI__THREADS_MAX)
        vidi__thread_take_number();
    queue_up(gate); /* whoever is being served is the only one that changes `state`, and finds it open */
    uint32_t state = atomic_load_explicit(&gate->state, memory_order_relaxed), me = vidi__thread;
    if (state == VIDI__GATE_NOBODY && me != VIDI__THREADS_MAX) {
        atomic_store_explicit(&gate->first, (uint16_t)me, memory_order_relaxed);
        atomic_store_explicit(&gate->state, state = me, memory_order_relaxed);
    }
    vidi__slot *slot = state == VIDI__GATE_SHARED || state == me ? make_slot(gate, memory) : NULL;
    if (slot)
        atomic_exchange(&slot->inside, atomic_load(&gate->era));
    let_next(gate);
    return slot;
}

/* `own` comes after the others. */
vidi__slot *vidi__gate_next(const vidi__gate *gate, uint32_t *at)
{
    const vidi__slots *slots = atomic_load_explicit(&gate->slots, memory_order_acquire);
    while (slots && *at < VIDI__THREADS_MAX) {
        uint32_t thread = *at;
        vidi__slot *chunk = atomic_load_explicit(&slots->chunks[thread / VIDI__SLOTS_OF_CHUNK], memory_order_acquire);
        *at += chunk ? 1 : VIDI__SLOTS_OF_CHUNK;
        if (chunk)
            return &chunk[thread % VIDI__SLOTS_OF_CHUNK];
    }
    bool ends = *at > VIDI__THREADS_MAX;
    *at = VIDI__THREADS_MAX + 1;
    return ends ? NULL : (vidi__slot *)&gate->own;
}

/* The steps of closing it, for the thread that is being served. */
static void shut(vidi__gate *gate)
{
    if (atomic_fetch_or_explicit(&gate->state, VIDI__GATE_CLOSED, memory_order_seq_cst) != VIDI__GATE_NOBODY)
        pass_barrier();
}

/* Nobody is inside any more. */
static void be_alone(vidi__gate *gate)
{
    gate->exclusive = true;
    gate->shared = false;
}

void vidi__gate_close(vidi__gate *gate)
{
    vidi__slot *slot;
    queue_up(gate);
    shut(gate);
    for (uint32_t at = 0, inside; (slot = vidi__gate_next(gate, &at)) != NULL;)
        while ((inside = era_inside(slot)) != 0)
            vidi__wait_while(&slot->inside, inside, UINT32_MAX);
    be_alone(gate);
}

bool vidi__gate_try_close(vidi__gate *gate)
{
    uint32_t now = atomic_load_explicit(&gate->serving, memory_order_acquire), inside = 0;
    vidi__slot *slot;
    if (!atomic_compare_exchange_strong_explicit(&gate->next, &now, now + 1, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    shut(gate);
    for (uint32_t at = 0; !inside && (slot = vidi__gate_next(gate, &at)) != NULL;)
        inside = era_inside(slot);
    if (!inside) {
        be_alone(gate);
        return true;
    }
    atomic_fetch_and_explicit(&gate->state, ~(uint32_t)VIDI__GATE_CLOSED, memory_order_release);
    let_next(gate);
    return false;
}

void vidi__gate_give(vidi__gate *gate, uint32_t state)
{
    atomic_store_explicit(&gate->state, state | VIDI__GATE_CLOSED, memory_order_relaxed);
}

void vidi__gate_open(vidi__gate *gate)
{
    uint32_t state = atomic_load_explicit(&gate->state, memory_order_relaxed) & ~(uint32_t)VIDI__GATE_CLOSED;
    gate->exclusive = false;
    gate->shared = state == VIDI__GATE_SHARED;
    atomic_store_explicit(&gate->state, state, memory_order_release);
    let_next(gate);
}

uint32_t vidi__gate_safe_era(const vidi__gate *gate)
{
    uint32_t safe = atomic_load_explicit(&gate->era, memory_order_acquire);
    vidi__slot *slot;
    pass_barrier();
    for (uint32_t at = 0; (slot = vidi__gate_next(gate, &at)) != NULL;) {
        uint32_t inside = era_inside(slot);
        if (inside && vidi__era_is_before(inside, safe))
            safe = inside;
    }
    return safe;
}
