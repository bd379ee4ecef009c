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

static void begin(town *begun)
{
    *begun = (town){.web = site_open(HOSTS), .whole = {.hosts = HOSTS, .pages = PAGES, .seed = 8}};
    world_web_make(begun->web, &begun->whole);
    site_walk(begun->web, begun->whole.made, HOSTS, -1);
    site_serve(begun->web);
    crawling_begin(&begun->crawl, begun->whole.made, HOSTS);
    check(crawl_open(&begun->running, &begun->crawl.options, begun->crawl.why) == VIDI_OK, "%s", begun->crawl.why);
}

static void end(town *town)
{
    crawling_end(&town->crawl);
    site_close(town->web);
    free(town->whole.made);
}

/* The database cannot grow by more than `pages` of its pages: as on a disk that is full. 0: it can. */
static void limit_database(town *town, int pages)
{
    char command[80];
    sqlite3 *db = db_sqlite(town->running->db);
    snprintf(command, sizeof command, "PRAGMA max_page_count = %d", pages ? pages : 1000000);
    check(sqlite3_exec(db, command, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
}

static void *lift_later(void *context)
{
    town *town = context;
    struct timespec moment = {.tv_nsec = 400000000};
    nanosleep(&moment, NULL);
    limit_database(town, 0);
    atomic_store(&town->lifted, true);
    return NULL;
}

static void a_disk_that_is_full_for_a_moment_costs_nothing(void **state)
{
    (void)state;
    town town;
    pthread_t thread;
    begin(&town);
    limit_database(&town, 1); /* SQLite takes its present size */
    check(pthread_create(&thread, NULL, lift_later, &town) == 0, "a thread");
    crawl_end ended = crawl_run(town.running);
    check(atomic_load(&town.lifted), "the crawl has ended before there was room");
    check(ended == CRAWL_DONE, "it ends with %d: %s", ended, crawl_error(town.running));
    pthread_join(thread, NULL);
    crawl_close(town.running);
    crawling_judge(&town.crawl, town.web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    end(&town);
}

/* What the set has answered NEW for in the batch that failed must be new again. */
static void a_disk_that_stays_full_ends_the_crawl_and_loses_nothing(void **state)
{
    (void)state;
    town town;
    begin(&town);
    limit_database(&town, 1);
    crawl_end ended = crawl_run(town.running);
    check(ended == CRAWL_FAILED && strstr(crawl_error(town.running), "database"), "it ends with %d: %s", ended,
          crawl_error(town.running));
    crawl_close(town.running);
    crawling_must(&town.crawl, CRAWL_DONE);
    crawling_judge(&town.crawl, town.web, JUDGE_STORED, NULL, NULL);
    end(&town);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disk_that_is_full_for_a_moment_costs_nothing),
        cmocka_unit_test(a_disk_that_stays_full_ends_the_crawl_and_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
