/*
 * Where the shards of a set are: the names of their keys, their slots and ids, and which shard a URL belongs to.
 *
 * Shard i of N is the key {NAME:i:j} with the first j = 0, 1, 2, … whose slot lies in the i-th of N equal ranges of the
 * 16,384 slots. So the shards are spread over a cluster as evenly as its slots are, and everybody who knows NAME and N
 * finds them without a table. Finding j takes N tries on average, of a nanosecond or two each; a name is found when it is
 * first needed.
 *
 * The id of a shard is a hash of the set's id and i. Each command says it, so that a key that holds something else is
 * noticed (docs/REDIS.md, "Which set?").
 */
#ifndef VIDI_FLEET_SET_SHARDS_H
#define VIDI_FLEET_SET_SHARDS_H

#include <stdint.h>

#include "record.h"

enum { SET_NAME = 255, SHARD_KEY = SET_NAME + 40, SHARD_ID = 16 };

typedef struct shard {
    int slot;
    uint16_t key_len; /* 0: not found yet */
    char key[SHARD_KEY];
    char id[SHARD_ID + 1];
} shard;

typedef struct shards {
    const char *name;     /* the caller's */
    const record *record; /* the caller's */
    uint32_t count;
    shard *list;
} shards;

/* VIDI_OK or VIDI_EMEMORY. */
int shards_make(shards *shards, const char *name, const record *record);
void shards_free(shards *shards);

/* The shard of this number. Never NULL. */
const shard *shards_get(shards *shards, uint32_t index);

/* The shard of a URL with this routing hash: its high half, scaled to their number. */
static inline uint32_t shard_of(const uint64_t hash[2], uint32_t count)
{
    return (uint32_t)((unsigned __int128)hash[1] * count >> 64);
}

static inline vidi_str shard_key(const shard *shard)
{
    return (vidi_str){shard->key, shard->key_len};
}

static inline vidi_str shard_id(const shard *shard)
{
    return (vidi_str){shard->id, SHARD_ID};
}

#endif
