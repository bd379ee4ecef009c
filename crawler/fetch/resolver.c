/*
 * The pool of threads that look names up: see resolver.h. Two lists under one lock: lookups to do, lookups done.
 *
 * The system may take half a minute for a name that no server answers for, and cannot be interrupted. So a thread works
 * on copies, and closing the pool leaves it alone: whoever leaves last frees the pool.
 */
#include "crawler/fetch/resolver.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "crawler/fetch/addresses.h"

struct resolver {
    fetch_resolver *find;
    void *context;
    int fd; /* an eventfd */
    pthread_mutex_t lock;
    pthread_cond_t work; /* there is something to do, or it is over */
    queue todo, done;
    bool ending;
    pthread_t threads[RESOLVER_THREADS];
    size_t thread_count;
    size_t users; /* threads that have not ended, and the owner */
};

/* Returns one of getaddrinfo's codes if it fails; all of them are negative. */
int fetch_resolve_system(void *context, const char *host, fetch_address *addresses, int room)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG}, *found = NULL;
    int count = 0;

    (void)context;
    int error = getaddrinfo(host, NULL, &hints, &found);
    if (error)
        return error;
    for (const struct addrinfo *one = found; one && count < room; one = one->ai_next)
        count += fetch_address_read(one->ai_addr, &addresses[count]);
    freeaddrinfo(found);
    return count;
}

static void free_pool(resolver *resolver)
{
    pthread_cond_destroy(&resolver->work);
    pthread_mutex_destroy(&resolver->lock);
    if (resolver->fd >= 0)
        close(resolver->fd);
    free(resolver);
}

/* Unlocks the pool. */
static void leave(resolver *resolver)
{
    bool is_last = --resolver->users == 0;

    pthread_mutex_unlock(&resolver->lock);
    if (is_last)
        free_pool(resolver);
}

/* Looks a name up with the pool unlocked. The lookup is touched only if its owner is still there to take it. */
static void do_lookup(resolver *resolver, resolver_lookup *lookup)
{
    static const uint64_t one = 1;
    char host[RESOLVER_NAME + 1];
    fetch_address found[RESOLVER_ADDRESSES];

    snprintf(host, sizeof host, "%s", lookup->host);
    pthread_mutex_unlock(&resolver->lock);
    int count = resolver->find(resolver->context, host, found, RESOLVER_ADDRESSES);
    pthread_mutex_lock(&resolver->lock);
    if (resolver->ending)
        return;
    lookup->count = count;
    if (count > 0)
        memcpy(lookup->found, found, (size_t)count * sizeof *found);
    queue_put(&resolver->done, &lookup->link);
    (void)!write(resolver->fd, &one, sizeof one); /* fails only if the counter is at its top: readable as well */
}

static void *look_up(void *context)
{
    resolver *resolver = context;

    pthread_mutex_lock(&resolver->lock);
    while (!resolver->ending) {
        if (resolver->todo.first)
            do_lookup(resolver, QUEUE_ITEM(queue_take(&resolver->todo), resolver_lookup, link));
        else
            pthread_cond_wait(&resolver->work, &resolver->lock);
    }
    leave(resolver);
    return NULL;
}

/* Signals are for the caller's threads. */
static int start_threads(resolver *resolver)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&resolver->lock);
    while (resolver->thread_count < RESOLVER_THREADS &&
           pthread_create(&resolver->threads[resolver->thread_count], NULL, look_up, resolver) == 0)
        resolver->thread_count++;
    resolver->users += resolver->thread_count;
    pthread_mutex_unlock(&resolver->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return resolver->thread_count == RESOLVER_THREADS ? VIDI_OK : VIDI_EMEMORY;
}

int resolver_open(resolver **made, fetch_resolver *find, void *context)
{
    resolver *resolver = calloc(1, sizeof *resolver);

    *made = NULL;
    if (!resolver)
        return VIDI_EMEMORY;
    resolver->find = find ? find : fetch_resolve_system;
    resolver->context = context;
    resolver->users = 1;
    pthread_mutex_init(&resolver->lock, NULL);
    pthread_cond_init(&resolver->work, NULL);
    resolver->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (resolver->fd < 0 || start_threads(resolver) != VIDI_OK) {
        resolver_close(resolver);
        return VIDI_EMEMORY;
    }
    *made = resolver;
    return VIDI_OK;
}

/* A resolver of the caller's may use what the caller frees next, so its threads are waited for. */
void resolver_close(resolver *resolver)
{
    if (!resolver)
        return;
    pthread_mutex_lock(&resolver->lock);
    resolver->ending = true;
    pthread_cond_broadcast(&resolver->work);
    pthread_mutex_unlock(&resolver->lock);
    for (size_t i = 0; i < resolver->thread_count; i++) {
        if (resolver->find == fetch_resolve_system)
            pthread_detach(resolver->threads[i]);
        else
            pthread_join(resolver->threads[i], NULL);
    }
    pthread_mutex_lock(&resolver->lock);
    leave(resolver);
}

void resolver_begin(resolver *resolver, resolver_lookup *lookup)
{
    pthread_mutex_lock(&resolver->lock);
    queue_put(&resolver->todo, &lookup->link);
    pthread_cond_signal(&resolver->work);
    pthread_mutex_unlock(&resolver->lock);
}

queue resolver_take(resolver *resolver)
{
    uint64_t count;

    pthread_mutex_lock(&resolver->lock);
    (void)!read(resolver->fd, &count, sizeof count); /* fails if nothing is there to read */
    queue all = resolver->done;
    resolver->done = (queue){0};
    pthread_mutex_unlock(&resolver->lock);
    return all;
}

int resolver_fd(const resolver *resolver)
{
    return resolver->fd;
}

/* "No such name" is what the name's own servers say. */
bool resolver_may_pass(int count)
{
    return count < 0 && count != EAI_NONAME && count != EAI_NODATA;
}

const char *resolver_problem(const resolver *resolver, int count)
{
    if (count == 0 || resolver->find != fetch_resolve_system)
        return "the name has no address";
    return gai_strerror(count);
}
