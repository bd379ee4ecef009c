/*
 * What the tests of sub-tables stand on: shapes, sorted lists of hashes to compare with, and streams in memory.
 */
#ifndef TESTS_FILTERS_SUBTABLE_CASES_H
#define TESTS_FILTERS_SUBTABLE_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/subtable.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/random.h"
#include "support/runner.h"

typedef struct fixture {
    test_allocator allocator;
    vidi__memory memory;
    vidi__chunks chunks;
} fixture;

static inline void begin(fixture *f)
{
    test_allocator_init(&f->allocator);
    assert_int_equal(vidi__memory_init(&f->memory, &f->allocator.hook, 0), VIDI_OK);
    assert_int_equal(vidi__chunks_init(&f->chunks, &f->memory), VIDI_OK);
}

static inline void end(fixture *f)
{
    assert_int_equal(f->chunks.free_count, f->chunks.total); /* every chunk came back */
    vidi__chunks_close(&f->chunks);
    assert_int_equal(vidi__memory_used(&f->memory), 0);
    test_allocator_finish(&f->allocator);
}

static inline uint64_t power_of_two(unsigned bits)
{
    return UINT64_C(1) << bits;
}

/* The least width for so many lines. */
static inline unsigned width_for(unsigned bits, uint64_t lines)
{
    static const unsigned widths[] = {3, 4, 5, 6, 8};
    size_t i = 0;
    while (widths[i] < 8 && bits > 8 * widths[i] && lines < power_of_two(bits - 8 * widths[i]))
        i++;
    return widths[i];
}

static inline vidi__subtable shape_of(unsigned bits, uint64_t lines, unsigned width, bool multiset)
{
    vidi__subtable shape = {.lines = lines, .bits = bits, .width = width, .multiset = multiset};
    shape.portable = lines % 2;
    shape.inverse = UINT64_MAX / lines;
    shape.limit = UINT64_MAX;
    return shape;
}

static inline vidi__subtable *make(fixture *f, const vidi__subtable *shape)
{
    vidi__subtable *table;
    assert_int_equal(vidi__subtable_make(&table, &f->chunks, shape), VIDI_OK);
    return table;
}

/* ---- lists of hashes to compare with ---- */

typedef struct list {
    uint64_t *hashes; /* pairs: a hash and its times */
    size_t n, room;
    unsigned bits;
} list;

static inline void list_push(list *l, uint64_t hash, uint64_t times)
{
    if (l->n == l->room) {
        l->room = 2 * l->room + 64;
        l->hashes = realloc(l->hashes, l->room * 2 * sizeof *l->hashes);
        assert_non_null(l->hashes);
    }
    l->hashes[2 * l->n] = hash;
    l->hashes[2 * l->n++ + 1] = times;
}

