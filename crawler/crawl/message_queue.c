/*
 * Handing messages from thread to thread: see message_queue.h.
 */
#include "crawler/crawl/message_queue.h"

#include <errno.h>
#include <time.h>

#include "common/clock.h"
#include "vidi/vidi.h"

void messages_add(messages *to, message *one)
{
    one->next = NULL;
    if (to->last)
        to->last->next = one;
    else
        to->first = one;
    to->last = one;
    to->count++;
}

message *messages_remove(messages *from)
{
    message *one = from->first;

    if (!one)
        return NULL;
    from->first = one->next;
    if (!from->first)
        from->last = NULL;
    from->count--;
    one->next = NULL;
    return one;
}

void messages_remove_one(messages *from, const message *one)
{
    message **here = &from->first, *before = NULL;

    for (; *here != one; here = &(*here)->next)
        before = *here;
    *here = one->next;
    if (from->last == one)
        from->last = before;
    from->count--;
}

void messages_join(messages *to, messages *from)
{
    if (!from->first)
        return;
    if (to->last)
        to->last->next = from->first;
    else
        to->first = from->first;
    to->last = from->last;
    to->count += from->count;
    *from = (messages){0};
}

int message_queue_open(message_queue *queue)
{
    *queue = (message_queue){0};
    if (clock_condition(&queue->ready) != 0)
        return VIDI_ESYSTEM;
    if (pthread_mutex_init(&queue->lock, NULL) == 0)
        return VIDI_OK;
    pthread_cond_destroy(&queue->ready);
    return VIDI_ESYSTEM;
}

void message_queue_destroy(message_queue *queue)
{
    pthread_cond_destroy(&queue->ready);
    pthread_mutex_destroy(&queue->lock);
}

bool message_queue_put(message_queue *to, messages *list)
{
    pthread_mutex_lock(&to->lock);
    bool open = !to->closed;
    if (open)
        messages_join(&to->list, list);
    if (open && to->waiting > 0 && to->list.first)
        pthread_cond_signal(&to->ready);
    pthread_mutex_unlock(&to->lock);
    return open;
}

/* Waits until there is something to tell. The lock is held. */
static void wait_for_news(message_queue *queue, int64_t ms)
{
    struct timespec until = clock_in(ms > 0 ? ms : 0);
    int result = 0;

    queue->waiting++;
    while (!queue->list.first && !queue->closed && !queue->woken && ms != 0 && result != ETIMEDOUT)
        result = ms < 0 ? pthread_cond_wait(&queue->ready, &queue->lock)
                        : pthread_cond_timedwait(&queue->ready, &queue->lock, &until);
    queue->waiting--;
    queue->woken = false;
}

bool message_queue_take(message_queue *from, messages *list, size_t most, int64_t ms)
{
    pthread_mutex_lock(&from->lock);
    wait_for_news(from, ms);
    bool more = from->list.first || !from->closed;
    if (from->list.count <= most)
        messages_join(list, &from->list);
    else
        for (size_t i = 0; i < most; i++)
            messages_add(list, messages_remove(&from->list));
    if (from->list.first && from->waiting > 0)
        pthread_cond_signal(&from->ready); /* another thread can take the rest */
    pthread_mutex_unlock(&from->lock);
    return more;
}

void message_queue_wake(message_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->woken = true;
    if (queue->waiting > 0)
        pthread_cond_signal(&queue->ready);
    pthread_mutex_unlock(&queue->lock);
}

void message_queue_close(message_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->ready);
    pthread_mutex_unlock(&queue->lock);
}
