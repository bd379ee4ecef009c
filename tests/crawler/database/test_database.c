/* The rows of the database: what is committed is there, once; what is not is not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/database/place.h"

static void what_is_committed_is_there_after_opening(void **state)
{
    const place *here = *state;
    crawl_db *db = open_db(here, DB_WRITE);
    bytes text = {0};
    int64_t number = 0;
    uint64_t count = 0;
    assert_int_equal(db_get(db, "x", &number), VIDI_EABSENT);
    check_fine(db, db_begin(db));
    check_fine(db, db_set(db, "x", -5));
    check_fine(db, db_set_text(db, "y", (vidi_str){"text", 4}));
    assert_int_equal(db_seed(db, (vidi_str){"http://a/", 9}, (vidi_str){"http://a/", 9}), 1);
    assert_int_equal(db_seed(db, (vidi_str){"http://a/", 9}, (vidi_str){"http://a/", 9}), 0);
    check_fine(db, db_path(db, 8, &count));
    check_fine(db, db_path(db, 8, &count));
    assert_int_equal(count, 2);
    check_fine(db, db_edge(db, 77, 1, (vidi_str){"here", 4}));
    check_fine(db, db_commit(db));
    db_close(db);

    db = open_db(here, DB_WRITE);
    check_fine(db, db_get(db, "x", &number));
    assert_int_equal(number, -5);
    check_fine(db, db_get_text(db, "y", &text));
    assert_int_equal(text.len, 4);
    assert_memory_equal(text.ptr, "text", 4);
    assert_string_equal(ask(db, "SELECT text FROM edges WHERE target = 77"), "here");
    check_fine(db, db_begin(db));
    assert_int_equal(db_seed(db, (vidi_str){"http://a/", 9}, (vidi_str){"http://a/", 9}), 0);
    check_fine(db, db_path(db, 8, &count));
    assert_int_equal(count, 3);
    check_fine(db, db_commit(db));
    bytes_free(&text);
    db_close(db);
}

static void a_url_has_one_outcome(void **state)
{
    const place *here = *state;
    crawl_db *db = open_db(here, DB_WRITE);
    check_fine(db, db_begin(db));
    uint64_t one = add_url(db, "http://a/1"), two = add_url(db, "http://a/2");
    assert_int_equal(db_is_done(db, one), 0);
    check_fine(db, outcome_add(db, one, NULL));
    assert_int_equal(outcome_add(db, one, "timeout"), VIDI_EEXIST);
    assert_int_equal(db_is_done(db, one), 1);
    assert_int_equal(db_is_done(db, two), 0);
    assert_int_equal(outcome_add(db, 0, NULL), VIDI_EARGUMENT);
    assert_int_equal(outcome_add(db, two + 1, NULL), VIDI_EARGUMENT);
    check_fine(db, db_commit(db)); /* these were answers, not failures */
    assert_string_equal(ask(db, "SELECT group_concat(id || status) FROM outcomes"), "1200");
    db_close(db);
}

static void the_view_shows_pages_to_people(void **state)
{
    const place *here = *state;
    crawl_db *db = open_db(here, DB_WRITE);
    check_fine(db, db_begin(db));
    frontier_url seed = {.host = 5, .url = {"http://a/", 9}, .kind = FRONTIER_SEED};
    check_fine(db, frontier_add(db_frontier(db), &seed));
    uint64_t page = add_url(db, "http://a/page"), denied = add_url(db, "http://a/no");
    check_fine(db, outcome_add(db, page, NULL));
    check_fine(db, outcome_add(db, denied, "robots"));
    check_fine(db, db_commit(db));
    assert_string_equal(ask(db, "SELECT url || ' ' || status || ' ' || type || ' ' || bytes || ' ' || digest || ' ' || "
                                "date || ' ' || seconds || ' ' || depth || ' ' || referrer || ' ' || links || ' ' || "
                                "file || ' ' || offset || ' ' || length || ' ' || kind FROM pages WHERE id = 2"),
                        "http://a/page 200 text/html 1234 sha1:ABC 2023-11-14T22:13:20.123Z 0.25 1 http://a/ 7 "
                        "vidi-00000.warc.gz 100 50 page");
    assert_string_equal(ask(db, "SELECT reason || ' ' || error || ' ' || status FROM pages WHERE id = 3"),
                        "robots no 0");
    assert_string_equal(ask(db, "SELECT file FROM pages WHERE id = 3"), "NULL");
    assert_string_equal(ask(db, "SELECT url || ' ' || kind FROM pages WHERE status IS NULL"), "http://a/ seed");
    db_close(db);
}

