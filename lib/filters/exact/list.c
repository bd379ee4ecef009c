/*
 * list: linear search over stored URLs. It is the baseline of the multi-layer paper and the thesis: what a crawler does
 * that simply keeps every URL it has met.
 *
 *     | 17 | http://a.example/ | 20 | http://a.example/b/c | …      the records of the pool, walked in order
 *
 * There is no index: a lookup compares the URL with every other, lengths first. It is the smallest of the exact kinds,
 * and usable for up to some ten thousand URLs.
 */
#include <math.h>

#include "filters/exact/exact.h"

static const vidi__index list_index;

/*
 * There is no index to prepare. But URLs from a stream must all be different; they are sorted to check that, since
 * comparing every pair would take too long.
 */
static int list_prepare(vidi__exact *exact, const vidi__config *config, uint64_t urls)
{
    vidi__pool_record **records;
    if (!config->reader)
        return VIDI_OK;
    VIDI__TRY(vidi__exact_sort(exact, urls, &records));
    vidi__release(config->memory, records, vidi__exact_array(urls, sizeof *records), _Alignof(vidi__pool_record *));
    return VIDI_OK;
}

static vidi__pool_record *list_find(const vidi__exact *exact, const vidi__part *url)
{
    vidi__pool_cursor cursor = {0};
    vidi__pool_record *record;
    while ((record = vidi__pool_next(&exact->pool, &cursor)))
        if (vidi__pool_record_is(&exact->pool, record, url->str))
            break;
    return record;
}

static void list_compact(vidi__exact *exact)
{
    vidi__pool_compact(&exact->pool, NULL, NULL);
}

/* Every record's length is looked at. */
static double list_lines(double urls, double record_bytes)
{
    return urls * fmin(1, record_bytes / VIDI__CACHE_LINE);
}

static int list_create(vidi__filter **filter, const vidi__config *config)
{
    return vidi__exact_create(filter, config, &list_index);
}

static int list_plan(const vidi__want *want, vidi__planned *planned)
{
    return vidi__exact_plan(want, planned, &list_index);
}

static const vidi__index list_index = {
    .kind = &vidi__kind_list,
    .size = sizeof(vidi__exact),
    .needs = VIDI__NEED_BYTES,
    .lines = list_lines,
    .prepare = list_prepare,
    .find = list_find,
    .compact = list_compact,
};

const vidi__kind vidi__kind_list = {
    .name = "list",
    .summary = "exact: linear search over the URLs themselves",
    .create = list_create,
    .add = vidi__exact_add,
    .plan = list_plan,
    VIDI__EXACT_KIND,
};
