/*
 * Blocks added in shards: see shards.h.
 */
#include "pipeline/shards.h"

#include <string.h>

enum { PIECE = 1024 }; /* digests are passed to the set in pieces of this length */

void cli_shards_init(cli_shards *shards)
{
    memset(shards, 0, sizeof *shards);
    pthread_mutex_init(&shards->lock, NULL);
    for (size_t i = 0; i < CLI_WORKERS; i++)
        pthread_cond_init(&shards->workers[i].changed, NULL);
}

void cli_shards_free(cli_shards *shards)
{
    pthread_mutex_destroy(&shards->lock);
    for (size_t i = 0; i < CLI_WORKERS; i++)
        pthread_cond_destroy(&shards->workers[i].changed);
}

/* ---- dividing a block ---- */

/* The same bits by which kinds divide their memory, so that two workers rarely meet there. */
static size_t shard_of(vidi_digest digest)
{
    return (size_t)(digest.hi >> 60);
}

void cli_shards_divide(cli_sharding *sharding, const cli_digests *block)
{
    uint32_t at[CLI_SHARDS + 1] = {0};

    for (size_t i = 0; i < block->count; i++)
        if (block->verdicts[i] == VIDI_DIGESTED)
            at[shard_of(block->list[i]) + 1]++;
    for (size_t i = 0; i < CLI_SHARDS; i++) {
        at[i + 1] += at[i];
        sharding->ends[i] = at[i + 1];
    }
    for (size_t i = 0; i < block->count; i++)
        if (block->verdicts[i] == VIDI_DIGESTED)
            sharding->order[at[shard_of(block->list[i])]++] = (uint16_t)i;
}

/* ---- whose turn it is ---- */

static bool is_turn(const cli_shards *shards, size_t shard, uint64_t number)
{
    return atomic_load(&shards->of[shard].next) == number;
}

/* Lets the next block into a shard. */
static void pass(cli_shards *shards, size_t shard, uint64_t number)
{
    size_t next = (number + 1) % CLI_WORKERS;

    atomic_store(&shards->of[shard].next, number + 1);
    if (!atomic_load(&shards->workers[next].waits)) /* whoever begins to wait looks at the shards after saying so */
        return;
    pthread_mutex_lock(&shards->lock);
    pthread_cond_signal(&shards->workers[next].changed);
    pthread_mutex_unlock(&shards->lock);
}

void cli_shards_pass(cli_shards *shards, uint64_t number)
{
    for (size_t i = 0; i < CLI_SHARDS; i++)
        pass(shards, i, number);
}

/* Those of the shards in `left`, a bit for each, in which it is the turn of the block. */
static unsigned free_shards(const cli_shards *shards, uint64_t number, unsigned left)
{
    unsigned found = 0;

    for (size_t i = 0; i < CLI_SHARDS; i++)
        if (left >> i & 1 && is_turn(shards, i, number))
            found |= 1u << i;
    return found;
}

/* The same, but waits until there is one. */
static unsigned wait_for_shards(cli_shards *shards, uint64_t number, unsigned left)
{
    size_t self = number % CLI_WORKERS;
    unsigned found = free_shards(shards, number, left);

    if (found)
        return found;
    pthread_mutex_lock(&shards->lock);
    atomic_store(&shards->workers[self].waits, true);
    while ((found = free_shards(shards, number, left)) == 0)
        pthread_cond_wait(&shards->workers[self].changed, &shards->lock);
    atomic_store(&shards->workers[self].waits, false);
    pthread_mutex_unlock(&shards->lock);
    return found;
}

/* ---- adding ---- */

static int add_piece(vidi_set *set, const cli_digests *block, const uint16_t *order, size_t n)
{
    vidi_digest list[PIECE];
    uint8_t verdicts[PIECE];

    for (size_t i = 0; i < n; i++)
        list[i] = block->list[order[i]];
    memset(verdicts, VIDI_DIGESTED, n);
    int error = vidi_add_digests(set, block->epoch, list, n, verdicts, NULL);
    for (size_t i = 0; i < n; i++)
        block->verdicts[order[i]] = verdicts[i];
    return error;
}

static int add_shard(vidi_set *set, const cli_sharding *sharding, const cli_digests *block, size_t shard)
{
    size_t end = sharding->ends[shard];
    int error = VIDI_OK;

    for (size_t at = shard > 0 ? sharding->ends[shard - 1] : 0; at < end && error == VIDI_OK; at += PIECE)
        error = add_piece(set, block, sharding->order + at, end - at < PIECE ? end - at : PIECE);
    return error;
}

int cli_shards_add(cli_shards *shards, uint64_t number, vidi_set *set, const cli_sharding *sharding,
                   const cli_digests *block)
{
    unsigned left = (1u << CLI_SHARDS) - 1;
    int error = VIDI_OK;

    while (left) {
        size_t shard = (size_t)__builtin_ctz(wait_for_shards(shards, number, left));
        if (error == VIDI_OK)
            error = add_shard(set, sharding, block, shard);
        pass(shards, shard, number);
        left &= ~(1u << shard);
    }
    for (size_t i = 0; error != VIDI_OK && i < block->count; i++)
        if (block->verdicts[i] == VIDI_DIGESTED)
            block->verdicts[i] = VIDI_UNTRIED;
    return error;
}
