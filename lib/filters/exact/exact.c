/*
 * The common part of the kinds that keep their URLs; see exact.h.
 *
 * Saved are numbers of 64 bits, in the order of the pool:
 *
 *     number of URLs, then for each: hash (two numbers; hashset only), times (1 without multiset), length, bytes
 *
 * A saved hash is not trusted: loading computes it again and compares. With hashes that a forger chose, URLs would
 * never be found, or would all share one slot.
 */
#include "filters/exact/exact.h"

#include <math.h>

#define URL_BYTES 80.0

/* ---- records ---- */

/* The URL of a record, with its hash if the index has one. */
static vidi__part part_of(const vidi__exact *exact, const vidi__pool_record *record)
{
    vidi__part part = {.str = vidi__pool_record_str(&exact->pool, record)};
    if (exact->index->hash_words)
        part.hash = (vidi__u128){record->words[0], record->words[1]};
    return part;
}

uint64_t vidi__exact_record_times(const vidi__exact *exact, const vidi__pool_record *record)
{
    return exact->multiset ? record->words[exact->index->hash_words] : 1;
}

void vidi__exact_set_times(const vidi__exact *exact, vidi__pool_record *record, uint64_t times)
{
    if (exact->multiset)
        record->words[exact->index->hash_words] = times;
}

static void counted(vidi__exact *exact, int64_t more)
{
    exact->urls += (uint64_t)more;
    vidi__filter_add_count(&exact->base, more);
}

int vidi__exact_insert(vidi__exact *exact, const vidi__part *url, uint64_t times)
{
    const vidi__index *index = exact->index;
    vidi__pool_record *record;
    if (index->reserve)
        VIDI__TRY(index->reserve(exact));
    VIDI__TRY(vidi__pool_add(&exact->pool, url->str, &record));
    if (index->hash_words) {
        record->words[0] = url->hash.lo;
        record->words[1] = url->hash.hi;
    }
    vidi__exact_set_times(exact, record, times);
    if (index->link)
        index->link(exact, record);
    counted(exact, 1);
    return VIDI_OK;
}

static void take_out(vidi__exact *exact, vidi__pool_record *record)
{
    if (exact->index->unlink)
        exact->index->unlink(exact, record);
    vidi__pool_drop(&exact->pool, record);
    counted(exact, -1);
}

static void compact_if_wasteful(vidi__exact *exact)
{
    if (!vidi__pool_wasteful(&exact->pool))
        return;
    exact->index->compact(exact);
    exact->base.moves++;
}

int vidi__exact_too_often(void)
{
    return vidi__fail(VIDI_ELIMIT, "a URL cannot be counted more than 2^64 - 1 times");
}

/* ---- one URL ---- */

int vidi__exact_add(vidi__filter *filter, const vidi__item *item)
{
    vidi__exact *exact = (vidi__exact *)filter;
    vidi__pool_record *record = exact->index->find(exact, &item->url);
    if (!record) {
        VIDI__TRY(vidi__exact_insert(exact, &item->url, 1));
        return VIDI_NEW;
    }
    if (exact->multiset) {
        uint64_t times = vidi__exact_record_times(exact, record);
        if (times == UINT64_MAX)
            return vidi__exact_too_often();
        vidi__exact_set_times(exact, record, times + 1);
    }
    return VIDI_SEEN;
}

int vidi__exact_has(const vidi__filter *filter, const vidi__item *item)
{
    const vidi__exact *exact = (const vidi__exact *)filter;
    return exact->index->find(exact, &item->url) ? VIDI_SEEN : VIDI_NEW;
}

int vidi__exact_times(const vidi__filter *filter, const vidi__item *item, uint64_t *times)
{
    const vidi__exact *exact = (const vidi__exact *)filter;
    const vidi__pool_record *record = exact->index->find(exact, &item->url);
    *times = record ? vidi__exact_record_times(exact, record) : 0;
    return VIDI_OK;
}

