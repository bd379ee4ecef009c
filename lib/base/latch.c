/* See latch.h. Sleeping and waking is the kernel's (futex): it compares the word once more before a thread sleeps. */
#include "base/latch.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How often a thread looks again before it sleeps: a microsecond or two, longer than most calls hold a latch. */
#define SPINS 64

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Sleeps unless the word has changed. May also wake up for no reason, so callers look again. */
static void sleep_while(_Atomic uint32_t *word, uint32_t value)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake_one(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- mutex (Drepper, Futexes Are Tricky, 2011, "mutex 3") ---- */

void vidi__mutex_wait(vidi__mutex *mutex)
{
    for (unsigned i = 0; i < SPINS; i++) {
        pause_briefly();
        if (!atomic_load_explicit(&mutex->state, memory_order_relaxed) && vidi__mutex_try(mutex))
            return;
    }
    while (atomic_exchange_explicit(&mutex->state, 2, memory_order_acquire))
        sleep_while(&mutex->state, 2);
}

void vidi__mutex_wake(vidi__mutex *mutex)
{
    wake_one(&mutex->state);
}

/* ---- lending a latch ---- */

static _Atomic bool can_lend;

static bool membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

/* The kernel may take milliseconds if other threads are running already. So this is not left to the first add. */
bool vidi__latch_prepare(void)
{
    static _Atomic bool asked;
    if (!atomic_load_explicit(&asked, memory_order_relaxed) && !atomic_exchange(&asked, true))
        atomic_store_explicit(&can_lend, membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED), memory_order_relaxed);
    return atomic_load_explicit(&can_lend, memory_order_relaxed);
}

/*
 * Every thread of the process passes a full barrier. The kernel may refuse in a child of fork(), which must register
 * again, or because a filter of system calls was installed in the meantime. Then time must do: a processor keeps a
 * store to itself for far less than this.
 */
static void pass_barrier(void)
{
    const struct timespec long_enough = {.tv_nsec = 20000000};
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
        (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)))
        return;
    atomic_store_explicit(&can_lend, false, memory_order_relaxed);
    (void)nanosleep(&long_enough, NULL);
}

bool vidi__latch_lend(vidi__latch *latch)
{
    uint32_t alone = VIDI__LATCH_ALONE;
    latch->streak = 0;
    if (!atomic_load_explicit(&can_lend, memory_order_relaxed))
        return false;
    latch->bound = true; /* before anybody can recall it and be alone */
    bool lent = atomic_compare_exchange_strong_explicit(&latch->state, &alone, VIDI__LATCH_ALONE | VIDI__LATCH_LENT,
                                                        memory_order_release, memory_order_relaxed);
    if (!lent)
        latch->bound = false;
    return lent;
}

/* Makes the latch free if it is lent. The queue must be locked: one thread recalls it at a time. */
static void recall(vidi__latch *latch)
{
    if (!(atomic_load_explicit(&latch->state, memory_order_relaxed) & VIDI__LATCH_LENT))
        return;
    atomic_fetch_or_explicit(&latch->state, VIDI__LATCH_RECALLED, memory_order_acquire);
    pass_barrier();
    while (atomic_load_explicit(&latch->inside, memory_order_acquire))
        sleep_while(&latch->inside, 1);
    const uint32_t gone = VIDI__LATCH_ALONE | VIDI__LATCH_LENT | VIDI__LATCH_RECALLED;
    atomic_fetch_and_explicit(&latch->state, ~gone, memory_order_release);
}

void vidi__latch_return(vidi__latch *latch)
{
    wake_one(&latch->inside);
}

/* ---- latch ---- */

/* A thread in the queue; on that thread's stack. */
typedef struct vidi__latch_waiter {
    struct vidi__latch_waiter *next;
    _Atomic uint32_t woken;
} vidi__latch_waiter;

/* The bits of the state that keep a thread out: what it cannot be in together with, and `also`. */
static uint32_t obstacles(uint32_t want, uint32_t also)
{
    uint32_t shared = ~(uint32_t)(VIDI__LATCH_SHARED - 1);
    return VIDI__LATCH_ALONE | also | (want == VIDI__LATCH_ALONE ? shared : 0);
}

