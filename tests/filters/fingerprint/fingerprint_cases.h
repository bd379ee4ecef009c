/*
 * What the tests of the kind fingerprint share: sets, URLs and hashes added and asked for in batches, and sorted lists
 * of what is in a set.
 */
#ifndef TESTS_FILTERS_FINGERPRINT_FINGERPRINT_CASES_H
#define TESTS_FILTERS_FINGERPRINT_FINGERPRINT_CASES_H

#include <math.h>

#include "filters/exact/exact_cases.h"
#include "support/env.h"
#include "support/urls.h"

#define BITS_DEFAULT 60

static inline vidi_set *set_of(const char *params, uint64_t capacity, uint64_t seed, const vidi_allocator *allocator)
{
    test_case which = {"fingerprint", params, (double)capacity, 0, 0};
    return test_case_bytes_set(&which, 1, seed, allocator);
}

static inline vidi_str url_at(char *room, uint64_t seed, uint64_t index)
{
    return (vidi_str){room, test_url(room, TEST_URL_ROOM, seed, index)};
}

/* Adds URLs first .. first + n - 1 in batches; how many were NEW. */
static inline uint64_t add_urls(vidi_set *set, test_url_maker *maker, uint64_t seed, uint64_t first, uint64_t n)
{
    enum { PART = 3000 };
    uint8_t verdicts[PART];
    uint64_t fresh = 0;
    test_batch batch;
    test_batch_init(&batch, PART);
    for (uint64_t done = 0; done < n; done += batch.n) {
        test_batch_fill(&batch, maker, seed, first + done, (size_t)(n - done < PART ? n - done : PART));
        assert_int_equal(vidi_add_batch(set, batch.urls, batch.n, verdicts, NULL), VIDI_OK);
        for (size_t i = 0; i < batch.n; i++)
            fresh += verdicts[i] == VIDI_NEW;
    }
    test_batch_free(&batch);
    return fresh;
}

/* How many of the URLs it says to have seen. */
static inline uint64_t seen_urls(const vidi_set *set, uint64_t seed, uint64_t first, uint64_t n)
{
    enum { PART = 2500 };
    uint8_t verdicts[PART];
    uint64_t seen = 0;
    test_batch batch;
    test_batch_init(&batch, PART);
    for (uint64_t done = 0; done < n; done += batch.n) {
        test_batch_fill(&batch, test_url, seed, first + done, (size_t)(n - done < PART ? n - done : PART));
        assert_int_equal(vidi_has_batch(set, batch.urls, batch.n, verdicts), VIDI_OK);
        for (size_t i = 0; i < batch.n; i++)
            seen += verdicts[i] == VIDI_SEEN;
    }
    test_batch_free(&batch);
    return seen;
}

/* How many hashes W bits tell apart: the least g · 2^e with 256 <= g < 512 that is 2^W or more. */
static inline uint64_t numbers_of(double bits)
{
    unsigned whole = (unsigned)bits;
    uint64_t g = 256;
    while (log2((double)g) - 8 < bits - whole)
        g++;
    return g << (whole - 8);
}

/* What is in a set, as numbers below `numbers` that hashes come to. */
typedef struct listed {
    uint64_t (*all)[2]; /* number and times */
    size_t n, room;
    uint64_t numbers;
} listed;

/* The least hash of 64 bits that comes to a number. */
static inline uint64_t least_hash(uint64_t number, uint64_t numbers)
{
    return (uint64_t)((((unsigned __int128)number << 64) + numbers - 1) / numbers);
}

static inline int list_entry(void *context, const vidi_entry *entry)
{
    listed *l = context;
    uint64_t number = vidi__scale(entry->hash[1], l->numbers);
    if (l->n == l->room)
        return 1;
    l->all[l->n][0] = number;
    l->all[l->n++][1] = entry->times;
    return !entry->url.ptr && entry->hash[1] != least_hash(number, l->numbers) ? 2 : 0;
}

