/*
 * What the tests of sub-tables stand on: shapes, sorted lists of hashes to compare with, and streams in memory.
 */
#ifndef TESTS_FILTERS_FINGERPRINT_SUBTABLE_CASES_H
#define TESTS_FILTERS_FINGERPRINT_SUBTABLE_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/fingerprint/subtable.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/random.h"
#include "support/runner.h"

typedef struct fixture {
    test_allocator allocator;
    vidi__memory memory;
    vidi__slabs slabs;
} fixture;

static inline void begin(fixture *f)
{
    test_allocator_init(&f->allocator);
    assert_int_equal(vidi__memory_init(&f->memory, &f->allocator.hook, 0), VIDI_OK);
    vidi__slabs_init(&f->slabs, &f->memory);
}

static inline void end(fixture *f)
{
    assert_int_equal(f->slabs.free_count, f->slabs.total); /* every slab came back */
    vidi__slabs_close(&f->slabs);
    assert_int_equal(vidi__memory_used(&f->memory), 0);
    test_allocator_finish(&f->allocator);
}

/* ---- shapes ---- */

static const unsigned all_widths[] = {3, 4, 5, 6, 7, 8};

static inline uint64_t power_of_two(unsigned bits)
{
    return UINT64_C(1) << bits;
}

/* Do the distances of a range that is cut into so many lines fit? */
static inline bool width_fits(uint64_t range, uint64_t lines, unsigned width)
{
    return width == 8 || (unsigned __int128)lines << 8 * width >= range;
}

/* The least width for so many lines. */
static inline unsigned width_for(uint64_t range, uint64_t lines)
{
    size_t i = 0;
    while (!width_fits(range, lines, all_widths[i]))
        i++;
    return all_widths[i];
}

/* A shape that is never full, with exactly so many lines. */
static inline vidi__subtable shape_of(uint64_t range, uint64_t lines, unsigned width, bool multiset)
{
    vidi__subtable shape = {.lines = lines, .range = range, .width = (uint8_t)width, .multiset = multiset};
    shape.portable = lines % 2;
    shape.ratio = (uint64_t)(((unsigned __int128)lines << 64) / range);
    shape.inverse = UINT64_MAX / shape.ratio;
    shape.limit = UINT64_MAX;
    return shape;
}

/* The line of a hash, and the first hash of a line, by their definition. */
static inline uint64_t line_of(const vidi__subtable *shape, uint64_t hash)
{
    return (uint64_t)((unsigned __int128)hash * shape->ratio >> 64);
}

