/* The frontier: what was appended comes out once, by host and in order, through rollbacks and reopening. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/frontier/frontier_blocks.h"
#include "crawler/frontier/frontier.h"
#include "support/check.h"

/* More than these in one sort get a segment of their own. */
enum { LARGE_SORT = 70000 };

static sqlite3 *open_memory(void)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    return db;
}

static void run(sqlite3 *db, const char *text)
{
    check(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", text, sqlite3_errmsg(db));
}

/* As db_commit does. */
static void commit(sqlite3 *db, frontier *frontier)
{
    check(frontier_flush(frontier) == VIDI_OK, "%s", frontier_error(frontier));
    run(db, "COMMIT");
}

static int64_t ask(sqlite3 *db, const char *text)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static frontier *open_frontier(sqlite3 *db, bool by_level)
{
    frontier *frontier;
    check(frontier_open(&frontier, db, by_level) == VIDI_OK, "%s", sqlite3_errmsg(db));
    return frontier;
}

/* Appends "http://HOST.test/NUMBER", where the number is its id. */
static uint64_t add(frontier *frontier, uint64_t host, uint32_t depth)
{
    char text[64];
    int n = snprintf(text, sizeof text, "http://%llu.test/%llu", (unsigned long long)host,
                     (unsigned long long)frontier_last(frontier) + 1);
    frontier_url url = {.host = host,
                        .url = {text, (size_t)n},
                        .depth = depth,
                        .hops = (uint32_t)host % 7,
                        .kind = (frontier_kind)(host % FRONTIER_KINDS),
                        .referrer = frontier_last(frontier)};
    check(frontier_add(frontier, &url) == VIDI_OK, "%s", frontier_error(frontier));
    return url.id;
}

static void check_url(const frontier_url *url, uint64_t host)
{
    char text[64];
    snprintf(text, sizeof text, "http://%llu.test/%llu", (unsigned long long)host, (unsigned long long)url->id);
    assert_int_equal(url->host, host);
    assert_int_equal(url->url.len, strlen(text));
    assert_memory_equal(url->url.ptr, text, url->url.len);
    assert_int_equal(url->hops, host % 7);
    assert_int_equal(url->kind, host % FRONTIER_KINDS);
    assert_int_equal(url->referrer, url->id - 1);
}

static void sort(frontier *frontier, uint64_t most)
{
    check(frontier_sort(frontier, most) == VIDI_OK, "%s", frontier_error(frontier));
}

static uint64_t sweep_from(frontier *frontier, uint32_t level, unsigned char *met, uint64_t most, bool drop);

/* Takes out everything on a level, host by host, marks the ids in `met` and returns how many there were. */
static uint64_t sweep(frontier *frontier, uint32_t level, unsigned char *met, bool drop)
{
    return sweep_from(frontier, level, met, UINT64_MAX, drop);
}

static uint64_t sweep_from(frontier *frontier, uint32_t level, unsigned char *met, uint64_t most, bool drop)
{
    frontier_block block = {0};
    uint64_t host = 0, found, urls = 0;
    while (urls < most && frontier_host(frontier, level, host, &found) == VIDI_OK) {
        assert_true(found >= host);
        uint64_t after = 0, last = 0;
        while (frontier_take(frontier, level, found, after, &block) == VIDI_OK) {
            assert_int_equal(block.host, found);
            assert_int_equal(block.level, level);
            assert_int_equal(block.number, block.urls[0].id);
            for (size_t i = 0; i < block.count; i++) {
                check_url(&block.urls[i], found);
                check(block.urls[i].id > last, "id %llu after %llu", (unsigned long long)block.urls[i].id,
                      (unsigned long long)last);
                last = block.urls[i].id;
                assert_int_equal(met[last], 0);
                met[last] = 1;
            }
            urls += block.count;
            after = block.number;
            if (drop)
                assert_int_equal(frontier_drop(frontier, level, found, block.number), VIDI_OK);
        }
        assert_true(last > 0); /* a host that is named has a block */
        host = found + 1;
    }
    bytes_free(&block.text);
    return urls;
}

/* ---- */

static void urls_come_back_by_host_in_the_order_in_which_they_were_found(void **state)
{
    (void)state;
    sqlite3 *db = open_memory();
    frontier *frontier = open_frontier(db, false);
    unsigned char met[1001] = {0};
    uint64_t found;
    run(db, "BEGIN");
    for (uint64_t i = 1; i <= 1000; i++)
        assert_int_equal(add(frontier, 1 + i * i % 13, 3), i);
    assert_int_equal(frontier_unsorted(frontier), 1000);
    assert_int_equal(frontier_host(frontier, 0, 0, &found), VIDI_EABSENT);
    sort(frontier, 400);
    assert_int_equal(frontier_unsorted(frontier), 600);
    sort(frontier, 5000);
    assert_int_equal(frontier_unsorted(frontier), 0);
    commit(db, frontier);
    assert_int_equal(sweep(frontier, 0, met, false), 1000);
    frontier_close(frontier);

    /* Blocks stay until they are dropped. */
    frontier = open_frontier(db, false);
    memset(met, 0, sizeof met);
    run(db, "BEGIN");
    assert_int_equal(frontier_unsorted(frontier), 0);
    assert_int_equal(sweep(frontier, 0, met, true), 1000);
    assert_int_equal(frontier_host(frontier, 0, 0, &found), VIDI_EABSENT);
    commit(db, frontier);
    assert_int_equal(ask(db, "SELECT count(*) FROM queue"), 0);
    assert_int_equal(ask(db, "SELECT count(*) FROM urls"), 1000);
    frontier_close(frontier);
    sqlite3_close(db);
}

static void numbers_of_all_sizes_come_back(void **state)
{
    (void)state;
    static const uint64_t big = INT64_MAX;
    sqlite3 *db = open_memory();
    frontier *frontier = open_frontier(db, true);
    frontier_block block = {0};
    frontier_url url = {.host = big,
                        .url = {"", 0},
                        .depth = UINT32_MAX,
                        .hops = UINT32_MAX,
                        .kind = FRONTIER_OUTSIDE,
                        .referrer = big};
    run(db, "BEGIN");
    assert_int_equal(frontier_add(frontier, &url), VIDI_OK);
    sort(frontier, 1);
    assert_int_equal(frontier_take(frontier, UINT32_MAX, big, 0, &block), VIDI_OK);
    assert_int_equal(block.count, 1);
    assert_int_equal(block.urls[0].host, big);
    assert_int_equal(block.urls[0].depth, UINT32_MAX);
    assert_int_equal(block.urls[0].hops, UINT32_MAX);
    assert_int_equal(block.urls[0].kind, FRONTIER_OUTSIDE);
    assert_int_equal(block.urls[0].referrer, big);
    assert_int_equal(block.urls[0].url.len, 0);
    commit(db, frontier);
    bytes_free(&block.text);
    frontier_close(frontier);
    sqlite3_close(db);
}

static void long_urls_make_short_blocks(void **state)
{
    (void)state;
    sqlite3 *db = open_memory();
    frontier *frontier = open_frontier(db, false);
    frontier_block block = {0};
    static char text[100000];
    uint64_t after = 0, urls = 0, blocks = 0;
    run(db, "BEGIN");
    for (size_t i = 0; i < 200; i++) { /* they differ from their first byte on */
        size_t length = i == 100 ? sizeof text : 300 + i;
        memset(text, (int)('a' + i % 26), length);
        frontier_url url = {.host = 5, .url = {text, length}};
        assert_int_equal(frontier_add(frontier, &url), VIDI_OK);
    }
    sort(frontier, 1000);
    for (; frontier_take(frontier, 0, 5, after, &block) == VIDI_OK; after = block.number, blocks++)
        for (size_t i = 0; i < block.count; i++, urls++) {
            size_t length = urls == 100 ? sizeof text : 300 + urls;
            memset(text, (int)('a' + urls % 26), length);
            assert_int_equal(block.urls[i].url.len, length);
            assert_memory_equal(block.urls[i].url.ptr, text, length);
        }
    assert_int_equal(urls, 200);
    assert_true(blocks >= 200 * 300 / 4096);
    /* All of them but the one fit into a quarter of a page, beside others. */
    assert_int_equal(ask(db, "SELECT count(*) FROM queue WHERE length(urls) > 1024"), 1);
    commit(db, frontier);
    bytes_free(&block.text);
    frontier_close(frontier);
    sqlite3_close(db);
}

static void levels_are_kept_apart_if_wanted(void **state)
{
    (void)state;
    for (int by_level = 0; by_level < 2; by_level++) {
        sqlite3 *db = open_memory();
        frontier *frontier = open_frontier(db, by_level);
        uint32_t level = 99;
        unsigned char met[301] = {0};
        assert_int_equal(frontier_level(frontier, &level), VIDI_EABSENT);
        run(db, "BEGIN");
        for (uint32_t i = 0; i < 300; i++)
            add(frontier, 1 + i % 5, 4 + i % 3);
        sort(frontier, 300);
        assert_int_equal(frontier_next_level(frontier, 4, &level), by_level ? VIDI_OK : VIDI_EABSENT);
        assert_int_equal(level, by_level ? 5 : 99);
        assert_int_equal(frontier_next_level(frontier, 6, &level), VIDI_EABSENT);
        assert_int_equal(frontier_next_level(frontier, UINT32_MAX, &level), VIDI_EABSENT);
        if (by_level)
            for (uint32_t depth = 4; depth < 7; depth++) {
                assert_int_equal(frontier_level(frontier, &level), VIDI_OK);
                assert_int_equal(level, depth);
                assert_int_equal(sweep(frontier, level, met, true), 100);
            }
        else {
            assert_int_equal(frontier_level(frontier, &level), VIDI_OK);
            assert_int_equal(level, 0);
            assert_int_equal(sweep(frontier, 0, met, true), 300);
        }
        assert_int_equal(frontier_level(frontier, &level), VIDI_EABSENT);
        commit(db, frontier);
        frontier_close(frontier);
        sqlite3_close(db);
    }
}

static void hosts_in_many_segments_are_met_once_and_in_order(void **state)
{
    (void)state;
    enum { URLS = 4 * LARGE_SORT };
    sqlite3 *db = open_memory();
    frontier *frontier = open_frontier(db, false);
    unsigned char *met = calloc(URLS + 1, 1);
    run(db, "BEGIN");
    for (uint64_t i = 0; i < URLS; i++)
        add(frontier, 1 + (i * 2654435761u >> 7) % (i % 3 ? 20000 : 10), 0);
    for (int i = 0; i < 4; i++)
        sort(frontier, LARGE_SORT);
    assert_int_equal(ask(db, "SELECT count(*) FROM segments"), 4);
    assert_int_equal(sweep(frontier, 0, met, false), URLS);
    memset(met, 0, URLS + 1);
    assert_true(sweep_from(frontier, 0, met, URLS / 2, true) < URLS); /* the beginning of every segment is gone */
    uint64_t left = sweep(frontier, 0, met, true), marked = 0;
    for (size_t i = 1; i <= URLS; i++)
        marked += met[i];
    assert_true(left > 0);
    assert_int_equal(marked, URLS);
    commit(db, frontier);
    assert_int_equal(ask(db, "SELECT count(*) FROM queue"), 0);
    free(met);
    frontier_close(frontier);
    sqlite3_close(db);
}

static void small_sorts_share_a_segment_and_empty_segments_go(void **state)
{
    (void)state;
    enum { URLS = 2 * LARGE_SORT + 3000 };
    sqlite3 *db = open_memory();
    frontier *frontier = open_frontier(db, false);
    unsigned char *met = calloc(URLS + 1, 1);
    run(db, "BEGIN");
    for (uint64_t i = 0; i < 2000; i++) {
        add(frontier, 1 + i % 30, 0);
        if (i % 10 == 9)
            sort(frontier, 10);
    }
    assert_int_equal(ask(db, "SELECT count(*) FROM segments"), 1);
    for (int segment = 0; segment < 2; segment++) {
        for (uint64_t i = 0; i < LARGE_SORT; i++)
            add(frontier, 1 + i % 100, 0);
        sort(frontier, LARGE_SORT);
    }
    assert_int_equal(ask(db, "SELECT count(*) FROM segments"), 3);
    assert_int_equal(sweep(frontier, 0, met, true), 2000 + 2 * LARGE_SORT);
    for (uint64_t i = 0; i < 1000; i++)
        add(frontier, 1 + i % 30, 0);
    sort(frontier, 1000);
    assert_true(ask(db, "SELECT count(*) FROM segments") <= 2);
    assert_int_equal(frontier_unsorted(frontier), 0);
    assert_int_equal(sweep(frontier, 0, met, true), 1000);
    commit(db, frontier);
    free(met);
    frontier_close(frontier);
    sqlite3_close(db);
}

static void a_rollback_brings_everything_back(void **state)
{
    (void)state;
    sqlite3 *db = open_memory();
    frontier *frontier = open_frontier(db, false);
    unsigned char met[1001] = {0};
    uint64_t found;
    run(db, "BEGIN");
    for (uint64_t i = 0; i < 500; i++)
        add(frontier, 1 + i % 7, 0);
    sort(frontier, 300);
    run(db, "COMMIT; BEGIN");
    for (uint64_t i = 0; i < 500; i++)
        add(frontier, 1 + i % 7, 0);
    sort(frontier, 700);
    assert_int_equal(sweep(frontier, 0, met, true), 1000);
    assert_int_equal(frontier_host(frontier, 0, 0, &found), VIDI_EABSENT); /* it remembers that there are none */
    run(db, "ROLLBACK");
    frontier_forget(frontier);

    assert_int_equal(frontier_host(frontier, 0, 0, &found), VIDI_OK);
    assert_int_equal(found, 1);
    assert_int_equal(frontier_last(frontier), 500);
    assert_int_equal(frontier_unsorted(frontier), 200);
    run(db, "BEGIN");
    assert_int_equal(add(frontier, 1 + 500 % 7, 0), 501); /* numbers have no gaps */
    sort(frontier, 1000);
    memset(met, 0, sizeof met);
    assert_int_equal(sweep(frontier, 0, met, true), 501);
    commit(db, frontier);
    frontier_close(frontier);
    sqlite3_close(db);
}

static void nothing_is_written_without_a_transaction(void **state)
{
    (void)state;
    sqlite3 *db = open_memory();
    frontier *frontier = open_frontier(db, false);
    frontier_url url = {.host = 1, .url = {"http://a/", 9}};
    run(db, "BEGIN");
    assert_int_equal(frontier_add(frontier, &url), VIDI_OK);
    commit(db, frontier);
    assert_int_equal(frontier_add(frontier, &url), VIDI_EARGUMENT);
    assert_int_equal(frontier_sort(frontier, 1), VIDI_EARGUMENT);
    assert_int_equal(frontier_drop(frontier, 0, 1, 1), VIDI_EARGUMENT);
    assert_non_null(strstr(frontier_error(frontier), "transaction"));
    assert_int_equal(ask(db, "SELECT count(*) FROM urls"), 1);
    assert_int_equal(ask(db, "SELECT count(*) FROM queue"), 0);
    frontier_close(frontier);
    sqlite3_close(db);
}

typedef struct walk {
    uint64_t next, stop;
} walk;

static int step(void *context, uint64_t id, vidi_str url)
{
    walk *walk = context;
    assert_int_equal(id, walk->next);
    assert_true(url.len > 10 && memcmp(url.ptr, "http://", 7) == 0);
    walk->next++;
    return id == walk->stop ? 77 : 0;
}

static void urls_can_be_read_again_by_their_ids(void **state)
{
    (void)state;
    sqlite3 *db = open_memory();
    frontier *frontier = open_frontier(db, false);
    bytes text = {0};
    run(db, "BEGIN");
    for (uint64_t i = 0; i < 100; i++)
        add(frontier, 1 + i % 7, 0);
    commit(db, frontier);
    walk all = {.next = 1}, some = {.next = 91}, cut = {.next = 1, .stop = 5}, none = {.next = 0};
    assert_int_equal(frontier_since(frontier, 0, step, &all), VIDI_OK);
    assert_int_equal(all.next, 101);
    assert_int_equal(frontier_since(frontier, 90, step, &some), VIDI_OK);
    assert_int_equal(some.next, 101);
    assert_int_equal(frontier_since(frontier, 0, step, &cut), 77);
    assert_int_equal(cut.next, 6);
    assert_int_equal(frontier_since(frontier, 100, step, &none), VIDI_OK);

    assert_int_equal(bytes_append_text(&text, "<"), VIDI_OK);
    assert_int_equal(frontier_text(frontier, 8, &text), VIDI_OK);
    assert_int_equal(text.len, strlen("<http://1.test/8"));
    assert_memory_equal(text.ptr, "<http://1.test/8", text.len);
    assert_int_equal(frontier_text(frontier, 101, &text), VIDI_EABSENT);
    assert_int_equal(frontier_text(frontier, 0, &text), VIDI_EABSENT);
    bytes_free(&text);
    frontier_close(frontier);
    sqlite3_close(db);
}

static void damaged_blocks_are_refused(void **state)
{
    (void)state;
    frontier_block block = {.host = 3, .number = 1000};
    bytes good = {0};
    frontier_url urls[3] = {{.id = 1000, .url = {"http://a.test/one", 17}, .referrer = 300},
                            {.id = 1200, .url = {"http://a.test/two", 17}, .depth = 200},
                            {.id = 1201, .url = {"http://a.test/", 14}, .hops = 70}};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(block_append(&good, 1000, i ? &urls[i - 1] : NULL, &urls[i]), VIDI_OK);
    assert_int_equal(block_read(&block, bytes_str(&good), 3), VIDI_OK);
    assert_int_equal(block.urls[2].id, 1201);
    assert_memory_equal(block.urls[1].url.ptr, "http://a.test/two", 17);
    assert_int_equal(block_read(&block, bytes_str(&good), 0), VIDI_EDAMAGED);
    assert_int_equal(block_read(&block, bytes_str(&good), 2), VIDI_EDAMAGED);
    assert_int_equal(block_read(&block, bytes_str(&good), 4), VIDI_EDAMAGED);
    assert_int_equal(block_read(&block, bytes_str(&good), UINT64_MAX), VIDI_EDAMAGED);
    for (size_t length = 0; length < good.len; length++) {
        char *copy = malloc(length + 1); /* so that reading too far is noticed */
        memcpy(copy, good.ptr, length);
        assert_int_equal(block_read(&block, (vidi_str){copy, length}, 3), VIDI_EDAMAGED);
        free(copy);
    }
    for (size_t bit = 0; bit < 8 * good.len; bit++) { /* some of these are blocks, too; all must be read in bounds */
        good.ptr[bit / 8] = (char)(good.ptr[bit / 8] ^ 1 << bit % 8);
        int error = block_read(&block, bytes_str(&good), 3);
        assert_true(error == VIDI_OK || error == VIDI_EDAMAGED);
        good.ptr[bit / 8] = (char)(good.ptr[bit / 8] ^ 1 << bit % 8);
    }
    bytes_free(&good);
    bytes_free(&block.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_come_back_by_host_in_the_order_in_which_they_were_found),
        cmocka_unit_test(numbers_of_all_sizes_come_back),
        cmocka_unit_test(long_urls_make_short_blocks),
        cmocka_unit_test(levels_are_kept_apart_if_wanted),
        cmocka_unit_test(hosts_in_many_segments_are_met_once_and_in_order),
        cmocka_unit_test(small_sorts_share_a_segment_and_empty_segments_go),
        cmocka_unit_test(a_rollback_brings_everything_back),
        cmocka_unit_test(nothing_is_written_without_a_transaction),
        cmocka_unit_test(urls_can_be_read_again_by_their_ids),
        cmocka_unit_test(damaged_blocks_are_refused),
    };
    return cmocka_run_group_tests_name("frontier", tests, NULL, NULL);
}
