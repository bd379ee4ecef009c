/*
 * A pool of threads that look names up, because the system's way of doing so makes its caller wait.
 *
 * A lookup belongs to the pool from resolver_begin until resolver_take returns it, or until the pool is closed.
 */
#ifndef VIDI_CRAWLER_FETCH_RESOLVER_H
#define VIDI_CRAWLER_FETCH_RESOLVER_H

#include "crawler/fetch/fetch.h"
#include "crawler/fetch/queue.h"

enum { RESOLVER_THREADS = 4, RESOLVER_ADDRESSES = 8, RESOLVER_NAME = 253 /* bytes of the longest name */ };

typedef struct resolver_lookup {
    queue_link link;
    const char *host;
    fetch_address found[RESOLVER_ADDRESSES];
    int count; /* of addresses; negative: what the resolver returned */
} resolver_lookup;

typedef struct resolver resolver;

/* `find` NULL: the system's. VIDI_OK or VIDI_EMEMORY. */
int resolver_open(resolver **made, fetch_resolver *find, void *context);
/* Drops all lookups. Those that a resolver of the caller's has begun are waited for, those of the system are not. */
void resolver_close(resolver *resolver);

void resolver_begin(resolver *resolver, resolver_lookup *lookup);
/* All lookups that are done. Reads the descriptor empty. */
queue resolver_take(resolver *resolver);
/* Readable when lookups are done. */
int resolver_fd(const resolver *resolver);

/* True if the lookup, which returned this count, failed for a reason that may pass. */
bool resolver_may_pass(int count);
/* What a negative count means. */
const char *resolver_problem(const resolver *resolver, int count);

#endif
