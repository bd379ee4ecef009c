/*
 * Plans a set that is spread over the shards of a cluster: how many shards, and how each of them is made.
 *
 * A shard is an ordinary set with a share of the URLs. Which share is decided by a keyed hash, so the numbers of URLs in
 * the shards differ by their square root, and each shard is made for a little more than the average. A URL is compared
 * with those of its own shard alone. So shards lose as few pages as one large set would, with fewer bits for each URL.
 */
#ifndef VIDI_CLI_PIPELINE_OPTIONS_CLUSTER_PLAN_H
#define VIDI_CLI_PIPELINE_OPTIONS_CLUSTER_PLAN_H

#include "cli.h"

#define CLI_SHARD_BYTES (UINT64_C(8) << 20) /* at most, so that moving a shard holds up a server for 50 ms at most */

enum {
    CLI_SHARDS_MOST = 16384, /* one for each slot of a cluster */
    CLI_CLUSTER_PLANS = 64
};

typedef struct cli_cluster_plan {
    uint32_t shards;
    uint64_t urls;         /* of all shards together */
    vidi_plan_entry shard; /* how each is made */
} cli_cluster_plan;

/*
 * The plans for a request, the best first, as vidi_plan orders them. shards 0: of each kind as many as have 8 MiB each,
 * and enough to give each of the nodes (0: unknown) about as many. *n: how many there are, at most CLI_CLUSTER_PLANS.
 * CLI_OK, or CLI_ERROR with a message.
 */
int cli_cluster_plans(const vidi_plan_request *want, uint32_t shards, uint32_t nodes,
                      cli_cluster_plan plans[CLI_CLUSTER_PLANS], size_t *n);

/*
 * How many shards the node with the most of them is expected to have, divided by the average. The nodes have equal
 * ranges of slots, and the key of shard i is at a random slot of the i-th of equal ranges, as many as there are shards:
 *
 *     nodes     |        0         |         1        |        2        |
 *     shards    |  0 |  1 |  2 |  3 |  4 |  5 |  6 |  7 |  8 |  9 | 10 |     3 and 7 may be on either side
 */
double cli_cluster_load(uint32_t shards, uint32_t nodes);

#endif