int vidi__exact_remove(vidi__filter *filter, const vidi__item *item)
{
    vidi__exact *exact = (vidi__exact *)filter;
    vidi__pool_record *record = exact->index->find(exact, &item->url);
    if (!record)
        return vidi__fail(VIDI_EABSENT, "the URL is not in the set, so it cannot be removed");
    uint64_t times = vidi__exact_record_times(exact, record);
    if (times > 1) {
        vidi__exact_set_times(exact, record, times - 1);
        return VIDI_OK;
    }
    take_out(exact, record);
    compact_if_wasteful(exact);
    return VIDI_OK;
}

/* ---- all URLs ---- */

/*
 * One merge. If key is NULL, the hashes that `from` keeps are valid for `into`; otherwise the URLs are hashed again
 * with that key.
 */
typedef struct merging {
    vidi__exact *into;
    const vidi__exact *from;
    const vidi__hash_key *key;
} merging;

/* A URL of `from`, with the hash by which `into` finds it. */
static vidi__part part_for(const merging *merge, const vidi__pool_record *record)
{
    vidi__part url = part_of(merge->from, record);
    if (merge->key && merge->into->index->hash_words)
        url.hash = vidi__hash(merge->into->base.item_hash, merge->key, url.str);
    return url;
}

/* Inserts the URLs that `into` lacks with a count of 0, and checks that no count will overflow. */
static int merge_missing(const merging *merge)
{
    vidi__exact *into = merge->into;
    const vidi__exact *from = merge->from;
    vidi__pool_cursor cursor = {0};
    for (const vidi__pool_record *record; (record = vidi__pool_next(&from->pool, &cursor));) {
        vidi__part url = part_for(merge, record);
        const vidi__pool_record *known = into->index->find(into, &url);
        if (!known)
            VIDI__TRY(vidi__exact_insert(into, &url, 0));
        else if (into->multiset &&
                 vidi__exact_record_times(from, record) > UINT64_MAX - vidi__exact_record_times(into, known))
            return vidi__exact_too_often();
    }
    return VIDI_OK;
}

static void merge_times(const merging *merge)
{
    vidi__exact *into = merge->into;
    const vidi__exact *from = merge->from;
    vidi__pool_cursor cursor = {0};
    for (const vidi__pool_record *record; (record = vidi__pool_next(&from->pool, &cursor));) {
        vidi__part url = part_for(merge, record);
        vidi__pool_record *known = into->index->find(into, &url);
        vidi__exact_set_times(into, known,
                              vidi__exact_record_times(into, known) + vidi__exact_record_times(from, record));
    }
}

/* All or nothing: after half a merge, a second try would count some URLs twice. */
static int merge_all(const merging *merge)
{
    vidi__exact *into = merge->into;
    vidi__pool_cursor before = vidi__pool_end(&into->pool);
    int code = merge_missing(merge);
    if (code < 0) {
        for (vidi__pool_record *record; (record = vidi__pool_next(&into->pool, &before));)
            take_out(into, record);
        compact_if_wasteful(into);
        return code;
    }
    if (into->multiset)
        merge_times(merge);
    return VIDI_OK;
}

int vidi__exact_merge(vidi__filter *filter, const vidi__filter *other)
{
    if (filter == other)
        return VIDI_OK;
    VIDI__TRY(vidi__filter_same_shape(filter, other));
    return merge_all(&(merging){(vidi__exact *)filter, (const vidi__exact *)other, NULL});
}

int vidi__exact_merge_urls(vidi__filter *filter, const vidi__filter *other, const vidi__hash_key *key)
{
    merging merge = {(vidi__exact *)filter, (const vidi__exact *)other, key};
    if (filter == other)
        return VIDI_OK;
    if (merge.into->multiset != merge.from->multiset)
        return vidi__fail(VIDI_EDIFFERS, "one set counts how often each URL was added (multiset=on), the other does "
                                         "not");
    return merge_all(&merge);
}

