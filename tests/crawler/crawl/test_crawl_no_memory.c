/*
 * When memory runs out in any thread of a crawl, the crawl ends with an error, and the next run loses nothing. Allocations
 * fail one after the other, with growing gaps; those of libcurl and SQLite do not fail. The site's server is a process of
 * its own, so that it has all the memory that it needs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "crawler/scarce_memory.h"
#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/check.h"

enum { HOSTS = 2, PAGES = 30 };

static void no_memory_is_an_error_and_loses_nothing(void **state)
{
    (void)state;
    site *web = site_open(HOSTS);
    world_web whole = {.hosts = HOSTS, .pages = PAGES, .seed = 6};
    int failures = 0;
    world_web_make(web, &whole);
    site_walk(web, whole.made, HOSTS, -1);
    pid_t server = crawling_serve_apart(web);
    for (long at = 0;; at += 1 + at / 20) {
        crawling self;
        crawling_begin(&self, whole.made, HOSTS);
        self.options.threads = 1;
        countdown = at;
        crawl_end ended = crawling_run(&self);
        bool has_failed = countdown < 0;
        countdown = -1;
        check(ended == CRAWL_FAILED || ended == CRAWL_DONE, "allocation %ld: it ends with %d", at, ended);
        check(ended == CRAWL_DONE || *self.why, "allocation %ld: no word about it", at);
        failures += ended == CRAWL_FAILED;
        crawling_must(&self, CRAWL_DONE);
        crawling_judge(&self, web, 0, NULL, NULL);
        crawling_end(&self);
        if (!has_failed)
            break;
    }
    crawling_end_server(server);
    check(failures > 40, "only %d crawls have failed", failures);
    site_close(web);
    free(whole.made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory_is_an_error_and_loses_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