static inline int by_hash(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Sorted, with each hash once and all its times. */
static inline void list_settle(list *l)
{
    size_t n = 0;
    if (l->n)
        qsort(l->hashes, l->n, 2 * sizeof *l->hashes, by_hash);
    for (size_t i = 0; i < l->n; i++) {
        if (n && l->hashes[2 * n - 2] == l->hashes[2 * i]) {
            l->hashes[2 * n - 1] += l->hashes[2 * i + 1];
            continue;
        }
        memmove(&l->hashes[2 * n++], &l->hashes[2 * i], 2 * sizeof *l->hashes);
    }
    l->n = n;
}

static inline void list_free(list *l)
{
    free(l->hashes);
    memset(l, 0, sizeof *l);
}

static inline int collect(void *context, uint64_t rest, uint64_t times)
{
    list *l = context;
    assert_int_equal(rest << l->bits, 0);
    list_push(l, rest >> (64 - l->bits), times);
    return 0;
}

/* Does the table hold exactly this (settled) list? */
static inline void check_holds(const vidi__subtable *table, const list *wanted)
{
    list found = {.bits = table->bits};
    assert_int_equal(vidi__subtable_walk(table, collect, &found), 0);
    size_t told = found.n;
    list_settle(&found);
    assert_int_equal(told, found.n); /* each told of once */
    assert_int_equal(found.n, wanted->n);
    for (size_t i = 0; i < wanted->n; i++) {
        uint64_t hash = wanted->hashes[2 * i], times = wanted->hashes[2 * i + 1], rest = hash << (64 - table->bits);
        check(found.hashes[2 * i] == hash, "bits %u, lines %d: %llx, not %llx", table->bits, (int)table->lines,
              (unsigned long long)found.hashes[2 * i], (unsigned long long)hash);
        assert_int_equal(found.hashes[2 * i + 1], times);
        assert_true(vidi__subtable_has(table, rest));
        assert_int_equal(vidi__subtable_times(table, rest), times);
    }
    list_free(&found);
}

static inline bool list_has(const list *l, uint64_t hash)
{
    return l->n && bsearch(&hash, l->hashes, l->n, 2 * sizeof *l->hashes, by_hash);
}

static inline void put(fixture *f, vidi__subtable *table, list *l, uint64_t hash, uint64_t times)
{
    assert_int_equal(vidi__subtable_put(table, &f->chunks, hash << (64 - table->bits), times), VIDI_OK);
    list_push(l, hash, times);
}

/* The first hash of a line, found by definition. */
static inline uint64_t first_of(unsigned bits, uint64_t lines, uint64_t line)
{
    unsigned __int128 start = (unsigned __int128)line << bits;
    return (uint64_t)((start + lines - 1) / lines);
}

static inline list half_of(const list *l, int bit)
{
    list half = {.bits = l->bits - 1};
    for (size_t i = 0; i < l->n; i++)
        if ((int)(l->hashes[2 * i] >> (l->bits - 1)) == bit)
            list_push(&half, l->hashes[2 * i] & (power_of_two(half.bits) - 1), l->hashes[2 * i + 1]);
    list_settle(&half);
    return half;
}

/* ---- streams ---- */

typedef struct stream {
    vidi__writer writer;
    vidi__reader reader;
    unsigned char *data;
    uint64_t size, room, at, refuse_at;
} stream;

static inline int stream_write(vidi__writer *writer, const void *data, uint64_t bytes)
{
    stream *s = (stream *)((char *)writer - offsetof(stream, writer));
    if (s->size + bytes > s->refuse_at)
        return VIDI_EIO;
    if (s->size + bytes > s->room) {
        s->room = (s->size + bytes) * 2;
        s->data = realloc(s->data, (size_t)s->room);
        assert_non_null(s->data);
    }
    memcpy(s->data + s->size, data, (size_t)bytes);
    s->size += bytes;
    return VIDI_OK;
}

static inline int stream_read(vidi__reader *reader, void *data, uint64_t bytes)
{
    stream *s = (stream *)((char *)reader - offsetof(stream, reader));
    if (bytes > s->size - s->at)
        return vidi__fail(VIDI_EFORMAT, "the stream ends");
    memcpy(data, s->data + s->at, (size_t)bytes);
    s->at += bytes;
    if (reader->left != UINT64_MAX)
        reader->left -= bytes;
    return VIDI_OK;
}

static inline stream saved(const vidi__subtable *table)
{
    stream s = {.writer = {stream_write}, .reader = {stream_read, 0}, .refuse_at = UINT64_MAX};
    assert_int_equal(vidi__subtable_save(table, &s.writer), VIDI_OK);
    return s;
}

static inline int load(fixture *f, stream *s, const vidi__subtable *shape, bool known, vidi__subtable **table,
                       uint64_t *count)
{
    uint64_t depth;
    s->at = 0;
    s->reader.left = known ? s->size : UINT64_MAX;
    *table = NULL;
    VIDI__TRY(vidi__read_u64(&s->reader, &depth));
    return vidi__subtable_load(table, &f->chunks, shape, &s->reader, count);
}

/* Fills a new table with random hashes until so many have spilled, or so many are in it. */
static inline vidi__subtable *filled(fixture *f, list *l, const vidi__subtable *shape, uint64_t hashes, uint64_t seed)
{
    test_random random = {seed};
    vidi__subtable *table = make(f, shape);
    *l = (list){.bits = shape->bits};
    while (l->n < hashes) {
        uint64_t hash = test_next(&random) >> (64 - l->bits);
        if (!vidi__subtable_has(table, hash << (64 - l->bits)))
            put(f, table, l, hash, shape->multiset && l->n % 3 == 0 ? 1 + test_below(&random, 30) : 1);
    }
    list_settle(l);
    return table;
}

static inline void check_same(const vidi__subtable *a, const vidi__subtable *b)
{
    assert_int_equal(a->lines, b->lines);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->used, b->used);
    assert_int_equal(a->inverse, b->inverse);
    assert_int_equal(a->spill_used, b->spill_used);
    assert_int_equal(a->spill_room, b->spill_room);
    for (uint64_t i = 0; i < a->spill_room; i++)
        assert_int_equal(a->spill[i], b->spill[i]);
}

#endif