int vidi__exact_iterate(const vidi__filter *filter, vidi_visitor visitor, void *context)
{
    const vidi__exact *exact = (const vidi__exact *)filter;
    vidi__pool_cursor cursor = {0};
    for (const vidi__pool_record *record; (record = vidi__pool_next(&exact->pool, &cursor));) {
        vidi__part url = part_of(exact, record);
        vidi_entry entry = {url.str, {url.hash.lo, url.hash.hi}, vidi__exact_record_times(exact, record), 0};
        int answer = visitor(context, &entry);
        if (answer)
            return answer;
    }
    return VIDI_OK;
}

int vidi__exact_save(const vidi__filter *filter, vidi__writer *writer)
{
    const vidi__exact *exact = (const vidi__exact *)filter;
    vidi__pool_cursor cursor = {0};
    VIDI__TRY(vidi__write_u64(writer, exact->urls));
    for (const vidi__pool_record *record; (record = vidi__pool_next(&exact->pool, &cursor));) {
        if (exact->index->hash_words)
            VIDI__TRY(vidi__write_words(writer, record->words, exact->index->hash_words));
        VIDI__TRY(vidi__write_u64(writer, vidi__exact_record_times(exact, record)));
        VIDI__TRY(vidi__write_str(writer, vidi__pool_record_str(&exact->pool, record)));
    }
    return VIDI_OK;
}

/* VIDI_EFORMAT unless the hash that was saved with a URL is really its hash. */
static int check_hash(const vidi__exact *exact, const vidi__config *config, const vidi__pool_record *record)
{
    vidi__part url = part_of(exact, record);
    vidi__u128 hash = vidi__hash(config->item_hash, config->item_key, url.str);
    if (hash.lo != url.hash.lo || hash.hi != url.hash.hi)
        return vidi__damaged("the hash of a URL is not the one that is stored with it");
    return VIDI_OK;
}

static int load_one(vidi__exact *exact, const vidi__config *config)
{
    vidi__reader *reader = config->reader;
    uint64_t hash[2] = {0, 0}, times, len;
    vidi__pool_record *record;
    for (unsigned i = 0; i < exact->index->hash_words; i++)
        VIDI__TRY(vidi__read_u64(reader, &hash[i]));
    VIDI__TRY(vidi__read_u64(reader, &times));
    VIDI__TRY(vidi__read_u64(reader, &len));
    if (times == 0)
        return vidi__damaged("a URL is stored 0 times");
    if (times > 1 && !exact->multiset)
        return vidi__damaged("a URL is stored more than once, but the set is not a multiset");
    VIDI__TRY(vidi__pool_read(&exact->pool, reader, len, &record));
    memcpy(record->words, hash, exact->index->hash_words * sizeof hash[0]);
    vidi__exact_set_times(exact, record, times);
    counted(exact, 1);
    bool check = exact->index->hash_words && !reader->trusted; /* also over a mapping: these kinds never borrow */
    return check ? check_hash(exact, config, record) : VIDI_OK;
}

/* Loads the pool. The index is created afterwards, when the number of URLs is no longer just a claim. */
static int load(vidi__exact *exact, const vidi__config *config)
{
    uint64_t urls, smallest = (exact->index->hash_words + 2) * sizeof(uint64_t);
    VIDI__TRY(vidi__read_u64(config->reader, &urls));
    if (urls > config->reader->left / smallest)
        return vidi__damaged("there are more URLs than the data can hold");
    for (uint64_t i = 0; i < urls; i++)
        VIDI__TRY(load_one(exact, config));
    return VIDI_OK;
}

/* ---- the filter ---- */

