/*
 * VIDI_TOUCH_LATER: a set for a hundred million URLs is made of some kilobytes, memory comes in small requests when it
 * is first written to, and not much for one add, refusals leave the set as it was, and all answers are those of a set
 * that has its memory at once.
 */
#include <stdio.h>
#include <string.h>

#include "support/access.h"
#include "support/alloc.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/env.h"
#include "support/runner.h"
#include "support/streams.h"
#include "support/urls.h"

enum { PIECE = 2 << 20, LISTS = 64 << 10, ADD_CLEARS = 8 << 20 };

static const test_case kinds[] = {
    {"fingerprint", NULL, 0, 0, 0},
    {"fingerprint", "multiset=on", 0, 0, 0},
    {"classic", NULL, 0, 0, 0},
    {"classic", "of=segments", 0, 0, 0},
    {"counting", NULL, 0, 0, 0},
    {"multilayer", NULL, 0, 0, 0},
    {"eigen", NULL, 0, 0, 0},
    {"scalable", "inner=classic", 0, 0, 0},
    {"blocked", NULL, 0, 0, 0},
    {"blocked", "lines=3", 0, 0, 0},
    {"scalable", "inner=blocked", 0, 0, 0},
    {"scalable", "inner=classic,ends=count,growth=32768", 0, 0, 0},
    {"scalable", "inner=blocked,ends=count,growth=32768", 0, 0, 0},
    {"spatial", "F=2,inner=counting", 0, 0, 0},
    {"hashset", NULL, 0, 0, 0},
    {"sorted", NULL, 0, 0, 0},
    {"list", NULL, 0, 0, 0},
};

static vidi_str url_at(char *room, uint64_t i)
{
    return (vidi_str){room, test_url(room, TEST_URL_ROOM, 1, i)};
}

static vidi_set *set_for(const test_case *which, uint64_t capacity, uint32_t flags, const vidi_allocator *allocator,
                         uint64_t limit)
{
    static const unsigned char key[VIDI_KEY_BYTES] = {1};
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set = NULL;
    access.flags = flags;
    access.allocator = allocator;
    access.memory_limit = limit;
    options.kind = which->kind;
    options.params = which->params;
    options.capacity = capacity;
    options.error = 0.001;
    options.key = key;
    options.access = &access;
    int code = vidi_create(&set, &options);
    check(code == VIDI_OK, "%s: %s", which->kind, vidi_message());
    return set;
}

/* Without allocate_zeroed, as in a server: whatever is asked for is cleared by hand. */
static void making_a_large_set_touches_nothing(void **state)
{
    test_allocator watch;
    char room[TEST_URL_ROOM];
    test_allocator_init(&watch);
    watch.hook.allocate_zeroed = NULL;
    vidi_set *set = set_for(*state, 100000000, VIDI_TOUCH_LATER, &watch.hook, UINT64_C(1) << 40);
    check(watch.peak_bytes <= LISTS, "%llu bytes", (unsigned long long)watch.peak_bytes);
    assert_int_equal(vidi_has(set, url_at(room, 1)), VIDI_NEW);
    check(watch.peak_bytes <= LISTS, "%llu bytes after a lookup", (unsigned long long)watch.peak_bytes);
    assert_int_equal(vidi_add(set, url_at(room, 1)), VIDI_NEW);
    check(watch.peak_bytes <= ADD_CLEARS, "one add takes %llu bytes: too long", (unsigned long long)watch.peak_bytes);
    assert_int_equal(vidi_add(set, url_at(room, 1)), VIDI_SEEN);
    assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    assert_int_equal(vidi_add(set, url_at(room, 1)), VIDI_NEW);
    check(watch.largest <= PIECE, "%llu bytes in one request", (unsigned long long)watch.largest);
    assert_int_equal(test_stat(set).memory_bytes, watch.live_bytes);
    vidi_close(set);
    test_allocator_finish(&watch);
}

