/*
 * What the tests of the kind blocked share: filters below the set, which take ready hashes, so that millions of them
 * cost little; and their streams.
 */
#ifndef TESTS_FILTERS_BLOCKED_BLOCKED_CASES_H
#define TESTS_FILTERS_BLOCKED_BLOCKED_CASES_H

#include <stdlib.h>
#include <string.h>

#include "filters/blocked/blocked_growth.h"
#include "support/check.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/stats.h"

typedef struct table {
    vidi__memory memory;
    vidi__filter *filter;
    vidi__tally tally; /* of all batches */
    vidi__gate gate;   /* as if other threads were there; see table_alone */
    vidi__memory gate_memory;
} table;

/* Every thread that uses the table goes through its gate first; only when that is done it may be counted. */
static inline vidi__slot *table_enter(table *of)
{
    vidi__slot *slot = vidi__gate_join(&of->gate, &of->gate_memory);
    assert_non_null(slot);
    return slot;
}

static inline int share_table(table *made)
{
    assert_int_equal(vidi__memory_init(&made->gate_memory, NULL, 0), VIDI_OK);
    vidi__gate_init(&made->gate);
    vidi__gate_close(&made->gate);
    vidi__gate_give(&made->gate, VIDI__GATE_SHARED);
    vidi__gate_open(&made->gate);
    made->filter->gate = &made->gate;
    table_enter(made);
    return made->filter->kind->share(made->filter, &made->gate);
}

/* From now on only this thread uses the table. */
static inline void table_alone(table *of)
{
    of->filter->gate = NULL;
}

/* Its key depends on the seed alone; its contents come from the reader if there is one. */
static inline int make_table(table *made, const char *params, uint64_t capacity, double error, uint64_t seed,
                             vidi__reader *reader)
{
    vidi__params parsed;
    vidi__config config = {.memory = &made->memory, .params = &parsed, .capacity = capacity, .error = error};
    memset(made, 0, sizeof *made);
    assert_int_equal(vidi__memory_init(&made->memory, NULL, 0), VIDI_OK);
    assert_int_equal(vidi__params_parse(&parsed, params), VIDI_OK);
    assert_int_equal(vidi__positions_item_hash(&parsed, &config.item_hash), VIDI_OK);
    test_key(config.seed.key, seed);
    config.reader = reader;
    int code = vidi__filter_create(&made->filter, &vidi__kind_blocked, &config);
    return code < 0 ? code : share_table(made);
}

static inline int try_table(table *made, const char *params, uint64_t capacity, double error, uint64_t seed)
{
    return make_table(made, params, capacity, error, seed, NULL);
}

static inline void table_make(table *made, const char *params, uint64_t capacity, double error, uint64_t seed)
{
    int code = try_table(made, params, capacity, error, seed);
    check(code == VIDI_OK, "blocked %s for %llu URLs at %g: %d, %s", params, (unsigned long long)capacity, error, code,
          vidi_message());
}

static inline void table_free(table *old)
{
    vidi__filter_destroy(old->filter);
    vidi__gate_free(&old->gate, &old->gate_memory);
    assert_int_equal(vidi__memory_used(&old->gate_memory), 0);
    assert_int_equal(vidi__memory_used(&old->memory), 0);
}

static inline vidi__filter_stats table_stat(const table *of)
{
    vidi__filter_stats stats = {.stages = 1};
    of->filter->kind->stat(of->filter, &stats);
    return stats;
}

/* With what each thread has kept to itself. */
static inline uint64_t table_count(const table *of)
{
    uint64_t count = vidi__filter_count(of->filter);
    const vidi__slot *slot;
    for (uint32_t at = 0; (slot = vidi__gate_next(&of->gate, &at)) != NULL;)
        count += slot->count;
    return count;
}

static inline double table_fp(const table *of)
{
    return of->filter->kind->fp_now(of->filter);
}

/* URL number i of a family: 128 random bits. */
static inline vidi__u128 hash_at(uint64_t family, uint64_t i)
{
    uint64_t base = test_mix(family * 0x9e3779b97f4a7c15u + 1);
    return (vidi__u128){test_mix(base + 2 * i), test_mix(base + 2 * i + 1)};
}

static inline void fill_hashes(vidi__u128 *hashes, uint64_t family, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hashes[i] = hash_at(family, first + i);
}

static inline uint64_t how_many(const uint8_t *verdicts, size_t n, uint8_t verdict)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += verdicts[i] == verdict;
    return count;
}

