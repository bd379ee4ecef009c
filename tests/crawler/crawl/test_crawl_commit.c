/*
 * A transaction that fails is repeated, or the crawl ends with an error: in either case nothing is lost or fetched
 * twice.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "crawler/crawl/crawl_state.h"
#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/check.h"

enum { HOSTS = 3, PAGES = 400 };

typedef struct town {
    site *web;
    world_web whole;
    crawling crawl;
    crawl *running;
    atomic_bool lifted;
} town;

static void begin(town *of)
{
    *of = (town){.web = site_open(HOSTS), .whole = {.hosts = HOSTS, .pages = PAGES, .seed = 8}};
    world_web_make(of->web, &of->whole);
    site_walk(of->web, of->whole.made, HOSTS, -1);
    site_serve(of->web);
    crawling_begin(&of->crawl, of->whole.made, HOSTS);
    check(crawl_open(&of->running, &of->crawl.options, of->crawl.why) == VIDI_OK, "%s", of->crawl.why);
}

static void end(town *of)
{
    crawling_end(&of->crawl);
    site_close(of->web);
    free(of->whole.made);
}

/* The database cannot grow by more than `pages` of its pages: as on a disk that is full. 0: it can. */
static void limit_database(town *of, int pages)
{
    char command[80];
    sqlite3 *db = db_sqlite(of->running->db);
    snprintf(command, sizeof command, "PRAGMA max_page_count = %d", pages ? pages : 1000000);
    check(sqlite3_exec(db, command, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
}

static void *lift_later(void *context)
{
    town *of = context;
    struct timespec moment = {.tv_nsec = 400000000};
    nanosleep(&moment, NULL);
    limit_database(of, 0);
    atomic_store(&of->lifted, true);
    return NULL;
}

static void a_disk_that_is_full_for_a_moment_costs_nothing(void **state)
{
    (void)state;
    town of;
    pthread_t thread;
    begin(&of);
    limit_database(&of, 1); /* SQLite takes its present size */
    check(pthread_create(&thread, NULL, lift_later, &of) == 0, "a thread");
    crawl_end ended = crawl_run(of.running);
    check(atomic_load(&of.lifted), "the crawl has ended before there was room");
    check(ended == CRAWL_DONE, "it ends with %d: %s", ended, crawl_error(of.running));
    pthread_join(thread, NULL);
    crawl_close(of.running);
    crawling_judge(&of.crawl, of.web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    end(&of);
}

/* What the set has answered NEW for in the batch that failed must be new again. */
static void a_disk_that_stays_full_ends_the_crawl_and_loses_nothing(void **state)
{
    (void)state;
    town of;
    begin(&of);
    limit_database(&of, 1);
    crawl_end ended = crawl_run(of.running);
    check(ended == CRAWL_FAILED && strstr(crawl_error(of.running), "database"), "it ends with %d: %s", ended,
          crawl_error(of.running));
    crawl_close(of.running);
    crawling_must(&of.crawl, CRAWL_DONE);
    crawling_judge(&of.crawl, of.web, JUDGE_STORED, NULL, NULL);
    end(&of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disk_that_is_full_for_a_moment_costs_nothing),
        cmocka_unit_test(a_disk_that_stays_full_ends_the_crawl_and_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
