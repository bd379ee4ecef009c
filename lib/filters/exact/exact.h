/*
 * What the exact kinds list, sorted and hashset share. All of them keep the URLs themselves in a pool, and differ only
 * in the index that finds them. Verdicts, counts, merging, saving, loading, listing and planning are implemented here,
 * once.
 *
 *     record of the pool    | length | hash (hashset) | times (multiset=on) | bytes of the URL |
 *
 * Promises: exact in both directions; URLs of any length and content; every failure leaves the filter as it was, even
 * if a merge fails half-way. With multiset=off a URL is in or out, and a repeated add changes nothing. With multiset=on
 * every add is stored, so a URL is out again after as many removes.
 *
 * A remove costs as much as a lookup, except that the pool is compacted when more than half of it is dead
 * (base/pool.h). That takes time in proportion to the pool, and happens after a number of removes in proportion to it.
 */
#ifndef VIDI_FILTERS_EXACT_EXACT_H
#define VIDI_FILTERS_EXACT_EXACT_H

#include "base/pool.h"
#include "filters/filter.h"

typedef struct vidi__exact vidi__exact;

/* An index, which finds records. Functions that an index does not need are NULL. */
typedef struct vidi__index {
    const vidi__kind *kind;
    size_t size;          /* size of the kind's struct */
    unsigned needs;       /* VIDI__NEED_… flags */
    unsigned hash_words;  /* words of hash kept with each URL: 2 or 0 */
    double bytes_per_url; /* memory of the index per URL, if it was created for exactly as many URLs as it holds */

    /* Cache lines that a lookup among this many URLs touches. */
    double (*lines)(double urls, double record_bytes);

    /* Makes room for `urls` URLs and indexes those in the pool; a URL that is there twice is damage. */
    int (*prepare)(vidi__exact *exact, const vidi__config *config, uint64_t urls);
    void (*release)(vidi__exact *exact);

    vidi__pool_record *(*find)(const vidi__exact *exact, const vidi__part *url);
    int (*reserve)(vidi__exact *exact); /* makes room for one more, so that link cannot fail */
    void (*link)(vidi__exact *exact, vidi__pool_record *record);
    void (*unlink)(vidi__exact *exact, vidi__pool_record *record); /* called while the record is still alive */
    void (*compact)(vidi__exact *exact); /* calls vidi__pool_compact and updates the references */
    uint64_t (*bytes)(const vidi__exact *exact);
    double (*fill)(const vidi__exact *exact);
} vidi__index;

struct vidi__exact {
    vidi__filter base;
    const vidi__index *index;
    vidi__pool pool;
    uint64_t
        /* Live records. The base's count is for others to read; loading sets it to what the stream says. */
        urls;
    bool multiset;
};

int vidi__exact_create(vidi__filter **filter, const vidi__config *config, const vidi__index *index);
void vidi__exact_destroy(vidi__filter *filter);
int vidi__exact_add(vidi__filter *filter, const vidi__item *item);
int vidi__exact_has(const vidi__filter *filter, const vidi__item *item);
int vidi__exact_remove(vidi__filter *filter, const vidi__item *item);
int vidi__exact_times(const vidi__filter *filter, const vidi__item *item, uint64_t *times);
int vidi__exact_merge(vidi__filter *filter, const vidi__filter *other);
int vidi__exact_merge_urls(vidi__filter *filter, const vidi__filter *other, const vidi__hash_key *key);
int vidi__exact_iterate(const vidi__filter *filter, vidi_visitor visitor, void *context);
int vidi__exact_save(const vidi__filter *filter, vidi__writer *writer);
int vidi__exact_save_run(const vidi__filter *filter, vidi__run_out *run);
int vidi__exact_load_run(vidi__filter *filter, vidi__run_in *run);
double vidi__exact_fp_now(const vidi__filter *filter);
void vidi__exact_stat(const vidi__filter *filter, vidi__filter_stats *stats);
void vidi__exact_describe(const vidi__filter *filter, vidi__text *text);
void vidi__exact_hash_names(const vidi__filter *filter, vidi__text *text);
int vidi__exact_plan(const vidi__want *want, vidi__planned *planned, const vidi__index *index);

/* How often the URL of a record was added. */
uint64_t vidi__exact_record_times(const vidi__exact *exact, const vidi__pool_record *record);
void vidi__exact_set_times(const vidi__exact *exact, vidi__pool_record *record, uint64_t times);

/* Inserts a URL that is not there. */
int vidi__exact_insert(vidi__exact *exact, const vidi__part *url, uint64_t times);

/* The error for a URL whose count would overflow. */
int vidi__exact_too_often(void);

/* The part of a kind's table that all exact kinds share. */
#define VIDI__EXACT_KIND                                                                                               \
    .can = VIDI_CAN_DELETE | VIDI_CAN_COUNT | VIDI_CAN_MERGE | VIDI_CAN_ITERATE | VIDI_CAN_GROW | VIDI_KEEPS_URLS,     \
    .destroy = vidi__exact_destroy, .has = vidi__exact_has, .remove = vidi__exact_remove, .times = vidi__exact_times,  \
    .merge = vidi__exact_merge, .merge_urls = vidi__exact_merge_urls, .iterate = vidi__exact_iterate,                  \
    .save = vidi__exact_save, .save_run = vidi__exact_save_run, .load_run = vidi__exact_load_run,                      \
    .fp_now = vidi__exact_fp_now, .stat = vidi__exact_stat, .describe = vidi__exact_describe,                          \
    .hash_names = vidi__exact_hash_names

/* Bytes of an array, or UINT64_MAX if the number overflows: no allocator grants that. */
static inline uint64_t vidi__exact_array(uint64_t count, size_t size)
{
    uint64_t bytes;
    return __builtin_mul_overflow(count, (uint64_t)size, &bytes) ? UINT64_MAX : bytes;
}

/* Compares byte by byte; a prefix comes first. */
int vidi__exact_compare(vidi_str a, vidi_str b);

/*
 * All records of the pool, sorted by string, as an array with room for `room` records (at least as many as there are).
 * The caller releases it. VIDI_EFORMAT if two are equal.
 */
int vidi__exact_sort(const vidi__exact *exact, uint64_t room, vidi__pool_record ***records);

#endif
