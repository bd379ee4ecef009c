/*
 * First come, first served: a list whose links are part of its items.
 */
#ifndef VIDI_CRAWLER_FETCH_QUEUE_H
#define VIDI_CRAWLER_FETCH_QUEUE_H

#include <stddef.h>

typedef struct queue_link {
    struct queue_link *next;
} queue_link;

/* Begins as {0}. */
typedef struct queue {
    queue_link *first, *last;
} queue;

/* The item whose member is this link. */
#define QUEUE_ITEM(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void queue_put(queue *to, queue_link *one)
{
    one->next = NULL;
    if (to->last)
        to->last->next = one;
    else
        to->first = one;
    to->last = one;
}

/* It must not be empty. */
static inline queue_link *queue_take(queue *from)
{
    queue_link *first = from->first;

    from->first = first->next;
    if (!from->first)
        from->last = NULL;
    return first;
}

#endif
