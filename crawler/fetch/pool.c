/*
 * Exchanges that are used again: see pool.h.
 *
 * Those that come back are pushed onto a stack that any number of threads push to without a lock; the thread that takes
 * them out takes the whole stack at once, so that nothing can be pushed back under a thread that looks at its top.
 */
#include "crawler/fetch/pool.h"

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
    exchange_pool *of = calloc(1, sizeof *of);

    if (of)
        atomic_init(&of->users, 1);
    return of;
}

static void leave(exchange_pool *of)
{
    if (atomic_fetch_sub(&of->users, 1) == 1)
        free(of);
}

static void destroy(exchange *one)
{
    exchange_pool *of = one->pool;

    bytes_free(&one->response.sent);
    bytes_free(&one->response.head);
    bytes_free(&one->response.body);
    bytes_free(&one->text);
    free(one);
    leave(of);
}

static void destroy_all(queue_link *first)
{
    for (queue_link *next; first; first = next) {
        next = first->next;
        destroy(QUEUE_ITEM(first, exchange, link));
    }
}

void pool_close(exchange_pool *of)
{
    if (!of)
        return;
    atomic_store(&of->is_closed, true);
    destroy_all(atomic_exchange(&of->back, NULL));
    destroy_all(of->spare);
    leave(of);
}

exchange *pool_take(exchange_pool *of)
{
    if (!of->spare)
        of->spare = atomic_exchange(&of->back, NULL);
    if (of->spare) {
        queue_link *first = of->spare;
        of->spare = first->next;
        atomic_fetch_sub(&of->waiting, 1);
        return QUEUE_ITEM(first, exchange, link);
    }
    exchange *one = calloc(1, sizeof *one);
    if (one) {
        one->pool = of;
        atomic_fetch_add(&of->users, 1);
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

static void push(exchange_pool *of, queue_link *one)
{
    one->next = atomic_load(&of->back);
    while (!atomic_compare_exchange_weak(&of->back, &one->next, one))
        ;
}

void pool_return(exchange *one)
{
    exchange_pool *of = one->pool;
    bytes sent = emptied(&one->response.sent), head = emptied(&one->response.head);
    bytes body = emptied(&one->response.body), text = emptied(&one->text);

    *one = (exchange){.pool = of, .response = {.sent = sent, .head = head, .body = body}, .text = text};
    if (atomic_fetch_add(&of->waiting, 1) >= POOL_MOST) {
        atomic_fetch_sub(&of->waiting, 1);
        destroy(one);
        return;
    }
    atomic_fetch_add(&of->users, 1); /* the exchange may be freed as soon as it is pushed */
    push(of, &one->link);
    if (atomic_load(&of->is_closed)) /* since we looked: nobody else will take it */
        destroy_all(atomic_exchange(&of->back, NULL));
    leave(of);
}
