/*
 * A site whose pages change as time goes by, each with a rate of its own, by the clock of the crawl.
 *
 *     living town;
 *     living_begin(&town, 3, 60, seed);        hosts and pages; page N is on host N % hosts + 1
 *     town.pages[7].rate = 2;                  changes a day
 *     living_serve(&town, &crawling);          the crawl gets the clock, and the first page of each host as seeds
 *     … crawl, with options.max_time …
 *     living_end(&town);
 *
 * The first page of each host links to all others of it that are there by then. It changes when one is added.
 */
#ifndef TESTS_CRAWLER_SITE_LIVING_H
#define TESTS_CRAWLER_SITE_LIVING_H

#include "crawling.h"
#include "support/random.h"

enum { LIVING_HOSTS = 8, LIVING_HOUR = 3600 * 1000, LIVING_DAY = 24 * LIVING_HOUR };

typedef enum living_trouble { LIVING_FINE, LIVING_GONE, LIVING_FAILS, LIVING_SILENT } living_trouble;

typedef struct living_page {
    double rate;    /* changes a day; 0: it never changes */
    int64_t linked; /* since when the first page links to it */
    living_trouble trouble;
    int64_t from, to; /* when it has it */
    bool dated;       /* gives Last-Modified, and answers If-Modified-Since */
    bool clock;       /* each answer has other bytes, and the same text */
    test_random random;
    /* so far */
    uint64_t version;
    int64_t changed, next; /* when it changed last, and will next */
} living_page;

typedef struct living {
    site *web;
    site_clock clock;
    unsigned hosts;
    size_t count;
    living_page *pages;
    site_page *seeds[LIVING_HOSTS];
    uint64_t answers;
} living;

void living_begin(living *self, unsigned hosts, size_t pages, uint64_t seed);
void living_serve(living *self, crawling *crawl);
void living_end(living *self);

/* The number of the page that a request was for, or -1: for something else. */
int64_t living_number(const living *self, const site_request *request);

/* ---- what a crawl of it has in its database ---- */

struct sqlite3;
struct sqlite3 *living_database(const char *folder);
/* The number that a query finds; 0: none. */
int64_t living_ask(const char *folder, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The pages that have a row without an outcome. */
#define LIVING_UNANSWERED "SELECT iif(page, page, id) AS row FROM urls WHERE id NOT IN (SELECT id FROM outcomes)"

/* Fails the test if the folder is damaged, a page waits for a row that is not there, or one has two. */
void living_must_be_whole(const char *folder);

#endif
