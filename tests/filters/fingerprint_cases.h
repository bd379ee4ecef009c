/*
 * What the tests of the kind fingerprint share: sets, URLs added and asked for in batches, and sorted lists of what is in
 * a set.
 */
#ifndef TESTS_FILTERS_FINGERPRINT_CASES_H
#define TESTS_FILTERS_FINGERPRINT_CASES_H

#include "filters/exact_cases.h"
#include "support/env.h"
#include "support/urls.h"

#define BITS_DEFAULT 60

static inline vidi_set *set_of(const char *params, uint64_t capacity, uint64_t seed, const vidi_allocator *allocator)
{
    test_case which = {"fingerprint", params, (double)capacity, 0, 0};
    return test_case_set(&which, 1, seed, allocator);
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
        assert_int_equal(vidi_add_batch(set, batch.urls, batch.n, verdicts), VIDI_OK);
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

typedef struct listed {
    uint64_t (*all)[2]; /* hash and times */
    size_t n, room;
    uint64_t mask;
} listed;

static inline int list_entry(void *context, const vidi_entry *entry)
{
    listed *l = context;
    if (l->n == l->room)
        return 1;
    l->all[l->n][0] = entry->hash[1] & l->mask;
    l->all[l->n++][1] = entry->times;
    return (entry->hash[1] & ~l->mask) && !entry->url.ptr ? 2 : 0;
}

static inline int by_first(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static inline listed listing_of(const vidi_set *set, unsigned bits)
{
    listed l = {.room = test_stat(set).count, .mask = UINT64_MAX << (64 - bits)};
    l.all = calloc(l.room + 1, sizeof *l.all);
    assert_non_null(l.all);
    assert_int_equal(vidi_iterate(set, list_entry, &l), 0);
    assert_int_equal(l.n, l.room);
    qsort(l.all, l.n, sizeof *l.all, by_first);
    return l;
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
