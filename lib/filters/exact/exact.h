/*
 * What the exact kinds list, sorted and hashset share: all of them keep the URLs themselves, in a pool, and differ only
 * in the index by which they find one. Verdicts, counts, merging, saving, loading, listing and planning are here, once.
 *
 *   record of the pool    | length | hash (hashset) | times (multiset=on) | bytes of the URL |
 *
 * Promises: exact in both directions; URLs of any length and content; every failure leaves the filter as it was, a
 * merge that fails half-way included. Parameter multiset=off: a URL is in or out, and a further add changes nothing.
 * multiset=on: every add is stored, so that a URL is out again after as many removes.
 *
 * Removing costs what finding costs, except that when more than half of the pool is dead everything is moved together
 * (see base/pool.h): time in proportion to the whole, after a number of removes in proportion to the whole.
 */
#ifndef VIDI_FILTERS_EXACT_EXACT_H
#define VIDI_FILTERS_EXACT_EXACT_H

#include "base/pool.h"
#include "filters/filter.h"

typedef struct vidi__exact vidi__exact;

/* One way to find records. Functions that an index has no use for are NULL. */
typedef struct vidi__index {
    const vidi__kind *kind;
    size_t size;                                       /* of the kind's struct */
    unsigned needs;                                    /* of an item */
    unsigned hash_words;                               /* kept with each URL: 2 or 0 */
    double bytes_per_url;                              /* of the index, when it was made for as many URLs as it holds */
    double (*lines)(double urls, double record_bytes); /* cache lines that a search among so many URLs touches */

    /* Makes room for so many URLs, and takes in those that are in the pool: a URL that is there twice is damage. */
    int (*prepare)(vidi__exact *exact, const vidi__config *config, uint64_t urls);
    void (*release)(vidi__exact *exact);

    vidi__record *(*find)(const vidi__exact *exact, const vidi__part *url);
    int (*reserve)(vidi__exact *exact); /* room for one more, so that link cannot fail */
    void (*link)(vidi__exact *exact, vidi__record *record);
    void (*unlink)(vidi__exact *exact, vidi__record *record); /* while it is still alive */
    void (*compact)(vidi__exact *exact);                      /* vidi__pool_compact, following the records */
    uint64_t (*bytes)(const vidi__exact *exact);
    double (*fill)(const vidi__exact *exact);
} vidi__index;

struct vidi__exact {
    vidi__filter base;
    const vidi__index *index;
    vidi__pool pool;
    uint64_t
        urls; /* live records. The base's count is for others to read, and loading sets it to what the stream says */
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
double vidi__exact_fp_now(const vidi__filter *filter);
void vidi__exact_stat(const vidi__filter *filter, vidi__filter_stats *stats);
void vidi__exact_describe(const vidi__filter *filter, vidi__text *text);
void vidi__exact_hash_names(const vidi__filter *filter, vidi__text *text);
int vidi__exact_plan(const vidi__want *want, vidi__planned *planned, const vidi__index *index);

/* The part of a kind's table that is the same for all of them. */
#define VIDI__EXACT_KIND                                                                                               \
    .can = VIDI_CAN_DELETE | VIDI_CAN_COUNT | VIDI_CAN_MERGE | VIDI_CAN_ITERATE | VIDI_CAN_GROW,                       \
    .destroy = vidi__exact_destroy, .has = vidi__exact_has, .remove = vidi__exact_remove, .times = vidi__exact_times,  \
    .merge = vidi__exact_merge, .merge_urls = vidi__exact_merge_urls, .iterate = vidi__exact_iterate,                  \
    .save = vidi__exact_save, .fp_now = vidi__exact_fp_now, .stat = vidi__exact_stat,                                  \
    .describe = vidi__exact_describe, .hash_names = vidi__exact_hash_names

/* Bytes of an array, UINT64_MAX if there is no such number: no allocator gives that. */
static inline uint64_t vidi__exact_array(uint64_t count, size_t size)
{
    uint64_t bytes;
    return __builtin_mul_overflow(count, (uint64_t)size, &bytes) ? UINT64_MAX : bytes;
}

/* Byte by byte, then the shorter first. */
int vidi__exact_compare(vidi_str a, vidi_str b);

/*
 * All records of the pool, ordered by their strings, as an array with room for `room` (at least as many as there are);
 * the caller releases it. VIDI_EFORMAT if two are the same.
 */
int vidi__exact_sort(const vidi__exact *exact, uint64_t room, vidi__record ***records);

#endif
