/*
 * What VIDI.INFO tells about a shard.
 */
#ifndef VIDI_FLEET_SET_INFO_H
#define VIDI_FLEET_SET_INFO_H

#include "whole.h"

typedef struct shard_info {
    vidi_stats set; /* `can` lacks what the module does not tell: VIDI_KEEPS_URLS */
    uint64_t claims, expired;
    uint64_t max_memory;
    uint64_t next_piece; /* not 0: the shard is being loaded */
    char invalid[8], role[8];
} shard_info;

/* Reads the reply. VIDI_EIO if it is not one of VIDI.INFO. */
int info_read(vidi_cluster *cluster, const redis_reply *reply, shard_info *info);

/* For for_each_shard: begins VIDI.INFO key IF id. */
void info_ask(vidi_cluster *cluster, const shard *shard, uint32_t index, void *context);

/* Adds up what all shards tell. The handle has its turn. */
typedef struct set_sums {
    vidi_stats all;
    vidi_cluster_stats more;
} set_sums;
int info_sum(vidi_cluster *cluster, set_sums *sums);

/* What sets of this kind can do that the module does not tell. No cluster set stores every add: claims are made once. */
uint32_t info_can(const record *record);

#endif
