/*
 * Rotations: the next epoch in all shards.
 *
 * First the intent is written to the state: the epoch, and the size of all shards. Then each shard is rotated, unless it
 * has that epoch already, which a script decides on the server in one step. So whoever finds an intent can carry it out,
 * several at once too, and no shard is rotated twice. In the end the state becomes READY, if it still is that intent.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/random.h>

#include "add.h"
#include "info.h"
#include "plan.h"

/* ARGV: id of the shard, epoch, and the options of VIDI.ROTATE. */
static const char rotate_script[] =
    "local info = redis.call('VIDI.INFO', KEYS[1], 'IF', ARGV[1]) "
    "for i = 1, #info, 2 do "
    "if info[i] == 'epoch' and tonumber(info[i + 1]) >= tonumber(ARGV[2]) then return info[i + 1] end "
    "end "
    "return redis.call('VIDI.ROTATE', KEYS[1], 'IF', ARGV[1], unpack(ARGV, 3))";

/* The arguments that are the same for all shards. */
typedef struct rotation {
    char epoch[24], capacity[24], error[RECORD_NUMBER];
    const state *intent;
} rotation;

static void ask_to_rotate(vidi_cluster *cluster, const shard *shard, uint32_t index, void *context)
{
    const rotation *rotation = context;
    calls *calls = &cluster->calls;
    (void)index;
    calls_begin(calls, shard->slot, CALL_WRITES);
    calls_add(calls, WORD("EVAL"));
    calls_add(calls, WORD(rotate_script));
    calls_add(calls, WORD("1"));
    calls_add(calls, shard_key(shard));
    calls_add(calls, shard_id(shard));
    calls_add(calls, word_of(rotation->epoch));
    if (rotation->intent->capacity) {
        calls_add(calls, WORD("CAPACITY"));
        calls_add(calls, word_of(rotation->capacity));
    }
    if (rotation->intent->error > 0) {
        calls_add(calls, WORD("ERROR"));
        calls_add(calls, word_of(rotation->error));
    }
    if (!rotation->intent->keep) {
        calls_add(calls, WORD("EXPIREAT"));
        calls_add(calls, WORD("1")); /* a time that is past */
    }
}

static int take_epoch(vidi_cluster *cluster, const shard *shard, uint32_t index, const redis_reply *reply,
                      void *context)
{
    (void)index, (void)context;
    return need_reply(cluster, shard, reply, REDIS_INTEGER);
}

static int rotate_shards(vidi_cluster *cluster, const state *intent)
{
    rotation rotation = {.intent = intent};
    snprintf(rotation.epoch, sizeof rotation.epoch, "%" PRIu64, intent->epoch);
    snprintf(rotation.capacity, sizeof rotation.capacity, "%" PRIu64, intent->capacity);
    set_print_real(intent->error, rotation.error);
    return for_each_shard(cluster, &(each_shard){ask_to_rotate, take_epoch, &rotation});
}

int rotation_finish(vidi_cluster *cluster, const state *intent)
{
    char text[STATE_ROOM], why[600];
    state ready = {.phase = STATE_READY, .epoch = intent->epoch};
    bool done;
    int code = rotate_shards(cluster, intent);
    if (code == VIDI_OK) {
        state_write(intent, text);
        code = set_state_change(cluster, text, &ready, &done);
    }
    if (code == VIDI_OK)
        return code;
    snprintf(why, sizeof why, "%s", vidi_cluster_message());
    return cluster_fail(code,
                        "%s (a rotation to epoch %" PRIu64 " is not finished: whoever opens the set next goes on)", why,
                        intent->epoch);
}

/* ---- beginning ---- */

/* The options that a rotation can change: capacity, error, headroom and flags. */
static int read_options(const vidi_cluster *cluster, vidi_options *options, const vidi_options *next)
{
    *options = (vidi_options)VIDI_OPTIONS_INIT;
    options->flags = cluster->record.flags;
    if (next) {
        if (next->size < sizeof next->size)
            return cluster_fail(VIDI_EARGUMENT, "vidi_options.size is not set: begin with VIDI_OPTIONS_INIT");
        memcpy(options, next, next->size < sizeof *options ? next->size : sizeof *options);
    }
    if (options->headroom <= 0)
        options->headroom = cluster->record.headroom > 0 ? cluster->record.headroom : 1.25;
    if ((options->kind && strcmp(options->kind, cluster->record.kind) != 0) || options->params)
        return cluster_fail(VIDI_ECANNOT, "%s: a set over a cluster keeps its kind and parameters when it is rotated",
                            cluster->shown);
    if (options->key || options->like || options->key_from || options->member || options->canon || options->tracking ||
        options->path || options->access)
        return cluster_fail(VIDI_EOPTION, "only capacity, error, headroom and flags can be given to a rotation");
    if (options->error < 0 || options->error >= 1 || options->headroom < 1 || options->headroom > 1000)
        return cluster_fail(VIDI_EOPTION, "the error rate must be between 0 and 1, the headroom between 1 and 1000");
    return VIDI_OK;
}

