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

#include "crawler/fetch/guard.h"

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

static void free_pool(resolver *of)
{
    pthread_cond_destroy(&of->work);
    pthread_mutex_destroy(&of->lock);
    if (of->fd >= 0)
        close(of->fd);
    free(of);
}

/* Unlocks the pool. */
static void leave(resolver *of)
{
    bool is_last = --of->users == 0;

    pthread_mutex_unlock(&of->lock);
    if (is_last)
        free_pool(of);
}

/* Looks a name up with the pool unlocked. The lookup is touched only if its owner is still there to take it. */
static void do_lookup(resolver *of, resolver_lookup *lookup)
{
    static const uint64_t one = 1;
    char host[RESOLVER_NAME + 1];
    fetch_address found[RESOLVER_ADDRESSES];

    snprintf(host, sizeof host, "%s", lookup->host);
    pthread_mutex_unlock(&of->lock);
    int count = of->find(of->context, host, found, RESOLVER_ADDRESSES);
    pthread_mutex_lock(&of->lock);
    if (of->ending)
        return;
    lookup->count = count;
    if (count > 0)
        memcpy(lookup->found, found, (size_t)count * sizeof *found);
    queue_put(&of->done, &lookup->link);
    (void)!write(of->fd, &one, sizeof one); /* fails only if the counter is at its top: readable as well */
}

static void *look_up(void *context)
{
    resolver *of = context;

    pthread_mutex_lock(&of->lock);
    while (!of->ending) {
        if (of->todo.first)
            do_lookup(of, QUEUE_ITEM(queue_take(&of->todo), resolver_lookup, link));
        else
            pthread_cond_wait(&of->work, &of->lock);
    }
    leave(of);
    return NULL;
}

/* Signals are for the caller's threads. */
static int start_threads(resolver *of)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&of->lock);
    while (of->thread_count < RESOLVER_THREADS &&
           pthread_create(&of->threads[of->thread_count], NULL, look_up, of) == 0)
        of->thread_count++;
    of->users += of->thread_count;
    pthread_mutex_unlock(&of->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return of->thread_count == RESOLVER_THREADS ? VIDI_OK : VIDI_EMEMORY;
}

int resolver_open(resolver **made, fetch_resolver *find, void *context)
{
    resolver *of = calloc(1, sizeof *of);

    *made = NULL;
    if (!of)
        return VIDI_EMEMORY;
    of->find = find ? find : fetch_resolve_system;
    of->context = context;
    of->users = 1;
    pthread_mutex_init(&of->lock, NULL);
    pthread_cond_init(&of->work, NULL);
    of->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (of->fd < 0 || start_threads(of) != VIDI_OK) {
        resolver_close(of);
        return VIDI_EMEMORY;
    }
    *made = of;
    return VIDI_OK;
}

/* A resolver of the caller's may use what the caller frees next, so its threads are waited for. */
void resolver_close(resolver *of)
{
    if (!of)
        return;
    pthread_mutex_lock(&of->lock);
    of->ending = true;
    pthread_cond_broadcast(&of->work);
    pthread_mutex_unlock(&of->lock);
    for (size_t i = 0; i < of->thread_count; i++) {
        if (of->find == fetch_resolve_system)
            pthread_detach(of->threads[i]);
        else
            pthread_join(of->threads[i], NULL);
    }
    pthread_mutex_lock(&of->lock);
    leave(of);
}

void resolver_begin(resolver *of, resolver_lookup *lookup)
{
    pthread_mutex_lock(&of->lock);
    queue_put(&of->todo, &lookup->link);
    pthread_cond_signal(&of->work);
    pthread_mutex_unlock(&of->lock);
}

queue resolver_take(resolver *of)
{
    uint64_t count;

    pthread_mutex_lock(&of->lock);
    (void)!read(of->fd, &count, sizeof count); /* fails if nothing is there to read */
    queue all = of->done;
    of->done = (queue){0};
    pthread_mutex_unlock(&of->lock);
    return all;
}

int resolver_fd(const resolver *of)
{
    return of->fd;
}

/* "No such name" is what the name's own servers say. */
bool resolver_may_pass(int count)
{
    return count < 0 && count != EAI_NONAME && count != EAI_NODATA;
}

const char *resolver_problem(const resolver *of, int count)
{
    if (count == 0 || of->find != fetch_resolve_system)
        return "the name has no address";
    return gai_strerror(count);
}
