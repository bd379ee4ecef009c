/*
 * What concerns a set as a whole: its record and state, and commands to all shards.
 */
#ifndef VIDI_FLEET_SET_WHOLE_H
#define VIDI_FLEET_SET_WHOLE_H

#include "handle.h"
#include "state.h"

/* What the servers have at the keys {NAME}:set and {NAME}:state. */
typedef struct set_keys {
    bool has_record, has_state;
    record record;
    state state;
    char state_text[STATE_ROOM];
} set_keys;

/* Reads both. VIDI_EFORMAT if one holds something else. */
int set_keys_read(vidi_cluster *cluster, set_keys *keys);

/*
 * Replaces the text of the state, if it is `from` or the new one already. *done: whether it was. Absent states are made
 * by set_state_make.
 */
int set_state_change(vidi_cluster *cluster, const char *from, const state *to, bool *done);
/* Sets the state, also if there is one (`replace`). */
int set_state_make(vidi_cluster *cluster, const state *state, bool replace);

/*
 * Sends a command to each shard, many at a time. `ask` begins one call for the shard, or none; `take` gets the reply,
 * which may be an error. VIDI_OK, or the first error of `take` or of the connection, after which no more are sent.
 */
typedef struct each_shard {
    void (*ask)(vidi_cluster *cluster, const shard *shard, uint32_t index, void *context);
    int (*take)(vidi_cluster *cluster, const shard *shard, uint32_t index, const redis_reply *reply, void *context);
    void *context;
} each_shard;
int for_each_shard(vidi_cluster *cluster, const each_shard *each);

/* For `take`: VIDI_OK if the reply has this type; otherwise what is wrong. */
int need_reply(vidi_cluster *cluster, const shard *shard, const redis_reply *reply, redis_type type);

/* Brings every shard to the epoch that the state intends, and makes the state READY. */
int rotation_finish(vidi_cluster *cluster, const state *intent);

#endif
