/*
 * The addresses of hosts: a cache that the downloader's thread owns, and a pool of threads that look names up
 * (resolver.h).
 */
#ifndef VIDI_CRAWLER_FETCH_DNS_CACHE_H
#define VIDI_CRAWLER_FETCH_DNS_CACHE_H

#include "crawler/fetch/addresses.h"

enum {
    DNS_CACHE_GOOD_MS = 5 * 60 * 1000, /* how long an address is used */
    DNS_CACHE_BAD_MS = 30 * 1000,      /* how long a failure is remembered */
    DNS_CACHE_MOST = 8192              /* answers in the cache */
};

typedef struct dns_cache dns_cache;

/* The guard must stay until dns_cache_close. `by_proxy`: names are looked up by a proxy. VIDI_OK or VIDI_EMEMORY. */
int dns_cache_open(dns_cache **made, const fetch_options *options, const fetch_guard *guard, bool by_proxy);
/* Waits for lookups that have begun. */
void dns_cache_close(dns_cache *cache);

/* Starts a lookup; dns_cache_next returns its result. VIDI_OK or VIDI_EMEMORY. */
int dns_cache_ask(dns_cache *cache, vidi_str host, void *item);

/* An address does not answer: from now on, lookups of this host give its next address, if it has several. */
void dns_cache_avoid(dns_cache *cache, vidi_str host, const fetch_address *address);

/* Readable when dns_cache_collect has something to do. */
int dns_cache_fd(const dns_cache *cache);
/* Collects what the threads have found. */
void dns_cache_collect(dns_cache *cache);

/* Returns the next result. False: there is none. */
bool dns_cache_next(dns_cache *cache, fetch_event *event);
bool dns_cache_has_next(const dns_cache *cache);

/* Lookups that are running, or whose result has not been returned. */
size_t dns_cache_running(const dns_cache *cache);

#endif
