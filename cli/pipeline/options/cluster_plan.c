/*
 * Plans for clusters: see cluster_plan.h.
 */
#include "pipeline/options/cluster_plan.h"

#include <math.h>
#include <stdlib.h>

enum {
    SHARDS_PER_NODE = 16, /* then the fullest node has a tenth more than the average at most */
    MARGIN = 5            /* standard deviations: one shard in three million gets more URLs than it is made for */
};

/* ---- one shard ---- */

static uint64_t share_of(uint64_t urls, uint32_t shards)
{
    double mean = (double)urls / shards;

    return shards == 1 ? urls : (uint64_t)ceil(mean + MARGIN * sqrt(mean));
}

/* The same limits for one of so many shards as for all of them; `kind` NULL: every kind. */
static vidi_plan_request request_for_shard(const vidi_plan_request *want, uint32_t shards, const char *kind)
{
    vidi_plan_request one = *want;
    bool limited = want->error > 0 || want->lost > 0 || want->exact || (want->urls && want->memory) ||
                   (want->k && want->multiplier > 0) || want->params;

    one.kind = kind ? kind : want->kind;
    one.urls = want->urls ? share_of(want->urls, shards) : 0;
    one.memory = want->memory / shards;
    one.lost = limited ? want->lost / shards : 1.0 / shards; /* as vidi_plan does for a set that is not divided */
    one.entry_size = sizeof(vidi_plan_entry);
    return one;
}

/* Plans one kind. VIDI_OK or the library's error. */
static int plan_kind(const vidi_plan_request *want, const char *kind, uint32_t shards, cli_cluster_plan *plan)
{
    vidi_plan_request one = request_for_shard(want, shards, kind);
    size_t n = 1;

    plan->shards = shards;
    int error = vidi_plan(&one, &plan->shard, &n);
    plan->urls = want->urls ? want->urls : plan->shard.urls * shards;
    return error;
}

/* ---- how many ---- */

/* A power of two, so that the shards' ranges of slots are equal. */
static uint32_t least_shards(uint32_t nodes)
{
    uint64_t least = nodes > 1 ? (uint64_t)nodes * SHARDS_PER_NODE : 1;
    uint32_t shards = 1;

    while (shards < CLI_SHARDS_MOST && shards < least)
        shards *= 2;
    return shards;
}

/* Doubles the number of shards until they are small enough; in vain at first if so many URLs are too many for a shard. */
static int divide_kind(const vidi_plan_request *want, const char *kind, uint32_t nodes, cli_cluster_plan *plan)
{
    for (uint32_t shards = least_shards(nodes);; shards *= 2) {
        int error = plan_kind(want, kind, shards, plan);
        if (shards >= CLI_SHARDS_MOST || (error == VIDI_OK && plan->shard.bytes <= CLI_SHARD_BYTES))
            return error;
    }
}

/* The kinds that can serve, the best first: for the smallest number of shards with which the best has small ones. */
static int list_kinds(const vidi_plan_request *want, uint32_t shards, vidi_plan_entry *kinds, size_t *n)
{
    for (uint32_t at = shards ? shards : 1;; at *= 2) {
        vidi_plan_request one = request_for_shard(want, at, NULL);
        *n = CLI_CLUSTER_PLANS;
        int error = vidi_plan(&one, kinds, n);
        bool small = error == VIDI_OK && kinds[0].bytes <= CLI_SHARD_BYTES;
        if (small || (error != VIDI_OK && error != VIDI_EOPTION) || shards || at >= CLI_SHARDS_MOST)
            return error;
    }
}

int cli_cluster_plans(const vidi_plan_request *want, uint32_t shards, uint32_t nodes,
                      cli_cluster_plan plans[CLI_CLUSTER_PLANS], size_t *n)
{
    vidi_plan_entry kinds[CLI_CLUSTER_PLANS];
    size_t count;

    *n = 0;
    CLI_TRY(cli_library_status(list_kinds(want, shards, kinds, &count)));
    for (size_t i = 0; i < count; i++) {
        cli_cluster_plan *plan = &plans[*n];
        int error =
            shards ? plan_kind(want, kinds[i].kind, shards, plan) : divide_kind(want, kinds[i].kind, nodes, plan);
        *n += error == VIDI_OK;
    }
    return *n ? CLI_OK : cli_error("no kind can serve that");
}

/* ---- load ---- */

/* Where the shards around the boundary before a node begin: whole shards before it, and the share of the next one. */
typedef struct boundary {
    uint32_t whole;
    double before; /* probability that the shard which the boundary cuts lies before it; 0: it cuts none */
} boundary;

static boundary boundary_of(uint32_t node, uint32_t shards, uint32_t nodes)
{
    uint64_t at = (uint64_t)node * shards;

    return (boundary){(uint32_t)(at / nodes), (double)(at % nodes) / nodes};
}

/*
 * The probability that no node has more than `most` shards. From node to node: whether the shard that the boundary cuts
 * has fallen after it (after[1]) or not (after[0]), and all nodes before it have few enough.
 */
static double probability_of(uint32_t most, uint32_t shards, uint32_t nodes)
{
    double after[2] = {1, 0};

    for (uint32_t node = 0; node < nodes; node++) {
        boundary left = boundary_of(node, shards, nodes), right = boundary_of(node + 1, shards, nodes);
        uint32_t own = right.whole - left.whole - (left.before > 0);
        double next[2] = {0, 0};
        for (uint32_t had = 0; had < 2; had++) {
            next[0] += own + had + (right.before > 0) <= most ? after[had] * (right.before > 0 ? right.before : 1) : 0;
            next[1] += right.before > 0 && own + had <= most ? after[had] * (1 - right.before) : 0;
        }
        after[0] = next[0];
        after[1] = next[1];
    }
    return after[0] + after[1];
}

double cli_cluster_load(uint32_t shards, uint32_t nodes)
{
    double mean = (double)shards / nodes, most = 0;

    if (nodes <= 1 || nodes > shards) /* with fewer shards than nodes, a node has one or none */
        return nodes <= 1 ? 1 : 1 / mean;
    for (uint32_t at = 0; at < shards; at++) { /* the expectation of the maximum */
        double more = 1 - probability_of(at, shards, nodes);
        if (more <= 0)
            break;
        most += more;
    }
    return most / mean;
}
