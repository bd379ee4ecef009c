/*
 * Making, opening, closing and removing cluster sets.
 *
 * A set is made in this order: its record, if there is none; its shards; its state. Whoever is killed in between leaves
 * a set without a state, which nobody opens, and which the next call with the same options completes. It is removed in
 * the other order, with a state that says so.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "add.h"
#include "plan.h"
#include "whole.h"

enum { SHARDS_IN_CLUSTER = 16 }; /* of a set of unknown capacity */

/* ---- making ---- */

/* Writes the record, unless there is one. */
static int write_record(vidi_cluster *cluster, const record *record)
{
    char text[RECORD_ROOM];
    size_t len = set_record_write(record, text);
    calls *calls = &cluster->calls;
    int code = VIDI_OK;
    calls_clear(calls);
    calls_begin(calls, cluster->slot, CALL_WRITES);
    calls_add(calls, WORD("SET"));
    calls_add(calls, word_of(cluster->record_key));
    calls_add(calls, (vidi_str){text, len});
    calls_add(calls, WORD("NX"));
    CLUSTER_TRY(cluster_run(cluster));
    if (calls->list[0].reply->type != REDIS_NIL)
        (void)cluster_reply(cluster, 0, REDIS_TEXT, NULL, &code);
    return code;
}

/* What another call has begun is completed, if it is the same set. The record becomes that one. */
static int compare_with_begun(const vidi_cluster *cluster, record *wanted, const set_keys *keys, bool any_number,
                              const unsigned char *key)
{
    if (keys->has_state && keys->state.phase == STATE_DROPPING)
        return cluster_fail(VIDI_EEXIST, "%s: the set of that name is being removed; complete that first ('vidi drop')",
                            cluster->shown);
    if (keys->has_state)
        return cluster_fail(VIDI_EEXIST, "%s: there is a set of that name already", cluster->shown);
    if (any_number)
        wanted->shards = keys->record.shards;
    const char *differs = set_record_difference(wanted, &keys->record);
    if (!differs && key && memcmp(key, keys->record.key, VIDI_KEY_BYTES) != 0)
        differs = "key";
    if (differs)
        return cluster_fail(VIDI_EEXIST,
                            "%s: a set of that name was begun with other options (%s); complete it with "
                            "those, or remove it ('vidi drop')",
                            cluster->shown, differs);
    *wanted = keys->record;
    return VIDI_OK;
}

static void ask_to_reserve(vidi_cluster *cluster, const shard *shard, uint32_t index, void *context)
{
    const plan_words *words = context;
    (void)index;
    calls_begin_shard(&cluster->calls, shard, WORD("VIDI.RESERVE"), CALL_WRITES);
    calls_add(&cluster->calls, WORD("ID"));
    calls_add(&cluster->calls, shard_id(shard));
    for (size_t i = 0; i < words->count; i++)
        calls_add(&cluster->calls, words->words[i]);
}

/* An error may mean that the shard is there already: the next round tells. */
static int take_reserved(vidi_cluster *cluster, const shard *shard, uint32_t index, const redis_reply *reply,
                         void *context)
{
    (void)index, (void)context;
    if (reply->type != REDIS_ERROR || text_begins(reply->text, "ERR the key exists") ||
        text_begins(reply->text, "WRONGTYPE"))
        return VIDI_OK;
    return cluster_refused(cluster, shard, reply->text);
}

static void ask_for_info(vidi_cluster *cluster, const shard *shard, uint32_t index, void *context)
{
    (void)index, (void)context;
    calls_begin_shard(&cluster->calls, shard, WORD("VIDI.INFO"), 0);
    calls_guard(&cluster->calls, shard);
}

static int take_info(vidi_cluster *cluster, const shard *shard, uint32_t index, const redis_reply *reply, void *context)
{
    (void)index, (void)context;
    int code = need_reply(cluster, shard, reply, REDIS_ARRAY);
    return code == VIDI_EDIFFERS ? VIDI_EEXIST : code;
}

static int make_shards(vidi_cluster *cluster)
{
    plan_words words;
    plan_reserve(&words, &cluster->record);
    CLUSTER_TRY(for_each_shard(cluster, &(each_shard){ask_to_reserve, take_reserved, &words}));
    return for_each_shard(cluster, &(each_shard){ask_for_info, take_info, NULL});
}

/* The record is there: makes the rest. Somebody may remove the set meanwhile. */
static int complete(vidi_cluster *cluster)
{
    set_keys keys;
    CLUSTER_TRY(make_shards(cluster));
    CLUSTER_TRY(set_state_make(cluster, &(state){.phase = STATE_READY}, false));
    CLUSTER_TRY(set_keys_read(cluster, &keys));
    if (!keys.has_record || keys.record.id != cluster->record.id)
        return cluster_fail(VIDI_EABSENT, "%s: the set was removed while it was being made", cluster->shown);
    return VIDI_OK;
}

static int make_set(vidi_cluster *cluster, const vidi_options *options, uint32_t shards)
{
    set_keys keys;
    record record;
    CLUSTER_TRY(set_keys_read(cluster, &keys));
    uint32_t without = redis_is_cluster(cluster->client) ? SHARDS_IN_CLUSTER : 1;
    CLUSTER_TRY(plan_record(&record, options, shards, without));
    if (!keys.has_record) {
        CLUSTER_TRY(write_record(cluster, &record));
        CLUSTER_TRY(set_keys_read(cluster, &keys));
    }
    if (!keys.has_record)
        return cluster_fail(VIDI_EABSENT, "%s: the set was removed while it was being made", cluster->shown);
    if (keys.record.id != record.id || keys.has_state)
        CLUSTER_TRY(compare_with_begun(cluster, &record, &keys, shards == 0, options ? options->key : NULL));
    CLUSTER_TRY(cluster_take_record(cluster, &record));
    return complete(cluster);
}

