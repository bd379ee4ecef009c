/*
 * What `vidi crawl report --json` and `vidi crawl changes` tell of visits, compared with the truth of the site.
 *
 *     told told = {0};
 *     … for each visit: crawl, then
 *     told_expect(&told, web);            what is true of this visit: pages know their change (site.h)
 *     told_must_be_true(&told, state);    of this visit, and of all before it
 *     told_free(&told);
 */
#ifndef TESTS_CRAWLER_SITE_TOLD_H
#define TESTS_CRAWLER_SITE_TOLD_H

#include "checker.h"
#include "site.h"

enum { TOLD_NAMES = 8 };

typedef struct told {
    bool was_killed; /* pages may have been sent twice, so bytes cannot be compared */
    unsigned visits;
    struct told_visit {
        uint64_t urls, bytes, changes[TOLD_NAMES];
        double expected_lost, expected_recovered; /* as they are told; negative: not known */
    } visit[CHECKER_VISITS];
    char **lines; /* "VISIT URL CHANGE STATUS" of what is not unchanged */
    size_t count, room;
} told;

void told_expect(told *self, site *web);
/* Fails the test if anything else is told. Does nothing if the program is not built: with the sanitizers it is not. */
void told_must_be_true(const told *self, const char *state);
void told_free(told *self);

#endif