static void must_answer_alike(vidi_set *set, vidi_set *right, uint64_t first, uint64_t n)
{
    enum { PART = 500 };
    uint8_t mine[PART], theirs[PART];
    test_batch urls;
    test_batch_init(&urls, PART);
    for (uint64_t at = first; at < first + n; at += PART) {
        test_batch_fill(&urls, test_url, 1, at, PART);
        assert_int_equal(vidi_has_batch(set, urls.urls, PART, mine), VIDI_OK);
        assert_int_equal(vidi_has_batch(right, urls.urls, PART, theirs), VIDI_OK);
        assert_memory_equal(mine, theirs, PART);
        assert_int_equal(vidi_add_batch(set, urls.urls, PART, mine, NULL), VIDI_OK);
        assert_int_equal(vidi_add_batch(right, urls.urls, PART, theirs, NULL), VIDI_OK);
        assert_memory_equal(mine, theirs, PART);
    }
    test_batch_free(&urls);
    assert_int_equal(test_stat(set).count, test_stat(right).count);
    assert_true(test_stat(set).fp_now == test_stat(right).fp_now);
}

/* Of several pieces, most of which stay untouched; through streams and merges with sets of the other sort. */
static void answers_are_those_of_any_set(void **state)
{
    const test_case *which = *state;
    const uint64_t capacity = 1500000;
    vidi_access later = VIDI_ACCESS_INIT;
    vidi_set *set = set_for(which, capacity, VIDI_TOUCH_LATER, NULL, 0), *right = set_for(which, capacity, 0, NULL, 0);
    vidi_set *read = NULL, *other;
    test_stream stream = {0};
    later.flags = VIDI_TOUCH_LATER;
    must_answer_alike(set, right, 0, 1000);
    test_stream_write(&stream, set);
    assert_int_equal(test_stream_read(&stream, &read, stream.size, &later), VIDI_OK);
    must_answer_alike(read, right, 0, 1500);
    vidi_close(read);
    assert_int_equal(test_stream_read(&stream, &read, 0, NULL), VIDI_OK);
    vidi_close(right);
    right = set_for(which, capacity, 0, NULL, 0);
    other = set_for(which, capacity, VIDI_TOUCH_LATER, NULL, 0);
    must_answer_alike(other, right, 500, 1500);
    if (test_stat(set).can & VIDI_CAN_MERGE) {
        assert_int_equal(vidi_merge(right, set, 0), VIDI_OK);
        assert_int_equal(vidi_merge(other, read, 0), VIDI_OK);
        must_answer_alike(other, right, 0, 2500);
    }
    vidi_close(set);
    vidi_close(right);
    vidi_close(read);
    vidi_close(other);
    test_stream_free(&stream);
}

/* Moves the set in pieces into another one that touches memory later. */
static vidi_set *moved(const vidi_set *set)
{
    vidi_access later = VIDI_ACCESS_INIT;
    vidi_set *copy = NULL;
    uint64_t cursor = 0;
    later.flags = VIDI_TOUCH_LATER;
    do {
        test_stream piece = {0};
        assert_int_equal(vidi_piece_write(set, &cursor, 65536, test_stream_sink, &piece), VIDI_OK);
        int code = test_piece_read(&copy, piece.data, piece.size, &later);
        check(code >= 0, "%d: %s", code, vidi_message());
        test_stream_free(&piece);
    } while (cursor);
    return copy;
}

static void pieces_bring_it_over(void **state)
{
    vidi_set *set = set_for(*state, 1500000, VIDI_TOUCH_LATER, NULL, 0);
    vidi_set *right = set_for(*state, 1500000, 0, NULL, 0);
    must_answer_alike(set, right, 0, 1000);
    vidi_set *copy = moved(set), *again = moved(right);
    must_answer_alike(copy, right, 0, 1500);
    must_answer_alike(again, set, 0, 1500);
    vidi_close(set);
    vidi_close(right);
    vidi_close(copy);
    vidi_close(again);
}