int vidi__exact_create(vidi__filter **filter, const vidi__config *config, const vidi__index *index)
{
    vidi__exact *exact;
    unsigned multiset = 0;
    VIDI__TRY(vidi__filter_alloc(&exact, index->size, index->kind, config));
    *filter = &exact->base;
    exact->index = index;
    exact->base.needs.what = index->needs;
    exact->base.fp_meaning = VIDI_FP_EXACT;
    exact->base.capacity = 0;
    VIDI__TRY(vidi__params_choice(config->params, "multiset", "off|on", &multiset));
    exact->multiset = exact->base.stores_every_add = multiset == 1;
    vidi__pool_init(&exact->pool, config->memory, index->hash_words + multiset);
    if (config->reader) {
        VIDI__TRY(load(exact, config));
        return index->prepare(exact, config, exact->urls);
    }
    /*
     * The expected URLs must fit even if every one of them is empty. Their real lengths are only known when they are
     * added.
     */
    uint64_t least = vidi__pool_record_size(&exact->pool, 0) + (uint64_t)index->bytes_per_url;
    VIDI__TRY(vidi__memory_check(config->memory, vidi__exact_array(config->capacity, least)));
    return index->prepare(exact, config, config->touch_later ? 0 : config->capacity); /* then it grows */
}

void vidi__exact_destroy(vidi__filter *filter)
{
    vidi__exact *exact = (vidi__exact *)filter;
    if (exact->index->release)
        exact->index->release(exact);
    if (exact->pool.memory)
        vidi__pool_free(&exact->pool);
    vidi__release(filter->memory, exact, exact->index->size, VIDI__CACHE_LINE);
}

double vidi__exact_fp_now(const vidi__filter *filter)
{
    (void)filter;
    return 0;
}

void vidi__exact_stat(const vidi__filter *filter, vidi__filter_stats *stats)
{
    const vidi__exact *exact = (const vidi__exact *)filter;
    const vidi__index *index = exact->index;
    stats->bytes = exact->pool.bytes + (index->bytes ? index->bytes(exact) : 0);
    stats->fill = index->fill ? index->fill(exact) : exact->urls > 0;
    stats->stages = 1;
}

void vidi__exact_describe(const vidi__filter *filter, vidi__text *text)
{
    const vidi__exact *exact = (const vidi__exact *)filter;
    vidi__text_add(text, "multiset=%s", exact->multiset ? "on" : "off");
    if (exact->index->hash_words)
        vidi__text_add(text, ",hash=%s", filter->item_hash->name);
}

void vidi__exact_hash_names(const vidi__filter *filter, vidi__text *text)
{
    const vidi__exact *exact = (const vidi__exact *)filter;
    vidi__text_add(text, "%s", exact->index->hash_words ? filter->item_hash->name : "none");
}

/* Memory is proportional to the number of URLs. Any error rate and any limit on pages lost is met. */
int vidi__exact_plan(const vidi__want *want, vidi__planned *planned, const vidi__index *index)
{
    const char *name = index->kind->name;
    unsigned multiset = 0;
    VIDI__TRY(vidi__params_choice(want->params, "multiset", "off|on", &multiset));
    if (want->k || want->multiplier != 0)
        return vidi__fail(VIDI_EOPTION, "%s has no positions, so that k and M mean nothing to it", name);
    if (!want->urls && !want->memory)
        return vidi__fail(VIDI_EOPTION, "%s needs the number of URLs or the memory", name);
    if (!(want->url_bytes >= 0 && isfinite(want->url_bytes)))
        return vidi__fail(VIDI_EOPTION, "a URL's length cannot be %g bytes on average", want->url_bytes);
    double average = want->url_bytes > 0 ? want->url_bytes : URL_BYTES;
    double record = vidi__pool_bytes_each(average, index->hash_words + multiset), each = record + index->bytes_per_url;
    uint64_t urls = want->urls ? want->urls : (uint64_t)((double)want->memory / each);
    double bytes = ceil((double)urls * each);
    if (bytes >= 0x1p63)
        return vidi__fail(VIDI_EOPTION, "%s needs more memory than there are addresses", name);
    if (!urls || (want->memory && (uint64_t)bytes > want->memory))
        return vidi__fail(VIDI_EOPTION, "%s needs %s for %s, more than the %s given", name,
                          vidi__human_bytes(urls ? (uint64_t)bytes : (uint64_t)each + 1).text,
                          urls ? "the URLs" : "a URL", vidi__human_bytes(want->memory).text);
    *planned = (vidi__planned){.urls = urls, .bytes = (uint64_t)bytes};
    /* A search in vain, with half of the URLs there as the average, and a record that is written. */
    planned->lines = index->lines((double)urls / 2, record) + record / VIDI__CACHE_LINE;
    vidi__text text = vidi__text_in(planned->params, sizeof planned->params);
    vidi__text_add(&text, "capacity=%llu", (unsigned long long)urls);
    return VIDI_OK;
}

