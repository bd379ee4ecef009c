/* The rows of the database: what is committed is there, once; what is not is not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/database/place.h"

static void what_is_committed_is_there_after_opening(void **state)
{
    const place *here = *state;
    crawl_db *of = open_ledger(here, DB_WRITE);
    bytes text = {0};
    int64_t number = 0;
    uint64_t count = 0;
    assert_int_equal(db_get(of, "x", &number), VIDI_EABSENT);
    check_fine(of, db_begin(of));
    check_fine(of, db_set(of, "x", -5));
    check_fine(of, db_set_text(of, "y", (vidi_str){"text", 4}));
    assert_int_equal(db_seed(of, (vidi_str){"http://a/", 9}), 1);
    assert_int_equal(db_seed(of, (vidi_str){"http://a/", 9}), 0);
    check_fine(of, db_path(of, 8, &count));
    check_fine(of, db_path(of, 8, &count));
    assert_int_equal(count, 2);
    check_fine(of, db_edge(of, 77, 1, (vidi_str){"here", 4}));
    check_fine(of, db_commit(of));
    db_close(of);

    of = open_ledger(here, DB_WRITE);
    check_fine(of, db_get(of, "x", &number));
    assert_int_equal(number, -5);
    check_fine(of, db_get_text(of, "y", &text));
    assert_int_equal(text.len, 4);
    assert_memory_equal(text.ptr, "text", 4);
    assert_string_equal(ask(of, "SELECT text FROM edges WHERE target = 77"), "here");
    check_fine(of, db_begin(of));
    assert_int_equal(db_seed(of, (vidi_str){"http://a/", 9}), 0);
    check_fine(of, db_path(of, 8, &count));
    assert_int_equal(count, 3);
    check_fine(of, db_commit(of));
    bytes_free(&text);
    db_close(of);
}

static void a_url_has_one_outcome(void **state)
{
    const place *here = *state;
    crawl_db *of = open_ledger(here, DB_WRITE);
    check_fine(of, db_begin(of));
    uint64_t one = add_url(of, "http://a/1"), two = add_url(of, "http://a/2");
    assert_int_equal(db_is_done(of, one), 0);
    check_fine(of, outcome_add(of, one, NULL));
    assert_int_equal(outcome_add(of, one, "timeout"), VIDI_EEXIST);
    assert_int_equal(db_is_done(of, one), 1);
    assert_int_equal(db_is_done(of, two), 0);
    assert_int_equal(outcome_add(of, 0, NULL), VIDI_EARGUMENT);
    assert_int_equal(outcome_add(of, two + 1, NULL), VIDI_EARGUMENT);
    check_fine(of, db_commit(of)); /* these were answers, not failures */
    assert_string_equal(ask(of, "SELECT group_concat(id || status) FROM outcomes"), "1200");
    db_close(of);
}

static void the_view_shows_pages_to_people(void **state)
{
    const place *here = *state;
    crawl_db *of = open_ledger(here, DB_WRITE);
    check_fine(of, db_begin(of));
    frontier_url seed = {.host = 5, .url = {"http://a/", 9}, .kind = FRONTIER_SEED};
    check_fine(of, frontier_add(db_frontier(of), &seed));
    uint64_t page = add_url(of, "http://a/page"), denied = add_url(of, "http://a/no");
    check_fine(of, outcome_add(of, page, NULL));
    check_fine(of, outcome_add(of, denied, "robots"));
    check_fine(of, db_commit(of));
    assert_string_equal(ask(of, "SELECT url || ' ' || status || ' ' || type || ' ' || bytes || ' ' || digest || ' ' || "
                                "date || ' ' || seconds || ' ' || depth || ' ' || referrer || ' ' || links || ' ' || "
                                "file || ' ' || offset || ' ' || length || ' ' || kind FROM pages WHERE id = 2"),
                        "http://a/page 200 text/html 1234 sha1:ABC 2023-11-14T22:13:20.123Z 0.25 1 http://a/ 7 "
                        "vidi-00000.warc.gz 100 50 page");
    assert_string_equal(ask(of, "SELECT reason || ' ' || error || ' ' || status FROM pages WHERE id = 3"),
                        "robots no 0");
    assert_string_equal(ask(of, "SELECT file FROM pages WHERE id = 3"), "NULL");
    assert_string_equal(ask(of, "SELECT url || ' ' || kind FROM pages WHERE status IS NULL"), "http://a/ seed");
    db_close(of);
}

