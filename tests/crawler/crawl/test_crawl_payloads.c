/*
 * Bodies are stored once, within a visit and over several: what comes again becomes a revisit record, which refers to
 * the response that has the body, never to another revisit record. The checker of crawls compares records and rows.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "crawler/crawl/crawl_state.h"
#include "crawler/report/report.h"
#include "crawler/site/crawling.h"
#include "support/check.h"

enum { COPIES = 30, LASTING = 20, OWN = 10, EMPTY = 3, HOSTS = 2 };

typedef struct town {
    site *web;
    site_page *home;
    crawling crawl;
} town;

static void say_much(site_page *page, const char *what)
{
    for (int i = 0; i < 20; i++)
        site_say(page, "<p>%s, line %d", what, i);
}

/* Links to a page that the first visit gets whole, and later ones with 304. */
static void add_lasting(town *town, int number, const char *what)
{
    site_page *page = site_page_add(town->web, 1, "/lasting/%d", number);

    say_much(page, what);
    page->early = page->answer;
    page->early.body = page->text.at;
    page->early.length = page->text.length;
    page->early.fields = "ETag: \"a\"\r\n";
    page->early_times = 1;
    page->answer = (site_answer){.status = 304, .fields = "ETag: \"a\"\r\n", .body = ""};
    site_link_to(town->home, page);
}

static site_page *add(town *town, unsigned host, const char *name, int number)
{
    site_page *page = site_page_add(town->web, host, "/%s/%d", name, number);

    site_link_to(town->home, page);
    return page;
}

static void begin(town *town)
{
    char text[40];

    *town = (struct town){.web = site_open(HOSTS)};
    town->home = site_page_add(town->web, 1, "/");
    for (int i = 0; i < COPIES; i++)
        say_much(add(town, 1 + (unsigned)i % HOSTS, "copy", i), "a copy");
    for (int i = 0; i < OWN; i++) {
        snprintf(text, sizeof text, "page %d", i);
        say_much(add(town, 2, "own", i), text);
    }
    for (int i = 0; i < EMPTY; i++)
        add(town, 1, "empty", i)->answer.body = "";
    /* The first half of these has bodies of their own, the other that of the copies. */
    for (int i = 0; i < LASTING; i++) {
        snprintf(text, sizeof text, "lasting %d", i);
        add_lasting(town, i, i < LASTING / 2 ? text : "a copy");
    }
    site_page *seeds[] = {town->home, site_find(town->web, "127.0.1.2", "/own/0")};
    crawling_begin(&town->crawl, seeds, HOSTS);
    site_serve(town->web);
}

static void end(town *town)
{
    crawling_end(&town->crawl);
    site_close(town->web);
}

static void fail_at(void *context, const char *sentence)
{
    snprintf(context, 300, "%s", sentence);
}

static uint64_t faults_of(const town *town, char first[300])
{
    crawl_checked found;

    *first = 0;
    check(crawl_check(town->crawl.state, fail_at, first, &found) == VIDI_OK, "it cannot be checked");
    return found.faults;
}

/* All that the crawl keeps is right, as two checkers see it, and it has so many responses and revisit records. */
static void must_have(const town *town, uint64_t responses, uint64_t revisits)
{
    checker_report report;
    char first[300];

    checker_look(&report, town->crawl.state, NULL, NULL, NULL);
    check(checker_faults(&report) == 0, "%s", report.first);
    check(faults_of(town, first) == 0, "%s", first);
    check(report.responses == responses && report.revisits == revisits, "%llu responses and %llu revisit records",
          (unsigned long long)report.responses, (unsigned long long)report.revisits);
}

enum {
    BODIES = 1 + 1 + OWN + LASTING / 2, /* different ones */
    PAGES = 1 + COPIES + OWN + EMPTY + LASTING
};

static void visit_again(town *town)
{
    town->crawl.options.revisit = true;
    crawling_must(&town->crawl, CRAWL_DONE);
}

