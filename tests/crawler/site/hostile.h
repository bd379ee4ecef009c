/*
 * Responses that were made to hurt: correct ones with lines folded, doubled and left out, lengths that contradict each
 * other, bytes that have no business there, and whatever else a server can send.
 *
 *     uint64_t seed = 1;
 *     web->maker = hostile_answer;         answers "/hostile/N" with the response of number N
 *     web->maker_context = &seed;
 */
#ifndef TESTS_CRAWLER_SITE_HOSTILE_H
#define TESTS_CRAWLER_SITE_HOSTILE_H

#include "site.h"

/* A site_maker; its context is the seed. The same seed and number give the same response. */
bool hostile_answer(void *context, const site *site, const char *host, const char *target, site_answer *answer);

#endif
