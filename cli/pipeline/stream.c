/*
 * The workers: see stream.h. A slot is about a millisecond of work, so one lock and one condition for each role are
 * enough.
 */
#include "pipeline/stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORKERS = 3 }; /* one may wait for input and one for the reader of the output while the third adds */

typedef enum role { FILL, ASK, PUT, ROLES } role;

/* A role is free, or played for the slot with the number `next`; after that slot comes the one behind it. */
typedef struct role_state {
    uint64_t next;
    bool taken;
    bool ended; /* nobody plays it any more */
    int status; /* of the last time */
    pthread_cond_t freed;
} role_state;

typedef struct workers {
    cli_stream *stream;
    pthread_mutex_t lock; /* for `roles` */
    role_state roles[ROLES];
    cli_slot slots[WORKERS];
} workers;

typedef struct worker {
    workers *all;
    cli_slot *slot;
} worker;

/* Allocates the memory of a slot when it is first needed. */
static int slot_ready(cli_slot *slot)
{
    if (slot->verdicts)
        return CLI_OK;
    int status = cli_block_init(&slot->block);
    slot->urls = slot->block.lines;
    slot->verdicts = malloc(CLI_BLOCK_LINES);
    return status != CLI_OK ? status : slot->verdicts ? CLI_OK : cli_error("out of memory");
}

static void slot_free(cli_slot *slot)
{
    cli_block_free(&slot->block);
    free(slot->taken);
    free(slot->unquoted.bytes);
    free(slot->why);
    free(slot->verdicts);
    free(slot->digests);
    free(slot->marks);
}

/* ---- one thread ---- */

/* Runs until the end, or, if more threads are allowed, until a slot comes back full: then it returns true. */
static bool run_alone(workers *all)
{
    cli_stream *stream = all->stream;
    cli_slot *slot = &all->slots[0];
    int *fill = &all->roles[FILL].status, *ask = &all->roles[ASK].status, *put = &all->roles[PUT].status;

    while (*fill == CLI_OK && *ask == CLI_OK && *put == CLI_OK) {
        *fill = slot_ready(slot);
        if (*fill == CLI_OK)
            *fill = stream->fill(stream->context, slot);
        if (slot->block.count == 0)
            return false;
        *ask = stream->ask(stream->context, slot);
        *put = stream->put(stream->context, slot);
        if (stream->threads > 1 && slot->block.full)
            return *fill == CLI_OK && *ask == CLI_OK && *put == CLI_OK;
    }
    return false;
}

/* ---- several threads: whose turn it is ---- */

static void in_a_while(struct timespec *when, int ms)
{
    clock_gettime(CLOCK_MONOTONIC, when);
    when->tv_sec += ms / 1000;
    when->tv_nsec += (long)(ms % 1000) * 1000000;
    if (when->tv_nsec >= 1000000000) {
        when->tv_sec++;
        when->tv_nsec -= 1000000000;
    }
}

/* Leaves a role; `done` is false if no slot was taken through it. The lock is held. */
static void leave(workers *all, role which, bool done, int status)
{
    role_state *role = &all->roles[which];

    role->taken = false;
    role->next += done;
    if (status != CLI_OK)
        role->status = status;
    pthread_cond_broadcast(&role->freed);
}

/* Nobody shall play the role again. The lock is held. */
static void end_role(workers *all, role which)
{
    all->roles[which].ended = true;
    pthread_cond_broadcast(&all->roles[which].freed);
}

/* After a failure: no more slots are read or asked about, and, if nothing more may be printed, none are put. */
static void end_after(workers *all, role failed)
{
    end_role(all, FILL);
    if (failed != FILL)
        end_role(all, ASK);
    if (failed == PUT)
        end_role(all, PUT);
}

/*
 * Calls `lull`. The caller plays the role of put and does not hold the lock; on return it does, and the role is free.
 */
static int lull_as_put(workers *all)
{
    cli_stream *stream = all->stream;
    int status = stream->lull(stream->context);

    pthread_mutex_lock(&all->lock);
    leave(all, PUT, false, status);
    if (status == CLI_OK)
        return status;
    end_after(all, PUT);
    stream->quit(stream->context);
    return status;
}

/* Calls `lull` in the role of put, if that role is free. The caller holds the lock, which is released meanwhile. */
static void rest(workers *all)
{
    role_state *put = &all->roles[PUT];

    if (put->taken || put->ended)
        return;
    put->taken = true;
    pthread_mutex_unlock(&all->lock);
    (void)lull_as_put(all);
}