static void each_body_is_stored_once(void **state)
{
    town town;

    (void)state;
    begin(&town);
    crawling_must(&town.crawl, CRAWL_DONE);
    must_have(&town, BODIES + EMPTY, PAGES - BODIES - EMPTY);
    visit_again(&town);
    must_have(&town, BODIES + 2 * EMPTY, 2 * PAGES - BODIES - 2 * EMPTY);
    visit_again(&town);
    must_have(&town, BODIES + 3 * EMPTY, 3 * PAGES - BODIES - 3 * EMPTY);
    end(&town);
}

/* A page that asks not to be stored is none that others could refer to, and what it has is stored of others. */
static void a_page_that_is_not_stored_is_not_referred_to(void **state)
{
    town town = {.web = site_open(HOSTS)};

    (void)state;
    town.home = site_page_add(town.web, 1, "/");
    town.home->answer.fields = "X-Robots-Tag: noarchive\r\n";
    site_page *one = add(&town, 1, "page", 1), *two = add(&town, 1, "page", 2);
    one->answer.fields = "X-Robots-Tag: noarchive\r\n";
    say_much(one, "the same");
    say_much(two, "the same");
    say_much(add(&town, 1, "page", 3), "the same");
    crawling_begin(&town.crawl, &town.home, 1);
    site_serve(town.web);
    crawling_must(&town.crawl, CRAWL_DONE);
    must_have(&town, 1, 1);
    end(&town);
}

/* ---- crashes ---- */

