/*
 * What the tests of the exact kinds stand on: the kinds list, sorted and hashset with and without multiset, strings of
 * all sorts by number, a model (how often each of them is in the set), and streams in memory. Filters are made through
 * the kinds' own tables, so that nothing above them can hide a fault.
 */
#ifndef TESTS_FILTERS_EXACT_EXACT_CASES_H
#define TESTS_FILTERS_EXACT_EXACT_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/filter.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/random.h"
#include "support/runner.h"

typedef struct variant {
    const vidi__kind *kind;
    const char *params;
    bool multiset;
} variant;

static const variant variants[] = {
    {&vidi__kind_list, NULL, false},    {&vidi__kind_list, "multiset=on", true},
    {&vidi__kind_sorted, NULL, false},  {&vidi__kind_sorted, "multiset=on", true},
    {&vidi__kind_hashset, NULL, false}, {&vidi__kind_hashset, "multiset=on,hash=sip13", true},
};

/* Adds the test once for each variant, which its state points to; or only for those that count. */
static inline void test_variants(const char *promise, CMUnitTestFunction function, bool counting_only)
{
    for (size_t i = counting_only; i < VIDI__COUNT(variants); i += counting_only ? 2 : 1) {
        char name[200];
        snprintf(name, sizeof name, "%s: %s%s", promise, variants[i].kind->name,
                 variants[i].multiset ? " multiset" : "");
        test_add(name, function, (void *)&variants[i]);
    }
}

typedef struct fixture {
    test_allocator allocator;
    vidi__memory memory;
    vidi__hash_key key;
    const vidi__hash_fn *hash;
} fixture;

static inline void begin(fixture *f)
{
    static const unsigned char key[VIDI_KEY_BYTES] = "a key of a test";
    test_allocator_init(&f->allocator);
    assert_int_equal(vidi__memory_init(&f->memory, &f->allocator.hook, 0), VIDI_OK);
    vidi__hash_key_init(&f->key, key);
    f->hash = vidi__hash_find((vidi_str){"sip13", 5});
}

static inline void end(fixture *f)
{
    assert_int_equal(vidi__memory_used(&f->memory), 0);
    test_allocator_finish(&f->allocator);
}

static inline int create_with(fixture *f, vidi__filter **filter, const vidi__kind *kind, const char *text,
                              uint64_t capacity, vidi__reader *reader)
{
    vidi__params params;
    assert_int_equal(vidi__params_parse(&params, text), VIDI_OK);
    vidi__config config = {.memory = &f->memory, .params = &params, .capacity = capacity, .item_hash = f->hash};
    config.reader = reader;
    config.item_key = &f->key;
    return vidi__filter_create(filter, kind, &config);
}

static inline vidi__filter *create(fixture *f, const variant *v)
{
    vidi__filter *filter;
    assert_int_equal(create_with(f, &filter, v->kind, v->params, 0, NULL), VIDI_OK);
    return filter;
}

/*
 * String `i`, good until 8 more were made: empty, with zero bytes, prefixes of one another, mostly like URLs, some
 * long.
 */
static inline vidi_str string(uint64_t i)
{
    static char buffers[8][3000];
    static unsigned next;
    char *buffer = buffers[next++ % VIDI__COUNT(buffers)];
    if (i < 8) {
        memset(buffer, 0, i);
        return (vidi_str){i ? buffer : NULL, (size_t)i};
    }
    if (i < 40) {
        memset(buffer, 'a', i);
        return (vidi_str){buffer, (size_t)i};
    }
    int len = snprintf(buffer, 100, "http://host-%d.example/%llu/page", (int)(test_mix(i) % 50), (unsigned long long)i);
    size_t longer = i % 101 == 0 ? 2800 : (size_t)(test_mix(i) % 40);
    memset(buffer + len, 'z', longer);
    return (vidi_str){buffer, (size_t)len + longer};
}

enum { UNIVERSE = 6000 };

/* Item `i`. Those of the model are made once, because they are asked for millions of times. */
static inline vidi__item item(const fixture *f, uint64_t i)
{
    static vidi__item kept[UNIVERSE];
    static bool made[UNIVERSE];
    if (i < UNIVERSE && made[i])
        return kept[i];
    vidi__item fresh = {.url = {.str = string(i)}};
    fresh.url.hash = vidi__hash(f->hash, &f->key, fresh.url.str);
    if (i < UNIVERSE) {
        static char arena[UNIVERSE * 200], *at = arena;
        assert_true(fresh.url.str.len < (size_t)(arena + sizeof arena - at));
        if (fresh.url.str.len)
            fresh.url.str.ptr = memcpy(at, fresh.url.str.ptr, fresh.url.str.len);
        at += fresh.url.str.len;
        kept[i] = fresh;
        made[i] = true;
    }
    return fresh;
}

static inline int add(const fixture *f, vidi__filter *filter, uint64_t i)
{
    vidi__item what = item(f, i);
    return filter->kind->add(filter, &what);
}

