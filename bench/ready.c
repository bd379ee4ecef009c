/*
 * vidi's filters on ready hashes: a set without URLs, hashing and locks, for comparison with the machine's limit.
 */
#include "subjects.h"

#include <string.h>

#include "lib/inside/inside.h"

enum { BATCH = 2048 };

_Static_assert(sizeof(bench_hash) == sizeof(vidi_digest), "hashes are passed on as they are");

static void *make(const bench_recipe *recipe)
{
    vidi__inside_filter *filter;
    vidi__inside_recipe inside = {
        .kind = recipe->kind,
        .params = recipe->params,
        .capacity = recipe->capacity,
        .error = recipe->error,
        .allocator = recipe->capacity    ? &bench_allocator
                     : recipe->populated ? &bench_arena
                                         : NULL,
    };
    memcpy(inside.key, &recipe->seed, sizeof recipe->seed);
    if (vidi__inside_filter_make(&filter, &inside) < 0)
        return bench_refuse("%s", vidi_message());
    return filter;
}

static void close_filter(void *self)
{
    vidi__inside_filter_free(self);
}

/* Returns how many items were seen, or -1 after an error. */
static int64_t pass(void *self, const bench_work *work, bool adds)
{
    uint8_t verdicts[BATCH];
    int64_t seen = 0;
    for (size_t done = 0, n; done < work->count; done += n) {
        const vidi_digest *hashes = (const vidi_digest *)(work->hashes + done);
        n = work->count - done < BATCH ? work->count - done : BATCH;
        int code = adds ? vidi__inside_filter_add(self, hashes, n, verdicts)
                        : vidi__inside_filter_has(self, hashes, n, verdicts);
        if (code < 0) {
            bench_refuse("%s", vidi_message());
            return -1;
        }
        for (size_t i = 0; i < n; i++)
            seen += verdicts[i] == VIDI_SEEN;
    }
    return seen;
}

static int64_t add(void *self, const bench_work *work)
{
    return pass(self, work, true);
}

static int64_t has(void *self, const bench_work *work)
{
    return pass(self, work, false);
}

static bench_weight weigh(void *self)
{
    return (bench_weight){(size_t)vidi__inside_filter_bytes(self), vidi__inside_filter_lost(self), 0};
}

const bench_class bench_ready = {make, close_filter, add, has, weigh};
