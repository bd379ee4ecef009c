/*
 * Handing messages from thread to thread: see message_queue.h.
 */
#include "crawler/crawl/message_queue.h"

#include <errno.h>
#include <time.h>

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

int message_queue_open(message_queue *of)
{
    pthread_condattr_t attributes;

    *of = (message_queue){0};
    if (pthread_condattr_init(&attributes) != 0)
        return VIDI_ESYSTEM;
    int failed = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) || pthread_cond_init(&of->ready, &attributes);
    pthread_condattr_destroy(&attributes);
    if (failed)
        return VIDI_ESYSTEM;
    if (pthread_mutex_init(&of->lock, NULL) == 0)
        return VIDI_OK;
    pthread_cond_destroy(&of->ready);
    return VIDI_ESYSTEM;
}

void message_queue_destroy(message_queue *of)
{
    pthread_cond_destroy(&of->ready);
    pthread_mutex_destroy(&of->lock);
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

static void deadline_in(struct timespec *at, int64_t ms)
{
    clock_gettime(CLOCK_MONOTONIC, at);
    at->tv_sec += ms / 1000;
    at->tv_nsec += ms % 1000 * 1000000;
    if (at->tv_nsec >= 1000000000) {
        at->tv_sec++;
        at->tv_nsec -= 1000000000;
    }
}

/* Waits until there is something to tell. The lock is held. */
static void wait_for_news(message_queue *of, int64_t ms)
{
    struct timespec until = {0};
    int result = 0;

    if (ms > 0)
        deadline_in(&until, ms);
    of->waiting++;
    while (!of->list.first && !of->closed && !of->woken && ms != 0 && result != ETIMEDOUT)
        result =
            ms < 0 ? pthread_cond_wait(&of->ready, &of->lock) : pthread_cond_timedwait(&of->ready, &of->lock, &until);
    of->waiting--;
    of->woken = false;
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

void message_queue_wake(message_queue *of)
{
    pthread_mutex_lock(&of->lock);
    of->woken = true;
    if (of->waiting > 0)
        pthread_cond_signal(&of->ready);
    pthread_mutex_unlock(&of->lock);
}

void message_queue_close(message_queue *of)
{
    pthread_mutex_lock(&of->lock);
    of->closed = true;
    pthread_cond_broadcast(&of->ready);
    pthread_mutex_unlock(&of->lock);
}