/* Each request of each add is refused once. */
static void a_refused_add_changes_nothing(void **state)
{
    enum { N = 100 };
    const test_case *which = *state;
    test_allocator watch;
    char room[TEST_URL_ROOM];
    uint64_t refusals = 0;
    test_allocator_init(&watch);
    vidi_set *set = set_for(which, 20000000, VIDI_TOUCH_LATER, &watch.hook, 0);
    for (uint64_t i = 0; i < N; i++) {
        int verdict = VIDI_EMEMORY;
        for (uint64_t at = 1; verdict == VIDI_EMEMORY; at++) {
            vidi_stats before = test_stat(set);
            int there = vidi_has(set, url_at(room, i));
            test_allocator_fail(&watch, at, false);
            verdict = vidi_add(set, url_at(room, i));
            test_allocator_fail(&watch, 0, false);
            if (verdict != VIDI_EMEMORY)
                break;
            refusals++;
            assert_int_equal(vidi_has(set, url_at(room, i)), there);
            assert_int_equal(test_stat(set).count, before.count);
            if (strcmp(which->kind, "spatial") != 0) /* some of its members may know the URL; it is NEW all the same */
                assert_true(test_stat(set).fp_now == before.fp_now && test_stat(set).fill == before.fill);
        }
        assert_true(verdict == VIDI_NEW || verdict == VIDI_SEEN);
        assert_int_equal(vidi_has(set, url_at(room, i)), VIDI_SEEN);
    }
    assert_true(refusals > (strcmp(which->kind, "list") == 0 ? 0 : 3));
    vidi_close(set);
    test_allocator_finish(&watch);
}

/* Growth by a large factor, as with Redis: the second stage is for 32 million URLs, and costs what is written of it. */
static void a_stage_of_any_size_opens_at_once(void **state)
{
    test_allocator watch;
    char room[TEST_URL_ROOM];
    test_allocator_init(&watch);
    watch.hook.allocate_zeroed = NULL;
    vidi_set *set = set_for(*state, 1000, VIDI_TOUCH_LATER, &watch.hook, UINT64_C(1) << 40);
    uint64_t n = 0;
    for (; test_stat(set).stages == 1; n++)
        assert_int_equal(vidi_add(set, url_at(room, n)), VIDI_NEW);
    assert_int_equal(n, 1001);
    uint64_t pieces = test_stat(set).memory_bytes / PIECE;
    check(pieces <= 30, "%llu pieces", (unsigned long long)pieces); /* at most one for each bit of the one URL */
    check(watch.largest <= PIECE, "%llu bytes in one request", (unsigned long long)watch.largest);
    vidi_close(set);
    test_allocator_finish(&watch);
}

/* vidi_step touches everything, after which adds need no more memory. */
static void a_step_touches_the_rest(void **state)
{
    test_allocator watch;
    char room[TEST_URL_ROOM];
    test_allocator_init(&watch);
    vidi_set *set = set_for(*state, 20000000, VIDI_TOUCH_LATER, &watch.hook, 0);
    assert_int_equal(vidi_add(set, url_at(room, 0)), VIDI_NEW);
    vidi_stats before = test_stat(set);
    assert_int_equal(test_step(set, 0), 1);
    assert_int_equal(test_stat(set).memory_bytes, before.memory_bytes);
    test_allocator_fail(&watch, 1, false);
    assert_int_equal(test_step(set, 1000000), VIDI_EMEMORY);
    test_allocator_fail(&watch, 0, false);
    assert_int_equal(test_stat(set).memory_bytes, before.memory_bytes);
    while (test_step(set, 1000) == 1)
        ;
    assert_int_equal(test_step(set, 1000), 0);
    assert_true(test_stat(set).memory_bytes > before.memory_bytes);
    assert_true(test_stat(set).fp_now == before.fp_now);
    uint64_t bytes = test_stat(set).memory_bytes;
    for (uint64_t i = 1; i < 200; i++)
        assert_int_equal(vidi_add(set, url_at(room, i)), VIDI_NEW);
    assert_int_equal(test_stat(set).memory_bytes, bytes);
    assert_int_equal(test_stat(set).memory_bytes, watch.live_bytes);
    vidi_close(set);
    test_allocator_finish(&watch);
}