static inline int drop(const fixture *f, vidi__filter *filter, uint64_t i)
{
    vidi__item what = item(f, i);
    return filter->kind->remove(filter, &what);
}

/* ---- the model ---- */

typedef struct model {
    uint64_t times[UNIVERSE];
    bool multiset;
} model;

/* Strings that a test of this kind works with: the list looks at all of them for each. */
static inline uint64_t universe_of(const vidi__kind *kind)
{
    return kind == &vidi__kind_list ? 600 : UNIVERSE;
}

static inline uint64_t model_count(const model *m)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < UNIVERSE; i++)
        count += m->times[i] > 0;
    return count;
}

/* Does the filter say of the strings from `first` on what the model says? Every `stride`-th of them. */
static inline void check_some(const fixture *f, const vidi__filter *filter, const model *m, uint64_t first,
                              uint64_t stride)
{
    for (uint64_t i = first; i < universe_of(filter->kind); i += stride) {
        vidi__item what = item(f, i);
        uint64_t times = 99;
        int has = filter->kind->has(filter, &what);
        check(has == (m->times[i] ? VIDI_SEEN : VIDI_NEW), "%s: has of string %d", filter->kind->name, (int)i);
        assert_int_equal(filter->kind->times(filter, &what, &times), VIDI_OK);
        check(times == m->times[i], "%s: times of string %d: %d, not %d", filter->kind->name, (int)i, (int)times,
              (int)m->times[i]);
    }
    assert_int_equal(vidi__filter_count(filter), model_count(m));
    assert_true(filter->kind->fp_now(filter) == 0);
}

static inline void check_all(const fixture *f, const vidi__filter *filter, const model *m)
{
    check_some(f, filter, m, 0, 1);
}

static inline void model_add(const fixture *f, vidi__filter *filter, model *m, uint64_t i)
{
    int verdict = add(f, filter, i);
    check(verdict == (m->times[i] ? VIDI_SEEN : VIDI_NEW), "%s: add of string %d", filter->kind->name, (int)i);
    if (m->multiset || !m->times[i])
        m->times[i]++;
}

static inline void model_remove(const fixture *f, vidi__filter *filter, model *m, uint64_t i)
{
    int code = drop(f, filter, i);
    check(code == (m->times[i] ? VIDI_OK : VIDI_EABSENT), "%s: remove of string %d", filter->kind->name, (int)i);
    m->times[i] -= m->times[i] > 0;
}

/* ---- streams in memory ---- */

typedef struct stream {
    vidi__writer writer;
    vidi__reader reader;
    unsigned char *data;
    uint64_t size, room, at;
} stream;

static inline stream *stream_of_writer(vidi__writer *writer)
{
    return (stream *)((char *)writer - offsetof(stream, writer));
}

static inline stream *stream_of_reader(vidi__reader *reader)
{
    return (stream *)((char *)reader - offsetof(stream, reader));
}

static inline int stream_write(vidi__writer *writer, const void *data, uint64_t bytes)
{
    stream *s = stream_of_writer(writer);
    if (s->size + bytes > s->room) {
        s->room = (s->size + bytes) * 2;
        s->data = realloc(s->data, (size_t)s->room);
        assert_non_null(s->data);
    }
    if (bytes)
        memcpy(s->data + s->size, data, (size_t)bytes);
    s->size += bytes;
    return VIDI_OK;
}

static inline int stream_read(vidi__reader *reader, void *data, uint64_t bytes)
{
    stream *s = stream_of_reader(reader);
    if (bytes > s->size - s->at)
        return vidi__fail(VIDI_EFORMAT, "the stream ends");
    if (bytes)
        memcpy(data, s->data + s->at, (size_t)bytes);
    s->at += bytes;
    if (reader->left != UINT64_MAX)
        reader->left -= bytes;
    return VIDI_OK;
}

static inline stream stream_new(void)
{
    stream s = {.writer = {.write = stream_write}, .reader = {.read = stream_read}};
    return s;
}

static inline void stream_save(stream *s, const vidi__filter *filter)
{
    s->size = s->writer.at = 0;
    assert_int_equal(filter->kind->save(filter, &s->writer), VIDI_OK);
}

static inline int stream_load(stream *s, fixture *f, const variant *v, bool known, vidi__filter **filter)
{
    s->at = s->reader.at = 0;
    s->reader.left = known ? s->size : UINT64_MAX;
    return create_with(f, filter, v->kind, v->params, UNIVERSE, &s->reader);
}

static inline void save_and_load(fixture *f, const variant *v, vidi__filter **filter, bool known)
{
    stream s = stream_new();
    vidi__filter *loaded;
    stream_save(&s, *filter);
    assert_int_equal(stream_load(&s, f, v, known, &loaded), VIDI_OK);
    assert_int_equal(s.at, s.size);
    vidi__filter_destroy(*filter);
    *filter = loaded;
    free(s.data);
}

#endif
