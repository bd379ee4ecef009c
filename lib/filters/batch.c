/* See batch.h. */
#include "filters/batch.h"

/* A batch sorted by partition; stable within each. */
typedef struct sorted_batch {
    uint16_t start[VIDI__PARTITIONS + 1];
    uint16_t order[VIDI__HASHES_MAX];
} sorted_batch;

static void sort(sorted_batch *sorted, const vidi__u128 *hashes, size_t n)
{
    uint16_t next[VIDI__PARTITIONS];
    memset(sorted->start, 0, sizeof sorted->start);
    for (size_t i = 0; i < n; i++)
        sorted->start[vidi__partition_of(hashes[i].hi) + 1]++;
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        sorted->start[i + 1] = (uint16_t)(sorted->start[i + 1] + sorted->start[i]);
    memcpy(next, sorted->start, sizeof next);
    for (size_t i = 0; i < n; i++)
        sorted->order[next[vidi__partition_of(hashes[i].hi)]++] = (uint16_t)i;
}

/*
 * The partition at which this thread starts: the first thread at 0, the second half way round, the next two at the
 * quarters, and so on.
 */
static unsigned first_partition(void)
{
    static _Atomic unsigned threads;
    static _Thread_local unsigned mine = VIDI__PARTITIONS;
    if (VIDI__UNLIKELY(mine == VIDI__PARTITIONS)) {
        unsigned number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
        mine = 0;
        for (unsigned i = 0; i < VIDI__PARTITION_BITS; i++)
            mine = mine << 1 | (number >> i & 1);
    }
    return mine;
}

/* Progress through a sorted batch: once around all partitions. */
typedef struct round_trip {
    const sorted_batch *sorted;
    unsigned partition, left; /* the current one, and how many are left after it */
    size_t at;                /* position in sorted->order */
} round_trip;

static bool next_wave(round_trip *trip, vidi__wave *wave)
{
    const sorted_batch *sorted = trip->sorted;
    while (trip->at == sorted->start[trip->partition + 1]) {
        if (!trip->left--)
            return false;
        trip->partition = (trip->partition + 1) % VIDI__PARTITIONS;
        trip->at = sorted->start[trip->partition];
    }
    size_t count = sorted->start[trip->partition + 1] - trip->at;
    *wave = (vidi__wave){
        .partition = trip->partition,
        .buffer = !wave->buffer,
        .order = sorted->order + trip->at,
        .count = count < VIDI__WAVE_MAX ? count : VIDI__WAVE_MAX,
    };
    trip->at += wave->count;
    return true;
}

static int run(const vidi__locks *locks, round_trip *trip, const vidi__batch_ops *ops, void *context)
{
    vidi__wave now = {.buffer = 1}, next;
    if (!next_wave(trip, &now))
        return VIDI_OK;
    vidi__locks_take(locks, now.partition);
    ops->fetch(context, &now);
    for (;;) {
        next = now;
        bool more = next_wave(trip, &next), elsewhere = !more || next.partition != now.partition;
        if (ops->look_ahead)
            ops->look_ahead(context, &now);
        bool fetched = more && (!elsewhere || vidi__locks_try(locks, next.partition));
        if (fetched)
            ops->fetch(context, &next);
        int code = ops->work(context, &now);
        if (elsewhere)
            vidi__locks_release(locks, now.partition);
        if (!more || code < 0) {
            if (fetched) /* an error leaves a lock held: the next partition's, or this one's if both waves share it */
                vidi__locks_release(locks, next.partition);
            return code;
        }
        if (!fetched) {
            vidi__locks_take(locks, next.partition);
            ops->fetch(context, &next);
        }
        now = next;
    }
}

int vidi__batch_run(const vidi__locks *locks, const vidi__u128 *hashes, size_t n, const vidi__batch_ops *ops,
                    void *context)
{
    sorted_batch sorted;
    sort(&sorted, hashes, n);
    unsigned first = first_partition();
    round_trip trip = {&sorted, first, VIDI__PARTITIONS - 1, sorted.start[first]};
    return run(locks, &trip, ops, context);
}