/* What no machine could hold is refused before anything is allocated for it. */
static void a_capacity_beyond_all_memory_is_refused(void **state)
{
    static const double capacities[] = {1e12, 1e15, 1e18};
    const test_case *which = *state;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_options options = VIDI_OPTIONS_INIT;
    test_allocator watch;
    test_allocator_init(&watch);
    access.flags = VIDI_TOUCH_LATER;
    access.allocator = &watch.hook;
    options.kind = which->kind;
    options.params = which->params;
    options.access = &access;
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        vidi_set *set = NULL;
        options.capacity = (uint64_t)capacities[i];
        int code = vidi_create(&set, &options);
        check(code == VIDI_ELIMIT || code == VIDI_EOPTION || code == VIDI_OK, "%d: %s", code, vidi_message());
        vidi_close(set);
        check(watch.peak_bytes < 1 << 20, "%llu bytes", (unsigned long long)watch.peak_bytes);
    }
    test_allocator_finish(&watch);
}

static void the_limit_is_met_by_adds(void **state)
{
    char room[TEST_URL_ROOM];
    const uint64_t limit = 8 << 20;
    vidi_set *set = set_for(*state, 50000000, VIDI_TOUCH_LATER, NULL, limit);
    int verdict = VIDI_NEW;
    uint64_t n = 0;
    for (; n < 1500000 && verdict > 0; n++)
        verdict = vidi_add(set, url_at(room, n));
    assert_int_equal(verdict, VIDI_ELIMIT);
    assert_true(test_stat(set).memory_bytes <= limit);
    for (uint64_t i = 0; i + 1 < n; i += 1 + n / 1000)
        assert_int_equal(vidi_has(set, url_at(room, i)), VIDI_SEEN);
    vidi_close(set);
}

/* Does it begin small, whatever the capacity? */
static bool is_grown(const test_case *which)
{
    static const char *const names[] = {"fingerprint", "hashset", "sorted", "list"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(which->kind, names[i]) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char name[200];
        const char *what = kinds[i].params ? kinds[i].params : "as it is";
        snprintf(name, sizeof name, "making a large set touches nothing: %s, %s", kinds[i].kind, what);
        test_add(name, making_a_large_set_touches_nothing, &kinds[i]);
        snprintf(name, sizeof name, "answers are those of any set: %s, %s", kinds[i].kind, what);
        test_add(name, answers_are_those_of_any_set, &kinds[i]);
        snprintf(name, sizeof name, "pieces bring it over: %s, %s", kinds[i].kind, what);
        test_add(name, pieces_bring_it_over, &kinds[i]);
        snprintf(name, sizeof name, "a refused add changes nothing: %s, %s", kinds[i].kind, what);
        test_add(name, a_refused_add_changes_nothing, &kinds[i]);
        snprintf(name, sizeof name, "a capacity beyond all memory is refused: %s, %s", kinds[i].kind, what);
        test_add(name, a_capacity_beyond_all_memory_is_refused, &kinds[i]);
        if (kinds[i].params && strstr(kinds[i].params, "ends=count")) {
            snprintf(name, sizeof name, "a stage of any size opens at once: %s, %s", kinds[i].kind, what);
            test_add(name, a_stage_of_any_size_opens_at_once, &kinds[i]);
        }
        if (!is_grown(&kinds[i])) {
            snprintf(name, sizeof name, "a step touches the rest: %s, %s", kinds[i].kind, what);
            test_add(name, a_step_touches_the_rest, &kinds[i]);
        }
        if (kinds[i].kind[0] == 'c') { /* the others fill their memory slowly */
            snprintf(name, sizeof name, "the limit is met by adds: %s, %s", kinds[i].kind, what);
            test_add(name, the_limit_is_met_by_adds, &kinds[i]);
        }
    }
    return test_run("touch later", argc, argv);
}