/* Takes the latch if none of the `obstacles` is there, and clears some bits with it. */
static bool try_take(vidi__latch *latch, uint32_t want, uint32_t obstacles, uint32_t clear)
{
    uint32_t state = atomic_load_explicit(&latch->state, memory_order_relaxed);
    while (!(state & obstacles))
        if (atomic_compare_exchange_weak_explicit(&latch->state, &state, (state & ~clear) + want, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* Wakes the first in the queue, which must not be empty. The queue is locked, so the thread stays in it meanwhile. */
static void wake_first(vidi__latch *latch)
{
    atomic_fetch_or_explicit(&latch->state, VIDI__LATCH_WOKEN, memory_order_relaxed);
    atomic_store_explicit(&latch->first->woken, 1, memory_order_relaxed);
    wake_one(&latch->first->woken);
}

/*
 * The first in the queue looks whether it may go in. It clears WOKEN before it looks: a release that comes after the
 * look wakes it again. The second look, and the first one if the latch is shared, insists.
 */
static bool try_first(vidi__latch *latch, uint32_t want, unsigned looks)
{
    uint32_t state = atomic_fetch_and_explicit(&latch->state, ~(uint32_t)VIDI__LATCH_WOKEN, memory_order_relaxed);
    if (looks || state >= VIDI__LATCH_SHARED)
        atomic_fetch_or_explicit(&latch->state, VIDI__LATCH_INSISTS, memory_order_relaxed);
    return try_take(latch, want, obstacles(want, 0), VIDI__LATCH_INSISTS);
}

static void enqueue(vidi__latch *latch, vidi__latch_waiter *self)
{
    if (latch->last)
        latch->last->next = self;
    else
        latch->first = self;
    latch->last = self;
    atomic_fetch_or_explicit(&latch->state, VIDI__LATCH_QUEUED, memory_order_relaxed);
    recall(latch); /* a borrower wakes nobody in the queue; and from now on, the latch is not lent */
}

/* The first in the queue is in. If it shares the latch, the next may be able to join it, and insists otherwise. */
static void dequeue(vidi__latch *latch, uint32_t want)
{
    latch->first = latch->first->next;
    if (!latch->first) {
        latch->last = NULL;
        atomic_fetch_and_explicit(&latch->state, ~(uint32_t)VIDI__LATCH_QUEUED, memory_order_relaxed);
    } else if (want == VIDI__LATCH_SHARED) {
        wake_first(latch);
    }
}

static void queue_up(vidi__latch *latch, uint32_t want)
{
    vidi__latch_waiter self = {NULL, 0};
    unsigned looks = 0;
    vidi__mutex_lock(&latch->queue);
    enqueue(latch, &self);
    while (latch->first != &self || !try_first(latch, want, looks++)) {
        vidi__mutex_unlock(&latch->queue);
        while (!atomic_load_explicit(&self.woken, memory_order_relaxed))
            sleep_while(&self.woken, 0);
        vidi__mutex_lock(&latch->queue);
        atomic_store_explicit(&self.woken, 0, memory_order_relaxed);
    }
    dequeue(latch, want);
    vidi__mutex_unlock(&latch->queue);
}

void vidi__latch_wait(vidi__latch *latch, uint32_t want)
{
    uint32_t stops = obstacles(want, VIDI__LATCH_INSISTS);
    atomic_store_explicit(&latch->refusals, VIDI__LATCH_REFUSALS, memory_order_relaxed);
    if (atomic_load_explicit(&latch->state, memory_order_relaxed) & VIDI__LATCH_LENT) {
        vidi__mutex_lock(&latch->queue);
        recall(latch);
        vidi__mutex_unlock(&latch->queue);
    }
    for (unsigned i = 0; i < SPINS; i++) {
        if (try_take(latch, want, stops, 0))
            return;
        pause_briefly();
    }
    queue_up(latch, want);
}

void vidi__latch_wake(vidi__latch *latch)
{
    if (atomic_load_explicit(&latch->state, memory_order_relaxed) & VIDI__LATCH_WOKEN)
        return; /* somebody is on the way, and looks after this */
    vidi__mutex_lock(&latch->queue);
    if (latch->first && !(atomic_load_explicit(&latch->state, memory_order_relaxed) & VIDI__LATCH_WOKEN))
        wake_first(latch);
    vidi__mutex_unlock(&latch->queue);
}