/* Waits until the role is free or played by another. Meanwhile somebody must notice that nothing is being put. */
static void wait_for(workers *all, role which)
{
    const cli_stream *stream = all->stream;
    uint64_t put = all->roles[PUT].next;
    struct timespec until;

    if (stream->lull_ms == 0) {
        pthread_cond_wait(&all->roles[which].freed, &all->lock);
        return;
    }
    in_a_while(&until, stream->lull_ms);
    int late = pthread_cond_timedwait(&all->roles[which].freed, &all->lock, &until);
    if (late == ETIMEDOUT && put == all->roles[PUT].next)
        rest(all);
}

/* Takes a role for the slot `number`, or for whichever is next if that is NULL. False: it has ended. */
static bool enter(workers *all, role which, const uint64_t *number)
{
    role_state *role = &all->roles[which];

    pthread_mutex_lock(&all->lock);
    while (!role->ended && (role->taken || (number && role->next != *number)))
        wait_for(all, which);
    bool entered = !role->ended;
    role->taken = role->taken || entered;
    pthread_mutex_unlock(&all->lock);
    return entered;
}

int cli_stream_catch_up(cli_stream *stream)
{
    workers *all = stream->workers;

    if (!stream->together)
        return stream->lull(stream->context);
    const uint64_t mine = all->roles[ASK].next; /* only the role of ask changes it, which is ours */
    if (!enter(all, PUT, &mine))
        return CLI_ERROR; /* the message has been printed */
    int status = lull_as_put(all);
    pthread_mutex_unlock(&all->lock);
    return status;
}

/* ---- several threads: the work ---- */

/* Reads the next slot. False if there is none. */
static bool fill_next(worker *self, uint64_t *number)
{
    workers *all = self->all;
    cli_stream *stream = all->stream;
    role_state *role = &all->roles[FILL];

    if (!enter(all, FILL, NULL))
        return false;
    int status = slot_ready(self->slot);
    if (status == CLI_OK)
        status = stream->fill(stream->context, self->slot);
    bool filled = self->slot->block.count > 0;
    pthread_mutex_lock(&all->lock);
    *number = role->next;
    leave(all, FILL, filled, status);
    if (status != CLI_OK || !filled)
        end_role(all, FILL);
    pthread_mutex_unlock(&all->lock);
    return filled;
}

/* Takes the worker's slot through ask or put, when it is its turn. False if the stream has ended there. */
static bool play(worker *self, role which, uint64_t number)
{
    workers *all = self->all;
    cli_stream *stream = all->stream;

    if (!enter(all, which, &number))
        return false;
    int status = (which == ASK ? stream->ask : stream->put)(stream->context, self->slot);
    pthread_mutex_lock(&all->lock);
    leave(all, which, true, status);
    if (status != CLI_OK)
        end_after(all, which);
    pthread_mutex_unlock(&all->lock);
    if (status != CLI_OK)
        stream->quit(stream->context);
    return which == ASK || status == CLI_OK; /* after a failed ask, the slot is still put */
}

static void *work(void *context)
{
    worker *self = context;
    cli_stream *stream = self->all->stream;
    uint64_t number;
    bool well = true;

    while (well && fill_next(self, &number)) {
        stream->prepare(stream->context, self->slot);
        well = play(self, ASK, number) && play(self, PUT, number);
    }
    return NULL;
}

/* The caller is the first worker. False: no thread could be started, and nothing was done. */
static bool run_together(workers *all)
{
    pthread_t threads[WORKERS];
    worker each[WORKERS];
    size_t count = 1, most = all->stream->threads < WORKERS ? (size_t)all->stream->threads : WORKERS;

    all->stream->together = true;
    for (size_t i = 0; i < WORKERS; i++)
        each[i] = (worker){all, &all->slots[i]};
    while (count < most && pthread_create(&threads[count], NULL, work, &each[count]) == 0)
        count++;
    if (count == 1)
        return false;
    work(&each[0]);
    for (size_t i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    return true;
}

/* ---- all of it ---- */

static void init(workers *all, cli_stream *stream)
{
    pthread_condattr_t monotonic;

    memset(all, 0, sizeof *all);
    all->stream = stream;
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    for (size_t i = 0; i < ROLES; i++)
        pthread_cond_init(&all->roles[i].freed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void destroy(workers *all)
{
    for (size_t i = 0; i < WORKERS; i++)
        slot_free(&all->slots[i]);
    pthread_mutex_destroy(&all->lock);
    for (size_t i = 0; i < ROLES; i++)
        pthread_cond_destroy(&all->roles[i].freed);
}

int cli_stream_run(cli_stream *stream)
{
    workers all;

    init(&all, stream);
    stream->workers = &all;
    if (run_alone(&all) && !run_together(&all)) {
        stream->threads = 1;
        stream->together = false;
        run_alone(&all);
    }
    int fill = all.roles[FILL].status, ask = all.roles[ASK].status, put = all.roles[PUT].status;
    stream->put_failed = put != CLI_OK;
    destroy(&all);
    stream->workers = NULL;
    return put != CLI_OK ? put : ask != CLI_OK ? ask : fill;
}
