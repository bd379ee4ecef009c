/*
 * A crawl of a test site in this process, with options that make it fast, and a clock that skips the waiting.
 */
#ifndef TESTS_CRAWLER_SITE_CRAWLING_H
#define TESTS_CRAWLER_SITE_CRAWLING_H

#include <stdatomic.h>
#include <sys/types.h>

#include "crawler/crawl/crawl.h"
#include "judge.h"
#include "site.h"
#include "support/folder.h"

/* Stands still until the crawl has nothing to do but wait. */
typedef struct site_clock {
    _Atomic int64_t ms;
    crawl_clock clock;
} site_clock;
void site_clock_begin(site_clock *clock);

enum { CRAWLING_SEEDS = 64 };

typedef struct crawling {
    crawl_options options;
    vidi_str seeds[CRAWLING_SEEDS];
    fetch_net net;
    char folder[TEST_PATH]; /* the state is `state` in it */
    char state[TEST_PATH];
    char why[512]; /* the error, if it failed; the limit, if it ended at one */
    crawl_progress progress;
    uint64_t warnings;
    char warned[512]; /* the last warning */
} crawling;

/* No delay, 8 connections a host, no retries, 127.0.1.0/24 allowed. */
void crawling_begin(crawling *self, site_page *const *seeds, size_t count);
crawl_end crawling_run(crawling *self);
/* Runs, and fails the test unless it ends in this way. */
void crawling_must(crawling *self, crawl_end end);
void crawling_end(crawling *self);

/* judge_crawl with this folder; fails the test if something is wrong. The counts are in *result if it is not NULL. */
void crawling_judge(const crawling *self, site *web, unsigned flags, judge_stranger *stranger, void *context);

/* Serves the site in a process of its own, which the limits of the test's process do not concern; and ends it. */
pid_t crawling_serve_apart(site *web);
void crawling_end_server(pid_t server);

#endif