static inline uint64_t first_of(const vidi__subtable *shape, uint64_t line)
{
    uint64_t low = 0, high = shape->range; /* the first one that is not in an earlier line; `range` behind the last */
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (line_of(shape, middle) < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline vidi__subtable *make(fixture *f, const vidi__subtable *shape)
{
    vidi__subtable *table;
    assert_int_equal(vidi__subtable_make(&table, &f->slabs, shape), VIDI_OK);
    return table;
}

/* ---- single hashes ---- */

static inline bool has(const vidi__subtable *table, uint64_t hash)
{
    const vidi__spot spot = vidi__subtable_spot(table, hash);
    return vidi__subtable_has(table, hash, &spot);
}

static inline int add(fixture *f, vidi__subtable *table, uint64_t hash)
{
    const vidi__spot spot = vidi__subtable_spot(table, hash);
    return vidi__subtable_add(table, &f->slabs, hash, &spot);
}

/* Where the copies of a hash are. */
typedef struct copies {
    uint64_t own, displaced, overflowed;
} copies;

static inline copies copies_of(const vidi__subtable *table, uint64_t hash)
{
    copies found = {.overflowed = vidi__overflow_times(&table->overflow, hash)};
    const vidi__spot at = vidi__subtable_spot(table, hash);
    for (unsigned next = 0; next < 2; next++) {
        const unsigned char *line = vidi__subtable_line(table, (line_of(table, hash) + next) % table->lines);
        uint32_t head = vidi__line_head(line);
        for (unsigned slot = 0; slot < vidi__line_count(head); slot++)
            if (vidi__line_get(line, table->width, slot) == at.distance && (head >> (5 + slot) & 1) == next)
                *(next ? &found.displaced : &found.own) += 1;
    }
    return found;
}

/* All displaced entries of a table. */
static inline uint64_t displaced_in(const vidi__subtable *table)
{
    uint64_t displaced_slots = 0;
    for (uint64_t line = 0; line < table->lines; line++) {
        uint32_t head = vidi__line_head(vidi__subtable_line(table, line));
        displaced_slots += (uint64_t)__builtin_popcount(vidi__line_displaced(head, vidi__line_slots(table->width)));
    }
    return displaced_slots;
}

/* ---- lists of hashes to compare with ---- */

typedef struct list {
    uint64_t *hashes; /* pairs: a hash and its times */
    size_t n, room;
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

static inline int collect(void *context, uint64_t hash, uint64_t times)
{
    list_push(context, hash, times);
    return 0;
}

/* Does the table hold exactly this (settled) list, and tell of each hash once? */
static inline void check_holds(const vidi__subtable *table, const list *wanted)
{
    list found = {0};
    assert_int_equal(vidi__subtable_walk(table, collect, &found), 0);
    size_t told = found.n;
    list_settle(&found);
    check(told == found.n, "%d hashes were told of twice", (int)(told - found.n));
    check(found.n == wanted->n, "%d hashes, not %d", (int)found.n, (int)wanted->n);
    for (size_t i = 0; i < wanted->n; i++) {
        uint64_t hash = wanted->hashes[2 * i], times = wanted->hashes[2 * i + 1];
        check(found.hashes[2 * i] == hash, "range %llx, lines %d: %llx, not %llx", (unsigned long long)table->range,
              (int)table->lines, (unsigned long long)found.hashes[2 * i], (unsigned long long)hash);
        check(found.hashes[2 * i + 1] == times, "%llx: %d times, not %d", (unsigned long long)hash,
              (int)found.hashes[2 * i + 1], (int)times);
        assert_true(has(table, hash));
        assert_int_equal(vidi__subtable_times(table, hash), times);
    }
    list_free(&found);
}

static inline bool list_has(const list *l, uint64_t hash)
{
    return l->n && bsearch(&hash, l->hashes, l->n, 2 * sizeof *l->hashes, by_hash);
}

static inline void put(fixture *f, vidi__subtable *table, list *l, uint64_t hash, uint64_t times)
{
    assert_int_equal(vidi__subtable_insert(table, &f->slabs, hash, times), VIDI_OK);
    list_push(l, hash, times);
}

/* What belongs into one half of a table with this range. */
static inline list half_of(const list *l, uint64_t range, int which)
{
    list half = {0};
    uint64_t from = which ? range / 2 : 0;
    for (size_t i = 0; i < l->n; i++)
        if ((l->hashes[2 * i] >= range / 2) == which)
            list_push(&half, l->hashes[2 * i] - from, l->hashes[2 * i + 1]);
    list_settle(&half);
    return half;
}

/* Fills a new table with so many random hashes; in a multiset some of them several times. */
static inline vidi__subtable *filled(fixture *f, list *l, const vidi__subtable *shape, uint64_t hashes, uint64_t seed)
{
    test_random random = {seed};
    vidi__subtable *table = make(f, shape);
    *l = (list){0};
    while (l->n < hashes) {
        uint64_t hash = test_below(&random, shape->range);
        if (!has(table, hash))
            put(f, table, l, hash, shape->multiset && l->n % 3 == 0 ? 1 + test_below(&random, 30) : 1);
    }
    list_settle(l);
    return table;
}

/* Rebuilds in the shape and checks that it holds what it should, and the old one what it held. */
static inline vidi__subtable *rebuilt(fixture *f, const vidi__subtable *old, const vidi__subtable *shape, int half,
                                      const list *all, const list *wanted)
{
    vidi__subtable *fresh;
    assert_int_equal(vidi__subtable_rebuild(&fresh, old, &f->slabs, shape, half), VIDI_OK);
    check_holds(fresh, wanted);
    check_holds(old, all);
    return fresh;
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

static inline stream stream_new(void)
{
    return (stream){.writer = {.write = stream_write}, .reader = {.read = stream_read}, .refuse_at = UINT64_MAX};
}

/* From its beginning, with its length known to the reader or not. */
static inline void stream_rewind(stream *s, bool known)
{
    s->at = s->reader.at = 0;
    s->reader.left = known ? s->size : UINT64_MAX;
}

static inline int save(const vidi__subtable *table, vidi__writer *writer)
{
    VIDI__TRY(vidi__subtable_save_head(table, writer));
    VIDI__TRY(vidi__subtable_save_lines(table, writer));
    return vidi__subtable_save_overflow(table, writer);
}

static inline stream saved(const vidi__subtable *table)
{
    stream s = stream_new();
    assert_int_equal(save(table, &s.writer), VIDI_OK);
    return s;
}

static inline int load(fixture *f, stream *s, const vidi__subtable *shape, bool known, vidi__subtable **table,
                       uint64_t *count)
{
    uint64_t depth;
    stream_rewind(s, known);
    *table = NULL;
    uint64_t announced = 0;
    VIDI__TRY(vidi__read_u64(&s->reader, &depth));
    VIDI__TRY(vidi__subtable_load_head(table, &f->slabs, shape, &s->reader, &announced));
    int code = vidi__subtable_load_lines(*table, &f->slabs, &s->reader, count);
    if (code == VIDI_OK)
        code = vidi__subtable_load_overflow(*table, &f->slabs, &s->reader, count);
    if (code < 0) {
        vidi__subtable_free(*table, &f->slabs);
        *table = NULL;
    }
    return code;
}

/* Loads what is no lie. */
static inline vidi__subtable *loaded(fixture *f, stream *s, const vidi__subtable *shape, uint64_t hashes)
{
    vidi__subtable *table;
    uint64_t count = 0;
    int code = load(f, s, shape, true, &table, &count);
    check(code == VIDI_OK, "%d: %s", code, vidi_message());
    assert_int_equal(count, hashes);
    return table;
}

/* The same lines bit by bit where they are in use, with their signatures, and as much beside. */
static inline void check_same_lines(const vidi__subtable *a, const vidi__subtable *b)
{
    assert_int_equal(a->lines, b->lines);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->range, b->range);
    assert_int_equal(a->used, b->used);
    assert_int_equal(a->ratio, b->ratio);
    assert_int_equal(a->inverse, b->inverse);
    assert_int_equal(a->overflow.used, b->overflow.used);
    for (uint64_t i = 0; i < a->lines; i++) {
        const unsigned char *x = vidi__subtable_line(a, i), *y = vidi__subtable_line(b, i);
        assert_int_equal(vidi__line_head(x), vidi__line_head(y));
        for (unsigned slot = 0; slot < vidi__line_count(vidi__line_head(x)); slot++)
            assert_int_equal(vidi__line_get(x, a->width, slot), vidi__line_get(y, b->width, slot));
    }
}

/* And what overflowed where it was. */
static inline void check_same(const vidi__subtable *a, const vidi__subtable *b)
{
    check_same_lines(a, b);
    assert_int_equal(a->overflow.room, b->overflow.room);
    for (uint64_t i = 0; i < a->overflow.room; i++)
        assert_int_equal(*vidi__overflow_at(a->overflow.entries, i), *vidi__overflow_at(b->overflow.entries, i));
}

/* ---- lies ---- */

/* Numbers of a stream, and where its lines begin. */
enum { LINES_AT = 8, WIDTH_AT = 16, USED_AT = 24, OVERFLOW_AT = 32, ROOM_AT = 40, FIRST_LINE = 64 };

static inline unsigned char *line_in(const stream *s, uint64_t line)
{
    return s->data + FIRST_LINE + line * VIDI__LINE_BYTES;
}

/* Puts into its head how much is in use, after lines were forged. */
static inline void say_what_is_used(stream *s, uint64_t lines)
{
    uint64_t used = vidi__load64(s->data + OVERFLOW_AT);
    for (uint64_t line = 0; line < lines; line++)
        used += vidi__line_count(vidi__line_head(line_in(s, line)));
    vidi__store64(s->data + USED_AT, used);
}

/*
 * Lays the table of overflowed hashes anew, whatever they are: each in the first free entry from where it is looked
 * for.
 */
static inline void lay_overflow(stream *s, uint64_t lines, const uint64_t *hashes, unsigned n)
{
    unsigned char *entries = line_in(s, lines);
    vidi__overflow overflow = {.room = vidi__load64(s->data + ROOM_AT)};
    memset(entries, 0xff, overflow.room * 8);
    for (unsigned i = 0; i < n; i++) {
        uint64_t at = vidi__overflow_home(&overflow, hashes[i]);
        while (vidi__load64(entries + 8 * at) != VIDI__OVERFLOW_EMPTY)
            at = (at + 1) % overflow.room;
        vidi__store64(entries + 8 * at, hashes[i]);
        if (s->size > (uint64_t)(entries - s->data) + overflow.room * 8) /* a multiset */
            vidi__store64(entries + 8 * (overflow.room + at), 1);
    }
}

/* A stream that must be refused, with its length known and unknown, at no cost in memory. */
static inline void must_refuse(fixture *f, stream *s, const vidi__subtable *shape, const char *what)
{
    for (unsigned known = 0; known < 2; known++) {
        vidi__subtable *table;
        uint64_t count = 0, before = vidi__memory_used(&f->memory), largest = f->allocator.largest;
        f->allocator.largest = 0;
        int code = load(f, s, shape, known, &table, &count);
        check(code == VIDI_EFORMAT, "%s: %d, %s", what, code, code < 0 ? vidi_message() : "accepted");
        assert_null(table);
        assert_int_equal(f->slabs.free_count, f->slabs.total);
        check(f->allocator.largest < (known ? 100 : 10000) * s->size + (8 << 20), "%s: %d bytes for a lie", what,
              (int)f->allocator.largest);
        if (known)
            assert_int_equal(vidi__memory_used(&f->memory), before);
        f->allocator.largest = largest;
    }
}

/* A stream that is accepted, and whose table has so many hashes. */
static inline void must_accept(fixture *f, stream *s, const vidi__subtable *shape, uint64_t hashes)
{
    list l = {0};
    vidi__subtable *table = loaded(f, s, shape, hashes);
    assert_int_equal(vidi__subtable_walk(table, collect, &l), 0);
    list_settle(&l);
    assert_int_equal(l.n, hashes);
    check_holds(table, &l);
    list_free(&l);
    vidi__subtable_free(table, &f->slabs);
}

static inline stream altered(const stream *s, uint64_t at, uint64_t value)
{
    stream copy = *s;
    copy.data = malloc((size_t)s->size);
    assert_non_null(copy.data);
    memcpy(copy.data, s->data, (size_t)s->size);
    vidi__store64(copy.data + at, value);
    return copy;
}

#endif
