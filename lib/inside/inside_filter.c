/*
 * Filters on ready hashes: what is left of a set without URLs, hashing and locks. They get their hashes in the groups
 * that a set would pass on.
 */
#include "inside/inside.h"

#include <stdlib.h>

#include "set/set.h"

struct vidi__inside_filter {
    vidi__memory memory;
    vidi__filter *filter;
    vidi__tally tally;
};

static int make(vidi__inside_filter *made, const vidi__inside_recipe *recipe)
{
    const vidi_str name = {recipe->kind, strlen(recipe->kind)};
    const vidi__kind *kind = vidi__kind_find(name);
    vidi__params params;
    vidi__config config = {
        .memory = &made->memory, .params = &params, .capacity = recipe->capacity, .error = recipe->error};
    memcpy(config.seed.key, recipe->key, sizeof config.seed.key);
    if (!kind)
        return vidi__kind_unknown(name);
    VIDI__TRY(vidi__memory_init(&made->memory, recipe->allocator, 0));
    VIDI__TRY(vidi__params_parse(&params, recipe->params));
    VIDI__TRY(vidi__positions_item_hash(&params, &config.item_hash));
    VIDI__TRY(vidi__filter_create(&made->filter, kind, &config));
    if (made->filter->needs.what != VIDI__NEED_HASH)
        return vidi__fail(VIDI_ECANNOT, "%s needs more than a hash", recipe->kind);
    return VIDI_OK;
}

int vidi__inside_filter_make(vidi__inside_filter **made, const vidi__inside_recipe *recipe)
{
    *made = calloc(1, sizeof **made);
    if (!*made)
        return vidi__fail(VIDI_EMEMORY, "no memory for a filter");
    int code = make(*made, recipe);
    if (code < 0) {
        vidi__inside_filter_free(*made);
        *made = NULL;
    }
    return code;
}

void vidi__inside_filter_free(vidi__inside_filter *filter)
{
    if (!filter)
        return;
    vidi__filter_destroy(filter->filter);
    free(filter);
}

static size_t group_of(size_t left)
{
    return left < VIDI__HASHES_MAX ? left : VIDI__HASHES_MAX;
}

int vidi__inside_filter_add(vidi__inside_filter *filter, const vidi_digest *hashes, size_t n, uint8_t *verdicts)
{
    for (size_t done = 0, count; done < n; done += count) {
        count = group_of(n - done);
        VIDI__TRY(vidi__filter_add_hashes(filter->filter, hashes + done, count, verdicts + done, &filter->tally));
    }
    return VIDI_OK;
}

int vidi__inside_filter_has(const vidi__inside_filter *filter, const vidi_digest *hashes, size_t n, uint8_t *verdicts)
{
    for (size_t done = 0, count; done < n; done += count) {
        count = group_of(n - done);
        VIDI__TRY(vidi__filter_has_hashes(filter->filter, hashes + done, count, verdicts + done));
    }
    return VIDI_OK;
}

uint64_t vidi__inside_filter_bytes(const vidi__inside_filter *filter)
{
    return vidi__memory_used(&filter->memory);
}

double vidi__inside_filter_lost(const vidi__inside_filter *filter)
{
    return filter->tally.lost;
}