/* Reads the state, and finishes a rotation that is going on. The set must be the one that was opened. */
static int read_ready(vidi_cluster *cluster, set_keys *keys)
{
    CLUSTER_TRY(set_keys_read(cluster, keys));
    if (!keys->has_record || !keys->has_state || keys->state.phase == STATE_DROPPING)
        return cluster_fail(VIDI_EABSENT, "%s: the set was removed", cluster->shown);
    if (keys->record.id != cluster->record.id)
        return cluster_fail(VIDI_EDIFFERS, "%s: another set has taken the place of the one that was opened",
                            cluster->shown);
    if (keys->state.phase != STATE_ROTATING)
        return VIDI_OK;
    CLUSTER_TRY(rotation_finish(cluster, &keys->state));
    keys->state = (state){.phase = STATE_READY, .epoch = keys->state.epoch};
    state_write(&keys->state, keys->state_text);
    return VIDI_OK;
}

static int draw_nonce(state *intent)
{
    unsigned char bytes[STATE_NONCE / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return cluster_fail(VIDI_ESYSTEM, "the operating system gave no random numbers");
    set_print_hex(bytes, sizeof bytes, intent->nonce);
    return VIDI_OK;
}

/* What this rotation is to do, from the set as it is. */
static int intend(vidi_cluster *cluster, const vidi_options *options, bool force, uint64_t epoch, state *intent)
{
    set_sums sums;
    CLUSTER_TRY(info_sum(cluster, &sums));
    if (sums.more.claims && !force)
        return cluster_fail(VIDI_EBUSY,
                            "%s: there are %" PRIu64 " claims (%" PRIu64 " of them expired), which a rotation voids; "
                            "rotate when these pages are dealt with, or by force",
                            cluster->shown, sums.more.claims, sums.more.expired);
    double wanted = (double)sums.all.count * options->headroom;
    uint64_t capacity = options->capacity ? options->capacity : wanted < 1e18 ? (uint64_t)ceil(wanted) : 0;
    *intent = (state){
        .phase = STATE_ROTATING,
        .epoch = epoch + 1,
        .capacity = capacity ? plan_share(capacity, cluster->record.shards) : 0,
        .error = options->error,
        .keep = options->flags & VIDI_KEEP_PREVIOUS,
    };
    return draw_nonce(intent);
}

/* Tokens of the epoch that has ended are void. */
static void forget_pending(vidi_cluster *cluster)
{
    pending *pending = &cluster->pending;
    for (uint64_t number = pending->begin; number < pending_mark(pending); number++) {
        pending_entry *entry = pending_at(pending, number);
        if (pending_is_open(entry))
            leases_remove(cluster->leases, shard_of(entry->hash, cluster->record.shards));
        pending_close(entry);
    }
    pending_trim(pending);
}

/*
 * If the intent cannot be written because the set has reached its epoch, somebody has carried it out already: the reply
 * to the first command was lost, or two processes wanted the same.
 */
static int rotate(vidi_cluster *cluster, const vidi_options *next, bool force)
{
    set_keys keys;
    vidi_options options;
    state intent;
    bool begun;
    CLUSTER_TRY(read_options(cluster, &options, next));
    CLUSTER_TRY(read_ready(cluster, &keys));
    CLUSTER_TRY(intend(cluster, &options, force, keys.state.epoch, &intent));
    CLUSTER_TRY(set_state_change(cluster, keys.state_text, &intent, &begun));
    if (!begun)
        CLUSTER_TRY(read_ready(cluster, &keys));
    if (!begun && keys.state.epoch < intent.epoch)
        return cluster_fail(VIDI_EBUSY, "%s: another process changes the set", cluster->shown);
    if (begun)
        CLUSTER_TRY(rotation_finish(cluster, &intent));
    forget_pending(cluster);
    return VIDI_OK;
}

int vidi_cluster_rotate(vidi_cluster *cluster, const vidi_options *next, bool force)
{
    CLUSTER_TRY(cluster_enter_to_write(cluster));
    int code = rotate(cluster, next, force);
    cluster_leave(cluster);
    return code;
}
