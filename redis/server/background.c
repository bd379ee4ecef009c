/*
 * A list of blocks to be freed, and the thread that frees them. See background.h.
 *
 * The list is kept beside the blocks, in crates, and not inside them: writing to a block while a child saves the same
 * memory would make the kernel copy a page.
 */
#include "background.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "server.h"

enum { CRATE_BLOCKS = 500 };

typedef struct crate {
    struct crate *next;
    uint64_t bytes; /* of all its blocks */
    size_t count;
    void *blocks[CRATE_BLOCKS];
} crate;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_filled = PTHREAD_COND_INITIALIZER;
static crate *crates; /* the one that is being filled comes first */
static bool is_running;
static _Atomic uint64_t waiting;

void background_free(void *block, size_t bytes)
{
    pthread_mutex_lock(&lock);
    if (!crates || crates->count == CRATE_BLOCKS) {
        crate *added = server.Alloc(sizeof(*added));
        added->next = crates;
        added->bytes = 0;
        added->count = 0;
        crates = added;
    }
    crates->blocks[crates->count++] = block;
    crates->bytes += bytes;
    atomic_fetch_add(&waiting, bytes);
    pthread_mutex_unlock(&lock);
}

/* With the lock held. */
static crate *take_all(void)
{
    crate *taken = crates;
    crates = NULL;
    return taken;
}

static void free_all(crate *taken)
{
    while (taken) {
        crate *done = taken;
        taken = taken->next;
        while (done->count > 0)
            server.Free(done->blocks[--done->count]);
        uint64_t bytes = done->bytes;
        server.Free(done);
        atomic_fetch_sub(&waiting, bytes);
    }
}

static void *run(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!crates)
            pthread_cond_wait(&is_filled, &lock);
        crate *taken = take_all();
        pthread_mutex_unlock(&lock);
        free_all(taken);
    }
    return NULL;
}

/* Signals are for the server. A thread that wakes up must not take its core: SCHED_BATCH does not. */
static bool start_thread(void)
{
    const struct sched_param normal = {.sched_priority = 0};
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        pthread_setname_np(thread, "vidi_free");
        pthread_setschedparam(thread, SCHED_BATCH, &normal);
        pthread_detach(thread);
    }
    return started;
}

/* If there can be no thread, the caller frees the blocks. */
void background_start(void)
{
    crate *mine = NULL;
    pthread_mutex_lock(&lock);
    if (crates && !is_running)
        is_running = start_thread();
    if (!is_running)
        mine = take_all();
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&is_filled);
    free_all(mine);
}

uint64_t background_bytes(void)
{
    return atomic_load(&waiting);
}
