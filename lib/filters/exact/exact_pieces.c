/*
 * Stored URLs in runs (filters/pieces.h), in the order of the pool; positions are words of its records. A run is u64
 * number of URLs, and for each: u64 times, u64 length, bytes.
 */
#include "filters/exact/exact.h"
#include "filters/pieces.h"

#define URL_HEAD 16

/* How many URLs from the cursor on fit into the room. If there are more, *next is the size of the first of these. */
static uint64_t count_fitting(const vidi__pool *pool, vidi__pool_cursor cursor, uint64_t room, uint64_t *next)
{
    uint64_t count = 0;
    *next = 0;
    for (const vidi__pool_record *record; (record = vidi__pool_next(pool, &cursor)); count++) {
        uint64_t size = URL_HEAD + vidi__pool_record_str(pool, record).len;
        if (size > room) {
            *next = size;
            break;
        }
        room -= size;
    }
    return count;
}

int vidi__exact_save_run(const vidi__filter *filter, vidi__run_out *run)
{
    const vidi__exact *exact = (const vidi__exact *)filter;
    vidi__pool_cursor cursor;
    uint64_t next;
    if (!vidi__pool_seek(&exact->pool, run->at * sizeof(uint64_t), &cursor))
        return vidi__run_position_unknown();
    uint64_t count = count_fitting(&exact->pool, cursor, run->room - 8, &next);
    if (!count && next)
        return vidi__run_too_large(next + 8);
    VIDI__TRY(vidi__write_u64(run->writer, count));
    for (; count; count--) {
        const vidi__pool_record *record = vidi__pool_next(&exact->pool, &cursor);
        VIDI__TRY(vidi__write_u64(run->writer, vidi__exact_record_times(exact, record)));
        VIDI__TRY(vidi__write_str(run->writer, vidi__pool_record_str(&exact->pool, record)));
    }
    run->at = next ? vidi__pool_tell(&exact->pool, &cursor) / sizeof(uint64_t) : vidi__run_end(run);
    return VIDI_OK;
}

static int add_times(vidi__exact *exact, const vidi__part *url, uint64_t times)
{
    vidi__pool_record *known = exact->index->find(exact, url);
    if (!known)
        return vidi__exact_insert(exact, url, times);
    if (!exact->multiset)
        return VIDI_OK;
    uint64_t before = vidi__exact_record_times(exact, known);
    if (times > UINT64_MAX - before)
        return vidi__exact_too_often();
    vidi__exact_set_times(exact, known, before + times);
    return VIDI_OK;
}

static int load_url(vidi__exact *exact, vidi__run_in *run, bool add)
{
    uint64_t times, len;
    const char *bytes;
    VIDI__TRY(vidi__read_u64(run->reader, &times));
    VIDI__TRY(vidi__read_u64(run->reader, &len));
    VIDI__TRY(vidi__lend(run->reader, len, &bytes));
    if (times == 0 || (times > 1 && !exact->multiset))
        return vidi__damaged("a URL is stored 0 times, or more than once although the set is not a multiset");
    if (!add)
        return VIDI_OK;
    vidi__part url = {.str = {bytes, (size_t)len}};
    if (exact->index->hash_words)
        url.hash = vidi__hash(exact->base.item_hash, run->key, url.str);
    return add_times(exact, &url, times);
}

int vidi__exact_load_run(vidi__filter *filter, vidi__run_in *run)
{
    vidi__exact *exact = (vidi__exact *)filter;
    uint64_t count;
    VIDI__TRY(vidi__read_u64(run->reader, &count));
    if (count > run->reader->left / URL_HEAD)
        return vidi__damaged("there are more URLs than the data can hold");
    for (uint64_t i = 0; i < count; i++) {
        bool add = run->apply && i >= run->done;
        VIDI__TRY(load_url(exact, run, add));
        run->done += add;
    }
    run->counted = true;
    return VIDI_OK;
}
