/*
 * A list of the values whose previous epoch is dropped at a given time. See expiry.h.
 *
 * Only sets that were rotated are in it, so it is short and need not be sorted. The server may free values in a thread
 * of its own (UNLINK, FLUSHALL ASYNC), hence the lock.
 */
#include "expiry.h"

#include <pthread.h>

#include "redis/server/memory.h"
#include "redis/server/server.h"
#include "value.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static value *waiting;

static void link_in(value *value)
{
    value->expiry = (expiry_link){.next = waiting, .at = &waiting};
    if (waiting)
        waiting->expiry.at = &value->expiry.next;
    waiting = value;
}

static void link_out(value *value)
{
    expiry_link *link = &value->expiry;
    if (!link->at)
        return;
    *link->at = link->next;
    if (link->next)
        link->next->expiry.at = link->at;
    *link = (expiry_link){0};
}

void expiry_set(value *value, int64_t until)
{
    pthread_mutex_lock(&lock);
    link_out(value);
    value->previous_until = until;
    if (until)
        link_in(value);
    pthread_mutex_unlock(&lock);
}

void expiry_forget(value *value)
{
    pthread_mutex_lock(&lock);
    link_out(value);
    pthread_mutex_unlock(&lock);
}

void expiry_run(void)
{
    long long now = server.Milliseconds();
    memory_free_in_background();
    pthread_mutex_lock(&lock);
    for (value *value = waiting, *next; value; value = next) {
        next = value->expiry.next;
        if (value->previous_until > now)
            continue;
        vidi_drop_previous(value->set); /* fails for sets in folders alone */
        value->previous_until = 0;
        link_out(value);
    }
    pthread_mutex_unlock(&lock);
    memory_free_at_once();
}

bool expiry_has_previous(const value *value)
{
    bool over = value->previous_until && value->previous_until <= server.Milliseconds();
    return !over && vidi_has_previous(value->set, (vidi_str){"", 0}) != VIDI_ECANNOT;
}
