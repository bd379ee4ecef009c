/*
 * The thread that renews leases. See leases.h.
 *
 * Counters are read by the thread at any time: one that it reads too early or too late does no harm, because a claim
 * lives for three of its rounds.
 */
#include "leases.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "handle.h"

enum { SHARDS_AT_ONCE = 256, PATIENCE = 5000 };

struct leases {
    vidi_cluster *cluster; /* whose unchanging fields the thread reads, and names of shards that have claims */
    uint32_t count;
    _Atomic uint32_t *claims; /* of each shard */
    bool *doubts;
    bool runs;
    pthread_t thread;
    pthread_mutex_t lock; /* of `ends` */
    pthread_cond_t wake;
    bool ends;
    redis_client *client; /* the thread's; NULL: it has none yet */
    calls calls;
};

leases *leases_make(vidi_cluster *cluster)
{
    uint32_t count = cluster->record.shards;
    leases *leases = calloc(1, sizeof *leases);
    if (!leases)
        return NULL;
    *leases = (struct leases){.cluster = cluster, .count = count};
    leases->claims = calloc(count, sizeof *leases->claims);
    leases->doubts = calloc(count, sizeof *leases->doubts);
    if (leases->claims && leases->doubts && pthread_mutex_init(&leases->lock, NULL) == 0) {
        if (clock_condition(&leases->wake) == 0)
            return leases;
        pthread_mutex_destroy(&leases->lock);
    }
    free((void *)leases->claims);
    free(leases->doubts);
    free(leases);
    return NULL;
}

void leases_add(leases *leases, uint32_t shard)
{
    uint32_t claims = atomic_load_explicit(&leases->claims[shard], memory_order_relaxed);
    atomic_store_explicit(&leases->claims[shard], claims + 1, memory_order_release);
}

void leases_remove(leases *leases, uint32_t shard)
{
    uint32_t claims = atomic_load_explicit(&leases->claims[shard], memory_order_relaxed);
    atomic_store_explicit(&leases->claims[shard], claims - 1, memory_order_release);
}

void leases_doubt(leases *leases, uint32_t shard)
{
    leases->doubts[shard] = true;
}

bool leases_has(const leases *leases, uint32_t shard)
{
    return leases->doubts[shard] || atomic_load_explicit(&leases->claims[shard], memory_order_relaxed);
}

/* ---- the thread ---- */

/* A connection that gives up soon, because the next round comes, and closing the handle waits for it. */
static bool connect_client(leases *leases)
{
    char why[REDIS_WHY], *name = NULL;
    redis_options options = leases->cluster->options;
    int64_t most = leases->cluster->lease_ms / 3 < PATIENCE ? leases->cluster->lease_ms / 3 + 1 : PATIENCE;
    options.wait_replicas = 0;
    options.connect_ms = options.reply_ms = options.patience_ms = most;
    if (!leases->client && redis_open(&leases->client, leases->cluster->address, &options, &name, why) != VIDI_OK)
        leases->client = NULL;
    free(name);
    return leases->client;
}

static void run_calls(leases *leases)
{
    if (leases->calls.count && calls_finish(&leases->calls) && connect_client(leases))
        (void)redis_run(leases->client, leases->calls.list, leases->calls.count);
    calls_clear(&leases->calls);
}

/* VIDI.RENEW in each shard that has claims. Errors are left to the calls of the user. */
static void renew(leases *leases)
{
    vidi_cluster *cluster = leases->cluster;
    for (uint32_t i = 0; i < leases->count; i++) {
        if (!atomic_load_explicit(&leases->claims[i], memory_order_acquire))
            continue;
        const shard *shard = &cluster->shards.list[i]; /* it has claims, so its name was found before */
        calls_begin_shard(&leases->calls, shard, WORD("VIDI.RENEW"), CALL_WRITES);
        calls_add(&leases->calls, word_of(cluster->owner));
        calls_guard(&leases->calls, shard);
        if (leases->calls.count == SHARDS_AT_ONCE)
            run_calls(leases);
    }
    run_calls(leases);
}

static void *run(void *context)
{
    leases *leases = context;
    int64_t pause = leases->cluster->lease_ms / 3 + 1;
    pthread_mutex_lock(&leases->lock);
    while (!leases->ends) {
        struct timespec until = clock_in(pause);
        while (!leases->ends && pthread_cond_timedwait(&leases->wake, &leases->lock, &until) == 0)
            ;
        if (leases->ends)
            break;
        pthread_mutex_unlock(&leases->lock);
        renew(leases);
        pthread_mutex_lock(&leases->lock);
    }
    pthread_mutex_unlock(&leases->lock);
    return NULL;
}

int leases_start(leases *leases)
{
    sigset_t all, before;
    if (leases->runs)
        return VIDI_OK;
    sigfillset(&all); /* signals are for the threads of the program */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    leases->runs = pthread_create(&leases->thread, NULL, run, leases) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return leases->runs ? VIDI_OK : cluster_fail(VIDI_ESYSTEM, "the operating system gave no thread to renew leases");
}

void leases_stop(leases *leases)
{
    if (!leases || !leases->runs)
        return;
    pthread_mutex_lock(&leases->lock);
    leases->ends = true;
    pthread_cond_signal(&leases->wake);
    pthread_mutex_unlock(&leases->lock);
    pthread_join(leases->thread, NULL);
    leases->runs = false;
}

void leases_free(leases *leases)
{
    if (!leases)
        return;
    leases_stop(leases);
    redis_close(leases->client);
    calls_free(&leases->calls);
    pthread_cond_destroy(&leases->wake);
    pthread_mutex_destroy(&leases->lock);
    free((void *)leases->claims);
    free(leases->doubts);
    free(leases);
}
