/*
 * Statistics of a whole set, and checking it.
 *
 * Counts, bytes and expected losses add up. A URL goes to each shard with the same probability, so the share of bits in
 * use and the probability of a false "seen" that a URL meets are the means over all shards.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"

/* ---- sums ---- */

static void add_set(vidi_stats *all, const vidi_stats *one, uint32_t shards)
{
    all->capacity += one->capacity;
    all->count += one->count;
    all->bytes += one->bytes;
    all->memory_bytes += one->memory_bytes;
    all->fill += one->fill / shards;
    all->fp_now += one->fp_now / shards;
    all->expected_lost += one->expected_lost;
    all->answered_new += one->answered_new;
    all->answered_seen += one->answered_seen;
    all->answered_invalid += one->answered_invalid;
    all->asked += one->asked;
    all->removed += one->removed;
    all->ambiguous += one->ambiguous;
    if (one->fp_meaning > all->fp_meaning)
        all->fp_meaning = one->fp_meaning;
    if (one->lines_touched > all->lines_touched)
        all->lines_touched = one->lines_touched;
    if (one->stages > all->stages)
        all->stages = one->stages;
}

/* What has no sum is that of the first shard: the same in all, unless a rotation is going on. */
static void begin_with(vidi_stats *all, const vidi_stats *first)
{
    memcpy(all->kind, first->kind, sizeof all->kind);
    memcpy(all->params, first->params, sizeof all->params);
    memcpy(all->hash, first->hash, sizeof all->hash);
    memcpy(all->canon, first->canon, sizeof all->canon);
    all->can = first->can;
    all->hash_trust = first->hash_trust;
    all->epoch = first->epoch;
    all->past_epochs = first->past_epochs;
}

static int take_stats(vidi_cluster *cluster, const shard *shard, uint32_t index, const redis_reply *reply,
                      void *context)
{
    set_sums *sums = context;
    shard_info info;
    CLUSTER_TRY(need_reply(cluster, shard, reply, REDIS_ARRAY));
    CLUSTER_TRY(info_read(cluster, reply, &info));
    if (index == 0)
        begin_with(&sums->all, &info.set);
    add_set(&sums->all, &info.set, cluster->record.shards);
    sums->all.memory_limit += info.max_memory;
    sums->more.claims += info.claims;
    sums->more.expired += info.expired;
    if (index == 0 || info.set.count < sums->more.least)
        sums->more.least = info.set.count;
    if (info.set.count > sums->more.most)
        sums->more.most = info.set.count;
    return VIDI_OK;
}

/* How many nodes have shards. */
static uint32_t count_nodes(vidi_cluster *cluster)
{
    size_t nodes = redis_nodes(cluster->client);
    bool *has = calloc(nodes + 1, sizeof *has);
    uint32_t count = 0;
    for (uint32_t i = 0; has && i < cluster->record.shards; i++) {
        int node = redis_node_of(cluster->client, shards_get(&cluster->shards, i)->slot);
        if (node >= 0 && (size_t)node < nodes && !has[node]) {
            has[node] = true;
            count++;
        }
    }
    free(has);
    return count;
}

int info_sum(vidi_cluster *cluster, set_sums *sums)
{
    *sums = (set_sums){0};
    CLUSTER_TRY(for_each_shard(cluster, &(each_shard){info_ask, take_stats, sums}));
    sums->all.can |= info_can(&cluster->record);
    sums->all.staged = pending_mark(&cluster->pending) - cluster->pending.begin;
    sums->more.shards = cluster->record.shards;
    sums->more.nodes = count_nodes(cluster);
    sums->more.set_id = cluster->record.id;
    sums->more.stale = cluster->stale;
    return VIDI_OK;
}

/* As much of a struct as the caller's has room for; its size stays. */
static void give(void *to, size_t room, const void *from, size_t size)
{
    size_t n = room < size ? room : size;
    if (n > sizeof(size_t))
        memcpy((char *)to + sizeof(size_t), (const char *)from + sizeof(size_t), n - sizeof(size_t));
}

