/*
 * The items of a command, as the library takes them, with room for their verdicts.
 */
#ifndef REDIS_BATCH_H
#define REDIS_BATCH_H

#include <vidi/vidi.h>

#include "redis/server/server.h"

#define BATCH_FEW 128 /* up to this many items, nothing is allocated */

typedef struct batch {
    size_t n;
    vidi_str *items;
    uint8_t *verdicts;
    vidi_str few_items[BATCH_FEW];
    uint8_t few_verdicts[BATCH_FEW];
} batch;

/* Takes arguments of a command, which must live as long as the batch. */
void batch_take(batch *batch, server_string **argv, int argc);
void batch_free(batch *batch);

#endif