/* Every block of SQL in docs/CRAWLER.md can be run. */
static void the_queries_in_the_documentation_run(void **state)
{
    const place *here = *state;
    const char *source = getenv("VIDI_SOURCE");
    char path[4096], line[512], query[4096] = "";
    crawl_db *crawled = open_db(here, DB_WRITE);
    int queries = 0;
    bool inside = false;
    snprintf(path, sizeof path, "%s/docs/CRAWLER.md", source ? source : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        bool begins = strncmp(line, "```sql", 6) == 0, ends = strncmp(line, "```", 3) == 0;
        if (inside && ends) {
            sqlite3 *db = db_sqlite(crawled);
            check(sqlite3_exec(db, query, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", query, sqlite3_errmsg(db));
            queries++;
            query[0] = 0;
        } else if (inside) {
            strncat(query, line, sizeof query - strlen(query) - 1);
        }
        inside = begins || (inside && !ends);
    }
    fclose(file);
    assert_true(queries >= 3);
    db_close(crawled);
}

static void totals_are_those_of_the_committed_rows(void **state)
{
    const place *here = *state;
    crawl_db *db = open_db(here, DB_WRITE);
    db_host host = {.id = 9, .origin = {"http://a", 8}, .robots_outcome = -1};
    static const db_totals expected = {
        .urls = 3, .fetched = 1, .failed = 1, .queue = 1, .bytes = 1234, .hosts = 1, .archived = 1};
    check_total(db, (db_totals){0});
    check_fine(db, db_begin(db));
    for (int i = 0; i < 3; i++)
        add_url(db, "http://a/");
    check_fine(db, outcome_add(db, 1, NULL));
    check_fine(db, outcome_add(db, 2, "timeout"));
    check_fine(db, db_host_write(db, &host));
    check_fine(db, db_host_write(db, &host));
    check_fine(db, db_commit(db));
    check_total(db, expected);

    check_fine(db, db_begin(db)); /* rolled back by us */
    add_url(db, "http://a/");
    check_fine(db, outcome_add(db, 3, NULL));
    host.id = 10;
    check_fine(db, db_host_write(db, &host));
    db_rollback(db);
    check_total(db, expected);
    assert_int_equal(frontier_last(db_frontier(db)), 3);
    assert_int_equal(frontier_unsorted(db_frontier(db)), 3);

    check_fine(db, db_begin(db)); /* and by SQLite */
    check_fine(db, outcome_add(db, 3, NULL));
    assert_int_equal(sqlite3_exec(db_sqlite(db), "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_false(db_is_open(db));
    check_total(db, expected);
    assert_int_equal(db_commit(db), VIDI_EARGUMENT);
    check_fine(db, db_begin(db));
    check_total(db, expected);
    check_fine(db, db_commit(db));

    crawl_db *reader = open_db(here, DB_READ_ONLY); /* while the other has it open */
    check_total(reader, expected);
    check_fine(db, db_begin(db));
    check_fine(db, outcome_add(db, 3, "robots"));
    check_total(reader, expected);
    check_fine(db, db_commit(db));
    db_totals later = expected;
    later.failed++;
    later.queue--;
    check_total(reader, later);
    db_close(reader);
    db_close(db);
    db = open_db(here, DB_READ_ONLY);
    check_total(db, later);
    db_close(db);
}

static void hosts_keep_their_robots_txt(void **state)
{
    const place *here = *state;
    crawl_db *db = open_db(here, DB_WRITE);
    db_host host = {.id = 9,
                    .origin = {"http://a", 8},
                    .pages = 3,
                    .not_before = 5,
                    .robots_outcome = 1,
                    .robots_date = 6,
                    .robots_reached = 7,
                    .robots = {"Disallow: /\0x", 13}};
    db_host found;
    assert_int_equal(db_host_read(db, 9, &found), VIDI_EABSENT);
    check_fine(db, db_begin(db));
    check_fine(db, db_host_write(db, &host));
    host.parked = "Crawl-delay";
    host.robots = (vidi_str){NULL, 0}; /* the file stays */
    check_fine(db, db_host_write(db, &host));
    check_fine(db, db_host_pages(db, 9, 4));
    assert_int_equal(db_host_pages(db, 8, 4), VIDI_EABSENT);
    check_fine(db, db_commit(db));
    check_fine(db, db_host_read(db, 9, &found));
    assert_int_equal(found.id, 9);
    assert_int_equal(found.origin.len, 8);
    assert_memory_equal(found.origin.ptr, "http://a", 8);
    assert_int_equal(found.pages, 4);
    assert_int_equal(found.not_before, 5);
    assert_string_equal(found.parked, "Crawl-delay");
    assert_int_equal(found.robots_outcome, 1);
    assert_int_equal(found.robots_date, 6);
    assert_int_equal(found.robots_reached, 7);
    assert_int_equal(found.robots.len, 13);
    assert_memory_equal(found.robots.ptr, "Disallow: /\0x", 13);

    host.robots = (vidi_str){"", 0};
    host.parked = NULL;
    check_fine(db, db_begin(db));
    check_fine(db, db_host_write(db, &host));
    check_fine(db, db_commit(db));
    check_fine(db, db_host_read(db, 9, &found));
    assert_int_equal(found.robots.len, 0);
    assert_non_null(found.robots.ptr);
    assert_null(found.parked);
    db_close(db);
}

static int note(void *context, const char *reason, uint64_t count)
{
    char *text = context;
    size_t used = strlen(text);
    snprintf(text + used, 100 - used, "%s=%llu ", reason, (unsigned long long)count);
    return strcmp(reason, "stop") == 0 ? 5 : 0;
}

static void reasons_are_counted(void **state)
{
    const place *here = *state;
    crawl_db *db = open_db(here, DB_WRITE);
    char text[100] = "";
    check_fine(db, db_begin(db));
    for (int i = 0; i < 5; i++)
        add_url(db, "http://a/");
    check_fine(db, outcome_add(db, 1, "timeout"));
    check_fine(db, outcome_add(db, 2, NULL));
    check_fine(db, outcome_add(db, 3, "robots"));
    check_fine(db, outcome_add(db, 4, "timeout"));
    check_fine(db, db_skip(db, "scope", 10));
    check_fine(db, db_skip(db, "nofollow", 1));
    check_fine(db, db_skip(db, "scope", 5));
    check_fine(db, db_skip(db, "trap", 0));
    check_fine(db, db_commit(db));
    check_fine(db, db_reasons(db, note, text));
    assert_string_equal(text, "robots=1 timeout=2 ");
    text[0] = 0;
    check_fine(db, db_skipped(db, note, text));
    assert_string_equal(text, "nofollow=1 scope=15 ");
    text[0] = 0;
    check_fine(db, db_begin(db));
    check_fine(db, db_skip(db, "stop", 1));
    check_fine(db, db_skip(db, "trap", 1));
    assert_int_equal(db_skipped(db, note, text), 5);
    assert_string_equal(text, "nofollow=1 scope=15 stop=1 ");
    db_close(db); /* rolls back */
    db = open_db(here, DB_READ_ONLY);
    text[0] = 0;
    check_fine(db, db_skipped(db, note, text));
    assert_string_equal(text, "nofollow=1 scope=15 ");
    db_close(db);
}

static void levels_can_be_switched_on_later(void **state)
{
    const place *here = *state;
    char why[256];
    crawl_db *db = open_db(here, DB_WRITE);
    uint32_t level = 99;
    check_fine(db, db_begin(db));
    add_url(db, "http://a/1");
    add_url(db, "http://a/2");
    check_fine(db, frontier_sort(db_frontier(db), 10));
    check_fine(db, db_commit(db));
    check_fine(db, frontier_level(db_frontier(db), &level));
    assert_int_equal(level, 0);
    db_close(db);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(db_open(&db, here->path, DB_WRITE, true, why), VIDI_OK);
        check_fine(db, db_begin(db));
        assert_int_equal(frontier_unsorted(db_frontier(db)), again ? 0 : 2);
        check_fine(db, frontier_sort(db_frontier(db), 10));
        check_fine(db, db_commit(db));
        check_fine(db, frontier_level(db_frontier(db), &level));
        assert_int_equal(level, 1);
        db_close(db);
    }
}

static void nothing_is_written_outside_of_a_transaction(void **state)
{
    const place *here = *state;
    crawl_db *db = open_db(here, DB_WRITE);
    db_host host = {.id = 9, .origin = {"http://a", 8}};
    uint64_t count;
    assert_int_equal(db_set(db, "x", 1), VIDI_EARGUMENT);
    assert_int_equal(db_set_text(db, "x", (vidi_str){"", 0}), VIDI_EARGUMENT);
    assert_int_equal(outcome_add(db, 1, NULL), VIDI_EARGUMENT);
    assert_int_equal(db_host_write(db, &host), VIDI_EARGUMENT);
    assert_int_equal(db_seed(db, (vidi_str){"", 0}, (vidi_str){"", 0}), VIDI_EARGUMENT);
    assert_int_equal(db_skip(db, "trap", 1), VIDI_EARGUMENT);
    assert_int_equal(db_edge(db, 1, 1, (vidi_str){"", 0}), VIDI_EARGUMENT);
    assert_int_equal(db_path(db, 1, &count), VIDI_EARGUMENT);
    assert_int_equal(db_commit(db), VIDI_EARGUMENT);
    assert_non_null(strstr(db_error(db), "transaction"));
    db_rollback(db);
    check_fine(db, db_begin(db));
    assert_int_not_equal(db_begin(db), VIDI_OK);
    check_fine(db, db_commit(db));
    db_close(db);
}

static void a_failed_change_cannot_be_committed(void **state)
{
    const place *here = *state;
    crawl_db *db = open_db(here, DB_WRITE);
    db_host host = {.id = 9, .origin = {NULL, 0}}; /* refused: NOT NULL */
    int64_t number;
    check_fine(db, db_begin(db));
    check_fine(db, db_set(db, "x", 1));
    assert_int_not_equal(db_host_write(db, &host), VIDI_OK);
    assert_int_not_equal(db_commit(db), VIDI_OK);
    assert_non_null(strstr(db_error(db), "NOT NULL"));
    assert_true(db_is_open(db));
    db_rollback(db);
    assert_non_null(strstr(db_error(db), "NOT NULL"));
    assert_int_equal(db_get(db, "x", &number), VIDI_EABSENT);

    frontier_url url = {.url = {NULL, 0}};
    check_fine(db, db_begin(db));
    check_fine(db, db_set(db, "x", 1));
    assert_int_not_equal(frontier_add(db_frontier(db), &url), VIDI_OK);
    assert_int_not_equal(db_commit(db), VIDI_OK);
    db_rollback(db);
    check_fine(db, db_begin(db));
    check_fine(db, db_commit(db));
    assert_int_equal(db_get(db, "x", &number), VIDI_EABSENT);
    db_close(db);
}

/* Adds URLs until there is no room. Returns the error. */
static int fill(crawl_db *db)
{
    static char text[3000];
    frontier_url url = {.host = 1, .url = {text, sizeof text}};
    int error = db_begin(db);
    memset(text, 'x', sizeof text);
    for (int i = 0; !error && i < 1000; i++)
        error = frontier_add(db_frontier(db), &url);
    return error;
}

/* SQLite rolls back by itself, or it does not: either way nothing is committed, and all can be written again. */
static void a_full_disk_undoes_the_transaction(void **state)
{
    const place *here = *state;
    crawl_db *db = open_db(here, DB_WRITE);
    for (int rollback = 0; rollback < 2; rollback++) {
        assert_int_equal(sqlite3_exec(db_sqlite(db), "PRAGMA max_page_count = 40", NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(fill(db), VIDI_ELIMIT);
        assert_non_null(strstr(db_error(db), "full"));
        assert_int_not_equal(db_commit(db), VIDI_OK);
        if (rollback || db_is_open(db))
            db_rollback(db);
        assert_string_equal(ask(db, "SELECT count(*) FROM urls"), "0");
        assert_int_equal(sqlite3_exec(db_sqlite(db), "PRAGMA max_page_count = 4000", NULL, NULL, NULL), SQLITE_OK);
        check_fine(db, db_begin(db));
        assert_int_equal(add_url(db, "http://a/"), 1);
        check_fine(db, outcome_add(db, 1, NULL));
        check_fine(db, db_commit(db));
        check_total(db, (db_totals){.urls = 1, .fetched = 1, .bytes = 1234, .archived = 1});
        check_fine(db, db_begin(db));
        assert_int_equal(sqlite3_exec(db_sqlite(db),
                                      "DELETE FROM urls; DELETE FROM outcomes; UPDATE totals SET "
                                      "fetched = 0, bytes = 0, archived = 0",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        check_fine(db, db_commit(db));
        db_close(db);
        db = open_db(here, DB_WRITE);
    }
    db_close(db);
}

static void who_writes_at_the_same_time_is_waited_for(void **state)
{
    const place *here = *state;
    crawl_db *db = open_db(here, DB_WRITE);
    sqlite3 *other;
    assert_string_equal(ask(db, "PRAGMA busy_timeout"), "5000");
    sqlite3_busy_timeout(db_sqlite(db), 0);
    assert_int_equal(sqlite3_open(here->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE; INSERT INTO meta VALUES ('x', 5)", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(db_begin(db), VIDI_EBUSY);
    assert_non_null(strstr(db_error(db), "locked"));
    assert_false(db_is_open(db));
    assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    check_fine(db, db_begin(db));
    check_fine(db, db_set(db, "x", 6));
    check_fine(db, db_commit(db));
    sqlite3_close(other);
    db_close(db);
}

/* ---- the schedule ---- */

enum { PAGES = 5000, PORTION = 2000, DATE = 1000000 };

/* In the schedule as of its last fetch, or of an earlier one. */
static bool is_up_to_date(uint64_t page)
{
    return page % 14 == 0;
}

static bool is_behind(uint64_t page)
{
    return page % 14 == 7;
}

static bool is_missed(uint64_t page)
{
    bool is_gone = page % 10 == 0, is_unsettled = page % 13 == 0, is_outside = page % 17 == 0;
    return !is_gone && !is_unsettled && !is_outside && !is_up_to_date(page);
}

static void add_page(crawl_db *db, uint64_t page)
{
    char text[32];
    snprintf(text, sizeof text, "http://a/%d", (int)page);
    frontier_url url = {.host = 5, .url = {text, strlen(text)}, .kind = page % 17 ? FRONTIER_PAGE : FRONTIER_OUTSIDE};
    check_fine(db, frontier_add(db_frontier(db), &url));
    assert_int_equal(url.id, page);
    db_outcome row = fetched;
    row.id = page;
    row.date = DATE + (int64_t)page;
    row.status = page % 10 ? 200 : 404;
    row.change = page % 2 ? DB_CHANGED : DB_UNCHANGED;
    check_fine(db, db_outcome_add(db, &row));
    check_fine(db, db_newest_write(db, &(db_prior){.page = page, .newest = page, .settled = page % 13 ? page : 0}));
    if (is_up_to_date(page) || is_behind(page))
        check_fine(db, db_schedule_write(db, &(db_scheduled){.page = page,
                                                             .history_bytes = 3,
                                                             .importance = 2,
                                                             .visited = row.date - is_behind(page)}));
}

typedef struct portion {
    uint64_t last;
    size_t count;
} portion;

/* The pages come in order, none is left out, and none comes that should not. */
static int take_missed(void *context, const db_fetched *page)
{
    portion *self = context;
    uint64_t expected = self->last + 1;
    while (!is_missed(expected))
        expected++;
    check(page->row.page == expected, "page %llu comes, not %llu", (unsigned long long)page->row.page,
          (unsigned long long)expected);
    assert_int_equal(page->date, DATE + expected);
    assert_int_equal(page->changed, expected % 2);
    assert_int_equal(page->row.history_bytes, is_behind(expected) ? 3 : 0);
    assert_true(page->row.importance == (is_behind(expected) ? 2 : 1));
    self->last = expected;
    return ++self->count == PORTION;
}

static void pages_that_the_schedule_lacks_come_in_portions(void **state)
{
    crawl_db *db = open_db(*state, DB_WRITE);
    portion taken = {0};
    size_t portions = 0, missed = 0;
    int more = 1;
    check_fine(db, db_begin(db));
    for (uint64_t page = 1; page <= PAGES; page++) {
        add_page(db, page);
        missed += is_missed(page);
    }
    check_fine(db, db_commit(db));
    for (size_t sum = 0; more == 1; sum += taken.count, portions++) {
        taken.count = 0;
        more = db_schedule_missed(db, taken.last, take_missed, &taken);
        check(more == 1 || sum + taken.count == missed, "%zu pages came, not %zu", sum + taken.count, missed);
    }
    check_fine(db, more);
    assert_int_equal(portions, missed / PORTION + 1);
    db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_a_folder(what_is_committed_is_there_after_opening),
        in_a_folder(a_url_has_one_outcome),
        in_a_folder(the_view_shows_pages_to_people),
        in_a_folder(the_queries_in_the_documentation_run),
        in_a_folder(totals_are_those_of_the_committed_rows),
        in_a_folder(hosts_keep_their_robots_txt),
        in_a_folder(reasons_are_counted),
        in_a_folder(levels_can_be_switched_on_later),
        in_a_folder(nothing_is_written_outside_of_a_transaction),
        in_a_folder(a_failed_change_cannot_be_committed),
        in_a_folder(a_full_disk_undoes_the_transaction),
        in_a_folder(who_writes_at_the_same_time_is_waited_for),
        in_a_folder(pages_that_the_schedule_lacks_come_in_portions),
    };
    return cmocka_run_group_tests_name("database", tests, NULL, NULL);
}
