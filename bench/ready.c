/*
 * vidi's filters on hashes that are ready: what is left of a set when URLs, hashing and locking are taken away, to be
 * held against the machine's limit. The only file here that looks inside the library (tests/meta/includes.awk).
 */
#include "subjects.h"

#include <string.h>

#include "filters/filter.h"

#define GROUP 128 /* items that a set makes at a time */

typedef struct held {
    vidi__memory memory;
    vidi__filter *filter;
    vidi__tally tally;
    uint8_t verdicts[VIDI__HASHES_MAX];
} held;

static held one;

_Static_assert(sizeof(bench_hash) == sizeof(vidi__u128), "hashes are passed on as they are");

static int create(const bench_recipe *recipe)
{
    vidi__params params;
    vidi__config config = {
        .memory = &one.memory, .params = &params, .capacity = recipe->capacity, .error = recipe->error};
    memcpy(config.seed.key, &recipe->seed, sizeof recipe->seed);
    vidi_str name = {recipe->kind, strlen(recipe->kind)};
    const vidi__kind *kind = vidi__kind_find(name);
    if (!kind)
        return vidi__kind_unknown(name);
    VIDI__TRY(vidi__memory_init(&one.memory, recipe->capacity ? &bench_allocator : NULL, 0));
    VIDI__TRY(vidi__params_parse(&params, recipe->params));
    VIDI__TRY(vidi__scheme_item_hash(&params, &config.item_hash));
    VIDI__TRY(vidi__filter_create(&one.filter, kind, &config));
    if (one.filter->needs.what == VIDI__NEED_HASH)
        return VIDI_OK;
    vidi__filter_destroy(one.filter);
    return vidi__fail(VIDI_ECANNOT, "%s needs more than a hash", recipe->kind);
}

static void *make(const bench_recipe *recipe)
{
    memset(&one, 0, sizeof one);
    if (create(recipe) < 0)
        return bench_refuse("%s", vidi_message());
    return &one;
}

static void close_filter(void *self)
{
    vidi__filter_destroy(((held *)self)->filter);
}

/* For kinds that take one item at a time: as the set would hand them over, in groups. */
static int each(held *self, const bench_hash *hashes, size_t n, bool adds)
{
    vidi__item items[GROUP];
    for (size_t i = 0; i < n; i++)
        items[i] = (vidi__item){.url.hash = {hashes[i].lo, hashes[i].hi}};
    return adds ? vidi__filter_add(self->filter, items, n, self->verdicts, &self->tally)
                : vidi__filter_has(self->filter, items, n, self->verdicts);
}

static int group(held *self, const bench_hash *hashes, size_t n, bool adds)
{
    const vidi__kind *kind = self->filter->kind;
    const vidi__u128 *values = (const vidi__u128 *)hashes;
    if (!kind->add_hashes)
        return each(self, hashes, n, adds);
    return adds ? kind->add_hashes(self->filter, values, n, self->verdicts, &self->tally)
                : kind->has_hashes(self->filter, values, n, self->verdicts);
}

static int64_t pass(held *self, const bench_work *work, bool adds)
{
    size_t most = self->filter->kind->add_hashes ? VIDI__HASHES_MAX : GROUP;
    int64_t seen = 0;
    for (size_t done = 0, n; done < work->count; done += n) {
        n = work->count - done < most ? work->count - done : most;
        if (group(self, work->hashes + done, n, adds) < 0) {
            bench_refuse("%s", vidi_message());
            return -1;
        }
        for (size_t i = 0; i < n; i++)
            seen += self->verdicts[i] == VIDI_SEEN;
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
    const held *held = self;
    return (bench_weight){(size_t)vidi__memory_used(&held->memory), held->tally.lost};
}

const bench_class bench_ready = {make, close_filter, add, has, weigh};