static void change(const town *town, const char *statement)
{
    crawl_db *db;
    char path[TEST_PATH], why[256];

    test_path(path, town->crawl.state, "crawl.db");
    check(db_open(&db, path, DB_WRITE, false, why) == VIDI_OK, "%s", why);
    check(db_begin(db) == VIDI_OK, "%s", db_error(db));
    check(sqlite3_exec(db_sqlite(db), statement, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", statement,
          sqlite3_errmsg(db_sqlite(db)));
    check(sqlite3_changes(db_sqlite(db)) > 0, "nothing is changed by %s", statement);
    check(db_commit(db) == VIDI_OK, "%s", db_error(db));
    db_close(db);
}

/* The newest part of the table is in memory until the run ends. */
static void after_a_crash_bodies_are_found_all_the_same(void **state)
{
    town town;

    (void)state;
    begin(&town);
    crawling_must(&town.crawl, CRAWL_DONE);
    change(&town, "DELETE FROM payloads");
    change(&town, "UPDATE meta SET value = 0 WHERE name = 'closed'");
    visit_again(&town);
    must_have(&town, BODIES + 2 * EMPTY, 2 * PAGES - BODIES - 2 * EMPTY);
    end(&town);
}

/* ---- a transaction that is tried again ---- */

static void limit_database(crawl *running, int pages)
{
    char command[80];
    sqlite3 *db = db_sqlite(running->db);

    snprintf(command, sizeof command, "PRAGMA max_page_count = %d", pages);
    check(sqlite3_exec(db, command, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
}

static void *lift_later(void *context)
{
    struct timespec moment = {.tv_nsec = 400000000};

    nanosleep(&moment, NULL);
    limit_database(context, 1000000);
    return NULL;
}

static void a_transaction_that_is_tried_again_refers_to_the_same_bodies(void **state)
{
    town town;
    crawl *running;
    pthread_t thread;

    (void)state;
    begin(&town);
    check(crawl_open(&running, &town.crawl.options, town.crawl.why) == VIDI_OK, "%s", town.crawl.why);
    limit_database(running, 1); /* SQLite takes its present size */
    check(pthread_create(&thread, NULL, lift_later, running) == 0, "a thread");
    crawl_end ended = crawl_run(running);
    check(ended == CRAWL_DONE, "it ends with %d: %s", ended, crawl_error(running));
    pthread_join(thread, NULL);
    crawl_close(running);
    must_have(&town, BODIES + EMPTY, PAGES - BODIES - EMPTY);
    visit_again(&town);
    must_have(&town, BODIES + 2 * EMPTY, 2 * PAGES - BODIES - 2 * EMPTY);
    end(&town);
}

/* ---- the index ---- */

typedef struct lines {
    uint64_t all, revisits;
} lines;

static int count_line(void *context, vidi_str text)
{
    lines *counted = context;

    counted->all++;
    counted->revisits += memmem(text.ptr, text.len, "\"mime\": \"warc/revisit\"", 22) != NULL;
    check(!memmem(text.ptr, text.len, "\"status\": \"304\"", 15), "%.*s", (int)text.len, text.ptr);
    return 0;
}

/* Players need the line of each response that a revisit record refers to, and no other old one. */
static void the_index_has_the_newest_rows_and_what_they_refer_to(void **state)
{
    static const lines expected[] = {{PAGES, PAGES - BODIES - EMPTY}, {PAGES + BODIES, PAGES - EMPTY}};
    town town;
    report *of;
    char why[512];

    (void)state;
    begin(&town);
    for (size_t visit = 0; visit < 3; visit++) {
        const lines *wanted = &expected[visit > 0];
        lines found = {0};
        if (visit == 0)
            crawling_must(&town.crawl, CRAWL_DONE);
        else
            visit_again(&town);
        check(report_open(&of, town.crawl.state, why) == VIDI_OK, "%s", why);
        check(report_cdxj(of, count_line, &found) == VIDI_OK, "%s", report_error(of));
        report_close(of);
        check(found.all == wanted->all && found.revisits == wanted->revisits, "visit %zu: %llu lines, %llu of revisits",
              visit, (unsigned long long)found.all, (unsigned long long)found.revisits);
    }
    end(&town);
}

/* ---- faults ---- */

static void rows_that_refer_to_another_body_are_found(void **state)
{
    /* A row whose record refers to that of a page with a body of its own, and one whose record has its body. */
    static const char a_copy[] = "(SELECT max(id) FROM outcomes WHERE body IS NOT NULL AND status = 200)";
    static const char unchanged[] = "(SELECT max(id) FROM outcomes WHERE status = 304)";
    static const char whole[] = "(SELECT max(id) FROM outcomes WHERE body IS NULL AND bytes > 0)";
    static const struct {
        const char *field, *value, *row;
    } faults[] = {
        {"body", "(SELECT min(id) FROM outcomes WHERE body IS NULL)", a_copy},
        {"body", "(SELECT min(id) FROM outcomes WHERE body IS NULL)", unchanged},
        {"body", "NULL", a_copy},
        {"body", "NULL", unchanged},
        {"body", "1", whole},
        {"record", "zeroblob(16)", a_copy},
        {"record", "zeroblob(16)", whole},
        {"record", "NULL", whole},
        {"digest", "'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'", unchanged},
    };
    town town;
    char first[300], statement[400];

    (void)state;
    begin(&town);
    crawling_must(&town.crawl, CRAWL_DONE);
    visit_again(&town);
    change(&town, "CREATE TABLE kept (id, value); INSERT INTO kept VALUES (0, 0)");
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        snprintf(statement, sizeof statement,
                 "UPDATE kept SET (id, value) = (SELECT id, %s FROM outcomes WHERE id = %s)", faults[i].field,
                 faults[i].row);
        change(&town, statement);
        snprintf(statement, sizeof statement, "UPDATE outcomes SET %s = %s WHERE id = (SELECT id FROM kept)",
                 faults[i].field, faults[i].value);
        change(&town, statement);
        check(faults_of(&town, first) > 0, "nothing is found after %s", statement);
        snprintf(statement, sizeof statement,
                 "UPDATE outcomes SET %s = (SELECT value FROM kept) WHERE id = (SELECT id FROM kept)", faults[i].field);
        change(&town, statement);
        check(faults_of(&town, first) == 0, "%s", first);
    }
    end(&town);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_body_is_stored_once),
        cmocka_unit_test(a_page_that_is_not_stored_is_not_referred_to),
        cmocka_unit_test(after_a_crash_bodies_are_found_all_the_same),
        cmocka_unit_test(a_transaction_that_is_tried_again_refers_to_the_same_bodies),
        cmocka_unit_test(the_index_has_the_newest_rows_and_what_they_refer_to),
        cmocka_unit_test(rows_that_refer_to_another_body_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
