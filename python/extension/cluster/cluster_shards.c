/*
 * Reading a set that is on a server: shard after shard into memory, or all of them joined. Nothing here needs the GIL.
 *
 * All shards have one secret key, so they fit together. What is added meanwhile may be missing.
 */
#include "extension.h"

static int count_shards(vidi_cluster *cluster, uint32_t *shards)
{
    vidi_stats stats = {.size = sizeof stats};
    vidi_cluster_stats more = {.size = sizeof more};
    int error = vidi_cluster_stat(cluster, &stats, &more);
    *shards = more.shards;
    return error;
}

/* Reads a shard and runs a task on it. */
static int run_shard(vidi_cluster *cluster, uint32_t index, vp_task *task, void *context)
{
    vidi_set *shard = NULL;
    int error = vidi_cluster_read_shard(cluster, index, &shard);
    if (error < 0)
        return error;
    int result = task(shard, context);
    vidi_close(shard);
    return VP_OF_COPY(result);
}

int vp_run_shards(vidi_cluster *cluster, vp_task *task, void *context)
{
    uint32_t shards = 0;
    int result = count_shards(cluster, &shards);
    for (uint32_t i = 0; result == VIDI_OK && i < shards; i++)
        result = run_shard(cluster, i, task, context);
    return result;
}

int vp_run_first_shard(vidi_cluster *cluster, vp_task *task, void *context)
{
    return run_shard(cluster, 0, task, context);
}

/* A vp_task. */
static int merge_into(const vidi_set *shard, void *context)
{
    return vidi_merge(context, shard, 0);
}

int vp_join(vidi_cluster *cluster, vidi_set **joined)
{
    uint32_t shards = 0;
    int error = count_shards(cluster, &shards);
    if (error == VIDI_OK)
        error = vidi_cluster_read_shard(cluster, 0, joined);
    for (uint32_t i = 1; error == VIDI_OK && i < shards; i++)
        error = run_shard(cluster, i, merge_into, *joined);
    if (error != VIDI_OK) {
        vidi_close(*joined);
        *joined = NULL;
    }
    return error;
}

int vp_run_joined(vidi_cluster *cluster, vp_task *task, void *context)
{
    vidi_set *joined = NULL;
    int error = vp_join(cluster, &joined);
    if (error != VIDI_OK)
        return error;
    int result = task(joined, context);
    vidi_close(joined);
    return VP_OF_COPY(result);
}
