/*
 * Lines whose URLs another client of a set on a server has claimed. That client is about to hand such a URL on; or it
 * has died, and the URL is new when the claim's time is over. So these lines are put aside and asked about again, after
 * 1, 2, 4, 8, 16 and 32 seconds: for longer than a claim of a dead client lasts. What is still claimed then is in the
 * hands of a client that lives, and counts as seen.
 *
 * So an input can be run again as soon as a run was killed, without losing what that run had claimed.
 *
 * Lines that have waited equally often stand in a queue of their own, in the order of the time when they are due.
 * Together they take at most 64 MiB. May be called from any thread.
 */
#ifndef VIDI_CLI_PIPELINE_HELD_H
#define VIDI_CLI_PIPELINE_HELD_H

#include <pthread.h>

#include "pipeline/input/lines.h"

enum { CLI_HELD_ROUNDS = 6 };

typedef struct cli_held_queue {
    char *bytes;
    size_t first, end, room; /* of the lines in `bytes` */
} cli_held_queue;

typedef struct cli_held {
    pthread_mutex_t lock;
    cli_held_queue queues[CLI_HELD_ROUNDS];
    uint64_t most;  /* bytes that all queues may take */
    uint64_t lines; /* in all of them */
} cli_held;

void cli_held_init(cli_held *held);
void cli_held_free(cli_held *held);

/*
 * Puts a line aside that was asked about `round` times before, counted from 0. `field` is where its URL is
 * (cli_lookup). False: it was asked about often enough, or there is no room.
 */
bool cli_held_put(cli_held *held, unsigned round, vidi_str line, uint64_t field);

uint64_t cli_held_lines(cli_held *held);

/* Nanoseconds until the next line is due, 0 if one is; -1: there are no lines. */
int64_t cli_held_due(cli_held *held);

/*
 * Fills a block with lines that are due, of which *round and *field are the same; block->count is 0 if there are none.
 * CLI_OK, or CLI_ERROR with a message.
 */
int cli_held_fill(cli_held *held, cli_block *block, unsigned *round, uint64_t *field);

#endif