int vidi_cluster_create(const char *address, const vidi_options *options, uint32_t shards,
                        const vidi_cluster_access *access)
{
    vidi_cluster *cluster;
    CLUSTER_TRY(cluster_connect(&cluster, address, access));
    int code = make_set(cluster, options, shards);
    cluster_free(cluster);
    return code;
}

/* ---- opening ---- */

static int open_set(vidi_cluster *cluster)
{
    set_keys keys;
    CLUSTER_TRY(set_keys_read(cluster, &keys));
    if (!keys.has_record)
        return cluster_fail(VIDI_EABSENT, "%s: there is no set of that name; make it first ('vidi init')",
                            cluster->shown);
    if (!keys.has_state)
        return cluster_fail(VIDI_EBUSY,
                            "%s: the set is being made; if that was interrupted, complete it with the same "
                            "options ('vidi init')",
                            cluster->shown);
    if (keys.state.phase == STATE_DROPPING)
        return cluster_fail(VIDI_EABSENT,
                            "%s: the set is being removed; if that was interrupted, complete it ('vidi "
                            "drop')",
                            cluster->shown);
    CLUSTER_TRY(cluster_take_record(cluster, &keys.record));
    return keys.state.phase == STATE_ROTATING ? rotation_finish(cluster, &keys.state) : VIDI_OK;
}

int vidi_cluster_open(vidi_cluster **cluster, const char *address, const vidi_cluster_access *access)
{
    if (!cluster)
        return cluster_fail(VIDI_EARGUMENT, "there is no room for the handle");
    CLUSTER_TRY(cluster_connect(cluster, address, access));
    int code = open_set(*cluster);
    if (code != VIDI_OK) {
        cluster_free(*cluster);
        *cluster = NULL;
    }
    return code;
}

/* Servers that did not answer the last time are not waited for once more: claims expire by themselves. */
void vidi_cluster_close(vidi_cluster *cluster)
{
    if (!cluster || cluster->process != getpid())
        return; /* a child's copy: its connections are the parent's */
    leases_stop(cluster->leases);
    if (!cluster->unreachable && !(cluster->flags & VIDI_MANUAL_COMMIT))
        (void)commit_before(cluster, pending_mark(&cluster->pending));
    if (!cluster->unreachable)
        commit_nothing(cluster);
    cluster_free(cluster);
}

/* ---- removing ---- */

/* What is done with the shards of a set that is removed. */
typedef struct removal {
    bool theirs[RECORD_SHARDS]; /* the key is not there, or holds something else */
} removal;

static int take_presence(vidi_cluster *cluster, const shard *shard, uint32_t index, const redis_reply *reply,
                         void *context)
{
    removal *removal = context;
    int code = need_reply(cluster, shard, reply, REDIS_ARRAY);
    removal->theirs[index] = code == VIDI_EDAMAGED || code == VIDI_EDIFFERS;
    return removal->theirs[index] ? VIDI_OK : code;
}

static void ask_to_unlink(vidi_cluster *cluster, const shard *shard, uint32_t index, void *context)
{
    const removal *removal = context;
    if (!removal->theirs[index])
        calls_begin_shard(&cluster->calls, shard, WORD("UNLINK"), CALL_WRITES);
}

static int take_unlinked(vidi_cluster *cluster, const shard *shard, uint32_t index, const redis_reply *reply,
                         void *context)
{
    (void)index, (void)context;
    return need_reply(cluster, shard, reply, REDIS_INTEGER);
}

static int remove_keys(vidi_cluster *cluster)
{
    calls *calls = &cluster->calls;
    int code = VIDI_OK;
    calls_clear(calls);
    calls_begin(calls, cluster->slot, CALL_WRITES);
    calls_add(calls, WORD("DEL"));
    calls_add(calls, word_of(cluster->record_key));
    calls_add(calls, word_of(cluster->state_key));
    CLUSTER_TRY(cluster_run(cluster));
    (void)cluster_reply(cluster, 0, REDIS_INTEGER, NULL, &code);
    return code;
}

static int remove_set(vidi_cluster *cluster)
{
    set_keys keys;
    removal *removal;
    CLUSTER_TRY(set_keys_read(cluster, &keys));
    if (!keys.has_record)
        return cluster_fail(VIDI_EABSENT, "%s: there is no set of that name", cluster->shown);
    CLUSTER_TRY(cluster_take_record(cluster, &keys.record));
    CLUSTER_TRY(set_state_make(cluster, &(state){.phase = STATE_DROPPING}, true));
    if (!(removal = calloc(1, sizeof *removal)))
        return cluster_fail(VIDI_EMEMORY, "there is no memory to remove the set");
    int code = for_each_shard(cluster, &(each_shard){ask_for_info, take_presence, removal});
    if (code == VIDI_OK)
        code = for_each_shard(cluster, &(each_shard){ask_to_unlink, take_unlinked, removal});
    free(removal);
    return code == VIDI_OK ? remove_keys(cluster) : code;
}

int vidi_cluster_drop(const char *address, const vidi_cluster_access *access)
{
    vidi_cluster *cluster;
    CLUSTER_TRY(cluster_connect(&cluster, address, access));
    int code = remove_set(cluster);
    cluster_free(cluster);
    return code;
}
