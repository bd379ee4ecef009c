/* vidi through its public header, as users call it: URLs in batches, or one at a time. */
#include "subjects.h"

#include <string.h>

typedef struct held {
    vidi_set *set;
    uint8_t verdicts[BENCH_BATCH];
} held;

static held one; /* only one set exists at a time */

static void *make(const bench_recipe *recipe)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    unsigned char key[VIDI_KEY_BYTES] = {0};
    memcpy(key, &recipe->seed, sizeof recipe->seed);
    options.kind = recipe->kind;
    options.params = recipe->params;
    options.capacity = recipe->capacity;
    options.error = recipe->error;
    options.key = key;
    options.canon = "none"; /* the peers compare bytes too */
    options.access = &access;
    access.allocator = recipe->capacity ? &bench_allocator : recipe->populated ? &bench_arena : NULL;
    if (vidi_create(&one.set, &options) < 0)
        return bench_refuse("%s", vidi_message());
    return &one;
}

static void close_set(void *self)
{
    vidi_close(((held *)self)->set);
}

static int64_t count_seen(const uint8_t *verdicts, size_t n)
{
    int64_t seen = 0;
    for (size_t i = 0; i < n; i++)
        seen += verdicts[i] == VIDI_SEEN;
    return seen;
}

static int64_t pass(held *self, const bench_work *work, bool adds)
{
    int64_t seen = 0;
    for (size_t done = 0, n; done < work->count; done += n) {
        n = work->count - done < BENCH_BATCH ? work->count - done : BENCH_BATCH;
        int code = adds ? vidi_add_batch(self->set, work->urls + done, n, self->verdicts, NULL)
                        : vidi_has_batch(self->set, work->urls + done, n, self->verdicts);
        if (code < 0) {
            bench_refuse("%s", vidi_message());
            return -1;
        }
        seen += count_seen(self->verdicts, n);
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
    vidi_stats stats = {.size = sizeof stats};
    if (vidi_stat(((held *)self)->set, &stats) < 0)
        return (bench_weight){0, -1, 0};
    return (bench_weight){(size_t)stats.memory_bytes, stats.expected_lost, (unsigned)stats.lines_touched};
}

const bench_class bench_sets = {make, close_set, add, has, weigh};

/* ---- one URL at a time ---- */

static int64_t singly(held *self, const bench_work *work, int (*ask)(vidi_set *set, vidi_str url))
{
    int64_t seen = 0;
    for (size_t i = 0; i < work->count; i++) {
        int code = ask(self->set, work->urls[i]);
        if (code < 0) {
            bench_refuse("%s", vidi_message());
            return -1;
        }
        seen += code == VIDI_SEEN;
    }
    return seen;
}

static int has_one(vidi_set *set, vidi_str url)
{
    return vidi_has(set, url);
}

static int64_t add_singly(void *self, const bench_work *work)
{
    return singly(self, work, vidi_add);
}

static int64_t has_singly(void *self, const bench_work *work)
{
    return singly(self, work, has_one);
}

const bench_class bench_singles = {make, close_set, add_singly, has_singly, weigh};
