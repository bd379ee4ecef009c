/*
 * Exchanges that are used again: see exchange_pool.h.
 *
 * Those that come back are pushed onto a stack that any number of threads push to without a lock; the thread that takes
 * them out takes the whole stack at once, so that nothing can be pushed back under a thread that looks at its top.
 */
#include "crawler/fetch/exchange_pool.h"

#include <stdatomic.h>
#include <stdlib.h>

struct exchange_pool {
    _Atomic(queue_link *) back; /* those that came back */
    queue_link *spare;          /* those that were taken from there */
    atomic_size_t waiting;      /* in both */
    atomic_size_t users;        /* exchanges, wherever they are, and the downloader */
    atomic_bool is_closed;
};

exchange_pool *pool_open(void)
{
    exchange_pool *pool = calloc(1, sizeof *pool);

    if (pool)
        atomic_init(&pool->users, 1);
    return pool;
}

static void leave(exchange_pool *pool)
{
    if (atomic_fetch_sub(&pool->users, 1) == 1)
        free(pool);
}

static void destroy(exchange *one)
{
    exchange_pool *pool = one->pool;

    bytes_free(&one->response.sent);
    bytes_free(&one->response.head);
    bytes_free(&one->response.body);
    bytes_free(&one->text);
    free(one);
    leave(pool);
}

static void destroy_all(queue_link *first)
{
    for (queue_link *next; first; first = next) {
        next = first->next;
        destroy(QUEUE_ITEM(first, exchange, link));
    }
}

void pool_close(exchange_pool *pool)
{
    if (!pool)
        return;
    atomic_store(&pool->is_closed, true);
    destroy_all(atomic_exchange(&pool->back, NULL));
    destroy_all(pool->spare);
    leave(pool);
}

exchange *pool_take(exchange_pool *pool)
{
    if (!pool->spare)
        pool->spare = atomic_exchange(&pool->back, NULL);
    if (pool->spare) {
        queue_link *first = pool->spare;
        pool->spare = first->next;
        atomic_fetch_sub(&pool->waiting, 1);
        return QUEUE_ITEM(first, exchange, link);
    }
    exchange *one = calloc(1, sizeof *one);
    if (one) {
        one->pool = pool;
        atomic_fetch_add(&pool->users, 1);
    }
    return one;
}

/* Empties a buffer, and frees it if it is large. */
static bytes emptied(bytes *buffer)
{
    if (buffer->room > POOL_BUFFER)
        bytes_free(buffer);
    buffer->len = 0;
    return *buffer;
}

static void push(exchange_pool *pool, queue_link *one)
{
    one->next = atomic_load(&pool->back);
    while (!atomic_compare_exchange_weak(&pool->back, &one->next, one))
        ;
}

void pool_return(exchange *one)
{
    exchange_pool *pool = one->pool;
    bytes sent = emptied(&one->response.sent), head = emptied(&one->response.head);
    bytes body = emptied(&one->response.body), text = emptied(&one->text);

    *one = (exchange){.pool = pool, .response = {.sent = sent, .head = head, .body = body}, .text = text};
    if (atomic_fetch_add(&pool->waiting, 1) >= POOL_MOST) {
        atomic_fetch_sub(&pool->waiting, 1);
        destroy(one);
        return;
    }
    atomic_fetch_add(&pool->users, 1); /* the exchange may be freed as soon as it is pushed */
    push(pool, &one->link);
    if (atomic_load(&pool->is_closed)) /* since we looked: nobody else will take it */
        destroy_all(atomic_exchange(&pool->back, NULL));
    leave(pool);
}