/* Adds URLs first .. first + n - 1 in large batches: how many were NEW. */
static inline uint64_t add_urls(table *to, uint64_t family, uint64_t first, uint64_t n)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    uint8_t verdicts[VIDI__HASHES_MAX];
    uint64_t fresh = 0;
    for (uint64_t done = 0; done < n; done += VIDI__HASHES_MAX) {
        size_t count = n - done < VIDI__HASHES_MAX ? (size_t)(n - done) : VIDI__HASHES_MAX;
        fill_hashes(hashes, family, first + done, count);
        int code = to->filter->kind->add_hashes(to->filter, hashes, count, verdicts, &to->tally);
        check(code == VIDI_OK, "%d: %s", code, vidi_message());
        fresh += how_many(verdicts, count, VIDI_NEW);
    }
    return fresh;
}

/* How many of them it says to have seen. */
static inline uint64_t seen_urls(const table *in, uint64_t family, uint64_t first, uint64_t n)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    uint8_t verdicts[VIDI__HASHES_MAX];
    uint64_t seen = 0;
    for (uint64_t done = 0; done < n; done += VIDI__HASHES_MAX) {
        size_t count = n - done < VIDI__HASHES_MAX ? (size_t)(n - done) : VIDI__HASHES_MAX;
        fill_hashes(hashes, family, first + done, count);
        assert_int_equal(in->filter->kind->has_hashes(in->filter, hashes, count, verdicts), VIDI_OK);
        seen += how_many(verdicts, count, VIDI_SEEN);
    }
    return seen;
}

static inline int add_one(table *to, vidi__u128 hash)
{
    vidi__item item = {.url.hash = hash};
    return to->filter->kind->add(to->filter, &item);
}

static inline int has_one(const table *in, vidi__u128 hash)
{
    vidi__item item = {.url.hash = hash};
    return in->filter->kind->has(in->filter, &item);
}

/* A whole set; everything but the kind and the key is as in vidi_options. */
static inline vidi_set *blocked_set(vidi_options options, uint64_t seed)
{
    unsigned char key[VIDI_KEY_BYTES];
    vidi_set *set = NULL;
    test_key(key, seed);
    options.size = sizeof options;
    options.kind = "blocked";
    options.key = key;
    int code = vidi_create(&set, &options);
    check(code == VIDI_OK, "%d: %s", code, vidi_message());
    return set;
}

/* What save writes. */
typedef struct saved {
    vidi__writer base;
    unsigned char *bytes;
    size_t size, room;
} saved;

static inline int save_bytes(vidi__writer *writer, const void *data, uint64_t bytes)
{
    saved *to = (saved *)writer;
    if (to->size + bytes > to->room) {
        to->room = 2 * (to->size + (size_t)bytes);
        to->bytes = realloc(to->bytes, to->room);
        assert_non_null(to->bytes);
    }
    memcpy(to->bytes + to->size, data, (size_t)bytes);
    to->size += (size_t)bytes;
    return VIDI_OK;
}

static inline saved save_of(const table *of)
{
    saved made = {.base.write = save_bytes};
    assert_int_equal(of->filter->kind->save(of->filter, &made.base), VIDI_OK);
    return made;
}

/* Where the words of the layer are whose numbers begin at `at`: behind four, the marks of 64 partitions, and zeros. */
static inline size_t words_behind(size_t at)
{
    return (size_t)vidi__round_up(at + 32 + 64 * 8, VIDI__CACHE_LINE);
}

typedef struct saved_reader {
    vidi__reader base;
    const saved *from;
    size_t at;
} saved_reader;

static inline int read_saved(vidi__reader *reader, void *data, uint64_t bytes)
{
    saved_reader *self = (saved_reader *)reader;
    assert_true(bytes <= self->from->size - self->at);
    memcpy(data, self->from->bytes + self->at, (size_t)bytes);
    self->at += (size_t)bytes;
    self->base.left -= bytes;
    return VIDI_OK;
}

/* The same table, read from what it saved. */
static inline void table_copy(table *copy, const table *of, const char *params, uint64_t seed)
{
    saved bytes = save_of(of);
    saved_reader reader = {{.read = read_saved, .left = bytes.size}, &bytes, 0};
    int code = make_table(copy, params, of->filter->capacity, of->filter->error, seed, &reader.base);
    check(code == VIDI_OK && reader.at == bytes.size, "%d: %s", code, vidi_message());
    free(bytes.bytes);
}

static inline void must_be_same_bytes(const table *a, const table *b, const char *what)
{
    saved one = save_of(a), two = save_of(b);
    check(one.size == two.size && memcmp(one.bytes, two.bytes, one.size) == 0, "%s: the bytes differ", what);
    free(one.bytes);
    free(two.bytes);
}

#endif