/* Every block of SQL in docs/CRAWLER.md can be run. */
static void the_queries_in_the_documentation_run(void **state)
{
    const place *here = *state;
    const char *source = getenv("VIDI_SOURCE");
    char path[4096], line[512], query[4096] = "";
    crawl_db *of = open_ledger(here, DB_WRITE);
    int queries = 0;
    bool inside = false;
    snprintf(path, sizeof path, "%s/docs/CRAWLER.md", source ? source : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        bool begins = strncmp(line, "```sql", 6) == 0, ends = strncmp(line, "```", 3) == 0;
        if (inside && ends) {
            sqlite3 *db = db_sqlite(of);
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
    db_close(of);
}

static void totals_are_those_of_the_committed_rows(void **state)
{
    const place *here = *state;
    crawl_db *of = open_ledger(here, DB_WRITE);
    db_host host = {.id = 9, .origin = {"http://a", 8}, .robots_outcome = -1};
    static const db_totals expected = {
        .urls = 3, .fetched = 1, .failed = 1, .queue = 1, .bytes = 1234, .hosts = 1, .archived = 1};
    check_total(of, (db_totals){0});
    check_fine(of, db_begin(of));
    for (int i = 0; i < 3; i++)
        add_url(of, "http://a/");
    check_fine(of, outcome_add(of, 1, NULL));
    check_fine(of, outcome_add(of, 2, "timeout"));
    check_fine(of, db_host_write(of, &host));
    check_fine(of, db_host_write(of, &host));
    check_fine(of, db_commit(of));
    check_total(of, expected);

    check_fine(of, db_begin(of)); /* rolled back by us */
    add_url(of, "http://a/");
    check_fine(of, outcome_add(of, 3, NULL));
    host.id = 10;
    check_fine(of, db_host_write(of, &host));
    db_rollback(of);
    check_total(of, expected);
    assert_int_equal(frontier_last(db_frontier(of)), 3);
    assert_int_equal(frontier_unsorted(db_frontier(of)), 3);

    check_fine(of, db_begin(of)); /* and by SQLite */
    check_fine(of, outcome_add(of, 3, NULL));
    assert_int_equal(sqlite3_exec(db_sqlite(of), "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_false(db_is_open(of));
    check_total(of, expected);
    assert_int_equal(db_commit(of), VIDI_EARGUMENT);
    check_fine(of, db_begin(of));
    check_total(of, expected);
    check_fine(of, db_commit(of));

    crawl_db *reader = open_ledger(here, DB_READ_ONLY); /* while the other has it open */
    check_total(reader, expected);
    check_fine(of, db_begin(of));
    check_fine(of, outcome_add(of, 3, "robots"));
    check_total(reader, expected);
    check_fine(of, db_commit(of));
    db_totals later = expected;
    later.failed++;
    later.queue--;
    check_total(reader, later);
    db_close(reader);
    db_close(of);
    of = open_ledger(here, DB_READ_ONLY);
    check_total(of, later);
    db_close(of);
}

static void hosts_keep_their_robots_txt(void **state)
{
    const place *here = *state;
    crawl_db *of = open_ledger(here, DB_WRITE);
    db_host host = {.id = 9,
                    .origin = {"http://a", 8},
                    .pages = 3,
                    .not_before = 5,
                    .robots_outcome = 1,
                    .robots_date = 6,
                    .robots_reached = 7,
                    .robots = {"Disallow: /\0x", 13}};
    db_host found;
    assert_int_equal(db_host_read(of, 9, &found), VIDI_EABSENT);
    check_fine(of, db_begin(of));
    check_fine(of, db_host_write(of, &host));
    host.parked = "Crawl-delay";
    host.robots = (vidi_str){NULL, 0}; /* the file stays */
    check_fine(of, db_host_write(of, &host));
    check_fine(of, db_host_pages(of, 9, 4));
    assert_int_equal(db_host_pages(of, 8, 4), VIDI_EABSENT);
    check_fine(of, db_commit(of));
    check_fine(of, db_host_read(of, 9, &found));
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
    check_fine(of, db_begin(of));
    check_fine(of, db_host_write(of, &host));
    check_fine(of, db_commit(of));
    check_fine(of, db_host_read(of, 9, &found));
    assert_int_equal(found.robots.len, 0);
    assert_non_null(found.robots.ptr);
    assert_null(found.parked);
    db_close(of);
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
    crawl_db *of = open_ledger(here, DB_WRITE);
    char text[100] = "";
    check_fine(of, db_begin(of));
    for (int i = 0; i < 5; i++)
        add_url(of, "http://a/");
    check_fine(of, outcome_add(of, 1, "timeout"));
    check_fine(of, outcome_add(of, 2, NULL));
    check_fine(of, outcome_add(of, 3, "robots"));
    check_fine(of, outcome_add(of, 4, "timeout"));
    check_fine(of, db_skip(of, "scope", 10));
    check_fine(of, db_skip(of, "nofollow", 1));
    check_fine(of, db_skip(of, "scope", 5));
    check_fine(of, db_skip(of, "trap", 0));
    check_fine(of, db_commit(of));
    check_fine(of, db_reasons(of, note, text));
    assert_string_equal(text, "robots=1 timeout=2 ");
    text[0] = 0;
    check_fine(of, db_skipped(of, note, text));
    assert_string_equal(text, "nofollow=1 scope=15 ");
    text[0] = 0;
    check_fine(of, db_begin(of));
    check_fine(of, db_skip(of, "stop", 1));
    check_fine(of, db_skip(of, "trap", 1));
    assert_int_equal(db_skipped(of, note, text), 5);
    assert_string_equal(text, "nofollow=1 scope=15 stop=1 ");
    db_close(of); /* rolls back */
    of = open_ledger(here, DB_READ_ONLY);
    text[0] = 0;
    check_fine(of, db_skipped(of, note, text));
    assert_string_equal(text, "nofollow=1 scope=15 ");
    db_close(of);
}

static void levels_can_be_switched_on_later(void **state)
{
    const place *here = *state;
    char why[256];
    crawl_db *of = open_ledger(here, DB_WRITE);
    uint32_t level = 99;
    check_fine(of, db_begin(of));
    add_url(of, "http://a/1");
    add_url(of, "http://a/2");
    check_fine(of, frontier_sort(db_frontier(of), 10));
    check_fine(of, db_commit(of));
    check_fine(of, frontier_level(db_frontier(of), &level));
    assert_int_equal(level, 0);
    db_close(of);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(db_open(&of, here->path, DB_WRITE, true, why), VIDI_OK);
        check_fine(of, db_begin(of));
        assert_int_equal(frontier_unsorted(db_frontier(of)), again ? 0 : 2);
        check_fine(of, frontier_sort(db_frontier(of), 10));
        check_fine(of, db_commit(of));
        check_fine(of, frontier_level(db_frontier(of), &level));
        assert_int_equal(level, 1);
        db_close(of);
    }
}

static void nothing_is_written_outside_of_a_transaction(void **state)
{
    const place *here = *state;
    crawl_db *of = open_ledger(here, DB_WRITE);
    db_host host = {.id = 9, .origin = {"http://a", 8}};
    uint64_t count;
    assert_int_equal(db_set(of, "x", 1), VIDI_EARGUMENT);
    assert_int_equal(db_set_text(of, "x", (vidi_str){"", 0}), VIDI_EARGUMENT);
    assert_int_equal(outcome_add(of, 1, NULL), VIDI_EARGUMENT);
    assert_int_equal(db_host_write(of, &host), VIDI_EARGUMENT);
    assert_int_equal(db_seed(of, (vidi_str){"", 0}), VIDI_EARGUMENT);
    assert_int_equal(db_skip(of, "trap", 1), VIDI_EARGUMENT);
    assert_int_equal(db_edge(of, 1, 1, (vidi_str){"", 0}), VIDI_EARGUMENT);
    assert_int_equal(db_path(of, 1, &count), VIDI_EARGUMENT);
    assert_int_equal(db_commit(of), VIDI_EARGUMENT);
    assert_non_null(strstr(db_error(of), "transaction"));
    db_rollback(of);
    check_fine(of, db_begin(of));
    assert_int_not_equal(db_begin(of), VIDI_OK);
    check_fine(of, db_commit(of));
    db_close(of);
}

static void a_failed_change_cannot_be_committed(void **state)
{
    const place *here = *state;
    crawl_db *of = open_ledger(here, DB_WRITE);
    db_host host = {.id = 9, .origin = {NULL, 0}}; /* refused: NOT NULL */
    int64_t number;
    check_fine(of, db_begin(of));
    check_fine(of, db_set(of, "x", 1));
    assert_int_not_equal(db_host_write(of, &host), VIDI_OK);
    assert_int_not_equal(db_commit(of), VIDI_OK);
    assert_non_null(strstr(db_error(of), "NOT NULL"));
    assert_true(db_is_open(of));
    db_rollback(of);
    assert_non_null(strstr(db_error(of), "NOT NULL"));
    assert_int_equal(db_get(of, "x", &number), VIDI_EABSENT);

    frontier_url url = {.url = {NULL, 0}};
    check_fine(of, db_begin(of));
    check_fine(of, db_set(of, "x", 1));
    assert_int_not_equal(frontier_add(db_frontier(of), &url), VIDI_OK);
    assert_int_not_equal(db_commit(of), VIDI_OK);
    db_rollback(of);
    check_fine(of, db_begin(of));
    check_fine(of, db_commit(of));
    assert_int_equal(db_get(of, "x", &number), VIDI_EABSENT);
    db_close(of);
}

/* Adds URLs until there is no room. Returns the error. */
static int fill(crawl_db *of)
{
    static char text[3000];
    frontier_url url = {.host = 1, .url = {text, sizeof text}};
    int error = db_begin(of);
    memset(text, 'x', sizeof text);
    for (int i = 0; !error && i < 1000; i++)
        error = frontier_add(db_frontier(of), &url);
    return error;
}

/* SQLite rolls back by itself, or it does not: either way nothing is committed, and all can be written again. */
static void a_full_disk_undoes_the_transaction(void **state)
{
    const place *here = *state;
    crawl_db *of = open_ledger(here, DB_WRITE);
    for (int rollback = 0; rollback < 2; rollback++) {
        assert_int_equal(sqlite3_exec(db_sqlite(of), "PRAGMA max_page_count = 40", NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(fill(of), VIDI_ELIMIT);
        assert_non_null(strstr(db_error(of), "full"));
        assert_int_not_equal(db_commit(of), VIDI_OK);
        if (rollback || db_is_open(of))
            db_rollback(of);
        assert_string_equal(ask(of, "SELECT count(*) FROM urls"), "0");
        assert_int_equal(sqlite3_exec(db_sqlite(of), "PRAGMA max_page_count = 4000", NULL, NULL, NULL), SQLITE_OK);
        check_fine(of, db_begin(of));
        assert_int_equal(add_url(of, "http://a/"), 1);
        check_fine(of, outcome_add(of, 1, NULL));
        check_fine(of, db_commit(of));
        check_total(of, (db_totals){.urls = 1, .fetched = 1, .bytes = 1234, .archived = 1});
        check_fine(of, db_begin(of));
        assert_int_equal(sqlite3_exec(db_sqlite(of),
                                      "DELETE FROM urls; DELETE FROM outcomes; UPDATE totals SET "
                                      "fetched = 0, bytes = 0, archived = 0",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        check_fine(of, db_commit(of));
        db_close(of);
        of = open_ledger(here, DB_WRITE);
    }
    db_close(of);
}

static void who_writes_at_the_same_time_is_waited_for(void **state)
{
    const place *here = *state;
    crawl_db *of = open_ledger(here, DB_WRITE);
    sqlite3 *other;
    assert_string_equal(ask(of, "PRAGMA busy_timeout"), "5000");
    sqlite3_busy_timeout(db_sqlite(of), 0);
    assert_int_equal(sqlite3_open(here->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE; INSERT INTO meta VALUES ('x', 5)", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(db_begin(of), VIDI_EBUSY);
    assert_non_null(strstr(db_error(of), "locked"));
    assert_false(db_is_open(of));
    assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    check_fine(of, db_begin(of));
    check_fine(of, db_set(of, "x", 6));
    check_fine(of, db_commit(of));
    sqlite3_close(other);
    db_close(of);
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
    };
    return cmocka_run_group_tests_name("database", tests, NULL, NULL);
}
