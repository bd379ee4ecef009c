/*
 * Lets several workers add their blocks of URLs to one set at the same time, and still answers each URL as if the
 * blocks had been added one after the other.
 *
 * Two URLs that the set takes for the same have the same hash. So each block is divided by the first bits of its
 * hashes, and only the parts with the same bits have to keep the order of the blocks:
 *
 *              shard 0    shard 1    shard 2    …
 *     block 7  added      added      next
 *     block 8  added      next
 *     block 9  next
 *
 * A worker takes the shards of its block as they come free, in any order, and waits only if none is.
 */
#ifndef VIDI_CLI_PIPELINE_SHARDS_H
#define VIDI_CLI_PIPELINE_SHARDS_H

#include <pthread.h>
#include <stdatomic.h>

#include "pipeline/input/lines.h"
#include "vidi/transfer.h"

enum {
    CLI_WORKERS = 16, /* blocks on their way at most, whose numbers follow each other */
    CLI_SHARDS = 16
};

typedef struct cli_shards {
    struct {
        _Alignas(64) _Atomic uint64_t next; /* the number of the block whose turn it is */
    } of[CLI_SHARDS];
    pthread_mutex_t lock; /* for waiting */
    struct {
        pthread_cond_t changed;
        _Atomic bool waits;
    } workers[CLI_WORKERS]; /* by the number of their block */
} cli_shards;

/* Which URLs of a block are in which shard. */
typedef struct cli_sharding {
    uint16_t order[CLI_BLOCK_LINES]; /* their places, shard by shard; in each shard in the order of the block */
    uint32_t ends[CLI_SHARDS];       /* where each shard ends in `order` */
} cli_sharding;

/* The digests of one block. */
typedef struct cli_digests {
    uint64_t epoch;
    const vidi_digest *list;
    uint8_t *verdicts; /* VIDI_DIGESTED: to be added */
    size_t count;
} cli_digests;

void cli_shards_init(cli_shards *shards);
void cli_shards_free(cli_shards *shards);

/* Divides a block. */
void cli_shards_divide(cli_sharding *sharding, const cli_digests *block);

/*
 * Adds the block with this number, and passes all its shards on to the next block. Returns VIDI_OK or the library's
 * error; then the verdict on URLs that were not added is VIDI_UNTRIED. Waits only for blocks with lower numbers.
 */
int cli_shards_add(cli_shards *shards, uint64_t number, vidi_set *set, const cli_sharding *sharding,
                   const cli_digests *block);

/* Passes all shards on after a block that was added without them. All blocks before it must have passed them on. */
void cli_shards_pass(cli_shards *shards, uint64_t number);

#endif
