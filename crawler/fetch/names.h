/*
 * The addresses of hosts: a cache that the fetcher's thread owns, and a pool of threads that look names up
 * (resolver.h).
 */
#ifndef VIDI_CRAWLER_FETCH_NAMES_H
#define VIDI_CRAWLER_FETCH_NAMES_H

#include "crawler/fetch/guard.h"

enum {
    NAMES_GOOD_MS = 5 * 60 * 1000, /* how long an address is used, */
    NAMES_BAD_MS = 30 * 1000,      /* and a failure */
    NAMES_MOST = 8192              /* answers kept */
};

typedef struct names names;

/* The guard must stay until names_close. VIDI_OK or VIDI_EMEMORY. */
int names_open(names **made, const fetch_options *options, const fetch_guard *guard);
/* Waits for lookups that have begun. */
void names_close(names *of);

/* Asks; names_next will tell. VIDI_OK or VIDI_EMEMORY. */
int names_ask(names *of, vidi_str host, void *item);

/* Nobody answers at that address of a host: answers from now on name the next of its addresses, if it has several. */
void names_avoid(names *of, vidi_str host, const fetch_address *address);

/* Readable when names_collect has something to do. */
int names_fd(const names *of);
/* Takes over what the threads have found. */
void names_collect(names *of);

/* An answer that has not been told yet. False: there is none. */
bool names_next(names *of, fetch_event *event);
bool names_has_next(const names *of);

/* Questions without an answer, or with one that has not been told. */
size_t names_running(const names *of);

#endif