/* ---- order ---- */

int vidi__exact_compare(vidi_str a, vidi_str b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter ? memcmp(a.ptr, b.ptr, shorter) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_records(const vidi__pool *pool, const vidi__pool_record *a, const vidi__pool_record *b)
{
    return vidi__exact_compare(vidi__pool_record_str(pool, a), vidi__pool_record_str(pool, b));
}

/* Merges the runs [from, middle) and [middle, to) of `in` into `out`. */
static void merge_runs(const vidi__pool *pool, vidi__pool_record **in, vidi__pool_record **out, uint64_t from,
                       uint64_t middle, uint64_t to)
{
    uint64_t a = from, b = middle;
    for (uint64_t i = from; i < to; i++) {
        bool first = b == to || (a < middle && compare_records(pool, in[a], in[b]) <= 0);
        out[i] = first ? in[a++] : in[b++];
    }
}

/* Bottom-up merge sort, alternating between two arrays; returns the one that holds the result. */
static vidi__pool_record **sort(const vidi__pool *pool, vidi__pool_record **in, vidi__pool_record **out, uint64_t count)
{
    for (uint64_t run = 1; run < count; run *= 2) {
        for (uint64_t from = 0; from < count; from += 2 * run) {
            uint64_t middle = count - from < run ? count : from + run;
            uint64_t to = count - middle < run ? count : middle + run;
            merge_runs(pool, in, out, from, middle, to);
        }
        vidi__pool_record **swap = in;
        in = out;
        out = swap;
    }
    return in;
}

int vidi__exact_sort(const vidi__exact *exact, uint64_t room, vidi__pool_record ***records)
{
    vidi__memory *memory = exact->base.memory;
    const vidi__pool *pool = &exact->pool;
    vidi__pool_record **arrays[2];
    uint64_t bytes = vidi__exact_array(room, sizeof **arrays), count = 0;
    size_t alignment = _Alignof(vidi__pool_record *);
    *records = NULL;
    VIDI__TRY(vidi__alloc(memory, &arrays[0], bytes, alignment));
    int code = vidi__alloc(memory, &arrays[1], bytes, alignment);
    if (code < 0) {
        vidi__release(memory, arrays[0], bytes, alignment);
        return code;
    }
    vidi__pool_cursor cursor = {0};
    for (vidi__pool_record *record; (record = vidi__pool_next(pool, &cursor));)
        arrays[0][count++] = record;
    vidi__pool_record **sorted = sort(pool, arrays[0], arrays[1], count);
    for (uint64_t i = 1; i < count && code == VIDI_OK; i++)
        if (compare_records(pool, sorted[i - 1], sorted[i]) == 0)
            code = vidi__damaged("a URL is stored twice");
    vidi__release(memory, sorted == arrays[0] ? arrays[1] : arrays[0], bytes, alignment);
    if (code < 0)
        vidi__release(memory, sorted, bytes, alignment);
    else
        *records = sorted;
    return code;
}
