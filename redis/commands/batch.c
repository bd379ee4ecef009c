/*
 * See batch.h.
 */
#include "batch.h"

#include "redis/server/words.h"

void batch_take(batch *batch, server_string **argv, int argc)
{
    batch->n = (size_t)argc;
    batch->items = batch->n > BATCH_FEW ? server.Alloc(batch->n * sizeof *batch->items) : batch->few_items;
    batch->verdicts = batch->n > BATCH_FEW ? server.Alloc(batch->n) : batch->few_verdicts;
    for (size_t i = 0; i < batch->n; i++)
        batch->items[i] = text_of(argv[i]);
}

void batch_free(batch *batch)
{
    if (batch->n <= BATCH_FEW)
        return;
    server.Free(batch->items);
    server.Free(batch->verdicts);
}
