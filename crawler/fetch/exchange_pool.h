/*
 * Exchanges are reused together with their buffers: other threads than the one that fetches free the responses, and
 * malloc would make them wait for each other's lock.
 *
 * One thread takes exchanges out; any thread brings them back, even after the pool has been closed.
 */
#ifndef VIDI_CRAWLER_FETCH_EXCHANGE_POOL_H
#define VIDI_CRAWLER_FETCH_EXCHANGE_POOL_H

#include "crawler/fetch/exchange.h"

enum {
    POOL_MOST = 256,        /* exchanges that wait to be used again */
    POOL_BUFFER = 16 * 1024 /* a larger buffer is freed */
};

typedef struct exchange_pool exchange_pool;

/* NULL: no memory. */
exchange_pool *pool_open(void);
/* Exchanges that are out stay valid. */
void pool_close(exchange_pool *pool);

/* An exchange that is all zero but for buffers of length 0. NULL: no memory. */
exchange *pool_take(exchange_pool *pool);
void pool_return(exchange *one);

#endif
