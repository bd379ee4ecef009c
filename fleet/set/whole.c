/*
 * Record, state, all shards. See whole.h.
 */
#include "whole.h"

#include <stdio.h>

enum { SHARDS_AT_ONCE = 256 };

/* ---- record and state ---- */

/* A text of another type than string is an error of the server (WRONGTYPE) or a nil in the array. */
static int read_keys(vidi_cluster *cluster, const redis_reply *record, const redis_reply *state, set_keys *keys)
{
    const char *wrong;
    keys->has_record = record->type == REDIS_TEXT;
    keys->has_state = state->type == REDIS_TEXT;
    if (keys->has_record && !set_record_read(&keys->record, record->text, &wrong))
        return cluster_fail(VIDI_EFORMAT, "%s: the key %s is not to be read: %s", cluster->shown, cluster->record_key,
                            wrong);
    if (keys->has_state && !state_read(&keys->state, state->text))
        return cluster_fail(VIDI_EFORMAT, "%s: the key %s is not to be read: it is not the state of a set",
                            cluster->shown, cluster->state_key);
    if (keys->has_state)
        state_write(&keys->state, keys->state_text);
    return VIDI_OK;
}

int set_keys_read(vidi_cluster *cluster, set_keys *keys)
{
    calls *calls = &cluster->calls;
    int code = VIDI_OK;
    *keys = (set_keys){0};
    calls_clear(calls);
    calls_begin(calls, cluster->slot, 0);
    calls_add(calls, WORD("MGET"));
    calls_add(calls, word_of(cluster->record_key));
    calls_add(calls, word_of(cluster->state_key));
    CLUSTER_TRY(cluster_run(cluster));
    const redis_reply *reply = cluster_reply(cluster, 0, REDIS_ARRAY, NULL, &code);
    if (!reply)
        return code;
    if (reply->count != 2)
        return cluster_garbled(cluster);
    return read_keys(cluster, &reply->items[0], &reply->items[1], keys);
}

static const char change_script[] = "local now = redis.call('GET', KEYS[1]) "
                                    "if now ~= ARGV[1] and now ~= ARGV[2] then return 0 end "
                                    "redis.call('SET', KEYS[1], ARGV[2]) return 1";

int set_state_change(vidi_cluster *cluster, const char *from, const state *to, bool *done)
{
    char text[STATE_ROOM];
    calls *calls = &cluster->calls;
    int code = VIDI_OK;
    state_write(to, text);
    calls_clear(calls);
    calls_begin(calls, cluster->slot, CALL_WRITES);
    calls_add(calls, WORD("EVAL"));
    calls_add(calls, WORD(change_script));
    calls_add(calls, WORD("1"));
    calls_add(calls, word_of(cluster->state_key));
    calls_add(calls, word_of(from));
    calls_add(calls, word_of(text));
    CLUSTER_TRY(cluster_run(cluster));
    const redis_reply *reply = cluster_reply(cluster, 0, REDIS_INTEGER, NULL, &code);
    *done = reply && reply->integer == 1;
    return code;
}

int set_state_make(vidi_cluster *cluster, const state *state, bool replace)
{
    char text[STATE_ROOM];
    calls *calls = &cluster->calls;
    int code = VIDI_OK;
    state_write(state, text);
    calls_clear(calls);
    calls_begin(calls, cluster->slot, CALL_WRITES);
    calls_add(calls, WORD("SET"));
    calls_add(calls, word_of(cluster->state_key));
    calls_add(calls, word_of(text));
    if (!replace)
        calls_add(calls, WORD("NX"));
    CLUSTER_TRY(cluster_run(cluster));
    if (calls->list[0].reply->type != REDIS_NIL) /* somebody else has made it */
        (void)cluster_reply(cluster, 0, REDIS_TEXT, NULL, &code);
    return code;
}

/* ---- all shards ---- */

int need_reply(vidi_cluster *cluster, const shard *shard, const redis_reply *reply, redis_type type)
{
    if (reply->type == type)
        return VIDI_OK;
    return reply->type == REDIS_ERROR ? cluster_refused(cluster, shard, reply->text) : cluster_garbled(cluster);
}

/* Shards from `from` on. */
static int some_shards(vidi_cluster *cluster, const each_shard *each, uint32_t from, uint32_t end)
{
    uint32_t asked[SHARDS_AT_ONCE];
    size_t count = 0;
    calls_clear(&cluster->calls);
    for (uint32_t i = from; i < end; i++) {
        each->ask(cluster, shards_get(&cluster->shards, i), i, each->context);
        if (cluster->calls.count > count)
            asked[count++] = i;
    }
    CLUSTER_TRY(cluster_run(cluster));
    int first = VIDI_OK;
    for (size_t k = 0; k < count; k++) {
        const redis_reply *reply = cluster->calls.list[k].reply;
        int code = each->take(cluster, shards_get(&cluster->shards, asked[k]), asked[k], reply, each->context);
        if (first == VIDI_OK)
            first = code;
    }
    return first;
}

int for_each_shard(vidi_cluster *cluster, const each_shard *each)
{
    uint32_t count = cluster->record.shards;
    for (uint32_t from = 0; from < count;) {
        uint32_t end = count - from < SHARDS_AT_ONCE ? count : from + SHARDS_AT_ONCE;
        CLUSTER_TRY(some_shards(cluster, each, from, end));
        from = end;
    }
    return VIDI_OK;
}