int vidi_cluster_stat(vidi_cluster *cluster, vidi_stats *stats, vidi_cluster_stats *more)
{
    set_sums sums;
    if (!stats || stats->size < sizeof stats->size || (more && more->size < sizeof more->size))
        return cluster_fail(VIDI_EARGUMENT, "there is no room for statistics, or its size is not set");
    CLUSTER_TRY(cluster_enter(cluster));
    int code = info_sum(cluster, &sums);
    cluster_leave(cluster);
    if (code != VIDI_OK)
        return code;
    give(stats, stats->size, &sums.all, sizeof sums.all);
    if (more)
        give(more, more->size, &sums.more, sizeof sums.more);
    return VIDI_OK;
}

/* ---- checking ---- */

typedef struct checking {
    vidi_cluster_fault fault;
    void *context;
    uint64_t faults;
    uint64_t epoch;
    char params[VIDI_PARAMS_ROOM]; /* of the first shard that is there; empty before */
} checking;

static void report(checking *checking, const shard *shard, const char *what, const char *there, const char *expected)
{
    char sentence[1400];
    checking->faults++;
    snprintf(sentence, sizeof sentence, "shard %.*s has %s %s instead of %s", (int)shard->key_len, shard->key, what,
             there, expected);
    if (checking->fault)
        checking->fault(checking->context, sentence);
}

static void compare_texts(checking *checking, const shard *shard, const char *what, const char *there,
                          const char *expected)
{
    if (strcmp(there, expected) != 0)
        report(checking, shard, what, there[0] ? there : "nothing", expected);
}

static void compare_numbers(checking *checking, const shard *shard, const char *what, uint64_t there, uint64_t expected)
{
    char one[24], other[24];
    snprintf(one, sizeof one, "%" PRIu64, there);
    snprintf(other, sizeof other, "%" PRIu64, expected);
    compare_texts(checking, shard, what, one, other);
}

/* All shards are made alike: with parameters in force that are those of the first. */
static void check_info(vidi_cluster *cluster, const shard *shard, const shard_info *info, checking *checking)
{
    compare_texts(checking, shard, "kind", info->set.kind, cluster->record.kind);
    compare_texts(checking, shard, "canonical form", info->set.canon, cluster->record.canon);
    compare_texts(checking, shard, "policy for invalid lines", info->invalid, "keep");
    compare_texts(checking, shard, "role", info->role, "urls");
    compare_numbers(checking, shard, "epoch", info->set.epoch, checking->epoch);
    compare_numbers(checking, shard, "next piece to load", info->next_piece, 0);
    if (!checking->params[0])
        memcpy(checking->params, info->set.params, sizeof checking->params);
    compare_texts(checking, shard, "parameters", info->set.params, checking->params);
}

static int check_reply(vidi_cluster *cluster, const shard *shard, uint32_t index, const redis_reply *reply,
                       void *context)
{
    checking *checking = context;
    shard_info info;
    (void)index;
    int code = need_reply(cluster, shard, reply, REDIS_ARRAY);
    if (code == VIDI_OK)
        code = info_read(cluster, reply, &info);
    if (code == VIDI_OK)
        check_info(cluster, shard, &info, checking);
    if (code == VIDI_OK)
        return code;
    checking->faults++;
    if (checking->fault)
        checking->fault(checking->context, vidi_cluster_message());
    return VIDI_OK; /* go on with the others */
}

static void check_keys(vidi_cluster *cluster, const set_keys *keys, checking *checking)
{
    const char *wrong = NULL;
    if (!keys->has_record || keys->record.id != cluster->record.id)
        wrong = "the record is gone, or it is that of another set";
    else if (!keys->has_state || keys->state.phase == STATE_DROPPING)
        wrong = "the set is being made or removed";
    else if (keys->state.phase == STATE_ROTATING)
        wrong = "a rotation has begun and is not finished";
    if (!wrong)
        return;
    checking->faults++;
    if (checking->fault)
        checking->fault(checking->context, wrong);
}

int vidi_cluster_check(vidi_cluster *cluster, vidi_cluster_fault fault, void *context, uint64_t *faults)
{
    set_keys keys;
    checking checking = {.fault = fault, .context = context};
    CLUSTER_TRY(cluster_enter(cluster));
    int code = set_keys_read(cluster, &keys);
    if (code == VIDI_OK) {
        check_keys(cluster, &keys, &checking);
        checking.epoch = keys.state.epoch;
        code = for_each_shard(cluster, &(each_shard){info_ask, check_reply, &checking});
    }
    cluster_leave(cluster);
    if (faults)
        *faults = checking.faults;
    return code;
}