static inline int by_first(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static inline listed listing_of(const vidi_set *set, double bits)
{
    listed l = {.room = test_stat(set).count, .numbers = numbers_of(bits)};
    l.all = calloc(l.room + 1, sizeof *l.all);
    assert_non_null(l.all);
    assert_int_equal(vidi_iterate(set, list_entry, &l), 0);
    assert_int_equal(l.n, l.room);
    qsort(l.all, l.n, sizeof *l.all, by_first);
    return l;
}

/* ---- filters that are given hashes, without a set around them ---- */

static inline int create_fingerprint(fixture *f, vidi__filter **filter, const char *text, uint64_t capacity,
                                     double error)
{
    vidi__params params;
    assert_int_equal(vidi__params_parse(&params, text), VIDI_OK);
    vidi__config config = {.memory = &f->memory, .params = &params, .capacity = capacity, .error = error};
    config.item_hash = f->hash;
    return vidi__filter_create(filter, &vidi__kind_fingerprint, &config);
}

/* Adds hashes in batches; how many were NEW. */
static inline uint64_t add_all_hashes(vidi__filter *filter, const vidi__u128 *hashes, uint64_t n)
{
    uint8_t verdicts[VIDI__HASHES_MAX];
    vidi__tally tally = {0};
    for (uint64_t done = 0, part; done < n; done += part) {
        part = n - done < VIDI__HASHES_MAX ? n - done : VIDI__HASHES_MAX;
        assert_int_equal(filter->kind->add_hashes(filter, hashes + done, part, verdicts, &tally), VIDI_OK);
    }
    assert_int_equal(tally.fresh + tally.seen, n);
    return tally.fresh;
}

/* How many of the hashes it says to have seen. */
static inline uint64_t seen_hashes(const vidi__filter *filter, const vidi__u128 *hashes, uint64_t n)
{
    uint8_t verdicts[VIDI__HASHES_MAX];
    uint64_t seen = 0;
    for (uint64_t done = 0, part; done < n; done += part) {
        part = n - done < VIDI__HASHES_MAX ? n - done : VIDI__HASHES_MAX;
        assert_int_equal(filter->kind->has_hashes(filter, hashes + done, part, verdicts), VIDI_OK);
        for (uint64_t i = 0; i < part; i++)
            seen += verdicts[i] == VIDI_SEEN;
    }
    return seen;
}

/* Hash `i` of a stream of them: all different, and as good as random. */
static inline void fill_hashes(vidi__u128 *hashes, uint64_t seed, uint64_t first, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        hashes[i] = (vidi__u128){0, test_mix((seed << 40) + first + i + 1)};
}

/* Adds hashes first .. first + n - 1 of a stream; how many were NEW. */
static inline uint64_t add_stream(vidi__filter *filter, uint64_t seed, uint64_t first, uint64_t n)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    uint64_t fresh = 0;
    for (uint64_t done = 0, part; done < n; done += part) {
        part = n - done < VIDI__HASHES_MAX ? n - done : VIDI__HASHES_MAX;
        fill_hashes(hashes, seed, first + done, part);
        fresh += add_all_hashes(filter, hashes, part);
    }
    return fresh;
}

static inline uint64_t seen_stream(const vidi__filter *filter, uint64_t seed, uint64_t first, uint64_t n)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    uint64_t seen = 0;
    for (uint64_t done = 0, part; done < n; done += part) {
        part = n - done < VIDI__HASHES_MAX ? n - done : VIDI__HASHES_MAX;
        fill_hashes(hashes, seed, first + done, part);
        seen += seen_hashes(filter, hashes, part);
    }
    return seen;
}

static inline void add_with(const char *promise, CMUnitTestFunction function, const char *const *params)
{
    char name[150];
    for (; *params; params++) {
        snprintf(name, sizeof name, "%s: %s", promise, *params);
        test_add(name, function, *params);
    }
}

#endif
