/*
 * Compares what a crawl has done in its newest visit (checker.h) with the truth of its site (site.h, after site_walk).
 */
#ifndef TESTS_CRAWLER_SITE_JUDGE_H
#define TESTS_CRAWLER_SITE_JUDGE_H

#include <stdbool.h>

#include "checker.h"
#include "site.h"

enum judge_flags {
    JUDGE_DEPTHS = 1,   /* depths must be shortest paths */
    JUDGE_STORED = 2,   /* what was fetched must be in the archive, unless the page forbids it */
    JUDGE_REQUESTS = 4, /* the server must have been asked for each page exactly once */
    JUDGE_PARTLY = 8    /* the crawl has ended at a limit: pages may be missing */
};

typedef struct judgement {
    checker_report check;
    uint64_t expected;   /* pages that must be visited */
    uint64_t right;      /* rows that are as they must be */
    uint64_t wrong;      /* rows with another outcome, depth or place */
    uint64_t missing;    /* pages without a row */
    uint64_t unexpected; /* rows of pages that must not be visited, or that the site does not have */
    uint64_t repeated;   /* pages that were asked for more than once, with JUDGE_REQUESTS */
    uint64_t extra;      /* requests beyond the first of a page, in all */
    char first[700];     /* what was wrong first; empty: nothing */
} judgement;

/* Is this row, of a URL that the site has no page for, as it must be? For traps. */
typedef bool judge_stranger(void *context, const checker_row *row);

void judge_crawl(judgement *result, site *web, const char *folder, const char *output, unsigned flags,
                 judge_stranger *stranger, void *context);

/* The faults of the judgement and of the check. With JUDGE_PARTLY URLs without an outcome are none. */
uint64_t judge_faults(const judgement *result, unsigned flags);

#endif
