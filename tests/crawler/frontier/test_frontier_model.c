/*
 * The frontier against a model: random adds, sorts, takes, drops, commits, rollbacks and reopenings, on small segments
 * and few hosts, so that everything meets everything. The model is a list of URLs: each is unsorted, queued or dropped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/frontier/frontier_state.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST = 4000, HOSTS = 40, LEVELS = 3 };

typedef struct model_url {
    uint64_t host;
    uint32_t level;
    enum { UNSORTED, QUEUED, DROPPED } state;
    uint64_t block; /* number of its block, once it was taken */
} model_url;

typedef struct model {
    model_url urls[MOST + 1]; /* by id */
    uint64_t last, sorted;
} model;

typedef struct test {
    test_random random;
    uint64_t seed, step;
    sqlite3 *db;
    frontier *frontier;
    bool by_level;
    model now, committed;
    frontier_block block;
} test;

#define holds(t, condition)                                                                                            \
    check(condition, "seed %llu, step %llu: " #condition " (%s)", (unsigned long long)(t)->seed,                       \
          (unsigned long long)(t)->step, frontier_error((t)->frontier))

static void run(test *t, const char *text)
{
    check(sqlite3_exec(t->db, text, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", text, sqlite3_errmsg(t->db));
}

static void reopen(test *t)
{
    frontier_close(t->frontier);
    assert_int_equal(frontier_open(&t->frontier, t->db, t->by_level), VIDI_OK);
    t->frontier->segment_least = t->seed % 3 ? 50 : 400;
}

static void add(test *t)
{
    char text[32];
    for (uint64_t n = test_below(&t->random, 60); n > 0 && t->now.last < MOST; n--) {
        uint64_t host = 1 + test_below(&t->random, test_below(&t->random, HOSTS) + 1);
        uint32_t depth = (uint32_t)test_below(&t->random, LEVELS);
        frontier_url url = {.host = host, .depth = depth, .url = {text, 0}};
        url.url.len = (size_t)snprintf(text, sizeof text, "u%llu", (unsigned long long)t->now.last + 1);
        holds(t, frontier_add(t->frontier, &url) == VIDI_OK);
        holds(t, url.id == ++t->now.last);
        t->now.urls[url.id] = (model_url){.host = host, .level = t->by_level ? depth : 0};
    }
}

static void sort(test *t)
{
    uint64_t n = test_below(&t->random, 120);
    holds(t, frontier_sort(t->frontier, n) == VIDI_OK);
    for (; n > 0 && t->now.sorted < t->now.last; n--)
        t->now.urls[++t->now.sorted].state = QUEUED;
    holds(t, frontier_unsorted(t->frontier) == t->now.last - t->now.sorted);
}

/*
 * The first queued URL of a host and level with a greater id, and in a block with a greater number: 0 if there is none.
 */
static uint64_t first_queued(const model *model, uint32_t level, uint64_t host, uint64_t after, uint64_t after_block)
{
    for (uint64_t id = after + 1; id <= model->last; id++) {
        const model_url *url = &model->urls[id];
        bool later = !url->block || url->block > after_block;
        if (url->state == QUEUED && url->host == host && url->level == level && later)
            return id;
    }
    return 0;
}

static uint64_t first_host(const model *model, uint32_t level, uint64_t least)
{
    uint64_t found = 0;
    for (uint64_t id = 1; id <= model->last; id++) {
        const model_url *url = &model->urls[id];
        if (url->state == QUEUED && url->level == level && url->host >= least && (!found || url->host < found))
            found = url->host;
    }
    return found;
}

static void look_for_host(test *t)
{
    uint32_t level = (uint32_t)test_below(&t->random, LEVELS);
    uint64_t least = test_below(&t->random, HOSTS + 2), found = 0, expected = first_host(&t->now, level, least);
    int code = frontier_host(t->frontier, level, least, &found);
    holds(t, code == (expected ? VIDI_OK : VIDI_EABSENT));
    holds(t, found == expected);
}

static void look_for_level(test *t)
{
    uint32_t found = 99, expected = 99;
    for (uint32_t level = 0; level < LEVELS && expected == 99; level++)
        if (first_host(&t->now, level, 0))
            expected = level;
    int code = frontier_level(t->frontier, &found);
    holds(t, code == (expected < 99 ? VIDI_OK : VIDI_EABSENT));
    holds(t, found == expected);
}

/* Takes a block, and checks that it begins with the right URL and skips none. */
static bool take(test *t, uint32_t level, uint64_t host, uint64_t after)
{
    uint64_t expected = first_queued(&t->now, level, host, after, after);
    int code = frontier_take(t->frontier, level, host, after, &t->block);
    holds(t, code == (expected ? VIDI_OK : VIDI_EABSENT));
    if (!expected)
        return false;
    holds(t, t->block.number == expected && t->block.level == level && t->block.host == host);
    for (size_t i = 0; i < t->block.count; i++) {
        const frontier_url *url = &t->block.urls[i];
        char text[32];
        int length = snprintf(text, sizeof text, "u%llu", (unsigned long long)url->id);
        holds(t, url->url.len == (size_t)length && memcmp(url->url.ptr, text, (size_t)length) == 0);
        holds(t, url->id == expected);
        t->now.urls[url->id].block = t->block.number;
        expected = first_queued(&t->now, level, host, url->id, 0);
    }
    return true;
}

static void drop(test *t, uint64_t number)
{
    const model_url first = t->now.urls[number];
    holds(t, frontier_drop(t->frontier, first.level, first.host, number) == VIDI_OK);
    for (uint64_t id = number; id <= t->now.last; id++)
        if (t->now.urls[id].block == number)
            t->now.urls[id].state = DROPPED;
}

/* Takes some blocks of a host, and drops some of them, in any order. */
static void take_and_drop(test *t)
{
    uint64_t numbers[8], after = 0, host = 1 + test_below(&t->random, HOSTS);
    uint32_t level = (uint32_t)test_below(&t->random, LEVELS);
    size_t count = 0;
    while (count < 8 && take(t, level, host, after))
        numbers[count++] = after = t->block.number;
    while (count > 0) {
        size_t which = test_below(&t->random, count);
        if (test_below(&t->random, 3))
            drop(t, numbers[which]);
        numbers[which] = numbers[--count];
    }
}

/* Drops the first block of each host, as a crawl of many small hosts does. */
static void sweep(test *t)
{
    uint32_t level = (uint32_t)test_below(&t->random, LEVELS);
    uint64_t host = test_below(&t->random, HOSTS);
    for (uint64_t n = test_below(&t->random, HOSTS); n > 0 && frontier_host(t->frontier, level, host, &host) == VIDI_OK;
         n--) {
        holds(t, take(t, level, host, 0));
        drop(t, t->block.number);
        host += test_below(&t->random, 2);
    }
}

static void end_transaction(test *t)
{
    if (test_below(&t->random, 3)) {
        holds(t, frontier_flush(t->frontier) == VIDI_OK);
        run(t, "COMMIT");
        t->committed = t->now;
        uint64_t queued = 0;
        for (uint64_t id = 1; id <= t->now.last; id++)
            queued += t->now.urls[id].state == QUEUED;
        sqlite3_stmt *ask;
        assert_int_equal(sqlite3_prepare_v2(t->db, "SELECT total(count) FROM queue", -1, &ask, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(ask), SQLITE_ROW);
        holds(t, (uint64_t)sqlite3_column_int64(ask, 0) == queued);
        sqlite3_finalize(ask);
    } else {
        run(t, "ROLLBACK");
        frontier_forget(t->frontier);
        t->now = t->committed;
    }
    if (test_below(&t->random, 4) == 0)
        reopen(t);
    run(t, "BEGIN");
}

static void (*const steps[])(test *) = {add,           add,           sort,  look_for_host, look_for_level,
                                        take_and_drop, take_and_drop, sweep, look_for_host, end_transaction};

static void random_calls_agree_with_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        test *t = calloc(1, sizeof *t);
        t->seed = t->random.state = seed;
        t->by_level = seed % 2;
        assert_int_equal(sqlite3_open(":memory:", &t->db), SQLITE_OK);
        reopen(t);
        run(t, "BEGIN");
        for (t->step = 0; t->step < 400; t->step++)
            steps[test_below(&t->random, sizeof steps / sizeof steps[0])](t);
        run(t, "ROLLBACK");
        bytes_free(&t->block.text);
        frontier_close(t->frontier);
        sqlite3_close(t->db);
        free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls_agree_with_the_model)};
    return cmocka_run_group_tests_name("frontier model", tests, NULL, NULL);
}
